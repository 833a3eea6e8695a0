//! The compact table: a dictionary as lines of text that people can review and diffs can show.
//!
//! One line per fact: the keyword, then words separated by single spaces. `#` begins a comment
//! line. In words, `%XX` is a byte that would break the line (space, `%`, `=`, `#`, control
//! characters). A member is a tag, `@Component` or `*Group`; a `!` after it means required. A `?`
//! after a group's count means that a QuickFIX file marks the group as optional inside its
//! component.
//!
//! ```text
//! table 1
//! version FIX.4.4
//! source OrchestraFIX44.xml sha256:... Apache-2.0
//! codes SideCodeSet 1=Buy 2=Sell
//! field 54 Side char codes=SideCodeSet
//! field 96 RawData data length=95
//! component Instrument 55 65 *SecAltIDGrp
//! group SecAltIDGrp 454 455 456
//! header 8! 9! 35!
//! trailer 10!
//! message D NewOrderSingle 11! @Instrument! 54!
//! scenario Stop D NewOrderSingle 11! @Instrument! 54! 99!
//! terms message D 54 constant=1 required:Name=when%20it%20is
//! ```
//!
//! The format has no place for descriptions, only for facts.

use std::collections::{HashMap, HashSet};

use crate::assemble::{Definition, Draft, DraftError, NO_HEADER};
use crate::data_type::{DataType, UnionType};
use crate::loaded::{Loaded, lines_of};
use crate::locate::Key;
use crate::model::{
    Code, CodeSet, CodeSetId, ComponentDef, ComponentId, DictionaryVersion, FieldDef, GroupDef, GroupId,
    Member, MessageDef, Origin,
};
use crate::read::{Faults, Findings};
use crate::terms::{AllTerms, Presence, Rule, Scenario, Terms};

/// Reads a compact table.
pub(crate) fn read(text: &str) -> Result<Loaded, Faults> {
    let mut reader = Reader::default();
    reader.names(text);
    reader.bodies(text);
    let Reader { mut found, draft, places, .. } = reader;
    if found.has_errors() {
        // A definition that was not understood leaves its number to the next one, so that
        // references would be misleading.
        return Err(found.into_faults());
    }
    if draft.lacks_header() {
        found.warn(1, "header", NO_HEADER);
    }
    let line = |place| {
        let lines = match place {
            Definition::Field(at) => places.fields.get(at),
            Definition::CodeSet(at) => places.code_sets.get(at),
            Definition::Component(at) => places.components.get(at),
            Definition::Group(at) => places.groups.get(at),
            Definition::Message(at) => places.messages.get(at),
            Definition::Scenario(at) => places.scenarios.get(at),
            Definition::Header => Some(&places.header),
            Definition::Trailer => Some(&places.trailer),
        };
        lines.copied().filter(|line| *line > 0)
    };
    let lines = lines_of(&draft, &line);
    match draft.assemble() {
        Ok(dictionary) => found.conclude().map(|warnings| Loaded { dictionary, warnings, lines }),
        Err(faults) => {
            let texts: Vec<&str> = text.lines().collect();
            for DraftError { place, reason } in faults {
                let line = line(place).unwrap_or(1);
                let words = texts.get(line as usize - 1).copied().unwrap_or_default();
                found.error(line, words.split(' ').take(2).collect::<Vec<_>>().join(" "), reason);
            }
            Err(found.into_faults())
        }
    }
}

/// The number in the first line; the writer has it, too.
pub(crate) const FORMAT: &str = "1";

#[derive(Default)]
struct Places {
    fields: Vec<u32>,
    code_sets: Vec<u32>,
    components: Vec<u32>,
    groups: Vec<u32>,
    messages: Vec<u32>,
    scenarios: Vec<u32>,
    header: u32,
    trailer: u32,
}

struct Reader<'a> {
    found: Findings,
    draft: Draft,
    places: Places,
    /// Positions by name.
    code_sets: HashMap<&'a str, u32>,
    components: HashMap<&'a str, u32>,
    groups: HashMap<&'a str, u32>,
}

impl Default for Reader<'_> {
    fn default() -> Self {
        let draft = Draft {
            version: DictionaryVersion::named(""),
            origin: Origin::default(),
            fields: Vec::new(),
            code_sets: Vec::new(),
            components: Vec::new(),
            groups: Vec::new(),
            messages: Vec::new(),
            header: Vec::new(),
            trailer: Vec::new(),
            scenarios: Vec::new(),
            terms: AllTerms::new(),
        };
        Reader {
            found: Findings::default(),
            draft,
            places: Places::default(),
            code_sets: HashMap::new(),
            components: HashMap::new(),
            groups: HashMap::new(),
        }
    }
}

