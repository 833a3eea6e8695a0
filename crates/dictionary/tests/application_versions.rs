//! The application version of a message over FIXT.1.1: session rules section 13.

use fixbolt_codec::{Frame, Framer, Index, Message, Span, byte_sum};
use fixbolt_dictionary::{
    ApplicationVersion, ApplicationVersions, Direction, SessionRejectCode, UnsupportedApplicationVersion,
};

fn with<R>(fields: &str, look: impl FnOnce(&Message<'_>) -> R) -> R {
    let fields = fields.replace('|', "\x01");
    let mut bytes = format!("8=FIXT.1.1\x019={}\x01{fields}", fields.len()).into_bytes();
    let sum = byte_sum(&bytes);
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    let Frame::Message(framed) = Framer::new(1 << 16).next(&bytes) else { panic!("it is whole") };
    let (mut tags, mut spans) = (vec![0; 256], vec![Span::default(); 256]);
    look(&Index::new(&mut tags, &mut spans).build(framed).expect("it is short"))
}

type Versions = ApplicationVersions<&'static str>;

fn versions() -> Versions {
    ApplicationVersions::new("FIXT.1.1")
        .with(ApplicationVersion::new("9"), "FIX.5.0SP2")
        .with(ApplicationVersion::new("6"), "FIX.4.4")
        .with(ApplicationVersion::new("9").extended("269"), "EP269")
        .with(ApplicationVersion::new("9").custom("VENUE"), "venue")
}

fn inbound(versions: &Versions, fields: &str) -> Result<&'static str, u32> {
    chosen(versions, fields, Direction::Inbound)
}

fn chosen(versions: &Versions, fields: &str, direction: Direction) -> Result<&'static str, u32> {
    with(fields, |message| {
        versions.choose(message, direction).map(|chosen| *chosen.value).map_err(|error| error.ref_tag)
    })
}

fn logon(versions: &mut Versions, fields: &str, direction: Direction) -> Result<(), u32> {
    let fields = format!("35=A|98=0|108=30|{fields}");
    with(&fields, |message| versions.read_logon(message, direction).map_err(|error| error.ref_tag))
}

#[test]
fn a_message_names_its_own_version() {
    let versions = versions();
    for (fields, found) in [
        ("35=D|1128=9|", Ok("FIX.5.0SP2")),
        ("35=D|49=A|1128=6|", Ok("FIX.4.4")),
        ("35=D|1128=9|1156=269|", Ok("EP269")),
        ("35=D|1128=9|1129=VENUE|", Ok("venue")),
        // An extension pack that was not added is treated as the version it extends; a custom
        // version that was not added cannot be read.
        ("35=D|1128=9|1156=12|", Ok("FIX.5.0SP2")),
        ("35=D|1128=9|1156=12|1129=VENUE|", Ok("venue")),
        ("35=D|1128=9|1129=ELSE|", Err(1128)),
        ("35=D|1128=7|", Err(1128)),
        ("35=D|1128=|", Err(1128)),
        ("35=D|", Err(1137)),
    ] {
        assert_eq!(inbound(&versions, fields), found, "{fields}");
    }
}

#[test]
fn the_session_layer_is_the_transports_whatever_it_names() {
    let versions = versions();
    for msg_type in ["0", "1", "2", "3", "4", "5", "A"] {
        assert_eq!(inbound(&versions, &format!("35={msg_type}|1128=7|")), Ok("FIXT.1.1"));
    }
    assert_eq!(inbound(&versions, "35=n|1128=6|"), Ok("FIX.4.4"));
    assert_eq!(*versions.transport(), "FIXT.1.1");
}

#[test]
fn each_senders_logon_sets_the_default_for_its_messages() {
    let mut versions = versions().with_default(ApplicationVersion::new("6")).expect("it was added");
    assert_eq!(inbound(&versions, "35=D|"), Ok("FIX.4.4"));
    assert_eq!(logon(&mut versions, "1137=9|", Direction::Inbound), Ok(()));
    assert_eq!(inbound(&versions, "35=D|"), Ok("FIX.5.0SP2"));
    assert_eq!(chosen(&versions, "35=D|", Direction::Outbound), Ok("FIX.4.4"));
    assert_eq!(logon(&mut versions, "1137=9|1407=269|", Direction::Outbound), Ok(()));
    assert_eq!(chosen(&versions, "35=D|", Direction::Outbound), Ok("EP269"));
    assert_eq!(logon(&mut versions, "1137=9|1408=VENUE|", Direction::Inbound), Ok(()));
    assert_eq!(inbound(&versions, "35=D|"), Ok("venue"));
    assert_eq!(inbound(&versions, "35=D|1128=6|"), Ok("FIX.4.4"));
    versions.forget_logons();
    assert_eq!(inbound(&versions, "35=D|"), Ok("FIX.4.4"));
}

