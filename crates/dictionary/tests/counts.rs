//! Compares the published dictionaries with the counts in spec/dictionaries.md: section 2 (sizes),
//! section 4 (known errors), section 5 (the sizes that the codec must support). If a figure there
//! turned out to be wrong, the test says so.

#[path = "support/loading.rs"]
mod loading;
mod support;

use std::collections::{BTreeMap, BTreeSet};

use fixbolt_dictionary::{
    DataType, Dictionary, GroupId, Member, MessageDef, Source, UnionType, Warning, fix_latest, fix42, fix44,
};
use loading::load;
use roxmltree::{Document, Node};

fn read(path: &str) -> Option<(String, Dictionary, Vec<Warning>)> {
    let Some(text) = support::shared(&format!("dictionaries/{path}")) else {
        support::absent(1);
        return None;
    };
    match load(Source::text(&text)) {
        Ok((dictionary, warnings)) => Some((text, dictionary, warnings)),
        Err(errors) => panic!("{path}: {}", errors[0]),
    }
}

/// Elements of a section, counted without the reader.
fn elements<'a, 'd>(document: &'a Document<'d>, section: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    let sections = document.root_element().children().filter(move |node| node.has_tag_name(section));
    sections.flat_map(|section| section.children()).filter(Node::is_element)
}

/// Returns the number of messages, admin messages, fields, fields with values, values, components,
/// and groups counted by path.
fn quickfix_counts(text: &str) -> [usize; 7] {
    let document = Document::parse(text).expect("it is well formed");
    let path = |node: Node<'_, '_>| {
        let name = |node: Node<'_, '_>| format!("{} {:?}", node.tag_name().name(), node.attribute("name"));
        node.ancestors().filter(Node::is_element).map(name).collect::<Vec<_>>()
    };
    let groups: BTreeSet<_> =
        document.descendants().filter(|node| node.has_tag_name("group")).map(path).collect();
    let values = |field: Node<'_, '_>| field.children().filter(|node| node.has_tag_name("value")).count();
    let messages: Vec<_> = elements(&document, "messages").collect();
    let fields: Vec<_> = elements(&document, "fields").map(values).collect();
    [
        messages.len(),
        messages.iter().filter(|message| message.attribute("msgcat") == Some("admin")).count(),
        fields.len(),
        fields.iter().filter(|values| **values > 0).count(),
        fields.iter().sum(),
        elements(&document, "components").count(),
        groups.len(),
    ]
}

/// Returns the number of messages, fields, fields with values, and values.
fn model_counts(dictionary: &Dictionary) -> [usize; 4] {
    let with_codes = dictionary.fields().iter().filter(|field| field.codes.is_some());
    [
        dictionary.messages().len(),
        dictionary.fields().len(),
        with_codes.count(),
        dictionary.code_sets().iter().map(|set| set.codes.len()).sum(),
    ]
}

fn flat_size(dictionary: &Dictionary, members: &[Member]) -> usize {
    let inside = |group: GroupId| flat_size(dictionary, &dictionary.group(group).members);
    dictionary.expand(members).map(|member| 1 + member.group.map_or(0, inside)).sum()
}

/// Returns the depth to which groups are nested.
fn depth(dictionary: &Dictionary, members: &[Member]) -> usize {
    let inside = |group: GroupId| 1 + depth(dictionary, &dictionary.group(group).members);
    dictionary.expand(members).filter_map(|member| member.group).map(inside).max().unwrap_or(0)
}

/// Section 2.
#[test]
fn the_quickfix_files_have_the_known_counts_and_the_reader_loses_nothing() {
    let expected = [
        ("quickfix/FIX40.xml", [27, 7, 138, 39, 235, 0, 6]),
        ("quickfix/FIX41.xml", [28, 7, 206, 53, 342, 0, 10]),
        ("quickfix/FIX42.xml", [46, 7, 405, 104, 629, 0, 38]),
        ("quickfix/FIX43.xml", [68, 8, 635, 159, 1198, 10, 76]),
        ("quickfix/FIX44.xml", [93, 8, 912, 245, 1708, 104, 93]),
        ("quickfix/FIX50.xml", [93, 0, 1090, 290, 2326, 121, 106]),
        ("quickfix/FIX50SP1.xml", [105, 0, 1373, 327, 2640, 163, 137]),
        ("quickfix/FIX50SP2.xml", [156, 0, 6028, 668, 5565, 725, 561]),
        ("quickfix/FIXT11.xml", [8, 8, 71, 9, 56, 2, 2]),
        ("quickfixj/FIX40.xml", [27, 7, 138, 37, 230, 0, 9]),
        ("quickfixj/FIX41.xml", [28, 7, 208, 49, 333, 0, 10]),
        ("quickfixj/FIX42.xml", [46, 7, 403, 88, 567, 0, 38]),
        ("quickfixj/FIX43.xml", [67, 8, 655, 117, 974, 10, 76]),
        ("quickfixj/FIX44.xml", [92, 7, 916, 224, 1675, 24, 233]),
        ("quickfixj/FIX50.xml", [93, 0, 1132, 276, 2382, 121, 104]),
        ("quickfixj/FIX50SP1.xml", [105, 0, 1353, 319, 2598, 162, 136]),
        ("quickfixj/FIX50SP2.xml", [108, 0, 1432, 347, 2776, 173, 146]),
        ("quickfixj/FIXT11.xml", [7, 7, 74, 11, 175, 2, 2]),
    ];
    for (path, counts) in expected {
        let Some((text, dictionary, warnings)) = read(path) else { continue };
        assert_eq!(quickfix_counts(&text), counts, "{path}");
        let [messages, _, fields, with_values, values, ..] = counts;
        // MatchType(574) of QuickFIX/J's FIX.4.3 lists three values twice.
        let twice = warnings.iter().filter(|warning| warning.reason.contains("is given twice")).count();
        assert_eq!(model_counts(&dictionary), [messages, fields, with_values, values - twice], "{path}");
        assert_eq!(twice, if path == "quickfixj/FIX43.xml" { 3 } else { 0 }, "{path}");
    }
}

