//! The shipped versions: whole, made from the official sources, and found by every name people use.

mod support;

use std::collections::HashSet;

use fixbolt_dictionary::{Dictionary, compile, fix42, fix44, shipped, upper_snake};

/// Counts of a dictionary: messages, fields, code sets, codes, components, groups.
fn counts(dictionary: &Dictionary) -> [usize; 6] {
    [
        dictionary.messages().len(),
        dictionary.fields().len(),
        dictionary.code_sets().len(),
        dictionary.code_sets().iter().map(|set| set.codes.len()).sum(),
        dictionary.components().len(),
        dictionary.groups().len(),
    ]
}

#[test]
fn the_shipped_versions_hold_what_the_official_files_hold() {
    // Header and trailer are not among the components.
    assert_eq!(counts(fix42()), [46, 405, 104, 629, 0, 30]);
    assert_eq!(counts(fix44()), [93, 912, 247, 1726, 13, 92]);
    assert_eq!(fix42().fields().iter().filter(|field| field.length_tag.is_some()).count(), 14);
    assert_eq!(fix44().fields().iter().filter(|field| field.length_tag.is_some()).count(), 16);
    assert_eq!(fix44().messages().iter().filter(|message| message.is_admin()).count(), 7);
}

#[test]
fn a_version_is_found_by_its_begin_string() {
    for dictionary in [fix42(), fix44()] {
        assert_eq!(shipped(dictionary.version().begin_string.as_bytes()), Some(dictionary));
    }
    assert_eq!(shipped(b"FIX.4.3"), None);
}

#[test]
fn length_and_data_fields_are_pairs_the_codec_can_use() {
    let pairs = fix44().length_data_pairs();
    assert_eq!(pairs.len(), 16);
    assert!(pairs.contains(&(93, 89)) && pairs.contains(&(95, 96)));
    let data_fields = fixbolt_codec::DataFields::new(&pairs);
    assert_eq!(data_fields.data_tag(93), Some(89));
    assert_eq!(data_fields.data_tag(1401), None);
}

#[test]
fn a_table_written_again_is_the_same() {
    for (dictionary, table) in
        [(fix42(), include_str!("../tables/FIX.4.2.txt")), (fix44(), include_str!("../tables/FIX.4.4.txt"))]
    {
        assert_eq!(dictionary.to_table(), table);
    }
}

#[test]
fn compiling_the_official_files_gives_the_committed_tables() {
    for (source, table) in [
        ("OrchestraFIX42.xml", include_str!("../tables/FIX.4.2.txt")),
        ("OrchestraFIX44.xml", include_str!("../tables/FIX.4.4.txt")),
    ] {
        let Some(text) = support::shared(&format!("dictionaries/orchestra/{source}")) else {
            support::absent(1);
            continue;
        };
        let (compiled, warnings) = compile(&text, source).expect("the official file is right");
        assert!(warnings.is_empty(), "{warnings:?}");
        assert!(compiled == table, "{source} no longer gives the committed table");
    }
}

#[test]
fn code_names_stay_distinct_when_shown_in_upper_snake() {
    for dictionary in [fix42(), fix44()] {
        for set in dictionary.code_sets() {
            let shown: HashSet<String> = set.codes.iter().map(|code| upper_snake(&code.name)).collect();
            assert_eq!(shown.len(), set.codes.len(), "{}", set.name);
        }
    }
}

#[test]
fn components_and_groups_have_distinct_names() {
    let mut names = HashSet::new();
    for component in fix44().components() {
        assert!(names.insert(&component.name));
    }
    for group in fix44().groups() {
        assert!(names.insert(&group.name), "{}", group.name);
    }
}

#[test]
fn codes_are_found_by_value_and_by_name_in_any_form() {
    assert_eq!(fix44().code(54, b"1").expect("1 is a code").display_name(), "BUY");
    assert_eq!(fix42().code(59, b"4").expect("4 is a code").display_name(), "FILL_OR_KILL");
    for name in ["FillOrKill", "FILL_OR_KILL", "fill-or-kill"] {
        assert_eq!(fix44().code_by_name(59, name).map(|code| code.value.as_str()), Some("4"), "{name}");
    }
    assert_eq!(fix44().code(54, b"Z"), None);
    assert_eq!(fix44().code(11, b"1"), None);
}

