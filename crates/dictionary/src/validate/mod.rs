//! Validation of messages against a dictionary.
//!
//! A [`Validator`] is a dictionary compiled to dense tables. It checks a codec [`Message`], first
//! its structure and then its values, without allocating as long as little is wrong. Each check is
//! an entry in a [`Policy`] (reject, warn or ignore) and costs nothing if it is ignored.
//!
//! The consequences are left to the session: a violation names the SessionRejectReason, the tag and
//! the action. Sequence numbers, times, CompIDs, BodyLength and CheckSum are checked elsewhere,
//! before validation.

mod entry_order;
mod findings;
mod learned;
mod look;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod oracle_tests;
mod plan;
mod policy;
#[cfg(test)]
mod sequence_tests;
mod steps;
mod values;
mod versions;
mod walk;

use core::fmt;

use std::ops::ControlFlow;

pub use fixbolt_codec::Section;
use fixbolt_codec::{DataFields, FaultKind, Message, Place, Redacted, Version};

use crate::model::Dictionary;
use crate::reject_codes::SessionRejectCode;
pub use entry_order::{EntryOrder, ExpectedOrder};
use learned::LayoutId;
use plan::Plan;
pub use policy::{Action, Check, CodeRules, Policy, Requirements, TypeRules};
use steps::Values;
#[cfg(feature = "sample-messages")]
pub(crate) use values::{CodeTable, check_type};
pub use walk::Scratch;
use walk::sort;

/// A dictionary compiled for checking messages. It is immutable: one serves all sessions of its
/// version.
///
/// ```
/// use fixbolt_codec::{Frame, Framer, Index, Span};
/// use fixbolt_dictionary::{Policy, RefTag, SessionRejectCode, Validator, fix44};
///
/// let bytes = b"8=FIX.4.4\x019=54\x0135=0\x0134=2\x0149=A\x0156=B\x01\
///     52=20261121-09:00:00\x01112=T\x01999=HI\x0110=035\x01";
/// let Frame::Message(framed) = Framer::new(1024).next(bytes) else { panic!("it is complete") };
/// let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
/// let mut index = Index::new(&mut tags, &mut spans);
/// let message = index.build(framed).expect("length and checksum are right");
///
/// let validator = Validator::new(fix44());
/// let mut scratch = validator.scratch();
/// let violation = validator.first_reject(&message, &Policy::standard(), &mut scratch);
/// let violation = violation.expect("FIX.4.4 has no field 999");
/// assert_eq!(violation.reason, SessionRejectCode::INVALID_TAG_NUMBER);
/// assert_eq!(violation.tag, RefTag::Number(999));
/// assert_eq!(violation.text(), "Invalid tag number");
/// ```
#[derive(Clone)]
pub struct Validator {
    plan: Plan,
    data_fields: Box<DataFields>,
    version: Option<Version>,
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

/// Something that is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation<'m> {
    /// The check that found it.
    pub check: Check,
    /// The action of the policy for this check: [`Action::Reject`] or [`Action::Warn`].
    pub action: Action,
    /// SessionRejectReason (373) of the Reject.
    pub reason: SessionRejectCode,
    /// RefTagID (371) of the Reject.
    pub tag: RefTag<'m>,
    /// Position of the field in the message, from 0; `None` for a missing field.
    pub position: Option<usize>,
    /// For the order of a group (373=15): which entry it is, and what was expected.
    pub order: Option<EntryOrder>,
}

/// What is violated, and by which field: `Required tag missing, field 55`. For the order of a group
/// also what was expected ([`EntryOrder`]).
impl fmt::Display for Violation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, field ", self.text())?;
        match self.tag {
            RefTag::Number(tag) => write!(f, "{tag}")?,
            RefTag::AsSent(bytes) => write!(f, "{}", bytes.escape_ascii())?,
        }
        self.order.map_or(Ok(()), |order| write!(f, " {order}"))
    }
}

