//! Values of every type, the awkward ones often: the longest, the negative, those that look like fields.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex};

use fixbolt_dictionary::DataType;
use fixbolt_messages::codec::{
    Country, Currency, Date, DayOfMonth, Decimal, FromField, Language, LocalMktTime, MonthYear, SeqNum, Tag,
    Tenor, TzTimeOnly, TzTimestamp, UtcTimeOnly, UtcTimestamp,
};

/// A number that both halves decide (splitmix64).
pub(crate) const fn mix(seed: u64, with: u64) -> u64 {
    let mut z = (seed ^ with.wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Numbers drawn one after the other.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.0
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0, 2)
    }

    /// `least` to `most`, both may come.
    pub(crate) const fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    pub(crate) const fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    const fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.within(0, from.len() as u64 - 1) as usize]
    }
}

/// The same bytes for good: a message borrows its values.
pub(crate) fn kept(bytes: Vec<u8>) -> &'static [u8] {
    static KEPT: Mutex<Option<HashSet<&'static [u8]>>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap();
    let kept = kept.get_or_insert_with(HashSet::new);
    match kept.get(&bytes[..]) {
        Some(same) => same,
        None => {
            let bytes: &'static [u8] = bytes.leak();
            kept.insert(bytes);
            bytes
        }
    }
}

/// Bytes as they come, SOH among them.
static ANY: LazyLock<Vec<u8>> = LazyLock::new(|| (0..1 << 16).map(|n| mix(n, 3) as u8).collect());
/// Bytes of which none is SOH.
static NO_SOH: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let bytes = ANY.iter().map(|byte| if *byte == 1 { b'=' } else { *byte });
    bytes.collect()
});

fn some(of: &'static [u8], draw: &mut Draw) -> &'static [u8] {
    let length = if draw.one_in(50) { draw.within(1, 600) } else { draw.within(1, 12) } as usize;
    let at = draw.within(0, (of.len() - length) as u64) as usize;
    &of[at..at + length]
}

/// A String.
pub(crate) fn bytes(draw: &mut Draw) -> &'static [u8] {
    match draw.within(0, 9) {
        0 => draw.pick(&[&b"="[..], b" ", b"10=000", b"\0", b"8=FIX.4.4", b"\xff\xfe", b"=="]),
        1..=5 => draw.pick(&[&b"IBM"[..], b"A", b"ord-1", b"N/A"]),
        _ => some(&NO_SOH, draw),
    }
}

/// Raw bytes.
pub(crate) fn data(draw: &mut Draw) -> &'static [u8] {
    match draw.within(0, 3) {
        0 => draw.pick(&[&b"\x01"[..], b"\x0110=123\x01", b"8=FIX.4.4\x019=5\x0135=0\x01", b"a\x01b", b"="]),
        _ => some(&ANY, draw),
    }
}

/// A char.
pub(crate) fn byte(draw: &mut Draw) -> u8 {
    NO_SOH[draw.within(0, NO_SOH.len() as u64 - 1) as usize]
}

/// One letter or digit, as a token.
pub(crate) fn letter(draw: &mut Draw) -> &'static [u8] {
    let at = draw.within(0, 61) as usize;
    &b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[at..=at]
}

/// A number of a type that counts.
pub(crate) fn number(draw: &mut Draw, kind: DataType) -> i64 {
    match kind {
        DataType::Int => i64::drawn(draw),
        _ => i64::from(u32::drawn(draw)),
    }
}

