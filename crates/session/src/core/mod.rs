//! What a worker's sessions share: the table, lists of work, transactions.

pub(crate) mod observer;
pub(crate) mod slots;
pub(crate) mod stored_message;
pub(crate) mod waker;
pub(crate) mod work;
