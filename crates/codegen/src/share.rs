//! What versions that are generated together share: an item that is identical in an earlier version
//! is re-exported from there.
//!
//! Two items are the same if their text is the same and everything that the text refers to is the
//! same. Whether two versions share an item therefore depends only on these two: further versions
//! make no types different or equal. The text of a message has the version that it is read in,
//! which only dialects share.

use std::collections::HashMap;

/// The place of an item in a version's module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ItemModule {
    Root,
    Fields,
    Tags,
    Components,
    Groups,
}

impl ItemModule {
    /// Returns the name of the module below the version's; empty for the root.
    pub(crate) const fn module(self) -> &'static str {
        match self {
            ItemModule::Root => "",
            ItemModule::Fields => "fields",
            ItemModule::Tags => "tags",
            ItemModule::Components => "components",
            ItemModule::Groups => "groups",
        }
    }

    /// Path from this place to the parent of the versions' modules.
    const fn up(self) -> &'static str {
        match self {
            ItemModule::Root => "super",
            _ => "super::super",
        }
    }
}

/// Something printed that can be shared.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) place: ItemModule,
    /// The names it defines: a type, and often a module or another type with it. Texts refer to
    /// each by place and name.
    pub(crate) names: Vec<String>,
    /// What precedes the text and is not compared: documentation.
    pub(crate) document: String,
    pub(crate) text: String,
    /// What the item depends on besides its text.
    pub(crate) meaning: String,
}

/// The class of an item: two items are the same if their classes are.
type Class = u32;

/// The items of all versions printed so far.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    classes: HashMap<(String, String, Vec<Class>), Class>,
    /// For each class the module of the version that has it first, in each place.
    homes: HashMap<(ItemModule, Class), String>,
    /// The items of each version, by module, place and name.
    versions: HashMap<String, HashMap<(ItemModule, String), Class>>,
}

/// The items of a version: what is printed, and what is taken from earlier versions.
#[derive(Debug)]
pub(crate) struct Sorted {
    pub(crate) printed: Vec<Item>,
    /// Names by place and module of the earlier version.
    taken: Vec<(ItemModule, String, Vec<String>)>,
}

impl Shelf {
    /// Sorts the items of the version in `module`. Over a transport the session messages, and
    /// whatever only they use, are always those of the transport.
    pub(crate) fn sort(&mut self, module: &str, items: Vec<Item>, sessions: Option<&Sessions>) -> Sorted {
        let mut known = Known::new(&items);
        if let Some(sessions) = sessions {
            self.take_sessions(sessions, &items, &mut known);
        }
        for n in 0..items.len() {
            self.class(&items, &mut known, n);
        }
        let mut sorted = Sorted { printed: Vec::new(), taken: Vec::new() };
        let mut own = HashMap::new();
        for (n, item) in items.into_iter().enumerate() {
            let class = known.classes[n].expect("every item has its class by now");
            own.extend(item.names.iter().map(|name| ((item.place, name.clone()), class)));
            match self.homes.get(&(item.place, class)) {
                Some(home) => sorted.take(item.place, home, item.names),
                None => {
                    self.homes.insert((item.place, class), module.to_string());
                    sorted.printed.push(item);
                }
            }
        }
        self.versions.insert(module.to_string(), own);
        sorted
    }

    /// Assigns the class of the transport's item of the same name to the session messages and to
    /// what no other message uses.
    fn take_sessions(&self, sessions: &Sessions, items: &[Item], known: &mut Known) {
        let Some(theirs) = self.versions.get(&sessions.module) else { return };
        let of_session =
            |item: &Item| item.place == ItemModule::Root && sessions.names.contains(&item.names[0]);
        let mut used = vec![false; items.len()];
        let mut open: Vec<usize> = (0..items.len())
            .filter(|&n| items[n].place == ItemModule::Root && !of_session(&items[n]))
            .collect();
        while let Some(n) = open.pop() {
            if !std::mem::replace(&mut used[n], true) {
                let parts = references(&items[n]).into_iter().filter_map(|part| known.places.get(&part));
                open.extend(parts.filter(|part| !of_session(&items[**part])));
            }
        }
        for (n, item) in items.iter().enumerate().filter(|(n, _)| !used[*n]) {
            known.classes[n] = theirs.get(&(item.place, item.names[0].clone())).copied();
        }
    }

    fn class(&mut self, items: &[Item], known: &mut Known, n: usize) -> Class {
        if let Some(class) = known.classes[n] {
            return class;
        }
        let item = &items[n];
        let mut parts = Vec::new();
        for reference in references(item) {
            // Components and groups are never circular: readers refuse that.
            if let Some(&part) = known.places.get(&reference)
                && part != n
            {
                parts.push(self.class(items, known, part));
            }
        }
        let next = self.classes.len() as Class;
        let class = *self.classes.entry((item.text.clone(), item.meaning.clone(), parts)).or_insert(next);
        known.classes[n] = Some(class);
        class
    }
}

/// What a version over a transport takes from it: the names of header, trailer and session
/// messages.
#[derive(Debug)]
pub(crate) struct Sessions {
    pub(crate) module: String,
    pub(crate) names: Vec<String>,
}

impl Sorted {
    fn take(&mut self, place: ItemModule, home: &str, names: Vec<String>) {
        match self.taken.iter_mut().find(|taken| taken.0 == place && taken.1 == home) {
            Some(taken) => taken.2.extend(names),
            None => self.taken.push((place, home.to_string(), names)),
        }
    }

    /// Prints the items of a place, after those that are re-exported there.
    pub(crate) fn print(&self, out: &mut String, place: ItemModule) {
        for (_, home, names) in self.taken.iter().filter(|taken| taken.0 == place) {
            let below = match place {
                ItemModule::Root => String::new(),
                _ => format!("::{}", place.module()),
            };
            // A module of the library has a whole path.
            let up = if home.contains("::") { String::new() } else { format!("{}::", place.up()) };
            out.push_str(&format!("pub use {up}{home}{below}::{{\n"));
            for names in names.chunks(6) {
                out.push_str(&format!("    {},\n", names.join(", ")));
            }
            out.push_str("};\n");
        }
        for item in self.printed.iter().filter(|item| item.place == place) {
            out.push_str(&item.document);
            out.push_str(&item.text);
        }
    }
}

struct Known {
    places: HashMap<(ItemModule, String), usize>,
    classes: Vec<Option<Class>>,
}

impl Known {
    fn new(items: &[Item]) -> Self {
        let places = items
            .iter()
            .enumerate()
            .flat_map(|(n, item)| item.names.iter().map(move |name| ((item.place, name.clone()), n)))
            .collect();
        Known { places, classes: vec![None; items.len()] }
    }
}

/// Returns what the text of an item refers to, each name once, in order.
fn references(item: &Item) -> Vec<(ItemModule, String)> {
    let mut found = Vec::new();
    for place in [ItemModule::Fields, ItemModule::Components, ItemModule::Groups] {
        let mut seen = std::collections::HashSet::new();
        for word in words_behind(&item.text, &format!("{}::", place.module())) {
            if seen.insert(word) {
                found.push((place, word.to_string()));
            }
        }
    }
    if item.place == ItemModule::Root {
        for name in ["Header", "Trailer"] {
            if item.text.contains(&format!(" {name}<'")) || item.text.contains(&format!("mut {name}<'")) {
                found.push((ItemModule::Root, name.to_string()));
            }
        }
    }
    found
}

/// Returns the identifiers that follow `prefix` in a text.
fn words_behind<'t>(text: &'t str, prefix: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices(prefix).map(|(at, prefix)| {
        let rest = &text[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}
