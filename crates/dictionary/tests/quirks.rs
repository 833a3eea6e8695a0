//! The twenty quirks of QuickFIX XML and of its loaders (spec/dialects.md section A), each with a
//! file of our own.

use fixbolt_codec::{Frame, Framer, Index, Span, byte_sum};
#[path = "support/loading.rs"]
mod loading;

use fixbolt_dictionary::{
    Check, DataType, Dictionary, GroupId, Member, Policy, RefTag, SessionRejectCode, Source, UnionType,
    Validator, Warning,
};
use loading::load;

const FIX44: &str = "type='FIX' major='4' minor='4' servicepack='0'";

/// Returns a file around the given parts: the header is 8, 9 and 35, the trailer 10.
fn file(version: &str, messages: &str, components: &str, fields: &str) -> String {
    format!(
        "<fix {version}>\n<header><field name='BeginString' required='Y'/><field name='BodyLength' required='Y'/>\
         <field name='MsgType' required='Y'/></header>\n<messages>\n{messages}\n</messages>\n\
         <trailer><field name='CheckSum' required='Y'/></trailer>\n<components>{components}</components>\n<fields>\n\
         <field number='8' name='BeginString' type='STRING'/><field number='9' name='BodyLength' type='LENGTH'/>\
         <field number='35' name='MsgType' type='STRING'/><field number='10' name='CheckSum' type='STRING'/>\n{fields}\n\
         </fields>\n</fix>"
    )
}

