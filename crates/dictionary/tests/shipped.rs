//! The shipped versions are complete, made from the official sources, and found by version.

#[path = "support/loading.rs"]
mod loading;
mod support;

use std::collections::HashSet;

use fixbolt_dictionary::{
    Dictionary, Source, Version, fix_latest, fix40, fix41, fix42, fix43, fix44, fix50, fix50sp1, fix50sp2,
    fixt11, shipped, upper_snake,
};
use loading::load;

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
fn the_shipped_versions_have_what_the_official_files_have() {
    // Header and trailer are not among the components.
    assert_eq!(counts(fix42()), [46, 405, 104, 629, 0, 30]);
    assert_eq!(counts(fix44()), [93, 912, 247, 1726, 13, 92]);
    assert_eq!(fix42().fields().iter().filter(|field| field.length_tag.is_some()).count(), 14);
    assert_eq!(fix44().fields().iter().filter(|field| field.length_tag.is_some()).count(), 16);
    assert_eq!(fix44().messages().iter().filter(|message| message.is_admin()).count(), 7);
}

#[test]
fn the_versions_made_from_others_have_what_their_rules_leave() {
    assert_eq!(counts(fix40()), [27, 138, 39, 235, 0, 5]);
    assert_eq!(counts(fix41()), [28, 206, 53, 342, 0, 8]);
    assert_eq!(counts(fix43()), [68, 635, 159, 1198, 7, 53]);
    assert_eq!(counts(fix50()), [93, 1091, 288, 2304, 15, 102]);
    assert_eq!(counts(fix50sp1()), [105, 1372, 323, 2604, 26, 134]);
    assert_eq!(counts(fix50sp2()), [108, 1452, 353, 2791, 27, 144]);
    assert_eq!(counts(fix_latest()), [156, 5948, 664, 5489, 164, 559]);
    assert_eq!(counts(fixt11()), [8, 92, 13, 74, 0, 4]);
}

#[test]
fn every_version_is_shipped_under_its_name() {
    for version in Version::ALL {
        let dictionary = shipped(version);
        assert_eq!(dictionary.version().name, version.name());
        assert_eq!(dictionary.version().known, Some(version));
        assert_eq!(dictionary.version().begin_string, version.begin_string());
        assert_eq!(dictionary.version().appl_ver_id(), version.appl_ver_id());
        let over_fixt = version.is_application();
        assert_eq!(dictionary.header().is_empty(), over_fixt, "{version}");
        assert_eq!(dictionary.message(b"A").is_none(), over_fixt, "{version}");
        // The dictionary knows each version by the same value.
        if let Some(id) = version.appl_ver_id() {
            assert!(
                fix_latest().code(1128, id.as_bytes()).is_some() || version == Version::FixLatest,
                "{version}"
            );
        }
    }
}

#[test]
fn every_version_over_the_transport_checks_whole_messages() {
    for version in Version::ALL.into_iter().filter(|version| *version != Version::Fixt11) {
        let application = shipped(version);
        let whole = application.over(fixt11()).unwrap_or_else(|mismatch| panic!("{mismatch}"));
        assert_eq!(whole.version().name, version.name());
        assert_eq!(whole.version().begin_string, "FIXT.1.1");
        assert_eq!(whole.version().known, Some(version));
        let tags = |dictionary: &Dictionary, members: &[fixbolt_dictionary::Member]| {
            dictionary.expand(members).map(|member| (member.tag, member.required)).collect::<Vec<_>>()
        };
        assert_eq!(tags(&whole, whole.header()), tags(fixt11(), fixt11().header()));
        assert_eq!(tags(&whole, whole.trailer()), tags(fixt11(), fixt11().trailer()));
        for message in fixt11().messages() {
            let own = whole.message(message.msg_type.as_bytes()).expect("the transport's messages are there");
            assert_eq!(
                tags(&whole, &own.members),
                tags(fixt11(), &message.members),
                "{version} {}",
                message.name
            );
        }
        for message in application.messages() {
            let own =
                whole.message(message.msg_type.as_bytes()).expect("the application's messages are there");
            if fixt11().message(message.msg_type.as_bytes()).is_none() {
                assert_eq!(tags(&whole, &own.members), tags(application, &message.members), "{version}");
            }
        }
        for message in whole.messages() {
            assert!(whole.code(35, message.msg_type.as_bytes()).is_some(), "{version}: {}", message.name);
        }
        assert_eq!(
            load(Source::text(whole.to_table()))
                .map(|(dictionary, _)| dictionary)
                .expect("it is whole")
                .messages(),
            whole.messages()
        );
    }
}

#[test]
fn a_transport_without_header_is_refused() {
    let mismatch = fix50().over(fix50sp2()).expect_err("FIX.5.0SP2 is no transport");
    assert_eq!(mismatch.to_string(), "FIX.5.0 over FIX.5.0SP2: the transport has no header");
}

