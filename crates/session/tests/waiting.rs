//! Messages that wait for a throttle (`OutboundThrottle::Wait`): what reads and writes on, what
//! becomes of them, and what a restart makes of them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody, SeqNum};
use fixbolt_conformance::store::Refusing;
use fixbolt_conformance::testing::{App, BEGIN, Scratch, Side, kinds, settings, value};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::{mono, waiting};
use fixbolt_session::schedule::{Edge, Schedule, TimeOfDay, Weekdays, Window, Zone};
use fixbolt_session::store::{
    Intercept, Intercepted, RecordKind, Recovered, Store, StoreError, WaitingMessages,
};
use fixbolt_session::{
    Accepted, ChangeError, Delivery, Event, Phase, Read, Role, SendError, SessionEnd, SessionId, SessionKey,
    SessionSettings, Ticket, Turn, Utc, WhileLoggedOff,
};

const DAY: u64 = 24 * 3600 * 1_000_000_000;

/// What the application was told of messages that waited.
type Told = Rc<RefCell<Vec<(Ticket, Result<u64, SendError>)>>>;

/// An application that answers each order with as many reports as its ClOrdID has letters, and what
/// it is told.
fn answering() -> (App, Told) {
    let told = Told::default();
    let app = App {
        message: Box::new(|bytes, turn| {
            let id =
                value(&String::from_utf8(bytes).unwrap().replace('\x01', "|"), "11").unwrap_or("").to_owned();
            for _ in 0..id.len() {
                report(turn, &id)?;
            }
            Ok(Delivery::Done)
        }),
        event: Box::new({
            let told = Rc::clone(&told);
            move |event, _| {
                match event {
                    Event::Sent { ticket, seq } => told.borrow_mut().push((*ticket, Ok(seq.0))),
                    Event::NotSent { ticket, why } => told.borrow_mut().push((*ticket, Err((*why).clone()))),
                    _ => {}
                }
                Ok(())
            }
        }),
        ..App::default()
    };
    (app, told)
}

fn report(turn: &mut Turn<'_>, id: &str) -> Result<Accepted, SendError> {
    let mut draft = turn.session().draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), id.as_bytes());
    draft.send()
}

/// An acceptor that may send `rate`.
fn throttled(rate: &str) -> SessionSettings {
    settings("PEER", Role::Acceptor).with(|s| {
        s.throttle.max_outbound_rate = Some(rate.parse().unwrap());
        s.resend.while_logged_off = WhileLoggedOff::Keep;
    })
}

fn side_on(store: Box<dyn Store>, settings: SessionSettings) -> (Side<App>, Told) {
    let (app, told) = answering();
    (Side::begin(BEGIN, app, store, vec![settings]), told)
}

fn side(rate: &str) -> (Side<App>, Told) {
    side_on(Box::new(MemoryStore::new()), throttled(rate))
}

/// A session that may send a message a second, and whose queue is soon full.
fn side_with_a_small_queue() -> Side<App> {
    with_a_small_queue(throttled("1/1000"))
}

fn with_a_small_queue(settings: SessionSettings) -> Side<App> {
    let (app, _) = answering();
    let mut side =
        Side::begin(BEGIN, app, Box::new(MemoryStore::new()), Vec::new()).with_outbound_queue(4096);
    side.open(settings).unwrap();
    side
}

fn send(side: &mut Side<App>, id: &str) -> Result<Accepted, SendError> {
    side.act(0, |turn| report(turn, id))
}

/// Passes `millis` milliseconds and returns what is sent then.
fn after(side: &mut Side<App>, millis: u64) -> Vec<String> {
    side.pass(Duration::from_millis(millis));
    side.wake(0, &[]);
    side.take(0)
}

fn ids(messages: &[String]) -> String {
    messages.iter().map(|message| value(message, "11").unwrap_or("-")).collect::<Vec<_>>().join(" ")
}

const fn waits(number: u64) -> Ticket {
    waiting(number)
}

