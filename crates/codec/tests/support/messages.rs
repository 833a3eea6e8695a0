//! Messages to test with: our own, and the real ones of the reference folder if it is present.

use std::path::PathBuf;

/// Returns a message around `fields` (from `35=` on, `|` for SOH) whose length and checksum are
/// right.
pub fn seal(begin_string: &str, fields: &[u8]) -> Vec<u8> {
    let fields: Vec<u8> = fields.iter().map(|byte| if *byte == b'|' { 1 } else { *byte }).collect();
    seal_bytes(begin_string.as_bytes(), &fields)
}

/// Returns a message around the bytes of `fields` (from `35=` on) whose length and checksum are
/// right.
pub fn seal_bytes(begin_string: &[u8], fields: &[u8]) -> Vec<u8> {
    let mut message =
        [b"8=", begin_string, format!("\x019={}\x01", fields.len()).as_bytes(), fields].concat();
    let sum = message.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    message.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    message
}

/// Messages of every kind that framing and indexing treat specially.
pub fn own() -> Vec<Vec<u8>> {
    let inner = seal("FIX.4.2", b"35=0|34=2|49=A|56=B|52=20240229-12:00:00|");
    let raw_data = [&b"35=B|34=7|49=A|56=B|52=20240229-12:00:00.000|148=News|33=1|58=line|95="[..]].concat();
    let with_length = |length: usize| [&raw_data, format!("{length}|96=").as_bytes()].concat();
    vec![
        seal("FIX.4.2", b"35=A|49=SERVER|56=CLIENT|34=177|52=20090107-18:15:16|98=0|108=30|"),
        seal("FIX.4.2", b"35=0|34=2|49=A|56=B|52=20240229-12:00:00|"),
        seal(
            "FIX.4.4",
            b"35=D|49=A12345B|56=COMPARO|34=78|52=20240229-12:00:00.123|50=2DEFGH4|57=G|142=AU,SY|\
              60=20240229-12:00:00.123|1=01234567|38=50|44=400.5|11=4|21=1|40=2|54=1|55=OC|58=NIGEL|59=0|\
              107=AOZ3 C02000|167=OPT|",
        ),
        seal(
            "FIX.4.2",
            b"35=8|49=TEX_DLD|56=DLD_TEX|34=1962926|52=20121227-11:22:07|37=ord499647|11=ord509647-500000|\
              17=ord499647|20=0|150=0|39=0|55=BHP|54=1|38=57.00|40=2|44=298.07|59=4|29=5|151=57.00|14=0.00|\
              6=0.00|60=20121227-11:20:14|113=Y|21=1|",
        ),
        seal(
            "FIX.4.4",
            b"35=V|49=A|56=B|34=9|52=20240229-12:00:00|262=r1|263=1|264=0|267=2|269=0|269=1|146=2|55=IBM|\
              461=ES|55=BHP|461=ES|",
        ),
        seal("FIX.4.2", &[&with_length(inner.len())[..], &inner, b"|354=3|355=a=b|"].concat()),
        seal("FIX.4.2", &[&with_length(8)[..], b"|10=000||58=x|"].concat()),
        seal("FIXT.1.1", b"35=A|34=1|49=A|56=B|52=20240229-12:00:00|98=0|108=30|1137=9|"),
        seal("FIXT.1.1", b"35=8|49=A|56=B|34=3|52=20240229-12:00:00|1525=4|1527=a|=b|93=3|89=|x||"),
        seal("FIX.4.4", b"35=3|34=3|49=A|56=B|52=20240229-12:00:00|45=2|58=a=b=c|371=55|372=D|373=4|"),
        seal("FIX.4.4", b"35=D|34=3|49=A|56=B|0=x|55=|7|10000000000=x|58=caf\xE9|"),
        seal("FIX.4.4", b"35=j|45=1|372=D|380=3|58=\0|347=UTF-8|354=2|355=\xC3\xA9|"),
    ]
}

/// Returns the reference folder: FIXBOLT_SHARED, else `shared` beside the repository.
pub fn shared_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("FIXBOLT_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    folder.join("messages").is_dir().then_some(folder)
}

/// A message of a `.jsonl` file of the reference folder.
pub struct Recorded {
    /// File name and line.
    pub origin: String,
    /// The bytes of the wire.
    pub bytes: Vec<u8>,
    /// Whether its BodyLength is right.
    pub length_is_right: bool,
    /// Whether its CheckSum is right.
    pub sum_is_right: bool,
}

/// Returns every message of `messages/*.jsonl`; `None` if the reference folder is absent.
pub fn recorded() -> Option<Vec<Recorded>> {
    let folder = shared_folder()?.join("messages");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut messages = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for (line, text) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            messages.push(Recorded {
                origin: format!("{name}:{}", line + 1),
                bytes: json_string(text, "raw"),
                length_is_right: text.contains("\"len_ok\": true"),
                sum_is_right: text.contains("\"cks_ok\": true"),
            });
        }
    }
    Some(messages)
}

/// Returns the contents of the files in `messages/raw`; none if the reference folder is absent.
pub fn raw_streams() -> Vec<Vec<u8>> {
    let Some(folder) = shared_folder() else { return Vec::new() };
    let files = std::fs::read_dir(folder.join("messages/raw")).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|e| e == "fix"))
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

/// Returns the string member `name` of a JSON object on one line, one byte per character (ISO
/// 8859-1).
fn json_string(object: &str, name: &str) -> Vec<u8> {
    let start = format!("\"{name}\": \"");
    let mut characters = object[object.find(&start).expect(name) + start.len()..].chars();
    let mut bytes = Vec::new();
    loop {
        let character = match characters.next().expect("the string ends") {
            '"' => return bytes,
            '\\' => match characters.next().unwrap() {
                'u' => {
                    let digits: String = characters.by_ref().take(4).collect();
                    char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
                }
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'b' => '\x08',
                'f' => '\x0C',
                other => other,
            },
            other => other,
        };
        bytes.push(u8::try_from(u32::from(character)).expect("ISO 8859-1"));
    }
}