fn read_with_warnings(text: &str) -> (Dictionary, Vec<Warning>) {
    load(Source::text(text)).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn read(text: &str) -> Dictionary {
    let (dictionary, warnings) = read_with_warnings(text);
    assert!(warnings.is_empty(), "{warnings:?}");
    dictionary
}

/// QuickFIX/J's FIX50SP1.xml and FIX50SP2.xml.
#[test]
fn a_service_pack_that_only_the_name_of_the_file_says_is_read() {
    let text = |version: &str| file(version, "", "", "");
    let loaded = |version: &str, name: &str| {
        let text = text(version);
        let (dictionary, warnings) = load(Source::text(text).called(name)).expect("it is right");
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        (dictionary.version().name.clone(), warnings.join("; "))
    };
    let told = "line 1: fix: says FIX.5.0 without a service pack, and the file's name is that of FIX.5.0SP1: \
        read as FIX.5.0SP1";
    assert_eq!(loaded("major='5' minor='0'", "FIX50SP1.xml"), ("FIX.5.0SP1".to_string(), told.to_string()));
    assert_eq!(loaded("major='5' minor='0' servicepack=''", "FIX.5.0SP2.xml").0, "FIX.5.0SP2");
    assert_eq!(loaded("major='5' minor='0'", "FIX50.xml"), ("FIX.5.0".to_string(), String::new()));
    assert_eq!(loaded("major='5' minor='0'", "venue.xml"), ("FIX.5.0".to_string(), String::new()));
    // What the file says counts, and what contradicts it is warned of.
    let (version, warning) = loaded("major='5' minor='0' servicepack='2'", "FIX50SP1.xml");
    assert_eq!(version, "FIX.5.0SP2");
    assert!(warning.contains("the file's name is that of FIX.5.0SP1, but it says FIX.5.0SP2"), "{warning}");
    assert_eq!(loaded("major='4' minor='4'", "FIX50SP1.xml").0, "FIX.4.4");
    let source = Source::text(text("major='5' minor='0'")).called("FIX50SP1.xml").version("FIX.5.0SP2");
    assert_eq!(load(source).expect("it is right").0.version().name, "FIX.5.0SP2");
}

#[test]
fn a_version_that_is_set_has_any_usual_spelling() {
    let text = file("major='5' minor='0'", "", "", "");
    let version =
        |name: &str| load(Source::text(&text).version(name)).map(|(read, _)| read.version().name.clone());
    assert_eq!(version("4.4"), Ok("FIX.4.4".to_string()));
    assert_eq!(version("fix50sp2"), Ok("FIX.5.0SP2".to_string()));
    assert_eq!(version("FIX.VENUE"), Ok("FIX.VENUE".to_string()));
    for wrong in ["", "nonsense"] {
        let told = format!("line 1: document: the version '{wrong}' that was set does not begin with FIX");
        assert_eq!(version(wrong).expect_err("it is no version")[0].to_string(), told);
    }
}

fn reasons(warnings: &[Warning]) -> Vec<&str> {
    warnings.iter().map(|warning| warning.reason.as_str()).collect()
}

fn group(dictionary: &Dictionary, msg_type: &str) -> GroupId {
    match dictionary.message(msg_type.as_bytes()).expect("it is defined").members[0] {
        Member::Group { group, .. } => group,
        other => panic!("{other:?} is no group"),
    }
}

fn flat(dictionary: &Dictionary, msg_type: &str) -> Vec<(u32, bool)> {
    let message = dictionary.message(msg_type.as_bytes()).expect("it is defined");
    dictionary.expand(&message.members).map(|member| (member.tag, member.required)).collect()
}

/// Returns the first violation of the FIX.4.4 message with these fields: reason and tag.
fn rejected(dictionary: &Dictionary, policy: &Policy, fields: &str) -> Option<(u16, u32)> {
    let fields = fields.replace('|', "\x01");
    let mut bytes = format!("8=FIX.4.4\x019={}\x01{fields}", fields.len()).into_bytes();
    let sum = byte_sum(&bytes);
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    let Frame::Message(framed) = Framer::new(1 << 16).next(&bytes) else { panic!("it is whole") };
    let (mut tags, mut spans) = (vec![0; 64], vec![Span::default(); 64]);
    let mut index = Index::new(&mut tags, &mut spans);
    let message = index.build(framed).expect("it is short");
    let validator = Validator::new(dictionary);
    let violation = validator.first_reject(&message, policy, &mut validator.scratch())?;
    let RefTag::Number(tag) = violation.tag else { panic!("{violation:?} names no tag") };
    Some((violation.reason.value(), tag))
}

const GROUP: &str = "<field number='5001' name='NoA' type='NUMINGROUP'/><field number='5002' name='A' type='INT'/>\
    <field number='5003' name='B' type='INT'/>";

/// Quirk 1.
#[test]
fn versions_are_distinguished_by_service_pack_or_by_the_reader() {
    for (attributes, name, begin_string, appl_ver_id) in [
        ("major='4' minor='2'", "FIX.4.2", "FIX.4.2", Some("4")),
        ("type='FIX' major='5' minor='0' servicepack='2'", "FIX.5.0SP2", "FIXT.1.1", Some("9")),
        (
            "servicepack=\"SP1\" minor=\"0\" major=\"5\" extensionpack='97'",
            "FIX.5.0SP1",
            "FIXT.1.1",
            Some("8"),
        ),
        ("servicepack='0' minor='0' major='5'", "FIX.5.0", "FIXT.1.1", Some("7")),
        // Found by the fuzzer.
        ("type='FIX' major='4' minor='4' servicepack='00'", "FIX.4.4", "FIX.4.4", Some("6")),
        ("type='FIX' major='5' minor='0' servicepack='02'", "FIX.5.0SP2", "FIXT.1.1", Some("9")),
        ("type='fixt' major='1' minor='1'", "FIXT.1.1", "FIXT.1.1", None),
    ] {
        let dictionary = read(&file(attributes, "", "", ""));
        assert_eq!(dictionary.version().name, name);
        assert_eq!(dictionary.version().begin_string, begin_string);
        assert_eq!(dictionary.version().appl_ver_id(), appl_ver_id);
    }
    // QuickFIX/J's file of FIX.5.0SP2 names no service pack.
    let text = file("major='5' minor='0'", "", "", "");
    let (dictionary, _) = load(Source::text(&text).version("FIX.5.0SP2")).expect("it is right");
    assert_eq!(dictionary.version().appl_ver_id(), Some("9"));
}

/// Quirk 2.
#[test]
fn a_name_must_be_defined_and_a_tag_must_be_unique_unless_the_options_allow_otherwise() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><field name='New'/><field name='Old'/><field name='Typo'/></message>",
        "",
        "<field number='37708' name='Old' type='CHAR'/>\n<field number='37708' name='New' type='INT'/>\n\
         <field number='41' name='Old' type='STRING'/>",
    );
    let strict = load(Source::text(&text)).expect_err("three things are wrong");
    let lines: Vec<String> = strict.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "line 4: field 'Typo' in message 'M': no field has this name",
            "line 11: field 'New': tag 37708 already belongs to 'Old'",
            "line 12: field 'Old': the name 'Old' already belongs to field 37708",
        ]
    );
    // A tag of two fields can be accepted; a name of two fields cannot mean both.
    let text =
        text.replace("<field name='Typo'/>", "").replace("number='41' name='Old'", "number='41' name='X'");
    let (dictionary, warnings) = load(Source::text(&text).accept_duplicate_tags()).expect("it is accepted");
    assert_eq!(
        reasons(&warnings),
        [
            "tag 37708 again: 'New' is hidden by 'Old' before it",
            "field 'Old' is hidden by field 'Old' before it"
        ]
    );
    let field = dictionary.field(37708).expect("it is defined");
    assert_eq!((field.name.as_str(), field.kind), ("Old", DataType::Char));
    assert_eq!(flat(&dictionary, "U"), [(37708, false)]);
}