impl<'m> Violation<'m> {
    /// Returns the violation that is a wrong data length, if that is the message's fault
    /// ([`FaultKind::DataLength`]) and the policy does not ignore it. It needs no dictionary.
    #[must_use]
    pub fn wrong_length(message: &Message<'m>, policy: &Policy) -> Option<Violation<'m>> {
        let fault = message.fault().filter(|fault| fault.kind == FaultKind::DataLength)?;
        let (check, reason) = (Check::DataLength, SessionRejectCode::VALUE_IS_INCORRECT);
        let (action, tag) = (policy.action(check), RefTag::Number(message.tags()[fault.field]));
        let violation = Violation { check, action, reason, tag, position: Some(fault.field), order: None };
        (action != Action::Ignore).then_some(violation)
    }

    /// Returns the violation without a borrow of the message. A tag that is not a number, which
    /// only a received message can have, becomes 0.
    #[must_use]
    pub fn into_owned(self) -> Violation<'static> {
        let Self { check, action, reason, tag, position, order } = self;
        Violation { check, action, reason, tag: RefTag::Number(tag.number()), position, order }
    }

    /// Returns the Text (58) of the Reject, in QuickFIX's wording.
    pub const fn text(&self) -> &'static str {
        self.reason.text()
    }
}

/// The field that a violation is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RefTag<'m> {
    /// A tag number.
    Number(u32),
    /// The bytes in place of a tag, as sent: `0`, `-1`, a whole field without `=`, or nothing.
    AsSent(&'m [u8]),
}

impl RefTag<'_> {
    /// Returns the tag, or 0 if it is not a number.
    const fn number(self) -> u32 {
        match self {
            Self::Number(tag) => tag,
            Self::AsSent(_) => 0,
        }
    }
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

impl Validator {
    /// Compiles a dictionary.
    pub fn new(dictionary: &Dictionary) -> Validator {
        Validator {
            plan: Plan::new(dictionary),
            data_fields: Box::new(dictionary.data_fields()),
            version: dictionary.version().known,
        }
    }

    /// Reads every group with this count field as it is sent: its entries begin with the member
    /// that is first after the count field, whichever that is, and have their members in any order.
    /// Use it for a counterparty whose groups have another first field, or another order, than the
    /// dictionary says.
    ///
    /// Everything that reads the message by its [places](Validator::places) reads the group in this
    /// way. Counts and members are checked as in any group; an entry that begins with another field
    /// than the first one is still a violation ([`Check::GroupDelimiter`]). A group in the order of
    /// the dictionary is read as without this. [`Check::GroupAsSent`] finds where it differs.
    ///
    /// Returns whether the dictionary has such a group; if not, nothing changes.
    #[must_use]
    pub fn read_as_sent(&mut self, count_tag: u32) -> bool {
        self.plan.read_as_sent(count_tag)
    }

    /// Returns the tags of the count fields of all groups, each once for every group.
    pub fn count_tags(&self) -> impl Iterator<Item = u32> {
        self.plan.count_tags()
    }

    /// Returns the version of the standard that the dictionary says it is of, if it names one.
    pub const fn version(&self) -> Option<Version> {
        self.version
    }

    /// Returns the dictionary's data fields, which the index of a message to be checked must know.
    pub fn data_fields(&self) -> &DataFields {
        &self.data_fields
    }

    /// Returns whether the dictionary lists this value of a field.
    pub fn has_code(&self, tag: u32, value: &[u8]) -> bool {
        let rule = self.plan.slot(tag).map(|slot| self.plan.field(slot));
        rule.and_then(|rule| self.plan.codes(rule)).is_some_and(|codes| codes.admits(value, None))
    }

    /// Returns the memory for checking, which is allocated once per worker (or session) and used
    /// for every message.
    pub fn scratch(&self) -> Scratch {
        Scratch::new(&self.plan)
    }

    /// Returns the first violation that the policy rejects; warnings are skipped. `scratch` must
    /// come from this validator.
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

