//! Groups that are read as sent: their entries begin with whichever member comes first.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use fixbolt_dictionary::sample::{Samples, framed};
use fixbolt_dictionary::{Action, Check, ExpectedOrder, Policy, Source, Validator, fix44};
use proptest::prelude::*;

use crate::broken::{Mutation, Subject};
use crate::loading::load;
use crate::{versions, with_message};

/// Groups in groups: one begins with the count of another; `Notes` shares a tag with the body, and
/// one with the group in it.
const TABLE: &str = "table 1
version FIX.4.4
field 8 BeginString String
field 9 BodyLength Length
field 10 CheckSum String
field 35 MsgType String
field 100 NoOuter NumInGroup
field 101 OuterID String
field 102 OuterNote String
field 103 OuterSize Int
field 110 NoInner NumInGroup
field 111 NoDeep NumInGroup
field 112 DeepID String
field 113 InnerText String
field 114 DeepText String
field 120 Text String
field 121 Footer String
field 130 NoNotes NumInGroup
field 131 NoteID String
field 132 NoteText String
field 140 NoReplies NumInGroup
field 141 ReplyID String
group Outer 100 101! 102 103! *Inner
group Inner 110 *Deep 113
group Deep 111 112! 114
group Notes 130 131! 132 120 *Replies
group Replies 140 141! 132
header 8! 9! 35!
trailer 10!
message U1 Nested *Outer 120 121
message U2 Shared *Notes 120 121
";

const COUNTS: [u32; 5] = [100, 110, 111, 130, 140];

fn plain() -> Validator {
    Validator::new(&load(Source::text(TABLE)).expect("it is right").0)
}

fn as_sent() -> Validator {
    let mut validator = plain();
    assert!(COUNTS.into_iter().all(|count| validator.read_as_sent(count)));
    validator
}

static AS_SENT: LazyLock<Validator> = LazyLock::new(as_sent);
static PLAIN: LazyLock<Validator> = LazyLock::new(plain);

/// The fields of a message with marks for its structure: depth, `-` for the start of an entry, `?`
/// for a field without a place of its own; and what the policy finds.
fn read(validator: &Validator, policy: &Policy, fields: &str) -> (String, Vec<String>) {
    let bytes = framed("FIX.4.4", fields.replace('|', "\x01").as_bytes());
    let mut scratch = validator.scratch();
    with_message(&bytes, &[], |message| {
        let found = validator.all(message, policy, &mut scratch);
        let found = found.iter().map(|one| format!("{} {one}", one.check.name())).collect();
        let places = validator.places(message, &mut scratch);
        let marked = places.iter().zip(message.tags()).skip(3).take(message.len() - 4).map(|(place, tag)| {
            let (begins, known) = (place.begins_entry(), place.is_defined());
            let marks = format!("{}{}", if begins { "-" } else { "" }, if known { "" } else { "?" });
            format!("{tag}{marks}:{}", place.depth())
        });
        (marked.collect::<Vec<_>>().join(" "), found)
    })
    .expect("the message is not garbled")
}

#[test]
fn the_first_member_that_is_sent_begins_each_entry() {
    let cases = [
        // Another first field, and members in any order.
        (
            "35=U1|100=2|103=1|101=a|102=x|103=2|102=y|101=b|120=z|",
            "100:0 103-:1 101:1 102:1 103-:1 102:1 101:1 120:0",
        ),
        // Groups in groups, each with a first field of its own; the count of a group as that.
        (
            "35=U1|100=2|110=2|113=t|111=1|114=e|112=d|113=u|103=1|101=a|110=1|111=2|112=f|112=g|101=b|103=2|",
            "100:0 110-:1 113-:2 111:2 114-:3 112:3 113-:2 103:1 101:1 110-:1 111-:2 112-:3 112-:3 101:1 103:1",
        ),
        // A tag that the dictionary does not have before the first entry, and one in an entry.
        ("35=U1|100=1|7777=?|103=1|8888=?|101=a|", "100:0 7777?:0 103-:1 8888?:1 101:1"),
        // The dictionary's order.
        ("35=U1|100=2|101=a|103=1|101=b|103=2|", "100:0 101-:1 103:1 101-:1 103:1"),
        ("35=U1|100=0|120=z|", "100:0 120:0"),
    ];
    let policy = Policy::standard().with(Check::UserDefinedTag, Action::Ignore);
    for (fields, places) in cases {
        assert_eq!(read(&AS_SENT, &policy, fields), (places.to_owned(), vec![]), "{fields}");
    }
}

