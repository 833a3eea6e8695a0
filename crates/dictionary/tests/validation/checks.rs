//! Every check as reject, warn and ignore; groups of any depth; the scripts of other engines.

use std::fmt::Write as _;
use std::sync::LazyLock;

use fixbolt_codec::{Message, Version};
use fixbolt_dictionary::sample::{SampleField, Samples, framed};
use fixbolt_dictionary::{
    Action, Check, CodeRules, DataType, Policy, RefTag, Requirements, Section, SessionRejectCode as Reason,
    Source, Validator, Violation, fix_latest, fix42, fix44, fixt11, shipped,
};

/// Returns a whole message around `fields` (with `|` for SOH), the first of which is MsgType.
fn message(begin_string: &str, fields: &str) -> Vec<u8> {
    framed(begin_string, fields.replace('|', "\x01").as_bytes())
}

/// Calls `look` with the message's index; `None` if the message is garbled.
fn with<R>(bytes: &[u8], look: impl FnOnce(&Message<'_>) -> R) -> Option<R> {
    crate::with_message(bytes, V44.data_fields().pairs(), look).ok()
}

/// Returns everything the policy finds: check, action, number of the reason, tag as text.
pub(crate) fn all(validator: &Validator, policy: &Policy, bytes: &[u8]) -> Vec<(Check, Action, u16, String)> {
    let mut scratch = validator.scratch();
    let look = |message: &Message<'_>| {
        let found = validator.all(message, policy, &mut scratch);
        let told = |violation: &Violation<'_>| {
            (violation.check, violation.action, violation.reason.value(), violation.tag.to_string())
        };
        found.iter().map(told).collect()
    };
    with(bytes, look).expect("the message is not garbled")
}

/// Reason and tag of everything the policy finds.
fn reasons(validator: &Validator, policy: &Policy, bytes: &[u8]) -> Vec<(u16, String)> {
    all(validator, policy, bytes).into_iter().map(|(_, _, reason, tag)| (reason, tag)).collect()
}

use crate::loading::load;
use crate::support;

/// A derivatives message of FIX Latest, with identifiers in groups.
#[test]
fn an_identifier_is_unique_in_its_message_and_a_reference_is_to_one() {
    let dictionary = fix_latest().over(fixt11()).expect("they fit");
    let validator = Validator::new(&dictionary);
    let samples = Samples::new(&dictionary, 0);
    let sample = samples.full(dictionary.message(b"R").expect("QuoteRequest is defined"));
    let at = |kind: DataType| {
        let tags = sample.fields().iter().map(|field| dictionary.field(field.tag).map(|field| field.kind));
        tags.enumerate().filter(|(_, found)| *found == Some(kind)).map(|(n, _)| n).collect::<Vec<_>>()
    };
    let (identifiers, references) = (at(DataType::Xid), at(DataType::XidRef));
    assert!(identifiers.len() > 2 && references.len() > 2);
    let last = sample.fields().len() - 1;
    let reasons_with = |place: usize, value: &[u8]| {
        let mut body = Vec::new();
        for (n, field) in sample.fields().iter().enumerate() {
            let value = if n == place { value } else { &field.value };
            SampleField { value: value.to_vec(), ..field.clone() }.write_to(&mut body);
        }
        let pairs = dictionary.length_data_pairs();
        let mut scratch = validator.scratch();
        crate::with_message(&framed(sample.begin_string(), &body), &pairs, |message| {
            let found = validator.all(message, &Policy::standard(), &mut scratch);
            let lenient = validator.all(message, &Policy::quickfix(), &mut scratch);
            assert!(lenient.iter().all(|violation| violation.check != Check::DataType));
            found.iter().map(|v| (v.check, v.reason.value(), v.tag.to_string())).collect::<Vec<_>>()
        })
        .expect("the message is not garbled")
    };
    let wrong = |place: usize| (Check::DataType, 5, sample.fields()[place].tag.to_string());
    assert_eq!(reasons_with(last, &sample.fields()[last].value), []);
    // The second of two: the references to the first one are still valid.
    let (first, second) = (identifiers[0], identifiers[1]);
    assert_eq!(reasons_with(second, &sample.fields()[first].value), [wrong(second)]);
    assert_eq!(reasons_with(references[1], b"nobody"), [wrong(references[1])]);
    assert_eq!(reasons_with(references[1], &sample.fields()[second].value), []);
    // All references to a missing one are wrong.
    assert_eq!(reasons_with(first, b"renamed").len(), references.len());
}

static V42: LazyLock<Validator> = LazyLock::new(|| Validator::new(fix42()));
pub(crate) static V44: LazyLock<Validator> = LazyLock::new(|| Validator::new(fix44()));

const HEADER: &str = "34=2|49=A|56=B|52=20261121-09:00:00.000|";

/// Returns a valid order of FIX 4.4 with `more` after it.
pub(crate) fn order(more: &str) -> Vec<u8> {
    message(
        "FIX.4.4",
        &format!("35=D|{HEADER}11=ID|55=IBM|54=1|60=20261121-09:00:00|38=100|40=2|44=57.00|{more}"),
    )
}

#[test]
fn valid_messages_pass() {
    for more in [
        "",
        "59=4|21=1|",
        "78=2|79=one|80=50|79=two|80=50|",
        "453=1|448=ME|447=D|452=1|802=2|523=SUB|803=1|523=OTHER|803=2|",
        "453=1|448=ME|447=D|452=1|802=1|523=SUB|803=1|15=EUR|",
        "386=0|",
        "18=1 6 G|",
        "93=3|89=a\x01b|",
        "354=3|355=\x01=\x01|",
    ] {
        assert_eq!(all(&V44, &Policy::standard(), &order(more)), [], "{more}");
    }
    let fills = "35=8|34=2|49=A|56=B|52=20261121-09:00:00|37=O|17=E|20=0|150=2|39=2|55=IBM|54=1|38=100|32=100|31=1.5|151=0|14=100|6=1.5|";
    assert_eq!(all(&V42, &Policy::standard(), &message("FIX.4.2", fills)), []);
}