impl<'a> Reader<'a> {
    /// First pass: the definitions, so that a line may refer to a later one.
    fn names(&mut self, text: &'a str) {
        for line in text.lines() {
            let mut words = line.split(' ');
            let keyword = words.next().unwrap_or_default();
            let Some(name) = words.next() else { continue };
            let definitions = match keyword {
                "codes" => &mut self.code_sets,
                "component" => &mut self.components,
                "group" => &mut self.groups,
                _ => continue,
            };
            definitions.insert(name, definitions.len() as u32);
        }
    }

    fn bodies(&mut self, text: &'a str) {
        let mut format_seen = false;
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = number as u32 + 1;
            let words: Vec<&'a str> = line.split(' ').collect();
            let outcome = match (words[0], &words[1..]) {
                ("table", [FORMAT]) => {
                    format_seen = true;
                    Ok(())
                }
                ("table", _) => Err(format!("the format of this table is not {FORMAT}")),
                _ if !format_seen => Err("neither XML (QuickFIX, FIX Orchestra) nor a compact table, whose first line is 'table 1'".to_string()),
                // A source may have no license; everything else has a name.
                (keyword, words) if keyword != "source" && words.contains(&"") => {
                    Err("a word is empty: there are two spaces in a row, or one at the end".to_string())
                }
                ("version", [name]) => {
                    unescape(name).map(|name| self.draft.version = DictionaryVersion::named(&name))
                }
                ("source", [name, hash, license]) => self.source(name, hash, license),
                ("codes", [name, codes @ ..]) => self.codes(at, name, codes),
                ("field", [tag, name, kind, rest @ ..]) => self.field(at, tag, name, kind, rest),
                ("component", [name, members @ ..]) => self.component(at, name, members),
                ("group", [name, count, members @ ..]) => self.group(at, name, count, members),
                ("header", members) => self.members(members).map(|members| {
                    self.draft.header = members;
                    self.places.header = at;
                }),
                ("trailer", members) => self.members(members).map(|members| {
                    self.draft.trailer = members;
                    self.places.trailer = at;
                }),
                ("message", [msg_type, name, members @ ..]) => {
                    self.message(msg_type, name, members).map(|message| {
                        self.draft.messages.push(message);
                        self.places.messages.push(at);
                    })
                }
                ("scenario", [scenario, msg_type, name, members @ ..]) => {
                    unescape(scenario).and_then(|scenario| {
                        let message = self.message(msg_type, name, members)?;
                        self.draft.scenarios.push(Scenario { name: scenario, message });
                        self.places.scenarios.push(at);
                        Ok(())
                    })
                }
                ("terms", words) => self.terms(words),
                _ => Err("this is not a line of a table, or words are missing".to_string()),
            };
            if let Err(reason) = outcome {
                self.found.error(at, words[..words.len().min(2)].join(" "), reason);
                if !format_seen {
                    return;
                }
            }
        }
        if !format_seen {
            self.found.error(1, "table", "the text is empty");
        } else if self.draft.version.name.is_empty() {
            self.found.error(1, "version", "there is no line 'version'");
        }
    }

    fn source(&mut self, name: &str, hash: &str, license: &str) -> Result<(), String> {
        let hash = hash.strip_prefix("sha256:").ok_or("the hash does not begin with sha256:")?;
        let name = if name == "-" { String::new() } else { unescape(name)? };
        self.draft.origin = Origin { name, sha256: hash.to_string(), license: unescape(license)? };
        Ok(())
    }

    fn codes(&mut self, at: u32, name: &str, codes: &[&str]) -> Result<(), String> {
        let code = |word: &&str| {
            let (value, name) = word.split_once('=').ok_or_else(|| format!("'{word}' is not VALUE=NAME"))?;
            if value.is_empty() || name.is_empty() {
                return Err(format!("'{word}' is not VALUE=NAME"));
            }
            Ok(Code { value: unescape(value)?, name: unescape(name)? })
        };
        let codes = codes.iter().map(code).collect::<Result<Vec<_>, String>>()?;
        let mut values = HashSet::new();
        if let Some(twice) = codes.iter().find(|code| !values.insert(code.value.as_str())) {
            return Err(format!("the code '{}' is there twice", twice.value));
        }
        self.draft.code_sets.push(CodeSet { name: unescape(name)?, codes });
        self.places.code_sets.push(at);
        Ok(())
    }

    fn field(&mut self, at: u32, tag: &str, name: &str, kind: &str, rest: &[&str]) -> Result<(), String> {
        let kind = DataType::from_name(kind).ok_or_else(|| format!("'{kind}' is not a data type"))?;
        let mut field = FieldDef {
            tag: number(tag)?,
            name: unescape(name)?,
            kind,
            codes: None,
            union: None,
            length_tag: None,
        };
        for word in rest {
            match word.split_once('=') {
                Some(("codes", set)) => {
                    let id =
                        self.code_sets.get(set).ok_or_else(|| format!("there is no code set '{set}'"))?;
                    field.codes = Some(CodeSetId(*id));
                }
                Some(("union", union)) => {
                    let union = UnionType::from_name(union)
                        .ok_or_else(|| format!("'{union}' is not a union type"))?;
                    field.union = Some(union);
                }
                Some(("length", tag)) => field.length_tag = Some(number(tag)?),
                _ => return Err(format!("'{word}' is none of codes=, union=, length=")),
            }
        }
        self.draft.fields.push(field);
        self.places.fields.push(at);
        Ok(())
    }

    fn component(&mut self, at: u32, name: &str, members: &[&str]) -> Result<(), String> {
        let component = ComponentDef { name: unescape(name)?, members: self.members(members)? };
        self.draft.components.push(component);
        self.places.components.push(at);
        Ok(())
    }

    fn group(&mut self, at: u32, name: &str, count: &str, members: &[&str]) -> Result<(), String> {
        let (count, optional_inside) = match count.strip_suffix('?') {
            Some(count) => (count, true),
            None => (count, false),
        };
        let (name, count_tag) = (unescape(name)?, number(count)?);
        let members = self.members(members)?;
        self.draft.groups.push(GroupDef { name, count_tag, members, optional_inside });
        self.places.groups.push(at);
        Ok(())
    }

    fn message(&self, msg_type: &str, name: &str, members: &[&str]) -> Result<MessageDef, String> {
        let members = self.members(members)?;
        Ok(MessageDef { msg_type: unescape(msg_type)?, name: unescape(name)?, members })
    }

    /// Reads the words after `terms`: a place, a member, and what is said of it.
    fn terms(&mut self, words: &[&str]) -> Result<(), String> {
        let (place, rest) = match words {
            ["scenario", name, msg_type, rest @ ..] => {
                (Key::Scenario(unescape(name)?, unescape(msg_type)?), rest)
            }
            ["message", msg_type, rest @ ..] => (Key::Message(unescape(msg_type)?), rest),
            ["component", name, rest @ ..] => (Key::Component(unescape(name)?), rest),
            ["group", name, rest @ ..] => (Key::Group(unescape(name)?), rest),
            ["header", rest @ ..] => (Key::Header, rest),
            ["trailer", rest @ ..] => (Key::Trailer, rest),
            _ => return Err("no place is named".to_string()),
        };
        let [member, facts @ ..] = rest else { return Err("no member is named".to_string()) };
        let member = match (member.strip_prefix('*'), member.strip_prefix('@')) {
            (Some(group), _) => Key::Group(unescape(group)?),
            (_, Some(component)) => Key::Component(unescape(component)?),
            _ => Key::Field(number(member)?),
        };
        let mut terms = Terms::default();
        for fact in facts {
            let (what, text) = fact.split_once('=').ok_or_else(|| format!("'{fact}' is not WHAT=TEXT"))?;
            match what.split_once(':') {
                None if what == "constant" => terms.constant = Some(unescape(text)?),
                Some((presence, name)) if Presence::from_name(presence).is_some() => {
                    let presence = Presence::from_name(presence).unwrap_or(Presence::Optional);
                    terms.rules.push(Rule { name: unescape(name)?, presence, when: unescape(text)? });
                }
                _ => return Err(format!("'{what}' is neither constant nor PRESENCE:NAME")),
            }
        }
        self.draft.terms.insert((place, member), terms);
        Ok(())
    }

    fn members(&self, words: &[&str]) -> Result<Vec<Member>, String> {
        let member = |word: &&str| {
            let (word, required) = match word.strip_suffix('!') {
                Some(word) => (word, true),
                None => (*word, false),
            };
            let missing = || format!("'{word}' is not defined");
            if let Some(name) = word.strip_prefix('*') {
                Ok(Member::Group { group: GroupId(*self.groups.get(name).ok_or_else(missing)?), required })
            } else if let Some(name) = word.strip_prefix('@') {
                let component = ComponentId(*self.components.get(name).ok_or_else(missing)?);
                Ok(Member::Component { component, required })
            } else {
                Ok(Member::Field { tag: number(word)?, required })
            }
        };
        words.iter().map(member).collect()
    }
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().ok().filter(|tag| *tag > 0).ok_or_else(|| format!("'{word}' is not a tag number"))
}

