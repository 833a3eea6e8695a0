//! The file's text as sections of settings: comments, includes, `${...}`. Knows no key, starts no
//! program.
//!
//! A mistake is kept with the section or file that it makes unusable, and reading continues.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{ConfigError, ConfigWarning, SourceLine, comment_hint};
use super::nearest_key::{DEFAULT, INCLUDE, SESSION, is_like};
use super::secret::is_secret;
use crate::encoding::{UTF16, is_utf16};

/// How deeply files may include each other.
const MAX_INCLUDE_DEPTH: usize = 8;
/// Largest file that `${file:PATH}` reads, in bytes.
const MAX_VALUE_FILE: u64 = 64 * 1024;

/// The text of a file and of the files that it includes.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) sections: Vec<Section>,
    /// Mistakes that may be about every session: those before the first section, files that are
    /// not included, and lines that may have been meant as a header.
    pub(super) mistakes: Vec<ConfigError>,
}

/// A section: the settings below its header. All `[DEFAULT]` sections are merged, and so are all
/// `[APP]` sections.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) kind: SectionKind,
    pub(super) place: SourceLine,
    /// Each key once.
    pub(super) settings: Vec<Setting>,
    /// The places in `settings` by the key, in lower case: a file may have a million lines.
    places: HashMap<String, usize>,
    pub(super) mistakes: Vec<ConfigError>,
    /// The first words of the lines that are no settings: keys, probably.
    pub(super) unread: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SectionKind {
    Default,
    Session,
    App,
    /// A misspelled header: the settings below it belong to no other section.
    Unknown,
}

/// One `Key=Value` line.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) key: String,
    /// The value as written in the file, which errors show. A secret is masked unless it is
    /// `${...}`.
    pub(super) written: String,
    /// The value with `${...}` replaced; `None` if that failed, which is reported as a mistake.
    pub(super) value: Option<String>,
    /// Whether the value may not be shown: the key holds a secret, or the value contains a file's
    /// text.
    pub(super) hidden: bool,
    pub(super) place: SourceLine,
}

impl Setting {
    /// Returns the warning that the setting has no effect, and what replaces it.
    pub(super) fn without_effect(&self, instead: impl Into<String>) -> ConfigWarning {
        let (place, key) = (self.place.clone(), self.key.clone());
        ConfigWarning { place, key, instead: instead.into(), is_used: false }
    }

    /// Returns the warning that the setting is used and may not do what was hoped.
    pub(super) fn doubtful(&self, why: String) -> ConfigWarning {
        let (place, key) = (self.place.clone(), self.key.clone());
        ConfigWarning { place, key, instead: why, is_used: true }
    }

    /// Returns the mistake that the value is correct and its effect not available.
    pub(super) fn unavailable(&self, reason: String) -> ConfigError {
        let key = format!("{}={}", self.key, self.written);
        ConfigError::Unavailable { place: self.place.clone(), key, reason: reason.into() }
    }

    /// Returns the value; empty if it could not be replaced.
    pub(super) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// Returns the value as it may be shown.
    pub(super) fn shown(&self) -> &str {
        if self.hidden { &self.written } else { self.text() }
    }

    /// Returns the mistake that the value is not what was expected.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> ConfigError {
        ConfigError::Value {
            place: self.place.clone(),
            key: self.key.clone(),
            value: self.written.clone(),
            expected: expected.into(),
        }
    }
}

impl Text {
    /// Adds settings to `[DEFAULT]` that it does not have.
    pub(super) fn add_defaults(&mut self, whose: &str, defaults: &[(&str, &str)]) {
        let place = SourceLine { file: Arc::from(whose), line: 0 };
        let at = self.sections.iter().position(|section| section.kind == SectionKind::Default);
        let at = at.unwrap_or_else(|| {
            self.sections.push(Section::new(SectionKind::Default, place.clone()));
            self.sections.len() - 1
        });
        let section = &mut self.sections[at];
        for (key, value) in defaults {
            // What the section says counts.
            let _ = section.add(Setting {
                key: (*key).to_owned(),
                written: (*value).to_owned(),
                value: Some((*value).to_owned()),
                hidden: false,
                place: place.clone(),
            });
        }
    }
}

impl Section {
    fn new(kind: SectionKind, place: SourceLine) -> Self {
        let (settings, places, unread) = (Vec::new(), HashMap::new(), Vec::new());
        Self { kind, place, settings, places, mistakes: Vec::new(), unread }
    }

