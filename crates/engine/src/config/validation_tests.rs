//! The page about validation: one row per key, and a test of what each row says.

use fixbolt_codec::{Frame, Framer, Index, Span};
use fixbolt_dictionary::{Action, Check, Policy, Validator, fix44};
use fixbolt_session::{Compatibility, SessionDictionary};

use super::*;

const PAGE: &str = include_str!("../../docs/validation.md");

/// The test of a row.
enum Case {
    /// A FIX.4.4 message, from MsgType on, that is rejected by default and passes with what the row
    /// sets.
    Passes(&'static str),
    /// The session differs, but checks messages the same way.
    ChangesTheSession,
    /// A warning says that it has no effect.
    IsWarnedAbout,
    /// A warning says that it is for sessions of FIXT.1.1.
    IsForFixt,
    StopsTheStart,
}

use Case::{ChangesTheSession, IsForFixt, IsWarnedAbout, Passes, StopsTheStart};

const CASES: [(&str, Case); 33] = [
    ("UseDataDictionary", Passes("35=0|HEADER|999=x|")),
    ("DataDictionary", StopsTheStart),
    ("TransportDataDictionary", IsForFixt),
    ("AppDataDictionary", IsForFixt),
    ("AppDataDictionary.FIX.5.0SP2", IsForFixt),
    ("DefaultApplVerID", IsForFixt),
    ("ValidateLengthAndChecksum", ChangesTheSession),
    ("ValidateChecksum", ChangesTheSession),
    ("ValidateSequenceNumbers", StopsTheStart),
    ("RejectGarbledMessage", ChangesTheSession),
    ("ValidateFieldsOutOfOrder", Passes("35=0|HEADER|112=x|50=late|")),
    ("ValidateFieldsHaveValues", Passes("35=0|HEADER|112=|")),
    ("ValidateUserDefinedFields", Passes("35=0|HEADER|6000=x|")),
    ("AllowUnknownMsgFields", Passes("35=0|HEADER|999=x|55=IBM|")),
    ("ValidateUnorderedGroupFields", Passes("ORDER|453=1|448=ME|452=1|447=D|")),
    ("FirstFieldInGroupIsDelimiter", IsWarnedAbout),
    ("AllowUnknownEnumValues", Passes("35=A|HEADER|98=77|108=30|")),
    ("ValidateIncomingMessage", Passes("35=0|HEADER|999=x|")),
    ("RejectInvalidMessage", Passes("35=A|HEADER|98=77|108=x|999=x|")),
    ("PreserveMessageFieldsOrder", IsWarnedAbout),
    ("CheckCompID", ChangesTheSession),
    ("CheckLatency", ChangesTheSession),
    ("MaxLatency", ChangesTheSession),
    ("RequiresOrigSendingTime", ChangesTheSession),
    ("AllowPosDup", ChangesTheSession),
    ("MessageMustBeValidated", Passes("35=1|HEADER|")),
    ("Validation.CheckRequiredGroupFields", Passes("35=E|HEADER|66=L|394=1|68=1|73=1|11=ID|54=1|")),
    ("Validation.VerifyTagsValues", Passes("35=A|HEADER|98=77|108=x|")),
    ("Validation.ProhibitTagsWithoutValue", Passes("35=0|HEADER|112=|")),
    ("ProhibitUnknownTags", Passes("35=0|HEADER|999=x|6000=x|55=IBM|")),
    ("IgnoreUnknownFields", Passes("35=0|HEADER|999=x|6000=x|55=IBM|")),
    ("CheckDuplicateTags", Passes("35=0|HEADER|112=x|112=y|")),
    ("VerifyRepeatingGroupBounds", Passes("ORDER|453=5|447=D|448=ME|452=1|447=D|")),
];

const SESSION: &str = "[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nSocketAcceptPort=0\n";

fn read(lines: &str) -> Result<Configuration, ConfigErrors> {
    Configuration::from_text("a.cfg", &format!("{SESSION}{lines}\n"))
}

fn one(lines: &str) -> SessionConfiguration {
    read(lines).unwrap_or_else(|error| panic!("{lines}: {error}")).sessions.remove(0)
}

/// A row of the second table.
struct Row<'p> {
    key: &'p str,
    engine: &'p str,
    value: &'p str,
    here: &'p str,
}

