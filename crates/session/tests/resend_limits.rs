//! How much and how often the counterparty is sent messages again, and what the application answers
//! to a request: `ResendSettings::max_resend_range`, `max_resends` and
//! `Application::on_resend_request`.

use std::cell::RefCell;
use std::num::{NonZeroU32, NonZeroU64};
use std::rc::Rc;
use std::time::Duration;

use fixbolt_codec::{SeqNum, Version};
use fixbolt_conformance::testing::{App, Desk, Side, kinds, order, settings_of};
use fixbolt_session::{
    Application, Compatibility, Event, ReplayInterleave, ResendAnswer, ResendOverLimit, Role, SessionEnd,
    SessionSettings, Unreached, WhileLoggedOff,
};

const VERSIONS: [&str; 4] = ["FIX.4.0", "FIX.4.2", "FIX.4.4", "FIXT.1.1"];
const ROLES: [Role; 2] = [Role::Acceptor, Role::Initiator];
const SECOND: Duration = Duration::from_secs(1);

/// Returns a session that is logged on: message 1 is its Logon.
fn session<A: Application>(
    app: A,
    version: &str,
    role: Role,
    change: impl FnOnce(&mut SessionSettings),
) -> Side<A> {
    let settings = settings_of(&format!("{version}:US->PEER"), role).with(|s| {
        s.default_appl_ver_id = (version == "FIXT.1.1").then_some(Version::Fix50Sp2);
        change(s);
    });
    let mut side = Side::with_app(app, vec![settings]);
    connect(&mut side, version, 1, "");
    side
}

/// Connects and logs on; returns what the session has sent.
fn connect<A: Application>(side: &mut Side<A>, version: &str, seq: u64, more: &str) -> Vec<String> {
    side.connect(0);
    let mut out = side.take(0);
    let version = if version == "FIXT.1.1" { "1137=9|" } else { "" };
    out.extend(side.say(0, &format!("35=A|34={seq}|98=0|108=30|{version}{more}")));
    out
}

/// Returns an acceptor's session of FIX.4.4 that has sent messages 2 to 20.
fn with_orders(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let mut side = session(Desk::default(), "FIX.4.4", Role::Acceptor, change);
    orders(&mut side, 21);
    side
}

/// Sends messages until the next one has number `next_out`.
fn orders<A: Application>(side: &mut Side<A>, next_out: u64) {
    while side.numbers(0).unwrap().1.0 < next_out {
        side.send(0, "order", 1).unwrap();
        side.take(0);
    }
}

/// Lets the counterparty request messages again.
fn request<A: Application>(side: &mut Side<A>, begin: u64, end: u64) -> Vec<String> {
    request_only(side, begin, end);
    side.take(0)
}

/// Passes a ResendRequest to the session, and takes nothing that it writes.
fn request_only<A: Application>(side: &mut Side<A>, begin: u64, end: u64) {
    let (next_in, _) = side.numbers(0).unwrap();
    let bytes = side.wire(0, &format!("35=2|34={next_in}|7={begin}|16={end}|"));
    side.hear(0, &bytes);
}

fn value<'m>(message: &'m str, tag: &str) -> Option<&'m str> {
    message.split('|').find_map(|field| field.strip_prefix(tag)?.strip_prefix('='))
}

