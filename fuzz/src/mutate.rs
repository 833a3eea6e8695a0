//! From seeds to inputs: small damage, splices, and sometimes a corrected BodyLength and CheckSum,
//! so that the damage passes the first checks.

use crate::random::Random;

/// Bytes that change the meaning of those around them.
const TOKENS: &[&[u8]] = &[
    b"\x01",
    b"=",
    b"|",
    b"\x018=FIX",
    b"8=FIX.4.2\x01",
    b"9=",
    b"35=",
    b"10=000\x01",
    b"\x01\x01",
    b"==",
    b"\0",
    b"\xff",
    b"-",
    b"+",
    b".",
    b" ",
    b"0",
    b"00",
    b"-0",
    b"1",
    b"2147483647",
    b"2147483648",
    b"4294967296",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1000000000000",
    b"95=5\x0196=",
    b"93=0\x01",
    b"34=1\x01",
    b"34=0\x01",
    b"43=Y\x01",
    b"123=Y\x01",
    b"141=Y\x01",
    b"36=",
    b"7=1\x0116=0\x01",
    b"112=x\x01",
    b"453=2\x01",
    b"20240229-23:59:60.999",
    b"<",
    b">",
    b"&",
    b"]]>",
    b"\"",
    b"'",
    b"/",
    b"[",
    b"]",
    b"\n",
    b"#",
    b"${",
    b"}",
    b"Y",
    b"N",
];

/// Makes an input from one or two of `seeds`.
pub(crate) fn mutate(seeds: &[Vec<u8>], random: &mut Random, most: usize) -> Vec<u8> {
    let mut input = random.pick(seeds).clone();
    if random.one_in(4) {
        let other = random.pick(seeds);
        let (from, at) = (random.below(other.len() + 1), random.below(input.len() + 1));
        if random.one_in(2) {
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        } else {
            let upto = from + random.below(other.len() - from + 1);
            input.splice(at..at, other[from..upto].iter().copied());
        }
    }
    // Usually few: much damage never passes the first check.
    let mut rounds = 1;
    while rounds < 12 && random.one_in(2) {
        rounds += 1;
    }
    if random.one_in(50) {
        rounds = 0;
    }
    for _ in 0..rounds {
        damage(&mut input, random);
    }
    if !random.one_in(3) {
        input = with_right_lengths(&input);
    }
    input.truncate(most);
    input
}

fn damage(input: &mut Vec<u8>, random: &mut Random) {
    let length = input.len();
    let at = random.below(length + 1);
    let stretch = |random: &mut Random| {
        let longest = if random.one_in(8) { length - at } else { (length - at).min(8) };
        at..at + random.below(longest + 1)
    };
    match random.below(11) {
        0 if at < length => input[at] ^= 1 << random.below(8),
        1 if at < length => input[at] = random.byte(),
        2 => input.insert(at, random.byte()),
        3 => {
            let gone = stretch(random);
            input.drain(gone);
        }
        4 => {
            let copy = input[stretch(random)].to_vec();
            let to = random.below(length + 1);
            input.splice(to..to, copy);
        }
        5 | 6 => {
            input.splice(at..at, random.pick(TOKENS).iter().copied());
        }
        7 => {
            let over = stretch(random);
            input.splice(over, random.pick(TOKENS).iter().copied());
        }
        8 => whole_field(input, at, random),
        9 => {
            // Replaces a digit: lengths, sequence numbers and counts that are nearly right.
            if let Some(n) = input[at..].iter().position(u8::is_ascii_digit) {
                input[at + n] = b'0' + (random.byte() % 10);
            }
        }
        _ => {
            let (a, b) = (random.below(length), random.below(length));
            if length > 0 {
                input.swap(a, b);
            }
        }
    }
}

/// Removes, repeats or moves the field around `at` (between two SOHs or two line ends).
fn whole_field(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let ends = |byte: &u8| *byte == 1 || *byte == b'\n';
    let start = input[..at].iter().rposition(ends).map_or(0, |n| n + 1);
    let end = input[at..].iter().position(ends).map_or(input.len(), |n| at + n + 1);
    let field = input[start..end].to_vec();
    match random.below(3) {
        0 => {
            input.drain(start..end);
        }
        1 => {
            let times = if random.one_in(10) { 100 } else { 1 };
            for _ in 0..times {
                input.splice(end..end, field.iter().copied());
            }
        }
        _ => {
            input.drain(start..end);
            let to = random.below(input.len() + 1);
            let to = input[..to].iter().rposition(ends).map_or(0, |n| n + 1);
            input.splice(to..to, field);
        }
    }
}

/// Corrects BodyLength and CheckSum in every stretch that looks like a message.
pub(crate) fn with_right_lengths(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len() + 8);
    let mut at = 0;
    while at < input.len() {
        let next = find(&input[at + 1..], b"\x018=FIX").map_or(input.len(), |n| at + 1 + n + 1);
        out.extend_from_slice(&repaired(&input[at..next]).unwrap_or_else(|| input[at..next].to_vec()));
        at = next;
    }
    out
}

/// Returns a message with its proper BodyLength and CheckSum, or `None` if it does not look like
/// one.
fn repaired(message: &[u8]) -> Option<Vec<u8>> {
    if !message.starts_with(b"8=FIX") {
        return None;
    }
    let nine = find(message, b"\x019=")? + 1;
    let body = nine + message[nine..].iter().position(|b| *b == 1)? + 1;
    let ten = message.windows(4).rposition(|w| w == b"\x0110=")? + 1;
    if ten < body {
        return None;
    }
    let mut out = message[..nine].to_vec();
    out.extend_from_slice(format!("9={}\x01", ten - body).as_bytes());
    out.extend_from_slice(&message[body..ten]);
    let sum = out.iter().fold(0u8, |sum, b| sum.wrapping_add(*b));
    out.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    Some(out)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}
