//! Validation over FIXT.1.1: each message against the dictionary of its own application version.
//!
//! [`ApplicationVersions`] finds the validator of a message. Validators are compiled once and may
//! be shared by sessions (`Arc<Validator>`), each of which has its own set, as Logons determine its
//! defaults.

use std::borrow::Borrow;
use std::ops::ControlFlow;

use fixbolt_codec::{Message, Place, Tag};

use super::policy::{Action, Check, Policy};
use super::reason::SessionRejectReason;
use super::walk::Scratch;
use super::{RefTag, Validator, Violation};
use crate::application_versions::{ApplicationVersions, Direction};

/// ```
/// use fixbolt_dictionary::{ApplicationVersion, DictionarySet, fix44, fix50sp2, fixt11};
///
/// let versions = DictionarySet::new(fixt11().clone())?
///     .with(ApplicationVersion::new("9"), fix50sp2())?
///     .with(ApplicationVersion::new("6"), fix44())?
///     .with_default(ApplicationVersion::new("9"))
///     .expect("9 was added")
///     .validators();
/// let mut scratch = versions.scratch(); // serves all of them
/// # let _ = &mut scratch;
/// # Ok::<(), fixbolt_dictionary::TransportMismatch>(())
/// ```
impl<V: Borrow<Validator>> ApplicationVersions<V> {
    /// Returns the memory for checking, sufficient for every version.
    pub fn scratch(&self) -> Scratch {
        let mut scratch = self.transport().borrow().scratch();
        for validator in self.applications() {
            scratch.grow_to(&validator.borrow().scratch());
        }
        scratch
    }

    /// Does the same as [`Validator::first_reject`] with the version of the message. An unsupported
    /// version is the only violation, of [`Check::ApplicationVersion`]; nothing else is checked.
    pub fn first_reject<'m>(
        &self,
        message: &Message<'m>,
        direction: Direction,
        policy: &Policy,
        scratch: &mut Scratch,
    ) -> Option<Violation<'m>> {
        match self.choose(message, direction) {
            Ok(chosen) => chosen.value.borrow().first_reject(message, policy, scratch),
            Err(unsupported) => {
                let violation = not_supported(message, unsupported.ref_tag, policy);
                violation.filter(|violation| violation.action == Action::Reject)
            }
        }
    }

    /// Does the same as [`Validator::for_each`] with the version of the message; see
    /// [`ApplicationVersions::first_reject`]. Of an unsupported version there are no places.
    pub fn for_each<'m, 's>(
        &self,
        message: &Message<'m>,
        direction: Direction,
        policy: &Policy,
        scratch: &'s mut Scratch,
        mut report: impl FnMut(Violation<'m>) -> ControlFlow<()>,
    ) -> Option<&'s [Place]> {
        match self.choose(message, direction) {
            Ok(chosen) => chosen.value.borrow().for_each(message, policy, scratch, report),
            Err(unsupported) => {
                let _ = not_supported(message, unsupported.ref_tag, policy).map(&mut report);
                None
            }
        }
    }
}

fn not_supported<'m>(message: &Message<'m>, tag: u32, policy: &Policy) -> Option<Violation<'m>> {
    let check = Check::ApplicationVersion;
    let action = policy.action(check);
    let position = Tag::try_new(tag).and_then(|tag| message.position(tag));
    let reason = SessionRejectReason::InvalidApplicationVersion;
    let violation = Violation { check, action, reason, tag: RefTag::Number(tag), position };
    (action != Action::Ignore).then_some(violation)
}
