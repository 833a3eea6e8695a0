//! Sets of IP addresses that share a prefix.

use core::error::Error;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

/// An IP address, or a network of them: `10.0.0.5`, `10.1.0.0/16`, `fd00::/8`.
///
/// ```
/// use fixbolt::Network;
///
/// let network: Network = "10.1.0.0/16".parse()?;
/// assert!(network.contains("10.1.2.3".parse()?));
/// assert!(!network.contains("10.2.0.1".parse()?));
/// assert!("10.1.2.3/16".parse::<Network>().is_err(), "an address of a network, not a network");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Network {
    /// The first address; of IPv4 if it is an IPv4 address within IPv6.
    first: IpAddr,
    /// How many bits all addresses have in common.
    prefix: u8,
}

impl Network {
    /// Returns whether the network contains an address. An IPv4 address within IPv6
    /// (`::ffff:10.0.0.5`) is that IPv4 address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                masked_v4(address, self.prefix).is_some_and(|masked| masked == first)
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                masked_v6(address, self.prefix).is_some_and(|masked| masked == first)
            }
            _ => false,
        }
    }
}

/// Returns the first address of the network that an address belongs to.
fn masked_v4(address: Ipv4Addr, prefix: u8) -> Option<Ipv4Addr> {
    let mask = u32::MAX.checked_shl(32_u32.checked_sub(u32::from(prefix))?).unwrap_or(0);
    Some(Ipv4Addr::from_bits(address.to_bits() & mask))
}

fn masked_v6(address: Ipv6Addr, prefix: u8) -> Option<Ipv6Addr> {
    let mask = u128::MAX.checked_shl(128_u32.checked_sub(u32::from(prefix))?).unwrap_or(0);
    Some(Ipv6Addr::from_bits(address.to_bits() & mask))
}

/// A single address.
impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        let first = address.to_canonical();
        Self { first, prefix: if first.is_ipv4() { 32 } else { 128 } }
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let Some((address, prefix)) = text.split_once('/') else {
            return text.parse::<IpAddr>().map(Self::from).map_err(|_| InvalidNetwork);
        };
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidNetwork);
        }
        let prefix = prefix.parse::<u8>().map_err(|_| InvalidNetwork)?;
        let address = address.parse::<IpAddr>().map_err(|_| InvalidNetwork)?;
        let (first, prefix) = match (address, address.to_canonical()) {
            // Addresses of IPv4 within IPv6, which share its first 96 bits.
            (IpAddr::V6(_), first @ IpAddr::V4(_)) if prefix >= 96 => (first, prefix - 96),
            _ => (address, prefix),
        };
        let masked = match first {
            IpAddr::V4(first) => masked_v4(first, prefix).map(IpAddr::V4),
            IpAddr::V6(first) => masked_v6(first, prefix).map(IpAddr::V6),
        };
        if masked == Some(first) { Ok(Self { first, prefix }) } else { Err(InvalidNetwork) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::from(self.first) {
            return self.first.fmt(f);
        }
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

/// A text that is no [`Network`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct InvalidNetwork;

impl fmt::Display for InvalidNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an IP address, or a network whose address ends with its prefix, such as 10.1.0.0/16")
    }
}

impl Error for InvalidNetwork {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_the_addresses_with_its_prefix() {
        for (network, inside, outside) in [
            ("10.0.0.5", "10.0.0.5", "10.0.0.4"),
            ("10.0.0.5", "::ffff:10.0.0.5", "::ffff:10.0.0.4"),
            ("10.1.0.0/16", "10.1.255.255", "10.2.0.0"),
            ("::ffff:10.1.0.0/112", "10.1.255.255", "10.2.0.0"),
            ("10.1.2.128/25", "10.1.2.255", "10.1.2.127"),
            ("0.0.0.0/0", "255.255.255.255", "::1"),
            ("::/0", "::1", "10.0.0.1"),
            ("fd00::/8", "fdff::1", "fe00::"),
            ("::1", "::1", "::2"),
        ] {
            let parsed: Network = network.parse().unwrap();
            assert!(parsed.contains(inside.parse().unwrap()), "{network} {inside}");
            assert!(!parsed.contains(outside.parse().unwrap()), "{network} {outside}");
            assert_eq!(parsed.to_string().parse(), Ok(parsed));
        }
        assert_eq!("10.1.0.0/16".parse::<Network>().unwrap().to_string(), "10.1.0.0/16");
        assert_eq!("10.1.0.9/32".parse::<Network>().unwrap().to_string(), "10.1.0.9");
    }

    #[test]
    fn a_text_that_is_no_network_is_refused() {
        for text in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "10.0.0.0/8/8",
            "10.0.0.1/8",
            "::1/127",
            "::/129",
            "a",
        ] {
            assert_eq!(text.parse::<Network>(), Err(InvalidNetwork), "{text}");
        }
    }
}
