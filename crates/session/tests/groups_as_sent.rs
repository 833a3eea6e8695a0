//! Venues whose groups are ordered otherwise than the dictionary says.

use std::sync::Arc;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Tag};
use fixbolt_conformance::testing::{Side, settings};
use fixbolt_dictionary::{Action, Check, ExpectedOrder, Policy, Validator, fix44};
use fixbolt_session::{
    Application, Delivery, Event, Failure, Role, SendError, SessionDictionary, SessionSettings, Turn,
};

/// A drop copy; what follows are its parties.
const REPORT: &str = "37=O|17=E|150=0|39=0|55=IBM|54=1|38=100|151=100|14=0|6=0|";
/// Parties in the order of the dictionary, and as another venue sends them: each has an id and a
/// role, and the second one an id of its own, twice.
const ORDERED: &str = "453=2|448=ME|447=D|452=1|448=YOU|447=D|452=3|802=2|523=A|803=1|523=B|803=2|";
const AS_SENT: &str = "453=2|452=1|447=D|448=ME|452=3|802=2|803=1|523=A|803=2|523=B|448=YOU|447=D|";

/// Records the parties of each message and what it is told.
#[derive(Default)]
struct Desk {
    parties: Vec<Vec<String>>,
    told: Vec<String>,
    sends: Option<&'static str>,
    refused: Option<SendError>,
}

fn parties(message: &Message<'_>) -> Vec<String> {
    let text = |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
    let groups = message.scope().group(Tag::new(453)).expect("the report has parties");
    let party = |party: fixbolt_codec::Scope<'_>| {
        let own = [448, 452].map(|tag| text(party.get(Tag::new(tag)))).join("/");
        let subs = party.group(Tag::new(802)).into_iter().flatten();
        subs.fold(own, |all, sub| all + "+" + &text(sub.get(Tag::new(523))) + &text(sub.get(Tag::new(803))))
    };
    groups.map(party).collect()
}

impl Application for Desk {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.parties.push(parties(&message));
        if let Some(fields) = self.sends {
            let mut draft = turn.session().draft(MsgType::new(b"8"));
            for (tag, value) in fields.split_terminator('|').filter_map(|field| field.split_once('=')) {
                draft.writer().bytes(Key::new(tag.parse().unwrap()), value.as_bytes());
            }
            self.refused = draft.send().err();
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::Rejected { .. } | Event::Warned { .. }) {
            self.told.push(event.to_string());
        }
        if let Event::Rejected { order, .. } = event {
            let order = order.expect("it is for the order of a group");
            assert_eq!((order.count_tag, order.entry, order.expected), (453, 1, ExpectedOrder::First(448)));
        }
        Ok(())
    }
}

fn desk(groups: &[u32], change: impl FnOnce(&mut SessionSettings)) -> Side<Desk> {
    let mut validator = Validator::new(fix44());
    assert!(groups.iter().all(|group| validator.read_as_sent(*group)));
    let settings = settings("A", Role::Acceptor).with(|s| {
        s.dictionary = SessionDictionary::Own(Arc::new(validator));
        change(s);
    });
    Side::with_app(Desk::default(), vec![settings]).logged_on()
}

#[test]
fn drop_copies_of_two_venues_are_read_by_the_order_in_which_each_sends_its_groups() {
    let mut side = desk(&[453, 802], |_| {});
    for (n, group) in [ORDERED, AS_SENT, ORDERED, AS_SENT, AS_SENT].into_iter().enumerate() {
        side.say(0, &format!("35=8|34={}|{REPORT}{group}", n + 2));
    }
    assert_eq!(side.app.told, [""; 0]);
    let expected = vec!["ME/1".to_owned(), "YOU/3+A1+B2".to_owned()];
    assert_eq!(side.app.parties, vec![expected; 5]);
}

#[test]
fn what_differs_is_told_if_the_policy_asks_for_it() {
    let policy = Policy::standard().with(Check::GroupAsSent, Action::Warn);
    let mut side = desk(&[453, 802], |s| s.validation.incoming = policy);
    for (n, group) in [AS_SENT, ORDERED].into_iter().enumerate() {
        side.say(0, &format!("35=8|34={}|{REPORT}{group}", n + 2));
    }
    assert_eq!(side.app.parties.len(), 2);
    assert_eq!(
        side.app.told,
        [
            "message 2 of the counterparty is not valid: Out of order repeating group members, field 452 in entry 1 of group 453, whose entries begin with 448",
            "message 2 of the counterparty is not valid: Out of order repeating group members, field 803 in entry 1 of group 802, whose entries begin with 523",
        ]
    );
}

#[test]
fn a_group_in_another_order_is_rejected_and_the_application_learns_what_would_accept_it() {
    let mut side = desk(&[], |_| {});
    let answers = side.say(0, &format!("35=8|34=2|{REPORT}{AS_SENT}"));
    assert!(answers[0].contains("|58=Out of order repeating group members|"), "{answers:?}");
    assert!(answers[0].contains("|371=452|") && answers[0].contains("|373=15|"), "{answers:?}");
    assert_eq!(
        side.app.told,
        [
            "rejected message 2 of the counterparty, reason 15, field 452: Out of order repeating group members, in entry 1 of group 453, whose entries begin with 448; GroupsAsSent=453 accepts the order"
        ]
    );
    assert_eq!(side.app.parties.len(), 0);
}

#[test]
fn a_message_of_ours_is_refused_for_its_order_unless_the_group_is_as_sent() {
    let fields = "37=O|17=E|150=0|39=0|55=IBM|54=1|38=100|151=100|14=0|6=0|453=1|452=1|447=D|448=ME|";
    for (groups, refused) in [(&[][..], true), (&[453, 802], false)] {
        let mut side = desk(groups, |s| s.validation.outgoing = Some(Policy::standard()));
        side.app.sends = Some(fields);
        side.say(0, &format!("35=8|34=2|{REPORT}{ORDERED}"));
        let text = side.app.refused.map(|error| error.to_string());
        let expected = "not valid: Out of order repeating group members, tag 452 in entry 1 of group 453, whose entries begin with 448; GroupsAsSent=453 accepts the order";
        assert_eq!(text, refused.then(|| expected.to_owned()));
    }
}
