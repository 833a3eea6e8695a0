//! The scripts of a version that are made of another version's, so that hundreds of equal ones
//! exist only once.
//!
//! Most of what a session does is the same in every version. A version whose folder holds only the
//! scripts that differ takes all others from a template: the folder of FIX.4.2 for what is older,
//! of FIX.4.4 for what is newer. What differs everywhere is rewritten line by line; each rule is
//! one function below and names its reason. Nothing here knows how a session works.

use std::path::Path;

use fixbolt_codec::{Version, is_admin};
use fixbolt_session::{InvalidSessionId, SessionId};

use crate::script::{Script, ScriptError};

/// A version whose scripts are made of a template and of its own folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edition {
    version: Version,
    /// The folder of its own scripts, below `conformance`.
    folder: &'static str,
    /// The counterparty's CompID, as long as in the template, so that BodyLengths stay wrong by as
    /// much.
    trader: &'static str,
    /// Scripts of the template that the version has not, because it lacks what they need.
    omitted: &'static [&'static str],
}

/// What the scripts of a folder are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Sessions that accept, and reset their sequence numbers at each Logon.
    Reset,
    /// Sessions that accept, and continue with their sequence numbers.
    Continued,
    /// Sessions that connect, and continue with their sequence numbers: what they do until they are
    /// logged on.
    Initiator,
}

impl Family {
    /// Returns what the names of its folders end with.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Reset => "",
            Self::Continued => "-continued",
            Self::Initiator => "-initiator",
        }
    }
}

/// The echo's messages have no repeating group in FIX.4.0, whose Email repeats Text without one.
/// The last one is not in FIX.4.1, either.
const NOT_IN_40: &[&str] = &[
    "14i_group_count",
    "14j_group_order",
    "21_group_of_zero",
    "group_echoed",
    "14e_encoded_text_length_wrong",
];
/// Encoded text came with FIX.4.2.
const NOT_IN_41: &[&str] = &["14e_encoded_text_length_wrong"];

impl Edition {
    /// Every version without a whole folder of its own.
    pub const ALL: [Self; 7] = [
        Self { version: Version::Fix40, folder: "fix40", trader: "TRADER40", omitted: NOT_IN_40 },
        Self { version: Version::Fix41, folder: "fix41", trader: "TRADER41", omitted: NOT_IN_41 },
        Self { version: Version::Fix43, folder: "fix43", trader: "TRADER43", omitted: &[] },
        Self { version: Version::Fix50, folder: "fix50", trader: "TRADER50", omitted: &[] },
        Self { version: Version::Fix50Sp1, folder: "fix50sp1", trader: "TRADER51", omitted: &[] },
        Self { version: Version::Fix50Sp2, folder: "fix50sp2", trader: "TRADER52", omitted: &[] },
        Self { version: Version::FixLatest, folder: "fixlatest", trader: "TRADER5L", omitted: &[] },
    ];

    /// Returns the folder's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.folder
    }

    /// Returns the version of the application messages, which is that of the session up to FIX.4.4.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Returns the session under test: VENUE accepting the counterparty.
    ///
    /// # Errors
    /// Never, in fact: both CompIDs are valid.
    pub fn session(&self) -> Result<SessionId, InvalidSessionId> {
        let version = if self.version.is_application() { Version::Fixt11 } else { self.version };
        SessionId::new(version, "VENUE", self.trader)
    }

    /// Reads the scripts: those of the template in `conformance`, rewritten, and the version's own,
    /// which replace those of the same name.
    ///
    /// # Errors
    /// Returns a [`ScriptError`] if a folder or a script cannot be read.
    pub fn scripts(&self, conformance: &Path, family: Family) -> Result<Vec<Script>, ScriptError> {
        let suffix = family.suffix();
        let mut scripts = Vec::new();
        let own = conformance.join(format!("{}{suffix}", self.folder));
        if own.is_dir() {
            scripts = Script::read_folder(&own)?;
        }
        let template = conformance.join(format!("{}{suffix}", self.template()));
        for path in Script::list_folder(&template)? {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if self.omitted.contains(&&*name) || scripts.iter().any(|script| script.name() == name) {
                continue;
            }
            let text = std::fs::read_to_string(&path).map_err(|error| ScriptError {
                path: path.clone(),
                line: 0,
                reason: format!("cannot be read: {error}"),
            })?;
            // It is reported by the name of the version's folder.
            let shown = own.join(path.file_name().unwrap_or_default());
            scripts.push(Script::parse(&shown, self.rewritten(&text).as_bytes())?);
        }
        scripts.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(scripts)
    }

    fn template(&self) -> &'static str {
        if self.version < Version::Fix42 { "fix42" } else { "fix44" }
    }

    fn rewritten(&self, text: &str) -> String {
        text.lines().map(|line| self.line(line) + "\n").collect()
    }

    fn line(&self, line: &str) -> String {
        let begin_string = self.version.begin_string();
        // The wrong BeginStrings of the template must be wrong here, too.
        let (old, other) = match self.version {
            Version::Fix40 => ("FIX.4.0", "FIX.4.1"),
            _ => ("FIX.4.1", "FIX.4.0"),
        };
        let line = line.replace(&format!("8={old}|"), &format!("8={other}|"));
        let template = &self.template()[3..];
        let mut line = line
            .replace(&format!("TRADER{template}"), self.trader)
            .replace(if template == "42" { "FIX.4.2" } else { "FIX.4.4" }, begin_string);
        if self.version < Version::Fix42 {
            line = as_before_42(&line);
        }
        if self.version.is_application() {
            line = self.over_fixt(&line);
        }
        line
    }
}

