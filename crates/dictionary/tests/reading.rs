//! Reading QuickFIX XML and FIX Orchestra: fixtures of our own, every quirk a test.

use fixbolt_dictionary::{DataType, Dictionary, Member, UnionType};

/// A QuickFIX file around the given parts.
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
    match Dictionary::from_quickfix_xml(text) {
        Ok((dictionary, warnings)) => {
            assert!(warnings.is_empty(), "{warnings:?}");
            dictionary
        }
        Err(errors) => panic!("{errors:?}"),
    }
}

#[test]
fn versions_are_told_apart_by_major_minor_and_service_pack() {
    for (attributes, name, begin_string, appl_ver_id) in [
        ("major='4' minor='2'", "FIX.4.2", "FIX.4.2", Some("4")),
        ("type='FIX' major='5' minor='0' servicepack='2'", "FIX.5.0SP2", "FIXT.1.1", Some("9")),
        ("servicepack='0' minor='0' major='5'", "FIX.5.0", "FIXT.1.1", Some("7")),
        // Found by the fuzzer.
        ("type='FIX' major='4' minor='4' servicepack='00'", "FIX.4.4", "FIX.4.4", Some("6")),
        ("type='FIX' major='5' minor='0' servicepack='02'", "FIX.5.0SP2", "FIXT.1.1", Some("9")),
        ("type='FIXT' major='1' minor='1'", "FIXT.1.1", "FIXT.1.1", None),
    ] {
        let dictionary = read(&quickfix(attributes, "", "", ""));
        assert_eq!(dictionary.version().name, name);
        assert_eq!(dictionary.version().begin_string, begin_string);
        assert_eq!(dictionary.version().appl_ver_id.as_deref(), appl_ver_id);
    }
}

#[test]
fn a_members_requirement_is_the_and_of_all_components_on_its_path() {
    let text = quickfix(
        FIX44,
        "<message name='A' msgtype='UA'><component name='Outer' required='N'/></message>\
         <message name='B' msgtype='UB'><component name='Outer' required='y'/></message>",
        "<component name='Outer'><component name='Inner' required='Y'/><field name='F' required='N'/></component>\
         <component name='Inner'><field name='G' required='Y'/><field name='H'/></component>",
        "<field number='5001' name='F' type='INT'/><field number='5002' name='G' type='INT'/>\
         <field number='5003' name='H' type='INT'/>",
    );
    let dictionary = read(&text);
    let flat = |msg_type: &[u8]| {
        let message = dictionary.message(msg_type).expect("the message is defined");
        dictionary.expand(&message.members).map(|member| (member.tag, member.required)).collect::<Vec<_>>()
    };
    assert_eq!(flat(b"UA"), [(5002, false), (5003, false), (5001, false)]);
    assert_eq!(flat(b"UB"), [(5002, true), (5003, false), (5001, false)]);
}

#[test]
fn a_component_that_only_wraps_a_group_is_that_group_and_as_required_as_the_wrapper() {
    let text = quickfix(
        FIX44,
        "<message name='A' msgtype='UA'><component name='Parties' required='Y'/></message>",
        "<component name='Parties'><group name='NoPartyIDs' required='N'><field name='PartyID' required='Y'/></group></component>",
        "<field number='453' name='NoPartyIDs' type='INT'/><field number='448' name='PartyID' type='STRING'/>",
    );
    let dictionary = read(&text);
    assert_eq!(dictionary.components().len(), 0);
    let member = dictionary.message(b"UA").expect("UA is defined").members[0];
    let Member::Group { group, required: true } = member else { panic!("{member:?} is no required group") };
    assert_eq!(dictionary.group(group).name, "Parties");
    assert_eq!(dictionary.group(group).count_tag, 453);
    assert_eq!(dictionary.delimiter(group), 448);
}

#[test]
fn the_delimiter_is_found_through_components_and_groups_that_come_first() {
    let text = quickfix(
        FIX44,
        "<message name='A' msgtype='UA'><group name='NoOuter'><component name='First'/></group></message>\
         <message name='B' msgtype='UB'><group name='NoInner'><field name='F'/></group></message>\
         <message name='C' msgtype='UC'><group name='NoInner'><component name='Second'/></group></message>",
        "<component name='First'><group name='NoInner'><field name='F'/></group><field name='G'/></component>\
         <component name='Second'><component name='Third'/></component>\
         <component name='Third'><field name='G'/><field name='F'/></component>",
        "<field number='5001' name='F' type='INT'/><field number='5002' name='G' type='INT'/>\
         <field number='5003' name='NoOuter' type='INT'/><field number='5004' name='NoInner' type='INT'/>",
    );
    let dictionary = read(&text);
    let group_of = |msg_type: &[u8]| match dictionary.message(msg_type).expect("it is defined").members[0] {
        Member::Group { group, .. } => group,
        other => panic!("{other:?} is no group"),
    };
    assert_eq!(dictionary.delimiter(group_of(b"UA")), 5004);
    assert_eq!(dictionary.delimiter(group_of(b"UC")), 5002);
    // The same count tag with the same members is one group, with other members another one.
    let names: Vec<_> = dictionary.groups().iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["InnerGrp", "OuterGrp", "InnerGrp2"]);
}

