//! Finds what belonged to an earlier version in an Orchestra file, by its pedigree: `added` and
//! `addedEP`.
//!
//! `added="FIX.5.0"` means the version itself; `added="FIX.5.0" addedEP="52"` an extension pack of
//! it, which became part of the next version. What is deprecated stays, as it was never removed.
//! Four things are not in the pedigree of FIX Latest:
//!
//! - Definitions and references that came with FIX.5.0SP1 are marked `added="FIX.5.0"` like those
//!   of FIX.5.0 itself, without an extension pack. For FIX.5.0 a message, component or group with
//!   this mark is omitted, and a reference with it is read only if every field that it brings has
//!   the mark itself: TriggeringInstruction and its fields. Everything else with the mark is
//!   missing in FIX.5.0 as QuickFIX and QuickFIX/J have it.
//! - A field that moved into a component has the date of the move. A field that FIX.4.4 has in the
//!   same message, component or group was always there, and is read where FIX.4.4 has it.
//!   QuickFIX's and QuickFIX/J's files of FIX.5.0 and its service packs have all 12,384 members
//!   that FIX.4.4 and FIX Latest have in the same place.
//! - Codes of MsgType(35) have no pedigree: they follow the message.
//! - What was removed before FIX Latest is missing.

use std::collections::{HashMap, HashSet};

use roxmltree::Node;

use crate::limits;
use crate::model::{Dictionary, Member};
use crate::shipped::fix44;
use crate::xml;

/// An Orchestra file as of a version.
pub(crate) struct Pedigree<'a, 'd> {
    edition: Edition,
    /// All components and groups.
    definitions: HashMap<(Reference, u32), Node<'a, 'd>>,
    /// What the edition does not have.
    later: HashSet<(Reference, u32)>,
    /// Types of the messages that it does not have.
    later_types: HashSet<&'a str>,
    /// The fields that it has.
    tags: HashSet<u32>,
    /// Fields with the mark of FIX.5.0, if that is the edition.
    marked_tags: HashSet<u32>,
    /// Whether all fields of a component or group have the mark of FIX.5.0.
    only_marked: HashMap<(Reference, u32), bool>,
    /// Messages, components and groups whose moved fields were looked for.
    looked_at: HashSet<(String, &'a str)>,
}

/// What a reference refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reference {
    Field,
    Component,
    Group,
}

impl Reference {
    /// Returns the kind of reference that this element is, if it is one.
    pub(crate) fn of(node: Node<'_, '_>) -> Option<Reference> {
        match node.tag_name().name() {
            "fieldRef" => Some(Reference::Field),
            "componentRef" => Some(Reference::Component),
            "groupRef" => Some(Reference::Group),
            _ => None,
        }
    }
}

impl<'a, 'd> Pedigree<'a, 'd> {
    /// Returns the file as of the version called `name`, or `None` if pedigrees do not name that
    /// version.
    pub(crate) fn new(name: &str, root: Node<'a, 'd>) -> Option<Pedigree<'a, 'd>> {
        let edition = Edition::named(name)?;
        let mut pedigree = Pedigree {
            edition,
            definitions: HashMap::new(),
            later: HashSet::new(),
            later_types: HashSet::new(),
            tags: HashSet::new(),
            marked_tags: HashSet::new(),
            only_marked: HashMap::new(),
            looked_at: HashSet::new(),
        };
        for node in xml::elements(root).flat_map(xml::elements) {
            let kind = match node.tag_name().name() {
                "field" => Reference::Field,
                "component" => Reference::Component,
                "group" => Reference::Group,
                "message" => {
                    let later = !edition.has_definition(node);
                    pedigree.later_types.extend(node.attribute("msgType").filter(|_| later));
                    continue;
                }
                _ => continue,
            };
            let Some(id) = number(node) else { continue };
            if kind == Reference::Field {
                if edition.has(node) {
                    pedigree.tags.insert(id);
                } else {
                    pedigree.later.insert((kind, id));
                }
                if edition.is_marked_50(node) {
                    pedigree.marked_tags.insert(id);
                }
            } else {
                pedigree.definitions.insert((kind, id), node);
                if !edition.has_definition(node) {
                    pedigree.later.insert((kind, id));
                }
            }
        }
        Some(pedigree)
    }

    /// Returns whether this edition leaves the session layer to FIXT.1.1.
    pub(crate) fn is_over_fixt(&self) -> bool {
        self.edition >= FIX50
    }