#[test]
fn a_first_field_that_is_also_outside_begins_entries_until_all_have_begun() {
    let cases = [
        // Text (120) is in the body, too.
        ("35=U2|130=2|120=a|131=b|120=c|131=d|120=z|121=e|", "130:0 120-:1 131:1 120-:1 131:1 120:0 121:0"),
        ("35=U2|130=0|120=z|", "130:0 120:0"),
        // NoteText (132) is in the group around it: the inner group has it first.
        (
            "35=U2|130=2|132=a|131=b|140=1|132=r|141=s|132=c|131=d|",
            "130:0 132-:1 131:1 140:1 132-:2 141:2 132-:1 131:1",
        ),
    ];
    for (fields, places) in cases {
        assert_eq!(read(&AS_SENT, &Policy::standard(), fields), (places.to_owned(), vec![]), "{fields}");
    }
}

#[test]
fn entries_are_counted_and_begin_alike_in_groups_that_are_read_as_sent() {
    let many = format!("35=U1|100=1|{}", "102=x|".repeat(500));
    let policy = Policy::ignoring()
        .with(Check::GroupDelimiter, Action::Reject)
        .with(Check::GroupOrder, Action::Reject)
        .with(Check::GroupCount, Action::Reject)
        .with(Check::DuplicateTag, Action::Reject)
        .with(Check::TagNotInMessage, Action::Reject);
    let count = "GroupCount Incorrect NumInGroup count for repeating group, field 100";
    let cases: [(&str, usize, &[&str]); 8] = [
        // More and fewer entries than announced, none, and entries although none is announced.
        ("35=U1|100=1|103=1|101=a|103=2|101=b|", 2, &[count]),
        ("35=U1|100=9|103=1|101=a|103=2|101=b|", 2, &[count]),
        ("35=U1|100=2|120=z|", 0, &[count]),
        ("35=U1|100=0|103=1|101=a|", 1, &[count]),
        // The first field is missing in the second entry: that begins where a member comes again.
        (
            "35=U1|100=2|103=1|101=a|102=x|101=b|102=y|",
            2,
            &[
                "GroupDelimiter Out of order repeating group members, field 101 in entry 2 of group 100, whose entries begin with 103",
            ],
        ),
        // All entries have begun: a member that comes again is a duplicate.
        ("35=U1|100=1|103=1|101=a|102=x|101=b|", 1, &["DuplicateTag Tag appears more than once, field 101"]),
        // A member of a group that is over.
        (
            "35=U1|100=1|103=1|110=1|113=t|101=a|113=u|",
            1,
            &["TagNotInMessage Tag not defined for this message type, field 113"],
        ),
        (&many, 500, &[count]),
    ];
    for (fields, entries, found) in cases {
        let (places, violations) = read(&AS_SENT, &policy, fields);
        assert_eq!(violations, found, "{fields}");
        let begun = places.split(' ').filter(|place| place.ends_with("-:1")).count();
        assert_eq!(begun, entries, "{fields}");
    }
}

#[test]
fn each_group_that_differs_is_told_once_where_it_does_if_the_policy_asks() {
    let differs =
        |fields| read(&AS_SENT, &Policy::standard().with(Check::GroupAsSent, Action::Warn), fields).1;
    let text = "GroupAsSent Out of order repeating group members, field";
    let first = format!("{text} 103 in entry 1 of group 100, whose entries begin with 101");
    let later = format!("{text} 102 in entry 2 of group 100, where it belongs before 103");
    let inner = format!("{text} 114 in entry 1 of group 111, whose entries begin with 112");
    assert_eq!(differs("35=U1|100=2|103=1|101=a|102=x|103=2|102=y|101=b|"), [&*first]);
    assert_eq!(differs("35=U1|100=2|101=a|102=x|103=1|101=b|103=2|102=y|"), [&*later]);
    let nested =
        "35=U1|100=2|103=1|101=a|110=1|111=2|114=e|112=d|114=f|112=g|103=2|101=b|110=1|111=1|114=h|112=i|";
    assert_eq!(differs(nested), [&*first, &*inner, &*inner]);
    assert_eq!(differs("35=U1|100=2|101=a|102=x|103=1|101=b|103=2|"), [""; 0]);
    for policy in [Policy::standard(), Policy::quickfix(), Policy::quickfixj(), Policy::tolerant()] {
        assert_eq!(policy.action(Check::GroupAsSent), Action::Ignore);
        assert_eq!(read(&AS_SENT, &policy, nested).1, [""; 0]);
    }
}

