//! Validation through the public API: each check, sample messages of every version, and those broken on purpose.

mod broken;
mod checks;
mod mutations;
mod samples;
#[path = "../support/mod.rs"]
mod support;

use fixbolt_codec::{DataFields, Frame, Framer, Index, IndexError, Message, Span};
use fixbolt_dictionary::{Dictionary, fix42, fix44};

/// Every shipped version with the session layer that it runs over.
fn versions() -> Vec<&'static Dictionary> {
    vec![fix42(), fix44()]
}

/// Calls `look` with the message that `bytes` are, data fields by `pairs` of length and data tags.
fn with_message<R>(
    bytes: &[u8],
    pairs: &[(u32, u32)],
    look: impl FnOnce(&Message<'_>) -> R,
) -> Result<R, IndexError> {
    let Frame::Message(framed) = Framer::new(1 << 24).next(bytes) else { panic!("the frame is right") };
    // No field is shorter than three bytes.
    let fields = bytes.len() / 3 + 1;
    let (mut tags, mut spans) = (vec![0; fields], vec![Span::default(); fields]);
    let mut index = Index::new(&mut tags, &mut spans).with_data_fields(DataFields::new(pairs));
    index.build(framed).map(|message| look(&message))
}
