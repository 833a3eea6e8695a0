//! A dialect as a difference to a shipped version: additions, changes, contradictions.

#[path = "support/loading.rs"]
mod loading;

use fixbolt_dictionary::{Dictionary, Member, Source, UnionType, fix42, fix44};
use loading::load;

/// Returns an overlay of FIX.4.4 with these sections.
fn overlay(fields: &str, components: &str, messages: &str) -> String {
    format!(
        "<fix extends='FIX.4.4'>\n<fields>{fields}</fields>\n<components>{components}</components>\n<messages>{messages}</messages></fix>"
    )
}

fn dialect(fields: &str, components: &str, messages: &str) -> Dictionary {
    let (dictionary, warnings) = load(Source::text(overlay(fields, components, messages))).unwrap();
    assert_eq!(warnings, []);
    dictionary
}

/// Returns the only error of an overlay.
fn refused(fields: &str, components: &str, messages: &str) -> String {
    let errors = load(Source::text(overlay(fields, components, messages))).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].to_string()
}

/// Returns the tags of a message: groups as `count(members)`, required ones with `!`.
fn shape(dictionary: &Dictionary, members: &[Member]) -> String {
    let one = |member: fixbolt_dictionary::FlatMember| {
        let mark = if member.required { "!" } else { "" };
        match member.group {
            None => format!("{}{mark}", member.tag),
            Some(group) => {
                let members = shape(dictionary, &dictionary.group(group).members);
                format!("{}{mark}({members})", member.tag)
            }
        }
    };
    dictionary.expand(members).map(one).collect::<Vec<_>>().join(" ")
}

fn message(dictionary: &Dictionary, msg_type: &str) -> String {
    shape(dictionary, &dictionary.message(msg_type.as_bytes()).unwrap().members)
}

const COLOUR: &str =
    "<field number='5001' name='Colour' type='CHAR'><value enum='1' description='RED'/></field>";

#[test]
fn an_overlay_without_changes_is_the_version_itself() {
    for base in [fix42(), fix44()] {
        let (same, warnings) = load(Source::text("<fix/>").extending(base)).unwrap();
        assert_eq!(warnings, []);
        assert_eq!(same.origin().name, format!("{}, extended", base.origin().name));
        let facts = |dictionary: &Dictionary| {
            dictionary.to_table().lines().filter(|l| !l.starts_with("source ")).collect::<Vec<_>>().join("\n")
        };
        assert!(facts(&same) == facts(base));
    }
}

#[test]
fn a_new_field_component_group_and_message_are_added() {
    let dialect = dialect(
        &format!("{COLOUR}<field number='5010' name='NoColours' type='NUMINGROUP'/>"),
        "<component name='Paint'><field name='Colour' required='Y'/></component>\
         <component name='Colours'><group name='NoColours'><field name='Colour'/><component name='Parties'/></group></component>",
        "<message name='PaintRequest' msgtype='U1'><field name='ClOrdID' required='Y'/><component name='Paint' required='Y'/>\
         <component name='Colours' required='Y'/></message>",
    );
    let paint = dialect.message_by_name("PaintRequest").unwrap();
    let parties = "453(448 447 452 802(523 803))";
    assert_eq!(shape(&dialect, &paint.members), format!("11! 5001! 5010!(5001 {parties})"));
    assert_eq!(dialect.code(5001, b"1").unwrap().name, "RED");
    assert_eq!(dialect.code(35, b"U1").unwrap().name, "PaintRequest");
    assert_eq!(dialect.messages().len(), fix44().messages().len() + 1);
    assert_eq!(message(&dialect, "D"), message(fix44(), "D"));
    assert_eq!(dialect.version(), fix44().version());
}

