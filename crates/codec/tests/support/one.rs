//! One FIX.4.4 message from text with `|` for SOH.

use fixbolt_codec::{Frame, Framer, Index, Message, Span, byte_sum};

/// Returns the message whose fields from MsgType (35) on are `counted`.
pub(crate) fn wire(counted: &str) -> Vec<u8> {
    let counted = counted.replace('|', "\x01");
    let mut bytes = format!("8=FIX.4.4\x019={}\x01{counted}", counted.len()).into_bytes();
    let sum = byte_sum(&bytes);
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

/// Indexes that message and passes it to `read`.
pub(crate) fn message_of<R>(counted: &str, read: impl FnOnce(Message<'_>) -> R) -> R {
    let bytes = wire(counted);
    let Frame::Message(framed) = Framer::new(1 << 16).next(&bytes) else { panic!("no message: {counted}") };
    let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
    let mut index = Index::new(&mut tags, &mut spans);
    read(index.build(framed).unwrap())
}
