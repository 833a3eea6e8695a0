//! SubIDs and LocationIDs as parts of a session's identity: what is sent, which Logon is accepted,
//! and what of it is checked afterwards.

use fixbolt_codec::{BodySink, EncodeErrorKind, Key, MsgType, NewBody};
use fixbolt_conformance::testing::{App, Side, kinds, order, settings_of};
use fixbolt_session::{Delivery, Identity, Role, SendError, identify};

const VENUE: &str = "FIX.4.4:US/OURS->A/DESK/NY";
/// The IDs as the session sends them, and as its counterparty does.
const SENT_IDS: &str = "|50=OURS|57=DESK|143=NY|";
const LOGON: &str = "35=A|34=1|50=DESK|142=NY|57=OURS|98=0|108=30|";

fn logged_on() -> Side<App> {
    let mut side = Side::with_app(App::default(), vec![settings_of(VENUE, Role::Acceptor)]);
    side.connect(0);
    let answer = side.say(0, LOGON);
    assert_eq!(kinds(&answer), "A", "{answer:?}");
    assert!(answer[0].contains(&format!("|34=1{SENT_IDS}52=")), "{answer:?}");
    side
}

// R-SEND-1
#[test]
fn every_message_has_the_ids_of_the_session_once_also_when_it_is_sent_again() {
    let mut side = logged_on();
    side.app.message = Box::new(|_, turn| order(turn, "o1").map(|_| Delivery::Done));
    let sent = [
        side.say(0, "35=1|34=2|112=x|"),
        side.say(0, "35=D|34=3|11=a|"),
        side.say(0, "35=2|34=4|7=1|16=0|"),
        side.say(0, "35=D|34=9|"),
        side.say(0, "35=5|34=5|"),
    ];
    let sent = sent.concat();
    assert_eq!(kinds(&sent), "0D4D25");
    for message in &sent {
        assert_eq!(message.matches(SENT_IDS).count(), 1, "{message}");
        for tag in ["|50=", "|57=", "|143="] {
            assert_eq!(message.matches(tag).count(), 1, "{message}");
        }
    }
    assert!(sent[3].contains(&format!("|34=3{SENT_IDS}43=Y|52=")), "{}", sent[3]);
}

#[test]
fn an_acceptor_refuses_a_logon_with_other_ids_than_its_own_silently() {
    for ids in [
        "",
        "50=DESK|57=OURS|",
        "50=DESK|142=LA|57=OURS|",
        "50=DESKS|142=NY|57=OURS|",
        "50=OURS|142=NY|57=DESK|",
    ] {
        let mut side = Side::with_app(App::default(), vec![settings_of(VENUE, Role::Acceptor)]);
        side.connect(0);
        let answer = side.say(0, &format!("35=A|34=1|{ids}98=0|108=30|"));
        assert_eq!(answer, [""; 0], "{ids}");
        assert!(side.next(0).close, "{ids}");
    }
}

#[test]
fn an_initiator_accepts_an_answer_without_ids() {
    let mut side = Side::with_app(App::default(), vec![settings_of(VENUE, Role::Initiator)]);
    side.connect(0);
    let logon = side.take(0);
    assert!(logon[0].contains(&format!("|34=1{SENT_IDS}52=")), "{logon:?}");
    assert_eq!(side.say(0, "35=A|34=1|98=0|108=30|"), [""; 0]);
    assert!(side.app.events.iter().any(|event| event.starts_with(VENUE)), "{:?}", side.app.events);
    assert!(!side.next(0).close);
}

// R-CHECK-7
#[test]
fn after_the_logon_a_message_may_name_another_trader() {
    let mut side = logged_on();
    let heartbeats = [
        side.say(0, "35=1|34=2|50=TRADER2|112=x|"),
        side.say(0, "35=1|34=3|57=ELSE|142=LA|143=?|112=y|"),
        side.say(0, "35=1|34=4|112=z|"),
    ];
    assert_eq!(kinds(&heartbeats.concat()), "000");
}

