//! Finding a tag among the tags of a message.

/// Returns the position of the first of `tags` that equals `tag`, comparing sixteen at a time.
#[must_use]
pub fn find_tag(tags: &[u32], tag: u32) -> Option<usize> {
    find(tags, tag)
}

#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn find(tags: &[u32], tag: u32) -> Option<usize> {
    use crate::simd::sse2::equal_16;
    let Some((_, last)) = tags.split_last_chunk::<16>() else { return find_tag_in_few(tags, tag) };
    let whole = tags.as_chunks::<16>().0;
    let found = whole.iter().enumerate().find_map(|(n, some)| first_hit(16 * n, equal_16(some, tag)));
    // The last sixteen overlap those before them, in which the tag is not.
    found.or_else(|| first_hit(tags.len() - 16, equal_16(last, tag)))
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn find_tag_in_few(tags: &[u32], tag: u32) -> Option<usize> {
    use crate::simd::sse2::equal_4;
    let Some((_, last)) = tags.split_last_chunk::<4>() else {
        return tags.iter().position(|one| *one == tag);
    };
    let whole = tags.as_chunks::<4>().0;
    let found = whole.iter().enumerate().find_map(|(n, some)| first_hit(4 * n, equal_4(some, tag)));
    found.or_else(|| first_hit(tags.len() - 4, equal_4(last, tag)))
}

/// Returns the position of the lowest bit of `hits`, which begin at `before`.
#[cfg(target_arch = "x86_64")]
#[inline]
fn first_hit(before: usize, hits: u32) -> Option<usize> {
    (hits != 0).then(|| before + hits.trailing_zeros() as usize)
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
