//! Ten thousand defective messages of the session layer, made at random: none moves NextNumIn but
//! by one, for its own number if that is expected, none acts, and the session goes on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::Version;
use fixbolt_conformance::testing::{Side, kinds, message};
use fixbolt_dictionary::{
    ApplicationVersion, DictionarySet, Validator, fix40, fix42, fix44, fix50sp2, fixt11,
};
use fixbolt_session::{
    Compatibility, FixtDictionaries, Phase, Role, SessionDictionary, SessionId, SessionSettings,
};

const MESSAGES: usize = 10_000;
const TYPES: [&str; 7] = ["0", "1", "2", "3", "4", "5", "A"];

/// A generator of numbers below `most`.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % most as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Defect {
    /// A required field is not there.
    Missing,
    Empty,
    Doubled,
    /// A value of another type.
    WrongValue,
    /// A field that belongs to another type of message.
    OfAnotherType,
    /// A field of the header in the body, or one of the body in the header.
    OutOfPlace,
    /// A field that no dictionary has.
    Unknown,
}

const DEFECTS: [Defect; 7] = [
    Defect::Missing,
    Defect::Empty,
    Defect::Doubled,
    Defect::WrongValue,
    Defect::OfAnotherType,
    Defect::OutOfPlace,
    Defect::Unknown,
];

/// A session with its settings, and its counterparty.
struct World {
    side: Side,
    version: Version,
    role: Role,
    has_dictionary: bool,
    name: String,
}

type Field = (u32, String);

impl World {
    fn next_in(&self) -> u64 {
        self.side.numbers(0).unwrap().0.0
    }

    fn log_on(&mut self) {
        self.side.connect(0);
        if self.role == Role::Initiator {
            assert_eq!(kinds(&self.side.take(0)), "A", "{}", self.name);
        }
        let version = if self.version == Version::Fixt11 { "1137=9|" } else { "" };
        let next = self.next_in();
        let answer = self.side.say(0, &format!("35=A|34={next}|98=0|108=30|{version}"));
        assert_eq!(kinds(&answer), if self.role == Role::Initiator { "" } else { "A" }, "{}", self.name);
        assert_eq!(self.next_in(), next + 1, "{}", self.name);
    }

    /// The fields of a valid message, without its MsgSeqNum: header and body.
    fn valid(&self, random: &mut Random, msg_type: &str, seq: u64) -> (Vec<Field>, Vec<Field>) {
        let time = self.side.time();
        let mut header = vec![
            (35, msg_type.to_owned()),
            (34, seq.to_string()),
            (49, "PEER".to_owned()),
            (56, "US".to_owned()),
            (52, time.clone()),
        ];
        if random.below(4) == 0 {
            header.push((43, "Y".to_owned()));
            header.push((122, time));
        }
        let new = seq + 1 + random.below(50) as u64;
        let body: &[(u32, &str)] = match msg_type {
            "0" | "1" => &[(112, "t")],
            "2" => &[(7, "1"), (16, "0")],
            "3" => &[(45, "1"), (58, "why")],
            "4" if random.below(2) == 0 => &[(123, "Y"), (36, "")],
            "4" => &[(36, ""), (123, "N")],
            "5" => &[(58, "bye")],
            _ if self.version == Version::Fix40 => &[(98, "0"), (108, "30")],
            _ if self.version == Version::Fixt11 => &[(98, "0"), (108, "30"), (141, "Y"), (1137, "9")],
            _ => &[(98, "0"), (108, "30"), (141, "Y")],
        };
        let value = |(tag, value): &(u32, &str)| {
            (*tag, if *tag == 36 { new.to_string() } else { (*value).to_owned() })
        };
        (header, body.iter().map(value).collect())
    }

