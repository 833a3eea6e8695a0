//! What attributes of QuickFIX XML say: words that are known, and mistakes.

#[path = "support/loading.rs"]
mod loading;

use fixbolt_dictionary::{Dictionary, Source, UnionType, fix44};
use loading::load;

/// A file of FIX.4.4 in which every element has every attribute that is read.
const WHOLE: &str = "<fix type='FIX' major='4' minor='4' servicepack='0'>
<header><field name='BeginString' required='Y'/></header>
<messages><message name='Order' msgtype='D' msgcat='app'>
<field name='Open' required='Y'/><component name='Paint' required='N'/></message></messages>
<trailer><field name='BeginString' required='Y'/></trailer>
<components><component name='Paint'><group name='NoColours' required='N'><field name='Colour'/></group></component></components>
<fields><field number='8' name='BeginString' type='STRING'/><field number='5000' name='NoColours' type='INT'/>
<field number='5001' name='Colour' type='INT'/>
<field number='5002' name='Open' type='CHAR' allowOtherValues='false'><value enum='1' description='ONE'/></field>
</fields></fix>";

fn read(text: &str) -> Dictionary {
    let (dictionary, warnings) = load(Source::text(text)).unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert!(warnings.is_empty(), "{warnings:?}");
    dictionary
}

