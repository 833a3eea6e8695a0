//! The session's end of the network: what it reads, and how much at once.

use fixbolt_session::Read;

use super::hostility::READ;
use super::link::Link;
use super::network::Flight;
use super::world::{END_UNSEEN, World};

impl World {
    /// Reads these bytes, and all others that are there by now if the session reads much at once.
    fn read(&mut self, flight: Flight) {
        let mut next = Some(flight);
        while let Some(flight) = next {
            let Link { inbox, arrived, to_us, peer, place, reads_much, .. } = &mut self.link;
            inbox.extend_from_slice(&flight.bytes);
            if flight.covers.1 > 0 {
                arrived.add(flight.covers);
                if flight.covers.0 == 0 {
                    self.app.of(*place).overtaken.append(&mut peer.overtaking);
                }
            }
            let more = *reads_much && inbox.len() < READ;
            next = more.then(|| to_us.take(self.mono)).flatten();
        }
    }

    /// Reads what the network has for the session.
    pub(super) fn deliver(&mut self) {
        let now = self.now();
        loop {
            self.poll();
            let Self { sessions: Some(_), link: Link { next, to_us, .. }, .. } = self else {
                return;
            };
            if next.read == Read::Nothing {
                // Its limits judge what waits by when it can have arrived.
                self.link.delivered_at.clear();
                break;
            }
            if !self.link.attached {
                break;
            }
            if next.read == Read::Bytes {
                match to_us.take(self.mono) {
                    Some(flight) => {
                        if self.link.read_at < self.mono {
                            self.link.read_before = self.link.read_at;
                            self.link.read_at = self.mono;
                        }
                        if flight.at < self.mono {
                            self.link.delivered_at.clear();
                        }
                        self.read(flight);
                    }
                    None if self.link.end_at <= self.mono && to_us.is_empty() => {
                        self.note(|| "-- the session's end of the connection is closed".to_owned());
                        return self.disconnect();
                    }
                    None => break,
                }
            }
            let Self { sessions: Some(sessions), app, link: Link { key, inbox, .. }, .. } = self else {
                return;
            };
            let used = sessions.receive(now, *key, inbox, app);
            inbox.drain(..used);
        }
        if self.link.attached && self.link.end_at.saturating_add(END_UNSEEN) <= self.mono {
            // It reads nothing, and learns of the end by writing.
            self.disconnect();
        }
    }
}
