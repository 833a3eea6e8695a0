//! An application that answers each message, and does worse when it is told to.

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum, Tag, Version};
use fixbolt_session::{
    Accepted, Application, CodecTime, Delivery, Event, Failure, Handle, LogonDecision, Resend, SendError,
    SessionKey, Turn, Unreached,
};

/// What a [`Desk`] does with the next message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mood {
    /// Reports it, and has processed it.
    #[default]
    Done,
    /// Reports it, then asks for it again later.
    NotNow,
    /// Does not handle the message.
    Unsupported,
    /// Reports it, then fails with an error of its own.
    Fails,
    /// Reports it, then panics with `application bug`.
    Panics,
    /// Reports it, then fails with [`SendError::BackPressure`].
    Full,
    /// Processes it, even if the report cannot be sent.
    Careless,
}

/// An application that answers each message with an ExecutionReport and records what it is notified
/// of. It refuses a Logon with Password (554) `expired`, and one with `stranger` without a Logout.
#[derive(Default)]
pub struct Desk {
    /// What it does with the next message.
    pub mood: Mood,
    /// A second session that each report goes to.
    pub copies_to: Option<SessionKey>,
    /// The name of the callback that panics: `on_logon`, `on_resend` or `on_event`.
    pub panic_in: &'static str,
    /// The ClOrdID (11) of each message that it processed.
    pub got: Vec<String>,
    /// The numbers of the messages that were offered as ones that it may have seen before.
    pub redelivered: Vec<SeqNum>,
    /// Their application versions.
    pub versions: Vec<Version>,
    /// The notes of the session core.
    pub notes: Vec<String>,
    /// What it was told of sequence numbers that were changed, and of resets that were abandoned.
    pub resets: Vec<String>,
    /// The messages that will not arrive, as reported to it: first and last sequence number, and
    /// why.
    pub unreached: Vec<(SeqNum, SeqNum, Unreached)>,
    /// What connections' messages took to encode and decode.
    pub codec_times: Vec<CodecTime>,
}

impl Desk {
    fn panic_if(&self, callback: &str) {
        assert!(self.panic_in != callback, "application bug");
    }
}

impl Application for Desk {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let id = message.get(Tag::new(11)).unwrap_or(b"?");
        self.redelivered.extend(turn.seq().filter(|_| turn.redelivered()));
        if self.mood == Mood::Unsupported {
            return Ok(Delivery::UNSUPPORTED);
        }
        let written = report(turn.session(), id).and_then(|_| {
            self.copies_to.and_then(|key| turn.to(key)).map_or(Ok(()), |to| report(to, id).map(drop))
        });
        match self.mood {
            Mood::Done => written?,
            Mood::Careless => {}
            Mood::NotNow => return Ok(Delivery::NotNow),
            Mood::Unsupported => {}
            Mood::Fails => return Err(Failure::new("cannot")),
            Mood::Panics => panic!("application bug"),
            Mood::Full => return Err(SendError::BackPressure.into()),
        }
        self.got.push(String::from_utf8_lossy(id).into_owned());
        self.versions.extend(message.version());
        Ok(Delivery::Done)
    }

    fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        self.panic_if("on_logon");
        Ok(match logon.get(Tag::new(554)) {
            Some(b"expired") => LogonDecision::refuse("password expired"),
            Some(b"stranger") => LogonDecision::RefuseSilently,
            _ => LogonDecision::Accept,
        })
    }

    fn on_resend(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Resend, Failure> {
        self.panic_if("on_resend");
        Ok(Resend::Send)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::CodecTime(time) => self.codec_times.push(*time),
            Event::Note(_) | Event::LogoutReceived { .. } | Event::NotTaken { .. } => {
                self.notes.push(event.to_string())
            }
            Event::SequenceChanged { .. } | Event::ResetAbandoned { .. } => {
                self.panic_if("on_event");
                self.resets.push(event.to_string());
            }
            Event::Unreached { begin, end, why } => self.unreached.push((*begin, *end, *why)),
            Event::Ended(_) => {}
            _ => self.panic_if("on_event"),
        }
        Ok(())
    }
}

/// Sends an ExecutionReport with this ClOrdID (11).
///
/// # Errors
/// Returns a [`SendError`] if the session refuses it.
pub fn report(to: Handle<'_>, id: &[u8]) -> Result<Accepted, SendError> {
    let mut draft = to.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), id);
    draft.send()
}
