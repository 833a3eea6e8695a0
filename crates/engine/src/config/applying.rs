//! Carries out what a setting says, by the row of its key.

use super::draft::Draft;
use super::error::ConfigError;
use super::refusal::Refusal;
use super::rows::{ACTION_WORDS, ACTIONS, Direction, Effect, Row};
use super::text::Setting;
use super::values::{flag, whole_number};

impl Row {
    /// Writes the value of a setting into the draft, and returns the mistake if the key cannot have
    /// it.
    pub(super) fn apply(&self, draft: &mut Draft, setting: &Setting) -> Option<ConfigError> {
        let value = setting.value.as_ref()?;
        if value.is_empty() {
            return Some(setting.wrong(self.effect.expected()));
        }
        let position = |words: &[&str]| words.iter().position(|word| word.eq_ignore_ascii_case(value));
        let result = match &self.effect {
            Effect::Flag(set) => flag(value).map(|on| set(draft, on)).ok_or(Refusal::Form),
            Effect::Number { from, to, set, .. } => {
                whole_number(value, *from, *to).map(|number| set(draft, number)).ok_or(Refusal::Form)
            }
            Effect::Word { words, set } => position(words).map(|n| set(draft, n)).ok_or(Refusal::Form),
            Effect::PerVersion { set, .. } => set(draft, &setting.key, value),
            Effect::Text { set, .. } | Effect::Numbered { set, .. } => set(draft, value),
            Effect::Check(direction) => {
                let policy = match direction {
                    Direction::Incoming => &mut draft.incoming,
                    Direction::Outgoing => &mut draft.outgoing,
                };
                let said = self.check(&setting.key).zip(position(ACTION_WORDS));
                said.map(|(check, n)| *policy = policy.with(check, ACTIONS[n])).ok_or(Refusal::Form)
            }
            Effect::Listed { .. } => Ok(()),
        };
        Some(match result.err()? {
            Refusal::Form => setting.wrong(self.effect.expected_in_place_of(&setting.written)),
            Refusal::Parts(mut parts) => {
                // What stands in place of `${...}` is not shown.
                parts.retain(|part| setting.written.contains(&**part));
                let expected = self.effect.expected();
                setting.wrong(match &parts[..] {
                    [] => expected,
                    _ => format!("{expected}, in place of {},", parts.join(" and ")),
                })
            }
            Refusal::Unavailable(reason) => setting.unavailable(reason),
        })
    }
}
