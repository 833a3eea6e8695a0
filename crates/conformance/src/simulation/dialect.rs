//! The versions that sessions speak here, and the messages of each that the dictionary accepts.

use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use fixbolt_codec::Version;
use fixbolt_dictionary::{ApplicationVersion, DictionarySet, Validator, shipped};
use fixbolt_session::{FixtDictionaries, SessionDictionary};

/// A version of the session, and of its application messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dialect {
    pub(super) session: Version,
    /// The version of application messages, in FIXT.1.1.
    pub(super) application: Option<Version>,
}

/// Every version of a session, and FIXT.1.1 with several of its application messages.
pub(super) const DIALECTS: [Dialect; 9] = [
    Dialect { session: Version::Fix40, application: None },
    Dialect { session: Version::Fix41, application: None },
    Dialect { session: Version::Fix42, application: None },
    Dialect { session: Version::Fix43, application: None },
    Dialect { session: Version::Fix44, application: None },
    Dialect { session: Version::Fixt11, application: Some(Version::Fix50) },
    Dialect { session: Version::Fixt11, application: Some(Version::Fix50Sp1) },
    Dialect { session: Version::Fixt11, application: Some(Version::Fix50Sp2) },
    Dialect { session: Version::Fixt11, application: Some(Version::FixLatest) },
];

/// An order, or the report on one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Order,
    Report,
}

/// Fields, tag and value; [`ID`] stands for the message's own ID.
type Fields = &'static [(u32, &'static str)];
const ID: &str = "#";

const ORDER: Fields = &[
    (11, ID),
    (21, "1"),
    (55, "IBM"),
    (54, "1"),
    (60, "20261118-12:00:00"),
    (38, "100"),
    (40, "2"),
    (44, "25.50"),
];
/// HandlInst is not required since FIX.4.4, and an order has no TransactTime before FIX.4.2.
const ORDER_40: Fields =
    &[(11, ID), (21, "1"), (55, "IBM"), (54, "1"), (38, "100"), (40, "2"), (44, "25.50")];
const REPORT_40: Fields = &[
    (37, "o"),
    (11, ID),
    (17, ID),
    (20, "0"),
    (39, "2"),
    (55, "IBM"),
    (54, "1"),
    (38, "100"),
    (32, "100"),
    (31, "25.50"),
    (14, "100"),
    (6, "25.50"),
];
const REPORT_41: Fields = &[
    (37, "o"),
    (11, ID),
    (17, ID),
    (20, "0"),
    (150, "2"),
    (39, "2"),
    (55, "IBM"),
    (54, "1"),
    (38, "100"),
    (32, "100"),
    (31, "25.50"),
    (151, "0"),
    (14, "100"),
    (6, "25.50"),
];
const REPORT: Fields = &[
    (37, "o"),
    (11, ID),
    (17, ID),
    (150, "F"),
    (39, "2"),
    (55, "IBM"),
    (54, "1"),
    (151, "0"),
    (14, "100"),
    (6, "25.50"),
];

impl Dialect {
    pub(super) const fn begin_string(self) -> &'static str {
        match self.session {
            Version::Fix40 => "FIX.4.0",
            Version::Fix41 => "FIX.4.1",
            Version::Fix42 => "FIX.4.2",
            Version::Fix43 => "FIX.4.3",
            Version::Fix44 => "FIX.4.4",
            _ => "FIXT.1.1",
        }
    }

    /// Returns whether the session's version is this one or a later one.
    pub(super) fn since(self, version: Version) -> bool {
        self.session >= version
    }

    pub(super) fn whole_seconds(self) -> bool {
        !self.since(Version::Fix42)
    }

    /// EndSeqNo (16) that stands for infinity.
    pub(super) fn infinity(self) -> u64 {
        if self.since(Version::Fix42) { 0 } else { 999_999 }
    }

    /// Returns DefaultApplVerID (1137), in FIXT.1.1.
    pub(super) fn appl_ver_id(self) -> Option<&'static str> {
        self.application.and_then(Version::appl_ver_id)
    }

    const fn fields(self, kind: Kind) -> Fields {
        match (kind, self.session) {
            (Kind::Order, Version::Fix40 | Version::Fix41) => ORDER_40,
            (Kind::Order, _) => ORDER,
            (Kind::Report, Version::Fix40) => REPORT_40,
            (Kind::Report, Version::Fix41 | Version::Fix42) => REPORT_41,
            (Kind::Report, _) => REPORT,
        }
    }

    /// Calls `put` with each field of a body and its value.
    pub(super) fn each_field(self, kind: Kind, id: &str, mut put: impl FnMut(u32, &str)) {
        for (tag, value) in self.fields(kind) {
            put(*tag, if *value == ID { id } else { value });
        }
    }

    /// Returns a body as text.
    pub(super) fn body(self, kind: Kind, id: &str) -> Vec<u8> {
        let mut body = Vec::with_capacity(128);
        self.each_field(kind, id, |tag, value| {
            let _ = write!(body, "{tag}={value}\x01");
        });
        body
    }

    /// Returns the validator of the session's messages. Each is made once in a process.
    pub(super) fn dictionary(self) -> SessionDictionary {
        static ONES: [OnceLock<SessionDictionary>; DIALECTS.len()] =
            [const { OnceLock::new() }; DIALECTS.len()];
        let place = DIALECTS.iter().position(|dialect| *dialect == self).unwrap_or_default();
        ONES[place].get_or_init(|| self.make_dictionary()).clone()
    }

    fn make_dictionary(self) -> SessionDictionary {
        let Some(application) = self.application else {
            return SessionDictionary::Own(Arc::new(Validator::new(shipped(self.session))));
        };
        let id = ApplicationVersion::new(application.appl_ver_id().unwrap_or_default());
        let set = DictionarySet::new(shipped(self.session).clone())
            .and_then(|set| set.with(id, shipped(application)))
            .expect("the shipped dictionaries fit together");
        SessionDictionary::Fixt(Arc::new(FixtDictionaries::new(set.validators())))
    }
}