// R-SEND-5
#[test]
fn the_application_cannot_write_an_id_of_the_session_and_may_write_the_others() {
    let mut side = Side::with_app(App::default(), vec![settings_of("FIX.4.4:US->A/DESK", Role::Acceptor)]);
    side.connect(0);
    side.say(0, "35=A|34=1|50=DESK|98=0|108=30|");
    side.app.message = Box::new(|_, turn| {
        let ids: [(Key, &[u8]); 2] = [(Key::new(50), b"TRADER"), (Key::new(57), b"OTHER")];
        let mut draft = turn.session().with_header(&ids).draft(MsgType::new(b"B"));
        draft.writer().bytes(Key::new(58), b"57=x");
        match draft.send() {
            Err(SendError::Encode(error)) => {
                assert_eq!((error.tag.number(), error.kind), (57, EncodeErrorKind::SessionField));
            }
            other => panic!("{other:?}"),
        }
        let mut draft = turn.session().with_header(&ids[..1]).draft(MsgType::new(b"B"));
        draft.writer().bytes(Key::new(58), b"57=x");
        draft.send()?;
        Ok(Delivery::Done)
    });
    let sent = side.say(0, "35=D|34=2|11=a|");
    assert_eq!(kinds(&sent), "B");
    assert!(sent[0].contains("|34=2|57=DESK|52="), "{sent:?}");
    assert!(sent[0].contains("|50=TRADER|58=57=x|10="), "{sent:?}");
}

#[test]
fn a_logon_names_its_ids_and_is_for_the_most_specific_session() {
    let all = ["FIX.4.4:US->A", "FIX.4.4:US->A/DESK", VENUE];
    let side = Side::with_app(App::default(), all.iter().map(|id| settings_of(id, Role::Acceptor)).collect());
    let logon = |ids: &str| {
        let bytes = side.wire(0, &format!("35=A|34=1|{ids}98=0|108=30|"));
        match identify(&bytes) {
            Identity::Logon(id) => id,
            other => panic!("{other:?}"),
        }
    };
    let (long, many) = ("x".repeat(65), "x".repeat(64));
    let no_name = format!("50={dashes}|57={dashes}|", dashes = "-".repeat(64));
    let all_long = format!("50={many}|57={many}|142={many}|143={many}|");
    for (ids, names, session) in [
        ("", "US->A", 0),
        ("50=DESK|", "US->A/DESK", 1),
        ("50=DESK|142=NY|57=OURS|", "US/OURS->A/DESK/NY", 2),
        ("50=DESK|142=NY|57=THEIRS|", "US/THEIRS->A/DESK/NY", 1),
        ("50=TRADER|143=Z|", "US//Z->A/TRADER", 0),
        // No session can have these, and they are left out.
        (&format!("50={long}|142=\u{e9}|57=|"), "US->A", 0),
        (&all_long, "US->A", 0),
        (&no_name, "US->A", 0),
    ] {
        let named = logon(ids);
        assert_eq!(named.to_string(), format!("FIX.4.4:{names}"));
        assert_eq!(side.sessions().find_for_logon(&named), Some(side.key(session)), "{ids}");
    }
    assert_eq!(side.sessions().find_for_logon(&"FIX.4.2:US->A".parse().unwrap()), None);
}

#[test]
fn a_logon_with_comp_ids_that_no_file_can_be_named_after_is_refused() {
    let dashes = "-".repeat(64);
    let logon = |sender: &str, target: &str| {
        let text = format!(
            "35=A\x0134=1\x0149={sender}\x0152=20240101-00:00:00\x0156={target}\x0198=0\x01108=30\x01"
        );
        let text = format!("8=FIX.4.4\x019={}\x01{text}", text.len());
        let sum = text.bytes().fold(0_u8, u8::wrapping_add);
        identify(format!("{text}10={sum:03}\x01").as_bytes())
    };
    assert!(matches!(logon("A", &dashes), Identity::Logon(_)));
    assert_eq!(logon(&dashes, &dashes), Identity::Refused(fixbolt_session::FirstMessageFault::CompIds));
}

#[test]
fn an_id_of_the_session_cannot_be_masked() {
    let open = |masked| {
        let settings = settings_of(VENUE, Role::Acceptor).with(|s| s.masked_tags = vec![masked]);
        Side::new(vec![]).open(settings).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(open(142), Ok(()));
    assert!(
        open(143)
            .unwrap_err()
            .starts_with("SubIDs and LocationIDs of the session's identity cannot be masked")
    );
}