/// A value of a type as its bytes.
pub(crate) fn of_type(draw: &mut Draw, kind: DataType) -> &'static [u8] {
    let text = match kind {
        DataType::Char => return kept(vec![byte(draw)]),
        DataType::Int => i64::drawn(draw).to_string(),
        DataType::Length | DataType::NumInGroup => u32::drawn(draw).to_string(),
        DataType::SeqNum => SeqNum::drawn(draw).to_string(),
        DataType::TagNum => Tag::drawn(draw).to_string(),
        DataType::DayOfMonth => DayOfMonth::drawn(draw).to_string(),
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => Decimal::drawn(draw).to_string(),
        DataType::Country => Country::drawn(draw).to_string(),
        DataType::Currency => Currency::drawn(draw).to_string(),
        DataType::Language => Language::drawn(draw).to_string(),
        DataType::MonthYear => MonthYear::drawn(draw).to_string(),
        DataType::UtcTimestamp => UtcTimestamp::drawn(draw).to_string(),
        DataType::UtcTimeOnly => UtcTimeOnly::drawn(draw).to_string(),
        DataType::UtcDateOnly | DataType::LocalMktDate => Date::drawn(draw).to_string(),
        DataType::LocalMktTime => LocalMktTime::drawn(draw).to_string(),
        DataType::TzTimeOnly => TzTimeOnly::drawn(draw).to_string(),
        DataType::TzTimestamp => TzTimestamp::drawn(draw).to_string(),
        DataType::Tenor => Tenor::drawn(draw).to_string(),
        _ => return bytes(draw),
    };
    kept(text.into_bytes())
}

fn read<T: FromField<'static>>(text: &'static str) -> T {
    T::from_field(text.as_bytes()).expect("a value of its type")
}

/// A type that a setter takes and a getter gives as it is.
pub(crate) trait Plain: Sized {
    fn drawn(draw: &mut Draw) -> Self;
}

macro_rules! plain {
    ($($type:ty, |$draw:ident| $value:expr;)+) => {
        $(impl Plain for $type {
            fn drawn($draw: &mut Draw) -> Self {
                $value
            }
        })+
    };
}

plain! {
    i64, |draw| if draw.one_in(2) { draw.pick(&[0, -1, 1, i64::MAX, i64::MIN]) } else { draw.next() as i64 >> draw.within(0, 60) };
    u32, |draw| if draw.one_in(4) { u32::MAX } else { draw.within(1, 100_000) as u32 };
    bool, |draw| draw.one_in(2);
    Tag, |draw| Tag::new(draw.within(1, 0x7fff_ffff) as u32);
    SeqNum, |draw| SeqNum(if draw.one_in(4) { u64::MAX - 1 } else { draw.within(1, 1 << 40) });
    DayOfMonth, |draw| DayOfMonth::new(draw.within(1, 31) as u8).unwrap();
    Decimal, |draw| match draw.within(0, 4) {
        0 => draw.pick(&["0", "-0.0025", "57.00", "0.000000000000000001", "-9223372036854775807"]).parse().unwrap(),
        1 => Decimal::from_parts(draw.next() as i64, draw.within(0, 18) as u8),
        _ => Decimal::from_parts(draw.within(0, 1_000_000) as i64 - 1000, draw.within(0, 6) as u8),
    };
    Country, |draw| read(draw.pick(&["DE", "US", "ZZ"]));
    Currency, |draw| read(draw.pick(&["EUR", "USD", "GBp"]));
    Language, |draw| read(draw.pick(&["en", "de"]));
    MonthYear, |draw| draw.pick(&["200303", "20030320", "200303w2", "999912"]).parse().unwrap();
    UtcTimestamp, |draw| {
        let fraction = draw.pick(&["", ".000", ".123", ".123456", ".123456789", ".000000000001"]);
        let moment = draw.pick(&["20261121-10:00:00", "20240229-23:59:59", "19700101-00:00:00", "99991231-23:59:59"]);
        format!("{moment}{fraction}").parse().unwrap()
    };
    UtcTimeOnly, |draw| draw.pick(&["00:00:00", "23:59:60", "13:20:00.5", "13:20:00.123456789"][..2]).parse().unwrap();
    Date, |draw| draw.pick(&["20240229", "19700101", "20261231"]).parse().unwrap();
    LocalMktTime, |draw| draw.pick(&["00:00:00", "07:00:00", "23:59:59"]).parse().unwrap();
    TzTimeOnly, |draw| draw.pick(&["07:39Z", "02:39-05", "13:09+05:30", "13:09:01"]).parse().unwrap();
    TzTimestamp, |draw| {
        draw.pick(&["20060901-07:39Z", "20060901-13:09:00.250+05:30", "20060901-13:09:00-05"]).parse().unwrap()
    };
    Tenor, |draw| read(draw.pick(&["D5", "M3", "W13", "Y1", "D4294967295"]));
}
