//! A counterparty that sends more application messages than it may.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::{SeqNum, Version};
use fixbolt_conformance::testing::{Mood, Side, kinds};
use fixbolt_dictionary::{
    ApplicationVersion, DictionarySet, Source, Validator, fix_latest, fix44, fix50sp2, fixt11,
};
use fixbolt_session::{
    FixtDictionaries, InboundThrottle, Misbehavior, Phase, Rate, Role, SessionDictionary, SessionEnd,
    SessionId, SessionSettings,
};

fn rate(text: &str) -> Rate {
    text.parse().unwrap()
}

fn side(version: Version, change: impl FnOnce(&mut SessionSettings)) -> Side {
    let id = SessionId::new(version, "US", "PEER").unwrap();
    let mut settings = SessionSettings::new(id, Role::Acceptor);
    settings.dictionary = SessionDictionary::None;
    change(&mut settings);
    let mut side = Side::new(vec![settings]);
    let version = if version == Version::Fixt11 { "1137=9|" } else { "" };
    assert_eq!(kinds(&side.log_on(0, 1, version)), "A");
    side
}

fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    side(Version::Fix44, change)
}

fn orders(side: &Side, from: u64, to: u64) -> Vec<u8> {
    (from..=to).flat_map(|n| side.wire(0, &format!("35=D|34={n}|11=o{n}|"))).collect()
}

// R-LIMIT-6
#[test]
fn each_message_more_than_a_window_allows_is_rejected_and_not_delivered() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("3/100")));
    let bytes = orders(&side, 2, 8);
    side.hear(0, &bytes);
    let answers = side.take(0);
    assert_eq!(kinds(&answers), "888jjjj");
    assert!(
        answers[3].contains("|45=5|372=D|380=0|58=Throttle limit exceeded: at most 3 messages in 100ms|")
    );
    assert_eq!(side.app.got, ["o2", "o3", "o4"]);
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(9), "their numbers are used");
    side.pass(Duration::from_nanos(99_999_999));
    assert_eq!(kinds(&side.say(0, "35=D|34=9|11=o9|")), "j", "rejected ones do not count");
    side.pass(Duration::from_nanos(1));
    let bytes = orders(&side, 10, 13);
    side.hear(0, &bytes);
    assert_eq!(kinds(&side.take(0)), "888j");
}

#[test]
fn the_reason_is_8_where_the_version_or_the_dictionary_has_it() {
    let reason = |version, dictionary, default| {
        let mut side = side(version, |s| {
            (s.throttle.max_inbound_rate, s.dictionary) = (Some(rate("1")), dictionary);
            s.default_appl_ver_id = default;
            s.validation.incoming = fixbolt_dictionary::Policy::ignoring();
        });
        side.say(0, "35=D|34=2|11=a|");
        side.say(0, "35=D|34=3|11=b|").remove(0)
    };
    let shipped = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
    let table = fix44().to_table();
    let codes = "codes BusinessRejectReasonCodeSet ";
    assert!(table.contains(codes));
    let dialect = table.replace(codes, &format!("{codes}8=ThrottleLimitExceeded "));
    let dialect = Source::text(&dialect).load().unwrap_or_else(|error| panic!("{error}")).dictionary;
    let latest = |application| {
        let set = DictionarySet::new(fixt11().clone()).unwrap();
        let set = set.with(ApplicationVersion::new("9"), application).unwrap();
        SessionDictionary::Fixt(Arc::new(FixtDictionaries::new(set.validators())))
    };
    let dialect = SessionDictionary::Own(Arc::new(Validator::new(&dialect)));
    let none = || SessionDictionary::None;
    for (answer, part) in [
        (reason(Version::Fix40, none(), None), "|35=3|"),
        (reason(Version::Fix41, none(), None), "|35=3|"),
        (reason(Version::Fix42, none(), None), "|380=0|"),
        (reason(Version::Fix44, shipped, None), "|380=0|"),
        (reason(Version::Fix44, dialect, None), "|380=8|"),
        (reason(Version::Fixt11, none(), Some(Version::Fix50)), "|380=0|"),
        (reason(Version::Fixt11, none(), Some(Version::Fix50Sp2)), "|380=8|"),
        (reason(Version::Fixt11, latest(fix50sp2()), Some(Version::Fix50Sp2)), "|380=0|"),
        (reason(Version::Fixt11, latest(fix_latest()), Some(Version::Fix50Sp2)), "|380=8|"),
    ] {
        assert!(answer.contains(part) && answer.contains("Throttle limit exceeded"), "{part}: {answer}");
    }
}