    /// Adds a setting. Returns it if the section has no setting of the key, else the other one.
    fn add(&mut self, setting: Setting) -> Result<(), (Setting, &Setting)> {
        match self.places.entry(setting.key.to_ascii_lowercase()) {
            Entry::Occupied(known) => Err((setting, &self.settings[*known.get()])),
            Entry::Vacant(place) => {
                place.insert(self.settings.len());
                self.settings.push(setting);
                Ok(())
            }
        }
    }

    pub(super) fn find(&self, key: &str) -> Option<&Setting> {
        let place = self.places.get(&key.to_ascii_lowercase())?;
        Some(&self.settings[*place])
    }
}

/// Looks up an environment variable. A parameter, so that tests need not change the process's
/// environment.
pub(super) type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Reads `path` and the files that it includes.
pub(super) fn read_file(path: &Path, environment: Environment<'_>) -> Text {
    let mut reader = Reader { environment, text: Text::default(), current: None, open: Vec::new() };
    if let Err(error) = reader.file(path, None) {
        reader.text.mistakes.push(error);
    }
    reader.text
}

/// Reads `text` as if it were in a file called `name`; includes are relative to the current
/// directory.
pub(super) fn read_text(name: &str, text: &str, environment: Environment<'_>) -> Text {
    let mut reader = Reader { environment, text: Text::default(), current: None, open: Vec::new() };
    reader.lines(&Arc::from(name), Path::new(""), text);
    reader.text
}

/// Bytes of the largest file: a configuration of 10,000 sessions has about 3 MiB.
const LARGEST: u64 = 64 << 20;

