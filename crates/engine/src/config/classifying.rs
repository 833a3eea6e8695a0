//! What is done with the keys that are not used, and which mistakes may be about every session.

use std::collections::BTreeMap;

use super::error::{ConfigError, ConfigWarning};
use super::nearest_key::{DEFAULT, INCLUDE, is_like, nearest, suggested};
use super::old_names;
use super::other_keys::{self, Treatment};
use super::rows;
use super::securing::is_of_tls;
use super::text::{Section, Setting};

/// Returns whether a key has an effect, or is known to have none.
pub(super) fn is_understood(key: &str) -> bool {
    rows::row_of(key).is_some()
        || other_keys::treatment(key).is_some()
        || other_keys::is_of_an_example(key)
        || application_key(key).is_some()
}

/// Returns the name after `X-`.
fn application_key(key: &str) -> Option<&str> {
    key.get(..2).filter(|prefix| prefix.eq_ignore_ascii_case("X-")).map(|_| &key[2..])
}

/// Reports a key of the engine in [APP], which may have been meant for the engine. One of TLS stops
/// the start.
pub(super) fn check_in_app(
    setting: &Setting,
    mistakes: &mut Vec<ConfigError>,
    warnings: &mut Vec<ConfigWarning>,
) {
    let Setting { key, place, .. } = setting;
    if application_key(key).is_some() {
        return;
    }
    if is_of_tls(key) {
        let reason = format!(
            "{key} is about TLS, and in [APP] the engine does not read it; move it to [DEFAULT] or [SESSION], or give the application's key another name"
        );
        mistakes.push(ConfigError::Contradiction { place: place.clone(), reason });
    } else if rows::row_of(key).is_some() || other_keys::treatment(key).is_some() {
        let instead =
            "in [APP] it belongs to the application; for the engine, move it to [DEFAULT] or [SESSION]";
        warnings.push(setting.without_effect(instead));
    } else if let Some(meant) =
        names_tls(key).then(|| nearest(key)).flatten().filter(|meant| is_of_tls(meant))
    {
        let instead = format!(
            "in [APP] it belongs to the application; if {meant} is meant, which is of the engine, write that in [DEFAULT] or [SESSION]"
        );
        warnings.push(setting.without_effect(instead));
    }
}

/// Returns whether a key has a word that keys of TLS have, and hardly any others.
fn names_tls(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["ssl", "tls", "cert", "keystore", "truststore"].iter().any(|word| key.contains(word))
}

/// Reports the keys of a section that are not used: the application's, those without effect, and
/// those that stop the start.
pub(super) fn classify(
    section: &Section,
    mistakes: &mut Vec<ConfigError>,
    warnings: &mut Vec<ConfigWarning>,
    application: &mut BTreeMap<String, String>,
) {
    for setting in &section.settings {
        let Setting { key, place, .. } = setting;
        if let Some(name) = application_key(key) {
            application.insert(name.to_owned(), setting.text().to_owned());
            continue;
        }
        if rows::row_of(key).is_some() {
            warnings.extend(old_names::warning(key).map(|instead| setting.doubtful(instead)));
            warnings.extend(taken_literally(setting).map(|why| setting.doubtful(why)));
            continue;
        }
        match other_keys::treatment(key) {
            Some(Treatment::Replaced(instead)) => warnings.push(setting.without_effect(instead)),
            Some(Treatment::Unavailable { harmless, reason }) => {
                if !harmless.iter().any(|value| value.eq_ignore_ascii_case(setting.text())) {
                    let (place, key) = (place.clone(), key.clone());
                    mistakes.push(ConfigError::Unavailable { place, key, reason: reason.into() });
                }
            }
            None if other_keys::is_of_an_example(key) => {
                application.insert(key.clone(), setting.text().to_owned());
                warnings.push(setting.without_effect(format!(
                    "it is not a key of the engine and is passed to the application; write X-{key}, or move it to [APP]"
                )));
            }
            None => {
                let mistake = unknown(setting);
                if !mistakes.contains(&mistake) {
                    mistakes.push(mistake);
                }
            }
        }
    }
}