    /// Puts a defect into a message; `None` if what comes of it is valid, or is no message.
    fn spoil(
        &self,
        random: &mut Random,
        defect: Defect,
        msg_type: &str,
        (mut header, mut body): (Vec<Field>, Vec<Field>),
    ) -> Option<Vec<Field>> {
        // MsgType is what the message is.
        let at = 1 + random.below(header.len() + body.len() - 1);
        let len = header.len();
        let (part, n) = if at < len { (&mut header, at) } else { (&mut body, at - len) };
        let tag = part[n].0;
        // What the session layer itself looks at, without a dictionary.
        let acts_by: &[u32] = match msg_type {
            "0" | "1" => &[34, 43, 112],
            "2" => &[34, 43, 7, 16],
            "4" => &[34, 43, 36, 123],
            "A" => &[34, 43, 98, 108, 141],
            _ => &[34, 43],
        };
        let is_seen = self.has_dictionary || acts_by.contains(&tag);
        match defect {
            Defect::Missing => {
                let is_required = match tag {
                    34 | 49 | 56 | 52 | 7 | 16 | 36 | 98 | 108 | 1137 => true,
                    112 => msg_type == "1",
                    45 => self.has_dictionary,
                    _ => false,
                };
                if !is_required {
                    return None;
                }
                part.remove(n);
            }
            Defect::Empty => part[n].1.clear(),
            Defect::Doubled => {
                let mut copy = part[n].clone();
                if !is_seen {
                    return None;
                }
                if tag == 36 && random.below(2) == 0 {
                    copy.1 = "9000".to_owned();
                }
                let to = random.below(part.len() - n) + n + 1;
                part.insert(to, copy);
            }
            Defect::WrongValue => {
                let is_number = [34, 7, 16, 36].contains(&tag) || self.has_dictionary && tag == 45;
                let value = match tag {
                    43 | 123 | 141 => random.one_of(&["X", "y", "n", "1", "YY", " Y"]),
                    _ if is_number => random.one_of(&["x", "-1", "1.5", "99999999999999999999999", "+2"]),
                    98 => random.one_of(&["x", "1", "-1"]),
                    108 => random.one_of(&["x", "-1", "1.5"]),
                    52 => random.one_of(&["x", "20260105", "yesterday"]),
                    49 | 56 => "ELSE",
                    _ => return None,
                };
                value.clone_into(&mut part[n].1);
            }
            Defect::OfAnotherType | Defect::OutOfPlace | Defect::Unknown if !self.has_dictionary => {
                return None;
            }
            Defect::OfAnotherType => {
                let tag = random.one_of(&[55, 44, 11, 38]);
                body.insert(random.below(body.len() + 1), (tag, "1".to_owned()));
            }
            Defect::OutOfPlace => {
                if random.below(2) == 0 && !body.is_empty() {
                    let field = body.remove(0);
                    header.insert(1 + random.below(header.len() - 1), field);
                } else {
                    body.push((115, "US".to_owned()));
                }
            }
            Defect::Unknown => {
                let tag = random.one_of(&[9999, 4999, 20_000]);
                let list = if random.below(2) == 0 || body.is_empty() { &mut header } else { &mut body };
                let first = usize::from(list[0].0 == 35);
                list.insert(first + random.below(list.len() + 1 - first), (tag, "1".to_owned()));
            }
        }
        header.append(&mut body);
        Some(header)
    }

    /// Sends one defective message, and then honest ones.
    fn step(&mut self, random: &mut Random, msg_type: &str, defect: Defect) -> bool {
        let before = self.next_in();
        let seq = match random.below(6) {
            0 => before + 2,
            1 => before - 1,
            _ if msg_type == "A" => 1,
            _ => before,
        };
        let valid = self.valid(random, msg_type, seq);
        let Some(fields) = self.spoil(random, defect, msg_type, valid) else { return false };
        let text: String = fields.iter().map(|(tag, value)| format!("{tag}={value}|")).collect();
        let name = format!("{}, {before} is expected: {defect:?} {text}", self.name);
        let bytes = message(self.version.begin_string(), &text);
        self.side.hear(0, &bytes);
        let answer = kinds(&self.side.take(0));
        let acts = match msg_type {
            "1" => "0",
            "2" => "4",
            "A" => "A",
            _ => "?",
        };
        assert!(!answer.contains(acts), "{name}: it acts: {answer}");
        let sent = fields.iter().find(|(tag, _)| *tag == 34).and_then(|(_, value)| value.parse().ok());
        let after = self.next_in();
        let may_move = sent == Some(before);
        assert!(after == before || may_move && after == before + 1, "{name}: {after}, {answer}");
        self.go_on(sent.unwrap_or(0), &name);
        true
    }

