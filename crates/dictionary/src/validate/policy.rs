//! What to do about each thing that can be wrong: reject, warn or ignore.
//!
//! BodyLength and CheckSum are not here: a message that fails them is garbled and never reaches validation.

/// What happens when a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The message is rejected.
    Reject = 0,
    /// The message passes; the violation is reported.
    Warn = 1,
    /// The check is not made.
    Ignore = 2,
}

/// One thing that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// MsgType is in the dictionary (373=11).
    MsgType,
    /// What stands before `=` is a tag number, and there is a `=` (373=0).
    TagSyntax,
    /// A tag below 5000 is in the dictionary (373=0).
    UnknownTag,
    /// A tag of 5000 and more is in the dictionary (373=0); one of 5000 to 39999, the range of agreements between firms, belongs
    /// to this message too (373=2).
    UserDefinedTag,
    /// A field of the dictionary belongs to this message (373=2).
    TagNotInMessage,
    /// The field comes once in its surroundings (373=13).
    DuplicateTag,
    /// The field has a value (373=4).
    EmptyValue,
    /// The value has the form and range of its type (373=6, 5). An XID is the only one of its value in the message, and an XIDREF
    /// is the value of one.
    DataType,
    /// The value is one of the field's codes (373=5).
    EnumValue,
    /// Required fields of header, body and trailer are there (373=1).
    RequiredField,
    /// Required fields of a group's entry are there (373=1).
    RequiredInGroup,
    /// A count field counts the entries that follow; a required group has one (373=16).
    GroupCount,
    /// Every entry of a group begins with the group's first field (373=15).
    GroupDelimiter,
    /// The fields of an entry come in the dictionary's order (373=15).
    GroupOrder,
    /// Header comes before body before trailer (373=14).
    SectionOrder,
    /// A message over FIXT.1.1 is of an application version that is there (373=18); see
    /// [`ApplicationVersions`](crate::ApplicationVersions).
    ApplicationVersion,
}

impl Check {
    /// The check called `name` in any case, as configurations write it: `UnknownTag`.
    pub fn by_name(name: &str) -> Option<Check> {
        Check::ALL.into_iter().find(|check| check.name().eq_ignore_ascii_case(name))
    }

    /// The check's name, as configurations write it.
    pub const fn name(self) -> &'static str {
        match self {
            Check::MsgType => "MsgType",
            Check::TagSyntax => "TagSyntax",
            Check::UnknownTag => "UnknownTag",
            Check::UserDefinedTag => "UserDefinedTag",
            Check::TagNotInMessage => "TagNotInMessage",
            Check::DuplicateTag => "DuplicateTag",
            Check::EmptyValue => "EmptyValue",
            Check::DataType => "DataType",
            Check::EnumValue => "EnumValue",
            Check::RequiredField => "RequiredField",
            Check::RequiredInGroup => "RequiredInGroup",
            Check::GroupCount => "GroupCount",
            Check::GroupDelimiter => "GroupDelimiter",
            Check::GroupOrder => "GroupOrder",
            Check::SectionOrder => "SectionOrder",
            Check::ApplicationVersion => "ApplicationVersion",
        }
    }

    /// Whether the check is about where a field stands, and not about the field alone.
    const fn needs_places(self) -> bool {
        !matches!(
            self,
            Check::MsgType
                | Check::TagSyntax
                | Check::UnknownTag
                | Check::EmptyValue
                | Check::DataType
                | Check::EnumValue
                | Check::ApplicationVersion
        )
    }

    /// All checks.
    pub const ALL: [Check; 16] = [
        Check::MsgType,
        Check::TagSyntax,
        Check::UnknownTag,
        Check::UserDefinedTag,
        Check::TagNotInMessage,
        Check::DuplicateTag,
        Check::EmptyValue,
        Check::DataType,
        Check::EnumValue,
        Check::RequiredField,
        Check::RequiredInGroup,
        Check::GroupCount,
        Check::GroupDelimiter,
        Check::GroupOrder,
        Check::SectionOrder,
        Check::ApplicationVersion,
    ];
}

/// Whose reading of "required" [`Check::RequiredField`] and [`Check::RequiredInGroup`] follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Requirements {
    /// The standard's: a member is required where it and every component around it are, in every entry of every group; a
    /// required group has an entry.
    Standard,
    /// QuickFIX's: of nested components only the innermost counts; an entry's members are required only where the group itself
    /// is, and not through a component; a required group may have no entry; one that a file wraps in a component is required
    /// only if it is so inside as well.
    QuickFix,
    /// QuickFIX/J's: as QuickFIX's, but an entry's members are required through a component as well.
    QuickFixJ,
}

/// How strict [`Check::DataType`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypeRules {
    /// Every type by its lexical rule.
    Standard,
    /// As QuickFIX and QuickFIX/J: no check of time zones, local times and dates, months, days, countries, currencies, exchanges, languages,
    /// tags, XML and lists; sequence numbers and lengths are any whole numbers.
    QuickFix,
}

