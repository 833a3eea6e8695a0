//! Messages of the session layer that are not valid: none acts, and none moves NextNumIn but by
//! one, for its own number if that is expected.

use std::sync::Arc;

use fixbolt_codec::Tag;
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_dictionary::{Validator, fix44};
use fixbolt_session::{
    Compatibility, LogonFault, Misbehavior, Role, SessionDictionary, SessionEnd, SessionRejectCode,
    SessionSettings,
};

fn with_dictionary(s: &mut SessionSettings) {
    s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
}

/// An acceptor that expects 2.
fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side {
    let settings = settings("PEER", Role::Acceptor).with(change);
    let mut side = Side::new(vec![settings]);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

fn next_in(side: &Side) -> u64 {
    side.numbers(0).unwrap().0.0
}

// R-SEQRESET-8
#[test]
fn a_malformed_sequence_reset_is_rejected_and_moves_only_its_own_number() {
    for (fields, reason, tag, needs_dictionary) in [
        ("36=40|123=X|", 6, 123, false),
        ("36=40|123=y|", 6, 123, false),
        ("36=40|123=|", 4, 123, false),
        ("36=40|123=N|123=N|", 13, 123, false),
        ("36=40|36=40|", 13, 36, false),
        ("36=40|36=41|", 13, 36, false),
        ("36=|", 4, 36, false),
        ("36=x|", 6, 36, false),
        ("", 1, 36, false),
        ("43=Q|36=40|", 6, 43, false),
        ("43=N|43=N|36=40|", 13, 43, false),
        ("36=40|9999=1|", 0, 9999, true),
        ("36=40|55=IBM|", 2, 55, true),
        ("36=40|115=US|", 14, 115, true),
    ] {
        for has_dictionary in [true, false] {
            if needs_dictionary && !has_dictionary {
                continue;
            }
            // A Reset is looked at whatever its own number, and uses it if it is expected.
            for (seq, after) in [(2, 3), (1, 2), (77, 2)] {
                let mut side = logged_on(|s| {
                    if has_dictionary {
                        with_dictionary(s);
                    }
                });
                let answer = side.say(0, &format!("35=4|34={seq}|{fields}"));
                assert_eq!(kinds(&answer), "3", "{fields} as message {seq}");
                let named = format!("|45={seq}|371={tag}|372=4|373={reason}|");
                assert!(answer[0].contains(&named), "{fields}: {answer:?}");
                assert_eq!(next_in(&side), after, "{fields} as message {seq}");
                assert_eq!(kinds(&side.say(0, &format!("35=1|34={after}|112=t|"))), "0");
            }
        }
    }
}

// R-SEQRESET-8
#[test]
fn a_malformed_gap_fill_is_rejected_and_moves_only_its_own_number() {
    for fields in ["36=40|123=Y|123=N|", "36=40|36=4|123=Y|", "43=Q|36=40|123=Y|"] {
        let mut side = logged_on(|_| {});
        assert_eq!(kinds(&side.say(0, &format!("35=4|34=2|{fields}"))), "3", "{fields}");
        assert_eq!(next_in(&side), 3, "{fields}");
    }
}

#[test]
fn a_logon_in_the_session_that_is_not_valid_resets_nothing_and_is_answered_as_invalid_logon_says() {
    let logon = "98=0|108=30|141=Y|";
    let all = [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ];
    for compatibility in all {
        for (fields, reason, tag) in [
            (format!("{logon}9999=1|"), 0, 9999),
            (format!("{logon}55=IBM|"), 2, 55),
            (format!("{logon}108=30|"), 13, 108),
            (format!("{logon}141=Y|"), 13, 141),
            (format!("43=Q|{logon}"), 6, 43),
        ] {
            let mut side = logged_on(|s| {
                with_dictionary(s);
                s.compatibility = compatibility;
            });
            side.say(0, "35=1|34=2|112=t|");
            let before = side.numbers(0).unwrap();
            let answer = side.say(0, &format!("35=A|34=1|{fields}"));
            if compatibility == Compatibility::QuickFixJ {
                assert_eq!(kinds(&answer), "5", "{fields}");
                assert!(answer[0].contains("|58=Invalid Logon message: "), "{answer:?}");
            } else {
                assert_eq!(kinds(&answer), "35", "{fields}");
                let named = format!("|45=1|371={tag}|372=A|373={reason}|");
                assert!(answer[0].contains(&named), "{fields}: {answer:?}");
            }
            let after = side.numbers(0).unwrap();
            assert_eq!(after.0, before.0, "{fields}");
            assert_eq!(after.1.0, before.1.0 + answer.len() as u64, "{fields}");
            let reason = SessionRejectCode::from_value(reason);
            let fault = LogonFault::Field { reason, tag: Some(Tag::new(tag)) };
            let end = SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(fault));
            assert_eq!(side.disconnect(0), Some(end));
            assert!(kinds(&side.log_on(0, 3, "")).starts_with('A'));
        }
    }
}

