//! From a source file to a compact table, which is how the shipped tables are made.

use crate::model::Dictionary;
use crate::options::ReadOptions;
use crate::read::{ReadError, Warning};
use crate::{orchestra, quickfix_xml, xml};

impl Dictionary {
    /// Reads a dictionary in any supported form, which is recognized from the text: FIX Orchestra,
    /// QuickFIX XML or a compact table (anything that does not begin with an element).
    ///
    /// # Errors
    /// Returns the errors of the reader.
    pub fn from_source(text: &str) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
        Dictionary::from_source_with(text, &ReadOptions::default())
    }

    /// Does the same as [`Dictionary::from_source`], with options.
    ///
    /// # Errors
    /// Returns the errors of the reader, and an error if the form does not support an option: only
    /// FIX Orchestra says what belonged to an earlier version, and a compact table is read as it
    /// is.
    pub fn from_source_with(
        text: &str,
        options: &ReadOptions,
    ) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
        match root_element(&xml::plain(text)) {
            Some("repository") => orchestra::read(text, options),
            Some(_) => quickfix_xml::read(text, options),
            None if *options != ReadOptions::default() => Err(vec![ReadError::of_document(
                "options apply to FIX Orchestra and QuickFIX XML, not to a table",
            )]),
            None => Dictionary::from_table(text).map(|dictionary| (dictionary, Vec::new())),
        }
    }
}

/// Returns the local name of the first element, or `None` if the text is not XML.
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

/// Makes the compact table of a source text, QuickFIX XML or FIX Orchestra, which is recognized
/// from the text. The table names `source_name` (a file name without directories) and the hash of
/// the text.
///
/// # Errors
/// Returns everything that is wrong with the source.
pub fn compile(
    source_text: &str,
    source_name: &str,
    options: &ReadOptions,
) -> Result<(String, Vec<Warning>), Vec<ReadError>> {
    let (mut dictionary, warnings) = Dictionary::from_source_with(source_text, options)?;
    dictionary.source.name = source_name.to_string();
    Ok((dictionary.to_table(), warnings))
}
