//! Views, `Message::get` and the validator agree on where a field belongs: the first occurrence in
//! its own scope, in whatever order one asks, with or without a dialect, under every policy.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::LazyLock;

use fastrand::Rng;
use fixbolt_dictionary::sample::{Sample, Samples, framed};
use fixbolt_dictionary::{Action, Check, Dictionary, Policy, Source, Validator, fix44};
use fixbolt_messages::codec::{
    Decimal, FieldError, Frame, Framer, Index, Message, Place, Scope, Span, Tag, Text,
};
use fixbolt_messages::fix44::prelude::*;
use fixbolt_messages::fix44::{NewOrderSingle, fields};
use fixbolt_messages::typed::View;

/// FIX.4.4 with a group of the venue's own, whose entries hold OrderQty (38) too.
static DIALECT: LazyLock<Dictionary> = LazyLock::new(|| {
    let overlay = "<fix extends='FIX.4.4'>
        <fields><field number='5010' name='NoSlices' type='NUMINGROUP'/>
            <field number='5011' name='SliceID' type='STRING'/></fields>
        <messages><message name='NewOrderSingle' msgtype='D'><group name='NoSlices' required='N'>
            <field name='SliceID' required='N'/><field name='OrderQty' required='N'/>
        </group></message></messages></fix>";
    let loaded = Source::text(overlay).load().unwrap();
    assert_eq!(loaded.warnings, []);
    loaded.dictionary
});

