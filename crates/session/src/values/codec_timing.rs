//! How long a connection's messages take to encode and decode, if the session measures that.
//!
//! The core still has no clock: the caller lends it one that is used for nothing else. Without one,
//! each of four places tests an option that is empty.

use core::fmt;
use core::time::Duration;

use fixbolt_codec::SecondCache;

use crate::values::time::Mono;

/// A monotonic clock that a session reads before and after it encodes or decodes a message
/// ([`TimingSettings::codec_timing`](crate::TimingSettings::codec_timing)).
#[derive(Clone, Copy)]
pub struct CodecClock(fn() -> Mono);

impl CodecClock {
    /// Creates a clock that is read by calling `read`, on any thread. Its origin does not matter.
    #[must_use]
    pub const fn new(read: fn() -> Mono) -> Self {
        Self(read)
    }

    /// Returns the time.
    #[must_use]
    pub fn read(self) -> Mono {
        (self.0)()
    }
}

impl fmt::Debug for CodecClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodecClock")
    }
}

impl PartialEq for CodecClock {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::fn_addr_eq(self.0, other.0)
    }
}

/// What was measured.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodecOperation {
    /// A body is written, and header and trailer are put around it.
    Encode,
    /// A message is cut from the bytes received, indexed, its CheckSum verified, its sequence
    /// number examined, and it is validated: up to where the application could read it.
    Decode,
}

/// How long the messages of a connection took to encode or to decode, in total. As text it is a
/// line such as `Encode: 1.372111365 secs, 500005 msgs, 0.000002744 secs/msg, 364405.55 msgs/sec`,
/// which is the form of Fix8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodecTime {
    /// What took the time.
    pub operation: CodecOperation,
    /// The time.
    pub time: Duration,
    /// The number of messages.
    pub messages: u64,
}

impl CodecTime {
    const fn zero(operation: CodecOperation) -> Self {
        Self { operation, time: Duration::ZERO, messages: 0 }
    }
}

impl fmt::Display for CodecTime {
    #[allow(clippy::cast_precision_loss)] // no count of messages comes near 2^53
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = match self.operation {
            CodecOperation::Encode => "Encode",
            CodecOperation::Decode => "Decode",
        };
        let (seconds, messages) = (self.time.as_secs_f64(), self.messages as f64);
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        write!(
            f,
            "{operation}: {seconds:.9} secs, {} msgs, {:.9} secs/msg, {:.2} msgs/sec",
            self.messages,
            ratio(seconds, messages),
            ratio(messages, seconds)
        )
    }
}

/// What encoding needs of the time. They are one value because a draft, which has a reference to
/// it, is moved.
pub(crate) struct EncodingTime {
    /// The text of the current second.
    pub(crate) second: SecondCache,
    /// What the connection's messages take, if that is measured.
    pub(crate) timing: Option<CodecTiming>,
}

/// The measurements of a connection.
#[derive(Debug)]
pub(crate) struct CodecTiming {
    clock: CodecClock,
    /// When the message in hand was begun.
    began: Option<Mono>,
    encode: CodecTime,
    decode: CodecTime,
}

impl CodecTiming {
    pub(crate) const fn new(clock: CodecClock) -> Self {
        let encode = CodecTime::zero(CodecOperation::Encode);
        Self { clock, began: None, encode, decode: CodecTime::zero(CodecOperation::Decode) }
    }

    /// Begins to encode or decode a message. One that was begun before and not ended is forgotten.
    #[cold]
    pub(crate) fn begin(&mut self) {
        self.began = Some(self.clock.read());
    }

    /// Counts the message that was begun as encoded, if there is one.
    #[cold]
    pub(crate) fn encoded(&mut self) {
        Self::add(&mut self.encode, self.clock, self.began.take());
    }

    /// Counts the message that was begun as decoded, if there is one.
    #[cold]
    pub(crate) fn decoded(&mut self) {
        Self::add(&mut self.decode, self.clock, self.began.take());
    }

    fn add(to: &mut CodecTime, clock: CodecClock, began: Option<Mono>) {
        if let Some(began) = began {
            to.time += clock.read() - began;
            to.messages += 1;
        }
    }

    /// Adds what was done elsewhere for messages that are encoded here.
    pub(crate) fn add_encoding(&mut self, time: Duration) {
        self.encode.time += time;
    }

    /// Runs something that is neither encoding nor decoding.
    pub(crate) fn paused<R>(timing: &mut Option<Self>, run: impl FnOnce() -> R) -> R {
        let Some(Self { clock, began: Some(began), .. }) = timing else { return run() };
        let before = clock.read();
        let result = run();
        *began = *began + (clock.read() - before);
        result
    }

    /// Returns the totals.
    pub(crate) const fn totals(&self) -> [CodecTime; 2] {
        [self.encode, self.decode]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_the_published_log() {
        let time = Duration::from_nanos(1_372_111_365);
        let line = CodecTime { operation: CodecOperation::Encode, time, messages: 500_005 };
        let expected = "Encode: 1.372111365 secs, 500005 msgs, 0.000002744 secs/msg, 364405.55 msgs/sec";
        assert_eq!(line.to_string(), expected);
        let none = CodecTime::zero(CodecOperation::Decode);
        let expected = "Decode: 0.000000000 secs, 0 msgs, 0.000000000 secs/msg, 0.00 msgs/sec";
        assert_eq!(none.to_string(), expected);
    }
}
