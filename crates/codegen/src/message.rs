//! Prints header and trailer, and the messages: for each one a view, and a module with its writer.

use fixbolt_dictionary::{Member, MessageDef};

use crate::entry::print_view_impl;
use crate::member::{self, Required};
use crate::plan::{Layout, Plan};
use crate::share::{Item, ItemModule};
use crate::{line, names};

/// Returns header and trailer as items of the root, if the dictionary has them.
pub(crate) fn header_items(plan: &Plan<'_>) -> Vec<Item> {
    if !plan.has_header() {
        return Vec::new();
    }
    let dictionary = plan.dictionary;
    let root = |names: &[&str], text| Item {
        place: ItemModule::Root,
        names: names.iter().map(|name| (*name).to_string()).collect(),
        document: String::new(),
        text,
        meaning: String::new(),
    };
    vec![
        root(&["Header"], print_part(plan, "Header", &plan.layout(dictionary.header(), None))),
        root(&["Trailer"], print_part(plan, "Trailer", &plan.layout(dictionary.trailer(), None))),
        root(&["HeaderWriter", "with_header"], print_header_writer(plan)),
    ]
}

/// Returns every message as an item of the root.
pub(crate) fn items(plan: &Plan<'_>) -> impl Iterator<Item = Item> {
    plan.messages.iter().map(|message| {
        let layout = plan.message_layout(message);
        let mut text = String::new();
        print_message(&mut text, plan, message, &layout);
        Item {
            place: ItemModule::Root,
            names: plan.message_names(message).map(String::from).to_vec(),
            document: document(plan, message),
            text,
            // Where its groups end depends on all tags of the version.
            meaning: layout.groups().next().map_or_else(String::new, |_| plan.known_tags()),
        }
    })
}

/// Returns the documentation of a message: its name and type, and, when rustdoc runs, a table of
/// its members in order.
fn document(plan: &Plan<'_>, message: &MessageDef) -> String {
    let cell = |text: &str| names::in_a_line(text).replace('|', "\\|");
    let mut table = "\n| tag | name | type | required |\n|---|---|---|---|\n".to_string();
    for member in &message.members {
        let (tag, name, kind, required) = match *member {
            Member::Field { tag, required } => {
                let field = plan.field(tag);
                (tag.to_string(), cell(&field.name), field.kind.to_string(), required)
            }
            Member::Group { group, required } => {
                let count = plan.field(plan.dictionary.group(group).count_tag);
                let [view, _] = plan.group_names(plan.printed(group));
                let entries = format!("group of [{view}](groups::{view})");
                (count.tag.to_string(), cell(&count.name), entries, required)
            }
            Member::Component { component, required } => {
                let [getters, _] = plan.component_names(component);
                let name = format!("[{getters}](components::{getters})");
                (String::new(), name, "component".to_string(), required)
            }
        };
        let required = if required { "yes" } else { "" };
        table += &format!("| {tag} | {name} | {kind} | {required} |\n");
    }
    let mut text = String::new();
    let msg_type = &message.msg_type;
    line!(text, "/// {} ({}).", names::in_a_line(&message.name), msg_type.as_bytes().escape_ascii());
    let alias = match msg_type.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        true if *msg_type != plan.message_names(message)[0] => format!("#[doc(alias = {msg_type:?})] "),
        _ => String::new(),
    };
    line!(text, "{alias}#[cfg_attr(doc, doc = {table:?})]");
    text
}

