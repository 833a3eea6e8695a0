//! Makes the settings of the engine from `[DEFAULT]`, collecting every mistake.

use super::engine::EngineConfiguration;
use super::error::ConfigError;
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
        if !matches!(row.effect, Effect::Engine { .. } | Effect::EngineFlag(_)) {
            continue;
        }
        let setting = defaults.and_then(|defaults| defaults.find(row.name));
        if let Some(setting) = setting
            && let Some(value) = &setting.value
        {
            let set = match row.effect {
                Effect::Engine { from, to, set, .. } => {
                    whole_number(value, from, to).map(|number| set(&mut engine, number))
                }
                Effect::EngineFlag(set) => flag(value).map(|on| set(&mut engine, on)),
                _ => None,
            };
            if set.is_none() {
                mistakes.push(setting.wrong(row.effect.expected()));
            }
        }
        effective.push(EffectiveSetting {
            key: row.name.to_owned(),
            value: setting.map_or(row.default, |setting| setting.shown()).to_owned(),
            place: setting.map(|setting| setting.place.clone()),
            meaning: row.meaning,
        });
    }
    (engine, effective)
}