fn message<R>(bytes: &[u8], validator: &Validator, look: impl FnOnce(Message<'_>) -> R) -> R {
    let Frame::Message(framed) = Framer::new(1 << 20).next(bytes) else { panic!("no message") };
    let (mut tags, mut spans) = (vec![0; 4096], vec![Span::default(); 4096]);
    let mut index = Index::new(&mut tags, &mut spans).with_data_fields(validator.data_fields());
    look(index.build(framed).unwrap())
}

/// Reads a FIX.4.4 order with the places of a dictionary, or with none.
fn order<R>(dictionary: Option<&Dictionary>, body: &str, read: impl FnOnce(NewOrderSingle<'_>) -> R) -> R {
    let validator = Validator::new(dictionary.unwrap_or(fix44()));
    let mut scratch = validator.scratch();
    let fields = format!("35=D|{body}").replace('|', "\x01");
    message(&framed("FIX.4.4", fields.as_bytes()), &validator, |message| {
        let placed = match dictionary {
            Some(_) => message.with_places(validator.places(&message, &mut scratch)),
            None => message,
        };
        read(NewOrderSingle::read(placed).unwrap())
    })
}

fn quantity(order: &NewOrderSingle<'_>) -> Option<Decimal> {
    order.order_qty().unwrap()
}

#[test]
fn a_quantity_that_is_there_twice_is_always_the_first_one() {
    for dictionary in [None, Some(fix44()), Some(&*DIALECT)] {
        order(dictionary, "11=A|38=100|38=1000000|44=1|", |order| {
            for _ in 0..3 {
                assert_eq!(quantity(&order), Some(Decimal::from(100)));
                assert_eq!(order.fields().get(Tag::new(38)), Some(&b"100"[..]));
                assert_eq!(order.fields().message().get(Tag::new(38)), Some(&b"100"[..]));
            }
        });
    }
}

#[test]
fn a_member_of_a_group_that_only_the_session_knows_is_not_the_orders() {
    let body = "11=A|5010=2|5011=x|38=999|5011=y|38=1|38=100|44=1|";
    order(Some(&DIALECT), body, |order| {
        for _ in 0..3 {
            assert_eq!(quantity(&order), Some(Decimal::from(100)));
        }
        let slices = order.fields().message().scope().group(Tag::new(5010)).unwrap();
        let quantities: Vec<_> = slices.map(|slice| slice.get(Tag::new(38)).unwrap()).collect();
        assert_eq!(quantities, [&b"999"[..], &b"1"[..]]);
    });
}

#[test]
fn a_group_whose_count_is_wrong_is_read_if_a_dictionary_says_where_it_ends() {
    let body = "11=A|453=3|448=A|447=D|452=1|448=B|447=D|452=3|58=x|";
    let ids = |order: NewOrderSingle<'_>| -> Result<Vec<String>, FieldError> {
        let parties = order.party_ids()?;
        assert_eq!(parties.len(), parties.clone().count());
        Ok(parties.map(|party| party.party_id().unwrap().to_string()).collect())
    };
    assert_eq!(order(Some(fix44()), body, ids).unwrap(), ["A", "B"]);
    assert!(order(None, body, ids).is_err());
}

#[test]
fn a_field_that_the_dictionary_does_not_define_belongs_to_all_around_it() {
    let body = "11=A|453=1|448=A|6999=u|58=x|7000=v|";
    order(Some(fix44()), body, |order| {
        let message = order.fields().message();
        assert_eq!(message.get(Tag::new(6999)), Some(&b"u"[..]));
        assert_eq!(message.get(Tag::new(7000)), Some(&b"v"[..]));
        let party = order.party_ids().unwrap().next().unwrap();
        assert_eq!(party.fields().get(Tag::new(6999)), Some(&b"u"[..]));
        assert_eq!(party.fields().get(Tag::new(7000)), None);
        assert_eq!(order.text(), Ok(Some("x".into())));
    });
}

/// A group that the view knows and the session's dictionary does not is read as it was compiled.
#[test]
fn a_group_that_only_the_view_knows_is_read_as_compiled() {
    let table = fix44().to_table();
    let without = Source::text(
        "<fix extends='FIX.4.4'><messages><message name='NewOrderSingle' msgtype='D'>
            <component name='Parties' remove='Y'/></message></messages></fix>",
    )
    .load()
    .unwrap_or_else(|error| panic!("{error} ({} bytes)", table.len()))
    .dictionary;
    let body = "11=A|453=2|448=A|447=D|448=B|447=P|38=5|";
    order(Some(&without), body, |order| {
        let ids: Vec<_> = order.party_ids().unwrap().map(|p| p.party_id().unwrap().to_vec()).collect();
        assert_eq!(ids, [b"A", b"B"]);
        assert_eq!(quantity(&order), Some(Decimal::from(5)));
    });
}

/// Where a field of a sample belongs: the counts around it with the number of the entry, outermost
/// first.
type Home = Vec<(u32, u32)>;

/// A message as its author sees it: each field with its scope. `None` is a field that no dictionary
/// knows.
struct Written {
    fields: Vec<(u32, Vec<u8>, Option<Home>)>,
    /// Length and data fields, which stay where they are.
    fixed: BTreeSet<u32>,
}

impl Written {
    fn new(sample: &Sample) -> Self {
        let fields = sample.fields();
        let home = |mut at: usize| {
            let mut home = Home::new();
            while let Some(entry) = fields[at].entry {
                home.insert(0, (fields[entry.count_at].tag, entry.number));
                at = entry.count_at;
            }
            Some(home)
        };
        let one = |at: usize| (fields[at].tag, fields[at].value.clone(), home(at));
        let fixed = fields.iter().filter(|field| field.is_data_or_length).map(|field| field.tag).collect();
        Self { fields: (0..fields.len()).map(one).collect(), fixed }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for (tag, value, _) in &self.fields {
            body.extend_from_slice(format!("{tag}=").as_bytes());
            body.extend_from_slice(value);
            body.push(1);
        }
        framed("FIX.4.4", &body)
    }

    /// The naive reader: the first field with each tag in each scope.
    fn firsts(&self) -> BTreeMap<(Home, u32), &[u8]> {
        let mut firsts = BTreeMap::new();
        for (tag, value, home) in &self.fields {
            if let Some(home) = home {
                firsts.entry((home.clone(), *tag)).or_insert(&value[..]);
            }
        }
        firsts
    }

    /// Changes the message so that its author still knows where each field belongs.
    fn mutate(&mut self, random: &mut Rng) {
        let in_groups: BTreeSet<u32> = self
            .fields
            .iter()
            .filter(|(.., home)| home.as_ref().is_none_or(|h| !h.is_empty()))
            .map(|f| f.0)
            .collect();
        let outside = |field: &(u32, Vec<u8>, Option<Home>)| {
            field.2.as_ref().is_some_and(Vec::is_empty)
                && !in_groups.contains(&field.0)
                && !self.fixed.contains(&field.0)
        };
        let counts = |tag: u32, all: &[(u32, Vec<u8>, Option<Home>)]| {
            all.iter().any(|f| f.2.as_ref().is_some_and(|home| home.iter().any(|(count, _)| *count == tag)))
        };
        let places: Vec<usize> = (4..self.fields.len())
            .filter(|at| outside(&self.fields[*at]) && !counts(self.fields[*at].0, &self.fields))
            .collect();
        let Some(at) = random.choice(&places).copied() else { return };
        match random.u8(..4) {
            // The same field again later, with another value.
            0 => {
                let (tag, _, home) = self.fields[at].clone();
                let later: Vec<usize> = places.iter().copied().filter(|to| *to > at).collect();
                let to = random.choice(&later).copied().unwrap_or(at) + 1;
                self.fields.insert(to, (tag, b"77".to_vec(), home));
            }
            // A field that nobody knows, anywhere.
            1 => {
                let free =
                    |at: &usize| self.fields.get(*at).is_none_or(|field| !self.fixed.contains(&field.0));
                let to = (random.usize(4..=self.fields.len())..).find(free).unwrap();
                self.fields.insert(to, (6999, b"?".to_vec(), None));
            }
            // Two fields change places.
            2 => {
                let other = *random.choice(&places).unwrap();
                self.fields.swap(at, other);
            }
            // A field is missing.
            _ => {
                self.fields.remove(at);
            }
        }
    }
}

/// Adds what a scope and the groups in it hold, each tag asked in any order and twice.
fn collect<'m>(scope: Scope<'m>, home: &Home, tags: &[u32], found: &mut BTreeMap<(Home, u32), &'m [u8]>) {
    for tag in tags {
        let Some(position) = scope.position(*tag) else { continue };
        if scope.message().places().unwrap()[position].is_defined() {
            found.insert((home.clone(), *tag), scope.message().value(position));
        }
        for (number, entry) in scope.group_at(position).into_iter().flatten().enumerate() {
            let mut inner = home.clone();
            inner.push((*tag, number as u32 + 1));
            collect(entry, &inner, tags, found);
        }
    }
}

