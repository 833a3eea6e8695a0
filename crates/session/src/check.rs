//! Is a message what the session's dictionary says? Steps 12 to 14 of the inbound checks; and, where a session wants it, the
//! same of what its application sends, before it gets a number.

use core::ops::ControlFlow;

use fixbolt_codec::{Fault, FaultKind, Message, SeqNum, ToField};
use fixbolt_dictionary::{Action, Check, Policy, RefTag, Scratch, SessionRejectReason, Validator, Violation};

use crate::application::{Application, Event, SendError};
use crate::inbound::Reject;
use crate::replay::{FieldStorage, with_message};
use crate::scene::{Scene, say};
use crate::store::SessionKey;

/// What a session needs to look at what its application sends.
pub(crate) struct OutboundCheck {
    policy: Policy,
    fields: FieldStorage,
    /// Warnings of the open turn, told when it is committed.
    warned: Vec<(SeqNum, Violation<'static>)>,
}

impl OutboundCheck {
    /// Ready for messages of up to `max_message_size` bytes.
    pub(crate) fn new(policy: Policy, max_message_size: usize) -> Self {
        // No field is shorter than four bytes.
        let fields = FieldStorage::new(max_message_size / 4 + 1);
        Self { policy, fields, warned: Vec::with_capacity(16) }
    }

    /// Looks at a whole message that is about to get its number.
    ///
    /// # Errors
    /// [`SendError::Invalid`] with the first violation that the policy rejects.
    pub(crate) fn look(
        &mut self,
        seq: SeqNum,
        bytes: &[u8],
        validator: &Validator,
        scratch: &mut Scratch,
    ) -> Result<(), SendError> {
        let Self { policy, fields, warned } = self;
        let before = warned.len();
        let looked = with_message(bytes, validator.data_fields(), fields, |message| {
            let mut refused = Ok(());
            validator.for_each(&message, policy, scratch, |violation| {
                let Violation { check, action, reason, position, .. } = violation;
                // A writer lets no other tags pass.
                let tag = match violation.tag {
                    RefTag::Number(tag) => tag,
                    RefTag::AsSent(_) => 0,
                };
                if action == Action::Warn {
                    warned
                        .push((seq, Violation { check, action, reason, position, tag: RefTag::Number(tag) }));
                    return ControlFlow::Continue(());
                }
                refused = Err(SendError::Invalid { check, reason, tag });
                ControlFlow::Break(())
            });
            refused
        });
        let unreadable =
            SendError::Invalid { check: Check::TagSyntax, reason: SessionRejectReason::Other, tag: 0 };
        let result = looked.unwrap_or(Err(unreadable));
        if result.is_err() {
            warned.truncate(before);
        }
        result
    }

    /// The turn was rolled back: what it would have sent is not warned of.
    pub(crate) fn forget(&mut self) {
        self.warned.clear();
    }

    /// The turn was committed. Gives whether the application could hear everything without a panic.
    pub(crate) fn tell(&mut self, app: &mut dyn Application, key: SessionKey) -> bool {
        let told = self.warned.iter().fold(true, |told, (seq, violation)| {
            told & say(app, key, &Event::WarnedOutbound { seq: *seq, violation: *violation })
        });
        self.warned.clear();
        told
    }
}

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
