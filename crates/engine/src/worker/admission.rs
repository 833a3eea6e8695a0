//! Which accepted connections may stay as long as nobody knows whose they are.
//!
//! Anyone who can connect takes a place among the pending connections and a file descriptor. Both
//! are limited, in all and for each address, and when a limit is reached, the newcomer is accepted
//! nevertheless: a pending connection gives way, the one that looks least like a counterparty. So
//! connections that only wait keep nobody from logging on.
//!
//! The module decides and counts. It opens and closes nothing.

use core::net::IpAddr;
use core::time::Duration;
use std::collections::HashMap;

use fixbolt_session::Mono;

use crate::limits::ConnectionLimits;

/// The file descriptors that are left alone besides those for sessions: what a journal, the log or
/// the application may need at any time.
const RESERVED_DESCRIPTORS: usize = 16;
/// One more descriptor is left alone for each group of this many sessions: their journals begin
/// segments, and their stores are opened again after a failure.
const SESSIONS_PER_DESCRIPTOR: usize = 4;
/// While descriptors are short, a connection is not closed before its Logon can have arrived, and
/// one that has sent something not before the rest of it can have.
const GRACE: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// How long to accept nothing if there is nothing to close.
const PAUSE: Duration = Duration::from_millis(100);
/// The most connections accepted in a cycle, so that many of them do not delay the sessions.
const MOST_AT_ONCE: usize = 2;
/// A shortage lasts at least this long after the system last refused a descriptor.
const LASTS: Duration = Duration::from_secs(1);

/// The connections that count towards the budgets: those that are pending, and those of dynamic
/// sessions, whose number is up to the counterparties.
#[derive(Debug)]
pub(crate) struct Admission {
    limits: ConnectionLimits,
    /// By the slot of the connection.
    places: Vec<Option<Place>>,
    origins: Origins,
    pending: usize,
    /// The number of connections that have arrived: the age of a place.
    arrived: u64,
    /// Whether file descriptors are short, and until when at least.
    short: bool,
    short_until: Mono,
}

/// What is known of one connection.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its index.
    origin: usize,
    arrived: u64,
    since: Mono,
    stage: Stage,
}

/// How far a connection is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    /// Pending; nothing was received.
    Silent,
    /// Pending; a part of its Logon may have been received.
    Talking,
    /// It belongs to a dynamic session.
    Dynamic,
}

/// What counts as one address: an IPv4 address, or the 64 bits of an IPv6 address that name a
/// network, since a single host has all addresses of its network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Origin(u64, bool);

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(u64::from(u32::from(address)), false),
            IpAddr::V6(address) => Self((u128::from(address) >> 64) as u64, true),
        }
    }
}

/// The origins that have a connection here, each with an index, so that looking for a connection
/// that gives way needs no hash for each of them.
#[derive(Debug, Default)]
struct Origins {
    indices: HashMap<Origin, usize>,
    /// By index; those that are free have no connection.
    counts: Vec<(Origin, Counts)>,
    free: Vec<usize>,
}

impl Origins {
    fn counts(&self, origin: Origin) -> Counts {
        self.indices.get(&origin).map_or_else(Counts::default, |index| self.counts[*index].1)
    }

    /// Returns the index of an origin that gets a connection.
    fn index(&mut self, origin: Origin) -> usize {
        let Self { indices, counts, free } = self;
        *indices.entry(origin).or_insert_with(|| {
            let new = (origin, Counts::default());
            match free.pop() {
                Some(index) => {
                    counts[index] = new;
                    index
                }
                None => {
                    counts.push(new);
                    counts.len() - 1
                }
            }
        })
    }

    /// Forgets an origin that has no connection any more.
    fn tidy(&mut self, index: usize) {
        let (origin, counts) = self.counts[index];
        if counts == Counts::default() && self.indices.remove(&origin).is_some() {
            self.free.push(index);
        }
    }
}

/// The connections from one origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    pending: usize,
    dynamic: usize,
}

/// The file descriptors of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Descriptors {
    /// How many it may have open (RLIMIT_NOFILE).
    pub(crate) limit: usize,
    /// How many more it may open.
    pub(crate) left: usize,
}

/// What the listeners may do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Intake {
    /// Accept this many connections at most.
    Accept(usize),
    /// There are just as many file descriptors as are left alone: if a connection waits, accept it
    /// and close this pending one for it.
    Exchange(usize),
    /// File descriptors are short: close this pending connection first.
    Close(usize),
    /// File descriptors are short, and no connection can be closed now: accept nothing until this
    /// time.
    Pause(Mono),
}

