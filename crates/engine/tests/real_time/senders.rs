//! Sending from threads other than the session's: order, back-pressure, refusals returned to the
//! caller, memory.

use fixbolt_session::runtime::{mono, posted};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::*;
use fixbolt::codec::{BodySink, Key, Memory, MsgType, NewBody};
use fixbolt::session::{CodecClock, Mono, Role, SendError, SessionKey, SessionSettings, WhileLoggedOff};
use fixbolt::store::{Intercept, Intercepted, MemoryStore, Record, Store, StoreError};
use fixbolt::{Engine, EngineBuilder, PostError, Sender};

const REPORT: MsgType = MsgType::new(b"8");
/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);

/// Writes a report with this name, and `fill` more bytes, into a sink.
fn report<'s, S: NewBody<'s>>(
    sink: S,
    name: &str,
    fill: usize,
) -> Result<<S::Draft as BodySink<'s>>::Receipt, <S::Draft as BodySink<'s>>::Error> {
    let mut draft = sink.draft(REPORT);
    draft.writer().bytes(Key::new(11), name.as_bytes());
    if fill > 0 {
        draft.writer().bytes(Key::new(58), &vec![b'x'; fill]);
    }
    draft.send()
}

fn not_sent(log: &Log) -> (u64, String) {
    match log.wait(|seen| matches!(seen, Seen::NotSent(..))) {
        Seen::NotSent(ticket, why) => (ticket, why),
        _ => unreachable!(),
    }
}

/// Returns a venue with a small queue. While its store holds acknowledgments back, nothing leaves
/// its outbox.
fn held_venue(builder: EngineBuilder) -> (Engine<Recorder>, Log, Arc<Steering>, Peer) {
    let (store, steering) = late_steered_store();
    let mut settings = acceptor();
    settings.limits.outbound_buffer_size = 16 * 1024;
    settings.limits.max_message_size = 8 * 1024;
    let (app, log) = Recorder::venue();
    let venue = builder.accept(anywhere(), settings).store(Box::new(store)).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    steering.holds.store(true, Ordering::SeqCst);
    (venue, log, steering, peer)
}

/// Sends until the queue is full. Returns how many messages were accepted.
fn fill(sender: &mut Sender) -> u64 {
    for n in 1.. {
        match report(&mut *sender, "fill", 4000) {
            Ok(ticket) => assert_eq!(ticket, posted(n)),
            Err(error) => {
                assert_eq!(error, PostError::Full);
                return n - 1;
            }
        }
    }
    unreachable!()
}

#[test]
fn two_threads_send_at_once_and_each_keeps_its_order() {
    const EACH: u64 = 2000;
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let sender = venue.session(&acceptor().id).unwrap().sender();
    std::thread::scope(|scope| {
        for name in ["a", "b"] {
            let mut sender = sender.clone();
            scope.spawn(move || {
                let mut last = posted(0);
                for n in 0..EACH {
                    let ticket = report(sender.within(LONG), &format!("{name}{n}"), 0).unwrap();
                    assert!(ticket > last, "tickets increase");
                    last = ticket;
                }
            });
        }
        let mut next = [0, 0];
        for _ in 0..2 * EACH {
            let message = peer.receive();
            let name = message.split("|11=").nth(1).unwrap().split('|').next().unwrap();
            let thread = usize::from(name.starts_with('b'));
            assert_eq!(name[1..].parse(), Ok(next[thread]), "{name}");
            next[thread] += 1;
        }
    });
    // Every ticket is reported once, each with its own sequence number.
    let mut sent: Vec<(u64, u64)> = Vec::new();
    while sent.len() < 2 * EACH as usize {
        if let Seen::Sent(ticket, seq) = log.wait(|seen| matches!(seen, Seen::Sent(..))) {
            sent.push((ticket, seq));
        }
    }
    assert!(sent.iter().map(|(_, seq)| *seq).eq(2..=2 * EACH + 1));
    sent.sort_unstable();
    assert!(sent.iter().map(|(ticket, _)| *ticket).eq(1..=2 * EACH));
    venue.stop().unwrap();
}

