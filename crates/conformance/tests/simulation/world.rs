//! The simulation: one clock, three processes, two links, and everything that happens to them.

use std::collections::{HashMap, HashSet};
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use fixbolt_codec::{BodySink, Frame, Framer, Index, Key, MsgType, NewBody, Span, Tag, Version};
use fixbolt_session::runtime::mono;
use fixbolt_session::store::RecordKind;
use fixbolt_session::{
    AcceptedHeartBtInt, Compatibility, MatrixState, Mono, Now, OutboundThrottle, OutboundWatermarks, Phase,
    Rate, Read, ReplayInterleave, Role, SendError, SessionDictionary, SessionId, SessionSettings, Socket,
    Utc, WhileLoggedOff,
};

use crate::counts::Counts;
use crate::network::{End, Link};
use crate::process::{Process, key_of};
use fixbolt_conformance::disk::Kept;
use fixbolt_conformance::simulation::Random;

const TRADER: usize = 0;
const VENUE: usize = 1;
const COPY: usize = 2;
/// About 2026-11-18T00:00:00Z.
const EPOCH: u64 = 1_795_000_000_000_000_000;
/// The number of steps at one point in time after which the simulation counts as stuck.
const STEPS_AT_ONCE: u32 = 20_000;
/// The time within which all sides must have recovered after the last fault.
const HEALED_WITHIN: Duration = Duration::from_secs(600);
/// How long a session that is closing may wait until its last bytes are accepted.
const CLOSING_PATIENCE: Duration = Duration::from_secs(3);

/// Messages by process, session, generation and sequence number.
type Wire = HashMap<(usize, u32, u32, u64), Vec<u8>>;

pub(crate) struct World {
    random: Random,
    now: Mono,
    at_once: u32,
    processes: Vec<Process>,
    links: Vec<Link>,
    /// The time at which a dead process starts again.
    restart_at: Vec<Option<Mono>>,
    next_action: Mono,
    /// Whether faults are injected.
    wild: bool,
    /// Whether the trader sends more than its counterparty can read.
    busy: bool,
    /// Whether sequence numbers are reset at every logon of the trader: lost messages stay lost
    /// then, but no message arrives twice.
    resets: bool,
    /// Every message sent for the first time that was on the wire.
    wire: Wire,
    /// When each session's new application messages were on the wire, since its process started.
    written_at: HashMap<(usize, u32), Vec<Mono>>,
    counts: Counts,
}

