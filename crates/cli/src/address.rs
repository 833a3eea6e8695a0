//! The address of another side, in an option of a command.

use crate::exit::Failure;

/// Returns the parts of `HOST:PORT`. An IPv6 address is in brackets: `[::1]:9880`.
///
/// # Errors
/// The text is none; the failure names the option, and shows one with the port that is usual there.
pub fn host_and_port<'a>(option: &str, address: &'a str, usual_port: u16) -> Result<(&'a str, u16), Failure> {
    parts(address).ok_or_else(|| {
        let mut line = format!("{option} {address}: write HOST:PORT, such as 127.0.0.1:{usual_port}");
        if address.matches(':').count() > 1 || address.contains(['[', ']']) {
            line += &format!("; an IPv6 address is in brackets: [::1]:{usual_port}");
        }
        Failure::usage(line)
    })
}

fn parts(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    let host = match host.strip_prefix('[') {
        Some(ip) => ip.strip_suffix(']').filter(|ip| ip.contains(':'))?,
        None => Some(host).filter(|host| !host.contains(':'))?,
    };
    (!host.is_empty() && !host.contains(['[', ']'])).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_a_port_are_read_and_what_is_none_is_refused_with_an_example() {
        for (address, host, port) in [
            ("127.0.0.1:9880", "127.0.0.1", 9880),
            ("venue.example:1", "venue.example", 1),
            ("[::1]:65535", "::1", 65_535),
            ("[fe80::1%eth0]:9880", "fe80::1%eth0", 9880),
        ] {
            assert_eq!(host_and_port("--to", address, 9880).unwrap(), (host, port));
        }
        for address in ["", "9880", ":9880", "host", "host:", "host:0", "host:65536", "host:-1"] {
            let line = host_and_port("--to", address, 9880).unwrap_err().to_string();
            assert_eq!(line, format!("--to {address}: write HOST:PORT, such as 127.0.0.1:9880"));
        }
        for address in ["::1", "::1:9880", "[::1", "[::1]", "[::1:9880", "::1]:9880", "[host]:1", "[]:1"] {
            let line = host_and_port("--to", address, 9880).unwrap_err().to_string();
            assert!(line.ends_with("; an IPv6 address is in brackets: [::1]:9880"), "{line}");
        }
    }
}