/// Returns messages as text: `4-6` is a gap fill of 4 to 6, `7` a message that is sent again, `8!`
/// one that is sent for the first time, and `R9` the Reject of message 9.
fn brief(list: &[String]) -> String {
    let one = |message: &String| {
        let seq = value(message, "34").unwrap();
        match (value(message, "36"), value(message, "45"), message.contains("|43=Y|")) {
            (Some(new), ..) => format!("{seq}-{}", new.parse::<u64>().unwrap() - 1),
            (None, Some(refused), _) => format!("R{refused}"),
            (None, None, true) => seq.to_owned(),
            (None, None, false) => format!("{seq}!"),
        }
    };
    list.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn beyond(begin: u64, end: u64, most: u64) -> (SeqNum, SeqNum, Unreached) {
    (SeqNum(begin), SeqNum(end), Unreached::BeyondRange { most })
}

fn before(begin: u64, end: u64, times: u32) -> (SeqNum, SeqNum, Unreached) {
    (SeqNum(begin), SeqNum(end), Unreached::SentBefore { times })
}

/// The most messages of a request, and the rest is gap-filled.
fn gap_fill(most: u64) -> impl Fn(&mut SessionSettings) {
    move |s| {
        (s.resend.max_resend_range, s.resend.resend_over_limit) =
            (NonZeroU64::new(most), ResendOverLimit::GapFill)
    }
}

/// How often a message is sent again in a minute, and a request for more is gap-filled.
fn gap_fill_after(times: u32) -> impl Fn(&mut SessionSettings) {
    move |s| {
        (s.resend.max_resends, s.resend.resend_over_limit) =
            (NonZeroU32::new(times), ResendOverLimit::GapFill);
        s.resend.resend_period = Duration::from_secs(60);
    }
}

#[test]
// R-RESEND-11
fn a_request_for_more_than_the_range_is_refused_and_one_for_less_is_answered_in_every_version_and_role() {
    for version in VERSIONS {
        for role in ROLES {
            let mut side =
                session(App::default(), version, role, |s| s.resend.max_resend_range = NonZeroU64::new(5));
            orders(&mut side, 21);
            for (begin, end, last) in [(1, 0, 20), (1, 999_999, 21), (1, 20, 20), (1, 50, 23)] {
                let text = format!("1 to {last} are {last} messages, and at most 5 are sent again at once");
                let next_in = side.numbers(0).unwrap().0.0;
                let out = request(&mut side, begin, end);
                assert_eq!(brief(&out), format!("R{next_in}"), "{version} {begin} {end}");
                let fields = ["371", "372", "373"].map(|tag| value(&out[0], tag));
                let said = value(&out[0], "58").unwrap();
                if version == "FIX.4.0" {
                    assert_eq!((fields, said), ([None; 3], &*format!("{text} (7)")));
                } else {
                    assert_eq!((fields, said), ([Some("7"), Some("2"), Some("5")], &*text));
                }
                assert_eq!(side.numbers(0).unwrap().0.0, next_in + 1, "its number is used");
                assert!(side.app.events.last().unwrap().ends_with(said.trim_end_matches(" (7)")));
            }
            // What is asked for in parts comes whole: each Reject has a number, too.
            let next_out = side.numbers(0).unwrap().1.0;
            assert_eq!(next_out, 25);
            assert_eq!(brief(&request(&mut side, 1, 5)), "1-1 2 3 4 5");
            assert_eq!(brief(&request(&mut side, 16, 20)), "16 17 18 19 20");
            assert_eq!(brief(&request(&mut side, 20, 0)), "20 21-24");
            assert_eq!(kinds(&side.say(0, "35=1|34=9|112=x|")), "0");
        }
    }
}

#[test]
// R-RESEND-11
fn of_a_request_for_more_than_the_range_the_newest_messages_are_sent_and_the_rest_is_one_gap_fill() {
    for version in VERSIONS {
        for role in ROLES {
            for (begin, end, answer, told) in [
                (1, 0, "1-15 16 17 18 19 20", Some((1, 15))),
                (1, 999_999, "1-15 16 17 18 19 20", Some((1, 15))),
                (2, 12, "2-7 8 9 10 11 12", Some((2, 7))),
                (16, 0, "16 17 18 19 20", None),
                (15, 0, "15-15 16 17 18 19 20", Some((15, 15))),
                (7, 7, "7", None),
            ] {
                let mut side = session(Desk::default(), version, role, gap_fill(5));
                orders(&mut side, 21);
                assert_eq!(brief(&request(&mut side, begin, end)), answer, "{version} {begin} to {end}");
                let told: Vec<_> = told.into_iter().map(|(begin, end)| beyond(begin, end, 5)).collect();
                assert_eq!(side.app.unreached, told);
                assert_eq!(kinds(&side.say(0, "35=1|34=3|112=x|")), "0");
            }
        }
    }
}

#[test]
// R-RESEND-12
fn a_message_is_sent_again_as_often_as_the_limit_and_new_ones_in_the_same_range_have_their_own_count() {
    for version in VERSIONS {
        for role in ROLES {
            let mut side = session(Desk::default(), version, role, gap_fill_after(2));
            orders(&mut side, 5);
            assert_eq!(brief(&request(&mut side, 1, 0)), "1-1 2 3 4");
            assert_eq!(brief(&request(&mut side, 1, 0)), "1-1 2 3 4");
            assert_eq!(brief(&request(&mut side, 1, 0)), "1-4");
            orders(&mut side, 7);
            assert_eq!(brief(&request(&mut side, 1, 0)), "1-4 5 6");
            orders(&mut side, 8);
            assert_eq!(brief(&request(&mut side, 3, 0)), "3-4 5 6 7");
            assert_eq!(brief(&request(&mut side, 5, 0)), "5-6 7");
            let told = [before(1, 4, 2), before(1, 4, 2), before(3, 4, 2), before(5, 6, 2)];
            assert_eq!(side.app.unreached, told);
            side.pass(Duration::from_secs(60));
            assert_eq!(brief(&request(&mut side, 1, 0)), "1-1 2 3 4 5 6 7");
        }
    }
}

#[test]
// R-RESEND-12
fn a_request_for_a_message_that_was_sent_again_often_enough_is_refused_until_the_period_is_over() {
    let mut side = session(App::default(), "FIX.4.4", Role::Acceptor, |s| {
        (s.resend.max_resends, s.resend.resend_period) = (NonZeroU32::new(2), Duration::from_secs(60));
    });
    orders(&mut side, 5);
    request(&mut side, 3, 4);
    side.pass(20 * SECOND);
    assert_eq!(brief(&request(&mut side, 1, 0)), "1-1 2 3 4");
    let out = request(&mut side, 1, 0);
    let text = "3 to 4 were sent again 2 times, and are not again for 41 s";
    assert_eq!((brief(&out), value(&out[0], "58")), ("R4".to_owned(), Some(text)));
    // Around them is what it may request. Message 5 is the Reject.
    assert_eq!(brief(&request(&mut side, 1, 2)), "1-1 2");
    assert_eq!(brief(&request(&mut side, 5, 0)), "5-5");
    side.pass(39 * SECOND);
    assert_eq!(brief(&request(&mut side, 4, 4)), "R7");
    side.pass(SECOND);
    assert_eq!(brief(&request(&mut side, 1, 0)), "1-1 2 3 4 5-6");
}

#[test]
fn a_counterparty_that_requests_a_day_of_orders_each_second_costs_a_bounded_number_of_messages() {
    for over in [ResendOverLimit::Refuse, ResendOverLimit::GapFill] {
        let mut side = session(Desk::default(), "FIX.4.4", Role::Acceptor, |s| {
            (s.resend.max_resend_range, s.resend.resend_over_limit) = (NonZeroU64::new(50), over);
            (s.resend.max_resends, s.resend.resend_period) = (NonZeroU32::new(3), Duration::from_secs(60));
        });
        orders(&mut side, 500);
        let mut again = 0;
        for _ in 0..180 {
            let out = request(&mut side, 1, 0);
            let sent = out
                .iter()
                .filter(|message| {
                    message.starts_with("8=FIX.4.4|") && kinds(std::slice::from_ref(*message)) == "D"
                })
                .count();
            assert!(sent <= 50 && out.len() <= 52, "{over:?}: {out:?}");
            again += sent;
            side.pass(SECOND);
            side.send(0, "order", 1).unwrap();
            side.take(0);
        }
        // Each of the newest 50, and of those that came, at most three times a minute.
        let most = if over == ResendOverLimit::Refuse { 0 } else { 3 * 3 * (50 + 60) };
        assert!(again <= most && (again > 0) == (most > 0), "{over:?}: {again}");
        assert!(!side.next(0).close, "{over:?}");
    }
}

#[test]
fn a_new_connection_begins_no_new_count_and_a_reset_does() {
    let mut side = with_orders(gap_fill_after(1));
    assert_eq!(brief(&request(&mut side, 19, 0)), "19 20");
    side.disconnect(0);
    let next_in = side.numbers(0).unwrap().0.0;
    assert_eq!(brief(&side.log_on(0, next_in, "")), "21!");
    assert_eq!(brief(&request(&mut side, 18, 0)), "18 19-21");
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=30|141=Y|")), "A");
    orders(&mut side, 21);
    assert_eq!(brief(&request(&mut side, 18, 0)), "18 19 20");
}

#[test]
// R-RESEND-13
fn what_a_logon_requests_by_789_is_gap_filled_beyond_the_limits_as_nothing_can_be_rejected() {
    for over in [ResendOverLimit::Refuse, ResendOverLimit::GapFill] {
        for role in ROLES {
            let mut side = session(Desk::default(), "FIX.4.4", role, |s| {
                (s.resend.max_resend_range, s.resend.max_resends, s.resend.resend_over_limit) =
                    (NonZeroU64::new(5), NonZeroU32::new(2), over);
            });
            orders(&mut side, 21);
            // Our Logon is 21, and counts.
            for answer in ["21! 2-16 17 18 19 20 21-21", "22! 2-17 18 19 20 21-22", "23! 2-23"] {
                side.disconnect(0);
                let next_in = side.numbers(0).unwrap().0.0;
                assert_eq!(brief(&connect(&mut side, "FIX.4.4", next_in, "789=2|")), answer, "{role:?}");
            }
            let told = [beyond(2, 16, 5), beyond(2, 17, 5), beyond(2, 18, 5), before(19, 21, 2)];
            assert_eq!(side.app.unreached, told);
        }
    }
}

#[test]
fn a_request_during_a_replay_is_limited_together_with_what_is_left_of_that() {
    /// With an outbox of 16 KiB one message at a time is sent again.
    fn small(settings: &mut SessionSettings) {
        settings.limits.outbound_buffer_size = 16 * 1024;
        settings.limits.max_message_size = 8 * 1024;
    }
    // Ranges that are small one by one are not put together to a larger one.
    let mut refusing = with_orders(|s| {
        small(s);
        s.resend.max_resend_range = NonZeroU64::new(6);
    });
    request_only(&mut refusing, 2, 6);
    request_only(&mut refusing, 15, 20);
    let out = refusing.take(0);
    assert_eq!(brief(&out), "2 3 4 5 6 R3", "the first one is answered");
    assert_eq!(
        value(out.last().unwrap(), "58"),
        Some("3 to 20 are 18 messages, and at most 6 are sent again at once")
    );
    assert_eq!(brief(&request(&mut refusing, 15, 20)), "15 16 17 18 19 20");
    // One for the same again begins it again.
    request_only(&mut refusing, 2, 6);
    request_only(&mut refusing, 2, 6);
    assert_eq!(brief(&refusing.take(0)), "2 2 3 4 5 6");
    let mut filling = with_orders(|s| {
        small(s);
        gap_fill(6)(s);
    });
    request_only(&mut filling, 2, 6);
    request_only(&mut filling, 15, 20);
    assert_eq!(brief(&filling.take(0)), "2 3-14 15 16 17 18 19 20");
    assert_eq!(filling.app.unreached, [beyond(3, 14, 6)]);
}

#[test]
fn what_is_requested_again_before_it_was_sent_again_counts_once() {
    let mut side = with_orders(|s| {
        gap_fill_after(1)(s);
        (s.limits.outbound_buffer_size, s.limits.max_message_size) = (16 * 1024, 8 * 1024);
    });
    request_only(&mut side, 16, 0);
    // 16 is on its way, the others are not.
    request_only(&mut side, 16, 0);
    assert_eq!(brief(&side.take(0)), "16 16-16 17 18 19 20");
}

#[test]
fn a_request_from_after_a_gap_is_limited_when_it_comes_and_not_again_in_its_turn() {
    for over in [ResendOverLimit::Refuse, ResendOverLimit::GapFill] {
        let mut side = with_orders(|s| {
            (s.resend.max_resend_range, s.resend.resend_over_limit) = (NonZeroU64::new(2), over)
        });
        // Our own request follows, as in test case 20.
        let out = side.say(0, "35=2|34=5|7=1|16=0|");
        let refused = over == ResendOverLimit::Refuse;
        assert_eq!(brief(&out), if refused { "R5 22!" } else { "1-18 19 20 21!" });
        assert_eq!(kinds(&out[out.len() - 1..]), "2");
        // Where both sides miss messages and refuse to send them, neither asks again and again.
        let out = side.say(0, "35=2|34=6|7=1|16=0|");
        assert_eq!(kinds(&out), if refused { "3" } else { "4D42" }, "{out:?}");
        let out = side.say(0, "35=4|34=2|43=Y|123=Y|36=5|");
        assert_eq!(side.numbers(0).unwrap().0, SeqNum(7), "{out:?}");
        assert_eq!(kinds(&side.say(0, "35=1|34=7|112=x|")), "0");
    }
}

#[test]
fn a_refused_request_ends_no_connection_as_a_wrong_message_would() {
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ] {
        let mut side = with_orders(|s| {
            (s.validation.disconnect_on_error, s.reset.reset_on_error, s.resend.max_resend_range) =
                (true, true, NonZeroU64::new(1));
            s.compatibility = compatibility;
        });
        assert_eq!(brief(&request(&mut side, 1, 0)), "R2");
        assert_eq!(brief(&request(&mut side, 20, 20)), "20");
    }
}

