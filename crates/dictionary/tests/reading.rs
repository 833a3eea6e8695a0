//! Reading QuickFIX XML and FIX Orchestra: errors, pairs of length and data, and the rules of
//! Orchestra; tests/quirks.rs has the quirks of QuickFIX XML. Fixtures are our own.

#[path = "support/loading.rs"]
mod loading;

use fixbolt_dictionary::{DataType, Dictionary, Member, Source, UnionType};
use loading::load;

/// Returns a QuickFIX file around the given parts.
fn quickfix(version: &str, messages: &str, components: &str, fields: &str) -> String {
    format!(
        "<fix {version}>\n<header><field name='BeginString' required='Y'/></header>\n<messages>\n{messages}\n</messages>\n\
         <trailer><field name='CheckSum' required='Y'/></trailer>\n<components>{components}</components>\n<fields>\n\
         <field number='8' name='BeginString' type='STRING'/><field number='10' name='CheckSum' type='STRING'/>\n{fields}\n\
         </fields>\n</fix>"
    )
}

const FIX44: &str = "type='FIX' major='4' minor='4' servicepack='0'";

fn read(text: &str) -> Dictionary {
    match load(Source::text(text)) {
        Ok((dictionary, warnings)) => {
            assert!(warnings.is_empty(), "{warnings:?}");
            dictionary
        }
        Err(errors) => panic!("{errors:?}"),
    }
}

#[test]
fn a_dictionary_names_the_hash_of_its_source() {
    // As sha256sum prints it.
    let hash = "bde8b9a9290e9b98960d045f3184d0607373e0edf896edbc144b5d15e3f00611";
    assert_eq!(read(&quickfix(FIX44, "", "", "")).origin().sha256, hash);
}

#[test]
fn data_fields_get_their_length_field_from_the_standard_or_by_name() {
    let fields = "<field number='93' name='SignatureLength' type='INT'/><field number='89' name='Signature' type='DATA'/>\
         <field number='212' name='XmlDataLen' type='INT'/><field number='213' name='XmlData' type='XMLDATA'/>\
         <field number='9001' name='OurBlob' type='DATA'/><field number='9000' name='OurBlobLen' type='INT'/>";
    let dictionary = read(&quickfix(FIX44, "", "", fields));
    let length = |tag: u32| dictionary.field(tag).and_then(|field| field.length_tag);
    assert_eq!(length(89), Some(93));
    assert_eq!(length(213), Some(212));
    assert_eq!(length(9001), Some(9000));
    assert!(dictionary.field(213).is_some_and(|field| field.kind.is_data()));
}

#[test]
fn a_malformed_file_returns_every_error_with_element_line_and_reason() {
    let text = quickfix(
        FIX44,
        "<message name='A' msgtype='UA'><field name='Missing'/>\n<component name='Nowhere'/>\n<field name='F' required='perhaps'/></message>\n\
         <message name='B' msgtype='UA'><group name='NoF'><field name='F'/><field/></group></message>\n<message name='C'/>",
        "<component name='Self'><field name='F'/><component name='Self'/></component>",
        "<field number='x' name='Q' type='INT'/>\n<field number='5001' name='F' type='INT'/>\n\
         <field number='5001' name='E' type='INT'/><field number='5002' name='NoF' type='INT'/>",
    );
    let errors = load(Source::text(&text)).expect_err("much is wrong");
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "line 14: field 'Q': attribute 'number' is 'x', not a whole number",
            "line 4: field 'Missing' in message 'A': no field has this name",
            "line 5: component 'Nowhere' in message 'A': no component has this name",
            "line 6: field 'F' in message 'A': attribute 'required' is 'perhaps', not Y or N",
            "line 7: field in group 'NoF': attribute 'name' is missing or empty",
            "line 8: message 'C': attribute 'msgtype' is missing or empty",
            "line 16: field 'E': tag 5001 already belongs to 'F'",
            "line 7: message 'B': message type 'UA' is already defined",
            "line 11: component 'Self': the definition contains itself",
        ]
    );
}