fn settings(random: &mut Random, ours: &str, theirs: &str, role: Role) -> SessionSettings {
    let mut settings = SessionSettings::new(SessionId::new(Version::Fix44, ours, theirs).unwrap(), role);
    settings.dictionary = SessionDictionary::None;
    settings.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
    settings.timing.heart_bt_int = random.within(1, 8) as u32;
    settings.limits.outbound_buffer_size = random.within(16, 128) as usize * 1024;
    settings.limits.reorder_buffer_size = random.within(200, 60_000) as usize;
    settings.limits.max_message_size = 8 * 1024;
    if random.once_in(4) {
        settings.resend.resend_horizon = NonZeroU64::new(random.within(1, 100));
    }
    if random.once_in(4) {
        settings.compatibility = Compatibility::QuickFix;
    }
    if random.once_in(4) {
        settings.resend.resend_request_chunk_size = NonZeroU64::new(random.within(1, 20));
    }
    settings.resend.closed_resend_interval = random.once_in(4);
    settings.resend.send_redundant_resend_requests = random.once_in(8);
    settings.resend.send_next_expected_msg_seq_num = random.once_in(4);
    settings.resend.replay_interleave = match random.within(0, 7) {
        0 => ReplayInterleave::All,
        1 => ReplayInterleave::Heartbeats,
        _ => ReplayInterleave::None,
    };
    settings.resend.max_replay_rate =
        random.once_in(8).then(|| random.within(50, 2000) as u32).and_then(NonZeroU32::new);
    settings.resend.enable_last_msg_seq_num_processed = random.once_in(4);
    if random.once_in(4) {
        let window = Duration::from_millis(random.within(1, 300));
        settings.throttle.max_outbound_rate = Rate::new(random.within(2, 60) as u32, window);
        settings.throttle.outbound_throttle =
            [OutboundThrottle::Wait, OutboundThrottle::Refuse][random.within(0, 2) as usize];
    }
    if random.once_in(4) {
        let high = random.within(2, 50);
        settings.limits.outbound_watermarks =
            OutboundWatermarks::new(high as u8, random.within(0, high) as u8).unwrap();
        settings.limits.slow_consumer_timeout =
            random.once_in(2).then(|| Duration::from_millis(random.within(500, 5000)));
    }
    settings
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let r = &mut random;
        let mut trader = settings(r, "TRADER", "VENUE", Role::Initiator);
        if r.once_in(2) {
            trader.resend.while_logged_off = WhileLoggedOff::Keep;
        }
        let resets = r.once_in(6);
        trader.reset.reset_on_logon = resets;
        let to_trader = settings(r, "VENUE", "TRADER", Role::Acceptor);
        // A report is never refused because the copy session is logged off.
        let mut to_copy = settings(r, "VENUE", "COPY", Role::Acceptor);
        to_copy.resend.while_logged_off = WhileLoggedOff::Keep;
        let copy = settings(r, "COPY", "VENUE", Role::Initiator);
        let busy = r.once_in(6);
        let mut process = |settings, copies_to| {
            let late = r.once_in(3);
            Process::new(settings, copies_to, r.next(), late)
        };
        let processes = vec![
            process(vec![trader], None),
            process(vec![to_trader, to_copy], Some(key_of(1))),
            process(vec![copy], None),
        ];
        let links = vec![Link::new((TRADER, 0), (VENUE, 0)), Link::new((COPY, 0), (VENUE, 1))];
        Self {
            random,
            now: mono(1_000_000_000),
            at_once: 0,
            processes,
            links,
            restart_at: vec![None; 3],
            next_action: mono(1_000_000_000),
            wild: true,
            busy,
            resets,
            wire: HashMap::new(),
            written_at: HashMap::new(),
            counts: Counts::default(),
        }
    }

    pub(crate) fn run(mut self) -> Counts {
        for n in 0..self.processes.len() {
            let now = self.now_of(n);
            self.processes[n].start(now);
        }
        let calm_at = self.now + Duration::from_millis(self.random.within(2_000, 15_000));
        while self.now < calm_at {
            self.step();
        }
        self.wild = false;
        for process in &mut self.processes {
            process.app.fails = false;
            process.disk.platter().stop_being_late();
        }
        let healed_by = self.now + HEALED_WITHIN;
        while !self.is_healed() {
            assert!(self.now < healed_by, "not recovered: {}", self.describe());
            self.step();
        }
        self.check_deliveries();
        for process in &self.processes {
            self.counts.failures += process.app.failures;
            self.counts.not_now += process.app.not_now;
            self.counts.resends += process.app.resends;
            self.counts.gaps += process.app.gaps;
            self.counts.duplicates += process.app.duplicates;
            self.counts.beyond_horizon += process.app.beyond.len() as u64;
            self.counts.slow += process.app.slow;
            self.counts.recovered += process.app.recovered;
        }
        self.counts
    }

    fn now_of(&self, process: usize) -> Now {
        let utc = EPOCH.saturating_add(self.now.nanos()).saturating_add_signed(self.processes[process].skew);
        Now { mono: self.now, utc: Utc(utc) }
    }

    /// Advances to the next event and processes it.
    fn step(&mut self) {
        self.counts.steps += 1;
        let next = self.next_event();
        if next > self.now {
            self.now = next;
            self.at_once = 0;
        } else {
            self.at_once += 1;
            assert!(self.at_once < STEPS_AT_ONCE, "the simulation is stuck: {}", self.describe());
        }
        if self.next_action <= self.now {
            self.next_action = self.now + Duration::from_millis(self.random.within(1, 80));
            self.act();
        }
        self.restart();
        for n in 0..self.links.len() {
            self.connect(n);
            for side in 0..2 {
                self.lose(n, side);
                self.deliver(n, side);
                self.tick(n, side);
            }
        }
        self.sync();
        while (0..self.links.len()).any(|n| self.write(n, 0) | self.write(n, 1)) {}
        self.check_numbers();
        // In a build without debug assertions, too.
        for sessions in self.processes.iter().filter_map(|process| process.sessions.as_ref()) {
            sessions.check();
        }
    }

    fn next_event(&self) -> Mono {
        let mut next = self.next_action;
        let mut sooner = |at: Option<Mono>| next = at.map_or(next, |at| next.min(at));
        for at in &self.restart_at {
            sooner(*at);
        }
        for link in &self.links {
            sooner(link.connect_at);
            for side in 0..2 {
                let (from, to) = (&link.ends[1 - side], &link.ends[side]);
                sooner(to.lost_at);
                let Some(sessions) = &self.processes[to.process].sessions else { continue };
                let key = key_of(to.session);
                if !to.attached {
                    continue;
                }
                sooner(sessions.next(key).deadline);
                if sessions.next(key).read != Read::Nothing {
                    sooner(from.out.next_arrival(self.now));
                }
                sooner(to.closing_since.map(|since| since + CLOSING_PATIENCE));
                if sessions.next(key).output && self.processes[to.process].disk.platter().is_late() {
                    sooner(Some(self.now + Duration::from_micros(500)));
                }
            }
        }
        next
    }

    /// Injects a random action: an order, a logout or a fault.
    fn act(&mut self) {
        for n in 0..self.processes.len() {
            let now = self.now_of(n);
            self.processes[n].retry(now);
        }
        if !self.wild {
            return;
        }
        let draw = self.random.within(0, 200);
        match draw {
            0..3 => {
                let n = self.random.within(0, 2) as usize;
                self.links[n].cut(self.now, &mut self.random);
                self.counts.cuts += 1;
            }
            3 => {
                let n = self.random.within(0, 3) as usize;
                self.kill(n);
            }
            4..6 => {
                let n = self.random.within(0, 3) as usize;
                let key = key_of(self.random.within(0, self.processes[n].settings.len() as u64) as u32);
                let now = self.now_of(n);
                let Process { sessions, app, .. } = &mut self.processes[n];
                if let Some(sessions) = sessions
                    && sessions.log_out(now, key, "good night", app).is_ok()
                {
                    self.counts.logouts += 1;
                }
            }
            6..10 => {
                let n = self.random.within(0, 3) as usize;
                self.processes[n].skew = self.random.within(0, 80_000_000_000) as i64 - 40_000_000_000;
            }
            10..30 if self.busy || draw < 14 => {
                for _ in 0..self.random.within(20, 200) {
                    self.order();
                }
            }
            _ => {
                for _ in 0..self.random.within(1, 6) {
                    self.order();
                }
            }
        }
    }

    fn order(&mut self) {
        let id = format!("ord{}", self.counts.orders + self.counts.refused);
        let filler =
            vec![b'x'; if self.random.once_in(20) { 3000 } else { self.random.within(1, 60) as usize }];
        let fails = self.random.once_in(50);
        let now = self.now_of(TRADER);
        let Process { sessions: Some(sessions), app, .. } = &mut self.processes[TRADER] else { return };
        let result = sessions.act(now, key_of(0), app, |turn| {
            let mut draft = turn.session().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), id.as_bytes()).bytes(Key::new(58), &filler);
            let seq = draft.send()?;
            if fails { Err(SendError::Application("changed its mind")) } else { Ok(seq) }
        });
        match result {
            Ok(_) => self.counts.orders += 1,
            Err(SendError::Throttled { .. }) => {
                self.counts.refused += 1;
                self.counts.throttled += 1;
            }
            Err(
                SendError::BackPressure
                | SendError::NotLoggedOn
                | SendError::Unavailable
                | SendError::Application(_),
            ) => self.counts.refused += 1,
            Err(error) => panic!("{error}"),
        }
    }

    /// Kills a process, whatever it is doing.
    fn kill(&mut self, n: usize) {
        if self.processes[n].sessions.take().is_none() {
            return;
        }
        let power = self.random.once_in(2);
        self.written_at.retain(|(process, _), _| *process != n);
        self.counts.deaths += 1;
        self.counts.power_losses += u64::from(power);
        self.processes[n].disk.platter().die(power);
        self.restart_at[n] = Some(self.now + Duration::from_millis(self.random.within(1, 2000)));
        for link in &mut self.links {
            if let Some(end) = link.ends.iter_mut().find(|end| end.process == n && end.attached) {
                end.detach();
                if self.random.once_in(2) {
                    link.cut(self.now, &mut self.random);
                }
            }
        }
    }

    fn restart(&mut self) {
        for n in 0..self.processes.len() {
            if self.restart_at[n].is_none_or(|at| at > self.now) {
                continue;
            }
            self.restart_at[n] = None;
            let now = self.now_of(n);
            let process = &mut self.processes[n];
            process.start(now);
            for session in 0..process.settings.len() {
                let (_, next_out) = process.disk.platter().numbers(session as u32);
                let generation = process.disk.platter().generation(session as u32);
                let ours = (n, session as u32, generation);
                let on_wire = self.wire.keys().filter(|key| (key.0, key.1, key.2) == ours);
                let used = on_wire.map(|key| key.3).max().unwrap_or(0);
                assert!(
                    next_out.0 > used,
                    "sequence number {used} was on the wire, but {next_out} would be next"
                );
                process.next_out[session] = (generation, next_out);
            }
        }
    }

    /// Connects both sides if both are running and have no connection.
    fn connect(&mut self, n: usize) {
        if !self.links[n].is_down() {
            return;
        }
        match self.links[n].connect_at {
            None => {
                let wait = Duration::from_millis(self.random.within(1, 1500));
                self.links[n].connect_at = Some(self.now + wait);
                return;
            }
            Some(at) if at > self.now => return,
            Some(_) => self.links[n].connect_at = None,
        }
        let free = |end: &End| {
            let sessions = &self.processes[end.process].sessions;
            sessions.as_ref().is_some_and(|sessions| sessions.can_connect(key_of(end.session)))
        };
        if !self.links[n].ends.iter().all(free) {
            return;
        }
        for side in [1, 0] {
            let end = &mut self.links[n].ends[side];
            end.attach();
            let (process, key) = (end.process, key_of(end.session));
            let now = self.now_of(process);
            let Process { sessions, app, .. } = &mut self.processes[process];
            sessions.as_mut().unwrap().connected(now, key, app);
        }
    }

    fn disconnect(&mut self, n: usize, side: usize) {
        let end = &mut self.links[n].ends[side];
        end.detach();
        let (process, key) = (end.process, key_of(end.session));
        let now = self.now_of(process);
        let Process { sessions, app, .. } = &mut self.processes[process];
        if let Some(sessions) = sessions {
            sessions.disconnected(now, key, app);
        }
    }

    /// Lets a side notice that its connection is lost.
    fn lose(&mut self, n: usize, side: usize) {
        let end = &self.links[n].ends[side];
        if end.attached && end.lost_at.is_some_and(|at| at <= self.now) {
            self.disconnect(n, side);
        }
    }

    /// Delivers what has arrived at a side.
    fn deliver(&mut self, n: usize, side: usize) {
        loop {
            let [a, b] = &mut self.links[n].ends;
            let (from, to) = if side == 0 { (b, a) } else { (a, b) };
            let (process, key) = (to.process, key_of(to.session));
            if !to.attached {
                while from.out.take(self.now).is_some() {}
                return;
            }
            let utc = self.processes[process].skew;
            let now = Now { mono: self.now, utc: Utc((EPOCH + self.now.nanos()).saturating_add_signed(utc)) };
            let Process { sessions: Some(sessions), app, .. } = &mut self.processes[process] else { return };
            if sessions.next(key).read == Read::Nothing {
                return;
            }
            if sessions.next(key).read != Read::Again {
                match from.out.take(self.now) {
                    Some(piece) => to.inbox.extend_from_slice(&piece),
                    None if from.out.has_ended() => return self.disconnect(n, side),
                    None => return,
                }
            }
            let used = sessions.receive(now, key, &to.inbox, app);
            to.inbox.drain(..used);
            assert!(to.inbox.len() < 64 * 1024, "bytes pile up");
        }
    }

    fn tick(&mut self, n: usize, side: usize) {
        let end = &mut self.links[n].ends[side];
        let (process, key) = (end.process, key_of(end.session));
        let skew = self.processes[process].skew;
        let now = Now { mono: self.now, utc: Utc((EPOCH + self.now.nanos()).saturating_add_signed(skew)) };
        let Process { sessions: Some(sessions), app, .. } = &mut self.processes[process] else { return };
        if end.attached && sessions.next(key).deadline.is_some_and(|at| at <= self.now) {
            let used = sessions.wake(now, key, &end.inbox, app);
            end.inbox.drain(..used);
        }
    }

    /// Lets stores that acknowledge late make progress.
    fn sync(&mut self) {
        for n in 0..self.processes.len() {
            let now = self.now_of(n);
            let process = &mut self.processes[n];
            let mut platter = process.disk.platter();
            let position = platter.position();
            if platter.is_late() && self.random.once_in(3) {
                platter.sync(self.random.within(0, position + 1));
            } else if platter.is_late() && self.random.once_in(3) {
                platter.sync(position);
            }
            drop(platter);
            if let Some(sessions) = &mut process.sessions {
                sessions.store_advanced(now, &mut process.app);
            }
        }
    }

    /// Lets a side write what it is permitted to. Returns whether anything moved.
    fn write(&mut self, n: usize, side: usize) -> bool {
        let now = self.now;
        let end = &mut self.links[n].ends[side];
        let (process, key) = (end.process, key_of(end.session));
        let utc = Utc((EPOCH + now.nanos()).saturating_add_signed(self.processes[process].skew));
        let Process { sessions: Some(sessions), app, disk, settings, .. } = &mut self.processes[process]
        else {
            return false;
        };
        if !end.attached {
            return false;
        }
        let bytes = sessions.writable(key).bytes;
        let mut taken = bytes.len().min(end.out.room());
        if taken > 0 && self.random.once_in(3) {
            taken = self.random.within(1, taken as u64 + 1) as usize;
        }
        if taken > 0 {
            let bytes = bytes[..taken].to_vec();
            let interleave = settings[end.session as usize].resend.replay_interleave;
            let interleaves = interleave != ReplayInterleave::None;
            let new = read_wire(end, &bytes, &disk.platter(), &mut self.wire, interleaves);
            if let Some(rate) = settings[end.session as usize].throttle.max_outbound_rate {
                let times = self.written_at.entry((process, end.session)).or_default();
                for _ in 0..new {
                    times.push(now);
                    let before = times.len().checked_sub(rate.messages() as usize + 1);
                    assert!(before.is_none_or(|n| now - times[n] >= rate.window()), "more than {rate}");
                }
            }
            if end.lost_at.is_none() {
                self.counts.garbled += u64::from(end.out.push(now, &bytes, self.wild, &mut self.random));
            }
            sessions.wrote(Now { mono: now, utc }, key, taken, Socket::Full);
            if sessions.next(key).read == Read::Nothing || sessions.next(key).deadline == Some(mono(0)) {
                let used = sessions.wake(Now { mono: now, utc }, key, &end.inbox, app);
                end.inbox.drain(..used);
            }
        }
        if sessions.next(key).close {
            let since = *end.closing_since.get_or_insert(now);
            if !sessions.next(key).output || now - since >= CLOSING_PATIENCE {
                self.disconnect(n, side);
                return true;
            }
        }
        taken > 0
    }

    /// Checks that NextNumOut never decreases.
    fn check_numbers(&mut self) {
        for process in &mut self.processes {
            let Some(sessions) = &process.sessions else { continue };
            for (n, before) in process.next_out.iter_mut().enumerate() {
                let key = key_of(n as u32);
                let (next_in, next_out) = sessions.numbers(key).unwrap();
                let after = (process.disk.platter().generation(n as u32), next_out);
                assert!(after >= *before, "NextNumOut decreased from {before:?} to {after:?}");
                assert_eq!(
                    (next_in, next_out),
                    process.disk.platter().numbers(n as u32),
                    "session and store differ"
                );
                *before = after;
            }
        }
    }

    /// Returns whether all sessions are logged on, nothing is in flight, and the sequence numbers
    /// of both sides of each link agree.
    fn is_healed(&self) -> bool {
        self.links.iter().all(|link| {
            let [a, b] = [0, 1].map(|side| {
                let end = &link.ends[side];
                let sessions = self.processes[end.process].sessions.as_ref()?;
                let key = key_of(end.session);
                let at_rest = end.attached
                    && end.lost_at.is_none()
                    && sessions.phase(key) == Phase::LoggedOn
                    && self.processes[end.process].disk.platter().waiting(end.session).count == 0
                    && !sessions.next(key).close;
                at_rest.then(|| sessions.numbers(key).unwrap())
            });
            a.zip(b).is_some_and(|(a, b)| a == (b.1, b.0))
        })
    }

    /// Checks that every order and every report in a sender's store was processed by its receiver,
    /// once and in order, unless it was reported as beyond the horizon, and that turns over two
    /// sessions are complete.
    fn check_deliveries(&self) {
        let ids = |process: usize, session: u32, kind: RecordKind| -> Vec<String> {
            let platter = self.processes[process].disk.platter();
            platter.bodies(session, kind).into_iter().map(client_order_id).collect()
        };
        use RecordKind::{Inbound, Outbound};
        let orders = ids(TRADER, 0, Outbound);
        let processed = ids(VENUE, 0, Inbound);
        let reports = ids(VENUE, 0, Outbound);
        let came = ids(TRADER, 0, Inbound);
        if self.resets {
            some("orders", &orders, &processed);
            some("reports", &reports, &came);
        } else {
            same("orders", &self.due(TRADER, 0, &processed), &processed);
            same("reports", &self.due(VENUE, 0, &came), &came);
        }
        let written = |session: u32| -> Vec<String> {
            let platter = self.processes[VENUE].disk.platter();
            platter.written(session, |body| Some(client_order_id(body)))
        };
        let copies = ids(VENUE, 1, Outbound);
        same("an answer for each order", &processed, &written(0));
        same("a copy of each report", &processed, &written(1));
        if !self.resets {
            same("answers that waited", &written(0), &reports);
            same("copies that waited", &written(1), &copies);
        }
        let copied = ids(COPY, 0, Inbound);
        same("copies", &self.due(VENUE, 1, &copied), &copied);
    }

    /// Returns what must have arrived of the messages in a sender's store: all of them, except
    /// those that were reported as beyond the horizon and did not.
    fn due(&self, process: usize, session: u32, came: &[String]) -> Vec<String> {
        let came: HashSet<_> = came.iter().collect();
        let Process { disk, app, .. } = &self.processes[process];
        let platter = disk.platter();
        let sent = platter.bodies(session, RecordKind::Outbound).into_iter();
        let sent = sent.map(|body| (client_order_id(body), field(body, "34=").parse().unwrap()));
        sent.filter(|(id, seq)| came.contains(id) || !app.beyond.contains(&(session as usize, *seq)))
            .map(|(id, _)| id)
            .collect()
    }

    fn describe(&self) -> String {
        let mut text = format!("at {}\n", self.now);
        for link in &self.links {
            for end in &link.ends {
                let process = &self.processes[end.process];
                let key = key_of(end.session);
                text += &format!("process {} session {}: ", end.process, end.session);
                text += &match &process.sessions {
                    Some(s) => format!(
                        "attached {} {:?} numbers {:?} blocked {} replaying {} queued {} deadline {:?} halted {:?} inbox {} notes {:?}\n",
                        end.attached,
                        s.phase(key),
                        s.numbers(key),
                        s.next(key).read == Read::Nothing,
                        s.matrix_state(key) == Some(MatrixState::HandlingResendRequest),
                        s.next(key).output,
                        s.next(key).deadline,
                        s.halted(key),
                        end.inbox.len(),
                        process.app.notes.iter().rev().take(5).collect::<Vec<_>>(),
                    ),
                    None => "dead\n".to_owned(),
                };
            }
        }
        text
    }
}

