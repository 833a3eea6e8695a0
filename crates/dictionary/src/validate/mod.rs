//! Validation: is this message what the dictionary says it is?
//!
//! A [`Validator`] is a dictionary compiled to dense tables; it checks a codec [`Message`] field by field in one walk, without
//! allocating and without looking at a byte twice. Each check is a line in a [`Policy`] (reject, warn or ignore) and costs nothing
//! where it is ignored.
//!
//! It refuses to decide what follows: it names the SessionRejectReason, the tag and the action, and the session answers. It knows
//! nothing of sequence numbers, times, CompIDs, BodyLength or CheckSum: those come before it.

mod learned;
mod plan;
mod policy;
mod reason;
mod values;
mod versions;
mod walk;

use core::fmt;

use std::ops::ControlFlow;

use fixbolt_codec::{DataFields, Message, Redacted};

use crate::model::Dictionary;
use plan::Plan;
pub use policy::{Action, Check, Policy, Requirements, TypeRules};
pub use reason::SessionRejectReason;
#[cfg(feature = "sample-messages")]
pub(crate) use values::{CodeTable, check_type};
pub use walk::Scratch;
use walk::{Visitor, Walk};

/// A dictionary made ready to check messages. It does not change: one serves all sessions of its version.
///
/// ```
/// use fixbolt_codec::{Frame, Framer, Index, Span};
/// use fixbolt_dictionary::{Policy, RefTag, SessionRejectReason, Validator, fix44};
///
/// let bytes = b"8=FIX.4.4\x019=54\x0135=0\x0134=2\x0149=A\x0156=B\x0152=20261121-09:00:00\x01112=T\x01999=HI\x0110=035\x01";
/// let Frame::Message(framed) = Framer::new(1024).next(bytes) else { panic!("it is complete") };
/// let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
/// let mut index = Index::new(&mut tags, &mut spans);
/// let message = index.build(framed).expect("length and sum are right");
///
/// let validator = Validator::new(fix44());
/// let mut scratch = validator.scratch();
/// let violation = validator.first_reject(&message, &Policy::standard(), &mut scratch).expect("999 is no field of FIX.4.4");
/// assert_eq!(violation.reason, SessionRejectReason::InvalidTagNumber);
/// assert_eq!(violation.tag, RefTag::Number(999));
/// assert_eq!(violation.text(), "Invalid tag number");
/// ```
#[derive(Debug, Clone)]
pub struct Validator {
    plan: Plan,
    data_fields: Box<DataFields>,
}

/// One thing that is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation<'m> {
    /// The check that found it.
    pub check: Check,
    /// What the policy says about this check: [`Action::Reject`] or [`Action::Warn`].
    pub action: Action,
    /// SessionRejectReason (373) of the Reject.
    pub reason: SessionRejectReason,
    /// RefTagID (371) of the Reject.
    pub tag: RefTag<'m>,
    /// Position of the field in the message, from 0; none for a field that is missing.
    pub position: Option<usize>,
}

/// What is violated, and by which field: `Required tag missing, field 55`.
impl fmt::Display for Violation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, field ", self.text())?;
        match self.tag {
            RefTag::Number(tag) => write!(f, "{tag}"),
            RefTag::AsSent(bytes) => write!(f, "{}", bytes.escape_ascii()),
        }
    }
}

impl Violation<'_> {
    /// Text (58) of the Reject, as QuickFIX words it.
    pub const fn text(&self) -> &'static str {
        self.reason.text()
    }
}

/// The field a violation is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RefTag<'m> {
    /// A tag number.
    Number(u32),
    /// The bytes that stand where a tag should, as sent: `0`, `-1`, a whole field without `=`, or nothing.
    AsSent(&'m [u8]),
}

impl std::fmt::Debug for RefTag<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RefTag::Number(tag) => f.debug_tuple("Number").field(tag).finish(),
            RefTag::AsSent(bytes) => f.debug_tuple("AsSent").field(&Redacted(bytes)).finish(),
        }
    }
}

impl std::fmt::Display for RefTag<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RefTag::Number(tag) => write!(f, "{tag}"),
            RefTag::AsSent(bytes) => write!(f, "{}", bytes.escape_ascii()),
        }
    }
}

