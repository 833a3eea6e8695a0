//! The typed writers of groups against a naive one: random legs, with their members in any order
//! and groups within them, in memory of any size, have the same bytes, or the same first mistake.
//! So do legs of which the writer sorts the members.

use fixbolt_messages::codec::{EncodeErrorKind as Kind, Memory, Tag};
use fixbolt_messages::fix44::QuoteStatusRequest;
use fixbolt_messages::fix44::fields::SecurityIDSource;
use fixbolt_messages::fix44::groups::{instrmt_leg_grp, leg_sec_alt_id_grp};
use fixbolt_messages::fix44::prelude::*;
use fixbolt_messages::typed::Order;

/// A member of a leg after LegSymbol (600).
#[derive(Clone, Debug)]
enum Member {
    Suffix(String),
    Id(String),
    /// LegSecurityAltID (605) and its source (606), which may be left out.
    AltIds(Vec<(String, bool)>),
    Product(i64),
    CfiCode(String),
}

impl Member {
    /// Its place among the members, and its tag.
    fn place(&self) -> (u32, u32) {
        match self {
            Self::Suffix(_) => (2, 601),
            Self::Id(_) => (3, 602),
            Self::AltIds(_) => (5, 604),
            Self::Product(_) => (6, 607),
            Self::CfiCode(_) => (7, 608),
        }
    }
}

type Refused = (u32, Kind);

fn text(random: &mut fastrand::Rng) -> String {
    let mut text: String = (0..random.usize(1..24)).map(|_| random.alphanumeric()).collect();
    if random.u8(..60) == 0 {
        text.push('\x01');
    }
    text
}

fn leg(random: &mut fastrand::Rng) -> (String, Vec<Member>) {
    let mut members: Vec<Member> = Vec::new();
    for member in 0..5 {
        if random.bool() {
            members.push(match member {
                0 => Member::Suffix(text(random)),
                1 => Member::Id(text(random)),
                2 => Member::AltIds(
                    (0..random.choice([0, 1, 2, 3, 11]).unwrap_or(0))
                        .map(|_| (text(random), random.bool()))
                        .collect(),
                ),
                3 => Member::Product(random.i64(-5..100_000_000_000)),
                _ => Member::CfiCode(text(random)),
            });
        }
    }
    if members.len() > 1 && random.u8(..20) == 0 {
        let (one, other) = (random.usize(..members.len()), random.usize(..members.len()));
        members.swap(one, other);
        if random.bool() {
            members.push(members[other].clone());
        }
    }
    (text(random), members)
}

struct Model {
    bytes: String,
    room: usize,
    /// Whether the members of legs may have any order, and are sorted.
    sorts: bool,
}

impl Model {
    fn field(&mut self, tag: u32, value: &str) -> Result<(), Refused> {
        let field = format!("{tag}={value}\x01");
        if self.bytes.len() + field.len() > self.room {
            return Err((tag, Kind::NoRoom));
        }
        if value.contains('\x01') {
            return Err((tag, Kind::Soh));
        }
        self.bytes.push_str(&field);
        Ok(())
    }

    /// Writes a group; each entry is written by `entry`.
    fn group<E>(
        &mut self,
        count: u32,
        entries: &[E],
        mut entry: impl FnMut(&mut Self, &E) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let begin = self.bytes.len();
        self.field(count, "0")?;
        let digit = self.bytes.len() - 2;
        for one in entries {
            entry(self, one)?;
        }
        let number = entries.len().to_string();
        if entries.is_empty() {
            self.bytes.truncate(begin);
        } else if self.bytes.len() + number.len() - 1 > self.room {
            return Err((count, Kind::NoRoom));
        } else {
            self.bytes.replace_range(digit..=digit, &number);
        }
        Ok(())
    }

