//! Which accepted connections may stay as long as nobody knows whose they are.
//!
//! Anyone who can connect takes a place among the pending connections and a file descriptor. Both
//! are limited, in all and for each address, and when a limit is reached, the newcomer is accepted
//! nevertheless: a pending connection gives way, the one that looks least like a counterparty. So
//! connections that only wait keep nobody from logging on.
//!
//! A handshake of TLS takes round trips, in which many newcomers may arrive. So a connection whose
//! handshake advances keeps its place for [`KEEPS`], as long as such connections have at most half
//! of the places, and each address half of its own: the other half is always the newcomers'.
//! A hello is cheap, too: of handshakes that are too many, the one that has advanced least keeps
//! its place no longer, of the address that has most.
//!
//! The module decides and counts. It opens and closes nothing.

use core::net::IpAddr;
use core::time::Duration;
use std::collections::HashMap;

use fixbolt_session::Mono;
use fixbolt_session::runtime::mono;

use crate::descriptors::Descriptors;
use crate::limits::ConnectionLimits;
use crate::origin::Origin;

/// While descriptors are short, a connection is not closed before its Logon can have arrived, and
/// one that has sent something not before the rest of it can have.
const GRACE: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// How long a connection keeps its place after its handshake has advanced: some round trips.
const KEEPS: Duration = Duration::from_secs(2);
/// Of the newest connections, this part of the smaller limit counts as if it had sent something:
/// the worker may not have seen yet that they have.
const NEWEST: u64 = 4;
/// An address with this part of its limit, or less, of connections that keep their place has no
/// more than others: a firm with several sessions must not give way to strangers with an address
/// for each connection.
const FEW: usize = 8;
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
    /// The number of pending ones, and of those among them that keep their place.
    pending: usize,
    keeping: usize,
    /// The number of connections that have arrived: the age of a place.
    arrived: u64,
    /// When it was last asked.
    now: Mono,
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
    /// Until when it keeps its place, if it does.
    keeps_until: Mono,
    stage: Stage,
}

/// How far a connection is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    /// Pending; nothing was received.
    Silent,
    /// Pending; a part of its Logon may have been received.
    Talking,
    /// Pending, and keeps its place: it has begun with a handshake, which may be answered.
    Greeting,
    /// Pending, and keeps its place: its handshake is done.
    Trusted,
    /// It belongs to a dynamic session.
    Dynamic,
}

impl Stage {
    const fn keeps_place(self) -> bool {
        matches!(self, Self::Greeting | Self::Trusted)
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
    /// Pending connections that keep their place.
    keeping: usize,
    dynamic: usize,
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
        Self {
            limits,
            places,
            origins,
            pending: 0,
            keeping: 0,
            arrived: 0,
            now: mono(0),
            short: false,
            short_until: mono(0),
        }
    }

    /// Returns the slot of the pending connection that must be closed for a new one from this
    /// address, if there must be one.
    pub(crate) fn gives_way(&mut self, address: IpAddr, now: Mono) -> Option<usize> {
        self.look_at_time(now);
        let origin = Origin::from(address);
        let Counts { pending, dynamic, .. } = self.origins.counts(origin);
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
        let (arrived, keeps_until, stage) = (self.arrived, since, Stage::Silent);
        self.places[slot] = Some(Place { origin, arrived, since, keeps_until, stage });
        self.origins.counts[origin].1.pending += 1;
        self.pending += 1;
    }

    /// Returns whether the connection in a slot counts.
    pub(crate) fn knows(&self, slot: usize) -> bool {
        self.places.get(slot).is_some_and(Option::is_some)
    }

    /// Checks that the counts are those of the places.
    ///
    /// # Panics
    /// Panics if they are not.
    pub(crate) fn check(&self) {
        let places = || self.places.iter().flatten();
        let pending = places().filter(|place| place.stage != Stage::Dynamic).count();
        assert!(pending == self.pending, "{pending} connections are pending, and {} count", self.pending);
        let keeping = places().filter(|place| place.stage.keeps_place()).count();
        assert!(keeping == self.keeping, "{keeping} keep their place, and {} count", self.keeping);
        for (index, (origin, counts)) in self.origins.counts.iter().enumerate() {
            let of = || places().filter(|place| place.origin == index);
            let dynamic = of().filter(|place| place.stage == Stage::Dynamic).count();
            let keeping = of().filter(|place| place.stage.keeps_place()).count();
            let (all, counted) = (of().count() - dynamic, (counts.pending, counts.dynamic, counts.keeping));
            assert!(
                counted == (all, dynamic, keeping),
                "{origin:?} has {all}, {dynamic} and {keeping} connections, and {counted:?} count"
            );
        }
    }