impl Edition {
    /// Over FIXT.1.1, each Logon has DefaultApplVerID (1137), a reject names the version that a
    /// message without ApplVerID (1128) was read as (1130, which BusinessMessageReject has since
    /// FIX.5.0SP1), and a Logout says by SessionStatus (1409) that a number was too low or too
    /// high.
    fn over_fixt(&self, line: &str) -> String {
        let id = self.version.appl_ver_id().unwrap_or_default();
        if line.contains("|35=A|") {
            return format!("{line}1137={id}|");
        }
        if !line.starts_with('E') {
            return line.to_owned();
        }
        let field = |tag: &str| line.split('|').find_map(|field| field.strip_prefix(tag));
        let has_field = line.contains("|35=3|") || self.version > Version::Fix50 && line.contains("|35=j|");
        if let Some(msg_type) = field("372=")
            && has_field
            && !is_admin(msg_type.as_bytes())
        {
            return line.replace(&format!("|372={msg_type}|"), &format!("|372={msg_type}|1130={id}|"));
        }
        if let Some((before, text)) = line.split_once("|58=MsgSeqNum too low, expecting ") {
            let expected = text.split(' ').next().unwrap_or_default();
            return format!("{before}|1409=9|789={expected}|58=MsgSeqNum too low, expecting {text}");
        }
        line.replace("|58=Tag 789 ", "|1409=10|58=Tag 789 ")
    }
}

/// Up to FIX.4.1, an order has no TransactTime (60), 999999 stands for infinity in EndSeqNo (16),
/// Logon has no MaxMessageSize (383), and Reject has neither RefTagID (371), RefMsgType (372) nor
/// SessionRejectReason (373): its Text names the tag.
fn as_before_42(line: &str) -> String {
    let mut line = line.replace("|60=<TIME>", "");
    if line.contains("|35=2|") {
        line = line.replace("|16=0|", "|16=999999|");
    }
    if line.starts_with('E') && line.contains("|35=A|") {
        line = line.replace("|383=65536", "");
    }
    if line.starts_with('E') && line.contains("|35=3|") {
        let tag = line.split('|').find_map(|field| field.strip_prefix("371=")).map(str::to_owned);
        let fields: Vec<String> = line
            .split('|')
            .filter(|field| !["371=", "372=", "373="].iter().any(|tag| field.starts_with(tag)))
            .map(|field| match (&tag, field.starts_with("58=")) {
                (Some(tag), true) => format!("{field} ({tag})"),
                _ => field.to_owned(),
            })
            .collect();
        line = fields.join("|");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_old_version_lacks_is_taken_out_of_a_line() {
        let line = |line: &str| Edition::ALL[0].line(line);
        assert_eq!(
            line("E8=FIX.4.2|35=3|49=VENUE|56=TRADER42|45=2|371=54|372=D|373=1|58=Required tag missing|"),
            "E8=FIX.4.0|35=3|49=VENUE|56=TRADER40|45=2|58=Required tag missing (54)|"
        );
        assert_eq!(line("E8=FIX.4.2|35=2|7=2|16=0|"), "E8=FIX.4.0|35=2|7=2|16=999999|");
        assert_eq!(line("I8=FIX.4.2|35=D|11=a|60=<TIME>|38=1|"), "I8=FIX.4.0|35=D|11=a|38=1|");
        assert_eq!(line("E8=FIX.4.2|35=A|108=30|383=65536|"), "E8=FIX.4.0|35=A|108=30|");
        assert_eq!(line("# case 16=0 of FIX.4.2"), "# case 16=0 of FIX.4.0");
    }

    #[test]
    fn what_fixt_has_in_addition_is_put_into_a_line() {
        let line = |line: &str| Edition::ALL[5].line(line);
        assert_eq!(
            line("I8=FIX.4.4|35=A|49=TRADER44|56=VENUE|98=0|108=30|"),
            "I8=FIXT.1.1|35=A|49=TRADER52|56=VENUE|98=0|108=30|1137=9|"
        );
        assert_eq!(line("E8=FIX.4.4|35=3|372=D|373=1|58=x|"), "E8=FIXT.1.1|35=3|372=D|1130=9|373=1|58=x|");
        assert_eq!(line("E8=FIX.4.4|35=3|372=0|373=1|58=x|"), "E8=FIXT.1.1|35=3|372=0|373=1|58=x|");
        assert_eq!(
            line("E8=FIX.4.4|35=5|58=MsgSeqNum too low, expecting 5 but received 2|"),
            "E8=FIXT.1.1|35=5|1409=9|789=5|58=MsgSeqNum too low, expecting 5 but received 2|"
        );
        assert_eq!(Edition::ALL[3].line("E8=FIX.4.4|35=j|372=H|380=3|"), "E8=FIXT.1.1|35=j|372=H|380=3|");
    }
}
