//! `FIXBOLT_SIMD`: which of the processor's instructions the codec uses, to measure them or to rule one out.

use fixbolt_codec::Tier;

use crate::error::EngineError;

/// The environment variable.
const VARIABLE: &str = "FIXBOLT_SIMD";

/// Makes the codec use what the environment variable `FIXBOLT_SIMD` names, `scalar` or `avx2`; without it the codec uses the best
/// that the processor has. The results are the same. Starting an engine does this; a program without one may.
///
/// # Errors
/// [`EngineError::Tier`]: there is nothing of that name, or not on this processor.
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