/// Reads a file, which may be a device that never ends. Returns nothing if it is larger.
fn read_at_most(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

struct Reader<'e> {
    environment: Environment<'e>,
    text: Text,
    current: Option<usize>,
    /// The files being read, outermost first.
    open: Vec<PathBuf>,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, included_at: Option<&SourceLine>) -> Result<(), ConfigError> {
        let because = |kind, reason| ConfigError::Unreadable {
            file: path.display().to_string(),
            included_at: included_at.cloned(),
            kind,
            reason,
        };
        let unreadable = |reason| because(io::ErrorKind::InvalidData, reason);
        let bytes = read_at_most(path, LARGEST).map_err(|e| because(e.kind(), e.to_string()))?;
        let too_large = || format!("it has more than {} MiB, and is no configuration", LARGEST >> 20);
        let bytes = bytes.ok_or_else(|| unreadable(too_large()))?;
        if is_utf16(&bytes) {
            return Err(unreadable(UTF16.to_owned()));
        }
        let text = String::from_utf8(bytes)
            .map_err(|e| unreadable(not_utf8(e.as_bytes(), e.utf8_error().valid_up_to())))?;
        // A pipe has no name in the file system, and no directory that other files could be in.
        let named = std::fs::canonicalize(path).ok();
        let directory = if named.is_some() { path.parent() } else { None }.unwrap_or(Path::new(""));
        let whole = named.unwrap_or_else(|| path.to_owned());
        if self.open.contains(&whole) {
            return Err(unreadable("the file includes itself".to_owned()));
        }
        if self.open.len() == MAX_INCLUDE_DEPTH {
            return Err(unreadable(format!("included more than {MAX_INCLUDE_DEPTH} files deep")));
        }
        self.open.push(whole);
        self.lines(&Arc::from(path.display().to_string()), directory, &text);
        self.open.pop();
        Ok(())
    }

    fn lines(&mut self, file: &Arc<str>, directory: &Path, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, number) in text.lines().zip(1..) {
            let place = SourceLine { file: Arc::clone(file), line: number };
            let line = line.trim_matches(|c: char| c.is_whitespace() && (c.is_ascii() || !is_line_break(c)));
            if let Err(error) = self.line(line, place, directory) {
                if let (ConfigError::Syntax { .. }, Some(current)) = (&error, self.current) {
                    self.text.sections[current].unread.push(first_word(line).to_owned());
                }
                let hides_others = hides_others(line, &error);
                self.mistake(error, hides_others);
            }
        }
    }

    fn line(&mut self, line: &str, place: SourceLine, directory: &Path) -> Result<(), ConfigError> {
        if let Some(odd) = line.chars().find(|c| is_misleading(*c)) {
            // In a comment, too: what an editor shows below it would be part of it.
            let reason = misleading(odd);
            return Err(ConfigError::Syntax { place, reason });
        }
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if let Some(header) = line.strip_prefix('[') {
            return self.section(place, header);
        }
        let Some((key, written)) = line.split_once('=') else {
            let reason = format!("{:?} is neither [SECTION], Key=Value nor # comment", without_secret(line));
            return Err(ConfigError::Syntax { place, reason });
        };
        let (key, written) = (key.trim(), written.trim());
        if key.is_empty() {
            return Err(ConfigError::Syntax { place, reason: "no key before the '='".to_owned() });
        }
        let mut setting = Setting {
            key: key.to_owned(),
            written: written.to_owned(),
            value: None,
            hidden: is_secret(key) || written.contains("${file:"),
            place,
        };
        // A replacement may be shown as written; text beside it may be part of the secret.
        let only_replaced =
            written.starts_with("${") && written.ends_with('}') && written.matches('$').count() == 1;
        if is_secret(key) && !only_replaced {
            "***".clone_into(&mut setting.written);
        }
        let is_include = key.eq_ignore_ascii_case(INCLUDE);
        match self.expand(&setting.key, written, &setting.place, directory) {
            Ok(value) => setting.value = Some(value),
            Err(error) => self.mistake(error, is_include),
        }
        if !is_include {
            return self.setting(setting);
        }
        let Some(path) = setting.value else { return Ok(()) };
        // The included file begins in the section of the include, which continues after it.
        let current = self.current;
        let read = self.file(&directory.join(path), Some(&setting.place));
        self.current = current;
        read
    }

    /// Keeps a mistake with the section or file that it makes unusable: with the file if it may
    /// have hidden settings of all sections.
    fn mistake(&mut self, error: ConfigError, hides_others: bool) {
        match self.current.map(|current| &mut self.text.sections[current]) {
            Some(section) if !hides_others || section.kind == SectionKind::Default => {
                section.mistakes.push(error);
            }
            _ => self.text.mistakes.push(error),
        }
    }

    fn section(&mut self, place: SourceLine, header: &str) -> Result<(), ConfigError> {
        let Some(name) = header.strip_suffix(']') else {
            self.begin(SectionKind::Unknown, &place);
            let hint = comment_hint(header);
            let reason =
                format!("the section's name must end with ']', the last character of the line{hint}");
            return Err(ConfigError::Syntax { place, reason });
        };
        let kind = match name.trim().to_ascii_uppercase().as_str() {
            "DEFAULT" => SectionKind::Default,
            "SESSION" => SectionKind::Session,
            "APP" => SectionKind::App,
            _ => SectionKind::Unknown,
        };
        self.begin(kind, &place);
        match kind {
            SectionKind::Unknown => Err(ConfigError::UnknownSection { place, name: name.to_owned() }),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, kind: SectionKind, place: &SourceLine) {
        let joined = matches!(kind, SectionKind::Default | SectionKind::App);
        let known = self.text.sections.iter().position(|section| joined && section.kind == kind);
        self.current = Some(known.unwrap_or_else(|| {
            let place = place.clone();
            self.text.sections.push(Section::new(kind, place));
            self.text.sections.len() - 1
        }));
    }

    fn setting(&mut self, setting: Setting) -> Result<(), ConfigError> {
        let Some(current) = self.current else {
            let reason = format!("{} is before the first section; begin with [DEFAULT]", setting.key);
            return Err(ConfigError::Syntax { place: setting.place, reason });
        };
        self.text.sections[current].add(setting).map_err(|(setting, first)| {
            let reason = format!("{} is set twice, first at {}", setting.key, first.place);
            ConfigError::Contradiction { place: setting.place, reason }
        })
    }

    /// Replaces `${NAME}` by the environment variable, `${file:PATH}` by the file's text without
    /// its last line end, and `$$` by `$`. Replacements are not expanded again.
    fn expand(
        &self,
        key: &str,
        written: &str,
        place: &SourceLine,
        directory: &Path,
    ) -> Result<String, ConfigError> {
        let mut value = String::with_capacity(written.len());
        let mut rest = written;
        let failed = |name: &str, reason: String| ConfigError::Expansion {
            place: place.clone(),
            name: name.to_owned(),
            reason,
        };
        while let Some((before, after)) = rest.split_once('$') {
            value.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                value.push('$');
                rest = after;
                continue;
            }
            let Some((name, after)) = after.strip_prefix('{').and_then(|after| after.split_once('}')) else {
                let reason =
                    format!("{key}: a '$' begins ${{NAME}} or ${{file:PATH}}; write $$ for the sign itself");
                return Err(ConfigError::Syntax { place: place.clone(), reason });
            };
            if let Some(path) = name.strip_prefix("file:") {
                let text = value_file(&directory.join(path)).map_err(|reason| failed(name, reason))?;
                let text = text.strip_suffix('\n').unwrap_or(&text);
                value.push_str(text.strip_suffix('\r').unwrap_or(text));
            } else if name.is_empty() {
                let reason = "the name of an environment variable expected between the braces";
                return Err(failed(name, reason.to_owned()));
            } else {
                let text = (self.environment)(name).ok_or_else(|| {
                    failed(name, "the environment variable is not set, or is not UTF-8".to_owned())
                })?;
                value.push_str(&text);
            }
            rest = after;
        }
        value.push_str(rest);
        Ok(value)
    }
}