/// For each check, a message that fails it and no other check, with reason and tag.
pub(crate) fn failures() -> Vec<(Check, Vec<u8>, u16, &'static str)> {
    let whole = |fields: &str| message("FIX.4.4", fields);
    vec![
        (Check::MsgType, whole(&format!("35=*|{HEADER}")), 11, "35"),
        (Check::MsgType, whole(&format!("35=ZZ|{HEADER}55=X|")), 11, "35"),
        (Check::TagSyntax, order("0=HI|"), 0, "0"),
        (Check::TagSyntax, order("-1=HI|"), 0, "-1"),
        (Check::TagSyntax, order("10000000000=HI|"), 0, "10000000000"),
        (Check::TagSyntax, order("nothing|"), 0, "nothing"),
        (Check::UnknownTag, order("999=HI|"), 0, "999"),
        (Check::UserDefinedTag, order("5000=HI|"), 0, "5000"),
        (Check::UserDefinedTag, order("70000=HI|"), 0, "70000"),
        (Check::TagNotInMessage, order("112=HI|"), 2, "112"),
        (Check::DuplicateTag, order("54=1|"), 13, "54"),
        (Check::DuplicateTag, order("78=1|79=a|80=1|80=2|"), 13, "80"),
        (Check::EmptyValue, order("58=|"), 4, "58"),
        (Check::DataType, order("99=+200.00|"), 6, "99"),
        (Check::DataType, order("15=EURO|"), 6, "15"),
        (Check::DataType, whole(&format!("35=2|{HEADER}7=0|16=0|")), 5, "7"),
        (Check::DataType, order("78=-1|"), 16, "78"),
        (Check::EnumValue, order("59=Z|"), 5, "59"),
        (Check::EnumValue, order("18=1 ? G|"), 5, "18"),
        (Check::RequiredField, whole(&format!("35=1|{HEADER}")), 1, "112"),
        (Check::RequiredField, whole("35=0|34=2|49=A|52=20261121-09:00:00|"), 1, "56"),
        (Check::RequiredInGroup, whole(&format!("35=E|{HEADER}66=L|394=1|68=1|73=1|11=ID|54=1|")), 1, "67"),
        (Check::GroupCount, order("386=3|336=PRE-OPEN|336=AFTER-HOURS|15=EUR|"), 16, "386"),
        (Check::GroupCount, order("386=1|336=PRE-OPEN|336=AFTER-HOURS|"), 16, "386"),
        (Check::GroupDelimiter, order("78=1|80=5|79=a|"), 15, "80"),
        (Check::GroupDelimiter, order("78=2|79=a|80=1|80=2|"), 15, "80"),
        (Check::GroupOrder, order("453=1|448=ME|452=1|447=D|"), 15, "447"),
        (
            Check::SectionOrder,
            whole("35=D|11=ID|55=IBM|54=1|60=20261121-09:00:00|40=1|34=2|49=A|56=B|52=20261121-09:00:00|"),
            14,
            "34",
        ),
        (Check::DataLength, order("355=abc|"), 1, "354"),
        (Check::DataLength, order("354=3|"), 1, "355"),
        (Check::DataLength, order("354=3|58=hi|355=abc|"), 14, "355"),
        (Check::DataLength, order("354=7|58=hi|355=abc|"), 5, "354"),
        (Check::DataLength, order("355=abc|354=3|"), 14, "355"),
        (Check::DataLength, order("96=abc|"), 1, "95"),
        // The data would end inside the value, inside CheckSum, and nowhere.
        (Check::DataLength, order("354=2|355=abc|"), 5, "354"),
        (Check::DataLength, order("354=2|355=a|bc|58=x|"), 5, "354"),
        (Check::DataLength, order("354=8|355=abc|"), 5, "354"),
        (Check::DataLength, order("354=99999999999999999999|355=abc|"), 5, "354"),
        (Check::DataBeforeLength, order("89=abc|93=3|"), 14, "89"),
    ]
}

#[test]
fn every_check_names_its_reason_and_tag_and_obeys_its_action() {
    let mut seen = Vec::new();
    for (check, bytes, reason, tag) in failures() {
        // Other mistakes of the message are not examined here.
        let only = |action: Action| Policy::ignoring().with(check, action);
        let found = all(&V44, &only(Action::Reject), &bytes);
        assert!(!found.is_empty(), "{check:?} {tag}");
        assert_eq!(found[0], (check, Action::Reject, reason, tag.to_string()));
        let warned = all(&V44, &only(Action::Warn), &bytes);
        assert_eq!(warned[0], (check, Action::Warn, reason, tag.to_string()));
        assert_eq!(warned.len(), found.len());
        assert_eq!(all(&V44, &only(Action::Ignore), &bytes), []);
        // Under the standard policy it is the first thing rejected; as a warning the message
        // passes.
        let mut scratch = V44.scratch();
        let first = |policy: &Policy, scratch: &mut _| {
            with(&bytes, |message| {
                V44.first_reject(message, policy, scratch)
                    .map(|violation| (violation.reason.value(), violation.tag.to_string()))
            })
        };
        assert_eq!(
            first(&Policy::standard(), &mut scratch),
            Some(Some((reason, tag.to_string()))),
            "{check:?}"
        );
        let warning =
            first(&Policy::standard().with(check, Action::Warn), &mut scratch).expect("it is not garbled");
        assert_ne!(warning, Some((reason, tag.to_string())), "{check:?}");
        seen.push(check);
    }
    for check in Check::ALL {
        // Checks over a set of versions, and of groups that are read as sent, are tested there.
        let is_elsewhere = matches!(check, Check::ApplicationVersion | Check::GroupAsSent);
        assert!(seen.contains(&check) || is_elsewhere, "{check:?} has no case");
    }
}

