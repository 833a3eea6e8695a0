//! Which segments there are, by the names of their files.

use std::collections::BinaryHeap;
use std::path::Path;

use fixbolt_session::store::StoreError;

use crate::files::names::{ARCHIVE, number_of};
use crate::layout::head_copy::Head;
use crate::system::backend::failed;

/// Returns the numbers of the segments in a directory, in ascending order.
pub(crate) fn segments_in(directory: &Path) -> Result<Vec<u32>, StoreError> {
    let mut numbers = BinaryHeap::new();
    for entry in std::fs::read_dir(directory).map_err(|e| failed("reading", directory, &e))? {
        let entry = entry.map_err(|e| failed("reading", directory, &e))?;
        numbers.extend(entry.file_name().to_str().and_then(number_of));
    }
    // A tenth of the code of `Vec::sort_unstable`.
    Ok(numbers.into_sorted_vec())
}

/// Returns the number of the first segment that is not archived, according to the head, or else to
/// what is there: `live` has the numbers of the segments in the session's directory.
pub(crate) fn first_segment(directory: &Path, head: Option<&Head>, live: &[u32]) -> Result<u32, StoreError> {
    let said = head.map(Head::first);
    if let Some(first) = said
        && (live.is_empty() || live.contains(&first))
    {
        return Ok(first);
    }
    let archived = match segments_in(&directory.join(ARCHIVE)) {
        Err(_) if !directory.join(ARCHIVE).exists() => return Ok(said.unwrap_or(1)),
        other => other?,
    };
    // Of an older head, or of one that is lost.
    let after = archived.last().map(|last| last.saturating_add(1));
    let lowest = said.or(after).or(live.first().copied()).unwrap_or(1);
    Ok(after.filter(|after| live.contains(after)).unwrap_or(lowest))
}
