//! Over FIXT.1.1 each message is validated against its own application version.

use std::sync::Arc;

use fixbolt_codec::Message;
use fixbolt_dictionary::sample::{Samples, framed};
use fixbolt_dictionary::{
    Action, ApplicationVersion, ApplicationVersions, Check, DictionarySet, Direction, Policy, RefTag,
    Scratch, SessionRejectCode, Validator, Violation, fix44, fix50, fixt11,
};

use crate::with_message;

/// Returns a set with FIX.5.0 as default, and FIX.4.4 for messages that name it.
fn versions() -> ApplicationVersions<Arc<Validator>> {
    let set = DictionarySet::new(fixt11().clone()).expect("it has a header");
    let set = set.with(ApplicationVersion::new("7"), fix50()).expect("it fits its transport");
    let set = set.with(ApplicationVersion::new("6"), fix44()).expect("it fits its transport");
    set.with_default(ApplicationVersion::new("7")).expect("it was added").validators()
}

const REST: &str = "49=A|56=B|34=2|52=20261121-09:00:00|";

/// Calls `look` with the message of these fields, written with `|`.
fn with<R>(fields: &str, look: impl FnOnce(&Message<'_>) -> R) -> R {
    let bytes = framed("FIXT.1.1", fields.replace('|', "\x01").as_bytes());
    with_message(&bytes, &[], look).expect("it is not garbled")
}

fn first(fields: &str, policy: &Policy, scratch: &mut Scratch) -> Option<(Check, u16, u32, Option<usize>)> {
    let told = |violation: Violation<'_>| {
        let RefTag::Number(tag) = violation.tag else { panic!("it is a number") };
        (violation.check, violation.reason.value(), tag, violation.position)
    };
    with(fields, |message| versions().first_reject(message, Direction::Inbound, policy, scratch).map(told))
}

#[test]
fn a_message_is_validated_against_the_version_that_it_names_or_the_default() {
    let (standard, mut scratch) = (Policy::standard(), versions().scratch());
    // 1080 came with FIX.5.0.
    let order = |version: &str| {
        format!("35=D|{version}{REST}11=ID|55=IBM|54=1|60=20261121-09:00:00|38=100|40=2|44=57.00|1080=R|")
    };
    assert_eq!(first(&order(""), &standard, &mut scratch), None);
    assert_eq!(first(&order("1128=7|"), &standard, &mut scratch), None);
    assert_eq!(
        first(&order("1128=6|"), &standard, &mut scratch),
        Some((Check::UnknownTag, 0, 1080, Some(15)))
    );
}

#[test]
fn the_session_layer_is_the_transport_s() {
    let (standard, mut scratch) = (Policy::standard(), versions().scratch());
    let logon = format!("35=A|{REST}98=0|108=30|1137=7|");
    assert_eq!(first(&logon, &standard, &mut scratch), None);
    let logon = format!("35=A|{REST}98=0|108=30|");
    assert_eq!(first(&logon, &standard, &mut scratch), Some((Check::RequiredField, 1, 1137, None)));
    // An application field does not belong there.
    let heartbeat = format!("35=0|{REST}11=x|");
    let found = first(&heartbeat, &standard, &mut scratch).expect("11 is none of the transport's");
    assert_eq!((found.1, found.2), (0, 11));
}

#[test]
fn an_unsupported_version_is_rejected_warned_about_or_ignored() {
    let mut scratch = versions().scratch();
    let check = Check::ApplicationVersion;
    let (strange, reason) =
        (format!("35=D|1128=2|{REST}"), SessionRejectCode::INVALID_UNSUPPORTED_APPLICATION_VERSION);
    let expected = Some((check, reason.value(), 1128, Some(3)));
    assert_eq!(first(&strange, &Policy::standard(), &mut scratch), expected);
    for action in [Action::Reject, Action::Warn, Action::Ignore] {
        let policy = Policy::standard().with(check, action);
        let mut found = Vec::new();
        with(&strange, |message| {
            versions().for_each(message, Direction::Inbound, &policy, &mut scratch, |violation| {
                found.push((violation.check, violation.action));
                std::ops::ControlFlow::Continue(())
            });
        });
        let told = if action == Action::Ignore { vec![] } else { vec![(check, action)] };
        assert_eq!(found, told);
        let rejected = first(&strange, &policy, &mut scratch);
        assert_eq!(rejected, expected.filter(|_| action == Action::Reject));
    }
}

#[test]
fn samples_of_every_version_pass_with_one_scratch() {
    let (versions, mut scratch) = (versions(), versions().scratch());
    for application in [fix44(), fix50()] {
        let whole = application.over(fixt11()).expect("it fits its transport");
        let (samples, pairs) = (Samples::new(&whole, 0), whole.length_data_pairs());
        for message in whole.messages().iter().filter(|message| !message.is_admin()) {
            let sample = samples.full(message);
            // A custom version would be another one.
            let fields = sample.fields().iter().filter(|field| field.tag != 1129);
            let mut body = Vec::new();
            fields.for_each(|field| field.write_to(&mut body));
            let bytes = framed("FIXT.1.1", &body);
            let found = with_message(&bytes, &pairs, |message| {
                let first =
                    versions.first_reject(message, Direction::Inbound, &Policy::standard(), &mut scratch);
                first.map(|violation| format!("{violation:?}"))
            });
            assert_eq!(found, Ok(None), "{} of {}", message.name, whole.version().name);
        }
    }
}

#[test]
fn a_set_is_a_transport_with_its_application_versions() {
    let set = DictionarySet::shipped().expect("they fit");
    assert_eq!(set.transport(), fixt11());
    let ids: Vec<String> = set
        .applications()
        .map(|(version, dictionary)| {
            assert_eq!(dictionary.version().begin_string, "FIXT.1.1");
            assert_eq!(dictionary.header().len(), set.transport().header().len());
            String::from_utf8_lossy(version.appl_ver_id).into_owned()
        })
        .collect();
    assert_eq!(ids, ["2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    assert!(DictionarySet::new(fix50().clone()).is_err(), "it has no header");
    assert!(set.clone().with_default(ApplicationVersion::new("11")).is_err());

    // A message's version finds its dictionary.
    let name = |fields: &str| {
        let chosen = |message: &Message<'_>| {
            let chosen = set.dictionaries().choose(message, Direction::Inbound);
            chosen.map(|chosen| chosen.value.version().name.clone()).ok()
        };
        with(fields, chosen)
    };
    assert_eq!(name(&format!("35=D|1128=7|{REST}")).as_deref(), Some("FIX.5.0"));
    assert_eq!(name(&format!("35=0|{REST}")).as_deref(), Some("FIXT.1.1"));
    assert_eq!(name(&format!("35=D|{REST}")), None);
}