// R-LIMIT-8
#[test]
fn reading_goes_on_while_answers_wait_and_they_leave_in_order_as_the_window_allows() {
    let (mut side, told) = side("5");
    side.log_on(0, 1, "");
    let orders: Vec<u8> = (2..22)
        .flat_map(|n| side.wire(0, &format!("35=D|34={n}|11={}|", ["a", "b", "c"][n as usize % 3])))
        .collect();
    let test = side.wire(0, "35=1|34=22|112=there|");
    assert_eq!(side.hear(0, &[orders.clone(), test.clone()].concat()), orders.len() + test.len());
    assert_eq!(kinds(&side.take(0)), "888880", "the TestRequest behind them is answered at once");
    let mut ids_sent = Vec::new();
    for n in 1..4 {
        let sent = after(&mut side, 1000);
        assert_eq!(kinds(&sent), "88888", "second {n}");
        ids_sent.extend(sent.iter().map(|message| value(message, "11").unwrap().to_owned()));
    }
    let expected: Vec<_> = (7..22).map(|n| ["a", "b", "c"][n % 3]).collect();
    assert_eq!(ids_sent, expected);
    assert_eq!(after(&mut side, 1000), Vec::<String>::new());
    // The Heartbeat has number 7.
    let expected: Vec<_> = (1..16).map(|n| (waits(n), Ok(7 + n))).collect();
    assert_eq!(*told.borrow(), expected);
}

#[test]
fn the_deadline_is_when_the_window_allows_the_first_and_nothing_is_done_before() {
    let (mut side, told) = side("1/100");
    side.log_on(0, 1, "");
    assert_eq!(send(&mut side, "a"), Ok(Accepted::Numbered(SeqNum(2))));
    side.take(0);
    let began = side.now.mono;
    side.pass(Duration::from_millis(10));
    assert_eq!(send(&mut side, "b"), Ok(Accepted::Waits(waits(1))));
    assert_eq!(side.next(0).deadline, Some(began + Duration::from_millis(100)));
    assert_eq!(after(&mut side, 89), Vec::<String>::new());
    assert_eq!(*told.borrow(), []);
    assert_eq!(ids(&after(&mut side, 1)), "b");
    assert_eq!(*told.borrow(), [(waits(1), Ok(3))]);
}

#[test]
fn a_message_after_one_that_waits_waits_behind_it_even_if_it_needs_no_permit() {
    let (app, told) = answering();
    let settings = throttled("1/100").with(|s| {
        (s.throttle.max_order_rate, s.throttle.max_outbound_rate) = (s.throttle.max_outbound_rate, None)
    });
    let mut side = Side::with_app(app, vec![settings]);
    side.log_on(0, 1, "");
    side.send(0, "order 1", 1).unwrap();
    assert_eq!(side.send(0, "order 2", 1), Ok(Accepted::Waits(waits(1))));
    assert_eq!(send(&mut side, "report"), Ok(Accepted::Waits(waits(2))));
    assert_eq!(ids(&side.take(0)), "order 1");
    assert_eq!(ids(&after(&mut side, 100)), "order 2 report");
    assert_eq!(told.borrow().len(), 2);
}

#[test]
fn a_full_queue_stops_reading_and_half_of_it_is_for_answers() {
    let mut side = side_with_a_small_queue();
    side.log_on(0, 1, "");
    let unasked = (0..).find(|n| send(&mut side, &format!("unasked {n}")).is_err()).unwrap();
    assert_eq!(send(&mut side, "more"), Err(SendError::BackPressure));
    let orders: Vec<u8> = (2..60).flat_map(|n| side.wire(0, &format!("35=D|34={n}|11=o|"))).collect();
    let used = side.hear(0, &orders);
    assert!(used > 0 && used < orders.len(), "{used} bytes of {} are read", orders.len());
    assert_eq!(side.next(0).read, Read::Nothing);
    // Every second one leaves, and one more is read.
    let mut left = orders[used..].to_vec();
    let mut sent = ids(&side.take(0));
    for _ in 0..100 {
        side.pass(Duration::from_secs(1));
        let used = side.wake(0, &left);
        left.drain(..used);
        sent = format!("{sent} {}", ids(&side.take(0)));
    }
    assert!(left.is_empty());
    assert_eq!(sent.matches(" o").count(), 58, "{sent}");
    assert_eq!(sent.matches("unasked").count(), unasked);
}

