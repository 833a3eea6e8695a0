//! A folder for what a benchmark writes.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own in the system's folder for temporary files, removed when dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Self, String> {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        loop {
            let n = FOLDERS.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("fixbolt-bench-{}-{n}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // Left by a process that was killed; in a container its number comes again.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let path = path.display();
                    return Err(format!(
                        "cannot create {path}: {error}; TMPDIR names the folder for temporary files"
                    ));
                }
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A directory that cannot be removed is no reason to lose the figures.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_has_left_is_passed_over() {
        let first = Folder::new().unwrap();
        let name = first.0.file_name().unwrap().to_str().unwrap();
        let (prefix, n) = name.rsplit_once('-').unwrap();
        let n: u32 = n.parse().unwrap();
        // Other tests take numbers meanwhile.
        let left: Vec<PathBuf> =
            (n + 100..n + 300).map(|n| first.0.with_file_name(format!("{prefix}-{n}"))).collect();
        left.iter().for_each(|path| std::fs::create_dir(path).unwrap());
        let folders: Vec<Folder> = (0..400).map(|_| Folder::new().unwrap()).collect();
        assert!(folders.iter().all(|folder| !left.contains(&folder.0)));
        left.iter().for_each(|path| std::fs::remove_dir(path).unwrap());
    }
}
