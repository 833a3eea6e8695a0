//! Acceptance scripts: plain wire text that contains what a counterparty sends and what must come
//! back.
//!
//! The format is that of the industry's acceptance suites; `conformance/README.md` describes it
//! with our three additions. This module only reads scripts; it knows nothing about messages except
//! how to fill in BodyLength and CheckSum.

use core::fmt;
use std::path::{Path, PathBuf};

use fixbolt_session::{SessionId, Utc};

/// One script: its steps in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// The file it was read from, or the name it was given.
    pub path: PathBuf,
    /// The first comment line: the test case and what the script shows. Empty if there is none.
    pub title: String,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One line of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The line number, counted from 1.
    pub line: usize,
    /// The connection that it belongs to; 1 if the line does not say.
    pub connection: u32,
    /// The action or expectation.
    pub action: Action,
}

/// The action of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// `iCONNECT`: the counterparty connects.
    Connect,
    /// `iDISCONNECT`: the counterparty closes the connection.
    Disconnect,
    /// `eDISCONNECT`: the session under test must close the connection without sending a message
    /// first.
    ExpectDisconnect,
    /// `eSILENCE n` (ours): no message arrives for `n` seconds and the connection stays open.
    ExpectSilence(u64),
    /// `I...`: bytes to send.
    Send(Line),
    /// `E...`: the message that must arrive next.
    Expect(Line),
    /// `iSET_SESSION ID NEXTSENDERSEQNUM=n`: the runner does this on the acceptor.
    SetNextSenderSeqNum(SessionId, u64),
    /// `iSET_SESSION ID NEXTTARGETSEQNUM=n`: the runner does this on the acceptor.
    SetNextTargetSeqNum(SessionId, u64),
    /// `iLOGOUT ID [TEXT]` (ours): the acceptor's application logs out.
    Logout(SessionId, Option<String>),
}

/// The wire text of an `I` or `E` line before its variables are replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Bytes(Vec<u8>),
    /// `<TIME>`, `<TIME+n>`, `<TIME-n>`: now in whole seconds, shifted.
    Time(i64),
    /// `<TESTREQID>` (ours).
    TestReqId,
}

/// What stands for any TestReqID in an `E` line; see [`Line::render`].
pub const ANY_TEST_REQ_ID: &[u8] = b"<TESTREQID>";

impl Script {
    /// Reads one script from a file.
    ///
    /// # Errors
    /// Returns a [`ScriptError`] with the line, or if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let bytes = std::fs::read(path).map_err(|e| ScriptError {
            path: path.to_owned(),
            line: 0,
            reason: format!("cannot be read: {e}"),
        })?;
        Self::parse(path, &bytes)
    }

    /// Reads every `*.def` file in a folder, sorted by name.
    ///
    /// # Errors
    /// Returns the [`ScriptError`] of the first invalid script, or of the folder.
    pub fn read_folder(folder: &Path) -> Result<Vec<Self>, ScriptError> {
        Self::list_folder(folder)?.iter().map(|path| Self::read(path)).collect()
    }

    /// Returns the path of every `*.def` file in a folder, sorted by name.
    pub(crate) fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, ScriptError> {
        let whole = |e: std::io::Error| ScriptError {
            path: folder.to_owned(),
            line: 0,
            reason: format!("cannot be listed: {e}"),
        };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(whole)? {
            let path = entry.map_err(whole)?.path();
            if path.extension().is_some_and(|e| e == "def") {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Parses a script's text. `path` is only used in messages.
    ///
    /// # Errors
    /// Returns a [`ScriptError`] with the line that is invalid; nothing is skipped silently.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ScriptError> {
        let mut title = None;
        let mut steps = Vec::new();
        for (n, raw) in bytes.split(|b| *b == b'\n').enumerate() {
            let text = raw.strip_suffix(b"\r").unwrap_or(raw);
            if let Some(comment) = text.strip_prefix(b"#") {
                title.get_or_insert_with(|| String::from_utf8_lossy(comment).trim().to_owned());
                continue;
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            let step = step(n + 1, text).map_err(|reason| ScriptError {
                path: path.to_owned(),
                line: n + 1,
                reason,
            })?;
            steps.push(step);
        }
        Ok(Self { path: path.to_owned(), title: title.unwrap_or_default(), steps })
    }

    /// Returns the file's name without folder and `.def`.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
    }
}

fn step(line: usize, text: &[u8]) -> Result<Step, String> {
    let (kind, rest) = text.split_first().ok_or("empty line")?;
    // `i1,CONNECT`, `E2,8=...`: the digits before the comma identify the connection.
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (connection, rest) = if digits > 0 && rest.get(digits) == Some(&b',') {
        let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|s| s.parse().ok());
        (number.ok_or("the connection's number is too large")?, &rest[digits + 1..])
    } else {
        (1, rest)
    };
    let action = match kind {
        b'I' => Action::Send(Line::parse(rest)?),
        b'E' => {
            if !rest.starts_with(b"8=") {
                return Err("an E line must begin with 8=".into());
            }
            Action::Expect(Line::parse(rest)?)
        }
        b'i' | b'e' => {
            let command = std::str::from_utf8(rest).map_err(|_| "a command is plain text")?;
            command_action(*kind, command.trim())?
        }
        other => {
            return Err(format!("a line must begin with I, E, i, e or #, not with {:?}", char::from(*other)));
        }
    };
    Ok(Step { line, connection, action })
}