// R-LOGON-21
#[test]
fn a_full_queue_goes_once_the_first_missing_message_has_come_which_has_no_room_for_its_answer() {
    let mut side = side_with_a_small_queue();
    side.log_on(0, 1, "");
    let orders: Vec<Vec<u8>> = (2..60).map(|n| side.wire(0, &format!("35=D|34={n}|11=o|"))).collect();
    let read = side.hear(0, &orders.concat()) / orders[0].len();
    assert!(read > 2 && read < orders.len(), "{read} orders are read");
    assert_eq!(ids(&side.take(0)), "o");
    side.disconnect(0);
    side.pass(Duration::from_secs(1));
    let expected = 2 + read;
    let logon = side.log_on(0, 60, "");
    assert_eq!(kinds(&logon), "A2");
    assert!(logon[1].contains(&format!("|7={expected}|")), "{logon:?}");
    let missing: Vec<u8> = (expected..60)
        .flat_map(|n| side.wire(0, &format!("35=D|34={n}|43=Y|122={}|11=m|", side.time())))
        .collect();
    let used = side.hear(0, &missing);
    let (mut left, mut sent) = (missing[used..].to_vec(), vec![ids(&side.take(0))]);
    assert_eq!(sent, ["o"], "the first that waits");
    while sent.len() < 57 {
        side.pass(Duration::from_secs(1));
        let used = side.wake(0, &left);
        left.drain(..used);
        sent.push(ids(&side.take(0)));
    }
    let all: Vec<_> = (3..60).map(|n| if n < expected { "o" } else { "m" }).collect();
    assert_eq!((sent.join(" "), left.len()), (all.join(" "), 0));
}

#[test]
fn a_full_queue_of_a_session_without_a_connection_makes_nobody_wait() {
    // What comes for the session of PEER goes to that of AWAY, too.
    let away = Rc::new(RefCell::new(None));
    let forwarded: Rc<RefCell<Vec<Result<Accepted, SendError>>>> = Rc::default();
    let app = App {
        message: Box::new({
            let (away, forwarded) = (Rc::clone(&away), Rc::clone(&forwarded));
            move |_, turn| {
                let Some(key) = *away.borrow() else { return Ok(Delivery::Done) };
                let mut draft = turn.to(key).unwrap().draft(MsgType::new(b"8"));
                draft.writer().bytes(Key::new(11), b"copy");
                let result = draft.send();
                if result == Err(SendError::BackPressure) {
                    result?;
                } else {
                    forwarded.borrow_mut().push(result);
                }
                Ok(Delivery::Done)
            }
        }),
        ..App::default()
    };
    let mut side =
        Side::begin(BEGIN, app, Box::new(MemoryStore::new()), Vec::new()).with_outbound_queue(4096);
    side.open(settings("PEER", Role::Acceptor)).unwrap();
    let key = side.open(throttled("1/1000").with(|s| s.id = settings("AWAY", Role::Acceptor).id)).unwrap();
    side.log_on(1, 1, "");
    for id in ["a", "b"] {
        side.act(1, |turn| report(turn, id)).unwrap();
    }
    side.disconnect(1);
    *away.borrow_mut() = Some(key);
    side.log_on(0, 1, "");
    let orders: Vec<u8> = (2..60).flat_map(|n| side.wire(0, &format!("35=D|34={n}|11=o|"))).collect();
    assert_eq!(side.hear(0, &orders), orders.len());
    let forwarded = forwarded.borrow();
    let (kept, refused): (Vec<_>, Vec<_>) = forwarded.iter().partition(|result| result.is_ok());
    assert!(kept.len() > 5 && refused.len() > 5, "{} and {}", kept.len(), refused.len());
    assert!(refused.iter().all(|result| **result == Err(SendError::NotLoggedOn)), "{refused:?}");
}

#[test]
fn a_turn_that_is_rolled_back_leaves_nothing_that_waits() {
    let (mut side, told) = side("1/100");
    side.log_on(0, 1, "");
    send(&mut side, "a").unwrap();
    let before = side.sessions().snapshot(side.key(0));
    let failed = side.act(0, |turn| {
        assert_eq!(report(turn, "x"), Ok(Accepted::Waits(waits(1))));
        assert_eq!(report(turn, "y"), Ok(Accepted::Waits(waits(2))));
        Err::<(), _>(SendError::Application("no"))
    });
    assert_eq!(failed, Err(SendError::Application("no")));
    assert_eq!(side.sessions().snapshot(side.key(0)), before);
    assert_eq!(send(&mut side, "b"), Ok(Accepted::Waits(waits(1))));
    assert_eq!(ids(&side.take(0)), "a");
    assert_eq!(ids(&after(&mut side, 1000)), "b");
    assert_eq!(*told.borrow(), [(waits(1), Ok(3))]);
}