    /// Returns whether the field, message, component or group belongs to the edition. The type of
    /// values in a later code set remains.
    pub(crate) fn has_definition(&self, node: Node<'a, 'd>) -> bool {
        match node.tag_name().name() {
            "codeSet" => true,
            "field" => self.edition.has(node),
            "message" if self.is_over_fixt() && node.attribute("category") == Some("Session") => false,
            _ => self.edition.has_definition(node),
        }
    }

    /// Returns whether a code of this set belongs to the edition.
    pub(crate) fn has_code(&self, set: Node<'a, 'd>, code: Node<'a, 'd>) -> bool {
        let of_later_message = set.attribute("name") == Some("MsgTypeCodeSet")
            && code.attribute("value").is_some_and(|value| self.later_types.contains(value));
        self.edition.has(set) && self.edition.has(code) && !of_later_message
    }

    /// Returns whether a reference belongs to the edition.
    pub(crate) fn has_reference(&mut self, node: Node<'a, 'd>, kind: Reference, id: u32) -> bool {
        self.edition.has(node)
            && !self.later.contains(&(kind, id))
            && (!self.edition.is_marked_50(node) || self.brings_only_marked(kind, id, 0))
    }

    /// Returns whether all fields that a reference brings into the edition have the mark of
    /// FIX.5.0.
    fn brings_only_marked(&mut self, kind: Reference, id: u32, depth: usize) -> bool {
        if kind == Reference::Field {
            return self.marked_tags.contains(&id);
        }
        if let Some(&known) = self.only_marked.get(&(kind, id)) {
            return known;
        }
        // A definition that contains itself does not belong to the edition.
        self.only_marked.insert((kind, id), false);
        let definition = self.definitions.get(&(kind, id)).filter(|_| depth <= limits::DEPTH);
        let Some(&definition) = definition else { return false };
        let only_marked = xml::elements(definition).all(|node| {
            let is_count = node.tag_name().name() == "numInGroup";
            let Some(kind) = Reference::of(node).or(is_count.then_some(Reference::Field)) else {
                return true;
            };
            let Some(id) = number(node) else { return true };
            !self.edition.has(node)
                || self.later.contains(&(kind, id))
                || self.brings_only_marked(kind, id, depth + 1)
        });
        self.only_marked.insert((kind, id), only_marked);
        only_marked
    }

    /// Collects the fields that later references bring to `scope` although they were always there,
    /// into `members`, with the field that they follow in FIX.4.4.
    pub(crate) fn put_moved(&mut self, scope: Node<'a, 'd>, members: &mut Vec<Member>) {
        let before = self.in_fix44(scope);
        if before.is_empty() {
            return;
        }
        let mut here = HashSet::new();
        self.walk(scope, &mut HashSet::new(), 0, &mut |pedigree, node, kind, id| {
            let is_read = pedigree.has_reference(node, kind, id);
            here.extend(Some(id).filter(|_| is_read && kind == Reference::Field));
            is_read
        });
        let mut moved = HashSet::new();
        self.walk(scope, &mut HashSet::new(), 0, &mut |pedigree, _, kind, id| {
            if kind == Reference::Field && pedigree.tags.contains(&id) && !here.contains(&id) {
                moved.insert(id);
            }
            true
        });
        for (at, tag) in before.iter().enumerate().filter(|(_, tag)| moved.contains(tag)) {
            let place = before[..at].iter().rev().find_map(|known| {
                members.iter().position(|member| matches!(member, Member::Field { tag, .. } if tag == known))
            });
            members.insert(place.map_or(0, |place| place + 1), Member::Field { tag: *tag, required: false });
        }
    }

    /// Walks the references in `scope` and in its components; groups are not entered. `look` says
    /// whether to enter.
    fn walk(
        &mut self,
        scope: Node<'a, 'd>,
        seen: &mut HashSet<u32>,
        depth: usize,
        look: &mut dyn FnMut(&mut Self, Node<'a, 'd>, Reference, u32) -> bool,
    ) {
        for node in xml::elements(scope) {
            let (Some(kind), Some(id)) = (Reference::of(node), number(node)) else { continue };
            if look(self, node, kind, id)
                && kind == Reference::Component
                && depth < limits::DEPTH
                && seen.insert(id)
                && let Some(&definition) = self.definitions.get(&(kind, id))
            {
                self.walk(definition, seen, depth + 1, look);
            }
        }
    }

