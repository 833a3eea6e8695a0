//! The application reads every message by the structure of the session's dictionary: received ones,
//! Logons, and those in the store.

use std::sync::Arc;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Tag};
use fixbolt_conformance::testing::{Side, settings};
use fixbolt_dictionary::{Action, Check, Policy, Source, Validator};
use fixbolt_session::{
    Application, Delivery, Failure, LogonDecision, Resend, Resume, Role, SessionDictionary, SessionSettings,
    Turn,
};

/// FIX.4.4 with a group of the venue's own, whose entries hold OrderQty (38) too.
const DIALECT: &str = "<fix extends='FIX.4.4'>
    <fields><field number='5010' name='NoSlices' type='NUMINGROUP'/>
        <field number='5011' name='SliceID' type='STRING'/></fields>
    <messages><message name='NewOrderSingle' msgtype='D'><group name='NoSlices' required='N'>
        <field name='SliceID' required='N'/><field name='OrderQty' required='N'/>
    </group></message></messages></fix>";

/// Two slices, then the order's own quantity, twice.
const ORDER: &str = "11=A|5010=2|5011=x|38=999|5011=y|38=1|38=100|38=1000000|";

/// Records OrderQty (38) and the number of slices of each message it is shown.
#[derive(Default)]
struct Reader(Vec<(&'static str, Option<String>, Option<usize>)>);

impl Reader {
    fn read(&mut self, callback: &'static str, message: &Message<'_>) {
        let quantity = message.get(Tag::new(38)).map(|value| String::from_utf8_lossy(value).into_owned());
        let slices = message.scope().group(Tag::new(5010)).map(|slices| slices.len());
        assert_eq!(message.places().map(<[_]>::len), Some(message.len()), "{callback}");
        self.0.push((callback, quantity, slices));
    }
}

impl Application for Reader {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.read("on_message", &message);
        let mut draft = turn.session().draft(MsgType::new(b"D"));
        draft.writer().bytes(Key::new(11), b"A");
        draft.writer().bytes(Key::new(38), b"100");
        draft.send()?;
        Ok(Delivery::Done)
    }

    fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        self.read("on_logon", &logon);
        Ok(LogonDecision::Accept)
    }

    fn on_resend(&mut self, message: Message<'_>, _: &mut Turn<'_>) -> Result<Resend, Failure> {
        self.read("on_resend", &message);
        Ok(Resend::Send)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        resume.messages(|stored| {
            if !stored.is_admin {
                self.read("on_resume", &stored.message);
            }
            Ok(())
        })
    }
}

fn logged_on(change: impl FnOnce(&mut SessionSettings)) -> Side<Reader> {
    let dictionary = Source::text(DIALECT).load().unwrap().dictionary;
    let settings = settings("A", Role::Acceptor).with(|s| {
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(&dictionary)));
        s.validation.incoming = Policy::ignoring();
        change(s);
    });
    Side::with_app(Reader::default(), vec![settings]).logged_on()
}

#[test]
fn every_callback_reads_by_the_structure_of_the_sessions_dictionary() {
    let mut side = logged_on(|_| {});
    side.say(0, &format!("35=D|34=2|{ORDER}"));
    side.say(0, "35=2|34=3|7=2|16=0|");
    let own = |callback| (callback, Some("100".to_owned()), Some(2));
    assert_eq!(
        side.app.0,
        [("on_logon", None, None), own("on_message"), ("on_resend", Some("100".to_owned()), None),]
    );
    side.app.0.clear();
    side.show_store(0);
    assert_eq!(side.app.0, [own("on_resume"), ("on_resume", Some("100".to_owned()), None)]);
}

// R-REJECT-19
#[test]
fn a_message_that_is_only_warned_of_is_read_in_the_same_way() {
    let warns = Check::ALL.iter().fold(Policy::standard(), |policy, check| policy.with(*check, Action::Warn));
    let mut side = logged_on(|s| s.validation.incoming = warns);
    for seq in 2..5 {
        side.say(0, &format!("35=D|34={seq}|{ORDER}"));
    }
    let (_, messages) = side.app.0.split_at(1);
    assert_eq!(messages.len(), 3);
    assert!(
        messages.iter().all(|(_, quantity, slices)| quantity.as_deref() == Some("100") && *slices == Some(2))
    );
}