fn policies() -> Vec<Policy> {
    let warning =
        Check::ALL.iter().fold(Policy::standard(), |policy, check| policy.with(*check, Action::Warn));
    vec![Policy::standard(), Policy::quickfix(), Policy::quickfixj(), warning, Policy::ignoring()]
}

#[test]
fn views_and_get_find_what_a_naive_reader_finds_in_mutated_messages_under_every_policy() {
    let mut random = Rng::with_seed(9);
    let mut read = 0;
    for dictionary in [fix44(), &DIALECT] {
        let samples = Samples::new(dictionary, 0);
        let validator = Validator::new(dictionary);
        let mut scratch = validator.scratch();
        for msg_type in ["D", "8", "V", "AB", "i", "E", "J"] {
            let definition = dictionary.message(msg_type.as_bytes()).unwrap();
            for round in 0..4 {
                let mut written = Written::new(&if round % 4 == 3 {
                    samples.minimal(definition)
                } else {
                    samples.full(definition)
                });
                for _ in 0..random.usize(..5) {
                    written.mutate(&mut random);
                }
                let bytes = written.bytes();
                message(&bytes, &validator, |message| {
                    let places: Vec<Place> = validator.places(&message, &mut scratch).to_vec();
                    for policy in policies() {
                        for _ in 0..2 {
                            let all = |_| ControlFlow::Continue(());
                            let same = validator.for_each(&message, &policy, &mut scratch, all).unwrap();
                            assert!(same == places, "{policy:?}: {message:?}");
                        }
                    }
                    let message = message.with_places(&places);
                    let mut tags: Vec<u32> = written.fields.iter().map(|field| field.0).collect();
                    tags.sort_unstable();
                    tags.dedup();
                    random.shuffle(&mut tags);
                    for (at, tag) in message.tags().iter().enumerate() {
                        let first = message.scope().is_first(at, *tag);
                        let position = message.scope().position(*tag);
                        assert!(!first || position == Some(at), "{tag}: {message:?}");
                        let near = random.usize(..=message.len());
                        assert_eq!(message.scope().position_near(*tag, near), position, "{message:?}");
                    }
                    let (mut found, mut again) = (BTreeMap::new(), BTreeMap::new());
                    collect(message.scope(), &Home::new(), &tags, &mut found);
                    tags.reverse();
                    collect(message.scope(), &Home::new(), &tags, &mut again);
                    assert!(found == again, "the order of asking matters: {message:?}");
                    for field in [8, 9, 10] {
                        found.remove(&(Home::new(), field));
                    }
                    let expected = written.firsts();
                    let wrong = expected.iter().find(|(key, value)| found.get(*key) != Some(*value));
                    assert_eq!(wrong, None, "{message:?}");
                    assert_eq!(found.len(), expected.len(), "{message:?}");
                    if msg_type == "D" {
                        let order = NewOrderSingle::read(message).unwrap();
                        for _ in 0..2 {
                            let top = |tag| expected.get(&(Home::new(), tag)).copied();
                            assert_eq!(order.symbol().unwrap(), top(55).map(<&Text>::from));
                            assert_eq!(order.text().unwrap(), top(58).map(<&Text>::from));
                            let quantity = order.order_qty().ok().flatten().map(|q| q.to_string());
                            let own = top(38).map(|value| String::from_utf8_lossy(value).into_owned());
                            assert!(own.is_none() || quantity.is_some(), "{own:?}: {message:?}");
                        }
                    }
                    read += 1;
                });
            }
        }
    }
    assert_eq!(read, 2 * 7 * 4);
}

