//! A wall clock that was set back between two runs: no message that is sent again has an
//! OrigSendingTime (122) later than its SendingTime (52), which a counterparty would have to reject
//! (test case 2f).

use std::time::Duration;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody, Precision};
use fixbolt_conformance::testing::{App, BEGIN, Scratch, Side, kinds, settings_of, value};
use fixbolt_journal::MemoryStore;
use fixbolt_session::store::Store;
use fixbolt_session::{Accepted, Role, SendError, SessionSettings, Utc, WhileLoggedOff};

/// The time of the first run.
const FIRST: Utc = Utc(1_767_603_660_123_456_789);

/// One run of the process.
struct Run {
    side: Side<App>,
    /// MsgSeqNum of the counterparty's next message.
    seq: u64,
}

impl Run {
    fn begin(store: Box<dyn Store>, utc: Utc, settings: SessionSettings) -> Self {
        let mut side = Side::begin(BEGIN, App::default(), store, vec![settings]);
        side.now.utc = utc;
        let seq = side.numbers(0).unwrap().0.0;
        Self { side, seq }
    }

    fn connect(&mut self) {
        self.side.connect(0);
        assert_eq!(kinds(&self.say("35=A|", "98=0|108=30|")), "A");
    }

    fn disconnect(&mut self) {
        self.side.disconnect(0);
    }

    fn say(&mut self, msg_type: &str, fields: &str) -> Vec<String> {
        let seq = self.seq;
        self.seq += 1;
        self.side.say(0, &format!("{msg_type}34={seq}|{fields}"))
    }

    /// Sends a report with this id and these header fields.
    fn send(&mut self, id: &str, header: &[(Key, &[u8])]) -> Result<Accepted, SendError> {
        self.side.act(0, |turn| {
            let mut draft = turn.session().with_header(header).draft(MsgType::new(b"8"));
            draft.writer().bytes(Key::new(11), id.as_bytes());
            draft.send()
        })
    }

    /// Sends a report and returns it as it was sent.
    fn sent(&mut self, id: &str) -> String {
        self.send(id, &[]).unwrap();
        self.side.take(0).pop().unwrap()
    }

    /// Returns what the counterparty gets if it requests everything.
    fn requested(&mut self) -> Vec<String> {
        self.say("35=2|", "7=1|16=0|")
    }
}

/// Returns a time in a form that compares as text: with twelve digits of a second.
fn comparable(time: &str) -> String {
    let (second, fraction) = time.split_once('.').unwrap_or((time, ""));
    format!("{second}.{fraction:0<12}")
}

/// Checks messages that are sent again. Returns their ids, with the times of their first sending.
fn judged(messages: &[String]) -> Vec<(String, String)> {
    let mut reports = Vec::new();
    for message in messages {
        assert_eq!(value(message, "43"), Some("Y"), "{message}");
        let (original, sending) = (value(message, "122").unwrap(), value(message, "52").unwrap());
        assert!(comparable(original) <= comparable(sending), "{message}");
        if let Some(id) = value(message, "11") {
            reports.push((id.to_owned(), original.to_owned()));
        }
    }
    reports
}

fn of(begin_string: &str, precision: Precision) -> SessionSettings {
    settings_of(&format!("{begin_string}:US->A"), Role::Acceptor).with(|s| {
        s.timing.timestamp_precision = precision;
        s.resend.while_logged_off = WhileLoggedOff::Keep;
    })
}

const PRECISIONS: [Precision; 5] =
    [Precision::Seconds, Precision::Millis, Precision::Micros, Precision::Nanos, Precision::Picos];

// R-RESEND-3, R-SEND-3
#[test]
fn a_message_that_is_sent_again_after_a_restart_is_not_later_originally_than_now() {
    let back = |time: Duration| Utc(FIRST.0 - u64::try_from(time.as_nanos()).unwrap());
    // Within the second, the millisecond and the microsecond of the first run, too.
    let seconds = [60, 1, 0].map(Duration::from_secs);
    let parts = [456_789, 789, 1].map(Duration::from_nanos);
    for begin_string in ["FIX.4.2", "FIX.4.4"] {
        for before in PRECISIONS {
            for after in PRECISIONS {
                let scratch = Scratch::new("clock-set-back");
                let mut run = Run::begin(scratch.store(), FIRST, of(begin_string, before));
                let kept = run.send("kept", &[]).unwrap();
                run.connect();
                let first = run.sent("first");
                run.say("35=1|", "112=a|");
                let last = run.sent("last");
                drop(run);
                for by in seconds.iter().chain(&parts) {
                    let mut run = Run::begin(scratch.store(), back(*by), of(begin_string, after));
                    run.connect();
                    let again = judged(&run.requested());
                    let expected = [&first, &last].map(|message| {
                        (value(message, "11").unwrap().to_owned(), value(message, "52").unwrap().to_owned())
                    });
                    assert_eq!(again[0].0, "kept", "{kept}");
                    assert_eq!(again[1..], expected, "{begin_string} {before:?} {after:?} {by:?}");
                }
            }
        }
    }
}

#[test]
fn a_message_that_was_written_during_a_replay_and_lost_with_the_connection_is_no_exception() {
    let scratch = Scratch::new("clock-set-back-replay");
    let small = || of("FIX.4.4", Precision::Millis).with(|s| s.limits.outbound_buffer_size = 16 * 1024);
    let mut run = Run::begin(scratch.store(), FIRST, small().with(|s| s.limits.max_message_size = 8 * 1024));
    run.connect();
    let count = 40;
    for n in 0..count {
        run.send(&format!("{n}-{}", "x".repeat(600)), &[]).unwrap();
        run.side.take(0);
    }
    // A replay stops at half of a full outbox, and what is written now waits behind it.
    let bytes = run.side.wire(0, &format!("35=2|34={}|7=1|16=0|", run.seq));
    run.seq += 1;
    run.side.receive(0, &bytes);
    assert!(run.side.is_replaying(0));
    run.send("behind", &[]).unwrap();
    run.disconnect();
    drop(run);
    for by in [60_000_000_000, 1_000_000] {
        let mut run = Run::begin(scratch.store(), Utc(FIRST.0 - by), small());
        run.connect();
        let again = judged(&run.requested());
        assert_eq!(again.len(), count + 1);
        assert_eq!(again[count].0, "behind");
    }
}

// R-SEND-5
#[test]
fn header_fields_of_the_application_change_nothing_and_it_cannot_write_the_times_itself() {
    let mut run = Run::begin(Box::new(MemoryStore::new()), FIRST, of("FIX.4.4", Precision::Millis));
    run.connect();
    run.send("resend", &[(Key::new(50), b"desk"), (Key::new(97), b"Y")]).unwrap();
    for (tag, value) in [(43, &b"Y"[..]), (52, b"20300101-00:00:00"), (122, b"20300101-00:00:00")] {
        let refused = run.send("own", &[(Key::new(tag), value)]);
        assert!(matches!(refused, Err(SendError::Encode(_))), "{tag}: {refused:?}");
    }
    run.side.take(0);
    run.side.now.utc = Utc(FIRST.0 - 60_000_000_000);
    let again = run.requested();
    assert_eq!(judged(&again).len(), 1);
    let report = again.last().unwrap();
    assert!(report.contains("|50=desk|97=Y|"), "{report}");
}