#[test]
fn the_answer_to_our_reset_is_checked_before_it_ends_it() {
    for fields in ["98=0|108=30|141=Y|9999=1|", "98=0|108=30|141=Y|141=N|"] {
        let mut side = logged_on(with_dictionary);
        side.reset_in_session(0, "jane: end of day").unwrap();
        side.take(0);
        assert_eq!(kinds(&side.say(0, "35=0|34=2|112=1|")), "A");
        assert_eq!(kinds(&side.say(0, &format!("35=A|34=1|{fields}"))), "35", "{fields}");
        assert_eq!(next_in(&side), 1, "{fields}");
        assert!(side.next(0).close);
    }
}

#[test]
fn a_heartbeat_that_is_not_valid_does_not_answer_the_test_request_of_a_reset() {
    let mut side = logged_on(with_dictionary);
    side.reset_in_session(0, "jane: end of day").unwrap();
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=0|34=2|112=1|9999=1|")), "3");
    assert_eq!(next_in(&side), 3);
    assert_eq!(kinds(&side.say(0, "35=0|34=3|112=1|")), "A");
}

// R-CHECK-8
#[test]
fn what_acts_ahead_of_its_turn_is_checked_before() {
    // A ResendRequest from after a gap is answered first, but not one that is not valid.
    let mut side = logged_on(with_dictionary);
    assert_eq!(kinds(&side.say(0, "35=2|34=4|7=1|16=0|9999=1|")), "2");
    assert_eq!(kinds(&side.say(0, "35=4|34=2|43=Y|123=Y|36=4|")), "3", "when its number is expected");
    assert_eq!(next_in(&side), 5);
    // Nor is a Logout answered, by what skips it, that is not valid.
    let mut side = logged_on(with_dictionary);
    assert_eq!(kinds(&side.say(0, "35=5|34=4|9999=1|")), "2");
    assert_eq!(kinds(&side.say(0, "35=4|34=2|43=Y|123=Y|36=5|")), "");
    assert_eq!(kinds(&side.say(0, "35=1|34=5|112=t|")), "0");
    for compatibility in [Compatibility::QuickFix, Compatibility::QuickFixJ] {
        let quickfix = |s: &mut SessionSettings| {
            with_dictionary(s);
            s.compatibility = compatibility;
        };
        for (seq, answer) in [(9, "2"), (1, "3")] {
            let mut side = logged_on(quickfix);
            assert_eq!(kinds(&side.say(0, &format!("35=5|34={seq}|9999=1|"))), answer);
            assert!(!side.next(0).close && next_in(&side) == 2);
        }
    }
    let mut side = logged_on(|s| {
        with_dictionary(s);
        s.compatibility = Compatibility::QuickFix;
    });
    assert_eq!(kinds(&side.say(0, "35=2|34=1|7=1|16=0|9999=1|")), "3");
    assert_eq!(next_in(&side), 2);
}

/// A row of the table in docs/conformance.md.
struct Row {
    msg_type: String,
    /// Tag, whether it is required, and what its value is.
    fields: Vec<(u32, bool, String)>,
    refusal: String,
}

fn table() -> Vec<Row> {
    let page = include_str!("../../../docs/conformance.md");
    let table = page.split_once("| MsgType | fields that it acts by |").unwrap().1;
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let rows = lines.map(|line| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let msg_type = cells[1].split_once('(').unwrap().1.trim_end_matches(')').to_owned();
        let fields = cells[2].split(", ").filter(|field| !field.is_empty()).map(|field| {
            let words: Vec<_> = field.split(' ').collect();
            let value = words.last().filter(|word| ["number", "flag"].contains(word)).copied();
            (words[0].parse().unwrap(), words.contains(&"required"), value.unwrap_or_default().to_owned())
        });
        Row { msg_type, fields: fields.collect(), refusal: cells[4].trim_matches('`').to_owned() }
    });
    rows.collect()
}

