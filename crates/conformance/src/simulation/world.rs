//! One world: a session of ours and a counterparty, the network between them, a store, an
//! application, operators, a schedule and clocks. Everything follows from its seed and its faults.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use fixbolt_session::runtime::mono;
use fixbolt_session::{MatrixState, Next, OpenError, Phase, Read, ResendSettings, Role, Sessions, Socket};

use super::app::{self, App};
use super::counterparty::Moment;
use super::dialect::{DIALECTS, Kind};
use super::edges::BEGINNINGS;
use super::faults::Faults;
use super::habits::MILLI;
use super::link::Link;
use super::network::garble;
use super::outcome::{Outcome, Totals};
use super::random::Random;
use super::record::Record;
use super::text::{self, SECOND};
use crate::broken::Relapse;
use crate::disk::{Died, Disk};

/// What has no cause: the world ends before its time.
#[derive(Clone, Debug)]
pub(super) struct Stop(pub(super) String);

/// Few enough bytes that all that waits for a throttle leaves within that time.
const OUTBOUND_QUEUE: usize = 8 << 10;
/// The time within which both sides must agree after the last fault.
const HEALED_WITHIN: u64 = 900 * SECOND;
/// Steps at one moment after which a world counts as stuck.
const STEPS_AT_ONCE: u32 = 5000;
/// How long a session that is closing waits until its last bytes are read.
const CLOSING_PATIENCE: u64 = 3 * SECOND;
/// How long a session that reads nothing does not see the end of its connection.
pub(super) const END_UNSEEN: u64 = 10 * SECOND;
/// Bytes that a counterparty that reads slowly leaves in the network.
const CAPACITY: usize = 8 * 1024;
pub(super) const NEVER: u64 = u64::MAX;

pub(super) struct World {
    pub(super) faults: Faults,
    pub(super) random: Random,
    pub(super) mono: u64,
    pub(super) beginning: u64,
    /// By how much the wall clock of the session's machine is wrong, in nanoseconds.
    pub(super) clock: i64,
    pub(super) sessions: Option<Sessions>,
    pub(super) disk: Disk,
    pub(super) app: App,
    /// The session at hand: the first one, unless [`World::each`] is at another.
    pub(super) link: Link,
    others: Vec<Link>,
    at_hand: usize,
    pub(super) next_act: u64,
    pub(super) ids: u64,
    pub(super) wild: bool,
    pub(super) restart_at: u64,
    pub(super) paused_until: u64,
    pub(super) clock_back_at: u64,
    pub(super) paused_since: u64,
    /// Since when it has been wrong, by the right time.
    pub(super) clock_wrong_since: u64,
    /// Since when it has been right.
    pub(super) clock_right_since: u64,
    pub(super) store_well_at: u64,
    /// When a process that the operator stops is gone.
    pub(super) stops_at: u64,
    at_once: u32,
    pub(super) totals: Totals,
    pub(super) record: Option<Record>,
}

impl World {
    pub(super) fn new(seed: u64, faults: Option<Faults>) -> Self {
        let mut random = Random::new(seed);
        let drawn = Faults::draw(&mut random);
        let faults = faults.unwrap_or(drawn);
        let r = &mut random;
        let dialect = *r.pick(&DIALECTS);
        let role = *r.pick(&[Role::Initiator, Role::Acceptor]);
        let beginning = *r.pick(&BEGINNINGS);
        let link = Link::new(0, r, faults, dialect, role, beginning);
        let others = if faults.several { r.within(1, 3) as usize } else { 0 };
        let others: Vec<_> = (1..=others)
            .map(|place| {
                let (dialect, role) = (*r.pick(&DIALECTS), *r.pick(&[Role::Initiator, Role::Acceptor]));
                Link::new(place, r, faults, dialect, role, beginning)
            })
            .collect();
        let late = faults.store && r.once_in(2);
        let sessions = std::iter::once(&link).chain(&others);
        let sessions = sessions.map(|link| (link.settings.id.clone(), link.dialect));
        let withholds = faults.settings && r.once_in(6);
        let app = App::new(sessions, faults.several || r.once_in(2), faults.application, withholds, r.fork());
        Self {
            faults,
            mono: 5 * SECOND,
            beginning: beginning.utc * SECOND - 5 * SECOND,
            clock: 0,
            sessions: None,
            disk: Disk::new(late),
            app,
            link,
            others,
            at_hand: 0,
            next_act: 5 * SECOND + r.within(0, 5 * SECOND),
            ids: 0,
            wild: true,
            restart_at: NEVER,
            paused_until: 0,
            clock_back_at: NEVER,
            paused_since: 0,
            clock_wrong_since: 0,
            clock_right_since: 0,
            store_well_at: NEVER,
            stops_at: NEVER,
            at_once: 0,
            totals: Totals { worlds: 1, ..Totals::default() },
            record: None,
            random,
        }
    }