fn same(what: &str, sent: &[String], came: &[String]) {
    let differ = sent.iter().zip(came).position(|(a, b)| a != b).unwrap_or(sent.len().min(came.len()));
    assert!(
        sent == came,
        "{what}: {} sent, {} arrived, first difference at {differ}: {:?} and {:?}",
        sent.len(),
        came.len(),
        sent.get(differ),
        came.get(differ),
    );
}

/// Checks that each arrived at most once and in order.
fn some(what: &str, sent: &[String], came: &[String]) {
    let mut rest = sent.iter();
    for id in came {
        assert!(rest.any(|sent| sent == id), "{what}: {id} arrived twice or out of order");
    }
}

fn client_order_id(body: &[u8]) -> String {
    field(body, "11=")
}

/// Returns the value of the first field that begins with `tag`.
fn field(body: &[u8], tag: &str) -> String {
    let text = String::from_utf8_lossy(body);
    text.split('\x01').find_map(|field| field.strip_prefix(tag)).unwrap_or("?").to_owned()
}

/// Checks what a side writes: complete and valid messages, new ones once in a connection, in
/// ascending order unless the session interleaves them with a replay, and byte for byte as in the
/// store, where they are durable; no sequence number ever has two bodies. Returns the number of new
/// application messages.
fn read_wire(
    end: &mut End,
    bytes: &[u8],
    platter: &fixbolt_conformance::disk::Platter,
    wire: &mut Wire,
    interleaves: bool,
) -> usize {
    let mut new = 0;
    end.unread.extend_from_slice(bytes);
    let mut at = 0;
    loop {
        let rest = &end.unread[at..];
        let framed = match Framer::new(1 << 20).next(rest) {
            Frame::Message(framed) => framed,
            Frame::Incomplete { .. } => {
                // The sequence number of a message that is not on the wire yet.
                let tag = rest.windows(4).position(|window| window == b"\x0134=");
                let digits = tag.map(|tag| &rest[tag + 4..]);
                let digits = digits.and_then(|rest| Some(&rest[..rest.iter().position(|b| *b == 1)?]));
                if let Some(digits) = digits {
                    let seq = std::str::from_utf8(digits).unwrap().parse().unwrap();
                    assert!(
                        platter.durably_sent(end.session, seq, |_| true).is_some(),
                        "{seq} is not durable"
                    );
                }
                break;
            }
            Frame::Garbled { error, .. } => panic!("garbled on the wire: {error:?}"),
        };
        let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
        let mut index = Index::new(&mut tags, &mut spans);
        let message = index.build(framed).expect("the checksum is correct");
        let text = |tag| String::from_utf8(message.get(Tag::new(tag)).unwrap_or(b"").to_vec()).unwrap();
        let seq: u64 = text(34).parse().unwrap();
        let sent = |wanted: &dyn Fn(&Kept) -> bool| {
            let kept = platter.durably_sent(end.session, seq, wanted);
            kept.unwrap_or_else(|| {
                panic!("{seq} is on the wire, but differs in the store or is not durable there")
            })
        };
        if text(43) == "Y" {
            if message.msg_type() == b"4" {
                let new: u64 = text(36).parse().unwrap();
                platter
                    .durably_sent(end.session, new - 1, |_| true)
                    .expect("a gap fill covers sequence numbers that were used");
            } else {
                sent(&|kept| text(11) == client_order_id(&kept.body));
            }
        } else {
            let kept = sent(&|kept| kept.body == framed.bytes());
            new += usize::from([&b"D"[..], b"8"].contains(&message.msg_type()));
            let number = (kept.generation.0, seq);
            let last = end.new.last().copied();
            assert!(interleaves || last < Some(number), "{number:?} after {last:?}");
            assert!(end.new.insert(number), "{number:?} twice in a connection");
            let key = (end.process, end.session, number.0, seq);
            let before = wire.entry(key).or_insert_with(|| kept.body.clone());
            assert!(*before == kept.body, "{seq} was used for two messages");
        }
        at += framed.bytes().len();
    }
    end.unread.drain(..at);
    new
}