/// Quirk 3.
#[test]
fn a_member_is_required_only_if_it_says_so() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><field name='A'/><component name='C'/><group name='NoA'><field name='A'/></group>\n\
         <field name='B' required='y'/></message>\n\
         <message name='N' msgtype='V'><field name='A' required='C'/><field name='B' required='true'/></message>",
        "<component name='C'><field name='C' required='Y'/></component>",
        &format!("{GROUP}<field number='5004' name='C' type='INT'/>"),
    );
    let (dictionary, warnings) = read_with_warnings(&text);
    assert_eq!(flat(&dictionary, "U"), [(5002, false), (5004, false), (5001, false), (5003, true)]);
    // `C` for conditional occurs in venues' files.
    assert_eq!(flat(&dictionary, "V"), [(5002, false), (5003, true)]);
    assert_eq!(
        reasons(&warnings),
        ["attribute 'required' is 'C', read as N", "attribute 'required' is 'true', read as Y"]
    );
}

/// Quirk 4.
#[test]
fn a_member_is_required_if_it_and_all_components_on_its_path_are() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><component name='Outer' required='N'/></message>\
         <message name='N' msgtype='V'><component name='Outer' required='Y'/></message>",
        "<component name='Outer'><component name='Inner' required='Y'/><field name='NoA' required='N'/></component>\
         <component name='Inner'><field name='A' required='Y'/><field name='B'/></component>",
        GROUP,
    );
    let dictionary = read(&text);
    assert_eq!(flat(&dictionary, "U"), [(5002, false), (5003, false), (5001, false)]);
    assert_eq!(flat(&dictionary, "V"), [(5002, true), (5003, false), (5001, false)]);
    // The loaders consider only the inner component; their policies reproduce that.
    assert_eq!(rejected(&dictionary, &Policy::standard(), "35=U|5001=1|"), None);
    assert_eq!(rejected(&dictionary, &Policy::quickfix(), "35=U|5001=1|"), Some((1, 5002)));
}

/// Quirk 5.
#[test]
fn required_members_of_an_optional_group_are_required_in_each_entry() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><group name='NoA' required='N'><field name='A'/><field name='B' required='Y'/></group>\
         </message>",
        "",
        GROUP,
    );
    let dictionary = read(&text);
    assert_eq!(rejected(&dictionary, &Policy::standard(), "35=U|"), None);
    assert_eq!(
        rejected(&dictionary, &Policy::standard(), "35=U|5001=2|5002=1|5003=1|5002=2|"),
        Some((1, 5003))
    );
    assert_eq!(rejected(&dictionary, &Policy::quickfix(), "35=U|5001=2|5002=1|5003=1|5002=2|"), None);
}

/// Quirk 6.
#[test]
fn a_component_that_only_wraps_a_group_is_that_group_and_as_required_as_the_wrapper() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><component name='Parties' required='Y'/></message>",
        "<component name='Parties'><!-- made from Orchestra --><group name='NoA' required='N'><field name='A' required='Y'/>\
         </group></component>",
        GROUP,
    );
    let dictionary = read(&text);
    assert_eq!(dictionary.components().len(), 0);
    assert_eq!(flat(&dictionary, "U"), [(5001, true)]);
    assert_eq!(dictionary.group(group(&dictionary, "U")).name, "Parties");
}

