//! What docs/validation.md says of the checks.

use std::collections::BTreeSet;

use fixbolt_dictionary::{Action, Check, Policy};

use crate::checks::{V44, all, failures, order};

#[test]
fn the_page_has_the_reasons_of_each_check() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validation.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut said = BTreeSet::new();
    for name in Check::ALL.map(Check::name) {
        let row = page.lines().find_map(|line| line.strip_prefix(&format!("| `{name}` | ")));
        let (reasons, _) = row.and_then(|row| row.split_once(" | ")).unwrap_or_else(|| panic!("{name}"));
        said.extend(reasons.split(", ").map(|reason| (name, reason.parse::<u16>().unwrap())));
    }
    // Those of a dialect's fields, of sessions, of groups that are read as sent, and over a set of
    // versions are tested there.
    let elsewhere = [
        (Check::UserDefinedTag, 2),
        (Check::TagSyntax, 17),
        (Check::GroupAsSent, 15),
        (Check::ApplicationVersion, 18),
    ];
    let here = failures().into_iter().map(|(check, _, reason, _)| (check, reason));
    let found: BTreeSet<_> = here.chain(elsewhere).map(|(check, reason)| (check.name(), reason)).collect();
    assert_eq!(said, found);
}

#[test]
fn engines_policies_only_warn_of_data_before_its_length() {
    for policy in [Policy::quickfix(), Policy::quickfixj()] {
        let found = all(&V44, &policy, &order("89=abc|93=3|"));
        assert_eq!(found, [(Check::DataBeforeLength, Action::Warn, 14, "89".to_owned())]);
    }
}
