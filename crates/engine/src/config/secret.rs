//! The keys that hold secrets: their values are masked in all output.

/// Returns whether a key's value is a secret: Password and keys that end with it, NewPassword,
/// RawData.
pub(super) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let key = key.strip_prefix("x-").unwrap_or(&key);
    key.ends_with("password") || key == "rawdata"
}
