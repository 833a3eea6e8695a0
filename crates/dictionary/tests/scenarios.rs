//! What FIX Orchestra says beyond structure: messages in scenarios, constant values, conditions.

#[path = "support/loading.rs"]
mod loading;

use fixbolt_dictionary::{Definition, Dictionary, Member, Presence, Source, fixt11};
use loading::load;

const TEXT: &str = "<repository name='FIX.4.4'>
    <fields><field id='8' name='BeginString' type='String'/><field id='1' name='Account' type='String'/>
    <field id='54' name='Side' type='char'/><field id='99' name='StopPx' type='Price'/><field id='22' name='Source' type='String'/>
    <field id='453' name='NoPartyIDs' type='NumInGroup'/></fields>
    <components><component id='1' name='StandardHeader'><fieldRef id='8' presence='required'/></component>
    <component id='3' name='Block'><fieldRef id='22' presence='constant' value='4 1'/></component></components>
    <groups><group id='4' name='Parties'><numInGroup id='453'/><fieldRef id='1'/></group></groups>
    <messages>
    <message name='Order' msgType='D'><structure><componentRef id='1'/><fieldRef id='54' presence='required'/>
        <fieldRef id='99'><rule name='Stop' presence='required'><when>OrdType ==
            ^Stop</when></rule><rule presence='forbidden'><when>OrdType == ^Market</when></rule></fieldRef>
        <componentRef id='3'/><groupRef id='4'><rule presence='required'><when>many</when></rule></groupRef></structure></message>
    <message name='Order' msgType='D' scenario='Stop'><structure><componentRef id='1'/><fieldRef id='54'/>
        <fieldRef id='99' presence='required'/><fieldRef id='22' presence='constant' value='8'/></structure></message>
    <message name='Cancel' msgType='F'><structure><componentRef id='1'/><fieldRef id='1'/></structure></message>
    <message name='Quote' msgType='S' scenario='Two'><structure><fieldRef id='1'/></structure></message>
    </messages></repository>";

fn order() -> Definition {
    Definition::Message("D".to_string())
}

fn field(tag: u32) -> Member {
    Member::Field { tag, required: false }
}

fn members(dictionary: &Dictionary, msg_type: &str) -> Vec<(u32, bool)> {
    let message = dictionary.message(msg_type.as_bytes()).expect("it is defined");
    dictionary.expand(&message.members).map(|member| (member.tag, member.required)).collect()
}

fn read() -> Dictionary {
    load(Source::text(TEXT)).expect("it is right").0
}

#[test]
fn constants_and_conditions_are_kept_as_text() {
    let dictionary = read();
    let stop = dictionary.terms(&order(), &field(99)).expect("it has rules");
    let rules: Vec<_> =
        stop.rules.iter().map(|rule| (rule.name.as_str(), rule.presence, rule.when.as_str())).collect();
    assert_eq!(
        rules,
        [("Stop", Presence::Required, "OrdType == ^Stop"), ("", Presence::Forbidden, "OrdType == ^Market")]
    );
    let block = Definition::Component("Block".to_string());
    let terms = dictionary.terms(&block, &field(22)).expect("it has a constant");
    assert_eq!((terms.constant.as_deref(), terms.rules.len()), (Some("4 1"), 0));
    let order_message = dictionary.message(b"D").expect("it is defined");
    let group = order_message.members.iter().find(|member| matches!(member, Member::Group { .. }));
    let terms = dictionary.terms(&order(), group.expect("it is listed")).expect("it has a rule");
    assert_eq!(terms.rules[0].when, "many");
    assert_eq!(dictionary.terms(&order(), &field(54)), None);

    let odd = TEXT.replace("presence='forbidden'><when>", "presence='sometimes'><when>");
    let (_, warnings) = load(Source::text(odd)).expect("it is read");
    assert!(warnings[1].reason.starts_with("presence 'sometimes' is not one of"), "{warnings:?}");
}

#[test]
fn every_scenario_of_a_message_is_kept_and_one_can_be_asked_for() {
    let dictionary = read();
    assert_eq!(members(&dictionary, "D"), [(54, true), (99, false), (22, false), (453, false)]);
    let kept: Vec<_> =
        dictionary.scenarios().iter().map(|one| (one.name.as_str(), one.message.msg_type.as_str())).collect();
    assert_eq!(kept, [("Stop", "D"), ("Two", "S")]);

    let stop = load(Source::text(TEXT).scenario("Stop")).expect("there is one").0;
    assert_eq!(members(&stop, "D"), [(54, false), (99, true), (22, false)]);
    assert_eq!(stop.terms(&order(), &field(22)).and_then(|terms| terms.constant.as_deref()), Some("8"));
    // The rule is of base only; what the scenario does not have is that of base.
    assert_eq!(stop.terms(&order(), &field(99)), None);
    assert_eq!(members(&stop, "F"), members(&dictionary, "F"));
    assert_eq!(dictionary.in_scenario("Stop"), Some(stop));
    let errors = load(Source::text(TEXT).scenario("Three")).expect_err("there is none");
    assert_eq!(
        errors[0].to_string(),
        "line 1: document: no message has the scenario 'Three'; there are Stop, Two"
    );
    let twice = TEXT.replace("msgType='S' scenario='Two'", "msgType='D' scenario='Stop'");
    let errors = load(Source::text(twice)).expect_err("it is there twice");
    assert_eq!(
        errors[0].to_string(),
        "line 16: message 'Quote': message type 'D' is already defined in 'Stop'"
    );
}

#[test]
fn a_table_an_overlay_and_a_transport_keep_them() {
    let dictionary = read();
    let table = dictionary.to_table();
    assert_eq!(load(Source::text(&table)).expect("it is its own").0, dictionary);
    assert!(table.contains("terms component Block 22 constant=4%201\n"), "{table}");
    for (right, wrong) in
        [("constant=4", "const=4"), ("required:Stop=", "always:Stop="), ("terms message", "terms mess")]
    {
        assert!(load(Source::text(table.replace(right, wrong))).is_err(), "{wrong}");
    }
    let same = load(Source::text("<fix/>").extending(&dictionary)).expect("it changes nothing").0;
    assert_eq!(same.scenarios(), dictionary.scenarios());
    assert_eq!(same.terms(&order(), &field(99)), dictionary.terms(&order(), &field(99)));
    let replaced = "<fix><messages><message name='Order' msgtype='D' replace='Y'><field name='Side'/></message></messages></fix>";
    let other = load(Source::text(replaced).extending(&dictionary)).expect("it replaces one message").0;
    assert_eq!(other.terms(&order(), &field(99)), None);
    let over = dictionary.over(fixt11()).expect("it fits");
    assert_eq!(over.scenarios().len(), 2);
    assert_eq!(over.terms(&order(), &field(99)), dictionary.terms(&order(), &field(99)));
}
