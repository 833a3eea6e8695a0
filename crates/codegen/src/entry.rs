//! Prints the groups: for each one a view of its entries, and a module with their writer.
//!
//! An entry is written in the order of its group. Required fields are held back until their
//! position is reached.

use fixbolt_dictionary::GroupId;

use crate::member::{self, Required};
use crate::plan::Plan;
use crate::share::{Item, ItemModule};
use crate::{line, names};

/// Returns the items of module `groups`.
pub(crate) fn items(plan: &Plan<'_>) -> impl Iterator<Item = Item> {
    plan.groups.iter().map(|&group| {
        let mut text = String::new();
        print_group(&mut text, plan, group);
        Item {
            place: ItemModule::Groups,
            names: plan.group_names(group).map(String::from).to_vec(),
            document: String::new(),
            text,
            meaning: String::new(),
        }
    })
}

/// Groups that are identical to one that is printed, under their own names.
pub(crate) fn print_twins(out: &mut String, plan: &Plan<'_>) {
    for (twin, printed) in plan.twins() {
        let ([twin_type, twin_module], [printed_type, printed_module]) =
            (plan.group_names(twin), plan.group_names(printed));
        line!(out, "/// Identical to [`{printed_type}`].\npub use self::{printed_type} as {twin_type};");
        line!(out, "#[doc(no_inline)] pub use self::{printed_module} as {twin_module};");
    }
}

/// Path from the module of a group to the version's root module.
const ROOT: &str = "super::super::";