#[test]
fn broken_xml_and_foreign_documents_are_refused_with_a_line() {
    let errors =
        load(Source::text("<fix major='4'\n minor='4'><fields></fix>")).expect_err("it is not well formed");
    assert_eq!(errors[0].line, 2);
    assert!(load(Source::text("<html/>")).is_err());
    assert!(load(Source::text("<html/>")).is_err());
    assert!(load(Source::text("<fix major='4' minor='4'/>")).is_err());
    assert!(load(Source::text("")).is_err());
}

const ORCHESTRA: &str = "\u{feff}<?xml version='1.0'?>\n<!-- <fix> --><fixr:repository xmlns:fixr='http://fixprotocol.io/2023/orchestra/repository' name='FIX.4.4' version='FIX.4.4'>
<fixr:codeSets>
 <fixr:codeSet name='SideCodeSet' id='54' type='char'><fixr:code name='Buy' id='1' value='1'/><fixr:code name='Sell' id='2' value='2'/></fixr:codeSet>
 <fixr:codeSet name='Elsewhere' id='9' type='String' specUrl='http://example.com'/>
 <fixr:codeSet name='ReasonCodeSet' id='10' type='int' unionDataType='Reserved100Plus'><fixr:code name='Other' id='1' value='99'/></fixr:codeSet>
</fixr:codeSets>
<fixr:fields>
 <fixr:field id='8' name='BeginString' type='String'/><fixr:field id='10' name='CheckSum' type='String'/>
 <fixr:field id='54' name='Side' type='SideCodeSet'/><fixr:field id='624' name='LegSide' type='char' codeSet='SideCodeSet'/>
 <fixr:field id='103' name='Reason' type='ReasonCodeSet'/><fixr:field id='15' name='Currency' type='Elsewhere'/>
 <fixr:field id='900' name='BlobLength' type='Length'/><fixr:field id='901' name='Picture' type='data' lengthId='900'/>
 <fixr:field id='453' name='NoPartyIDs' type='NumInGroup'/><fixr:field id='448' name='PartyID' type='String'/>
 <fixr:field id='44' name='Price' type='Price' scenario='other'/>
</fixr:fields>
<fixr:components>
 <fixr:component id='1' name='StandardHeader'><fixr:fieldRef id='8' presence='required'/></fixr:component>
 <fixr:component id='2' name='StandardTrailer'><fixr:fieldRef id='10' presence='required'/></fixr:component>
 <fixr:component id='3' name='Block'><fixr:groupRef id='3' presence='required'/><fixr:fieldRef id='15'/></fixr:component>
</fixr:components>
<fixr:groups><fixr:group id='3' name='Parties'><fixr:numInGroup id='453'/><fixr:fieldRef id='448' presence='required'/></fixr:group></fixr:groups>
<fixr:messages><fixr:message name='Order' id='14' msgType='D'><fixr:structure>
 <fixr:componentRef id='1' presence='required'/><fixr:componentRef id='3'/><fixr:fieldRef id='54' presence='required'/>
 <fixr:fieldRef id='624' presence='forbidden'/><fixr:componentRef id='2' presence='required'/>
</fixr:structure></fixr:message></fixr:messages>
</fixr:repository>";

#[test]
fn an_orchestra_file_is_read_by_local_names_whatever_its_namespace() {
    let (dictionary, warnings) = load(Source::text(ORCHESTRA)).expect("the file is right");
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].reason, "has no scenario base: scenario 'other' is read instead");
    assert_eq!(dictionary.version().name, "FIX.4.4");
    assert_eq!(dictionary.header(), [Member::Field { tag: 8, required: true }]);
    assert_eq!(dictionary.trailer(), [Member::Field { tag: 10, required: true }]);
    assert_eq!(dictionary.components().len(), 1);
    let order = dictionary.message(b"D").expect("D is defined");
    let flat: Vec<_> =
        dictionary.expand(&order.members).map(|member| (member.tag, member.required)).collect();
    assert_eq!(flat, [(453, false), (15, false), (54, true)]);
    assert_eq!(dictionary.codes(54), dictionary.codes(624));
    assert_eq!(dictionary.field(103).and_then(|field| field.union), Some(UnionType::Reserved100Plus));
    assert_eq!(dictionary.field(15).map(|field| (field.kind, field.codes)), Some((DataType::String, None)));
    assert_eq!(dictionary.field(901).and_then(|field| field.length_tag), Some(900));
    assert_eq!(load(Source::text(dictionary.to_table())).map(|(dictionary, _)| dictionary), Ok(dictionary));
}

