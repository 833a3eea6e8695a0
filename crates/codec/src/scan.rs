//! The fields of a message by the plain loop: the oracle of every other way to find them, and what they fall back on.
//!
//! It knows nothing of blocks or positions found before, so that it can be read against the standard.

use crate::data_fields::DataFields;
use crate::frame::TRAILER_LEN;
use crate::index::{Fault, FaultKind, IndexError, Span, byte_sum};
use crate::number::Tag;

/// A place between two fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FieldBoundary {
    /// Number of fields in front of it.
    pub(crate) field: u32,
    /// Offset of the first byte behind it.
    pub(crate) at: u32,
}

impl FieldBoundary {
    /// In front of the first field.
    pub(crate) const START: Self = Self { field: 0, at: 0 };

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // a frame is at most MaxMessageSize, far below 4 GiB
    pub(crate) fn new(field: usize, at: usize) -> Self {
        debug_assert!(u32::try_from(at).is_ok() && field <= at);
        Self { field: field as u32, at: at as u32 }
    }
}

/// What is known of a message before [`scan`] goes over it. Small enough to come back in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// Up to here the fields are found, and nothing is wrong with them.
    pub(crate) place: FieldBoundary,
    /// The sum of the bytes in front of CheckSum.
    pub(crate) sum: u8,
}

impl Found {
    /// No field yet.
    pub(crate) fn nothing(bytes: &[u8]) -> Self {
        Self { sum: byte_sum(&bytes[..bytes.len() - TRAILER_LEN]), place: FieldBoundary::START }
    }
}

/// The plain loop: for every field from `place` on its tag, then its value to the next SOH; a data field's value by its length.
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
    // Data tag and length announced by the field before, when that was a length field.
    let mut announced: Option<(u32, usize)> = None;
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
        match announced.take() {
            Some((data_tag, length)) if tag == data_tag => {
                at = value.saturating_add(length);
                // Its SOH is at most the one in front of CheckSum, or the message would have no CheckSum field.
                if at >= bytes.len() - TRAILER_LEN || bytes[at] != 1 {
                    return Err(IndexError::DataLength { at: start });
                }
            }
            _ => {
                while bytes[at] != 1 {
                    at += 1;
                }
            }
        }
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
            announced = data_length(&bytes[value..at]).map(|length| (data_tag, length));
        }
        at += 1;
    }
    Ok((count, fault))
}

/// Tag and offset of the value; or what is wrong, where the tag ends and where the value begins.
pub(crate) fn read_tag(bytes: &[u8], start: usize) -> Result<(u32, usize), (FaultKind, usize, usize)> {
    let mut at = start;
    let mut tag: u32 = 0;
    while let digit @ 0..=9 = bytes[at].wrapping_sub(b'0') {
        tag = tag.wrapping_mul(10).wrapping_add(u32::from(digit));
        at += 1;
    }
    let digits = at - start;
    // Up to nine digits cannot overflow; ten are read again with room.
    if bytes[at] == b'=' && digits > 0 && bytes[start] != b'0' {
        if digits <= 9 {
            return Ok((tag, at + 1));
        }
        if digits == 10 {
            let wide = bytes[start..at].iter().fold(0u64, |n, d| n * 10 + u64::from(d - b'0'));
            if let Ok(tag) = u32::try_from(wide)
                && Tag::try_new(tag).is_some()
            {
                return Ok((tag, at + 1));
            }
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

/// The number that a length field's value is.
pub(crate) fn data_length(value: &[u8]) -> Option<usize> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0usize, |n, b| {
        b.is_ascii_digit().then(|| n.saturating_mul(10).saturating_add(usize::from(b - b'0')))
    })
}