/// Returns what is part of a value although other programs would not take it so: quotation marks
/// around it, what looks like a comment after it, and in a path what only a shell or Windows
/// replaces.
fn taken_literally(setting: &Setting) -> Option<String> {
    let Setting { written, .. } = setting;
    if setting.hidden {
        return None;
    }
    let quoted = |mark: char| written.len() > 1 && written.starts_with(mark) && written.ends_with(mark);
    if quoted('"') || quoted('\'') {
        return Some(format!("`{written}` is the value, with its quotation marks; leave them out"));
    }
    let is_comment =
        |(at, mark): (usize, char)| matches!(mark, '#' | ';') && written[..at].ends_with([' ', '\t']);
    if written.char_indices().any(is_comment) {
        return Some(format!(
            "`{written}` is the value, to its end: a comment must be on a line of its own, and begins with #"
        ));
    }
    if names_a_file(&setting.key) { taken_as_a_path(written) } else { None }
}

/// Returns whether a key of the engine names a file or a directory.
fn names_a_file(key: &str) -> bool {
    let name = rows::row_of(key).map(|row| row.name.to_ascii_lowercase()).unwrap_or_default();
    ["path", "file", "directory", "dictionary"].iter().any(|end| name.ends_with(end))
}

/// Returns what is part of a path although a shell or Windows would replace it.
fn taken_as_a_path(written: &str) -> Option<String> {
    if written == "~" || written.starts_with("~/") {
        return Some(format!(
            "`{written}` is a directory called ~ here, since only a shell replaces that; write ${{HOME}}{}, or the whole path",
            &written[1..]
        ));
    }
    if written.starts_with('~') && written.contains('/') {
        return Some(format!(
            "`{written}` is taken as it is, since only a shell replaces `~`; write the whole path"
        ));
    }
    let variable = written.strip_prefix('%').and_then(|rest| rest.split_once('%'));
    if let Some((name, _)) = variable
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        return Some(format!(
            "`{written}` is taken as it is, since only Windows replaces %{name}%; write ${{{name}}} in its place"
        ));
    }
    if cfg!(unix)
        && matches!(written.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
    {
        return Some(format!(
            "`{written}` is a path of Windows, and is taken here as one below the current directory; write a path of this system"
        ));
    }
    None
}

fn unknown(setting: &Setting) -> ConfigError {
    let Setting { key, place, .. } = setting;
    let nearest = suggested(key).into_iter().map(str::to_owned).collect();
    ConfigError::UnknownKey { place: place.clone(), key: key.clone(), nearest }
}

/// Returns the mistake of a key that was probably meant as an include, or as the header of a
/// section: what should have been read there may be about every session.
pub(super) fn may_hold_others(setting: &Setting) -> Option<ConfigError> {
    let Setting { key, .. } = setting;
    let may = || {
        let first = key.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        let is_header = key.contains(['[', ']']) || first.is_some_and(|word| is_like(word, DEFAULT));
        is_header || nearest(key) == Some(INCLUDE)
    };
    (!is_understood(key) && may()).then(|| unknown(setting))
}

/// Returns whether what is below a misspelled header may be about every session, as that of a
/// [DEFAULT] is. That of one [SESSION] is a mistake in it alone, unless it is about TLS, or cannot
/// be understood.
pub(super) fn says_more_than_a_session(section: &Section) -> bool {
    let is_header = |mistake: &ConfigError| match mistake {
        ConfigError::UnknownSection { place, .. } => *place == section.place,
        _ => false,
    };
    let is_for_all = |setting: &Setting| is_of_tls(&setting.key) || !is_understood(&setting.key);
    !section.mistakes.iter().all(is_header) || section.settings.iter().any(is_for_all)
}
