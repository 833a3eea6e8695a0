//! Settings as typed values. Looks a key up in the session's section, then in [DEFAULT]; every error names the line.

use core::cell::RefCell;
use core::fmt::Display;
use core::ops::RangeInclusive;
use core::str::FromStr;
use core::time::Duration;

use super::error::{ConfigError, SourceLine};
use super::text::{Section, Setting};

/// What one session may ask: its own section before the defaults.
pub(super) struct Settings<'s> {
    own: &'s Section,
    defaults: Option<&'s Section>,
    /// Every key asked for, so that a test can compare them with the vocabulary.
    asked: RefCell<Vec<String>>,
}

impl<'s> Settings<'s> {
    pub(super) fn new(own: &'s Section, defaults: Option<&'s Section>) -> Self {
        Self { own, defaults, asked: RefCell::new(Vec::new()) }
    }

    pub(super) fn place(&self) -> &'s SourceLine {
        &self.own.place
    }

    #[cfg(test)]
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.borrow().clone()
    }

    /// The setting, from the session's section or the defaults.
    pub(super) fn find(&self, key: &str) -> Option<&'s Setting> {
        if cfg!(test) {
            self.asked.borrow_mut().push(key.to_owned());
        }
        self.own.find(key).or_else(|| self.defaults.and_then(|defaults| defaults.find(key)))
    }

    /// The setting, only if the session's own section has it.
    pub(super) fn find_own(&self, key: &str) -> Option<&'s Setting> {
        self.own.find(key)
    }

    /// The setting's text, which may not be empty.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'s str>, ConfigError> {
        match self.find(key) {
            Some(setting) if setting.value.is_empty() => Err(wrong(setting, "a value")),
            found => Ok(found.map(|setting| setting.value.as_str())),
        }
    }

    /// `Y` or `N`.
    pub(super) fn flag(&self, key: &str, default: bool) -> Result<bool, ConfigError> {
        Ok(self.optional_flag(key)?.unwrap_or(default))
    }

    pub(super) fn optional_flag(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        let Some(setting) = self.find(key) else { return Ok(None) };
        match setting.value.as_str() {
            "Y" | "y" => Ok(Some(true)),
            "N" | "n" => Ok(Some(false)),
            _ => Err(wrong(setting, "Y or N")),
        }
    }

    /// A whole number within `range`.
    pub(super) fn number<N>(&self, key: &str, range: RangeInclusive<N>) -> Result<Option<N>, ConfigError>
    where
        N: FromStr + PartialOrd + Display,
    {
        let Some(setting) = self.find(key) else { return Ok(None) };
        // FromStr takes a leading '+', which no engine writes.
        let digits = setting.value.bytes().all(|b| b.is_ascii_digit());
        match setting.value.parse::<N>() {
            Ok(number) if digits && range.contains(&number) => Ok(Some(number)),
            _ => Err(wrong(setting, format!("a whole number from {} to {}", range.start(), range.end()))),
        }
    }

    /// Whole seconds within `range`.
    pub(super) fn seconds(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Result<Duration, ConfigError> {
        Ok(Duration::from_secs(self.number(key, range)?.unwrap_or(default)))
    }

    /// Refuses numbered keys behind the end of their list: they would never be read.
    pub(super) fn numbers_end_at(&self, stems: &[&str], last: usize) -> Result<(), ConfigError> {
        for setting in self.own.settings.iter().chain(self.defaults.iter().flat_map(|d| &d.settings)) {
            let name = setting.key.trim_end_matches(|c: char| c.is_ascii_digit());
            let number = &setting.key[name.len()..];
            let listed = stems.iter().any(|stem| stem.eq_ignore_ascii_case(name)) && !number.is_empty();
            if listed && number.parse::<usize>().map_or(true, |number| number > last) {
                let reason = format!("{} is never tried: the list has no number {}", setting.key, last + 1);
                return Err(contradicts(setting, reason));
            }
        }
        Ok(())
    }

    /// One of `names`, compared without case.
    pub(super) fn choice<T: Copy>(&self, key: &str, names: &[(&str, T)]) -> Result<Option<T>, ConfigError> {
        let Some(setting) = self.find(key) else { return Ok(None) };
        let found = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(&setting.value));
        match found {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let list: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
                Err(wrong(setting, format!("one of {}", list.join(", "))))
            }
        }
    }
}

/// The error for a value of the wrong form.
pub(super) fn wrong(setting: &Setting, expected: impl Into<String>) -> ConfigError {
    ConfigError::Value {
        place: setting.place.clone(),
        key: setting.key.clone(),
        value: setting.written.clone(),
        expected: expected.into(),
    }
}

/// The error for a setting that another one rules out.
pub(super) fn contradicts(setting: &Setting, reason: impl Into<String>) -> ConfigError {
    ConfigError::Contradiction { place: setting.place.clone(), reason: reason.into() }
}
