//! Checks inbound messages against the session's dictionary. Steps 12 to 14 of the inbound checks.

use core::ops::ControlFlow;

use fixbolt_codec::{FaultKind, Message, Place, Secrets, SeqNum};
use fixbolt_dictionary::{
    Action, Check, Direction, RefTag, SessionRejectReason, UnsupportedApplicationVersion, Violation,
};

use crate::admin_message::Reject;
use crate::behavior::{Behavior, FirstViolation, RefTagId};
use crate::event::Event;
use crate::fix::{YES, msg_type, tag};
use crate::table;
use crate::transaction::Transaction;

/// Returns the Reject for the first violation that the session's dictionary and policy reject. The
/// application is notified of violations that the policy only warns of. If nothing is rejected,
/// `keep` gets the place of each field. The message learns its version.
pub(crate) fn violation<'m>(
    tx: &mut Transaction<'_>,
    seq: SeqNum,
    message: &mut Message<'m>,
    keep: impl FnOnce(&[Place]),
) -> Option<Reject<'m>> {
    let session = table::opened_mut(tx.table, tx.own);
    let behavior = session.behavior;
    let secrets = session.secret_tags.of(&session.settings);
    let chosen = session.dictionaries.of(message, Direction::Inbound);
    let message = &*message;
    let (validator, scratch) = match (chosen, &mut session.scratch) {
        (Ok(Some(validator)), Some(scratch)) => (validator, scratch),
        (Err(unsupported), _) => return unsupported_version(tx, seq, message, unsupported),
        _ => {
            let found = message.fault().and_then(|_| broken_field(tx, seq, message));
            tx.session_mut().decoded();
            return found.map(|found| found.reject(&behavior));
        }
    };
    let mut found = None::<Found<'m>>;
    let mut warned = Vec::new();
    let placed = validator.for_each(message, &session.settings.policy, scratch, |violation| {
        if violation.action == Action::Warn {
            warned.push(without_secret(message, violation, secrets));
            return ControlFlow::Continue(());
        }
        let this = Found::of(message, &violation, secrets);
        match behavior.first_violation {
            FirstViolation::InWireOrder => {
                found = Some(this);
                ControlFlow::Break(())
            }
            FirstViolation::StructureFirst if this.is_structure => {
                found = Some(this);
                ControlFlow::Break(())
            }
            FirstViolation::StructureFirst => {
                found.get_or_insert(this);
                ControlFlow::Continue(())
            }
        }
    });
    if let (Some(places), None) = (placed, found) {
        keep(places);
    }
    tx.session_mut().decoded();
    if !warned.is_empty() {
        warn(tx, seq, message, warned);
    }
    found.map(|found| found.reject(&behavior))
}

/// Notifies the application of violations that the policy only warns of, once for each message.
#[cold]
fn warn<'m>(
    tx: &mut Transaction<'_>,
    seq: SeqNum,
    message: &Message<'m>,
    violations: impl IntoIterator<Item = Violation<'m>>,
) {
    let reading = &mut tx.session_mut().reading;
    let is_offered_again = reading.offered && reading.warned_of == Some(seq);
    // A new Logout or ResendRequest from after a gap was checked when it arrived, and acted then.
    let has_acted = reading.kept.is_some()
        && [msg_type::LOGOUT, msg_type::RESEND_REQUEST].contains(&message.msg_type())
        && message.get(tag::POSS_DUP_FLAG) != Some(YES);
    if is_offered_again || has_acted {
        return;
    }
    reading.warned_of = Some(seq);
    for violation in violations {
        tx.notify(&Event::Warned { seq, violation });
    }
}

/// Step 13: there is no dictionary of the message's application version, and nothing else can be
/// checked.
fn unsupported_version<'m>(
    tx: &mut Transaction<'_>,
    seq: SeqNum,
    message: &Message<'m>,
    unsupported: UnsupportedApplicationVersion,
) -> Option<Reject<'m>> {
    tx.session_mut().decoded();
    let session = tx.session();
    let violation = unsupported.violation(message, &session.settings.policy)?;
    if violation.action == Action::Warn {
        warn(tx, seq, message, [violation]);
        return None;
    }
    let secrets = session.secret_tags.of(&session.settings);
    Some(Found::of(message, &violation, secrets).reject(&session.behavior))
}

/// A violation that is rejected.
#[derive(Clone, Copy)]
struct Found<'m> {
    reason: SessionRejectReason,
    tag: RefTag<'m>,
    /// Whether the violation keeps the message from being split into header, body, trailer and
    /// groups.
    is_structure: bool,
}

