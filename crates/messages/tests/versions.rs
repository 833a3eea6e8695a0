//! Items that versions share, the transport's header for later versions, and dispatching by
//! version and MsgType.

mod support;

use fixbolt_messages::codec::{Key, Memory, Message, Tag, UtcTimestamp, Version};
use fixbolt_messages::{dispatch, fix42, fix44, fix50sp2, fixt11};

use support::{received_in, text, text_in};

#[test]
fn header_and_trailer_are_read_typed_and_by_any_tag() {
    let body = "50=DESK|57=FLOOR|43=Y|115=CLIENT|627=2|628=HUB1|630=7|628=HUB2|9001=x|11=ord1|9002=y|93=3|89=a\x01b|";
    text(b"D", body, |message| {
        let order = fix44::NewOrderSingle::read(message).unwrap();
        let header = order.header();
        assert_eq!(header.sender_comp_id(), Ok("TRADER".into()));
        assert_eq!(header.sender_sub_id(), Ok(Some("DESK".into())));
        assert_eq!(header.target_sub_id(), Ok(Some("FLOOR".into())));
        assert_eq!(header.on_behalf_of_comp_id(), Ok(Some("CLIENT".into())));
        assert_eq!(header.poss_dup_flag(), Ok(Some(true)));
        assert_eq!(header.poss_resend(), Ok(None));
        let hops = header.hops().unwrap();
        let hops: Vec<_> =
            hops.map(|hop| (hop.hop_comp_id().unwrap(), hop.hop_ref_id().unwrap().is_some())).collect();
        assert_eq!(hops, [("HUB1".into(), true), ("HUB2".into(), false)]);
        assert_eq!(order.trailer().signature(), Ok(Some(&b"a\x01b"[..])));
        assert_eq!(order.trailer().check_sum().map(|sum| sum.len()), Ok(3));
        for view in [header.get(Tag::new(9001)), order.get(Tag::new(9001))] {
            assert_eq!(view, Some(&b"x"[..]));
        }
    });
}

#[test]
fn versions_over_fixt_have_its_header_and_session_messages() {
    fn header(header: fixt11::Header<'_>) -> usize {
        header.hops().unwrap().count()
    }
    text_in("FIXT.1.1", b"n", "1128=9|627=1|628=HUB|212=4|213=<x/>|", |message| {
        assert_eq!(header(fix50sp2::XMLnonFIX::read(message).unwrap().header()), 1);
        assert_eq!(header(fix50sp2::Header::read(message)), 1);
    });
    let mut memory = [0; 256];
    let logon = fixt11::logon::Required {
        encrypt_method: fix50sp2::fields::EncryptMethod::NONE,
        heart_bt_int: 30,
        default_appl_ver_id: fixt11::fields::ApplVerID::FIX50SP2,
    };
    let body = fix50sp2::Logon::send(Memory(&mut memory), logon, |_| {}).unwrap();
    assert_eq!(body.bytes, b"98=0\x01108=30\x011137=9\x01");
}

#[test]
fn an_item_that_is_identical_in_two_versions_is_one_type() {
    let side: fix42::fields::AdvSide = fix44::fields::AdvSide::BUY;
    assert_eq!(side, fix50sp2::fields::AdvSide::BUY);
}

#[test]
fn a_message_has_the_names_of_other_versions_too() {
    let mut memory = [0; 256];
    let transact_time: UtcTimestamp = "20261121-10:00:00".parse().unwrap();
    let required = |ord_type| fix42::order_single::Required {
        cl_ord_id: b"ord1",
        handl_inst: fix42::fields::HandlInst::MANUAL_ORDER,
        symbol: b"IBM",
        side: fix42::fields::Side::BUY,
        transact_time,
        ord_type,
    };
    let required = required(fix42::fields::OrdType::MARKET);
    let body = fix42::OrderSingle::send(Memory(&mut memory), required, |_| {}).unwrap();
    received_in("FIX.4.2", body.msg_type, body.bytes, |message| {
        let order: fix42::NewOrderSingle<'_> = fix42::OrderSingle::read(message).unwrap();
        assert_eq!(order.cl_ord_id(), Ok("ord1".into()));
    });
}

