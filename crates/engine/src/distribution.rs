//! Which worker each session of a builder belongs to.

use std::collections::HashMap;

use fixbolt_session::SessionId;

use crate::workers_error::WorkersError;

/// The sessions in the order in which they were named, and which of them belong together.
#[derive(Debug, Default)]
pub(crate) struct Distribution {
    places: HashMap<SessionId, usize>,
    /// For each session, another one that it belongs to; the first one of a group belongs to
    /// itself.
    parents: Vec<usize>,
    /// The worker of its own that the session was given, by its place.
    dedicated: HashMap<usize, usize>,
}

impl Distribution {
    /// Adds a session.
    pub(crate) fn add(&mut self, session: &SessionId) {
        let next = self.parents.len();
        if *self.places.entry(session.clone()).or_insert(next) == next {
            self.parents.push(next);
        }
    }

    /// Makes these sessions belong to one worker.
    ///
    /// # Errors
    /// A session that does not exist.
    pub(crate) fn join(&mut self, sessions: &[SessionId]) -> Result<(), WorkersError> {
        let mut first = None;
        for session in sessions {
            let place = self.place(session, "together")?;
            let root = self.root(place);
            let first = *first.get_or_insert(root);
            let first = self.root(first);
            // The session named first represents the group.
            self.parents[root.max(first)] = root.min(first);
        }
        Ok(())
    }

    /// Gives a session, and those that belong together with it, the dedicated worker `n`. Call it
    /// after every [`Distribution::join`].
    ///
    /// # Errors
    /// The session does not exist, or has a dedicated worker.
    pub(crate) fn dedicate(&mut self, session: &SessionId, n: usize) -> Result<(), WorkersError> {
        let place = self.place(session, "dedicated")?;
        match self.dedicated.insert(self.root(place), n) {
            None => Ok(()),
            Some(_) => Err(WorkersError::TwoDedicated { session: Box::new(session.clone()) }),
        }
    }

    fn place(&self, session: &SessionId, named_by: &'static str) -> Result<usize, WorkersError> {
        let missing = || WorkersError::NoSuchSession { session: Box::new(session.clone()), named_by };
        self.places.get(session).copied().ok_or_else(missing)
    }

    fn root(&self, mut place: usize) -> usize {
        while self.parents[place] != place {
            place = self.parents[place];
        }
        place
    }

    /// Returns the worker of each session. Dedicated workers come after the `shared` ones. Of
    /// these, each group goes to the one that has the fewest sessions so far, in the order in which
    /// the groups were first named.
    pub(crate) fn workers(&self, shared: usize) -> HashMap<SessionId, usize> {
        let roots: Vec<usize> = (0..self.parents.len()).map(|place| self.root(place)).collect();
        let mut loads = vec![0; shared];
        let mut of_root = HashMap::new();
        for root in &roots {
            if of_root.contains_key(root) {
                continue;
            }
            let worker = match self.dedicated.get(root) {
                Some(n) => shared + n,
                None => {
                    let sessions = roots.iter().filter(|other| *other == root).count();
                    let worker = least(&loads);
                    loads[worker] += sessions;
                    worker
                }
            };
            of_root.insert(*root, worker);
        }
        self.places.iter().map(|(session, place)| (session.clone(), of_root[&roots[*place]])).collect()
    }
}

/// Returns the index of the smallest number, the first one of several.
pub(crate) fn least(loads: &[usize]) -> usize {
    (0..loads.len()).min_by_key(|worker| loads[*worker]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(target: &str) -> SessionId {
        SessionId::new(fixbolt_codec::Version::Fix44, "US", target).unwrap()
    }

    #[test]
    fn each_group_goes_to_the_worker_with_the_fewest_sessions() {
        let mut sessions = Distribution::default();
        for name in ["A", "B", "C", "D", "E"] {
            sessions.add(&id(name));
        }
        let of =
            |workers: &HashMap<SessionId, usize>| ["A", "B", "C", "D", "E"].map(|name| workers[&id(name)]);
        assert_eq!(of(&sessions.workers(2)), [0, 1, 0, 1, 0]);
        sessions.join(&[id("E"), id("B")]).unwrap();
        assert_eq!(of(&sessions.workers(2)), [0, 1, 0, 0, 1]);
        sessions.join(&[id("A"), id("C"), id("E")]).unwrap();
        assert_eq!(of(&sessions.workers(2)), [0, 0, 0, 1, 0]);
        assert_eq!(of(&sessions.workers(1)), [0; 5]);
        let error = WorkersError::NoSuchSession { session: Box::new(id("F")), named_by: "together" };
        assert_eq!(sessions.join(&[id("A"), id("F")]), Err(error));
    }

    #[test]
    fn a_dedicated_worker_has_the_group_of_its_session_and_no_other() {
        let mut sessions = Distribution::default();
        for name in ["A", "B", "C", "D"] {
            sessions.add(&id(name));
        }
        sessions.join(&[id("D"), id("B")]).unwrap();
        sessions.dedicate(&id("D"), 0).unwrap();
        let workers = sessions.workers(1);
        assert_eq!(["A", "B", "C", "D"].map(|name| workers[&id(name)]), [0, 1, 0, 1]);
        let error = WorkersError::TwoDedicated { session: Box::new(id("B")) };
        assert_eq!(sessions.dedicate(&id("B"), 1), Err(error));
        let error = WorkersError::NoSuchSession { session: Box::new(id("X")), named_by: "dedicated" };
        assert_eq!(sessions.dedicate(&id("X"), 1), Err(error));
    }
}
