//! Prints calls of every setter and getter of a version: the test that a message is read back as it
//! was written.
//!
//! For tests only; users compile none of it. The printed code leaves to a hand-written `Place`
//! which members are written, with which values, and what is read back. A value follows from the
//! place and the tag, so that the reading side can derive it. Components are printed once, as
//! functions over their traits; groups once each.

use std::collections::BTreeSet;

use fixbolt_dictionary::{ComponentId, Dictionary, GroupId, MessageDef};

use crate::kind::Kind;
use crate::plan::{Layout, Placed, Plan, SESSION_FIELDS};
use crate::{GenerateError, line, member};

/// Prints the round-trip test of a version: an array `MESSAGES` with one `Case { name, msg_type,
/// write, read }` per message, and the functions it needs. It expects `version`, the module of the
/// version, and `Case`, `Place` and `codec` in scope.
///
/// # Errors
/// Returns everything in the dictionary that cannot be generated, not only the first.
pub fn round_trip(dictionary: &Dictionary) -> Result<String, Vec<GenerateError>> {
    let plan = Plan::new(dictionary, None)?;
    let mut out = String::with_capacity(2 << 20);
    line!(out, "#[allow(unused_imports)] use version::components::*;");
    let messages = dictionary.messages();
    line!(out, "pub(crate) const MESSAGES: [Case; {}] = [", messages.len());
    for message in messages {
        let [view, module] = plan.message_names(message);
        let msg_type = message.msg_type.as_bytes().escape_ascii();
        line!(
            out,
            "    Case {{ name: \"{view}\", msg_type: b\"{msg_type}\", write: write_{module}, read: read_{module} }},"
        );
    }
    line!(out, "];");
    let printer = Printer { plan: &plan, header: !dictionary.header().is_empty() };
    for &component in &plan.components {
        printer.component(&mut out, component);
    }
    for &group in &plan.groups {
        printer.group(&mut out, group);
    }
    if printer.header {
        printer.header(&mut out);
    }
    for message in messages {
        printer.message(&mut out, message);
    }
    Ok(out)
}

struct Printer<'p, 'd> {
    plan: &'p Plan<'d>,
    header: bool,
}

impl Printer<'_, '_> {
    fn component(&self, out: &mut String, id: ComponentId) {
        let [getters, setters] = self.plan.component_names(id);
        let (function, members) = (id.index(), &member::component_members(self.plan, id));
        line!(
            out,
            "#[allow(dead_code, unused_variables)] fn write_component_{function}<'b, W: {setters}<'b>>(w: &mut W, v: &Place<'_>, groups: bool) {{"
        );
        for groups in [false, true] {
            let mut of_kind = members.iter().filter(|placed| placed.group.is_some() == groups).peekable();
            if of_kind.peek().is_some() {
                line!(out, "    if {}groups {{", if groups { "" } else { "!" });
                of_kind.for_each(|placed| self.write(out, placed));
                line!(out, "    }}");
            }
        }
        line!(out, "}}");
        line!(
            out,
            "#[allow(dead_code, unused_variables)] fn read_component_{function}<'m, R: {getters}<'m>>(r: &R, v: &Place<'_>) {{"
        );
        self.read_all(out, members);
        line!(out, "}}");
    }

    fn group(&self, out: &mut String, id: GroupId) {
        let plan = self.plan;
        let [view, module] = plan.group_names(id);
        let layout = plan.entry_layout(id);
        let delimiter = layout.all.first();
        line!(
            out,
            "fn write_group_{module}(group: &mut version::groups::{module}::Entries<'_, '_>, v: &Place<'_>) {{"
        );
        self.requiring(out, &layout, delimiter);
        let argument = self.required(&layout, &format!("version::groups::{module}"));
        line!(
            out,
            "    #[allow(unused_mut, unused_variables)] let mut w = group.entry({});",
            argument.unwrap_or_default()
        );
        // In the order of the group, components included.
        for placed in layout.all.iter().filter(|placed| !placed.required || placed.group.is_some()) {
            self.write(out, placed);
        }
        line!(out, "}}");
        line!(out, "fn read_group_{module}(r: &version::groups::{view}<'_>, v: &Place<'_>) {{");
        self.requiring(out, &layout, delimiter);
        self.read_layout(out, &layout);
        line!(out, "}}");
    }

    fn header(&self, out: &mut String) {
        let plan = self.plan;
        let own = plan.application_header();
        let layout = plan.layout(&own, None);
        line!(out, "fn write_header(w: &mut version::HeaderWriter<'_, '_>, v: &Place<'_>) {{");
        line!(out, "    let v = &v.header();");
        self.write_layout(out, &layout);
        line!(out, "}}");
        line!(out, "fn read_header(r: &version::Header<'_>, v: &Place<'_>) {{");
        line!(out, "    let v = &v.header();");
        self.read_layout(out, &layout);
        // What the session has written.
        for placed in plan.layout(plan.dictionary.header(), None).own {
            if SESSION_FIELDS.contains(&placed.tag) {
                let check = if placed.required { "" } else { "assert_eq!" };
                let (method, none) = (plan.method(placed.tag), if placed.required { "" } else { ", None" });
                line!(out, "    {check}(r.{method}().unwrap(){none});");
            }
        }
        line!(out, "}}");
    }

