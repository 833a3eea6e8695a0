//! Prints members: getters, setters, fields of a `Required` struct, and the components that share
//! them.

use std::collections::HashSet;

use fixbolt_dictionary::{ComponentId, Member};

use crate::kind::{Holds, Kind};
use crate::plan::{Layout, Placed, Plan};
use crate::share::{Item, ItemModule};
use crate::{line, names};

/// Where a getter or setter is printed.
pub(crate) struct Site<'s> {
    /// `pub ` in an `impl`, nothing in a trait.
    pub(crate) visibility: &'s str,
    /// How an ordinal is printed: by itself, or relative to the component's first one.
    pub(crate) ordinal: &'s dyn Fn(u16) -> String,
    /// Whether a look-up of this tag must skip the groups.
    pub(crate) shadowed: &'s dyn Fn(u32) -> bool,
    /// Path to the version's root module.
    pub(crate) root: &'s str,
}

/// Returns the items of module `tags`: the tag of each field, as a constant.
pub(crate) fn tag_items(plan: &Plan<'_>) -> impl Iterator<Item = Item> {
    plan.dictionary.fields().iter().map(|field| {
        let (name, tag) = (plan.key_name(field.tag), field.tag);
        let shown = names::in_a_line(&field.name);
        Item {
            place: ItemModule::Tags,
            document: format!("/// {shown} ({tag}).\n"),
            text: format!("pub const {name}: Key = Key::new({tag});\n"),
            names: vec![name],
            meaning: String::new(),
        }
    })
}

/// Returns the items of module `components`: for each one a trait with getters and one with
/// setters.
pub(crate) fn component_items(plan: &Plan<'_>) -> impl Iterator<Item = Item> {
    plan.components.iter().map(|&id| {
        let component = plan.dictionary.component(id);
        let [name, writer] = plan.component_names(id);
        let members = component_members(plan, id);
        let shadowed = |tag| plan.shadowed_somewhere(tag);
        let ordinal = |n: u16| format!("Self::FIRST + {}", n - 1);
        let site = Site { visibility: "", ordinal: &ordinal, shadowed: &shadowed, root: "" };
        let mut text = String::new();
        let out = &mut text;
        let shown = names::in_a_line(&component.name);
        line!(out, "/// {shown}: getters.\npub trait {name}<'m>: typed::View<'m> {{");
        for member in &members {
            print_getter(out, plan, member, &site);
        }
        line!(out, "}}");
        line!(out, "/// {shown}: setters.\npub trait {writer}<'b>: typed::Put<'b> {{");
        line!(out, "    /// The place of the first member in the message or entry.\n    const FIRST: u16;");
        for member in &members {
            print_setter(out, plan, member, &site);
        }
        line!(out, "}}");
        let names = vec![name.to_string(), writer.to_string()];
        Item { place: ItemModule::Components, names, document: String::new(), text, meaning: String::new() }
    })
}

/// Prints module `prelude`: the traits of the components, without their names.
pub(crate) fn print_prelude(out: &mut String, plan: &Plan<'_>) {
    line!(
        out,
        "/// The getters and setters of all components, for `use prelude::*`. Those of several versions can be imported side by side."
    );
    line!(
        out,
        "#[allow(unused_imports)]\npub mod prelude {{\n#[doc(no_inline)] pub use super::typed::View as _;"
    );
    for &component in &plan.components {
        let [getters, setters] = plan.component_names(component);
        line!(out, "#[doc(no_inline)] pub use super::components::{{{getters} as _, {setters} as _}};");
    }
    line!(out, "}}");
}

/// Implements the traits of the components for a view and its writer.
pub(crate) fn print_component_impls(
    out: &mut String,
    plan: &Plan<'_>,
    layout: &Layout,
    traits: &str,
    writer: bool,
    of: &str,
) {
    for (component, first) in &layout.components {
        let [getters, setters] = plan.component_names(*component);
        if writer {
            line!(out, "{traits} components::{setters}<'b> for {of} {{ const FIRST: u16 = {first}; }}");
        } else {
            line!(out, "{traits} components::{getters}<'m> for {of} {{}}");
        }
    }
}

