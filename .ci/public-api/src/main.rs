//! Prints the public items of a crate, one per line, from rustdoc's JSON:
//! `fixbolt-public-api CRATE.json [INNER.json ...]`.
//!
//! Items that the crate re-exports from the inner crates are printed with all their members, as if
//! they were its own; the other items of the inner crates are omitted, as is an inner crate that is
//! re-exported whole. A type that a crate exports at its root is named there, whatever private
//! module it is in. A printed type that a user of the crate cannot name is an error.

use std::collections::BTreeSet;
use std::path::Path;

use public_api::Builder;
use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = std::env::args().skip(1);
    let file = files.next().ok_or("usage: fixbolt-public-api CRATE.json [INNER.json ...]")?;
    let own = items(&file)?;
    let mut exported = Exported::read(&file)?;
    exported.crates.insert(crate_of(&file)?.to_owned());
    let mut public = BTreeSet::new();
    note_public(&own, &mut public);
    let mut lines: BTreeSet<String> = own.into_iter().collect();
    for file in files {
        let name = crate_of(&file)?;
        let inner = items(&file)?;
        note_public(&inner, &mut public);
        if exported.crates.contains(name) {
            continue;
        }
        for line in inner {
            let is_exported = subject(&line, name).any(|part| exported.has(name, part));
            if is_exported && !line.starts_with("pub use") && !line.starts_with("pub mod") {
                lines.insert(line);
            }
        }
    }
    let lines: BTreeSet<String> = lines.iter().map(|line| with_public_paths(line, &public)).collect();
    for line in &lines {
        println!("{line}");
    }
    let unnamed: BTreeSet<&str> =
        lines.iter().flat_map(|line| paths(line)).filter(|path| !exported.can_name(path, &public)).collect();
    for path in &unnamed {
        eprintln!("{path}: a public item has this type, but no user can name it");
    }
    if unnamed.is_empty() { Ok(()) } else { Err("make them nameable, or private".into()) }
}

/// What a crate re-exports of others.
#[derive(Default)]
struct Exported {
    /// The crates that are re-exported whole.
    crates: BTreeSet<String>,
    /// Crate and name of single items, where they are defined.
    items: BTreeSet<(String, String)>,
}

impl Exported {
    fn read(file: &str) -> Result<Exported, Box<dyn std::error::Error>> {
        let json: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
        let index = json["index"].as_object().ok_or("no index of items")?;
        let mut exported = Exported::default();
        for id in index.values().filter_map(|item| item["inner"]["use"]["id"].as_u64()) {
            let path =
                json["paths"][id.to_string()]["path"].as_array().ok_or("a re-export without a path")?;
            let path: Vec<&str> = path.iter().filter_map(Value::as_str).collect();
            match path[..] {
                [whole] => _ = exported.crates.insert(whole.to_owned()),
                [of, .., name] => _ = exported.items.insert((of.to_owned(), name.to_owned())),
                [] => {}
            }
        }
        Ok(exported)
    }

    fn has(&self, of: &str, name: &str) -> bool {
        self.items.contains(&(of.to_owned(), name.to_owned()))
    }

    /// Returns whether the type that a path contains is exported; so is a path without one.
    fn can_name(&self, path: &str, public: &BTreeSet<String>) -> bool {
        let parts: Vec<&str> = path.split("::").collect();
        let is_type = |part: &&str| {
            part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.contains(|c: char| c.is_ascii_lowercase())
        };
        let Some(at) = parts.iter().position(is_type) else { return true };
        let whole = self.crates.contains(parts[0]) && public.contains(&parts[..=at].join("::"));
        whole || self.has(parts[0], parts[at])
    }
}

fn crate_of(file: &str) -> Result<&str, &str> {
    Path::new(file).file_stem().and_then(|stem| stem.to_str()).ok_or("no file name")
}

/// Returns the paths into our crates that a line contains, unless it is a re-export.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let is_named_here = line.starts_with("pub use");
    let paths = line.split(|c| !is_path(c)).map(|path| path.trim_end_matches(':'));
    paths.filter(move |path| !is_named_here && path.starts_with("fixbolt") && path.contains("::"))
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

/// Returns the components of the path into crate `name` that a line is about: the type of an
/// `impl`, otherwise the item itself, which comes first; a method's type comes before the method.
fn subject<'l>(line: &'l str, name: &str) -> impl Iterator<Item = &'l str> {
    let start = format!("{name}::");
    let of = line.strip_prefix("impl").map(|rest| {
        let rest = &rest[end_of_generics(rest)..];
        rest.rsplit_once(" for ").map_or(rest, |(_, of)| of)
    });
    let about = of.filter(|of| of.contains(&start)).unwrap_or(line);
    let path = about.split_once(&start).map_or("", |(_, path)| path);
    let end = path.find(|c| !is_path(c)).unwrap_or(path.len());
    path[..end].split("::")
}

/// Returns the length of the parameters in angle brackets that the text begins with.
fn end_of_generics(text: &str) -> usize {
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
        before = c;
    }
    0
}

fn items(file: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let api = Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    Ok(api.items().map(ToString::to_string).collect())
}
