//! The code that is generated for the shipped versions and for dialects, and the errors for what
//! cannot be generated.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fixbolt_codegen::{BaseVersion, Finding, Module, Options, Version, check, generate, generate_together};
use fixbolt_dictionary::{
    ApplicationVersion, Dictionary, DictionarySet, Encoding, Member, Source, fix_latest, fix40, fix41, fix42,
    fix43, fix44, fix50, fix50sp1, fix50sp2, fixt11,
};

/// Maximum number of lines for FIX.4.4.
const LINES_OF_FIX44: usize = 30_000;

fn source(dictionary: &Dictionary) -> String {
    match generate(dictionary, &Options::default()) {
        Ok(generated) => generated.source().to_string(),
        Err(errors) => panic!("{errors:?}"),
    }
}

/// Returns a FIX.4.4 dialect with one message `Paint` (UP) around the given parts.
fn dialect(members: &str, components: &str, fields: &str) -> Dictionary {
    let text = format!(
        "<fix major='4' minor='4'><header/><messages><message name='Paint' msgtype='UP'>{members}</message></messages>\
         <trailer/><components>{components}</components><fields>{fields}</fields></fix>"
    );
    Source::text(&text).load().unwrap().dictionary
}

/// Returns the versions as they are shipped, those over FIXT.1.1 with its messages, by module and
/// from the oldest.
fn versions() -> Vec<(&'static str, Dictionary)> {
    let over = |application: &Dictionary| application.over(fixt11()).unwrap();
    vec![
        ("fixt11", fixt11().clone()),
        ("fix40", fix40().clone()),
        ("fix41", fix41().clone()),
        ("fix42", fix42().clone()),
        ("fix43", fix43().clone()),
        ("fix44", fix44().clone()),
        ("fix50", over(fix50())),
        ("fix50sp1", over(fix50sp1())),
        ("fix50sp2", over(fix50sp2())),
        ("fix_latest", over(fix_latest())),
    ]
}

#[test]
fn the_lines_of_each_version_stay_below_their_budget() {
    for (module, dictionary) in versions() {
        let lines = generate(&dictionary, &Options::default()).unwrap().lines();
        println!("{module}: {lines} lines");
        assert!(module != "fix44" || lines <= LINES_OF_FIX44, "FIX.4.4 takes {lines} lines");
    }
}

#[test]
fn every_member_of_every_message_and_group_has_a_getter() {
    for (_, dictionary) in versions() {
        let source = source(&dictionary);
        // Where the blocks of views and components begin, and which components a view has.
        let (mut blocks, mut components, mut at) = (HashMap::new(), HashMap::<&str, Vec<&str>>::new(), 0);
        for line in source.split_inclusive('\n') {
            at += line.len();
            let line = line.trim_end();
            if let Some((component, view)) = line
                .strip_prefix("impl<'m> components::")
                .and_then(|rest| rest.strip_suffix("<'m> {}")?.split_once("<'m> for "))
            {
                components.entry(view).or_default().push(component);
            } else if let Some(name) = line
                .strip_prefix("impl<'m> ")
                .and_then(|rest| rest.strip_suffix("<'m> {"))
                .or_else(|| line.strip_prefix("pub trait ")?.strip_suffix("<'m>: typed::View<'m> {"))
            {
                blocks.insert(name, at);
            }
        }
        let getters = |view: &str| {
            let names = components.get(view).into_iter().flatten().copied().chain([view]);
            let blocks = names.map(|name| &source[blocks[name]..]);
            let lines = blocks.flat_map(|block| block.lines().take_while(|line| *line != "}"));
            let documents = lines.filter_map(|line| line.strip_prefix("    /// ")?.split_once(", "));
            documents.collect::<HashMap<_, _>>()
        };
        let check = |view: &str, members: &[Member]| {
            let getters = getters(view);
            for member in dictionary.expand(members) {
                let field = dictionary.field(member.tag).unwrap();
                let kind = getters.get(&*format!("{} ({})", field.name, field.tag));
                let right = kind.is_some_and(|kind| kind.starts_with(field.kind.name()));
                assert!(right, "{view} has no getter of {}", field.name);
            }
        };
        for message in dictionary.messages() {
            check(&message.name, &message.members);
        }
        let mut printed = 0;
        for group in dictionary.groups().iter().filter(|group| blocks.contains_key(&*group.name)) {
            check(&group.name, &group.members);
            printed += 1;
        }
        assert!(printed * 10 >= dictionary.groups().len() * 9, "only {printed} groups are printed");
        check("Header", dictionary.header());
        check("Trailer", dictionary.trailer());
    }
}