#[test]
fn what_was_withheld_and_what_waits_is_sent_whatever_the_limits_are() {
    let mut side = with_orders(|s| {
        gap_fill(1)(s);
        (s.resend.max_resends, s.resend.while_logged_off) = (NonZeroU32::new(1), WhileLoggedOff::Keep);
    });
    // During a replay, new messages wait for its end.
    request_only(&mut side, 1, 0);
    for _ in 0..5 {
        side.send(0, "new", 1).unwrap();
    }
    assert_eq!(brief(&side.take(0)), "1-19 20 21! 22! 23! 24! 25!");
    // After a Logon with a number that is too high, they wait for the first missing message.
    side.disconnect(0);
    assert_eq!(brief(&side.log_on(0, 9, "")), "26! 27!");
    side.send(0, "held", 1).unwrap();
    assert_eq!(brief(&side.take(0)), "");
    assert_eq!(brief(&side.say(0, "35=2|34=10|7=28|16=0|")), "28! 29!");
}

#[test]
fn everything_new_is_sent_at_once_and_the_range_is_still_limited() {
    for over in [ResendOverLimit::Refuse, ResendOverLimit::GapFill] {
        let mut side = with_orders(|s| {
            s.resend.replay_interleave = ReplayInterleave::All;
            (s.resend.max_resend_range, s.resend.resend_over_limit) = (NonZeroU64::new(3), over);
        });
        let refused = over == ResendOverLimit::Refuse;
        assert_eq!(brief(&request(&mut side, 1, 0)), if refused { "R2" } else { "1-17 18 19 20" });
        assert_eq!(brief(&request(&mut side, 19, 20)), "19 20");
    }
}

