//! What the engine has to tell while it runs, as lines on standard error: connections, refusals, failures.

use std::fmt::{self, Write as _};
use std::sync::mpsc::Sender;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Where lines go.
pub(crate) enum Log {
    /// To standard error, with what the engine does every day.
    Everything,
    /// Warnings and errors, to a command that says itself what went wrong.
    Warnings(Sender<String>),
}

impl Log {
    /// From now on the engine's lines go here. Once a process.
    pub(crate) fn install(self) {
        // A second call would be a mistake of ours, and costs only lines.
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
        // The number says nothing that the words do not.
        let line = format!("{}{}", line.message, line.fields);
        let line = line.split(" (os error").next().unwrap_or_default().to_owned();
        match self {
            Self::Everything => {
                let level = event.metadata().level();
                let mark = if *level <= Level::WARN { "warning: " } else { "" };
                note!("{mark}{line}");
            }
            // Nobody listens any more: the command has its answer.
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

/// An event as text: the message, then `name value` for each field.
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