    fn leg(&mut self, (symbol, members): &(String, Vec<Member>)) -> Result<(), Refused> {
        let start = self.bytes.len();
        if !self.sorts {
            self.field(600, symbol)?;
        }
        // Place, tag and bytes of each member that has left some.
        let mut written: Vec<(u32, u32, String)> = Vec::new();
        for member in members {
            let (place, tag) = member.place();
            if let Some((_, later, _)) = written.iter().find(|(other, ..)| !self.sorts && *other > place) {
                let (before, group) = (Tag::new(*later), Tag::new(555));
                return Err((tag, Kind::GroupOrder { before, group }));
            }
            if written.iter().any(|(_, other, _)| *other == tag) {
                return Err((tag, Kind::Duplicate));
            }
            let before = self.bytes.len();
            match member {
                Member::Suffix(text) | Member::Id(text) | Member::CfiCode(text) => self.field(tag, text)?,
                Member::Product(number) => self.field(tag, &number.to_string())?,
                Member::AltIds(ids) => self.group(tag, ids, |model, (id, source)| {
                    model.field(605, id)?;
                    if *source { model.field(606, "4") } else { Ok(()) }
                })?,
            }
            if self.bytes.len() > before {
                written.push((place, tag, self.bytes[before..].to_owned()));
            }
        }
        if self.sorts {
            self.field(600, symbol)?;
            let first = format!("600={symbol}\x01");
            self.bytes.truncate(start);
            self.bytes += &first;
            written.sort_by_key(|(place, ..)| *place);
            written.iter().for_each(|(.., bytes)| self.bytes += bytes);
        }
        Ok(())
    }
}

/// Writes legs, whose members are sorted or not.
fn write_legs<O: Order>(mut group: instrmt_leg_grp::Entries<'_, '_, O>, legs: &[(String, Vec<Member>)]) {
    for (symbol, members) in legs {
        let mut leg = group.entry(instrmt_leg_grp::Required { leg_symbol: symbol.as_bytes() });
        for member in members {
            match member {
                Member::Suffix(text) => _ = leg.leg_symbol_sfx(text),
                Member::Id(text) => _ = leg.leg_security_id(text),
                Member::Product(number) => _ = leg.leg_product(*number),
                Member::CfiCode(text) => _ = leg.leg_cfi_code(text),
                Member::AltIds(ids) => {
                    let mut group = leg.leg_security_alt_id();
                    for (id, source) in ids {
                        let required = leg_sec_alt_id_grp::Required { leg_security_alt_id: id.as_bytes() };
                        let mut entry = group.entry(required);
                        if *source {
                            let source = SecurityIDSource::from_value(b"4");
                            entry.leg_security_alt_id_source(source);
                        }
                    }
                }
            }
        }
    }
}

fn written(legs: &[(String, Vec<Member>)], room: usize, sorts: bool) -> Result<String, Refused> {
    let mut memory = vec![0; room];
    let sent = QuoteStatusRequest::send(Memory(&mut memory), |request| {
        request.symbol("IBM");
        match sorts {
            true => write_legs(request.legs().unordered(), legs),
            false => write_legs(request.legs(), legs),
        }
        request.quote_status_req_id("after");
    });
    let sent = sent.map(|body| String::from_utf8_lossy(body.bytes).into_owned());
    sent.map_err(|error| (error.tag.number(), error.kind))
}

#[test]
fn random_entries_are_those_of_a_naive_writer_or_have_its_first_mistake() {
    let mut random = fastrand::Rng::with_seed(43);
    let (mut right, mut kinds) = ([0, 0], std::collections::HashSet::new());
    for n in 0..20_000 {
        let sorts = n % 2 == 1;
        let legs: Vec<_> =
            (0..random.choice([0, 1, 2, 3, 10]).unwrap_or(0)).map(|_| leg(&mut random)).collect();
        let room = if random.bool() { random.usize(..400) } else { 8_000 };
        let mut model = Model { bytes: String::new(), room, sorts };
        let expected = model
            .field(55, "IBM")
            .and_then(|()| model.group(555, &legs, Model::leg))
            .and_then(|()| model.field(649, "after"))
            .map(|()| model.bytes);
        assert_eq!(written(&legs, room, sorts), expected, "{n}: {room} bytes for {legs:?}");
        match expected {
            Ok(_) => right[usize::from(sorts)] += 1,
            Err((_, kind)) => _ = kinds.insert(std::mem::discriminant(&kind)),
        }
    }
    assert!(right.iter().all(|right| *right > 2_000), "{right:?} messages are right");
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}
