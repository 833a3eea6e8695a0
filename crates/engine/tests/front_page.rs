//! The front page (README.md) is read in the repository, in the package and on docs.rs. Its links
//! must work in all three, and it is short enough to be read whole.

use std::path::Path;

#[test]
fn each_link_of_the_front_page_resolves_in_the_package_and_in_the_documentation() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(package.join("README.md")).unwrap();
    let documentation = std::fs::read_to_string(package.join("src/lib.rs")).unwrap();
    assert!(!page.contains("]("), "write links as `[text][label]` and define the label at the end");
    let (_, links) = page.trim_end().rsplit_once("\n\n").unwrap();
    for line in links.lines() {
        let (label, path) = line.split_once("]: ").expect("the last paragraph defines the links");
        let path = path.strip_prefix("crates/engine/").unwrap_or(path);
        assert!(package.join(path).exists(), "{path} is not part of the package");
        let there = format!("//! {label}]: https://docs.rs/crate/fixbolt/latest/source/{path}\n");
        assert!(documentation.contains(&there), "src/lib.rs lacks: {there}");
    }
}

#[test]
fn the_front_page_has_at_most_1800_words_in_lines_of_at_most_130_characters() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for line in page.lines() {
        assert!(line.chars().count() <= 130, "{line}");
    }
    // The definitions of the links are not shown.
    let (shown, _) = page.trim_end().rsplit_once("\n\n").unwrap();
    let words = shown.split_whitespace().count();
    assert!(words <= 1800, "{words} words");
}
