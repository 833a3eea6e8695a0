//! Notes which build this is, by which `fixbolt` and `fixbolt-bench` know each other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates whose code is in one of the two programs.
const CRATES: [&str; 11] = [
    "bench",
    "cli",
    "codec",
    "codegen",
    "conformance",
    "dictionary",
    "engine",
    "journal",
    "messages",
    "session",
    "workloads",
];

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    println!("cargo:rerun-if-changed=build.rs");
    let mut sum = Checksum::new();
    for name in ["TARGET", "OPT_LEVEL", "DEBUG", "CARGO_ENCODED_RUSTFLAGS"] {
        sum.add(variable(name).as_bytes());
    }
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    sum.add(&rustc.map(|output| output.stdout).unwrap_or_default());
    // Absent in an installation from a registry, where the version says it all.
    let workspace = PathBuf::from("../..");
    for file in ["Cargo.toml", "Cargo.lock"] {
        sum.watch(&workspace.join(file));
    }
    for name in CRATES {
        for path in ["Cargo.toml", "build.rs", "src"] {
            sum.watch(&Path::new("..").join(name).join(path));
        }
    }
    println!("cargo:rustc-env=FIXBOLT_BUILD={} {:016x}", variable("CARGO_PKG_VERSION"), sum.0);
}

/// FNV-1a, which needs no dependency. It is no protection against forgery.
struct Checksum(u64);

impl Checksum {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes and their number.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().copied().chain((bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a file or folder if it exists, and has cargo run this program again if it changes.
    fn watch(&mut self, path: &Path) {
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
            self.add_path(path);
        }
    }

    fn add_path(&mut self, path: &Path) {
        if path.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort_unstable();
            paths.iter().for_each(|path| self.add_path(path));
        } else if let Ok(bytes) = fs::read(path) {
            self.add(path.to_string_lossy().as_bytes());
            self.add(&bytes);
        }
    }
}
