//! The header of a proxy: what is decided stays decided when more arrives, and what follows the
//! header is not read.

use fixbolt::ProxyHeader;

/// Reads a header byte by byte, and all at once.
pub(super) fn run(bytes: &[u8]) {
    let whole = ProxyHeader::parse(bytes);
    let decided = (0..=bytes.len()).map(|length| ProxyHeader::parse(&bytes[..length]));
    let decided = decided.enumerate().find(|(_, header)| *header != ProxyHeader::Incomplete);
    match decided {
        Some((at, header)) => {
            assert_eq!(header, whole, "decided after {at} bytes");
            if let ProxyHeader::Complete { length, .. } = header {
                assert_eq!(length, at, "it was complete before, or is not yet");
            }
        }
        None => assert_eq!(whole, ProxyHeader::Incomplete),
    }
    if whole == ProxyHeader::Incomplete {
        assert!(bytes.len() < 4096, "more than a header may have");
    }
    if let ProxyHeader::Complete { length, peer: Some(peer) } = whole
        && bytes.starts_with(b"PROXY ")
    {
        let line = std::str::from_utf8(&bytes[..length]).expect("an address is text");
        let parts: Vec<&str> = line.trim_end().split(' ').collect();
        assert_eq!(parts.len(), 6);
        assert_eq!(parts[2].parse(), Ok(peer.ip()));
        assert_eq!(parts[4].parse(), Ok(peer.port()));
    }
}

/// Returns headers of every kind.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let v2 = |command: u8, family: u8, addresses: &[u8]| {
        let length = (addresses.len() as u16).to_be_bytes();
        [&b"\r\n\r\n\0\r\nQUIT\n"[..], &[command, family], &length[..], addresses].concat()
    };
    let v4 = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0x26, 0x98];
    vec![
        b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 9880\r\n8=FIX.4.4\x01".to_vec(),
        b"PROXY TCP6 2001:db8::7 2001:db8::9 258 0\r\n".to_vec(),
        b"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n".to_vec(),
        v2(0x21, 0x11, &v4),
        v2(0x21, 0x11, &[&v4[..], b"\x02\x00\x05venue"].concat()),
        v2(0x21, 0x21, &[7; 36]),
        v2(0x21, 0x31, &[7; 216]),
        v2(0x20, 0x00, b""),
    ]
}
