//! The conformance scripts, ours and (where the reference folder is there) QuickFIX's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fixbolt_session::conformance::{Action, Script};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn own(folder: &str) -> PathBuf {
    repository().join("conformance").join(folder)
}

/// The reference folder's acceptance scripts, where that folder is there.
fn reference(folder: &str) -> Option<PathBuf> {
    let shared =
        std::env::var_os("FIXBOLT_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from);
    let folder = shared.join("acceptance/quickfix").join(folder);
    folder.is_dir().then_some(folder)
}

const OWN: [&str; 4] = ["fix42", "fix44", "fix42-continued", "fix44-continued"];

#[test]
fn every_official_acceptor_case_has_a_script_for_both_versions() {
    let cases = [
        "1Sa", "1Sb", "1Sc", "1Sd", "2S", "2a", "2b", "2c", "2d", "2e", "2f", "2g", "2h", "2i", "2j", "2k",
        "2l", "2m", "2n", "2o", "2p", "2q", "2r", "2s", "2t", "3a", "3b", "3c", "3d", "3e", "4a", "4b", "5",
        "6", "7", "8", "10a", "10b", "10c", "10d", "10e", "11a", "11b", "11c", "12", "13a", "13b", "14a",
        "14b", "14c", "14d", "14e", "14f", "14g", "14h", "14i", "14j", "15", "16", "18", "19a", "19b", "20",
        "21",
    ];
    for version in ["fix42", "fix44"] {
        let mut covered = BTreeSet::new();
        for folder in [version.to_owned(), format!("{version}-continued")] {
            for script in Script::read_folder(&own(&folder)).unwrap() {
                let (named, _) =
                    script.title.split_once(':').unwrap_or_else(|| panic!("{}: no title", script.name()));
                covered.extend(named.split(", ").map(|case| case.replace("1S-", "1S")));
            }
        }
        for case in cases {
            assert!(covered.contains(case), "{version}: no script names case {case}");
        }
    }
}

#[test]
fn both_versions_have_the_same_scripts() {
    for suffix in ["", "-continued"] {
        let names = |version: &str| -> Vec<String> {
            let scripts = Script::read_folder(&own(&format!("{version}{suffix}"))).unwrap();
            scripts.iter().map(Script::name).collect()
        };
        assert_eq!(names("fix42"), names("fix44"));
    }
}

#[test]
fn every_script_of_ours_says_what_must_come_back_and_ends_every_connection() {
    for folder in OWN {
        for script in Script::read_folder(&own(folder)).unwrap() {
            let name = script.name();
            assert!(!script.title.is_empty(), "{folder}/{name} has no title");
            let mut open = BTreeSet::new();
            let mut expects = false;
            for step in &script.steps {
                match step.action {
                    Action::Connect => assert!(open.insert(step.connection), "{folder}/{name}:{}", step.line),
                    Action::Disconnect | Action::ExpectDisconnect => {
                        assert!(open.remove(&step.connection), "{folder}/{name}:{}", step.line);
                        expects |= step.action == Action::ExpectDisconnect;
                    }
                    Action::Expect(_) => expects = true,
                    _ => {}
                }
            }
            assert!(
                open.is_empty() && expects,
                "{folder}/{name} ends without its connections ended, or expects nothing"
            );
        }
    }
}

#[test]
fn every_script_of_the_reference_suites_is_understood() {
    let mut read = 0;
    for folder in ["fix42", "fix44", "fix50sp2"] {
        let Some(path) = reference(folder) else {
            eprintln!("shared folder absent: the scripts of quickfix/{folder} were not read");
            continue;
        };
        read += Script::read_folder(&path).unwrap().len();
    }
    eprintln!("{read} reference scripts read");
}
