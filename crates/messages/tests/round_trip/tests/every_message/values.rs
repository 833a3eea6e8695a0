//! Values of every type, with many awkward ones: the longest, the negative, those that look like
//! fields.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex};

use fixbolt_dictionary::DataType;
use fixbolt_messages::codec::Decimal;

/// Returns a number that depends on both arguments (splitmix64).
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

    /// Returns a number from `least` to `most`, both included.
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

/// Leaks the bytes, as a message borrows its values.
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

/// Any bytes, including SOH.
static ANY: LazyLock<Vec<u8>> = LazyLock::new(|| (0..1 << 16).map(|n| mix(n, 3) as u8).collect());
/// Bytes without SOH.
static NO_SOH: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let bytes = ANY.iter().map(|byte| if *byte == 1 { b'=' } else { *byte });
    bytes.collect()
});

fn some(of: &'static [u8], draw: &mut Draw) -> &'static [u8] {
    let length = if draw.one_in(50) { draw.within(1, 600) } else { draw.within(1, 12) } as usize;
    let at = draw.within(0, (of.len() - length) as u64) as usize;
    &of[at..at + length]
}

/// Returns a String.
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

/// One letter or digit, as a token.
pub(crate) fn letter(draw: &mut Draw) -> &'static [u8] {
    let at = draw.within(0, 61) as usize;
    &b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[at..=at]
}

/// Returns a value of a type as its bytes. Texts have the form in which they are written.
pub(crate) fn of_type(draw: &mut Draw, kind: DataType) -> &'static [u8] {
    const FRACTIONS: [&str; 6] = ["", ".000", ".123", ".123456", ".123456789", ".000000000001"];
    let text = match kind {
        DataType::Char => {
            let at = draw.within(0, NO_SOH.len() as u64 - 1) as usize;
            return &NO_SOH[at..=at];
        }
        DataType::Boolean => draw.pick(&["Y", "N"]).to_owned(),
        DataType::Int => match draw.within(0, 3) {
            0 => draw.pick(&[0, -1, 1, i64::MAX, i64::MIN]).to_string(),
            _ => (draw.next() as i64 >> draw.within(0, 60)).to_string(),
        },
        DataType::Length | DataType::NumInGroup if draw.one_in(4) => u32::MAX.to_string(),
        DataType::Length | DataType::NumInGroup => draw.within(1, 100_000).to_string(),
        DataType::SeqNum if draw.one_in(4) => (u64::MAX - 1).to_string(),
        DataType::SeqNum => draw.within(1, 1 << 40).to_string(),
        DataType::TagNum => draw.within(1, 0x7fff_ffff).to_string(),
        DataType::DayOfMonth => draw.within(1, 31).to_string(),
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => match draw.within(0, 3) {
            0 => draw
                .pick(&["0", "-0.0025", "57.00", "0.000000000000000001", "-9223372036854775807"])
                .to_owned(),
            1 => Decimal::from_parts(draw.next() as i64, draw.within(0, 18) as u8).to_string(),
            _ => Decimal::from_parts(draw.within(0, 1_000_000) as i64 - 1000, draw.within(0, 6) as u8)
                .to_string(),
        },
        DataType::Country => draw.pick(&["DE", "US", "ZZ"]).to_owned(),
        DataType::Currency => draw.pick(&["EUR", "USD", "GBp"]).to_owned(),
        DataType::Language => draw.pick(&["en", "de"]).to_owned(),
        DataType::MonthYear => draw.pick(&["200303", "20030320", "200303w2", "999912"]).to_owned(),
        DataType::UtcTimestamp => {
            let moment = draw.pick(&[
                "20261121-10:00:00",
                "20240229-23:59:59",
                "19700101-00:00:00",
                "20161231-23:59:60",
            ]);
            moment.to_owned() + draw.pick(&FRACTIONS)
        }
        DataType::UtcTimeOnly => {
            draw.pick(&["00:00:00", "23:59:60", "13:20:00"]).to_owned() + draw.pick(&FRACTIONS)
        }
        DataType::UtcDateOnly | DataType::LocalMktDate => {
            draw.pick(&["20240229", "19700101", "20261231"]).to_owned()
        }
        DataType::LocalMktTime => draw.pick(&["00:00:00", "07:00:00", "23:59:59"]).to_owned(),
        DataType::TzTimeOnly => draw.pick(&["07:39Z", "02:39-05", "13:09+05:30", "13:09:01"]).to_owned(),
        DataType::TzTimestamp => {
            draw.pick(&["20060901-07:39Z", "20060901-13:09:00.250+05:30", "20060901-13:09:00-05"]).to_owned()
        }
        DataType::Tenor => draw.pick(&["D5", "M3", "W13", "Y1", "D4294967295"]).to_owned(),
        _ => return bytes(draw),
    };
    kept(text.into_bytes())
}
