//! Prints the public items of a crate, one per line, from rustdoc's JSON:
//! `fixbolt-public-api CRATE.json [INNER.json ...]`.
//!
//! Items that the crate re-exports from the inner crates are printed with all their members, as if
//! they were its own; the other items of the inner crates are omitted. A type that a crate exports
//! at its root is named there, whatever private module it is in.

use std::collections::BTreeSet;
use std::path::Path;

use public_api::Builder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = std::env::args().skip(1);
    let own = items(&files.next().ok_or("usage: fixbolt-public-api CRATE.json [INNER.json ...]")?)?;
    let re_exports = own.iter().filter_map(|line| line.strip_prefix("pub use "));
    let exported: BTreeSet<String> =
        re_exports.filter_map(|path| Some(path.rsplit_once("::")?.1.to_owned())).collect();
    let mut public = BTreeSet::new();
    note_public(&own, &mut public);
    let mut lines: BTreeSet<String> = own.into_iter().collect();
    for file in files {
        let name = Path::new(&file).file_stem().and_then(|stem| stem.to_str()).ok_or("no file name")?;
        let inner = items(&file)?;
        note_public(&inner, &mut public);
        for line in inner {
            let is_exported = path_parts(&line, name).any(|part| exported.contains(part));
            if is_exported && !line.starts_with("pub use") && !line.starts_with("pub mod") {
                lines.insert(line);
            }
        }
    }
    let lines: BTreeSet<String> = lines.iter().map(|line| with_public_paths(line, &public)).collect();
    for line in lines {
        println!("{line}");
    }
    Ok(())
}

/// Collects the paths at which types can be named.
fn note_public(lines: &[String], public: &mut BTreeSet<String>) {
    for line in lines {
        let words = line.split_once("pub ").map_or("", |(_, rest)| rest);
        if let Some((_, rest)) =
            words.split_once(' ').filter(|(kind, _)| ["struct", "enum", "trait", "type"].contains(kind))
        {
            let end = rest.find(|c: char| !is_path(c)).unwrap_or(rest.len());
            public.insert(rest[..end].trim_end_matches(':').to_owned());
        }
    }
}

/// Returns the line with each type named at its crate's root if that is where it is public.
fn with_public_paths(line: &str, public: &BTreeSet<String>) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
        let (path, after) = rest.split_at(end);
        let parts: Vec<&str> = path.split("::").collect();
        let name = parts.iter().position(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
        match name {
            Some(at) if at > 1 && !public.contains(&parts[..=at].join("::")) => {
                let root = format!("{}::{}", parts[0], parts[at]);
                let is_public = public.contains(&root);
                let short = [&parts[..1], &parts[at..]].concat().join("::");
                text.push_str(if is_public { &short } else { path });
            }
            _ => text.push_str(path),
        }
        let other = after.find(is_path).unwrap_or(after.len());
        text.push_str(&after[..other]);
        rest = &after[other..];
    }
    text
}

fn is_path(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == ':'
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