/// Returns the sources of versions that are printed together, by module.
fn together(versions: &[(&str, &Dictionary)]) -> HashMap<String, String> {
    let versions: Vec<Version<'_>> = versions
        .iter()
        .map(|(module, dictionary)| Version { module: module.to_string(), ..Version::of(dictionary) })
        .collect();
    let printed = generate_together(&versions, &Options::default()).unwrap();
    let sources = printed.iter().map(|printed| printed.source().to_string());
    versions.iter().map(|version| version.module.clone()).zip(sources).collect()
}

#[test]
fn whether_two_versions_have_an_item_in_common_depends_on_these_two_alone() {
    // The group has the same text in all three, but the codes of the middle one differ.
    let version = |colour: &str| {
        dialect(
            "<group name='NoColours'><field name='Colour'/><field name='Text'/></group>",
            "",
            &format!(
                "<field number='5000' name='NoColours' type='NUMINGROUP'/>\
                 <field number='5001' name='Colour' type='INT'><value enum='1' description='{colour}'/></field>\
                 <field number='58' name='Text' type='STRING'/>"
            ),
        )
    };
    let (first, middle, last) = (version("Red"), version("Blue"), version("Red"));
    let shared =
        ["pub use super::super::first::fields::{\n    Colour,\n};", "pub use super::super::first::groups::{"];
    for printed in [
        together(&[("first", &first), ("last", &last)]),
        together(&[("first", &first), ("middle", &middle), ("last", &last)]),
    ] {
        for line in shared {
            assert!(printed["last"].contains(line), "{line}");
        }
        assert!(!printed["last"].contains("\nColour(i64) of 5001 {"));
    }
    let printed = together(&[("first", &first), ("middle", &middle), ("last", &last)]);
    // Tags have no codes, and are the same in all.
    let takes = |version: &str, of: &str| {
        ["fields", "groups", "components"]
            .iter()
            .any(|module| printed[version].contains(&format!("{of}::{module}")))
    };
    assert!(!takes("middle", "first") && printed["middle"].contains("first::tags::{"));
    // Without the first version, the last one prints what the first one would have.
    let printed = together(&[("middle", &middle), ("last", &last)]);
    assert!(!printed["last"].contains("middle::fields") && !printed["last"].contains("middle::groups"));
    assert!(printed["last"].contains("\nColour(i64) of 5001 {"));
}

#[test]
fn a_version_over_a_transport_has_the_transports_session_messages() {
    let set = DictionarySet::new(fixt11().clone()).unwrap();
    let set = set.with(ApplicationVersion::new("9"), fix50sp2()).unwrap();
    let set = set.with(ApplicationVersion::new("9").custom("Venue-3"), fix50sp2()).unwrap();
    let versions = Version::of_set(&set);
    let modules: Vec<&str> = versions.iter().map(|version| version.module.as_str()).collect();
    assert_eq!(modules, ["fixt11", "fix50sp2", "venue_3"]);
    let printed = generate_together(&versions, &Options::default()).unwrap();
    let source = printed[1].source();
    let start = source.find("\npub use super::fixt11::{").unwrap();
    let taken = &source[start..start + source[start..].find('}').unwrap()];
    for name in ["Header", "HeaderWriter", "Trailer", "Logon", "logon", "Heartbeat", "Reject"] {
        assert!(taken.contains(&format!(" {name},")), "{name}");
        assert!(!source.contains(&format!("pub struct {name}<")), "{name}");
    }
    assert!(source.contains("    Logon(Logon<'m>),") && source.contains("fn on_logon("));
}

