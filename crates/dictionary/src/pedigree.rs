//! What of an Orchestra file belonged to an earlier version, told by its pedigree: `added` and `addedEP`.
//!
//! `added="FIX.5.0"` means the version itself; `added="FIX.5.0" addedEP="52"` an extension pack upon it, which became part of
//! the next version. What is deprecated stays: it was never taken out. Three things the pedigree of FIX Latest does not say:
//!
//! - Definitions and references that came with FIX.5.0SP1 bear `added="FIX.5.0"` like those of FIX.5.0 itself, without any
//!   extension pack. For FIX.5.0 a message, component or group so marked is left out, and a reference so marked is read only if
//!   all the fields it brings were new in FIX.5.0: what was older and newly referred to came with FIX.5.0SP1.
//! - Codes of MsgType(35) have no pedigree: they follow the message.
//! - What was removed before FIX Latest is not there.

use roxmltree::Node;

use crate::model::Version;

/// A version as a point in the pedigree's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edition(usize);

impl Edition {
    /// The edition called `name`, if pedigrees can tell it.
    pub(crate) fn named(name: &str) -> Option<Edition> {
        VERSIONS.iter().position(|version| *version == name).map(|at| Edition(2 * at))
    }

    /// Whether this edition leaves the session layer to FIXT.1.1.
    pub(crate) fn is_over_fixt(self) -> bool {
        Version::named(VERSIONS[self.0 / 2]).begin_string == "FIXT.1.1"
    }

    /// Whether the node was there by this edition; a node without pedigree was.
    pub(crate) fn has(self, node: Node<'_, '_>) -> bool {
        // FIX Latest is itself with every extension pack so far.
        rank(node).is_none_or(|rank| rank <= self.0 || self == LATEST)
    }

    /// Whether the message, component or group was there by this edition.
    pub(crate) fn has_definition(self, node: Node<'_, '_>) -> bool {
        self.has(node) && !self.is_ambiguous(node)
    }

    /// Whether the node may have come with FIX.5.0 or with FIX.5.0SP1, and this edition is FIX.5.0.
    pub(crate) fn is_ambiguous(self, node: Node<'_, '_>) -> bool {
        self == FIX50 && rank(node) == Some(FIX50.0)
    }

    /// Whether the field came after FIX.4.4 and no later than this edition.
    pub(crate) fn brought(self, field: Node<'_, '_>) -> bool {
        rank(field).is_some_and(|rank| FIX44.0 < rank && rank <= self.0)
    }
}

/// Place of the node in the order of versions and of the extension packs upon each.
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