fn command_action(kind: u8, command: &str) -> Result<Action, String> {
    let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
    match (kind, word) {
        (b'i', "CONNECT") => Ok(Action::Connect),
        (b'i', "DISCONNECT") => Ok(Action::Disconnect),
        (b'e', "DISCONNECT") => Ok(Action::ExpectDisconnect),
        (b'e', "SILENCE") => {
            rest.parse().map(Action::ExpectSilence).map_err(|_| "eSILENCE needs whole seconds".into())
        }
        (b'i', "SET_SESSION") => {
            let (id, setting) =
                rest.rsplit_once(' ').ok_or("iSET_SESSION needs a session and NEXT...SEQNUM=n")?;
            let id: SessionId = id.trim().parse().map_err(|e| format!("{e}"))?;
            let (key, value) = setting.split_once('=').ok_or("iSET_SESSION needs NEXT...SEQNUM=n")?;
            let number = value.parse().map_err(|_| format!("{value:?} is not a MsgSeqNum"))?;
            match key {
                "NEXTSENDERSEQNUM" => Ok(Action::SetNextSenderSeqNum(id, number)),
                "NEXTTARGETSEQNUM" => Ok(Action::SetNextTargetSeqNum(id, number)),
                _ => Err(format!("iSET_SESSION supports NEXTSENDERSEQNUM and NEXTTARGETSEQNUM, not {key}")),
            }
        }
        (b'i', "LOGOUT") => {
            let (id, text) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
            let id: SessionId = id.parse().map_err(|e| format!("{e}"))?;
            Ok(Action::Logout(id, (!text.is_empty()).then(|| text.to_owned())))
        }
        _ => Err(format!("unknown command {:?}", format!("{}{command}", char::from(kind)))),
    }
}

impl Line {
    /// In a line without any SOH, `|` stands for SOH. One that does not begin with `8=` has no
    /// variables, as in QuickFIX/J: its BodyLength is that of what the line says.
    fn parse(text: &[u8]) -> Result<Self, String> {
        let bar_is_soh = !text.contains(&1);
        let has_variables = text.starts_with(b"8=");
        let mut parts = Vec::new();
        let mut bytes = Vec::new();
        let mut rest = text;
        while let Some((first, tail)) = rest.split_first() {
            if has_variables && rest.starts_with(ANY_TEST_REQ_ID) {
                parts.push(Part::Bytes(std::mem::take(&mut bytes)));
                parts.push(Part::TestReqId);
                rest = &rest[ANY_TEST_REQ_ID.len()..];
            } else if has_variables && let Some(tail) = rest.strip_prefix(b"<TIME") {
                let end = tail.iter().position(|b| *b == b'>').ok_or("<TIME is not closed by >")?;
                let shift = std::str::from_utf8(&tail[..end]).map_err(|_| "<TIME...> is not plain text")?;
                let seconds = if shift.is_empty() { Ok(0) } else { shift.parse() };
                let seconds = seconds
                    .map_err(|_| format!("<TIME{shift}>: the shift must be + or - and whole seconds"))?;
                parts.push(Part::Bytes(std::mem::take(&mut bytes)));
                parts.push(Part::Time(seconds));
                rest = &tail[end + 1..];
            } else {
                bytes.push(if bar_is_soh && *first == b'|' { 1 } else { *first });
                rest = tail;
            }
        }
        parts.push(Part::Bytes(bytes));
        Ok(Self { parts })
    }

