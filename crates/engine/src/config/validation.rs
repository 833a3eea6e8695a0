//! What is checked of messages, in each direction: the switches of QuickFIX and QuickFIX/J, and one key a check.
//!
//! docs/validation.md has every key and what it sets.

use fixbolt_dictionary::{Action, Check, Policy};
use fixbolt_session::Compatibility;

use super::error::ConfigError;
use super::value::{Settings, contradicts};

/// Reaction to each kind of violation, by direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Validation {
    /// What is checked of messages that come in; `None` with UseDataDictionary=N or ValidateIncomingMessage=N.
    pub incoming: Option<Policy>,
    /// What is checked of messages that the application sends; `None` unless ValidateOutgoingMessage=Y.
    pub outgoing: Option<Policy>,
}

macro_rules! one_key_a_check {
    ($direction:literal) => {
        one_key_a_check!($direction: MsgType TagSyntax UnknownTag UserDefinedTag TagNotInMessage DuplicateTag EmptyValue
            DataType EnumValue RequiredField RequiredInGroup GroupCount GroupDelimiter GroupOrder SectionOrder)
    };
    ($direction:literal: $($check:ident)+) => {
        [$((Check::$check, concat!($direction, ".", stringify!($check)))),+]
    };
}

/// Checks of messages that come in, and the key of each.
pub(super) static INCOMING: [(Check, &str); 15] = one_key_a_check!("Incoming");
/// Checks of messages that go out, and the key of each.
pub(super) static OUTGOING: [(Check, &str); 15] = one_key_a_check!("Outgoing");

const ACTIONS: [(&str, Action); 3] =
    [("reject", Action::Reject), ("warn", Action::Warn), ("ignore", Action::Ignore)];

/// QuickFIX's switches that are on by default, and what is not checked when one is off.
const SWITCHES: [(&str, Check); 4] = [
    ("ValidateFieldsOutOfOrder", Check::SectionOrder),
    ("ValidateFieldsHaveValues", Check::EmptyValue),
    ("ValidateUserDefinedFields", Check::UserDefinedTag),
    ("ValidateUnorderedGroupFields", Check::GroupOrder),
];

/// Permissions that are not given by default, and what is not checked when one is.
const PERMISSIONS: [(&str, &[Check]); 2] = [
    ("AllowUnknownMsgFields", &[Check::UnknownTag, Check::TagNotInMessage]),
    ("AllowUnknownEnumValues", &[Check::EnumValue]),
];

impl Validation {
    pub(super) fn read(settings: &Settings<'_>, compatibility: Compatibility) -> Result<Self, ConfigError> {
        let use_data_dictionary = settings.flag("UseDataDictionary", true)?;
        let validates_incoming = settings.flag("ValidateIncomingMessage", true)?;
        let validates_outgoing = settings.flag("ValidateOutgoingMessage", false)?;
        let incoming = directed(settings, switched(settings, compatibility)?, &INCOMING)?;
        // What we send is to be right whatever we take.
        let outgoing = directed(settings, Policy::standard(), &OUTGOING)?;
        if let (false, true, Some(setting)) =
            (use_data_dictionary, validates_outgoing, settings.find_own("ValidateOutgoingMessage"))
        {
            let reason = "ValidateOutgoingMessage=Y needs a dictionary, but UseDataDictionary=N has none";
            return Err(contradicts(setting, reason));
        }
        if !(use_data_dictionary && validates_incoming) {
            never_looked_at(settings, &INCOMING, "messages that come in are not validated")?;
        }
        if !(use_data_dictionary && validates_outgoing) {
            never_looked_at(settings, &OUTGOING, "only ValidateOutgoingMessage=Y validates what is sent")?;
        }
        Ok(Self {
            incoming: (use_data_dictionary && validates_incoming).then_some(incoming),
            outgoing: (use_data_dictionary && validates_outgoing).then_some(outgoing),
        })
    }
}

/// The policy that the switches of QuickFIX and QuickFIX/J make.
fn switched(settings: &Settings<'_>, compatibility: Compatibility) -> Result<Policy, ConfigError> {
    let mut policy = match compatibility {
        Compatibility::Standard => Policy::standard(),
        Compatibility::QuickFix => Policy::quickfix(),
        Compatibility::QuickFixJ => Policy::quickfixj(),
    };
    for (key, check) in SWITCHES {
        match settings.optional_flag(key)? {
            Some(true) => policy = policy.with(check, Action::Reject),
            Some(false) => policy = policy.with(check, Action::Ignore),
            None => {}
        }
    }
    for (key, checks) in PERMISSIONS {
        if settings.flag(key, false)? {
            policy = checks.iter().fold(policy, |policy, check| policy.with(*check, Action::Ignore));
        }
    }
    if !settings.flag("RejectInvalidMessage", true)? {
        for (check, _) in INCOMING {
            if policy.action(check) == Action::Reject {
                policy = policy.with(check, Action::Warn);
            }
        }
    }
    Ok(policy)
}

/// The same policy with what the key of each check says.
fn directed(settings: &Settings<'_>, policy: Policy, keys: &[(Check, &str)]) -> Result<Policy, ConfigError> {
    keys.iter().try_fold(policy, |policy, (check, key)| {
        let action = settings.choice(key, &ACTIONS)?;
        Ok(action.map_or(policy, |action| policy.with(*check, action)))
    })
}

/// A check that the session's own section sets and that is never made.
fn never_looked_at(settings: &Settings<'_>, keys: &[(Check, &str)], why: &str) -> Result<(), ConfigError> {
    match keys.iter().find_map(|(_, key)| settings.find_own(key)) {
        Some(setting) => Err(contradicts(setting, format!("{} is set, but {why}", setting.key))),
        None => Ok(()),
    }
}