#[test]
fn all_errors_of_an_orchestra_file_are_returned_at_once() {
    let text = ORCHESTRA
        .replace("type='NumInGroup'", "type='NumInGroups'")
        .replace("groupRef id='3'", "groupRef id='33'")
        .replace("fieldRef id='54'", "fieldRef id='55'")
        .replace("msgType='D'", "msgType=''");
    let errors = load(Source::text(&text)).expect_err("four things are wrong");
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "line 13: field 'NoPartyIDs': 'NumInGroups' is neither a data type of FIX nor a code set of this file",
            "line 19: groupRef '33' in component 'Block': nothing is defined under this id",
            "line 21: numInGroup '453' in group 'Parties': no field has this id",
            "line 22: message 'Order': attribute 'msgType' is missing or empty",
            "line 23: fieldRef '55' in message 'Order': no field has this id",
        ]
    );
}

#[test]
fn a_table_whose_definition_is_not_understood_is_refused_whatever_refers_to_it() {
    let errors = load(Source::text("table 1\nversion FIX.4.4\ncomponent Block *Parties\ngroup Parties\n"))
        .map(|(dictionary, _)| dictionary)
        .expect_err("the group has no count tag");
    assert_eq!((errors.len(), errors[0].line), (1, 4));
}

#[test]
fn definitions_that_double_at_every_level_are_flattened_within_the_limit() {
    let mut table = "table 1\nversion FIX.4.4\nfield 1 Account String\nfield 2 Text String\ncomponent A0 1\ncomponent B0 2\n".to_string();
    for at in 1..16 {
        let below = at - 1;
        table += &format!("component A{at} @A{below} @B{below}\ncomponent B{at} @B{below} @A{below}\n");
    }
    table += "message D Order @A15!\n";
    let dictionary = load(Source::text(&table))
        .map(|(dictionary, _)| dictionary)
        .unwrap_or_else(|errors| panic!("{}", errors[0]));
    let order = dictionary.message(b"D").expect("it is defined");
    let tags: Vec<u32> = dictionary.expand(&order.members).map(|member| member.tag).collect();
    assert_eq!(tags, [1, 2]);
    assert!(dictionary.diff(&dictionary).is_empty());
}

/// Returns a repository of version 1.1 around the given parts.
fn orchestra(parts: &str) -> String {
    format!(
        "<fixr:repository xmlns:fixr='http://fixprotocol.io/2023/orchestra/repository' name='FIX.Latest' version='FIX.Latest_EP301'>\n{}\n\
         </fixr:repository>",
        parts.replace("</", "</fixr:").replace("<", "<fixr:").replace("<fixr:/fixr:", "</fixr:")
    )
}

fn reasons(warnings: &[fixbolt_dictionary::Warning]) -> Vec<&str> {
    warnings.iter().map(|warning| warning.reason.as_str()).collect()
}

