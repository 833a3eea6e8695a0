//! A dictionary's names in the forms in which they are printed, each prepared when it is first
//! used.

use std::collections::HashMap;

use fixbolt_cli::output::quoted;
use fixbolt_dictionary::{Code, DataType, Dictionary};

/// The words of a dictionary that have been used.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// For each tag below [`DIRECT`], one more than the index in `fields`, or 0, or [`UNDEFINED`].
    direct: Vec<u32>,
    /// For each tag from [`DIRECT`] on, one more than the index in `fields`, or [`UNDEFINED`]; no
    /// entry stands for 0.
    others: HashMap<u32, u32>,
    fields: Vec<FieldWords>,
    messages: Vec<MessageWords>,
}

const DIRECT: u32 = 65_536;
const UNDEFINED: u32 = u32::MAX;
/// The most tags that are remembered to be undefined: hostile input has millions.
const MOST_UNDEFINED: usize = 10_000;

/// What is printed of a field beside its value.
#[derive(Debug)]
pub(crate) struct FieldWords {
    pub(crate) name: String,
    /// ` Side=`
    pub(crate) assignment: Prepared,
    /// `Side (54): `
    pub(crate) label: Prepared,
    /// `{"tag":54,"name":"Side","value":"`
    pub(crate) json: Prepared,
    /// The number of digits of the tag.
    digits: usize,
    kind: DataType,
    /// Whether a value is a list of codes.
    has_list: bool,
    /// The codes' values as [`key`] has them, ascending.
    keys: Vec<u64>,
    /// The codes in the same order.
    codes: Vec<CodeWords>,
    /// For each value of one byte, one more than the index of its code, or 0; empty without codes.
    short: Vec<u16>,
}

/// The name of a code.
#[derive(Debug)]
pub(crate) struct CodeWords {
    value: Vec<u8>,
    name_in_source: String,
    pub(crate) name: Prepared,
    /// The name as JSON, without quotes.
    pub(crate) json: Prepared,
}

/// Text that is written often. A short one is copied as a whole block, which is faster than as many
/// bytes as it has.
#[derive(Debug)]
pub(crate) struct Prepared {
    block: [u8; Self::BLOCK],
    text: String,
}

impl Prepared {
    const BLOCK: usize = 48;

    fn new(text: String) -> Self {
        let mut block = [0; Self::BLOCK];
        for (to, byte) in block.iter_mut().zip(text.bytes()) {
            *to = byte;
        }
        Self { block, text }
    }

    /// Writes the text.
    #[inline]
    pub(crate) fn write(&self, to: &mut Vec<u8>) {
        if self.text.len() > Self::BLOCK {
            to.extend_from_slice(self.text.as_bytes());
            return;
        }
        let end = to.len() + self.text.len();
        to.extend_from_slice(&self.block);
        to.truncate(end);
    }
}

/// A message by its MsgType.
#[derive(Debug)]
struct MessageWords {
    msg_type: Vec<u8>,
    name: String,
}

/// What a value means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meaning<'w> {
    /// It is not a code, or not a known one.
    None,
    /// A code.
    Code(&'w CodeWords),
    /// Several codes, separated by spaces.
    Codes,
}

impl Words {
    /// Prepares the words of a field, if the dictionary has it, and returns their index.
    pub(crate) fn prepare_field(&mut self, dictionary: &Dictionary, tag: u32) -> Option<u32> {
        if self.direct.is_empty() {
            self.direct.resize(DIRECT as usize, 0);
        }
        let known = match self.direct.get(tag as usize) {
            Some(known) => *known,
            None => self.others.get(&tag).copied().unwrap_or(0),
        };
        match known {
            0 => self.add_field(dictionary, tag),
            UNDEFINED => None,
            known => Some(known - 1),
        }
    }

    #[cold]
    fn add_field(&mut self, dictionary: &Dictionary, tag: u32) -> Option<u32> {
        let known = match FieldWords::new(dictionary, tag) {
            Some(field) => {
                self.fields.push(field);
                self.fields.len() as u32
            }
            None => UNDEFINED,
        };
        match self.direct.get_mut(tag as usize) {
            Some(entry) => *entry = known,
            None if known != UNDEFINED || self.others.len() < MOST_UNDEFINED => {
                self.others.insert(tag, known);
            }
            None => {}
        }
        (known != UNDEFINED).then(|| known - 1)
    }