#[test]
fn messages_and_code_sets_have_the_names_of_other_versions() {
    let fix42 = source(fix42());
    assert!(
        fix42.contains("pub type NewOrderSingle<'m> = OrderSingle<'m>;")
            || fix42.contains("pub type OrderSingle<'m> = NewOrderSingle<'m>;")
    );
    assert!(fix42.contains("pub type SecurityIDSource<'m> = IDSource<'m>;"));
    // A type's name in a dialect has no alias, and an alias never takes the name of an item.
    let own = |name: &str| {
        format!(
            "<fix major='4' minor='4'><header/><messages><message name='{name}' msgtype='D'><field name='Text'/></message>\
             <message name='OrderSingle' msgtype='U1'><field name='Text'/></message></messages><trailer/><components/>\
             <fields><field number='58' name='Text' type='STRING'/></fields></fix>"
        )
    };
    for name in ["Purchase", "NewOrderSingle"] {
        let dictionary = Source::text(own(name)).load().unwrap().dictionary;
        assert!(!source(&dictionary).contains("pub type "), "{name}");
    }
}

#[test]
fn search_finds_fields_by_tag_and_messages_by_type_and_a_message_lists_its_members() {
    let source = source(fix44());
    for line in [
        "    #[doc(alias = \"11\")] #[inline] pub fn cl_ord_id(&self)",
        "    #[doc(alias = \"55\")] fn symbol(&self)",
        "    #[doc(alias = \"453\")] #[inline] pub fn party_ids(&self)",
        "typed::codes! { #[doc(alias(\"54\"))]\n",
        "/// NewOrderSingle (D).\n#[doc(alias = \"D\")] #[cfg_attr(doc, doc = \"\\n| tag | name | type | required |\\n|---|---|---|---|\\n\
         | 11 | ClOrdID | String | yes |\\n",
        "\\n|  | [Instrument](components::Instrument) | component | yes |\\n",
        "\\n| 78 | NoAllocs | group of [PreAllocGrp](groups::PreAllocGrp) |  |\\n",
    ] {
        assert!(source.contains(line), "{line}");
    }
}

#[test]
fn a_subset_has_the_messages_that_are_named_and_what_they_use_as_in_all_messages() {
    let messages = Some(["D", "8"].map(String::from).to_vec());
    let subset = generate(fix44(), &Options { messages, ..Options::default() }).unwrap();
    let (subset, all) = (subset.source(), source(fix44()));
    assert!(subset.lines().count() * 3 < all.lines().count(), "{}", subset.lines().count());
    for (part, there) in [
        ("pub struct NewOrderSingle<'m>", true),
        ("pub struct ExecutionReport<'m>", true),
        ("pub struct OrderCancelRequest<'m>", false),
        ("    OrderCancelRequest(", false),
        ("pub trait OrderQtyData<'m>", true),
        ("pub struct PtysSubGrp<'m>", true),
        ("pub struct MDReqGrp<'m>", false),
        ("\nSide(u8) of 54 {", true),
        ("\nMDEntryType(u8) of 269 {", false),
    ] {
        assert!(all.contains(part), "{part}");
        assert_eq!(subset.contains(part), there, "{part}");
    }
    // Whatever it has is the same in all messages, but for what lists the messages.
    let end = subset.find("/// A message of FIX.4.4, by its MsgType").unwrap();
    let lines: std::collections::HashSet<&str> = all.lines().collect();
    for line in subset[..end].lines() {
        assert!(lines.contains(line), "{line}");
    }
}

