//! The programs of a build, `fixbolt` and `fixbolt-bench`, which lie in one folder and start each
//! other.
//!
//! A program that was left there by an older build would measure, or be measured, as the code of
//! today. So each tells the one that it starts which build it is of, and a program of another build
//! refuses.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::Failure;

/// The build that this program is of: its version, and a checksum of the sources, the versions of
/// the dependencies, the compiler, and its flags.
pub const BUILD: &str = env!("FIXBOLT_BUILD");

/// The environment variable that tells a program the build of the one that starts it. A name that
/// nobody has for something else: a server that finds it refuses to start.
pub const VARIABLE: &str = "FIXBOLT_STARTED_BY_BUILD";

/// Returns where the program `name` of this build is.
///
/// # Errors
/// Returns an error that says what to do if there is none beside this program.
pub fn program(name: &str) -> Result<PathBuf, Failure> {
    let this = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("cannot find the folder of this program: {error}")))?;
    let path = this.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if path.is_file() {
        return Ok(path);
    }
    let folder = this.parent().unwrap_or(Path::new(".")).display();
    Err(Failure::usage(format!("{name} is a program of its own, and it is not in {folder}: {TO_DO}")))
}

/// What builds both programs, from the same sources.
const TO_DO: &str = "`cargo build --release -p fixbolt-cli -p fixbolt-bench` builds both";

/// Has `command` tell the program that it starts which build this one is of.
pub fn introduce(command: &mut Command) -> &mut Command {
    command.env(VARIABLE, BUILD)
}

/// Checks that this program is of the same build as the one that has started it. Called first.
///
/// # Errors
/// Returns an error if it is of another build.
pub fn check() -> Result<(), Failure> {
    match std::env::var_os(VARIABLE) {
        Some(build) if build != BUILD => {
            let this = std::env::current_exe().unwrap_or_default();
            let (this, build) = (this.display(), build.display());
            Err(Failure::usage(format!(
                "{this} is of build {BUILD}, and what starts it is of {build}: {TO_DO}"
            )))
        }
        _ => Ok(()),
    }
}
