//! What a test's application is told, beside the application.

use fixbolt_codec::{BodyWriter, Message};
use fixbolt_session::{
    Application, Delivery, Event, Failure, LogonDecision, Resend, ResendAnswer, ResendRange, Resume,
    SessionEnd, Turn,
};

/// An application, and a record of the ends of connections that it was told of.
pub(super) struct Told<'a, A> {
    pub(super) app: &'a mut A,
    pub(super) ends: &'a mut Vec<SessionEnd>,
}

impl<A: Application> Application for Told<'_, A> {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.app.on_message(message, turn)
    }

    fn on_logon(&mut self, logon: Message<'_>, turn: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        self.app.on_logon(logon, turn)
    }

    fn on_sending_logon(&mut self, logon: &mut BodyWriter<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.app.on_sending_logon(logon, turn)
    }

    fn on_resend_request(
        &mut self,
        range: ResendRange,
        turn: &mut Turn<'_>,
    ) -> Result<ResendAnswer, Failure> {
        self.app.on_resend_request(range, turn)
    }

    fn on_resend(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Resend, Failure> {
        self.app.on_resend(message, turn)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        self.app.on_resume(resume)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if let Event::Ended(end) = event {
            self.ends.push((*end).clone());
        }
        self.app.on_event(event, turn)
    }
}
