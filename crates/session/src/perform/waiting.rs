//! Sends the messages that wait for a throttle, in order, when it allows them.

use core::ops::ControlFlow;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{Body, BodySink, NewBody};

use crate::decide::reaction::SessionReaction;
use crate::events::end::Halt;
use crate::events::error::SendError;
use crate::events::event::{Accepted, Event, Ticket};
use crate::perform::call::Call;
use crate::send::draft::{Author, Handle};
use crate::state::timers::Timer;
use crate::state::waiting::WaitingBody;
use crate::store::{RecordKind, Recovered};

/// Why messages are not sent whose session and store end.
const UNAVAILABLE: SendError = SendError::Unavailable;
/// The most messages per call.
const AT_ONCE: usize = 16;

impl Call<'_> {
    /// Sends the messages that have waited for long enough.
    pub(crate) fn send_waiting(&mut self) {
        for _ in 0..AT_ONCE {
            if !self.session().state.is_open() || !self.session().is_due(Timer::Waiting, self.now.mono) {
                break;
            }
            if !self.send_oldest() {
                break;
            }
        }
    }

    /// Sends the oldest message that waits, or drops it if it cannot be sent any more. Returns
    /// whether the next one may follow.
    fn send_oldest(&mut self) -> bool {
        self.begin();
        let sent = self.number_oldest();
        match sent {
            Ok(_) => {
                let is_committed = self.commit().is_ok();
                // Others may wait for room in the queue.
                self.core.work.room_made(&mut self.core.sessions);
                is_committed
            }
            Err(SendError::BackPressure) => {
                self.rollback();
                false
            }
            Err(error @ SendError::Store(_)) => {
                self.abandon(error);
                false
            }
            Err(why) => {
                self.rollback();
                self.drop_waiting(1, &why)
            }
        }
    }

    /// Gives the oldest message that waits its sequence number.
    fn number_oldest(&mut self) -> Result<Accepted, SendError> {
        let (now, index) = (self.now, self.own);
        let session = self.session_mut();
        let waiting = session.state.stored.waiting();
        let mut queue = core::mem::take(&mut session.waiting);
        let result = match queue.head(waiting) {
            None | Some(WaitingBody { is_lost: true, .. }) => Err(SendError::NotStored),
            Some(body) => {
                let WaitingBody { msg_type, cause, original, sum, .. } = *body;
                let handle = Handle::new(now, self.core, index);
                let mut draft = Handle { cause, original, author: Author::Waited, ..handle }.draft(msg_type);
                draft.writer().raw().body(&Body { msg_type, bytes: &body.bytes, sum });
                draft.send()
            }
        };
        if let Ok(Accepted::Numbered(seq)) = result {
            let oldest = waiting.first();
            queue.set_outcome(oldest..=oldest, &Ok(seq));
        }
        self.session_mut().waiting = queue;
        result
    }

    /// Ends the wait of the oldest `count` messages, which will not be sent, and tells the
    /// application. Returns whether that was stored.
    fn drop_waiting(&mut self, count: u32, why: &SendError) -> bool {
        self.run(|call| {
            let (session, store) = call.core.session_and_store(call.own);
            let first = session.state.stored.waiting().first();
            session.drop_waiting(call.now, store, first..=first + u64::from(count) - 1, why)
        })
    }

    /// Drops all messages that wait, because the session ends and its store does not outlive it.
    /// One that has failed hears nothing of that, and the application does.
    pub(crate) fn drop_all_waiting(&mut self) {
        let count = self.session().state.stored.wait;
        if count == 0 || self.session().standing.store_is_open && self.drop_waiting(count, &UNAVAILABLE) {
            return;
        }
        let session = self.session_mut();
        session.state.stored.wait = 0;
        let untold = session.waiting.take_all();
        session.publish();
        for (_, body) in untold {
            self.notify(&Event::NotSent { ticket: body.ticket, why: &UNAVAILABLE });
        }
    }

    /// Reads the messages that wait from the store that was just opened. Returns which ones no
    /// longer wait, and why: those that the session had and the store has lost, and those of which
    /// the store does not know whether they were sent.
    pub(crate) fn read_waiting(&mut self, recovered: &Recovered) -> Vec<(Ticket, SendError)> {
        let session = self.session_mut();
        let (key, waiting) = (session.fixed.key, session.state.stored.waiting());
        let mut known = session.waiting.take_all();
        let mut read: Vec<WaitingBody> = Vec::new();
        let store = &mut self.core.store;
        let replayed = if waiting.count == 0 {
            Ok(())
        } else {
            store.replay(key, &mut |record| {
                let number = record.seq.0;
                if record.kind == RecordKind::Waiting && number >= waiting.first() {
                    let missed = (waiting.first() + read.len() as u64..number).take(waiting.count as usize);
                    read.extend(missed.map(|number| WaitingBody::of(number, None)));
                    read.push(WaitingBody::of(number, Some(&record)));
                }
                ControlFlow::Continue(())
            })
        };
        let missed = waiting.first() + read.len() as u64..=waiting.last;
        read.extend(missed.map(|number| WaitingBody::of(number, None)));
        let session = self.session_mut();
        // The sender of one that the session had knows it by the ticket that it has here.
        let mut ticket_of = |number| {
            let at = known.iter().position(|(known, _)| *known == number);
            at.map_or(Ticket::Waiting(number), |at| known.swap_remove(at).1.ticket)
        };
        for (mut body, number) in read.into_iter().zip(waiting.numbers()) {
            body.ticket = ticket_of(number);
            session.waiting.push(number, body);
        }
        let in_doubt = recovered.in_doubt.clone().into_iter().flatten();
        let mut ended: Vec<_> = in_doubt.map(|number| (ticket_of(number), SendError::InDoubt)).collect();
        ended.extend(known.into_iter().map(|(_, body)| (body.ticket, SendError::NotStored)));
        if let Err(error) = replayed {
            self.react(SessionReaction::halt(Halt::by_store(error)));
        }
        ended
    }
}