/// An [`Action`] for each [`Check`].
///
/// ```
/// use fixbolt_dictionary::{Action, Check, Policy};
/// let policy = Policy::standard().with(Check::UnknownTag, Action::Warn);
/// assert_eq!(policy.action(Check::UnknownTag), Action::Warn);
/// assert_eq!(policy.action(Check::EmptyValue), Action::Reject);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Two bits a check: policies are compared for every message.
    actions: u32,
    requirements: Requirements,
    type_rules: TypeRules,
    /// Whether any check is made, and whether one that has to know where each field stands.
    looks: bool,
    places: bool,
}

impl Policy {
    /// Rejects everything that the standard rejects.
    pub const fn standard() -> Policy {
        Policy {
            actions: 0,
            requirements: Requirements::Standard,
            type_rules: TypeRules::Standard,
            looks: true,
            places: true,
        }
    }

    /// Checks what QuickFIX C++ checks with its default settings: the order of fields within an entry is free after the first,
    /// and requirements and types are looser.
    pub const fn quickfix() -> Policy {
        Policy {
            requirements: Requirements::QuickFix,
            type_rules: TypeRules::QuickFix,
            ..Policy::standard().with(Check::GroupOrder, Action::Ignore)
        }
    }

    /// Checks what QuickFIX/J checks with its default settings: as [`Policy::quickfix`], but fields of an entry come in order.
    pub const fn quickfixj() -> Policy {
        Policy {
            requirements: Requirements::QuickFixJ,
            type_rules: TypeRules::QuickFix,
            ..Policy::standard()
        }
    }

    /// Checks nothing.
    pub const fn ignoring() -> Policy {
        let actions = Action::Ignore as u32 * 0x5555_5555;
        Policy { actions, looks: false, places: false, ..Policy::standard() }
    }

    /// The same policy with another action for one check.
    #[must_use]
    pub const fn with(mut self, check: Check, action: Action) -> Policy {
        let place = 2 * check as u32;
        self.actions = self.actions & !(3 << place) | (action as u32) << place;
        (self.looks, self.places) = (false, false);
        let mut at = 0;
        while at < Check::ALL.len() {
            if self.makes(Check::ALL[at]) {
                self.looks = true;
                self.places |= Check::ALL[at].needs_places();
            }
            at += 1;
        }
        self
    }

    /// The same policy with another reading of what is required.
    #[must_use]
    pub const fn with_requirements(mut self, requirements: Requirements) -> Policy {
        self.requirements = requirements;
        self
    }

    /// The same policy with other type rules.
    #[must_use]
    pub const fn with_type_rules(mut self, type_rules: TypeRules) -> Policy {
        self.type_rules = type_rules;
        self
    }

    /// What happens when `check` fails.
    #[inline]
    pub const fn action(&self, check: Check) -> Action {
        match self.actions >> (2 * check as u32) & 3 {
            0 => Action::Reject,
            1 => Action::Warn,
            _ => Action::Ignore,
        }
    }

    /// Whether `check` is made at all.
    #[inline]
    pub(crate) const fn makes(&self, check: Check) -> bool {
        !matches!(self.action(check), Action::Ignore)
    }

    /// Whether any check is made.
    #[inline]
    pub(crate) const fn looks(&self) -> bool {
        self.looks
    }

    /// Whether a check is made that has to know where each field stands.
    #[inline]
    pub(crate) const fn needs_places(&self) -> bool {
        self.places
    }

    /// Whose reading of "required" is followed.
    #[inline]
    pub const fn requirements(&self) -> Requirements {
        self.requirements
    }

    /// How strict types are.
    pub const fn type_rules(&self) -> TypeRules {
        self.type_rules
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::standard()
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Check, Policy};

    #[test]
    fn a_policy_knows_whether_it_looks_and_whether_places_matter() {
        let told = |policy: Policy| (policy.looks(), policy.needs_places());
        assert_eq!(told(Policy::ignoring()), (false, false));
        let values = Policy::ignoring().with(Check::DataType, Action::Warn);
        assert_eq!(told(values), (true, false));
        assert_eq!(told(values.with(Check::GroupCount, Action::Reject)), (true, true));
        assert_eq!(told(values.with(Check::DataType, Action::Ignore)), (false, false));
        for policy in [Policy::standard(), Policy::quickfix(), Policy::quickfixj()] {
            assert_eq!(told(policy), (true, true));
        }
    }

    #[test]
    fn each_check_has_an_action_of_its_own() {
        for check in Check::ALL {
            for action in [Action::Reject, Action::Warn, Action::Ignore] {
                for policy in [Policy::standard(), Policy::ignoring()] {
                    let changed = policy.with(Check::MsgType, Action::Warn).with(check, action);
                    let others =
                        Check::ALL.into_iter().filter(|other| ![check, Check::MsgType].contains(other));
                    assert_eq!(changed.action(check), action);
                    assert!(others.into_iter().all(|other| changed.action(other) == policy.action(other)));
                }
            }
        }
    }

    #[test]
    fn the_list_of_checks_is_complete_and_in_order() {
        for (at, check) in Check::ALL.into_iter().enumerate() {
            assert_eq!(check as usize, at);
            assert_eq!(
                (check.name(), Check::by_name(&check.name().to_lowercase())),
                (&*format!("{check:?}"), Some(check))
            );
        }
    }
}
