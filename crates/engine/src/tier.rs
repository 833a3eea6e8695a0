//! `FIXBOLT_SIMD`: which of the processor's instructions the codec uses, for measurements or to
//! exclude some.

use fixbolt_codec::Tier;

use crate::error::EngineError;

/// The environment variable.
const VARIABLE: &str = "FIXBOLT_SIMD";

/// Makes the codec use the instructions that the environment variable `FIXBOLT_SIMD` names,
/// `scalar`, `avx2` or `avx512`.
///
/// Without the variable the codec uses the best that the processor has. The results are the same.
/// Starting an engine calls this; a program without an engine may call it.
///
/// # Errors
/// [`EngineError::Tier`] if the name is unknown, or the processor lacks the instructions.
pub fn choose_tier() -> Result<(), EngineError> {
    let Some(value) = std::env::var_os(VARIABLE) else { return Ok(()) };
    let name = value.to_string_lossy();
    match Tier::named(&name) {
        Ok(tier) => {
            tier.use_everywhere();
            Ok(())
        }
        Err(reason) => Err(EngineError::Tier { name: name.into_owned(), reason }),
    }
}