/// Three levels: an outer group with a required member after an optional component, an inner group
/// that begins with a group.
const NESTED: &str = "table 1
version FIX.4.4
field 8 BeginString String
field 9 BodyLength Length
field 10 CheckSum String
field 35 MsgType String
field 100 NoOuter int
field 101 OuterID String
field 102 OuterNote String
field 103 OuterNeeded int
field 110 NoInner NumInGroup
field 111 NoDeep NumInGroup
field 112 DeepID String
field 113 InnerText String
field 114 DeepNeeded String
field 120 After String
field 627 NoHops NumInGroup
field 628 HopCompID String
component Block 103! 102
group Outer 100 101! @Block! *Inner
group Inner 110 *Deep! 113
group Deep 111 112! 114!
group Hops 627 628
header 8! 9! 35! *Hops
trailer 10!
message U1 Nested *Outer 120
message U2 Needs *Outer! 120
";

static NEST: LazyLock<Validator> = LazyLock::new(|| {
    Validator::new(
        &load(Source::text(NESTED))
            .map(|(dictionary, _)| dictionary)
            .unwrap_or_else(|errors| panic!("{errors:?}")),
    )
});

#[test]
fn groups_nest_to_any_depth_and_entries_are_checked_one_by_one() {
    let right = "35=U1|627=2|628=X|628=Y|100=2|101=a|103=1|110=2|111=1|112=d|114=e|113=t|111=1|112=f|114=g|\
                 101=b|103=2|120=z|";
    assert_eq!(reasons(&NEST, &Policy::standard(), &message("FIX.4.4", right)), []);
    let cases: &[(&str, &[(u16, &str)])] = &[
        // The required member of the second outer entry is missing.
        ("35=U1|100=2|101=a|103=1|101=b|120=z|", &[(1, "103")]),
        // The deepest group announces two entries and has one.
        ("35=U1|100=1|101=a|103=1|110=1|111=2|112=d|114=e|120=z|", &[(16, "111")]),
        // A required member of the deepest entry, closed by the next inner entry.
        ("35=U1|100=1|101=a|103=1|110=2|111=1|112=d|111=1|112=f|114=g|", &[(1, "114")]),
        // The inner group's entry has to begin with the deep group's count.
        ("35=U1|100=1|101=a|103=1|110=1|113=t|", &[(15, "113"), (1, "111")]),
        // No entry in an optional group and in a required one.
        ("35=U1|100=0|", &[]),
        ("35=U2|100=0|", &[(16, "100")]),
        ("35=U2|120=z|", &[(1, "100")]),
        // Zero announced, but there is an entry.
        ("35=U1|100=0|101=a|103=1|", &[(16, "100")]),
        // Group fields without the count.
        ("35=U1|101=a|", &[(2, "101")]),
        // A thousand announced, two sent.
        ("35=U1|100=1000|101=a|103=1|101=b|103=1|", &[(16, "100")]),
        // Counts of type int are counts as well.
        ("35=U1|100=x|101=a|103=1|", &[(6, "100")]),
        ("35=U1|100=-1|", &[(16, "100")]),
        // A header group after the body.
        ("35=U1|120=z|627=1|628=X|", &[(14, "627")]),
        // An unknown tag does not end a group.
        ("35=U1|100=2|101=a|999=?|103=1|101=b|103=2|", &[(0, "999")]),
        // Everything wrong at once: in the order of the message.
        (
            "35=U1|100=2|103=1|102=|101=b|120=z|120=z|",
            &[(15, "103"), (4, "102"), (1, "101"), (1, "103"), (13, "120")],
        ),
    ];
    for (fields, expected) in cases {
        let expected: Vec<(u16, String)> =
            expected.iter().map(|(reason, tag)| (*reason, (*tag).to_string())).collect();
        assert_eq!(reasons(&NEST, &Policy::standard(), &message("FIX.4.4", fields)), expected, "{fields}");
    }
}

#[test]
fn a_field_after_a_count_of_zero_belongs_to_the_message_if_that_has_it() {
    const TABLE: &str = "table 1\nversion FIX.4.4\nfield 8 B String\nfield 9 L Length\nfield 10 C String\n\
        field 35 M String\nfield 50 NoIDs NumInGroup\nfield 51 ID String\nfield 52 Note String\n\
        group IDs 50 51! 52\nheader 8 9 35\ntrailer 10\nmessage U1 One *IDs 52\n";
    let dictionary = load(Source::text(TABLE)).expect("it is right").0;
    let validator = Validator::new(&dictionary);
    let mut scratch = validator.scratch();
    // The message between them must not matter: its entry has the field.
    for fields in ["35=U1|50=0|52=note|", "35=U1|50=1|51=a|52=b|52=note|", "35=U1|50=0|52=note|"] {
        let found = with(&message("FIX.4.4", fields), |message| {
            scratch.forget();
            let count = validator.all(message, &Policy::standard(), &mut scratch).len();
            let places = validator.places(message, &mut scratch);
            (count, places[message.len() - 2].depth())
        });
        assert_eq!(found, Some((0, 0)), "{fields}");
    }
}

