//! Prints the enums of the code sets. Each has a variant `Other` for any other value on the wire.

use crate::kind::{CodeEnum, Holds};
use crate::plan::Plan;
use crate::share::{Item, ItemModule};
use crate::{line, names};

/// Returns the items of module `fields`.
pub(crate) fn items(plan: &Plan<'_>) -> impl Iterator<Item = Item> {
    plan.enums.iter().map(|code_enum| {
        let mut text = String::new();
        print_enum(&mut text, code_enum);
        let users = code_enum.fields.iter().map(|field| format!("{} ({})", field.name, field.tag));
        Item {
            place: ItemModule::Fields,
            names: vec![code_enum.name.clone()],
            document: format!("/// Values of {}.\n", users.collect::<Vec<_>>().join(", ")),
            text,
            meaning: String::new(),
        }
    })
}

fn print_enum(out: &mut String, code_enum: &CodeEnum<'_>) {
    let CodeEnum { name, holds, variants, .. } = code_enum;
    let (life, raw, what) = match holds {
        Holds::Byte => ("", "u8", "byte"),
        Holds::Int => ("", "i64", "number"),
        Holds::Text => ("<'m>", "&'m [u8]", "bytes"),
    };
    let value = |value: &str| match holds {
        Holds::Byte => format!("b'{}'", value.escape_default()),
        Holds::Int => value.to_string(),
        Holds::Text => format!("b\"{}\"", value.escape_default()),
    };
    line!(out, "#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]\npub enum {name}{life} {{");
    for (variant, wire) in variants {
        line!(out, "    /// `{}`\n    {variant},", names::in_a_line(wire));
    }
    line!(out, "    /// Any other value.\n    Other({raw}),\n}}");
    line!(out, "impl{life} {name}{life} {{");
    line!(out, "    /// Returns the code with this {what} on the wire.");
    line!(
        out,
        "    #[inline] #[must_use] pub const fn from_value(value: {raw}) -> Self {{\n        match value {{"
    );
    for (variant, wire) in variants {
        line!(out, "            {} => Self::{variant},", value(wire));
    }
    line!(out, "            other => Self::Other(other),\n        }}\n    }}");
    line!(out, "    /// Returns the {what} on the wire.");
    line!(out, "    #[inline] #[must_use] pub const fn value(self) -> {raw} {{\n        match self {{");
    for (variant, wire) in variants {
        line!(out, "            Self::{variant} => {},", value(wire));
    }
    line!(out, "            Self::Other(other) => other,\n        }}\n    }}\n}}");
    let read = match holds {
        Holds::Byte => "codec::Char::from_field(value).map(|value| Self::from_value(value.0))",
        Holds::Int => "i64::from_field(value).map(Self::from_value)",
        Holds::Text => "<&[u8]>::from_field(value).map(Self::from_value)",
    };
    line!(out, "impl<'m> codec::FromField<'m> for {name}{life} {{");
    line!(
        out,
        "    #[inline] fn from_field(value: &'m [u8]) -> Result<Self, codec::ValueError> {{ {read} }}\n}}"
    );
    if *holds == Holds::Text {
        line!(out, "impl<'m> typed::Code<'m> for {name}<'m> {{");
        line!(out, "    #[inline] fn from_value(value: &'m [u8]) -> Self {{ Self::from_value(value) }}");
        line!(out, "    #[inline] fn value(self) -> &'m [u8] {{ self.value() }}\n}}");
    }
}