/// Quirk 7.
#[test]
fn the_delimiter_is_found_through_components_that_begin_with_components() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><group name='NoA'><component name='Second'/></group></message>\
         <message name='N' msgtype='V'><group name='NoA'><field name='A'/></group></message>",
        "<component name='Second'><component name='Third'/></component>\
         <component name='Third'><field name='B'/><field name='A'/></component>",
        GROUP,
    );
    let dictionary = read(&text);
    assert_eq!(dictionary.delimiter(group(&dictionary, "U")), 5003);
    // The same count tag with other members is another group.
    assert_eq!(dictionary.delimiter(group(&dictionary, "V")), 5002);
    let names: Vec<_> = dictionary.groups().iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["AGrp", "AGrp2"]);
}

/// Quirk 8.
#[test]
fn a_group_may_begin_with_a_group() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><group name='NoOuter'><group name='NoA'><field name='A'/></group><field name='B'/>\
         </group></message>\
         <message name='N' msgtype='V'><group name='NoOuter'><component name='Wrap'/><field name='B'/></group></message>",
        "<component name='Wrap'><group name='NoA'><field name='B'/></group><field name='A'/></component>",
        &format!("{GROUP}<field number='5000' name='NoOuter' type='NUMINGROUP'/>"),
    );
    let dictionary = read(&text);
    assert_eq!(dictionary.delimiter(group(&dictionary, "U")), 5001);
    assert_eq!(dictionary.delimiter(group(&dictionary, "V")), 5001);
    assert_eq!(
        rejected(&dictionary, &Policy::standard(), "35=U|5000=2|5001=1|5002=7|5003=1|5001=1|5002=8|"),
        None
    );
}

/// Quirk 9.
#[test]
fn a_group_is_what_a_group_element_contains_whatever_the_type_of_its_count_field() {
    let text = file(
        "major='4' minor='2'",
        "<message name='M' msgtype='U'><group name='NoA'><field name='A'/></group><field name='NoRpts'/></message>",
        "",
        "<field number='5001' name='NoA' type='INT'/><field number='5002' name='A' type='INT'/>\
         <field number='82' name='NoRpts' type='NUMINGROUP'/>",
    );
    let dictionary = read(&text);
    assert_eq!(dictionary.group(group(&dictionary, "U")).count_tag, 5001);
    let message = dictionary.message(b"U").expect("it is defined");
    assert_eq!(message.members[1], Member::Field { tag: 82, required: false });
    // A group without members is a field, as in the loaders.
    let text = text.replace("<field name='NoRpts'/>", "<group name='NoRpts'></group>");
    let (dictionary, warnings) = read_with_warnings(&text);
    assert_eq!(reasons(&warnings), ["a group without members, read as a field"]);
    assert_eq!(dictionary.message(b"U").expect("it is defined").members, message.members);
}

/// Quirk 10.
#[test]
fn a_field_that_no_message_has_is_still_defined() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><field name='A'/></message>",
        "",
        "<field number='101' name='A' type='INT'/><field number='102' name='Unused' type='INT'/>",
    );
    let dictionary = read(&text);
    let undefined = SessionRejectCode::INVALID_TAG_NUMBER.value();
    let elsewhere = SessionRejectCode::TAG_NOT_DEFINED_FOR_THIS_MESSAGE_TYPE.value();
    assert_eq!(rejected(&dictionary, &Policy::standard(), "35=U|102=1|"), Some((elsewhere, 102)));
    assert_eq!(rejected(&dictionary, &Policy::standard(), "35=U|103=1|"), Some((undefined, 103)));
}

/// Quirk 11.
#[test]
fn tags_from_40000_on_belong_to_the_standard_and_are_not_user_defined() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><field name='A'/></message>",
        "",
        "<field number='5002' name='A' type='INT'/><field number='6000' name='Ours' type='INT'/>\
         <field number='40001' name='Standard' type='INT'/>",
    );
    let dictionary = read(&text);
    let lenient = Policy::standard().with(Check::UserDefinedTag, fixbolt_dictionary::Action::Ignore);
    assert_eq!(rejected(&dictionary, &lenient, "35=U|6000=1|"), None);
    assert_eq!(rejected(&dictionary, &lenient, "35=U|5999=1|"), None);
    assert_eq!(rejected(&dictionary, &lenient, "35=U|40001=1|"), Some((2, 40001)));
}

