//! Where the next message is that a resend reads.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::layout::scan::RecordAddress;

/// The position after the message that was read last.
#[derive(Clone, Copy)]
pub(crate) struct Cursor {
    pub(crate) number: (Generation, SeqNum),
    pub(crate) after: RecordAddress,
}
