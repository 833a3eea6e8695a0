//! Sessions of FIXT.1.1: the application version of each message, and what is done with it.

use std::sync::Arc;
use std::sync::OnceLock;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{Body, BodySink, DataKey, Key, MsgType, NewBody, Tag, Version, byte_sum};
use fixbolt_conformance::testing::{Side, kinds};
use fixbolt_dictionary::{
    Action, ApplicationVersion, Check, DictionarySet, Policy, SessionRejectCode, Validator, fix_latest,
    fix44, fix50, fix50sp1, fix50sp2, fixt11,
};
use fixbolt_session::runtime::posted;
use fixbolt_session::{
    Compatibility, FixtDictionaries, LogonFault, Misbehavior, OpenError, Phase, Role, SendError,
    SessionDictionary, SessionEnd, SessionId, SessionSettings,
};

/// FIX.5.0SP2, FIX.5.0SP1 and FIX.4.4 over FIXT.1.1.
fn dictionaries() -> SessionDictionary {
    static READ: OnceLock<Arc<FixtDictionaries>> = OnceLock::new();
    let read = || {
        let set = DictionarySet::new(fixt11().clone()).unwrap();
        let set = set.with(ApplicationVersion::new("9"), fix50sp2()).unwrap();
        let set = set.with(ApplicationVersion::new("8"), fix50sp1()).unwrap();
        let set = set.with(ApplicationVersion::new("6"), fix44()).unwrap();
        Arc::new(FixtDictionaries::new(set.validators()))
    };
    SessionDictionary::Fixt(Arc::clone(READ.get_or_init(read)))
}

fn settings(role: Role) -> SessionSettings {
    let id = SessionId::new(Version::Fixt11, "US", "PEER").unwrap();
    SessionSettings::new(id, role).with(|s| {
        s.default_appl_ver_id = Some(Version::Fix50Sp2);
        s.dictionary = dictionaries();
    })
}

fn side(change: impl FnOnce(&mut SessionSettings)) -> Side {
    Side::new(vec![settings(Role::Acceptor).with(change)])
}

/// Logs on with these fields and returns the answers.
fn log_on(side: &mut Side, more: &str) -> Vec<String> {
    side.log_on(0, 1, more)
}

/// Returns an order with these fields. DisplayQty (1138) came with FIX.5.0.
fn order(side: &Side, seq: u64, header: &str, more: &str) -> String {
    let time = side.time();
    format!("35=D|34={seq}|{header}11=x|55=IBM|54=1|60={time}|38=100|40=1|{more}")
}

// R-FIXT-6
#[test]
fn both_logons_name_the_default_version() {
    let mut acceptor = side(|_| {});
    let out = log_on(&mut acceptor, "1137=9|");
    assert!(kinds(&out) == "A" && out[0].contains("|1137=9|"), "{out:?}");
    let settings = settings(Role::Initiator).with(|s| s.default_appl_ver_id = Some(Version::Fix50Sp1));
    let mut initiator = Side::new(vec![settings]);
    initiator.connect(0);
    let out = initiator.take(0);
    assert!(
        kinds(&out) == "A" && out[0].contains("|1137=8|") && out[0].starts_with("8=FIXT.1.1|"),
        "{out:?}"
    );
    // The counterparty's may be another one.
    assert_eq!(kinds(&initiator.say(0, "35=A|34=1|98=0|108=30|1137=9|")), "");
    assert_eq!(initiator.phase(0), Phase::LoggedOn);
}

