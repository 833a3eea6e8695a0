//! `fixbolt dictionary`: lists, searches, compares, checks, compiles and exports dictionaries.

mod command;

use std::path::PathBuf;

use command::{directory, run};

const SMALL: &str = "<fix type='FIX' major='4' minor='4'><header><field name='BeginString' required='Y'/></header>
<messages><message name='Heartbeat' msgtype='0' msgcat='admin'><field name='TestReqID' required='N'/></message></messages>
<trailer><field name='CheckSum' required='Y'/></trailer>
<fields><field number='8' name='BeginString' type='STRING'/><field number='10' name='CheckSum' type='STRING'/><field number='112' name='TestReqID' type='STRING'/></fields></fix>";

#[test]
fn a_compiled_table_is_written_to_its_file_and_can_be_read_again() {
    let folder = directory("dictionary");
    let (source, table, again) =
        (folder.join("small.xml"), folder.join("small.txt"), folder.join("again.txt"));
    std::fs::write(&source, SMALL).unwrap();
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let ended = run(&["dictionary", "compile", &text(&source), "-o", &text(&table)]);
    assert_eq!((ended.status, ended.out.as_str()), (0, ""), "{}", ended.err);
    let made = std::fs::read_to_string(&table).unwrap();
    assert!(made.contains("version FIX.4.4") && made.contains("source small.xml sha256:"), "{made}");
    let ended = run(&["dictionary", "compile", &text(&source)]);
    assert_eq!((ended.status, ended.out), (0, made.clone()));
    // A table is also a valid source.
    assert_eq!(run(&["dictionary", "compile", &text(&table), "-o", &text(&again)]).status, 0);
}

#[test]
fn an_error_in_a_source_is_reported_with_its_line_and_nothing_is_written() {
    let folder = directory("dictionary-wrong");
    let (source, table) = (folder.join("wrong.xml"), folder.join("table.txt"));
    std::fs::write(&source, SMALL.replace("field name='TestReqID'", "field name='Nothing'")).unwrap();
    let ended = run(&["dictionary", "compile", source.to_str().unwrap(), "-o", table.to_str().unwrap()]);
    assert_eq!(ended.status, 1);
    assert!(ended.err.contains("wrong.xml: line 2: ") && ended.err.contains("Nothing"), "{}", ended.err);
    assert!(!table.exists());
    std::fs::write(&source, b"\xfd\xfe").unwrap();
    let ended = run(&["dictionary", "compile", source.to_str().unwrap()]);
    assert_eq!(ended.status, 1);
    assert!(ended.err.contains("byte 0 is not UTF-8"), "{}", ended.err);
}

#[test]
fn the_shipped_tables_are_made_by_this_command() {
    let shared = std::env::var_os("FIXBOLT_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let tables = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dictionary/tables");
    for (source, table) in [("OrchestraFIX42.xml", "FIX.4.2.txt"), ("OrchestraFIX44.xml", "FIX.4.4.txt")] {
        let source = shared.join("dictionaries/orchestra").join(source);
        if !source.exists() {
            eprintln!("shared folder absent: 1 check skipped");
            continue;
        }
        let license = "Apache-2.0 (FIX Orchestra, FIX Trading Community)";
        let corrections = tables.join("corrections.txt");
        let ended = run(&[
            "dictionary",
            "compile",
            "--corrections",
            corrections.to_str().unwrap(),
            "--license",
            license,
            source.to_str().unwrap(),
        ]);
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert!(ended.out == std::fs::read_to_string(tables.join(table)).unwrap(), "{table} differs");
    }
}

#[test]
fn a_correction_that_does_not_fit_is_an_error_with_its_line() {
    let text = "<fix major='4' minor='4'><header><field name='A' required='Y'/></header><messages/>\
        <fields><field number='8' name='A' type='STRING'/></fields></fix>";
    let source = small("dictionary-corrections", text);
    let corrections = directory("dictionary-corrections-file").join("corrections.txt");
    let compile = |lines: &str| {
        std::fs::write(&corrections, lines).unwrap();
        run(&["dictionary", "compile", "--corrections", corrections.to_str().unwrap(), &source])
    };
    let corrected = compile("# why\nFIX.4.4 field 8 union=Qty\nFIX.4.2 field 9 union=Qty\n");
    assert!(
        corrected.status == 0 && corrected.out.contains("field 8 A String union=Qty"),
        "{}",
        corrected.err
    );
    let refused = compile("FIX.4.4 field 9 union=Qty");
    assert_eq!((refused.status, refused.out.as_str()), (1, ""));
    assert!(refused.err.contains("line 1: FIX.4.4 field 9 union=Qty: it changes nothing"), "{}", refused.err);
}

