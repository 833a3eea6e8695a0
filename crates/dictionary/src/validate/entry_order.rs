//! What differs if a group is not in the expected order.

use std::fmt;

/// Where an entry of a group is not in the expected order, and how to have it accepted.
///
/// ```
/// use fixbolt_codec::{Frame, Framer, Index, Span};
/// use fixbolt_dictionary::sample::framed;
/// use fixbolt_dictionary::{ExpectedOrder, Policy, Validator, fix44};
///
/// let order = b"35=D\x0134=2\x0149=A\x0156=B\x0152=20261121-09:00:00\x0111=1\x0155=IBM\x01\
///     54=1\x0160=20261121-09:00:00\x0140=1\x0138=5\x01453=1\x01447=D\x01448=ME\x01452=11\x01";
/// let bytes = framed("FIX.4.4", order);
/// let Frame::Message(framed) = Framer::new(1024).next(&bytes) else { panic!("it is complete") };
/// let (mut tags, mut spans) = ([0; 32], [Span::default(); 32]);
/// let mut index = Index::new(&mut tags, &mut spans);
/// let message = index.build(framed).expect("length and checksum are right");
///
/// let mut validator = Validator::new(fix44());
/// let mut scratch = validator.scratch();
/// let violation = validator.first_reject(&message, &Policy::standard(), &mut scratch);
/// let violation = violation.expect("an entry of NoPartyIDs (453) begins with PartyID (448)");
/// let order = violation.order.expect("it is about the order of a group");
/// assert_eq!((order.count_tag, order.entry), (453, 1));
/// assert_eq!(order.expected, ExpectedOrder::First(448));
/// assert_eq!(
///     violation.to_string(),
///     "Out of order repeating group members, field 447 in entry 1 of group 453, \
///      whose entries begin with 448; GroupsAsSent=453 accepts the order"
/// );
///
/// assert!(validator.read_as_sent(453));
/// assert_eq!(validator.first_reject(&message, &Policy::standard(), &mut scratch), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryOrder {
    /// Tag of the group's count field.
    pub count_tag: u32,
    /// The entry, counted from 1.
    pub entry: u32,
    /// What was expected.
    pub expected: ExpectedOrder,
    /// Whether the group is [read as sent](super::Validator::read_as_sent).
    pub as_sent: bool,
}

/// The order that a field of a group violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedOrder {
    /// The entry should begin with the field with this tag.
    First(u32),
    /// The field should come before the one with this tag, which precedes it in the entry.
    Before(u32),
}

impl EntryOrder {
    /// Returns whether the order would be accepted if the group were read as sent: an entry after
    /// the first one then begins as that one does.
    #[must_use]
    pub const fn is_accepted_as_sent(&self) -> bool {
        !self.as_sent && (self.entry == 1 || matches!(self.expected, ExpectedOrder::Before(_)))
    }
}

/// The place, what was expected there, and the key that accepts the order if there is one:
/// `in entry 1 of group 453, whose entries begin with 448; GroupsAsSent=453 accepts the order`.
impl fmt::Display for EntryOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count_tag, entry, expected, .. } = self;
        write!(f, "in entry {entry} of group {count_tag}, ")?;
        match expected {
            ExpectedOrder::First(tag) => write!(f, "whose entries begin with {tag}")?,
            ExpectedOrder::Before(tag) => write!(f, "where it belongs before {tag}")?,
        }
        if self.is_accepted_as_sent() {
            write!(f, "; GroupsAsSent={count_tag} accepts the order")?;
        }
        Ok(())
    }
}
