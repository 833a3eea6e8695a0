//! Messages of another version than an application reads them as: each is rejected with both
//! versions, and none is answered as what it is not.

use fixbolt::codec::{Message, Version};
use fixbolt::messages::fix44::{self, NewOrderSingle};
use fixbolt::session::{Application, Delivery, Failure, Role, SessionDictionary, SessionSettings, Turn};
use fixbolt::testing::TestSession;

const ORDER: &str = "35=D|11=a|21=1|55=IBM|54=1|38=57|40=1|60=20260105-09:00:00|";

/// A venue that thinks all of its counterparties speak FIX.4.4. It dispatches, or only reads.
#[derive(Default)]
struct Venue {
    only_reads: bool,
    orders: Vec<String>,
}

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if self.only_reads {
            let order = NewOrderSingle::read(message)?;
            self.orders.push(order.cl_ord_id()?.to_string());
            return Ok(Delivery::Done);
        }
        fix44::dispatch(message, self, turn)?
    }
}

impl fix44::Handler<Turn<'_>> for Venue {
    type Answer = Result<Delivery, Failure>;

    fn on_new_order_single(&mut self, order: NewOrderSingle<'_>, _: &mut Turn<'_>) -> Self::Answer {
        self.orders.push(order.cl_ord_id()?.to_string());
        Ok(Delivery::Done)
    }

    fn on_other(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Self::Answer {
        Ok(Delivery::UNSUPPORTED)
    }
}

fn venue(version: &str, only_reads: bool, with: impl FnOnce(&mut SessionSettings)) -> TestSession<Venue> {
    let settings = SessionSettings::new(format!("{version}:VENUE->DESK").parse().unwrap(), Role::Acceptor);
    let mut side = TestSession::new(settings.with(with), Venue { only_reads, ..Venue::default() }).unwrap();
    side.log_on();
    side
}

#[test]
fn an_order_of_another_version_is_rejected_with_both_versions() {
    for only_reads in [false, true] {
        for (version, default, expected) in [
            ("FIX.4.2", None, ("j", "Unsupported Message Type: the message is of FIX.4.2, not of FIX.4.4")),
            ("FIX.4.3", None, ("j", "Unsupported Message Type: the message is of FIX.4.3, not of FIX.4.4")),
            // There is no BusinessMessageReject before FIX.4.2.
            ("FIX.4.1", None, ("3", "Unsupported Message Type: the message is of FIX.4.1, not of FIX.4.4")),
            (
                "FIXT.1.1",
                Some(Version::Fix50Sp2),
                ("j", "Unsupported Message Type: the message is of FIX.5.0SP2, not of FIX.4.4"),
            ),
        ] {
            let mut side = venue(version, only_reads, |s| s.default_appl_ver_id = default);
            let time = if version == "FIX.4.1" { "60=20260105-09:00:00|" } else { "" };
            let sent = side.receive(&ORDER.replace(time, ""));
            assert_eq!(sent.len(), 1, "{version}");
            assert_eq!((sent[0].msg_type(), sent[0].get(58)), (expected.0, Some(expected.1)), "{version}");
            assert_eq!(side.app().orders, [""; 0], "{version}");
            // The session goes on.
            assert_eq!(side.receive("35=1|112=x|")[0].msg_type(), "0", "{version}");
        }
        let mut side = venue("FIX.4.4", only_reads, |_| {});
        assert_eq!(side.receive(ORDER).len(), 0);
        assert_eq!(side.app().orders, ["a"]);
    }
}

#[test]
fn over_fixt_the_version_is_that_of_the_session_if_the_message_names_none() {
    for (default, named, is_read) in [
        (Version::Fix44, "", true),
        (Version::Fix44, "1128=9|", false),
        (Version::Fix50Sp2, "1128=6|", true),
        (Version::Fix50Sp2, "", false),
    ] {
        // Without dictionaries all versions are known.
        let mut side = venue("FIXT.1.1", false, |s| {
            s.default_appl_ver_id = Some(default);
            s.dictionary = SessionDictionary::None;
        });
        let sent = side.receive(&ORDER.replace("11=a|", &format!("{named}11=a|")));
        assert_eq!(sent.is_empty(), is_read, "{default} {named}");
        assert_eq!(side.app().orders.len(), usize::from(is_read), "{default} {named}");
    }
}

#[test]
fn a_message_of_a_version_that_the_session_does_not_know_is_read_as_none() {
    let mut side = venue("FIXT.1.1", false, |s| {
        s.default_appl_ver_id = Some(Version::Fix44);
        s.dictionary = SessionDictionary::None;
    });
    let sent = side.receive(&ORDER.replace("11=a|", "1128=99|11=a|"));
    let text = "Unsupported Message Type: the message is of a version that is not known, not of FIX.4.4";
    assert_eq!(sent[0].get(58), Some(text));
    assert_eq!(side.app().orders, [""; 0]);
}