impl Admission {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        let (places, origins) = (Vec::new(), Origins::default());
        Self { limits, places, origins, pending: 0, arrived: 0, short: false, short_until: Mono(0) }
    }

    /// Returns the slot of the pending connection that must be closed for a new one from this
    /// address, if there must be one.
    pub(crate) fn gives_way(&self, address: IpAddr) -> Option<usize> {
        let origin = Origin::from(address);
        let Counts { pending, dynamic } = self.origins.counts(origin);
        if pending > 0 && pending + dynamic >= self.limits.per_address {
            let origin = *self.origins.indices.get(&origin)?;
            return self.least_likely(|place| place.origin == origin);
        }
        if self.pending > 0 && self.pending >= self.limits.pending {
            return self.least_likely_of_all();
        }
        None
    }

    /// Counts a new pending connection.
    pub(crate) fn arrive(&mut self, slot: usize, address: IpAddr, since: Mono) {
        let origin = self.origins.index(Origin::from(address));
        if self.places.len() <= slot {
            self.places.resize(slot + 1, None);
        }
        self.arrived += 1;
        self.places[slot] = Some(Place { origin, arrived: self.arrived, since, stage: Stage::Silent });
        self.origins.counts[origin].1.pending += 1;
        self.pending += 1;
    }

    /// Notes that something was received on a connection.
    pub(crate) fn talk(&mut self, slot: usize) {
        if let Some(Some(place)) = self.places.get_mut(slot)
            && place.stage == Stage::Silent
        {
            place.stage = Stage::Talking;
        }
    }

    /// Returns whether the address of a pending connection may have one more connection of a
    /// dynamic session.
    pub(crate) fn may_be_dynamic(&self, slot: usize) -> bool {
        let place = self.places.get(slot).copied().flatten();
        place.is_some_and(|place| self.origins.counts[place.origin].1.dynamic < self.limits.per_address)
    }

    /// Notes that a pending connection belongs to a session now. Until it leaves, it counts if the
    /// session is dynamic.
    pub(crate) fn identify(&mut self, slot: usize, dynamic: bool) {
        let Some(Some(place)) = self.places.get_mut(slot) else { return };
        if !dynamic {
            return self.leave(slot);
        }
        if core::mem::replace(&mut place.stage, Stage::Dynamic) != Stage::Dynamic {
            let counts = &mut self.origins.counts[place.origin].1;
            counts.pending -= 1;
            counts.dynamic += 1;
            self.pending -= 1;
        }
    }

    /// Stops counting a connection, which is closed.
    pub(crate) fn leave(&mut self, slot: usize) {
        let Some(place) = self.places.get_mut(slot).and_then(Option::take) else { return };
        let counts = &mut self.origins.counts[place.origin].1;
        if place.stage == Stage::Dynamic {
            counts.dynamic -= 1;
        } else {
            counts.pending -= 1;
            self.pending -= 1;
        }
        self.origins.tidy(place.origin);
    }

    /// Returns what the listeners may do with these descriptors, while so many sessions are open.
    pub(crate) fn intake(&mut self, now: Mono, descriptors: Descriptors, sessions: usize) -> Intake {
        let Descriptors { limit, left } = descriptors;
        let reserve = (RESERVED_DESCRIPTORS + sessions / SESSIONS_PER_DESCRIPTOR).min(limit / 2);
        // A few more than the reserve end the shortage, so that it does not begin and end with
        // every connection.
        let lasts = left <= reserve.saturating_add(limit / 16) || now < self.short_until;
        self.short = left <= reserve || self.short && lasts;
        match left.checked_sub(reserve) {
            None => self.make_room(now),
            Some(0) => match self.make_room(now) {
                Intake::Close(slot) => Intake::Exchange(slot),
                pause => pause,
            },
            Some(free) => Intake::Accept(free.min(self.batch())),
        }
    }

    /// Returns how many connections may be accepted at once, so that none of them has to give way
    /// before the system was asked whether it has sent something.
    pub(crate) fn batch(&self) -> usize {
        self.limits.pending.min(self.limits.per_address).clamp(1, MOST_AT_ONCE)
    }

    /// Returns what the listeners may do after the system has refused a descriptor.
    pub(crate) fn refused(&mut self, now: Mono) -> Intake {
        (self.short, self.short_until) = (true, now + LASTS);
        self.make_room(now)
    }

    fn make_room(&self, now: Mono) -> Intake {
        let Some(slot) = self.least_likely_of_all() else { return Intake::Pause(now + PAUSE) };
        let Some(place) = self.places[slot] else { return Intake::Pause(now + PAUSE) };
        let until = place.since + GRACE[usize::from(place.stage == Stage::Talking)];
        if until > now { Intake::Pause(until) } else { Intake::Close(slot) }
    }

    /// Returns whether file descriptors have been short since they were last found sufficient.
    pub(crate) const fn is_short(&self) -> bool {
        self.short
    }

    /// Returns the pending connection, of those that `counts` names, that has been silent for
    /// longest; if none is silent, the oldest one.
    fn least_likely(&self, counts: impl Fn(&Place) -> bool) -> Option<usize> {
        let places = self.places.iter().enumerate().filter_map(|(slot, place)| Some((slot, place.as_ref()?)));
        let pending = places.filter(|(_, place)| place.stage != Stage::Dynamic && counts(place));
        pending.min_by_key(|(_, place)| (place.stage, place.arrived)).map(|(slot, _)| slot)
    }

    /// Returns the same of the origin that has most pending connections; of several such origins,
    /// the connection that comes first in the same order.
    fn least_likely_of_all(&self) -> Option<usize> {
        let origins = &self.origins.counts;
        let most = origins.iter().map(|(_, counts)| counts.pending).max().filter(|most| *most > 0)?;
        self.least_likely(|place| origins[place.origin].1.pending == most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Mono = Mono(10_000_000_000);

    fn ip(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    fn admission(pending: usize, per_address: usize) -> Admission {
        Admission::new(ConnectionLimits { pending, per_address })
    }

    /// Lets a connection arrive; returns the slot of the one that had to give way.
    fn arrive(admission: &mut Admission, slot: usize, from: u8) -> Option<usize> {
        let gives_way = admission.gives_way(ip(from));
        if let Some(slot) = gives_way {
            admission.leave(slot);
        }
        admission.arrive(slot, ip(from), Mono(0));
        gives_way
    }

    #[test]
    fn a_full_address_makes_room_with_its_own_oldest_silent_connection() {
        let mut admission = admission(100, 3);
        for slot in 0..3 {
            assert_eq!(arrive(&mut admission, slot, 1), None);
        }
        assert_eq!(arrive(&mut admission, 3, 2), None, "another address has its own budget");
        admission.talk(0);
        assert_eq!(arrive(&mut admission, 4, 1), Some(1));
        assert_eq!(arrive(&mut admission, 5, 1), Some(2));
        admission.talk(4);
        admission.talk(5);
        assert_eq!(arrive(&mut admission, 6, 1), Some(0), "none is silent: the oldest one");
        assert_eq!(admission.pending, 4);
    }

    #[test]
    fn a_full_engine_makes_room_with_a_connection_of_the_address_that_has_most() {
        let mut admission = admission(5, 4);
        arrive(&mut admission, 0, 1);
        for slot in 1..5 {
            assert_eq!(arrive(&mut admission, slot, 2), None);
        }
        assert_eq!(arrive(&mut admission, 5, 3), Some(1), "although slot 0 is older");
        admission.talk(2);
        assert_eq!(arrive(&mut admission, 6, 4), Some(3));
        // Now addresses 2 has two, and 1, 3 and 4 have one each.
        assert_eq!(arrive(&mut admission, 7, 5), Some(4));
        // All have one; that of address 2 is talking.
        assert_eq!(arrive(&mut admission, 8, 6), Some(0));
        for slot in [5, 6, 7, 8] {
            admission.talk(slot);
        }
        assert_eq!(arrive(&mut admission, 9, 7), Some(2), "none is silent: the oldest one");
        assert_eq!(admission.pending, 5);
    }

    #[test]
    fn connections_of_dynamic_sessions_count_and_those_of_configured_ones_do_not() {
        let mut admission = admission(100, 3);
        for slot in 0..3 {
            arrive(&mut admission, slot, 1);
            admission.identify(slot, false);
        }
        assert!(admission.origins.indices.is_empty());
        for slot in 3..6 {
            assert_eq!(arrive(&mut admission, slot, 1), None);
            assert!(admission.may_be_dynamic(slot));
            admission.identify(slot, true);
        }
        // The address has what it may have. One more may still show that its session is configured.
        assert_eq!(arrive(&mut admission, 6, 1), None);
        assert!(!admission.may_be_dynamic(6));
        assert_eq!(arrive(&mut admission, 7, 1), Some(6));
        admission.identify(7, false);
        admission.leave(4);
        arrive(&mut admission, 8, 1);
        assert!(admission.may_be_dynamic(8));
        for slot in [3, 5, 8] {
            admission.leave(slot);
            admission.leave(slot);
        }
        assert!(admission.origins.indices.is_empty());
        assert_eq!(admission.pending, 0);
    }

    #[test]
    fn a_limit_of_zero_still_accepts_one_connection_at_a_time() {
        let mut admission = admission(0, 0);
        assert_eq!(arrive(&mut admission, 0, 1), None);
        assert_eq!(arrive(&mut admission, 1, 2), Some(0));
        assert_eq!(arrive(&mut admission, 2, 2), Some(1));
    }

    #[test]
    fn addresses_of_one_network_count_as_one_and_a_mapped_address_as_its_original() {
        let origin = |text: &str| Origin::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(origin("2001:db8:1:2::1"), origin("2001:db8:1:2:ffff::2"));
        assert_ne!(origin("2001:db8:1:2::1"), origin("2001:db8:1:3::1"));
        assert_eq!(origin("::ffff:192.0.2.1"), origin("192.0.2.1"));
        assert_ne!(origin("192.0.2.1"), origin("192.0.2.2"));
        assert_ne!(origin("::1"), origin("0.0.0.0"));
    }

    #[test]
    fn the_reserve_of_descriptors_grows_with_the_sessions_up_to_half_of_the_limit() {
        let accepts = |limit, left, sessions| match admission(9999, 9999).intake(
            NOW,
            Descriptors { limit, left },
            sessions,
        ) {
            Intake::Accept(most) => most,
            Intake::Pause(_) => 0,
            Intake::Exchange(_) | Intake::Close(_) => unreachable!("none is pending"),
        };
        assert_eq!(accepts(1024, 1000, 0), MOST_AT_ONCE);
        assert_eq!([accepts(1024, 17, 0), accepts(1024, 16, 0)], [1, 0]);
        assert_eq!([accepts(1024, 117, 400), accepts(1024, 116, 400)], [1, 0]);
        assert_eq!([accepts(1024, 513, 4000), accepts(1024, 512, 4000)], [1, 0]);
        assert_eq!(accepts(1024, 0, 0), 0);
        assert_eq!(accepts(0, 0, 0), 0, "the system did not even say how many there are");
        assert_eq!(accepts(64, 17, 0), 1);
    }

    #[test]
    fn a_shortage_closes_pending_connections_and_ends_only_once_there_are_some_to_spare() {
        let mut admission = admission(9, 9);
        let left = |left| Descriptors { limit: 64, left };
        arrive(&mut admission, 0, 1);
        arrive(&mut admission, 1, 1);
        admission.talk(0);
        assert_eq!(admission.intake(NOW, left(17), 0), Intake::Accept(1));
        assert!(!admission.is_short());
        assert_eq!(admission.intake(NOW, left(16), 0), Intake::Exchange(1), "nobody may be waiting");
        assert!(admission.is_short());
        assert_eq!(admission.intake(NOW, left(15), 0), Intake::Close(1));
        admission.leave(1);
        assert_eq!(admission.intake(NOW, left(17), 0), Intake::Accept(1));
        assert!(admission.is_short());
        assert_eq!(admission.intake(NOW, left(3), 0), Intake::Close(0));
        admission.leave(0);
        assert_eq!(admission.intake(NOW, left(4), 0), Intake::Pause(NOW + PAUSE));
        assert_eq!(admission.intake(NOW, left(20), 0), Intake::Accept(2));
        assert!(admission.is_short());
        assert_eq!(admission.intake(NOW, left(21), 0), Intake::Accept(2));
        assert!(!admission.is_short());
    }

    #[test]
    fn a_refusal_of_the_system_is_a_shortage_for_a_second_whatever_the_system_says() {
        let mut admission = admission(9, 9);
        let plenty = Descriptors { limit: 1024, left: 1000 };
        arrive(&mut admission, 0, 1);
        assert_eq!(admission.refused(NOW), Intake::Close(0));
        admission.leave(0);
        assert_eq!(admission.refused(NOW), Intake::Pause(NOW + PAUSE));
        assert_eq!(admission.intake(NOW, plenty, 0), Intake::Accept(2));
        assert!(admission.is_short());
        admission.intake(NOW + LASTS, plenty, 0);
        assert!(!admission.is_short());
    }

    #[test]
    fn no_more_are_accepted_at_once_than_a_budget_holds() {
        let plenty = Descriptors { limit: 1024, left: 1000 };
        for (pending, per_address, most) in [(5, 1, 1), (1, 5, 1), (0, 5, 1), (5, 5, 2)] {
            assert_eq!(admission(pending, per_address).intake(NOW, plenty, 0), Intake::Accept(most));
        }
    }

    #[test]
    fn a_shortage_closes_no_connection_whose_logon_may_be_on_its_way() {
        let mut admission = admission(9, 9);
        let none = Descriptors { limit: 64, left: 0 };
        admission.arrive(0, ip(1), NOW);
        let silent = NOW + Duration::from_millis(50);
        assert_eq!(admission.intake(NOW, none, 0), Intake::Pause(silent));
        admission.talk(0);
        let talking = NOW + Duration::from_secs(1);
        assert_eq!(admission.intake(silent, none, 0), Intake::Pause(talking));
        assert_eq!(admission.intake(talking, none, 0), Intake::Close(0));
    }
}
