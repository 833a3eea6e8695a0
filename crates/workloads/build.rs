//! Notes the compiler and the commit, which every result carries.

use std::path::Path;
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!("cargo:rustc-env=FIXBOLT_RUSTC={}", output(&rustc, &["--version"]));
    // Absent in an installation from a registry.
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"]);
    println!("cargo:rustc-env=FIXBOLT_COMMIT={commit}");
    println!("cargo:rustc-env=FIXBOLT_PROFILE={}", profile());
    println!("cargo:rerun-if-changed=build.rs");
    let log = output("git", &["rev-parse", "--git-path", "logs/HEAD"]);
    if Path::new(&log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
}

fn profile() -> String {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| "unknown".to_owned());
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");
    let flags = if flags.is_empty() { "no RUSTFLAGS".to_owned() } else { format!("RUSTFLAGS {flags}") };
    format!("{}, opt-level {}, {flags}", variable("TARGET"), variable("OPT_LEVEL"))
}

/// Returns what a program prints, or `unknown`.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
