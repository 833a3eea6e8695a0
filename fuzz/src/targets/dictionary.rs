//! Dictionary readers. What is accepted is consistent (every reference leads somewhere, every
//! look-up finds what the list has, flattening ends) and survives the compact table unchanged and
//! QuickFIX's XML as far as that can express it. What is refused has an existing line.

use std::fmt::Write as _;

use fixbolt_dictionary::{Dictionary, LoadError, Loaded, Member, ReadError, Source, Validator};

const QUICKFIX: &str = "<fix type='FIX' major='4' minor='4' servicepack='0'>
<header><field name='BeginString' required='Y'/><group name='NoHops' required='N'><field name='HopCompID' required='N'/></group></header>
<messages>
<message name='Order' msgtype='D' msgcat='app'><field name='Side' required='Y'/><component name='Parties' required='N'/><field name='Raw' required='N'/></message>
<message name='Logon' msgtype='A' msgcat='admin'><field name='RawLength' required='N'/><field name='Raw' required='N'/></message>
</messages>
<trailer><field name='CheckSum' required='Y'/></trailer>
<components><component name='Parties'><group name='NoPartyIDs' required='N'><field name='PartyID' required='Y'/><component name='Sub' required='N'/></group></component>
<component name='Sub'><group name='NoSubs' required='N'><field name='SubID' required='N'/></group></component></components>
<fields>
<field number='8' name='BeginString' type='STRING'/><field number='10' name='CheckSum' type='STRING'/>
<field number='54' name='Side' type='CHAR'><value enum='1' description='BUY'/><value enum='2' description='SELL'/></field>
<field number='453' name='NoPartyIDs' type='NUMINGROUP'/><field number='448' name='PartyID' type='STRING'/>
<field number='802' name='NoSubs' type='NUMINGROUP'/><field number='523' name='SubID' type='STRING'/>
<field number='627' name='NoHops' type='NUMINGROUP'/><field number='628' name='HopCompID' type='STRING'/>
<field number='95' name='RawLength' type='LENGTH'/><field number='96' name='Raw' type='DATA'/>
</fields></fix>";

const ORCHESTRA: &str = "<?xml version='1.0'?>
<fixr:repository xmlns:fixr='http://fixprotocol.io/2020/orchestra/repository' name='FIX.4.4' version='FIX.4.4'>
<fixr:codeSets><fixr:codeSet name='SideCodeSet' id='54' type='char'><fixr:code name='Buy' id='1' value='1'/><fixr:code name='Sell' id='2' value='2'/></fixr:codeSet></fixr:codeSets>
<fixr:fields><fixr:field id='8' name='BeginString' type='String'/><fixr:field id='10' name='CheckSum' type='String'/>
<fixr:field id='54' name='Side' type='SideCodeSet'/><fixr:field id='44' name='Price' type='Price'/>
<fixr:field id='453' name='NoPartyIDs' type='NumInGroup'/><fixr:field id='448' name='PartyID' type='String'/></fixr:fields>
<fixr:components><fixr:component id='1' name='StandardHeader'><fixr:fieldRef id='8' presence='required'/></fixr:component>
<fixr:component id='2' name='StandardTrailer'><fixr:fieldRef id='10' presence='required'/></fixr:component>
<fixr:component id='3' name='Block'><fixr:groupRef id='3'/><fixr:fieldRef id='44'/></fixr:component></fixr:components>
<fixr:groups><fixr:group id='3' name='Parties'><fixr:numInGroup id='453'/><fixr:fieldRef id='448' presence='required'/></fixr:group></fixr:groups>
<fixr:messages><fixr:message name='Order' id='14' msgType='D'><fixr:structure><fixr:componentRef id='1' presence='required'/>
<fixr:componentRef id='3'/><fixr:fieldRef id='54' presence='required'/><fixr:componentRef id='2' presence='required'/>
</fixr:structure></fixr:message></fixr:messages>
</fixr:repository>";

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut texts = vec![QUICKFIX.to_owned(), ORCHESTRA.to_owned()];
    for source in [QUICKFIX, ORCHESTRA] {
        let loaded = Source::text(source).load().expect("a good source");
        texts.push(loaded.dictionary.to_table());
    }
    // Every component contains the previous one twice: flattening must not grow without bound.
    let mut nested = String::new();
    for level in 1..40 {
        let inner = format!("<component name='C{}' required='N'/>", level - 1);
        let _ = write!(nested, "<component name='C{level}'>{inner}{inner}</component>");
    }
    texts.push(
        QUICKFIX
            .replace(
                "<components>",
                &format!("<components><component name='C0'><field name='Side'/></component>{nested}"),
            )
            .replace("<component name='Parties' required='N'/>", "<component name='C39' required='N'/>"),
    );
    // An element inside itself, deeper than any stack.
    texts.push(format!("{}{}", "<fix>".repeat(1500), "</fix>".repeat(1500)));
    texts.into_iter().map(String::into_bytes).collect()
}