#[test]
fn what_a_turn_wrote_that_was_rolled_back_takes_no_room_in_the_queue() {
    let mut side = side_with_a_small_queue();
    side.log_on(0, 1, "");
    send(&mut side, "a").unwrap();
    // As much as is for messages that answer none.
    let large = "x".repeat(1800);
    for _ in 0..2 {
        let failed = side.act(0, |turn| {
            assert_eq!(report(turn, &large), Ok(Accepted::Waits(waits(1))));
            Err::<(), _>(SendError::Application("no"))
        });
        assert_eq!(failed, Err(SendError::Application("no")));
    }
    assert_eq!(send(&mut side, &large), Ok(Accepted::Waits(waits(1))));
}

#[test]
fn the_application_is_told_that_messages_wait_also_after_a_turn_that_was_rolled_back() {
    let (mut side, _) = side("1/1000");
    let waiting = Rc::new(RefCell::new(0));
    side.app.event = Box::new({
        let waiting = Rc::clone(&waiting);
        move |event, _| {
            *waiting.borrow_mut() += u32::from(matches!(event, Event::Waits(_)));
            Ok(())
        }
    });
    side.log_on(0, 1, "");
    send(&mut side, "a").unwrap();
    let failed = side.act(0, |turn| {
        report(turn, "b")?;
        Err::<(), _>(SendError::Application("no"))
    });
    assert_eq!((failed, *waiting.borrow()), (Err(SendError::Application("no")), 0));
    send(&mut side, "b").unwrap();
    assert_eq!(*waiting.borrow(), 1);
    // Once a minute.
    side.take(0);
    assert_eq!(ids(&after(&mut side, 1000)), "b");
    send(&mut side, "c").unwrap();
    assert_eq!(*waiting.borrow(), 1);
}

/// Returns a side whose store refuses messages with a sequence number while the switch is on.
fn refusing_side() -> (Side<App>, Told, Arc<AtomicBool>) {
    let refuses = Arc::new(AtomicBool::new(false));
    let store = Intercepted::new(
        MemoryStore::new(),
        Refusing { kind: RecordKind::Outbound, now: Arc::clone(&refuses) },
    );
    let (side, told) = side_on(Box::new(store), throttled("1/1000"));
    (side, told, refuses)
}

#[test]
fn what_a_turn_wrote_that_the_store_refused_is_not_told_once_the_store_is_opened_again() {
    let (mut side, told, refuses) = refusing_side();
    side.log_on(0, 1, "");
    for id in ["a", "b"] {
        send(&mut side, id).unwrap();
    }
    refuses.store(true, Ordering::Relaxed);
    let failed = side.act(0, |turn| {
        assert_eq!(report(turn, "c"), Ok(Accepted::Waits(waits(2))));
        let mut reject = turn.session().draft(MsgType::new(b"j"));
        reject.writer().bytes(Key::new(372), b"D").bytes(Key::new(380), b"0");
        reject.send()
    });
    assert_eq!(failed, Err(SendError::Store(StoreError::Full { place: "test".into() })));
    side.disconnect(0);
    refuses.store(false, Ordering::Relaxed);
    side.resume(0, "jane: there is room again").unwrap();
    side.log_on(0, 2, "");
    // A store in memory has lost b. What became of c was the result of the turn.
    assert_eq!(*told.borrow(), [(waits(1), Err(SendError::NotStored))]);
}

#[test]
fn what_waits_outlives_the_connection_and_goes_after_the_next_logon() {
    let (mut side, told) = side("1/10000");
    side.log_on(0, 1, "");
    for id in ["a", "b", "c"] {
        send(&mut side, id).unwrap();
    }
    assert_eq!(ids(&side.take(0)), "a");
    assert_eq!(kinds(&side.say(0, "35=5|34=2|")), "5", "a Logout passes what waits");
    side.disconnect(0);
    // It is behind them.
    assert_eq!(send(&mut side, "d"), Ok(Accepted::Waits(waits(3))));
    side.pass(Duration::from_secs(120));
    let logon = side.log_on(0, 3, "");
    assert_eq!((kinds(&logon), ids(&logon)), ("A8".into(), "- b".into()));
    assert_eq!(ids(&after(&mut side, 10_000)), "c");
    assert_eq!(ids(&after(&mut side, 10_000)), "d");
    assert_eq!(*told.borrow(), [(waits(1), Ok(5)), (waits(2), Ok(6)), (waits(3), Ok(7))]);
}