#[test]
fn required_members_of_groups_are_rejected_warned_about_or_ignored() {
    let bytes = message("FIX.4.4", "35=U1|100=1|101=a|");
    for action in [Action::Reject, Action::Warn] {
        let policy = Policy::standard().with(Check::RequiredInGroup, action);
        assert_eq!(all(&NEST, &policy, &bytes), [(Check::RequiredInGroup, action, 1, "103".to_string())]);
    }
    assert_eq!(all(&NEST, &Policy::standard().with(Check::RequiredInGroup, Action::Ignore), &bytes), []);
}

#[test]
fn quickfix_considers_only_the_innermost_components_requirement() {
    const TABLE: &str = "table 1\nversion FIX.4.4\nfield 8 B String\nfield 9 L Length\nfield 10 C String\nfield 35 M String\n\
        field 50 NoIDs NumInGroup\nfield 51 ID String\nfield 52 Note String\nfield 53 Deep String\nfield 54 In String\n\
        component Inner 53!\ncomponent Outer @Inner! 54!\ngroup IDs 50 51! @Inner!\nheader 8 9 35\ntrailer 10\n\
        message U1 Optional @Outer 52\nmessage U2 Required *IDs!\n";
    let validator = Validator::new(
        &load(Source::text(TABLE))
            .map(|(dictionary, _)| dictionary)
            .unwrap_or_else(|errors| panic!("{errors:?}")),
    );
    let check = |policy: &Policy, fields: &str| reasons(&validator, policy, &message("FIX.4.4", fields));
    let (standard, quickfix, quickfixj) = (Policy::standard(), Policy::quickfix(), Policy::quickfixj());
    // 53 is required in a component that is required in an optional one; 54 only in the optional
    // one.
    assert_eq!(check(&standard, "35=U1|52=x|"), []);
    assert_eq!(check(&quickfix, "35=U1|52=x|"), [(1, "53".into())]);
    assert_eq!(check(&quickfixj, "35=U1|52=x|"), [(1, "53".into())]);
    // In an entry, QuickFIX ignores members that come through a component; QuickFIX/J does not.
    assert_eq!(check(&standard, "35=U2|50=1|51=x|"), [(1, "53".into())]);
    assert_eq!(check(&quickfix, "35=U2|50=1|51=x|"), []);
    assert_eq!(check(&quickfixj, "35=U2|50=1|51=x|"), [(1, "53".into())]);
    // A required group without entries: the count is present.
    assert_eq!(check(&standard, "35=U2|50=0|"), [(16, "50".into())]);
    assert_eq!(check(&quickfix, "35=U2|50=0|"), []);
}

#[test]
fn quickfix_requires_a_wrapped_group_only_where_it_is_marked_inside_as_well() {
    const XML: &str = "<fix type='FIX' major='4' minor='4'>
        <header><field name='BeginString' required='Y'/><field name='BodyLength' required='Y'/>
            <field name='MsgType' required='Y'/></header>
        <trailer><field name='CheckSum' required='Y'/></trailer>
        <messages><message name='One' msgtype='U1' msgcat='app'><component name='Loose' required='Y'/>
            <component name='Strict' required='Y'/></message></messages>
        <components><component name='Loose'><group name='NoLoose' required='N'><field name='LooseID' required='Y'/>
            <field name='LooseMore' required='Y'/></group></component>
            <component name='Strict'><group name='NoStrict' required='Y'><field name='StrictID' required='Y'/></group>
            </component></components>
        <fields><field number='8' name='BeginString' type='STRING'/><field number='9' name='BodyLength' type='LENGTH'/>
            <field number='10' name='CheckSum' type='STRING'/><field number='35' name='MsgType' type='STRING'/>
            <field number='50' name='NoLoose' type='NUMINGROUP'/><field number='51' name='LooseID' type='STRING'/>
            <field number='52' name='LooseMore' type='STRING'/><field number='60' name='NoStrict' type='NUMINGROUP'/>
            <field number='61' name='StrictID' type='STRING'/></fields></fix>";
    let (read, _) = load(Source::text(XML)).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let table = load(Source::text(read.to_table()))
        .map(|(dictionary, _)| dictionary)
        .unwrap_or_else(|errors| panic!("{}", errors[0]));
    let (written, _) = load(Source::text(table.to_quickfix_xml())).expect("it is what was read");
    for dictionary in [&read, &table, &written] {
        let validator = Validator::new(dictionary);
        let check = |policy: &Policy, fields: &str| reasons(&validator, policy, &message("FIX.4.4", fields));
        let (neither, loose) = ("35=U1|", "35=U1|50=1|51=x|60=1|61=x|");
        assert_eq!(check(&Policy::standard(), neither), [(1, "50".into()), (1, "60".into())]);
        assert_eq!(check(&Policy::standard(), loose), [(1, "52".into())]);
        for policy in [Policy::quickfix(), Policy::quickfixj()] {
            assert_eq!(check(&policy, neither), [(1, "60".into())]);
            assert_eq!(check(&policy, loose), []);
        }
    }
}

