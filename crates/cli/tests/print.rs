//! `fixbolt print` with every form of input, valid and invalid.

mod command;

use std::io::Read;
use std::process::Stdio;

use fixbolt_conformance::secrets;

use command::{directory, fixbolt, message, run, run_with_input};

const ORDER: &str = "35=D|49=DLD_TEX|56=TEX_DLD|34=499650|52=20121227-11:20:43|11=ord509647-500000|21=1|55=BHP|54=1|60=20121227-11:20:14|38=57.00|40=2|44=298.075|59=4|";

fn order() -> String {
    message("FIX.4.2", ORDER)
}

#[test]
fn a_message_is_a_block_with_names_of_fields_and_values() {
    let ended = run_with_input(&["print", "-"], order().as_bytes());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let expected = "\
OrderSingle (D)  [standard input:1]
  header
    BeginString (8): FIX.4.2
    BodyLength (9): 146
    MsgType (35): NEW_ORDER_SINGLE (D)
    SenderCompID (49): DLD_TEX
    TargetCompID (56): TEX_DLD
    MsgSeqNum (34): 499650
    SendingTime (52): 20121227-11:20:43
  body
    ClOrdID (11): ord509647-500000
    HandlInst (21): AUTOMATED_EXECUTION_NO_INTERVENTION (1)
    Symbol (55): BHP
    Side (54): BUY (1)
    TransactTime (60): 20121227-11:20:14
    OrderQty (38): 57.00
    OrdType (40): LIMIT (2)
    Price (44): 298.075
    TimeInForce (59): FILL_OR_KILL (4)
  trailer
    CheckSum (10): ";
    assert!(ended.out.starts_with(expected), "{}", ended.out);
}

#[test]
fn groups_are_indented_and_each_entry_is_marked() {
    let list = message(
        "FIX.4.4",
        "35=D|49=A|56=B|34=2|52=20261121-09:00:00|11=o|453=2|448=X|447=D|452=1|802=1|523=sub|803=1|448=Y|447=D|452=3|55=IBM|54=1|60=20261121-09:00:00|40=1|38=5|18=G 6|",
    );
    let ended = run_with_input(&["print", "-"], list.as_bytes());
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    let expected = "    NoPartyIDs (453): 2
      - PartyID (448): X
        PartyIDSource (447): PROPRIETARY (D)
        PartyRole (452): EXECUTING_FIRM (1)
        NoPartySubIDs (802): 1
          - PartySubID (523): sub
            PartySubIDType (803): FIRM (1)
      - PartyID (448): Y
        PartyIDSource (447): PROPRIETARY (D)
        PartyRole (452): CLIENT_ID (3)
    Symbol (55): IBM
";
    assert!(ended.out.contains(expected), "{}", ended.out);
    assert!(
        ended.out.contains("ExecInst (18): ALL_OR_NONE PARTICIPATE_DO_NOT_INITIATE (G 6)"),
        "{}",
        ended.out
    );
    let one_line = run_with_input(&["print", "--oneline", "-"], list.as_bytes());
    assert!(
        one_line.out.contains("NoPartyIDs=2 [ PartyID=X PartyIDSource=PROPRIETARY PartyRole=EXECUTING_FIRM NoPartySubIDs=1 [ PartySubID=sub PartySubIDType=FIRM ] ] [ PartyID=Y"),
        "{}",
        one_line.out
    );
    assert_eq!(one_line.out.lines().count(), 1);
}

#[test]
fn groups_in_another_order_are_invalid_unless_they_are_read_as_sent() {
    let parties = "453=2|447=D|448=X|452=1|447=D|452=3|448=Y|";
    let order = message(
        "FIX.4.4",
        &format!(
            "35=D|49=A|56=B|34=2|52=20261121-09:00:00|11=o|{parties}55=IBM|54=1|60=20261121-09:00:00|40=1|38=5|"
        ),
    );
    let ended = run_with_input(&["print", "-"], order.as_bytes());
    assert_eq!(ended.status, 1);
    let told = "INVALID: PartyIDSource (447): out of order repeating group members, in entry 1 of NoPartyIDs (453), whose entries begin with PartyID (448); --groups-as-sent 453 accepts the order";
    assert_eq!(ended.out.matches(told).count(), 1, "{}", ended.out);
    for groups in ["453", "268,453", "all"] {
        let ended = run_with_input(&["print", "--groups-as-sent", groups, "-"], order.as_bytes());
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        let expected = "    NoPartyIDs (453): 2
      - PartyIDSource (447): PROPRIETARY (D)
        PartyID (448): X
        PartyRole (452): EXECUTING_FIRM (1)
      - PartyIDSource (447): PROPRIETARY (D)
        PartyRole (452): CLIENT_ID (3)
        PartyID (448): Y
    Symbol (55): IBM
";
        assert!(ended.out.contains(expected), "{}", ended.out);
    }
    for (groups, told) in [("448", "448 counts no group of any version"), ("x", "tags of count fields")] {
        let ended = run_with_input(&["print", "--groups-as-sent", groups, "-"], order.as_bytes());
        assert!(ended.status == 2 && ended.err.contains(told), "{}", ended.err);
    }
}