#[test]
fn no_alias_in_a_subset_is_another_item_in_all_messages() {
    let overlay = "<fix extends='FIX.4.4'><fields>
        <field number='5001' name='IDSource' type='CHAR'><value enum='A' description='A'/></field></fields>
        <messages><message name='OrderSingle' msgtype='U1'><field name='IDSource' required='Y'/></message>
        </messages></fix>";
    let dictionary = Source::text(overlay).load().unwrap().dictionary;
    let all = source(&dictionary);
    assert!(all.contains("pub struct OrderSingle<'m>") && all.contains("\nIDSource(u8) of 5001 {"));
    let messages = Some(vec!["D".to_string()]);
    let subset = generate(&dictionary, &Options { messages, ..Options::default() }).unwrap();
    assert!(subset.source().contains("\nSecurityIDSource(bytes) of 22 {"));
    for name in ["OrderSingle", "IDSource"] {
        assert!(!subset.source().contains(&format!("pub type {name}<'m>")), "{name}");
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
    assert!(of("Y").contains("fn red(&self) -> ::core::result::Result<i64, typed::FieldError>"));
    assert!(!of("N").contains("pub red: i64,"));
    assert!(
        of("N").contains(
            "fn red(&self) -> ::core::result::Result<::core::option::Option<i64>, typed::FieldError>"
        )
    );
}

#[test]
fn required_fields_take_what_setters_take() {
    let fields = "<field number='5001' name='Paid' type='PRICE'/><field number='5002' name='Writer' type='STRING'/>\
         <field number='5003' name='At' type='UTCTIMESTAMP'/><field number='5004' name='Paid-' type='STRING'/>\
         <field number='5005' name='Count' type='INT'/><field number='5000' name='NoShades' type='NUMINGROUP'/>";
    let members = ["Paid", "Writer", "At", "Paid-", "Count"]
        .map(|name| format!("<field name='{name}' required='Y'/>"))
        .concat();
    let parameters = "Writer_: ::core::convert::AsRef<[u8]>, Paid_: ::core::convert::AsRef<[u8]>, \
         Paid: ::core::convert::Into<codec::Decimal> = codec::Decimal, \
         At: ::core::convert::Into<codec::UtcTimestamp> = codec::UtcTimestamp";
    let message = source(&dialect(&members, "", fields));
    let group = source(&dialect(&format!("<group name='NoShades'>{members}</group>"), "", fields));
    for source in [&message, &group] {
        assert!(source.contains(&format!("pub struct Required<{parameters}> {{")), "{source}");
        for field in ["paid: Paid", "writer: Writer_", "at_: At", "paid_5004: Paid_", "count: i64"] {
            assert!(source.contains(&format!("    pub {field},\n")), "{field}");
        }
    }
    let taken = "required: paint::Required<impl ::core::convert::AsRef<[u8]>, impl ::core::convert::AsRef<[u8]>, \
         impl ::core::convert::Into<codec::Decimal>, impl ::core::convert::Into<codec::UtcTimestamp>>";
    assert!(message.contains(taken), "{message}");
    assert!(
        group.contains(
            "(&mut self, required: Required<Writer_, Paid_, Paid, At>) -> Writer<'_, 'b, Required<"
        )
    );
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
fn a_group_inside_and_outside_another_is_written_before_it() {
    let inner = "<group name='NoSlices'><field name='Slice'/></group>";
    let source = source(&dialect(
        &format!("<group name='NoParts'><field name='Part'/>{inner}</group>{inner}"),
        "",
        "<field number='5001' name='NoParts' type='NUMINGROUP'/><field number='5002' name='Part' type='INT'/>\
         <field number='5003' name='NoSlices' type='NUMINGROUP'/><field number='5004' name='Slice' type='INT'/>",
    ));
    // After the other group it would be read as the group in the last entry.
    let outside = "self.outside(2, super::tags::NO_SLICES); super::groups::slices_grp::Entries(self.group(2, super::tags::NO_SLICES))";
    assert!(source.contains(outside), "{source}");
    assert_eq!(source.matches("self.outside(").count(), 1);
    assert!(source.contains("in any order; those that a group may have as well, before all groups."));
}

#[test]
fn names_that_rust_reserves_or_two_fields_share_follow_the_rules() {
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
    let constants = [
        ("OTHER", "1 \"OTHER\""),
        ("RED_2", "2 \"RED\""),
        ("RED_3", "3 \"Red\""),
        ("_2_TONE", "4 \"2_TONE\""),
    ];
    for (name, value) in constants {
        assert_eq!(source.matches(&format!("] {name} = {value},\n")).count(), 1, "{name}");
    }
}

#[test]
fn everything_that_cannot_be_generated_is_reported() {
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
    let found = errors(&shade(4099, 4100));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("length field 4099 is not its length field in the standard"), "{found:?}");
}

#[test]
fn check_lists_what_generate_renames_and_what_it_refuses() {
    let own = dialect(
        "<field name='Type'/><field name='RedX'/><field name='Red_X'/><field name='Yield'/><field name='Colour'/>\
         <component name='\u{65e5}'/>",
        "<component name='\u{65e5}'><field name='RedX'/></component>",
        "<field number='5001' name='Type' type='INT'/><field number='5002' name='RedX' type='INT'/>\
         <field number='5003' name='Red_X' type='INT'/><field number='236' name='Yield' type='PERCENTAGE'/>\
         <field number='5004' name='Colour' type='INT'><value enum='2' description='RED'/>\
         <value enum='3' description='Red'/><value enum='4' description='Blue'/></field>",
    );
    let renamed = check(&own).unwrap();
    let seen: Vec<_> = renamed.iter().map(|renamed| (&*renamed.element, &*renamed.name)).collect();
    let expected = [
        ("component \u{65e5}", "U65E5"),
        ("field 5001 (Type)", "type_"),
        ("field 5003 (Red_X)", "red_x_5003"),
        ("code RED (2) of field 5004 (Colour)", "RED_2"),
        ("code Red (3) of field 5004 (Colour)", "RED_3"),
    ];
    assert_eq!(seen, expected);
    let source = source(&own);
    for name in ["pub trait U65E5<'m>", "fn type_(&self)", "fn red_x_5003(&self)", "] RED_2 = 2"] {
        assert!(source.contains(name), "{name}");
    }
    assert_eq!(generate(&own, &Options::default()).unwrap().renamed(), renamed);
    // Words of Rust among the names of the standard are no news.
    for (module, dictionary) in versions() {
        let renamed = check(&dictionary).unwrap();
        let seen: Vec<_> = renamed.iter().map(|renamed| &*renamed.name).collect();
        match module {
            // Two codes of BenchmarkCurveName (221).
            "fix_latest" => assert_eq!(seen, ["EURIBOR_EURIBOR", "EURIBOR_EURIBOR_"]),
            _ => assert!(seen.is_empty(), "{module}: {renamed:?}"),
        }
    }
    assert_eq!(
        check(&shade(4099, 4100)),
        Err(generate(&shade(4099, 4100), &Options::default()).unwrap_err())
    );
    let text = "<fix major='4' minor='4'><header/><messages><message name='A' msgtype='sixteen letters!'>\
        <field name='Text'/></message></messages><trailer/><components/>\
        <fields><field number='58' name='Text' type='STRING'/></fields></fix>";
    let long = Source::text(text).load().unwrap().dictionary;
    assert!(check(&long).unwrap_err()[0].reason.contains("more than 15"));
}

#[test]
fn a_data_field_is_written_with_its_length_field_as_one_constant() {
    let own = source(&shade(20001, 20002));
    assert!(own.contains("data(const { codec::DataKey::of_dialect(20001, 20002) }, ::core::convert::AsRef::<[u8]>::as_ref(&value))"));
    assert!(source(fix44()).contains(
        "data(const { codec::DataKey::new(354, 355) }, ::core::convert::AsRef::<[u8]>::as_ref(&value))"
    ));
}

#[test]
fn a_group_may_begin_with_a_length_field_whose_data_every_entry_then_has() {
    let source = source(&dialect(
        "<group name='NoShades'><field name='ShadeLength'/><field name='Shade'/><field name='Red'/></group>",
        "",
        "<field number='5001' name='Red' type='INT'/><field number='5002' name='NoShades' type='NUMINGROUP'/>\
         <field number='20001' name='ShadeLength' type='LENGTH'/><field number='20002' name='Shade' type='DATA'/>",
    ));
    assert!(
        source.contains("pub struct Required<Shade: ::core::convert::AsRef<[u8]>> {")
            && source.contains("const FIELDS: &'static [u16] = &[1];")
    );
    assert!(source.contains("fn shade(&self) -> ::core::result::Result<&'m [u8], typed::FieldError>"));
    assert!(!source.contains("fn shade(&mut self"), "it is written by `entry`");
}

#[test]
fn no_name_ends_a_comment_in_generated_code() {
    let group = "<group name='NoShades&#10;pub fn evil() {}'><field name='Red'/></group>";
    let fields = "<field number='5001' name='Red' type='INT'/>\
         <field number='5002' name='NoShades&#10;pub fn evil() {}' type='NUMINGROUP'/>";
    let source = source(&dialect(group, "", fields));
    assert!(source.lines().all(|line| !line.starts_with("pub fn evil")), "{source}");
}

/// A dialect with a data field of its own.
fn shade(length: u32, data: u32) -> Dictionary {
    dialect(
        "<field name='ShadeLength'/><field name='Shade'/>",
        "",
        &format!(
            "<field number='{length}' name='ShadeLength' type='LENGTH'/><field number='{data}' name='Shade' type='DATA'/>"
        ),
    )
}

#[test]
fn every_dictionary_of_the_reference_folder_can_be_generated() {
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
            // Dictionaries that no reader accepts are tested with the readers.
            let Ok(loaded) = Source::file(&path).load() else { continue };
            match generate(&loaded.dictionary, &Options::default()) {
                Ok(generated) => println!("{}: {} lines", path.display(), generated.lines()),
                Err(errors) => panic!("{}: {errors:?}", path.display()),
            }
        }
    }
}

