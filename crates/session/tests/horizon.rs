//! How far back messages are sent again: `ResendSettings::resend_horizon`.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

use fixbolt_codec::{BodySink, Key, MsgType, NewBody, SeqNum};
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_journal::{DirectoryStore, MemoryStore, NoStore};
use fixbolt_session::runtime::session_key;
use fixbolt_session::store::{Forgets, Intercept, Intercepted, Record, Store, StoreError};
use fixbolt_session::{Event, Role, SessionKey, SessionSettings, Unreached, WhileLoggedOff};

const KEY: SessionKey = session_key(0, 0, 0);

fn over(store: Box<dyn Store>, horizon: u64, change: fn(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(|s| {
        s.resend.resend_horizon = NonZeroU64::new(horizon);
        change(s);
    });
    Side::on_store(store, vec![settings])
}

/// Returns a session that is logged on: message 1 is its Logon.
fn logged_on(horizon: u64, change: fn(&mut SessionSettings)) -> Side {
    let mut side = over(Box::new(MemoryStore::new()), horizon, change);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

/// Sends messages until the next one has number `next_out`.
fn orders(side: &mut Side, next_out: u64) {
    while side.numbers(0).unwrap().1.0 < next_out {
        side.send(0, "order", 1).unwrap();
        side.take(0);
    }
}

/// Sends a message with a secret.
fn secret(side: &mut Side) {
    let sent = side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(b"BE"));
        draft.writer().bytes(Key::new(923), b"u").bytes(Key::new(554), b"sword");
        draft.send()
    });
    sent.unwrap();
    side.take(0);
}

/// Lets the counterparty request messages again.
fn request(side: &mut Side, begin: u64, end: u64) -> Vec<String> {
    let (next_in, _) = side.numbers(0).unwrap();
    side.say(0, &format!("35=2|34={next_in}|7={begin}|16={end}|"))
}

fn value(message: &str, tag: &str) -> Option<u64> {
    message.split('|').find_map(|field| field.strip_prefix(tag)?.strip_prefix('=')?.parse().ok())
}

