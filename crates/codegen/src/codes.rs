//! Prints the code sets: for each one a type around the value on the wire, with a constant per
//! code.

use crate::kind::{CodeSet, Constant, Holds};
use crate::plan::Plan;
use crate::share::{Item, ItemModule};
use crate::{line, names};

/// Returns the items of module `fields`.
pub(crate) fn items(plan: &Plan<'_>) -> impl Iterator<Item = Item> {
    plan.code_sets.iter().filter(|set| set.printed).map(|code_set| {
        let mut text = String::new();
        print_set(&mut text, code_set);
        let users = code_set.fields.iter().map(|field| format!("{} ({})", field.name, field.tag));
        let aliases = code_set.fields.iter().map(|field| format!("\"{}\"", field.tag));
        let users = users.collect::<Vec<_>>().join(", ");
        Item {
            place: ItemModule::Fields,
            names: vec![code_set.name.clone()],
            document: format!(
                "typed::codes! {{ #[doc(alias({}))]\n/// Values of {}.\n",
                aliases.collect::<Vec<_>>().join(", "),
                names::in_a_line(&users)
            ),
            text,
            meaning: String::new(),
        }
    })
}

fn print_set(out: &mut String, set: &CodeSet<'_>) {
    let holds = match set.holds {
        Holds::Byte => "u8",
        Holds::Int => "i64",
        Holds::Text => "bytes",
    };
    line!(out, "{}({holds}) of {} {{", set.name, set.tag);
    for Constant { name, code } in &set.constants {
        let bytes = code.value.as_bytes().escape_ascii();
        let value = match set.holds {
            Holds::Byte => format!("b'{bytes}'"),
            Holds::Int => code.value.clone(),
            Holds::Text => format!("b\"{bytes}\""),
        };
        let shown = names::in_a_line(&code.value);
        line!(out, "    #[doc = {:?}] {name} = {value} {:?},", format!("`{shown}`"), code.name);
    }
    line!(out, "}}}}");
}