#[test]
fn user_defined_fields_of_other_messages_are_ignored_where_user_defined_tags_are() {
    const TABLE: &str = "table 1\nversion FIX.4.4\nfield 8 B String\nfield 9 L Length\nfield 10 C String\nfield 35 M String\n\
        field 6000 Ours String\nfield 40001 Later String\nheader 8 9 35\ntrailer 10\nmessage U1 One 6000 40001\nmessage U2 Two\n";
    let validator = Validator::new(
        &load(Source::text(TABLE))
            .map(|(dictionary, _)| dictionary)
            .unwrap_or_else(|errors| panic!("{errors:?}")),
    );
    let check = |policy: &Policy, fields: &str| reasons(&validator, policy, &message("FIX.4.4", fields));
    let both = "35=U2|6000=x|40001=x|";
    assert_eq!(check(&Policy::standard(), both), [(2, "6000".into()), (2, "40001".into())]);
    let without = Policy::standard().with(Check::UserDefinedTag, Action::Ignore);
    assert_eq!(check(&without, both), [(2, "40001".into())]);
}

#[test]
fn quickfix_looks_for_required_members_only_in_required_groups_and_not_through_components() {
    let quickfix = Policy::quickfix();
    // 103 comes through a component, 114 is in an optional group.
    assert_eq!(reasons(&NEST, &quickfix, &message("FIX.4.4", "35=U2|100=1|101=a|")), []);
    assert_eq!(
        reasons(&NEST, &quickfix, &message("FIX.4.4", "35=U2|100=1|103=1|")),
        [(15, "103".into()), (1, "101".into())]
    );
    assert_eq!(
        reasons(&NEST, &quickfix, &message("FIX.4.4", "35=U1|100=1|101=a|110=1|111=1|112=x|")),
        [(1, "114".into())]
    );
    let every = quickfix.with_requirements(Requirements::Standard);
    assert_eq!(reasons(&NEST, &every, &message("FIX.4.4", "35=U2|100=1|101=a|")), [(1, "103".into())]);
    // In an entry, any order is accepted after the first field.
    assert_eq!(reasons(&V44, &quickfix, &order("453=1|448=ME|452=1|447=D|")), []);
    assert_eq!(reasons(&V44, &quickfix, &order("453=1|447=D|448=ME|"))[0], (15, "447".into()));
}

#[test]
fn a_wrong_count_is_reported_before_a_wrong_value_in_its_group() {
    let standard = Policy::standard();
    let wrong = order("453=2|448=ME|447=?|452=1|15=EUR|");
    let expected = [(16, "453".to_owned()), (5, "447".to_owned())];
    assert_eq!(reasons(&V44, &standard, &wrong), expected);
    // Nested groups, and a wrong value after them.
    let nested = order("453=2|448=ME|447=?|452=1|802=2|523=SUB|803=x|15=EUR|40=?|");
    let found = reasons(&V44, &standard.with(Check::DuplicateTag, Action::Ignore), &nested);
    let tags: Vec<&str> = found.iter().map(|(_, tag)| tag.as_str()).collect();
    assert_eq!(tags, ["453", "447", "802", "803", "40"]);
    // What is ignored changes nothing.
    let ignoring = standard.with(Check::UserDefinedTag, Action::Ignore);
    assert_eq!(reasons(&V44, &ignoring, &order("453=2|448=ME|447=?|452=1|5001=x|15=EUR|")), expected);
    // A field of no group ends none: it is reported where it stands.
    assert_eq!(
        reasons(&V44, &standard, &order("453=2|448=ME|447=?|5001=x|452=1|15=EUR|")),
        [(5, "447".to_owned()), (0, "5001".to_owned()), (16, "453".to_owned())]
    );
}

#[test]
fn the_same_count_tag_leads_to_the_group_of_its_message() {
    // 268 begins with 269 in W and with 279 in X.
    let w = format!("35=W|{HEADER}55=IBM|268=2|269=0|270=1.5|269=1|270=1.6|");
    assert_eq!(reasons(&V42, &Policy::standard(), &message("FIX.4.2", &w)), []);
    let x = format!("35=X|{HEADER}268=2|279=0|269=0|55=IBM|270=1.5|279=1|269=1|55=IBM|270=1.6|");
    let found = reasons(&V42, &Policy::standard(), &message("FIX.4.2", &x));
    assert!(!found.contains(&(16, "268".to_string())), "{found:?}");
    let wrong = format!("35=W|{HEADER}55=IBM|268=1|279=0|269=0|270=1|");
    assert_eq!(reasons(&V42, &Policy::standard(), &message("FIX.4.2", &wrong))[0], (2, "279".to_string()));
}

#[test]
fn a_body_field_that_a_full_group_also_has_belongs_to_the_body() {
    const TABLE: &str = "table 1\nversion FIX.4.4\nfield 8 B String\nfield 9 L Length\nfield 10 C String\nfield 35 M String\n\
        field 33 NoLines NumInGroup\nfield 58 Text String\nfield 59 Other String\ngroup Lines 33 58! 59\nheader 8 9 35\n\
        trailer 10\nmessage B News *Lines! 59 58\n";
    let validator = Validator::new(
        &load(Source::text(TABLE)).map(|(dictionary, _)| dictionary).expect("the table is right"),
    );
    let check = |fields: &str| reasons(&validator, &Policy::standard(), &message("FIX.4.4", fields));
    assert_eq!(check("35=B|33=2|58=one|59=x|58=two|59=y|59=body|58=body|"), []);
    assert_eq!(check("35=B|33=2|58=one|58=two|58=body|"), []);
    assert_eq!(check("35=B|33=2|58=one|58=two|58=body|58=again|"), [(13, "58".into())]);
    assert_eq!(check("35=B|33=1|58=one|58=two|58=three|"), [(13, "58".into())]);
}

