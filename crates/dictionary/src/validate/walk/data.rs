//! Data fields and their lengths: each follows directly after its length, which is the number of
//! its bytes.

use fixbolt_codec::{DataFields, FromField, Span};

use super::{Walk, is_wrong_length};
use crate::reject_codes::SessionRejectCode as Reason;
use crate::validate::look::Word;
use crate::validate::plan::Partner;
use crate::validate::policy::Check;
use crate::validate::{RefTag, Violation};

impl Walk<'_, '_> {
    /// The index knows data fields that the dictionary may not have. Its fault is the first that it
    /// found, so a wrong length may also come after that.
    pub(super) fn unread_length(&mut self) {
        let Some(fault) = self.message.fault() else { return };
        if let Some(violation) = Violation::wrong_length(self.message, self.policy)
            && !self.met_wrong_length
        {
            self.found(violation);
        }
        let message = self.message;
        for (at, two) in message.tags().windows(2).enumerate().skip(fault.field + 1) {
            let is_unread = self.plan.slot(two[0]).is_none();
            if is_unread && DataFields::STANDARD.data_tag(two[0]) == Some(two[1]) {
                let (announced, length) = (message.value(at), message.value(at + 1).len() as u64);
                let is_number = !announced.is_empty() && announced.iter().all(u8::is_ascii_digit);
                if is_number && u64::from_field(announced).ok() != Some(length) {
                    let tag = RefTag::Number(two[0]);
                    self.raise(Check::DataLength, Reason::VALUE_IS_INCORRECT, tag, Some(at));
                }
            }
        }
    }

    /// A data field follows directly after its length, which is that of its value. What is missing
    /// is reported with its tag in the place where its partner is.
    #[cold]
    pub(super) fn data_length(&mut self, position: usize) {
        let tags = self.message.tags();
        let tag = tags[position];
        let Some(partner) = self.plan.slot(tag).and_then(|slot| self.plan.partner(slot)) else {
            return;
        };
        if self.are_together(position, partner) {
            return;
        }
        // The nearest of both fields, if it is the other one.
        let is_either = |at: &usize, wanted: u32| tags[*at] == tag || tags[*at] == wanted;
        let after = |wanted: u32| {
            let nearest = (position + 1..tags.len()).find(|at| is_either(at, wanted));
            nearest.filter(|at| tags[*at] == wanted)
        };
        let before = |wanted: u32| {
            let nearest = (0..position).rev().find(|at| is_either(at, wanted));
            nearest.filter(|at| tags[*at] == wanted)
        };
        let missing = |wanted| (Check::DataLength, Reason::REQUIRED_TAG_MISSING, wanted, None);
        let found = match partner {
            Partner::Data(data) => match after(data) {
                Some(at) => {
                    let announced = u64::from_field(self.message.value(position));
                    let is_fault = is_wrong_length(self.message, position);
                    self.met_wrong_length |= is_fault;
                    let is_wrong = match announced {
                        Ok(length) => length != self.message.value(at).len() as u64,
                        // Where lengths are of type int, -1 is a number.
                        Err(_) => is_fault || self.passes(position, tag),
                    };
                    if is_wrong {
                        // R-REJECT-10
                        Some((Check::DataLength, Reason::VALUE_IS_INCORRECT, tag, Some(position)))
                    } else if at == position + 1 {
                        None
                    } else {
                        Some((Check::DataLength, Reason::TAG_SPECIFIED_OUT_OF_REQUIRED_ORDER, data, Some(at)))
                    }
                }
                // If the data field is before it, that one was reported.
                None if before(data).is_some() => None,
                None => Some(missing(data)),
            },
            Partner::Length(length) => {
                if before(length).is_some() {
                    None
                } else if after(length).is_some() {
                    let check = if tag < length { Check::DataBeforeLength } else { Check::DataLength };
                    Some((check, Reason::TAG_SPECIFIED_OUT_OF_REQUIRED_ORDER, tag, Some(position)))
                } else {
                    Some(missing(length))
                }
            }
        };
        if let Some((check, reason, tag, at)) = found {
            self.raise(check, reason, RefTag::Number(tag), at);
        }
    }

    /// Returns whether a data field is directly after its length, which is right, as most are.
    fn are_together(&self, position: usize, partner: Partner) -> bool {
        let (message, next) = (self.message, position + 1);
        let has_length = |span: Span, length: u64| (span.end() - span.start()) as u64 == length;
        if message.fault().is_some() {
            return false;
        }
        match partner {
            Partner::Length(length) => position > 0 && message.tags()[position - 1] == length,
            Partner::Data(data) => {
                message.tags().get(next) == Some(&data)
                    && Word::of(message, position)
                        .and_then(Word::plain_number)
                        .is_some_and(|length| has_length(message.span(next), length))
            }
        }
    }

    /// Returns whether nothing was found wrong with a value by itself.
    fn passes(&self, position: usize, tag: u32) -> bool {
        let value = self.message.value(position);
        let is_right = |slot| self.plan.value_is_right(tag, slot, value, self.policy).is_ok();
        !value.is_empty() && self.plan.slot(tag).is_some_and(is_right)
    }
}