impl Row<'_> {
    /// What the last column says to write.
    fn lines(&self) -> String {
        let quoted = self.here.split('`').skip(1).step_by(2);
        quoted.filter(|part| part.contains('=')).fold(String::new(), |lines, line| {
            let every = line.strip_prefix("Incoming.CHECK=");
            match every {
                // Every check that rejects by default.
                Some(action) => Check::ALL
                    .into_iter()
                    .filter(|check| Policy::standard().action(*check) == Action::Reject)
                    .fold(lines, |lines, check| format!("{lines}Incoming.{}={action}\n", check.name())),
                None => format!("{lines}{line}\n"),
            }
        })
    }
}

fn rows() -> Vec<Row<'static>> {
    let (_, table) = PAGE.split_once("## Keys of other engines").expect("the page has the table");
    let row = |line: &'static str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let mut next = || cells.next().expect("a row has five cells");
        let (key, engine, _default, value, here) = (next(), next(), next(), next(), next());
        Row { key: key.trim_matches('`'), engine, value: value.trim_matches('`'), here }
    };
    table.lines().filter(|line| line.starts_with("| `")).map(row).collect()
}

/// Returns whether FIX.4.4 messages of this kind pass the session's checks.
fn passes(fields: &str, policy: Policy) -> bool {
    passes_by(&Validator::new(fix44()), fields, policy)
}

fn passes_by(validator: &Validator, fields: &str, policy: Policy) -> bool {
    reason_by(validator, "FIX.4.4", fields, policy).is_none()
}

/// Returns the reason for which a message is rejected.
fn reason_by(validator: &Validator, begin_string: &str, fields: &str, policy: Policy) -> Option<u16> {
    let fields = fields
        .replace("ORDER", "35=D|HEADER|11=ID|55=IBM|54=1|60=20261121-09:00:00|38=100|40=2|44=57.00")
        .replace("HEADER", "49=A|56=B|34=2|52=20261121-09:00:00");
    let bytes = fixbolt_conformance::testing::message(begin_string, &fields);
    let Frame::Message(framed) = Framer::new(4096).next(&bytes) else { panic!("it is complete") };
    let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
    let mut index = Index::new(&mut tags, &mut spans);
    let mut scratch = validator.scratch();
    let found = validator.first_reject(&index.build(framed).expect("it is right"), &policy, &mut scratch);
    found.map(|violation| violation.reason.value())
}

#[test]
fn every_key_of_the_page_does_what_its_row_says() {
    let rows = rows();
    for (key, _) in &CASES {
        assert_eq!(rows.iter().filter(|row| row.key == *key).count(), 1, "rows of {key}");
    }
    let default = one("");
    for row in rows {
        let (key, said) = (row.key, format!("{}={}", row.key, row.value));
        let case = CASES.iter().find(|(name, _)| *name == key);
        let (_, case) = case.unwrap_or_else(|| panic!("the row of {key} is not tried out"));
        let (lines, understood) = (row.lines(), row.engine.starts_with("QuickFIX"));
        assert_eq!(matches!(case, Passes(_)), !lines.is_empty(), "{key}: {}", row.here);
        match case {
            Passes(fields) => {
                let with_lines = one(&lines).settings().clone();
                assert!(!passes(fields, default.settings().validation.incoming), "{key}: passes by default");
                assert!(passes(fields, with_lines.validation.incoming), "{key}: does not pass with {lines}");
                assert_eq!(with_lines.validation.outgoing, None);
                if understood {
                    assert_eq!(*one(&said).settings(), with_lines, "{key}");
                } else {
                    assert!(read(&said).is_err(), "{key} is understood");
                }
            }
            ChangesTheSession => {
                let changed = one(&said);
                assert_ne!(changed, default, "{key}");
                assert_eq!(
                    changed.settings().validation.incoming,
                    default.settings().validation.incoming,
                    "{key}"
                );
            }
            IsWarnedAbout => {
                let warnings = read(&said).unwrap().warnings;
                assert!(warnings.iter().any(|warning| warning.key == key), "{key}: {warnings:?}");
                assert_eq!(one(&said), default, "{key}");
                assert!(row.here.starts_with("without effect: "), "{key}");
            }
            IsForFixt => {
                let warnings = read(&said).unwrap().warnings;
                let about =
                    |warning: &ConfigWarning| warning.key == key && warning.instead.contains("FIXT.1.1");
                assert!(warnings.iter().any(about), "{key}: {warnings:?}");
            }
            StopsTheStart => {
                let mistakes = read(&said).unwrap_err();
                let stops = |mistake: &ConfigError| {
                    matches!(mistake, ConfigError::Unavailable { .. } | ConfigError::Dictionary { .. })
                };
                assert!(mistakes.iter().all(stops), "{key}: {mistakes}");
                assert!(row.here.starts_with("stops the start"), "{key}");
            }
        }
    }
}