/// Prints the view of header or trailer.
fn print_part(plan: &Plan<'_>, name: &str, layout: &Layout) -> String {
    let mut text = String::new();
    let out = &mut text;
    line!(out, "/// The standard {}.", name.to_lowercase());
    line!(out, "#[derive(Clone, Debug)]\npub struct {name}<'m>(typed::Fields<'m>);");
    print_view_impl(out, plan, layout, &format!("{name}<'m>"), "groups::");
    line!(out, "impl<'m> {name}<'m> {{");
    line!(out, "    /// Reads it from a message of any type.");
    line!(
        out,
        "    #[inline] pub fn read(message: codec::Message<'m>) -> Self {{ Self(typed::Fields::of(message, &(&[] as &[u32]))) }}"
    );
    line!(
        out,
        "    /// Returns the value of the first field with this tag, whether or not the dictionary knows it."
    );
    line!(
        out,
        "    #[inline] pub fn get(&self, tag: impl ::core::convert::Into<codec::Tag>) -> ::core::option::Option<&'m [u8]> {{ self.0.get(tag) }}"
    );
    member::print_getters(out, plan, layout, "");
    line!(out, "}}");
    member::print_component_impls(out, plan, layout, "impl<'m>", false, &format!("{name}<'m>"));
    text
}

fn print_header_writer(plan: &Plan<'_>) -> String {
    let mut text = String::new();
    let out = &mut text;
    let layout = plan.layout(&plan.application_header(), None);
    line!(out, "/// Writes the header fields that belong to the application; see [`with_header`].");
    line!(out, "#[derive(Debug)]\npub struct HeaderWriter<'h, 'b>(typed::MessageWriter<'h, 'b>);");
    member::print_put(out, "'b", "HeaderWriter<'_, 'b>");
    line!(out, "impl<'b> HeaderWriter<'_, 'b> {{");
    member::print_setters(out, plan, &layout, "");
    line!(out, "}}");
    member::print_component_impls(out, plan, &layout, "impl<'b>", true, "HeaderWriter<'_, 'b>");
    line!(
        out,
        "/// Returns a sink that writes these fields of the standard header before the body of a message."
    );
    line!(
        out,
        "#[inline] pub fn with_header<'b, N: codec::NewBody<'b>>(to: N, header: impl ::core::ops::FnOnce(&mut HeaderWriter<'_, 'b>)) -> impl codec::NewBody<'b, Draft = N::Draft> {{ typed::WithHeader::new(to, |writer: typed::MessageWriter<'_, 'b>| header(&mut HeaderWriter(writer))) }}"
    );
    text
}