/// A valid value of each field in the table, and of the header's.
const VALUES: [(u32, &str); 15] = [
    (7, "1"),
    (16, "0"),
    (34, ""),
    (36, "40"),
    (43, "N"),
    (45, "1"),
    (98, "0"),
    (108, "30"),
    (112, "t"),
    (123, "N"),
    (141, "Y"),
    (383, "4096"),
    (464, "N"),
    (789, "1"),
    (1137, "9"),
];

// R-CHECK-8
#[test]
fn each_row_of_the_table_refuses_each_defect_and_moves_no_other_number() {
    let rows = table();
    assert_eq!(rows.iter().map(|row| row.msg_type.as_str()).collect::<String>(), "012345A");
    for row in rows {
        let is_logon = row.msg_type == "A";
        let own = if is_logon { "1" } else { "2" };
        let value = |tag| VALUES.iter().find(|(known, _)| *known == tag).unwrap().1;
        // A valid message, and its defects: what is wrong, and whether only a dictionary says so.
        let valid: Vec<(u32, String)> = std::iter::once((34, own.to_owned()))
            .chain(
                row.fields
                    .iter()
                    .filter(|(tag, required, _)| {
                        *required || matches!((row.msg_type.as_str(), tag), ("A", 98 | 108 | 141))
                    })
                    .map(|(tag, ..)| (*tag, value(*tag).to_owned())),
            )
            .chain((row.msg_type == "3").then(|| (45, "1".to_owned())))
            .collect();
        let all =
            row.fields.iter().cloned().chain([(34, true, String::new()), (43, false, "flag".to_owned())]);
        let mut defects: Vec<(Vec<(u32, String)>, bool)> = Vec::new();
        for (tag, required, kind) in all {
            let without: Vec<_> = valid.iter().filter(|field| field.0 != tag).cloned().collect();
            let with = |values: &[&str]| {
                let mut fields = without.clone();
                // Header fields come first.
                let at = if [34, 43].contains(&tag) { 0 } else { fields.len() };
                for value in values {
                    fields.insert(at, (tag, (*value).to_owned()));
                }
                fields
            };
            let good = if tag == 34 { own } else { value(tag) };
            defects.push((with(&[good, good]), false));
            if tag == 34 {
                continue;
            }
            if required {
                defects.push((without.clone(), false));
            }
            if kind == "number" {
                defects.extend(["", "x", "-1", "1.5"].map(|value| (with(&[value]), false)));
            }
            if kind == "flag" {
                defects.extend(["", "X", "y", "1"].map(|value| (with(&[value]), false)));
            }
        }
        for field in [(9999, "1"), (4999, "1"), (55, "IBM"), (115, "US")] {
            let mut fields = valid.clone();
            fields.push((field.0, field.1.to_owned()));
            if fields.len() == 2 && field.0 == 115 {
                // Nothing of the body is before it.
                fields.insert(1, (58, "text".to_owned()));
            }
            defects.push((fields, true));
        }
        for (fields, needs_dictionary) in defects {
            for has_dictionary in [true, false] {
                if needs_dictionary && !has_dictionary {
                    continue;
                }
                let mut side = logged_on(|s| {
                    if has_dictionary {
                        with_dictionary(s);
                    }
                });
                let text: String = fields.iter().map(|(tag, value)| format!("{tag}={value}|")).collect();
                let out = kinds(&side.say(0, &format!("35={}|{text}", row.msg_type)));
                let (answer, next) = match row.refusal.as_str() {
                    "Reject" => ("3", 3),
                    "Report" => ("", 3),
                    _ => ("35", 2),
                };
                // A Logon without ResetSeqNumFlag=Y does not reset, and its 1 is too low.
                let is_low = is_logon && !text.contains("|141=Y|");
                let (answer, next) = if is_low { ("5", 2) } else { (answer, next) };
                assert_eq!(out, answer, "35={}|{text} dictionary {has_dictionary}", row.msg_type);
                assert_eq!(next_in(&side), next, "35={}|{text} {has_dictionary}", row.msg_type);
                assert_eq!(side.next(0).close, is_logon, "35={}|{text}", row.msg_type);
            }
        }
    }
}
