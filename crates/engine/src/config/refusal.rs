//! Why a value of a key is refused.

/// Why a value is refused.
pub(super) enum Refusal {
    /// It does not have the expected form, which is the row's unless stated otherwise.
    Form,
    /// It is correct, but its effect is not supported yet.
    Unavailable(String),
}
