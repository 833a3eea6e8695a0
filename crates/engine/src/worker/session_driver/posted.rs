//! Sends what other threads have posted, and says what has become of it.

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{BodySink, NewBody};
use fixbolt_session::{Accepted, Application, Event, SendError, SessionKey, Ticket};

use super::SessionDriver;
use crate::posted_body::PostedBody;
use crate::worker::active_queues::SendOutcome;
use crate::worker::cycle::Cycle;

impl SessionDriver {
    /// Sends a message from another thread in a turn of its own, and reports the outcome to the
    /// application.
    pub(crate) fn send_queued(
        &mut self,
        key: SessionKey,
        ticket: Ticket,
        posted: &PostedBody<'_>,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) -> SendOutcome {
        match self.send(key, ticket, posted, cycle, app) {
            Ok(Accepted::Numbered(seq)) => {
                self.sessions.notify(cycle.now, key, &Event::Sent { ticket, seq }, app)
            }
            // The session tells what becomes of it.
            Ok(Accepted::Waits(_)) => {}
            Err(SendError::BackPressure) => return SendOutcome::BackPressure,
            Err(why) => self.tell_not_sent(key, ticket, &why, cycle, app),
        }
        SendOutcome::Done
    }

    fn send(
        &mut self,
        key: SessionKey,
        ticket: Ticket,
        posted: &PostedBody<'_>,
        cycle: &Cycle,
        app: &mut dyn Application,
    ) -> Result<Accepted, SendError> {
        self.sessions.act(cycle.now, key, app, |turn| {
            let PostedBody { body, may_have_secrets } = posted;
            let handle = turn.to(key).ok_or(SendError::Unavailable)?;
            let mut draft = handle.posted_as(ticket, *may_have_secrets).draft(body.msg_type);
            draft.writer().raw().body(body);
            draft.send()
        })
    }

    /// Closes the session's outbound queue, and reports to the application that what is left in it,
    /// or has not been sent and is not in a journal, is not sent.
    pub(super) fn refuse_queued(&mut self, key: SessionKey, cycle: &Cycle, app: &mut dyn Application) {
        self.sessions.end_waiting(cycle.now, key, app);
        let Some(link) = self.table.get(key).and_then(|entry| self.registry.link(&entry.id)) else { return };
        link.queue.close(&mut Vec::new(), |ticket| {
            self.tell_not_sent(key, ticket, &SendError::Unavailable, cycle, app);
        });
    }

    /// Closes the outbound queues of all sessions, when the engine ends.
    pub(crate) fn refuse_all_queued(&mut self, cycle: &Cycle, app: &mut dyn Application) {
        for n in 0..self.table.places() {
            if let Some(key) = self.table.key(n) {
                self.refuse_queued(key, cycle, app);
            }
        }
    }

    /// Reports to the application that a message from another thread was not sent.
    fn tell_not_sent(
        &mut self,
        key: SessionKey,
        ticket: Ticket,
        why: &SendError,
        cycle: &Cycle,
        app: &mut dyn Application,
    ) {
        self.sessions.notify(cycle.now, key, &Event::NotSent { ticket, why }, app);
    }
}