#[test]
fn a_full_queue_is_an_error_and_a_sender_with_a_timeout_waits_for_room() {
    let (venue, _log, steering, mut peer) = held_venue(Engine::builder().outbound_queue_size(64 * 1024));
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    let accepted = fill(&mut sender);
    assert!(accepted >= 16, "the queue accepts at least its configured number: {accepted}");
    // A timeout that expires.
    assert_eq!(report(sender.within(Duration::from_millis(10)), "late", 4000), Err(PostError::Full));
    assert_eq!(report(sender.within(Duration::ZERO), "late", 4000), Err(PostError::Full));
    // One that does not: the thread waits until the store continues.
    let waiting = {
        let mut sender = sender.clone();
        std::thread::spawn(move || report(sender.within(LONG), "waited", 4000))
    };
    steering.holds.store(false, Ordering::SeqCst);
    assert_eq!(waiting.join().unwrap(), Ok(posted(accepted + 1)));
    for _ in 0..accepted {
        assert!(peer.receive().contains("|11=fill|"));
    }
    assert!(peer.receive().contains("|11=waited|"));
    venue.stop().unwrap();
}

#[test]
fn a_session_whose_counterparty_does_not_read_leaves_room_for_the_others() {
    let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let mut keeping = acceptor();
    (keeping.limits.outbound_buffer_size, keeping.limits.max_message_size) = (16 * 1024, 8 * 1024);
    let (app, log) = Recorder::venue();
    // The queue's limit is above the engine's whole budget.
    let venue = Engine::builder()
        .accept(anywhere(), keeping)
        .accept(anywhere(), other.clone())
        .outbound_queue_size(1 << 24)
        .outbound_queue_budget(1 << 20)
        .start(app)
        .unwrap();
    let mut stuck = Peer::connect(venue.addresses()[0]);
    stuck.log_on();
    let mut bystander = Peer::connect(venue.addresses()[0]).named("OTHER", "VENUE");
    bystander.log_on();
    log.logged_on();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    // Once nothing moves, the socket, the outbox and the queue are full.
    let mut refused = 0;
    while refused < 100 {
        match report(&mut sender, "stuck", 4000) {
            Ok(_) => refused = 0,
            Err(error) => {
                assert_eq!(error, PostError::Full);
                refused += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    let mut sender = venue.session(&other.id).unwrap().sender();
    for n in 0..100 {
        report(sender.within(LONG), &n.to_string(), 4000).unwrap();
        assert!(bystander.receive().contains(&format!("|11={n}|")));
    }
    drop(stuck);
    venue.stop().unwrap();
}

#[test]
fn a_message_must_fit_into_half_of_the_budget() {
    const BUDGET: usize = 64 * 1024;
    let (app, _log) = Recorder::venue();
    let builder = Engine::builder().accept(anywhere(), acceptor()).outbound_queue_budget(BUDGET);
    let venue = builder.start(app).unwrap();
    let mut memory = vec![0; BUDGET];
    let large = report(Memory(&mut memory), "large", 40_000).unwrap();
    let sender = venue.session(&acceptor().id).unwrap().sender();
    let refused = sender.try_send(&large);
    assert!(
        matches!(refused, Err(PostError::TooLarge { limit }) if limit > 0 && limit <= BUDGET / 2),
        "{refused:?}"
    );
    venue.stop().unwrap();
}

#[test]
fn sending_to_a_session_that_is_not_logged_on_returns_an_error() {
    let mut keeping = of("FIX.4.4:VENUE->KEPT", Role::Acceptor);
    keeping.resend.while_logged_off = WhileLoggedOff::Keep;
    let kept = keeping.id.clone();
    let (app, log) = Recorder::venue();
    let venue =
        Engine::builder().accept(anywhere(), acceptor()).accept(anywhere(), keeping).start(app).unwrap();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    assert_eq!(report(&mut sender, "early", 0), Err(PostError::NotLoggedOn));
    // A timeout waits only for room.
    assert_eq!(report(sender.within(LONG), "early", 0), Err(PostError::NotLoggedOn));
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    // A thread that learns of the logon before the worker's next cycle may send, too.
    assert_eq!(report(&mut sender, "right", 0), Ok(posted(1)));
    assert!(peer.receive().contains("|11=right|"));
    peer.send("5", "");
    assert!(peer.receive().contains("|35=5|"));
    drop(peer);
    log.ended();
    assert_eq!(report(&mut sender, "late", 0), Err(PostError::NotLoggedOn));
    // A session that keeps messages while logged off accepts it.
    assert_eq!(report(&mut venue.session(&kept).unwrap().sender(), "kept", 0), Ok(posted(1)));
    assert_eq!(log.wait(|seen| matches!(seen, Seen::Sent(..))), Seen::Sent(1, 1));
    venue.stop().unwrap();
}

#[test]
fn sending_to_a_halted_session_returns_an_error() {
    let (store, steering) = steered_store();
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).store(Box::new(store)).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    steering.refuse(&acceptor().id);
    steering.fail(&acceptor().id);
    log.ended();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    assert_eq!(report(&mut sender, "lost", 0), Err(PostError::Halted));
    venue.stop().unwrap();
}

#[test]
fn an_accepted_message_that_cannot_be_sent_any_more_is_reported_with_its_ticket() {
    let (venue, log, steering, peer) = held_venue(Engine::builder());
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    // More than the outbox can hold.
    for n in 1..=20 {
        assert_eq!(report(&mut sender, "fill", 4000), Ok(posted(n)));
    }
    log.wait(|seen| matches!(seen, Seen::Sent(1, _)));
    drop(peer);
    steering.holds.store(false, Ordering::SeqCst);
    let (first, why) = not_sent(&log);
    assert!(first > 1, "some were sent");
    assert_eq!(why, SendError::NotLoggedOn.to_string());
    for ticket in first + 1..=20 {
        assert_eq!(not_sent(&log), (ticket, why.clone()));
    }
    venue.stop().unwrap();
}

#[test]
fn accepted_messages_that_were_not_sent_are_reported_when_the_engine_stops() {
    let (venue, log, _steering, _peer) = held_venue(Engine::builder());
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    for n in 1..=20 {
        assert_eq!(report(&mut sender, "fill", 4000), Ok(posted(n)));
    }
    venue.stop().unwrap();
    let (first, _) = not_sent(&log);
    for ticket in first + 1..=20 {
        assert_eq!(not_sent(&log).0, ticket);
    }
}

#[test]
fn a_thread_that_waits_for_room_is_woken_when_the_session_ends() {
    let (venue, _log, _steering, peer) = held_venue(Engine::builder().outbound_queue_size(64 * 1024));
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    fill(&mut sender);
    let waiting = std::thread::spawn(move || report(sender.within(LONG), "waits", 4000));
    drop(peer);
    assert_eq!(waiting.join().unwrap(), Err(PostError::NotLoggedOn));
    drop(venue);
}

#[test]
fn a_thread_that_waits_for_room_is_woken_when_the_engine_stops() {
    let (venue, _log, _steering, _peer) = held_venue(Engine::builder().outbound_queue_size(64 * 1024));
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    fill(&mut sender);
    let mut other = sender.clone();
    let waiting = std::thread::spawn(move || report(sender.within(LONG), "waits", 4000));
    drop(venue);
    // The session may end before that.
    let refused = waiting.join().unwrap().unwrap_err();
    assert!(matches!(refused, PostError::Stopped | PostError::NotLoggedOn), "{refused}");
    eventually(|| report(&mut other, "late", 0) == Err(PostError::Stopped));
}

#[test]
fn a_finished_body_is_sent_unchanged() {
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let mut memory = [0; 256];
    let body = report(Memory(&mut memory), "finished", 0).unwrap();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    assert_eq!(sender.session_id(), &acceptor().id);
    assert_eq!(sender.try_send(&body), Ok(posted(1)));
    assert_eq!(sender.within(LONG).send(&body), Ok(posted(2)));
    for _ in 0..2 {
        assert!(peer.receive().contains("|11=finished|"));
    }
    venue.stop().unwrap();
}

/// Returns the bytes in a line of `/proc/self/status`.
#[cfg(target_os = "linux")]
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_idle_senders_take_less_than_64_megabytes() {
    const SENDERS: usize = 1000;
    // Other tests of the process use memory, too: this part runs in a process of its own.
    if std::env::var_os("FIXBOLT_TEST_ALONE").is_none() {
        let alone = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_thousand_idle_senders_take_less_than_64_megabytes", "--nocapture"])
            .env("FIXBOLT_TEST_ALONE", "1")
            .status();
        assert!(alone.unwrap().success());
        return;
    }
    let mut builder = Engine::builder();
    let mut ids = Vec::new();
    for n in 0..SENDERS {
        let mut settings = SessionSettings::new(id(&format!("FIX.4.4:VENUE->T{n}")), Role::Acceptor);
        (settings.limits.outbound_buffer_size, settings.resend.while_logged_off) =
            (16 * 1024, WhileLoggedOff::Keep);
        ids.push(settings.id.clone());
        builder = builder.accept(anywhere(), settings);
    }
    let (app, log) = Recorder::trader();
    let venue = builder.start(app).unwrap();
    let [reserved, used] = ["VmData", "VmRSS"].map(memory);
    let mut senders: Vec<Sender> = ids.iter().map(|id| venue.session(id).unwrap().sender()).collect();
    let reserved = memory("VmData").saturating_sub(reserved);
    assert!(reserved < 1_000_000, "1000 senders that have sent nothing reserve {reserved} bytes");
    for sender in &mut senders {
        report(sender, "only", 200).unwrap();
    }
    for _ in 0..SENDERS {
        log.wait(|seen| matches!(seen, Seen::Sent(..)));
    }
    let used = memory("VmRSS").saturating_sub(used);
    eprintln!("1000 senders: {reserved} bytes reserved; {used} bytes used after a message each");
    assert!(used < 64_000_000, "1000 senders that have sent a message each use {used} bytes");
    venue.stop().unwrap();
}

#[test]
fn the_time_in_which_other_threads_write_bodies_is_part_of_encoding() {
    /// Each reading is a second later.
    fn clock() -> Mono {
        static TIME: AtomicU64 = AtomicU64::new(0);
        mono(1_000_000_000 * TIME.fetch_add(1, Ordering::SeqCst))
    }
    let mut settings = acceptor();
    settings.timing.codec_timing = Some(CodecClock::new(clock));
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), settings.clone()).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    let mut sender = venue.session(&settings.id).unwrap().sender();
    let ticket = report(&mut sender, "posted", 0).unwrap();
    log.wait(|seen| matches!(seen, Seen::Sent(sent, _) if *sent == ticket.number()));
    drop(peer);
    // One second for the Logon; one for the body here and one for the message there.
    let expected = "CodecTime(CodecTime { operation: Encode, time: 3s, messages: 2 })";
    log.wait(|seen| matches!(seen, Seen::Other(event) if event == expected));
    let expected = "CodecTime(CodecTime { operation: Decode, time: 1s, messages: 1 })";
    log.wait(|seen| matches!(seen, Seen::Other(event) if event == expected));
    venue.stop().unwrap();
}

