//! Helpers for the tests of framing and indexing: messages, a naive oracle, and a function that
//! returns the results of framer and index in the oracle's form.
#![allow(dead_code, unreachable_pub)] // each test file uses a part

pub mod messages;
pub mod oracle;

use fixbolt_codec::{FaultKind, Frame, FrameError, Framer, Index, IndexError, Span};
use std::ops::Range;

/// The contents of a stream in order; offsets are those of the stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A complete message and its contents.
    Message(Range<usize>, Result<Contents, Garbled>),
    /// Bytes that are not a message.
    Dropped(Range<usize>, Broken),
}

/// Tag (0 if none) and value of every field, and the first fault; offsets are those of the message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contents {
    pub fields: Vec<(u32, Range<usize>)>,
    pub fault: Option<(FaultKind, usize, Range<usize>)>,
}

/// Why a complete message has no contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Garbled {
    CheckSum,
    MsgTypeNotThird,
}

/// Why bytes are not a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// They do not begin with `8=FIX`.
    Start,
    /// BeginString or BodyLength is wrong, or the length is above the limit.
    Header,
    /// There is no CheckSum where BodyLength announces it, or no more bytes arrived.
    Length,
    /// There is one, but it is not three digits and SOH.
    CheckSum,
}

/// Feeds the stream in pieces of `piece` bytes; after the last one the counterparty is silent.
pub fn drive(stream: &[u8], max_message_size: usize, piece: usize) -> Vec<Event> {
    let mut framer = Framer::new(max_message_size);
    let (mut tags, mut spans) = (vec![0; 8192], vec![Span::default(); 8192]);
    let mut index = Index::new(&mut tags, &mut spans);
    let mut events = Vec::new();
    let (mut start, mut end, mut needed) = (0, 0, 0);
    loop {
        let frame = match framer.next(&stream[start..end]) {
            Frame::Incomplete { at_least } if end < stream.len() => {
                assert!(at_least >= 1);
                needed = end + at_least;
                end = stream.len().min(end + piece);
                continue;
            }
            Frame::Incomplete { at_least } => {
                assert!(at_least >= 1);
                framer.give_up(&stream[start..])
            }
            frame => frame,
        };
        needed = if matches!(frame, Frame::Message(_)) { needed } else { 0 };
        match frame {
            Frame::Message(framed) => {
                let range = start..start + framed.bytes().len();
                assert!(needed <= range.end, "more bytes were asked for than the message has");
                events
                    .push(Event::Message(range.clone(), index.build(framed).map(contents).map_err(garbled)));
                start = range.end;
            }
            Frame::Garbled { bytes, error: Some(error) } => {
                events.push(Event::Dropped(start..start + bytes.len(), broken(error)));
                start += bytes.len();
            }
            Frame::Garbled { bytes, error: None } => {
                assert!(!bytes.is_empty());
                let Some(Event::Dropped(range, _)) = events.last_mut() else { panic!("continues nothing") };
                assert_eq!(range.end, start);
                start += bytes.len();
                range.end = start;
            }
            Frame::Incomplete { .. } => return events,
        }
    }
}

fn contents(message: fixbolt_codec::Message<'_>) -> Contents {
    let spans = (0..message.len()).map(|place| message.span(place).start()..message.span(place).end());
    let fault = message.fault().map(|fault| (fault.kind, fault.field, fault.tag.start()..fault.tag.end()));
    for place in 0..message.len() {
        let value = message.field_bytes(place);
        assert!(value.ends_with(message.value(place)));
        assert_eq!(message.field(place).tag.map_or(0, |tag| tag.number()), message.tags()[place]);
    }
    Contents { fields: message.tags().iter().copied().zip(spans).collect(), fault }
}

fn garbled(error: IndexError) -> Garbled {
    match error {
        IndexError::CheckSum { .. } => Garbled::CheckSum,
        IndexError::MsgTypeNotThird => Garbled::MsgTypeNotThird,
        other => panic!("{other:?}"),
    }
}

fn broken(error: FrameError) -> Broken {
    match error {
        FrameError::NoBeginString => Broken::Start,
        FrameError::BeginString | FrameError::BodyLengthField { .. } | FrameError::TooLarge { .. } => {
            Broken::Header
        }
        FrameError::BodyLength { .. } => Broken::Length,
        FrameError::CheckSumField { .. } => Broken::CheckSum,
        other => panic!("{other:?}"),
    }
}
