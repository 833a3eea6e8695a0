//! What a replay has found, as text for people or JSON for programs.

use std::io::{BufWriter, Write};
use std::path::Path;

use fixbolt::config::GroupsAsSent;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::{self, Format, Object, Verdict, shown};
use fixbolt_session::{Role, SessionId};

use super::outcome::{Difference, Finding, Outcome};
use super::wire::number;
use crate::journal::timestamp;
use crate::print::{Lexicon, Reader, block, field_line, json};

/// Writes what replays have found.
pub(super) struct Report {
    format: Format,
    reader: Reader,
    out: BufWriter<Verdict>,
    answer: Answer,
}

impl Report {
    pub(super) fn new(format: Format) -> Result<Self, Failure> {
        let reader = Reader::new(Lexicon::new(Vec::new(), GroupsAsSent::default())?);
        Ok(Self { format, reader, out: output::verdict(), answer: Answer::Yes })
    }

    /// Says which session is replayed with which settings.
    pub(super) fn begin(
        &mut self,
        id: &SessionId,
        directory: &Path,
        role: Role,
        from: &str,
    ) -> Result<(), Failure> {
        let role = match role {
            Role::Initiator => "initiator",
            Role::Acceptor => "acceptor",
        };
        match self.format {
            Format::Text => writeln!(self.out, "{id}: {role}, {from} ({})", directory.display())?,
            Format::Json => {
                let object = about(id, "settings").text("directory", &directory.display().to_string());
                writeln!(self.out, "{}", object.text("role", role).text("from", from))?;
            }
        }
        Ok(())
    }

    /// Writes what was found, and how much was compared.
    pub(super) fn end(&mut self, id: &SessionId, directory: &Path, outcome: &Outcome) -> Result<(), Failure> {
        for finding in &outcome.findings {
            match finding {
                Finding::Note { utc, text } => {
                    let time = timestamp(*utc);
                    match self.format {
                        Format::Text => writeln!(self.out, "{id}: note: {time}: {text}")?,
                        Format::Json => {
                            writeln!(
                                self.out,
                                "{}",
                                about(id, "note").text("time", &time).text("text", text)
                            )?;
                        }
                    }
                }
                Finding::Difference(difference) => match self.format {
                    Format::Text => self.difference(id, difference)?,
                    Format::Json => self.difference_json(id, difference)?,
                },
            }
        }
        let Outcome { inbound, equal, different, missing, extra, limits, .. } = outcome;
        let compared = outcome.compared();
        if different + missing + extra > 0 {
            self.answer = Answer::No;
        }
        match self.format {
            Format::Text => {
                writeln!(
                    self.out,
                    "{id}: {inbound} inbound messages replayed, {compared} outbound messages compared: {equal} equal, {different} different, {missing} missing, {extra} extra ({})",
                    directory.display()
                )?;
                for (what, times) in limits {
                    writeln!(self.out, "  {times} {what}")?;
                }
            }
            Format::Json => {
                let limits =
                    limits.iter().map(|(what, times)| Object::new().raw("times", times).text("what", what));
                let object = about(id, "summary")
                    .raw("inbound", inbound)
                    .raw("compared", compared)
                    .raw("equal", equal)
                    .raw("different", different)
                    .raw("missing", missing)
                    .raw("extra", extra)
                    .array("limits", limits);
                writeln!(self.out, "{object}")?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Answer, Failure> {
        self.out.flush()?;
        Ok(self.answer)
    }

    fn difference(&mut self, id: &SessionId, difference: &Difference) -> Result<(), Failure> {
        let Difference { utc, recorded, replayed, why } = difference;
        let what = word(difference);
        let seq = seq(difference);
        let mut line = format!("{id}: {what}: {}, MsgSeqNum {seq}", timestamp(*utc));
        if let (Some(recorded), Some(replayed)) = (recorded, replayed) {
            let [recorded, replayed] = self.first_difference(recorded, replayed);
            line.push_str(&format!("; first: recorded {recorded}, replayed {replayed}"));
        }
        if let Some(why) = why {
            line.push_str(&format!("; refused: {why}"));
        }
        writeln!(self.out, "{line}")?;
        for (message, title) in [(recorded, "  recorded"), (replayed, "  replayed")] {
            if let Some(message) = message {
                let mut text = Vec::new();
                block(&mut text, &self.reader.read(message), title.as_bytes());
                self.out.write_all(&text)?;
            }
        }
        Ok(())
    }

    fn difference_json(&mut self, id: &SessionId, difference: &Difference) -> Result<(), Failure> {
        let Difference { utc, recorded, replayed, why } = difference;
        let mut object = about(id, "difference")
            .text("what", word(difference))
            .text("time", &timestamp(*utc))
            .raw("seq", seq(difference))
            .maybe_text("refused", why.as_deref());
        if let (Some(recorded), Some(replayed)) = (recorded, replayed) {
            let [recorded, replayed] = self.first_difference(recorded, replayed);
            object =
                object.raw("field", Object::new().text("recorded", &recorded).text("replayed", &replayed));
        }
        for (message, name) in [(recorded, "recorded"), (replayed, "replayed")] {
            if let Some(message) = message {
                let mut text = Vec::new();
                let beginning = Object::new().text("as", name);
                json(&mut text, &self.reader.read(message), beginning.unfinished().as_bytes());
                object = object.raw(name, String::from_utf8_lossy(text.trim_ascii_end()));
            }
        }
        writeln!(self.out, "{object}")?;
        Ok(())
    }

    /// Returns the first field that differs, of both messages; BodyLength and CheckSum only if
    /// nothing else does.
    fn first_difference(&mut self, recorded: &[u8], replayed: &[u8]) -> [String; 2] {
        let (ours, theirs) = (self.fields(recorded), self.fields(replayed));
        let first = |all: bool| {
            let of = |fields: &[Field]| -> Vec<Field> {
                let counts = |field: &&Field| all || ![&b"9"[..], b"10"].contains(&&*field.tag);
                fields.iter().filter(counts).cloned().collect()
            };
            let (ours, theirs) = (of(&ours), of(&theirs));
            let most = ours.len().max(theirs.len());
            (0..most).map(|n| (ours.get(n).cloned(), theirs.get(n).cloned())).find(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => (&a.tag, &a.value) != (&b.tag, &b.value),
                _ => true,
            })
        };
        let (recorded, replayed) = first(false).or_else(|| first(true)).unwrap_or_default();
        [recorded, replayed].map(|field| field.map_or_else(|| "no such field".to_owned(), |field| field.line))
    }

    fn fields(&mut self, message: &[u8]) -> Vec<Field> {
        let reading = self.reader.read(message);
        let fields = reading.fields.iter().map(|field| {
            let mut line = Vec::new();
            field_line(&mut line, &reading, field);
            let (tag, value) = (reading.tag_of(field).to_vec(), reading.value_of(field).to_vec());
            Field { tag, value, line: shown(&line) }
        });
        fields.collect()
    }
}

/// A field, and how it is shown.
#[derive(Clone)]
struct Field {
    tag: Vec<u8>,
    value: Vec<u8>,
    line: String,
}

fn about(id: &SessionId, kind: &str) -> Object {
    Object::new().text("kind", kind).text("session", &id.to_string())
}

fn word(difference: &Difference) -> &'static str {
    match (&difference.recorded, &difference.replayed) {
        (Some(_), Some(_)) => "different",
        (Some(_), None) => "missing",
        _ => "extra",
    }
}

fn seq(difference: &Difference) -> u64 {
    let message = difference.recorded.as_ref().or(difference.replayed.as_ref());
    message.and_then(|message| number(message, 34)).unwrap_or_default()
}
