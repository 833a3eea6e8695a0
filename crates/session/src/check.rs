//! Steps 12 to 14 of the inbound checks: is the message what its dictionary says?

use core::ops::ControlFlow;

use fixbolt_codec::{Fault, FaultKind, Message, SeqNum, ToField};
use fixbolt_dictionary::{Action, Check, RefTag, SessionRejectReason};

use crate::application::Event;
use crate::inbound::Reject;
use crate::scene::{Scene, say};

/// The first violation that asks for a Reject.
#[derive(Clone, Copy)]
pub(crate) struct Found<'m> {
    reason: SessionRejectReason,
    tag: RefTag<'m>,
}

impl Scene<'_> {
    /// What the session's dictionary and policy say about the message. Violations that the policy only warns of are told.
    pub(crate) fn violation<'m>(&mut self, seq: SeqNum, message: &Message<'m>) -> Option<Found<'m>> {
        let core = &mut self.slots[self.own].core;
        let key = core.key;
        let (Some(validator), Some(scratch)) = (&core.settings.validator, &mut core.scratch) else {
            return message.fault().map(|fault| broken_field(message, fault));
        };
        let app = &mut *self.app;
        let (mut found, mut told) = (None, true);
        validator.for_each(message, &core.settings.policy, scratch, |violation| {
            if violation.action == Action::Warn {
                told &= say(app, key, &Event::Warned { seq, violation });
                return ControlFlow::Continue(());
            }
            let cut = violation.position.filter(|_| violation.check == Check::TagSyntax);
            let cut = cut.and_then(|position| cut_value(message, position));
            found = Some(cut.unwrap_or(Found { reason: violation.reason, tag: violation.tag }));
            ControlFlow::Break(())
        });
        if !told {
            core.event_panicked();
        }
        found
    }
}

/// Without a dictionary a field that breaks the syntax is rejected all the same.
fn broken_field<'m>(message: &Message<'m>, fault: Fault) -> Found<'m> {
    let reason = match fault.kind {
        FaultKind::EmptyValue => SessionRejectReason::TagSpecifiedWithoutAValue,
        FaultKind::NoEquals => {
            if let Some(found) = cut_value(message, fault.field) {
                return found;
            }
            SessionRejectReason::InvalidTagNumber
        }
        _ => SessionRejectReason::InvalidTagNumber,
    };
    Found { reason, tag: RefTag::AsSent(&message.bytes()[fault.tag.start()..fault.tag.end()]) }
}

/// Test case 14k: a field without `=` is what stands behind a delimiter inside the value of the field before it.
fn cut_value<'m>(message: &Message<'m>, position: usize) -> Option<Found<'m>> {
    if message.field_bytes(position).contains(&b'=') {
        return None;
    }
    let tag = message.tags()[..position].iter().rev().copied().find(|tag| *tag != 0)?;
    Some(Found { reason: SessionRejectReason::NonDataValueIncludesFieldDelimiter, tag: RefTag::Number(tag) })
}

impl<'m> Found<'m> {
    /// The Reject for it; a tag's digits are written into `digits`.
    pub(crate) fn reject<'r>(&self, digits: &'r mut [u8; 20]) -> Reject<'r>
    where
        'm: 'r,
    {
        let tag: &'r [u8] = match self.tag {
            RefTag::Number(tag) => {
                let len = u64::from(tag).write_to(digits);
                &digits[..len]
            }
            RefTag::AsSent(bytes) => bytes,
        };
        // The Reject of an unknown MsgType names it in RefMsgType; no field is at fault.
        let named = self.reason != SessionRejectReason::InvalidMsgType;
        Reject { reason: self.reason.number(), tag: named.then_some(tag), text: self.reason.text() }
    }
}