/// Quirk 12.
#[test]
fn every_type_name_is_known_and_an_unknown_one_is_a_string() {
    let names = "STRING CHAR INT FLOAT QTY PRICE PRICEOFFSET AMT PERCENTAGE BOOLEAN CURRENCY COUNTRY EXCHANGE LANGUAGE DATA \
        XMLDATA LENGTH NUMINGROUP SEQNUM TAGNUM DAYOFMONTH MONTHYEAR UTCTIMESTAMP UTCTIMEONLY UTCDATE UTCDATEONLY \
        LOCALMKTDATE LOCALMKTTIME TZTIMEONLY TZTIMESTAMP MULTIPLEVALUESTRING MULTIPLESTRINGVALUE MULTIPLECHARVALUE XID \
        XIDREF TENOR TIME DATE QUANTITY";
    let field = |(at, name): (usize, &str)| {
        format!(
            "<field number='{}' name='F{at}' type='{name}'/><field number='{}' name='F{at}Len' type='LENGTH'/>\n",
            6000 + at,
            7000 + at
        )
    };
    let fields: String = names.split_whitespace().enumerate().map(field).collect();
    let dictionary = read(&file(FIX44, "", "", &fields));
    for (name, kind) in [
        ("XMLDATA", DataType::XmlData),
        ("LOCALMKTTIME", DataType::LocalMktTime),
        ("UTCDATE", DataType::UtcDateOnly),
        ("TIME", DataType::UtcTimestamp),
        ("DATE", DataType::LocalMktDate),
        ("QUANTITY", DataType::Qty),
    ] {
        let at = names.split_whitespace().position(|known| known == name).expect("it is in the list");
        assert_eq!(dictionary.field(6000 + at as u32).map(|field| field.kind), Some(kind), "{name}");
    }
    let xml = dictionary.fields().iter().find(|field| field.kind == DataType::XmlData).expect("it is there");
    assert!(xml.kind.is_data() && xml.length_tag == Some(xml.tag + 1000));
    let (dictionary, warnings) =
        read_with_warnings(&file(FIX44, "", "", "<field number='6000' name='F' type='FANCY'/>"));
    assert_eq!(reasons(&warnings), ["unknown type 'FANCY', read as String"]);
    assert_eq!(dictionary.field(6000).map(|field| field.kind), Some(DataType::String));
}

/// Quirk 13.
#[test]
fn a_char_is_a_string_before_fix_4_2() {
    let fields = "<field number='40' name='OrdType' type='CHAR'/>";
    let kind = |version: &str| read(&file(version, "", "", fields)).field(40).map(|field| field.kind);
    assert_eq!(kind("major='4' minor='0'"), Some(DataType::String));
    assert_eq!(kind("major='4' minor='1'"), Some(DataType::String));
    assert_eq!(kind("major='4' minor='2'"), Some(DataType::Char));
}

/// Quirk 14.
#[test]
fn values_are_compared_whole_tokens_of_lists_one_by_one_and_an_open_field_takes_any() {
    let values = "<value enum='A' description='ALPHA'/><value enum='BB' description='BETA'/>";
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><field name='One'/><field name='Many'/><field name='Open'/><field name='Wide'/></message>",
        "",
        &format!(
            "<field number='101' name='One' type='STRING'>{values}</field>\
             <field number='102' name='Many' type='MULTIPLEVALUESTRING'>{values}</field>\
             <field number='103' name='Open' type='STRING' allowOtherValues='true'>{values}</field>\
             <field number='104' name='Wide' type='INT' unionDataType='Reserved100Plus'><value enum='1'/></field>"
        ),
    );
    let dictionary = read(&text);
    let wrong = |fields: &str| rejected(&dictionary, &Policy::standard(), &format!("35=U|{fields}|"));
    assert_eq!(wrong("101=BB"), None);
    assert_eq!(wrong("101=B"), Some((5, 101)));
    assert_eq!(wrong("101=a"), Some((5, 101)));
    assert_eq!(wrong("102=BB A"), None);
    assert_eq!(wrong("102=BB C"), Some((5, 102)));
    assert_eq!(wrong("103=ZZ"), None);
    // The values of reserved ranges, which the dialect itself cannot express.
    assert_eq!(wrong("104=100"), None);
    assert_eq!(wrong("104=99"), Some((5, 104)));
    let open = text.replace("allowOtherValues='true'", "allowOtherValues='Y'");
    assert_eq!(read(&open).field(103).and_then(|field| field.union), Some(UnionType::AnyValue));
}

