//! Which worker each session of a builder belongs to.

use core::net::SocketAddr;
use std::collections::HashMap;

use fixbolt_session::SessionId;

/// What is assigned to a worker as a whole: the sessions of an address, since only the Logon shows
/// which session a connection is for; or one session that connects.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Unit {
    Address(SocketAddr),
    Initiator(SessionId),
}

/// The units in the order in which they were named, and which of them belong together.
#[derive(Debug, Default)]
pub(crate) struct Distribution {
    places: HashMap<Unit, usize>,
    /// For each unit, another one that it belongs to; the first unit of a group belongs to itself.
    parents: Vec<usize>,
    sessions: HashMap<SessionId, usize>,
}

impl Distribution {
    /// Adds a unit, if it is new, and the session that belongs to it.
    pub(crate) fn add(&mut self, unit: Unit, session: Option<&SessionId>) {
        let next = self.parents.len();
        let place = *self.places.entry(unit).or_insert(next);
        if place == next {
            self.parents.push(next);
        }
        if let Some(session) = session {
            self.sessions.insert(session.clone(), place);
        }
    }

    /// Makes these sessions belong to one worker.
    ///
    /// # Errors
    /// A session that does not exist.
    pub(crate) fn join<'s>(&mut self, sessions: &'s [SessionId]) -> Result<(), &'s SessionId> {
        let mut first = None;
        for session in sessions {
            let place = *self.sessions.get(session).ok_or(session)?;
            let root = self.root(place);
            let first = *first.get_or_insert(root);
            let first = self.root(first);
            // The unit named first represents the group.
            self.parents[root.max(first)] = root.min(first);
        }
        Ok(())
    }

    fn root(&self, mut place: usize) -> usize {
        while self.parents[place] != place {
            place = self.parents[place];
        }
        place
    }

    /// Returns the worker of each unit: groups are assigned in rotation, in the order in which they
    /// were first named.
    pub(crate) fn workers(&self, count: usize) -> HashMap<Unit, usize> {
        let mut of_root = HashMap::new();
        for place in 0..self.parents.len() {
            let next = of_root.len() % count;
            of_root.entry(self.root(place)).or_insert(next);
        }
        self.places.iter().map(|(unit, place)| (unit.clone(), of_root[&self.root(*place)])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> Unit {
        Unit::Address(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    fn id(target: &str) -> SessionId {
        SessionId::new(fixbolt_codec::Version::Fix44, "US", target).unwrap()
    }

    #[test]
    fn groups_go_round_the_workers_and_what_belongs_together_stays_together() {
        let mut units = Distribution::default();
        units.add(address(1), Some(&id("A")));
        units.add(address(1), Some(&id("B")));
        units.add(address(2), Some(&id("C")));
        units.add(Unit::Initiator(id("D")), Some(&id("D")));
        units.add(Unit::Initiator(id("E")), Some(&id("E")));
        let workers = units.workers(2);
        let of = |workers: &HashMap<Unit, usize>| {
            [address(1), address(2), Unit::Initiator(id("D")), Unit::Initiator(id("E"))]
                .map(|unit| workers[&unit])
        };
        assert_eq!(of(&workers), [0, 1, 0, 1]);
        units.join(&[id("E"), id("B")]).unwrap();
        assert_eq!(of(&units.workers(2)), [0, 1, 0, 0]);
        units.join(&[id("D"), id("C"), id("E")]).unwrap();
        assert_eq!(of(&units.workers(2)), [0, 0, 0, 0]);
        assert_eq!(of(&units.workers(1)), [0, 0, 0, 0]);
        assert_eq!(units.join(&[id("A"), id("F")]), Err(&id("F")));
    }
}