    /// Returns the fields that FIX.4.4 has in the same message, component or group, in its order
    /// and without groups; `None` if the edition is not a later one or FIX.4.4 has no such place.
    fn in_fix44(&mut self, scope: Node<'a, 'd>) -> Vec<u32> {
        if self.edition.0 <= FIX44.0 || self.edition == LATEST {
            return Vec::new();
        }
        let place =
            scope.parent_element().filter(|_| scope.tag_name().name() == "structure").unwrap_or(scope);
        let key = place.attribute("msgType").or(place.attribute("name")).unwrap_or_default();
        // A name that is defined again is an error; what it costs to look is not spent twice.
        if !self.looked_at.insert((place.tag_name().name().to_string(), key)) {
            return Vec::new();
        }
        let known: &Dictionary = fix44();
        let name = scope.attribute("name");
        let members: Option<&[Member]> = match scope.tag_name().name() {
            "structure" => scope
                .parent_element()
                .and_then(|message| known.message(message.attribute("msgType")?.as_bytes()))
                .map(|message| message.members.as_slice()),
            "group" => {
                let group = known.groups().iter().find(|group| Some(group.name.as_str()) == name);
                group.map(|group| group.members.as_slice())
            }
            _ => {
                let component = known.components().iter().find(|one| Some(one.name.as_str()) == name);
                component.map(|component| component.members.as_slice())
            }
        };
        let flat = members.into_iter().flat_map(|members| known.expand(members));
        flat.filter(|member| member.group.is_none()).map(|member| member.tag).collect()
    }
}

fn number(node: Node<'_, '_>) -> Option<u32> {
    node.attribute("id").and_then(|id| id.parse().ok())
}

/// A version as a point in the pedigree's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edition(usize);

impl Edition {
    fn named(name: &str) -> Option<Edition> {
        VERSIONS.iter().position(|version| *version == name).map(|at| Edition(2 * at))
    }

    /// Returns whether the node existed in this edition; a node without a pedigree did.
    fn has(self, node: Node<'_, '_>) -> bool {
        // FIX Latest includes all extension packs so far.
        rank(node).is_none_or(|rank| rank <= self.0 || self == LATEST)
    }

    /// Returns whether the message, component or group existed in this edition.
    fn has_definition(self, node: Node<'_, '_>) -> bool {
        self.has(node) && !self.is_marked_50(node)
    }

    /// Returns whether the node has the mark of FIX.5.0, and this edition is FIX.5.0: a field came
    /// with it; a definition or a reference may have come with FIX.5.0SP1.
    fn is_marked_50(self, node: Node<'_, '_>) -> bool {
        self == FIX50 && rank(node) == Some(FIX50.0)
    }
}

/// Returns the position of the node in the order of versions and their extension packs.
fn rank(node: Node<'_, '_>) -> Option<usize> {
    let Edition(version) = Edition::named(node.attribute("added")?)?;
    // The published files say addedEP="-1" for none.
    let upon = node.attribute("addedEP").and_then(|pack| pack.parse().ok()).is_some_and(|pack: i32| pack > 0);
    Some(version + usize::from(upon))
}

const VERSIONS: [&str; 11] = [
    "FIX.2.7",
    "FIX.3.0",
    "FIX.4.0",
    "FIX.4.1",
    "FIX.4.2",
    "FIX.4.3",
    "FIX.4.4",
    "FIX.5.0",
    "FIX.5.0SP1",
    "FIX.5.0SP2",
    "FIX.Latest",
];

const FIX44: Edition = Edition(12);
const FIX50: Edition = Edition(14);
const LATEST: Edition = Edition(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_pack_belongs_to_the_version_after_the_one_it_extends() {
        let has = |version: &str, attributes: &str| {
            let text = format!("<field {attributes}/>");
            let document = roxmltree::Document::parse(&text).expect("it is well formed");
            Edition::named(version).expect("a version").has(document.root_element())
        };
        assert!(has("FIX.5.0", "added='FIX.5.0'"));
        assert!(has("FIX.5.0", "added='FIX.4.4' addedEP='21'"));
        assert!(has("FIX.5.0", "added='FIX.5.0' addedEP='-1'"));
        assert!(!has("FIX.5.0", "added='FIX.5.0' addedEP='52'"));
        assert!(has("FIX.5.0SP1", "added='FIX.5.0' addedEP='52'"));
        assert!(has("FIX.5.0", ""));
        assert!(has("FIX.Latest", "added='FIX.Latest' addedEP='269'"));
        assert_eq!((Edition::named("FIX.4.4"), Edition::named("FIX.5.0")), (Some(FIX44), Some(FIX50)));
        assert_eq!(Edition::named("FIX.Latest"), Some(LATEST));
        assert_eq!(Edition::named("FIX.6.0"), None);
    }
}
