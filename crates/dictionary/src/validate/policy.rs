//! The action for each kind of mistake: reject, warn or ignore.
//!
//! BodyLength and CheckSum are not included: a message in which they are wrong is garbled and is
//! never validated.

/// What happens when a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// The message is rejected.
    Reject = 0,
    /// The message is accepted and the violation is reported.
    Warn = 1,
    /// The check is skipped.
    Ignore = 2,
}

/// A check of validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// MsgType is in the dictionary (373=11).
    MsgType,
    /// There is a `=`, and a tag number before it (373=0).
    TagSyntax,
    /// A tag below 5000 is in the dictionary (373=0).
    UnknownTag,
    /// A tag of 5000 or more is in the dictionary (373=0). One of 5000 to 39999, the range for
    /// agreements between firms, also belongs to this message (373=2).
    UserDefinedTag,
    /// A field of the dictionary belongs to this message (373=2).
    TagNotInMessage,
    /// The field occurs once in its message or entry (373=13).
    DuplicateTag,
    /// The field has a value (373=4).
    EmptyValue,
    /// The value has the form and range of its type (373=6, 5). The value of an XID is unique in
    /// the message, and an XIDREF has the value of one.
    DataType,
    /// The value is one of the field's codes (373=5).
    EnumValue,
    /// Required fields of header, body and trailer are present (373=1).
    RequiredField,
    /// Required fields of a group's entries are present (373=1).
    RequiredInGroup,
    /// A count field has the number of entries that follow, and a required group has one (373=16).
    GroupCount,
    /// Every entry of a group begins with the group's first field (373=15).
    GroupDelimiter,
    /// The fields of an entry are in the order of the dictionary (373=15).
    GroupOrder,
    /// A group that is [read as sent](super::Validator::read_as_sent), in which [`GroupDelimiter`]
    /// expects the field that was sent first and [`GroupOrder`] expects nothing, is in the order of
    /// the dictionary even so (373=15). Reported once for each such group in a message. Every
    /// policy of this crate ignores it.
    ///
    /// [`GroupDelimiter`]: Check::GroupDelimiter
    /// [`GroupOrder`]: Check::GroupOrder
    GroupAsSent,
    /// Header, body and trailer are in this order (373=14).
    SectionOrder,
    /// A data field follows directly after its length field (373=1 with the tag of the one that is
    /// missing, 373=14 for the data field in another place), and the length is that of the value
    /// (373=5). Where it is not so, engines disagree about where the message's fields end.
    DataLength,
    /// A data field whose tag is lower than that of its length field does not precede it (373=14):
    /// engines that sort fields by tag send such pairs in that order.
    DataBeforeLength,
    /// A message over FIXT.1.1 has a supported application version (373=18); see
    /// [`ApplicationVersions`](crate::ApplicationVersions).
    ApplicationVersion,
}

impl Check {
    /// Returns the check with this name, in any case, as in configurations: `UnknownTag`.
    pub fn by_name(name: &str) -> Option<Check> {
        Check::ALL.into_iter().find(|check| check.name().eq_ignore_ascii_case(name))
    }

    /// Returns the name of the check, as in configurations: `UnknownTag`.
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
            Check::GroupAsSent => "GroupAsSent",
            Check::SectionOrder => "SectionOrder",
            Check::DataLength => "DataLength",
            Check::DataBeforeLength => "DataBeforeLength",
            Check::ApplicationVersion => "ApplicationVersion",
        }
    }

    /// All checks.
    pub const ALL: [Check; 19] = [
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
        Check::GroupAsSent,
        Check::SectionOrder,
        Check::DataLength,
        Check::DataBeforeLength,
        Check::ApplicationVersion,
    ];
}

/// Whose reading of "required" [`Check::RequiredField`] and [`Check::RequiredInGroup`] follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Requirements {
    /// The standard's: a member is required if it and every component around it are, in every entry
    /// of every group; a required group has an entry.
    Standard,
    /// QuickFIX's: of nested components only the innermost counts. The members of an entry are
    /// required only if the group itself is, and not through a component. A required group may have
    /// no entry, and one that a file wraps in a component is required only if it is also required
    /// inside.
    QuickFix,
    /// QuickFIX/J's: as QuickFIX's, except that the members of an entry are also required through a
    /// component.
    QuickFixJ,
}

