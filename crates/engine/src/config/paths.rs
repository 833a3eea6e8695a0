//! Paths as they are written.

use std::path::PathBuf;

/// Returns the path that a value names. One with backslashes, as on Windows, means directories,
/// unless a file has that name.
pub(super) fn path_of(value: &str) -> PathBuf {
    let written = PathBuf::from(value);
    if cfg!(unix) && value.contains('\\') && !written.exists() {
        return PathBuf::from(value.replace('\\', "/"));
    }
    written
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_path_with_backslashes_is_one_of_directories_unless_a_file_has_that_name() {
        assert_eq!(path_of("store\\journals"), Path::new("store/journals"));
        assert_eq!(path_of("store/journals"), Path::new("store/journals"));
        let directory = std::env::temp_dir().join(format!("fixbolt-back\\slash-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        assert_eq!(path_of(directory.to_str().unwrap()), directory);
        std::fs::remove_dir(&directory).unwrap();
    }
}
