//! Rust names of FIX names. The rules are in the crate's documentation; they are API.

use std::borrow::Cow;

use fixbolt_dictionary::upper_snake;

/// `ClOrdID` becomes `cl_ord_id`; keywords and the names of a view's own methods get a trailing
/// `_`.
pub(crate) fn snake(name: &str) -> String {
    let name = words(&spelled(name)).join("_").to_lowercase();
    let name = digit_first(name);
    if is_keyword(&name) || OWN_METHODS.contains(&name.as_str()) { name + "_" } else { name }
}

/// Returns the name as a type: characters other than letters and digits are omitted, and the letter
/// after each is in upper case.
pub(crate) fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = true;
    for character in spelled(name).chars() {
        if !character.is_ascii_alphanumeric() {
            upper = true;
        } else if upper {
            out.push(character.to_ascii_uppercase());
            upper = false;
        } else {
            out.push(character);
        }
    }
    let out = digit_first(out);
    if matches!(out.as_str(), "Self" | "") { out + "_" } else { out }
}

/// Returns the module of a version by its name: `fix44` for `FIX.4.4`, `fix_latest` for
/// `FIX.Latest`.
pub(crate) fn module_of(version: &str) -> String {
    match version.to_lowercase().split_once('.') {
        Some((fix, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            module(&format!("{fix}{}", rest.replace('.', "")))
        }
        _ => module(version),
    }
}

/// Returns the name of a file as a module: lower case, with `_` for characters other than letters
/// and digits.
pub(crate) fn module(file: &str) -> String {
    let name: String =
        file.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let name = digit_first(name);
    if name.is_empty() || is_keyword(&name) { name + "_" } else { name }
}

/// Returns the name of a code as a constant, in the form in which tools display it:
/// `PartiallyFilled` becomes `PARTIALLY_FILLED`.
pub(crate) fn constant(name: &str) -> String {
    let mut name = upper_snake(&spelled(name));
    name.retain(|c| c.is_ascii_alphanumeric() || c == '_');
    digit_first(name)
}

/// Returns whether all letters and digits of a name are ASCII, and there is one at all.
pub(crate) fn is_ascii(name: &str) -> bool {
    name.contains(|c: char| c.is_ascii_alphanumeric())
        && !name.contains(|c: char| c.is_alphanumeric() && !c.is_ascii())
}

/// Returns a name in which no character is an ASCII letter or digit as the numbers of its
/// characters: `U65E5U672C`. Any other name is returned unchanged.
fn spelled(name: &str) -> Cow<'_, str> {
    if name.contains(|c: char| c.is_ascii_alphanumeric()) {
        return name.into();
    }
    match name.chars().map(|c| format!("U{:X}", u32::from(c))).collect::<String>() {
        none if none.is_empty() => "U".into(),
        spelled => spelled.into(),
    }
}

/// Returns text of a dictionary in the form for a line of documentation.
pub(crate) fn in_a_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns the module of a message or group: its name in snake case, other than the modules that
/// every version has.
pub(crate) fn submodule(name: &str) -> String {
    let name = snake(name);
    if OWN_MODULES.contains(&name.as_str()) { name + "_" } else { name }
}

/// Returns the view of a message: its name, other than the types that every version has.
pub(crate) fn view(name: &str) -> String {
    let name = camel(name);
    if OWN_TYPES.contains(&name.as_str()) { name + "_" } else { name }
}

/// Returns the value of a code as part of a name: letters and digits are kept, other characters
/// become their number.
pub(crate) fn value_suffix(value: &str) -> String {
    let part = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase().to_string(),
        c => format!("{:02X}", c as u32),
    };
    value.chars().map(part).collect()
}

/// Methods of every view or writer, and names that a trait in scope would make ambiguous.
const OWN_METHODS: [&str; 20] = [
    "at", "begin", "body", "clone", "entry", "fields", "from", "get", "group", "header", "into", "message",
    "need", "outside", "read", "send", "to_owned", "trailer", "try_from", "try_into",
];

/// Modules and functions of every version, and what its modules import.
const OWN_MODULES: [&str; 10] = [
    "codec",
    "components",
    "dispatch",
    "fields",
    "groups",
    "other",
    "prelude",
    "tags",
    "typed",
    "with_header",
];