/// Records which of its methods was called.
#[derive(Default)]
struct Desk(Vec<String>);

impl fix44::Handler<str> for Desk {
    type Answer = usize;

    fn on_other(&mut self, message: Message<'_>, context: &mut str) -> usize {
        self.0.push(format!("{context}: other {}", message.msg_type().escape_ascii()));
        0
    }

    fn on_new_order_single(&mut self, message: fix44::NewOrderSingle<'_>, context: &mut str) -> usize {
        self.0.push(format!("{context}: order {}", message.cl_ord_id().unwrap().escape_ascii()));
        1
    }
}

#[test]
fn a_handler_gets_each_message_in_its_method_and_the_others_in_on_other() {
    let mut desk = Desk::default();
    let mut turn = String::from("turn");
    let answers = [("D", "11=a|"), ("8", "37=b|"), ("U1", "58=c|"), ("0", "")].map(|(msg_type, body)| {
        text(msg_type.as_bytes(), body, |message| fix44::dispatch(message, &mut desk, &mut *turn).unwrap())
    });
    assert_eq!(answers, [1, 0, 0, 0]);
    assert_eq!(desk.0, ["turn: order a", "turn: other 8", "turn: other U1", "turn: other 0"]);
}

#[test]
fn a_message_is_chosen_by_its_type_session_messages_too() {
    text(b"5", "58=bye|", |message| {
        let Ok(fix44::AnyMessage::Logout(logout)) = fix44::AnyMessage::read(message) else {
            panic!("no Logout")
        };
        assert_eq!(logout.text(), Ok(Some("bye".into())));
    });
    text_in("FIXT.1.1", b"5", "58=bye|", |message| {
        assert!(matches!(fixt11::AnyMessage::read(message), Ok(fixt11::AnyMessage::Logout(_))));
        assert!(matches!(fix50sp2::AnyMessage::read(message), Ok(fix50sp2::AnyMessage::Logout(_))));
    });
    text(b"UX", "58=bye|", |message| {
        let Ok(fix44::AnyMessage::Other(other)) = fix44::AnyMessage::read(message) else { panic!("known") };
        assert_eq!(other.get(Key::new(58).tag()), Some(&b"bye"[..]));
    });
}

/// Returns the versions that a message may be read as.
fn read_as(message: Message<'_>) -> Vec<Version> {
    let mut versions = Vec::new();
    versions.extend(fix42::NewOrderSingle::read(message).map(|_| fix42::VERSION));
    versions.extend(fix44::NewOrderSingle::read(message).map(|_| fix44::VERSION));
    versions.extend(fix50sp2::NewOrderSingle::read(message).map(|_| fix50sp2::VERSION));
    versions
}

#[test]
fn a_message_is_read_only_as_one_of_its_version_whatever_else_its_types_share() {
    for (begin_string, appl_ver_id, versions) in [
        ("FIX.4.2", "", &[Version::Fix42][..]),
        ("FIX.4.4", "", &[Version::Fix44]),
        // The session's own BeginString decides, not a field that has no meaning there.
        ("FIX.4.4", "1128=4|", &[Version::Fix44]),
        ("FIX.4.3", "", &[]),
        ("FIX.9.9", "", &[]),
        ("FIXT.1.1", "1128=4|", &[Version::Fix42]),
        ("FIXT.1.1", "1128=6|", &[Version::Fix44]),
        ("FIXT.1.1", "1128=9|", &[Version::Fix50Sp2]),
        ("FIXT.1.1", "1128=10|", &[]),
        ("FIXT.1.1", "1128=8|", &[]),
        ("FIXT.1.1", "1128=99|", &[]),
        // Without a session nothing says which it is.
        ("FIXT.1.1", "", &[Version::Fix42, Version::Fix44, Version::Fix50Sp2]),
    ] {
        text_in(begin_string, b"D", &format!("{appl_ver_id}11=a|"), |message| {
            assert_eq!(read_as(message), versions, "{begin_string} {appl_ver_id}");
        });
    }
    // Heartbeats are the same in both.
    text_in("FIX.4.2", b"0", "112=x|", |message| {
        assert!(fix42::Heartbeat::read(message).is_ok());
        let error = fix44::Heartbeat::read(message).unwrap_err();
        assert_eq!(error.to_string(), "the message is of FIX.4.2, not of FIX.4.4");
    });
}