#[test]
fn a_known_message_component_and_header_get_members_after_their_own() {
    let dialect = dialect(
        COLOUR,
        "<component name='Instrument'><field name='Colour'/></component>",
        "<message name='OrderCancelReject' msgtype='9'><field name='Colour' required='Y'/><field name='Text' required='Y'/></message>",
    );
    let before = message(fix44(), "9");
    assert!(before.contains(" 58 "));
    assert_eq!(message(&dialect, "9"), format!("{} 5001!", before.replace(" 58 ", " 58! ")));
    let order = message(&dialect, "D");
    assert!(order.contains(" 5001 "), "{order}");
    let text =
        overlay(COLOUR, "", "").replace("<messages>", "<header><field name='Colour'/></header><messages>");
    let (header, _) = load(Source::text(&text)).unwrap();
    assert_eq!(header.header().last(), Some(&Member::Field { tag: 5001, required: false }));
}

#[test]
fn a_group_is_changed_everywhere_by_its_name_and_in_one_message_by_its_count_field() {
    let group = "<group name='NoPartyIDs'><field name='PartyID' required='Y'/><field name='Colour' required='Y'/></group>";
    let everywhere = dialect(COLOUR, &format!("<component name='Parties'>{group}</component>"), "");
    let changed = "453(448! 447 452 802(523 803) 5001!)";
    assert!(message(&everywhere, "D").contains(changed), "{}", message(&everywhere, "D"));
    assert!(message(&everywhere, "8").contains(changed));
    let once = dialect(COLOUR, "", &format!("<message name='NewOrderSingle' msgtype='D'>{group}</message>"));
    assert!(message(&once, "D").contains(changed), "{}", message(&once, "D"));
    assert_eq!(message(&once, "8"), message(fix44(), "8"));
    assert!(once.groups().iter().any(|group| group.name == "NewOrderSingleParties"));
}

#[test]
fn values_are_added_to_a_known_field_and_other_values_allowed() {
    let dialect = dialect(
        "<field number='54' name='Side'><value enum='Z' description='OWN'/><value enum='1' description='BUY'/></field>\
         <field number='59' name='TimeInForce' allowOtherValues='Y'/>\
         <field number='32' name='LastShares' type='QTY'/>",
        "",
        "",
    );
    assert_eq!(dialect.code(54, b"Z").unwrap().name, "OWN");
    assert_eq!(dialect.codes(54).len(), fix44().codes(54).len() + 1);
    assert_eq!(dialect.field(59).unwrap().union, Some(UnionType::AnyValue));
    assert_eq!(dialect.field(32), fix44().field(32));
}

#[test]
fn a_definition_marked_with_replace_replaces_the_old_one() {
    let dialect = dialect(
        "<field number='54' name='Side' type='INT' replace='Y'><value enum='1' description='UP'/></field>\
         <field number='44' name='Price' type='STRING' replace='Y'/>",
        "<component name='Parties' replace='Y'><group name='NoPartyIDs'><field name='PartyID'/></group></component>",
        "<message name='OrderCancelReject' msgtype='9' replace='Y'><field name='ClOrdID' required='Y'/></message>",
    );
    assert_eq!(dialect.codes(54).len(), 1);
    assert_eq!(dialect.field(54).unwrap().kind.name(), "int");
    assert_eq!(dialect.field(44).unwrap().kind.name(), "String");
    assert_eq!(message(&dialect, "9"), "11!");
    assert!(message(&dialect, "D").contains("453(448)"));
}

