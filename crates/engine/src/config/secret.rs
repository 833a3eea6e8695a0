//! The keys that hold secrets: their values are masked in all output.

use core::fmt;
use std::collections::BTreeMap;

/// Returns whether a key's value is a secret: Password and keys that end with it, NewPassword,
/// RawData, SocketPrivateKeyBytes, and LogonTag, which may hold any of them.
pub(super) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let key = key.strip_prefix("x-").unwrap_or(&key);
    key.ends_with("password")
        || matches!(key, "rawdata" | "socketprivatekeybytes")
        || key.starts_with("logontag")
}

/// Settings of the application, whose secrets [`fmt::Debug`] masks.
pub(super) struct WithoutSecrets<'m>(pub(super) &'m BTreeMap<String, String>);

impl fmt::Debug for WithoutSecrets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(key, value)| (key, if is_secret(key) { "***" } else { value }));
        f.debug_map().entries(shown).finish()
    }
}