/// Quirk 15.
#[test]
fn values_given_twice_or_without_a_name_are_read() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><field name='SecurityXML'/><component name='SecurityXML'/></message>",
        "<component name='SecurityXML'><field name='Type'/></component>",
        "<field number='1185' name='SecurityXML' type='STRING'/><field number='574' name='Type' type='STRING'>\
         <value enum='M1' description='EXACT'/><value enum='M1' description='AGAIN'/><value enum='2' description='EXACT'/>\
         <value enum='3'/><value enum='VALUE1/32' description=''/><value enum='ISO Country Code' description='COUNTRY'/></field>",
    );
    let (dictionary, warnings) = read_with_warnings(&text);
    assert_eq!(reasons(&warnings), ["'M1' is given twice: 'AGAIN' is hidden by 'EXACT' before it"]);
    let names: Vec<_> =
        dictionary.codes(574).iter().map(|code| (code.value.as_str(), code.name.as_str())).collect();
    assert_eq!(
        names,
        [
            ("M1", "EXACT"),
            ("2", "EXACT"),
            ("3", "3"),
            ("VALUE1/32", "VALUE1/32"),
            ("ISO Country Code", "COUNTRY")
        ]
    );
    // The element distinguishes a field and a component of the same name.
    assert_eq!(flat(&dictionary, "U"), [(1185, false), (574, false)]);
    assert_eq!(load(Source::text(dictionary.to_table())).map(|(dictionary, _)| dictionary), Ok(dictionary));
}

/// Quirk 16.
#[test]
fn a_char_with_longer_values_accepts_them() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><field name='Reason'/></message>",
        "",
        "<field number='532' name='Reason' type='CHAR'><value enum='1'/><value enum='99'/></field>",
    );
    let (dictionary, warnings) = read_with_warnings(&text);
    assert_eq!(reasons(&warnings), ["is of type char but has codes of several bytes: read as String"]);
    assert_eq!(rejected(&dictionary, &Policy::standard(), "35=U|532=99|"), None);
    assert_eq!(rejected(&dictionary, &Policy::standard(), "35=U|532=98|"), Some((5, 532)));
}

/// Quirk 17.
#[test]
fn a_message_belongs_to_the_session_by_its_type_whatever_its_category() {
    let text = file(
        FIX44,
        "<message name='XMLnonFIX' msgtype='n' msgcat='admin'/><message name='Logon' msgtype='A' msgcat='app'/>\
         <message name='Heartbeat' msgtype='0'/>",
        "",
        "",
    );
    let dictionary = read(&text);
    let admin: Vec<_> = dictionary.messages().iter().map(|message| message.is_admin()).collect();
    assert_eq!(admin, [false, true, true]);
}

/// Quirk 18.
#[test]
fn a_header_may_have_a_group_and_a_trailer_may_be_missing() {
    let text = "<fix major='5' minor='0'><header/><messages/><fields/></fix>";
    let dictionary = read(text);
    assert_eq!((dictionary.header(), dictionary.trailer()), (&[][..], &[][..]));
    let hops = "<group name='NoA'><field name='A'/></group></header>";
    let dictionary =
        read(&file(FIX44, "<message name='M' msgtype='U'/>", "", GROUP).replace("</header>", hops));
    let tags: Vec<u32> = dictionary.expand(dictionary.header()).map(|member| member.tag).collect();
    assert_eq!(tags, [8, 9, 35, 5001]);
    assert_eq!(rejected(&dictionary, &Policy::standard(), "35=U|5001=1|5002=7|"), None);
}

/// Quirk 19.
#[test]
fn everything_is_found_by_number_and_by_any_dialects_name() {
    let text = file(
        FIX44,
        "<message name='IndicationofInterest' msgtype='6'><field name='LinesOfText'/></message>\
         <message name='OrderSingle' msgtype='D'/>",
        "",
        "<field number='33' name='LinesOfText' type='INT'/><field number='297' name='QuoteAckStatus' type='INT'/>\
         <field number='327' name='HaltReasonChar' type='CHAR'/><field number='23' name='IOIid' type='STRING'/>",
    );
    let dictionary = read(&text);
    for (name, tag) in [
        ("NoLinesOfText", 33),
        ("LinesOfText", 33),
        ("QuoteStatus", 297),
        ("HaltReason", 327),
        ("HaltReasonInt", 327),
        ("IOIID", 23),
    ] {
        assert_eq!(dictionary.field_by_name(name).map(|field| field.tag), Some(tag), "{name}");
    }
    for (name, msg_type) in
        [("IOI", "6"), ("IndicationOfInterest", "6"), ("NewOrderSingle", "D"), ("OrderSingle", "D")]
    {
        let found = dictionary.message_by_name(name).map(|message| message.msg_type.as_str());
        assert_eq!(found, Some(msg_type), "{name}");
    }
    let (renamed, _) = load(Source::text(&text).standard_names()).expect("it is right");
    assert_eq!(renamed.field(327).map(|field| field.name.as_str()), Some("HaltReason"));
    assert_eq!(renamed.message(b"6").map(|message| message.name.as_str()), Some("IOI"));
}

