//! How a source is read where more than one way makes sense.

/// How a source is read; the default is as the file says, strictly.
///
/// ```
/// use fixbolt_dictionary::{Dictionary, ReadOptions};
/// let text = "<fix major='4' minor='4'><messages/><fields><field number='5001' name='A' type='INT'/>
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
    /// Reads only what already belonged to this version, `FIX.5.0SP1` for example: FIX Orchestra notes with each part the
    /// version in which it was added. Of a version over FIXT.1.1 the session layer is left out, since FIXT.1.1 has it.
    #[must_use]
    pub fn as_of(mut self, version: &str) -> ReadOptions {
        self.as_of = Some(version.to_string());
        self
    }

    /// Says which version the source describes, where it says it wrong or not at all: QuickFIX/J's file of FIX.5.0SP2 bears no
    /// service pack, for example, and a venue's Orchestra file may bear the venue's own version.
    #[must_use]
    pub fn version(mut self, version: &str) -> ReadOptions {
        self.version = Some(version.to_string());
        self
    }

    /// Accepts a tag that several fields bear, which is an error otherwise: the first stays, a later one's name means the same
    /// field.
    #[must_use]
    pub fn accept_duplicate_tags(mut self) -> ReadOptions {
        self.duplicate_tags = true;
        self
    }

    /// Gives fields, messages and codes the names that FIX Orchestra uses for the same tag, message type and value.
    #[must_use]
    pub fn standard_names(mut self) -> ReadOptions {
        self.standard_names = true;
        self
    }
}