#[test]
fn references_to_message_types_and_union_types_accept_what_the_peer_may_send() {
    // A Reject that names an unknown type must itself be acceptable.
    let reject = format!("35=3|{HEADER}45=2|372=ZZ|373=11|");
    assert_eq!(reasons(&V44, &Policy::standard(), &message("FIX.4.4", &reject)), []);
    // IOIQty is S, M, L or a quantity; PaymentMethod has codes and everything from 1000 on.
    let ioi =
        |quantity: &str| message("FIX.4.4", &format!("35=6|{HEADER}23=I|28=N|55=IBM|54=1|27={quantity}|"));
    assert_eq!(reasons(&V44, &Policy::standard(), &ioi("S")), []);
    assert_eq!(reasons(&V44, &Policy::standard(), &ioi("1000")), []);
    assert_eq!(reasons(&V44, &Policy::standard(), &ioi("X")), [(5, "27".into())]);
}

#[test]
fn the_structure_has_the_place_of_each_field() {
    let bytes = message(
        "FIX.4.4",
        "35=U1|627=1|628=X|100=2|101=a|110=1|111=2|112=d|112=f|113=t|101=b|999=?|120=z|7777=!|",
    );
    let mut scratch = NEST.scratch();
    let places = with(&bytes, |message| {
        let places = NEST.places(message, &mut scratch);
        assert_eq!(places.len(), message.len());
        places.iter().zip(message.tags()).fold(String::new(), |mut text, (place, tag)| {
            let section = match place.section() {
                Section::Header => 'H',
                Section::Body => 'B',
                Section::Trailer => 'T',
            };
            let marks =
                [(place.counts_group(), "#"), (place.begins_entry(), "-"), (!place.is_defined(), "?")];
            let marks: String = marks.iter().filter(|(holds, _)| *holds).map(|(_, mark)| *mark).collect();
            let _ = write!(text, "{tag}{marks}:{section}{} ", place.depth());
            text
        })
    });
    assert_eq!(
        places.as_deref(),
        Some(
            "8:H0 9:H0 35:H0 627#:H0 628-:H1 100#:B0 101-:B1 110#:B1 111#-:B2 112-:B3 112-:B3 113:B2 \
             101-:B1 999?:B1 120:B0 7777?:B0 10:T0 "
        )
    );
}

/// The scripts of QuickFIX for test case 14: what is sent after the logon, and the reason, tag and
/// text of the Reject.
#[test]
fn quickfixs_scripts_for_test_case_14_get_their_rejects() {
    let scripts = [
        ("14a_BadField", 4),
        ("14b_RequiredFieldMissing", 2),
        ("14c_TagNotDefinedForMsgType", 1),
        ("14d_TagSpecifiedWithoutValue", 1),
        ("14f_IncorrectDataFormat", 1),
        ("14g_HeaderBodyTrailerFieldsOutOfOrder", 2),
        ("14i_RepeatingGroupCountNotEqual", 1),
        ("2q_MsgTypeNotValid", 1),
        ("2r_UnregisteredMsgType", 0),
        ("15_HeaderAndBodyFieldsOrderedDifferently", 0),
        ("19a_PossResendMessageThatHAsAlreadyBeenSent", 0),
        ("21_RepeatingGroupSpecifierWithValueOfZero", 0),
        ("8_OnlyApplicationMessages", 0),
    ];
    for (folder, begin_string, validator) in [("fix42", "FIX.4.2", &V42), ("fix44", "FIX.4.4", &V44)] {
        for (script, rejects) in scripts {
            let Some(text) = support::shared(&format!("acceptance/quickfix/{folder}/{script}.def")) else {
                support::absent(1);
                continue;
            };
            for policy in [Policy::standard(), Policy::quickfix()] {
                assert_eq!(run_script(&text, begin_string, validator, &policy), rejects, "{folder} {script}");
            }
        }
    }
}

/// Validates what a script sends and compares with the expected answer; returns the number of
/// Rejects.
fn run_script(text: &str, begin_string: &str, validator: &Validator, policy: &Policy) -> usize {
    let mut scratch = validator.scratch();
    let mut rejects = 0;
    let mut lines = text.lines().map(str::trim_end).peekable();
    while let Some(line) = lines.next() {
        let Some(sent) = line.strip_prefix('I') else { continue };
        let sent = sent.replace("<TIME>", "20261121-09:00:00");
        let (_, fields) = sent.split_once('\x01').expect("a message has fields");
        let bytes = framed(begin_string, fields.as_bytes());
        let answer = lines.clone().find(|line| line.starts_with(['I', 'E']));
        let expected = answer.filter(|line| line.starts_with('E') && line.contains("\x0135=3\x01"));
        let value = |tag: &str| {
            let fields = expected?.split('\x01');
            fields
                .filter_map(|field| field.split_once('='))
                .find(|(name, _)| *name == tag)
                .map(|(_, value)| value.to_string())
        };
        with(&bytes, |message| match (validator.first_reject(message, policy, &mut scratch), expected) {
            (None, None) => {}
            (Some(violation), Some(_)) => {
                rejects += 1;
                assert_eq!(Some(violation.text().to_string()), value("58"), "{line}");
                // The script for an unknown message type has no RefTagID.
                if violation.check != Check::MsgType {
                    assert_eq!(Some(violation.tag.to_string()), value("371"), "{line}");
                }
                let reason = Version::from_begin_string(begin_string.as_bytes())
                    .and_then(|version| violation.reason.for_version(version));
                assert_eq!(reason.map(|reason| reason.value().to_string()), value("373"), "{line}");
            }
            (found, expected) => panic!("{line}: {found:?} instead of {expected:?}"),
        })
        .expect("the message is not garbled");
    }
    rejects
}

