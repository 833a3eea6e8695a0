//! Finds the fields of a message with a plain loop. It is the oracle for the vector instructions,
//! which also fall back on it.
//!
//! It knows nothing of blocks or of positions found before, so that it can be read against the
//! standard.

use crate::data_fields::DataFields;
use crate::frame::TRAILER_LEN;
use crate::index::{Fault, FaultKind, IndexError, Span, byte_sum};
use crate::number::Tag;
use crate::soh::first_soh;

/// A position between two fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FieldBoundary {
    /// Number of fields before it.
    pub(crate) field: u32,
    /// Offset of the first byte after it.
    pub(crate) at: u32,
}

impl FieldBoundary {
    /// The position before the first field.
    pub(crate) const START: Self = Self { field: 0, at: 0 };

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // a frame is at most MaxMessageSize, far below 4 GiB
    pub(crate) fn new(field: usize, at: usize) -> Self {
        debug_assert!(u32::try_from(at).is_ok() && field <= at);
        Self { field: field as u32, at: at as u32 }
    }
}

/// What is known of a message before [`scan`] reads it. Small enough to be returned in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// The fields up to here are found and well-formed.
    pub(crate) place: FieldBoundary,
    /// The sum of the bytes before CheckSum.
    pub(crate) sum: u8,
}

impl Found {
    /// No field is known yet.
    pub(crate) fn nothing(bytes: &[u8]) -> Self {
        Self { sum: byte_sum(&bytes[..bytes.len() - TRAILER_LEN]), place: FieldBoundary::START }
    }
}

/// What a length field says of the field after it.
struct Announced {
    data_tag: u32,
    length: usize,
    /// The tag of the length field, as sent.
    by: Span,
}

/// Finds the fields from `place` on: the tag, then the value up to the next SOH, or of the
/// announced length for a data field. Where that length is not followed by SOH, it is wrong, and
/// the data ends at the next SOH as any other value.
///
/// `bytes` ends with SOH, so neither inner search runs past the end.
pub(crate) fn scan(
    bytes: &[u8],
    place: FieldBoundary,
    data_fields: &DataFields,
    tags: &mut [u32],
    spans: &mut [Span],
) -> Result<(usize, Option<Fault>), IndexError> {
    let limit = tags.len().min(spans.len());
    let (tags, spans) = (&mut tags[..limit], &mut spans[..limit]);
    let mut fault = None;
    let (mut count, mut at) = (place.field as usize, place.at as usize);
    // Announced by the field before, if that was a length field.
    let mut announced: Option<Announced> = None;
    while at < bytes.len() {
        if count == limit {
            return Err(IndexError::TooManyFields { limit });
        }
        let start = at;
        let (tag, value) = match read_tag(bytes, start) {
            Ok(found) => found,
            Err(broken) => {
                let (kind, tag_end, value) = broken;
                fault = fault.or(Some(Fault { kind, field: count, tag: Span::new(start, tag_end) }));
                (0, value)
            }
        };
        at = value;
        if let Some(announced) = announced.take()
            && tag == announced.data_tag
        {
            let end = value.saturating_add(announced.length);
            // Its SOH is at the latest the one before CheckSum, or the message would have no
            // CheckSum field.
            if end < bytes.len() - TRAILER_LEN && bytes[end] == 1 {
                at = end;
            } else {
                let (kind, tag) = (FaultKind::DataLength, announced.by);
                fault = fault.or(Some(Fault { kind, field: count - 1, tag }));
            }
        }
        let rest = &bytes[at..];
        at += first_soh(rest).unwrap_or(rest.len());
        if at == value && tag != 0 {
            fault = fault.or(Some(Fault {
                kind: FaultKind::EmptyValue,
                field: count,
                tag: Span::new(start, value - 1),
            }));
        }
        tags[count] = tag;
        spans[count] = Span::new(value, at);
        count += 1;
        if let Some(data_tag) = data_fields.data_tag(tag) {
            let by = Span::new(start, value - 1);
            announced = data_length(&bytes[value..at]).map(|length| Announced { data_tag, length, by });
        }
        at += 1;
    }
    Ok((count, fault))
}

/// Returns the tag and the offset of the value, or what is wrong with the tag, where it ends and
/// where the value begins.
#[inline]
pub(crate) fn read_tag(bytes: &[u8], start: usize) -> Result<(u32, usize), (FaultKind, usize, usize)> {
    let mut at = start;
    let mut tag: u32 = 0;
    while let digit @ 0..=9 = bytes[at].wrapping_sub(b'0') {
        tag = tag.wrapping_mul(10).wrapping_add(u32::from(digit));
        at += 1;
    }
    // Nine digits cannot overflow.
    if bytes[at] == b'=' && bytes[start] != b'0' && matches!(at - start, 1..=9) {
        return Ok((tag, at + 1));
    }
    read_unusual_tag(bytes, start, at)
}

/// Does what [`read_tag`] does if the tag does not have one to nine digits before its `=`, or
/// begins with zero. The digits end at `at`.
#[cold]
#[inline(never)]
fn read_unusual_tag(
    bytes: &[u8],
    start: usize,
    mut at: usize,
) -> Result<(u32, usize), (FaultKind, usize, usize)> {
    if bytes[at] == b'=' && bytes[start] != b'0' && at - start == 10 {
        let wide = bytes[start..at].iter().fold(0u64, |n, d| n * 10 + u64::from(d - b'0'));
        if let Ok(tag) = u32::try_from(wide)
            && Tag::try_new(tag).is_some()
        {
            return Ok((tag, at + 1));
        }
    }
    while bytes[at] != b'=' && bytes[at] != 1 {
        at += 1;
    }
    if bytes[at] == b'=' {
        Err((FaultKind::InvalidTag, at, at + 1))
    } else {
        Err((FaultKind::NoEquals, at, start))
    }
}

/// Returns the number in the value of a length field.
pub(crate) fn data_length(value: &[u8]) -> Option<usize> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0usize, |n, b| {
        b.is_ascii_digit().then(|| n.saturating_mul(10).saturating_add(usize::from(b - b'0')))
    })
}
