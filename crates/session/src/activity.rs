//! What a worker is in: a callback of the application, or a call of the store, and of which session.
//!
//! The worker writes it, and a thread that watches the worker reads it. It costs the worker a few
//! stores to memory of its own, and decides nothing.

use core::fmt;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// What a worker is in, for the thread that watches it.
///
/// Values that are read while the worker moves may belong to different calls. They are right for a
/// worker that stays where it is, which is when they are asked for: read [`Activity::calls`] before
/// and after.
#[derive(Debug, Default)]
pub struct Activity {
    /// The callback that runs; 0 for none.
    callback: AtomicU8,
    /// The call of the store that runs, possibly within the callback; 0 for none.
    store: AtomicU8,
    /// The indices of their sessions.
    called: AtomicU32,
    stored: AtomicU32,
    calls: AtomicU32,
}

/// A callback of the application, or of the observer of the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Callback {
    /// [`Application::on_message`](crate::Application::on_message).
    OnMessage = 1,
    /// [`Application::on_logon`](crate::Application::on_logon).
    OnLogon,
    /// [`Application::on_sending_logon`](crate::Application::on_sending_logon).
    OnSendingLogon,
    /// [`Application::on_resend`](crate::Application::on_resend).
    OnResend,
    /// [`Application::on_resume`](crate::Application::on_resume).
    OnResume,
    /// [`Application::on_event`](crate::Application::on_event).
    OnEvent,
    /// [`WireObserver::on_wire`](crate::WireObserver::on_wire).
    OnWire,
}

/// A call of the store that may wait for a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum StoreCall {
    /// [`Store::open`](crate::store::Store::open), or its lazy form.
    Open = 1,
    /// [`Store::append`](crate::store::Store::append).
    Append,
    /// [`Store::commit`](crate::store::Store::commit).
    Commit,
    /// [`Store::read`](crate::store::Store::read).
    Read,
    /// [`Store::replay`](crate::store::Store::replay).
    Replay,
    /// [`Store::close`](crate::store::Store::close), now or later.
    Close,
}

impl Callback {
    const ALL: [Self; 7] = [
        Self::OnMessage,
        Self::OnLogon,
        Self::OnSendingLogon,
        Self::OnResend,
        Self::OnResume,
        Self::OnEvent,
        Self::OnWire,
    ];

    /// Returns its name in the code.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnMessage => "on_message",
            Self::OnLogon => "on_logon",
            Self::OnSendingLogon => "on_sending_logon",
            Self::OnResend => "on_resend",
            Self::OnResume => "on_resume",
            Self::OnEvent => "on_event",
            Self::OnWire => "on_wire",
        }
    }
}

impl StoreCall {
    const ALL: [Self; 6] =
        [Self::Open, Self::Append, Self::Commit, Self::Read, Self::Replay, Self::Close];

    /// Returns its name in the code.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Append => "append",
            Self::Commit => "commit",
            Self::Read => "read",
            Self::Replay => "replay",
            Self::Close => "close",
        }
    }
}

impl fmt::Display for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for StoreCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Activity {
    /// Returns the callback that runs, and the index of its session
    /// ([`SessionKey::index`](crate::SessionKey::index)).
    #[must_use]
    pub fn callback(&self) -> Option<(Callback, usize)> {
        let callback = self.callback.load(Ordering::Relaxed);
        let found = Callback::ALL.into_iter().find(|known| *known as u8 == callback)?;
        Some((found, self.called.load(Ordering::Relaxed) as usize))
    }

    /// Returns the call of the store that runs, and the index of its session.
    #[must_use]
    pub fn store_call(&self) -> Option<(StoreCall, usize)> {
        let call = self.store.load(Ordering::Relaxed);
        let found = StoreCall::ALL.into_iter().find(|known| *known as u8 == call)?;
        Some((found, self.stored.load(Ordering::Relaxed) as usize))
    }

    /// Returns the number of callbacks and calls of the store that have begun; it starts again
    /// after the largest one.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn begin_callback(&self, callback: Callback, session: usize) {
        self.count();
        self.called.store(session as u32, Ordering::Relaxed);
        self.callback.store(callback as u8, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn end_callback(&self) {
        self.callback.store(0, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn begin_store_call(&self, call: StoreCall, session: usize) {
        self.count();
        self.stored.store(session as u32, Ordering::Relaxed);
        self.store.store(call as u8, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn end_store_call(&self) {
        self.store.store(0, Ordering::Relaxed);
    }

    /// Only the worker writes.
    #[inline]
    fn count(&self) {
        self.calls.store(self.calls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}