#[test]
fn logs_of_three_engines_are_read_and_their_prefix_is_shown() {
    let order = order();
    let bars = order.replace('\u{1}', "|");
    let log = format!(
        "20261121-09:00:00.123456789 : {order}\n2026/11/21 19:22:36.180819 {order}\n<20261121-19:21:44, FIX.4.2:EXEC->BANZAI, incoming> ({bars})\n<20261121-19:21:44, FIX.4.2:EXEC->BANZAI, event> (Received logon)\n\n{bars}\n"
    );
    let path = directory("print-logs").join("messages.log");
    std::fs::write(&path, log).unwrap();
    let ended = run(&["print", path.to_str().unwrap()]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert_eq!(ended.out.matches("ClOrdID (11): ord509647-500000").count(), 4);
    for prefix in ["20261121-09:00:00.123456789 :", "2026/11/21 19:22:36.180819", "EXEC->BANZAI, incoming> ("]
    {
        assert!(ended.out.contains(prefix), "{prefix}");
    }
}

#[test]
fn the_errors_of_a_message_are_listed_at_its_head() {
    let good = order();
    let sum = &good[good.len() - 4..good.len() - 1];
    for (wrong, told) in [
        (good.replace("9=146", "9=147"), "INVALID: BodyLength (9) is 147, the body has 146 bytes"),
        (good.replace(&format!("10={sum}"), "10=000"), "INVALID: CheckSum (10) is 000, expected"),
        (good[..good.len() - 7].to_owned(), "INVALID: cut off: there is no CheckSum (10) at the end"),
        (message("FIX.4.2", &ORDER.replace("54=1", "54=Z")), "INVALID: Side (54): value is incorrect"),
        (message("FIX.4.2", &ORDER.replace("55=BHP|", "")), "INVALID: Symbol (55): required tag missing"),
        (
            message("FIX.4.2", &ORDER.replace("35=D|49=DLD_TEX|", "49=DLD_TEX|35=D|")),
            "INVALID: MsgType (35) is not the third field",
        ),
    ] {
        let ended = run_with_input(&["print", "-"], wrong.as_bytes());
        assert_eq!(ended.status, 1, "{told}");
        assert!(ended.out.contains(told), "{told}:\n{}", ended.out);
        assert!(ended.out.contains("ClOrdID (11): ord509647-500000"), "the fields are shown nevertheless");
    }
}

/// Returns the problems in the JSON of the only message in `input`.
fn problems(input: &str) -> String {
    let ended = run_with_input(&["print", "-o", "json"], input.as_bytes());
    assert_eq!(ended.out.lines().count(), 1, "{input}: {}{}", ended.out, ended.err);
    let (_, problems) = ended.out.split_once(r#""problems":["#).unwrap();
    problems.split_once(r#"],"fields""#).unwrap().0.to_owned()
}

#[test]
fn an_application_version_in_begin_string_is_named_and_its_dictionary_shows_the_message() {
    // Each version has codes that the one before does not have.
    let order = ORDER.replace("59=4|", "59=8|167=FXSPOT|");
    for (begin_string, time_in_force, security_type) in [
        ("FIX.5.0", "8", "FXSPOT"),
        ("FIX.5.0SP1", "GOOD_THROUGH_CROSSING (8)", "FXSPOT"),
        ("FIX.5.0SP2", "GOOD_THROUGH_CROSSING (8)", "FX_SPOT (FXSPOT)"),
        ("FIX50SP2", "GOOD_THROUGH_CROSSING (8)", "FX_SPOT (FXSPOT)"),
    ] {
        let order = message(begin_string, &order);
        for dictionary in [&[][..], &["--dictionary", "5.0sp2"]] {
            let ended = run_with_input(&[&["print"], dictionary].concat(), order.as_bytes());
            assert_eq!((ended.status, ended.err.as_str()), (1, ""), "{}", ended.out);
            for expected in [
                format!(
                    "  INVALID: BeginString (8) is {begin_string}, an application version: its messages begin with FIXT.1.1\n"
                ),
                format!("  header\n    BeginString (8): {begin_string}\n    BodyLength (9): "),
                format!("    TimeInForce (59): {time_in_force}\n"),
                format!("    SecurityType (167): {security_type}\n"),
            ] {
                assert!(ended.out.contains(&expected), "{expected}{}", ended.out);
            }
            assert!(!ended.out.contains("MsgType (35) is"), "{}", ended.out);
        }
    }
    let beat = message("FIX.5.0SP2", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|");
    let told = r#""BeginString (8) is FIX.5.0SP2, an application version: its messages begin with FIXT.1.1""#;
    assert_eq!(problems(&beat), told);
    assert_eq!(
        problems(&beat.replacen("9=", "9=1", 1)),
        format!(r#"{told},"BodyLength (9) is 141, the body has 41 bytes""#)
    );
    assert!(problems(&beat.replace("34=2", "34=3")).starts_with(&format!(r#"{told},"CheckSum (10) is "#)));
    // Everything else is read as it is.
    let news =
        message("FIX.5.0SP2", "35=B|49=A|56=B|34=2|52=20261121-09:00:00|148=x|33=1|58=y|95=9|96=a|10=1|bc|");
    let ended = run_with_input(&["print"], news.as_bytes());
    assert!(ended.out.contains("    RawData (96): a\\x0110=1\\x01bc\n  trailer\n"), "{}", ended.out);
    let check_sum = &news[news.len() - 4..news.len() - 1];
    assert!(ended.out.contains(&format!("    CheckSum (10): {check_sum}\n")), "{}", ended.out);
    let logon =
        message("FIX.5.0SP2", "35=A|49=A|56=B|34=1|52=20261121-09:00:00|98=0|108=30|1137=9|554=secret|");
    for logon in [logon.clone(), logon.replace("35=A|49=A|", "49=A|35=A|"), logon.replace("34=1", "34=2")] {
        assert!(!run_with_input(&["print"], logon.as_bytes()).out.contains("secret"));
    }
}

#[test]
fn what_is_wrong_is_named_and_not_what_follows_from_it() {
    let beat = message("FIX.4.4", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|");
    let form = r#""BeginString (8) is not of the form FIX.n.m or FIXT.n.m""#;
    let cut = r#""cut off: there is no CheckSum (10) at the end""#;
    let cases = [
        (message("FIX4.4", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|"), form.to_owned()),
        (message("FIX.4", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|"), form.to_owned()),
        (message("FIX4.4", "49=A|35=0|"), format!(r#"{form},"MsgType (35) is not the third field""#)),
        (
            beat.replace('\u{1}', "#"),
            r##""fields are separated by \"#\", which is not read as SOH""##.to_owned(),
        ),
        (
            beat.replace('\u{1}', "%01"),
            r#""fields are separated by \"%01\", which is not read as SOH""#.to_owned(),
        ),
        (
            "8=FIX.4.4\u{2}35=0\u{2}49=A\u{2}".to_owned(),
            r#""fields are separated by \"\\x02\", which is not read as SOH""#.to_owned(),
        ),
        (beat.replace('\u{1}', ""), r#""nothing separates the fields""#.to_owned()),
        ("8=FIX.4.4 is not a message".to_owned(), cut.to_owned()),
        ("8=FIX.4.4|9=5|35".to_owned(), cut.to_owned()),
        ("8=FIX.4.4|9=5|35=D|49=A|54=|".to_owned(), cut.to_owned()),
        (
            "8=FIX.4.4|9=5|35=D|49=A|54=Z|55=I".to_owned(),
            format!(r#"{cut},"Side (54): value is incorrect (out of range) for this tag""#),
        ),
        ("8=FIX.4.4|9=5|49=A|35=D|".to_owned(), format!(r#"{cut},"MsgType (35) is not the third field""#)),
        (
            "8=FIX.4.4|9=|35=0|10=000|".to_owned(),
            r#""BodyLength (9) is not a number, the body has 5 bytes""#.to_owned(),
        ),
        (
            "8=FIX.4.4|9=0|10=000|".to_owned(),
            r#""BodyLength (9) is missing, not a number, or 0 at byte 10""#.to_owned(),
        ),
    ];
    for (input, expected) in cases {
        let found = problems(&input);
        let required = ",\"MsgSeqNum (34): required";
        assert_eq!(found.split(required).next(), Some(&*expected), "{}", input.escape_debug());
        let ended = run_with_input(&["print"], input.as_bytes());
        assert_eq!(ended.err.contains("no dictionary"), input.starts_with("8=FIX.4\u{1}"), "{}", ended.err);
    }
}

#[test]
fn a_check_sum_that_is_not_three_digits_is_a_fault_of_check_sum() {
    let beat = message("FIX.4.4", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|");
    let body = &beat[..beat.len() - 4];
    let at = body.len() - 3;
    for sum in ["7", "61", "00", "1234", "abc", "1a2", ""] {
        for separator in SEPARATORS {
            let wrong = format!("{body}{sum}\u{1}").replace('\u{1}', separator);
            let log = format!("{wrong}\n{wrong}\n{}\n", beat.replace('\u{1}', separator));
            let ended = run_with_input(&["print", "-o", "json"], log.as_bytes());
            assert_eq!((ended.status, ended.err.as_str()), (1, ""));
            let told = format!(r#""problems":["CheckSum (10) at byte {at} is not three digits"],"#);
            assert_eq!(ended.out.matches(&told).count(), 2, "{sum} {separator}: {}", ended.out);
            let shown = format!(r#"{{"tag":10,"name":"CheckSum","value":"{sum}","#);
            assert_eq!(ended.out.matches(&shown).count(), 2, "{sum} {separator}: {}", ended.out);
            assert_eq!(ended.out.matches(r#""valid":true"#).count(), 1, "{}", ended.out);
        }
    }
}

#[test]
fn bytes_that_are_not_a_message_are_reported_with_their_position() {
    let input = format!("hello \u{1b}[2J\n{}\ngarbage", order());
    let ended = run_with_input(&["print", "-"], input.as_bytes());
    assert_eq!(ended.status, 1);
    assert!(
        ended.err.contains("standard input:1: not a message (11 bytes): hello \\x1b[2J"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("standard input:3: not a message (7 bytes): garbage"), "{}", ended.err);
    let empty = run_with_input(&["print", "-"], b"");
    assert_eq!((empty.status, empty.err.as_str()), (1, "standard input: no FIX message found\n"));
}

#[test]
fn secrets_are_masked_in_every_form() {
    let logon = message(
        "FIX.4.4",
        "35=A|49=A|56=B|34=1|52=20261121-09:00:00|98=0|108=30|95=6|96=geheim|553=me|554=secret|925=secret2|",
    );
    for form in [&["print", "-"][..], &["print", "--oneline", "-"], &["print", "-o", "json", "-"]] {
        let ended = run_with_input(form, logon.as_bytes());
        assert!(!ended.out.contains("secret") && !ended.out.contains("geheim"), "{}", ended.out);
        assert!(ended.out.contains("******") && ended.out.contains("me"), "{}", ended.out);
    }
}

#[test]
fn a_line_that_is_not_a_message_shows_no_secret() {
    let lines = "35=A^A554=secret^A58=x\n0925=secret|\nresent 1402=secret\nage 1554=kept\nx\\x01554=secret\\x01\n8=FIX.4.4\\xX19=75\\u0001554=secret\n";
    let ended = run_with_input(&["print", "-"], lines.as_bytes());
    assert!(!ended.err.contains("secret") && !ended.out.contains("secret"), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains(":1: not a message (23 bytes): 35=A^A554=***\n"), "{}", ended.err);
    assert!(ended.err.contains("age 1554=kept\n"), "{}", ended.err);
}

#[test]
fn encrypted_passwords_are_masked() {
    let request = message(
        "FIX.5.0SP2",
        "35=BE|49=A|56=B|34=2|52=20261121-09:00:00|923=u|924=1|1401=6|1402=geheim|1403=6|1404=secret|",
    );
    for form in [&["print", "-"][..], &["print", "--oneline", "-"], &["print", "-o", "json", "-"]] {
        let ended = run_with_input(form, request.as_bytes());
        assert!(!ended.out.contains("secret") && !ended.out.contains("geheim"), "{}", ended.out);
    }
}

#[test]
fn json_is_one_object_per_line() {
    let input = format!("{}\n{}\n", order(), order().replace("54=1", "54=2"));
    let ended = run_with_input(&["print", "-o", "json", "-"], input.as_bytes());
    assert_eq!(ended.status, 1);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with(r#"{"source":"standard input","line":1,"offset":0,"prefix":"","begin_string":"FIX.4.2","msg_type":"D","name":"OrderSingle","valid":true,"problems":[],"fields":[{"tag":8,"#));
    assert!(lines[0].contains(r#"{"tag":54,"name":"Side","value":"1","code":"BUY","section":"body"}"#));
    assert!(lines[1].contains(r#""valid":false,"problems":["CheckSum (10) is "#));
}

#[test]
fn another_version_is_shown_by_tag_until_its_dictionary_is_loaded() {
    let heartbeat = message("FIX.4.9", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|112=x|");
    let ended = run_with_input(&["print", "-"], heartbeat.as_bytes());
    assert_eq!(ended.status, 0);
    assert_eq!(ended.err, "no dictionary for FIX.4.9: fields are shown by tag; load one with --dictionary\n");
    assert!(ended.out.contains("MsgType 0") && ended.out.contains("    (112): x"), "{}", ended.out);

    let dictionary = directory("print-dictionary").join("FIX49.xml");
    std::fs::write(
        &dictionary,
        "<fix type='FIX' major='4' minor='9'><header><field name='BeginString' required='Y'/><field name='BodyLength' required='Y'/><field name='MsgType' required='Y'/></header>
        <messages><message name='Heartbeat' msgtype='0' msgcat='admin'><field name='TestReqID' required='N'/></message></messages>
        <trailer><field name='CheckSum' required='Y'/></trailer>
        <fields><field number='8' name='BeginString' type='STRING'/><field number='9' name='BodyLength' type='INT'/><field number='35' name='MsgType' type='STRING'/><field number='10' name='CheckSum' type='STRING'/><field number='112' name='TestReqID' type='STRING'/></fields></fix>",
    )
    .unwrap();
    let heartbeat = message("FIX.4.9", "35=0|112=x|");
    let ended =
        run_with_input(&["print", "--dictionary", dictionary.to_str().unwrap(), "-"], heartbeat.as_bytes());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(ended.out.contains("Heartbeat (0)") && ended.out.contains("TestReqID (112): x"), "{}", ended.out);
}

#[test]
fn an_application_version_over_fixt_has_the_shipped_header() {
    let dictionary = directory("print-fixt").join("FIX50.xml");
    std::fs::write(
        &dictionary,
        "<fix type='FIX' major='5' minor='0'><header/><trailer/>
        <messages><message name='News' msgtype='B' msgcat='app'><group name='NoLinesOfText' required='Y'><field name='Text' required='Y'/></group></message></messages>
        <fields><field number='33' name='NoLinesOfText' type='NUMINGROUP'/><field number='58' name='Text' type='STRING'/></fields></fix>",
    )
    .unwrap();
    let news = message("FIXT.1.1", "35=B|34=2|49=A|56=B|52=20261121-09:00:00|33=2|58=one|58=two|");
    let ended =
        run_with_input(&["print", "--dictionary", dictionary.to_str().unwrap(), "-"], news.as_bytes());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(ended.out.contains("      - Text (58): two\n  trailer\n    CheckSum (10): "), "{}", ended.out);
}

#[test]
fn a_dictionary_that_only_adds_fields_is_said_to_replace_the_shipped_one() {
    let dictionary = directory("print-adds").join("paint.xml");
    let own = "<fix major='4' minor='4'><messages/>\
        <fields><field number='5001' name='Colour' type='CHAR'/></fields></fix>";
    let text = message("FIX.4.4", "35=0|34=2|49=A|56=B|52=20261121-09:00:00|5001=1|");
    let print = |own: &str| {
        std::fs::write(&dictionary, own).unwrap();
        run_with_input(&["print", "--dictionary", dictionary.to_str().unwrap(), "-"], text.as_bytes())
    };
    let ended = print(own);
    let note = format!(
        "{}: replaces the shipped FIX.4.4, of which only what the file has is known; to add to it, begin the file with <fix extends='FIX.4.4'>\n",
        dictionary.display()
    );
    assert_eq!(ended.err, note);
    let ended = print(&own.replace("major='4' minor='4'", "extends='FIX.4.4'"));
    assert_eq!(ended.err, "");
    assert!(ended.out.contains("Heartbeat (0)") && ended.out.contains("Colour (5001): 1"), "{}", ended.out);
}

#[test]
fn a_dictionary_is_named_by_a_file_or_a_version_in_any_spelling() {
    let order = message(
        "FIXT.1.1",
        "35=D|34=2|49=A|56=B|52=20261121-09:00:00|11=1|583=2|55=IBM|54=1|60=20261121-09:00:00|38=1|40=1|",
    );
    for version in ["5.0sp2", "FIX50SP2", "latest"] {
        let ended = run_with_input(&["print", "--dictionary", version, "-"], order.as_bytes());
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{version}: {}", ended.out);
        assert!(ended.out.contains("ClOrdLinkID (583): 2"), "{}", ended.out);
    }
    let logon = message("FIXT.1.1", "35=A|34=1|49=A|56=B|52=20261121-09:00:00|98=0|108=30|1137=9|");
    let ended = run_with_input(&["print", "--dictionary", "5.0", "-"], logon.as_bytes());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{}", ended.out);
    let ended = run_with_input(&["print", "--dictionary", "4.7", "-"], order.as_bytes());
    assert_eq!(ended.status, 2);
    assert!(ended.err.starts_with("fixbolt: 4.7 is none of the versions FIX.4.0, "), "{}", ended.err);
    assert!(ended.err.ends_with(", and no such file\n"), "{}", ended.err);
}

#[test]
fn the_header_ends_where_no_field_of_it_follows() {
    let sections = |begin_string: &str, fields: &str| {
        let ended = run_with_input(&["print"], message(begin_string, fields).as_bytes());
        let mut sections = String::new();
        for line in ended.out.lines() {
            if ["  header", "  body", "  trailer"].contains(&line) {
                sections += &line[1..];
            } else if line.starts_with("    ") {
                let (_, tag) = line.split_once('(').unwrap();
                sections += &format!(" {}", tag.split_once(')').unwrap().0);
            }
        }
        sections
    };
    let header = "49=A|56=B|34=2|52=20261121-09:00:00";
    // Of a message that the dictionary does not have, and of one that it has.
    for (begin_string, fields, shown) in [
        (
            "FIX.4.4",
            format!("35=U1|{header}|11=1|55=IBM|"),
            " header 8 9 35 49 56 34 52 body 11 55 trailer 10",
        ),
        (
            "FIX.4.4",
            format!("35=U1|{header}|5555=1|55=IBM|11=1|"),
            " header 8 9 35 49 56 34 52 body 5555 55 11 trailer 10",
        ),
        ("FIX.4.4", format!("35=U1|{header}|5555=1|"), " header 8 9 35 49 56 34 52 body 5555 trailer 10"),
        (
            "FIXT.1.1",
            format!("35=U1|{header}|5555=1|11=1|55=IBM|"),
            " header 8 9 35 49 56 34 52 body 5555 11 55 trailer 10",
        ),
        (
            "FIX.4.4",
            format!("35=B|{header}|5555=1|148=x|33=1|58=y|"),
            " header 8 9 35 49 56 34 52 body 5555 148 33 58 trailer 10",
        ),
        // What stands among the fields of the header is part of it, with a group.
        (
            "FIX.4.4",
            format!("35=U1|5555=1|{header}|627=1|628=X|630=1|11=1|"),
            " header 8 9 35 5555 49 56 34 52 627 628 630 body 11 trailer 10",
        ),
    ] {
        assert_eq!(sections(begin_string, &fields), shown, "{begin_string} {fields}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let path = directory("print-pipe").join("many.log");
    std::fs::write(&path, order().repeat(5_000)).unwrap();
    let mut child =
        fixbolt().arg("print").arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// The log of an order and its report as an engine writes it, with what stands before each message.
fn exchange(first: &str, second: &str, separator: &str) -> String {
    let order = message(
        "FIX.4.4",
        "35=D|49=A|56=B|34=2|52=20261121-09:00:00|11=o|55=IBM|54=1|60=20261121-09:00:00|38=5|40=1|",
    );
    let beat = message("FIX.4.4", "35=0|49=B|56=A|34=3|52=20261121-09:00:01|");
    format!("{first}{order}\n{second}{beat}\n").replace('\u{1}', separator)
}

/// Everything that is read as SOH.
const SEPARATORS: [&str; 16] = [
    "\u{1}", "|", "^A", "^", "\\x01", "\\u0001", "\\001", "<SOH>", "<01>", "[SOH]", "\u{2401}", ";", "~",
    "\t", " ", " | ",
];

#[test]
fn a_value_with_the_separator_or_a_newline_in_it_does_not_end_before_its_field() {
    let news = |text: &str| {
        message("FIX.4.4", &format!("35=B|49=A|56=B|34=2|52=20261121-09:00:00|148=h|33=1|58={text}|"))
    };
    let mut mixed = String::new();
    for separator in SEPARATORS {
        let written = |text: &str| news(text).replace('\u{1}', separator);
        let texts = ["one; two~ three\tfour  = 5 ^ six", "one\ntwo\n\nthree", "10 = 1"];
        let log: String = texts.iter().map(|text| format!("IN {}\n", written(text))).collect();
        let ended = run_with_input(&["print"], log.as_bytes());
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{separator}: {}", ended.out);
        for (text, line) in texts.iter().zip([1, 2, 6]) {
            let text = text.replace('\n', "\\x0a").replace('\t', "\\x09");
            assert!(ended.out.contains(&format!("- Text (58): {text}\n")), "{separator}: {}", ended.out);
            assert!(
                ended.out.contains(&format!("  IN  [standard input:{line}]\n")),
                "{separator}: {}",
                ended.out
            );
        }
        // A line that is cut off ends with its line, whatever BodyLength announces.
        let cut = &written("cut")[..60];
        mixed += &format!("IN {cut}\nOUT {}{}\n", written("whole"), written("two\nlines"));
    }
    let ended = run_with_input(&["print", "--oneline"], mixed.as_bytes());
    assert_eq!((ended.status, ended.err.as_str()), (1, ""));
    assert_eq!(ended.out.matches("INVALID").count(), SEPARATORS.len(), "{}", ended.out);
    assert_eq!(
        ended.out.matches("INVALID: cut off: there is no CheckSum (10) at the end\n").count(),
        SEPARATORS.len()
    );
    assert_eq!(ended.out.matches("Text=whole").count(), SEPARATORS.len());
    assert_eq!(ended.out.matches("Text=two\\x0alines").count(), SEPARATORS.len());
}

#[test]
fn a_separator_that_may_be_text_counts_only_before_a_tag() {
    for text in ["8=FIX.4.4 is the version", "8=FIX.4.4; both sides", "8=FIX.4.4~", "8=FIX.4.4 42"] {
        assert_eq!(problems(text), r#""cut off: there is no CheckSum (10) at the end""#, "{text}");
    }
    let beat = message("FIX.4.4", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|");
    for separator in ["; ", ", ", " - ", ","] {
        let told = format!(r#""fields are separated by \"{separator}\", which is not read as SOH""#);
        assert_eq!(problems(&beat.replace('\u{1}', separator)), told);
    }
}

#[test]
fn a_broken_field_with_a_secret_is_hidden_although_its_separator_may_be_text() {
    // CheckSum is right only if every `|` is SOH.
    for fields in [
        "58=text|554=secret|secret|\t 1404 =secret|99=secret|",
        "90=19|91=<x/>|554=secret|| 1404=secret|11=00|secret|",
        "000554=xsecret=secret|0001402 =\u{e9}secret|58=secret|58=more|",
        "58=x| 554=secret|58=y|1401=9|1402=secret 58=secret|",
    ] {
        let logon = message("FIX.4.4", &format!("35=A|49=A|56=B|34=1|52=20261121-09:00:00|{fields}"));
        for separator in SEPARATORS {
            for sum in ["10=", "10=x"] {
                let logon = logon.replace("\u{1}10=", &format!("\u{1}{sum}")).replace('\u{1}', separator);
                let ended = run_with_input(&["print"], format!("{logon}\n").as_bytes());
                let shown = ended.out + &ended.err;
                assert!(!shown.contains("secret"), "{separator:?} {fields}\n{shown}");
            }
        }
    }
}

#[test]
fn the_prefix_is_kept_in_every_form_whatever_separates_the_fields() {
    let (first, second) = ("20261121-09:00:00.123 IN : ", "20261121-09:00:01.000 OUT : ");
    for separator in SEPARATORS {
        let log = exchange(first, second, separator);
        let ended = run_with_input(&["print", "--oneline"], log.as_bytes());
        let expected = "\
20261121-09:00:00.123 IN : 20261121-09:00:00 A->B #2 NewOrderSingle (D) ClOrdID=o Symbol=IBM Side=BUY TransactTime=20261121-09:00:00 OrderQty=5 OrdType=MARKET
20261121-09:00:01.000 OUT : 20261121-09:00:01 B->A #3 Heartbeat (0)
";
        assert_eq!((ended.status, ended.err.as_str(), ended.out.as_str()), (0, "", expected), "{separator}");

        let ended = run_with_input(&["print"], log.as_bytes());
        let expected = "Heartbeat (0)  20261121-09:00:01.000 OUT :  [standard input:2]
  header
    BeginString (8): FIX.4.4
    BodyLength (9): 41
    MsgType (35): HEARTBEAT (0)
    SenderCompID (49): B
    TargetCompID (56): A
    MsgSeqNum (34): 3
    SendingTime (52): 20261121-09:00:01
  trailer
    CheckSum (10): ";
        let head = "NewOrderSingle (D)  20261121-09:00:00.123 IN :  [standard input:1]\n  header\n";
        assert!(ended.out.starts_with(head) && ended.out.contains(expected), "{}", ended.out);

        let ended = run_with_input(&["print", "-o", "json"], log.as_bytes());
        let lines: Vec<&str> = ended.out.lines().collect();
        let offset = 1 + log.find('\n').unwrap() + second.len();
        let begin = format!(
            r#"{{"source":"standard input","line":2,"offset":{offset},"prefix":"20261121-09:00:01.000 OUT : ","time":"20261121-09:00:01.000","direction":"sent","begin_string":"FIX.4.4","msg_type":"0","name":"Heartbeat","valid":true,"problems":[],"fields":[{{"tag":8,"name":"BeginString","value":"FIX.4.4","section":"header"}},"#
        );
        assert!(lines.len() == 2 && lines[1].starts_with(&begin), "{}", ended.out);
        assert!(lines[0].contains(r#""direction":"received""#), "{}", lines[0]);
    }
}

#[test]
fn time_and_direction_of_other_engines_logs_are_members_of_the_json() {
    for (prefix, members) in [
        (
            "<20261121-09:00:00, FIX.4.4:A->B, incoming> (",
            r#""prefix":"<20261121-09:00:00, FIX.4.4:A->B, incoming> (","time":"20261121-09:00:00","direction":"received","begin_string""#,
        ),
        (
            "2026-11-21 09:00:00,123 [main] INFO - >>> ",
            r#""prefix":"2026-11-21 09:00:00,123 [main] INFO - >>> ","time":"2026-11-21 09:00:00,123","direction":"sent","begin_string""#,
        ),
        ("venue \"7\" ", r#""prefix":"venue \"7\" ","begin_string""#),
        ("", r#""prefix":"","begin_string""#),
    ] {
        let ended = run_with_input(&["print", "-o", "json"], exchange(prefix, "", "|").as_bytes());
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert!(ended.out.contains(members), "{members}\n{}", ended.out);
    }
}

#[test]
fn nothing_in_a_prefix_can_steer_a_terminal() {
    let log = exchange("\u{1b}[2J\u{0} ", "x ", "|");
    for form in [&["print"][..], &["print", "--oneline"], &["print", "-o", "json"]] {
        let ended = run_with_input(form, log.as_bytes());
        assert_eq!(ended.status, 0);
        assert!(!ended.out.contains('\u{1b}') && ended.out.contains("x1b[2J"), "{}", ended.out);
    }
}

#[test]
fn soh_in_a_data_field_is_escaped() {
    let with_data = |data: &str| {
        let fields = format!("35=0|49=A|56=B|34=2|52=20261121-09:00:00|90={}|91=", data.len());
        let body = fields.replace('|', "\u{1}") + data + "\u{1}";
        let begin = format!("8=FIX.4.4\u{1}9={}\u{1}{body}", body.len());
        let sum = begin.bytes().fold(0, u8::wrapping_add);
        format!("{begin}10={sum:03}\u{1}\n")
    };
    let log = with_data("a.b") + &with_data("a\u{1}b");
    for (form, shown) in [
        (&["print"][..], ["SecureData (91): a.b\n", "SecureData (91): a\\x01b\n"]),
        (&["print", "-o", "json"], [r#""value":"a.b""#, r#""value":"a\\x01b""#]),
    ] {
        let ended = run_with_input(form, log.as_bytes());
        assert!(shown.iter().all(|shown| ended.out.contains(shown)), "{}", ended.out);
        assert!(!ended.out.contains('\u{1}'));
    }
}

#[test]
fn output_appears_when_the_input_pauses() {
    use std::io::{BufRead, BufReader, Write};
    let mut child =
        fixbolt().args(["print", "--oneline"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for n in 1..4 {
        // The end of the line comes with the next message.
        write!(input, "\nline {n} : {}", order()).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("line {n} : 20121227-11:20:43 DLD_TEX->TEX_DLD")), "{line}");
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_a_message_shows_does_not_depend_on_those_before_it() {
    let party = |id: &str| {
        message(
            "FIX.4.4",
            &format!(
                "35=D|49=A|56=B|34=2|52=20261121-09:00:00|11={id}|453=1|448=X|447=D|452=1|55=IBM|54=1|60=20261121-09:00:00|40=1|38=5|18=G 6|"
            ),
        )
    };
    let logon = |password: &str| {
        message("FIX.4.4", &format!("35=A|49=A|56=B|34=1|52=20261121-09:00:00|98=0|108=30|554={password}|"))
    };
    let messages = [
        party("o"),
        order(),
        party("longer"),
        party("o").replace("9=", "9=9"),
        order().replace("54=1", "54=2"),
        order().replace("54=1", "054=1"),
        order().replace("\u{1}10=", "\u{1}10=x"),
        party("\"quoted\\\""),
        logon("secret"),
        logon("other"),
        order()[..60].to_owned(),
        party("o"),
        message("FIX.4.4", "35=D|49=A|56=B|"),
        message("FIX.4.2", "35=D|49=A|56=B|"),
        message("FIX.4.9", "35=D|49=A|56=B|"),
        order(),
    ];
    for form in [&["print"][..], &["print", "--oneline"], &["print", "-o", "json"]] {
        let place = |text: String| text.replace("[standard input:1]", "[standard input:N]");
        let one_by_one: Vec<String> =
            messages.iter().map(|message| place(run_with_input(form, message.as_bytes()).out)).collect();
        let mut together = run_with_input(form, messages.join("\n").as_bytes()).out;
        let mut offset = 0;
        for (n, message) in messages.iter().enumerate() {
            together = together
                .replace(&format!("[standard input:{}]", n + 1), "[standard input:N]")
                .replace(&format!(r#""line":{},"offset":{offset},"#, n + 1), r#""line":1,"offset":0,"#);
            offset += message.len() + 1;
        }
        assert_eq!(together, one_by_one.concat());
    }
}

#[test]
fn a_message_with_a_wrong_data_length_is_shown_with_its_fault() {
    let order = format!("{ORDER}354=2|355=\u{65e5}\u{672c}|");
    let ended = run_with_input(&["print", "-"], message("FIX.4.2", &order).as_bytes());
    assert_eq!(ended.status, 1, "{}", ended.err);
    let invalid =
        "  INVALID: EncodedTextLen (354): value is incorrect (out of range) for this tag\n  header\n";
    assert!(ended.out.contains(invalid), "{}", ended.out);
    assert!(ended.out.contains("    EncodedText (355): "), "{}", ended.out);
    assert!(!ended.out.contains("garbled"), "{}", ended.out);
    // Without a dictionary of its version.
    let ended = run_with_input(&["print", "-"], message("FIX.9.9", &order).as_bytes());
    assert!(
        ended.out.contains("  INVALID: field 354: is not the length of the data after it\n"),
        "{}",
        ended.out
    );
    // A secret may reach to CheckSum.
    let logon =
        "35=A|49=A|56=B|34=1|52=20261121-09:00:00|98=0|108=30|95=3|96=geheim|geheim=geheim|553=geheim|";
    let ended = run_with_input(&["print", "-"], message("FIX.4.4", logon).as_bytes());
    assert!(ended.out.contains("INVALID: RawDataLength (95): value is incorrect"), "{}", ended.out);
    assert!(ended.out.contains("    RawData (96): ******\n  trailer\n"), "{}", ended.out);
    assert!(!ended.out.contains("geheim"), "{}", ended.out);
}

#[test]
fn no_part_of_a_secret_is_shown_whatever_is_wrong_with_its_frame() {
    let frames = secrets::frames(0x5EC_4E75, 1_500, "A", "20261121-09:00:00");
    let file = directory("print-secrets").join("messages.log");
    std::fs::write(&file, frames.join(&b"\n"[..])).expect("the file can be written");
    let file = file.to_str().expect("the path is text");
    for style in [
        &["print", file][..],
        &["print", "--oneline", file],
        &["print", "-o", "json", file],
        &["print", "--style", "hfprint", file],
    ] {
        let ended = run(style);
        assert_eq!(ended.status, 1);
        let lines = ended.out.lines().chain(ended.err.lines());
        let shown: Vec<_> = lines.filter(|line| line.contains(secrets::SECRET)).collect();
        assert!(shown.is_empty(), "{style:?}: {} lines, such as {}", shown.len(), shown[0]);
    }
}
