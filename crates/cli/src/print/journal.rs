//! The records of a journal as messages: their direction, time, and position.

use std::io::Write;
use std::path::Path;

use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_cli::output::{Object, shown};
use fixbolt_journal::{JournalReader, JournalRecord, SessionJournal};
use fixbolt_session::store::{RecordFlags, RecordKind};

use super::{Printer, Style};
use crate::journal::{refused, timestamp};

impl<W: Write> Printer<W> {
    /// Shows every committed record of the journals in a directory, oldest first.
    pub(super) fn journal(&mut self, directory: &Path) -> Result<(), Failure> {
        let reader = JournalReader::open(directory).map_err(|error| refused(&error))?;
        for session in reader.sessions() {
            let name = session.session().map_or_else(|| "session unknown".to_owned(), ToString::to_string);
            if let Style::Block = self.style {
                writeln!(self.out, "{name} ({})\n", session.directory().display())?;
            }
            for record in session.records() {
                self.record(session, &name, &record)?;
            }
        }
        let whole = fixbolt_journal::inspect::verify(directory).map_err(|error| refused(&error))?;
        for report in whole.iter().filter(|report| !report.damage.is_empty()) {
            self.out.flush()?;
            let place = report.directory.display();
            note!("{place}: damaged: run `fixbolt journal verify {place}` to see where");
            self.answer = Answer::No;
        }
        Ok(())
    }

    fn record(
        &mut self,
        session: &SessionJournal,
        name: &str,
        at: &JournalRecord<'_>,
    ) -> Result<(), Failure> {
        let record = &at.record;
        let (time, kind) = (timestamp(record.utc), word(record.kind));
        let file = session.file(at.segment);
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        let flags = flags(record.flags);
        let object = Object::new()
            .text("source", &session.directory().display().to_string())
            .text("session", name)
            .text("segment", &file)
            .raw("offset", at.offset)
            .text("kind", kind)
            .text("time", &time)
            .raw("seq", record.seq)
            .raw("generation", at.generation.0)
            .raw("turn", at.turn)
            .raw("connection", record.connection.0)
            .raw("cause", record.cause.map_or_else(|| "null".to_owned(), |cause| cause.to_string()))
            .array("flags", flags.iter().map(|flag| fixbolt_cli::output::quoted(flag)));
        if matches!(record.kind, RecordKind::Inbound | RecordKind::Outbound) {
            let marks = flags.iter().map(|flag| format!(", {flag}")).collect::<String>();
            let cause = record.cause.map_or_else(String::new, |cause| format!(", caused by #{cause}"));
            self.text.clear();
            self.title.clear();
            match self.style {
                Style::Block => {
                    write!(self.title, "  {time} {kind}{marks}{cause}  [{file}:{}]", at.offset)?;
                }
                Style::OneLine => write!(self.text, "{kind:<8} ")?,
                Style::Json => self.title.extend_from_slice(object.unfinished().as_bytes()),
                Style::Hfprint => write!(self.title, "{file}:{}", at.offset)?,
            }
            return self.message(record.body, &[]);
        }
        let text = shown(record.body);
        match self.style {
            Style::Block => {
                let what = match record.kind {
                    RecordKind::Waiting => format!("message {} of those that have waited", record.seq),
                    RecordKind::Dropped => format!("messages up to {} of those that have waited", record.seq),
                    _ => format!("sequence numbers {} in, {} out", record.next_in, record.seq),
                };
                let line = format!("{time} {kind}: {what}: {text}");
                writeln!(self.out, "{line}  [{file}:{}]\n", at.offset)?;
            }
            Style::OneLine => writeln!(self.out, "{kind:<8} {time} #{}: {text}", record.seq)?,
            Style::Json => writeln!(self.out, "{}", object.text("text", &text))?,
            Style::Hfprint => {}
        }
        Ok(())
    }
}

fn word(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Inbound => "received",
        RecordKind::Outbound => "sent",
        RecordKind::Reset => "reset",
        RecordKind::Attempt => "attempt",
        RecordKind::Adjust => "adjust",
        RecordKind::Waiting => "waiting",
        RecordKind::Dropped => "dropped",
    }
}

fn flags(flags: RecordFlags) -> Vec<&'static str> {
    [
        (RecordFlags::POSS_DUP, "possible duplicate"),
        (RecordFlags::ADMIN, "session"),
        (RecordFlags::MASKED, "masked"),
        (RecordFlags::DELIVERED, "delivered"),
        (RecordFlags::NO_RESEND, "never resent"),
        (RecordFlags::WAITED, "has waited"),
    ]
    .into_iter()
    .filter(|(flag, _)| flags.contains(*flag))
    .map(|(_, word)| word)
    .collect()
}
