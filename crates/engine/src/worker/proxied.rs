//! Connections that a proxy forwards: the header that names the counterparty is read before
//! anything else, and the connection is the counterparty's from then on.

use std::io;

use fixbolt_session::{Application, Mono, Refusal};

use super::Worker;
use super::accepting::close_to_make_room;
use super::connection::Stage;
use crate::ports::Port;
use crate::proxy_header::{MOST, ProxyHeader};

impl Worker {
    /// Continues with a connection whose header has not arrived completely. The bytes stay in the
    /// socket until it has, so that what follows it is there for whoever reads next.
    pub(super) fn read_proxy_header(
        &mut self,
        slot: usize,
        (port, until): (Port, Mono),
        app: &mut dyn Application,
    ) {
        let Some(connection) = self.driver.connections.get_mut(slot) else { return };
        if !connection.readable {
            return;
        }
        let mut bytes = [0; MOST];
        let header = match connection.transport.peek(&mut bytes) {
            Ok(0) => return self.refuse_proxy(slot, "the proxy closed it"),
            Ok(count) => ProxyHeader::parse(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ProxyHeader::Incomplete,
            Err(_) => return self.refuse_proxy(slot, "the proxy has reset it"),
        };
        match header {
            ProxyHeader::Incomplete if connection.read_closed => {
                self.refuse_proxy(slot, "the proxy closed it");
            }
            // There is an event when more has come.
            ProxyHeader::Incomplete => connection.readable = false,
            ProxyHeader::Malformed(reason) => self.refuse_proxy(slot, reason),
            ProxyHeader::Complete { length, peer } => {
                if connection.transport.discard(&mut bytes[..length]).is_err() {
                    return self.refuse_proxy(slot, "the proxy has reset it");
                }
                connection.peer = peer.unwrap_or(connection.peer);
                connection.stage = Stage::Pending { port, until };
                self.admit_forwarded(slot, port, app);
            }
        }
    }

    /// Continues with a connection whose counterparty is known now, as with one that it has made
    /// itself.
    fn admit_forwarded(&mut self, slot: usize, port: Port, app: &mut dyn Application) {
        let Some(connection) = self.driver.connections.get(slot) else { return };
        let peer = connection.peer;
        if !self.may_enter(port, peer) {
            return self.driver.connections.close(slot);
        }
        let tls = match self.driver.ports().tls(port).map(|tls| tls.accept()).transpose() {
            Ok(tls) => tls,
            Err(failure) => {
                return self.refuse(slot, None, Refusal::Tls(failure));
            }
        };
        // It no longer takes the place of a connection from the proxy.
        let (connections, now) = (&mut self.driver.connections, self.cycle.now.mono);
        connections.admission.leave(slot);
        close_to_make_room(connections, peer, now);
        connections.admission.arrive(slot, peer.ip(), now);
        connections.admission.talk(slot);
        if let Some(tls) = tls
            && let Some(connection) = connections.get_mut(slot)
        {
            connection.transport.encrypt(tls);
            return self.shake_hands(slot, app);
        }
        self.identify(slot, port, app);
    }

    /// Closes a connection from a proxy without a header that can be used, and says why.
    fn refuse_proxy(&mut self, slot: usize, reason: &'static str) {
        self.refuse(slot, None, Refusal::ProxyHeader { reason });
    }
}
