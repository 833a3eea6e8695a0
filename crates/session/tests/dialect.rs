//! A session with a dialect: its own data fields are read as such when they are received and when
//! they are resent.

use std::sync::Arc;

use fixbolt_codec::{BodySink, DataKey, Key, MsgType, NewBody};
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_dictionary::{Dictionary, Source, Validator, fix44};
use fixbolt_session::{Role, SessionDictionary};

/// FIX.4.4 with a picture in News: a length, and bytes that may contain SOH.
fn dialect() -> Dictionary {
    let table = fix44().to_table();
    let with_fields = table.replacen(
        "\ncomponent ",
        "\nfield 20001 PictureLength Length\nfield 20002 Picture data length=20001\ncomponent ",
        1,
    );
    let news = with_fields.lines().find(|line| line.starts_with("message B ")).expect("News is a message");
    let extended = with_fields.replace(news, &format!("{news} 20001 20002"));
    Source::text(&extended).load().unwrap_or_else(|error| panic!("{error}")).dictionary
}

fn side(dictionary: &Dictionary) -> Side {
    let mut settings = settings("PEER", Role::Acceptor);
    settings.dictionary = SessionDictionary::Own(Arc::new(Validator::new(dictionary)));
    let mut side = Side::new(vec![settings]);
    assert!(side.log_on(0, 1, "").concat().contains("35=A"));
    side
}

const NEWS: &str = "35=B|34=2|148=h|33=1|58=line|20001=10|20002=a|34=9|b=c|";

#[test]
fn a_data_field_of_the_dialect_may_contain_soh() {
    let mut side = side(&dialect());
    let answer = side.say(0, NEWS);
    assert_eq!(kinds(&answer), "8", "{answer:?}");
    assert_eq!(side.app.got.len(), 1);
}

#[test]
fn the_same_bytes_are_several_fields_where_the_dictionary_does_not_know_the_data_field() {
    let mut side = side(fix44());
    let answer = side.say(0, NEWS).concat();
    assert!(answer.contains("35=3") && answer.contains("371=20001"), "{answer}");
    assert!(side.app.got.is_empty());
}

#[test]
fn a_data_field_of_the_dialect_is_resent_unchanged() {
    let mut side = side(&dialect());
    side.act(0, |turn| {
        let mut draft = turn.session().draft(MsgType::new(b"B"));
        let body = draft.writer();
        body.bytes(Key::new(148), b"h");
        body.data(DataKey::of_dialect(20001, 20002), b"a\x0134=9\x01b");
        draft.send()
    })
    .unwrap();
    let again = side.say(0, "35=2|34=2|7=2|16=2|").concat();
    assert!(again.contains("43=Y") && again.contains("20001=8|20002=a|34=9|b|10="), "{again}");
}
