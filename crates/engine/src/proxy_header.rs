//! The header by which a proxy names the counterparty whose connection it forwards: versions 1 and
//! 2 of the PROXY protocol (HAProxy's proxy-protocol.txt). It comes before every other byte.
//!
//! The module reads what it is given and keeps nothing: more bytes come with those that were there
//! before.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::str::FromStr;

/// The most bytes of a header of version 1, with its line end.
const MOST_V1: usize = 107;
/// The most bytes of a header of either version. Version 2 allows 64 KiB; what proxies send beside
/// the addresses is some hundred bytes.
pub(crate) const MOST: usize = 4096;
/// How version 1 begins.
const V1: &[u8] = b"PROXY ";
/// How version 2 begins.
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// The bytes of version 2 before its addresses.
const V2_FIXED: usize = 16;

/// What the first bytes of a connection are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProxyHeader {
    /// The beginning of a header.
    Incomplete,
    /// A header.
    Complete {
        /// Its bytes; what follows is the counterparty's.
        length: usize,
        /// The counterparty; `None` if the connection is the proxy's own, or if it does not know.
        peer: Option<SocketAddr>,
    },
    /// No header, for this reason.
    Malformed(&'static str),
}

use ProxyHeader::{Complete, Incomplete, Malformed};

impl ProxyHeader {
    /// Reads the first bytes of a connection.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        if bytes.starts_with(V1) {
            version_1(bytes)
        } else if bytes.starts_with(V2) {
            version_2(bytes)
        } else if V1.starts_with(bytes) || V2.starts_with(bytes) {
            Incomplete
        } else {
            Malformed("it does not begin with one")
        }
    }
}

/// Returns whether bytes begin with a header, of whichever version, or what looks like one.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(V1) || bytes.starts_with(V2)
}

/// Reads a line: `PROXY TCP4 192.0.2.1 198.51.100.1 56324 9880`.
fn version_1(bytes: &[u8]) -> ProxyHeader {
    let line = &bytes[..bytes.len().min(MOST_V1)];
    let Some(end) = line.windows(2).position(|pair| pair == b"\r\n") else {
        return match line.len() {
            MOST_V1 => Malformed("its line has no end within 107 bytes"),
            _ => Incomplete,
        };
    };
    let length = end + 2;
    let Ok(text) = core::str::from_utf8(&line[V1.len()..end]) else {
        return Malformed("its line is no text");
    };
    // What follows UNKNOWN is to be ignored.
    if text == "UNKNOWN" || text.starts_with("UNKNOWN ") {
        return Complete { length, peer: None };
    }
    let mut parts = text.split(' ');
    let peer = match parts.next() {
        Some("TCP4") => endpoints::<Ipv4Addr>(&mut parts),
        Some("TCP6") => endpoints::<Ipv6Addr>(&mut parts),
        _ => return Malformed("its line names no protocol that is known (TCP4, TCP6, UNKNOWN)"),
    };
    match (peer, parts.next()) {
        (Some(peer), None) => Complete { length, peer: Some(peer) },
        _ => Malformed("its line does not have two addresses and two ports"),
    }
}

