//! Prints the public items of a crate, one per line, from rustdoc's JSON:
//! `fixbolt-public-api CRATE.json [INNER.json ...]`.
//!
//! Items that the crate re-exports from the inner crates are printed with all their members, as if
//! they were its own; the other items of the inner crates are omitted.

use std::collections::BTreeSet;
use std::path::Path;

use public_api::Builder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = std::env::args().skip(1);
    let own = items(&files.next().ok_or("usage: fixbolt-public-api CRATE.json [INNER.json ...]")?)?;
    let re_exports = own.iter().filter_map(|line| line.strip_prefix("pub use "));
    let exported: BTreeSet<String> =
        re_exports.filter_map(|path| Some(path.rsplit_once("::")?.1.to_owned())).collect();
    let mut lines: BTreeSet<String> = own.into_iter().collect();
    for file in files {
        let name = Path::new(&file).file_stem().and_then(|stem| stem.to_str()).ok_or("no file name")?;
        for line in items(&file)? {
            let is_exported = path_parts(&line, name).any(|part| exported.contains(part));
            if is_exported && !line.starts_with("pub use") && !line.starts_with("pub mod") {
                lines.insert(line);
            }
        }
    }
    for line in lines {
        println!("{line}");
    }
    Ok(())
}

/// Returns the components of the first path into crate `name`; a method's type comes before the
/// method.
fn path_parts<'l>(line: &'l str, name: &str) -> impl Iterator<Item = &'l str> {
    let path = line.split_once(&format!("{name}::")).map_or("", |(_, path)| path);
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(path.len());
    path[..end].split("::")
}

fn items(file: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let api = Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    Ok(api.items().map(ToString::to_string).collect())
}
