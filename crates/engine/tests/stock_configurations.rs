//! The configuration files of QuickFIX's and QuickFIX/J's example programs: docs/configuration.md
//! lists the result for each, and each mistake says what to do.
//!
//! `FIXBOLT_WRITE_DOCS=1 cargo test -p fixbolt --test stock_configurations` rewrites the table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fixbolt::config::{CheckedConfiguration, ConfigError};

const BEGIN: &str = "<!-- stock files -->\n";
const END: &str = "<!-- end of stock files -->";

/// Returns the files below `configurations` in the reference folder, sorted; none if the folder is
/// absent.
fn files() -> Vec<(String, PathBuf)> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared =
        std::env::var_os("FIXBOLT_SHARED").map_or_else(|| repository.join("../shared"), PathBuf::from);
    let mut files = Vec::new();
    for engine in ["quickfix", "quickfixj"] {
        let Ok(folder) = std::fs::read_dir(shared.join("configurations").join(engine)) else { continue };
        for entry in folder {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "cfg") {
                files.push((format!("{engine}/{}", path.file_name().unwrap().display()), path));
            }
        }
    }
    files.sort();
    files
}

/// Returns the key of a mistake as it is written in the table.
fn key(mistake: &ConfigError) -> String {
    let key = mistake.key().unwrap_or_else(|| panic!("it is about no key: {mistake}"));
    format!("`{key}`")
}

#[test]
fn each_stock_file_loads_or_every_unsupported_key_is_named_with_what_to_do() {
    let files = files();
    if files.is_empty() {
        eprintln!("shared folder absent: the stock files of QuickFIX and QuickFIX/J were not read");
        return;
    }
    let mut table =
        "| file | sessions | usable | what keeps the others from it |\n|---|---|---|---|\n".to_owned();
    for (name, path) in &files {
        let checked = CheckedConfiguration::from_file(path);
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        for mistake in &checked.mistakes {
            let text = mistake.to_string();
            assert!(
                matches!(mistake, ConfigError::Unavailable { .. } | ConfigError::Dictionary { .. }),
                "it is neither a key that is not there yet nor a file that is not there: {text}"
            );
            assert!(mistake.place().is_some_and(|place| place.line > 0), "it has no line: {text}");
            assert!(text.contains("; "), "it does not say what to do: {text}");
            *keys.entry(key(mistake)).or_default() += 1;
        }
        let sessions = checked.sessions.len();
        let had = checked.sessions.iter().filter(|session| session.result.is_ok()).count();
        assert!(sessions > 0 && (had == sessions) == checked.mistakes.is_empty(), "{name}");
        let keys = keys.into_iter().map(|(key, times)| match times {
            1 => key,
            times => format!("{key} ({times} times)"),
        });
        let keys = keys.collect::<Vec<_>>().join(", ");
        let keys = if keys.is_empty() { "-" } else { &keys };
        writeln!(table, "| {name} | {sessions} | {had} | {keys} |").unwrap();
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the page has the table");
    let (is, after) = rest.split_once(END).expect("the table has an end");
    if std::env::var_os("FIXBOLT_WRITE_DOCS").is_some() {
        std::fs::write(page, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(
            is, table,
            "rewrite it: FIXBOLT_WRITE_DOCS=1 cargo test -p fixbolt --test stock_configurations"
        );
    }
    eprintln!("{} stock files of QuickFIX and QuickFIX/J were read", files.len());
}
