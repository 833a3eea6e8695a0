//! The application: answers orders, prints how sessions begin and end, and reads the journal when
//! it starts.

use crate::messages::{parties_of, report_filled};
use crate::watch::{Ledger, say};
use fixbolt::codec::{Message, Version};
use fixbolt::session::{Application, Delivery, Event, Failure, Resume, Turn};
use fixbolt_session::kill_points::{Point, on_reach};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) struct Peer {
    version: Version,
    ledger: Arc<Ledger>,
}

impl Peer {
    pub(crate) fn new(version: Version, ledger: Arc<Ledger>) -> Self {
        Self { version, ledger }
    }
}

impl Application for Peer {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.ledger.read_parties(parties_of(self.version, message));
        match message.msg_type() {
            b"D" => {
                if self.ledger.answers_orders() {
                    report_filled(message, turn, self.version)?;
                }
                Ok(Delivery::Done)
            }
            b"8" => Ok(Delivery::Done),
            // Also for a BusinessMessageReject, which the session never answers with another one.
            _ => Ok(Delivery::UNSUPPORTED),
        }
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        let (next_in, next_out) = (resume.next_in(), resume.next_out());
        self.ledger.begin_again();
        let read = resume.messages(|stored| {
            self.ledger.learn(&stored);
            Ok(())
        });
        if let Err(why) = read {
            say("note", &[("text", format!("the journal cannot be read back: {why}").into())]);
        }
        self.ledger.set_numbers(next_in.0, next_out.0);
        self.ledger.say_numbers("resumed");
        Ok(())
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::LoggedOn => {
                self.ledger.set_logged_on(true);
                self.ledger.say_numbers("logon");
            }
            Event::Ended(why) => {
                say("note", &[("text", format!("ended: {why:?}").into())]);
                if self.ledger.set_logged_on(false) {
                    self.ledger.say_numbers("logout");
                }
            }
            Event::Sent { .. } => {}
            other => say("note", &[("text", format!("{other:?}").into())]),
        }
        Ok(())
    }
}

static KILL: OnceLock<(Point, AtomicU32)> = OnceLock::new();

/// Sends SIGKILL to this process when it reaches the point for the n-th time.
pub(crate) fn kill_at(point: &str, on: u32) -> Result<(), String> {
    let point = match point {
        "encode" => Point::Encode,
        "append" => Point::Append,
        "commit" => Point::Commit,
        "send" => Point::Send,
        "idle" => Point::Idle,
        _ => return Err(format!("unknown point {point}")),
    };
    KILL.get_or_init(|| (point, AtomicU32::new(on.max(1))));
    on_reach(|reached| {
        let Some((point, left)) = KILL.get() else { return };
        if reached == *point && left.fetch_sub(1, Ordering::Relaxed) == 1 {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    });
    Ok(())
}
