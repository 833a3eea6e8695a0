//! Counterparties that read more slowly than the application writes.

use std::time::Duration;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody};
use fixbolt_conformance::testing::{App, Side, settings};
use fixbolt_session::{
    AcceptedHeartBtInt, Event, Failure, Role, SendError, SessionEnd, SessionSettings, Socket,
};

const SECOND: Duration = Duration::from_secs(1);
const SIZE: usize = 100_000;

struct Consumer {
    side: Side<App>,
    next: u64,
}

impl Consumer {
    fn new(change: impl FnOnce(&mut SessionSettings)) -> Self {
        let settings = settings("A", Role::Acceptor).with(|s| {
            (s.limits.outbound_buffer_size, s.timing.send_timeout) = (SIZE, Duration::from_secs(3600));
            s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
            change(s);
        });
        let side = Side::with_app(App::default(), vec![settings]);
        let mut consumer = Self { side, next: 2 };
        consumer.log_on(1);
        consumer.side.app.events.clear();
        consumer
    }

    fn log_on(&mut self, seq: u64) {
        self.side.connect(0);
        let answer = self.side.say(0, &format!("35=A|34={seq}|98=0|108=0|"));
        assert!(answer[0].contains("|35=A|"), "{answer:?}");
    }

    /// Sends an order of about `size` bytes.
    fn send(&mut self, size: usize) -> Result<(), SendError> {
        let id = self.next;
        self.side.act(0, |turn| {
            let mut draft = turn.session().draft(MsgType::new(b"D"));
            let id = format!("o{id}");
            draft.writer().bytes(Key::new(11), id.as_bytes()).bytes(Key::new(58), &vec![b'x'; size]);
            draft.send()
        })?;
        self.next += 1;
        Ok(())
    }

    /// Has the socket accept `bytes` of what waits, and tells the session the time.
    fn read(&mut self, bytes: usize) {
        self.side.write(0, bytes);
        let due = self.side.next(0).deadline;
        if due.is_some_and(|due| due <= self.side.now.mono) {
            self.side.wake(0, &[]);
        }
    }

    fn pass(&mut self, time: Duration) {
        self.side.pass(time);
    }

    fn queued(&self) -> usize {
        self.side.writable(0).len()
    }

    fn disconnect(&mut self) -> SessionEnd {
        self.side.disconnect(0).unwrap()
    }
}

#[test]
fn the_application_hears_once_of_each_watermark() {
    let mut consumer = Consumer::new(|_| {});
    // Reads a little more slowly than is written, then a little faster, again and again.
    let mut told = Vec::new();
    for round in 0..6 {
        for _ in 0..100 {
            consumer.pass(SECOND);
            let _ = consumer.send(1000);
            consumer.read(if round % 2 == 0 { 400 } else { 1700 });
            let queued = consumer.queued();
            for event in consumer.side.app.events.drain(..) {
                told.push((event.contains("too slowly"), queued));
            }
        }
    }
    assert_eq!(told.len(), 6, "{told:?}");
    for (n, (is_slow, queued)) in told.into_iter().enumerate() {
        assert_eq!(is_slow, n % 2 == 0);
        let right = if is_slow { 40_000..41_200 } else { 18_000..20_001 };
        assert!(right.contains(&queued), "{queued}");
    }
}

#[test]
fn much_at_once_is_not_the_counterpartys_fault() {
    let mut consumer = Consumer::new(|_| {});
    while consumer.send(1000).is_ok() {}
    assert!(consumer.queued() > SIZE * 2 / 5);
    assert!(consumer.side.next(0).deadline.is_none());
    consumer.side.wrote(0, 1000, Socket::Open);
    consumer.side.wake(0, &[]);
    consumer.read(usize::MAX);
    assert_eq!(consumer.side.app.events, [""; 0]);
}

#[test]
fn the_default_is_back_pressure_and_the_connection_is_kept() {
    let mut consumer = Consumer::new(|_| {});
    while consumer.send(1000).is_ok() {}
    consumer.read(1);
    assert_eq!(consumer.send(1000), Err(SendError::BackPressure));
    assert_eq!(consumer.side.app.events.len(), 1);
    assert!(consumer.side.app.events[0].contains("reads too slowly: "), "{:?}", consumer.side.app.events);
    consumer.pass(1000 * SECOND);
    consumer.read(1);
    assert!(!consumer.side.next(0).close);
}