    /// Returns the bytes that stand between this field's SOHs, in the parts without variables.
    fn field(&self, begins: &str) -> Option<(usize, core::ops::Range<usize>)> {
        self.parts.iter().enumerate().find_map(|(part, bytes)| {
            let Part::Bytes(bytes) = bytes else { return None };
            let mut at = 0;
            bytes.split(|b| *b == 1).find_map(|field| {
                let range = at..at + field.len();
                at = range.end + 1;
                field.starts_with(begins.as_bytes()).then_some((part, range))
            })
        })
    }

    /// Returns whether the line has this field, as TAG=VALUE.
    pub(crate) fn contains(&self, field: &str) -> bool {
        self.field(field).is_some_and(|(_, range)| range.len() == field.len())
    }

    /// Returns the value of a tag.
    pub(crate) fn value(&self, tag: &str) -> Option<&str> {
        let begins = format!("{tag}=");
        let (part, range) = self.field(&begins)?;
        let Part::Bytes(bytes) = &self.parts[part] else { return None };
        std::str::from_utf8(&bytes[range.start + begins.len()..range.end]).ok()
    }

    /// Inserts a field, as TAG=VALUE, after the one with this tag.
    pub(crate) fn insert_after(&mut self, tag: &str, field: &str) {
        if let Some((part, range)) = self.field(&format!("{tag}="))
            && let Part::Bytes(bytes) = &mut self.parts[part]
        {
            bytes.splice(range.end..range.end, [b"\x01", field.as_bytes()].concat());
        }
    }

    /// Returns the line's bytes at a given time, with variables replaced and nothing filled in.
    /// Without a TestReqID its variable is left unchanged ([`ANY_TEST_REQ_ID`]), and an `E` line
    /// matches any value there.
    #[must_use]
    pub fn render(&self, now: Utc, test_req_id: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::new();
        for part in &self.parts {
            match part {
                Part::Bytes(bytes) => out.extend_from_slice(bytes),
                Part::Time(shift) => out.extend_from_slice(timestamp(now, *shift).as_bytes()),
                Part::TestReqId => out.extend_from_slice(test_req_id.unwrap_or(ANY_TEST_REQ_ID)),
            }
        }
        out
    }

    /// Returns the bytes to send: those of [`Line::render`], with BodyLength (9) and CheckSum (10)
    /// filled in where absent. A line that does not begin with `8=`, or does not end its last
    /// field, is sent unchanged.
    #[must_use]
    pub fn to_send(&self, now: Utc, test_req_id: Option<&[u8]>) -> Vec<u8> {
        let mut out = self.render(now, test_req_id);
        if !out.starts_with(b"8=") || out.last() != Some(&1) {
            return out;
        }
        let trailer = find(&out, b"\x0110=").map(|at| at + 1);
        if find(&out, b"\x019=").is_none() {
            let begin = out.iter().position(|b| *b == 1).map_or(out.len(), |at| at + 1);
            let body = trailer.unwrap_or(out.len()).saturating_sub(begin);
            out.splice(begin..begin, format!("9={body}\x01").into_bytes());
        }
        if trailer.is_none() {
            let sum = out.iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
            out.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        }
        out
    }
}

pub(super) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

/// Formats a time shifted by whole seconds as `YYYYMMDD-HH:MM:SS`.
fn timestamp(now: Utc, shift: i64) -> String {
    let seconds = i64::try_from(now.0 / 1_000_000_000).unwrap_or(i64::MAX).saturating_add(shift);
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Converts days to a civil date, with years that begin in March so that the leap day comes
    // last.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}{month:02}{day:02}-{:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60)
}

/// A script that cannot be read, with file and line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError {
    /// The script or folder.
    pub path: PathBuf,
    /// The line, counted from 1; 0 for the whole file.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.path.display(), self.reason)
        } else {
            write!(f, "{}:{}: {}", self.path.display(), self.line, self.reason)
        }
    }
}

impl core::error::Error for ScriptError {}

#[cfg(test)]
mod tests {
    use super::*;

    // 2026-11-21T20:00:00Z
    const NOW: Utc = Utc(1_795_291_200_000_000_000);