fn print_group(out: &mut String, plan: &Plan<'_>, id: GroupId) {
    let group = plan.dictionary.group(id);
    let layout = plan.entry_layout(id);
    let [name, module] = plan.group_names(id);
    let shown = names::in_a_line(&group.name);
    let count = names::in_a_line(&plan.field(group.count_tag).name);

    line!(out, "/// An entry of {shown} in {count} ({}).", group.count_tag);
    line!(out, "#[derive(Clone, Debug)]\npub struct {name}<'m>(typed::Fields<'m>);");
    let shape = print_shape_expression(plan, id);
    print_view_impl(out, plan, &layout, &format!("{name}<'m>"), "");
    line!(out, "impl<'m> typed::Entry<'m> for {name}<'m> {{");
    line!(out, "    const SHAPE: &'static typed::GroupShape = &{shape};");
    line!(out, "    #[inline] fn over(fields: typed::Fields<'m>) -> Self {{ Self(fields) }}\n}}");
    line!(out, "impl<'m> {name}<'m> {{");
    line!(
        out,
        "    /// Returns the value of the entry's first field with this tag, whether or not the dictionary knows it."
    );
    line!(
        out,
        "    #[inline] pub fn get(&self, tag: impl ::core::convert::Into<codec::Tag>) -> ::core::option::Option<&'m [u8]> {{ self.0.get(tag) }}"
    );
    member::print_getters(out, plan, &layout, "");
    line!(out, "}}");
    member::print_component_impls(out, plan, &layout, "impl<'m>", false, &format!("{name}<'m>"));

    line!(out, "/// Writes entries of {shown}.\npub mod {module} {{");
    line!(out, "#[allow(unused_imports)] use super::super::{{codec, components, typed}};");
    line!(out, "#[allow(unused_imports)] use super::super::typed::Put as _;");
    let required = Required::of(plan, &layout);
    if let Some(required) = &required {
        required.print(out, plan, &format!("an entry of {shown}"), ROOT);
        line!(out, "impl{} typed::Required for {} {{", required.held(), required.name());
        let ordinals: Vec<String> = required.fields.iter().map(|placed| placed.ordinal.to_string()).collect();
        line!(out, "    const FIELDS: &'static [u16] = &[{}];", ordinals.join(", "));
        line!(
            out,
            "    #[inline] fn put(&self, n: usize, to: &mut codec::BodyWriter<'_>) {{\n        match n {{"
        );
        for (n, placed) in required.fields.iter().enumerate() {
            let key = format!("super::super::tags::{}", plan.key_name(placed.tag));
            let value = format!("self.{}", plan.method(placed.tag));
            let put = member::put(plan.kind(placed.tag), "to", &key, &value);
            let pattern = if n + 1 == required.fields.len() { "_".to_string() } else { n.to_string() };
            line!(out, "            {pattern} => {{ {put}; }}");
        }
        line!(out, "        }}\n    }}\n}}");
    }
    line!(out, "/// Writes the entries of {shown}.");
    line!(out, "#[derive(Debug)]\n#[must_use = \"a group has entries\"]");
    line!(
        out,
        "pub struct Entries<'g, 'b, O = typed::AsWritten>(#[doc(hidden)] pub typed::GroupWriter<'g, 'b, O>);"
    );
    line!(out, "impl<'g, 'b> Entries<'g, 'b> {{");
    line!(
        out,
        "    /// Returns a writer whose entries take their members in any order, and are sorted as they end."
    );
    line!(
        out,
        "    #[inline] pub fn unordered(self) -> Entries<'g, 'b, typed::Sorted> {{ Entries(self.0.unordered()) }}\n}}"
    );
    line!(out, "impl<'b, O: typed::Order> Entries<'_, 'b, O> {{");
    let (generic, argument, returned, value) = match &required {
        None => (String::new(), String::new(), String::new(), "typed::NothingRequired"),
        Some(required) => (
            required.held(),
            format!(", required: {}", required.name()),
            format!(", {}", required.name()),
            "required",
        ),
    };
    line!(out, "    /// Begins the next entry.");
    line!(
        out,
        "    #[inline] pub fn entry{generic}(&mut self{argument}) -> Writer<'_, 'b{returned}, O> {{ Writer(self.0.entry({value}, &[{}], &[{}])) }}\n}}",
        layout.order().map(|tag| tag.to_string()).collect::<Vec<_>>().join(", "),
        member::required_groups(&layout)
    );
    line!(out, "/// Writes an entry, in the order of the group's members.");
    let (parameters, names, held, generic) = match &required {
        None => ("'e, 'b", "'_, 'b", "typed::NothingRequired", "'b"),
        Some(_) => ("'e, 'b, R: typed::Required", "'_, 'b, R", "R", "'b, R: typed::Required"),
    };
    line!(
        out,
        "#[derive(Debug)]\npub struct Writer<{parameters}, O: typed::Order = typed::AsWritten>(typed::EntryWriter<'e, 'b, {held}, O>);"
    );
    let (generic, writer) = (format!("{generic}, O: typed::Order"), format!("Writer<{names}, O>"));
    member::print_put(out, &generic, &writer);
    line!(out, "impl<{generic}> {writer} {{");
    member::print_setters(out, plan, &layout, ROOT);
    line!(out, "    /// Returns the writer of the body, for fields that the dictionary does not know.");
    line!(out, "    #[inline] pub fn body(&mut self) -> &mut codec::BodyWriter<'b> {{ self.0.body() }}\n}}");
    member::print_component_impls(out, plan, &layout, &format!("impl<{generic}>"), true, &writer);
    line!(out, "}}");
}

/// Prints `View` for a message or entry, with the shapes of the groups that a look-up must skip.
pub(crate) fn print_view_impl(
    out: &mut String,
    plan: &Plan<'_>,
    layout: &crate::plan::Layout,
    of: &str,
    root: &str,
) {
    line!(out, "impl<'m> typed::View<'m> for {of} {{");
    line!(out, "    #[inline] fn fields(&self) -> &typed::Fields<'m> {{ &self.0 }}");
    if !layout.shadowed.is_empty() {
        let shapes: Vec<String> = layout
            .groups()
            .map(|group| {
                let name = plan.group_names(group)[0];
                format!("<{root}{name}<'static> as typed::Entry<'static>>::SHAPE")
            })
            .collect();
        line!(out, "    const GROUPS: &'static [&'static typed::GroupShape] = &[{}];", shapes.join(", "));
    }
    line!(out, "}}");
}

fn print_shape_expression(plan: &Plan<'_>, id: GroupId) -> String {
    let list = |tags: Vec<u32>| tags.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    format!(
        "typed::GroupShape {{ count: {}, delimiter: {}, members: typed::Tags::new(&[{}]), ending: &[{}] }}",
        plan.dictionary.group(id).count_tag,
        plan.dictionary.delimiter(id),
        list(plan.tags_within(id).iter().copied().collect()),
        list(plan.ending_tags(id)),
    )
}