    /// Notes that something was received on a connection.
    pub(crate) fn talk(&mut self, slot: usize) {
        if let Some(Some(place)) = self.places.get_mut(slot)
            && place.stage == Stage::Silent
        {
            place.stage = Stage::Talking;
        }
    }

    /// Notes that a pending connection has begun with a handshake, or that its hello is answered.
    pub(crate) fn greet(&mut self, slot: usize, now: Mono) {
        self.keep(slot, Stage::Greeting, now);
    }

    /// Notes that the handshake of a pending connection is done.
    pub(crate) fn trust(&mut self, slot: usize, now: Mono) {
        self.keep(slot, Stage::Trusted, now);
    }

    /// Has a pending connection keep its place for some time, unless there are places for no such
    /// connection.
    fn keep(&mut self, slot: usize, stage: Stage, now: Mono) {
        let Some(Some(place)) = self.places.get(slot) else { return };
        let Place { origin, stage: before, .. } = *place;
        let Counts { keeping, dynamic, .. } = self.origins.counts[origin].1;
        let most = [self.limits.pending / 2, self.limits.per_address.saturating_sub(dynamic) / 2];
        if before == Stage::Dynamic || most.contains(&0) {
            return;
        }
        if !before.keeps_place() {
            self.look_at_time(now);
            let of_origin = |place: &Place| place.stage.keeps_place() && place.origin == origin;
            let too_many = if keeping >= most[1] {
                self.least_likely(of_origin)
            } else if self.keeping >= most[0] {
                self.least_likely_that_keeps()
            } else {
                None
            };
            too_many.into_iter().for_each(|slot| self.keep_no_longer(slot));
            self.origins.counts[origin].1.keeping += 1;
            self.keeping += 1;
        }
        if let Some(Some(place)) = self.places.get_mut(slot) {
            (place.stage, place.keeps_until) = (stage, now + KEEPS);
        }
    }

    /// Has those keep their place no longer whose time is over.
    fn look_at_time(&mut self, now: Mono) {
        self.now = now;
        if self.keeping == 0 {
            return;
        }
        for slot in 0..self.places.len() {
            if self.places[slot].is_some_and(|place| place.stage.keeps_place() && place.keeps_until <= now) {
                self.keep_no_longer(slot);
            }
        }
    }

