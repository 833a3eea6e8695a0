//! Configuration files as the industry writes them: `[DEFAULT]`, `[SESSION]`, `Key=Value`, in QuickFIX's vocabulary.
//!
//! A key is one of four kinds: used; known of QuickFIX or QuickFIX/J and without effect here, which is a warning that names
//! what replaces it; the application's, in `[APP]` or with the prefix `X-`; anything else stops the start with file, line
//! and the nearest known key. A known key whose effect is not available stops the start too: nothing is ignored silently.
//!
//! `${NAME}` is an environment variable, `${file:PATH}` the text of a file, `$$` a dollar sign; `include=PATH` reads another
//! file. No setting starts a program.

mod error;
mod keys;
mod session;
mod text;
mod validation;
mod value;

use std::collections::BTreeMap;
use std::path::Path;

pub use error::{ConfigError, ConfigWarning, SourceLine};
pub(crate) use session::SESSION_VERSIONS;
pub use session::{ConnectionType, Identity, SessionConfiguration};
pub use validation::Validation;

use keys::Treatment;
use text::{Section, SectionKind, Setting};
use value::Settings;

/// A configuration file, read and checked.
///
/// ```
/// use fixbolt::config::Configuration;
/// let configuration = Configuration::from_text("venue.cfg", "
/// [DEFAULT]
/// ConnectionType=acceptor
/// SocketAcceptPort=9880
/// [SESSION]
/// BeginString=FIX.4.4
/// SenderCompID=VENUE
/// TargetCompID=TRADER
/// ")?;
/// assert_eq!(configuration.sessions.len(), 1);
///
/// let typo = Configuration::from_text("venue.cfg", "[DEFAULT]\nHeartBeatInt=30\n").unwrap_err();
/// assert_eq!(typo.to_string(), "venue.cfg:2: unknown key HeartBeatInt; did you mean HeartBtInt?");
/// # Ok::<(), fixbolt::config::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Configuration {
    /// The sessions, in the order of the file; at least one.
    pub sessions: Vec<SessionConfiguration>,
    /// Settings of the section `[APP]`: the application's own, keys as written.
    pub application: BTreeMap<String, String>,
    /// What is set and has no effect.
    pub warnings: Vec<ConfigWarning>,
}

impl Configuration {
    /// Reads the file at `path` and the files it includes, with the variables of the process's environment.
    ///
    /// # Errors
    /// [`ConfigError`], the first one found: it names file and line.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let sections = text::read_file(path, &environment)?;
        Self::from_sections(&path.display().to_string(), &sections)
    }

    /// Reads `text` as if it stood in a file called `name`. Includes are relative to the current directory.
    ///
    /// # Errors
    /// As [`Configuration::from_file`].
    pub fn from_text(name: &str, text: &str) -> Result<Self, ConfigError> {
        Self::from_sections(name, &text::read_text(name, text, &environment)?)
    }

    fn from_sections(file: &str, sections: &[Section]) -> Result<Self, ConfigError> {
        let mut warnings = Vec::new();
        let mut application = BTreeMap::new();
        for section in sections {
            for setting in &section.settings {
                if section.kind == SectionKind::App {
                    application.insert(setting.key.clone(), setting.value.clone());
                } else {
                    warnings.extend(classify(setting)?);
                }
            }
        }
        let defaults = sections.iter().find(|section| section.kind == SectionKind::Default);
        let mut read: Vec<SessionConfiguration> = Vec::new();
        for section in sections.iter().filter(|section| section.kind == SectionKind::Session) {
            let settings = Settings::new(section, defaults);
            let mut session = SessionConfiguration::read(&settings, &mut warnings)?;
            for setting in defaults.iter().flat_map(|defaults| &defaults.settings).chain(&section.settings) {
                if let Some(name) = application_key(&setting.key) {
                    session.application.insert(name.to_owned(), setting.value.clone());
                }
            }
            if let (Some(first), Identity::Fixed(id)) =
                (read.iter().find(|other| other.identity == session.identity), &session.identity)
            {
                let reason =
                    format!("the session {id} is configured a second time, first at {}", first.place);
                return Err(ConfigError::Contradiction { place: session.place, reason });
            }
            read.push(session);
        }
        if read.is_empty() {
            let place = SourceLine { file: file.into(), line: 1 };
            return Err(ConfigError::Missing { place, reason: "there is no [SESSION]".to_owned() });
        }
        // A setting in [DEFAULT] is read once a session: its warning is told once.
        let mut told: Vec<ConfigWarning> = Vec::new();
        for warning in warnings {
            if !told.contains(&warning) {
                told.push(warning);
            }
        }
        Ok(Self { sessions: read, application, warnings: told })
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The name behind `X-`.
fn application_key(key: &str) -> Option<&str> {
    key.get(..2).filter(|prefix| prefix.eq_ignore_ascii_case("X-")).map(|_| &key[2..])
}

/// Which of the four kinds a key is.
fn classify(setting: &Setting) -> Result<Option<ConfigWarning>, ConfigError> {
    if application_key(&setting.key).is_some() {
        return Ok(None);
    }
    match keys::treatment(&setting.key) {
        Some(Treatment::Used) => Ok(None),
        Some(Treatment::Replaced(instead)) => Ok(Some(ConfigWarning {
            place: setting.place.clone(),
            key: setting.key.clone(),
            instead: instead.to_owned(),
        })),
        Some(Treatment::Unavailable { harmless, reason }) => {
            if harmless.iter().any(|value| value.eq_ignore_ascii_case(&setting.value)) {
                return Ok(None);
            }
            Err(ConfigError::Unavailable { place: setting.place.clone(), key: setting.key.clone(), reason })
        }
        None => Err(ConfigError::UnknownKey {
            place: setting.place.clone(),
            key: setting.key.clone(),
            nearest: keys::nearest(&setting.key),
        }),
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod validation_tests;
