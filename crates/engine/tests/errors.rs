//! How errors read: each has a text, and a report that prints the chain of sources says each thing
//! once.

use std::error::Error;
use std::fmt;

use fixbolt::codec::{
    EncodeError, EncodeErrorKind, FieldError, FieldErrorKind, FrameError, IndexError, MsgType, NoHeadroom,
    Tag, TierError, UnknownVersion, ValueError, Version, WrongMessage,
};
use fixbolt::config::{ConfigError, ConfigErrors, SourceLine};
use fixbolt::session::{ChangeError, GarbledError, Halt, InvalidSessionId, OpenError, SendError, SessionId};
use fixbolt::store::StoreError;
use fixbolt::{EngineError, ListenError, OperationError, PostError, SettingsError, WorkersError};

fn full() -> StoreError {
    StoreError::Full { place: "disk".to_owned() }
}

fn encode() -> EncodeError {
    EncodeError::new(Tag::new(44), EncodeErrorKind::Empty)
}

fn session() -> Box<SessionId> {
    Box::new("FIX.4.4:VENUE->TRADER".parse().unwrap())
}

/// Every public error type; of those that wrap an error, every variant that does.
fn all() -> Vec<Box<dyn Error>> {
    let value = FieldError::new(Tag::new(44), FieldErrorKind::Value(ValueError::Empty));
    let place = SourceLine { file: "venue.cfg".into(), line: 3 };
    let config = ConfigError::UnknownSection { place, name: "X".to_owned() };
    let unknown: UnknownVersion = "FIX.9.9".parse::<Version>().unwrap_err();
    let invalid: InvalidSessionId = "nonsense".parse::<SessionId>().unwrap_err();
    vec![
        Box::new(ValueError::Format),
        Box::new(value),
        Box::new(FieldError::missing(Tag::new(55))),
        Box::new(WrongMessage::msg_type(MsgType::new(b"D"))),
        Box::new(encode()),
        Box::new(NoHeadroom { needed: 1 }),
        Box::new(FrameError::NoBeginString),
        Box::new(IndexError::MsgTypeNotThird),
        Box::new(TierError::Unknown),
        Box::new(unknown),
        Box::new(invalid),
        Box::new(full()),
        Box::new(SendError::Encode(encode())),
        Box::new(SendError::Store(full())),
        Box::new(SendError::BackPressure),
        Box::new(OpenError::Store(full())),
        Box::new(OpenError::Halted(Halt::StoreFailed(full()))),
        Box::new(GarbledError::Frame(FrameError::NoBeginString)),
        Box::new(GarbledError::Index(IndexError::MsgTypeNotThird)),
        Box::new(PostError::Encode(encode())),
        Box::new(PostError::Full),
        Box::new(OperationError::Refused(ChangeError::Send(SendError::Store(full())))),
        Box::new(OperationError::Store(OpenError::Store(full()))),
        Box::new(OperationError::Refused(ChangeError::Halted(Halt::StoreFailed(full())))),
        Box::new(OperationError::ChangeTooLong { most: 4096, found: 5000 }),
        Box::new(OperationError::Withdrawn),
        Box::new(config.clone()),
        Box::new(ConfigErrors::from(config.clone())),
        Box::new(EngineError::Config(config.into())),
        Box::new(EngineError::Store { session: session(), error: full() }),
        Box::new(EngineError::Closing(full())),
        Box::new(EngineError::Tier { name: "abacus".to_owned(), reason: TierError::Unknown }),
        Box::new(EngineError::Listen {
            address: "127.0.0.1:9880".parse().unwrap(),
            error: ListenError::NoSession { of: "TLS" },
        }),
        Box::new(ListenError::Overlaps { other: "0.0.0.0:9880".parse().unwrap() }),
        Box::new(EngineError::Settings { session: session(), error: SettingsError::NoHost }),
        Box::new(SettingsError::Tls { reason: "venue.pem: it expired".to_owned() }),
        Box::new(EngineError::Open { session: session(), error: OpenError::AlreadyOpen }),
        Box::new(EngineError::Open {
            session: session(),
            error: OpenError::Halted(Halt::StoreFailed(full())),
        }),
        Box::new(EngineError::Workers(WorkersError::NoThreads)),
        Box::new(WorkersError::Cores { workers: 2, named: 1 }),
        Box::new(EngineError::NoSessions),
        Box::new(EngineError::TimedOut),
    ]
}

/// Prints an error and its sources, as reports do.
struct Chain<'e>(&'e dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(error) = next {
            write!(f, ": {error}")?;
            next = error.source();
        }
        Ok(())
    }
}

#[test]
fn a_chain_of_errors_says_each_thing_once_and_the_alternate_form_is_the_chain() {
    for error in all() {
        let chain = Chain(&*error).to_string();
        assert_eq!(format!("{error:#}"), chain, "{error:?}");
        let mut next = error.source();
        while let Some(source) = next {
            assert!(!error.to_string().contains(&source.to_string()), "{chain}");
            next = source.source();
        }
        assert!(!chain.is_empty() && !chain.contains('\n') && !chain.ends_with('.'), "{chain}");
    }
}

#[test]
fn what_an_error_wraps_is_in_its_text_or_is_its_source() {
    for error in all() {
        let debug = format!("{error:?}");
        let chain = Chain(&*error).to_string();
        for (wrapped, text) in [
            ("Full {", full().to_string()),
            ("EncodeError {", encode().to_string()),
            ("NoBeginString", FrameError::NoBeginString.to_string()),
            ("MsgTypeNotThird", IndexError::MsgTypeNotThird.to_string()),
            ("reason: Unknown", TierError::Unknown.to_string()),
            ("Value(Empty)", ValueError::Empty.to_string()),
            ("UnknownSection", "unknown section [X]".to_owned()),
        ] {
            if debug.contains(wrapped) {
                assert_eq!(chain.matches(&text).count(), 1, "{debug}: {chain}");
            }
        }
    }
}

#[test]
fn a_source_can_be_recognized() {
    let engine = EngineError::Store { session: session(), error: full() };
    assert_eq!(engine.source().and_then(|source| source.downcast_ref()), Some(&full()));
    assert_eq!(engine.to_string(), "session FIX.4.4:VENUE->TRADER: its journal cannot be used");
    let whole =
        "session FIX.4.4:VENUE->TRADER: its journal cannot be used: disk: no space left for the journal";
    assert_eq!(format!("{engine:#}"), whole);
}
