//! What is inconsistent in the files of a journal.

use std::path::Path;

use fixbolt_session::SessionId;

use crate::files::found::Files;
use crate::files::head::HeadFound;
use crate::files::names::{HEAD, archived_name, file_name};
use crate::files::segment_file::SegmentFile;
use crate::layout::cookie::CookieFound;
use crate::layout::floor::Floor;
use crate::layout::head_copy::HeadState;
use crate::layout::scan::{Scan, Start, Stretch, scan};
use crate::system::boot::boot_id;

impl Files {
    /// Verifies the records from segment `n`, or the beginning of its turn, up to the next segment
    /// with a checkpoint. Returns that one, if there is one, and what is wrong.
    pub(crate) fn verify_part(&self, n: usize) -> (Option<usize>, Vec<String>) {
        let start = self.checkpoint(n).unwrap_or(Start::FIRST);
        let next = (n + 1..self.segments.len()).find_map(|n| Some((n, self.checkpoint(n)?)));
        let Some((next, until)) = next else { return (None, Vec::new()) };
        let bytes: Vec<&[u8]> = self.segments[..next].iter().map(SegmentFile::bytes).collect();
        let scan = scan(&bytes, self.salt(), start, &mut |_, _| {});
        let mut lines: Vec<String> = scan.damage.iter().map(|stretch| self.no_record(stretch)).collect();
        if lines.is_empty() && scan.end != until.at {
            lines.push(format!(
                "{} holds no record from byte {} on, but {} continues after more",
                self.segments[scan.end.segment.min(next)].name,
                scan.end.offset,
                self.segments[next].name
            ));
        }
        (Some(next), lines)
    }

    fn no_record(&self, stretch: &Stretch) -> String {
        format!(
            "{} holds no record from byte {} to {}, but valid records after it",
            self.segments[stretch.from.segment].name, stretch.from.offset, stretch.to
        )
    }

    /// Returns everything that is inconsistent, one line each; empty for an intact journal. A torn
    /// tail is not an inconsistency.
    pub(crate) fn damage(&self, scan: &Scan, expected: Option<&SessionId>) -> Vec<String> {
        let mut lines = self.damage_besides_floor(scan, expected);
        // What is missing in the middle may be why the end was not found.
        if lines.is_empty() {
            lines.extend(self.below_floor(scan));
        }
        lines
    }