/// Section 2; header and trailer are not among our components.
#[test]
fn the_orchestra_files_have_the_known_counts() {
    let expected = [
        ("OrchestraFIX42.xml", [46, 405, 105, 629], [104, 2, 30], 14),
        ("OrchestraFIX44.xml", [93, 912, 274, 1726], [247, 15, 92], 16),
        ("OrchestraFIXLatest_1.5.4.xml", [164, 5948, 1889, 5489], [664, 166, 561], 83),
        ("FIXTSession.xml", [8, 92, 16, 74], [13, 2, 4], 8),
        ("FIX44Session.xml", [8, 57, 10, 51], [10, 2, 2], 5),
    ];
    for (file, counts, [sets, components, groups], data_fields) in expected {
        let Some((_, dictionary, _)) = read(&format!("orchestra/{file}")) else { continue };
        assert_eq!(model_counts(&dictionary), counts, "{file}");
        let found =
            [dictionary.code_sets().len(), dictionary.components().len() + 2, dictionary.groups().len()];
        assert_eq!(found, [sets, components, groups], "{file}");
        assert_eq!(dictionary.length_data_pairs().len(), data_fields, "{file}");
    }
}

/// Includes files that are added to the folder later.
#[test]
fn every_file_of_the_folder_is_read() {
    let Ok(folders) = std::fs::read_dir(support::folder().join("dictionaries")) else {
        return support::absent(1);
    };
    let mut read = 0;
    for folder in folders.flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let path = file.path();
            // COPYRIGHT.xml is a notice.
            if path.extension().is_none_or(|end| end != "xml") || path.ends_with("COPYRIGHT.xml") {
                continue;
            }
            Source::file(&path).load().unwrap_or_else(|error| panic!("{error}"));
            read += 1;
        }
    }
    assert!(read >= 23, "{read} files");
}

/// Section 4. The files of CME and Bloomberg are not in the folder: tests/quirks.rs reproduces
/// their errors.
#[test]
fn the_known_errors_of_published_files_are_read() {
    assert_eq!(fix42().code(22, b"7").map(|code| code.name.as_str()), Some("ISOCountryCode"));
    assert!(fix42().code_sets().iter().flat_map(|set| &set.codes).any(|code| code.value.contains(' ')));
    assert!(fix44().code(235, b"VALUE1/32").is_some());
    let both = fix_latest();
    assert!(both.field_by_name("SecurityXML").is_some());
    assert!(both.components().iter().any(|component| component.name == "SecurityXML"));
    // FIX.4.4 says char where two digits are needed.
    let Some((_, quickfixj, warnings)) = read("quickfixj/FIX44.xml") else { return };
    let bent: Vec<_> = warnings.iter().map(|warning| warning.element.as_str()).collect();
    assert_eq!(bent, ["field 'MiscFeeType'", "field 'MassCancelRejectReason'"]);
    assert_eq!(quickfixj.field(532).map(|field| field.kind), Some(DataType::String));
}

/// Returns the size of the largest message, its type, and the greatest depth of nested groups.
fn extremes(dictionary: &Dictionary) -> (usize, String, usize) {
    let size = |message: &MessageDef| (flat_size(dictionary, &message.members), message.msg_type.clone());
    let (size, msg_type) = dictionary.messages().iter().map(size).max().expect("there are messages");
    let depths = dictionary.messages().iter().map(|message| depth(dictionary, &message.members));
    (size, msg_type, depths.max().unwrap_or(0))
}

/// Section 5.
#[test]
fn the_largest_messages_and_the_deepest_groups_are_as_counted() {
    assert_eq!(extremes(fix42()), (96, "8".to_string(), 2));
    assert_eq!(extremes(fix44()), (358, "8".to_string(), 4));
    let outside = flat_size(fix44(), fix44().header()) + flat_size(fix44(), fix44().trailer());
    assert_eq!(outside, 33);
    // 4,653 is QuickFIX's FIX50SP2.xml, which is FIX Latest some packs later than the one shipped
    // here.
    assert_eq!(extremes(fix_latest()), (4587, "AE".to_string(), 7));
    assert_eq!(depth(fix_latest(), &fix_latest().message(b"i").expect("it is defined").members), 7);
    let Some((_, later, _)) = read("quickfix/FIX50SP2.xml") else { return };
    assert_eq!(extremes(&later), (4653, "AE".to_string(), 7));
}

