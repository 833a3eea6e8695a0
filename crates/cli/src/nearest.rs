//! Names that somebody may have meant.

/// `; did you mean X?` for the nearest of the names, if one is near.
pub(crate) fn did_you_mean<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> String {
    match nearest(word, names, 1).first() {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    }
}

/// The nearest of the names, if any is near, nearest first: at most `most`, each once.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>, most: usize) -> Vec<&'n str> {
    let word = word.to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .map(|name| (distance(&word, &name.to_ascii_lowercase()), name))
        .filter(|(distance, _)| *distance <= 1 + word.len() / 3)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Letters to insert, remove or change to get from one word to the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first_and_far_ones_not_at_all() {
        let names = ["Symbol", "SymbolSfx", "Side", "Symbol"];
        assert_eq!(nearest("Simbol", names.into_iter(), 3), ["Symbol"]);
        assert_eq!(nearest("symbolsf", names.into_iter(), 3), ["SymbolSfx", "Symbol"]);
        assert_eq!(did_you_mean("Sied", names.into_iter()), "; did you mean Side?");
        assert_eq!(did_you_mean("Quux", names.into_iter()), "");
    }
}
