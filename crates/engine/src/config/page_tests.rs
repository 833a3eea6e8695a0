//! The tables of docs/configuration.md are generated from the rows.
//!
//! `FIXBOLT_WRITE_DOCS=1 cargo test -p fixbolt page_tests` rewrites them.

use std::fmt::Write as _;

use super::engines::engines_with;
use super::old_names::OLD_NAMES;
use super::other_keys::{Treatment, other_keys};
use super::rows::{ROWS, Row, Scope};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");

fn used() -> String {
    let mut table =
        "| key | of | values | default | meaning | who has it |\n|---|---|---|---|---|---|\n".to_owned();
    for Row { name, aliases, scope, effect, default, meaning, .. } in ROWS {
        let all: Vec<&str> = [*name].into_iter().chain(aliases.iter().copied()).collect();
        let names = all.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let who = engines_with(&all);
        let of = match scope {
            Scope::Both => "both",
            Scope::Acceptor => "acceptor",
            Scope::Initiator => "initiator",
            Scope::Engine => "engine",
        };
        let values = effect.values();
        writeln!(table, "| {names} | {of} | {values} | {default} | {meaning} | {who} |").unwrap();
    }
    table
}

fn old() -> String {
    let mut table = "| old name | what is written today |\n|---|---|\n".to_owned();
    for name in OLD_NAMES {
        writeln!(table, "| `{}` | `{}` |", name.old, name.instead()).unwrap();
    }
    table
}

/// Joins the names of rows that say the same.
fn grouped<T: PartialEq>(rows: impl Iterator<Item = (&'static str, T)>) -> Vec<(String, T)> {
    let mut groups: Vec<(String, T)> = Vec::new();
    for (name, says) in rows {
        match groups.iter_mut().find(|(_, other)| *other == says) {
            Some((names, _)) => write!(names, ", `{name}`").unwrap(),
            None => groups.push((format!("`{name}`"), says)),
        }
    }
    groups
}

fn replaced() -> String {
    let rows = other_keys().filter_map(|(name, treatment)| match treatment {
        Treatment::Replaced(instead) => Some((*name, *instead)),
        Treatment::Unavailable { .. } => None,
    });
    let mut table = "| key | instead |\n|---|---|\n".to_owned();
    for (names, instead) in grouped(rows) {
        writeln!(table, "| {names} | {instead} |").unwrap();
    }
    table
}

fn unavailable() -> String {
    let rows = other_keys().filter_map(|(name, treatment)| match treatment {
        Treatment::Unavailable { harmless, reason } => Some((*name, (*harmless, *reason))),
        Treatment::Replaced(_) => None,
    });
    let mut table = "| key | harmless | why, and what to do |\n|---|---|---|\n".to_owned();
    for (names, (harmless, reason)) in grouped(rows) {
        writeln!(table, "| {names} | {} | {reason} |", harmless.join(", ")).unwrap();
    }
    table
}

/// Returns the page with the text between the marks of a table replaced.
fn with_table(page: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("the page has no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("the page has no {end}"));
    format!("{before}{begin}{table}{end}{after}")
}

#[test]
fn the_pages_tables_are_made_of_the_rows() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let tables = [
        ("used keys", used()),
        ("old names", old()),
        ("replaced keys", replaced()),
        ("unavailable keys", unavailable()),
    ];
    let right = tables.iter().fold(page.clone(), |page, (name, table)| with_table(&page, name, table));
    if std::env::var_os("FIXBOLT_WRITE_DOCS").is_some() {
        return std::fs::write(PAGE, right).unwrap();
    }
    for (is, should) in page.lines().zip(right.lines()) {
        assert_eq!(
            is, should,
            "write docs/configuration.md anew: FIXBOLT_WRITE_DOCS=1 cargo test -p fixbolt page_tests"
        );
    }
    assert_eq!(page, right);
}

#[test]
fn each_meaning_can_be_read_without_the_row_before_it() {
    for Row { name, meaning, .. } in ROWS {
        let refers = meaning.starts_with("the same") && !meaning.starts_with("the same as ")
            || ["its ", "that ", "both ", "these "].iter().any(|word| meaning.starts_with(word));
        assert!(!refers, "{name}: {meaning}");
    }
}
