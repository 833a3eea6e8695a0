//! What the tests of checks share.

use core::ops::{ControlFlow, RangeInclusive};

use fixbolt_codec::{Envelope, SeqNum, Version};

use crate::settings::{Role, SessionSettings};
use crate::state::phase::PhaseState;
use crate::state::session::Session;
use crate::store::{Committed, Generation, Position, Record, Recovered, Store, StoreError};
use crate::values::id::SessionId;
use crate::values::key::SessionKey;
use crate::values::time::{Mono, Now, Utc};

/// Returns what a check says of a value that was damaged.
///
/// # Panics
/// Panics if the check finds nothing.
pub(crate) fn said(check: impl FnOnce()) -> String {
    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
    let panic = checked.expect_err("the damage is not found");
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    panic.downcast_ref::<String>().cloned().or(text).expect("a check says what is wrong")
}

/// Returns an acceptor's session that is logged on.
pub(crate) fn session() -> Session {
    let id = SessionId::new(Version::Fix44, "US", "PEER").unwrap();
    let envelope = Envelope::new(b"FIX.4.4", b"US", b"PEER").unwrap();
    let settings = SessionSettings::new(id, Role::Acceptor);
    let recovered = Recovered { next_in: SeqNum(2), next_out: SeqNum(2), ..Recovered::default() };
    let mut session = Session::new(SessionKey::new(0, 0, 0), settings, envelope, &recovered, true);
    session.connect(Now { mono: Mono(1), utc: Utc(1) });
    let connection = session.state.connection.as_mut().unwrap();
    connection.logged_on = true;
    let logon = &mut connection.logon;
    (logon.phase, logon.ours) = (PhaseState::LoggedOn { held: None }, Some(SeqNum(1)));
    session.publish();
    session
}

/// A store that accepts everything and keeps nothing.
pub(crate) struct NoStore;

impl Store for NoStore {
    fn open(&mut self, _: SessionKey, _: &SessionId) -> Result<Recovered, StoreError> {
        Ok(Recovered::default())
    }
    fn close(&mut self, _: SessionKey) -> Result<(), StoreError> {
        Ok(())
    }
    fn begin(&mut self) {}
    fn append(&mut self, _: SessionKey, _: &Record<'_>) -> Result<(), StoreError> {
        Ok(())
    }
    fn commit(&mut self) -> Result<Committed, StoreError> {
        Ok(Committed { position: Position(0), is_durable: true })
    }
    fn rollback(&mut self) {}
    fn read(
        &mut self,
        _: SessionKey,
        _: Generation,
        _: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        Ok(None)
    }
    fn replay(
        &mut self,
        _: SessionKey,
        _: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        Ok(())
    }
}