fn print_message(out: &mut String, plan: &Plan<'_>, message: &MessageDef, layout: &Layout) {
    let [name, module] = plan.message_names(message);
    let shown = names::in_a_line(&message.name);
    let known = if layout.groups().next().is_some() { "&KNOWN" } else { "&(&[] as &[u32])" };
    let msg_type = message.msg_type.as_bytes().escape_ascii();
    let version = plan.version_of(message);

    line!(out, "#[derive(Clone, Debug)]\npub struct {name}<'m>(typed::Fields<'m>);");
    print_view_impl(out, plan, layout, &format!("{name}<'m>"), "groups::");
    line!(out, "impl<'m> {name}<'m> {{");
    line!(out, "    /// MsgType (35): `{msg_type}`.");
    line!(out, "    pub const MSG_TYPE: codec::MsgType = codec::MsgType::new(b\"{msg_type}\");");
    line!(out, "    /// Reads a message of this type.\n    ///\n    /// # Errors");
    line!(
        out,
        "    /// Returns [`typed::WrongMessage`] if the message has another type or is of another version."
    );
    line!(
        out,
        "    #[inline] pub fn read(message: codec::Message<'m>) -> ::core::result::Result<Self, typed::WrongMessage> {{ typed::Fields::read(message, Self::MSG_TYPE, {version}, {known}).map(Self) }}"
    );
    let required = Required::of(plan, layout);
    let (argument, pass) = match &required {
        None => (String::new(), ""),
        Some(required) => (format!("required: {module}::{}, ", required.argument()), "required, "),
    };
    line!(out, "    /// Writes a message into `to` and sends it. `write` is called with the writer of the");
    line!(out, "    /// optional fields.\n    ///\n    /// # Errors");
    line!(
        out,
        "    /// Returns the error of `write`, of the sink, or the first mistake. Then nothing was sent."
    );
    line!(
        out,
        "    #[inline] pub fn send<'b, N: codec::NewBody<'b>, R: typed::Outcome<<N::Draft as codec::BodySink<'b>>::Error>>(to: N, {argument}write: impl ::core::ops::FnOnce(&mut {module}::Writer<'_, 'b>) -> R) -> ::core::result::Result<<N::Draft as codec::BodySink<'b>>::Receipt, R::Error> {{"
    );
    line!(
        out,
        "        typed::send(to, Self::MSG_TYPE, &[{}], |writer| write(&mut {module}::Writer::begin({pass}writer)))\n    }}",
        member::required_groups(layout)
    );
    line!(out, "    /// Returns the message.");
    line!(out, "    #[inline] pub fn message(&self) -> codec::Message<'m> {{ self.0.message() }}");
    line!(
        out,
        "    /// Returns the value of the first field with this tag, whether or not the dictionary knows it."
    );
    line!(
        out,
        "    #[inline] pub fn get(&self, tag: impl ::core::convert::Into<codec::Tag>) -> ::core::option::Option<&'m [u8]> {{ self.0.get(tag) }}"
    );
    if plan.has_header() {
        line!(
            out,
            "    /// Returns the standard header.\n    #[inline] pub fn header(&self) -> Header<'m> {{ Header::read(self.0.message()) }}"
        );
        line!(
            out,
            "    /// Returns the standard trailer.\n    #[inline] pub fn trailer(&self) -> Trailer<'m> {{ Trailer::read(self.0.message()) }}"
        );
    }
    member::print_getters(out, plan, layout, "");
    line!(out, "}}");
    member::print_component_impls(out, plan, layout, "impl<'m>", false, &format!("{name}<'m>"));

    line!(out, "/// Writes {shown} ({msg_type}).\npub mod {module} {{");
    line!(out, "#[allow(unused_imports)] use super::{{codec, components, typed}};");
    line!(out, "#[allow(unused_imports)] use super::typed::Put as _;");
    if let Some(required) = &required {
        required.print(out, plan, &shown, "super::");
    }
    let inside = layout.all.iter().any(|placed| plan.shadowed_somewhere(placed.tag));
    let but = match inside && layout.groups().next().is_some() {
        true => "; those that a group may have as well, before all groups",
        false => "",
    };
    line!(out, "/// Writes the optional fields, in any order{but}.");
    line!(out, "#[derive(Debug)]\npub struct Writer<'w, 'b>(typed::MessageWriter<'w, 'b>);");
    member::print_put(out, "'b", "Writer<'_, 'b>");
    line!(out, "impl<'w, 'b> Writer<'w, 'b> {{");
    let (argument, mutable) = match &required {
        None => (String::new(), ""),
        Some(required) => (format!("required: {}, ", required.argument()), "mut "),
    };
    line!(
        out,
        "    #[inline] pub(super) fn begin({argument}{mutable}writer: typed::MessageWriter<'w, 'b>) -> Self {{"
    );
    if let Some(required) = &required {
        line!(out, "        let body = writer.body();");
        for placed in &required.fields {
            let key = format!("super::tags::{}", plan.key_name(placed.tag));
            let value = format!("required.{}", plan.method(placed.tag));
            let put = member::put(plan.kind(placed.tag), "body", &key, &value);
            line!(out, "        {put};");
        }
    }
    line!(out, "        Self(writer)\n    }}");
    member::print_setters(out, plan, layout, "super::");
    line!(out, "    /// Returns the writer of the body, for fields that the dictionary does not know.");
    line!(out, "    #[inline] pub fn body(&mut self) -> &mut codec::BodyWriter<'b> {{ self.0.body() }}\n}}");
    member::print_component_impls(out, plan, layout, "impl<'b>", true, "Writer<'_, 'b>");
    line!(out, "}}");
}