/// Returns whether a line may not have this character: an editor may show it as several lines, or
/// in another order than it is read, and an error that showed it would be broken.
fn is_misleading(c: char) -> bool {
    (c.is_control() && c != '\t') || is_line_break(c) || is_of_direction(c)
}

/// Returns whether an editor may begin a new line after the character, which is no line end here.
const fn is_line_break(c: char) -> bool {
    matches!(c, '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether the character changes the direction of the text around it.
const fn is_of_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns what is wrong with a line that has such a character.
fn misleading(c: char) -> String {
    let code = u32::from(c);
    if is_line_break(c) {
        let shown = "which an editor may show as a line end, and which is none here";
        format!(
            "the line contains U+{code:04X}, {shown}; remove it, or put a line feed (U+000A) in its place"
        )
    } else if is_of_direction(c) {
        let shown = "which makes an editor show text in another order than it is read";
        format!("the line contains U+{code:04X}, {shown}; remove it, or write the line anew")
    } else {
        format!("the line contains the control character U+{code:04X}; remove it, or write the line anew")
    }
}

/// Returns the first word of a line, without the signs before it.
fn first_word(line: &str) -> &str {
    let words = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// Returns whether a wrong line may have hidden settings of every section: an include that failed,
/// or a line that may have been meant as one, or as the header of [DEFAULT].
fn hides_others(line: &str, error: &ConfigError) -> bool {
    let brackets = ['[', ']'];
    match error {
        ConfigError::Unreadable { .. } => true,
        // A session's header that is misspelled is one session's mistake.
        ConfigError::UnknownSection { name, .. } => {
            name.contains('=') || name.contains(brackets) || !is_like(first_word(name), SESSION)
        }
        // What an editor shows as a line of its own may be anything.
        ConfigError::Syntax { .. } if line.chars().any(is_misleading) => true,
        ConfigError::Syntax { .. } => {
            let first = first_word(line);
            let is_one = !first.is_empty() && line.trim_matches(|c: char| !c.is_alphanumeric()) == first;
            line.contains(brackets) || is_one || is_like(first, INCLUDE) || is_like(first, DEFAULT)
        }
        _ => false,
    }
}

/// Returns why bytes are not text, with the line.
fn not_utf8(bytes: &[u8], at: usize) -> String {
    let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    format!("line {line} is not UTF-8 (at byte {at}); save the file as UTF-8")
}

/// Returns a line that is no setting, without what follows the name of a secret.
fn without_secret(line: &str) -> String {
    let end = line.find(|c: char| c == ':' || c.is_whitespace()).unwrap_or(line.len());
    let (key, rest) = line.split_at(end);
    if is_secret(key) && !rest.is_empty() { format!("{key} ***") } else { line.to_owned() }
}

/// Returns the text of a file that holds a value. An error never contains any of it.
fn value_file(path: &Path) -> Result<String, String> {
    let bytes =
        read_at_most(path, MAX_VALUE_FILE).map_err(|error| format!("cannot read the file: {error}"))?;
    let bytes = bytes
        .ok_or_else(|| format!("the file is larger than {MAX_VALUE_FILE} bytes, too large for a value"))?;
    String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_a_limit_and_a_device_that_never_ends_is_refused() {
        let told = read_file(Path::new("/dev/zero"), &environment).mistakes;
        let told: Vec<_> = told.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["cannot read /dev/zero: it has more than 64 MiB, and is no configuration"]);
        let file = std::env::temp_dir().join(format!("fixbolt-limit-{}", std::process::id()));
        std::fs::write(&file, [b'#'; 10]).unwrap();
        assert_eq!(read_at_most(&file, 10).unwrap().map(|bytes| bytes.len()), Some(10));
        assert_eq!(read_at_most(&file, 9).unwrap(), None);
        std::fs::remove_file(&file).unwrap();
    }

    fn environment(name: &str) -> Option<String> {
        (name == "HOST").then(|| "exchange.example".to_owned())
    }

    /// Returns the sections, or every mistake.
    fn whole(text: Text) -> Result<Vec<Section>, String> {
        let mistakes = text.mistakes.iter().chain(text.sections.iter().flat_map(|section| &section.mistakes));
        let mistakes: Vec<String> = mistakes.map(ToString::to_string).collect();
        if mistakes.is_empty() { Ok(text.sections) } else { Err(mistakes.join("\n")) }
    }

    fn read(text: &str) -> Result<Vec<Section>, String> {
        whole(read_text("a.cfg", text, &environment))
    }

    fn refused(text: &str) -> String {
        read(text).unwrap_err()
    }

    #[test]
    fn every_mistake_is_kept_beside_its_section() {
        let text = read_text(
            "a.cfg",
            "x=1\n[DEFAULT]\nhello\n[SESION]\na=${HOTS}\n[SESSION]\nb=${HOTS}\nb=2\n=\n",
            &environment,
        );
        let lines = |mistakes: &[ConfigError]| -> Vec<u32> {
            mistakes.iter().map(|error| error.place().unwrap().line).collect()
        };
        assert_eq!(lines(&text.mistakes), [1]);
        let sections: Vec<_> = text.sections.iter().map(|s| (s.kind, lines(&s.mistakes))).collect();
        assert_eq!(
            sections,
            [
                (SectionKind::Default, vec![3]),
                (SectionKind::Unknown, vec![4, 5]),
                (SectionKind::Session, vec![7, 8, 9]),
            ]
        );
        assert_eq!(text.sections[2].find("b").unwrap().value, None);
    }

    #[test]
    fn a_secret_is_never_shown() {
        let sections =
            read("[APP]\nPassword=hunter2\nNewPassword=${HOST}\nUsername=me\nRawData=x\n").unwrap();
        let shown = |key| sections[0].find(key).unwrap().shown();
        assert_eq!(
            [shown("Password"), shown("NewPassword"), shown("Username"), shown("RawData")],
            ["***", "${HOST}", "me", "***"]
        );
        assert_eq!(sections[0].find("Password").unwrap().text(), "hunter2");
        let error = refused("[APP]\nPassword=hunter2\nPassword=hunter3\n");
        assert!(!error.contains("hunter"), "{error}");
    }

    #[test]
    fn sections_and_keys_are_read_whatever_their_case_and_spaces() {
        let sections = read("# comment\n[default]\n a = b \r\n\n[Session]\nc=d=e\n[DEFAULT]\nf=g\n").unwrap();
        assert_eq!(sections.len(), 2);
        assert_eq!(sections[0].find("A").unwrap().text(), "b");
        assert_eq!(sections[0].find("f").unwrap().place.to_string(), "a.cfg:8");
        assert_eq!(sections[1].find("C").unwrap().text(), "d=e");
    }

    #[test]
    fn a_variable_is_replaced_and_an_unknown_one_stops_the_start() {
        let sections = read("[APP]\nhost=${HOST}:1 $${HOST}\n").unwrap();
        assert_eq!(sections[0].find("host").unwrap().text(), "exchange.example:1 ${HOST}");
        assert_eq!(
            refused("[APP]\nhost=${HOTS}"),
            "a.cfg:2: ${HOTS}: the environment variable is not set, or is not UTF-8"
        );
        assert_eq!(
            refused("[APP]\nhost=$(HOST)"),
            "a.cfg:2: host: a '$' begins ${NAME} or ${file:PATH}; write $$ for the sign itself"
        );
        assert!(refused("[APP]\nhost=${HOST").contains("a.cfg:2: host: a '$' begins"));
    }

    #[test]
    fn a_line_that_is_nothing_stops_the_start_with_its_place() {
        assert_eq!(
            refused("[APP]\nhello"),
            "a.cfg:2: \"hello\" is neither [SECTION], Key=Value nor # comment"
        );
        assert_eq!(refused("a=b"), "a.cfg:1: a is before the first section; begin with [DEFAULT]");
        assert_eq!(
            refused("[APP"),
            "a.cfg:1: the section's name must end with ']', the last character of the line"
        );
        assert_eq!(refused("\n=b"), "a.cfg:2: no key before the '='");
        assert_eq!(
            refused("[SESION]"),
            "a.cfg:1: unknown section [SESION]; there are [DEFAULT], [SESSION] and [APP]"
        );
        assert_eq!(refused("[SESSION]\na=1\nA=2"), "a.cfg:3: A is set twice, first at a.cfg:2");
    }

    #[test]
    fn a_line_that_an_editor_may_show_as_several_or_in_another_order_is_refused() {
        for odd in ['\u{b}', '\u{c}', '\r', '\u{85}', '\u{2028}', '\u{2029}'] {
            let code = u32::from(odd);
            for line in [
                format!("SocketUseSSL=N{odd}SocketUseSSL=Y"),
                format!("# TLS is on:{odd}SocketUseSSL=Y"),
                format!("a=b{odd}[DEFAULT]"),
            ] {
                let expected = format!(
                    "a.cfg:2: the line contains U+{code:04X}, which an editor may show as a line end, and which is none here; remove it, or put a line feed (U+000A) in its place"
                );
                assert_eq!(refused(&format!("[APP]\n{line}\nc=d\n")), expected);
            }
        }
        for odd in
            "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}"
                .chars()
        {
            let code = u32::from(odd);
            for line in
                [format!("a{odd}=b"), format!("# {odd} a=b"), format!("{odd}a=b"), format!("a=b{odd}")]
            {
                let expected = format!(
                    "a.cfg:2: the line contains U+{code:04X}, which makes an editor show text in another order than it is read; remove it, or write the line anew"
                );
                assert_eq!(refused(&format!("[APP]\n{line}\nc=d\n")), expected);
            }
        }
        assert_eq!(
            refused("[APP]\na=b\u{7}"),
            "a.cfg:2: the line contains the control character U+0007; remove it, or write the line anew"
        );
        // Before and after a line, too; the spaces of ASCII, and the line end of Windows, are fine.
        assert!(refused("[APP]\na=b\u{2028}\n").contains("U+2028"));
        assert!(refused("[APP]\n\u{85}a=b\n").contains("U+0085"));
        assert_eq!(read("\u{c}[APP]\r\n\ta =\tb \r\r\n").unwrap()[0].find("a").unwrap().text(), "b");
    }

    #[test]
    fn an_included_file_begins_in_the_section_of_the_include_and_secrets_come_from_files() {
        let directory = std::env::temp_dir().join(format!("fixbolt-config-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = |name: &str| directory.join(name);
        std::fs::write(path("secret"), "s3cret$\n").unwrap();
        std::fs::write(path("more.cfg"), "b=2\nPassword=${file:secret}\n[SESSION]\nc=3\n").unwrap();
        std::fs::write(path("main.cfg"), "[APP]\na=1\ninclude=more.cfg\nd=4\n").unwrap();
        let sections = whole(read_file(&path("main.cfg"), &environment)).unwrap();
        let app = sections.iter().find(|s| s.kind == SectionKind::App).unwrap();
        let keys: Vec<_> = app.settings.iter().map(|s| s.key.as_str()).collect();
        assert_eq!(keys, ["a", "b", "Password", "d"]);
        assert_eq!(app.find("password").unwrap().text(), "s3cret$");
        assert_eq!(app.find("password").unwrap().written, "${file:secret}");

        std::fs::write(path("secret"), vec![b'x'; 70_000]).unwrap();
        let error = whole(read_file(&path("main.cfg"), &environment)).unwrap_err();
        assert!(
            error.ends_with(
                "more.cfg:2: ${file:secret}: the file is larger than 65536 bytes, too large for a value"
            ),
            "{error}"
        );

        std::fs::write(path("main.cfg"), "include=main.cfg\n").unwrap();
        let error = whole(read_file(&path("main.cfg"), &environment)).unwrap_err();
        assert!(error.ends_with("main.cfg: the file includes itself"), "{error}");
        std::fs::write(path("main.cfg"), "include=absent.cfg\n").unwrap();
        let error = whole(read_file(&path("main.cfg"), &environment)).unwrap_err();
        assert!(error.contains("main.cfg:1: cannot read ") && error.contains("absent.cfg: "), "{error}");
        std::fs::write(path("main.cfg"), b"[APP]\nx=\xff\n").unwrap();
        let error = whole(read_file(&path("main.cfg"), &environment)).unwrap_err();
        assert!(
            error.ends_with("main.cfg: line 2 is not UTF-8 (at byte 8); save the file as UTF-8"),
            "{error}"
        );
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
