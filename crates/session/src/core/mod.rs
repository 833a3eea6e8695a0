//! What a worker's sessions share: the table, lists of work, transactions.

pub(crate) mod codec_timing;
pub(crate) mod stored_message;
pub(crate) mod table;
pub(crate) mod transaction;
pub(crate) mod work_lists;