#[test]
fn a_reset_ends_the_wait_and_each_is_told() {
    let (mut side, told) = side_on(
        Box::new(MemoryStore::new()),
        throttled("1/60000").with(|s| s.reset.reset_on_disconnect = true),
    );
    side.log_on(0, 1, "");
    for id in ["a", "b", "c"] {
        send(&mut side, id).unwrap();
    }
    side.disconnect(0);
    assert_eq!(*told.borrow(), [(waits(1), Err(SendError::Reset)), (waits(2), Err(SendError::Reset))]);
    // The numbers of those that wait go on.
    side.log_on(0, 1, "141=Y|");
    send(&mut side, "d").unwrap();
    assert_eq!(send(&mut side, "e"), Ok(Accepted::Waits(waits(3))));
}

// R-SCHEDULE-3
#[test]
fn what_waits_in_a_session_that_is_disabled_or_removed_over_an_edge_is_told_at_the_reset() {
    let edge = |hour| Edge::new(TimeOfDay::new(hour, 0, 0).unwrap(), Zone::utc());
    let schedule = Arc::new(Schedule::new([Window::daily(Weekdays::ALL, edge(8), edge(17))]));
    let settings = || throttled("1/60000").with(|s| s.schedule = Some(Arc::clone(&schedule)));
    for removed in [false, true] {
        let scratch = Scratch::new("over-an-edge");
        let (mut side, told) = side_on(scratch.store(), settings());
        side.log_on(0, 1, "");
        for id in ["a", "b", "c"] {
            send(&mut side, id).unwrap();
        }
        side.take(0);
        side.say(0, "35=5|34=2|");
        side.disconnect(0);
        side.set_enabled(0, false, "jane: holiday").unwrap();
        if removed {
            side.close(0).unwrap();
        }
        side.now.mono = mono(side.now.mono.nanos() + DAY);
        side.now.utc.0 += DAY;
        if removed {
            side.open(settings()).unwrap();
        } else {
            side.set_enabled(0, true, "jane: back").unwrap();
            side.wake(0, &[]);
        }
        let reset = || Err(SendError::Reset);
        assert_eq!(*told.borrow(), [(waits(1), reset()), (waits(2), reset())], "removed: {removed}");
    }
}

#[test]
fn a_reset_in_the_session_does_not_begin_while_messages_wait() {
    let (mut side, _) = side("1/1000");
    side.log_on(0, 1, "");
    send(&mut side, "a").unwrap();
    send(&mut side, "b").unwrap();
    assert_eq!(side.reset_in_session(0, "daily"), Err(ChangeError::MessagesPending));
    side.take(0);
    assert_eq!(ids(&after(&mut side, 1000)), "b");
    assert_eq!(side.reset_in_session(0, "daily"), Ok(()));
}

#[test]
fn what_waits_follows_a_replay() {
    let (mut side, _) = side("1/100");
    side.log_on(0, 1, "");
    for _ in 0..60 {
        send(&mut side, "old").unwrap();
        side.take(0);
        side.pass(Duration::from_millis(100));
    }
    let request = side.wire(0, "35=2|34=2|7=2|16=0|");
    side.hear(0, &request);
    for id in ["new 1", "new 2", "new 3"] {
        send(&mut side, id).unwrap();
    }
    let mut sent = Vec::new();
    for _ in 0..100 {
        sent.extend(after(&mut side, 100));
    }
    let new: Vec<_> = sent.into_iter().skip_while(|message| message.contains("|43=Y|")).collect();
    assert_eq!(ids(&new), "new 1 new 2 new 3");
}