#[test]
fn a_contradiction_is_an_error_with_its_line() {
    for (fields, components, messages, expected) in [
        (
            COLOUR,
            "<component name='Parties'><field name='Colour'/></component>",
            "",
            "line 3: component 'Parties': it is a group",
        ),
        (
            "<field number='58' name='Colour' type='CHAR'/>",
            "",
            "",
            "line 2: field 'Colour': field 58 is 'Text' in FIX.4.4",
        ),
        (
            "<field number='5001' name='Text' type='CHAR'/>",
            "",
            "",
            "line 2: field 'Text': the name 'Text' already belongs to field 58",
        ),
        (
            "<field number='54' name='Side' type='INT'/>",
            "",
            "",
            "line 2: field 'Side': its type is char in FIX.4.4, not INT; replace='Y' changes it",
        ),
        (
            "<field number='54' name='Side'><value enum='1' description='UP'/></field>",
            "",
            "",
            "line 2: field 'Side': value '1' is already called 'Buy'",
        ),
        (
            "",
            "",
            "<message name='NewOrderSingle' msgtype='U1'/>",
            "line 4: message 'NewOrderSingle': the name belongs to message type 'D'",
        ),
        (
            "",
            "",
            "<message name='Paint' msgtype='D'/>",
            "line 4: message 'Paint': message type 'D' is 'NewOrderSingle' in FIX.4.4",
        ),
        (
            "",
            "",
            "<message name='NewOrderSingle' msgtype='D'><field name='Symbol' required='Y'/></message>",
            "line 4: field 'Symbol' in message 'NewOrderSingle': it comes with component 'Instrument' already: change it there",
        ),
        (
            "",
            "",
            "<message name='NewOrderSingle' msgtype='D'><field name='Colour'/></message>",
            "line 4: field 'Colour' in message 'NewOrderSingle': no field has this name",
        ),
        (
            "<field number='54' name='Side' replace='yes'/>",
            "",
            "",
            "line 2: field 'Side': attribute 'replace' is 'yes', not Y or N",
        ),
        (
            "",
            "<component name='Parties'><group name='NoLegs'><field name='Text'/></group></component>",
            "",
            "line 3: group 'NoLegs' in component 'Parties': group Parties is counted by field 453",
        ),
    ] {
        assert!(
            refused(fields, components, messages).starts_with(expected),
            "{}",
            refused(fields, components, messages)
        );
    }
}

#[test]
fn an_overlay_must_name_a_shipped_version() {
    let of = |text: &str| load(Source::text(text)).unwrap_err()[0].to_string();
    assert_eq!(
        of("<fix extends='FIX.4.5'/>"),
        "line 1: fix: extends='FIX.4.5': no version of this name is shipped"
    );
    assert_eq!(of("<fix extends='FIX44'/>"), "line 1: fix: extends='FIX44': write FIX.4.4");
    assert_eq!(of("<fix extends='fixt11'/>"), "line 1: fix: extends='fixt11': write FIXT.1.1");
    let errors = load(Source::text("<fix extends='FIX.4.4'/>").extending(fix42())).unwrap_err();
    assert_eq!(errors[0].to_string(), "line 1: fix: it extends FIX.4.4, not FIX.4.2");
    assert_eq!(
        load(Source::text("<fox/>").extending(fix42())).unwrap_err()[0].to_string(),
        "line 1: fox: the root element is not <fix>"
    );
}

#[test]
fn a_version_over_fixt_is_extended_without_its_header() {
    let text = "<fix extends='FIX.5.0SP2'><fields/><messages>\
         <message name='NewOrderSingle' msgtype='D'><field name='MDReqID'/></message></messages></fix>";
    let (dialect, _) = load(Source::text(text)).unwrap();
    assert!(message(&dialect, "D").ends_with(" 262"), "{}", message(&dialect, "D"));
    let header = text.replace("<fields/>", "<header><field name='MDReqID'/></header>");
    let error = load(Source::text(&header)).unwrap_err()[0].to_string();
    assert_eq!(error, "line 1: header: FIX.5.0SP2 has none: it is that of FIXT.1.1");
}