// R-FIXT-2
#[test]
fn a_logon_without_a_default_version_or_with_one_that_has_no_dictionary_is_refused() {
    let mut missing = side(|_| {});
    let out = log_on(&mut missing, "");
    assert_eq!(kinds(&out), "35", "{out:?}");
    assert!(
        out[0].contains("|371=1137|372=A|373=1|") && out[1].contains("DefaultApplVerID (1137) is missing")
    );
    let invalid = |fault| Some(SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(fault)));
    let reason = SessionRejectCode::REQUIRED_TAG_MISSING;
    let absent = LogonFault::Field { reason, tag: Some(Tag::new(1137)) };
    assert_eq!(missing.disconnect(0), invalid(absent));
    let mut unsupported = side(|_| {});
    let out = log_on(&mut unsupported, "1137=7|");
    assert_eq!(kinds(&out), "35", "{out:?}");
    assert!(out[0].contains("|371=1137|372=A|373=18|"), "{out:?}");
    assert_eq!(unsupported.disconnect(0), invalid(LogonFault::DefaultApplVerId));
    let mut custom = side(|_| {});
    assert_eq!(kinds(&log_on(&mut custom, "1137=9|1408=VENUE|")), "35");
    let mut extended = side(|_| {});
    assert_eq!(kinds(&log_on(&mut extended, "1137=9|1407=269|")), "A");
    for (compatibility, answer) in [(Compatibility::QuickFix, ""), (Compatibility::QuickFixJ, "5")] {
        let mut side = side(|s| s.compatibility = compatibility);
        assert_eq!(kinds(&log_on(&mut side, "")), answer, "{compatibility:?}");
    }
    // Without dictionaries there is nothing that could be missing.
    let mut unchecked = side(|s| s.dictionary = SessionDictionary::None);
    assert_eq!(kinds(&log_on(&mut unchecked, "1137=7|")), "A");
    assert_eq!(kinds(&unchecked.say(0, "35=D|34=2|11=x|")), "8");
    assert_eq!(kinds(&unchecked.say(0, "35=D|34=3|1128=4|11=x|")), "8");
    assert_eq!(unchecked.app.versions, [Version::Fix50, Version::Fix42]);
    // Of a default that is not known nothing is guessed.
    for unknown in ["1137=77|", "1137=9|1408=VENUE|"] {
        let mut side = side(|s| s.dictionary = SessionDictionary::None);
        assert_eq!(kinds(&log_on(&mut side, unknown)), "A");
        assert_eq!(kinds(&side.say(0, "35=D|34=2|11=x|")), "8");
        assert_eq!(kinds(&side.say(0, "35=D|34=3|1128=4|11=x|")), "8");
        assert_eq!((side.app.got.len(), &*side.app.versions), (2, &[Version::Fix42][..]));
    }
}

// R-FIXT-3
#[test]
fn each_message_is_checked_against_the_dictionary_of_its_own_version() {
    let mut side = side(|_| {});
    log_on(&mut side, "1137=9|");
    let display = "1138=10|";
    for (seq, header, more, answer) in [
        (2, "", display, "8"),
        (3, "1128=6|", display, "3"),
        (4, "1128=6|", "", "8"),
        (5, "1128=8|", display, "8"),
        (6, "1128=7|", "", "3"),
        (7, "1128=9|1129=VENUE|", "", "3"),
        (8, "1128=9|1156=269|", display, "8"),
    ] {
        let order = order(&side, seq, header, more);
        let out = side.say(0, &order);
        assert_eq!(kinds(&out), answer, "{order}: {out:?}");
        if matches!(seq, 6 | 7) {
            assert!(out[0].contains("|371=1128|372=D|373=18|"), "{out:?}");
            assert!(out[0].contains("|58=Invalid or unsupported application version|"), "{out:?}");
        }
    }
    assert_eq!(side.app.versions, [Version::Fix50Sp2, Version::Fix44, Version::Fix50Sp1, Version::Fix50Sp2]);
    // Session messages are those of the transport, whatever they say.
    assert_eq!(kinds(&side.say(0, "35=1|34=9|1128=7|112=x|")), "0");
}

#[test]
fn messages_that_are_checked_as_fix_latest_are_of_it_whatever_they_name() {
    for (dictionary, id, version) in [
        (fix_latest(), Version::Fix50Sp2, Version::FixLatest),
        (fix_latest(), Version::FixLatest, Version::FixLatest),
        (fix50sp2(), Version::Fix50Sp2, Version::Fix50Sp2),
        // Many files of a service pack do not say that they are.
        (fix50(), Version::Fix50Sp2, Version::Fix50Sp2),
    ] {
        let number = id.appl_ver_id().unwrap();
        let set = DictionarySet::new(fixt11().clone()).unwrap();
        let set = set.with(ApplicationVersion::new(number), dictionary).unwrap();
        let mut side = side(|s| {
            s.default_appl_ver_id = Some(id);
            s.dictionary = SessionDictionary::Fixt(Arc::new(FixtDictionaries::new(set.validators())));
        });
        log_on(&mut side, &format!("1137={number}|"));
        for (seq, header) in [(2, String::new()), (3, format!("1128={number}|"))] {
            assert_eq!(kinds(&side.say(0, &order(&side, seq, &header, ""))), "8");
        }
        assert_eq!(side.app.versions, [version; 2], "{number}");
        // A reject names the version as the session does.
        let out = side.say(0, &order(&side, 4, "", "4999=x|"));
        assert!(out[0].contains(&format!("|372=D|1130={number}|373=0|")), "{out:?}");
    }
}