/// Quirk 20.
#[test]
fn a_field_listed_twice_in_a_message_keeps_its_first_position() {
    let text = file(
        FIX44,
        "<message name='M' msgtype='U'><field name='A'/><component name='C' required='Y'/><component name='D'/></message>\
         <message name='N' msgtype='V'><field name='A'/><field name='A' required='Y'/></message>",
        "<component name='C'><field name='B' required='Y'/><field name='A' required='Y'/></component>\
         <component name='D'><field name='B'/><field name='NoA'/></component>",
        GROUP,
    );
    let (dictionary, warnings) = read_with_warnings(&text);
    assert_eq!(flat(&dictionary, "U"), [(5002, false), (5003, true), (5001, false)]);
    assert_eq!(flat(&dictionary, "V"), [(5002, false)]);
    assert_eq!(
        reasons(&warnings),
        [
            "is listed twice, the first is kept",
            "'A' of component 'C' is hidden by field 'A' before it",
            "'B' of component 'D' is hidden by 'B' of component 'C' before it",
        ]
    );
}

/// What the dialect leaves to XML: order of sections and attributes, quotes, comments, a byte order
/// mark.
#[test]
fn the_form_of_the_xml_does_not_matter() {
    let text = "\u{feff}\n<?xml version=\"1.0\" encoding='UTF-8'?>\n<!-- <fix> -->\n<fix minor=\"4\" major = '4' ><!-- -->\n<fields>\
        <field type='CHAR' name=\"Side\" number=' 54 '><!-- --><value description='BUY' enum=\"1\"/></field></fields>\n\
        <fields><field number='10' name='CheckSum' type='STRING'/></fields><!-- split -->\n\
        <trailer><field required='Y' name='CheckSum'></field></trailer>\n\
        <messages><!-- --><message msgtype='D' name='Order'><!-- --><field name='Side' required=\"Y\"/><component name='Nothing'/>\
        </message></messages><components><component name='Nothing'></component></components>\
        <header><field name='Side'/></header></fix>";
    let (dictionary, warnings) = read_with_warnings(text);
    let expected = ["the component has no members, not read", "field 'Side' is hidden by that of the header"];
    assert_eq!(reasons(&warnings), expected);
    assert_eq!(flat(&dictionary, "D"), [(54, true)]);
    assert_eq!(dictionary.code(54, b"1").map(|code| code.name.as_str()), Some("BUY"));
    assert_eq!(dictionary.trailer(), [Member::Field { tag: 10, required: true }]);
}

#[test]
fn a_document_type_declaration_is_ignored_and_its_entities_are_unknown() {
    let declared = |body: &str| {
        format!(
            "<?xml version='1.0'?>\n<!DOCTYPE fix SYSTEM 'http://example.com/evil.dtd' [\n<!ENTITY secret SYSTEM 'file:///etc/passwd'>\n\
             <!ENTITY lol 'lol'>\n]>\n{body}"
        )
    };
    let text = file(FIX44, "", "", "<field number='54' name='Side' type='CHAR'/>");
    let dictionary = read(&declared(&text));
    assert!(dictionary.field(54).is_some());
    assert_eq!(load(Source::text(declared(&text))).map(|(dictionary, _)| dictionary), Ok(dictionary));
    for entity in ["secret", "lol"] {
        let used = declared(&text.replace("'Side'", &format!("'&{entity};'")));
        let errors = load(Source::text(&used)).expect_err("it is not declared");
        assert_eq!((errors.len(), errors[0].line), (1, 15), "{errors:?}");
        assert!(errors[0].reason.contains(entity), "{}", errors[0]);
    }
}
