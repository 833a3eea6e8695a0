//! Reading costs what the file is long: caps are stated, and what a small file could ask for
//! without end is refused with its place.
//!
//! Nothing here measures time. A reader that is not linear would run for minutes or hours: the
//! watchdog is far from both.

#[path = "support/loading.rs"]
mod loading;

use std::fmt::Write as _;
use std::sync::mpsc;
use std::time::Duration;

use fixbolt_dictionary::{LoadError, Source, Validator};
use loading::load;

const HEADER: &str = "<header><field name='BeginString' required='Y'/></header>";
const FIELDS: &str = "<field number='8' name='BeginString' type='STRING'/><field number='1' name='A' type='INT'/>\
    <field number='2' name='NoB' type='NUMINGROUP'/><field number='3' name='NoC' type='NUMINGROUP'/>";

fn file(messages: &str, components: &str, fields: &str) -> String {
    format!(
        "<fix major='4' minor='4'>\n{HEADER}\n<messages>{messages}</messages>\n<components>{components}</components>\n\
         <fields>{FIELDS}{fields}</fields></fix>"
    )
}

/// Runs `work` on a thread of its own, and gives up long after it should have ended.
fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = done.send(work());
    });
    wait.recv_timeout(Duration::from_secs(100)).expect("it has not ended")
}

fn count(text: String) -> (usize, usize, String) {
    ends(move || match Source::text(text).load() {
        Err(LoadError::Refused { faults, .. }) => {
            (faults.first().len(), faults.count(), faults.first()[0].to_string())
        }
        other => panic!("{other:?}"),
    })
}

fn refused(text: &str) -> String {
    load(Source::text(text)).expect_err("it is refused")[0].to_string()
}

#[test]
fn many_bad_references_end_with_the_first_faults_and_a_count() {
    let mut messages = String::from("<message name='M' msgtype='U'>");
    (0..200_000).for_each(|at| writeln!(messages, "<field name='X{at}'/>").expect("it is a string"));
    messages += "</message>";
    let (kept, all, first) = count(file(&messages, "", ""));
    assert_eq!((kept, all), (1000, 200_000));
    assert_eq!(first, "line 3: field 'X0' in message 'M': no field has this name");

    let mut table = "table 1\nversion FIX.4.4\nfield 1 A String\n".to_string();
    (0..200_000).for_each(|at| writeln!(table, "message U{at} M{at} 9").expect("it is a string"));
    let (kept, all, first) = count(table);
    assert_eq!((kept, all), (1000, 200_000));
    assert_eq!(first, "line 4: message U0: tag 9 is not a field");
}

#[test]
fn an_overlay_costs_what_it_is_long() {
    let overlay = |fields: &str, components: &str, messages: &str| {
        format!(
            "<fix extends='FIX.4.4'><fields>{fields}</fields><components>{components}</components>\
             <messages>{messages}</messages></fix>"
        )
    };
    let many = |line: &dyn Fn(usize) -> String| (0..40_000).map(line).collect::<String>();
    let values = many(&|at| format!("<value enum='x{at}' description='X{at}'/>"));
    let fields = format!("<field number='18' name='ExecInst' type='MULTIPLEVALUESTRING'>{values}</field>");
    let fields = fields.replace(" type='MULTIPLEVALUESTRING'", "")
        + &many(&|at| format!("<field number='{}' name='X{at}' type='INT'/>", at + 6000));
    let members = many(&|at| format!("<field name='X{at}'/>"));
    let message = format!("<message name='NewOrderSingle' msgtype='D'>{members}</message>");
    let text = overlay(&fields, "", &message);
    let dialect = ends(move || Source::text(text).load().expect("it is right").dictionary);
    assert!(dialect.code(18, b"x39999").is_some() && dialect.field(45_999).is_some());
    let order = dialect.message(b"D").expect("it is defined");
    assert!(order.members.len() > 40_000);

    // The same large message again and again would cost its size each time.
    let again = message + &"<message name='NewOrderSingle' msgtype='D'/>".repeat(10_000);
    let (_, _, first) = count(overlay(&fields, "", &again));
    assert!(first.contains("more than 4000000 members together"), "{first}");
}