/// Copies what is appended to a store.
struct Appended(Arc<Mutex<Vec<String>>>);

impl<S: Store> Intercept<S> for Appended {
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.0.lock().unwrap().push(String::from_utf8_lossy(record.body).replace('\x01', "|"));
        store.append(session, record)
    }
}

#[test]
fn a_secret_that_another_thread_posts_is_masked_where_it_is_stored() {
    let appended = Arc::new(Mutex::new(Vec::new()));
    let store = Intercepted::new(MemoryStore::new(), Appended(Arc::clone(&appended)));
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).store(Box::new(store)).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    let mut draft = (&mut sender).draft(MsgType::new(b"BE"));
    draft.writer().bytes(Key::new(553), b"desk").bytes(Key::new(554), b"battery");
    draft.send().unwrap();
    let sent = peer.receive();
    assert!(sent.contains("|554=battery|"), "{sent}");
    // Nothing is known of a body that was finished elsewhere.
    let mut memory = [0; 64];
    let mut draft = Memory(&mut memory).draft(MsgType::new(b"BE"));
    draft.writer().bytes(Key::new(553), b"desk").bytes(Key::new(554), b"battery");
    sender.try_send(&draft.send().unwrap()).unwrap();
    peer.receive();
    report(&mut sender, "ord1", 0).unwrap();
    peer.receive();
    let appended = appended.lock().unwrap().join("\n");
    assert_eq!(appended.matches("|553=desk|554=*******|10=").count(), 2, "{appended}");
    assert!(appended.contains("|11=ord1|10=") && !appended.contains("battery"), "{appended}");
}
