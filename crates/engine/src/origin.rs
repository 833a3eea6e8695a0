//! What counts as one address where connections are counted.

use core::net::IpAddr;

/// An IPv4 address, or the 64 bits of an IPv6 address that name a network, since a single host has
/// all addresses of its network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Origin(u64, bool);

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(u64::from(u32::from(address)), false),
            IpAddr::V6(address) => Self((u128::from(address) >> 64) as u64, true),
        }
    }
}
