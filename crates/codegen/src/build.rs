//! The function for build scripts: typed messages of a dialect in `OUT_DIR`, faults as cargo
//! errors.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::{Module, Options};

/// For build scripts: generates the typed messages of a dictionary file in `$OUT_DIR/NAME.rs`. NAME
/// is the name of the file without its extension, in lower case and with `_` for characters that a
/// Rust name cannot have.
///
/// `dictionary` is relative to the package. It is QuickFIX XML, FIX Orchestra, a compact table, or
/// only what a dialect changes in a shipped version (`<fix extends="FIX.4.4">`). The build script
/// runs again when the file changes. Faults fail the build, each as an error with file and line;
/// oddities are warnings.
///
/// ```ignore
/// // build.rs
/// fn main() {
///     fixbolt_codegen::build("dialects/paint.xml");
/// }
///
/// // src/lib.rs; the generated code needs the crate `fixbolt-messages`
/// #[allow(clippy::all, dead_code)]
/// pub mod paint {
///     include!(concat!(env!("OUT_DIR"), "/paint.rs"));
/// }
/// ```
pub fn build(dictionary: impl AsRef<Path>) {
    let file = dictionary.as_ref();
    println!("cargo::rerun-if-changed={}", file.display());
    let Some(folder) = env::var_os("OUT_DIR").map(PathBuf::from) else {
        return error("OUT_DIR is not set: this function is for build scripts");
    };
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) => return error(format_args!("cannot read {}: {e}", file.display())),
    };
    let module = match Module::from_text(file, &text, &Options::default()) {
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