/// The first party's first field is the count of the group in it.
#[test]
fn a_view_reads_the_entries_of_a_group_as_they_were_sent() {
    let mut validator = Validator::new(fix44());
    assert!(validator.read_as_sent(453) && validator.read_as_sent(802));
    let mut scratch = validator.scratch();
    let parties =
        "453=3|802=2|803=1|523=A|803=2|523=B|452=1|448=ME|447=D|802=0|448=YOU|802=1|803=3|523=C|452=3|";
    let fields = format!("35=D|11=A|{parties}44=1|").replace('|', "\x01");
    message(&framed("FIX.4.4", fields.as_bytes()), &validator, |message| {
        let placed = message.with_places(validator.places(&message, &mut scratch));
        let order = NewOrderSingle::read(placed).unwrap();
        assert_eq!(order.price(), Ok(Some(Decimal::from(1))));
        let mut read = Vec::new();
        for party in order.party_ids().unwrap() {
            let subs = party.party_sub_ids().unwrap();
            let subs: Vec<_> = subs.map(|sub| sub.party_sub_id().ok().map(Text::as_bytes)).collect();
            let id = party.party_id().ok().map(Text::as_bytes);
            read.push((id, party.party_role().unwrap(), subs));
        }
        let text = |text: &'static str| Some(text.as_bytes());
        assert_eq!(
            read,
            [
                (text("ME"), Some(fields::PartyRole::EXECUTING_FIRM), vec![text("A"), text("B")]),
                (text("YOU"), None, vec![]),
                (None, Some(fields::PartyRole::CLIENT_ID), vec![text("C")]),
            ]
        );
    });
}