/// Returns messages as text: `4-6` is a gap fill of 4 to 6, `7` a message that is sent again, and
/// `8!` one that is sent for the first time.
fn brief(list: &[String]) -> String {
    let one = |message: &String| {
        let seq = value(message, "34").unwrap();
        match (value(message, "36"), message.contains("|43=Y|")) {
            (Some(new), _) => format!("{seq}-{}", new - 1),
            (None, true) => seq.to_string(),
            (None, false) => format!("{seq}!"),
        }
    };
    list.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn beyond(begin: u64, end: u64, horizon: u64) -> (SeqNum, SeqNum, Unreached) {
    (SeqNum(begin), SeqNum(end), Unreached::BeyondHorizon { horizon })
}

// R-RESEND-5
#[test]
fn the_messages_within_the_horizon_are_sent_again_and_older_ones_are_gap_filled_and_reported() {
    // NextNumOut is 21: with a horizon of 5, messages 16 to 20 are sent again.
    for (begin, end, answer, reported) in [
        (16, 16, "16", None),
        (15, 15, "15-15", Some((15, 15))),
        (15, 16, "15-15 16", Some((15, 15))),
        (2, 10, "2-10", Some((2, 10))),
        (17, 19, "17 18 19", None),
        (13, 17, "13-15 16 17", Some((13, 15))),
        (1, 0, "1-15 16 17 18 19 20", Some((1, 15))),
        (18, 999_999, "18 19 20", None),
        (20, 20, "20", None),
    ] {
        let mut side = logged_on(5, |_| {});
        orders(&mut side, 21);
        assert_eq!(brief(&request(&mut side, begin, end)), answer, "{begin} to {end}");
        let reported: Vec<_> = reported.into_iter().map(|(begin, end)| beyond(begin, end, 5)).collect();
        assert_eq!(side.app.unreached, reported, "{begin} to {end}");
        assert_eq!(side.numbers(0).unwrap().1, SeqNum(21));
    }
}

#[test]
fn a_horizon_as_far_back_as_the_first_message_or_further_sends_everything_again() {
    for (horizon, answer) in [(18, "1-2 3 4"), (19, "1-1 2 3"), (20, "1-1 2 3"), (u64::MAX, "1-1 2 3")] {
        let mut side = logged_on(horizon, |_| {});
        orders(&mut side, 21);
        let answered = brief(&request(&mut side, 1, 0));
        assert!(answered.starts_with(answer), "{horizon}: {answered}");
        // Message 1 is a Logon, which is gap-filled either way, but is not beyond the horizon.
        let lost: Vec<_> = (horizon < 20).then(|| beyond(1, 20 - horizon, horizon)).into_iter().collect();
        assert_eq!(side.app.unreached, lost, "{horizon}");
    }
}

#[test]
fn a_horizon_of_one_sends_the_last_message_again() {
    let mut side = logged_on(1, |_| {});
    orders(&mut side, 5);
    assert_eq!(brief(&request(&mut side, 2, 0)), "2-3 4");
    orders(&mut side, 6);
    assert_eq!(brief(&request(&mut side, 2, 0)), "2-4 5");
}

#[test]
fn messages_of_the_session_layer_count_and_join_the_gap_fill() {
    let mut side = logged_on(4, |_| {});
    orders(&mut side, 6);
    side.say(0, "35=1|34=2|112=x|");
    side.say(0, "35=1|34=3|112=x|");
    orders(&mut side, 9);
    // 5 is the first within the horizon, 6 and 7 are Heartbeats.
    assert_eq!(brief(&request(&mut side, 2, 0)), "2-4 5 6-7 8");
    orders(&mut side, 10);
    // Now a Heartbeat is the first: one gap fill for both reasons.
    assert_eq!(brief(&request(&mut side, 2, 0)), "2-7 8 9");
    assert_eq!(side.app.unreached, [beyond(2, 4, 4), beyond(2, 5, 4)]);
}

#[test]
fn masked_messages_at_the_boundary_join_the_gap_fill_and_each_reason_is_reported() {
    let mut side = logged_on(4, |_| {});
    orders(&mut side, 6);
    secret(&mut side);
    secret(&mut side);
    orders(&mut side, 10);
    // 6 and 7 are masked; the horizon is in front of them.
    assert_eq!(brief(&request(&mut side, 4, 0)), "4-7 8 9");
    let masked = |seq| (SeqNum(seq), SeqNum(seq), Unreached::Masked);
    assert_eq!(side.app.unreached, [beyond(4, 5, 4), masked(6), masked(7)]);
    side.app.unreached.clear();
    orders(&mut side, 11);
    // Between them.
    assert_eq!(brief(&request(&mut side, 4, 0)), "4-7 8 9 10");
    assert_eq!(side.app.unreached, [beyond(4, 6, 4), masked(7)]);
}

// R-RESET-12
#[test]
fn a_reset_begins_to_count_again() {
    let mut side = logged_on(3, |_| {});
    orders(&mut side, 20);
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=30|141=Y|")), "A");
    orders(&mut side, 4);
    assert_eq!(brief(&request(&mut side, 1, 0)), "1-1 2 3");
    assert_eq!(side.app.unreached, []);
    orders(&mut side, 6);
    assert_eq!(brief(&request(&mut side, 1, 0)), "1-2 3 4 5");
    assert_eq!(side.app.unreached, [beyond(1, 2, 3)]);
}

#[test]
fn a_store_that_keeps_no_messages_is_not_asked_and_both_reasons_are_reported() {
    let mut side = over(Box::new(NoStore::new()), 2, |_| {});
    side.log_on(0, 1, "");
    orders(&mut side, 6);
    assert_eq!(brief(&request(&mut side, 1, 0)), "1-5");
    assert_eq!(side.app.unreached, [beyond(1, 3, 2), (SeqNum(4), SeqNum(5), Unreached::NotStored)]);
}

/// With an outbox of 16 KiB one message at a time is sent again.
fn small(settings: &mut SessionSettings) {
    settings.limits.outbound_buffer_size = 16 * 1024;
    settings.limits.max_message_size = 8 * 1024;
}

/// Passes a ResendRequest to the session, which can write nothing yet.
fn request_only(side: &mut Side, begin: u64, end: u64) {
    let (next_in, _) = side.numbers(0).unwrap();
    let bytes = side.wire(0, &format!("35=2|34={next_in}|7={begin}|16={end}|"));
    side.hear(0, &bytes);
}

#[test]
fn next_num_out_may_grow_during_a_replay_and_neither_moves_the_horizon_nor_loses_a_new_message() {
    let mut side = logged_on(4, small);
    orders(&mut side, 21);
    request_only(&mut side, 1, 0);
    // Many times the horizon is written before the replay has sent more than its beginning.
    let mut all = Vec::new();
    for round in 0..40 {
        side.send(0, "new", 1).unwrap();
        if round % 10 == 9 {
            all.extend(side.step(0));
        }
    }
    assert!(side.is_replaying(0));
    all.extend(side.take(0));
    let new: Vec<_> = (21..=60).map(|seq| format!("{seq}!")).collect();
    assert_eq!(brief(&all), format!("1-16 17 18 19 20 {}", new.join(" ")));
    assert_eq!(side.app.unreached, [beyond(1, 16, 4)]);
    // The next replay counts from the new NextNumOut.
    assert_eq!(brief(&request(&mut side, 17, 0)), "17-56 57 58 59 60");
}

#[test]
fn a_second_request_during_a_replay_is_answered_by_the_horizon_of_the_first() {
    let mut side = logged_on(4, small);
    orders(&mut side, 21);
    request_only(&mut side, 15, 18);
    let mut all = side.step(0);
    for _ in 0..10 {
        side.send(0, "new", 1).unwrap();
    }
    request_only(&mut side, 12, 0);
    all.extend(side.take(0));
    let new: Vec<_> = (21..=30).map(|seq| format!("{seq}!")).collect();
    assert!(brief(&all).ends_with(&format!("12-16 17 18 19 20 {}", new.join(" "))), "{}", brief(&all));
}

// R-STORE-4
#[test]
fn messages_kept_while_logged_off_are_sent_within_the_horizon_and_reported_beyond_it() {
    let mut side =
        over(Box::new(MemoryStore::new()), 4, |s| s.resend.while_logged_off = WhileLoggedOff::Keep);
    for _ in 0..10 {
        side.send(0, "kept", 1).unwrap();
    }
    assert_eq!(side.app.unreached, [], "nobody has asked for them yet");
    // Message 11 is the Logon: NextNumOut is 12 when the counterparty requests the others.
    assert_eq!(brief(&side.log_on(0, 1, "")), "11!");
    assert_eq!(brief(&request(&mut side, 1, 10)), "1-7 8 9 10");
    assert_eq!(side.app.unreached, [beyond(1, 7, 4)]);
    // All of them are accounted for: a reset loses none.
    side.say(0, "35=A|34=1|98=0|108=30|141=Y|");
    assert_eq!(side.app.unreached, [beyond(1, 7, 4)]);
}

#[test]
fn messages_written_between_our_logon_and_its_answer_are_all_sent() {
    let settings = settings("PEER", Role::Initiator).with(|s| {
        s.resend.resend_horizon = NonZeroU64::new(2);
        s.resend.while_logged_off = WhileLoggedOff::Keep;
    });
    let mut side = Side::new(vec![settings]);
    side.connect(0);
    for _ in 0..5 {
        side.send(0, "kept", 1).unwrap();
    }
    assert_eq!(brief(&side.say(0, "35=A|34=1|98=0|108=30|")), "1! 2! 3! 4! 5! 6!");
    assert_eq!(side.app.unreached, []);
}

#[test]
fn a_report_names_the_setting() {
    let why = Unreached::BeyondHorizon { horizon: 100 };
    assert_eq!(
        Event::Unreached { begin: SeqNum(1), end: SeqNum(7), why }.to_string(),
        "messages that do not reach the counterparty: 1 to 7: requested again, but further back from NextNumOut than ResendHorizon=100"
    );
}

/// Records what the store is told.
struct Told(Arc<Mutex<Vec<u64>>>);

/// The text of a message that the store refuses.
const REFUSED: &[u8] = b"11=refused";

impl Intercept<MemoryStore> for Told {
    fn append(
        &mut self,
        store: &mut MemoryStore,
        key: SessionKey,
        record: &Record<'_>,
    ) -> Result<(), StoreError> {
        if record.body.windows(REFUSED.len()).any(|bytes| bytes == REFUSED) {
            return Err(StoreError::Full { place: "test".into() });
        }
        store.append(key, record)
    }

    fn set_resend_horizon(&mut self, store: &mut MemoryStore, session: SessionKey, messages: u64) {
        self.0.lock().unwrap().push(messages);
        Forgets::set_resend_horizon(store, session, messages);
    }
}

/// Opens a session, and returns a function that returns what its store was told since.
fn told(all: SessionSettings) -> (Side, impl Fn() -> Vec<u64>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let store = Intercepted::new(MemoryStore::new(), Told(Arc::clone(&told)));
    (Side::on_store(Box::new(store), vec![all]), move || std::mem::take(&mut *told.lock().unwrap()))
}

#[test]
fn the_store_is_told_the_horizon_when_it_is_opened_and_to_keep_everything_during_a_replay() {
    const ALL: u64 = u64::MAX;
    let own = settings("PEER", Role::Acceptor).with(|s| {
        s.resend.resend_horizon = NonZeroU64::new(5);
        small(s);
    });
    let (mut side, told) = told(own.clone());
    assert_eq!(told(), [5]);
    side.log_on(0, 1, "");
    orders(&mut side, 11);
    assert_eq!(told(), []);
    request_only(&mut side, 1, 0);
    assert_eq!(told(), [ALL]);
    side.take(0);
    assert_eq!(told(), [5]);
    // A replay that does not come to its end: by a reset, and by the end of its connection.
    for end in [true, false] {
        request_only(&mut side, 1, 0);
        assert_eq!(told(), [ALL]);
        if end {
            side.say(0, "35=A|34=1|98=0|108=30|141=Y|");
            orders(&mut side, 11);
        } else {
            side.disconnect(0);
        }
        assert_eq!(told(), [5], "{end}");
    }
    side.close(0).unwrap();
    side.open(own).unwrap();
    assert_eq!(told(), [5], "it is opened again");
}

#[test]
fn the_store_is_told_the_horizon_again_when_a_halt_has_ended() {
    let own = settings("PEER", Role::Acceptor).with(|s| {
        s.resend.resend_horizon = NonZeroU64::new(5);
        s.resend.while_logged_off = WhileLoggedOff::Keep;
    });
    let (mut side, told) = told(own);
    assert_eq!(told(), [5]);
    side.send(0, "refused", 1).unwrap_err();
    assert!(side.halted(0).is_some());
    side.resume(0, "desk: repaired").unwrap();
    assert_eq!(told(), [5]);
}

#[test]
fn a_store_is_told_nothing_without_a_horizon_and_to_keep_everything_until_our_logon_is_answered() {
    let (mut side, told) = self::told(settings("PEER", Role::Initiator));
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    request(&mut side, 1, 0);
    side.disconnect(0);
    assert_eq!(told(), []);
    let (mut side, told) =
        self::told(settings("PEER", Role::Initiator).with(|s| s.resend.resend_horizon = NonZeroU64::new(9)));
    side.connect(0);
    assert_eq!(told(), [9, u64::MAX]);
    side.say(0, "35=A|34=1|98=0|108=30|");
    assert_eq!(told(), [9]);
    side.disconnect(0);
    side.connect(0);
    side.disconnect(0);
    assert_eq!(told(), [u64::MAX, 9], "nobody answered");
}

/// A seeded sequence of numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// What is known of the messages that a session has sent.
#[derive(Default)]
struct Model {
    /// Whether each can be sent again: an application message without secrets.
    sent: BTreeMap<u64, bool>,
    /// Messages that were sent for the first time on this connection, or gap-filled.
    news: Vec<u64>,
    /// What was sent again, and what a gap fill replaced, since the last request.
    again: Vec<(u64, bool)>,
}

impl Model {
    /// Takes what was written. A gap fill after a replay takes the place of new messages.
    fn read(&mut self, list: &[String]) {
        for message in list {
            let seq = value(message, "34").unwrap();
            let last = value(message, "36").map_or(seq, |new| new - 1);
            if message.contains("|43=Y|") {
                self.again.extend((seq..=last).map(|seq| (seq, !message.contains("|35=4|"))));
                continue;
            }
            for seq in seq..=last {
                let is_order = message.contains("|35=D|");
                self.sent.insert(seq, is_order);
                self.news.push(seq);
            }
        }
    }
}

/// Compares the answers to random requests with those of the model, over a store that lets go of
/// messages and one that keeps them longer.
#[test]
fn every_requested_number_is_answered_once_as_the_horizon_says_for_random_sessions() {
    let directory = std::env::temp_dir().join(format!("fixbolt-horizon-{}", std::process::id()));
    let mut requests = 0;
    for seed in 0..150 {
        let store: Box<dyn Store> = match seed {
            0..10 => Box::new(DirectoryStore::new(directory.join(seed.to_string()))),
            _ => Box::new(MemoryStore::new()),
        };
        requests += random_session(seed, store);
    }
    let _ = std::fs::remove_dir_all(directory);
    assert!(requests > 1000, "{requests}");
}

fn random_session(seed: u64, store: Box<dyn Store>) -> u64 {
    let mut random = Random(seed);
    let most = [5, 60][random.below(2) as usize];
    let horizon = 1 + random.below(most);
    let mut side = over(store, horizon, small);
    let mut model = Model::default();
    let mut requests = 0;
    model.read(&side.log_on(0, 1, ""));
    for _ in 0..150 {
        let (next_in, next_out) = side.numbers(0).unwrap();
        match random.below(12) {
            0..5 => drop(side.send(0, "order", 1 + random.below(60) as usize).unwrap()),
            5 => secret_unread(&mut side),
            6 => {
                let bytes = side.wire(0, &format!("35=1|34={next_in}|112=x|"));
                side.hear(0, &bytes);
            }
            7 if random.below(4) == 0 => {
                model.read(&side.take(0));
                side.disconnect(0);
                model.news.clear();
                model.read(&side.log_on(0, next_in.0, ""));
            }
            8 if random.below(6) == 0 => {
                side.take(0);
                model = Model::default();
                model.read(&side.say(0, "35=A|34=1|98=0|108=30|141=Y|"));
            }
            9..11 if next_out.0 > 1 => {
                model.read(&side.take(0));
                model.again.clear();
                side.app.unreached.clear();
                let begin = 1 + random.below(next_out.0 - 1);
                let end = if random.below(3) == 0 { 0 } else { begin + random.below(next_out.0) };
                request_only(&mut side, begin, end);
                // New messages, while the replay is sent piece by piece.
                for _ in 0..random.below(100) {
                    match random.below(8) {
                        0 => model.read(&side.step(0)),
                        1 => secret_unread(&mut side),
                        _ => drop(side.send(0, "during", 5).unwrap()),
                    }
                }
                model.read(&side.take(0));
                let last = if end == 0 { next_out.0 - 1 } else { end.min(next_out.0 - 1) };
                let first = next_out.0.saturating_sub(horizon);
                let answer: Vec<_> =
                    (begin..=last).map(|seq| (seq, seq >= first && model.sent[&seq])).collect();
                assert_eq!(model.again, answer, "seed {seed}: {begin} to {end}, NextNumOut {next_out}");
                let lost = side.app.unreached.iter().filter(|lost| lost.2 == beyond(1, 1, horizon).2);
                let told: Vec<_> = lost.map(|lost| (lost.0.0, lost.1.0)).collect();
                let expected = (begin < first).then(|| (begin, last.min(first - 1)));
                assert_eq!(told, Vec::from_iter(expected), "seed {seed}");
                requests += 1;
            }
            _ => model.read(&side.take(0)),
        }
        // On the wire, new sequence numbers have no hole and are not used twice.
        let news = &model.news;
        assert!(news.windows(2).all(|pair| pair[1] == pair[0] + 1), "seed {seed}: {news:?}");
    }
    requests
}

fn secret_unread(side: &mut Side) {
    let sent = side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(b"BE"));
        draft.writer().bytes(Key::new(554), b"sword");
        draft.send()
    });
    sent.unwrap();
}

#[test]
fn a_session_survives_its_close_in_a_directory_or_if_each_logon_resets_it() {
    let directory = std::env::temp_dir().join(format!("fixbolt-survives-{}", std::process::id()));
    let on_disk = Box::new(DirectoryStore::new(&directory));
    let in_memory = || Box::new(MemoryStore::new());
    for (side, survives) in [
        (over(on_disk, 5, |_| {}), true),
        (over(in_memory(), 5, |_| {}), false),
        (over(in_memory(), 5, |s| s.reset.reset_on_logon = true), true),
    ] {
        assert_eq!(side.sessions().survives_close(KEY), survives);
    }
    let _ = std::fs::remove_dir_all(directory);
}