#[test]
fn components_that_double_each_other_are_refused() {
    let doubling = |levels: usize| {
        let mut components = "<component name='A0'><field name='A'/></component><component name='B0'><field name='A'/></component>"
            .to_string();
        for at in 1..levels {
            let below = at - 1;
            let inner = format!("<component name='A{below}'/><component name='B{below}'/>");
            for side in ["A", "B"] {
                write!(components, "\n<component name='{side}{at}'>{inner}</component>")
                    .expect("it is a string");
            }
        }
        let last = levels - 1;
        file(&format!("<message name='M' msgtype='U'><component name='A{last}'/></message>"), &components, "")
    };
    let (_, all, first) = count(doubling(30));
    assert_eq!(
        first,
        "line 37: component 'A17': it has 131072 members when its components and groups are replaced by theirs; \
         the limit is 100000"
    );
    // Each is told once, not with everything that contains it.
    assert_eq!(all, 2);
    let allowed = load(Source::text(doubling(16))).expect("it is within the limit").0;
    ends(move || Validator::new(&allowed));
}

#[test]
fn groups_that_double_each_other_are_refused() {
    let doubling = |levels: usize| {
        let mut table =
            "table 1\nversion FIX.4.4\nfield 8 BeginString String\nfield 1 A String\n".to_string();
        for at in 0..2 * levels {
            writeln!(table, "field {} No{at} NumInGroup", at + 100).expect("it is a string");
        }
        table += "group L0 100 1\ngroup R0 101 1\n";
        for at in 1..levels {
            let (left, right, below) = (100 + 2 * at, 101 + 2 * at, at - 1);
            writeln!(
                table,
                "group L{at} {left} 1 *L{below} *R{below}\ngroup R{at} {right} 1 *L{below} *R{below}"
            )
            .expect("it is a string");
        }
        let last = levels - 1;
        table + &format!("header 8!\nmessage U M *L{last} *R{last}\n")
    };
    let (_, _, first) = count(doubling(30));
    assert!(first.contains("members when its components and groups are replaced by theirs"), "{first}");
    let allowed = load(Source::text(doubling(14))).expect("it is within the limit").0;
    ends(move || Validator::new(&allowed));
}

#[test]
fn many_large_definitions_are_refused_together() {
    let members: String = (0..50_000).map(|at| format!("<field name='X{at}'/>")).collect();
    let fields: String =
        (0..50_000).map(|at| format!("<field number='{}' name='X{at}' type='INT'/>", at + 6000)).collect();
    let message =
        |at: usize| format!("<message name='M{at}' msgtype='U{at}'><component name='C'/></message>");
    let component = format!("<component name='C'>{members}</component>");
    let messages: String = (0..100).map(message).collect();
    let (_, _, first) = count(file(&messages, &component, &fields));
    assert!(first.contains("more than 4000000 members together"), "{first}");

    let messages: String = (0..3000)
        .map(|at| format!("<message name='M{at}' msgtype='U{at}'><field name='A'/></message>"))
        .collect();
    let (_, _, first) = count(file(&messages, "", &fields));
    assert!(first.contains("their product is limited to 67108864"), "{first}");
}

#[test]
fn a_large_file_is_refused_before_it_is_read() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("large.xml");
    std::fs::File::create(&path).and_then(|file| file.set_len(100 << 20)).expect("it can be written");
    let error = Source::file(&path).load().expect_err("it is too large");
    let told = format!(
        "{}: line 1: document: 104857600 bytes are too many for a dictionary; the limit is 33554432",
        path.display()
    );
    assert_eq!(error.to_string(), told);
    std::fs::remove_file(&path).expect("it is there");
    let text = file("", "", "");
    assert!(Source::text(&text).max_bytes(text.len()).load().is_ok());
    assert!(Source::text(&text).max_bytes(text.len() - 1).load().is_err());
    assert!(Source::bytes(text.as_bytes()).max_bytes(text.len() - 1).load().is_err());
}