/// How strict [`Check::DataType`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeRules {
    /// Every type according to its lexical rule.
    Standard,
    /// As in QuickFIX and QuickFIX/J: times and timestamps with a time zone, local times and dates,
    /// months, days of a month, tenors, countries, currencies, languages, tags and lists are not
    /// checked; sequence numbers and lengths may be any whole number.
    QuickFix,
}

/// Which codes [`Check::EnumValue`] accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CodeRules {
    /// The codes of the dictionary.
    Standard,
    /// The codes of the dictionary, and codes that earlier versions had and that many engines still
    /// send: ExecType (150) 1 and 2, which FIX.4.3 replaced by F, and OrdStatus (39) 5.
    WithFormer,
}

impl CodeRules {
    /// Returns whether a value that is not one of the dictionary's codes is accepted.
    #[cold]
    pub(crate) const fn accepts(self, tag: u32, value: &[u8]) -> bool {
        match self {
            CodeRules::Standard => false,
            CodeRules::WithFormer => matches!((tag, value), (150, b"1" | b"2") | (39, b"5")),
        }
    }
}

/// An [`Action`] for each [`Check`].
///
/// ```
/// use fixbolt_dictionary::{Action, Check, Policy};
/// let policy = Policy::standard().with(Check::UnknownTag, Action::Warn);
/// assert_eq!(policy.action(Check::UnknownTag), Action::Warn);
/// assert_eq!(policy.action(Check::EmptyValue), Action::Reject);
/// ```
#[derive(Debug, Clone, Copy, Eq)]
pub struct Policy {
    /// Two bits per check: policies are compared for every message.
    actions: u64,
    requirements: Requirements,
    type_rules: TypeRules,
    code_rules: CodeRules,
    /// Whether any check is made, and any of values.
    looks: bool,
    checks_values: bool,
}

impl Policy {
    /// Rejects everything that the standard rejects.
    pub const fn standard() -> Policy {
        Policy {
            actions: (Action::Ignore as u64) << (2 * Check::GroupAsSent as u32),
            requirements: Requirements::Standard,
            type_rules: TypeRules::Standard,
            code_rules: CodeRules::Standard,
            looks: true,
            checks_values: true,
        }
    }

    /// Checks what QuickFIX C++ checks with its default settings: the order of fields in an entry
    /// is free after the first one, and requirements and types are less strict. In addition, the
    /// lengths of data fields are checked, which QuickFIX trusts; that a data field precedes its
    /// length because it has the lower tag, as QuickFIX itself sends it, is only warned of.
    pub const fn quickfix() -> Policy {
        Policy {
            requirements: Requirements::QuickFix,
            type_rules: TypeRules::QuickFix,
            code_rules: CodeRules::Standard,
            ..Policy::quickfixj().with(Check::GroupOrder, Action::Ignore)
        }
    }

    /// Checks what QuickFIX/J checks with its default settings and dictionaries: as
    /// [`Policy::quickfix`], except that the fields of an entry must be in order, and that
    /// [former codes](CodeRules::WithFormer) are accepted.
    pub const fn quickfixj() -> Policy {
        Policy {
            requirements: Requirements::QuickFixJ,
            type_rules: TypeRules::QuickFix,
            code_rules: CodeRules::WithFormer,
            ..Policy::standard().with(Check::DataBeforeLength, Action::Warn)
        }
    }