    /// Calls `report` with each violation that the policy does not ignore, until it breaks: in the
    /// order of the message, with missing fields last. `scratch` must come from this validator.
    ///
    /// Returns the place of each field, as [`Validator::places`] does, or `None` if `report` broke.
    pub fn for_each<'m, 's>(
        &self,
        message: &Message<'m>,
        policy: &Policy,
        scratch: &'s mut Scratch,
        mut report: impl FnMut(Violation<'m>) -> ControlFlow<()>,
    ) -> Option<&'s [Place]> {
        self.report_each(message, policy, scratch, &mut report)
    }

    #[inline]
    fn report_each<'m, 's>(
        &self,
        message: &Message<'m>,
        policy: &Policy,
        scratch: &'s mut Scratch,
        report: &mut dyn FnMut(Violation<'m>) -> ControlFlow<()>,
    ) -> Option<&'s [Place]> {
        if !policy.looks() {
            return Some(self.places(message, scratch));
        }
        if let Some(known) = scratch.learned.known(&self.plan, message, policy) {
            let all = self.check_values(known, message, policy, scratch, report);
            return all.is_continue().then(|| scratch.learned.places(known));
        }
        scratch.walk(&self.plan, message, policy);
        let Scratch { places, learned, findings, .. } = scratch;
        if !findings.are_none() {
            // A report that panics leaves nothing for the next message.
            let taken = std::mem::take(findings);
            let all = findings::report(&taken.structure, &taken.values, message, policy, report);
            *findings = taken;
            if all.is_break() {
                findings.clear();
                return None;
            }
        }
        let kept = learned.learn(&self.plan, message, policy, places, findings);
        findings.clear();
        Some(kept.map_or(places, |layout| learned.places(layout)))
    }

    /// Reports what is wrong with a message of a known layout.
    #[inline]
    fn check_values<'m>(
        &self,
        layout: LayoutId,
        message: &Message<'m>,
        policy: &Policy,
        scratch: &mut Scratch,
        report: &mut dyn FnMut(Violation<'m>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Scratch { learned, findings, identifiers, references, .. } = scratch;
        let (layout, dates) = learned.layout(layout);
        let (plan, steps) = (&self.plan, &mut layout.steps);
        if policy.checks_values() && (layout.closer_looks || !steps.are_right(plan, message, dates)) {
            let wrong = &mut findings.values;
            let closer_looks = false;
            let mut values =
                Values { plan, message, policy, dates, wrong, identifiers, references, closer_looks };
            steps.check(&mut values, 0, true);
            layout.closer_looks = values.closer_looks;
        }
        if findings.values.is_empty() && layout.findings.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut values = std::mem::take(&mut findings.values);
        sort(&mut values);
        let all = findings::report(&layout.findings, &values, message, policy, report);
        findings.values = values;
        findings.clear();
        all
    }

    /// Returns whether `scratch` has learned the layout of this message from one before, so that
    /// only its values are checked. For measurements: asking changes nothing.
    pub fn knows(&self, message: &Message<'_>, policy: &Policy, scratch: &Scratch) -> bool {
        scratch.learned.knows(&self.plan, message, policy)
    }

    /// Returns all violations that the policy does not ignore, in the order of the message, with
    /// missing fields last. For tools: it allocates the result, unlike [`Validator::for_each`].
    /// `scratch` must come from this validator.
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

    /// Returns the place of each field: header, body or trailer, its depth in groups, and where
    /// entries begin. An invalid message gets the most plausible reading. The places depend on the
    /// message's type, its tags and the values of its count fields, not on a policy. `scratch` must
    /// come from this validator.
    ///
    /// [`Message::with_places`] attaches them to the message, so that everything that reads it
    /// agrees.
    pub fn places<'s>(&self, message: &Message<'_>, scratch: &'s mut Scratch) -> &'s [Place] {
        if let Some(layout) = scratch.learned.same_structure(&self.plan, message) {
            return scratch.learned.places(layout);
        }
        let policy = Policy::ignoring();
        scratch.walk(&self.plan, message, &policy);
        let Scratch { places, learned, findings, .. } = scratch;
        let kept = learned.learn(&self.plan, message, &policy, places, findings);
        kept.map_or(places, |layout| learned.places(layout))
    }
}