/// Reads both addresses and both ports, and returns the first of each.
fn endpoints<'a, A: FromStr + Into<IpAddr>>(parts: &mut impl Iterator<Item = &'a str>) -> Option<SocketAddr> {
    let [source, destination, source_port, destination_port] =
        [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    destination.parse::<A>().ok()?;
    port(destination_port)?;
    Some(SocketAddr::new(source.parse::<A>().ok()?.into(), port(source_port)?))
}

/// Reads a port, which has no sign and no leading zero.
fn port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

/// Reads a binary header: signature, version and command, family, length, addresses, and more that
/// is to be ignored.
fn version_2(bytes: &[u8]) -> ProxyHeader {
    let Some((fixed, rest)) = bytes.split_first_chunk::<V2_FIXED>() else { return Incomplete };
    let [version_and_command, family, high, low] = [fixed[12], fixed[13], fixed[14], fixed[15]];
    let is_local = match version_and_command {
        0x20 => true,
        0x21 => false,
        _ => return Malformed("its version or its command is unknown"),
    };
    let addresses = usize::from(u16::from_be_bytes([high, low]));
    let length = V2_FIXED + addresses;
    if length > MOST {
        return Malformed("it has more than 4096 bytes");
    }
    let Some(addresses) = rest.get(..addresses) else { return Incomplete };
    // What a proxy says about a connection of its own is to be ignored.
    if is_local {
        return Complete { length, peer: None };
    }
    let peer = match family {
        0x11 => addresses.first_chunk().map(|[a, b, c, d, _, _, _, _, high, low, _, _]: &[u8; 12]| {
            SocketAddr::new([*a, *b, *c, *d].into(), u16::from_be_bytes([*high, *low]))
        }),
        0x21 => addresses.first_chunk::<36>().and_then(|both| {
            let source: &[u8; 16] = both.first_chunk()?;
            Some(SocketAddr::new((*source).into(), u16::from_be_bytes([both[32], both[33]])))
        }),
        // Unspecified, or a Unix socket: there is no IP address.
        0x00 | 0x31 => return Complete { length, peer: None },
        _ => return Malformed("it is not about a connection (TCP)"),
    };
    match peer {
        Some(peer) => Complete { length, peer: Some(peer) },
        None => Malformed("it is too short for its addresses"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn v2(version_and_command: u8, family: u8, addresses: &[u8]) -> Vec<u8> {
        let length = u16::try_from(addresses.len()).unwrap().to_be_bytes();
        [V2, &[version_and_command, family], &length, addresses].concat()
    }

    fn complete(length: usize, peer: &str) -> ProxyHeader {
        Complete { length, peer: Some(peer.parse().unwrap()) }
    }

    /// Headers of every kind, with the counterparty that each names.
    fn headers() -> Vec<(Vec<u8>, Option<&'static str>)> {
        let v4 = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0x26, 0x98];
        let mut v6 = [0; 36];
        (v6[0], v6[1], v6[15], v6[31]) = (0x20, 0x01, 7, 9);
        (v6[32], v6[33]) = (0x01, 0x02);
        // A name of the server (PP2_TYPE_AUTHORITY), and one that is of nobody.
        let more = [&v4[..], b"\x02\x00\x05venue\xee\x00\x01x"].concat();
        vec![
            (b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 9880\r\n".to_vec(), Some("192.0.2.1:56324")),
            (b"PROXY TCP6 2001::7 ::9 258 0\r\n".to_vec(), Some("[2001::7]:258")),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (b"PROXY UNKNOWN what ever 1 2 3 4 5\r\n".to_vec(), None),
            (v2(0x21, 0x11, &v4), Some("192.0.2.1:56324")),
            (v2(0x21, 0x21, &v6), Some("[2001::7]:258")),
            (v2(0x21, 0x11, &more), Some("192.0.2.1:56324")),
            (v2(0x21, 0x00, b""), None),
            (v2(0x21, 0x31, &[b'x'; 216]), None),
            (v2(0x20, 0x11, &v4), None),
            (v2(0x20, 0xff, b"anything"), None),
        ]
    }

    #[test]
    fn a_header_names_the_counterparty_however_it_arrives_and_whatever_follows() {
        for (header, peer) in headers() {
            let shown = header.escape_ascii().to_string();
            let expected = Complete { length: header.len(), peer: peer.map(|peer| peer.parse().unwrap()) };
            for length in 0..header.len() {
                assert_eq!(ProxyHeader::parse(&header[..length]), Incomplete, "{length} of {shown}");
            }
            assert_eq!(ProxyHeader::parse(&header), expected, "{shown}");
            let followed = [&header[..], b"8=FIX.4.4\x01\r\n\r\n"].concat();
            assert_eq!(ProxyHeader::parse(&followed), expected, "{shown}");
        }
    }

    #[test]
    fn the_longest_headers_are_read_and_longer_ones_refused() {
        let line = |bytes: usize| {
            let text = format!("PROXY UNKNOWN {}\r\n", "x".repeat(bytes - 16));
            ProxyHeader::parse(text.as_bytes())
        };
        assert_eq!(line(MOST_V1), Complete { length: MOST_V1, peer: None });
        assert!(matches!(line(MOST_V1 + 1), Malformed(_)));
        let v2_of = |bytes: usize| ProxyHeader::parse(&v2(0x20, 0, &vec![0; bytes - V2_FIXED]));
        assert_eq!(v2_of(MOST), Complete { length: MOST, peer: None });
        assert!(matches!(v2_of(MOST + 1), Malformed(_)));
        // Said before the bytes have come.
        assert!(matches!(ProxyHeader::parse(&v2(0x21, 0x11, &[0; 5000])[..16]), Malformed(_)));
    }

    #[test]
    fn what_is_no_header_is_refused() {
        for bytes in [
            &b"8=FIX.4.4\x01"[..],
            b"\x16\x03\x01",
            b"PROXX ",
            b"proxy TCP4 1.1.1.1 1.1.1.1 1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 1 1 1\r\n",
            b"PROXY TCP4 1.1.1.1  1.1.1.1 1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 1 01\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 +1 1\r\n",
            b"PROXY TCP4 1.1.1.1 1.1.1.1 65536 1\r\n",
            b"PROXY TCP4 1.1.1.256 1.1.1.1 1 1\r\n",
            b"PROXY TCP4 ::1 ::1 1 1\r\n",
            b"PROXY TCP6 1.1.1.1 1.1.1.1 1 1\r\n",
            b"PROXY UDP4 1.1.1.1 1.1.1.1 1 1\r\n",
            b"PROXY UNKNOWNS\r\n",
            b"PROXY \xff\r\n",
            b"PROXY \r\n",
            b"\r\n\r\n\0\r\nQUIP",
        ] {
            let shown = bytes.escape_ascii();
            assert!(matches!(ProxyHeader::parse(bytes), Malformed(_)), "{shown}");
        }
        for bytes in [v2(0x11, 0x11, &[0; 12]), v2(0x22, 0x11, &[0; 12]), v2(0x21, 0x12, &[0; 12])] {
            assert!(matches!(ProxyHeader::parse(&bytes), Malformed(_)), "{bytes:?}");
        }
        for bytes in [v2(0x21, 0x11, &[0; 11]), v2(0x21, 0x21, &[0; 35]), v2(0x21, 0x41, &[0; 36])] {
            assert!(matches!(ProxyHeader::parse(&bytes), Malformed(_)), "{bytes:?}");
        }
    }

    proptest! {
        /// More bytes complete a header, or show that there is none; they change nothing else.
        #[test]
        fn what_is_decided_stays_decided(
            of in 0..headers().len(),
            at in 0..300_usize,
            byte: u8,
            cut in 0..300_usize,
        ) {
            let mut bytes = headers()[of].0.clone();
            let at = at % bytes.len();
            bytes[at] = byte;
            let cut = cut % (bytes.len() + 1);
            let (part, whole) = (ProxyHeader::parse(&bytes[..cut]), ProxyHeader::parse(&bytes));
            if part != Incomplete {
                prop_assert_eq!(part, whole);
            }
            if let Complete { length, .. } = whole {
                prop_assert!(length <= bytes.len());
                prop_assert_eq!(ProxyHeader::parse(&bytes[..length]), whole);
            }
        }
    }

    #[test]
    fn the_address_is_that_of_the_source() {
        let line = b"PROXY TCP4 192.0.2.1 198.51.100.1 5 6\r\n";
        assert_eq!(ProxyHeader::parse(line), complete(line.len(), "192.0.2.1:5"));
    }
}
