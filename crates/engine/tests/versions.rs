//! Sessions of every version in both roles: an initiator and an acceptor that validate everything
//! they receive, the session layer's own messages included.

use std::time::Duration;

use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody, Version};
use fixbolt::dictionary::Policy;
use fixbolt::session::{Application, Delivery, Event, Failure, Role, SessionId, SessionSettings, Turn};
use fixbolt::testing::Pair;
use fixbolt_conformance::Echo;

/// Sends an order and an OrderStatusRequest after each logon, and remembers what comes back.
#[derive(Default)]
struct Trader {
    received: Vec<String>,
    events: Vec<String>,
}

fn text(message: &Message<'_>) -> String {
    String::from_utf8_lossy(message.bytes()).replace('\x01', "|")
}

impl Application for Trader {
    fn on_message(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.received.push(text(&message));
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::LoggedOn => {
                let version = turn.session_id().version();
                let mut order = turn.session().draft(MsgType::new(b"D"));
                let body = order.writer();
                body.bytes(Key::new(11), b"ord1").bytes(Key::new(21), b"1").bytes(Key::new(55), b"IBM");
                body.bytes(Key::new(54), b"1").bytes(Key::new(38), b"100").bytes(Key::new(40), b"1");
                if version >= Version::Fix42 {
                    body.bytes(Key::new(60), b"20260105-09:00:00");
                }
                order.send()?;
                // The echo does not support this one.
                let mut status = turn.session().draft(MsgType::new(b"H"));
                let body = status.writer();
                body.bytes(Key::new(11), b"ord1").bytes(Key::new(55), b"IBM").bytes(Key::new(54), b"1");
                status.send()?;
            }
            Event::RejectReceived { message, .. } => self.received.push(text(message)),
            Event::Rejected { .. } | Event::GapDetected { .. } => self.events.push(event.to_string()),
            _ => {}
        }
        Ok(())
    }
}

/// Versions of sessions, each with that of its messages.
const VERSIONS: [(Version, Option<Version>); 9] = [
    (Version::Fix40, None),
    (Version::Fix41, None),
    (Version::Fix42, None),
    (Version::Fix43, None),
    (Version::Fix44, None),
    (Version::Fixt11, Some(Version::Fix50)),
    (Version::Fixt11, Some(Version::Fix50Sp1)),
    (Version::Fixt11, Some(Version::Fix50Sp2)),
    (Version::Fixt11, Some(Version::FixLatest)),
];

type Versions = (Version, Option<Version>);

fn settings((version, application): Versions, role: Role) -> SessionSettings {
    let (ours, theirs) = if role == Role::Acceptor { ("VENUE", "TRADER") } else { ("TRADER", "VENUE") };
    SessionSettings::new(SessionId::new(version, ours, theirs).unwrap(), role).with(|s| {
        s.default_appl_ver_id = application;
        s.reset.reset_on_logon = true;
        s.validation.outgoing = Some(Policy::standard());
    })
}

fn pair(version: Versions) -> Pair<Trader, Echo> {
    let initiator = (settings(version, Role::Initiator), Trader::default());
    Pair::new(initiator, (settings(version, Role::Acceptor), Echo::new())).unwrap()
}

#[test]
fn both_roles_exchange_orders_heartbeats_and_rejects_in_every_version() {
    for version in VERSIONS {
        let mut pair = pair(version);
        // The second connection begins at 1 again, with ResetSeqNumFlag or, in FIX.4.0, without.
        for connection in 0..2 {
            pair.connect();
            pair.advance(Duration::from_secs(100));
            let received = &pair.initiator.app().received[2 * connection..];
            let [order, reject] = received else { panic!("{version:?}: {received:?}") };
            assert!(order.contains("|35=D|") && order.contains("|34=2|"), "{version:?}: {order}");
            // The version that it was read as is named where there is a field for it.
            let read_as = match version.1 {
                Some(application) if application > Version::Fix50 => {
                    format!("1130={}|", application.appl_ver_id().unwrap())
                }
                _ => String::new(),
            };
            let expected = match version.0 {
                Version::Fix40 | Version::Fix41 => "|45=3|58=Unsupported message type|".to_owned(),
                _ => format!("|45=3|372=H|{read_as}380=3|58=Unsupported Message Type|"),
            };
            assert!(reject.contains(&expected), "{version:?}: {reject}");
            assert_eq!(pair.initiator.app().events, Vec::<String>::new(), "{version:?}");
            pair.disconnect();
        }
    }
}
