//! What a file lists but no message can have is warned of, with what hides it.

#[path = "support/loading.rs"]
mod loading;

use fixbolt_dictionary::{Source, Version, shipped};
use loading::load;

/// Returns the warnings about what is hidden.
fn hidden(text: &str) -> Vec<String> {
    let (_, warnings) = load(Source::text(text)).unwrap_or_else(|errors| panic!("{}", errors[0]));
    warnings.iter().map(ToString::to_string).filter(|warning| warning.contains("hidden")).collect()
}

/// A file whose header, messages and components are these.
fn file(header: &str, messages: &str, components: &str) -> String {
    format!(
        "<fix major='4' minor='4'>\n<header><field name='BeginString'/>{header}</header>\n<messages>{messages}</messages>\n\
         <components>{components}</components>\n<fields><field number='8' name='BeginString' type='STRING'/>\
         <field number='5000' name='NoA' type='NUMINGROUP'/><field number='5001' name='A' type='INT'/>\
         <field number='5002' name='B' type='INT'/><field number='5003' name='C' type='INT'/></fields></fix>"
    )
}

#[test]
fn a_group_is_hidden_by_another_of_the_same_count_field_and_by_that_field() {
    let message = |members: &str| file("", &format!("<message name='M' msgtype='U'>{members}</message>"), "");
    let group = "<group name='NoA'><field name='A'/></group>";
    let field = "<field name='NoA'/>";
    assert_eq!(
        hidden(&message(&format!("{field}{group}"))),
        ["line 3: message 'M': group 'NoA' is hidden by field 'NoA' before it"]
    );
    assert_eq!(
        hidden(&message(&format!("{group}{field}"))),
        ["line 3: message 'M': field 'NoA' is hidden by group 'NoA' before it"]
    );
    // A component that only has a group is that group.
    let wrapped = "<component name='W'><group name='NoA'><field name='B'/></group></component>";
    let messages = format!("<message name='M' msgtype='U'><component name='W'/>{group}</message>");
    assert_eq!(
        hidden(&file("", &messages, wrapped)),
        ["line 3: message 'M': group 'NoA' is hidden by group 'NoA' before it"]
    );
    // The member of a group is another than that of the message.
    assert_eq!(hidden(&message(&format!("<field name='A'/>{group}"))), [""; 0]);
}

#[test]
fn a_member_of_a_message_is_hidden_by_one_of_the_header() {
    let component = "<component name='W'><field name='B'/><field name='C'/></component>";
    let of = |members: &str| {
        let messages = format!("<message name='M' msgtype='U'>{members}</message>");
        hidden(&file("<field name='A'/><field name='B'/>", &messages, component))
    };
    let by_header = |what: &str| format!("line 3: message 'M': {what} is hidden by that of the header");
    assert_eq!(of("<field name='A'/>"), [by_header("field 'A'")]);
    assert_eq!(of("<component name='W'/>"), [by_header("'B' of component 'W'")]);
    // A field of a group is another.
    assert_eq!(of("<group name='NoA'><field name='C'/><field name='A'/></group>"), [""; 0]);
}

#[test]
fn members_of_components_are_hidden_where_the_components_meet() {
    let components = "\n<component name='Inner'><field name='A'/><field name='B'/></component>\n\
        <component name='Outer'><component name='Inner'/><field name='B'/></component>\n\
        <component name='Other'><field name='C'/><component name='Inner'/></component>";
    let messages = "<message name='M' msgtype='U'><component name='Outer'/><component name='Other'/></message>\
        <message name='N' msgtype='V'><component name='Outer'/><field name='C'/></message>";
    assert_eq!(
        hidden(&file("", messages, components)),
        [
            "line 6: component 'Outer': field 'B' is hidden by 'B' of component 'Inner' before it",
            "line 3: message 'M': 'A' of component 'Other' is hidden by 'A' of component 'Outer' before it \
             (and 1 more)",
        ]
    );
    let group = "<group name='NoA'><component name='Inner'/><field name='A'/></group>";
    assert_eq!(
        hidden(&file(group, "", components))[1..],
        ["line 2: group 'NoA' in header: field 'A' is hidden by 'A' of component 'Inner' before it"]
    );
}