/// A small file of our own, written to this test's directory.
fn small(test: &str, text: &str) -> String {
    let path = directory(test).join("small.xml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_shipped_versions_are_listed_with_their_counts() {
    let ended = run(&["dictionary", "list"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let rows: Vec<Vec<&str>> = ended.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 11, "{}", ended.out);
    let fix44 = rows.iter().find(|row| row[0] == "FIX.4.4").expect("it is listed");
    assert_eq!(fix44[1..], ["FIX.4.4", "6", "93", "912", "247", "1726", "13", "92", "OrchestraFIX44.xml"]);
    let ended = run(&["dictionary", "list", "-o", "json"]);
    assert_eq!((ended.status, ended.out.lines().count()), (0, 10));
    assert!(
        ended.out.contains(r#"{"version":"FIXT.1.1","begin_string":"FIXT.1.1","messages":8,"#),
        "{}",
        ended.out
    );
}

#[test]
fn a_field_is_shown_by_name_and_tag_with_type_codes_and_places() {
    for word in ["Side", "side", "54"] {
        let ended = run(&["dictionary", "show", word]);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        let lines: Vec<&str> = ended.out.lines().collect();
        assert_eq!(lines[..3], ["field Side (54), char, FIX.4.4", "  code     1  BUY", "  code     2  SELL"]);
        assert!(lines.contains(&"  in       message D NewOrderSingle, required"));
        assert!(lines.contains(&"  in       message S Quote"));
        assert!(lines.contains(&"  in       group ListOrdGrp, required"));
    }
    let ended = run(&["dictionary", "show", "RawData", "-o", "json"]);
    assert!(
        ended.out.starts_with(
            r#"{"version":"FIX.4.4","kind":"field","tag":96,"name":"RawData","type":"data","length_tag":95,"codes":[],"in":[{"kind":"message","msg_type":"A","name":"Logon","required":false}"#
        ),
        "{}",
        ended.out
    );
    assert!(run(&["dictionary", "show", "27"]).out.contains("  or       a quantity\n"));
    assert!(run(&["dictionary", "show", "453"]).out.contains("  counts   group Parties\n"));
    assert!(
        run(&["dictionary", "show", "header"])
            .out
            .starts_with("header, FIX.4.4 (* required)\n  *     8  Begin")
    );
}

#[test]
fn a_message_is_shown_as_a_tree_of_its_members() {
    for word in ["D", "NewOrderSingle", "OrderSingle"] {
        let ended = run(&["dictionary", "show", word, "-d", "fix44"]);
        assert_eq!(ended.status, 0);
        let rows: Vec<String> =
            ended.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(rows[0], "message NewOrderSingle (D), FIX.4.4 (* required)");
        for row in [
            "* 11 ClOrdID String",
            "453 NoPartyIDs group Parties",
            "* Instrument component",
            "93 SignatureLength Length",
            "* 54 Side char, 16 codes",
        ] {
            // The trailer's fields are not the message's.
            assert_eq!(rows.iter().any(|have| have == row), !row.starts_with("93"), "{row}\n{}", ended.out);
        }
        let party = ended.out.lines().find(|line| line.contains("PartyID ")).expect("it is a member");
        assert!(party.starts_with("      448    PartyID "), "{party}");
    }
    let ended = run(&["dictionary", "show", "Parties", "-o", "json"]);
    assert!(
        ended.out.starts_with(
            r#"{"version":"FIX.4.4","kind":"group","name":"Parties","count_tag":453,"delimiter":448,"members":[{"kind":"field","tag":448,"#
        ),
        "{}",
        ended.out
    );
}

#[test]
fn every_meaning_of_a_word_is_shown() {
    let heads = |word: &str| {
        let out = run(&["dictionary", "show", word]).out;
        out.lines()
            .filter(|line| !line.starts_with(' ') && !line.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        heads("8"),
        ["field BeginString (8), String, FIX.4.4", "message ExecutionReport (8), FIX.4.4 (* required)"]
    );
    assert_eq!(heads("fill-or-kill"), ["code FILL_OR_KILL = 4 of TimeInForce (59)"]);
    assert!(heads("CANCEL").len() > 5);
}

#[test]
fn an_unknown_word_gets_similar_names() {
    for (words, said) in [
        (&["Symbl"][..], "nothing in FIX.4.4 is called 'Symbl'; did you mean Symbol"),
        (&["ApplVerID"], "FIX.5.0, FIX.5.0SP1, FIX.5.0SP2, FIX.Latest, FIXT.1.1 have it: try -d FIX.Latest"),
        (&["FundRenewWaiv2", "-d", "4.0"], "nothing in 4.0 is called 'FundRenewWaiv2'\n"),
        (&["underlyingsec"], "names that contain it: UnderlyingSecurityID"),
        (&["99999"], "nothing in FIX.4.4 is called '99999'\n"),
    ] {
        let ended = run(&[&["dictionary", "show"], words].concat());
        assert_eq!((ended.status, ended.out.as_str()), (1, ""));
        assert!(ended.err.contains(said), "{}", ended.err);
    }
    let ended = run(&["dictionary", "show", "Side", "-d", "fix4.5"]);
    assert_eq!(ended.status, 2);
    assert!(
        ended.err.starts_with("fixbolt: fix4.5 is none of the versions FIX.4.0, FIX.4.1, "),
        "{}",
        ended.err
    );
    let ended = run(&["dictionary", "show", "Side", "-d", "nowhere.xml"]);
    assert_eq!(ended.err, "fixbolt: cannot read nowhere.xml: No such file or directory\n");
}

#[test]
fn each_difference_is_one_line_and_the_status_is_1() {
    let ended = run(&["dictionary", "diff", "4.4", "FIX44"]);
    assert_eq!((ended.status, ended.out.as_str()), (0, "--- 4.4\n+++ FIX44\nno differences\n"));
    let one = small("dictionary-diff", SMALL);
    let other = small(
        "dictionary-diff-other",
        &SMALL.replace("name='TestReqID' required='N'", "name='TestReqID' required='Y'"),
    );
    let ended = run(&["dictionary", "diff", &one, &other]);
    let expected = format!(
        "--- {one}\n+++ {other}\n~ member 0 Heartbeat/TestReqID(112): optional -> required\n1 difference: required 1\n"
    );
    assert_eq!((ended.status, ended.out), (1, expected));
    let ended = run(&["dictionary", "diff", &one, &other, "-o", "json"]);
    let expected =
        r#"{"kind":"required","place":"0 Heartbeat","tag":112,"name":"TestReqID","left":false,"right":true}"#;
    assert_eq!((ended.status, ended.out.trim_end()), (1, expected));
    let ended = run(&["dictionary", "diff", "4.2", "4.4", "-o", "json"]);
    assert_eq!(ended.status, 1);
    assert!(ended.out.lines().all(|line| line.starts_with(r#"{"kind":""#) && line.ends_with('}')));
    assert!(!ended.out.contains(r#""text":"#), "every kind has keys of its own");
}

#[test]
fn a_dictionary_is_written_for_other_engines_and_read_back() {
    let folder = directory("dictionary-export");
    let file = folder.join("FIX44.xml").to_str().unwrap().to_owned();
    let ended = run(&["dictionary", "export", "--to", "quickfix-xml", "fix44", "-o", &file]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (0, "", ""));
    assert_eq!(run(&["dictionary", "diff", "4.4", &file]).status, 0);
    let ended = run(&["dictionary", "export", "4.4"]);
    assert_eq!((ended.status, ended.out), (0, std::fs::read_to_string(&file).unwrap()));
    assert_eq!(run(&["dictionary", "export", "4.4", "-o", "/nowhere/file"]).status, 2);
    assert_eq!(run(&["dictionary", "export", "4.4", "--to", "word"]).status, 2);
}

#[test]
fn a_check_warns_of_what_generate_renames_or_refuses() {
    let own = "<fix major='4' minor='4'><header><field name='BeginString'/></header><trailer/><components/>\n<messages>\
        <message name='Handler' msgtype='U1'><field name='Type'/><field name='Blob'/></message></messages>\n<fields>\n\
        <field number='5001' name='Type' type='STRING'/>\n\
        <field number='95' name='BlobLen' type='LENGTH'/><field number='5003' name='Blob' type='DATA'/>\
        <field number='8' name='BeginString' type='STRING'/></fields></fix>";
    let refused = small("dictionary-check-refused", own);
    let ended = run(&["dictionary", "check", &refused]);
    let line = format!("{refused}:5: warning: field 5003 (Blob): no typed messages can be generated: ");
    assert!(ended.status == 0 && ended.out.starts_with(&line), "{}", ended.out);
    let renamed = small("dictionary-check-renamed", &own.replace("'95'", "'5002'"));
    let ended = run(&["dictionary", "check", &renamed]);
    let warned: Vec<&str> = ended.out.lines().filter(|line| line.contains(": warning: ")).collect();
    assert!(warned[0].starts_with(&format!("{renamed}:2: warning: message Handler (U1): ")), "{warned:?}");
    assert!(warned[0].contains("calls it `Handler_`"), "{warned:?}");
    assert!(warned[1].starts_with(&format!("{renamed}:4: warning: field 5001 (Type): ")), "{warned:?}");
    assert!(warned.len() == 2 && ended.status == 0, "{}", ended.out);
}

#[test]
fn a_check_reports_every_error_with_its_line() {
    let good = small("dictionary-check", SMALL);
    let ended = run(&["dictionary", "check", &good]);
    let expected = format!("{good}: a dictionary of FIX.4.4, 1 message, 3 fields, 0 warnings\n");
    assert_eq!((ended.status, ended.out, ended.err.as_str()), (0, expected, ""));
    let odd = small(
        "dictionary-check-odd",
        &SMALL.replace("type='STRING'/></fields>", "type='STRANGE'/></fields>"),
    );
    let ended = run(&["dictionary", "check", &odd]);
    assert_eq!(ended.status, 0);
    assert!(
        ended.out.starts_with(&format!("{odd}:4: warning: field 'TestReqID': unknown type 'STRANGE'")),
        "{}",
        ended.out
    );
    let wrong =
        SMALL.replace("field name='TestReqID'", "field name='Nothing'").replace("number='10'", "number='8'");
    let wrong = small("dictionary-check-wrong", &wrong);
    let ended = run(&["dictionary", "check", &good, &wrong]);
    assert_eq!(ended.status, 1);
    let errors: Vec<&str> = ended.out.lines().filter(|line| line.contains(": error: ")).collect();
    assert_eq!(errors.len(), 2, "{}", ended.out);
    assert!(
        errors[0].starts_with(&format!("{wrong}:2: ")) && errors[1].starts_with(&format!("{wrong}:4: ")),
        "{errors:?}"
    );
    assert!(ended.out.ends_with(&format!("{wrong}: not a dictionary, 2 errors\n")));
    let ended = run(&["dictionary", "check", "-o", "json", &wrong]);
    assert_eq!(ended.status, 1);
    assert!(
        ended.out.contains(r#""valid":false,"error_count":2,"errors":[{"line":2,"element":"#),
        "{}",
        ended.out
    );
    assert_eq!(run(&["dictionary", "check", "nowhere.xml"]).status, 2);
    // Other commands print one line for such a file, which says how to see the rest.
    let ended = run(&["dictionary", "show", "-d", &wrong, "8"]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.ends_with("(1 more: `fixbolt dictionary check` shows them)\n"), "{}", ended.err);
}

/// Quirks of published files: QuickFIX/J's FIX50SP1.xml says 5.0, CME's has a tag twice, and
/// others are ISO-8859-1.
#[test]
fn every_command_reads_a_file_with_the_same_options() {
    let text = SMALL.replace("name='TestReqID' required", "name='Other' required").replace(
        "<field number='112'",
        "<field number='112' name='M\u{fc}ller' type='INT'/><field number='112' name='Other' type='STRING'/><field number='113'",
    );
    let folder = directory("dictionary-options");
    let file = folder.join("venue.xml").to_str().unwrap().to_owned();
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    std::fs::write(&file, latin).unwrap();
    let out = folder.join("out").to_str().unwrap().to_owned();
    let options = ["--encoding", "iso-8859-1", "--accept-duplicate-tags", "--version", "FIX.4.3"];
    for command in [
        &["dictionary", "check", &file][..],
        &["dictionary", "show", "M\u{fc}ller", "-d", &file],
        &["dictionary", "diff", &file, &file],
        &["dictionary", "export", &file],
        &["dictionary", "compile", &file],
        &["generate", &file, "--out", &out],
    ] {
        let strict = run(command);
        assert_ne!(strict.status, 0, "{command:?}");
        assert!(strict.err.contains("not UTF-8") || strict.out.contains("not UTF-8"), "{}", strict.err);
        let ended = run(&[command, &options].concat());
        assert_eq!(ended.status, 0, "{command:?}: {}{}", ended.err, ended.out);
        assert_ne!(run(&[command, &options[..2]].concat()).status, 0, "{command:?}");
    }
    let made = run(&[&["dictionary", "compile", &file][..], &options].concat()).out;
    assert!(made.contains("version FIX.4.3\n"), "{made}");
    let whole = run(&["dictionary", "show", "header", "-d", "5.0sp2", "--transport", "FIXT"]);
    assert_eq!(whole.status, 0, "{}", whole.err);
    // They would not change a shipped version, so nobody may think that they did.
    let ended = run(&["dictionary", "show", "D", "-d", "latest", "--as-of", "4.4"]);
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    assert_eq!(ended.err, "fixbolt: --as-of is for files, and latest is a shipped version\n");
    let ended = run(&["dictionary", "show", "D", "--version", "FIX.4.2"]);
    assert_eq!(
        (ended.status, ended.err.as_str()),
        (
            2,
            "fixbolt: --version is for files, and FIX.4.4 is a shipped version; name FIX.4.2 as the dictionary instead\n"
        )
    );
    assert_eq!(run(&["dictionary", "diff", "4.2", "4.4", "--standard-names"]).status, 2);
    let ended = run(&[&["dictionary", "diff", "4.3", &file][..], &options].concat());
    assert_eq!(ended.status, 1, "{}", ended.err);
}

#[test]
fn the_license_is_that_of_what_was_shipped_or_what_the_user_says() {
    let file = small("dictionary-license", SMALL);
    let source_line = |arguments: &[&str]| {
        let table = run(&[&["dictionary", "compile"], arguments].concat()).out;
        table.lines().find(|line| line.starts_with("source ")).unwrap().to_owned()
    };
    let own = source_line(&[&file]);
    assert!(own.starts_with("source small.xml sha256:") && own.ends_with(' '), "{own}");
    assert!(source_line(&[&file, "--license", "ours alone"]).ends_with(" ours%20alone"));
    let exported = run(&["dictionary", "export", &file]).out;
    assert!(exported.contains("<!-- FIX.4.4 from small.xml -->"), "{exported}");
    let exported = run(&["dictionary", "export", &file, "--license", "ours alone"]).out;
    assert!(exported.contains("<!-- FIX.4.4 from small.xml, ours alone -->"), "{exported}");
    let shipped = run(&["dictionary", "export", "FIX.4.3"]).out;
    assert!(shipped.contains("<!-- FIX.4.3 from FIX43.xml, QuickFIX Software License 1.0"), "{shipped}");
    // An overlay has the shipped facts, too.
    let overlay = small("dictionary-license-overlay", "<fix extends='FIX.4.4'/>");
    let both = source_line(&[&overlay, "--license", "ours alone"]);
    assert!(
        both.ends_with("Apache-2.0%20(FIX%20Orchestra,%20FIX%20Trading%20Community);%20ours%20alone"),
        "{both}"
    );
    let over = run(&[
        "dictionary",
        "export",
        &small(
            "dictionary-license-50",
            &SMALL
                .replace("major='4' minor='4'", "major='5' minor='0'")
                .replace("<field name='BeginString' required='Y'/></header>", "</header>"),
        ),
        "--transport",
        "FIXT",
        "--license",
        "ours",
    ])
    .out;
    assert!(over.contains("from small.xml, ours; Apache-2.0"), "{over}");
}

#[test]
fn scenarios_constants_and_conditions_are_shown() {
    let text = "<repository name='FIX.4.4'><fields><field id='8' name='BeginString' type='String'/>\
        <field id='22' name='Source' type='String'/><field id='99' name='StopPx' type='Price'/></fields>\
        <components><component id='1' name='StandardHeader'><fieldRef id='8'/></component></components><messages>\
        <message name='Order' msgType='D'><structure><fieldRef id='22' presence='constant' value='4'/>\
        <fieldRef id='99'><rule name='Stop' presence='required'><when>OrdType == ^Stop</when></rule></fieldRef></structure></message>\
        <message name='Order' msgType='D' scenario='Stop'><structure><fieldRef id='99' presence='required'/></structure></message>\
        </messages></repository>";
    let file = small("dictionary-scenarios", text);
    let shown = run(&["dictionary", "show", "D", "-d", &file]).out;
    assert!(shown.contains("Source  String, always 4\n"), "{shown}");
    assert!(shown.contains("StopPx  Price, required when OrdType == ^Stop\n"), "{shown}");
    let shown = run(&["dictionary", "show", "D", "-d", &file, "-o", "json"]).out;
    assert!(shown.contains(r#""required":false,"constant":"4"}"#), "{shown}");
    let rule = r#""rules":[{"name":"Stop","presence":"required","when":"OrdType == ^Stop"}]"#;
    assert!(shown.contains(rule), "{shown}");
    let shown = run(&["dictionary", "show", "D", "-d", &file, "--scenario", "Stop"]).out;
    assert!(shown.contains("*    99  StopPx") && !shown.contains("Source"), "{shown}");
    assert_eq!(run(&["dictionary", "check", &file, "--scenario", "Limit"]).status, 1);
}