// R-LIMIT-4
#[test]
fn one_that_stays_slow_is_disconnected_although_it_reads_all_that_waited_in_time() {
    let mut consumer = Consumer::new(|s| {
        (s.limits.slow_consumer_timeout, s.timing.send_timeout) = (Some(60 * SECOND), 30 * SECOND);
    });
    let mut slow_at = None;
    for second in 0.. {
        consumer.pass(SECOND);
        // It reads about as fast as the application may write: 40 KB within 30 s.
        while consumer.send(1000).is_ok() {}
        consumer.read(2000);
        if consumer.side.app.events.iter().any(|event| event.contains("too slowly")) {
            slow_at.get_or_insert(second);
        }
        if consumer.side.next(0).close {
            assert_eq!(slow_at, Some(second - 60));
            break;
        }
        assert!(second < 1000, "it is never disconnected");
    }
    assert_eq!(consumer.disconnect(), SessionEnd::SlowConsumer);
}

#[test]
fn one_that_catches_up_in_time_is_not_disconnected_and_has_its_whole_time_again() {
    let mut consumer = Consumer::new(|s| s.limits.slow_consumer_timeout = Some(60 * SECOND));
    for _ in 0..5 {
        while consumer.send(1000).is_ok() {}
        consumer.read(1);
        consumer.pass(59 * SECOND);
        consumer.read(usize::MAX);
        assert_eq!(consumer.queued(), 0);
        consumer.pass(10 * SECOND);
    }
    assert!(!consumer.side.next(0).close);
    let after =
        consumer.side.app.events.iter().filter(|event| event.contains("fast enough again after 59.000s"));
    assert_eq!(after.count(), 5, "{:?}", consumer.side.app.events);
}

#[test]
fn no_message_is_lost_if_a_slow_counterparty_is_disconnected() {
    let mut consumer = Consumer::new(|s| s.limits.slow_consumer_timeout = Some(5 * SECOND));
    let mut received = Vec::new();
    let mut accepted = 0;
    for seq in [2, 4, 6, 8] {
        for _ in 0..8 {
            while consumer.send(1000).is_ok() {
                accepted += 1;
            }
            let bytes = consumer.side.writable(0)[..3000].to_vec();
            received.extend(bytes);
            consumer.read(3000);
            consumer.pass(SECOND);
            consumer.read(0);
        }
        assert_eq!(consumer.disconnect(), SessionEnd::SlowConsumer);
        consumer.log_on(seq);
        // What it has received in part is as if it had not been sent.
        received.clear();
        let all = consumer.side.say(0, &format!("35=2|34={}|7=2|16=0|", seq + 1));
        let id = |message: &str| Some(message.split("|11=").nth(1)?.split('|').next()?.to_owned());
        received.extend(all.iter().filter_map(|message| id(message)).flat_map(String::into_bytes));
        let expected: String = (2..2 + accepted).map(|n| format!("o{n}")).collect();
        assert_eq!(String::from_utf8(received.clone()).unwrap(), expected);
        received.clear();
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn the_callback_may_write_and_a_failure_in_it_ends_the_connection() {
    let mut consumer = Consumer::new(|_| {});
    consumer.side.app.event = Box::new(|event, turn| {
        if matches!(event, Event::SlowConsumer { .. }) {
            return Err(Failure::from(
                turn.session().draft(MsgType::new(b"B")).send().err().unwrap_or(SendError::Application("no")),
            ));
        }
        Ok(())
    });
    while consumer.send(1000).is_ok() {}
    let next_out = consumer.side.numbers(0).unwrap().1;
    consumer.read(1);
    assert_eq!(consumer.side.numbers(0).unwrap().1, next_out, "rolled back");
    assert!(matches!(consumer.disconnect(), SessionEnd::CallbackFailed { callback: "on_event", .. }));
}