/// What `build` and `fixbolt generate` do with a file.
#[test]
fn a_file_in_latin_1_is_generated_and_any_other_byte_is_told_with_its_line() {
    let text = "<fix extends='FIX.4.4'><!-- M\u{fc}ller -->\n<fields>\n\
        <field number='5001' name='DeskCode' type='STRING'/></fields></fix>";
    let latin = |text: &str| text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<u8>>();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("Latin-1.xml");
    let generated = |bytes: &[u8], encoding: Option<Encoding>| {
        std::fs::write(&file, bytes).unwrap();
        let source = Source::file(&file);
        let source = encoding.into_iter().fold(source, Source::encoding);
        let loaded = source.load().map_err(|error| Finding::all_of(&error))?;
        Module::new(&file, loaded, &Options::default())
    };
    let declared = latin(&format!("<?xml version='1.0' encoding='ISO-8859-1'?>{text}"));
    let module = generated(&declared, None).unwrap();
    assert_eq!(module.name, "latin_1");
    assert_eq!(module.dictionary.field(5001).unwrap().name, "DeskCode");
    assert!(generated(&latin(text), Some(Encoding::Latin1)).is_ok());

    let told: Vec<String> =
        generated(&latin(text), None).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with("Latin-1.xml:1: document: byte 29 is not UTF-8: this is not a dictionary, or its encoding must be stated"), "{told:?}");
}