#[test]
fn an_orchestra_field_takes_its_codes_and_its_union_from_the_set_or_from_itself() {
    let text = orchestra(
        "<datatypes><datatype name='Pattern' baseType='String'/><datatype name='Ticks' baseType='Small'/>\
         <datatype name='Small' baseType='int'/><datatype name='Loop' baseType='Loop'/></datatypes>\
         <codeSets><codeSet name='OnSet' type='int' unionDataType='Reserved100Plus'><code name='One' value='1'/></codeSet>\
         <codeSet name='Plain' type='Ticks'><code name='One' value='1'/><code name='Uno' value='1'/></codeSet>\
         <codeSet name='Page' type='String' specUrl='http://example.com'/></codeSets>\n\
         <fields><field id='1' name='A' codeSet='OnSet'/><field id='2' name='B' type='int' codeSet='Plain' unionDataType='Qty'/>\
         <field id='3' name='C' type='Plain' unionDataType='Fancy'/><field id='4' name='D' type='Pattern'/>\
         <field id='5' name='E' codeSet='Page'/></fields><messages/>",
    );
    let (dictionary, warnings) = load(Source::text(&text)).expect("it is right");
    assert_eq!(
        reasons(&warnings),
        [
            "'1' is given twice: 'Uno' is hidden by 'One' before it",
            "unknown union type 'Fancy', every value of the base type is accepted"
        ]
    );
    let field = |tag: u32| {
        let field = dictionary.field(tag).expect("it is defined");
        (field.kind, field.union, dictionary.codes(tag).len())
    };
    assert_eq!(field(1), (DataType::Int, Some(UnionType::Reserved100Plus), 1));
    assert_eq!(field(2), (DataType::Int, Some(UnionType::Qty), 1));
    assert_eq!(field(3), (DataType::Int, Some(UnionType::AnyValue), 1));
    assert_eq!(field(4), (DataType::String, None, 0));
    assert_eq!(field(5), (DataType::String, None, 0));
    let looping = text.replace("type='Pattern'", "type='Loop'");
    let errors = load(Source::text(&looping)).expect_err("the type is based on itself");
    assert_eq!(
        errors[0].to_string(),
        "line 3: field 'D': 'Loop' is neither a data type of FIX nor a code set of this file"
    );
}

const SCENARIOS: &str = "<scenarios><scenario name='base' id='1'/><scenario name='Venue' id='2'/></scenarios>\
    <fields><field id='1' name='A' type='int'/><field id='1' name='A' type='String' scenario='Venue'/>\
    <field id='2' name='B' type='int'/><field id='453' name='NoP' type='NumInGroup'/></fields>\n\
    <components><component id='10' name='C'><fieldRef id='1'/></component>\
    <component id='10' name='C' scenario='Venue'><fieldRef id='2' presence='required'/></component>\
    <component id='10' name='C' scenario='Unused'><fieldRef id='2'/></component>\
    <group id='20' name='P' scenario='Venue'><numInGroup id='453'/><fieldRef id='2'/></group></components>\n\
    <messages><message name='M' msgType='U1'><structure><componentRef id='10'/></structure></message>\
    <message name='N' msgType='U2'><structure><componentRef id='10' scenarioId='2' presence='required'/></structure></message>\
    <message name='O' msgType='U3' scenario='Venue'><structure><groupRef id='20' scenario='Venue'/></structure></message>\
    <message name='M' msgType='U1' scenario='Venue'><structure/></message></messages>";

#[test]
fn a_reference_uses_the_scenario_it_names_and_a_definition_without_base_its_own() {
    let (dictionary, warnings) = load(Source::text(orchestra(SCENARIOS))).expect("it is right");
    assert_eq!(
        reasons(&warnings),
        [
            "scenario 'Venue' is not read, only base is",
            "scenario 'Unused' is not read, only base is",
            "has no scenario base: scenario 'Venue' is read instead"
        ]
    );
    let flat = |msg_type: &str| {
        let message = dictionary.message(msg_type.as_bytes()).expect("it is defined");
        dictionary.expand(&message.members).map(|member| (member.tag, member.required)).collect::<Vec<_>>()
    };
    assert_eq!((flat("U1"), flat("U2"), flat("U3")), (vec![(1, false)], vec![(2, true)], vec![(453, false)]));
    let names: Vec<_> = dictionary.components().iter().map(|component| component.name.as_str()).collect();
    assert_eq!(names, ["C", "C-Venue"]);
    assert_eq!(dictionary.field(1).map(|field| field.kind), Some(DataType::Int));
    // A reference to an undefined scenario is an error.
    let errors = load(Source::text(orchestra(&SCENARIOS.replace("scenarioId='2'", "scenarioId='7'"))))
        .expect_err("there is no scenario 7");
    assert_eq!(
        errors[0].to_string(),
        "line 4: componentRef '10' in message 'N': nothing is defined under this id"
    );
}

