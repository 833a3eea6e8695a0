//! A misspelled key is never ignored, and the message names the key that was meant.

use std::collections::BTreeSet;

use super::classifying::is_understood;
use super::fixt::versioned_keys;
use super::nearest_key::{INCLUDE, suggested};
use super::other_keys::{EXAMPLE_KEYS, is_of_an_example, other_keys, treatment};
use super::rows::{ROWS, row_of};
use super::tests::ACCEPTOR;
use super::*;

/// Returns every key that the configuration knows; a family of keys by one that belongs to it.
fn keys() -> Vec<String> {
    let others = other_keys().map(|(name, _)| name.replace('*', "StoreUser"));
    let rows = ROWS.iter().flat_map(rows::Row::names).chain(versioned_keys());
    rows.chain(others).chain(EXAMPLE_KEYS.map(str::to_owned)).chain([INCLUDE.to_owned()]).collect()
}

/// Returns a key with one letter left out, two neighbors in the wrong order, or one letter twice,
/// at each place, as far as that is no key itself.
fn misspelled(key: &str) -> BTreeSet<String> {
    let letters: Vec<char> = key.chars().collect();
    let mut all = BTreeSet::new();
    for n in 0..letters.len() {
        let (before, rest) = letters.split_at(n);
        let with = |middle: &[char], skipped: usize| -> String {
            before.iter().chain(middle).chain(&rest[skipped..]).collect()
        };
        all.insert(with(&[], 1));
        all.insert(with(&[rest[0], rest[0]], 1));
        if let [one, two, ..] = *rest {
            all.insert(with(&[two, one], 2));
        }
    }
    all.retain(|word| !is_understood(word) && !word.eq_ignore_ascii_case(INCLUDE));
    all
}

/// Returns whether a suggestion is the key, or the family that it belongs to.
fn is_meant(suggested: &str, key: &str) -> bool {
    match suggested.strip_suffix('*') {
        Some(stem) => key.starts_with(stem),
        None => suggested == key,
    }
}

#[test]
fn each_misspelling_of_each_key_is_near_the_key() {
    let mut wrong = Vec::new();
    for key in keys() {
        for word in misspelled(&key) {
            let suggested = suggested(&word);
            if !suggested.iter().any(|suggested| is_meant(suggested, &key)) {
                wrong.push(format!("{key}: {word} is taken for {suggested:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_misspelled_key_is_a_mistake_in_every_section_that_names_the_key() {
    for key in keys() {
        // One of each kind, in the middle of the key.
        let middle = key.len() / 2;
        let (before, after) = key.split_at(middle);
        let words = [
            format!("{before}{}", &after[1..]),
            format!("{before}{}{after}", &after[..1]),
            format!("{before}{}{}{}", &after[1..2], &after[..1], &after[2..]),
        ];
        let all = misspelled(&key);
        let words: BTreeSet<&String> = words.iter().filter(|word| all.contains(*word)).collect();
        let lines: String = words.iter().map(|word| format!("{word}=Y\n")).collect();
        let default = format!("[DEFAULT]\n{lines}{ACCEPTOR}");
        for (first, text) in [(2, default), (7, format!("{ACCEPTOR}{lines}"))] {
            let checked = CheckedConfiguration::from_text("a.cfg", &text);
            let told: Vec<String> = checked.mistakes.iter().map(ToString::to_string).collect();
            for (line, word) in (first..).zip(&words) {
                let begin = format!("a.cfg:{line}: unknown key {word}; did you mean ");
                let suggested = told.iter().find_map(|told| told.strip_prefix(&begin)?.split_once('?'));
                let (suggested, _) = suggested.unwrap_or_else(|| panic!("{key}: {begin} not in {told:?}"));
                assert!(suggested.split(" or ").any(|name| is_meant(name, &key)), "{key}: {suggested}");
            }
        }
    }
}

#[test]
fn a_key_in_any_case_is_the_key() {
    for key in keys().into_iter().filter(|key| key != INCLUDE) {
        for word in [key.to_ascii_uppercase(), key.to_ascii_lowercase()] {
            let row = |key: &str| row_of(key).map(|row| row.name);
            assert_eq!(
                (row(&word), treatment(&word), is_of_an_example(&word)),
                (row(&key), treatment(&key), is_of_an_example(&key)),
                "{word}"
            );
            assert!(is_understood(&word), "{word}");
        }
    }
    let include = Configuration::from_text("a.cfg", &format!("{ACCEPTOR}INCLUDE=nowhere.cfg\n"));
    assert!(include.unwrap_err().to_string().starts_with("a.cfg:7: cannot read nowhere.cfg"));
}
