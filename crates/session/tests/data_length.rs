//! Messages whose BodyLength and CheckSum are right, and in which the length of a data field is
//! wrong: they are not garbled, but rejected like any other message with a wrong value.

use std::num::NonZeroU32;
use std::sync::Arc;

use fixbolt_codec::{Tag, Version};
use fixbolt_conformance::testing::{Side, kinds, message, settings};
use fixbolt_dictionary::{Action, Check, Policy, Validator, fix44};
use fixbolt_session::{
    Compatibility, Identity, LogonFault, Misbehavior, Role, SessionDictionary, SessionEnd, SessionId,
    SessionRejectCode, SessionSettings, identify,
};

const COMPATIBILITIES: [Compatibility; 3] =
    [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ];

fn policy_of(compatibility: Compatibility) -> Policy {
    match compatibility {
        Compatibility::QuickFix => Policy::quickfix(),
        Compatibility::QuickFixJ => Policy::quickfixj(),
        _ => Policy::standard(),
    }
}

fn side(role: Role, change: impl FnOnce(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", role).with(change)])
}

/// Returns a session of each role, logged on.
fn logged_on(change: impl Fn(&mut SessionSettings)) -> [Side; 2] {
    [Role::Acceptor, Role::Initiator].map(|role| {
        let mut side = side(role, &change);
        side.log_on(0, 1, "");
        side.take(0);
        assert_eq!(next_in(&side), 2, "{role:?}");
        side
    })
}

fn next_in(side: &Side) -> u64 {
    side.numbers(0).unwrap().0.0
}

/// Returns the dictionaries that a session may have, by name.
fn dictionaries() -> [(&'static str, SessionDictionary); 2] {
    let own = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
    [("none", SessionDictionary::None), ("FIX.4.4", own)]
}

/// An order, with these fields at the end of its header and of its body.
fn order(seq: u64, id: &str, header: &str, body: &str) -> String {
    format!("35=D|34={seq}|{header}11={id}|55=X|54=1|60=20260105-09:00:00|38=1|40=1|{body}")
}

/// The tag of a length field, and a part of a message in which it is wrong: too short, too long by
/// one, into CheckSum, beyond it, and beyond every number.
const WRONG: [(u32, &str); 7] = [
    (354, "354=2|355=\u{65e5}\u{672c}|"),
    (354, "354=7|355=abcdef|"),
    (354, "354=10|355=abcdef|"),
    (354, "354=500|355=abcdef|"),
    (354, "354=99999999999999999999999|355=abcdef|"),
    (354, "354=3|355=a|b=c|"),
    (354, "354=3|355=a|35=A|11=d|"),
];

#[test]
fn an_order_with_a_wrong_data_length_is_rejected_and_uses_its_number_in_every_compatibility() {
    for compatibility in COMPATIBILITIES {
        for (name, dictionary) in dictionaries() {
            for (tag, wrong) in WRONG {
                let change = |s: &mut SessionSettings| {
                    s.compatibility = compatibility;
                    s.validation.incoming = policy_of(compatibility);
                    s.dictionary = dictionary.clone();
                };
                for mut side in logged_on(change) {
                    let about = format!("{compatibility:?}, dictionary {name}, {wrong}");
                    let answer = side.say(0, &order(2, "a", "", wrong));
                    assert_eq!(kinds(&answer), "3", "{about}: {answer:?}");
                    let named = format!("|45=2|371={tag}|372=D|373=5|58=Value is incorrect");
                    assert!(answer[0].contains(&named), "{about}: {answer:?}");
                    assert_eq!(next_in(&side), 3, "{about}");
                    assert_eq!(kinds(&side.say(0, &order(3, "b", "", ""))), "8", "{about}");
                    assert_eq!(side.app.got, ["b"], "{about}");
                }
            }
        }
    }
}

#[test]
fn a_wrong_data_length_in_header_or_trailer_of_any_message_is_rejected() {
    for compatibility in COMPATIBILITIES {
        for (name, dictionary) in dictionaries() {
            let change = |s: &mut SessionSettings| {
                s.compatibility = compatibility;
                s.validation.incoming = policy_of(compatibility);
                s.dictionary = dictionary.clone();
            };
            for mut side in logged_on(change) {
                let mut seq = 2;
                for kind in ["0|", "1|112=x|", "2|7=1|16=1|", "4|123=Y|36=90|", "5|", "A|98=0|108=30|", "8|"]
                {
                    for (tag, header, trailer) in [
                        (212, "212=2|213=abcdef|", ""),
                        (90, "90=7|91=abcdef|", ""),
                        (93, "", "93=5|89=abcdef|"),
                        (93, "", "93=70|89=abcdef|"),
                    ] {
                        let (kind, rest) = kind.split_once('|').unwrap();
                        // What else an ExecutionReport lacks is not looked for before its length.
                        if kind == "8" && header.is_empty() && name != "none" {
                            continue;
                        }
                        let answer = side.say(0, &format!("35={kind}|34={seq}|{header}{rest}{trailer}"));
                        let about = format!("{compatibility:?} {name} 35={kind} {header}{trailer}");
                        assert_eq!(kinds(&answer), "3", "{about}: {answer:?}");
                        let named = format!("|45={seq}|371={tag}|372={kind}|373=5|");
                        assert!(answer[0].contains(&named), "{about}: {answer:?}");
                        seq += 1;
                        assert_eq!(next_in(&side), seq, "{about}");
                    }
                }
                // A Reject is never rejected, but its number is used.
                assert_eq!(kinds(&side.say(0, &format!("35=3|34={seq}|212=2|213=abcdef|45=1|"))), "");
                assert_eq!(next_in(&side), seq + 1);
            }
        }
    }
}

// R-REJECT-19
#[test]
fn a_message_with_a_wrong_data_length_reaches_the_application_if_the_policy_does_not_reject_it() {
    for (name, dictionary) in dictionaries() {
        for action in [Action::Warn, Action::Ignore] {
            let change = |s: &mut SessionSettings| {
                s.dictionary = dictionary.clone();
                s.validation.incoming = Policy::standard().with(Check::DataLength, action);
            };
            for mut side in logged_on(change) {
                for (seq, (tag, wrong)) in (2..).zip(&WRONG[..4]) {
                    let answer = side.say(0, &order(seq, wrong, "", wrong).replacen(wrong, "a", 1));
                    assert_eq!(kinds(&answer), "8", "{name} {action:?} {tag} {wrong}: {answer:?}");
                }
                // A rest of the data without a tag is still no field.
                let seq = next_in(&side);
                let answer = side.say(0, &order(seq, "z", "", "354=1|355=ab|cd|"));
                assert!(answer[0].contains("|371=355|") && answer[0].contains("|373=17|"), "{answer:?}");
            }
        }
        for mut side in
            logged_on(|s| (s.dictionary, s.validation.incoming) = (dictionary.clone(), Policy::tolerant()))
        {
            let answer = side.say(0, &order(2, "a", "", WRONG[0].1));
            assert_eq!(kinds(&answer), "3", "tolerant rejects it: {answer:?}");
        }
    }
}

// R-REJECT-19
#[test]
fn a_wrong_data_length_is_rejected_if_only_syntax_is_checked() {
    let syntax = [Check::TagSyntax, Check::EmptyValue, Check::DataLength];
    let policy = syntax.into_iter().fold(Policy::ignoring(), |policy, one| policy.with(one, Action::Reject));
    for (name, dictionary) in dictionaries() {
        for mut side in logged_on(|s| (s.dictionary, s.validation.incoming) = (dictionary.clone(), policy)) {
            let answer = side.say(0, &order(2, "a", "", "354=2|355=abc|"));
            assert!(answer[0].contains("|45=2|371=354|372=D|373=5|"), "{name}: {answer:?}");
            assert_eq!(side.app.got, [""; 0], "{name}");
            // Nothing else of an order is looked at.
            assert_eq!(kinds(&side.say(0, &order(3, "b", "", "6000=x|999=x|"))), "8", "{name}");
        }
    }
}

// R-LOGON-15
#[test]
fn a_logon_with_a_wrong_data_length_is_an_invalid_logon_for_both_roles() {
    for compatibility in COMPATIBILITIES {
        for (name, dictionary) in dictionaries() {
            for role in [Role::Acceptor, Role::Initiator] {
                for length in ["2", "7", "80"] {
                    let mut side = side(role, |s| {
                        s.compatibility = compatibility;
                        s.validation.incoming = policy_of(compatibility);
                        s.dictionary = dictionary.clone();
                    });
                    let sent = side.log_on(0, 1, &format!("95={length}|96=abcdef|"));
                    let about = format!("{compatibility:?} {name} {role:?} {length}: {sent:?}");
                    let ours = if role == Role::Initiator { "A" } else { "" };
                    let expected = if compatibility == Compatibility::QuickFixJ {
                        assert!(
                            sent.concat().contains("58=Invalid Logon message: Value is incorrect"),
                            "{about}"
                        );
                        assert!(sent.concat().contains(", field=95|"), "{about}");
                        "5"
                    } else {
                        assert!(sent.concat().contains("|45=1|371=95|372=A|373=5|"), "{about}");
                        "35"
                    };
                    assert_eq!(kinds(&sent), [ours, expected].concat(), "{about}");
                    assert!(side.next(0).close);
                    let end = side.disconnect(0);
                    let reason = SessionRejectCode::VALUE_IS_INCORRECT;
                    let fault = LogonFault::Field { reason, tag: Some(Tag::new(95)) };
                    let misbehavior = Misbehavior::InvalidLogon(fault);
                    assert_eq!(end, Some(SessionEnd::PeerMisbehaved(misbehavior)), "{about}");
                    assert_eq!(next_in(&side), 1, "a refused Logon uses no number");
                }
            }
        }
    }
    let logon = "35=A|34=1|49=PEER|56=US|52=20260105-09:00:00|98=0|108=30|95=2|96=abcdef|";
    let id = SessionId::new(Version::Fix44, "US", "PEER").unwrap();
    assert_eq!(identify(&message("FIX.4.4", logon)), Identity::Logon(id));
}

// R-CHECK-9
#[test]
fn a_message_after_a_gap_with_a_wrong_data_length_waits_and_is_rejected_when_it_is_due() {
    for mut side in logged_on(|_| {}) {
        assert_eq!(kinds(&side.say(0, &order(3, "b", "", WRONG[0].1))), "2");
        assert_eq!(kinds(&side.say(0, &order(2, "a", "43=Y|122=20260105-00:00:00|", ""))), "83");
        assert_eq!((side.app.got.as_slice(), next_in(&side)), (&["a".to_owned()][..], 4));
    }
}

/// Each is shorter than any field that is right, and there are more than a session has memory for.
#[test]
fn a_message_of_empty_fields_is_not_garbled_either() {
    for mut side in logged_on(|s| s.limits.max_garbled_messages = NonZeroU32::new(1)) {
        let answer = side.say(0, &order(2, "a", "", &"|".repeat(20_000)));
        assert!(answer[0].contains("|45=2|371=40|372=D|373=17|"), "{answer:?}");
        let answer = side.say(0, &order(3, "b", "", &"=|".repeat(20_000)));
        assert!(
            answer[0].contains("|45=3|371=|372=D|373=0|") || answer[0].contains("|45=3|372=D|373=0|"),
            "{answer:?}"
        );
        assert_eq!(kinds(&side.say(0, &order(4, "c", "", ""))), "8");
        assert_eq!(next_in(&side), 5);
    }
}
