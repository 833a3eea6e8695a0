//! `fixbolt generate`: a module to include, and what is wrong with a dictionary.

mod command;

use command::{directory, run};

const PAINT: &str = "<fix extends='FIX.4.4'>
<fields><field number='5001' name='Colour' type='CHAR'><value enum='1' description='RED'/></field></fields>
<messages><message name='Paint' msgtype='U1'><field name='Colour' required='Y'/></message></messages></fix>";

#[test]
fn a_module_is_written_and_the_dependency_it_needs_is_shown() {
    let folder = directory("generate");
    let (source, out) = (folder.join("Paint.xml"), folder.join("src"));
    std::fs::write(&source, PAINT).unwrap();
    let (source, out) = (source.to_str().unwrap(), out.to_str().unwrap());
    let ended = run(&["generate", source, "--out", out]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert!(
        ended.out.contains("pub mod paint;") && ended.out.contains("fixbolt-messages = "),
        "{}",
        ended.out
    );
    let module = std::fs::read_to_string(format!("{out}/paint.rs")).unwrap();
    assert!(module.starts_with("#![allow(clippy::all, dead_code, unreachable_pub)]"));
    assert!(module.contains("pub struct NewOrderSingle<'m>") && module.contains("pub struct Paint<'m>"));
    let ended = run(&["generate", "FIX.4.2", "--out", out, "-o", "json"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.out.contains("\"module\":\"fix42\",\"version\":\"FIX.4.2\""), "{}", ended.out);
    assert!(std::fs::exists(format!("{out}/fix42.rs")).unwrap());
    assert_eq!(run(&["generate", "FIX.5.0SP2", "--out", out]).status, 0);
    let module = std::fs::read_to_string(format!("{out}/fix50sp2.rs")).unwrap();
    assert!(module.contains("pub struct Logon<'m>") && module.contains("pub struct Header<'m>"));
}

#[test]
fn only_the_messages_that_are_named_are_written_with_what_they_use() {
    let out = directory("generate-messages").join("src");
    let generate = |types| run(&["generate", "FIX.4.4", "--messages", types, "--out", out.to_str().unwrap()]);
    let ended = generate("D,8,f");
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.out.contains(" 3 messages\n"), "{}", ended.out);
    let ended = generate("D,8,D");
    assert!(ended.out.contains(" 2 messages\n"), "{}", ended.out);
    let ended = generate("D,newordersingle,Order");
    let lines: Vec<&str> = ended.err.lines().collect();
    let near = "error: FIX.4.4: messages: no message has the MsgType \"newordersingle\"; near it are D (NewOrderSingle)";
    assert_eq!((ended.status, lines.len(), lines[0]), (1, 2, near));
    assert!(lines[1].contains("F (OrderCancelRequest), "), "{}", lines[1]);
}

#[test]
fn the_dependency_of_a_dialect_has_the_feature_of_its_base() {
    let out = directory("generate-base").join("src");
    for (base, feature) in [("FIX.4.4", "fix44"), ("FIX.5.0SP2", "fix50sp2"), ("FIX.Latest", "fix-latest")] {
        let out = out.to_str().unwrap();
        let ended = run(&["generate", "FIX.4.4", "--base", base, "--messages", "D", "--out", out]);
        let features = format!("features = [\"{feature}\"]");
        assert!(ended.out.contains(&features), "{} {}", ended.out, ended.err);
    }
}

#[test]
fn every_error_in_a_dictionary_is_reported_with_its_line_and_nothing_is_written() {
    let folder = directory("generate-wrong");
    let (source, out) = (folder.join("paint.xml"), folder.join("src"));
    let write = |text: &str| std::fs::write(&source, text).unwrap();
    let name = source.to_str().unwrap();
    let generate = |more: &[&str]| run(&[&["generate", name, "--out", out.to_str().unwrap()], more].concat());

    write(&PAINT.replace("field name='Colour'", "field name='Color'").replace("5001", "58"));
    let ended = generate(&[]);
    let expected = format!(
        "error: {name}:2: field 'Colour': field 58 is 'Text' in FIX.4.4\n\
         error: {name}:3: field 'Color' in message 'Paint': no field has this name\n"
    );
    assert_eq!((ended.status, ended.out.as_str(), ended.err), (1, "", expected));

    // It can be read but not generated: no field has the length of the data.
    write(&PAINT.replace("CHAR", "DATA").replace("<value enum='1' description='RED'/>", ""));
    let ended = generate(&["-o", "json"]);
    assert_eq!(ended.status, 1);
    let expected = format!(
        "{{\"kind\":\"error\",\"file\":\"{name}\",\"line\":2,\"element\":\"field 5001 (Colour)\",\"reason\":\"a data field without a length field\"}}\n"
    );
    assert_eq!((ended.out, ended.err), (expected, String::new()));
    assert!(!out.exists());

    let ended = run(&["generate", "absent.xml", "--out", "."]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.starts_with("fixbolt: cannot read absent.xml: "), "{}", ended.err);
}