#[test]
fn a_request_for_nothing_is_answered_as_without_limits() {
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix] {
        let change = |s: &mut SessionSettings| s.compatibility = compatibility;
        let mut plain = with_orders(change);
        let mut limited = with_orders(|s| {
            change(s);
            (s.resend.max_resend_range, s.resend.max_resends) = (NonZeroU64::new(1), NonZeroU32::new(1));
        });
        for (begin, end) in [(21, 0), (30, 40), (5, 4), (u64::MAX, 0)] {
            let [plain, limited] = [&mut plain, &mut limited].map(|side| request(side, begin, end));
            assert_eq!(plain, limited, "{compatibility:?} {begin} {end}");
        }
    }
}

#[test]
fn a_request_for_what_waits_while_the_rest_of_another_is_gap_filled_is_not_told_as_the_applications_wish() {
    let mut were_replaying = 0;
    // After some of these numbers of Heartbeats a call ends right before the gap fill for them.
    for heartbeats in 1..70 {
        let mut side = session(Desk::default(), "FIX.4.4", Role::Acceptor, |_| ());
        for seq in 2..2 + heartbeats {
            side.tell(0, &format!("35=1|34={seq}|112=there|"));
        }
        side.take(0);
        request_only(&mut side, 2, 0);
        were_replaying += u32::from(side.is_replaying(0));
        let waits = side.send(0, "waits", 1).unwrap().seq().unwrap();
        request_only(&mut side, waits.0, 0);
        while side.is_replaying(0) {
            side.step(0);
        }
        assert_eq!(side.app.unreached, [], "{heartbeats}");
    }
    assert!(were_replaying > 10, "{were_replaying}");
}

