//! The addresses on which an engine listens, and the worker of each.

use core::net::SocketAddr;

/// The addresses, in the order in which they were first named.
#[derive(Debug, Default)]
pub(crate) struct Listening(Vec<Address>);

#[derive(Debug)]
struct Address {
    requested: SocketAddr,
    /// The address with the port that the system chose.
    bound: SocketAddr,
    worker: usize,
}

impl Listening {
    /// Records that a worker listens on this address.
    pub(crate) fn note(&mut self, requested: SocketAddr, bound: SocketAddr, worker: usize) {
        if !self.0.iter().any(|address| address.bound == bound) {
            self.0.push(Address { requested, bound, worker });
        }
    }

    /// Returns the worker that listens on this address.
    pub(crate) fn worker(&self, address: SocketAddr) -> Option<usize> {
        let here = |known: &&Address| [known.requested, known.bound].contains(&address);
        self.0.iter().find(here).map(|address| address.worker)
    }

    /// Returns the addresses, with the ports that the system chose.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.0.iter().map(|address| address.bound).collect()
    }
}
