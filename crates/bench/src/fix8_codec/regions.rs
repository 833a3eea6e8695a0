//! What is timed.

use std::hint::black_box;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use fixbolt_codec::{Index, Message, Precision, SeqNum, Span};
use fixbolt_dictionary::{Policy, Validator, fix44};
use fixbolt_workloads::clock::timed;
use fixbolt_workloads::orders::NEW_ORDER_SINGLE;
use fixbolt_workloads::wire::{Encoder, read};

use super::Timed;
use crate::messages::{Nos222, RING};
use crate::read_all::{self, Kept, Used};

/// More fields than a message here has, by as many as the widest instructions write at a time.
const FIELDS: usize = 160;
const SLOT: usize = 1024;

/// The messages, and what encodes and decodes them.
pub(super) struct Regions {
    messages: u32,
    values: Vec<Nos222>,
    texts: Vec<Vec<u8>>,
    encoder: Encoder,
    validator: Validator,
}

impl Regions {
    /// Checks every operation with every message of the ring.
    pub(super) fn checked(messages: u32) -> Result<Self, String> {
        let values: Vec<Nos222> = (0..RING as u64).map(Nos222::new).collect();
        let texts = values.iter().map(Nos222::bytes).collect();
        let (sender, target) = Nos222::PARTIES;
        let encoder =
            Encoder::new(Nos222::VERSION.begin_string().as_bytes(), sender.as_bytes(), target.as_bytes())
                .ok_or("the ring's parties are not CompIDs")?
                .with_precision(Precision::Millis);
        let mut regions = Self { messages, values, texts, encoder, validator: Validator::new(fix44()) };
        regions.check()?;
        Ok(regions)
    }

    fn check(&mut self) -> Result<(), String> {
        let mut slot = [0; SLOT];
        let (mut tags, mut spans) = ([0; FIELDS], [Span::default(); FIELDS]);
        let mut scratch = self.validator.scratch();
        for (n, (value, text)) in self.values.iter().zip(&self.texts).enumerate() {
            let wrong = |operation: &str| format!("{operation}: message {n} of the ring has a wrong result");
            let place = encode(&mut self.encoder, value, &mut slot);
            if place.is_none_or(|place| slot[place] != text[..]) {
                return Err(wrong("encode"));
            }
            let mut index = Index::new(&mut tags, &mut spans);
            let right = |message: &Message<'_>| message.len() == Nos222::SIZE.1 && message.fault().is_none();
            let message = read(&mut index, text).filter(right).ok_or_else(|| wrong("decode"))?;
            let mut kept = Kept::default();
            if read_all::nos_222(message, &mut kept).is_none() || kept.0 != Kept::of(&message).0 {
                return Err(wrong("decode-typed"));
            }
            if !self.validator.all(&message, &Policy::standard(), &mut scratch).is_empty() {
                return Err(wrong("decode-validated"));
            }
        }
        Ok(())
    }

    pub(super) fn operations(&self) -> Vec<Timed> {
        let names = ["encode", "decode", "encode-loop", "decode-typed", "decode-validated"];
        names.map(|name| Timed::of("fixbolt", name, u64::from(self.messages))).into()
    }

    /// Returns the seconds that pairs of clock readings take, as many as there are messages.
    pub(super) fn clock(&self) -> f64 {
        let mut total = Duration::ZERO;
        for _ in 0..self.messages {
            let start = Instant::now();
            black_box(());
            total += start.elapsed();
        }
        total.as_secs_f64()
    }

    /// Runs an operation with every message, and returns its seconds by the clock and of CPU.
    pub(super) fn time(&mut self, operation: &str) -> (f64, f64) {
        let (mut index_memory, validator) = (([0; FIELDS], [Span::default(); FIELDS]), &self.validator);
        let mut index = Index::new(&mut index_memory.0, &mut index_memory.1);
        let (mut scratch, policy) = (validator.scratch(), Policy::standard());
        let count = self.messages as usize;
        let texts = self.texts.iter().cycle().take(count);
        match operation {
            "encode" | "encode-loop" => self.encoding(operation == "encode"),
            "decode-typed" => over(texts, |text| {
                read(&mut index, text).and_then(|message| read_all::nos_222(message, &mut Used))
            }),
            "decode-validated" => over(texts, |text| {
                let message = read(&mut index, text)?;
                let mut right = true;
                validator.for_each(&message, &policy, &mut scratch, |_| {
                    right = false;
                    ControlFlow::Break(())
                });
                right.then_some(())
            }),
            _ => over(texts, |text| {
                black_box(read(&mut index, text)?);
                Some(())
            }),
        }
    }

    fn encoding(&mut self, each: bool) -> (f64, f64) {
        let mut slot = [0; SLOT];
        let Self { values, encoder, messages, .. } = self;
        let values = values.iter().cycle().take(*messages as usize);
        if !each {
            return over(values, |value| {
                let place = encode(encoder, value, &mut slot);
                black_box(&slot);
                place.map(|_| ())
            });
        }
        let mut total = Duration::ZERO;
        let (cpu, ()) = timed(|| {
            for value in values {
                let value = black_box(value);
                let start = Instant::now();
                black_box(encode(encoder, value, &mut slot));
                // What was written is used: the compiler may not leave it out.
                black_box(&slot);
                total += start.elapsed();
            }
        });
        (total.as_secs_f64(), cpu.as_secs_f64())
    }
}

#[inline]
fn encode(encoder: &mut Encoder, value: &Nos222, slot: &mut [u8; SLOT]) -> Option<Range<usize>> {
    encoder.encode(slot, NEW_ORDER_SINGLE, SeqNum(value.seq), value.sending_time, |body| value.write(body))
}

/// Times the whole loop.
fn over<'t, T: 't + ?Sized>(
    ring: impl Iterator<Item = &'t T>,
    mut work: impl FnMut(&'t T) -> Option<()>,
) -> (f64, f64) {
    let start = Instant::now();
    let (cpu, ()) = timed(|| {
        for member in ring {
            black_box(work(black_box(member)));
        }
    });
    (start.elapsed().as_secs_f64(), cpu.as_secs_f64())
}