#[test]
fn every_check_has_a_key_for_each_direction() {
    for check in Check::ALL {
        for direction in ["Incoming", "Outgoing"] {
            let name = format!("{direction}.{}", check.name());
            assert!(super::rows::row_of(&name).is_some(), "{name}");
        }
    }
}

#[test]
fn the_tolerant_policy_stays_one_that_warns_unless_a_check_is_named() {
    let incoming =
        |lines: &str| one(&format!("ValidationPolicy=tolerant\n{lines}")).settings().validation.incoming;
    assert_eq!(incoming("ValidateUserDefinedFields=Y\nValidateFieldsHaveValues=Y"), Policy::tolerant());
    let ignored = Policy::tolerant().with(Check::UserDefinedTag, Action::Ignore);
    assert_eq!(incoming("ValidateUserDefinedFields=N"), ignored);
    let rejected = Policy::tolerant().with(Check::UserDefinedTag, Action::Reject);
    assert_eq!(incoming("Incoming.UserDefinedTag=reject"), rejected);
    let error = read("ValidationPolicy=tolerant\nUseDataDictionary=N").unwrap_err().to_string();
    assert_eq!(error, "a.cfg:7: ValidationPolicy is set, but incoming messages are not validated");
    let error = read("ValidationPolicy=lenient").unwrap_err().to_string();
    assert!(error.ends_with("one of standard, quickfix, quickfixj, tolerant expected"), "{error}");
}

#[test]
fn each_check_has_an_action_for_each_direction() {
    for check in Check::ALL {
        let (incoming, outgoing) =
            (format!("Incoming.{}", check.name()), format!("Outgoing.{}", check.name()));
        for (word, action) in [("reject", Action::Reject), ("WARN", Action::Warn), ("Ignore", Action::Ignore)]
        {
            let changed = Policy::standard().with(check, action);
            let only = one(&format!("{incoming}={word}")).settings().clone();
            assert_eq!((only.validation.incoming, only.validation.outgoing), (changed, None));
            let only = one(&format!("ValidateOutgoingMessage=Y\n{outgoing}={word}")).settings().clone();
            assert_eq!(
                (only.validation.incoming, only.validation.outgoing),
                (Policy::standard(), Some(changed))
            );
        }
    }
    let error = read("Incoming.UnknownTag=N").unwrap_err().to_string();
    assert_eq!(error, "a.cfg:7: Incoming.UnknownTag=N: one of reject, warn, ignore expected");
    let error = read("Incoming.UnknownTags=warn").unwrap_err().to_string();
    assert_eq!(
        error,
        "a.cfg:7: unknown key Incoming.UnknownTags; did you mean Incoming.UnknownTag? A key of the application belongs in [APP], or is written X-Incoming.UnknownTags"
    );
}

#[test]
fn without_validation_only_what_leaves_open_where_fields_are_is_rejected() {
    for key in ["UseDataDictionary", "ValidateIncomingMessage"] {
        let settings = one(&format!("{key}=N")).settings().clone();
        assert_eq!(settings.dictionary, SessionDictionary::None, "{key}");
        let rejects = |check: &Check| settings.validation.incoming.action(*check) == Action::Reject;
        let rejected: Vec<_> = Check::ALL.into_iter().filter(rejects).map(Check::name).collect();
        assert_eq!(rejected, ["TagSyntax", "EmptyValue", "DataLength"], "{key}");
    }
    let outgoing = one("ValidateIncomingMessage=N\nValidateOutgoingMessage=Y").settings().clone();
    for (fields, reason) in [
        ("354=2|355=abc|", Some(5)),
        ("355=abc|", Some(1)),
        ("354=3|999=x|355=abc|", Some(14)),
        ("999=x|", None),
    ] {
        let found = reason_by(
            &Validator::new(fix44()),
            "FIX.4.4",
            &format!("ORDER|{fields}"),
            outgoing.validation.incoming,
        );
        assert_eq!(found, reason, "{fields}");
    }
}