#[test]
fn fields_and_messages_are_found_by_the_names_of_every_dialect() {
    let tag = |dictionary: &Dictionary, name: &str| dictionary.field_by_name(name).map(|field| field.tag);
    assert_eq!(tag(fix44(), "clordid"), Some(11));
    assert_eq!(tag(fix44(), "HaltReasonChar"), Some(327));
    assert_eq!(tag(fix44(), "LastShares"), Some(32));
    assert_eq!(tag(fix42(), "LastQty"), Some(32));
    assert_eq!(tag(fix42(), "NoLinesOfText"), Some(33));
    assert_eq!(tag(fix42(), "NoSuchField"), None);
    let msg_type = |dictionary: &'static Dictionary, name: &str| {
        dictionary.message_by_name(name).map(|message| message.msg_type.as_str())
    };
    assert_eq!(msg_type(fix42(), "NewOrderSingle"), Some("D"));
    assert_eq!(msg_type(fix44(), "OrderSingle"), Some("D"));
    assert_eq!(msg_type(fix44(), "IndicationofInterest"), Some("6"));
    assert_eq!(msg_type(fix44(), "executionreport"), Some("8"));
}

#[test]
fn groups_of_one_count_tag_differ_from_message_to_message() {
    let delimiters = |dictionary: &Dictionary, count_tag: u32| {
        let mut delimiters: Vec<u32> = dictionary
            .groups()
            .iter()
            .enumerate()
            .filter(|(_, group)| group.count_tag == count_tag)
            .map(|(at, _)| dictionary.delimiter(dictionary.group_ids().nth(at).expect("it has an id")))
            .collect();
        delimiters.sort_unstable();
        delimiters.dedup();
        delimiters
    };
    assert_eq!(delimiters(fix42(), 146), [46, 55, 311]);
    assert_eq!(delimiters(fix42(), 268), [269, 279]);
    assert_eq!(delimiters(fix42(), 295), [55, 299]);
    assert_eq!(delimiters(fix42(), 420), [12, 66]);
    assert_eq!(delimiters(fix44(), 124), [17, 32]);
    assert_eq!(delimiters(fix44(), 268), [269, 279]);
}

#[test]
fn the_largest_message_of_fix_4_4_has_358_members_when_flat() {
    fn all(dictionary: &Dictionary, members: &[fixbolt_dictionary::Member]) -> usize {
        dictionary
            .expand(members)
            .map(|member| {
                1 + member.group.map_or(0, |group| all(dictionary, &dictionary.group(group).members))
            })
            .sum()
    }
    let sizes =
        fix44().messages().iter().map(|message| (all(fix44(), &message.members), message.name.as_str()));
    let header = all(fix44(), fix44().header()) + all(fix44(), fix44().trailer());
    let largest = sizes.max().expect("there are messages");
    assert_eq!((largest.0, largest.1, header), (358, "ExecutionReport", 33));
}

#[test]
fn the_quickfix_files_hold_what_they_are_known_to_hold() {
    let expected = [
        ("quickfix/FIX40.xml", [27, 138, 39, 235, 0, 5]),
        ("quickfix/FIX41.xml", [28, 206, 53, 342, 0, 8]),
        ("quickfix/FIX42.xml", [46, 405, 104, 629, 0, 29]),
        ("quickfix/FIX43.xml", [68, 635, 159, 1198, 7, 53]),
        ("quickfix/FIX44.xml", [93, 912, 245, 1708, 13, 93]),
        ("quickfix/FIX50.xml", [93, 1090, 290, 2326, 15, 106]),
        ("quickfix/FIX50SP1.xml", [105, 1373, 327, 2640, 26, 137]),
        ("quickfix/FIXT11.xml", [8, 71, 9, 56, 1, 2]),
        ("quickfixj/FIX40.xml", [27, 138, 37, 230, 0, 7]),
        ("quickfixj/FIX41.xml", [28, 208, 49, 333, 0, 8]),
        ("quickfixj/FIX42.xml", [46, 403, 88, 567, 0, 29]),
        ("quickfixj/FIX43.xml", [67, 655, 117, 971, 7, 53]),
        ("quickfixj/FIX44.xml", [92, 916, 224, 1675, 13, 93]),
        ("orchestra/FIX44Session.xml", [8, 57, 10, 51, 0, 2]),
        ("orchestra/FIXTSession.xml", [8, 92, 13, 74, 0, 4]),
    ];
    for (file, expected) in expected {
        let Some(text) = support::shared(&format!("dictionaries/{file}")) else {
            support::absent(1);
            continue;
        };
        let (dictionary, _) =
            Dictionary::from_source(&text).unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
        assert_eq!(counts(&dictionary), expected, "{file}");
        assert_eq!(Dictionary::from_table(&dictionary.to_table()), Ok(dictionary), "{file}");
    }
}