#[test]
fn a_default_that_is_not_supported_is_an_error_and_changes_nothing() {
    let mut versions = versions();
    assert_eq!(logon(&mut versions, "1137=9|384=1|372=D|1130=6|", Direction::Inbound), Ok(()));
    assert_eq!(logon(&mut versions, "1137=7|", Direction::Inbound), Err(1137));
    assert_eq!(inbound(&versions, "35=8|"), Ok("FIX.5.0SP2"));
    assert_eq!(inbound(&versions, "35=D|"), Ok("FIX.4.4"));
    let unknown = self::versions().with_default(ApplicationVersion::new("8")).expect_err("8 was not added");
    assert_eq!(unknown.reason(), SessionRejectCode::INVALID_UNSUPPORTED_APPLICATION_VERSION);
    assert_eq!(unknown.to_string(), "the application version in field 1137 is not supported");
}

#[test]
fn an_entry_of_the_logon_sets_the_version_of_a_message_type_in_its_direction() {
    let mut versions = versions();
    let entries = "1137=9|384=4|372=D|385=S|1130=6|372=8|385=R|1130=6|372=F|1130=6|372=G|385=S|1130=7|95=1|";
    assert_eq!(logon(&mut versions, entries, Direction::Inbound), Ok(()));
    let outbound = |versions: &Versions, msg_type: &str| {
        chosen(versions, &format!("35={msg_type}|"), Direction::Outbound)
    };
    // The counterparty sends D and F, and receives 8 and F, in FIX.4.4.
    assert_eq!(inbound(&versions, "35=D|"), Ok("FIX.4.4"));
    assert_eq!(inbound(&versions, "35=8|"), Ok("FIX.5.0SP2"));
    assert_eq!(inbound(&versions, "35=F|"), Ok("FIX.4.4"));
    assert_eq!(inbound(&versions, "35=G|"), Err(1130));
    assert_eq!(inbound(&versions, "35=G|1128=9|"), Ok("FIX.5.0SP2"));
    assert_eq!(outbound(&versions, "8"), Ok("FIX.4.4"));
    assert_eq!(outbound(&versions, "F"), Ok("FIX.4.4"));
    assert_eq!(outbound(&versions, "D"), Err(1137));
    // Our own entry for our messages takes precedence over the counterparty's.
    assert_eq!(logon(&mut versions, "1137=9|384=1|372=8|385=S|1130=9|", Direction::Outbound), Ok(()));
    assert_eq!(outbound(&versions, "8"), Ok("FIX.5.0SP2"));
    assert_eq!(outbound(&versions, "F"), Ok("FIX.4.4"));
    assert_eq!(outbound(&versions, "D"), Ok("FIX.5.0SP2"));
}

#[test]
fn of_several_entries_for_a_type_the_marked_one_is_the_default() {
    let mut versions = versions();
    let entries =
        "1137=9|384=4|372=D|1130=9|1410=N|372=D|1130=6|1410=Y|372=8|1130=6|372=8|1130=9|1131=VENUE|";
    assert_eq!(logon(&mut versions, entries, Direction::Inbound), Ok(()));
    assert_eq!(inbound(&versions, "35=D|"), Ok("FIX.4.4"));
    assert_eq!(inbound(&versions, "35=8|"), Ok("FIX.5.0SP2"));
    // An entry without a version says that the type is supported, but not in which version.
    assert_eq!(logon(&mut versions, "1137=9|384=1|372=D|385=S|", Direction::Inbound), Ok(()));
    assert_eq!(inbound(&versions, "35=D|"), Ok("FIX.5.0SP2"));
}

#[test]
fn the_chosen_version_says_whether_the_message_relied_on_a_default() {
    let mut versions = versions();
    assert_eq!(logon(&mut versions, "1137=9|1407=269|", Direction::Inbound), Ok(()));
    with("35=D|", |message| {
        let chosen = versions.choose(message, Direction::Inbound).expect("there is a default");
        assert!(chosen.by_default);
        assert_eq!(chosen.version, Some(ApplicationVersion::new("9").extended("269")));
    });
    with("35=D|1128=6|", |message| {
        let chosen = versions.choose(message, Direction::Inbound).expect("FIX.4.4 was added");
        assert_eq!((chosen.by_default, chosen.version), (false, Some(ApplicationVersion::new("6"))));
    });
    with("35=0|", |message| {
        let chosen = versions.choose(message, Direction::Inbound).expect("the transport is always there");
        assert_eq!((chosen.by_default, chosen.version), (false, None));
    });
}

#[test]
fn a_version_added_again_replaces_what_was_added_for_it() {
    let versions = versions().with(ApplicationVersion::new("6"), "another FIX.4.4");
    assert_eq!(inbound(&versions, "35=D|1128=6|"), Ok("another FIX.4.4"));
    let error: Result<_, UnsupportedApplicationVersion> = versions.with_default(ApplicationVersion::new("5"));
    assert!(error.is_err());
}
