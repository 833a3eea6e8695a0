//! What the tags of a message say of it, whatever its values are. Most messages have the tags of
//! one before them, and are not searched again.

use fixbolt_codec::Message;

use crate::values::fix::{number, tag};
use crate::wire::mask::SecretTags;

/// What a message's tags say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The positions of the first fields with these tags.
    pub(crate) seq: Option<u32>,
    pub(crate) poss_dup: Option<u32>,
    pub(crate) sender_comp_id: Option<u32>,
    pub(crate) target_comp_id: Option<u32>,
    pub(crate) sending_time: Option<u32>,
    /// Whether there may be secrets among the fields, unless it is a Logon; `false` is certain.
    pub(crate) may_have_secrets: bool,
    /// Whether an answer has routing fields.
    pub(crate) has_route: bool,
}

impl Shape {
    /// Searches the tags of a message.
    #[cold]
    fn of(message: &Message<'_>, secrets: &SecretTags) -> Self {
        let mut shape = Self {
            seq: None,
            poss_dup: None,
            sender_comp_id: None,
            target_comp_id: None,
            sending_time: None,
            may_have_secrets: secrets.may_be_among(message.tags()),
            has_route: number::is_route_among(message.tags()),
        };
        // Nearly every message has these right after MsgType (35).
        for (position, tag) in (0..).zip(message.tags()).skip(3) {
            let Some(found) = shape.place(*tag) else { break };
            // If a tag occurs twice, the first one counts.
            found.get_or_insert(position);
        }
        let all = [
            tag::MSG_SEQ_NUM,
            tag::POSS_DUP_FLAG,
            tag::SENDER_COMP_ID,
            tag::TARGET_COMP_ID,
            tag::SENDING_TIME,
        ];
        for tag in all {
            if let Some(found @ None) = shape.place(tag.number()) {
                *found = message.position(tag).and_then(|at| u32::try_from(at).ok());
            }
        }
        shape
    }

    fn place(&mut self, tag: u32) -> Option<&mut Option<u32>> {
        Some(match tag {
            number::MSG_SEQ_NUM => &mut self.seq,
            number::POSS_DUP_FLAG => &mut self.poss_dup,
            number::SENDER_COMP_ID => &mut self.sender_comp_id,
            number::TARGET_COMP_ID => &mut self.target_comp_id,
            number::SENDING_TIME => &mut self.sending_time,
            _ => return None,
        })
    }
}

/// The number of shapes that are kept.
const KEPT: usize = 8;
/// The most fields of a message whose shape is kept.
const MOST_FIELDS: usize = 64;

/// The shapes of the last messages of a session.
pub(crate) struct Shapes(Box<[Kept; KEPT]>);

#[derive(Clone, Copy)]
struct Kept {
    tags: [u32; MOST_FIELDS],
    /// The number of `tags`; 0 if there is no shape here.
    fields: usize,
    shape: Shape,
}

impl Shapes {
    pub(crate) fn new() -> Self {
        let (nowhere, nothing) = (None, false);
        let shape = Shape {
            seq: nowhere,
            poss_dup: nowhere,
            sender_comp_id: nowhere,
            target_comp_id: nowhere,
            sending_time: nowhere,
            may_have_secrets: nothing,
            has_route: nothing,
        };
        Self(Box::new([Kept { tags: [0; MOST_FIELDS], fields: 0, shape }; KEPT]))
    }

    /// Returns the shape of a message. The secrets must be the same each time.
    #[inline]
    pub(crate) fn of(&mut self, message: &Message<'_>, secrets: &SecretTags) -> Shape {
        let tags = message.tags();
        // Messages of one type often differ in their number of fields, and those of different types
        // may have the same.
        let kind = message.msg_type().last().copied().unwrap_or_default();
        let kept = &mut self.0[(tags.len() + usize::from(kind)) % KEPT];
        if kept.tags.get(..kept.fields) != Some(tags) {
            kept.learn(message, secrets);
        }
        kept.shape
    }
}

impl Kept {
    #[cold]
    fn learn(&mut self, message: &Message<'_>, secrets: &SecretTags) {
        let tags = message.tags();
        self.shape = Shape::of(message, secrets);
        self.fields = 0;
        if let Some(place) = self.tags.get_mut(..tags.len()) {
            place.copy_from_slice(tags);
            self.fields = tags.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::{Frame, Framer, Index, Span, byte_sum};

    use super::*;

    /// Returns a message with these fields after MsgType, each of which is `x`.
    fn message(msg_type: &str, tags: &[u32]) -> String {
        let fields: String = tags.iter().map(|tag| format!("{tag}=x\x01")).collect();
        let counted = format!("35={msg_type}\x01{fields}");
        let message = format!("8=FIX.4.4\x019={}\x01{counted}", counted.len());
        format!("{message}10={:03}\x01", byte_sum(message.as_bytes()))
    }

    #[test]
    fn a_shape_that_is_kept_is_that_of_the_message() {
        let secrets = SecretTags::new(&[554, 925]);
        let header = [34, 49, 56, 52];
        let beside = [11, 55, 54, 38, 43, 554, 115, 143, 49, 144];
        let mut shapes = Shapes::new();
        let mut kinds = std::collections::HashSet::new();
        let (mut tags, mut spans) = ([0; 128], [Span::default(); 128]);
        for n in 0..20_000_usize {
            // Half of the messages have the shape of one before them.
            let n = if n % 2 == 0 { n } else { n % 7 };
            let (first, body) = (n % 5, n / 5 % 83);
            let mut fields: Vec<u32> = header[..first.min(4)].to_vec();
            fields.extend((0..body).map(|at| beside[(n / 3 + at * at) % 10]));
            let bytes = message(["D", "8", "AE", "0"][n % 4], &fields);
            let Frame::Message(framed) = Framer::new(4_000).next(bytes.as_bytes()) else { panic!("{bytes}") };
            let mut index = Index::new(&mut tags, &mut spans);
            let message = index.build(framed).unwrap();
            let shape = shapes.of(&message, &secrets);
            let first = |tag: u32| message.tags().iter().position(|t| *t == tag).map(|at| at as u32);
            let any = |some: &[u32]| some.iter().any(|tag| message.tags().contains(tag));
            let expected = Shape {
                seq: first(34),
                poss_dup: first(43),
                sender_comp_id: first(49),
                target_comp_id: first(56),
                sending_time: first(52),
                may_have_secrets: any(&[554, 925]),
                has_route: any(&[115, 116, 144, 128, 129, 145]),
            };
            assert_eq!(shape, expected, "{bytes}");
            kinds.insert((shape.may_have_secrets, shape.has_route, shape.poss_dup.is_some()));
        }
        assert!(kinds.len() > 5, "{kinds:?}");
    }
}
