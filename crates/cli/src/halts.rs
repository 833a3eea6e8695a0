//! Which sessions of a server are halted, what ends that, and whether any session is left to serve.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fixbolt::{SessionHandle, Stopper};
use fixbolt_cli::log::{self, Line, Severity};
use fixbolt_session::{Event, Halt, SessionId, SessionState};

/// Has the sessions looked at when an event may be about a halt.
#[derive(Clone)]
pub(crate) struct Bell(SyncSender<()>);

/// Returns a bell, and where it is heard: once, however often it was rung meanwhile.
pub(crate) fn bell() -> (Bell, Receiver<()>) {
    let (bell, rung) = sync_channel(1);
    (Bell(bell), rung)
}

impl Bell {
    /// Rings if the event may be about a halt or its end. The session's state says so by then.
    pub(crate) fn hear(&self, event: &Event<'_>) {
        // A halt without a connection is a note.
        if matches!(event, Event::Ended(_) | Event::Note(_) | Event::Resumed) {
            // Full: it has been rung already.
            let _ = self.0.try_send(());
        }
    }
}

/// The sessions that can halt.
pub(crate) struct Halts {
    sessions: Vec<(SessionHandle, bool)>,
    /// Where their journals are.
    journal: Option<PathBuf>,
    /// Whether counterparties without a session of their own are served, too.
    serves_others: bool,
}

impl Halts {
    /// Watches `sessions`, whose journals are below `journal`.
    pub(crate) fn new(sessions: Vec<SessionHandle>, journal: Option<PathBuf>, serves_others: bool) -> Self {
        let sessions = sessions.into_iter().map(|session| (session, false)).collect();
        Self { sessions, journal, serves_others }
    }

    /// Says of each session that has halted since the last call what ends that. Returns whether
    /// nobody can be served: all are halted until somebody intervenes.
    pub(crate) fn check(&mut self) -> bool {
        for (session, was_halted) in &mut self.sessions {
            let halt = halt(session);
            if let Some(halt) = halt.as_ref().filter(|_| !*was_halted) {
                log::write(&remedy(session.id(), halt, self.journal.as_deref()));
            }
            *was_halted = halt.is_some();
        }
        !self.serves_others
            && !self.sessions.is_empty()
            && self.sessions.iter().all(|(_, is_halted)| *is_halted)
    }

    /// Says that nobody can be served.
    pub(crate) fn tell_all(&self) {
        let text = match self.sessions.len() {
            1 => "the only session is halted: nobody can be served".to_owned(),
            sessions => format!("all {sessions} sessions are halted: nobody can be served"),
        };
        log::write(&Line::new(Severity::Error, "all_halted", text));
    }

    /// Goes on checking whenever the bell is rung, in a thread of its own, which ends when all
    /// bells are dropped. With `stopper`, stops the engine when nobody can be served; the flag that
    /// is returned says that this has happened.
    pub(crate) fn watch(
        mut self,
        rung: Receiver<()>,
        stopper: Option<Stopper>,
    ) -> std::io::Result<Arc<AtomicBool>> {
        let all_halted = Arc::new(AtomicBool::new(false));
        if self.sessions.is_empty() {
            return Ok(all_halted);
        }
        let flag = Arc::clone(&all_halted);
        std::thread::Builder::new().name("fixbolt-halts".to_owned()).spawn(move || {
            let mut told = false;
            loop {
                let all = self.check();
                if all && !told {
                    self.tell_all();
                    if let Some(stopper) = &stopper {
                        flag.store(true, Ordering::Relaxed);
                        return stopper.stop();
                    }
                }
                told = all;
                if rung.recv().is_err() {
                    return;
                }
            }
        })?;
        Ok(all_halted)
    }
}

/// Returns why a session is halted until somebody intervenes. A store that failed is tried again,
/// so that the session may continue by itself.
fn halt(session: &SessionHandle) -> Option<Halt> {
    match session.state() {
        SessionState::Halted(Halt::StoreFailed(_)) => None,
        SessionState::Halted(halt) => Some(halt),
        _ => None,
    }
}

/// Returns the command that ends a halt, if there is one.
pub(crate) fn command(session: &SessionId, halt: &Halt, journal: Option<&Path>) -> Option<String> {
    let directory = || journal.map(|base| quoted(&base.join(session.file_name()).display().to_string()));
    match halt {
        Halt::PoisonMessage { seq, .. } => {
            Some(format!("fixbolt journal repair --skip {seq} {}", directory()?))
        }
        // A copy is not repaired.
        Halt::StoreDamaged { reason } if reason.contains("`fixbolt journal adopt ") => {
            Some(format!("fixbolt journal adopt {}", directory()?))
        }
        Halt::StoreDamaged { .. } => Some(format!("fixbolt journal repair {}", directory()?)),
        _ => None,
    }
}

/// Returns a path as a shell reads it as one word.
fn quoted(path: &str) -> String {
    if path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+=:@%,".contains(&byte)) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// Returns a line that says what ends a halt.
fn remedy(session: &SessionId, halt: &Halt, journal: Option<&Path>) -> Line {
    let what_to_do = match (halt, command(session, halt, journal)) {
        // The journal is in use until then.
        (Halt::PoisonMessage { .. }, Some(command)) => {
            format!("stop this process, skip the message with `{command}`, and start it again")
        }
        (_, Some(command)) => format!("run `{command}`, and start this process again"),
        _ => "start this process again once its cause is removed".to_owned(),
    };
    Line::new(Severity::Error, "not_served", format!("not served until its halt is ended: {what_to_do}"))
        .session(session.to_string())
        .told("reason", halt.to_string())
        .told("what_to_do", what_to_do)
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::SeqNum;

    use super::*;
    use fixbolt_cli::output::Format;

    #[test]
    fn each_halt_has_the_command_that_ends_it() {
        let session: SessionId = "FIX.4.4:V->T".parse().unwrap();
        let line = |halt: &Halt, journal| remedy(&session, halt, journal).render(Format::Text);
        let journal = Some(Path::new("/var/fix"));
        let poison = Halt::PoisonMessage { seq: SeqNum(7), attempts: 3 };
        let told = line(&poison, journal);
        assert!(told.contains("`fixbolt journal repair --skip 7 /var/fix/FIX.4.4-V-T`"), "{told}");
        assert!(told.contains(" error: FIX.4.4:V->T: "), "{told}");
        let damaged = |reason: &str| Halt::StoreDamaged { reason: reason.to_owned() };
        let told = line(&damaged("segment-000001: checksum"), journal);
        assert!(told.contains("`fixbolt journal repair /var/fix/FIX.4.4-V-T`"), "{told}");
        let told =
            line(&damaged("this is a copy; see `fixbolt journal adopt /var/fix/FIX.4.4-V-T`"), journal);
        assert!(told.contains("run `fixbolt journal adopt /var/fix/FIX.4.4-V-T`, and start"), "{told}");
        let told = line(&damaged("checksum"), Some(Path::new("/var/it's mine")));
        assert!(told.contains(r"`fixbolt journal repair '/var/it'\''s mine/FIX.4.4-V-T'`"), "{told}");
        assert!(line(&poison, None).ends_with("start this process again once its cause is removed\n"));
    }
}
