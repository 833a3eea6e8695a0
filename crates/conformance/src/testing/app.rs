//! An application made of closures.

use core::fmt;

use fixbolt_codec::{BodySink, BodyWriter, Key, Message, MsgType, NewBody};
use fixbolt_session::{
    Accepted, Application, Delivery, Event, Failure, LogonDecision, Resend, ResendAnswer, ResendRange,
    Resume, Turn,
};

/// What an application does with an `I`, set by the test.
pub type Act<I, R> = Box<dyn FnMut(I, &mut Turn<'_>) -> Result<R, Failure>>;

/// An application made of closures, which by default accept everything and do nothing.
#[allow(clippy::type_complexity)] // each is written only once, here
pub struct App {
    /// Called with the bytes of each message.
    pub message: Act<Vec<u8>, Delivery>,
    /// Called with the counterparty's Logon.
    pub logon: Box<dyn FnMut(&Message<'_>, &mut Turn<'_>) -> Result<LogonDecision, Failure>>,
    /// Called with the Logon that is about to be sent.
    pub sending_logon: Box<dyn FnMut(&mut BodyWriter<'_>, &mut Turn<'_>) -> Result<(), Failure>>,
    /// Called with each request for messages again.
    pub resend_request: Act<ResendRange, ResendAnswer>,
    /// Called with the bytes of each message that was requested again.
    pub resend: Act<Vec<u8>, Resend>,
    /// Called with the contents of the store.
    pub resume: Box<dyn FnMut(&mut Resume<'_>) -> Result<(), Failure>>,
    /// Called with each event.
    pub event: Box<dyn FnMut(&Event<'_>, &mut Turn<'_>) -> Result<(), Failure>>,
    /// The identity of the session and the text of each event.
    pub events: Vec<String>,
}

impl Default for App {
    fn default() -> Self {
        Self {
            message: Box::new(|_, _| Ok(Delivery::Done)),
            logon: Box::new(|_, _| Ok(LogonDecision::Accept)),
            sending_logon: Box::new(|_, _| Ok(())),
            resend_request: Box::new(|_, _| Ok(ResendAnswer::AsUsual)),
            resend: Box::new(|_, _| Ok(Resend::Send)),
            resume: Box::new(|_| Ok(())),
            event: Box::new(|_, _| Ok(())),
            events: Vec::new(),
        }
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("events", &self.events).finish_non_exhaustive()
    }
}

impl Application for App {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        (self.message)(message.bytes().to_vec(), turn)
    }

    fn on_logon(&mut self, logon: Message<'_>, turn: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        (self.logon)(&logon, turn)
    }

    fn on_sending_logon(&mut self, logon: &mut BodyWriter<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        (self.sending_logon)(logon, turn)
    }

    fn on_resend_request(
        &mut self,
        range: ResendRange,
        turn: &mut Turn<'_>,
    ) -> Result<ResendAnswer, Failure> {
        (self.resend_request)(range, turn)
    }

    fn on_resend(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Resend, Failure> {
        (self.resend)(message.bytes().to_vec(), turn)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        (self.resume)(resume)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.events.push(format!("{}: {event}", turn.session_id()));
        (self.event)(event, turn)
    }
}

/// Sends a NewOrderSingle with this ClOrdID (11) to the counterparty of the turn's session.
///
/// # Errors
/// Returns a [`Failure`] if the session refuses it.
pub fn order(turn: &mut Turn<'_>, id: &str) -> Result<Accepted, Failure> {
    let mut draft = turn.session().draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), id.as_bytes());
    Ok(draft.send()?)
}
