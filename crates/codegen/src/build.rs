//! The function for build scripts: typed messages of a dialect in `OUT_DIR`, faults as cargo
//! errors.

use std::path::{Path, PathBuf};
use std::{env, fs};

use fixbolt_dictionary::Source;

use crate::{Finding, Module, Options};

/// For build scripts: generates the typed messages of a dictionary file in `$OUT_DIR/NAME.rs`. NAME
/// is the name of the file without its extension, in lower case and with `_` for characters that a
/// Rust name cannot have.
///
/// The file is relative to the package. It is QuickFIX XML, FIX Orchestra, a compact table, or only
/// what a dialect changes in a shipped version (`<fix extends="FIX.4.4">`); the [`Source`] says how
/// it is read. The build script runs again when the file or that of its transport changes. Faults
/// fail the build, each as an error with file and line; oddities are warnings.
///
/// ```ignore
/// // build.rs
/// use fixbolt_codegen::{Options, Source, build};
///
/// fn main() {
///     build(Source::file("dialects/paint.xml"), &Options::default());
/// }
///
/// // src/lib.rs; the generated code needs the crate `fixbolt-messages`
/// #[allow(clippy::all, dead_code)]
/// pub mod paint {
///     include!(concat!(env!("OUT_DIR"), "/paint.rs"));
/// }
/// ```
///
/// With options, for example only some messages:
///
/// ```ignore
/// let messages = Some(["D", "8", "F"].map(String::from).to_vec());
/// let options = Options { messages, ..Options::default() };
/// fixbolt_codegen::build(Source::file("dialects/paint.xml"), &options);
/// ```
pub fn build(source: Source<'_>, options: &Options) {
    let files: Vec<PathBuf> = source.files().into_iter().map(Path::to_path_buf).collect();
    files.iter().for_each(|file| println!("cargo::rerun-if-changed={}", file.display()));
    let Some(folder) = env::var_os("OUT_DIR").map(PathBuf::from) else {
        return error("OUT_DIR is not set: this function is for build scripts");
    };
    let file = match source.path() {
        Some(path) if !files.is_empty() => path.to_path_buf(),
        _ => return error("the source is not a file; shipped versions are features of fixbolt-messages"),
    };
    let made = source.load().map_err(|error| Finding::all_of(&error));
    let module = match made.and_then(|loaded| Module::new(&file, loaded, options)) {
        Ok(module) => module,
        Err(faults) => return faults.iter().for_each(error),
    };
    for warning in &module.warnings {
        println!("cargo::warning={warning}");
    }
    let path = folder.join(&module.name).with_extension("rs");
    if let Err(e) = fs::write(&path, module.generated.source()) {
        error(format_args!("cannot write {}: {e}", path.display()));
    }
}

/// Cargo shows it as an error of the package and fails the build. A panic would be shown together
/// with all output of the script.
fn error(words: impl std::fmt::Display) {
    println!("cargo::error={}", words.to_string().replace('\n', " "));
}
