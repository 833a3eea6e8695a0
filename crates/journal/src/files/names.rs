//! The names of a journal's files.

/// The head, and one that is being created.
pub(crate) const HEAD: &str = "head";
pub(crate) const NEW_HEAD: &str = "head.new";
/// The note in a locked directory, and one that names no journal.
pub(crate) const NOTE: &str = "lock";
pub(crate) const NEW_NOTE: &str = "lock.new";
/// The directory of the segments that are archived, below the session's.
pub(crate) const ARCHIVE: &str = "archive";

/// Returns the name of segment `number`.
pub(crate) fn file_name(number: u32) -> String {
    format!("segment-{number:06}")
}

/// Returns its name while it is being created.
pub(crate) fn new_name(number: u32) -> String {
    format!("{}.new", file_name(number))
}

/// Returns the number in a segment's file name.
pub(crate) fn number_of(name: &str) -> Option<u32> {
    let number = name.strip_prefix("segment-")?.parse().ok()?;
    (file_name(number) == name).then_some(number)
}

/// Returns the path of an archived segment below the session's directory.
pub(crate) fn archived_name(number: u32) -> String {
    format!("{ARCHIVE}/{}", file_name(number))
}
