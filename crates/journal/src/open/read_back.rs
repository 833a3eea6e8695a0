//! Reading an open journal back: single messages for a resend, and everything for the application.

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::Ordering;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Record, StoreError};

use crate::files::names::file_name;
use crate::layout::records::{Header, Kind, RECORD_HEADER, SEGMENT_HEADER};
use crate::layout::scan::{RecordAddress, next_record};
use crate::open::cursor::Cursor;
use crate::open::log::Log;
use crate::values::ledger::is_original;

impl Log {
    /// Returns the first original outbound message of `generation` in `range`.
    pub(crate) fn read(
        &mut self,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        let wanted = (generation, *range.start());
        // Segments after the committed end are left over from a turn that was rolled back.
        let used = &self.segments[..self.segments.len().min(self.committed_end.segment + 1)];
        let segment = used.partition_point(|s| s.start <= wanted).saturating_sub(1);
        let offset = used.get(segment).map_or(SEGMENT_HEADER, |s| s.begin_at(wanted));
        let mut at = RecordAddress { segment, offset };
        if let Some(cursor) = self.cursor
            && cursor.number < wanted
            && cursor.after > at
        {
            at = cursor.after;
        }
        while at < self.committed_end {
            let Some((header, next)) = self.peek_past_damage(&mut at)? else { continue };
            if let Kind::Of(kind) = header.kind
                && is_original(kind, header.flags)
                && (header.generation, header.seq) >= wanted
            {
                if header.generation != generation || !range.contains(&header.seq) {
                    return Ok(None);
                }
                if at.segment < self.committed_end.segment && self.checked(at).is_err() {
                    self.report_damage(at);
                } else {
                    self.cursor = Some(Cursor { number: (generation, header.seq), after: next });
                    return self.checked(at).map(Some);
                }
            }
            at = next;
        }
        Ok(None)
    }

    /// Returns the header at `at` and the position of the next one, or moves `at` past damage in an
    /// earlier segment: what is lost there is gap-filled.
    fn peek_past_damage(
        &self,
        at: &mut RecordAddress,
    ) -> Result<Option<(Header, RecordAddress)>, StoreError> {
        let found = self.peek(*at);
        if at.segment >= self.committed_end.segment || found.is_ok() {
            return found.map(Some);
        }
        self.report_damage(*at);
        let bytes = self.bytes(*at).unwrap_or_default();
        *at = match next_record(bytes, at.offset, self.salt) {
            Some(offset) => RecordAddress { offset, ..*at },
            None => RecordAddress { segment: at.segment + 1, offset: SEGMENT_HEADER },
        };
        Ok(None)
    }

    #[cold]
    fn report_damage(&self, at: RecordAddress) {
        self.shared.failure.report_damage(&self.damaged(at).to_string());
    }

    /// Returns every committed record of the current generation.
    pub(crate) fn replay(
        &self,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut at = self.generation_start;
        while at < self.committed_end {
            let (header, next) = self.peek(at)?;
            if matches!(header.kind, Kind::Of(_)) && visit(self.checked(at)?).is_break() {
                break;
            }
            at = next;
        }
        Ok(())
    }

    /// Returns the header at `at` and the position of the next one.
    fn peek(&self, at: RecordAddress) -> Result<(Header, RecordAddress), StoreError> {
        let bytes = self.bytes(at)?;
        let header = Header::peek(bytes, at.offset).ok_or_else(|| self.damaged(at))?;
        let offset = at.offset + header.size();
        // After a seal, or where there is no space for another record.
        let next = if header.kind == Kind::Seal || offset + RECORD_HEADER > bytes.len() {
            RecordAddress { segment: at.segment + 1, offset: SEGMENT_HEADER }
        } else {
            RecordAddress { segment: at.segment, offset }
        };
        Ok((header, next))
    }

    fn checked(&self, at: RecordAddress) -> Result<Record<'_>, StoreError> {
        let bytes = self.bytes(at)?;
        let header = Header::decode(bytes, at.offset, self.salt).ok_or_else(|| self.damaged(at))?;
        header.record(bytes, at.offset).ok_or_else(|| self.damaged(at))
    }

    /// Returns the bytes of a segment. In a damaged journal the segments after a missing one are
    /// not mapped.
    fn bytes(&self, at: RecordAddress) -> Result<&[u8], StoreError> {
        if at.segment < self.committed_end.segment {
            self.shared.segments.reads_past.store(true, Ordering::Relaxed);
        }
        Ok(self.segments.get(at.segment).ok_or_else(|| self.damaged(at))?.mapping.bytes())
    }

    #[cold]
    fn damaged(&self, at: RecordAddress) -> StoreError {
        let first = self.segments.first().map_or(1, |s| s.number);
        let number = self.segments.get(at.segment).map_or(first + at.segment as u32, |s| s.number);
        let file = self.shared.directory.join(file_name(number));
        StoreError::Damaged {
            place: format!("{} at byte {}", file.display(), at.offset),
            reason: "there is no intact record where one was written".to_owned(),
        }
    }
}
