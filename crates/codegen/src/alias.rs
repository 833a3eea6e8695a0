//! Prints messages and code sets under the other names that versions of the standard, QuickFIX and
//! QuickFIX/J have for them, so that programs find names they know, and renamed items keep their
//! old names.
//!
//! An alias never takes the name of an item, nor does it in a subset of the messages mean anything
//! else than in all of them.

use std::collections::HashSet;

use fixbolt_dictionary::{field_names, message_names};

use crate::kind::Holds;
use crate::plan::Plan;
use crate::{line, names};

/// Prints aliases of messages, in the root.
pub(crate) fn print_messages(out: &mut String, plan: &Plan<'_>) {
    let messages = plan.dictionary.messages();
    let printed: HashSet<&str> = plan.messages.iter().map(|message| &message.msg_type[..]).collect();
    let taken = messages.iter().flat_map(|message| plan.message_names(message)).map(String::from);
    let mut taken: HashSet<String> = taken.collect();
    for message in messages {
        let [view, module] = plan.message_names(message);
        for alias in others(message_names(message.msg_type.as_bytes()), &message.name) {
            let (other_view, other_module) = (names::view(alias), names::submodule(alias));
            if taken.contains(&other_view) || taken.contains(&other_module) {
                continue;
            }
            if printed.contains(&message.msg_type[..]) {
                line!(out, "/// {view} ({}) under another name.", message.msg_type.escape_default());
                line!(out, "pub type {other_view}<'m> = {view}<'m>;");
                line!(out, "#[doc(no_inline)] pub use self::{module} as {other_module};");
            }
            taken.extend([other_view, other_module]);
        }
    }
}

/// Prints aliases of code sets that are named after a field, in module `fields`.
pub(crate) fn print_code_sets(out: &mut String, plan: &Plan<'_>) {
    let mut taken: HashSet<String> = plan.code_sets.iter().map(|set| set.name.clone()).collect();
    for set in &plan.code_sets {
        let life = if set.holds == Holds::Text { "<'m>" } else { "" };
        for field in set.fields.iter().filter(|field| names::camel(&field.name) == set.name) {
            for alias in others(field_names(field.tag), &field.name) {
                let alias = names::camel(alias);
                if taken.insert(alias.clone()) && set.printed {
                    let name = &set.name;
                    line!(out, "/// {name} under the name of another version.");
                    line!(out, "pub type {alias}{life} = {name}{life};");
                }
            }
        }
    }
}

/// Returns the other names if `name` is one of these names. A name that a dialect made up has no
/// others.
fn others<'n>(all: &'n [&'n str], name: &str) -> impl Iterator<Item = &'n str> {
    let known = all.iter().any(|other| other.eq_ignore_ascii_case(name));
    let name = name.to_string();
    all.iter().copied().filter(move |other| known && !other.eq_ignore_ascii_case(&name))
}