#[test]
fn a_dialect_takes_what_it_does_not_change_from_its_base() {
    let of = |overlay: &str, base| {
        let loaded = Source::text(overlay).load().unwrap().whole().unwrap();
        let options = Options { base: Some(base), ..Options::default() };
        generate(&loaded.dictionary, &options).unwrap().source().to_string()
    };
    // Without a change everything is the base's but the list of messages.
    let same = of("<fix extends='FIX.4.4'/>", BaseVersion::Fix44);
    assert!(same.contains("pub use ::fixbolt_messages::fix44::fields::{"), "{same}");
    assert!(!same.contains("pub struct") && !same.contains("pub trait Instrument"));
    let lines = same.lines().count();
    assert!(lines < 1500, "{lines}");
    let own = of(
        "<fix extends='FIX.4.4'>
            <fields><field number='5001' name='Desk' type='STRING'/></fields>
            <messages><message name='Logout' msgtype='5'><field name='Desk' required='N'/></message></messages>
        </fix>",
        BaseVersion::Fix44,
    );
    assert!(own.contains("pub struct Logout<'m>") && !own.contains("pub struct Heartbeat<'m>"));
    // Header and session messages of the later versions are those of FIXT.1.1.
    let later = of("<fix extends='FIX.5.0SP2'/>", BaseVersion::Fix50Sp2);
    assert!(
        later.contains("pub use ::fixbolt_messages::fixt11::{")
            || later.contains("pub use ::fixbolt_messages::fix50sp2::{")
    );
    assert!(!later.contains("pub struct NewOrderSingle<'m>"), "{later}");
}