/// The part of a message a field belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Standard header.
    Header,
    /// Body.
    Body,
    /// Standard trailer.
    Trailer,
}

/// Where a field stands in the structure of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldPlace {
    /// Position in the message, from 0.
    pub position: usize,
    /// Header, body or trailer.
    pub section: Section,
    /// Number of groups around the field; a count field stands outside the group it counts.
    pub depth: usize,
    /// Number of the entry of the innermost group, from 1; 0 outside groups.
    pub entry: u32,
    /// Whether the field counts a group's entries here.
    pub counts_group: bool,
}

impl Validator {
    /// Compiles a dictionary.
    pub fn new(dictionary: &Dictionary) -> Validator {
        Validator { plan: Plan::new(dictionary), data_fields: Box::new(dictionary.data_fields()) }
    }

    /// The dictionary's data fields: what the index of a message that is to be checked must know.
    pub fn data_fields(&self) -> &DataFields {
        &self.data_fields
    }

    /// The memory that checking needs, made once a worker (or session) and used for every message.
    pub fn scratch(&self) -> Scratch {
        Scratch::new(&self.plan)
    }

    /// The first violation that the policy rejects; warnings are passed over. `scratch` is this validator's.
    pub fn first_reject<'m>(
        &self,
        message: &Message<'m>,
        policy: &Policy,
        scratch: &mut Scratch,
    ) -> Option<Violation<'m>> {
        let mut first = None;
        self.for_each(message, policy, scratch, |violation| {
            if violation.action == Action::Warn {
                return ControlFlow::Continue(());
            }
            first = Some(violation);
            ControlFlow::Break(())
        });
        first
    }

    /// Calls `report` with each violation that the policy does not ignore, in the order of the message, missing fields last,
    /// until it breaks off. `scratch` is this validator's.
    pub fn for_each<'m>(
        &self,
        message: &Message<'m>,
        policy: &Policy,
        scratch: &mut Scratch,
        report: impl FnMut(Violation<'m>) -> ControlFlow<()>,
    ) {
        if !policy.looks() || scratch.learned.knows(&self.plan, message, policy) {
            return;
        }
        let mut right = true;
        let visitor = Report { report, right: &mut right };
        let _ = Walk::new(&self.plan, message, policy, scratch, visitor).run();
        if right {
            scratch.learned.learn(&self.plan, message, policy);
        }
    }

    /// Everything that the policy does not ignore, in the order of the message, missing fields last. For tools: it allocates the
    /// answer; [`Validator::for_each`] does not. `scratch` is this validator's.
    pub fn all<'m>(
        &self,
        message: &Message<'m>,
        policy: &Policy,
        scratch: &mut Scratch,
    ) -> Vec<Violation<'m>> {
        let mut all = Vec::new();
        self.for_each(message, policy, scratch, |violation| {
            all.push(violation);
            ControlFlow::Continue(())
        });
        all
    }

    /// Where each field stands: header, body or trailer, and in which entry of which depth of groups. Wrong messages get the
    /// nearest reading. For tools: it allocates the answer.
    pub fn structure(&self, message: &Message<'_>, scratch: &mut Scratch) -> Vec<FieldPlace> {
        let mut places = Vec::with_capacity(message.len());
        let _ = Walk::new(&self.plan, message, &Policy::ignoring(), scratch, Places(&mut places)).run();
        places
    }
}

struct Report<'r, F> {
    report: F,
    /// Whether nothing was found.
    right: &'r mut bool,
}

impl<'m, F: FnMut(Violation<'m>) -> ControlFlow<()>> Visitor<'m> for Report<'_, F> {
    fn violation(&mut self, violation: Violation<'m>) -> ControlFlow<()> {
        *self.right = false;
        (self.report)(violation)
    }
}

struct Places<'p>(&'p mut Vec<FieldPlace>);

impl<'m> Visitor<'m> for Places<'_> {
    const PLACES: bool = true;

    fn place(&mut self, place: FieldPlace) {
        self.0.push(place);
    }
}
