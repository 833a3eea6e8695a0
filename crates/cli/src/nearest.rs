//! Suggestions for misspelled names.

use strsim::osa_distance;

/// Returns `; did you mean X?` with the most similar name, or nothing if none is similar.
pub(crate) fn did_you_mean<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> String {
    match nearest(word, names, 1).first() {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    }
}

/// Returns up to `most` similar names, the most similar first, without duplicates.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>, most: usize) -> Vec<&'n str> {
    let word = word.to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .map(|name| (osa_distance(&word, &name.to_ascii_lowercase()), name))
        // Half of a short word in common is a coincidence.
        .filter(|(distance, _)| *distance <= 1 + word.len() / 3 && 2 * distance <= word.len())
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first_and_distant_ones_are_omitted() {
        let names = ["Symbol", "SymbolSfx", "Side", "Symbol"];
        assert_eq!(nearest("Simbol", names.into_iter(), 3), ["Symbol"]);
        assert_eq!(nearest("symbolsf", names.into_iter(), 3), ["SymbolSfx", "Symbol"]);
        assert_eq!(did_you_mean("Sied", names.into_iter()), "; did you mean Side?");
        // Swapping two letters counts as one mistake.
        assert_eq!(nearest("Sdie", ["Sire", "Side"].into_iter(), 1), ["Side"]);
        assert_eq!(did_you_mean("Quux", names.into_iter()), "");
        assert_eq!(did_you_mean("Foo", ["IOI"].into_iter()), "");
        assert_eq!(did_you_mean("Txt", ["Text"].into_iter()), "; did you mean Text?");
    }
}