#[test]
fn a_char_is_a_string_before_fix_4_2_and_one_byte_after() {
    let fields = "<field number='40' name='OrdType' type='CHAR'/>";
    let kind = |version: &str| read(&quickfix(version, "", "", fields)).field(40).map(|field| field.kind);
    assert_eq!(kind("major='4' minor='0'"), Some(DataType::String));
    assert_eq!(kind("major='4' minor='1'"), Some(DataType::String));
    assert_eq!(kind("major='4' minor='2'"), Some(DataType::Char));
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
fn oddities_are_read_and_warned_about() {
    let text = quickfix(
        FIX44,
        "<message name='A' msgtype='UA'><field name='F'/><field name='F'/></message>",
        "",
        "<field number='5001' name='F' type='FANCY' allowOtherValues='Y'><value enum='1'/><value enum='1' description='X'/></field>\
         <field number='5002' name='G' type='CHAR'><value enum='10' description='TEN'/></field>\
         <field number='5003' name='H' type='DATA'/>",
    );
    let (dictionary, warnings) = Dictionary::from_quickfix_xml(&text).expect("only odd");
    let reasons: Vec<_> = warnings.iter().map(|warning| warning.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "unknown type 'FANCY', read as String",
            "'1' is given twice, the first is kept",
            "is listed twice, the first is kept",
            "is of type char but has codes of several bytes: read as String",
            "is a data field and no field holds its length",
        ]
    );
    let field = dictionary.field(5001).expect("F is defined");
    assert_eq!((field.kind, field.union), (DataType::String, Some(UnionType::AnyValue)));
    assert_eq!(dictionary.code(5001, b"1").map(|code| code.name.as_str()), Some("1"));
    assert_eq!(dictionary.field(5002).map(|field| field.kind), Some(DataType::String));
}

#[test]
fn a_malformed_file_gives_every_error_with_element_line_and_reason() {
    let text = quickfix(
        FIX44,
        "<message name='A' msgtype='UA'><field name='Missing'/>\n<component name='Nowhere'/>\n<field name='F' required='perhaps'/></message>\n\
         <message name='B' msgtype='UA'><group name='NoF'></group></message>\n<message name='C'/>",
        "<component name='Self'><field name='F'/><component name='Self'/></component>",
        "<field number='x' name='Q' type='INT'/>\n<field number='5001' name='F' type='INT'/>\n\
         <field number='5001' name='E' type='INT'/><field number='5002' name='NoF' type='INT'/>",
    );
    let errors = Dictionary::from_quickfix_xml(&text).expect_err("much is wrong");
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "line 14: field 'Q': attribute 'number' is 'x', not a whole number",
            "line 4: field 'Missing' in message 'A': no field has this name",
            "line 5: component 'Nowhere' in message 'A': no component has this name",
            "line 6: field 'F' in message 'A': attribute 'required' is 'perhaps', not Y or N",
            "line 7: group 'NoF' in message 'B': the group has no members",
            "line 8: message 'C': attribute 'msgtype' is missing or empty",
            "line 16: field 'E': tag 5001 already belongs to 'F'",
            "line 7: message 'B': message type 'UA' is already defined",
            "line 11: component 'Self': the definition contains itself",
        ]
    );
}

#[test]
fn external_entities_are_refused() {
    let text = format!(
        "<?xml version='1.0'?>\n<!DOCTYPE fix SYSTEM 'http://example.com/evil.dtd'>\n{}",
        quickfix(FIX44, "", "", "")
    );
    let errors = Dictionary::from_quickfix_xml(&text).expect_err("it has a document type declaration");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].reason, "XML with DTD detected");
}

#[test]
fn broken_xml_and_foreign_documents_are_refused_with_a_line() {
    let errors = Dictionary::from_quickfix_xml("<fix major='4'\n minor='4'><fields></fix>")
        .expect_err("it is not well formed");
    assert_eq!(errors[0].line, 2);
    assert!(Dictionary::from_quickfix_xml("<html/>").is_err());
    assert!(Dictionary::from_orchestra("<html/>").is_err());
    assert!(Dictionary::from_quickfix_xml("<fix major='4' minor='4'/>").is_err());
    assert!(Dictionary::from_source("").is_err());
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
    let (dictionary, warnings) = Dictionary::from_source(ORCHESTRA).expect("the file is right");
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].reason, "scenario 'other' is not read, only base is");
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
    assert_eq!(Dictionary::from_table(&dictionary.to_table()), Ok(dictionary));
}

#[test]
fn errors_of_an_orchestra_file_come_all_at_once() {
    let text = ORCHESTRA
        .replace("type='NumInGroup'", "type='NumInGroups'")
        .replace("groupRef id='3'", "groupRef id='33'")
        .replace("fieldRef id='54'", "fieldRef id='55'")
        .replace("msgType='D'", "msgType=''");
    let errors = Dictionary::from_orchestra(&text).expect_err("four things are wrong");
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
    let errors =
        Dictionary::from_table("table 1\nversion FIX.4.4\ncomponent Block *Parties\ngroup Parties\n")
            .expect_err("the group has no count tag");
    assert_eq!((errors.len(), errors[0].line), (1, 4));
}

#[test]
fn definitions_that_double_at_every_level_are_flattened_all_the_same() {
    let mut table = "table 1\nversion FIX.4.4\nfield 1 Account String\nfield 2 Text String\ncomponent A0 1\ncomponent B0 2\n".to_string();
    for at in 1..60 {
        let below = at - 1;
        table += &format!("component A{at} @A{below} @B{below}\ncomponent B{at} @B{below} @A{below}\n");
    }
    table += "message D Order @A59!\n";
    let dictionary = Dictionary::from_table(&table).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let order = dictionary.message(b"D").expect("it is defined");
    let tags: Vec<u32> = dictionary.expand(&order.members).map(|member| member.tag).collect();
    assert_eq!(tags, [1, 2]);
    assert!(dictionary.diff(&dictionary).is_empty());
}