/// Returns what a group begins with: a field, a component that begins with a field, a component
/// that begins with a group, or a group.
fn beginnings(dictionary: &Dictionary) -> [usize; 4] {
    let mut counts = [0; 4];
    for group in dictionary.groups() {
        let (mut first, mut through) = (group.members[0], false);
        while let Member::Component { component, .. } = first {
            (first, through) = (dictionary.component(component).members[0], true);
        }
        match (first, through) {
            (Member::Field { .. }, false) => counts[0] += 1,
            (Member::Field { .. }, true) => counts[1] += 1,
            (_, true) => counts[2] += 1,
            (_, false) => counts[3] += 1,
        }
    }
    counts
}

#[test]
fn groups_begin_with_fields_components_and_groups_as_counted() {
    assert_eq!(beginnings(fix44()), [69, 23, 0, 0]);
    // The groups of header and Logon, which begin with a field, are FIXT.1.1's. The nine that begin
    // with a group do so without a component in Orchestra: QuickFIX wraps every group in one.
    assert_eq!(beginnings(fix_latest()), [521, 29, 0, 9]);
}

/// Returns the number of layouts of each count tag that has several.
fn layouts(dictionary: &Dictionary) -> BTreeMap<u32, usize> {
    let mut layouts: BTreeMap<u32, BTreeSet<Vec<u32>>> = BTreeMap::new();
    for group in dictionary.groups() {
        let tags = dictionary.expand(&group.members).map(|member| member.tag).collect();
        layouts.entry(group.count_tag).or_default().insert(tags);
    }
    let mut counts: BTreeMap<u32, usize> =
        layouts.into_iter().map(|(tag, layouts)| (tag, layouts.len())).collect();
    counts.retain(|_, count| *count > 1);
    counts
}

#[test]
fn one_count_tag_has_several_layouts_as_counted() {
    assert_eq!(
        layouts(fix42()),
        BTreeMap::from([(73, 3), (78, 2), (146, 4), (268, 2), (295, 3), (296, 2), (420, 2)])
    );
    assert_eq!(
        layouts(fix44()),
        BTreeMap::from([
            (73, 3),
            (78, 5),
            (124, 2),
            (146, 7),
            (268, 2),
            (295, 3),
            (296, 2),
            (420, 2),
            (552, 3),
            (555, 8),
            (711, 4),
            (936, 2)
        ])
    );
}

/// spec/data-length-pairs.csv, and those of its pairs whose tags are not consecutive.
#[test]
fn length_and_data_need_not_have_consecutive_tags() {
    let pairs = fix_latest().length_data_pairs();
    let far: Vec<_> = pairs.iter().copied().filter(|(length, data)| length + 1 != *data).collect();
    assert_eq!(
        far,
        [
            (93, 89),
            (1525, 1527),
            (1678, 1697),
            (2372, 2371),
            (2494, 2493),
            (2522, 2521),
            (2802, 2801),
            (2809, 2808),
            (2815, 2814),
            (43109, 42684),
            (43110, 42486),
            (43111, 42982)
        ]
    );
    let Some(csv) = support::shared("spec/data-length-pairs.csv") else { return support::absent(1) };
    let number = |word: Option<&str>| word.and_then(|word| word.parse().ok()).expect("it is a tag");
    let listed: Vec<(u32, u32)> = csv
        .lines()
        .skip(1)
        .map(|line| {
            let mut words = line.split(',');
            (number(words.next()), number(words.next()))
        })
        .collect();
    assert_eq!(pairs, listed);
}

/// Returns the number of fields with each union type.
fn unions(dictionary: &Dictionary) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for union in dictionary.fields().iter().filter_map(|field| field.union) {
        *counts.entry(union.name()).or_default() += 1;
    }
    counts
}

#[test]
fn union_types_are_as_counted() {
    assert_eq!(unions(fix42()), BTreeMap::from([("Qty", 1), ("Reserved100Plus", 1)]));
    assert_eq!(
        unions(fix44()),
        BTreeMap::from([
            ("Qty", 2),
            ("Reserved1000Plus", 3),
            ("Reserved100Plus", 7),
            ("Reserved4000Plus", 9)
        ])
    );
    assert_eq!(
        unions(fix_latest()),
        BTreeMap::from([
            ("Qty", 2),
            ("Reserved1000Plus", 113),
            ("Reserved100Plus", 176),
            ("Reserved4000Plus", 33),
            ("Tenor", 3)
        ])
    );
    // A quantity or a word, a term or a word.
    let of = |tag: u32| fix_latest().field(tag).and_then(|field| field.union);
    assert_eq!((of(27), of(63)), (Some(UnionType::Qty), Some(UnionType::Tenor)));
}
