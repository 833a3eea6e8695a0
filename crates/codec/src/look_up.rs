//! Finding a tag among the tags of a message.

/// Returns the position of the first of `tags` that equals `tag`, comparing sixteen at a time.
#[must_use]
pub fn find_tag(tags: &[u32], tag: u32) -> Option<usize> {
    find(tags, tag)
}

/// The index stores the first two tags alone and then eight at a time. A read of what one store
/// has written need not wait for it; one that begins in what is stored by one and ends in what is
/// stored by the next waits until both are in memory. So reads begin at the third tag, and no read
/// overlaps the one before it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    use crate::simd::sse2::{equal_4, equal_8, equal_16};
    let Some((first, mut rest)) = tags.split_first_chunk::<2>() else {
        return tags.iter().position(|one| *one == tag);
    };
    if first[0] == tag {
        return Some(0);
    }
    if first[1] == tag {
        return Some(1);
    }
    let mut before = 2;
    while let Some((some, after)) = rest.split_first_chunk() {
        let hits = equal_16(some, tag);
        if hits != 0 {
            return Some(before + hits.trailing_zeros() as usize);
        }
        (rest, before) = (after, before + 16);
    }
    if let Some((some, after)) = rest.split_first_chunk() {
        let hits = equal_8(some, tag);
        if hits != 0 {
            return Some(before + hits.trailing_zeros() as usize);
        }
        (rest, before) = (after, before + 8);
    }
    if let Some((some, after)) = rest.split_first_chunk() {
        let hits = equal_4(some, tag);
        if hits != 0 {
            return Some(before + hits.trailing_zeros() as usize);
        }
        (rest, before) = (after, before + 4);
    }
    Some(before + rest.iter().position(|one| *one == tag)?)
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    tags.iter().position(|one| *one == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_any_number_of_tags_is_found_and_only_it() {
        let mut tags = [7; 100];
        for length in (0..tags.len()).step_by(if cfg!(miri) { 19 } else { 1 }) {
            for place in 0..length {
                tags[place] = 55;
                for later in [place, length - 1] {
                    tags[later] = 55;
                    assert_eq!(find_tag(&tags[..length], 55), Some(place), "of {length}");
                    tags[later] = if later == place { 55 } else { 7 };
                }
                tags[place] = 7;
            }
            // The tag follows directly after the end.
            tags[length] = 55;
            assert_eq!(find_tag(&tags[..length], 55), None, "of {length}");
            tags[length] = 7;
        }
    }
}
