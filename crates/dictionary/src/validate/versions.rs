//! Validation over FIXT.1.1: each message against the dictionary of its own application version.
//!
//! [`ApplicationVersions`] finds the validator of a message. Validators are compiled once and may
//! be shared by sessions (`Arc<Validator>`), each of which has its own set, as Logons determine its
//! defaults.

use std::borrow::Borrow;
use std::ops::ControlFlow;

use fixbolt_codec::{DataFields, Message, Place, Tag};

use super::policy::{Action, Check, Policy};
use super::walk::Scratch;
use super::{RefTag, Validator, Violation};
use crate::application_versions::{ApplicationVersions, Direction, UnsupportedApplicationVersion};
use crate::model::in_order;

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

    /// Returns the data fields of all versions, which the index of a message must know before its
    /// version is known. Where two versions pair a length field with different data fields, the
    /// transport counts first and then the version that was added first.
    pub fn data_fields(&self) -> DataFields {
        let validators = std::iter::once(self.transport()).chain(self.applications());
        let pairs = validators.flat_map(|validator| validator.borrow().data_fields().pairs()).copied();
        // Of one length field the first pair stays.
        let mut pairs: Vec<(u32, u32)> = in_order(pairs.collect(), &|one, other| one.0.cmp(&other.0));
        pairs.dedup_by_key(|pair| pair.0);
        pairs.truncate(DataFields::CAPACITY);
        DataFields::new(&pairs)
    }

    /// Returns the first violation that the policy rejects, according to the application version of
    /// the message; warnings are skipped. `scratch` must come from
    /// [`ApplicationVersions::scratch`].
    ///
    /// An unsupported version is the only violation, of [`Check::ApplicationVersion`]; nothing else
    /// is checked.
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
                let violation = unsupported.violation(message, policy);
                violation.filter(|violation| violation.action == Action::Reject)
            }
        }
    }

    /// Calls `report` with each violation that the policy does not ignore, according to the
    /// application version of the message, until it breaks: in the order of the message, with
    /// missing fields last. An unsupported version is the only violation, of
    /// [`Check::ApplicationVersion`]. `scratch` must come from [`ApplicationVersions::scratch`].
    ///
    /// Returns the place of each field, as [`Validator::places`] does, or `None` if `report` broke
    /// or the version is unsupported.
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
                let _ = unsupported.violation(message, policy).map(&mut report);
                None
            }
        }
    }
}

impl UnsupportedApplicationVersion {
    /// Returns the violation of [`Check::ApplicationVersion`] that the message is, unless the
    /// policy ignores it.
    #[must_use]
    pub fn violation<'m>(self, message: &Message<'m>, policy: &Policy) -> Option<Violation<'m>> {
        let check = Check::ApplicationVersion;
        let action = policy.action(check);
        let position = Tag::try_new(self.ref_tag).and_then(|tag| message.position(tag));
        let tag = RefTag::Number(self.ref_tag);
        let violation = Violation { check, action, reason: self.reason(), tag, position, order: None };
        (action != Action::Ignore).then_some(violation)
    }
}
