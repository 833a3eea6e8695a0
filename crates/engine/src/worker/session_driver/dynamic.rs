//! Dynamic sessions: those that a template makes because a counterparty asks for them. They are
//! closed again once nobody uses them, so that their number is bounded however many identities
//! counterparties think of.

use core::time::Duration;

use fixbolt_session::{Application, Halt, Mono, OpenError, Refusal, SessionKey, SessionSettings, Sessions};

use super::SessionDriver;
use crate::worker::cycle::Cycle;
use crate::worker::session_table::{Dynamic, SessionEntry};

/// How long idle sessions are kept if the store has enough to do.
const BUSY: Duration = Duration::from_millis(10);

impl SessionDriver {
    /// Opens a session that a counterparty asks for; `None` if another worker was the first to do
    /// so.
    ///
    /// It counts towards the limit of dynamic sessions once it has logged on. Until then it keeps
    /// nobody from using an idle one, so only room for it is required.
    pub(crate) fn open_dynamic(
        &mut self,
        settings: SessionSettings,
        entry: SessionEntry,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) -> Result<Option<SessionKey>, Refusal> {
        if self.registry.is_full_of_dynamic() && self.idle_for_longest(|dynamic| dynamic.counted).is_none() {
            return Err(Refusal::NoRoomForDynamic);
        }
        if self.registry.is_full() {
            let idle = self.idle_for_longest(|_| true).ok_or(Refusal::NoRoom)?;
            let reason = "there are as many sessions as MaxSessions allows";
            self.give_back(idle, reason, Sessions::close_later, cycle, app);
        }
        let id = entry.id.clone();
        match self.open(settings, entry, cycle, app) {
            Ok(key) => {
                self.note_idle(key, cycle);
                Ok(Some(key))
            }
            Err(OpenError::AlreadyOpen) => Ok(None),
            Err(error) => {
                tracing::error!(session = %id, %error, "the session cannot be opened");
                Err(Refusal::NotOpened)
            }
        }
    }

    /// Counts a dynamic session that has logged on for the first time since it was opened. If there
    /// are too many, the one that has been idle for longest is given back.
    pub(super) fn count_dynamic(&mut self, key: SessionKey, cycle: &Cycle, app: &mut dyn Application) {
        let has_logged_on = self.sessions.has_logged_on(key);
        let Some(dynamic) = self.table[key].dynamic() else { return };
        if !has_logged_on || dynamic.counted {
            return;
        }
        dynamic.counted = true;
        if self.registry.add_dynamic()
            && let Some(idle) = self.idle_for_longest(|dynamic| dynamic.counted)
        {
            let reason = "there are as many dynamic sessions as MaxDynamicSessions allows";
            self.give_back(idle, reason, Sessions::close_later, cycle, app);
        }
    }

    /// Stops counting a dynamic session without a connection that has logged on, but whose journal
    /// could not be created since, so that the answer was never sent. It is given back at once.
    pub(super) fn uncount_dynamic(&mut self, key: SessionKey, cycle: &mut Cycle) {
        let was_never_stored = self.sessions.was_never_stored(key);
        let Some(dynamic) = self.table[key].dynamic() else { return };
        if dynamic.counted && was_never_stored {
            dynamic.counted = false;
            self.registry.remove_dynamic();
            cycle.wake(cycle.now.mono);
        }
    }

    /// Notes that a dynamic session has no connection from now on, and requests a wake-up for when
    /// it may be given back.
    pub(super) fn note_idle(&mut self, key: SessionKey, cycle: &mut Cycle) {
        let Some(dynamic) = self.table[key].dynamic() else { return };
        dynamic.idle_since = Some(cycle.now.mono);
        let dynamic = *dynamic;
        if let Some(at) = self.given_back_at(dynamic) {
            cycle.wake(at);
        }
    }

    /// Gives back the dynamic sessions that have been idle for long enough, as fast as the store
    /// can close them, and requests a wake-up for the others.
    pub(crate) fn give_back_idle(&mut self, cycle: &mut Cycle, app: &mut dyn Application) {
        for n in 0..self.table.places() {
            let Some(key) = self.table.key(n) else { continue };
            let Some(dynamic) = self.table[key].dynamic().copied() else { continue };
            match self.given_back_at(dynamic) {
                Some(at) if at > cycle.now.mono => cycle.wake(at),
                Some(_) if self.may_be_given_back(key, dynamic) => {
                    if dynamic.counted && !self.sessions.may_open(&self.table[key].id) {
                        cycle.wake(cycle.now.mono + BUSY);
                        continue;
                    }
                    let reason = if dynamic.counted { "nobody uses it" } else { "it has not logged on" };
                    self.give_back(key, reason, Sessions::close_later, cycle, app);
                }
                _ => {}
            }
        }
    }

    /// Gives back the session that has been idle for longest because file descriptors are short,
    /// unless messages would be lost. Returns whether there was one.
    pub(crate) fn give_back_for_descriptors(&mut self, cycle: &Cycle, app: &mut dyn Application) -> bool {
        let Some(idle) = self.idle_for_longest(|_| true).filter(|idle| self.sessions.survives_close(*idle))
        else {
            return false;
        };
        // Its descriptors are needed now.
        self.give_back(idle, "file descriptors are short", Sessions::close, cycle, app);
        true
    }

    /// Returns when an idle session is given back: at once if it has not logged on.
    fn given_back_at(&self, dynamic: Dynamic) -> Option<Mono> {
        let since = dynamic.idle_since?;
        Some(if dynamic.counted { since + self.dynamic_idle_time } else { since })
    }

    /// Returns whether nothing is lost if an idle session is closed: neither messages, nor what an
    /// operator has decided or must decide.
    fn may_be_given_back(&self, key: SessionKey, dynamic: Dynamic) -> bool {
        if dynamic.counted {
            return self.sessions.can_connect(key) && self.sessions.survives_close(key);
        }
        // If its store is damaged or full, so it is when it is opened again.
        let skips_or_retries = matches!(self.sessions.halted(key), Some(Halt::PoisonMessage { .. }));
        self.sessions.is_enabled(key) && !skips_or_retries
    }

    /// Returns the dynamic session that has had no connection for longest, of those that `counts`
    /// names. Its messages may be lost with it, if its store keeps them in memory only.
    fn idle_for_longest(&mut self, counts: impl Fn(Dynamic) -> bool) -> Option<SessionKey> {
        let mut longest: Option<(Mono, SessionKey)> = None;
        for n in 0..self.table.places() {
            let Some(key) = self.table.key(n) else { continue };
            let Some(dynamic) = self.table[key].dynamic().copied() else { continue };
            if let Some(since) = dynamic.idle_since
                && counts(dynamic)
                && longest.is_none_or(|(longest, _)| since < longest)
                && self.sessions.can_connect(key)
            {
                longest = Some((since, key));
            }
        }
        longest.map(|(_, key)| key)
    }

    fn give_back(
        &mut self,
        key: SessionKey,
        reason: &str,
        close: impl FnOnce(&mut Sessions, SessionKey) -> Result<(), OpenError>,
        cycle: &Cycle,
        app: &mut dyn Application,
    ) {
        let id = self.table[key].id.clone();
        match self.close_session(key, close, cycle, app) {
            Ok(()) => tracing::info!(session = %id, reason, "the dynamic session was closed"),
            Err(error) => {
                tracing::error!(session = %id, reason, %error, "the dynamic session was not closed cleanly")
            }
        }
    }
}
