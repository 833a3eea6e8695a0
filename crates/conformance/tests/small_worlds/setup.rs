//! What a world is made of: its version, its stores, and how often each event may happen.

use fixbolt_codec::Version;
use fixbolt_session::{Role, SessionDictionary, SessionId, SessionSettings, WhileLoggedOff};

/// The initiator, and the acceptor.
pub(crate) const SIDES: [usize; 2] = [0, 1];

/// A world to be exhausted.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) name: &'static str,
    pub(crate) version: Version,
    /// Whether the stores acknowledge commits later, and lose those that they have not
    /// acknowledged when the process dies.
    pub(crate) late: bool,
    /// Whether the acceptor answers each order in the turn that takes it.
    pub(crate) answers: bool,
    /// Whether Logons have NextExpectedMsgSeqNum (789).
    pub(crate) next_expected: bool,
    /// Whether what is known to be wrong counts, too.
    pub(crate) strict: bool,
    pub(crate) budget: Budget,
    pub(crate) defect: Option<Defect>,
}

/// How often each event may happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Budget {
    /// Orders of the initiator, and of the acceptor.
    pub(crate) orders: [u8; 2],
    pub(crate) connects: u8,
    pub(crate) cuts: u8,
    pub(crate) deaths: u8,
    pub(crate) resets: u8,
    pub(crate) logouts: u8,
    pub(crate) waits: u8,
}

impl Budget {
    /// Orders of both sides on one connection.
    pub(crate) const fn orders(initiator: u8, acceptor: u8) -> Self {
        Self {
            orders: [initiator, acceptor],
            connects: 1,
            cuts: 0,
            deaths: 0,
            resets: 0,
            logouts: 0,
            waits: 0,
        }
    }
}

/// A defect that the search must find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Defect {
    /// Something between the two sides removes PossDupFlag (43).
    DropsPossDup,
    /// Stores lose their last commit when the process dies, although they have acknowledged it.
    ForgetsLastCommit,
    /// Stores acknowledge what they lose when the process dies.
    AcknowledgesEarly,
    /// Stores commit each record of a turn by itself.
    TearsTurns,
}

impl Setup {
    pub(crate) fn new(name: &'static str, version: Version, budget: Budget) -> Self {
        Self {
            name,
            version,
            late: false,
            answers: false,
            next_expected: false,
            strict: false,
            budget,
            defect: None,
        }
    }

    /// Returns the settings of one side. Its memory is small, because it is allocated for each
    /// transition of the search.
    pub(crate) fn settings(&self, side: usize) -> SessionSettings {
        let names = ["BUYER", "SELLER"];
        let role = if side == 0 { Role::Initiator } else { Role::Acceptor };
        let id = SessionId::new(self.version, names[side], names[1 - side]).unwrap();
        SessionSettings::new(id, role).with(|s| {
            s.dictionary = SessionDictionary::None;
            s.default_appl_ver_id = (self.version == Version::Fixt11).then_some(Version::Fix50Sp2);
            s.resend.while_logged_off = WhileLoggedOff::Keep;
            s.resend.send_next_expected_msg_seq_num = self.next_expected;
            s.limits.outbound_buffer_size = 16 * 1024;
            s.limits.reorder_buffer_size = 8 * 1024;
            s.limits.max_message_size = 8 * 1024;
        })
    }
}
