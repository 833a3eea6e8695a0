//! QuickFIX XML that we write is read back unchanged.

#[path = "support/loading.rs"]
mod loading;
mod support;

use fixbolt_dictionary::{Dictionary, Source, UnionType, Version, fix44, shipped};
use loading::load;

/// Reads back what was written; the text must be the same when it is written again.
fn read_back(dictionary: &Dictionary) -> Dictionary {
    let text = dictionary.to_quickfix_xml();
    let (read, warnings) = load(Source::text(&text)).unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert!(warnings.is_empty(), "{warnings:?}");
    // The comment in the second line names the source.
    let facts = |text: &str| {
        text.lines().filter(|line| !line.contains("<!--")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(facts(&read.to_quickfix_xml()), facts(&text));
    read
}

/// Returns the differences after reading back, line by line.
fn lost(dictionary: &Dictionary) -> Vec<String> {
    dictionary.diff(&read_back(dictionary)).iter().map(ToString::to_string).collect()
}

#[test]
fn every_shipped_version_is_read_back_as_it_was() {
    for version in Version::ALL {
        let lost = lost(shipped(version));
        if version == Version::FixLatest {
            assert_eq!(lost, ["~ version: FIX.Latest -> FIX.5.0SP2"]);
        } else {
            assert_eq!(lost, [""; 0], "{version}");
        }
    }
}

#[test]
fn files_of_other_engines_are_read_back_as_they_were() {
    let files = [
        "quickfix/FIX40.xml",
        "quickfix/FIX43.xml",
        "quickfix/FIX50SP1.xml",
        "quickfix/FIXT11.xml",
        "quickfixj/FIX44.xml",
        "quickfixj/FIX50SP2.xml",
        "orchestra/FIX44Session.xml",
    ];
    for file in files {
        match support::shared(&format!("dictionaries/{file}")) {
            None => support::absent(1),
            Some(text) => {
                let (dictionary, _) =
                    load(Source::text(&text)).unwrap_or_else(|errors| panic!("{}", errors[0]));
                assert_eq!(lost(&dictionary), [""; 0], "{file}");
            }
        }
    }
}

#[test]
fn groups_and_codes_keep_their_names() {
    let read = read_back(fix44());
    let names = |dictionary: &Dictionary| {
        let mut names: Vec<String> = dictionary.groups().iter().map(|group| group.name.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&read), names(fix44()));
    // Members refer to groups by number, and groups keep their order.
    assert_eq!(read.components(), fix44().components());
    assert_eq!(read.codes(59), fix44().codes(59));
}

#[test]
fn what_quickfix_cannot_express_is_in_attributes_that_it_ignores() {
    let text = fix44().to_quickfix_xml();
    // Other readers combine the requirement of the reference with that of the group in it.
    assert!(text.contains("<component name='Parties'>\n      <group name='NoPartyIDs' required='Y'>"));
    assert!(text.contains(
        "<field number='492' name='PaymentMethod' type='INT' allowOtherValues='true' unionDataType='Reserved1000Plus'>"
    ));
    let read = read_back(fix44());
    assert_eq!(read.field(492).and_then(|field| field.union), Some(UnionType::Reserved1000Plus));
}

#[test]
fn awkward_names_and_values_survive() {
    let table = "table 1\nversion FIX.5.0SP1\nsource a--b sha256:00 x\ncodes S A&B=It's%20<1> \"=Quote %25=%0A\n\
        field 1 Account String codes=S\nfield 78 NoAllocs NumInGroup\ngroup Same 78 1!\ngroup Other 78 1 @Same\ncomponent Same 1\n\
        header\ntrailer\nmessage D Order *Same! *Other\nmessage U1 Empty\n";
    let dictionary = load(Source::text(table))
        .map(|(dictionary, _)| dictionary)
        .unwrap_or_else(|errors| panic!("{}", errors[0]));
    // The group Same is written inside its message, because a component has its name.
    let (read, _) = load(Source::text(dictionary.to_quickfix_xml())).expect("it is well formed");
    assert_eq!(dictionary.diff(&read), []);
    assert_eq!(read.codes(1), dictionary.codes(1));
    assert_eq!(read.version(), dictionary.version());
}

#[test]
fn a_version_without_numbers_becomes_the_newest_that_quickfix_knows() {
    let table = "table 1\nversion FIX.Latest\nfield 1 Account String\nmessage D Order 1\n";
    let dictionary = load(Source::text(table))
        .map(|(dictionary, _)| dictionary)
        .unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert_eq!(lost(&dictionary), ["~ version: FIX.Latest -> FIX.5.0SP2"]);
    assert!(
        dictionary.to_quickfix_xml().starts_with("<fix type='FIX' major='5' minor='0' servicepack='2'>\n")
    );
}
