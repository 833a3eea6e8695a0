//! Makes the settings of the engine from `[DEFAULT]`, collecting every mistake.

use super::draft::Draft;
use super::engine::EngineConfiguration;
use super::error::ConfigError;
use super::rows::{ROWS, Scope};
use super::session::EffectiveSetting;
use super::text::Section;

/// Reads the settings of the engine from `[DEFAULT]`, and returns them with what may be shown.
pub(super) fn read(
    defaults: Option<&Section>,
    mistakes: &mut Vec<ConfigError>,
) -> (EngineConfiguration, Vec<EffectiveSetting>) {
    // Never, in fact: each session would say why.
    let Ok(mut draft) = Draft::new() else { return (EngineConfiguration::default(), Vec::new()) };
    let mut effective = Vec::new();
    for row in ROWS.iter().filter(|row| row.scope == Scope::Engine) {
        let setting = defaults.and_then(|defaults| defaults.find(row.name));
        mistakes.extend(setting.and_then(|setting| row.apply(&mut draft, setting)));
        let value = setting.map_or(row.default, |setting| setting.shown());
        effective.push(EffectiveSetting {
            key: row.name.to_owned(),
            value: value.to_owned(),
            place: setting.map(|setting| setting.place.clone()),
            is_default: value.eq_ignore_ascii_case(row.default),
            meaning: row.meaning,
        });
    }
    let engine = draft.engine;
    let find = |name: &str| defaults.and_then(|defaults| defaults.find(name));
    let cores = engine.worker_cores.len();
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
