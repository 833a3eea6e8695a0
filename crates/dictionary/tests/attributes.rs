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

/// A repository in which every attribute that may be left out is there.
const REPOSITORY: &str = "<repository name='FIX.4.4' abbrName='x'>
<codeSets><codeSet name='SideCodeSet' id='54' type='char' unionDataType='Qty' scenario='base'>
<code id='1' name='Buy' value='1' sort='1'/></codeSet></codeSets>
<fields><field id='8' name='BeginString' type='String' added='FIX.2.7' addedEP='1' scenarioId='1'/>
<field id='54' name='Side' type='char' codeSet='SideCodeSet' unionDataType='Qty'/>
<field id='95' name='RawDataLength' type='Length'/><field id='96' name='RawData' type='data' lengthId='95'/>
<field id='453' name='NoPartyIDs' type='NumInGroup'/></fields>
<components><component id='1' name='StandardHeader' category='Session'><fieldRef id='8' presence='required'/></component>
<component id='3' name='Block'><fieldRef id='96' presence='constant' value='4'/></component></components>
<groups><group id='4' name='Parties' scenario='base'><numInGroup id='453'/><fieldRef id='95'/></group></groups>
<messages><message name='Order' msgType='D' scenario='base'><structure>
<componentRef id='1' presence='required'/><fieldRef id='54'><rule presence='required'><when>x</when></rule></fieldRef>
<componentRef id='3' presence='optional'/><groupRef id='4' presence='required'/></structure></message></messages></repository>";

#[test]
fn a_misspelled_attribute_of_orchestra_is_a_mistake_that_names_the_one_that_is_meant() {
    read(REPOSITORY);
    for (part, by, told) in [
        (
            "54' type='char' unionDataType",
            "54' type='char' unionDatatype",
            "codeSet 'SideCodeSet': unknown attribute 'unionDatatype'; did you mean 'unionDataType'?",
        ),
        (
            "SideCodeSet' unionDataType",
            "SideCodeSet' unoinDataType",
            "field 'Side': unknown attribute 'unoinDataType'; did you mean 'unionDataType'?",
        ),
        ("codeSet='", "codeset='", "field 'Side': unknown attribute 'codeset'; did you mean 'codeSet'?"),
        ("lengthId", "lenghtId", "field 'RawData': unknown attribute 'lenghtId'; did you mean 'lengthId'?"),
        (
            "presence='constant'",
            "presense='constant'",
            "fieldRef '96' in component 'Block': unknown attribute 'presense'; did you mean 'presence'?",
        ),
        ("value='4'", "vaule='4'", "unknown attribute 'vaule'; did you mean 'value'?"),
        (
            "groupRef id='4' presence",
            "groupRef id='4' Presence",
            "unknown attribute 'Presence'; did you mean 'presence'?",
        ),
        (
            "componentRef id='1' presence",
            "componentRef id='1' precense",
            "unknown attribute 'precense'; did you mean 'presence'?",
        ),
        ("rule presence", "rule presens", "unknown attribute 'presens'; did you mean 'presence'?"),
        (
            "msgType='D' scenario",
            "msgType='D' scenaro",
            "message 'Order': unknown attribute 'scenaro'; did you mean 'scenario'?",
        ),
        (
            "scenarioId",
            "scenarioID",
            "field 'BeginString': unknown attribute 'scenarioID'; did you mean 'scenarioId'?",
        ),
    ] {
        let errors = refused(REPOSITORY, part, by);
        assert!(errors.len() == 1 && errors[0].contains(told), "{by}: {errors:?}");
    }
}
