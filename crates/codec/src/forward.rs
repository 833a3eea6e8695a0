//! Sending a received message again in another session: its body is copied once, and its sum
//! follows from that of the whole message.
//!
//! Fields are copied as they are; nothing is known here of what they mean. What is refused is what
//! would let the next counterparty read another message than the one that was received.

use core::ops::Range;

use crate::body::{BodySink, NewBody};
use crate::body_writer::{BodyWriter, Scope};
use crate::data_fields::{DataFields, is_paired};
use crate::data_key::DataKey;
use crate::encode_error::{EncodeError, EncodeErrorKind};
use crate::index::{Fault, FaultKind, byte_sum};
use crate::key::{Key, is_header_field, is_session_field};
use crate::message::Message;
use crate::msg_type::MsgType;
use crate::number::Tag;
use crate::place::{Depth, Place};
use crate::soh::SOH;

const MSG_TYPE: Tag = Tag::new(35);
const SIGNATURE_LENGTH: u32 = 93;
const SIGNATURE: u32 = 89;

type Receipt<'b, S> = <<S as NewBody<'b>>::Draft as BodySink<'b>>::Receipt;
type Error<'b, S> = <<S as NewBody<'b>>::Draft as BodySink<'b>>::Error;

impl<'m> Message<'m> {
    /// Sends the message again in another session, as gateways and hubs do: with the header of that
    /// session, the fields that `write` writes, and then the body as it was received, without the
    /// fields in `removed`. What is written but not in the message is inserted by that; what is
    /// both removed and written is replaced.
    ///
    /// ```
    /// use fixbolt_codec::{Body, Key, Memory, Message, Tag};
    /// # use fixbolt_codec::{Frame, Framer, Index, Span};
    ///
    /// const SENDER_COMP_ID: Tag = Tag::new(49);
    /// const ON_BEHALF_OF_COMP_ID: Key = Key::new(115);
    /// const ACCOUNT: Tag = Tag::new(1);
    /// const TEXT: Tag = Tag::new(58);
    ///
    /// # let bytes = b"8=FIX.4.4\x019=69\x0135=D\x0149=DESK\x0156=HUB\x0134=7\x01\
    /// #     52=20240229-12:00:00\x0111=a1\x011=AB\x0155=IBM\x0158=x\x0110=236\x01";
    /// # let Frame::Message(framed) = Framer::new(256).next(bytes) else { panic!() };
    /// # let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
    /// # let mut index = Index::new(&mut tags, &mut spans);
    /// # let order: Message<'_> = index.build(framed).unwrap();
    /// // 8=FIX.4.4|9=69|35=D|49=DESK|56=HUB|34=7|52=…|11=a1|1=AB|55=IBM|58=x|10=236|
    /// let mut memory = [0; 256];
    /// let forwarded: Body<'_> = order.forward(Memory(&mut memory), &[ACCOUNT, TEXT], |body| {
    ///     let sender = order.get(SENDER_COMP_ID).unwrap_or_default();
    ///     body.bytes(ON_BEHALF_OF_COMP_ID, sender).bytes(Key::of(ACCOUNT), b"HOUSE");
    /// })?;
    /// assert_eq!(forwarded.bytes, b"115=DESK\x011=HOUSE\x0111=a1\x0155=IBM\x01");
    /// # Ok::<(), fixbolt_codec::EncodeError>(())
    /// ```
    ///
    /// Of the header, what says how this message is to be read is copied, before the fields of
    /// `write`: PossResend (97), SecureData (90, 91), XmlData (212, 213), MessageEncoding (347),
    /// ApplVerID (1128), CstmApplVerID (1129) and ApplExtID (1156). What says who sent it to whom,
    /// when and by which way is that of the new session. PossDupFlag (43) is not copied, so look
    /// at it first: a message that was sent again would be a new one. The signature at the end (93,
    /// 89) is not copied either, since it signs the message that was received.
    ///
    /// CheckSum is right although the body is not summed again, even if the index does not verify
    /// it: a message whose CheckSum was wrong is sent with a right one. So verify it.
    ///
    /// # What may be removed
    /// - A field outside groups. If the message has no places ([`Message::with_places`]), no group
    ///   is known, and fields of groups are removed, too. Attach those that a validator has found
    ///   before you remove or replace a field that groups have.
    /// - A group, by its count field, if the message has places. A group is replaced by removing it
    ///   and writing another one.
    /// - Data with its length, by either of the two. Of the data of a dialect name both, or it is
    ///   refused.
    ///
    /// What a message does not have need not be removed. Header fields of the session are never
    /// copied, whether they are named or not.
    ///
    /// # Errors
    /// Returns the sink's error, or why the message is not sent again, and nothing was sent:
    /// - [`EncodeErrorKind::Malformed`], [`Empty`](EncodeErrorKind::Empty) or
    ///   [`DataLength`](EncodeErrorKind::DataLength): it breaks the syntax ([`Message::fault`]).
    /// - [`EncodeErrorKind::SessionField`] or
    ///   [`HeaderAfterBody`](EncodeErrorKind::HeaderAfterBody): it has such a field after the first
    ///   one of the body.
    /// - [`EncodeErrorKind::Duplicate`]: `write` has written a field that the message has, too, and
    ///   that is not in `removed`.
    /// - [`EncodeErrorKind::NoRoom`], and every mistake of `write`.
    ///
    /// A field that is in the message twice is sent twice: only a dictionary can tell whether it is
    /// one of a group. Validate what you receive.
    #[inline]
    pub fn forward<'b, S: NewBody<'b>>(
        &self,
        sink: S,
        removed: &[Tag],
        write: impl FnOnce(&mut BodyWriter<'b>),
    ) -> Result<Receipt<'b, S>, Error<'b, S>> {
        let mut draft = sink.draft(self.type_to_forward()?);
        let first = self.forward_header(draft.writer(), removed);
        write(draft.writer());
        self.forward_body(draft.writer(), first, removed);
        draft.send()
    }

    /// Returns the message's type, if it can be sent again.
    #[inline(always)]
    fn type_to_forward(&self) -> Result<MsgType, EncodeError> {
        if let Some(fault) = self.fault() {
            return Err(self.refused(fault));
        }
        let malformed = EncodeError::new(MSG_TYPE, EncodeErrorKind::Malformed);
        MsgType::of_message(self.msg_type()).ok_or(malformed)
    }

    #[cold]
    fn refused(&self, fault: Fault) -> EncodeError {
        let tag = Tag::try_new(self.tags()[fault.field]);
        let kind = match fault.kind {
            FaultKind::EmptyValue => EncodeErrorKind::Empty,
            FaultKind::DataLength => EncodeErrorKind::DataLength,
            FaultKind::InvalidTag | FaultKind::NoEquals => EncodeErrorKind::Malformed,
        };
        EncodeError::new(tag.unwrap_or(MSG_TYPE), kind)
    }

    /// Writes what is kept of the header, and returns the position of the body's first field.
    #[inline]
    fn forward_header(&self, writer: &mut BodyWriter<'_>, removed: &[Tag]) -> usize {
        // CheckSum ends it, if no field of the body does.
        let fields = &self.tags()[..self.len() - 1];
        let mut at = 3;
        while fields.get(at).is_some_and(|tag| *tag < 512 && is_marked(&LEFT_OUT, *tag)) {
            at += 1;
        }
        let may_go_on = fields.get(at).is_some_and(|tag| is_marked(&OUTSIDE_BODY, *tag));
        if may_go_on { self.keep_of_header(writer, at, removed) } else { at }
    }

    /// Writes what is kept of the header fields from position `at` on, and returns the position of
    /// the body's first field.
    #[cold]
    fn keep_of_header(&self, writer: &mut BodyWriter<'_>, mut at: usize, removed: &[Tag]) -> usize {
        let fields = &self.tags()[..self.len() - 1];
        while let Some(tag) = fields.get(at).and_then(|tag| Tag::try_new(*tag)) {
            let (number, value) = (tag.number(), self.value(at));
            if !is_session_field(number) && !is_header_field(number) {
                break;
            }
            at += 1;
            if !is_kept(number) {
                continue;
            }
            let data_tag = DataFields::STANDARD.data_tag(number).filter(|tag| fields.get(at) == Some(tag));
            match data_tag {
                _ if is_removed(tag, removed) => {}
                Some(data_tag) => _ = writer.data(DataKey::new(number, data_tag), self.value(at)),
                None if DataFields::STANDARD.data_tag(number).is_some() => {
                    writer.refuse(tag, EncodeErrorKind::DanglingLength);
                }
                None => _ = writer.bytes(Key::of(tag), value),
            }
            at += usize::from(data_tag.is_some());
        }
        at
    }

    /// Copies the body, which begins with the field at position `first`.
    #[inline]
    fn forward_body(&self, writer: &mut BodyWriter<'_>, first: usize, removed: &[Tag]) {
        let end = self.end_of_body(first);
        if !removed.is_empty() || !writer.written().is_empty() {
            return self.forward_rest(writer, first..end, removed);
        }
        let fields = &self.tags()[first..end];
        let outside = fields.iter().fold(0, |found, tag| {
            writer.written.insert(*tag);
            let (byte, bit) = Scope::place_of(*tag);
            found | OUTSIDE_BODY[byte] & bit
        });
        if outside != 0 {
            // At least a tag that shares its bit with one of them.
            return self.forward_rest(writer, first..end, removed);
        }
        writer.append(&self.bytes()[self.begin_of(first)..self.begin_of(end)]);
        writer.sum = u32::from(self.sum_of_body(first..end));
        writer.end_header();
    }

    /// Copies the fields of the body that are not removed, after others or with tags that need a
    /// second look.
    #[inline(never)]
    fn forward_rest(&self, writer: &mut BodyWriter<'_>, fields: Range<usize>, removed: &[Tag]) {
        if writer.error().is_some() {
            return;
        }
        let mut marked = OUTSIDE_BODY;
        for (marked, written) in marked.iter_mut().zip(writer.scope.seen) {
            *marked |= written;
        }
        for tag in removed {
            mark(*tag, &mut marked);
        }
        let (bytes, tags, end) = (self.bytes(), self.tags(), fields.end);
        let mut sum = self.sum_of_body(fields.clone());
        let (mut at, mut copied, written_before) = (fields.start, self.begin_of(fields.start), writer.at());
        while at < end {
            let (byte, bit) = Scope::place_of(tags[at]);
            let mut after = at;
            if marked[byte] & bit != 0 {
                match self.after_removed(writer, written_before, at..end, removed) {
                    Ok(position) => after = position,
                    Err(error) => return writer.refuse(error.tag, error.kind),
                }
            }
            if after == at {
                if copied == self.begin_of(at) && self.value(at).contains(&SOH) {
                    // Data of a dialect, whose length field is not copied.
                    let tag = Tag::try_new(tags[at]).unwrap_or(MSG_TYPE);
                    return writer.refuse(tag, EncodeErrorKind::DataLength);
                }
                writer.written.insert(tags[at]);
                at += 1;
            } else {
                let (gap, next) = (self.begin_of(at), self.begin_of(after));
                writer.append(&bytes[copied..gap]);
                sum = sum.wrapping_sub(byte_sum(&bytes[gap..next]));
                (at, copied) = (after, next);
            }
        }
        writer.append(&bytes[copied..self.begin_of(end)]);
        writer.sum = writer.sum.wrapping_add(u32::from(sum));
        writer.end_header();
    }

    /// Returns the sum of all but what is before and after the body.
    #[inline]
    fn sum_of_body(&self, fields: Range<usize>) -> u8 {
        let (bytes, last) = (self.bytes(), self.len() - 1);
        let header = byte_sum(&bytes[..self.begin_of(fields.start)]);
        let signature = if fields.end < last {
            byte_sum(&bytes[self.begin_of(fields.end)..self.begin_of(last)])
        } else {
            0
        };
        self.sum().wrapping_sub(header).wrapping_sub(signature)
    }

    /// Returns the position after what is removed at the beginning of `fields`, which is their
    /// beginning if that field is copied.
    #[cold]
    fn after_removed(
        &self,
        writer: &BodyWriter<'_>,
        written_before: usize,
        fields: Range<usize>,
        removed: &[Tag],
    ) -> Result<usize, EncodeError> {
        let (at, end) = (fields.start, fields.end);
        let (tags, places) = (self.tags(), self.places().unwrap_or_default());
        // A message without a fault has no field without a tag.
        let Some(tag) = Tag::try_new(tags[at]) else {
            return Err(EncodeError::new(MSG_TYPE, EncodeErrorKind::Malformed));
        };
        if is_session_field(tag.number()) {
            return Err(EncodeError::new(tag, EncodeErrorKind::SessionField));
        }
        if is_header_field(tag.number()) {
            return Err(EncodeError::new(tag, EncodeErrorKind::HeaderAfterBody));
        }
        if places.get(at).is_some_and(|place| !place.belongs_at(Depth::new(0))) {
            return Ok(at);
        }
        if !is_removed(tag, removed) {
            let repeats = writer.stands_before(written_before, &Key::of(tag));
            return if repeats { Err(EncodeError::new(tag, EncodeErrorKind::Duplicate)) } else { Ok(at) };
        }
        Ok(if places.get(at).is_some_and(|place| place.counts_group()) {
            end_of_group(&places[..end], at)
        } else if DataFields::STANDARD.data_tag(tag.number()).is_some_and(|data| tags[at + 1] == data) {
            at + 2
        } else {
            at + 1
        })
    }

    /// Returns the position after the last field of the body.
    #[inline]
    fn end_of_body(&self, first: usize) -> usize {
        let mut end = self.len() - 1;
        while end > first && matches!(self.tags()[end - 1], SIGNATURE_LENGTH | SIGNATURE) {
            end -= 1;
        }
        end
    }

    /// Returns where the field at this position begins, which is not the first one.
    #[inline]
    fn begin_of(&self, position: usize) -> usize {
        self.span(position - 1).end() + 1
    }
}

/// Marks the fields that are removed with this one.
fn mark(tag: Tag, marked: &mut [u8; 64]) {
    let (byte, bit) = Scope::place(tag);
    marked[byte] |= bit;
    if is_paired(tag.number()) {
        for partner in partners(tag) {
            let (byte, bit) = Scope::place_of(partner);
            marked[byte] |= bit;
        }
    }
}

#[inline]
const fn is_marked(marked: &[u8; 64], tag: u32) -> bool {
    let (byte, bit) = Scope::place_of(tag);
    marked[byte] & bit != 0
}

/// Returns the position after the group that the field at `count` counts. Fields that the
/// dictionary does not define belong to the message, too: those at the end are not in the group.
fn end_of_group(places: &[Place], count: usize) -> usize {
    let inside = places[count + 1..].iter().take_while(|place| !place.ends_group_at(Depth::new(1))).count();
    let mut end = count + 1 + inside;
    while end > count + 1 && !places[end - 1].is_defined() {
        end -= 1;
    }
    end
}

/// Returns whether a field is removed if these are: by its own tag, or with its data or length.
fn is_removed(tag: Tag, removed: &[Tag]) -> bool {
    removed.contains(&tag)
        || is_paired(tag.number()) && partners(tag).any(|one| removed.iter().any(|tag| tag.number() == one))
}

/// Returns the data field of a length field, and the length field of a data field.
fn partners(tag: Tag) -> impl Iterator<Item = u32> {
    let standard = DataFields::STANDARD;
    [standard.data_tag(tag.number()), standard.length_tag(tag.number())].into_iter().flatten()
}

/// Returns whether a header field is copied, as it says how the message is to be read.
#[inline]
const fn is_kept(tag: u32) -> bool {
    matches!(tag, 90 | 91 | 97 | 212 | 213 | 347 | 1128 | 1129 | 1156)
}

/// One bit for each tag below 512 of a header field that is not copied, as it is the session's or
/// says who sent the message to whom and by which way.
const LEFT_OUT: [u8; 64] = {
    let mut set = [0; 64];
    let mut tag = 1;
    while tag < 512 {
        if is_session_field(tag) || is_header_field(tag) && !is_kept(tag) {
            let (byte, bit) = Scope::place_of(tag);
            set[byte] |= bit;
        }
        tag += 1;
    }
    set
};

/// One bit for each tag modulo 512 of the fields of the header and of the session.
const OUTSIDE_BODY: [u8; 64] = {
    let mut set = [0; 64];
    let mut tag = 1;
    while tag < 2048 {
        if is_session_field(tag) || is_header_field(tag) {
            let (byte, bit) = Scope::place_of(tag);
            set[byte] |= bit;
        }
        tag += 1;
    }
    set
};