    /// Checks what [`Policy::quickfixj`] checks, but only warns of it, so that an ExecutionReport
    /// reaches the application whatever is wrong with its body: a fill that is rejected is still
    /// a fill. Rejected are a MsgType that the dictionary does not have, an application version
    /// that is not supported, and a data field whose length is wrong, since engines disagree about
    /// where the fields of such a message end.
    ///
    /// ```
    /// use fixbolt_dictionary::{Action, Check, Policy};
    /// assert_eq!(Policy::tolerant().action(Check::RequiredField), Action::Warn);
    /// assert_eq!(Policy::tolerant().action(Check::DataLength), Action::Reject);
    /// ```
    pub const fn tolerant() -> Policy {
        let mut policy = Policy::quickfixj();
        let mut at = 0;
        while at < Check::ALL.len() {
            let check = Check::ALL[at];
            let rejects = matches!(policy.action(check), Action::Reject);
            if rejects && !matches!(check, Check::MsgType | Check::ApplicationVersion | Check::DataLength) {
                policy = policy.with(check, Action::Warn);
            }
            at += 1;
        }
        policy
    }

    /// Checks nothing.
    pub const fn ignoring() -> Policy {
        let actions = Action::Ignore as u64 * 0x5555_5555_5555_5555;
        Policy { actions, looks: false, checks_values: false, ..Policy::standard() }
    }

    /// Sets the action for a check.
    #[must_use]
    pub const fn with(mut self, check: Check, action: Action) -> Policy {
        let place = 2 * check as u32;
        self.actions = self.actions & !(3 << place) | (action as u64) << place;
        self.looks = false;
        let mut at = 0;
        while at < Check::ALL.len() {
            if self.makes(Check::ALL[at]) {
                self.looks = true;
            }
            at += 1;
        }
        self.checks_values =
            self.makes(Check::EmptyValue) || self.makes(Check::DataType) || self.makes(Check::EnumValue);
        self
    }

    /// Sets the reading of what is required.
    #[must_use]
    pub const fn with_requirements(mut self, requirements: Requirements) -> Policy {
        self.requirements = requirements;
        self
    }

    /// Sets the type rules.
    #[must_use]
    pub const fn with_type_rules(mut self, type_rules: TypeRules) -> Policy {
        self.type_rules = type_rules;
        self
    }

    /// Sets the code rules.
    #[must_use]
    pub const fn with_code_rules(mut self, code_rules: CodeRules) -> Policy {
        self.code_rules = code_rules;
        self
    }

    /// Returns the action for `check`.
    #[inline]
    pub const fn action(&self, check: Check) -> Action {
        match self.actions >> (2 * check as u32) & 3 {
            0 => Action::Reject,
            1 => Action::Warn,
            _ => Action::Ignore,
        }
    }

    /// Returns whether `check` is made.
    #[inline]
    pub(crate) const fn makes(&self, check: Check) -> bool {
        !matches!(self.action(check), Action::Ignore)
    }

    /// Returns whether any check is made.
    #[inline]
    pub(crate) const fn looks(&self) -> bool {
        self.looks
    }

    /// Returns whether any check of values is made.
    #[inline]
    pub(crate) const fn checks_values(&self) -> bool {
        self.checks_values
    }

    /// Returns whose reading of "required" is followed.
    #[inline]
    pub const fn requirements(&self) -> Requirements {
        self.requirements
    }

    /// Returns how strictly types are checked.
    pub const fn type_rules(&self) -> TypeRules {
        self.type_rules
    }

    /// Returns which codes are accepted.
    pub const fn code_rules(&self) -> CodeRules {
        self.code_rules
    }
}

/// What follows from the actions is not compared: policies are compared for every message.
impl PartialEq for Policy {
    #[inline]
    fn eq(&self, other: &Policy) -> bool {
        let parts = |policy: &Policy| (policy.requirements, policy.type_rules, policy.code_rules);
        self.actions == other.actions && parts(self) == parts(other)
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
    fn a_policy_knows_whether_it_looks() {
        assert!(!Policy::ignoring().looks());
        let values = Policy::ignoring().with(Check::DataType, Action::Warn);
        assert!(values.looks());
        assert!(!values.with(Check::DataType, Action::Ignore).looks());
        for policy in [Policy::standard(), Policy::quickfix(), Policy::quickfixj(), Policy::tolerant()] {
            assert!(policy.looks());
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