/// The requests that an application was asked about.
type Asked = Rc<RefCell<Vec<(u64, u64, bool)>>>;

/// Returns a session whose application answers each request like this, with the requests that it
/// was asked about.
fn asking(
    version: &str,
    role: Role,
    answer: ResendAnswer,
    change: impl FnOnce(&mut SessionSettings),
) -> (Side<App>, Asked) {
    let asked = Asked::default();
    let seen = Rc::clone(&asked);
    let app = App {
        resend_request: Box::new(move |range, _| {
            seen.borrow_mut().push((range.begin.0, range.end.0, range.at_logon));
            Ok(answer.clone())
        }),
        ..App::default()
    };
    let mut side = session(app, version, role, change);
    orders(&mut side, 21);
    (side, asked)
}

#[test]
// R-RESEND-14
fn the_application_answers_a_request_in_every_version_and_role() {
    for version in VERSIONS {
        for role in ROLES {
            let (mut side, asked) = asking(version, role, ResendAnswer::AsUsual, |_| {});
            assert_eq!(brief(&request(&mut side, 18, 0)), "18 19 20");
            let (mut side, _) = asking(version, role, ResendAnswer::GapFill, |_| {});
            assert_eq!(brief(&request(&mut side, 18, 0)), "18-20");
            let events: Vec<_> =
                side.app.events.iter().filter_map(|event| event.split_once("->PEER: ")).collect();
            let said: Vec<_> = events.iter().rev().take(2).map(|(_, event)| *event).collect();
            assert_eq!(
                said,
                [
                    "messages that do not reach the counterparty: 18 to 20: requested again, and the application has them gap-filled",
                    "the counterparty requested messages again: 18 to 20"
                ]
            );
            let (mut side, _) = asking(version, role, ResendAnswer::refuse("not now"), |_| {});
            let out = request(&mut side, 18, 0);
            assert_eq!(brief(&out), "R2");
            let suffix = if version == "FIX.4.0" { " (7)" } else { "" };
            assert_eq!(value(&out[0], "58"), Some(&*format!("not now{suffix}")));
            assert_eq!(*asked.borrow(), [(18, 20, false)]);
        }
    }
}

