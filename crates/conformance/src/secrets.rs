//! Frames with a secret in them, most of them garbled, for tests of what is shown: [`SECRET`] must
//! be nowhere in it.

use fixbolt_codec::byte_sum;

/// What no output may contain.
pub const SECRET: &str = "S3cretWord";

/// Returns `count` frames, the same for a seed. Their counterparty is `sender`, of FIX.4.4.
///
/// Each has [`SECRET`] as the value of one or more of the fields that are masked by default, or as
/// parts of it between delimiters. A tag may have blanks, zeros or other text before it; fields may
/// be separated by something else than SOH; a data field's length may be wrong, missing or no
/// number; in a Logon, that of other data may be too long and end after the secret by chance; and
/// the frame may be cut off, or BodyLength, CheckSum or the order of its first fields wrong. No
/// secret has a CheckSum field in it, at which a wrong BodyLength would end the frame: what follows
/// would be text that nothing tells from a secret.
#[must_use]
pub fn frames(seed: u64, count: usize, sender: &str, sending_time: &str) -> Vec<Vec<u8>> {
    let mut choices = Choices(seed | 1);
    (0..count).map(|_| frame(&mut choices, sender, sending_time)).collect()
}

/// Numbers that look random (xorshift).
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }

    fn of<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }
}

fn frame(choices: &mut Choices, sender: &str, sending_time: &str) -> Vec<u8> {
    // RawData is a secret in a Logon only, and in garbled bytes.
    let msg_type = choices.of(&["A", "A", "BE", "D"]);
    let header = format!("49={sender}|56=US|34=2|52={sending_time}|");
    let mut body = format!("35={msg_type}|{header}98=0|108=30|58=text|");
    for _ in 0..1 + choices.below(2) {
        let secret = match choices.below(4) {
            0 if msg_type == "A" => in_other_data(choices),
            _ => secret(choices, msg_type == "A"),
        };
        body.push_str(&secret);
        body.push_str(choices.of(&["", "", "58=more|", "553=me|", "|", "x|", "93=99|89=s|"]));
    }
    let mut body = body.replace('|', "\x01");
    let garbling = choices.below(16);
    if garbling == 0 {
        // MsgType is not the third field.
        body = format!("34=2\x01{body}");
    }
    let length = match garbling {
        1 => body.len() + 1 + choices.below(40),
        2 => body.len() - 1 - choices.below(20),
        3 => 1_000_000_000,
        _ => body.len(),
    };
    let mut frame = format!("8=FIX.4.4\x019={length}\x01{body}");
    let sum = byte_sum(frame.as_bytes()).wrapping_add(u8::from(garbling == 4));
    frame.push_str(&format!("10={sum:03}\x01"));
    match garbling {
        5 => frame = frame.replace('\x01', choices.of(&["\u{2}", "^A", "<SOH>", ";", " ", "|"])),
        6 => {
            let at = frame.rfind(SECRET).unwrap_or_default();
            frame.truncate(at + choices.below(frame.len() - at));
        }
        7 => frame = frame.replacen("8=FIX", choices.of(&["8=FOX", "FIX", ""]), 1),
        _ => {}
    }
    frame.into_bytes()
}

/// Returns other data than a secret, with a length that is too long and ends at the SOH after a
/// secret, with `|` for SOH.
fn in_other_data(choices: &mut Choices) -> String {
    let pairs = [("212", "213"), ("354", "355"), ("93", "89"), ("90", "91")];
    let (length_tag, tag) = pairs[choices.below(pairs.len())];
    let secrets = ["554=S", "553=me| 925=S", "1401=10|1402=S", "1401=4|1402=S|99=S", "96=S", "x554=S|58=y"];
    let data = format!("<x/>|{}", choices.of(&secrets).replace('S', SECRET));
    format!("{length_tag}={}|{tag}={data}|", data.len())
}

/// Returns a secret with its length, if it has one, with `|` for SOH.
fn secret(choices: &mut Choices, in_logon: bool) -> String {
    let before = choices.of(&["", "", "", "0", "000", " ", "\t ", "x ", "^A", "<SOH>", "; ", "\u{e9}"]);
    let after = choices.of(&["", "", "", " "]);
    let is_data = choices.below(2) == 0;
    if !is_data {
        let tag = choices.of(&["554", "925"]);
        let value = choices.of(&["S", "S|S", "xS=S", "S|S=S|=S", "S^AS", "S|x|S"]);
        return format!("{before}{tag}{after}={}|", value.replace('S', SECRET));
    }
    let pairs = [("1401", "1402"), ("1403", "1404"), ("95", "96")];
    let (length_tag, tag) = pairs[choices.below(if in_logon { 3 } else { 2 })];
    let values = ["S", "S|S", "S|99=S", "\u{e9}S|58=S", "S|S=S|58=x S|35=D|S", "S|11=00|S"];
    let value = choices.of(&values);
    let value = value.replace('S', SECRET);
    let right = value.len();
    // A wrong length that ends at a delimiter would be right, as far as anyone can tell.
    let length = match choices.below(9) {
        0..=2 => right.to_string(),
        3 => value.chars().count().min(SECRET.len() - 1).to_string(),
        4 => (right + 1).to_string(),
        5 => "99999999999999999999999".to_owned(),
        6 => "-3".to_owned(),
        7 => String::new(),
        _ => "abc".to_owned(),
    };
    let length = match choices.below(6) {
        0 => String::new(),
        1 => format!("{length_tag}={length}|58=between|"),
        _ => format!("{length_tag}={length}|"),
    };
    format!("{length}{before}{tag}{after}={value}|")
}