#[test]
fn a_required_group_has_entries_and_an_optional_one_may_have_none() {
    let reason = |fields: &str| reason_by(&Validator::new(fix44()), "FIX.4.4", fields, Policy::standard());
    assert_eq!(reason("ORDER|453=0|"), None);
    assert_eq!(reason("ORDER|453=1|"), Some(16));
    assert_eq!(reason("35=E|HEADER|66=L|394=1|68=1|73=0|"), Some(16));
    let lax = Policy::standard().with(Check::GroupCount, Action::Ignore);
    let without = reason_by(&Validator::new(fix44()), "FIX.4.4", "35=E|HEADER|66=L|394=1|68=1|73=0|", lax);
    assert_eq!(without, None);
}

/// Returns whether an order passes whose parties begin with PartyIDSource (447).
fn accepts_parties_as_sent(session: &SessionConfiguration) -> bool {
    let SessionDictionary::Own(validator) = &session.settings().dictionary else { return false };
    let order = "ORDER|453=2|447=D|448=ME|452=1|447=D|452=3|448=YOU|";
    passes_by(validator, order, session.settings().validation.incoming)
}

#[test]
fn groups_are_read_as_sent_if_the_session_names_their_count_fields() {
    assert!(!accepts_parties_as_sent(&one("")));
    assert!(accepts_parties_as_sent(&one("GroupsAsSent=453")));
    assert!(accepts_parties_as_sent(&one("GroupsAsSent= 268, 453,453")));
    assert!(accepts_parties_as_sent(&one("GroupsAsSent=all")));
    assert!(!accepts_parties_as_sent(&one("GroupsAsSent=268")));
    assert_eq!(one("GroupsAsSent=268,453").groups_as_sent, GroupsAsSent::CountedBy(vec![268, 453]));
    // What differs is only told if it is asked for.
    assert_eq!(one("GroupsAsSent=453").settings().validation.incoming, Policy::standard());
    assert!(!accepts_parties_as_sent(&one("GroupsAsSent=453\nIncoming.GroupAsSent=reject")));
    // The session's own section counts.
    let defaults = "[DEFAULT]\nGroupsAsSent=453\n";
    let sessions = ["", "GroupsAsSent=none\n"].map(|own| {
        let text = format!("{defaults}{SESSION}{own}");
        Configuration::from_text("a.cfg", &text).unwrap().sessions.remove(0)
    });
    assert_eq!(sessions.map(|session| accepts_parties_as_sent(&session)), [true, false]);
}

#[test]
fn sessions_that_read_the_same_groups_as_sent_share_a_dictionary() {
    let other = |id: &str, groups: &str| format!("{}GroupsAsSent={groups}\n", SESSION.replace("=B", id));
    let text = [other("=C", "453,268"), other("=D", "268, 453"), other("=E", "453")].concat();
    let sessions = Configuration::from_text("a.cfg", &text).unwrap().sessions;
    let dictionaries = sessions.iter().map(|session| &session.settings().dictionary).collect::<Vec<_>>();
    assert_eq!(dictionaries[0], dictionaries[1]);
    assert_ne!(dictionaries[0], dictionaries[2]);
}

#[test]
fn over_fixt_a_group_is_read_as_sent_in_each_version_that_has_it() {
    let fixt = SESSION.replace("FIX.4.4", "FIXT.1.1") + "DefaultApplVerID=FIX.5.0SP2\n";
    let read = |groups: &str| Configuration::from_text("a.cfg", &format!("{fixt}GroupsAsSent={groups}\n"));
    let session = read("453,627").unwrap().sessions.remove(0);
    let SessionDictionary::Fixt(dictionaries) = &session.settings().dictionary else { panic!("it has them") };
    let versions = dictionaries.versions();
    let order = "ORDER|453=1|447=D|448=ME|452=1|";
    for validator in versions.applications() {
        let found = reason_by(validator, "FIXT.1.1", order, Policy::standard());
        assert_eq!(found, None);
    }
    assert_eq!(
        read("453,35").unwrap_err().to_string(),
        "a.cfg:8: GroupsAsSent: 35 counts no group of the session's dictionary"
    );
}