#[test]
// R-RESEND-14
fn the_settings_come_before_the_application_and_limit_what_it_allows() {
    let (mut side, asked) = asking("FIX.4.4", Role::Acceptor, ResendAnswer::AsUsual, |s| {
        s.resend.max_resend_range = NonZeroU64::new(5)
    });
    assert_eq!(brief(&request(&mut side, 1, 0)), "R2");
    assert_eq!(*asked.borrow(), [], "it is not asked about what the settings refuse");
    assert_eq!(brief(&request(&mut side, 20, 20)), "20");
    let (mut side, asked) = asking("FIX.4.4", Role::Acceptor, ResendAnswer::AsUsual, gap_fill(5));
    assert_eq!(brief(&request(&mut side, 1, 0)), "1-15 16 17 18 19 20");
    assert_eq!(*asked.borrow(), [(1, 20, false)], "the whole range");
}

#[test]
fn the_application_is_asked_about_what_a_logon_requests_and_a_refusal_there_is_a_gap_fill() {
    for role in ROLES {
        for answer in [ResendAnswer::GapFill, ResendAnswer::refuse("no")] {
            let (mut side, asked) = asking("FIX.4.4", role, answer, |_| {});
            side.disconnect(0);
            let out = connect(&mut side, "FIX.4.4", 2, "789=2|");
            assert_eq!((brief(&out), &*asked.borrow()), ("21! 2-21".to_owned(), &vec![(2, 21, true)]));
            assert!(side.app.events.iter().any(|event| event.contains("2 to 21: requested again, and")));
            assert_eq!(kinds(&side.say(0, "35=1|34=3|112=x|")), "0");
        }
    }
}

