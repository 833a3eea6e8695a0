//! A store that records everything, so that the wire can be compared with it.

use std::sync::{Arc, Mutex, MutexGuard};

use fixbolt_session::store::{
    Intercept, Intercepted, Position, Record, RecordKind, SessionKey, Store, StoreError,
};

/// What the store has received, shared with the observer of the wire.
#[derive(Clone)]
pub(super) struct Seen(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    /// Outbound messages of the open turn.
    open: Vec<Vec<u8>>,
    committed: Vec<(Position, Vec<u8>)>,
    /// The position of the last commit.
    last: Position,
    /// The furthest position that the session knows to be safe.
    told: Position,
}

impl Seen {
    /// Returns whether this message was committed and the session was notified that its turn is
    /// safe.
    pub(super) fn is_safe(&self, message: &[u8]) -> bool {
        let log = self.lock();
        log.committed.iter().rev().any(|(position, stored)| is_copy(stored, message) && *position <= log.told)
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Returns whether these are the bytes of a message as it is stored: with `*` in place of secrets,
/// and then with another CheckSum (10).
fn is_copy(stored: &[u8], message: &[u8]) -> bool {
    const CHECKSUM: usize = b"10=000|".len();
    let fields = stored.len().saturating_sub(CHECKSUM);
    stored == message
        || (stored.len() == message.len()
            && stored[..fields].contains(&b'*')
            && stored[..fields].iter().zip(message).all(|(stored, sent)| stored == sent || *stored == b'*'))
}

/// Records the calls to the store that it wraps.
pub(super) struct Watched(Seen);

impl Watched {
    pub(super) fn around<S: Store>(store: S) -> (Intercepted<S, Self>, Seen) {
        let seen = Seen(Arc::default());
        (Intercepted::new(store, Self(seen.clone())), seen)
    }
}

impl<S: Store> Intercept<S> for Watched {
    fn begin(&mut self, store: &mut S) {
        self.0.lock().open.clear();
        store.begin();
    }

    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        store.append(session, record)?;
        if record.kind == RecordKind::Outbound {
            self.0.lock().open.push(record.body.to_vec());
        }
        Ok(())
    }

    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        let position = store.commit()?.position;
        let mut log = self.0.lock();
        let open = std::mem::take(&mut log.open);
        log.committed.extend(open.into_iter().map(|bytes| (position, bytes)));
        log.last = position;
        Ok(position)
    }

    fn rollback(&mut self, store: &mut S) {
        self.0.lock().open.clear();
        store.rollback();
    }

    fn durable(&mut self, store: &mut S, session: SessionKey) -> Option<Position> {
        let position = (store as &mut dyn Store).durable(session);
        let mut log = self.0.lock();
        log.told = log.told.max(position.unwrap_or(log.last));
        position
    }
}