fn unescape(word: &str) -> Result<String, String> {
    if !word.contains('%') {
        return Ok(word.to_string());
    }
    let mut parts = word.split('%');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii);
        let byte =
            byte.ok_or_else(|| format!("'{word}' has a % without two hexadecimal digits of an ASCII byte"))?;
        out.push(byte as char);
        out.push_str(&part[2..]);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::model::Dictionary;

    fn table(text: &str) -> Result<Dictionary, Vec<crate::ReadError>> {
        read(text).map(|loaded| loaded.dictionary).map_err(|faults| faults.first().to_vec())
    }

    const TABLE: &str = "table 1\nversion FIX.4.4\nsource a%20b.xml sha256:00 Apache-2.0\n\
        codes S 1=Buy ISO%20Code=With%3Dsign\nfield 1 Account String\nfield 54 Side char codes=S union=Reserved100Plus\n\
        field 95 L Length\nfield 96 R data length=95\nfield 453 NoP NumInGroup\ncomponent C 1 *P!\ngroup P 453 54! 1\n\
        header 1!\ntrailer 1\nmessage D Order @C! 95 96\n";

    #[test]
    fn a_table_that_is_read_and_written_stays_as_it_was() {
        let dictionary = table(TABLE).expect("the table is right");
        let written = dictionary.to_table();
        let (_, without_comment) = written.split_once('\n').expect("it has lines");
        assert_eq!(without_comment, TABLE);
        assert_eq!(dictionary.codes(54)[1].value, "ISO Code");
        assert_eq!(dictionary.codes(54)[1].name, "With=sign");
        assert_eq!(dictionary.field(96).and_then(|field| field.length_tag), Some(95));
    }

    /// Found by the fuzzer: QuickFIX's XML could not say it.
    #[test]
    fn nothing_is_without_a_name() {
        for (right, wrong) in [
            ("Account String", " String"),
            ("1=Buy", "=Buy"),
            ("1=Buy", "1="),
            ("codes S", "codes "),
            ("group P 453", "group  453"),
            ("D Order", "D "),
            ("D Order", " Order"),
            ("header 1!", "header 1! "),
        ] {
            let errors = table(&TABLE.replace(right, wrong)).expect_err(wrong);
            let told = |words| errors.iter().any(|error: &crate::ReadError| error.reason.contains(words));
            assert!(told("a word is empty") || told("is not VALUE=NAME"), "{wrong}: {}", errors[0]);
        }
    }

    #[test]
    fn a_code_stands_in_its_set_once() {
        let errors = table(&TABLE.replace("1=Buy", "1=Buy 1=Purchase")).expect_err("twice");
        assert_eq!(errors[0].to_string(), "line 4: codes S: the code '1' is there twice");
    }

    #[test]
    fn every_bad_line_is_named_at_once() {
        let text =
            "table 1\nversion FIX.4.4\nfield x A String\nfield 2 B Stringy\nmessage D Order *Q\nnonsense\n";
        let errors = table(text).expect_err("four lines are wrong");
        let lines: Vec<u32> = errors.iter().map(|error| error.line).collect();
        assert_eq!(lines, [3, 4, 5, 6]);
        assert_eq!(errors[0].to_string(), "line 3: field x: 'x' is not a tag number");
    }

    #[test]
    fn another_format_is_refused_before_anything_is_read() {
        let errors = table("table 2\nfoo\n").expect_err("format 2 is unknown");
        assert_eq!(errors.len(), 1);
        assert!(table("").is_err());
    }

    #[test]
    fn definitions_that_contain_themselves_are_refused_with_their_line() {
        let text = "table 1\nversion FIX.4.4\nfield 1 A String\ncomponent C 1 @D\ncomponent D 1 @C\n";
        let errors = table(text).expect_err("C contains itself");
        assert_eq!(errors[0].to_string(), "line 4: component C: the definition contains itself");
    }

    #[test]
    fn a_tag_that_is_no_field_is_refused_wherever_it_stands() {
        let text = "table 1\nversion FIX.4.4\nfield 1 A String\nfield 2 B data length=9\ncomponent C 9\ngroup G 9 1\n\
            group H 1 9\nheader 9\ntrailer 9\nmessage D E 9\n";
        let errors = table(text).expect_err("9 is no field");
        let mut lines: Vec<u32> = errors.iter().map(|error| error.line).collect();
        lines.sort_unstable();
        assert_eq!(lines, [4, 5, 6, 7, 8, 9, 10]);
        assert!(errors.iter().all(|error| error.reason == "tag 9 is not a field"));
    }

    #[test]
    fn a_chain_of_definitions_deeper_than_the_limit_is_refused() {
        let mut text = "table 1\nversion FIX.4.4\nfield 1 A String\ncomponent C0 1\n".to_string();
        for at in 1..70 {
            let _ = writeln!(text, "component C{at} 1 @C{}", at - 1);
        }
        let errors = table(&text).expect_err("the chain is too deep");
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].reason, "definitions are nested deeper than 64");
    }
}