#[test]
fn groups_that_cannot_be_read_as_sent_are_refused() {
    for (lines, expected) in [
        ("GroupsAsSent=448", "a.cfg:7: GroupsAsSent: 448 counts no group of the session's dictionary"),
        (
            "GroupsAsSent=453 268",
            "a.cfg:7: GroupsAsSent=453 268: none, all, or tags of count fields separated by commas, such as 453,268 expected",
        ),
        (
            "GroupsAsSent=0",
            "a.cfg:7: GroupsAsSent=0: none, all, or tags of count fields separated by commas, such as 453,268 expected",
        ),
        (
            "UseDataDictionary=N\nGroupsAsSent=453",
            "a.cfg:8: GroupsAsSent is set, but without a dictionary, or if no messages are validated, no groups are known",
        ),
    ] {
        assert_eq!(read(lines).unwrap_err().to_string(), expected);
    }
    let any = SESSION.replace("BeginString=FIX.4.4\n", "") + "DynamicSession=Y\nGroupsAsSent=453\n";
    assert_eq!(
        Configuration::from_text("a.cfg", &any).unwrap_err().to_string(),
        "a.cfg:7: GroupsAsSent is for groups of one version, but the session may use any version; set its BeginString"
    );
}

#[test]
fn the_first_field_begins_entries_if_their_order_is_not_checked_as_in_quickfixj() {
    let key = "FirstFieldInGroupIsDelimiter=Y\n";
    let session = one(&format!("{key}ValidateUnorderedGroupFields=N"));
    assert_eq!(session.groups_as_sent, GroupsAsSent::All);
    assert!(accepts_parties_as_sent(&session));
    assert!(read(&format!("{key}ValidateUnorderedGroupFields=N")).unwrap().warnings.is_empty());
    // Groups that are named count.
    let named = one(&format!("{key}ValidateUnorderedGroupFields=N\nGroupsAsSent=268"));
    assert_eq!(named.groups_as_sent, GroupsAsSent::CountedBy(vec![268]));
    assert!(!accepts_parties_as_sent(&one(key)));
    let warnings = read(key).unwrap().warnings;
    assert_eq!(
        warnings[0].to_string(),
        "a.cfg:7: FirstFieldInGroupIsDelimiter has no effect: the order of a group's fields is checked; GroupsAsSent names groups that have another"
    );
}

#[test]
fn the_engine_that_a_session_is_compatible_with_is_where_its_checks_begin() {
    let incoming = |lines: &str| one(lines).settings().validation.incoming;
    assert_eq!(incoming("Compatibility=quickfix"), Policy::quickfix());
    assert_eq!(incoming("Compatibility=quickfixj"), Policy::quickfixj());
    let ordered = Policy::quickfix().with(Check::GroupOrder, Action::Reject);
    assert_eq!(incoming("Compatibility=quickfix\nValidateUnorderedGroupFields=Y"), ordered);
    // ValidationPolicy counts instead, whatever the order of the file.
    assert_eq!(incoming("ValidationPolicy=tolerant"), Policy::tolerant());
    assert_eq!(incoming("ValidationPolicy=standard\nCompatibility=quickfixj"), Policy::standard());
    let session = one("Compatibility=quickfix\nValidationPolicy=quickfixj");
    let other = session.settings();
    assert_eq!(
        (other.compatibility, other.validation.incoming),
        (Compatibility::QuickFix, Policy::quickfixj())
    );
    assert_eq!(incoming("ValidationPolicy=quickfix"), Policy::quickfix());
    // A disabled check causes no warning either; a key for one check takes precedence.
    let warned = incoming("Compatibility=quickfix\nRejectInvalidMessage=N\nIncoming.MsgType=reject");
    assert_eq!(warned.action(Check::GroupOrder), Action::Ignore);
    assert_eq!(warned.action(Check::RequiredField), Action::Warn);
    assert_eq!(warned.action(Check::MsgType), Action::Reject);
}