    fn parse(text: &str) -> Result<Script, ScriptError> {
        Script::parse(Path::new("x.def"), text.as_bytes())
    }

    fn sent(text: &str) -> String {
        let script = parse(text).unwrap();
        let Action::Send(line) = &script.steps[0].action else { panic!("no I line") };
        String::from_utf8(line.to_send(NOW, None)).unwrap().replace('\x01', "|")
    }

    #[test]
    fn commands_and_messages_carry_their_connection() {
        let s = parse("# 1S-b: duplicate\r\ni1,CONNECT\r\nI1,8=FIX.4.2|35=A|\r\n\r\ne2,DISCONNECT").unwrap();
        assert_eq!(s.title, "1S-b: duplicate");
        let seen: Vec<_> = s.steps.iter().map(|s| (s.line, s.connection)).collect();
        assert_eq!(seen, [(2, 1), (3, 1), (5, 2)]);
        assert_eq!(s.steps[2].action, Action::ExpectDisconnect);
        assert_eq!(parse("iCONNECT").unwrap().steps[0].connection, 1);
    }

    #[test]
    fn body_length_and_check_sum_are_filled_in_when_absent_only() {
        let plain = sent("I8=FIX.4.2|35=0|34=2|");
        assert_eq!(plain, "8=FIX.4.2|9=10|35=0|34=2|10=164|");
        assert_eq!(sent("I8=FIX.4.2|9=7|35=0|34=2|10=0|"), "8=FIX.4.2|9=7|35=0|34=2|10=0|");
        assert_eq!(sent("I8=FIX.4.2|35=0|34=2|10=999|"), "8=FIX.4.2|9=10|35=0|34=2|10=999|");
        assert_eq!(sent("I35=0|34=2|"), "35=0|34=2|", "no 8= at the start: sent unchanged");
        assert_eq!(
            sent("I8=FIX.4.2|35=0|34=2"),
            "8=FIX.4.2|35=0|34=2",
            "last field not ended: sent unchanged"
        );
    }

    #[test]
    fn time_is_now_in_whole_seconds_and_can_be_shifted() {
        assert_eq!(sent("I8=F|52=<TIME>|52=<TIME-121>|52=<TIME+10>"), {
            "8=F|52=20261121-20:00:00|52=20261121-19:57:59|52=20261121-20:00:10"
        });
        assert_eq!(sent("I35=0|8=F|52=<TIME>|"), "35=0|8=F|52=<TIME>|", "no 8= at the start: sent unchanged");
        assert_eq!(timestamp(Utc(951_782_400_000_000_000), 0), "20000229-00:00:00");
        assert_eq!(timestamp(Utc(0), 0), "19700101-00:00:00");
        assert_eq!(timestamp(Utc(1_704_067_199_999_999_999), 0), "20231231-23:59:59");
    }

    #[test]
    fn a_bar_is_a_bar_where_the_line_uses_soh() {
        assert_eq!(sent("I58=a|b\x01"), "58=a|b|".to_owned());
        let script = parse("I58=a|b\x01").unwrap();
        let Action::Send(line) = &script.steps[0].action else { panic!() };
        assert_eq!(line.render(NOW, None), b"58=a|b\x01");
    }

    #[test]
    fn session_commands_name_session_and_number() {
        let s = parse("iSET_SESSION FIX.4.4:ISLD->TW NEXTSENDERSEQNUM=2000\niLOGOUT FIX.4.4:V->T good night")
            .unwrap();
        let id: SessionId = "FIX.4.4:ISLD->TW".parse().unwrap();
        assert_eq!(s.steps[0].action, Action::SetNextSenderSeqNum(id, 2000));
        let id: SessionId = "FIX.4.4:V->T".parse().unwrap();
        assert_eq!(s.steps[1].action, Action::Logout(id, Some("good night".into())));
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        for (text, line) in [
            ("\n\nxCONNECT", 3),
            ("iCONECT", 1),
            ("iCONNECT\nI8=FIX.4.2|52=<TIME+x>|", 2),
            ("E35=A|", 1),
            ("eSILENCE soon", 1),
            ("iSET_SESSION FIX.4.4:A->B NEXTSEQNUM=1", 1),
            ("i99999999999,CONNECT", 1),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error}");
        }
    }
}