#[test]
fn what_waits_is_sent_after_a_restart_as_it_was_written() {
    let scratch = Scratch::new("waiting");
    let settings = || throttled("1/10000").with(|s| s.resend.allow_pos_dup = true);
    let original = Utc(1_767_600_000_123_000_000);
    {
        let (mut side, _) = side_on(scratch.store(), settings());
        side.log_on(0, 1, "");
        side.say(0, "35=D|34=2|11=ab|");
        let header = [(Key::new(50), &b"DESK"[..])];
        side.act(0, |turn| {
            let mut draft =
                turn.session().with_header(&header).possible_duplicate(original).draft(MsgType::new(b"8"));
            draft.writer().bytes(Key::new(11), b"c").bytes(Key::new(58), b"a|b=c");
            draft.send()
        })
        .unwrap();
        assert_eq!(send(&mut side, "d"), Ok(Accepted::Waits(waits(3))));
        // The process is killed here.
    }
    let (mut side, told) = side_on(scratch.store(), settings());
    let seen = Rc::new(RefCell::new(Vec::new()));
    side.app.resume = Box::new({
        let seen = Rc::clone(&seen);
        move |resume| {
            resume.waiting(|ticket, body| seen.borrow_mut().push((ticket, body.bytes.len())));
            Ok(())
        }
    });
    side.show_store(0);
    assert_eq!(*seen.borrow(), [(waits(1), 6), (waits(2), 22), (waits(3), 5)]);
    side.pass(Duration::from_secs(120));
    assert_eq!(ids(&side.log_on(0, 3, "")), "- ab");
    let third = after(&mut side, 10_000).remove(0);
    assert!(third.contains("|34=5|43=Y|"), "{third}");
    assert!(third.contains("|122=20260105-08:00:00.123|50=DESK|11=c|58=a|b=c|"), "{third}");
    assert_eq!(ids(&after(&mut side, 10_000)), "d");
    assert_eq!(*told.borrow(), [(waits(1), Ok(4)), (waits(2), Ok(5)), (waits(3), Ok(6))]);
    drop(side);
    // It is sent once.
    let (mut side, told) = side_on(scratch.store(), settings());
    assert_eq!(kinds(&side.log_on(0, 4, "")), "A");
    assert_eq!(kinds(&after(&mut side, 20_000)), "");
    assert_eq!(*told.borrow(), []);
    assert_eq!(send(&mut side, "e"), Ok(Accepted::Numbered(SeqNum(8))));
    assert_eq!(send(&mut side, "f"), Ok(Accepted::Waits(waits(4))));
}

#[test]
fn one_whose_secrets_are_masked_in_the_journal_is_told_after_a_restart() {
    let scratch = Scratch::new("waiting-secrets");
    let settings = || throttled("1/60000").with(|s| s.masked_tags.push(58));
    {
        let (mut side, _) = side_on(scratch.store(), settings());
        side.log_on(0, 1, "");
        send(&mut side, "a").unwrap();
        side.act(0, |turn| {
            let mut draft = turn.session().draft(MsgType::new(b"8"));
            draft.writer().bytes(Key::new(58), b"a secret");
            draft.send()
        })
        .unwrap();
        send(&mut side, "b").unwrap();
    }
    let (mut side, told) = side_on(scratch.store(), settings());
    assert_eq!(kinds(&side.log_on(0, 2, "")), "A8");
    assert_eq!(*told.borrow(), [(waits(1), Err(SendError::NotStored)), (waits(2), Ok(4))]);
}

#[test]
fn one_that_has_become_too_large_is_dropped_and_the_next_one_follows() {
    let (mut side, told) = side("1/1000");
    side.log_on(0, 1, "");
    send(&mut side, "a").unwrap();
    send(&mut side, &"x".repeat(3000)).unwrap();
    send(&mut side, "b").unwrap();
    side.disconnect(0);
    side.pass(Duration::from_secs(10));
    assert_eq!(ids(&side.log_on(0, 2, "383=2000|")), "- b");
    let too_large = Err(SendError::TooLarge { limit: 2000 });
    assert_eq!(*told.borrow(), [(waits(1), too_large), (waits(2), Ok(4))]);
}

#[test]
fn what_waits_in_a_store_that_ends_with_the_session_is_told_before_that() {
    let (mut side, told) = side("1/1000");
    side.log_on(0, 1, "");
    send(&mut side, "a").unwrap();
    send(&mut side, "b").unwrap();
    side.disconnect(0);
    side.end_waiting(0);
    assert_eq!(*told.borrow(), [(waits(1), Err(SendError::Unavailable))]);
    assert_eq!(side.phase(0), Phase::Disconnected);
    side.close(0).unwrap();
}

