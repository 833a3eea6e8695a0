//! Makes the settings of the engine from `[DEFAULT]`, collecting every mistake.

use super::engine::EngineConfiguration;
use super::error::ConfigError;
use super::refusal::Refusal;
use super::rows::{Effect, ROWS};
use super::session::EffectiveSetting;
use super::text::Section;
use super::values::{flag, whole_number};

/// Reads the settings of the engine from `[DEFAULT]`, and returns them with what may be shown.
pub(super) fn read(
    defaults: Option<&Section>,
    mistakes: &mut Vec<ConfigError>,
) -> (EngineConfiguration, Vec<EffectiveSetting>) {
    let mut engine = EngineConfiguration::default();
    let mut effective = Vec::new();
    for row in ROWS {
        if !matches!(row.effect, Effect::Engine { .. } | Effect::EngineFlag(_) | Effect::EngineText { .. }) {
            continue;
        }
        let setting = defaults.and_then(|defaults| defaults.find(row.name));
        if let Some(setting) = setting
            && let Some(value) = &setting.value
        {
            let set = match row.effect {
                Effect::Engine { from, to, set, .. } => {
                    whole_number(value, from, to).map(|number| set(&mut engine, number)).ok_or(Refusal::Form)
                }
                Effect::EngineFlag(set) => flag(value).map(|on| set(&mut engine, on)).ok_or(Refusal::Form),
                Effect::EngineText { .. } if value.is_empty() => Err(Refusal::Form),
                Effect::EngineText { set, .. } => set(&mut engine, value),
                _ => Ok(()),
            };
            mistakes.extend(match set {
                Ok(()) => None,
                Err(Refusal::Form | Refusal::Parts(_)) => {
                    Some(setting.wrong(row.effect.expected_in_place_of(&setting.written)))
                }
                Err(Refusal::Unavailable(reason)) => Some(setting.unavailable(reason)),
            });
        }
        let value = setting.map_or(row.default, |setting| setting.shown());
        effective.push(EffectiveSetting {
            key: row.name.to_owned(),
            value: value.to_owned(),
            place: setting.map(|setting| setting.place.clone()),
            is_default: value.eq_ignore_ascii_case(row.default),
            meaning: row.meaning,
        });
    }
    let find = |name: &str| defaults.and_then(|defaults| defaults.find(name));
    let cores = engine.cores.len();
    match (find("WorkerCores"), engine.workers) {
        (Some(setting), Some(workers)) if cores > 0 && cores != workers => {
            let reason = format!(
                "WorkerCores names {cores}, but there are Workers={workers}; name one core for each, or none"
            );
            mistakes.push(ConfigError::Contradiction { place: setting.place.clone(), reason });
        }
        _ => {}
    }
    (engine, effective)
}