/// Types of every version.
const OWN_TYPES: [&str; 8] =
    ["AnyMessage", "Handler", "Header", "HeaderWriter", "KNOWN", "Other", "Trailer", "VERSION"];

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "abstract"
            | "as"
            | "async"
            | "await"
            | "become"
            | "box"
            | "break"
            | "const"
            | "continue"
            | "crate"
            | "do"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "false"
            | "final"
            | "fn"
            | "for"
            | "gen"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "macro"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "override"
            | "priv"
            | "pub"
            | "ref"
            | "return"
            | "self"
            | "static"
            | "struct"
            | "super"
            | "trait"
            | "true"
            | "try"
            | "type"
            | "typeof"
            | "unsafe"
            | "unsized"
            | "use"
            | "virtual"
            | "where"
            | "while"
            | "yield"
    )
}

fn digit_first(name: String) -> String {
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// Returns the words of a name. A capital begins a word; a run of capitals is one word, whose last
/// letter begins the next word if small letters follow; a plural `s`, an `id` or a `non` after a
/// run of capitals does not split it (`PartyIDs`, `IOIid`, `XMLnonFIX`).
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let tail: String = letters[at + 1..].iter().take_while(|c| c.is_ascii_lowercase()).collect();
        let before = at.checked_sub(1).map(|at| letters[at]);
        let begins = match before {
            Some(before) if letter.is_ascii_uppercase() => {
                before.is_ascii_lowercase()
                    || (before.is_ascii_digit() && !tail.is_empty())
                    || (before.is_ascii_uppercase()
                        && !tail.is_empty()
                        && !matches!(tail.as_str(), "s" | "id" | "non"))
            }
            Some(before)
                if before.is_ascii_uppercase() && at >= 2 && letters[at - 2].is_ascii_uppercase() =>
            {
                letter == 'i' && tail == "d" && at + 2 == letters.len() || letter == 'n' && tail == "on"
            }
            _ => false,
        };
        if begins {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_name_splits_at_its_words() {
        for (name, expected) in [
            ("ClOrdID", "cl_ord_id"),
            ("PartyIDs", "party_ids"),
            ("NoIOIQualifiers", "no_ioi_qualifiers"),
            ("IOIid", "ioi_id"),
            ("IOIID", "ioiid"),
            ("IOIOthSvc", "ioi_oth_svc"),
            ("AdvId", "adv_id"),
            ("MDReqID", "md_req_id"),
            ("CFICode", "cfi_code"),
            ("Nested2PartyID", "nested2_party_id"),
            ("Price2", "price2"),
            ("Rule80A", "rule80A".to_lowercase().as_str()),
            ("RFQReqID", "rfq_req_id"),
            ("OutMainCntryUIndex", "out_main_cntry_u_index"),
            ("URLLink", "url_link"),
            ("XMLnonFIX", "xml_non_fix"),
            ("Yield", "yield_"),
            ("Header", "header_"),
        ] {
            assert_eq!(snake(name), expected, "{name}");
        }
    }

    #[test]
    fn a_type_name_is_a_rust_identifier() {
        assert_eq!(camel("TPlus2"), "TPlus2");
        assert_eq!(camel("3DInternet"), "_3DInternet");
        assert_eq!(camel("half-day open"), "HalfDayOpen");
        assert_eq!(camel("Self"), "Self_");
        assert_eq!((camel("\u{65e5}\u{672c}"), snake("\u{e9}")), ("U65E5U672C".into(), "ue9".into()));
        assert_eq!((camel("_"), constant("+"), camel("")), ("U5F".into(), "U2B".into(), "U".into()));
        assert_eq!((is_ascii("Buy+Sell"), is_ascii("Gr\u{f6}sse"), is_ascii("--")), (true, false, false));
        assert_eq!(constant("PARTIALLY_FILLED"), "PARTIALLY_FILLED");
        assert_eq!(constant("PartiallyFilled"), "PARTIALLY_FILLED");
        assert_eq!(constant("TPlus2"), "T_PLUS2");
        assert_eq!(constant("3DInternet"), "_3D_INTERNET");
        assert_eq!(view("AnyMessage"), "AnyMessage_");
        assert_eq!(submodule("Fields"), "fields_");
        assert_eq!(submodule("Tags"), "tags_");
        assert_eq!(value_suffix("1/32"), "12F32");
        assert_eq!(module("FIX.4.4-Paint"), "fix_4_4_paint");
        assert_eq!(module("2venue"), "_2venue");
    }
}
