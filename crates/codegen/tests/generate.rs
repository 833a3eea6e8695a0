//! What is printed of the shipped versions, of dialects, and of what cannot be printed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fixbolt_codegen::{Options, generate};
use fixbolt_dictionary::{Dictionary, fix42, fix44};

/// Most lines that FIX.4.4 may take.
const LINES_OF_FIX44: usize = 60_000;

fn source(dictionary: &Dictionary) -> String {
    match generate(dictionary, &Options::default()) {
        Ok(generated) => generated.source().to_string(),
        Err(errors) => panic!("{errors:?}"),
    }
}

/// A FIX.4.4 dialect of one message `Paint` (UP) around the given parts.
fn dialect(members: &str, components: &str, fields: &str) -> Dictionary {
    let text = format!(
        "<fix major='4' minor='4'><header/><messages><message name='Paint' msgtype='UP'>{members}</message></messages>\
         <trailer/><components>{components}</components><fields>{fields}</fields></fix>"
    );
    Dictionary::from_quickfix_xml(&text).unwrap().0
}

/// The lines of `text` from the one that is `first` to the next that is `}`.
fn block<'s>(text: &'s str, first: &str) -> &'s str {
    let start = text.find(&format!("\n{first}\n")).unwrap_or_else(|| panic!("no line `{first}`")) + 1;
    let length = text[start..].find("\n}").unwrap();
    &text[start..start + length]
}

#[test]
fn the_lines_of_each_version_stay_below_their_budget() {
    let lines = |dictionary| generate(dictionary, &Options::default()).unwrap().lines();
    let (fix42, fix44) = (lines(fix42()), lines(fix44()));
    println!("FIX.4.2: {fix42} lines, FIX.4.4: {fix44} lines");
    assert!(fix44 <= LINES_OF_FIX44, "FIX.4.4 takes {fix44} lines");
}

#[test]
fn every_member_of_every_message_has_a_getter() {
    for dictionary in [fix42(), fix44()] {
        let source = source(dictionary);
        for message in dictionary.messages() {
            let mut getters = block(&source, &format!("impl<'m> {}<'m> {{", message.name)).to_string();
            let of_message = format!("<'m> for {}<'m> {{}}", message.name);
            for line in source.lines().filter(|line| line.ends_with(&of_message)) {
                let component = line.split("components::").nth(1).unwrap().split('<').next().unwrap();
                getters += block(&source, &format!("pub trait {component}<'m>: typed::View<'m> {{"));
            }
            for member in dictionary.expand(&message.members) {
                let field = dictionary.field(member.tag).unwrap();
                let document = format!("    /// {} ({}), {}", field.name, field.tag, field.kind);
                assert!(getters.contains(&document), "{} has no getter of {}", message.name, field.name);
            }
        }
    }
}

#[test]
fn groups_with_alike_members_are_printed_once() {
    let source = source(fix44());
    assert!(source.contains("pub use self::ExecCollGrp as ExecsGrp;"));
    assert_eq!(source.matches("pub struct ExecCollGrp<'m>").count(), 1);
    assert_eq!(source.matches("pub struct ExecsGrp<'m>").count(), 0);
    assert_eq!(source.matches("pub trait Instrument<'m>").count(), 1);
}

#[test]
fn a_required_field_of_a_required_component_is_in_the_struct_and_of_an_optional_one_is_not() {
    let components = "<component name='Outer'><component name='Inner' required='Y'/></component>\
         <component name='Inner'><field name='Red' required='Y'/></component>";
    let fields = "<field number='5001' name='Red' type='INT'/>";
    let of = |required| {
        let member = format!("<component name='Outer' required='{required}'/>");
        source(&dialect(&member, components, fields))
    };
    assert!(of("Y").contains("pub red: i64,"));
    assert!(of("Y").contains("fn red(&self) -> Result<i64, typed::FieldError>"));
    assert!(!of("N").contains("pub red: i64,"));
    assert!(of("N").contains("fn red(&self) -> Result<Option<i64>, typed::FieldError>"));
}

#[test]
fn a_tag_inside_and_outside_a_group_is_looked_up_outside() {
    let source = source(&dialect(
        "<group name='NoColours'><field name='Red'/><field name='Text'/></group><field name='Text'/>",
        "",
        "<field number='5000' name='NoColours' type='NUMINGROUP'/><field number='5001' name='Red' type='INT'/>\
         <field number='58' name='Text' type='STRING'/>",
    ));
    assert!(source.contains("self.fields().outside(<Self as typed::View<'m>>::GROUPS).optional(58)"));
    assert!(source.contains("members: typed::Tags::new(&[58, 5001]), ending: &[58]"));
    assert!(source.contains("const GROUPS: &'static [&'static typed::GroupShape] = &["));
}

#[test]
fn names_that_rust_or_two_fields_want_follow_the_rules() {
    let source = source(&dialect(
        "<field name='Type'/><field name='RedX'/><field name='Red_X'/><field name='Colour'/><field name='Send'/>",
        "",
        "<field number='5001' name='Type' type='INT'/><field number='5002' name='RedX' type='INT'/>\
         <field number='5003' name='Red_X' type='INT'/><field number='5005' name='Send' type='INT'/>\
         <field number='5004' name='Colour' type='INT'><value enum='1' description='OTHER'/>\
         <value enum='2' description='RED'/><value enum='3' description='Red'/><value enum='4' description='2_TONE'/></field>",
    ));
    for name in ["fn type_(&self)", "fn red_x(&self)", "fn red_x_5003(&self)", "fn send_(&self)"] {
        assert!(source.contains(name), "{name}");
    }
    println!("{}", block(&source, "pub enum Colour {"));
    let mut seen = HashSet::new();
    for line in block(&source, "pub enum Colour {").lines().filter(|line| line.ends_with(',')) {
        assert!(seen.insert(line.trim()), "{line} twice");
    }
    assert!(seen.contains("_2TONE,"));
    assert!(seen.contains("Other(i64),"));
}

#[test]
fn what_cannot_be_printed_is_an_error_each() {
    let errors = |dictionary: &Dictionary| -> Vec<String> {
        generate(dictionary, &Options::default()).unwrap_err().iter().map(ToString::to_string).collect()
    };
    let nested = dialect(
        "<group name='NoColours'><field name='Red'/><group name='NoShades'><field name='Dark'/><field name='Red'/></group></group>",
        "",
        "<field number='5000' name='NoColours' type='NUMINGROUP'/><field number='5001' name='Red' type='INT'/>\
         <field number='5002' name='NoShades' type='NUMINGROUP'/><field number='5003' name='Dark' type='INT'/>",
    );
    let found = errors(&nested);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("5001, with which its entries begin, is also in a group within"), "{found:?}");
}

#[test]
fn every_dictionary_of_the_reference_folder_can_be_printed() {
    let shared = std::env::var_os("FIXBOLT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let Ok(folder) = std::fs::read_dir(shared.join("dictionaries")) else {
        eprintln!("shared folder absent: dictionaries not printed");
        return;
    };
    let mut open: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            let read = if text.contains("<fixr:repository") {
                Dictionary::from_orchestra(&text)
            } else {
                Dictionary::from_quickfix_xml(&text)
            };
            // What no reader takes is the readers' business.
            let Ok((dictionary, _)) = read else { continue };
            match generate(&dictionary, &Options::default()) {
                Ok(generated) => println!("{}: {} lines", path.display(), generated.lines()),
                Err(errors) => panic!("{}: {errors:?}", path.display()),
            }
        }
    }
}