#[test]
fn a_tag_as_sent_keeps_its_bytes() {
    let bytes = order("=x|");
    let mut scratch = V44.scratch();
    let first = with(&bytes, |message| {
        V44.first_reject(message, &Policy::standard(), &mut scratch).map(|violation| {
            assert_eq!(violation.tag, RefTag::AsSent(b""));
            violation.reason
        })
    });
    assert_eq!(first, Some(Some(Reason::INVALID_TAG_NUMBER)));
}

/// Every message of three versions, once minimal and once with all fields and two entries per
/// group.
#[test]
fn synthetic_full_messages_pass_except_for_codes_that_the_dictionaries_do_not_share() {
    for version in [Version::Fix42, Version::Fix44, Version::Fix50] {
        let file = version.name().replace('.', "");
        let Some(messages) = support::shared(&format!("messages/synthetic/{file}.jsonl")) else {
            support::absent(1);
            continue;
        };
        let quickfix = |file: &str| {
            let text = support::shared(&format!("dictionaries/quickfix/{file}.xml"));
            let read = load(Source::text(text.expect("it lies beside the messages")));
            read.unwrap_or_else(|errors| panic!("{}", errors[0])).0
        };
        let shipped = shipped(version);
        let (ours, theirs) = match version {
            Version::Fix50 => (
                shipped.over(fixt11()).expect("it fits its transport"),
                quickfix(&file).over(&quickfix("FIXT11")).expect("it fits its transport"),
            ),
            _ => (shipped.clone(), quickfix(&file)),
        };
        let (ours, theirs) = (Validator::new(&ours), Validator::new(&theirs));
        let (mut count, mut tags, mut theirs_found) = (0, Vec::new(), Vec::new());
        for line in messages.lines() {
            let (_, raw) = line.split_once("\"raw\": \"").expect("a line has the raw message");
            let raw = raw.replace("\\u0001", "\x01").replace("\"}", "");
            count += 1;
            // The shipped FIX.5.0 comes from FIX Latest, where members of groups have another order
            // since.
            if !(version == Version::Fix50 && line.contains("\"mode\": \"full\"")) {
                for (_, tag) in reasons(&ours, &Policy::standard(), raw.as_bytes()) {
                    tags.push(tag.parse::<u32>().expect("it is a tag"));
                }
            }
            for violation in reasons(&theirs, &Policy::standard(), raw.as_bytes()) {
                theirs_found.push((violation.0, violation.1.parse::<u32>().expect("it is a tag")));
            }
            // The engines themselves do not require those groups.
            for policy in [Policy::quickfix(), Policy::quickfixj()] {
                assert_eq!(reasons(&theirs, &policy, raw.as_bytes()), [], "{raw}");
            }
        }
        theirs_found.sort_unstable();
        theirs_found.dedup();
        // The messages were made from these files. Only "at most 0 bytes" on a Logon is not a
        // length, and groups are missing whose wrapper is required while they are not.
        let expected: &[(u16, u32)] = match version {
            Version::Fix42 => &[],
            Version::Fix44 => &[(1, 453), (1, 555), (1, 702), (1, 711), (1, 753), (5, 383)],
            _ => &[(1, 453), (1, 555), (1, 702), (1, 711), (1, 981)],
        };
        assert_eq!(theirs_found, expected, "{version}");
        tags.sort_unstable();
        tags.dedup();
        // Fields with a code set in Orchestra and none in QuickFIX, or of another type there, whose
        // made-up value is no code; and the groups.
        let (expected_count, expected_tags): (usize, &[u32]) = match version {
            Version::Fix42 => (92, &[]),
            Version::Fix44 => (
                186,
                &[
                    221, 305, 383, 453, 456, 459, 487, 555, 564, 603, 606, 661, 674, 677, 702, 711, 753, 761,
                    888,
                ],
            ),
            _ => (186, &[453, 702, 909, 981]),
        };
        assert_eq!((count, &*tags), (expected_count, expected_tags), "{version}");
    }
}

const EXECUTION_REPORT: &str = "35=8|34=2|49=S|52=20240229-12:00:00|56=T|37=1|17=2|150=F|39=2|55=IBM|54=1|32=100|31=10|\
                                151=0|14=100|6=10|453=1|448=A|447=D|452=1|";

#[test]
fn codes_that_an_earlier_version_had_and_engines_still_send_are_accepted_where_the_policy_says_so() {
    let validator = Validator::new(fix44());
    let found = |policy: Policy, from: &str, to: &str| {
        reasons(&validator, &policy, &message("FIX.4.4", &EXECUTION_REPORT.replace(from, to)))
    };
    let strict = [Policy::standard(), Policy::quickfix()];
    let with_former =
        [Policy::quickfixj(), Policy::tolerant(), Policy::standard().with_code_rules(CodeRules::WithFormer)];
    for (from, to, tag) in [("150=F", "150=1", "150"), ("150=F", "150=2", "150"), ("39=2", "39=5", "39")] {
        for policy in strict {
            assert_eq!(found(policy, from, to), [(5, tag.to_string())], "{to}");
        }
        for policy in with_former {
            assert_eq!(found(policy, from, to), [], "{to}");
        }
    }
    for policy in strict.into_iter().chain(with_former) {
        assert_eq!(found(policy, "150=F", "150=F"), []);
        // Nobody ever defined these.
        assert_eq!(found(policy, "150=F", "150=Z"), [(5, "150".into())]);
        assert_eq!(found(policy, "54=1", "54=Z"), [(5, "54".into())]);
    }
}

