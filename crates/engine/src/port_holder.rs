//! Which process listens on a port, for people to read.

use core::net::SocketAddr;

/// Returns the process that listens on an address, as `process 1234 (fixbolt)`: its number, and the
/// name of its program. `None` if the system does not say it, which other users' processes may
/// keep to themselves.
#[cfg(target_os = "linux")]
pub(crate) fn of(address: SocketAddr) -> Option<String> {
    use std::fs;
    // A table that changes while it is read may lack a line.
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().cycle().take(6);
    let inode = tables.filter_map(|table| fs::read_to_string(table).ok()).find_map(|table| {
        table.lines().skip(1).find_map(|line| listener_in(line, address).map(str::to_owned))
    })?;
    let socket = format!("socket:[{inode}]");
    let holds = |file: fs::DirEntry| fs::read_link(file.path()).is_ok_and(|to| *to == *socket);
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        // There is `self` as well.
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let mut open = fs::read_dir(entry.path().join("fd")).ok()?.flatten();
        if !open.any(holds) {
            return None;
        }
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        Some(format!("process {number} ({})", name.trim()))
    })
}

/// Returns `None`: only Linux is asked.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn of(_: SocketAddr) -> Option<String> {
    None
}

/// Returns the inode of the socket that a line of `/proc/net/tcp` or `tcp6` describes, if it
/// listens on this address, or on all addresses, or if the address stands for all.
#[cfg(target_os = "linux")]
fn listener_in(line: &str, address: SocketAddr) -> Option<&str> {
    const LISTENS: &str = "0A";
    let mut fields = line.split_whitespace();
    let (local, state, inode) = (fields.nth(1)?, fields.nth(1)?, fields.nth(5)?);
    let (ip, port) = local.rsplit_once(':')?;
    let is_port = u16::from_str_radix(port, 16) == Ok(address.port());
    let is_any = ip.bytes().all(|digit| digit == b'0');
    let is_ip = is_any || address.ip().is_unspecified() || ip.eq_ignore_ascii_case(&as_in_table(address));
    (state == LISTENS && is_port && is_ip).then_some(inode)
}

/// Returns an address as the kernel's tables have it: words of 32 bits in the machine's order.
#[cfg(target_os = "linux")]
fn as_in_table(address: SocketAddr) -> String {
    use core::net::IpAddr;
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
    words.map(|word| format!("{word:08X}")).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_is_held_by_the_process_that_listens_on_its_address_or_on_all() {
        let this = format!("process {} (", std::process::id());
        for at in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0"] {
            let Ok(socket) = TcpListener::bind(at) else { continue };
            let port = socket.local_addr().unwrap().port();
            let held = |ip: &str| of(format!("{ip}:{port}").parse().unwrap());
            let own = at.strip_suffix(":0").unwrap();
            assert!(held(own).is_some_and(|process| process.starts_with(&this)), "{at}");
            assert!(held("0.0.0.0").is_some_and(|process| process.starts_with(&this)), "{at}");
            assert_eq!(held("127.0.0.2").is_some(), own == "0.0.0.0", "{at}");
            drop(socket);
            assert_eq!(held(own), None, "{at}");
        }
    }

    #[test]
    fn a_line_names_its_socket_only_if_it_listens() {
        let line = |state| {
            format!(
                "   0: 0100007F:2698 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0        0 4242 1 0000000000000000 100 0 0 10 0"
            )
        };
        let address = "127.0.0.1:9880".parse().unwrap();
        assert_eq!(listener_in(&line("0A"), address), Some("4242"));
        assert_eq!(listener_in(&line("01"), address), None);
        assert_eq!(listener_in(&line("0A"), "127.0.0.1:9881".parse().unwrap()), None);
        assert_eq!(listener_in(&line("0A"), "127.0.0.2:9880".parse().unwrap()), None);
        assert_eq!(listener_in("", address), None);
    }
}