    /// Returns the words of a field by their index.
    pub(crate) fn field(&self, index: u32) -> &FieldWords {
        &self.fields[index as usize]
    }

    /// Prepares the name of a message, if the dictionary has it, and returns its index.
    pub(crate) fn prepare_message(&mut self, dictionary: &Dictionary, msg_type: &[u8]) -> Option<u32> {
        let known = self.messages.iter().position(|message| message.msg_type == msg_type);
        let index = known.or_else(|| {
            let message = dictionary.message(msg_type)?;
            self.messages.push(MessageWords { msg_type: msg_type.to_vec(), name: message.name.clone() });
            Some(self.messages.len() - 1)
        })?;
        Some(index as u32)
    }

    /// Returns the name of a message by its index.
    pub(crate) fn message(&self, index: u32) -> &str {
        &self.messages[index as usize].name
    }
}

impl FieldWords {
    fn new(dictionary: &Dictionary, tag: u32) -> Option<Self> {
        let field = dictionary.field(tag)?;
        let mut codes: Vec<CodeWords> = dictionary.codes(tag).iter().map(CodeWords::new).collect();
        codes.sort_by_key(|code| key(&code.value));
        let mut short = vec![0; if codes.is_empty() { 0 } else { 256 }];
        for (index, code) in (1..=u16::MAX).zip(&codes) {
            if let [byte] = code.value[..] {
                short[usize::from(byte)] = index;
            }
        }
        let digits = tag.to_string().len();
        let has_list = matches!(
            field.kind,
            DataType::MultipleCharValue | DataType::MultipleStringValue | DataType::MultipleValueString
        );
        Some(Self {
            name: field.name.clone(),
            assignment: Prepared::new(format!(" {}=", field.name)),
            label: Prepared::new(format!("{} ({tag}): ", field.name)),
            json: Prepared::new(format!("{{\"tag\":{tag},\"name\":{},\"value\":\"", quoted(&field.name))),
            digits,
            kind: field.kind,
            has_list,
            short,
            keys: codes.iter().map(|code| key(&code.value)).collect(),
            codes,
        })
    }

    /// Returns whether a tag of this many bytes is written as in the prepared words, not as `054`.
    pub(crate) fn is_written_with(&self, digits: usize) -> bool {
        self.digits == digits
    }

    /// Returns the type of the field's values.
    pub(crate) fn kind(&self) -> DataType {
        self.kind
    }

    /// Returns what a value means.
    #[inline]
    pub(crate) fn meaning(&self, value: &[u8]) -> Meaning<'_> {
        if self.codes.is_empty() {
            return Meaning::None;
        }
        if !self.has_list {
            return self.code(value).map_or(Meaning::None, Meaning::Code);
        }
        let is_list = value.split(|byte| *byte == b' ').all(|part| self.code(part).is_some());
        if is_list { Meaning::Codes } else { Meaning::None }
    }

    /// Returns the codes of a list.
    pub(crate) fn codes(&self, value: &[u8]) -> impl Iterator<Item = &CodeWords> {
        value.split(|byte| *byte == b' ').filter_map(|part| self.code(part))
    }

    #[inline]
    fn code(&self, value: &[u8]) -> Option<&CodeWords> {
        if let [byte] = value {
            return self.codes.get(usize::from(*self.short.get(usize::from(*byte))?).wrapping_sub(1));
        }
        let key = key(value);
        let mut index = self.keys.partition_point(|known| *known < key);
        // Only values that differ after their eighth byte have the same key.
        while self.keys.get(index) == Some(&key) {
            let code = &self.codes[index];
            if value.len() <= 8 && code.value.len() == value.len() || code.value == value {
                return Some(code);
            }
            index += 1;
        }
        None
    }
}

/// Returns the first eight bytes of a value as a number, which is faster to compare than bytes.
fn key(value: &[u8]) -> u64 {
    value.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

impl CodeWords {
    fn new(code: &Code) -> Self {
        let name = code.display_name();
        let json = quoted(&name);
        let json = Prepared::new(json[1..json.len() - 1].to_owned());
        Self {
            value: code.value.as_bytes().to_vec(),
            name_in_source: code.name.clone(),
            name: Prepared::new(name),
            json,
        }
    }

    /// Returns the name in the form of the dictionary: `NewOrderSingle`.
    pub(crate) fn name_in_source(&self) -> &str {
        &self.name_in_source
    }
}
