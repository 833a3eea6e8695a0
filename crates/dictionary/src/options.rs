//! How to read a source if there is more than one way.

/// How to read a source. By default it is read strictly, as it says.
///
/// ```
/// use fixbolt_dictionary::{Dictionary, ReadOptions};
/// let text = "<fix major='4' minor='4'><messages/><fields>
///     <field number='5001' name='A' type='INT'/>
///     <field number='5001' name='B' type='INT'/></fields></fix>";
/// assert!(Dictionary::from_source(text).is_err());
/// let options = ReadOptions::default().accept_duplicate_tags();
/// let (dictionary, warnings) = Dictionary::from_source_with(text, &options).unwrap();
/// assert_eq!(dictionary.field(5001).unwrap().name, "A");
/// assert_eq!(warnings.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    pub(crate) as_of: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) duplicate_tags: bool,
    pub(crate) standard_names: bool,
}

impl ReadOptions {
    /// Reads only what belonged to this version, for example `FIX.5.0SP1`: FIX Orchestra notes the
    /// version in which each part was added. The session layer of a version over FIXT.1.1 is
    /// omitted, as FIXT.1.1 has it.
    #[must_use]
    pub fn as_of(mut self, version: &str) -> ReadOptions {
        self.as_of = Some(version.to_string());
        self
    }

    /// Sets the version that the source describes, if the source says it wrongly or not at all.
    /// QuickFIX/J's file of FIX.5.0SP2 has no service pack, for example, and a venue's Orchestra
    /// file may have the venue's own version.
    #[must_use]
    pub fn version(mut self, version: &str) -> ReadOptions {
        self.version = Some(version.to_string());
        self
    }

    /// Accepts a tag that several fields have, which is an error otherwise. The first field stays,
    /// and the names of later ones refer to it.
    #[must_use]
    pub fn accept_duplicate_tags(mut self) -> ReadOptions {
        self.duplicate_tags = true;
        self
    }

    /// Gives fields, messages and codes the names that FIX Orchestra has for the same tag, message
    /// type and value.
    #[must_use]
    pub fn standard_names(mut self) -> ReadOptions {
        self.standard_names = true;
        self
    }
}