    /// Returns what is inconsistent without looking at the floor.
    pub(crate) fn damage_besides_floor(&self, scan: &Scan, expected: Option<&SessionId>) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.head_file {
            None if !self.segments.is_empty() => lines.push("the head file is missing".to_owned()),
            None => {
                let named = self.named.iter().map(|id| {
                    format!("head and segments of journal {id}, which the file lock names, are gone")
                });
                lines.extend(named);
                if lines.is_empty() && self.first > 1 {
                    let last = archived_name(self.first - 1);
                    lines.push(format!("head and segments are gone: there are only those up to {last}"));
                }
                let known = self.cookie.filter(|cookie| self.segments.is_empty() && !cookie.is_unused());
                lines.extend(known.map(|cookie| gone(&cookie, &self.directory)));
            }
            Some(HeadFound { copies: [None, None], .. }) => {
                lines.push("both copies of the head are damaged".to_owned());
            }
            _ => {}
        }
        if let (Some(expected), Some(found)) = (expected, self.session())
            && expected != found
        {
            lines
                .push(format!("according to the head, or else the segments, the journal belongs to {found}"));
        }
        let live = self.segments.iter().filter(|s| s.number >= self.first);
        for (s, number) in live.zip(self.first..) {
            let name = &s.name;
            if s.number != number {
                lines.push(format!("{} is missing", file_name(number)));
                break;
            }
            match (&s.mapping, &s.header) {
                (None, _) => lines.push(format!("{name} is truncated")),
                (_, None) => lines.push(format!("the header of {name} is damaged")),
                (Some(mapping), Some(header)) => {
                    if !self.owns(header) {
                        lines.push(format!("{name} belongs to another journal"));
                    } else if header.number != s.number {
                        lines.push(format!("{name} has the content of {}", file_name(header.number)));
                    } else if header.bytes != mapping.len() as u64 {
                        lines.push(format!("{name} has {} bytes instead of {}", mapping.len(), header.bytes));
                    }
                }
            }
        }
        let read_from = self.last_checkpoint().at;
        let present = scan.damage.iter().filter(|stretch| stretch.from >= read_from);
        lines.extend(present.map(|stretch| self.no_record(stretch)));
        lines
    }

    /// Returns where records of archived segments are lost.
    #[cfg(feature = "inspect")]
    pub(crate) fn lost_archive(&self, scan: &Scan) -> Vec<String> {
        let archived = |stretch: &&Stretch| self.segments[stretch.from.segment].number < self.first;
        scan.damage.iter().filter(archived).map(|stretch| self.no_record(stretch)).collect()
    }

    /// Returns where records of the past are lost: before the place from which a start reads. It
    /// does not stop the session.
    #[cfg(feature = "inspect")]
    pub(crate) fn lost_history(&self, scan: &Scan) -> Vec<String> {
        let read_from = self.last_checkpoint().at;
        let past = scan.damage.iter().filter(|stretch| stretch.from < read_from);
        past.map(|stretch| self.no_record(stretch)).collect()
    }

    /// Returns what is wrong if the records do not reach the floor, or reach further than the
    /// commits that it knows of.
    fn below_floor(&self, scan: &Scan) -> Option<String> {
        let file = self.head_file.as_ref()?;
        let head = file.head()?;
        let reached = self.reached(scan);
        let (floor, one_more) = match head.state {
            HeadState::Clean => (head.made?.floor, false),
            // After a power loss, or while a tail is being removed, the mark decides.
            HeadState::InUse if head.made.is_some() && head.boot == boot_id() && head.boot != [0; 16] => {
                let Some(floor) = file.floor else {
                    return Some("the floor in the head is damaged".to_owned());
                };
                if self.own_cookie().is_some_and(|cookie| cookie.floor.turn > floor.turn) {
                    // The disk has lost it; what there is of the records may be newer or older.
                    return None;
                }
                // The process died between making its last turn visible and storing the floor.
                (floor, scan.turn_before == floor.turn && reached.turn > floor.turn)
            }
            _ => return None,
        };
        if reached == floor || one_more {
            return None;
        }
        let at = |floor: &Floor| {
            format!(
                "byte {} of {} with next outbound {} and next inbound {}",
                floor.offset,
                file_name(floor.segment),
                floor.next_out,
                floor.next_in
            )
        };
        let [records, floor_at] = [at(&reached), at(&floor)];
        Some(if reached.turn > floor.turn {
            format!(
                "the records reach {records}, but the head is older: according to it they reach {floor_at}"
            )
        } else {
            format!("the records end at {records}, but the last commit reached {floor_at}")
        })
    }

    /// Returns why the files are not this directory's alone, or why this is not the journal's
    /// original place, if that is so: the original of a copy may have used more sequence numbers.
    pub(crate) fn is_copy(&self) -> Option<String> {
        if let Some(linked) = self.linked() {
            return Some(linked);
        }
        let file = self.head_file.as_ref()?;
        let made = file.head()?.made?;
        let why = file.place.differs_from(made.place)?;
        Some(format!("this is a copy of journal {}, or it was restored from one: {why}", made.id))
    }

    /// Returns which files have other names, if any has: what is written to them is written to
    /// those as well. An archived segment may have some, as it is never written again.
    pub(crate) fn linked(&self) -> Option<String> {
        let head = self.head_file.iter().filter(|head| head.names > 1).map(|_| HEAD.to_owned());
        let live = self.segments.iter().filter(|segment| segment.number >= self.first && segment.names > 1);
        let names: Vec<String> = head.chain(live.map(|segment| segment.name.clone())).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{} has another name (a hard link), so that what is written here is written there as well; \
                 delete the other one, or adopt this journal, which makes files of its own",
                names.join(", ")
            )
        })
    }
}

/// Returns what is wrong with a session's directory that has no journal although there is a cookie.
pub(crate) fn gone(cookie: &CookieFound, directory: &Path) -> String {
    let CookieFound { id, floor, .. } = cookie;
    format!(
        "the directory's journal {id} is gone, which had NextNumOut {} and NextNumIn {} since the machine was \
         started: bring its disk back, or repair it to continue with these numbers, or begin both at 1 by \
         `fixbolt journal forget {}`",
        floor.next_out,
        floor.next_in,
        directory.display()
    )
}