/// Returns the errors of a file, of which a part is replaced.
fn refused(text: &str, part: &str, by: &str) -> Vec<String> {
    assert!(text.contains(part), "{part}");
    let errors = load(Source::text(text.replace(part, by))).expect_err(by);
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn other_values_are_allowed_by_true_or_y_in_any_case() {
    let union = |word: &str| {
        read(&WHOLE.replace("'false'", &format!("'{word}'"))).field(5002).and_then(|field| field.union)
    };
    for word in ["true", "TRUE", "True", " true ", "Y", "y"] {
        assert_eq!(union(word), Some(UnionType::AnyValue), "{word}");
    }
    for word in ["false", "FALSE", "N", "n"] {
        assert_eq!(union(word), None, "{word}");
    }
    for word in ["yes", "1", "", "ture"] {
        let told =
            format!("line 9: field 'Open': attribute 'allowOtherValues' is '{word}', not true or false");
        assert_eq!(refused(WHOLE, "'false'", &format!("'{word}'")), [told]);
    }
}

#[test]
fn a_field_of_a_version_is_opened_and_closed_by_the_same_words() {
    let union = |attributes: &str| {
        let text = format!("<fix extends='FIX.4.4'><fields>{attributes}</fields></fix>");
        read(&text)
    };
    let opened = union("<field number='59' name='TimeInForce' allowOtherValues='TRUE'/>");
    assert_eq!(opened.field(59).and_then(|field| field.union), Some(UnionType::AnyValue));
    assert!(fix44().field(492).is_some_and(|field| field.union.is_some()));
    let closed = union("<field number='492' name='PaymentMethod' allowOtherValues='false'/>");
    assert_eq!(closed.field(492).map(|field| field.union), Some(None));
    let reserved = union("<field number='59' name='TimeInForce' unionDataType='Reserved100Plus'/>");
    assert_eq!(reserved.field(59).and_then(|field| field.union), Some(UnionType::Reserved100Plus));
}

#[test]
fn a_word_that_is_not_known_is_a_mistake() {
    for (part, by, told) in [
        (
            "allowOtherValues='false'",
            "unionDataType='Reserved'",
            "line 9: field 'Open': attribute 'unionDataType' is 'Reserved', not one of FIX Orchestra's",
        ),
        (
            "name='Open' required='Y'",
            "name='Open' required='X'",
            "line 4: field 'Open' in message 'Order': attribute 'required' is 'X', not Y or N",
        ),
        (
            "<group name='NoColours' required='N'",
            "<group name='NoColours' required='X'",
            "line 6: group 'NoColours' in component 'Paint': attribute 'required' is 'X', not Y or N",
        ),
    ] {
        assert_eq!(refused(WHOLE, part, by), [told]);
    }
    let overlay = "<fix extends='FIX.4.4'><messages><message name='NewOrderSingle' msgtype='D'>
        <group name='NoPartyIDs' required='Y'/></message></messages></fix>";
    let told =
        "line 2: group 'NoPartyIDs' in message 'NewOrderSingle': attribute 'required' is 'X', not Y or N";
    assert_eq!(refused(overlay, "'Y'", "'X'"), [told]);
}

#[test]
fn a_type_of_its_own_is_read_with_a_warning_where_it_is_nearly_the_standards() {
    let loaded = |word: &str| {
        let text = WHOLE.replace("type='FIX'", &format!("type='{word}'"));
        let (dictionary, warnings) = load(Source::text(text)).expect(word);
        (dictionary, warnings.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    for own in ["HOUSE", " fix ", "FIXML-LIKE"] {
        assert!(loaded(own).1.is_empty(), "{own}");
    }
    for near in ["FXI", "FI", "FIXX"] {
        let (dictionary, told) = loaded(near);
        let why = format!(
            "line 1: fix: attribute 'type' is '{near}', read as a name of its own; is FIX or FIXT meant?"
        );
        assert_eq!(told, [why]);
        // What is written of it can be read.
        let (again, _) = load(Source::text(dictionary.to_quickfix_xml())).expect(near);
        assert_eq!(again.version(), dictionary.version());
    }
}

#[test]
fn a_misspelled_attribute_is_a_mistake_that_names_the_one_that_is_meant() {
    let line = |at: &str| WHOLE[..WHOLE.find(at).expect("it is there")].lines().count();
    for (right, wrong, meant, element) in [
        (" servicepack=", " servicpack=", "servicepack", "fix"),
        (
            " required='N'/></message",
            " Required='N'/></message",
            "required",
            "component 'Paint' in message 'Order'",
        ),
        (" required='N'><field", " require='N'><field", "required", "group 'NoColours' in component 'Paint'"),
        (" allowOtherValues=", " allowOtherValue=", "allowOtherValues", "field 'Open'"),
        (" allowOtherValues=", " allowothervalues=", "allowOtherValues", "field 'Open'"),
        (" description=", " desciption=", "description", "value '1'"),
    ] {
        let name = wrong.trim_start().split('=').next().expect("it is an attribute");
        let told =
            format!("line {}: {element}: unknown attribute '{name}'; did you mean '{meant}'?", line(right));
        assert_eq!(refused(WHOLE, right, wrong), [told]);
    }
    let overlay = "<fix extends='FIX.4.4'><messages>
        <message name='NewOrderSingle' msgtype='D' replace='Y'><field name='Text'/></message>
        <message name='Heartbeat' msgtype='0'><field name='Text' after='TestReqID'/></message></messages></fix>";
    assert!(load(Source::text(overlay)).is_ok());
    assert_eq!(
        refused(overlay, "replace=", "replaces="),
        ["line 2: message 'NewOrderSingle': unknown attribute 'replaces'; did you mean 'replace'?"]
    );
    assert_eq!(
        refused(overlay, "after=", "afer="),
        ["line 3: field 'Text' in message 'Heartbeat': unknown attribute 'afer'; did you mean 'after'?"]
    );
}

#[test]
fn attributes_of_other_engines_and_repositories_are_ignored() {
    let theirs = "id='7' category='C' section='S' abbrName='A' added='FIX.4.4' addedEP='1' issued='x' updated='FIX.5.0' \
        deprecated='FIX.5.0' replaced='FIX.5.0' comment='c' repeating='NoColours' xmlns:own='urn:own' own:Name='n' ";
    for element in ["<fix ", "<field ", "<message ", "<component ", "<group ", "<value "] {
        read(&WHOLE.replace(element, &format!("{element}{theirs}")));
    }
    read(&WHOLE.replace("<fix ", "<fix extensionpack='240' revision='1' "));
    // Beside the attribute itself, one that resembles it is another.
    read(&WHOLE.replace("type='CHAR'", "type='CHAR' Type='char' names='Open,Offen'"));
}

#[test]
fn what_changes_a_version_has_no_meaning_elsewhere() {
    assert_eq!(
        refused(WHOLE, "<message ", "<message replace='Y' "),
        ["line 3: message 'Order': attribute 'replace' has a meaning only in a file with <fix extends=...>"]
    );
    let overlay = "<fix extends='FIX.4.4'><header><field name='Text'/></header></fix>";
    assert!(load(Source::text(overlay)).is_ok());
    assert_eq!(
        refused(overlay, "<header>", "<header replace='Y'>"),
        ["line 1: header: attribute 'replace' has no meaning here"]
    );
}
