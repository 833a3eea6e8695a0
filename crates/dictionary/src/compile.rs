//! From a source file to the compact table that is committed: the one way the shipped tables are made.

use crate::model::Dictionary;
use crate::options::ReadOptions;
use crate::read::{ReadError, Warning};
use crate::{orchestra, quickfix_xml, xml};

impl Dictionary {
    /// Reads a dictionary in any of the forms understood here, told apart by the text itself: FIX Orchestra, QuickFIX XML or a
    /// compact table (what does not begin with an element).
    ///
    /// # Errors
    /// As the reader of the form found.
    pub fn from_source(text: &str) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
        Dictionary::from_source_with(text, &ReadOptions::default())
    }

    /// As [`Dictionary::from_source`], with options.
    ///
    /// # Errors
    /// As the reader of the form found, and an option that the form has no room for: only FIX Orchestra says what belonged to
    /// an earlier version, and a compact table is read as it is.
    pub fn from_source_with(
        text: &str,
        options: &ReadOptions,
    ) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
        match root_element(&xml::plain(text)) {
            Some("repository") => orchestra::read(text, options),
            Some(_) => quickfix_xml::read(text, options),
            None if *options != ReadOptions::default() => Err(vec![ReadError::of_document(
                "options are for FIX Orchestra and QuickFIX XML, not for a table",
            )]),
            None => Dictionary::from_table(text).map(|dictionary| (dictionary, Vec::new())),
        }
    }
}

/// Local name of the first element; none if the text is not XML.
fn root_element(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start().strip_prefix('<')?;
        let end = match text {
            _ if text.starts_with("!--") => "-->",
            _ if text.starts_with('?') => "?>",
            _ => break,
        };
        text = text.split_once(end).map(|(_, rest)| rest)?;
    }
    let name = text.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next()?;
    name.rsplit(':').next()
}

/// Makes the compact table of a source text, QuickFIX XML or FIX Orchestra, told apart by the text itself. `source_name` (a file
/// name without folders) stands in the table beside the text's hash.
///
/// # Errors
/// Everything that is wrong with the source.
pub fn compile(
    source_text: &str,
    source_name: &str,
    options: &ReadOptions,
) -> Result<(String, Vec<Warning>), Vec<ReadError>> {
    let (mut dictionary, warnings) = Dictionary::from_source_with(source_text, options)?;
    dictionary.source.name = source_name.to_string();
    Ok((dictionary.to_table(), warnings))
}