#[test]
fn a_truncated_file_names_the_last_line() {
    let text = file("\n<message name='M' msgtype='U'>\n<field name='A'/>\n</message>\n", "", "");
    for end in text.find("<header").expect("it has one")..text.len() - 1 {
        let cut = &text[..end];
        let last = cut.trim_end().lines().count();
        let told = refused(cut);
        assert!(told.starts_with(&format!("line {last}: document: the text ends too early")), "{told} {cut}");
    }
}

#[test]
fn a_dictionary_without_header_is_warned_of() {
    let text = file("", "", "").replace(HEADER, "");
    let (_, warnings) = load(Source::text(&text)).expect("it is read");
    assert_eq!(warnings.len(), 2);
    assert!(
        warnings[0].to_string().starts_with("line 1: fix: it replaces all of FIX.4.4"),
        "{}",
        warnings[0]
    );
    assert!(warnings[1].to_string().starts_with("line 1: fix: there is no header"), "{}", warnings[1]);
    let (_, warnings) = load(Source::text("table 1\nversion FIX.4.4\n")).expect("it is read");
    assert_eq!(warnings.len(), 1);
    // The header of FIX.5.0 is that of its transport.
    let text = file("<message name='M' msgtype='U'/>", "", "").replace(HEADER, "");
    let (_, warnings) =
        load(Source::text(text.replace("major='4' minor='4'", "major='5' minor='0'"))).expect("it is read");
    assert_eq!(warnings, []);
}

#[test]
fn a_group_that_contains_its_own_count_field_is_refused() {
    let group = |inner: &str| {
        format!("<message name='M' msgtype='U'><group name='NoB'><field name='A'/>{inner}</group></message>")
    };
    let component = "<component name='C'><field name='A'/><field name='NoB'/></component>";
    for inner in [
        "<field name='NoB'/>",
        "<component name='C'/>",
        "<group name='NoB'><field name='A'/></group>",
        "<group name='NoC'><field name='A'/><field name='NoB'/></group>",
    ] {
        let told = refused(&file(&group(inner), component, ""));
        assert!(told.starts_with("line 3: group 'NoB' in"), "{told}");
        assert!(told.ends_with("the group contains the field that counts it, 2"), "{told}");
    }
    assert!(
        load(Source::text(file(&group("<group name='NoC'><field name='A'/></group>"), component, "")))
            .is_ok()
    );
}

#[test]
fn what_makes_parsing_slow_is_refused() {
    let attributes: String = (0..100_000).map(|at| format!(" a{at}='>'")).collect();
    assert!(
        refused(&format!("<fix>\n<a{attributes}/></fix>"))
            .ends_with("an element has more than 256 attributes")
    );
    let nested = "<a>\n".repeat(100_000);
    assert_eq!(refused(&nested), "line 257: document: elements are nested deeper than 256");
    let namespaces: String = (0..100).map(|at| format!("<a xmlns:n{at}='u{at}'>")).collect();
    assert!(refused(&namespaces).ends_with("there are more than 64 namespaces"));
    let comment = "<!-- <a> -->".repeat(1000);
    assert!(load(Source::text(file("", &comment, ""))).is_ok());
}

/// Each of the errors would quote the name of the message around it.
#[test]
fn a_long_name_is_not_quoted_again_and_again() {
    let fields: String = (0..20_000).map(|at| format!("<field name='X{at}'/>")).collect();
    let inside = |length: usize| {
        file(&format!("<message name='{}' msgtype='U'>{fields}</message>", "M".repeat(length)), "", "")
    };
    let (_, all, first) = count(inside(60_000));
    assert_eq!(all, 20_000);
    let name = "M".repeat(100);
    assert_eq!(first, format!("line 3: field 'X0' in message '{name}...': no field has this name"));
    assert_eq!(refused(&inside(70_000)), "line 3: document: a tag has more than 65536 bytes");

    let twice = |at: usize| format!("<field number='5' name='{}{at}' type='INT'/>", "F".repeat(60_000));
    let (_, all, first) = count(file("", "", &(0..400).map(twice).collect::<String>()));
    assert_eq!(all, 399);
    assert!(first.len() < 400, "{first}");
}
