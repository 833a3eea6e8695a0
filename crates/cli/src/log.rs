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
        // The error number adds nothing to the words.
        let line = format!("{}{}", line.message, line.fields);
        let line = line.split(" (os error").next().unwrap_or_default().to_owned();
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