// R-BUSINESS-2
#[test]
fn a_business_message_reject_is_not_answered_with_another_one() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("1")));
    assert_eq!(kinds(&side.say(0, "35=j|34=2|45=1|372=8|380=0|")), "8");
    assert_eq!(kinds(&side.say(0, "35=j|34=3|45=1|372=8|380=0|58=why|")), "");
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(4));
    assert!(side.app.notes[0].contains("why"), "{:?}", side.app.notes);
}

#[test]
fn the_session_layer_does_not_count() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("1/1000")));
    for n in 2..50 {
        assert_eq!(kinds(&side.say(0, &format!("35=1|34={n}|112=x|"))), "0");
    }
    assert_eq!(kinds(&side.say(0, "35=D|34=50|11=a|")), "8");
    assert_eq!(kinds(&side.say(0, "35=1|34=51|112=x|")), "0");
}

#[test]
fn what_was_requested_again_does_not_count_and_what_waited_behind_the_gap_is_not_too_many() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("2/100")));
    // 2 to 21 are missing; 22 and on come two in 100 ms, and are kept.
    for n in 22..42 {
        side.say(0, &format!("35=D|34={n}|11=o{n}|"));
        side.pass(Duration::from_millis(50));
    }
    let time = side.time();
    let again: Vec<u8> =
        (2..=21).flat_map(|n| side.wire(0, &format!("35=D|34={n}|43=Y|122={time}|11=o{n}|"))).collect();
    side.hear(0, &again);
    assert_eq!(kinds(&side.take(0)), "8".repeat(40));
    // The next ones are judged by the clock again: the last but one came 100 ms ago, the last 50.
    let bytes = orders(&side, 42, 49);
    side.hear(0, &bytes);
    assert_eq!(kinds(&side.take(0)), "8jjjjjjj");
}

#[test]
fn a_counterparty_does_not_evade_the_limit_with_poss_dup_flags_or_gaps_or_connections() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("2")));
    let time = side.time();
    let marked: Vec<u8> =
        (2..=6).flat_map(|n| side.wire(0, &format!("35=D|34={n}|43=Y|122={time}|11=o{n}|"))).collect();
    side.hear(0, &marked);
    assert_eq!(kinds(&side.take(0)), "88jjj", "nobody requested them");
    // A message after a gap of one waits with a hundred others.
    let later = orders(&side, 8, 108);
    side.hear(0, &later);
    side.take(0);
    let missing = side.wire(0, "35=D|34=7|11=o7|");
    side.hear(0, &missing);
    assert_eq!(kinds(&side.take(0)), "j".repeat(102));
    side.disconnect(0);
    side.log_on(0, 109, "");
    assert_eq!(kinds(&side.say(0, "35=D|34=110|11=o110|")), "j");
    side.pass(Duration::from_secs(1));
    assert_eq!(kinds(&side.say(0, "35=D|34=111|11=o111|")), "8");
}

#[test]
fn a_message_that_the_application_puts_off_counts_once() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("2/100")));
    side.app.mood = Mood::NotNow;
    let bytes = orders(&side, 2, 10);
    assert_eq!(side.hear(0, &bytes), 0);
    for _ in 0..10 {
        side.pass(Duration::from_millis(30));
        assert_eq!(side.wake(0, &bytes), 0);
    }
    side.app.mood = Mood::Done;
    side.pass(Duration::from_millis(50));
    // 350 ms in which they can have arrived, eight at most: and one is too many.
    assert_eq!(side.wake(0, &bytes), bytes.len());
    assert_eq!(kinds(&side.take(0)), "88888888j");
}

#[test]
fn a_counterparty_that_sends_too_much_is_logged_out_if_the_session_does_that() {
    let mut side = logged_on(|s| {
        (s.throttle.max_inbound_rate, s.throttle.inbound_throttle) =
            (Some(rate("3/100")), InboundThrottle::Disconnect);
    });
    let bytes = orders(&side, 2, 8);
    side.hear(0, &bytes);
    let answers = side.take(0);
    // Nothing new follows a Logout: the other answers are sent in the next connection.
    assert_eq!(kinds(&answers), "888j5");
    assert!(answers[4].contains("|58=Throttle limit exceeded: at most 3 messages in 100ms|"), "{answers:?}");
    assert!(side.next(0).close, "a flood does not go on until the Logout is answered");
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(7));
    let limit = rate("3/100");
    let end = side.disconnect(0);
    assert_eq!(end, Some(SessionEnd::PeerMisbehaved(Misbehavior::MessageRate { limit })));
    assert_eq!(
        end.unwrap().to_string(),
        "the counterparty sent more than 3 messages in 100ms (MaxInboundRate)"
    );
    // It may come back, and is asked for what was not processed.
    side.pass(Duration::from_millis(100));
    assert_eq!(kinds(&side.log_on(0, 9, "")), "A2");
    assert!(kinds(&side.say(0, "35=2|34=10|7=7|16=7|")).starts_with('j'));
}

