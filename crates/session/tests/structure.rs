//! The application reads every message by the structure of the session's dictionary: received ones,
//! Logons, and those in the store.

mod support;

use std::sync::Arc;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Tag};
use fixbolt_dictionary::{Action, Check, Policy, Source, Validator};
use fixbolt_journal::MemoryStore;
use fixbolt_session::{
    Application, Delivery, Failure, LogonDecision, Mono, Now, Resend, Resume, Role, SessionDictionary,
    SessionKey, SessionSettings, Sessions, Turn, Utc,
};

use support::{settings, wire};

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
        let mut draft = turn.reply().draft(MsgType::new(b"D"));
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

fn open(app: &mut Reader, change: impl FnOnce(&mut SessionSettings)) -> (Sessions, Now, SessionKey) {
    let dictionary = Source::text(DIALECT).load().unwrap().dictionary;
    let settings = settings("FIX.4.4", "A", Role::Acceptor).with(|s| {
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(&dictionary)));
        s.policy = Policy::ignoring();
        change(s);
    });
    let now = Now { mono: Mono(1_000_000_000), utc: Utc(1_767_603_600_000_000_000) };
    let mut sessions = Sessions::new(Box::new(MemoryStore::new()), 64 * 1024);
    let id = settings.id.clone();
    let key = sessions.open(now, settings, app).unwrap();
    sessions.connected(now, key, app);
    sessions.receive(now, key, &wire(&id, "35=A|34=1|98=0|108=30|"), app);
    (sessions, now, key)
}

fn say(sessions: &mut Sessions, now: Now, key: SessionKey, fields: &str, app: &mut Reader) {
    let id = settings("FIX.4.4", "A", Role::Acceptor).id;
    sessions.receive(now, key, &wire(&id, fields), app);
    let queued = sessions.writable(key).len();
    sessions.written(now, key, queued);
}

#[test]
fn every_callback_reads_by_the_structure_of_the_sessions_dictionary() {
    let mut app = Reader::default();
    let (mut sessions, now, key) = open(&mut app, |_| {});
    say(&mut sessions, now, key, &format!("35=D|34=2|{ORDER}"), &mut app);
    say(&mut sessions, now, key, "35=2|34=3|7=2|16=0|", &mut app);
    let own = |callback| (callback, Some("100".to_owned()), Some(2));
    assert_eq!(
        app.0,
        [("on_logon", None, None), own("on_message"), ("on_resend", Some("100".to_owned()), None),]
    );
    app.0.clear();
    sessions.show_store(now, key, &mut app);
    assert_eq!(app.0, [own("on_resume"), ("on_resume", Some("100".to_owned()), None)]);
}

#[test]
fn a_message_that_is_only_warned_of_is_read_in_the_same_way() {
    let warns = Check::ALL.iter().fold(Policy::standard(), |policy, check| policy.with(*check, Action::Warn));
    let mut app = Reader::default();
    let (mut sessions, now, key) = open(&mut app, |s| s.policy = warns);
    for seq in 2..5 {
        say(&mut sessions, now, key, &format!("35=D|34={seq}|{ORDER}"), &mut app);
    }
    let (_, messages) = app.0.split_at(1);
    assert_eq!(messages.len(), 3);
    assert!(
        messages.iter().all(|(_, quantity, slices)| quantity.as_deref() == Some("100") && *slices == Some(2))
    );
}