// R-FIXT-3
#[test]
fn a_logon_sets_the_version_of_a_message_type_and_the_next_connection_forgets_it() {
    let mut side = side(|_| {});
    log_on(&mut side, "384=2|372=D|385=S|1130=6|372=F|385=S|1130=7|1137=9|");
    let out = side.say(0, &order(&side, 2, "", "1138=10|"));
    assert_eq!(kinds(&out), "3", "{out:?}");
    assert!(out[0].contains("|1130=6|"), "it was read as FIX.4.4: {out:?}");
    assert_eq!(kinds(&side.say(0, &order(&side, 3, "1128=9|", "1138=10|"))), "8");
    let time = side.time();
    let out = side.say(0, &format!("35=F|34=4|41=x|11=y|55=IBM|54=1|60={time}|38=1|"));
    assert!(out[0].contains("|371=1130|372=F|373=18|"), "{out:?}");
    side.disconnect(0);
    side.log_on(0, 5, "1137=9|");
    assert_eq!(kinds(&side.say(0, &order(&side, 6, "", "1138=10|"))), "8");
}

// R-FIXT-5
#[test]
fn a_reject_says_as_which_version_a_message_was_read_that_did_not_name_it() {
    let rejected = |change: fn(&mut SessionSettings), header: &str| {
        let mut side = side(change);
        log_on(&mut side, "1137=8|");
        let out = side.say(0, &order(&side, 2, header, "4999=x|"));
        assert_eq!(kinds(&out), "3");
        out[0].clone()
    };
    assert!(rejected(|_| {}, "").contains("|372=D|1130=8|373=0|"));
    assert!(!rejected(|_| {}, "1128=8|").contains("|1130="));
    assert!(!rejected(|s| s.compatibility = Compatibility::QuickFix, "").contains("|1130="));
    let business = |change: fn(&mut SessionSettings)| {
        let mut side = side(change);
        side.app.mood = fixbolt_conformance::testing::Mood::Unsupported;
        log_on(&mut side, "1137=9|");
        let out = side.say(0, &order(&side, 2, "", ""));
        assert_eq!(kinds(&out), "j");
        out[0].clone()
    };
    assert!(business(|_| {}).contains("|372=D|1130=9|380=3|"));
    assert!(business(|s| s.compatibility = Compatibility::QuickFix).contains("|1137=9|"));
    assert!(!business(|s| s.compatibility = Compatibility::QuickFixJ).contains("|1137="));
}

#[test]
fn an_unsupported_version_is_only_warned_of_if_the_policy_says_so() {
    let mut side =
        side(|s| s.validation.incoming = s.validation.incoming.with(Check::ApplicationVersion, Action::Warn));
    log_on(&mut side, "1137=9|");
    assert_eq!(kinds(&side.say(0, &order(&side, 2, "1128=7|", ""))), "8");
}

// R-FIXT-6
#[test]
fn a_message_of_another_version_names_it_when_it_is_sent_and_when_it_is_sent_again() {
    let mut side = side(|s| s.validation.outgoing = Some(Policy::standard()));
    log_on(&mut side, "1137=9|");
    let time = side.time();
    let send = |side: &mut Side, version: Option<Version>, display: bool| {
        side.act(0, |turn| {
            let to = turn.session();
            let to = version.into_iter().fold(to, |to, version| to.with_version(version));
            let mut draft = to.draft(MsgType::new(b"D"));
            let body = draft.writer();
            body.bytes(Key::new(11), b"x").bytes(Key::new(55), b"IBM").bytes(Key::new(54), b"1");
            body.bytes(Key::new(60), time.as_bytes()).bytes(Key::new(38), b"1").bytes(Key::new(40), b"1");
            if display {
                body.bytes(Key::new(1138), b"1");
            }
            draft.send()
        })
    };
    send(&mut side, None, true).unwrap();
    send(&mut side, Some(Version::Fix44), false).unwrap();
    let refused = send(&mut side, Some(Version::Fix44), true).unwrap_err();
    assert!(matches!(refused, SendError::Invalid { tag: 1138, .. }), "{refused}");
    let refused = send(&mut side, Some(Version::Fix42), false).unwrap_err();
    let reason = SessionRejectCode::INVALID_UNSUPPORTED_APPLICATION_VERSION;
    assert_eq!(
        refused,
        SendError::Invalid { check: Check::ApplicationVersion, reason, tag: 1128, order: None }
    );
    let out = side.take(0);
    assert_eq!(kinds(&out), "DD");
    assert!(!out[0].contains("|1128=") && out[1].contains("|1128=6|11=x|"), "{out:?}");
    let again = side.say(0, "35=2|34=2|7=2|16=0|");
    assert!(!again[0].contains("|1128=") && again[1].contains("|43=Y|"), "{again:?}");
    assert!(again[1].contains("|1128=6|11=x|"), "{again:?}");
}