#[test]
fn the_tolerant_policy_rejects_three_mistakes_and_delivers_orders() {
    let rejected: Vec<_> =
        Check::ALL.into_iter().filter(|check| Policy::tolerant().action(*check) == Action::Reject).collect();
    assert_eq!(rejected, [Check::MsgType, Check::DataLength, Check::ApplicationVersion]);
    let order = message("FIX.4.4", &format!("35=D|{HEADER}11=a|55=IBM|54=Z|60=yesterday|40=1|4999=x|"));
    let found = all(&Validator::new(fix44()), &Policy::tolerant(), &order);
    assert!(found.len() >= 3 && found.iter().all(|(_, action, ..)| *action == Action::Warn), "{found:?}");
}

#[test]
fn the_tolerant_policy_only_warns_of_what_is_wrong_with_an_execution_report() {
    let validator = Validator::new(fix44());
    let faults = [
        ("54=1|", "", Check::RequiredField),
        ("54=1|", "54=Z|", Check::EnumValue),
        ("54=1|", "54=|", Check::EmptyValue),
        ("54=1|", "54=1|54=1|", Check::DuplicateTag),
        ("54=1|", "54=1|4999=x|", Check::UnknownTag),
        ("54=1|", "54=1|6999=x|", Check::UserDefinedTag),
        ("54=1|", "54=1|148=x|", Check::TagNotInMessage),
        ("54=1|", "54=1|x=x|", Check::TagSyntax),
        ("31=10|", "31=1o|", Check::DataType),
        ("54=1|", "54=1|115=x|", Check::SectionOrder),
        ("453=1|", "453=2|", Check::GroupCount),
        ("448=A|447=D|", "447=D|448=A|", Check::GroupDelimiter),
        ("447=D|452=1|", "452=1|447=D|", Check::GroupOrder),
        ("448=A|447=D|452=1|", "448=A|447=D|452=1|802=1|523=x|803=x|", Check::DataType),
    ];
    for (from, to, check) in faults {
        let bytes = message("FIX.4.4", &EXECUTION_REPORT.replace(from, to));
        let found = all(&validator, &Policy::tolerant(), &bytes);
        assert!(found.iter().any(|(found, ..)| *found == check), "{to}: {found:?}");
        assert!(found.iter().all(|(_, action, ..)| *action == Action::Warn), "{to}: {found:?}");
        let strict = all(&validator, &Policy::standard(), &bytes);
        assert!(strict.iter().any(|(_, action, ..)| *action == Action::Reject), "{to}: {strict:?}");
    }
    // Where the fields end is in question, or what the message is.
    for (from, to, check) in
        [("54=1|", "54=1|355=abcd|", Check::DataLength), ("35=8|", "35=ZZ|", Check::MsgType)]
    {
        let bytes = message("FIX.4.4", &EXECUTION_REPORT.replace(from, to));
        let found = all(&validator, &Policy::tolerant(), &bytes);
        assert!(
            found.iter().any(|(found, action, ..)| (*found, *action) == (check, Action::Reject)),
            "{to}: {found:?}"
        );
    }
}

#[test]
fn a_length_that_is_no_number_is_rejected_once_whatever_its_type_in_the_version() {
    let news = |value: &str| message("FIX.4.4", &format!("35=B|{HEADER}148=x|33=1|58=y|95={value}|96=abc|"));
    for (version, value, check, reason) in [
        (&*V44, "x", Check::DataType, 6),
        (&*V44, "", Check::EmptyValue, 4),
        (&*V44, "-3", Check::DataType, 6),
        (&*V44, "99999999999999999999", Check::DataLength, 5),
        (&*V42, "x", Check::DataType, 6),
        (&*V42, "", Check::EmptyValue, 4),
        // An int there.
        (&*V42, "-3", Check::DataLength, 5),
    ] {
        let found = all(version, &Policy::standard(), &news(value));
        assert_eq!(found, [(check, Action::Reject, reason, "95".to_owned())], "{value:?}");
        let only = Policy::ignoring().with(Check::DataLength, Action::Reject);
        let found = all(version, &only, &news(value));
        let expected = [(Check::DataLength, Action::Reject, 5, "95".to_owned())];
        assert_eq!(found, &expected[..usize::from(!value.is_empty())], "{value:?}");
    }
}

#[test]
fn a_wrong_length_of_a_pair_that_the_dictionary_does_not_have_is_found_too() {
    let policy = Policy::standard().with(Check::UnknownTag, Action::Ignore);
    let pairs = [("2072=2|2073=abc|", "2072"), ("40004=9|40005=a|58=x|", "40004")];
    for (fields, length) in pairs {
        let found = all(&V44, &policy.with(Check::UserDefinedTag, Action::Ignore), &order(fields));
        assert_eq!(found, [(Check::DataLength, Action::Reject, 5, length.to_owned())], "{fields}");
    }
    // After another fault, too.
    let policy = policy.with(Check::UserDefinedTag, Action::Ignore).with(Check::TagSyntax, Action::Ignore);
    let policy = policy.with(Check::EmptyValue, Action::Ignore);
    for before in ["1=|", "x58=y|", "2074=1|2075=abc|"] {
        for (fields, length) in pairs.into_iter().chain([("40004=99999999999999999999|40005=a|", "40004")]) {
            let found = all(&V44, &policy, &order(&format!("{before}{fields}")));
            let found: Vec<_> = found.iter().filter(|found| found.3 != "2074").collect();
            let expected = (Check::DataLength, Action::Reject, 5, length.to_owned());
            assert_eq!(found, [&expected], "{before}{fields}");
        }
        let found = all(&V44, &policy, &order(&format!("{before}2072=3|2073=a|c|40004=0001|40005=a|")));
        assert_eq!(found.len(), usize::from(before.starts_with("2074")), "{before}");
    }
}
