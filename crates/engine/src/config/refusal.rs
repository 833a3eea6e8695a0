//! Why a value of a key is refused.

/// Why a value is refused.
pub(super) enum Refusal {
    /// It does not have the expected form, which is the row's unless stated otherwise.
    Form,
    /// These parts of it, out of several, do not have the expected form.
    Parts(Vec<String>),
    /// It is correct, but its effect is not supported yet.
    Unavailable(String),
}