/// Names that the transport has for other tags.
#[test]
fn the_text_of_a_mismatch_has_the_first_reasons_and_a_count() {
    let fields: String =
        (0..50).map(|at| format!("<field number='{}' name='F{at}' type='INT'/>", at + 5000)).collect();
    let text = |fields: &str| {
        format!(
            "<fix major='5' minor='0'><header><field name='F0'/></header><messages/><fields>{fields}</fields></fix>"
        )
    };
    let read = |fields: &str| Source::text(text(fields)).load().expect("it is right").dictionary;
    let other = read(&fields.replace("number='50", "number='60"));
    let mismatch = read(&fields).over(&other).expect_err("all names are taken");
    assert_eq!(mismatch.reasons.len(), 50);
    assert!(mismatch.to_string().ends_with("(and 47 more)"), "{mismatch}");
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

const ORCHESTRA: &str = "Apache-2.0 (FIX Orchestra, FIX Trading Community)";
const CORRECTIONS: &str = include_str!("../tables/corrections.txt");
const QUICKFIX: &str = "QuickFIX Software License 1.0, see NOTICE";

/// The options of a command.
type Options = fn(Source<'static>) -> Source<'static>;

/// Returns the command of each table as `tables/README.md` states it: source, options, table.
fn recipes() -> [(&'static str, Options, &'static str); 10] {
    let latest = "orchestra/OrchestraFIXLatest_1.5.4.xml";
    let renamed: Options = |source| source.standard_names().license(QUICKFIX);
    let plain: Options = |source| source.license(ORCHESTRA);
    [
        ("quickfix/FIX40.xml", renamed, include_str!("../tables/FIX.4.0.txt")),
        ("quickfix/FIX41.xml", renamed, include_str!("../tables/FIX.4.1.txt")),
        ("orchestra/OrchestraFIX42.xml", plain, include_str!("../tables/FIX.4.2.txt")),
        ("quickfix/FIX43.xml", renamed, include_str!("../tables/FIX.4.3.txt")),
        ("orchestra/OrchestraFIX44.xml", plain, include_str!("../tables/FIX.4.4.txt")),
        (latest, |s| s.as_of("FIX.5.0").license(ORCHESTRA), include_str!("../tables/FIX.5.0.txt")),
        (latest, |s| s.as_of("FIX.5.0SP1").license(ORCHESTRA), include_str!("../tables/FIX.5.0SP1.txt")),
        (latest, |s| s.as_of("FIX.5.0SP2").license(ORCHESTRA), include_str!("../tables/FIX.5.0SP2.txt")),
        (latest, |s| s.as_of("FIX.Latest").license(ORCHESTRA), include_str!("../tables/FIX.Latest.txt")),
        ("orchestra/FIXTSession.xml", plain, include_str!("../tables/FIXT.1.1.txt")),
    ]
}

#[test]
fn a_table_written_again_is_the_same() {
    for (version, (_, _, table)) in Version::ALL.into_iter().zip(recipes()) {
        assert!(shipped(version).to_table() == table, "{version}");
    }
}

#[test]
fn compiling_the_sources_produces_the_committed_tables() {
    for (version, (source, options, table)) in Version::ALL.into_iter().zip(recipes()) {
        let file = support::folder().join("dictionaries").join(source);
        if !file.exists() {
            support::absent(1);
            continue;
        }
        let (compiled, warnings) = load(options(Source::file(file))).expect("the source is right");
        let compiled = compiled.corrected(CORRECTIONS).expect("the corrections fit");
        assert!(compiled.to_table() == table, "{source} no longer produces the committed table of {version}");
        // FIX 4.3 lists OwnershipType twice in RegistrationInstructions; the session file has
        // lengthId="1" for all data fields.
        let expected = [(Version::Fix43, 1), (Version::Fixt11, 8)];
        let expected = expected.iter().find(|(of, _)| *of == version).map_or(0, |(_, count)| *count);
        assert_eq!(warnings.len(), expected, "{version}: {warnings:?}");
    }
}

#[test]
fn code_names_stay_distinct_when_shown_in_upper_snake() {
    for dictionary in Version::ALL.map(shipped) {
        for set in dictionary.code_sets() {
            let shown: HashSet<String> = set.codes.iter().map(|code| upper_snake(&code.name)).collect();
            // FIX Latest has both EURIBOR and Euribor.
            let euribor = set.codes.iter().filter(|code| code.value.eq_ignore_ascii_case("EURIBOR")).count();
            let same = euribor.saturating_sub(1);
            assert_eq!(shown.len() + same, set.codes.len(), "{} {}", dictionary.version().name, set.name);
        }
    }
}

#[test]
fn components_and_groups_have_distinct_names() {
    for dictionary in Version::ALL.map(shipped) {
        let mut names = HashSet::new();
        let components = dictionary.components().iter().map(|component| &component.name);
        for name in components.chain(dictionary.groups().iter().map(|group| &group.name)) {
            assert!(names.insert(name), "{}: {name}", dictionary.version().name);
        }
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
fn the_quickfix_files_have_their_known_contents() {
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
            load(Source::text(&text)).unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
        assert_eq!(counts(&dictionary), expected, "{file}");
        assert_eq!(
            load(Source::text(dictionary.to_table())).map(|(dictionary, _)| dictionary),
            Ok(dictionary),
            "{file}"
        );
    }
}
