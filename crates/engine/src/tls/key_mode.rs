//! Who may read the file of a private key.

use super::settings::Pem;

/// Returns a warning if others than the owner may use the file of a private key; none for a key in
/// memory, and where files have no modes.
pub(super) fn warning(key: &Pem) -> Option<String> {
    let Pem::File(path) = key else { return None };
    let mode = exposed(path)?;
    let path = path.display();
    Some(format!(
        "{path}: others than its owner may read this private key (mode {mode:04o}); run `chmod 600 {path}`, and replace the key if they are not trusted"
    ))
}

#[cfg(unix)]
fn exposed(path: &std::path::Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;

    let metadata = std::fs::metadata(path).ok()?;
    let mode = metadata.mode() & 0o777;
    is_exposed(mode, metadata.uid() == 0).then_some(mode)
}

#[cfg(not(unix))]
fn exposed(_: &std::path::Path) -> Option<u32> {
    None
}

/// Returns whether a key may be used by more than its owner. A group may read root's, such as
/// ssl-cert, whose members are the services that it is for.
#[cfg(unix)]
const fn is_exposed(mode: u32, is_roots: bool) -> bool {
    mode & if is_roots { 0o037 } else { 0o077 } != 0
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_private_key_that_others_may_read_is_a_warning_that_names_the_file() {
        let file = std::env::temp_dir().join(format!("fixbolt-key-mode-{}.key", std::process::id()));
        fs::write(&file, "key").unwrap();
        let key = Pem::from(&file);
        let with = |mode| {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            warning(&key)
        };
        assert_eq!(with(0o600), None);
        assert_eq!(with(0o400), None);
        let path = file.display();
        for mode in [0o644, 0o604, 0o660, 0o602] {
            let expected = format!(
                "{path}: others than its owner may read this private key (mode {mode:04o}); run `chmod 600 {path}`, and replace the key if they are not trusted"
            );
            assert_eq!(with(mode), Some(expected));
        }
        assert!(is_exposed(0o640, false) && !is_exposed(0o640, true));
        fs::remove_file(&file).unwrap();
        assert_eq!(warning(&key), None, "that it is not there is said when it is loaded");
        assert_eq!(warning(&Pem::Text("key".to_owned())), None);
    }
}