    fn message(&self, out: &mut String, message: &MessageDef) {
        let plan = self.plan;
        let [view, module] = plan.message_names(message);
        let layout = plan.message_layout(message);
        line!(
            out,
            "fn write_{module}<'b>(memory: codec::Memory<'b>, v: &Place<'_>) -> ::core::result::Result<codec::Body<'b>, codec::EncodeError> {{"
        );
        self.requiring(out, &layout, None);
        let to = if self.header { "version::with_header(memory, |h| write_header(h, v))" } else { "memory" };
        let argument = self.required(&layout, &format!("version::{module}"));
        let argument = argument.map_or_else(String::new, |required| format!("{required}, "));
        line!(
            out,
            "    #[allow(unused_variables)] let write = |w: &mut version::{module}::Writer<'_, 'b>| {{"
        );
        self.write_layout(out, &layout);
        line!(out, "    }};\n    version::{view}::send({to}, {argument}write)\n}}");
        line!(out, "fn read_{module}(message: codec::Message<'_>, v: &Place<'_>) {{");
        self.requiring(out, &layout, None);
        line!(out, "    let r = &version::{view}::read(message).unwrap();");
        if self.header {
            line!(out, "    read_header(&r.header(), v);");
        }
        self.read_layout(out, &layout);
        line!(out, "}}");
    }

    /// Tells the place what its `Required` contains and which groups are required, including
    /// `delimiter` if that counts one.
    fn requiring(&self, out: &mut String, layout: &Layout, delimiter: Option<&Placed>) {
        let list = |tags: BTreeSet<u32>| tags.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let fields = layout.required_fields().map(|placed| placed.tag).collect();
        let groups = layout.required_groups().into_iter().map(|(_, tag)| tag);
        let first = delimiter.filter(|placed| placed.group.is_some()).map(|placed| placed.tag);
        let groups = groups.chain(first).collect();
        line!(out, "    let v = &v.requiring(&[{}], &[{}]);", list(fields), list(groups));
    }

    /// Returns the `Required` struct, if there is one.
    fn required(&self, layout: &Layout, module: &str) -> Option<String> {
        let plan = self.plan;
        let fields: Vec<String> = layout
            .required_fields()
            .filter(|placed| !plan.is_length(placed.tag))
            .map(|placed| format!("{}: {}", plan.method(placed.tag), self.value(placed.tag)))
            .collect();
        (!fields.is_empty()).then(|| format!("{module}::Required {{ {} }}", fields.join(", ")))
    }

    /// Setters of a place with free order.
    fn write_layout(&self, out: &mut String, layout: &Layout) {
        // Groups last: a field that a group has as well must not follow it.
        for groups in [false, true] {
            let own = layout.own.iter().filter(|placed| placed.group.is_some() == groups);
            own.filter(|placed| !placed.required || groups).for_each(|placed| self.write(out, placed));
            for (component, _) in &layout.components {
                line!(out, "    write_component_{}(w, v, {groups});", component.index());
            }
        }
    }

    fn read_layout(&self, out: &mut String, layout: &Layout) {
        self.read_all(out, &layout.own);
        for (component, _) in &layout.components {
            line!(out, "    read_component_{}(r, v);", component.index());
        }
    }

    fn write(&self, out: &mut String, placed: &Placed) {
        let (plan, tag) = (self.plan, placed.tag);
        if let Some(group) = placed.group {
            let (method, module) = (plan.group_method(tag), plan.group_names(group)[1]);
            line!(
                out,
                "    if v.writes({tag}) {{ let mut group = w.{method}(); for entry in v.entries({tag}) {{ write_group_{module}(&mut group, &entry); }} }}"
            );
        } else if !plan.is_length(tag) {
            line!(out, "    if v.writes({tag}) {{ w.{}({}); }}", plan.method(tag), self.value(tag));
        }
    }

    fn read_all(&self, out: &mut String, members: &[Placed]) {
        let plan = self.plan;
        for placed in members {
            let tag = placed.tag;
            if let Some(group) = placed.group {
                let (method, module) = (plan.group_method(tag), plan.group_names(group)[1]);
                line!(out, "    v.group({tag}, r.{method}(), read_group_{module});");
                continue;
            }
            let (method, word) = (plan.method(tag), if placed.required { "required" } else { "optional" });
            if plan.is_length(tag) {
                let data = members
                    .iter()
                    .find(|other| matches!(plan.kind(other.tag), Kind::Data(pair) if pair.length == tag));
                if let Some(data) = data {
                    line!(out, "    v.{word}_length({tag}, r.{method}(), {});", data.tag);
                }
                continue;
            }
            match plan.kind(tag) {
                Kind::Codes(_) => line!(out, "    v.{word}_codes({tag}, r.{method}());"),
                Kind::Tokens => line!(out, "    v.{word}_tokens({tag}, r.{method}());"),
                Kind::Bytes => {
                    line!(
                        out,
                        "    v.{word}({tag}, r.{method}(), <&codec::Text>::from({}));",
                        self.value(tag)
                    );
                }
                _ => line!(out, "    v.{word}({tag}, r.{method}(), {});", self.value(tag)),
            }
        }
    }

    /// Returns the expression for the value of a field. Its type is that of the setter or getter,
    /// which may come from another version.
    fn value(&self, tag: u32) -> String {
        let method = match self.plan.kind(tag) {
            Kind::Bytes => "bytes",
            Kind::Data(_) => "data",
            Kind::Tokens => "tokens",
            Kind::Codes(_) => "codes",
            Kind::Plain(name) => return format!("v.value::<{name}>({tag})"),
            Kind::Char | Kind::Code(..) => "value",
        };
        format!("v.{method}({tag})")
    }
}