impl<'m> Found<'m> {
    fn of(message: &Message<'m>, violation: &Violation<'m>, secrets: Secrets<'_>) -> Self {
        let Violation { check, reason, tag, position, .. } = *violation;
        if check == Check::TagSyntax
            && let Some(cut) = position.and_then(|position| cut_value(message, position, secrets))
        {
            return cut;
        }
        let is_structure = match check {
            Check::DuplicateTag | Check::SectionOrder | Check::GroupOrder | Check::GroupDelimiter => true,
            // What follows the data may be a part of it.
            Check::DataLength => wrong_length(message).is_some_and(|at| position == Some(at)),
            _ => false,
        };
        Self { reason, tag, is_structure }
    }

    fn reject(self, behavior: &Behavior) -> Reject<'m> {
        let Self { reason, tag, .. } = self;
        let reject = Reject::of(reason, Some(tag)).worded(behavior.violation_text);
        // RefMsgType names an unknown MsgType; no field is in error.
        let named = reason != SessionRejectReason::InvalidMsgType || behavior.msg_type_tag == RefTagId::Named;
        Reject { tag: named.then_some(tag), ..reject }
    }
}

/// Returns the position of the length field whose value is wrong, if that is the message's fault.
fn wrong_length(message: &Message<'_>) -> Option<usize> {
    message.fault().filter(|fault| fault.kind == FaultKind::DataLength).map(|fault| fault.field)
}

/// Without a dictionary, a field with invalid syntax is still rejected, and a wrong data length as
/// the policy says.
#[cold]
fn broken_field<'m>(tx: &mut Transaction<'_>, seq: SeqNum, message: &Message<'m>) -> Option<Found<'m>> {
    let mut from = message.fault()?.field;
    if wrong_length(message).is_some() {
        let session = tx.session();
        match Violation::wrong_length(message, &session.settings.policy) {
            Some(violation) if violation.action == Action::Reject => {
                let secrets = session.secret_tags.of(&session.settings);
                return Some(Found::of(message, &violation, secrets));
            }
            Some(violation) => warn(tx, seq, message, [violation]),
            None => {}
        }
        from += 1;
    }
    let tags = message.tags();
    let position = (from..tags.len()).find(|at| tags[*at] == 0 || message.span(*at).is_empty())?;
    let reason = if tags[position] == 0 {
        let session = tx.session();
        if let Some(found) = cut_value(message, position, session.secret_tags.of(&session.settings)) {
            return Some(found);
        }
        SessionRejectReason::InvalidTagNumber
    } else {
        SessionRejectReason::TagSpecifiedWithoutAValue
    };
    let as_sent = message.field_bytes(position).split(|byte| *byte == b'=').next().unwrap_or_default();
    Some(Found { reason, tag: RefTag::AsSent(as_sent), is_structure: false })
}

/// Test case 14k: a field without `=` is the part after a delimiter inside the value of the field
/// before it. So is one with a broken tag after a secret: RefTagID must not repeat a part of a
/// password.
fn cut_value<'m>(message: &Message<'m>, position: usize, secrets: Secrets<'_>) -> Option<Found<'m>> {
    let tag = tag_before(message, position)?;
    if message.field_bytes(position).contains(&b'=') && !may_be_secret(message, position, secrets) {
        return None;
    }
    let reason = SessionRejectReason::NonDataValueIncludesFieldDelimiter;
    Some(Found { reason, tag: RefTag::Number(tag), is_structure: false })
}

/// Returns the violation with another tag if its own may be a part of a secret, which an event must
/// not repeat.
fn without_secret<'m>(
    message: &Message<'m>,
    mut violation: Violation<'m>,
    secrets: Secrets<'_>,
) -> Violation<'m> {
    if violation.check == Check::TagSyntax
        && let Some(position) = violation.position
        && may_be_secret(message, position, secrets)
        && let Some(tag) = tag_before(message, position)
    {
        violation.tag = RefTag::Number(tag);
    }
    violation
}

/// Returns whether a field may be a part of the secret before it.
fn may_be_secret(message: &Message<'_>, position: usize, secrets: Secrets<'_>) -> bool {
    let start = message.span(position).end() - message.field_bytes(position).len();
    secrets.in_message(message.bytes()).any(|hidden| hidden.start <= start && start < hidden.end)
}

/// Returns the tag of the nearest field before a position that has one.
fn tag_before(message: &Message<'_>, position: usize) -> Option<u32> {
    message.tags()[..position].iter().rev().copied().find(|tag| *tag != 0)
}