#[test]
fn the_application_is_asked_about_a_second_request_with_the_rest_of_the_first() {
    let answers = Rc::new(RefCell::new(vec![ResendAnswer::GapFill, ResendAnswer::AsUsual]));
    let asked = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&asked);
    let app = App {
        resend_request: Box::new(move |range, _| {
            seen.borrow_mut().push((range.begin.0, range.end.0));
            Ok(answers.borrow_mut().pop().unwrap())
        }),
        ..App::default()
    };
    let mut side = session(app, "FIX.4.4", Role::Acceptor, |s| {
        (s.limits.outbound_buffer_size, s.limits.max_message_size) = (16 * 1024, 8 * 1024);
    });
    orders(&mut side, 21);
    request_only(&mut side, 2, 10);
    request_only(&mut side, 8, 0);
    assert_eq!(brief(&side.take(0)), "2 3-20");
    assert_eq!(*asked.borrow(), [(2, 10), (3, 20)]);
}

#[test]
fn an_application_that_fails_on_a_request_loses_the_connection_and_nothing_else() {
    for panics in [false, true] {
        let app = App {
            resend_request: Box::new(move |_, turn| {
                order(turn, "lost")?;
                assert!(!panics, "application bug");
                Err(fixbolt_session::SendError::Application("a bad day").into())
            }),
            ..App::default()
        };
        let mut side = session(app, "FIX.4.4", Role::Acceptor, |_| {});
        orders(&mut side, 5);
        let numbers = side.numbers(0);
        request(&mut side, 1, 0);
        assert!(side.next(0).close);
        let why = if panics { "panic" } else { "a bad day" };
        let end = SessionEnd::CallbackFailed { callback: "on_resend_request", why: why.to_owned() };
        assert_eq!((side.disconnect(0), side.numbers(0)), (Some(end), numbers));
    }
}

#[test]
fn what_the_application_writes_when_it_is_asked_is_sent_first() {
    let app = App {
        resend_request: Box::new(|_, turn| order(turn, "news").map(|_| ResendAnswer::AsUsual)),
        ..App::default()
    };
    let mut side = session(app, "FIX.4.4", Role::Acceptor, |_| {});
    orders(&mut side, 4);
    assert_eq!(brief(&request(&mut side, 2, 3)), "4! 2 3");
}

#[test]
fn reports_name_the_settings() {
    for (why, text) in [
        (Unreached::BeyondRange { most: 5 }, "requested again, but more than MaxResendRange=5 at once"),
        (
            Unreached::SentBefore { times: 3 },
            "requested again, but sent again as often as MaxResends=3 allows",
        ),
    ] {
        let event = Event::Unreached { begin: SeqNum(1), end: SeqNum(7), why };
        assert_eq!(event.to_string(), format!("messages that do not reach the counterparty: 1 to 7: {text}"));
    }
}