#[test]
fn only_what_may_be_present_is_a_member() {
    let text = orchestra(
        "<fields><field id='1' name='A' type='int'/><field id='2' name='B' type='int'/></fields>\
         <messages><message name='M' msgType='U'><structure><fieldRef id='1' presence='PRESENCE' value='7'>\
         <rule name='if'><when>B == 1</when></rule></fieldRef><fieldRef id='2'/></structure>\
         <responses><response name='ok'><messageRef name='N'/></response></responses></message></messages>",
    );
    let members = |presence: &str| {
        let (dictionary, _) = load(Source::text(text.replace("PRESENCE", presence))).expect("it is right");
        let message = dictionary.message(b"U").expect("it is defined");
        dictionary.expand(&message.members).map(|member| (member.tag, member.required)).collect::<Vec<_>>()
    };
    assert_eq!(members("required"), [(1, true), (2, false)]);
    assert_eq!(members("optional"), [(1, false), (2, false)]);
    assert_eq!(members("constant"), [(1, false), (2, false)]);
    assert_eq!(members("forbidden"), [(2, false)]);
    assert_eq!(members("ignored"), [(2, false)]);
    let errors = load(Source::text(text.replace("PRESENCE", "maybe"))).expect_err("no such presence");
    assert_eq!(
        errors[0].to_string(),
        "line 2: fieldRef '1' in message 'M': presence 'maybe' is not one of FIX Orchestra's"
    );
}

#[test]
fn an_orchestra_files_version_is_found_in_several_places_or_set_by_an_option() {
    let text = |name: &str, version: &str| {
        format!(
            "<repository name='{name}' version='{version}'><fields><field id='8' name='BeginString' type='String'/></fields>\
             <components><component id='1' name='StandardHeader'><fieldRef id='8'/></component></components><messages/></repository>"
        )
    };
    for (name, version, read) in [
        ("FIX.4.4", "FIX.4.4", "FIX.4.4"),
        ("FIX.Latest", "FIX.Latest_EP301", "FIX.Latest"),
        ("FIX.5.0SP2_EP254", "2", "FIX.5.0SP2"),
        ("FIXT", "FIX.5.0SP2_EP247", "FIXT.1.1"),
        ("FIXT.1.1", "FIXT.1.1", "FIXT.1.1"),
        ("FIX4SESSION", "FIX.4.4", "FIX.4.4"),
    ] {
        let (dictionary, warnings) = load(Source::text(text(name, version))).expect("it is right");
        assert_eq!((dictionary.version().name.as_str(), warnings.len()), (read, 0), "{name} {version}");
    }
    let venue = text("Venue", "2.3");
    let (_, warnings) = load(Source::text(&venue)).expect("it is read");
    assert_eq!(
        reasons(&warnings),
        ["does not name a version of FIX: '2.3' is used as its name and BeginString"]
    );
    let (dictionary, warnings) = load(Source::text(&venue).version("FIX.4.4")).expect("it is told");
    assert_eq!((dictionary.version().begin_string.as_str(), warnings.len()), ("FIX.4.4", 0));
}

