//! Checks what the application sends against the session's dictionary, before the message gets its
//! sequence number. Each session can turn this on.

use core::ops::ControlFlow;

use fixbolt_codec::{DataFields, SeqNum};
use fixbolt_dictionary::{Action, Check, Direction, Policy, RefTag, Scratch, SessionRejectCode, Violation};

use crate::events::error::SendError;
use crate::settings::dictionaries::Dictionaries;
use crate::store::stored_message::{FieldStorage, with_message};

/// What a session needs to check what its application sends.
#[derive(Debug)]
pub(crate) struct OutboundCheck {
    policy: Policy,
    fields: FieldStorage,
    /// Warnings of the open transaction, reported when it is committed.
    warned: Vec<(SeqNum, Violation<'static>)>,
}

impl OutboundCheck {
    /// Prepares for messages of up to `max_message_size` bytes.
    pub(crate) fn new(policy: Policy, max_message_size: usize) -> Self {
        // No field is shorter than four bytes.
        let fields = FieldStorage::new(max_message_size / 4 + 1);
        Self { policy, fields, warned: Vec::with_capacity(16) }
    }

    /// Checks a whole message that is about to get its sequence number, or to wait for it: what the
    /// policy only warns of is not told then, but once it gets it.
    ///
    /// # Errors
    /// Returns [`SendError::Invalid`] with the first violation that the policy rejects.
    pub(crate) fn check(
        &mut self,
        seq: Option<SeqNum>,
        bytes: &[u8],
        data_fields: &DataFields,
        dictionaries: &Dictionaries,
        scratch: &mut Scratch,
    ) -> Result<(), SendError> {
        let Self { policy, fields, warned } = self;
        let before = warned.len();
        let told_as = seq.unwrap_or(SeqNum::ZERO);
        let checked = with_message(bytes, Direction::Outbound, data_fields, fields, |mut message, _| {
            let mut refused = Ok(());
            let validator = match dictionaries.of(&mut message, Direction::Outbound) {
                Ok(Some(validator)) => validator,
                Ok(None) => return refused,
                Err(unsupported) => {
                    return match unsupported.violation(&message, policy) {
                        Some(violation) if violation.action == Action::Warn => {
                            warned.push((told_as, violation.into_owned()));
                            Ok(())
                        }
                        Some(Violation { check, reason, .. }) => {
                            Err(SendError::Invalid { check, reason, tag: unsupported.ref_tag, order: None })
                        }
                        None => Ok(()),
                    };
                }
            };
            validator.for_each(&message, policy, scratch, |violation| {
                if violation.action == Action::Warn {
                    warned.push((told_as, violation.into_owned()));
                    return ControlFlow::Continue(());
                }
                let Violation { check, reason, order, .. } = violation;
                // A writer accepts no other tags.
                let tag = match violation.tag {
                    RefTag::Number(tag) => tag,
                    RefTag::AsSent(_) => 0,
                };
                refused = Err(SendError::Invalid { check, reason, tag, order });
                ControlFlow::Break(())
            });
            refused
        });
        let reason = SessionRejectCode::OTHER;
        let unreadable = SendError::Invalid { check: Check::TagSyntax, reason, tag: 0, order: None };
        let result = checked.unwrap_or(Err(unreadable));
        if result.is_err() || seq.is_none() {
            warned.truncate(before);
        }
        result
    }

    /// Drops the warnings of a transaction that is rolled back.
    pub(crate) fn forget(&mut self) {
        self.warned.clear();
    }

    /// Takes the warnings of the transaction that was committed.
    pub(crate) fn take_warnings(&mut self) -> Vec<(SeqNum, Violation<'static>)> {
        core::mem::take(&mut self.warned)
    }

    /// Returns whether there are any warnings.
    pub(crate) const fn has_warnings(&self) -> bool {
        !self.warned.is_empty()
    }
}
