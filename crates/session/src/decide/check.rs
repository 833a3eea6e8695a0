//! Checks inbound messages against the session's dictionary. Steps 12 to 14 of R-CHECK-1.

use core::ops::{ControlFlow, Range};

use fixbolt_codec::{FaultKind, Message, Place, Secrets, Section};
use fixbolt_dictionary::{
    Action, Check, Direction, EntryOrder, RefTag, Scratch, SessionRejectCode, UnsupportedApplicationVersion,
    Violation,
};

use crate::settings::behavior::{Behavior, FirstViolation, RefTagId};
use crate::state::session::{Fixed, Session};
use crate::wire::admin_message::Reject;

/// What checking a message needs besides its session, and what it finds.
pub(crate) struct Checker<'c, 'm> {
    /// The memory of the session's validators, if it has any.
    scratch: Option<&'c mut Scratch>,
    /// Where the places of the message's fields are kept, if they are.
    places: Option<&'m mut Vec<Place>>,
    /// What the session's policy only warns of.
    pub(crate) warned: Vec<Violation<'m>>,
}

impl<'c, 'm> Checker<'c, 'm> {
    /// Creates a checker, which keeps the places of the message's fields if it has `places`.
    pub(crate) const fn new(scratch: Option<&'c mut Scratch>, places: Option<&'m mut Vec<Place>>) -> Self {
        Self { scratch, places, warned: Vec::new() }
    }

    /// Gives the message its version, and its fields their places, by the session's dictionary, so
    /// that the application reads it as the session does.
    pub(crate) fn place(&mut self, session: &Session, message: &mut Message<'m>) {
        let chosen = session.dictionaries().of(message, Direction::Inbound);
        if let (Ok(Some(validator)), Some(scratch), Some(places)) =
            (chosen, &mut self.scratch, self.places.take())
        {
            places.clear();
            places.extend_from_slice(validator.places(message, scratch));
            *message = message.with_places(places);
        }
    }

    /// Checks a message of the application, which gets its version and the places of its fields.
    pub(crate) fn check(&mut self, session: &Session, message: &mut Message<'m>) -> Option<Reject<'m>> {
        let Some(places) = self.places.take() else { return self.violation(session, message, |_| {}) };
        let reject = self.violation(session, message, |found| places.extend_from_slice(found));
        if reject.is_none() && !places.is_empty() {
            *message = message.with_places(places);
        }
        reject
    }

    /// Checks a message of the session layer.
    pub(crate) fn check_session_layer(
        &mut self,
        session: &Session,
        message: &Message<'m>,
    ) -> Option<Reject<'m>> {
        // It has no application version to learn.
        self.violation(session, &mut message.clone(), |_| {})
    }