#[test]
fn an_earlier_version_has_what_the_pedigree_says_it_had() {
    let text = orchestra(
        "<codeSets><codeSet name='MsgTypeCodeSet' type='String'><code name='M' value='U1'/><code name='N' value='U2'/></codeSet>\
         <codeSet name='S' type='int' added='FIX.4.4'><code name='Old' value='1' added='FIX.4.4'/>\
         <code name='New' value='2' added='FIX.5.0' addedEP='52'/></codeSet>\
         <codeSet name='T' type='char' added='FIX.5.0SP2' addedEP='105'><code name='X' value='X' added='FIX.5.0SP2' addedEP='105'/>\
         </codeSet></codeSets><fields><field id='35' name='MsgType' type='MsgTypeCodeSet' added='FIX.2.7'/>\
         <field id='1' name='A' type='S' added='FIX.4.4'/><field id='2' name='B' type='T' added='FIX.4.4' addedEP='3' deprecated='FIX.5.0'/>\
         <field id='3' name='C' type='int' added='FIX.5.0' addedEP='52'/></fields>\
         <components><component id='1024' name='StandardHeader'><fieldRef id='35'/></component>\
         <component id='9' name='Late' added='FIX.5.0SP1' addedEP='77'><fieldRef id='1' added='FIX.5.0SP1' addedEP='77'/></component></components>\n\
         <messages><message name='Logon' msgType='A' category='Session' added='FIX.4.0'><structure><componentRef id='1024'/></structure></message>\
         <message name='M' msgType='U1' added='FIX.4.3'><structure><componentRef id='1024' added='FIX.4.3'/><fieldRef id='2' added='FIX.4.4'/>\
         <fieldRef id='3' added='FIX.4.4'/><componentRef id='9' added='FIX.5.0SP1' addedEP='77'/></structure></message>\
         <message name='N' msgType='U2' added='FIX.5.0SP2' addedEP='110'><structure/></message></messages>",
    );
    let as_of = |version: &str| {
        let (dictionary, warnings) = load(Source::text(&text).as_of(version)).expect("it is right");
        assert!(warnings.is_empty(), "{warnings:?}");
        dictionary
    };
    let sizes = |dictionary: &Dictionary| {
        let message = dictionary.message(b"U1").expect("it was there");
        let tags: Vec<u32> = dictionary.expand(&message.members).map(|member| member.tag).collect();
        (
            dictionary.messages().len(),
            tags,
            dictionary.codes(1).len(),
            dictionary.codes(2).len(),
            dictionary.codes(35).len(),
        )
    };
    assert_eq!(sizes(&as_of("FIX.4.4")), (2, vec![], 1, 0, 1));
    assert_eq!(sizes(&as_of("FIX.5.0")), (1, vec![2], 1, 0, 1));
    assert_eq!(sizes(&as_of("FIX.5.0SP1")), (1, vec![2, 3], 2, 0, 1));
    assert_eq!(sizes(&as_of("FIX.5.0SP2")), (1, vec![2, 3, 1], 2, 0, 1));
    assert_eq!(sizes(&as_of("FIX.Latest")), (2, vec![2, 3, 1], 2, 1, 2));
    // The session layer of a version over FIXT.1.1 is that of FIXT.1.1.
    assert_eq!((as_of("FIX.4.4").header().len(), as_of("FIX.5.0").header().len()), (1, 0));
    assert_eq!(as_of("FIX.5.0").field(2).map(|field| field.kind), Some(DataType::Char));
    let wrong = |text: &str, version: &str| {
        load(Source::text(text).as_of(version)).expect_err("it cannot be told")[0].to_string()
    };
    assert_eq!(
        wrong(&text, "FIX.6"),
        "line 1: document: 'FIX.6' is not a version that pedigrees name: FIX.4.0 to FIX.5.0SP2, FIX.Latest"
    );
    assert_eq!(
        wrong("<fix major='4' minor='4'/>", "FIX.4.2"),
        "line 1: document: QuickFIX XML does not say what belonged to an earlier version"
    );
    assert_eq!(
        wrong("table 1\n", "FIX.4.2"),
        "line 1: document: options apply to FIX Orchestra and QuickFIX XML, not to a table"
    );
    // A reference to something later is omitted; one to something undefined is an error.
    let dangling = text.replace("fieldRef id='3' added='FIX.4.4'", "fieldRef id='4' added='FIX.4.4'");
    assert_eq!(wrong(&dangling, "FIX.5.0"), "line 3: fieldRef '4' in message 'M': no field has this id");
}
