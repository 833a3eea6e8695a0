//! Where an engine listens, and which of its workers does.

use core::net::SocketAddr;

/// The addresses, in the order in which they were first named.
#[derive(Debug, Default)]
pub(crate) struct Listening(Vec<Address>);

#[derive(Debug)]
struct Address {
    requested: SocketAddr,
    /// With the port that the system chose.
    bound: SocketAddr,
    worker: usize,
}

impl Listening {
    /// A worker listens on this address.
    pub(crate) fn note(&mut self, requested: SocketAddr, bound: SocketAddr, worker: usize) {
        if !self.0.iter().any(|address| address.bound == bound) {
            self.0.push(Address { requested, bound, worker });
        }
    }

    /// The worker that listens on this address.
    pub(crate) fn worker(&self, address: SocketAddr) -> Option<usize> {
        let here = |known: &&Address| [known.requested, known.bound].contains(&address);
        self.0.iter().find(here).map(|address| address.worker)
    }

    /// Where is listened, with the ports that the system chose.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.0.iter().map(|address| address.bound).collect()
    }
}
