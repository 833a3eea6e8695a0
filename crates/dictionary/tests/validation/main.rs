//! Validation through the public API: each check, sample messages of every version, and broken
//! ones.

mod application_versions;
mod as_sent;
mod broken;
mod checks;
mod learned;
#[path = "../support/loading.rs"]
mod loading;
mod mutations;
mod page;
mod samples;
#[path = "../support/mod.rs"]
mod support;

use fixbolt_codec::{DataFields, Frame, Framer, Index, IndexError, Message, Span};
use fixbolt_dictionary::{Dictionary, Version, fixt11, shipped};

/// Returns every shipped version, the application versions with the session layer of FIXT.1.1.
fn versions() -> impl Iterator<Item = Dictionary> {
    Version::ALL.into_iter().filter(|version| *version != Version::Fixt11).map(|version| {
        let dictionary = shipped(version);
        if version.is_application() {
            dictionary.over(fixt11()).expect("it fits its transport")
        } else {
            dictionary.clone()
        }
    })
}

/// Calls `look` with the message in `bytes`, with data fields by `pairs` of length and data tags.
fn with_message<R>(
    bytes: &[u8],
    pairs: &[(u32, u32)],
    look: impl FnOnce(&Message<'_>) -> R,
) -> Result<R, IndexError> {
    let Frame::Message(framed) = Framer::new(1 << 24).next(bytes) else { panic!("the frame is right") };
    // No field is shorter than three bytes.
    let fields = bytes.len() / 3 + 1;
    let (mut tags, mut spans) = (vec![0; fields], vec![Span::default(); fields]);
    let data_fields = DataFields::new(pairs);
    let mut index = Index::new(&mut tags, &mut spans).with_data_fields(&data_fields);
    index.build(framed).map(|message| look(&message))
}
