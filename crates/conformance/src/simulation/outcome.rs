//! What a world came to.

use std::fmt;
use std::time::Duration;

/// How a world ended.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// Every outcome had its cause, and in the end both sides agreed.
    InStep,
    /// Something has no cause in what the world did: a fault, in words.
    Failed(String),
}

/// Declares [`Totals`] with what each count is called.
macro_rules! totals {
    ($($(#[doc = $doc:literal])+ $count:ident $name:literal;)+) => {
        /// What happened in worlds.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        #[non_exhaustive]
        pub struct Totals {
            $($(#[doc = $doc])+ pub $count: u64,)+
            /// The time that passed in the worlds.
            pub simulated: Duration,
        }

        impl Totals {
            /// Adds what happened in other worlds.
            pub fn add(&mut self, other: &Self) {
                $(self.$count += other.$count;)+
                self.simulated += other.simulated;
            }

            /// Returns each count with its name.
            #[must_use]
            pub fn counts(&self) -> Vec<(&'static str, u64)> {
                vec![$(($name, self.$count)),+]
            }
        }
    };
}

totals! {
    /// Worlds.
    worlds "worlds";
    /// Steps from one moment at which something happened to the next.
    steps "steps";
    /// Application messages of both sides.
    messages "messages";
    /// Messages that were lost or garbled on the way to the session.
    lost_in "lost to the session";
    /// Messages of the session that were lost or garbled.
    lost_out "lost from it";
    /// Logons of both sides that came to a session.
    logons "logons";
    /// Connections that were cut.
    cuts "cuts";
    /// ResendRequests that the counterparty has answered.
    replays "replays";
    /// Requests of the counterparty for messages again that were refused, and gap fills in place of
    /// what they were for.
    limited "requests limited";
    /// Logons of which each told the other side what it misses.
    expected "gaps told by two Logons";
    /// Copies of reports that the application has written to other sessions in the same turn.
    copies "drop copies";
    /// Copies that could not be written, as the other session was not there.
    not_copied "drop copies without a session";
    /// Resets of the sequence numbers.
    resets "resets";
    /// Resets in the session whose connection has ended before the answer.
    unanswered "resets without an answer";
    /// Operators' calls.
    operators "operators' calls";
    /// Times that the operator stopped the process.
    stops "stops";
    /// Deaths of the process.
    deaths "deaths";
    /// Deaths that took the machine's power.
    power_losses "power losses";
    /// Pauses of the process.
    pauses "pauses";
    /// Jumps of the clock.
    jumps "jumps of the clock";
    /// Edges of a schedule.
    edges "edges";
    /// Times that the store refused.
    refusals "refusals of the store";
    /// Times that the store was put back to an older state.
    restored "stores put back";
    /// Attacks of a hostile counterparty.
    attacks "attacks";
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in self.counts() {
            write!(f, "{count} {name}, ")?;
        }
        write!(f, "{:.1} simulated hours", self.simulated.as_secs_f64() / 3600.0)
    }
}
