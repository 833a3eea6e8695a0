//! `fixbolt print --style hfprint` prints the messages of Fix8's page as the page has them.

mod command;

use std::path::{Path, PathBuf};

use command::{message, run, run_with_input};

/// What is printed for the three messages.
const EXPECTED: &str = include_str!("published/hfprint.txt");

/// The order, its confirmation and its fill, as they are on the wire.
const MESSAGES: [&str; 3] = [
    "35=D|49=DLD_TEX|56=TEX_DLD|34=499650|52=20121227-11:20:43|11=ord509647-500000|21=1|55=BHP|54=1|60=20121227-11:20:14|38=57.00|40=2|44=298.075|59=4|",
    "35=8|49=TEX_DLD|56=DLD_TEX|34=1962926|52=20121227-11:22:07|37=ord499647|11=ord509647-500000|17=ord499647|20=0|150=0|39=0|55=BHP|54=1|38=57.00|40=2|44=298.07|59=4|29=5|151=57.00|14=0.00|6=0.00|60=20121227-11:20:14|113=Y|21=1|",
    "35=8|49=TEX_DLD|56=DLD_TEX|34=1962929|52=20121227-11:22:07|37=ord499647|11=ord509647-500000|17=exec1463279|20=0|150=0|39=2|55=BHP|54=1|38=57.00|40=2|44=298.07|59=4|151=0.00|14=57.00|6=298.07|60=20121227-11:20:14|21=1|",
];

#[test]
fn the_published_messages_are_printed_as_published() {
    let input: String = MESSAGES.iter().map(|fields| message("FIX.4.2", fields) + "\n").collect();
    let ended = run_with_input(&["print", "--style", "hfprint", "-"], input.as_bytes());
    assert_eq!(ended.out, EXPECTED);
    // FIX.4.2 has no LastCapacity 5; the page prints it all the same.
    let line =
        "standard input:2: INVALID: LastCapacity (29): value is incorrect (out of range) for this tag\n";
    assert_eq!((ended.status, ended.err.as_str()), (1, line));
}

#[test]
fn the_expected_text_is_the_page_line_for_line() {
    let shared = std::env::var_os("FIXBOLT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let Ok(page) = std::fs::read_to_string(shared.join("published/fix8-quickfix.txt")) else {
        return eprintln!("the published page is not here: only the committed text is compared");
    };
    let page: Vec<&str> = page.lines().map(str::trim).collect();
    for message in EXPECTED.trim_end().split("\n\n") {
        let message: Vec<&str> = message.lines().map(str::trim).collect();
        assert!(page.windows(message.len()).any(|lines| lines == message), "{message:#?}");
    }
}

#[test]
fn groups_and_secrets_are_shown_as_in_other_styles() {
    let list = message(
        "FIX.4.4",
        "35=D|49=A|56=B|34=2|52=20261121-09:00:00|11=o|453=1|448=X|447=D|452=1|55=IBM|54=1|60=20261121-09:00:00|40=1|38=5|",
    );
    let logon = message("FIX.4.4", "35=A|49=A|56=B|34=1|52=20261121-09:00:00|98=0|108=30|554=secret|");
    let ended = run_with_input(&["print", "--style", "hfprint"], format!("{list}\n{logon}").as_bytes());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert!(ended.out.contains("    NoPartyIDs (453): 1\n        PartyID (448): X\n"), "{}", ended.out);
    assert!(ended.out.contains("\nLogon (\"A\")\n") && ended.out.contains("    Password (554): ******\n"));
    assert!(!ended.out.contains("secret"), "{}", ended.out);
}

#[test]
fn the_styles_have_names_and_exclude_each_other() {
    let order = message("FIX.4.2", MESSAGES[0]);
    let by = |arguments: &[&str]| run_with_input(&[&["print"], arguments].concat(), order.as_bytes()).out;
    assert_eq!(by(&["--style", "block"]), by(&[]));
    assert_eq!(by(&["--style", "oneline"]), by(&["--oneline"]));
    for wrong in [
        &["print", "--style", "hfprint", "--oneline"][..],
        &["print", "--style", "hfprint", "-o", "json"],
        &["print", "--style", "hf"],
    ] {
        assert_eq!(run(wrong).status, 2, "{wrong:?}");
    }
}