#[test]
fn a_file_that_only_adds_fields_is_warned_of_and_told_how_to_extend() {
    let reasons = |text: &str| match load(Source::text(text)) {
        Ok((_, found)) => found.into_iter().map(|warning| warning.reason).collect::<Vec<_>>(),
        Err(found) => found.into_iter().map(|error| error.reason).collect(),
    };
    let told = |version: &str| {
        format!(
            "it replaces all of {version}; if it only adds to that, begin it with <fix extends='{version}'>"
        )
    };
    let header = "<header><field name='Colour'/></header>";
    let own = |version: &str, header: &str| {
        format!("<fix {version}>{header}<messages/><fields>{COLOUR}</fields></fix>")
    };
    assert_eq!(reasons(&own("major='4' minor='4'", header)), [told("FIX.4.4")]);
    let sp2 = own("major='5' minor='0' servicepack='2'", "");
    assert_eq!(reasons(&sp2), [told("FIX.5.0SP2")]);
    // With the header and a field of the version it is a dictionary of its own.
    let side = "<field number='54' name='Side' type='CHAR'/></fields>";
    assert_eq!(reasons(&own("major='4' minor='4'", header).replace("</fields>", side)), [""; 0]);
    let headless = reasons(&own("major='4' minor='4'", "").replace("</fields>", side));
    assert_eq!((headless.len(), &headless[0]), (2, &told("FIX.4.4")));
    // So is that of a version that is not shipped, and one that has nothing.
    assert_eq!(reasons(&own("major='4' minor='9'", header)), [""; 0]);
    assert_eq!(reasons("<fix extends='FIX.4.4'/>"), [""; 0]);
    let missing = "there is no <fields> or no <messages> section; if it only adds to FIX.4.4, begin it with \
        <fix extends='FIX.4.4'>";
    assert_eq!(reasons("<fix major='4' minor='4'><fields/></fix>"), [missing]);
}

#[test]
fn all_errors_are_reported_at_once() {
    let text = overlay(
        "<field number='58' name='Colour' type='CHAR'/>\n<field number='5001' name='Text' type='CHAR'/>",
        "",
        "<message name='Paint' msgtype='U1'><field name='Nothing'/></message>",
    );
    let lines: Vec<u32> = load(Source::text(&text)).unwrap_err().iter().map(|error| error.line).collect();
    assert_eq!(lines, [2, 5, 3]);
}

#[test]
fn a_new_member_is_put_before_or_after_another() {
    let text = |members: &str| {
        overlay(
            &format!("{COLOUR}<field number='5003' name='NoShades' type='NUMINGROUP'/>"),
            "<component name='Parties'><group name='NoPartyIDs'><field name='Colour' before='PartyRole'/></group></component>",
            &format!("<message name='NewOrderSingle' msgtype='D'>{members}</message>"),
        )
    };
    let placed = |members: &str| load(Source::text(text(members)));
    let (dialect, _) = placed(
        "<group name='NoShades' before='Side'><field name='Account'/></group><field name='Colour' after='ClOrdID'/>",
    )
    .unwrap();
    let order = dialect.message(b"D").unwrap();
    let tags: Vec<u32> = dialect.expand(&order.members).map(|member| member.tag).collect();
    let at = |tag: u32| tags.iter().position(|known| *known == tag).unwrap();
    assert_eq!(at(5001), at(11) + 1);
    assert_eq!(at(5003), at(54) - 1);
    let parties = dialect.groups().iter().find(|group| group.name == "Parties").unwrap();
    let tags: Vec<u32> = dialect.expand(&parties.members).map(|member| member.tag).collect();
    assert_eq!(tags, [448, 447, 5001, 452, 802]);
    // A component and a group are named as they are listed.
    for place in ["after='Instrument'", "before='Parties'", "before='NoPartyIDs'"] {
        placed(&format!("<field name='Colour' {place}/>")).unwrap();
    }
    for (members, reason) in [
        (
            "<field name='Colour' after='Symbol'/>",
            "'Symbol' is not a member here, so nothing can be put before or after it",
        ),
        (
            "<field name='Colour' after='Side' before='Side'/>",
            "attributes 'before' and 'after' exclude each other",
        ),
        (
            "<field name='Account' after='Side'/>",
            "it is there already: only a new member has before or after",
        ),
        (
            "<group name='NoPartyIDs' after='Side'><field name='Account'/></group>",
            "it is there already: only a new member has before or after",
        ),
        (
            "<group name='NoShades'><field name='Account' after='Side'/></group>",
            "before and after are for members that are added to a definition; list these in order",
        ),
    ] {
        let errors = placed(members).unwrap_err();
        assert_eq!((errors.len(), errors[0].reason.as_str()), (1, reason), "{members}");
    }
}