#[test]
fn what_a_session_says_of_a_message_of_fixt_decides_its_version() {
    text_in("FIXT.1.1", b"D", "11=a|", |message| {
        assert_eq!(message.version(), None);
        let message = message.with_version(Some(Version::Fix44));
        assert_eq!((message.version(), read_as(message)), (Some(Version::Fix44), vec![Version::Fix44]));
        let latest = message.with_version(Some(Version::FixLatest));
        assert_eq!((latest.version(), read_as(latest)), (Some(Version::FixLatest), vec![]));
        let unknown = message.with_version(None);
        assert_eq!((unknown.version(), read_as(unknown)), (None, vec![]));
        let error = fix44::NewOrderSingle::read(unknown).unwrap_err();
        assert_eq!(error.to_string(), "the message is of a version that is not known, not of FIX.4.4");
    });
    // A session message is the transport's, and one of FIX.4.4 says its version itself.
    text_in("FIXT.1.1", b"0", "", |message| {
        let message = message.with_version(Some(Version::Fix44));
        assert_eq!(message.version(), Some(Version::Fixt11));
        assert!(fixt11::Heartbeat::read(message).is_ok() && fix44::Heartbeat::read(message).is_err());
    });
    text(b"D", "11=a|", |message| {
        assert_eq!(read_as(message.with_version(Some(Version::Fix50Sp2))), [Version::Fix44]);
    });
}

#[test]
fn a_handler_of_another_version_gets_no_message_not_even_an_unknown_one() {
    let mut desk = Desk::default();
    let mut turn = String::from("turn");
    for msg_type in [&b"D"[..], b"0", b"U1"] {
        let error = text_in("FIX.4.2", msg_type, "11=a|", |message| {
            fix44::dispatch(message, &mut desk, &mut *turn).unwrap_err()
        });
        assert_eq!(error.to_string(), "the message is of FIX.4.2, not of FIX.4.4");
    }
    assert_eq!(desk.0, [""; 0]);
}

impl fix42::Handler<str> for Desk {
    type Answer = usize;

    fn on_other(&mut self, message: Message<'_>, context: &mut str) -> usize {
        self.0.push(format!("{context}: 4.2 other {}", message.msg_type().escape_ascii()));
        0
    }

    fn on_order_single(&mut self, message: fix42::OrderSingle<'_>, context: &mut str) -> usize {
        self.0.push(format!("{context}: 4.2 order {}", message.cl_ord_id().unwrap().escape_ascii()));
        2
    }
}

#[test]
fn one_call_passes_a_message_to_the_handler_of_its_version() {
    let mut desk = Desk::default();
    let mut turn = String::from("turn");
    let mut answer = |begin_string, msg_type: &[u8], body| {
        text_in(begin_string, msg_type, body, |message| {
            dispatch!(message, &mut desk, &mut *turn, [fix42, fixbolt_messages::fix44])
        })
    };
    assert_eq!(answer("FIX.4.4", b"D", "11=a|"), Ok(1));
    assert_eq!(answer("FIX.4.2", b"D", "11=b|"), Ok(2));
    assert_eq!(answer("FIX.4.2", b"8", "37=b|"), Ok(0));
    assert_eq!(answer("FIXT.1.1", b"D", "1128=6|11=c|"), Ok(1));
    for (begin_string, body, found) in [
        ("FIX.4.3", "11=d|", "FIX.4.3"),
        ("FIXT.1.1", "1128=9|11=d|", "FIX.5.0SP2"),
        ("FIXT.1.1", "1128=99|11=d|", "a version that is not known"),
    ] {
        let error = answer(begin_string, b"D", body).unwrap_err();
        assert_eq!(error.to_string(), format!("the message is of {found}, not of FIX.4.2 or FIX.4.4"));
    }
    assert_eq!(desk.0, ["turn: order a", "turn: 4.2 order b", "turn: 4.2 other 8", "turn: order c"]);
}