    /// Has a connection keep its place no longer.
    pub(crate) fn keep_no_longer(&mut self, slot: usize) {
        if let Some(Some(place)) = self.places.get_mut(slot)
            && place.stage.keeps_place()
        {
            place.stage = Stage::Talking;
            self.origins.counts[place.origin].1.keeping -= 1;
            self.keeping -= 1;
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
        if place.stage.keeps_place() {
            self.origins.counts[place.origin].1.keeping -= 1;
            self.keeping -= 1;
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
            if place.stage.keeps_place() {
                counts.keeping -= 1;
                self.keeping -= 1;
            }
        }
        self.origins.tidy(place.origin);
    }

    /// Returns what the listeners may do with these descriptors, while so many sessions are open.
    pub(crate) fn intake(&mut self, now: Mono, descriptors: Descriptors, sessions: usize) -> Intake {
        self.look_at_time(now);
        let Descriptors { limit, left, .. } = descriptors;
        let reserve = descriptors.reserve(sessions);
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
        self.look_at_time(now);
        (self.short, self.short_until) = (true, now + LASTS);
        self.make_room(now)
    }

    fn make_room(&self, now: Mono) -> Intake {
        let Some(slot) = self.least_likely_of_all() else { return Intake::Pause(now + PAUSE) };
        let Some(place) = self.places[slot] else { return Intake::Pause(now + PAUSE) };
        let until = place.since + GRACE[usize::from(place.stage != Stage::Silent)];
        if until > now { Intake::Pause(until) } else { Intake::Close(slot) }
    }

    /// Returns whether file descriptors have been short since they were last found sufficient.
    pub(crate) const fn is_short(&self) -> bool {
        self.short
    }

    /// Returns the pending connection, of those that `counts` names, that has been silent for
    /// longest; if none is silent, the one that has advanced least, and of these the oldest one.
    fn least_likely(&self, counts: impl Fn(&Place) -> bool) -> Option<usize> {
        let places = self.places.iter().enumerate().filter_map(|(slot, place)| Some((slot, place.as_ref()?)));
        let pending = places.filter(|(_, place)| place.stage != Stage::Dynamic && counts(place));
        pending.min_by_key(|(_, place)| (self.likeness(place), place.arrived)).map(|(slot, _)| slot)
    }

    /// Returns how far a connection is, as far as anyone can know.
    fn likeness(&self, place: &Place) -> Stage {
        let newest = self.limits.pending.min(self.limits.per_address) as u64 / NEWEST;
        let is_new = self.arrived - place.arrived < newest && self.now - place.since < GRACE[0];
        if is_new { place.stage.max(Stage::Talking) } else { place.stage }
    }

    /// Returns the least likely pending connection ([`Admission::least_likely`]) of the origin that
    /// has most of those which do not keep their place; of several such origins, the connection
    /// that comes first in the same order. If all keep their place, one of those.
    fn least_likely_of_all(&self) -> Option<usize> {
        let number = |counts: Counts| counts.pending - counts.keeping;
        let of_newcomers = self.of_the_origin_with_most(number, |place| !place.stage.keeps_place());
        of_newcomers.or_else(|| self.least_likely_that_keeps())
    }

    /// Returns the least likely pending connection that keeps its place, of the origin that has
    /// most such connections.
    fn least_likely_that_keeps(&self) -> Option<usize> {
        let few = self.limits.per_address / FEW;
        let number = |counts: Counts| if counts.keeping == 0 { 0 } else { counts.keeping.max(few) };
        self.of_the_origin_with_most(number, |place| place.stage.keeps_place())
    }

    fn of_the_origin_with_most(
        &self,
        number: impl Fn(Counts) -> usize,
        counts: impl Fn(&Place) -> bool,
    ) -> Option<usize> {
        let origins = &self.origins.counts;
        let most = origins.iter().map(|(_, counts)| number(*counts)).max().filter(|most| *most > 0)?;
        self.least_likely(|place| counts(place) && number(origins[place.origin].1) == most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Mono = mono(10_000_000_000);

    fn ip(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    fn admission(pending: usize, per_address: usize) -> Admission {
        Admission::new(ConnectionLimits { pending, per_address })
    }

    /// Lets a connection arrive; returns the slot of the one that had to give way.
    fn arrive(admission: &mut Admission, slot: usize, from: u8) -> Option<usize> {
        let gives_way = admission.gives_way(ip(from), mono(0));
        if let Some(slot) = gives_way {
            admission.leave(slot);
        }
        admission.arrive(slot, ip(from), mono(0));
        gives_way
    }

    /// Changes what is known of a pending connection, one that keeps its place and a dynamic
    /// session's; and what `check` says then.
    type Damage = (fn(&mut Admission), &'static str);

    const DAMAGES: [Damage; 5] = [
        (|it| it.pending = 1, "2 connections are pending, and 1 count"),
        (|it| it.keeping = 0, "1 keep their place, and 0 count"),
        (|it| it.origins.counts[0].1.pending = 1, "has 2, 1 and 1 connections, and (1, 1, 1) count"),
        (|it| it.origins.counts[0].1.dynamic = 0, "has 2, 1 and 1 connections, and (2, 0, 1) count"),
        (|it| it.origins.counts[0].1.keeping = 0, "has 2, 1 and 1 connections, and (2, 1, 0) count"),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        for (damage, says) in DAMAGES {
            let mut admission = admission(100, 9);
            for slot in 0..3 {
                assert_eq!(arrive(&mut admission, slot, 1), None);
            }
            admission.greet(1, mono(0));
            admission.identify(2, true);
            assert!(admission.knows(2) && !admission.knows(3));
            admission.check();
            damage(&mut admission);
            let said = crate::damage::said(|| admission.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
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
            Descriptors { limit, left, most: limit },
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
        let left = |left| Descriptors { limit: 64, left, most: 64 };
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
        let plenty = Descriptors { limit: 1024, left: 1000, most: 1024 };
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
        let plenty = Descriptors { limit: 1024, left: 1000, most: 1024 };
        for (pending, per_address, most) in [(5, 1, 1), (1, 5, 1), (0, 5, 1), (5, 5, 2)] {
            assert_eq!(admission(pending, per_address).intake(NOW, plenty, 0), Intake::Accept(most));
        }
    }

    #[test]
    fn a_shortage_closes_no_connection_whose_logon_may_be_on_its_way() {
        let mut admission = admission(9, 9);
        let none = Descriptors { limit: 64, left: 0, most: 64 };
        admission.arrive(0, ip(1), NOW);
        let silent = NOW + Duration::from_millis(50);
        assert_eq!(admission.intake(NOW, none, 0), Intake::Pause(silent));
        admission.talk(0);
        let talking = NOW + Duration::from_secs(1);
        assert_eq!(admission.intake(silent, none, 0), Intake::Pause(talking));
        assert_eq!(admission.intake(talking, none, 0), Intake::Close(0));
    }

    #[test]
    fn a_handshake_that_advances_keeps_its_place_for_some_round_trips_whatever_arrives() {
        let mut admission = admission(8, 4);
        // One of the flood's address, and one of another.
        for (slot, from) in [(0, 1), (1, 2)] {
            arrive(&mut admission, slot, from);
            admission.greet(slot, mono(0));
        }
        for slot in 2..200 {
            let from = if slot % 2 == 0 { 1 } else { 3 + (slot % 100) as u8 };
            let gone = arrive(&mut admission, slot, from);
            admission.talk(slot);
            assert!(gone.is_none_or(|gone| gone > 1), "{slot}: {gone:?}");
        }
        assert_eq!(KEEPS.as_secs(), 2, "docs/security.md says two seconds");
        admission.trust(1, mono(0) + KEEPS / 2);
        assert_eq!(admission.keeping, 2);
        // The first one has not gone on; the second one still keeps its place.
        admission.look_at_time(mono(0) + KEEPS);
        assert_eq!(admission.keeping, 1);
        assert_eq!(admission.gives_way(ip(1), mono(0) + KEEPS), Some(0));
        admission.look_at_time(mono(0) + KEEPS / 2 + KEEPS);
        assert_eq!(admission.keeping, 0);
    }

    #[test]
    fn handshakes_keep_half_of_the_places_at_most_and_of_an_addresss_so_that_newcomers_have_the_others() {
        let mut admission = admission(8, 4);
        for slot in 0..4 {
            arrive(&mut admission, slot, 1);
            admission.greet(slot, mono(0));
        }
        assert_eq!(admission.keeping, 2, "half of its four");
        // The address's own first ones keep theirs no longer, and are the first to give way.
        assert_eq!(arrive(&mut admission, 4, 1), Some(0));
        for slot in 5..9 {
            arrive(&mut admission, slot, slot as u8);
            admission.greet(slot, mono(0));
        }
        assert_eq!((admission.keeping, admission.pending), (4, 8));
        // The address with two had to give one up, and then the oldest one its own.
        assert_eq!(admission.origins.counts(Origin::from(ip(1))).keeping, 0);
        let keeps = |admission: &Admission, slot: usize| admission.places[slot].unwrap().stage.keeps_place();
        // Whoever is done is the last to give it up.
        admission.trust(6, mono(0));
        for slot in 10..20 {
            arrive(&mut admission, slot, slot as u8);
            admission.greet(slot, mono(0));
        }
        assert!(keeps(&admission, 6));
        for slot in 0..20 {
            admission.leave(slot);
        }
        assert_eq!((admission.keeping, admission.pending), (0, 0));
        assert!(admission.origins.indices.is_empty());
    }

    #[test]
    fn where_there_is_one_place_a_handshake_keeps_nobody_from_it() {
        let mut admission = admission(1, 5);
        arrive(&mut admission, 0, 1);
        admission.greet(0, mono(0));
        assert_eq!(arrive(&mut admission, 1, 2), Some(0));
    }

    #[test]
    fn a_newcomer_does_not_give_way_before_it_can_be_seen_that_it_has_sent_something() {
        let mut admission = admission(100, 8);
        for slot in 0..8 {
            arrive(&mut admission, slot, 1);
            admission.talk(slot);
        }
        // It is accepted together with the next one.
        assert_eq!(arrive(&mut admission, 8, 1), Some(0));
        assert_eq!(arrive(&mut admission, 9, 1), Some(1));
        // Two are new, and the first of these is not any more.
        assert_eq!(arrive(&mut admission, 10, 1), Some(2));
        assert_eq!(arrive(&mut admission, 11, 1), Some(8));
        admission.talk(10);
        assert_eq!(admission.gives_way(ip(1), mono(0) + GRACE[0]), Some(9));
    }

    #[test]
    fn a_firm_with_several_sessions_keeps_their_places_as_long_as_strangers_with_an_address_each() {
        let mut admission = admission(16, 16);
        for (slot, from) in [(0, 100), (1, 101), (2, 1), (3, 1)] {
            arrive(&mut admission, slot, from);
            admission.greet(slot, mono(0));
        }
        for slot in 4..10 {
            arrive(&mut admission, slot, slot as u8);
            admission.greet(slot, mono(0));
        }
        // Half of the places are full: the oldest two have given theirs up.
        let keep = |slot: usize| admission.places[slot].is_some_and(|place| place.stage.keeps_place());
        assert_eq!((0..10).filter(|slot| keep(*slot)).collect::<Vec<_>>(), (2..10).collect::<Vec<_>>());
    }
}