/// Members of a component itself, with ordinals relative to its first member.
pub(crate) fn component_members(plan: &Plan<'_>, id: ComponentId) -> Vec<Placed> {
    fn size(plan: &Plan<'_>, members: &[Member]) -> u16 {
        members
            .iter()
            .map(|member| match member {
                Member::Component { component, .. } => {
                    size(plan, &plan.dictionary.component(*component).members)
                }
                _ => 1,
            })
            .sum()
    }
    let mut ordinal = 1;
    let mut placed = Vec::new();
    for member in &plan.dictionary.component(id).members {
        let (tag, required, group) = match *member {
            Member::Field { tag, required } => (tag, required, None),
            Member::Group { group, required } => {
                (plan.dictionary.group(group).count_tag, required, Some(plan.printed(group)))
            }
            Member::Component { component, .. } => {
                ordinal += size(plan, &plan.dictionary.component(component).members);
                continue;
            }
        };
        let required = required && plan.is_always(id);
        placed.push(Placed { ordinal, tag, required, group });
        ordinal += 1;
    }
    placed
}

/// `Side (54), char, required: 1 Buy, 2 Sell.` Only the first codes if there are many, as the
/// code set lists them all.
fn document(plan: &Plan<'_>, tag: u32, required: bool) -> String {
    const ENOUGH: usize = 60;
    let field = plan.field(tag);
    let mut text = format!("{} ({tag}), {}", names::in_a_line(&field.name), field.kind);
    if required {
        text += ", required";
    }
    let codes = field.codes.map_or(&[][..], |set| &plan.dictionary.code_set(set).codes);
    let behind = text.len() + ENOUGH;
    for (n, code) in codes.iter().enumerate() {
        text += if n == 0 { ": " } else { ", " };
        if text.len() > behind {
            return text + "...";
        }
        text += &format!("{} {}", names::in_a_line(&code.value), names::in_a_line(&code.name));
    }
    text + "."
}

/// Returns the type of a value; `life` is the lifetime of what it borrows.
fn value_type(kind: &Kind, life: &str, root: &str) -> String {
    match kind {
        Kind::Bytes => format!("&{life} codec::Text"),
        Kind::Data(_) => format!("&{life} [u8]"),
        Kind::Tokens => format!("codec::MultipleStringValue<{life}>"),
        Kind::Char => "codec::Char".to_string(),
        Kind::Plain(name) => (*name).to_string(),
        Kind::Code(name, Holds::Text) => format!("{root}fields::{name}<{life}>"),
        Kind::Code(name, _) => format!("{root}fields::{name}"),
        Kind::Codes(name) => format!("typed::Codes<{life}, {root}fields::{name}<{life}>>"),
    }
}

/// Returns the type that a setter takes, unless it takes anything that is [`Taken`].
fn argument_type(kind: &Kind, life: &str, root: &str) -> String {
    match kind {
        Kind::Codes(name) => {
            let slice = if life == "'_" { "&".to_string() } else { format!("&{life} ") };
            format!("{slice}[{root}fields::{name}<{life}>]")
        }
        other => value_type(other, life, root),
    }
}

/// What a setter or a field of `Required` takes, where that is more than one type.
#[derive(Clone, Copy)]
enum Taken {
    /// Anything with bytes.
    Bytes,
    /// What converts into this type without loss.
    Converted(&'static str),
}

impl Taken {
    /// Returns `None` for a value of one type.
    fn of(kind: &Kind) -> Option<Self> {
        match kind {
            Kind::Bytes | Kind::Data(_) | Kind::Tokens => Some(Self::Bytes),
            Kind::Plain(name) if CONVERTED.contains(name) => Some(Self::Converted(name)),
            _ => None,
        }
    }