#[test]
fn an_overlay_is_told_what_it_hides_and_not_what_was_hidden_before() {
    let overlay = "<fix extends='FIX.4.4'>\n<fields><field number='5001' name='Colour' type='CHAR'/></fields>\n\
        <components><component name='Instrument'><field name='Text'/></component></components></fix>";
    let found = hidden(overlay);
    assert!(
        found.contains(
            &"line 1: fix: field 'Text' is hidden by 'Text' of component 'Instrument' before it".to_string()
        ),
        "{found:?}"
    );
    // Many messages of the version have the field.
    let overlay = "<fix extends='FIX.4.4'><header><field name='Text'/></header>\n<messages>\n\
        <message name='News' msgtype='B'><field name='Text'/></message>\n\
        <message name='Email' msgtype='C'><field name='Text'/></message></messages></fix>";
    let by_header = |at: &str| format!("{at}: field 'Text' is hidden by that of the header");
    assert_eq!(
        hidden(overlay),
        ["line 1: fix", "line 3: message 'News'", "line 4: message 'Email'"].map(by_header)
    );
    let base = load(Source::text(file(
        "",
        "<message name='M' msgtype='U'><field name='NoA'/><group name='NoA'><field name='A'/></group></message>",
        "",
    )));
    let (base, _) = base.expect("it is read");
    let more = "<fix><messages><message name='M' msgtype='U'><field name='B'/></message></messages></fix>";
    let (_, warnings) = load(Source::text(more).extending(&base)).expect("it is right");
    assert_eq!(warnings, []);
}

#[test]
fn sections_that_are_split_are_read_whole() {
    let text = file("", "<message name='M' msgtype='U'/>", "");
    let text = text.replace("</fix>", "<header><field name='A'/><field name='BeginString'/></header></fix>");
    let (dictionary, warnings) = load(Source::text(&text)).expect("it is right");
    assert_eq!(
        dictionary.expand(dictionary.header()).map(|member| member.tag).collect::<Vec<_>>(),
        [8, 5001]
    );
    assert_eq!(
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["line 5: field 'BeginString' in header: is listed twice, the first is kept"]
    );
    let overlay = "<fix extends='FIX.4.4'><fields><field number='5001' name='A' type='INT'/></fields>
        <fields><field number='5002' name='B' type='INT'/></fields>
        <header><field name='A'/></header><header><field name='B'/></header></fix>";
    let (dictionary, _) = load(Source::text(overlay)).expect("it is right");
    let tags: Vec<u32> = dictionary.expand(dictionary.header()).map(|member| member.tag).collect();
    assert!(tags.ends_with(&[5001, 5002]), "{tags:?}");
}

#[test]
fn nothing_is_hidden_in_shipped_versions() {
    for version in Version::ALL {
        assert_eq!(hidden(&shipped(version).to_quickfix_xml()), [""; 0], "{version}");
    }
}

/// A small file that lists a large component many times is read at once.
#[test]
fn looking_for_what_is_hidden_has_a_limit() {
    use std::fmt::Write as _;
    let (mut fields, mut all, mut components) = (String::new(), String::new(), String::new());
    for at in 0..20_000 {
        write!(fields, "<field number='{}' name='F{at}' type='INT'/>", 6000 + at).unwrap();
        write!(all, "<field name='F{at}'/>").unwrap();
        write!(components, "<component name='C{at}'><component name='All'/><field name='A'/></component>")
            .unwrap();
    }
    let components = format!("<component name='All'>{all}</component>{components}");
    let text = file("", "", &components).replace("</fields>", &format!("{fields}</fields>"));
    let found = hidden(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("from here on, hidden members are not looked for"), "{found:?}");
}
