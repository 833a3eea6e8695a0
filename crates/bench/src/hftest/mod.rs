//! Fix8's preload test, `hftest`: a client preloads orders and sends all of them, a server answers
//! each with a reject, a cancel, or a confirmation and fills, and both say how long their messages
//! took to encode and to decode.
//!
//! An order is preloaded as values, not as a message object: Fixbolt builds none. It is encoded
//! when it is sent.

mod client;
mod desk;
mod memory;
mod preload;
mod progress;
mod report;
mod results;
mod run;
mod server;
mod settings;

pub use self::client::Client;
pub use self::desk::{Desk, DeskError, Sent};
pub use self::memory::memory_warning;
pub use self::preload::{Preload, Preloaded};
pub use self::progress::{Progress, Told};
pub use self::results::{Mode, Outcome, Timed};
pub use self::run::{Run, run};
pub use self::server::Server;
pub use self::settings::{CLIENT, SERVER, address, configuration, set_address, start_client, start_server};

#[cfg(test)]
mod tests;