#[test]
fn messages_are_read_in_the_version_of_the_standard_that_they_are_of() {
    let of = |text: &str, base| {
        let loaded = Source::text(text).load().unwrap().whole().unwrap();
        let options = Options { base, ..Options::default() };
        generate(&loaded.dictionary, &options).unwrap().source().to_string()
    };
    let reads = |source: &str, version: &str| {
        let wanted = match version {
            "" => "::core::option::Option::None".to_string(),
            _ => format!("::core::option::Option::Some(codec::Version::{version})"),
        };
        source.contains(&format!("Self::MSG_TYPE, {wanted}, "))
    };
    let constant = |version: &str| format!("pub const VERSION: codec::Version = codec::Version::{version};");
    let dialect = of("<fix extends='FIX.4.4'/>", None);
    assert!(dialect.contains(&constant("Fix44")) && reads(&dialect, "Fix44") && !reads(&dialect, ""));
    // Session messages over FIXT.1.1 are the transport's.
    let later = of("<fix extends='FIX.5.0SP2'/>", None);
    assert!(later.contains(&constant("Fix50Sp2")) && reads(&later, "Fix50Sp2") && reads(&later, "Fixt11"));
    // A name of its own is that of no version, unless a base is given.
    let house = "<fix type='HOUSE' major='1' minor='0'><header/><messages><message name='Paint' msgtype='UP'>\
        <field name='Colour'/></message></messages><trailer/><components/>\
        <fields><field number='5001' name='Colour' type='INT'/></fields></fix>";
    let alone = of(house, None);
    assert!(!alone.contains("pub const VERSION") && reads(&alone, ""), "{alone}");
    let based = of(house, Some(BaseVersion::Fix44));
    assert!(based.contains(&constant("Fix44")) && reads(&based, "Fix44"), "{based}");
}

#[test]
fn a_header_of_ones_own_over_fixt_is_typed() {
    let transport = "<fix extends='FIXT.1.1'>
            <fields><field number='5100' name='HouseDesk' type='STRING'/></fields>
            <header><field name='HouseDesk' required='N'/></header>
        </fix>";
    let source = Source::text("<fix extends='FIX.5.0SP2'/>").transport(Source::text(transport));
    let loaded = source.load().unwrap().whole().unwrap();
    let base = Some(BaseVersion::Fix50Sp2);
    let generated = generate(&loaded.dictionary, &Options { base, ..Options::default() }).unwrap();
    assert!(generated.source().contains("pub struct Header<'m>"));
    let getter = "pub fn house_desk(&self) -> ::core::result::Result<::core::option::Option<&'m codec::Text>";
    let setter = "pub fn house_desk(&mut self, value: impl ::core::convert::AsRef<[u8]>) -> &mut Self";
    for method in [getter, setter] {
        assert_eq!(generated.source().matches(method).count(), 1, "{method}");
    }
}

#[test]
fn every_entry_of_the_standard_has_fewer_members_than_can_be_sorted() {
    let entries = fixbolt_codec::Version::ALL.into_iter().flat_map(|version| {
        let dictionary = fixbolt_dictionary::shipped(version);
        dictionary.group_ids().map(move |id| {
            let group = dictionary.group(id);
            (dictionary.expand(&group.members).count(), version, group.count_tag)
        })
    });
    let (longest, version, count_tag) = entries.max_by_key(|entry| entry.0).unwrap();
    assert_eq!((version, count_tag), (fixbolt_codec::Version::FixLatest, 268));
    assert!(longest < fixbolt_codec::plumbing::Members::MOST, "{longest}");
}