    /// Returns the Reject for the first violation that the session's dictionary and policy reject.
    /// If nothing is rejected, `keep` gets the place of each field. The message learns its version.
    fn violation(
        &mut self,
        session: &Session,
        message: &mut Message<'m>,
        keep: impl FnOnce(&[Place]),
    ) -> Option<Reject<'m>> {
        let Fixed { behavior, settings, .. } = &*session.fixed;
        let chosen = session.dictionaries().of(message, Direction::Inbound);
        let message = &*message;
        let (validator, scratch) = match (chosen, &mut self.scratch) {
            (Ok(Some(validator)), Some(scratch)) => (validator, scratch),
            (Err(unsupported), _) => return self.unsupported_version(session, message, unsupported),
            _ => {
                let found = message.fault().and_then(|_| self.broken_field(session, message));
                return found.map(|found| found.reject(behavior));
            }
        };
        let mut judged = Judged::new(message, behavior.first_violation, &session.fixed, &mut self.warned);
        let places = validator
            .for_each(message, &settings.validation.incoming, scratch, |violation| judged.judge(violation));
        // There are none if the walk ended at a violation.
        if let Some(places) = places {
            if !judged.single.is_empty() {
                judged.choose(places);
            }
            if judged.found.is_none() {
                keep(places);
            }
        }
        judged.found.map(|found| found.reject(behavior))
    }

    /// Step 13: there is no dictionary of the message's application version, and nothing else can
    /// be checked.
    // R-FIXT-4
    fn unsupported_version(
        &mut self,
        session: &Session,
        message: &Message<'m>,
        unsupported: UnsupportedApplicationVersion,
    ) -> Option<Reject<'m>> {
        let violation = unsupported.violation(message, &session.fixed.settings.validation.incoming)?;
        if violation.action == Action::Warn {
            self.warned.push(violation);
            return None;
        }
        let mut before = Before::new(message, session.fixed.secret_tags.of(&session.fixed.settings));
        Some(Found::of(&violation, &mut before).reject(&session.fixed.behavior))
    }

    /// Without a dictionary, a field with invalid syntax is still rejected, and a wrong data length
    /// as the policy says.
    // R-REJECT-19
    #[cold]
    fn broken_field(&mut self, session: &Session, message: &Message<'m>) -> Option<Found<'m>> {
        let mut from = message.fault()?.field;
        if wrong_length(message).is_some() {
            match Violation::wrong_length(message, &session.fixed.settings.validation.incoming) {
                Some(violation) if violation.action == Action::Reject => {
                    let mut before =
                        Before::new(message, session.fixed.secret_tags.of(&session.fixed.settings));
                    return Some(Found::of(&violation, &mut before));
                }
                Some(violation) => self.warned.push(violation),
                None => {}
            }
            from += 1;
        }
        let tags = message.tags();
        let position = (from..tags.len()).find(|at| tags[*at] == 0 || message.span(*at).is_empty())?;
        let reason = if tags[position] == 0 {
            let mut before = Before::new(message, session.fixed.secret_tags.of(&session.fixed.settings));
            if let Some(found) = cut_value(position, &mut before) {
                return Some(found);
            }
            SessionRejectCode::INVALID_TAG_NUMBER
        } else {
            SessionRejectCode::TAG_SPECIFIED_WITHOUT_A_VALUE
        };
        let as_sent = message.field_bytes(position).split(|byte| *byte == b'=').next().unwrap_or_default();
        Some(Found { reason, tag: RefTag::AsSent(as_sent), order: None })
    }
}

/// What is found wrong with a message.
struct Judged<'w, 'm> {
    message: &'w Message<'m>,
    first: FirstViolation,
    fixed: &'w Fixed,
    /// What is before the message's fields, once there is a violation.
    before: Option<Before<'m, 'w>>,
    /// The violation that is rejected.
    found: Option<Found<'m>>,
    /// Violations of which the least is rejected, once the place of each field is known.
    single: Vec<Violation<'m>>,
    /// Violations that the application is notified of.
    warned: &'w mut Vec<Violation<'m>>,
}

impl<'w, 'm> Judged<'w, 'm> {
    fn new(
        message: &'w Message<'m>,
        first: FirstViolation,
        fixed: &'w Fixed,
        warned: &'w mut Vec<Violation<'m>>,
    ) -> Self {
        Self { message, first, fixed, before: None, found: None, single: Vec::new(), warned }
    }

    /// Judges one more violation. Breaks if the ones after it do not matter.
    #[cold]
    fn judge(&mut self, violation: Violation<'m>) -> ControlFlow<()> {
        let Fixed { secret_tags, settings, .. } = self.fixed;
        let before = self.before.get_or_insert_with(|| Before::new(self.message, secret_tags.of(settings)));
        if violation.action == Action::Warn {
            self.warned.push(without_secret(violation, before));
            return ControlFlow::Continue(());
        }
        let ends = match self.first {
            // R-REJECT-18
            FirstViolation::InWireOrder => true,
            FirstViolation::StructureFirst => is_structure(self.message, &violation),
            FirstViolation::ByTag => {
                violation.check == Check::SectionOrder
                    || violation.check == Check::DataLength && is_structure(self.message, &violation)
            }
        };
        if ends || self.found.is_none() {
            self.found = Some(Found::of(&violation, before));
        }
        if self.first == FirstViolation::ByTag && self.single.len() < MOST_COMPARED {
            self.single.push(violation);
        }
        if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Has the least of the message's violations rejected, once the place of each field is known.
    #[cold]
    fn choose(&mut self, places: &[Place]) {
        let least = self.single.iter().min_by_key(|violation| rank(violation, places));
        if let (Some(least), Some(before)) = (least, &mut self.before) {
            self.found = Some(Found::of(least, before));
        }
    }
}

/// The most violations of a message that are compared with each other.
const MOST_COMPARED: usize = 64;

/// Returns the place of a violation among those of its message: MsgType, required fields, then
/// header, trailer and body by their tags, and the members of groups last.
fn rank(violation: &Violation<'_>, places: &[Place]) -> (u8, u8, u32) {
    match violation.check {
        Check::MsgType | Check::ApplicationVersion => (0, 0, 0),
        Check::RequiredField | Check::RequiredInGroup => (1, 0, 0),
        _ => {
            let Some(place) = violation.position.and_then(|at| places.get(at)) else { return (2, 0, 0) };
            let section = match place.section() {
                Section::Header => 0,
                Section::Trailer => 1,
                Section::Body => 2,
            };
            (if place.depth() == 0 { 2 } else { 3 }, section, place.tag())
        }
    }
}

/// A violation that is rejected.
#[derive(Clone, Copy)]
struct Found<'m> {
    reason: SessionRejectCode,
    tag: RefTag<'m>,
    order: Option<EntryOrder>,
}