    /// Fills the gap before message `seq`, if there is one, and goes on, in another connection if
    /// this one has ended.
    fn go_on(&mut self, seq: u64, name: &str) {
        let next = self.next_in();
        if self.side.phase(0) == Phase::LoggedOn && !self.side.next(0).close && seq > next {
            self.side.say(0, &format!("35=4|34={next}|43=Y|123=Y|36={seq}|"));
            let after = self.next_in();
            assert!((seq..=seq + 1).contains(&after), "{name}: {after} after its gap was filled");
        }
        if self.side.phase(0) == Phase::LogoutSent {
            let next = self.next_in();
            self.side.say(0, &format!("35=5|34={next}|"));
        }
        if self.side.next(0).close || self.side.phase(0) != Phase::LoggedOn {
            self.side.disconnect(0);
            self.side.pass(Duration::from_secs(10));
            self.log_on();
        }
        let next = self.next_in();
        let answer = self.side.say(0, &format!("35=1|34={next}|112=honest|"));
        assert!(kinds(&answer).ends_with('0') && answer.last().unwrap().contains("|112=honest|"), "{name}");
        assert_eq!(self.next_in(), next + 1, "{name}");
    }
}

fn worlds() -> Vec<World> {
    let one = |dictionary| SessionDictionary::Own(Arc::new(Validator::new(dictionary)));
    let set = DictionarySet::new(fixt11().clone()).unwrap();
    let set = set.with(ApplicationVersion::new("9"), fix50sp2()).unwrap();
    let fixt = SessionDictionary::Fixt(Arc::new(FixtDictionaries::new(set.validators())));
    let mut worlds = Vec::new();
    for (version, dictionary) in [
        (Version::Fix40, one(fix40())),
        (Version::Fix42, one(fix42())),
        (Version::Fix44, one(fix44())),
        (Version::Fixt11, fixt),
    ] {
        for compatibility in [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ] {
            for role in [Role::Acceptor, Role::Initiator] {
                for has_dictionary in [true, true, true, false] {
                    let id = SessionId::new(version, "US", "PEER").unwrap();
                    let settings = SessionSettings::new(id, role).with(|s| {
                        s.compatibility = compatibility;
                        s.validation.incoming = compatibility.validation();
                        s.default_appl_ver_id = (version == Version::Fixt11).then_some(Version::Fix50Sp2);
                        s.dictionary =
                            if has_dictionary { dictionary.clone() } else { SessionDictionary::None };
                    });
                    let name = format!("{version:?} {compatibility:?} {role:?} dictionary {has_dictionary}");
                    let side = Side::new(vec![settings]);
                    let mut world = World { side, version, role, has_dictionary, name };
                    world.log_on();
                    world.go_on(0, "at first");
                    worlds.push(world);
                }
            }
        }
    }
    worlds
}

// R-CHECK-8
#[test]
fn ten_thousand_defective_session_messages_move_no_sequence_number_but_their_own() {
    let mut random = Random(31);
    let mut worlds = worlds();
    let mut counts: BTreeMap<(&str, Defect), usize> = BTreeMap::new();
    let mut sent = 0;
    while sent < MESSAGES {
        let n = random.below(worlds.len());
        let (msg_type, defect) = (random.one_of(&TYPES), random.one_of(&DEFECTS));
        let world = &mut worlds[n];
        world.side.pass(Duration::from_millis(100));
        if world.step(&mut random, msg_type, defect) {
            sent += 1;
            *counts.entry((msg_type, defect)).or_default() += 1;
        }
    }
    assert_eq!(counts.len(), TYPES.len() * DEFECTS.len(), "{counts:?}");
}
