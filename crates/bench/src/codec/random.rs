//! Rings of generated messages.

use std::hint::black_box;

use fixbolt_codec::Tier;
use fixbolt_dictionary::{Dictionary, Validator, fix42, fix44};

use super::reading::{index, read_nos, reading, reading_placed, validate};
use super::ring::Ring;
use crate::batches::Work;
use crate::generated::{Generator, oracle};
use crate::messages::RING;
use crate::values::{Types, Value};

/// The fields that typed-six reads.
const SIX: [u32; 6] = [11, 55, 54, 38, 44, 60];

/// Rings of generated messages: any type of FIX.4.4 and FIX.4.2, and orders of FIX.4.4 that have
/// the six fields. A message's value are its fields as the oracle read them.
pub(super) struct Rings {
    any44: Ring<Fields>,
    any42: Ring<Fields>,
    orders: Ring<Fields>,
    types: [Types; 2],
}

type Fields = Vec<(u32, Vec<u8>)>;

impl Rings {
    pub(super) fn new(seed: u64) -> Result<Self, String> {
        let any = |name, dictionary| ring(name, dictionary, seed, |generator| generator.message());
        Ok(Self {
            any44: any("random-44", fix44())?,
            any42: any("random-42", fix42())?,
            orders: ring("random-order-44", fix44(), !seed, |generator| generator.message_of("D", &SIX))?,
            types: [Types::new(fix44()), Types::new(fix42())],
        })
    }

    pub(super) fn works<'r>(
        &'r self,
        validator44: &'r Validator,
        validator42: &'r Validator,
        tier: Tier,
    ) -> Result<Vec<Work<'r>>, String> {
        let [types44, types42] = &self.types;
        let mut works = vec![
            index(&self.any44, tier)?,
            validate(&self.any44, validator44, tier, &[])?,
            typed_all(&self.any44, types44, tier)?,
            index(&self.any42, tier)?,
            validate(&self.any42, validator42, tier, &[])?,
            typed_all(&self.any42, types42, tier)?,
            index(&self.orders, tier)?,
            validate(&self.orders, validator44, tier, &[])?,
        ];
        works.extend(typed_six(&self.orders, validator44, tier)?);
        works.push(typed_all(&self.orders, types44, tier)?);
        Ok(works)
    }
}

fn ring(
    name: &'static str,
    dictionary: &Dictionary,
    seed: u64,
    next: impl Fn(&mut Generator<'_>) -> Result<Vec<u8>, String>,
) -> Result<Ring<Fields>, String> {
    let mut generator = Generator::new(dictionary, seed);
    let (mut values, mut messages, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RING {
        let message = next(&mut generator).map_err(|error| format!("{name}, seed {seed}: {error}"))?;
        let fields = oracle::fields(dictionary, &message)?;
        values.push(fields.iter().map(|field| (field.tag, field.value.to_vec())).collect());
        counts.push(fields.len());
        messages.push(message);
    }
    Ok(Ring { name, values, bytes: messages, fields: counts })
}

/// Every field is converted to its type, in the order of the message: no field is looked up, so
/// that places make no difference.
fn typed_all<'r>(ring: &'r Ring<Fields>, types: &'r Types, tier: Tier) -> Result<Work<'r>, String> {
    reading(
        ring,
        "typed-all",
        tier,
        move |message| {
            for n in 0..message.len() {
                black_box(types.read(message.tags()[n], message.value(n)));
            }
        },
        |message, fields| {
            message.len() == fields.len()
                && fields.iter().enumerate().all(|(n, (tag, text))| {
                    let value = types.read(message.tags()[n], message.value(n));
                    message.tags()[n] == *tag && value.is_some_and(|value| value.text() == *text)
                })
        },
    )
}

fn typed_six<'r>(ring: &'r Ring<Fields>, validator: &Validator, tier: Tier) -> Result<[Work<'r>; 2], String> {
    reading_placed(
        ring,
        validator,
        "typed-six",
        tier,
        |message| {
            black_box(read_nos(message));
        },
        |message, fields| {
            let Some((id, symbol, side, quantity, price, time)) = read_nos(message) else { return false };
            let values = [
                Value::Text(id),
                Value::Text(symbol),
                Value::Char(side),
                Value::Decimal(quantity),
                Value::Decimal(price),
                Value::Timestamp(time),
            ];
            SIX.iter().zip(values).all(|(tag, value)| fields.contains(&(*tag, value.text())))
        },
    )
}