impl<'m> Found<'m> {
    fn of(violation: &Violation<'m>, before: &mut Before<'m, '_>) -> Self {
        let Violation { check, reason, tag, position, order, .. } = *violation;
        let cut = position.filter(|_| check == Check::TagSyntax).and_then(|at| cut_value(at, before));
        cut.unwrap_or(Self { reason, tag, order })
    }

    fn reject(self, behavior: &Behavior) -> Reject<'m> {
        let Self { reason, tag, order } = self;
        let reject = Reject::of(reason, Some(tag)).worded(behavior.violation_text);
        // RefMsgType names an unknown MsgType; no field is in error.
        let named = reason != SessionRejectCode::INVALID_MSG_TYPE || behavior.msg_type_tag == RefTagId::Named;
        Reject { tag: named.then_some(tag), order, ..reject }
    }
}

/// Returns whether a violation keeps the message from being split into header, body, trailer and
/// groups.
fn is_structure(message: &Message<'_>, violation: &Violation<'_>) -> bool {
    match violation.check {
        Check::DuplicateTag | Check::SectionOrder | Check::GroupOrder | Check::GroupDelimiter => true,
        // What follows the data may be a part of it.
        Check::DataLength => wrong_length(message).is_some_and(|at| violation.position == Some(at)),
        _ => false,
    }
}

/// Returns the position of the length field whose value is wrong, if that is the message's fault.
fn wrong_length(message: &Message<'_>) -> Option<usize> {
    message.fault().filter(|fault| fault.kind == FaultKind::DataLength).map(|fault| fault.field)
}

/// Test case 14k: a field without `=` is the part after a delimiter inside the value of the field
/// before it. So is one with a broken tag after a secret: RefTagID must not repeat a part of a
/// password.
fn cut_value<'m>(position: usize, before: &mut Before<'m, '_>) -> Option<Found<'m>> {
    let tag = before.tag(position)?;
    if before.message.field_bytes(position).contains(&b'=') && !before.may_be_secret(position) {
        return None;
    }
    // R-REJECT-16
    let reason = SessionRejectCode::NON_DATA_VALUE_INCLUDES_FIELD_DELIMITER;
    Some(Found { reason, tag: RefTag::Number(tag), order: None })
}

/// Returns the violation with another tag if its own may be a part of a secret, which an event must
/// not repeat.
fn without_secret<'m>(mut violation: Violation<'m>, before: &mut Before<'m, '_>) -> Violation<'m> {
    if violation.check == Check::TagSyntax
        && let Some(position) = violation.position
        && before.may_be_secret(position)
        && let Some(tag) = before.tag(position)
    {
        violation.tag = RefTag::Number(tag);
    }
    violation
}

/// What is before the fields of a message whose tags are broken. A message may consist of such
/// fields; it is searched once for all of them.
struct Before<'m, 's> {
    message: Message<'m>,
    secrets: Secrets<'s>,
    /// The places of the secrets, once they are needed.
    hidden: Option<Vec<Range<usize>>>,
    /// The last position that was asked for, and the tag before it.
    nearest: (usize, Option<u32>),
    /// The bytes and tags that were looked at.
    #[cfg(test)]
    looked_at: usize,
}

impl<'m, 's> Before<'m, 's> {
    fn new(message: &Message<'m>, secrets: Secrets<'s>) -> Self {
        Self {
            message: *message,
            secrets,
            hidden: None,
            nearest: (0, None),
            #[cfg(test)]
            looked_at: 0,
        }
    }