#[test]
fn settings_whose_versions_do_not_fit_open_no_session() {
    let refused = |change: &dyn Fn(&mut SessionSettings)| {
        let settings = settings(Role::Acceptor).with(|s| change(s));
        match Side::new(vec![]).open(settings) {
            Err(OpenError::Setting(wrong)) => wrong.reason(),
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(&|s| s.default_appl_ver_id = None).contains("default_appl_ver_id"));
    assert!(refused(&|s| s.default_appl_ver_id = Some(Version::Fixt11)).contains("default_appl_ver_id"));
    assert!(refused(&|s| s.default_appl_ver_id = Some(Version::Fix42)).contains("no dictionary"));
    let own = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
    assert!(refused(&|s| s.dictionary = own.clone()).contains("SessionDictionary::Fixt"));
    let id = SessionId::new(Version::Fix44, "US", "PEER").unwrap();
    assert!(refused(&|s| s.id = id.clone()).contains("only a session of FIXT.1.1"));
}

// R-FIXT-6
#[test]
fn a_counterparty_that_reads_a_type_as_another_version_is_told_which_one_it_has() {
    for entry in ["1130=6", "1130=7"] {
        let mut side = side(|s| {
            s.validation.outgoing = Some(Policy::standard().with(Check::RequiredField, Action::Ignore))
        });
        log_on(&mut side, &format!("384=2|372=8|385=R|{entry}|372=D|385=R|1130=9|1137=9|"));
        let out = side.say(0, &order(&side, 2, "", ""));
        assert!(kinds(&out) == "8" && out[0].contains("|1128=9|"), "{entry}: {out:?}");
        let again = side.say(0, "35=2|34=3|7=2|16=0|");
        assert!(again[0].matches("|1128=9|").count() == 1 && again[0].contains("|43=Y|"), "{again:?}");
        side.send(0, "x", 1).unwrap();
        let out = side.take(0);
        assert!(kinds(&out) == "D" && !out[0].contains("|1128="), "{out:?}");
    }
}

// R-FIXT-6
#[test]
fn a_body_that_names_its_version_has_it_once_where_the_session_would_name_it_too() {
    let order = MsgType::new(b"D");
    for (fields, header) in [
        ("1128=6|11=x|", "1128=6|"),
        ("1128=9|11=x|", "1128=9|"),
        ("115=A|1128=6|11=x|", "115=A|1128=6|"),
        ("115=A|11=x|", "1128=9|115=A|"),
        // In data of the header, and not in the header.
        ("212=8|213=a|1128=6|11=x|", "1128=9|212=8|213=a|1128=6|"),
    ] {
        let mut side = side(|_| {});
        log_on(&mut side, "384=1|372=D|385=R|1130=6|1137=9|");
        let bytes = fields.replace('|', "\x01").into_bytes();
        // As a copy, and field by field.
        side.act(0, |turn| {
            let mut draft = turn.session().posted_as(posted(1), true).draft(order);
            let body = Body { msg_type: order, bytes: &bytes, sum: byte_sum(&bytes) };
            draft.writer().raw().body(&body);
            draft.send()
        })
        .unwrap();
        side.act(0, |turn| {
            let mut draft = turn.session().draft(order);
            for field in fields.replace("213=a|", "213=a\x01").trim_end_matches('|').split('|') {
                match field.split_once('=').unwrap() {
                    ("212", _) => {}
                    ("213", data) => _ = draft.writer().data(DataKey::new(212, 213), data.as_bytes()),
                    (tag, value) => {
                        _ = draft.writer().bytes(Key::new(tag.parse().unwrap()), value.as_bytes())
                    }
                }
            }
            draft.send()
        })
        .unwrap();
        let out = side.take(0);
        assert_eq!(out.len(), 2);
        for message in out {
            let expected = format!("|52={}.000|{header}11=x|10=", &side.time()[..17]);
            assert!(message.contains(&expected), "{message} {expected}");
        }
    }
}

/// BodyLength and MsgSeqNum have more digits from one message to the next.
#[test]
fn a_version_that_the_session_names_is_before_a_body_of_any_length() {
    let mut side = side(|_| {});
    log_on(&mut side, "384=1|372=D|385=R|1130=6|1137=9|");
    for length in 1..1_100 {
        for version in ["", "1128=6|"] {
            let text = "x".repeat(length);
            side.act(0, |turn| {
                let mut draft = turn.session().draft(MsgType::new(b"D"));
                if !version.is_empty() {
                    draft.writer().bytes(Key::new(1128), b"6");
                }
                draft.writer().bytes(Key::new(58), text.as_bytes());
                draft.send()
            })
            .unwrap();
            let out = side.take(0);
            let named = if version.is_empty() { "1128=9|" } else { version };
            assert!(out.len() == 1 && out[0].contains(&format!("|{named}58={text}|10=")), "{out:?}");
        }
    }
}
