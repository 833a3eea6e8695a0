//! Search results for programs.

use fixbolt_cli::output::Object;
use fixbolt_dictionary::{Code, Definition, Dictionary, FieldDef, Member, Rule};

use super::{Found, Holder, data_of, holders_of_component, holders_of_field, holders_of_group};

/// Returns the object for one result.
pub(super) fn object(dictionary: &Dictionary, found: &Found<'_>) -> Object {
    let object = |kind: &str| Object::new().text("version", &dictionary.version().name).text("kind", kind);
    let tree = |object: Object, place: &Definition, members: &[Member]| {
        object.array("members", self::members(dictionary, place, members))
    };
    match *found {
        Found::Field(field) => self::field(dictionary, field, object("field")),
        Found::Message(message) => {
            let object = object("message").text("msg_type", &message.msg_type).text("name", &message.name);
            let place = Definition::Message(message.msg_type.clone());
            tree(object.raw("admin", message.is_admin()), &place, &message.members)
        }
        Found::Header => tree(object("header"), &Definition::Header, dictionary.header()),
        Found::Trailer => tree(object("trailer"), &Definition::Trailer, dictionary.trailer()),
        Found::Component(id) => {
            let component = dictionary.component(id);
            let place = Definition::Component(component.name.clone());
            let object = tree(object("component").text("name", &component.name), &place, &component.members);
            object.array("in", holders(&holders_of_component(dictionary, id)))
        }
        Found::Group(id) => {
            let group = dictionary.group(id);
            let object = object("group").text("name", &group.name).raw("count_tag", group.count_tag);
            let object = object.raw("delimiter", dictionary.delimiter(id));
            let object = tree(object, &Definition::Group(id), &group.members);
            object.array("in", holders(&holders_of_group(dictionary, id)))
        }
        Found::Code(field, code) => {
            let object = object("code").raw("tag", field.tag).text("field", &field.name);
            object.text("value", &code.value).text("name", &code.display_name())
        }
    }
}

fn field(dictionary: &Dictionary, field: &FieldDef, object: Object) -> Object {
    let code = |code: &Code| Object::new().text("value", &code.value).text("name", &code.display_name());
    let mut object = object.raw("tag", field.tag).text("name", &field.name).text("type", field.kind.name());
    if let Some(tag) = field.length_tag {
        object = object.raw("length_tag", tag);
    }
    if let Some(data) = data_of(dictionary, field.tag) {
        object = object.raw("data_tag", data.tag);
    }
    object = object.array("codes", dictionary.codes(field.tag).iter().map(code));
    object = object.maybe_text("union", field.union.map(|union| union.name()));
    object.array("in", holders(&holders_of_field(dictionary, field.tag)))
}

fn holders(holders: &[(Holder<'_>, bool)]) -> Vec<Object> {
    let object = |(holder, required): &(Holder<'_>, bool)| {
        let object = Object::new();
        let object = match holder {
            Holder::Header => object.text("kind", "header"),
            Holder::Message(message) => {
                object.text("kind", "message").text("msg_type", &message.msg_type).text("name", &message.name)
            }
            Holder::Component(component) => object.text("kind", "component").text("name", &component.name),
            Holder::Group(group) => object.text("kind", "group").text("name", &group.name),
            Holder::Trailer => object.text("kind", "trailer"),
        };
        object.raw("required", required)
    };
    holders.iter().map(object).collect()
}

/// Adds what else the dictionary says of a member: its constant value, its conditions.
fn said(object: Object, dictionary: &Dictionary, place: &Definition, member: &Member) -> Object {
    let Some(terms) = dictionary.terms(place, member) else { return object };
    let object = object.maybe_text("constant", terms.constant.as_deref());
    if terms.rules.is_empty() {
        return object;
    }
    let rule = |rule: &Rule| {
        let object = Object::new().text("name", &rule.name);
        object.text("presence", rule.presence.name()).text("when", &rule.when)
    };
    object.array("rules", terms.rules.iter().map(rule))
}

fn members(dictionary: &Dictionary, place: &Definition, list: &[Member]) -> Vec<Object> {
    let object = |member: &Member| match *member {
        Member::Field { tag, required } => {
            let (name, kind) =
                dictionary.field(tag).map_or(("", ""), |field| (field.name.as_str(), field.kind.name()));
            let object = Object::new().text("kind", "field").raw("tag", tag).text("name", name);
            said(object.text("type", kind).raw("required", required), dictionary, place, member)
        }
        Member::Component { component, required } => {
            let component = dictionary.component(component);
            let object = Object::new().text("kind", "component").text("name", &component.name);
            let inside = Definition::Component(component.name.clone());
            let object = said(object.raw("required", required), dictionary, place, member);
            object.array("members", members(dictionary, &inside, &component.members))
        }
        Member::Group { group, required } => {
            let inside = Definition::Group(group);
            let group = dictionary.group(group);
            let object =
                Object::new().text("kind", "group").raw("tag", group.count_tag).text("name", &group.name);
            let object = said(object.raw("required", required), dictionary, place, member);
            object.array("members", members(dictionary, &inside, &group.members))
        }
    };
    list.iter().map(object).collect()
}