    pub(super) fn moment(&self) -> Moment {
        Moment { mono: self.mono, utc: self.beginning + self.mono }
    }

    /// Takes the session at a place in hand.
    fn turn_to(&mut self, place: usize) {
        for place in [self.at_hand, place] {
            if let Some(other) = place.checked_sub(1) {
                std::mem::swap(&mut self.link, &mut self.others[other]);
            }
        }
        self.at_hand = place;
    }

    /// Does something with each session, until it fails.
    pub(super) fn each<E>(&mut self, mut act: impl FnMut(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let before = self.at_hand;
        let places = 0..=self.others.len();
        let done = places.into_iter().try_for_each(|place| {
            self.turn_to(place);
            act(self)
        });
        self.turn_to(before);
        done
    }

    /// Does something with each session.
    pub(super) fn each_one(&mut self, mut act: impl FnMut(&mut Self)) {
        let Ok(()) = self.each(|world| {
            act(world);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// Gives every session a defect.
    pub(super) fn break_sessions(&mut self, relapse: Option<Relapse>) {
        self.each_one(|w| w.link.relapse = relapse);
    }

    /// Does something with one of the sessions.
    pub(super) fn any_one(&mut self, act: impl FnOnce(&mut Self)) {
        if !self.others.is_empty() {
            let place = self.random.within(0, self.others.len() as u64 + 1);
            self.turn_to(place as usize);
        }
        act(self);
        self.turn_to(0);
    }

    pub(super) fn sessions_there(&self) -> usize {
        self.others.len() + 1
    }

    /// Returns every session, the one at hand first.
    pub(super) fn links(&self) -> impl Iterator<Item = &Link> {
        std::iter::once(&self.link).chain(&self.others)
    }

    /// Returns the settings of every session.
    #[cfg(test)]
    pub(super) fn settings(&self) -> Vec<fixbolt_session::SessionSettings> {
        self.links().map(|link| link.settings.clone()).collect()
    }

    /// Lets time pass until both sides agree after the last fault.
    pub(super) fn run(&mut self) -> Outcome {
        let began = self.mono;
        let outcome = self.play();
        self.totals.simulated = Duration::from_nanos(self.mono - began);
        self.turn_to(0);
        self.each_one(|w| {
            w.totals.messages += w.link.peer.sent_ids.len() as u64;
            w.totals.replays += w.link.peer.requests;
            w.totals.expected += w.link.peer.expected;
        });
        match outcome {
            Ok(()) => Outcome::InStep,
            Err(Stop(why)) => Outcome::Failed(why),
        }
    }

    fn play(&mut self) -> Result<(), Stop> {
        self.each_one(|w| w.link.arrived.begin(1));
        self.start();
        let mut calm_at = self.mono + self.random.within(20, 400) * SECOND;
        let mut most = self.random.within(300, 2500);
        if let Some(edge) = self.links().filter_map(|link| link.plan.last_edge()).max() {
            // The edges come while it trades.
            calm_at = edge.saturating_sub(self.beginning) + self.random.within(1, 30) * SECOND;
            most += 2000;
        }
        while self.mono < calm_at && self.totals.steps < most {
            self.step()?;
        }
        self.calm();
        // What a limit lets through slowly takes its time, and so does a gap that is asked for in
        // pieces.
        let is_slow = |resend: &ResendSettings| {
            resend.max_replay_rate.is_some() || resend.resend_request_chunk_size.is_some()
        };
        let slowly = self.faults.throttles || self.links().any(|link| is_slow(&link.settings.resend));
        let healed_by = self.mono + if slowly { 10 * HEALED_WITHIN } else { HEALED_WITHIN };
        while !self.is_healed() {
            if self.mono >= healed_by {
                self.each(Self::judge_the_healing)?;
            }
            self.step()?;
        }
        self.each(Self::judge_the_end)
    }

    /// Ends all faults, and what they have left behind.
    fn calm(&mut self) {
        self.note(|| "from here on nothing fails".to_owned());
        self.wild = false;
        (self.app.fails, self.app.withholds) = (false, false);
        self.each_one(|w| {
            w.link.peer.active = false;
            w.link.peer.stop_attacking();
            w.link.peer.habits.part = NEVER;
            w.link.peer.habits.closed_requests = false;
            w.link.peer.habits.redundant_requests = false;
            w.link.losses_in.stop();
            w.link.losses_out.stop();
            w.link.stalled_until = 0;
            w.link.enable_at = w.link.enable_at.min(w.mono);
        });
        self.paused_until = 0;
        self.right_the_clock();
        self.next_act = self.mono;
        let mut platter = self.disk.platter();
        (platter.refuses, platter.refuses_in) = (false, None);
        platter.stop_being_late();
        platter.dies_in = None;
    }

    pub(super) fn start(&mut self) {
        // A process that begins with a wrong clock cannot know that.
        self.right_the_clock();
        let now = self.now();
        let mut sessions =
            Sessions::new(Box::new(self.disk.clone()), 64 * 1024).with_outbound_queue(OUTBOUND_QUEUE);
        let opened = self.each(|w| {
            w.link.key = sessions.open(now, w.link.opened_with(), &mut w.app)?;
            Ok::<(), OpenError>(())
        });
        if let Err(error) = opened {
            self.note(|| format!("a session does not open: {error}"));
            self.restart_at = self.mono + SECOND;
            return;
        }
        self.sessions = Some(sessions);
        self.restart_at = NEVER;
    }

    /// Advances to the next moment at which something happens.
    fn step(&mut self) -> Result<(), Stop> {
        self.totals.steps += 1;
        self.poll();
        let next = self.next_event();
        if next > self.mono {
            self.mono = next;
            self.at_once = 0;
        } else {
            self.at_once += 1;
            if self.at_once > STEPS_AT_ONCE {
                return Err(Stop(format!("stuck at one moment: {}", self.describe())));
            }
        }
        self.each(Self::drive_peer)?;
        let driven = if self.faults.deaths {
            catch_unwind(AssertUnwindSafe(|| self.drive()))
        } else {
            Ok(self.drive())
        };
        match driven {
            Ok(driven) => driven?,
            Err(cause) if cause.is::<Died>() => {
                self.turn_to(0);
                self.process_died();
            }
            Err(cause) => std::panic::resume_unwind(cause),
        }
        self.each_one(|w| {
            if w.link.peer_attached {
                w.send_to_us();
            }
        });
        self.poll();
        self.each(Self::judge)
    }

    fn next_event(&self) -> u64 {
        let next = self.links().map(|link| self.next_of_peer(link)).fold(self.next_act, u64::min);
        let ours = self.links().map(|link| self.next_of_ours(link)).fold(self.restart_at, u64::min);
        next.min(ours.max(self.paused_until)).max(self.mono)
    }

    /// Returns when something happens to the counterparty, or to the connection.
    fn next_of_peer(&self, link: &Link) -> u64 {
        let end = if link.to_peer.is_empty() { link.peer_end_at } else { NEVER };
        let mut next = link.peer.next_deadline().min(link.to_peer.next()).min(end);
        if link.stalled_until > self.mono {
            next = next.min(link.stalled_until);
        }
        if !link.attached && !link.peer_attached {
            next = next.min(if link.peer.connects { link.peer.connect_at } else { link.connect_at });
        }
        next
    }

    /// Returns when something happens to the session, if its process does not stand still.
    fn next_of_ours(&self, link: &Link) -> u64 {
        let mut next = if self.wild { link.next_order } else { NEVER };
        if self.sessions.is_none() {
            return next;
        }
        next = next.min(link.next.deadline.map_or(NEVER, |at| at.nanos()));
        if link.next.read == Read::Nothing {
            next = next.min(link.end_at.saturating_add(END_UNSEEN));
        } else if link.to_us.is_empty() {
            next = next.min(link.end_at);
        } else {
            next = next.min(link.to_us.next());
        }
        if link.attached {
            next = next.min(link.closing_since.map_or(NEVER, |since| since + CLOSING_PATIENCE));
        }
        if link.next.output && self.disk.platter().is_late() {
            next = next.min(self.mono + MILLI / 2);
        }
        next
    }

    // --- the connection

    /// Lets whoever connects do so.
    fn connect(&mut self) {
        if self.link.attached || self.link.peer_attached {
            return;
        }
        let at = if self.link.peer.connects { self.link.peer.connect_at } else { self.link.connect_at };
        if at > self.mono {
            return;
        }
        self.agree_on_numbers();
        let open = self.link.plan.is_open(self.moment().utc);
        let ready = self.paused_until <= self.mono
            && self.sessions.as_ref().is_some_and(|sessions| sessions.can_connect(self.link.key))
            && (open || !self.link.peer.connects);
        if !ready {
            let again = self.mono + SECOND;
            (self.link.peer.connect_at, self.link.connect_at) = (again, again);
            return;
        }
        let (now, moment) = (self.now(), self.moment());
        self.note(|| "-- connected".to_owned());
        self.totals.logons += 1;
        self.link.diary.connection_began(moment.utc);
        self.link.diary.now.jumped = self.clock != 0;
        self.link.diary.now.stalled = self.link.stalled_until > self.mono;
        let platter = self.disk.platter();
        self.link.diary.now.failed = platter.refuses || platter.refuses_in.is_some();
        drop(platter);
        self.link.to_us.clear();
        self.link.to_peer.clear();
        self.link.inbox.clear();
        self.link.unread.clear();
        self.link.pending_tests.clear();
        self.link.last_new = (0, 0);
        self.link.closing_since = None;
        (self.link.attached, self.link.peer_attached) = (true, true);
        (self.link.end_at, self.link.peer_end_at) = (NEVER, NEVER);
        self.link.peer.connected(moment);
        let Self { sessions: Some(sessions), app, link: Link { key, .. }, .. } = self else { return };
        sessions.connected(now, *key, app);
    }

    /// The session's side of the connection has ended.
    pub(super) fn disconnect(&mut self) {
        let now = self.now();
        if !std::mem::take(&mut self.link.attached) {
            return;
        }
        self.link.end_at = NEVER;
        self.link.to_us.clear();
        self.link.connect_at = self.mono + self.random.within(0, 3) * SECOND + MILLI;
        if self.link.peer_attached {
            self.link.peer_end_at = self.link.peer_end_at.min(self.mono + 5 * MILLI);
        }
        let Self { sessions: Some(sessions), app, link: Link { key, .. }, .. } = self else { return };
        sessions.disconnected(now, *key, app);
    }

    fn disconnect_peer(&mut self) {
        self.link.peer_attached = false;
        self.link.peer_end_at = NEVER;
        let moment = self.moment();
        self.link.peer.disconnected(moment);
        if self.link.attached {
            self.link.diary.now.peer_left = true;
            self.link.end_at = self.link.end_at.min(self.mono + 5 * MILLI);
        }
    }

    /// Cuts the connection at any byte: what is in flight is lost, up to a part of the next
    /// message.
    pub(super) fn cut(&mut self) {
        self.note(|| "-- the connection is cut".to_owned());
        self.totals.cuts += 1;
        self.link.diary.now.cut = true;
        let part = self.link.to_us.drop_next().map(|mut flight| {
            let keep = self.random.within(0, flight.bytes.len() as u64) as usize;
            flight.bytes.truncate(keep);
            flight.bytes
        });
        while let Some(flight) = self.link.to_us.drop_next() {
            drop(flight);
        }
        if let Some(bytes) = part.filter(|bytes| !bytes.is_empty()) {
            self.link.to_us.send(self.mono, bytes, (0, 0));
        }
        self.link.to_peer.clear();
        if self.link.attached {
            self.link.end_at = self.link.end_at.min(self.mono + self.random.within(0, 3000) * MILLI);
        }
        if self.link.peer_attached {
            self.link.peer_end_at =
                self.link.peer_end_at.min(self.mono + self.random.within(0, 3000) * MILLI);
        }
    }

    // --- the counterparty

    fn drive_peer(&mut self) -> Result<(), Stop> {
        let moment = self.moment();
        while let Some(flight) = self.link.to_peer.take(self.mono) {
            if self.link.peer_attached {
                self.link.peer.receive(moment, flight.bytes);
            }
        }
        if self.link.peer_attached {
            if self.link.peer.next_deadline() <= self.mono {
                self.link.peer.wake(moment);
            }
            self.send_to_us();
            let ended = self.link.peer_end_at <= self.mono && self.link.to_peer.is_empty();
            if self.link.peer.closing || ended {
                self.note(|| "-- the counterparty's end of the connection is closed".to_owned());
                self.disconnect_peer();
            }
        }
        self.judge_the_peer()
    }

    /// Puts what the counterparty has written on its way.
    fn send_to_us(&mut self) {
        if self.link.peer.series != self.link.peer_series {
            self.link.peer_series = self.link.peer.series;
            self.link.diary.series_began();
            self.link.pending_tests.clear();
        }
        let mut emissions: Vec<_> = self.link.peer.take_output().collect();
        for emission in &mut emissions {
            let mut at = self.mono + self.random.within(10, 20_000) * 1000;
            if self.link.diary.now.cut || !self.link.attached {
                continue;
            }
            let lost = if emission.essential { None } else { self.link.losses_in.next(&mut self.random) };
            if let Some(begins) = lost {
                self.totals.lost_in += 1;
                self.link.diary.runs += u64::from(begins);
                self.link.diary.now.lost_in += 1;
                self.link.diary.lost_numbers(emission.covers);
                self.write_down("lost  <-", &emission.bytes);
                if emission.bytes.len() < 30 || self.random.once_in(2) {
                    continue;
                }
                // A garbled message that is rejected uses its number, so that one is left right.
                let rejects = self.link.settings.validation.reject_garbled_message;
                garble(&mut emission.bytes, rejects, &mut self.random);
                let covers = if rejects { emission.covers } else { (0, 0) };
                self.link.to_us.send(at, std::mem::take(&mut emission.bytes), covers);
                continue;
            }
            self.write_down("      <-", &emission.bytes);
            if let Some(relapse) = self.link.relapse {
                emission.bytes = relapse.arriving(std::mem::take(&mut emission.bytes));
                at = self.link.arrives_at(at, &emission.bytes);
            }
            let pieces = if self.random.once_in(10) { self.random.within(1, 4) } else { 0 };
            for _ in 0..pieces {
                if emission.bytes.len() > 1 {
                    let part = self.random.within(1, emission.bytes.len() as u64) as usize;
                    let rest = emission.bytes.split_off(part);
                    self.link.to_us.send(at, std::mem::replace(&mut emission.bytes, rest), (0, 0));
                    at += self.random.within(0, 5000) * 1000;
                }
            }
            self.link.to_us.send(at, std::mem::take(&mut emission.bytes), emission.covers);
        }
    }

    // --- our side

    /// Everything that the session's process does at this moment, and what is done to it.
    fn drive(&mut self) -> Result<(), Stop> {
        if self.next_act <= self.mono {
            self.act();
        }
        self.each_one(Self::connect);
        if self.paused_until > self.mono {
            return Ok(());
        }
        if self.restart_at <= self.mono {
            self.note(|| "-- the process starts".to_owned());
            self.start();
        }
        if self.sessions.is_none() {
            return Ok(());
        }
        self.each_one(|w| {
            if w.wild && w.link.next_order <= w.mono {
                w.link.next_order = w.mono + w.random.within(1, w.link.order_interval * 2);
                w.send_order();
            }
            w.deliver();
        });
        self.tick();
        for _ in 0..1000 {
            self.sync();
            let mut moved = false;
            self.each(|w| {
                moved |= w.write()?;
                Ok(())
            })?;
            // What one session has written may be what another waits for.
            let ready = !self.others.is_empty() && self.wake_the_ready();
            if !moved && !ready {
                break;
            }
        }
        self.each(Self::watch_numbers)
    }

    fn send_order(&mut self) {
        // An ID is used once, even if the process dies before it hears that the message is sent.
        self.ids += 1;
        let (now, dialect, id) = (self.now(), self.link.dialect, self.ids);
        let kind = if self.random.once_in(3) { Kind::Report } else { Kind::Order };
        let Self { sessions: Some(sessions), app, link: Link { key, .. }, .. } = self else { return };
        if sessions.act(now, *key, app, |turn| app::write(dialect, kind, id, turn.session())).is_ok() {
            self.totals.messages += 1;
        }
    }

    fn tick(&mut self) {
        self.wake_the_ready();
        self.each_one(|w| {
            w.poll();
            if w.link.next.deadline.is_some_and(|at| at.nanos() <= w.mono) {
                w.wake();
            }
        });
    }

    fn wake(&mut self) {
        let now = self.now();
        let Self { sessions: Some(sessions), app, link: Link { key, inbox, .. }, .. } = self else { return };
        let used = sessions.wake(now, *key, inbox, app);
        inbox.drain(..used);
    }

    /// Learns what the sessions ask for.
    pub(super) fn poll(&mut self) {
        let Self { sessions: Some(sessions), link, others, .. } = self else { return };
        while let Some((key, next)) = sessions.poll() {
            let mut links = std::iter::once(&mut *link).chain(others.iter_mut());
            if let Some(link) = links.find(|link| link.key == key) {
                link.next = next;
            }
        }
    }

    /// Lets the sessions go on that can without bytes and clock. Returns whether there were any.
    fn wake_the_ready(&mut self) -> bool {
        self.poll();
        let mut any = false;
        self.each_one(|w| {
            if w.sessions.is_some() && w.link.next.deadline == Some(mono(0)) {
                w.wake();
                any = true;
            }
        });
        any
    }

    fn sync(&mut self) {
        let now = self.now();
        let mut platter = self.disk.platter();
        if !platter.is_late() && !platter.refuses {
            return;
        }
        let position = platter.position();
        if self.random.once_in(3) {
            platter.sync(position);
        } else if self.random.once_in(3) {
            platter.sync(self.random.within(0, position + 1));
        }
        drop(platter);
        let Self { sessions: Some(sessions), app, .. } = self else { return };
        sessions.store_advanced(now, app);
    }

    /// Lets the session write what it may. Returns whether anything moved.
    fn write(&mut self) -> Result<bool, Stop> {
        let now = self.now();
        let Self { sessions: Some(sessions), link: Link { key, .. }, .. } = self else { return Ok(false) };
        let key = *key;
        if !self.link.attached {
            return Ok(false);
        }
        let bytes = sessions.writable(key).bytes;
        let mut taken = bytes.len();
        if self.link.stalled_until > self.mono {
            taken = 0;
        } else if self.faults.slow && self.wild {
            taken = taken.min(CAPACITY.saturating_sub(self.link.to_peer.bytes()));
        }
        if taken > 0 && self.random.once_in(8) {
            taken = self.random.within(1, taken as u64 + 1) as usize;
        }
        let refused = bytes.len() > taken;
        if taken > 0 {
            self.link.unread.extend_from_slice(&bytes[..taken]);
            self.read_wire()?;
        }
        let Some(sessions) = &mut self.sessions else { return Ok(false) };
        if taken > 0 || refused {
            sessions.wrote(now, key, taken, Socket::Full);
        }
        self.poll();
        let Next { read, deadline, .. } = self.link.next;
        if taken > 0 && (read == Read::Nothing || deadline == Some(mono(0))) {
            self.wake();
            self.poll();
        }
        if self.link.next.close {
            let since = *self.link.closing_since.get_or_insert(self.mono);
            if !self.link.next.output || self.mono - since >= CLOSING_PATIENCE {
                self.note(|| "-- the session closes the connection".to_owned());
                self.disconnect();
                return Ok(false);
            }
        }
        Ok(taken > 0)
    }

    /// Reads the whole messages of what was written, checks them, and puts them on their way.
    fn read_wire(&mut self) -> Result<(), Stop> {
        let mut unread = std::mem::take(&mut self.link.unread);
        let mut at = 0;
        while let Some(length) = text::first_message(&unread[at..]) {
            let bytes = unread[at..at + length].to_vec();
            at += length;
            self.check_written(&bytes)?;
            let lost = self.link.losses_out.next(&mut self.random).is_some();
            if lost {
                self.totals.lost_out += 1;
                self.link.diary.now.lost_out += 1;
                self.note_lost_request(&bytes);
            }
            self.write_down(if lost { "lost  ->" } else { "      ->" }, &bytes);
            if !lost && !self.link.diary.now.cut && self.link.peer_attached {
                let delay = self.random.within(10, 20_000) * 1000;
                self.link.to_peer.send(self.mono + delay, bytes, (0, 0));
            }
        }
        unread.drain(..at);
        self.link.unread = unread;
        Ok(())
    }

    fn is_healed(&self) -> bool {
        self.links().all(|link| self.agrees(link))
    }

    /// Returns whether both sides are logged on, nothing is in flight, and the numbers agree.
    pub(super) fn agrees(&self, link: &Link) -> bool {
        let Some(sessions) = &self.sessions else { return false };
        let numbers = sessions.numbers(link.key).map(|(next_in, next_out)| (next_in.0, next_out.0));
        sessions.phase(link.key) == Phase::LoggedOn
            && link.attached
            && link.peer_attached
            && link.peer.is_quiet()
            && link.to_us.is_empty()
            && link.to_peer.is_empty()
            && !link.next.close
            && !link.next.output
            && sessions.matrix_state(link.key) != Some(MatrixState::HandlingResendRequest)
            && self.disk.platter().waiting(link.stored()).count == 0
            && numbers == Some((link.peer.next_out, link.peer.next_in))
    }

    // --- the record

    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        let utc = self.beginning + self.mono;
        if let Some(record) = &mut self.record {
            let whose = if self.others.is_empty() { "" } else { self.link.peer.own };
            record.add(utc, if whose.is_empty() { text() } else { format!("{whose:5} {}", text()) });
        }
    }

    fn write_down(&mut self, arrow: &str, bytes: &[u8]) {
        self.note(|| format!("{arrow} {}", text::readable(bytes)));
    }

    pub(super) fn describe(&self) -> String {
        let all: Vec<_> = self.links().map(|link| self.describe_one(link)).collect();
        all.join("; ")
    }

    fn describe_one(&self, link: &Link) -> String {
        let ours = match &self.sessions {
            Some(s) => format!(
                "{:?}, NextNumIn and NextNumOut {:?}, halted {:?}, blocked {}, replaying {}, next deadline {:?}",
                s.phase(link.key),
                s.numbers(link.key).map(|(i, o)| (i.0, o.0)),
                s.halted(link.key).map(ToString::to_string),
                link.next.read == Read::Nothing,
                s.matrix_state(link.key) == Some(MatrixState::HandlingResendRequest),
                link.next.deadline,
            ),
            None => "no process".to_owned(),
        };
        format!(
            "at {}: the session: {ours}; the counterparty: {:?}, NextNumIn and NextNumOut {:?}",
            text::time(self.moment().utc),
            link.peer.phase,
            (link.peer.next_in, link.peer.next_out)
        )
    }
}