#[test]
fn one_message_too_many_is_followed_by_an_ordinary_logout() {
    let mut side = logged_on(|s| {
        (s.throttle.max_inbound_rate, s.throttle.inbound_throttle) =
            (Some(rate("1")), InboundThrottle::Disconnect);
    });
    let bytes = orders(&side, 2, 3);
    side.hear(0, &bytes);
    assert_eq!(kinds(&side.take(0)), "8j5");
    assert!(side.phase(0) == Phase::LogoutSent && !side.next(0).close);
    assert_eq!(kinds(&side.say(0, "35=5|34=4|")), "");
    let limit = rate("1");
    assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(Misbehavior::MessageRate { limit })));
}

#[test]
fn a_flood_is_answered_only_as_long_as_the_journal_may_grow_for_it() {
    let mut side = logged_on(|s| {
        (s.throttle.max_inbound_rate, s.limits.max_session_journal_growth) =
            (Some(rate("1")), NonZeroU64::new(100_000));
    });
    let bytes = orders(&side, 2, 5000);
    side.hear(0, &bytes);
    assert!(side.take(0).len() < 1000);
    assert!(matches!(
        side.disconnect(0),
        Some(SessionEnd::PeerMisbehaved(Misbehavior::JournalGrowth { limit: 100_000 }))
    ));
}

// R-LIMIT-6
#[test]
fn in_no_window_are_more_delivered_and_nothing_below_the_limit_is_rejected() {
    let mut random = 7u64;
    let mut below = |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % most
    };
    for _ in 0..40 {
        let (most, window) = (1 + below(6) as usize, 1 + below(20));
        let mut side = logged_on(|s| {
            s.throttle.max_inbound_rate = Rate::new(most as u32, Duration::from_millis(window))
        });
        let mut delivered: Vec<u64> = Vec::new();
        let window = window * 1_000_000;
        for n in 2..400 {
            side.pass(Duration::from_micros(below(8) * 250));
            let now = side.now.mono.nanos();
            let answer = kinds(&side.say(0, &format!("35=D|34={n}|11=o{n}|")));
            let within = delivered.iter().filter(|at| now - **at < window).count();
            assert_eq!(answer == "8", within < most, "{answer}: {within} of {most}");
            if answer == "8" {
                delivered.push(now);
            }
        }
    }
}

/// Opens a gap that ends before `ahead`, and keeps it open for ten minutes with a Heartbeat every
/// ten seconds. Returns NextNumIn.
fn gap_kept_open(side: &mut Side, ahead: u64) -> u64 {
    assert_eq!(kinds(&side.say(0, &format!("35=D|34={ahead}|11=ahead|"))), "2");
    for n in 2..62 {
        side.pass(Duration::from_secs(10));
        side.say(0, &format!("35=0|34={n}|"));
    }
    62
}

#[test]
fn a_gap_that_is_kept_open_saves_up_no_places() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("5")));
    let next = gap_kept_open(&mut side, 100_000);
    let bytes = orders(&side, next, next + 1999);
    side.hear(0, &bytes);
    assert_eq!(kinds(&side.take(0)), "8".repeat(5) + &"j".repeat(1995));
    side.pass(Duration::from_secs(1));
    let bytes = orders(&side, next + 2000, next + 2009);
    side.hear(0, &bytes);
    assert_eq!(kinds(&side.take(0)), "88888jjjjj");
}

#[test]
fn what_waits_behind_a_gap_is_judged_by_when_it_arrived() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("5")));
    let next = gap_kept_open(&mut side, 700);
    // All at once, ten minutes after the gap began.
    let bytes = orders(&side, 701, 2699);
    side.hear(0, &bytes);
    side.pass(Duration::from_secs(60));
    side.say(0, &format!("35=4|34={next}|123=Y|36=700|"));
    side.hear(0, &[]);
    side.take(0);
    assert_eq!(side.app.got.len(), 6, "the first, and five of those that came at once");
    // They do not count for now.
    let bytes = orders(&side, 2700, 2709);
    side.hear(0, &bytes);
    assert_eq!(kinds(&side.take(0)), "88888jjjjj");
}

#[test]
fn one_that_waits_behind_a_gap_is_not_refused_because_of_those_that_fill_it_later() {
    let mut side = logged_on(|s| s.throttle.max_inbound_rate = Some(rate("5")));
    assert_eq!(kinds(&side.say(0, "35=D|34=7|11=o7|")), "2");
    let mut answers = String::new();
    for n in 2..7 {
        // Not marked as sent again, as a gateway does that writes out of order.
        side.pass(Duration::from_secs(1));
        answers += &kinds(&side.say(0, &format!("35=D|34={n}|11=o{n}|")));
    }
    assert_eq!(answers, "888888");
}
