//! The data types: what each accepts, refuses and writes, by the standard's examples (FIX 5.0SP2
//! volume 1 and Orchestra), and round trips of random values.

mod conversions;
mod decimals;
mod numbers;
mod round_trips;
mod text;
mod times;

use fixbolt_codec::{BodyWriter, FromField, Key, MsgType, ToField, ValueError, byte_sum};
use std::collections::hash_map::DefaultHasher;
use std::fmt::{Debug, Display};
use std::hash::{Hash, Hasher};

use ValueError::Empty;

fn written<T: ToField>(value: &T) -> Vec<u8> {
    let mut out = vec![b'#'; T::MAX_LEN + 16];
    let length = value.write_to(&mut out);
    assert!((1..=T::MAX_LEN).contains(&length));
    let after = &out[T::MAX_LEN..];
    assert!(after.iter().all(|byte| *byte == b'#'), "nothing is written after the longest value");
    out.truncate(length);
    // A body writer takes the common values of a type in another way.
    let mut memory = [0; 128];
    let mut body = BodyWriter::new(MsgType::new(b"D"), &mut memory);
    body.field(Key::new(58), value);
    let expected = [b"58=", &out[..], b"\x01"].concat();
    assert_eq!(body.finish().map(|body| (body.bytes, body.sum)), Ok((&expected[..], byte_sum(&expected))));
    out
}

/// Reads each value and writes it back: unchanged, or as the second element says.
#[track_caller]
fn accepts<T: for<'m> FromField<'m> + ToField + Display>(values: &[(&str, &str)]) {
    for (read, write) in values {
        let value = T::from_field(read.as_bytes()).unwrap_or_else(|error| panic!("{read:?}: {error}"));
        assert_eq!(String::from_utf8(written(&value)).unwrap(), *write, "{read:?}");
        assert_eq!(value.to_string(), *write, "{read:?}");
    }
}

/// Reads each value and writes it back unchanged.
#[track_caller]
fn keeps<T: for<'m> FromField<'m> + ToField + Display>(values: &[&str]) {
    accepts::<T>(&values.iter().map(|value| (*value, *value)).collect::<Vec<_>>());
}

#[track_caller]
fn refuses<'m, T: FromField<'m> + Debug>(values: &[(&'m str, ValueError)]) {
    for (value, error) in values {
        assert_eq!(T::from_field(value.as_bytes()).err(), Some(*error), "{value:?}");
    }
    assert_eq!(T::from_field(b"").err(), Some(Empty), "an empty value");
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