#[test]
fn what_waits_in_a_store_that_ends_with_the_session_is_told_once_even_if_the_store_has_failed() {
    let (mut side, told, refuses) = refusing_side();
    side.log_on(0, 1, "");
    for id in ["a", "b", "c"] {
        send(&mut side, id).unwrap();
    }
    side.take(0);
    refuses.store(true, Ordering::Relaxed);
    assert_eq!(after(&mut side, 1000), Vec::<String>::new());
    side.disconnect(0);
    assert!(side.halted(0).is_some());
    side.end_waiting(0);
    let expected = [1, 2].map(|number| (waits(number), Err(SendError::Unavailable)));
    assert_eq!(*told.borrow(), expected);
    side.close(0).unwrap();
    refuses.store(false, Ordering::Relaxed);
    side.open(throttled("1/1000")).unwrap();
    side.pass(Duration::from_secs(10));
    side.log_on(0, 2, "");
    assert_eq!(*told.borrow(), expected);
}

/// A store that has lost how far messages that waited were sent.
struct Unsure;

impl Intercept<MemoryStore> for Unsure {
    fn open(
        &mut self,
        store: &mut MemoryStore,
        key: SessionKey,
        session: &SessionId,
    ) -> Result<Recovered, StoreError> {
        Ok(Recovered {
            given_up: Some(SeqNum(5)..=SeqNum(9)),
            next_out: SeqNum(10),
            waiting: WaitingMessages { count: 0, last: 2 },
            in_doubt: Some(1..=2),
            ..store.open(key, session)?
        })
    }
}

#[test]
fn what_may_have_been_sent_before_the_machine_stopped_is_told_and_not_sent_again() {
    let (mut side, told) =
        side_on(Box::new(Intercepted::new(MemoryStore::new(), Unsure)), throttled("1/1000"));
    assert_eq!(*told.borrow(), [1, 2].map(|number| (waits(number), Err(SendError::InDoubt))));
    side.log_on(0, 1, "");
    send(&mut side, "a").unwrap();
    assert_eq!(send(&mut side, "b"), Ok(Accepted::Waits(waits(3))));
}

/// Has a session whose answers no longer fit in its queue log out, and its counterparty answer that
/// behind an order. Returns what has become of it.
fn logged_out_behind_an_order(reset_on_logout: bool) -> (Side<App>, SessionEnd) {
    let mut side =
        with_a_small_queue(throttled("1/3600000").with(|s| s.reset.reset_on_logout = reset_on_logout));
    side.log_on(0, 1, "");
    let orders: Vec<u8> = (2..60).flat_map(|n| side.wire(0, &format!("35=D|34={n}|11=o|"))).collect();
    let mut left = orders[side.hear(0, &orders)..].to_vec();
    assert!(!left.is_empty());
    side.log_out(0, "bye").unwrap();
    left.extend(side.wire(0, "35=5|34=60|"));
    let began = side.now.mono;
    while !side.next(0).close {
        let due = side.next(0).deadline.unwrap();
        side.pass((due - side.now.mono).max(Duration::from_millis(1)));
        let used = side.wake(0, &left);
        left.drain(..used);
    }
    assert_eq!(side.now.mono - began, Duration::from_secs(1), "half of LogoutTimeout");
    let end = side.disconnect(0).unwrap();
    (side, end)
}

// R-LOGOUT-13
#[test]
fn the_answer_to_our_logout_is_read_behind_an_order_whose_answer_has_no_room() {
    let (mut side, end) = logged_out_behind_an_order(false);
    assert_eq!(end, SessionEnd::LoggedOutByUs);
    let left = "are left for the next connection: there is no room for their answers";
    assert!(side.app.events.iter().any(|event| event.contains(left)), "{:?}", side.app.events);
    let next_in = side.numbers(0).unwrap().0;
    assert!((3..60).contains(&next_in.0), "{next_in}");
    let logon = side.log_on(0, 61, "");
    assert!(
        logon.iter().any(|message| message.contains("|35=2|") && message.contains(&format!("|7={next_in}|"))),
        "{logon:?}"
    );

    let (mut side, end) = logged_out_behind_an_order(true);
    assert_eq!(end, SessionEnd::LoggedOutByUs);
    let lost = "are lost, because the sequence numbers are reset: there is no room for their answers";
    assert!(side.app.events.iter().any(|event| event.contains(lost)), "{:?}", side.app.events);
    assert_eq!(side.numbers(0), Some((SeqNum(1), SeqNum(1))));
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
}