pub(super) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines = text.lines().count() as u32 + 1;
    let source = || Source::text(&*text);
    let read = source().load();
    // A table begins with its format; everything else is XML.
    let is_table = text.lines().any(|line| line == "table 1");
    match &read {
        Ok(loaded) if !is_table => {
            let same = source().accept_duplicate_tags().load().expect("read strictly, not leniently");
            let lost = loaded.dictionary.diff(&same.dictionary);
            assert!(lost.is_empty(), "reading it leniently returns another dictionary");
        }
        _ => {
            if let Ok(loaded) = source().accept_duplicate_tags().load() {
                whole(&loaded.dictionary);
            }
        }
    }
    for source in [source().standard_names(), source().as_of("FIX.4.4")] {
        if let Ok(loaded) = source.load() {
            whole(&loaded.dictionary);
        }
    }
    match read {
        Ok(Loaded { dictionary, warnings, .. }) => {
            for warning in &warnings {
                assert!(warning.line <= lines, "a warning names line {} of {lines} lines", warning.line);
            }
            whole(&dictionary);
            let table = dictionary.to_table();
            let again = match Source::text(&table).load() {
                Ok(loaded) => loaded.dictionary,
                Err(error) => panic!("its own table is refused: {error}\n{table}"),
            };
            assert_eq!(again.to_table(), table, "a second round trip changes the table");
            assert_eq!(again.fields(), dictionary.fields());
            assert_eq!(again.messages().len(), dictionary.messages().len());
            assert_eq!(dictionary.diff(&again), []);
            exported(&dictionary, !is_table && !text.contains("repository"));
            let _ = Validator::new(&dictionary);
        }
        Err(LoadError::Refused { faults, .. }) => {
            assert!(!faults.first().is_empty(), "refused without a reason");
            for ReadError { line, element, reason, .. } in faults.first() {
                assert!(*line <= lines, "an error names line {line} of {lines} lines");
                assert!(!element.is_empty() && !reason.is_empty(), "an error without an element or reason");
            }
        }
        Err(other) => panic!("{other}"),
    }
}

/// Writes QuickFIX XML and reads it again: a dictionary that was read from it is not changed by
/// another round trip.
fn exported(dictionary: &Dictionary, was_quickfix: bool) {
    let xml = dictionary.to_quickfix_xml();
    if xml.contains(char::REPLACEMENT_CHARACTER) {
        return; // XML cannot hold every name.
    }
    let read = |xml: &str| match Source::text(xml).load() {
        Ok(loaded) => loaded.dictionary,
        Err(error) => panic!("its own XML is refused: {error}\n{xml}"),
    };
    let again = read(&xml);
    whole(&again);
    let (before, after) =
        if was_quickfix { (dictionary, &again) } else { (&again, &read(&again.to_quickfix_xml())) };
    // The root's type may be anything; `FIX.4.4` is read back, `F.I.X.4.4` is not.
    let odd = before.version().name.matches('.').count() != 2;
    let lost = before.diff(after).into_iter().map(|difference| difference.to_string());
    let lost: Vec<_> = lost.filter(|line| !(odd && line.starts_with("~ version"))).collect();
    assert_eq!(lost, [""; 0], "lost in QuickFIX's XML:\n{xml}");
    let facts = |xml: &str| xml.lines().filter(|line| !line.contains("<!--")).collect::<Vec<_>>().join("\n");
    assert_eq!(
        facts(&before.to_quickfix_xml()),
        facts(&after.to_quickfix_xml()),
        "a second round trip changes the XML"
    );
}

fn whole(dictionary: &Dictionary) {
    for field in dictionary.fields() {
        assert_eq!(dictionary.field(field.tag), Some(field));
        for code in dictionary.codes(field.tag) {
            assert!(
                dictionary.code(field.tag, code.value.as_bytes()).is_some(),
                "code {} of {}",
                code.value,
                field.name
            );
        }
        if let Some(length) = field.length_tag {
            assert!(
                dictionary.field(length).is_some(),
                "{} has the length field {length}, which does not exist",
                field.name
            );
        }
    }
    let mut lists: Vec<&[Member]> = vec![dictionary.header(), dictionary.trailer()];
    lists.extend(dictionary.messages().iter().map(|message| &*message.members));
    for group in dictionary.group_ids() {
        let definition = dictionary.group(group);
        assert!(
            dictionary.field(definition.count_tag).is_some(),
            "group {} has no count field",
            definition.name
        );
        let first = dictionary.expand(&definition.members).next().map(|member| member.tag);
        assert_eq!(
            first,
            Some(dictionary.delimiter(group)),
            "group {} does not begin with its delimiter",
            definition.name
        );
        lists.push(&definition.members);
    }
    for members in lists {
        for member in dictionary.expand(members) {
            assert!(dictionary.field(member.tag).is_some(), "member {} is not a field", member.tag);
            if let Some(group) = member.group {
                assert_eq!(dictionary.group(group).count_tag, member.tag);
            }
        }
    }
    for message in dictionary.messages() {
        assert_eq!(dictionary.message(message.msg_type.as_bytes()).map(|m| &m.name), Some(&message.name));
    }
}
