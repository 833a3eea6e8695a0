//! The engine's log as lines on standard error: connections, refusals, failures.

use std::fmt::{self, Write as _};
use std::sync::mpsc::Sender;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Where log lines go.
pub(crate) enum Log {
    /// To standard error, including the engine's routine messages.
    Everything,
    /// To a command that reports problems itself: only warnings and errors.
    Warnings(Sender<String>),
}

impl Log {
    /// Sends the engine's log here from now on. Called once per process.
    pub(crate) fn install(self) {
        // A second call would be a bug in this command, and would only lose log lines.
        let _ = tracing::subscriber::set_global_default(self);
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= if matches!(self, Self::Everything) { Level::INFO } else { Level::WARN }
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let line = without_error_number(&format!("{}{}", line.message, line.fields));
        match self {
            Self::Everything => {
                let level = event.metadata().level();
                let mark = if *level <= Level::WARN { "warning: " } else { "" };
                note!("{mark}{line}");
            }
            // The command has its answer and no longer listens.
            Self::Warnings(to) => _ = to.send(line),
        }
    }

    // The engine opens no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Returns a line without the system's error number, which adds nothing to the words.
fn without_error_number(line: &str) -> String {
    match line.split_once(" (os error ").and_then(|(before, rest)| Some((before, rest.split_once(')')?.1))) {
        Some((before, after)) => format!("{before}{after}"),
        None => line.to_owned(),
    }
}

/// A log event as text: the message, then `name value` for each field.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, ", {} {value:?}", field.name())
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_number_is_left_out_and_what_to_do_is_kept() {
        assert_eq!(without_error_number("in use (os error 98); choose another"), "in use; choose another");
        assert_eq!(without_error_number("refused (os error 111)"), "refused");
        assert_eq!(without_error_number("no number"), "no number");
    }
}
