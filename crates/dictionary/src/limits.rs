//! What a dictionary file may cost. Reading takes time and memory in proportion to the file; these
//! limits bound what a small file could otherwise ask for.
//!
//! Each is at least ten times what FIX Latest, the largest version, needs. Whatever exceeds one is
//! refused with its place and the limit.

/// Bytes of a file, unless [`Source::max_bytes`](crate::Source::max_bytes) says otherwise.
pub(crate) const BYTES: usize = 32 << 20;

/// Errors, and warnings, that are reported one by one; further ones are counted.
pub(crate) const FINDINGS: usize = 1000;

/// Levels of nested elements, attributes of an element, bytes of a tag with its attributes, and
/// namespaces of a document.
pub(crate) const XML_DEPTH: usize = 256;
pub(crate) const XML_ATTRIBUTES: usize = 256;
pub(crate) const XML_TAG: usize = 64 << 10;
pub(crate) const XML_NAMESPACES: usize = 64;

/// Levels of nested definitions: later walks over the model may be recursive.
pub(crate) const DEPTH: usize = 64;

/// Fields: validation has 16 bits for a field.
pub(crate) const FIELDS: usize = 60_000;

/// Members of one definition after components and groups were replaced by their members.
pub(crate) const MEMBERS: u64 = 100_000;

/// Members of all messages and groups together, after components and groups were replaced by their
/// members.
pub(crate) const ALL_MEMBERS: u64 = 4_000_000;

/// Messages and groups, multiplied by fields: the cells in a validator's tables.
pub(crate) const CELLS: u64 = 64 << 20;