    /// Returns whether a field may be a part of the secret before it.
    fn may_be_secret(&mut self, position: usize) -> bool {
        let Self { message, secrets, .. } = *self;
        let start = message.span(position).end() - message.field_bytes(position).len();
        let hidden = self.hidden.get_or_insert_with(|| {
            #[cfg(test)]
            {
                self.looked_at += message.bytes().len();
            }
            secrets.in_message(message.bytes()).collect()
        });
        let at = hidden.partition_point(|range| range.end <= start);
        hidden.get(at).is_some_and(|range| range.start <= start)
    }

    /// Returns the tag of the nearest field before a position that has one.
    fn tag(&mut self, position: usize) -> Option<u32> {
        let (from, known) = if self.nearest.0 <= position { self.nearest } else { (0, None) };
        let tags = &self.message.tags()[from..position];
        #[cfg(test)]
        {
            self.looked_at += tags.len();
        }
        let found = tags.iter().rev().copied().find(|tag| *tag != 0).or(known);
        self.nearest = (position, found);
        found
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::{Frame, Framer, Index, Span, byte_sum};
    use fixbolt_dictionary::{Policy, Validator, fix44};

    use super::*;
    use crate::invariants::session;

    /// Returns an order with these fields.
    fn order(fields: &str) -> String {
        let body = format!("35=D|34=2|11=a|{fields}").replace('|', "\x01");
        let bytes = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        format!("{bytes}10={:03}\x01", byte_sum(bytes.as_bytes()))
    }

    /// Returns how many bytes and tags are looked at for what is before the broken fields of an
    /// order, and its length.
    fn looked_at(fields: &str, policy: &Policy, first: FirstViolation) -> (usize, usize) {
        let bytes = order(fields);
        let Frame::Message(framed) = Framer::new(bytes.len()).next(bytes.as_bytes()) else { panic!() };
        let (mut tags, mut spans) = (vec![0; bytes.len()], vec![Span::default(); bytes.len()]);
        let mut index = Index::new(&mut tags, &mut spans);
        let message = index.build(framed).unwrap();
        let validator = Validator::new(fix44());
        let (mut scratch, mut warned) = (validator.scratch(), Vec::new());
        let session = session();
        let mut judged = Judged::new(&message, first, &session.fixed, &mut warned);
        if let Some(places) =
            validator.for_each(&message, policy, &mut scratch, |violation| judged.judge(violation))
        {
            judged.choose(places);
        }
        assert!(judged.found.is_some() || judged.warned.len() > 100);
        (judged.before.unwrap().looked_at, bytes.len())
    }

    #[test]
    fn a_message_is_searched_once_however_many_of_its_tags_are_broken() {
        let warning = |policy: Policy| policy.with(Check::TagSyntax, Action::Warn);
        for policy in [
            Policy::standard(),
            Policy::quickfixj(),
            warning(Policy::ignoring()),
            warning(Policy::quickfix()),
        ] {
            for first in [FirstViolation::InWireOrder, FirstViolation::StructureFirst, FirstViolation::ByTag]
            {
                for (start, broken) in [("", "x=1|"), ("", "x|"), ("554=a|", "x=1|"), ("", "554=a|x=1|")] {
                    for count in [1_000, 2_000] {
                        let fields = format!("{start}{}", broken.repeat(count));
                        let (looked_at, length) = looked_at(&fields, &policy, first);
                        assert!(looked_at <= 2 * length, "{looked_at} of {length}: {count} of {broken}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_tag_before_a_field_is_found_in_any_order_of_asking() {
        let bytes = order("x=1|x=1|55=b|x=1|y=1|");
        let Frame::Message(framed) = Framer::new(100).next(bytes.as_bytes()) else { panic!() };
        let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
        let mut index = Index::new(&mut tags, &mut spans);
        let message = index.build(framed).unwrap();
        let mut before = Before::new(&message, Secrets::STANDARD);
        for (position, tag) in [(5, 11), (6, 11), (8, 55), (9, 55), (9, 55), (6, 11), (0, 0), (8, 55)] {
            assert_eq!(before.tag(position).unwrap_or(0), tag, "{position}");
        }
    }
}