    /// Returns the bound of the type.
    fn bound(self) -> String {
        match self {
            Self::Bytes => "::core::convert::AsRef<[u8]>".to_string(),
            Self::Converted(name) => format!("::core::convert::Into<{name}>"),
        }
    }
}

/// Prints the getters of a message, header, trailer or entry.
pub(crate) fn print_getters(out: &mut String, plan: &Plan<'_>, layout: &Layout, root: &str) {
    let ordinal = |n: u16| n.to_string();
    let shadowed = |tag| layout.shadowed.contains(&tag);
    let site = Site { visibility: "#[inline] pub ", ordinal: &ordinal, shadowed: &shadowed, root };
    for placed in &layout.own {
        print_getter(out, plan, placed, &site);
    }
}

/// Prints the setters of a writer: everything but the fields of its `Required`.
pub(crate) fn print_setters(out: &mut String, plan: &Plan<'_>, layout: &Layout, root: &str) {
    let ordinal = |n: u16| n.to_string();
    let shadowed = |tag| layout.shadowed.contains(&tag);
    let site = Site { visibility: "#[inline] pub ", ordinal: &ordinal, shadowed: &shadowed, root };
    for placed in layout.own.iter().filter(|placed| !placed.required || placed.group.is_some()) {
        print_setter(out, plan, placed, &site);
    }
}

/// Prints `Put` for a writer around one of the library.
pub(crate) fn print_put(out: &mut String, generic: &str, of: &str) {
    line!(out, "impl<{generic}> typed::Put<'b> for {of} {{");
    for place in ["at", "outside"] {
        line!(
            out,
            "    #[inline] fn {place}(&mut self, ordinal: u16, key: codec::Key) -> &mut codec::BodyWriter<'b> {{ self.0.{place}(ordinal, key) }}"
        );
    }
    line!(
        out,
        "    #[inline] fn group(&mut self, ordinal: u16, count: codec::Key) -> typed::GroupWriter<'_, 'b> {{ self.0.group(ordinal, count) }}\n}}"
    );
}

/// Returns the required groups as the library's writers take them: ordinal and count tag.
pub(crate) fn required_groups(layout: &Layout) -> String {
    let groups: Vec<String> =
        layout.required_groups().iter().map(|(ordinal, tag)| format!("({ordinal}, {tag})")).collect();
    groups.join(", ")
}

fn print_getter(out: &mut String, plan: &Plan<'_>, member: &Placed, site: &Site<'_>) {
    let Site { visibility, root, .. } = site;
    let tag = member.tag;
    let mut fields = "self.fields()".to_string();
    if (site.shadowed)(tag) {
        fields += ".outside(<Self as typed::View<'m>>::GROUPS)";
    }
    if let Some(group) = member.group {
        let name = names::in_a_line(&plan.dictionary.group(group).name);
        let entry = format!("{root}groups::{}<'m>", plan.group_names(group)[0]);
        let read = if member.required { "required_group" } else { "group" };
        line!(out, "    /// {} Entries of {name}.", document(plan, tag, member.required));
        line!(
            out,
            "    #[doc(alias = \"{tag}\")] {visibility}fn {}(&self) -> ::core::result::Result<typed::Group<'m, {entry}>, typed::FieldError> {{ {fields}.{read}() }}",
            plan.group_method(tag)
        );
        return;
    }
    let value = value_type(plan.kind(tag), "'m", root);
    let (value, read) = if member.required {
        (value, "required")
    } else {
        (format!("::core::option::Option<{value}>"), "optional")
    };
    line!(out, "    /// {}", document(plan, tag, member.required));
    line!(
        out,
        "    #[doc(alias = \"{tag}\")] {visibility}fn {}(&self) -> ::core::result::Result<{value}, typed::FieldError> {{ {fields}.{read}({tag}) }}",
        plan.method(tag)
    );
}

fn print_setter(out: &mut String, plan: &Plan<'_>, member: &Placed, site: &Site<'_>) {
    let Site { visibility, root, .. } = site;
    let tag = member.tag;
    let ordinal = (site.ordinal)(member.ordinal);
    let key = format!("{root}tags::{}", plan.key_name(tag));
    if let Some(group) = member.group {
        let name = names::in_a_line(&plan.dictionary.group(group).name);
        let entries = format!("{root}groups::{}::Entries", plan.group_names(group)[1]);
        let outside = match (site.shadowed)(tag) {
            true => format!("self.outside({ordinal}, {key}); "),
            false => String::new(),
        };
        line!(out, "    /// {} Entries of {name}.", document(plan, tag, member.required));
        line!(
            out,
            "    {visibility}fn {}(&mut self) -> {entries}<'_, 'b> {{ {outside}{entries}(self.group({ordinal}, {key})) }}",
            plan.group_method(tag)
        );
        return;
    }
    if plan.is_length(tag) {
        return;
    }
    let kind = plan.kind(tag);
    let at = if (site.shadowed)(tag) { "outside" } else { "at" };
    let to = format!("self.{at}({ordinal}, {key})");
    line!(out, "    /// {}", document(plan, tag, false));
    line!(
        out,
        "    {visibility}fn {}(&mut self, value: {}) -> &mut Self {{ {}; self }}",
        plan.method(tag),
        setter_type(kind, root),
        put(kind, &to, &key, "value")
    );
}

/// Returns the type that a setter takes: text as anything with bytes, amounts and times as anything
/// that converts without loss.
fn setter_type(kind: &Kind, root: &str) -> String {
    Taken::of(kind).map_or_else(|| argument_type(kind, "'_", root), |taken| format!("impl {}", taken.bound()))
}

/// Types that values of other types convert into.
const CONVERTED: [&str; 2] = ["codec::Decimal", "codec::UtcTimestamp"];

/// Returns the expression that writes an argument with a `BodyWriter`.
pub(crate) fn put(kind: &Kind, to: &str, key: &str, argument: &str) -> String {
    let value = match Taken::of(kind) {
        Some(Taken::Bytes) => format!("::core::convert::AsRef::<[u8]>::as_ref(&{argument})"),
        Some(Taken::Converted(into)) => format!("::core::convert::Into::<{into}>::into({argument})"),
        None => argument.to_string(),
    };
    match kind {
        Kind::Bytes | Kind::Tokens => format!("{to}.bytes({key}, {value})"),
        Kind::Data(pair) => format!("{to}.data(const {{ codec::DataKey::{pair} }}, {value})"),
        Kind::Char => format!("{to}.bytes({key}, &[{value}.0])"),
        Kind::Plain(_) => format!("{to}.field({key}, &{value})"),
        Kind::Code(_, Holds::Byte) => format!("{to}.bytes({key}, &[{value}.value()])"),
        Kind::Code(_, Holds::Int) => format!("{to}.field({key}, &{value}.value())"),
        Kind::Code(_, Holds::Text) => format!("{to}.bytes({key}, {value}.value())"),
        Kind::Codes(_) => format!("typed::put_codes({to}, {key}, {value})"),
    }
}

/// The struct of the required fields of a message or entry. It takes what setters take: a field
/// that may be of several types is a parameter.
pub(crate) struct Required<'l> {
    pub(crate) fields: Vec<&'l Placed>,
    /// Whether a field of one type borrows.
    borrows: bool,
    /// Tag and name of each parameter. Those with a default come last.
    parameters: Vec<(u32, String, Taken)>,
}