#[test]
fn a_group_out_of_order_is_refused_with_what_was_expected_and_the_key_that_accepts_it() {
    let text = "Out of order repeating group members, field";
    let cases = [
        (
            "35=U1|100=1|103=1|101=a|",
            format!(
                "GroupDelimiter {text} 103 in entry 1 of group 100, whose entries begin with 101; GroupsAsSent=100 accepts the order"
            ),
        ),
        (
            "35=U1|100=2|101=a|103=1|101=b|103=2|102=y|",
            format!(
                "GroupOrder {text} 102 in entry 2 of group 100, where it belongs before 103; GroupsAsSent=100 accepts the order"
            ),
        ),
        // No order has such entries.
        (
            "35=U1|100=2|101=a|103=1|103=2|101=b|",
            format!("GroupDelimiter {text} 103 in entry 2 of group 100, whose entries begin with 101"),
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(read(&PLAIN, &Policy::standard(), fields).1.first(), Some(&expected), "{fields}");
    }
}

#[test]
fn other_groups_are_read_as_before_and_a_tag_that_counts_none_changes_nothing() {
    let mut validator = plain();
    assert!(!validator.read_as_sent(0) && !validator.read_as_sent(101) && !validator.read_as_sent(7777));
    assert!(validator.read_as_sent(110));
    let strange = "35=U1|100=1|103=1|101=a|";
    assert_eq!(read(&validator, &Policy::standard(), strange), read(&PLAIN, &Policy::standard(), strange));
    // Only the order of the group in the one that is read as sent is wrong.
    let nested = "35=U1|100=1|101=a|103=1|110=1|113=t|111=1|114=e|112=d|";
    let policy = Policy::standard().with(Check::RequiredInGroup, Action::Ignore);
    let found = read(&validator, &policy, nested).1;
    assert!(found[0].starts_with("GroupDelimiter") && found[0].contains("of group 111"), "{found:?}");
    assert!(found.iter().all(|one| !one.contains("group 110")), "{found:?}");
}

/// What was learned before a group was read as sent is not used afterwards.
#[test]
fn a_scratch_that_has_learned_does_not_change_how_a_group_is_read() {
    let bytes = framed("FIX.4.4", b"35=U1\x01100=1\x01103=1\x01101=a\x01");
    let mut validator = plain();
    let mut scratch = validator.scratch();
    let policy = Policy::standard().with(Check::GroupDelimiter, Action::Ignore);
    let policy = policy.with(Check::GroupOrder, Action::Ignore).with(Check::RequiredInGroup, Action::Ignore);
    let policy = policy.with(Check::GroupCount, Action::Ignore);
    let mut entries = |validator: &Validator| {
        with_message(&bytes, &[], |message| {
            assert_eq!(validator.all(message, &policy, &mut scratch), []);
            validator.places(message, &mut scratch).iter().filter(|place| place.begins_entry()).count()
        })
    };
    assert_eq!([entries(&validator), entries(&validator)], [Ok(2), Ok(2)]);
    assert!(validator.read_as_sent(100));
    assert_eq!([entries(&validator), entries(&validator)], [Ok(1), Ok(1)]);
}

/// Compares both readings of a message. Unless a group begins with another member than the
/// dictionary's first one, only the order of the others may differ.
fn agree(plain: &Validator, as_sent: &Validator, pairs: &[(u32, u32)], bytes: &[u8]) -> bool {
    let policy = Policy::standard().with(Check::GroupOrder, Action::Ignore);
    let compared = with_message(bytes, pairs, |message| {
        let found = |validator: &Validator| {
            let (mut found, mut scratch) = (Vec::new(), validator.scratch());
            let places = validator.for_each(message, &policy, &mut scratch, |mut violation| {
                if let Some(order) = &mut violation.order {
                    order.as_sent = false;
                }
                found.push(violation);
                ControlFlow::Continue(())
            });
            (places.map(<[_]>::to_vec), found)
        };
        let expected = found(plain);
        let is_strange = expected
            .1
            .iter()
            .filter_map(|violation| violation.order)
            .any(|order| order.entry == 1 && matches!(order.expected, ExpectedOrder::First(_)));
        if !is_strange {
            assert_eq!(found(as_sent), expected, "{}", bytes.escape_ascii());
        }
        !is_strange
    });
    compared.unwrap_or_default()
}

fn all_as_sent(dictionary: &fixbolt_dictionary::Dictionary) -> Validator {
    let mut validator = Validator::new(dictionary);
    for group in dictionary.groups() {
        assert!(validator.read_as_sent(group.count_tag));
    }
    validator
}

#[test]
fn messages_in_the_dictionarys_order_are_read_alike() {
    for dictionary in versions() {
        let (plain, as_sent) = (Validator::new(&dictionary), all_as_sent(&dictionary));
        let (samples, pairs) = (Samples::new(&dictionary, 0), dictionary.length_data_pairs());
        for message in dictionary.messages() {
            for sample in [samples.minimal(message), samples.full(message)] {
                assert!(agree(&plain, &as_sent, &pairs, &sample.bytes()), "{}", message.name);
            }
        }
    }
}

#[test]
fn broken_messages_whose_groups_begin_as_the_dictionary_says_are_read_alike() {
    let (plain, as_sent) = (Validator::new(fix44()), all_as_sent(fix44()));
    let (samples, pairs) = (Samples::new(fix44(), 0), fix44().length_data_pairs());
    let (mut agreed, mut strange) = (0, 0);
    for (at, message) in fix44().messages().iter().enumerate() {
        let subject = Subject::new(fix44(), message, samples.minimal(message));
        for (n, mutation) in Mutation::ALL.into_iter().enumerate() {
            let Some((bytes, _)) = subject.broken(mutation, at * 7 + n) else { continue };
            match agree(&plain, &as_sent, &pairs, &bytes) {
                true => agreed += 1,
                false => strange += 1,
            }
        }
    }
    assert!(agreed > 1000 && strange > 0, "{agreed} {strange}");
}

/// A scope of [`TABLE`]: its members in order, and the scope that each counts.
type Members = &'static [(u32, Option<usize>)];
const BODY: usize = 0;
const SCOPES: [Members; 4] = [
    &[(100, Some(1)), (120, None), (121, None)],
    &[(101, None), (102, None), (103, None), (110, Some(2))],
    &[(111, Some(3)), (113, None)],
    &[(112, None), (114, None)],
];

/// What the model remembers of an open group.
struct Open {
    scope: usize,
    announced: usize,
    entries: usize,
    first: Option<u32>,
    seen: Vec<u32>,
}

/// Reads fields as the documentation says, each tag of which has one scope: tag, depth, whether it
/// begins an entry; and the checks that fail with the tag, in the order of the tags.
fn model(fields: &[(u32, usize)]) -> (String, Vec<String>) {
    let (mut open, mut places, mut found): (Vec<Open>, Vec<String>, Vec<String>) = Default::default();
    let mut seen_in_body = Vec::new();
    let close = |open: &mut Vec<Open>, depth: usize, found: &mut Vec<String>| {
        for group in open.drain(depth..) {
            if group.entries != group.announced {
                let counts = |member: &&(u32, Option<usize>)| member.1 == Some(group.scope);
                let tag = SCOPES.iter().flat_map(|members| members.iter()).find(counts).unwrap().0;
                found.push(format!("GroupCount {tag}"));
            }
        }
    };
    for &(tag, value) in fields {
        let home = SCOPES.iter().position(|members| members.iter().any(|member| member.0 == tag)).unwrap();
        let level = open.iter().position(|group| group.scope == home);
        let mut begins = "";
        if home == BODY {
            close(&mut open, 0, &mut found);
            if seen_in_body.contains(&tag) {
                found.push(format!("DuplicateTag {tag}"));
            }
            seen_in_body.push(tag);
        } else if let Some(level) = level {
            close(&mut open, level + 1, &mut found);
            let group = &mut open[level];
            let is_again = group.seen.contains(&tag);
            let first = *group.first.get_or_insert(tag);
            if tag != first && is_again && group.entries < group.announced {
                found.push(format!("GroupDelimiter {tag}"));
                begins = "-";
            } else if tag == first {
                begins = "-";
            } else if is_again {
                found.push(format!("DuplicateTag {tag}"));
            }
            if begins == "-" {
                group.entries += 1;
                group.seen.clear();
            }
            group.seen.push(tag);
        } else {
            found.push(format!("TagNotInMessage {tag}"));
            let depth = open.len() - usize::from(open.last().is_some_and(|group| group.entries == 0));
            places.push(format!("{tag}?:{depth}"));
            continue;
        }
        places.push(format!("{tag}{begins}:{}", level.map_or(0, |level| level + 1)));
        let counted = SCOPES[home].iter().find(|member| member.0 == tag).unwrap().1;
        if let Some(scope) = counted {
            open.push(Open { scope, announced: value, entries: 0, first: None, seen: Vec::new() });
        }
    }
    close(&mut open, 0, &mut found);
    found.sort();
    (places.join(" "), found)
}

/// Entries of nested groups, each group in an order of its own, with a few changes.
fn nested() -> impl Strategy<Value = Vec<(u32, usize)>> {
    fn entry(scope: usize, random: &mut Vec<u8>, out: &mut Vec<(u32, usize)>, order: &[usize]) {
        for (n, &at) in order.iter().enumerate() {
            let (tag, counted) = SCOPES[scope][at];
            let skips = n > 0 && random.pop().is_some_and(|byte| byte.is_multiple_of(4));
            match counted {
                _ if skips => {}
                None => out.push((tag, 1)),
                Some(inner) => group(tag, inner, random, out),
            }
        }
    }
    fn group(tag: u32, scope: usize, random: &mut Vec<u8>, out: &mut Vec<(u32, usize)>) {
        let entries = usize::from(random.pop().unwrap_or(0) % 4);
        out.push((tag, entries));
        let count = SCOPES[scope].len();
        let first = usize::from(random.pop().unwrap_or(0)) % count;
        for _ in 0..entries {
            let mut rest: Vec<usize> = (0..count).filter(|at| *at != first).collect();
            rest.rotate_left(usize::from(random.pop().unwrap_or(0)) % (count - 1).max(1));
            let order: Vec<usize> = [first].into_iter().chain(rest).collect();
            entry(scope, random, out, &order);
        }
    }
    let random = prop::collection::vec(any::<u8>(), 10..120);
    let changes =
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8), 0..4);
    (random, changes, any::<bool>()).prop_map(|(mut random, changes, is_changed)| {
        let mut fields = Vec::new();
        entry(BODY, &mut random, &mut fields, &[0, 1, 2]);
        for (one, other, change) in changes.into_iter().filter(|_| is_changed) {
            let (one, other) = (one.index(fields.len()), other.index(fields.len()));
            match change {
                0 => fields.swap(one, other),
                1 => fields.insert(one, fields[other]),
                2 if fields.len() > 1 => drop(fields.remove(one)),
                _ => fields[one].1 = other % 4,
            }
        }
        fields
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nested_groups_in_any_order_are_read_as_a_simple_model_reads_them(fields in nested()) {
        let policy = Policy::ignoring()
            .with(Check::GroupDelimiter, Action::Reject)
            .with(Check::GroupOrder, Action::Reject)
            .with(Check::GroupCount, Action::Reject)
            .with(Check::DuplicateTag, Action::Reject)
            .with(Check::TagNotInMessage, Action::Reject);
        let text: String = fields.iter().map(|(tag, value)| format!("{tag}={value}|")).collect();
        let (places, found) = read(&AS_SENT, &policy, &format!("35=U1|{text}"));
        let tag_of = |text: &str| text.split("field ").nth(1).map(|rest| rest.split(' ').next().unwrap().to_owned());
        let mut found: Vec<String> =
            found.iter().map(|text| format!("{} {}", text.split(' ').next().unwrap(), tag_of(text).unwrap())).collect();
        found.sort();
        prop_assert_eq!((places, found), model(&fields), "{}", text);
    }
}
