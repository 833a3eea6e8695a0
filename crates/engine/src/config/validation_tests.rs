//! The page about validation: one row per key, and a test of what each row says.

use fixbolt_codec::{Frame, Framer, Index, Span};
use fixbolt_dictionary::{Action, Check, Policy, Validator, fix44};
use fixbolt_session::Compatibility;

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

fn read(lines: &str) -> Result<Configuration, ConfigErrors> {
    let session = "[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nSocketAcceptPort=0\n";
    Configuration::from_text("a.cfg", &format!("{session}{lines}\n"))
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
                Some(action) => Check::ALL
                    .into_iter()
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
    let fields = fields
        .replace("ORDER", "35=D|HEADER|11=ID|55=IBM|54=1|60=20261121-09:00:00|38=100|40=2|44=57.00")
        .replace("HEADER", "49=A|56=B|34=2|52=20261121-09:00:00");
    let bytes = fixbolt_conformance::testing::message("FIX.4.4", &fields);
    let Frame::Message(framed) = Framer::new(4096).next(&bytes) else { panic!("it is complete") };
    let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
    let mut index = Index::new(&mut tags, &mut spans);
    let validator = Validator::new(fix44());
    let mut scratch = validator.scratch();
    validator.first_reject(&index.build(framed).expect("it is right"), &policy, &mut scratch).is_none()
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
                let with_lines = one(&lines).settings;
                assert!(!passes(fields, default.settings.policy), "{key}: passes by default");
                assert!(passes(fields, with_lines.policy), "{key}: does not pass with {lines}");
                assert_eq!(with_lines.outbound_policy, None);
                if understood {
                    assert_eq!(one(&said).settings, with_lines, "{key}");
                } else {
                    assert!(read(&said).is_err(), "{key} is understood");
                }
            }
            ChangesTheSession => {
                let changed = one(&said);
                assert_ne!(changed, default, "{key}");
                assert_eq!(changed.settings.policy, default.settings.policy, "{key}");
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
fn every_check_has_a_row_with_its_reasons_and_a_key_for_each_direction() {
    let (checks, _) = PAGE.split_once("## Keys of other engines").expect("the page has the table");
    for check in Check::ALL {
        let row = format!("| `{}` | ", check.name());
        assert!(checks.lines().any(|line| line.starts_with(&row)), "{row}");
        for direction in ["Incoming", "Outgoing"] {
            let name = format!("{direction}.{}", check.name());
            assert!(super::rows::row_of(&name).is_some(), "{name}");
        }
    }
}

#[test]
fn the_tolerant_policy_stays_one_that_warns_unless_a_check_is_named() {
    let incoming = |lines: &str| one(&format!("ValidationPolicy=tolerant\n{lines}")).settings.policy;
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
            let only = one(&format!("{incoming}={word}")).settings;
            assert_eq!((only.policy, only.outbound_policy), (changed, None));
            let only = one(&format!("ValidateOutgoingMessage=Y\n{outgoing}={word}")).settings;
            assert_eq!((only.policy, only.outbound_policy), (Policy::standard(), Some(changed)));
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
fn the_engine_that_a_session_is_compatible_with_is_where_its_checks_begin() {
    let incoming = |lines: &str| one(lines).settings.policy;
    assert_eq!(incoming("Compatibility=quickfix"), Policy::quickfix());
    assert_eq!(incoming("Compatibility=quickfixj"), Policy::quickfixj());
    let ordered = Policy::quickfix().with(Check::GroupOrder, Action::Reject);
    assert_eq!(incoming("Compatibility=quickfix\nValidateUnorderedGroupFields=Y"), ordered);
    // ValidationPolicy counts instead, whatever the order of the file.
    assert_eq!(incoming("ValidationPolicy=tolerant"), Policy::tolerant());
    assert_eq!(incoming("ValidationPolicy=standard\nCompatibility=quickfixj"), Policy::standard());
    let other = one("Compatibility=quickfix\nValidationPolicy=quickfixj").settings;
    assert_eq!((other.compatibility, other.policy), (Compatibility::QuickFix, Policy::quickfixj()));
    assert_eq!(incoming("ValidationPolicy=quickfix"), Policy::quickfix());
    // A disabled check causes no warning either; a key for one check takes precedence.
    let warned = incoming("Compatibility=quickfix\nRejectInvalidMessage=N\nIncoming.MsgType=reject");
    assert_eq!(warned.action(Check::GroupOrder), Action::Ignore);
    assert_eq!(warned.action(Check::RequiredField), Action::Warn);
    assert_eq!(warned.action(Check::MsgType), Action::Reject);
}
