//! What is wrong with a message, until it is reported.
//!
//! Structure and values are checked one after the other, but reported as if fields were checked one
//! by one, the value of each before its place. Inside a group, wrong values and counts wait until
//! the group ends, or something is wrong with the structure: a count comes before the entries that
//! it counts, but is known to be wrong only at their end.

use std::ops::ControlFlow;

use fixbolt_codec::Message;

use super::entry_order::EntryOrder;
use super::policy::{Check, Policy};
use super::{RefTag, Violation};
use crate::reject_codes::SessionRejectCode as Reason;

/// Something that is wrong with the structure, by the tags and counts alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finding {
    pub(crate) check: Check,
    pub(crate) reason: Reason,
    /// 0 if the field has no tag.
    pub(crate) tag: u32,
    pub(crate) position: Option<usize>,
    pub(crate) order: Option<EntryOrder>,
    /// Wrong values before this position are reported first.
    values: usize,
}

/// A value that is wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrongValue {
    pub(crate) position: usize,
    pub(crate) check: Check,
    pub(crate) reason: Reason,
}

/// What the walk finds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    /// In the order in which they are reported.
    pub(crate) structure: Vec<Finding>,
    /// Wrong counts of groups around which others are open.
    held: Vec<Finding>,
    pub(crate) values: Vec<WrongValue>,
}

/// A message with more mistakes makes the memory grow, until it is reported.
const USUAL: usize = 64;

impl Findings {
    pub(crate) fn new() -> Findings {
        let (structure, held, values) =
            (Vec::with_capacity(USUAL), Vec::with_capacity(USUAL), Vec::with_capacity(USUAL));
        Findings { structure, held, values }
    }

    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.structure.is_empty() && self.values.is_empty()
    }

    /// Adds what the walk has found, in a group or outside of them. `values`: how many fields it
    /// has come to.
    pub(crate) fn add(&mut self, violation: Violation<'_>, values: usize, in_group: bool) {
        if in_group {
            self.report_held();
        }
        self.structure.push(Finding::new(violation, values));
    }

    /// Adds a wrong count, which waits until the outermost group ends.
    pub(crate) fn hold(&mut self, violation: Violation<'_>) {
        let counted = violation.position.map_or(0, |position| position + 1);
        self.held.push(Finding::new(violation, counted));
    }

    /// Adds the wrong counts that were held, in the order of the message.
    #[inline]
    pub(crate) fn report_held(&mut self) {
        if !self.held.is_empty() {
            self.held.sort_by_key(|finding| finding.position);
            self.structure.append(&mut self.held);
        }
    }

    /// Forgets what was found, so that the next message can be checked.
    pub(crate) fn clear(&mut self) {
        for findings in [&mut self.structure, &mut self.held] {
            findings.clear();
            findings.shrink_to(USUAL);
        }
        self.values.clear();
        self.values.shrink_to(USUAL);
    }
}

impl Finding {
    fn new(violation: Violation<'_>, values: usize) -> Finding {
        let Violation { check, reason, tag, position, order, .. } = violation;
        Finding { check, reason, tag: tag.number(), position, order, values }
    }

    fn violation<'m>(&self, message: &Message<'m>, policy: &Policy) -> Violation<'m> {
        let &Finding { check, reason, tag, position, order, .. } = self;
        let tag = match position {
            Some(position) if tag == 0 => RefTag::AsSent(tag_bytes(message.field_bytes(position))),
            _ => RefTag::Number(tag),
        };
        Violation { check, action: policy.action(check), reason, tag, position, order }
    }
}

/// Reports what is wrong, in order. The values are those of one message, ascending by position.
#[cold]
pub(crate) fn report<'m>(
    structure: &[Finding],
    values: &[WrongValue],
    message: &Message<'m>,
    policy: &Policy,
    report: &mut dyn FnMut(Violation<'m>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut values = values.iter().peekable();
    let mut structure = structure.iter();
    loop {
        let next = structure.next();
        while let Some(value) = values.next_if(|value| next.is_none_or(|it| value.position < it.values)) {
            let &WrongValue { position, check, reason } = value;
            let (action, tag) = (policy.action(check), RefTag::Number(message.tags()[position]));
            report(Violation { check, action, reason, tag, position: Some(position), order: None })?;
        }
        let Some(finding) = next else { return ControlFlow::Continue(()) };
        report(finding.violation(message, policy))?;
    }
}

/// Returns the bytes before the first `=`, or the whole field if it has none.
fn tag_bytes(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == b'=').next().unwrap_or(field)
}