impl<'l> Required<'l> {
    /// Returns `None` if no field is required.
    pub(crate) fn of(plan: &Plan<'_>, layout: &'l Layout) -> Option<Self> {
        let fields: Vec<&Placed> =
            layout.required_fields().filter(|member| !plan.is_length(member.tag)).collect();
        let mut names: HashSet<String> = ["Required", "Writer", "Entries"].map(String::from).into();
        let mut parameters = Vec::new();
        for member in &fields {
            let Some(taken) = Taken::of(plan.kind(member.tag)) else { continue };
            let mut name = names::camel(&plan.field(member.tag).name);
            while !names.insert(name.clone()) {
                name.push('_');
            }
            parameters.push((member.tag, name, taken));
        }
        parameters.sort_by_key(|(_, _, taken)| matches!(taken, Taken::Converted(_)));
        let borrows = fields
            .iter()
            .any(|member| matches!(plan.kind(member.tag), Kind::Codes(_) | Kind::Code(_, Holds::Text)));
        (!fields.is_empty()).then_some(Self { fields, borrows, parameters })
    }

    /// Prints the struct.
    pub(crate) fn print(&self, out: &mut String, plan: &Plan<'_>, of: &str, root: &str) {
        let parameters = self.parameters.iter().map(|(_, name, taken)| match taken {
            Taken::Bytes => format!("{name}: {}", taken.bound()),
            Taken::Converted(into) => format!("{name}: {} = {into}", taken.bound()),
        });
        line!(out, "/// All required fields of {of}. They take what setters take.");
        line!(
            out,
            "#[derive(Clone, Copy, Debug)]\npub struct Required{} {{",
            self.generics("'v", parameters)
        );
        for member in &self.fields {
            let parameter = self.parameters.iter().find(|parameter| parameter.0 == member.tag);
            let kind = match parameter {
                Some((_, name, _)) => name.clone(),
                None => argument_type(plan.kind(member.tag), "'v", root),
            };
            line!(out, "    /// {}", document(plan, member.tag, false));
            line!(out, "    pub {}: {kind},", plan.method(member.tag));
        }
        line!(out, "}}");
    }

    /// Returns the struct as an argument that is used up.
    pub(crate) fn argument(&self) -> String {
        let any = self.parameters.iter().map(|(_, _, taken)| format!("impl {}", taken.bound()));
        format!("Required{}", self.generics("'_", any))
    }

    /// Returns the parameters of [`Self::name`], whose values are held and written by reference.
    pub(crate) fn held(&self) -> String {
        let bounds = self.parameters.iter().map(|(_, name, taken)| match taken {
            Taken::Bytes => format!("{name}: {}", taken.bound()),
            Taken::Converted(_) => format!("{name}: {} + ::core::marker::Copy", taken.bound()),
        });
        self.generics("'v", bounds)
    }

    /// Returns the struct by the names of its parameters.
    pub(crate) fn name(&self) -> String {
        let names = self.parameters.iter().map(|(_, name, _)| name.clone());
        format!("Required{}", self.generics("'v", names))
    }

    fn generics(&self, life: &str, types: impl Iterator<Item = String>) -> String {
        let all: Vec<String> = self.borrows.then(|| life.to_string()).into_iter().chain(types).collect();
        if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
    }
}
