//! Other engines' acceptance scripts against the running `fixbolt serve --app echo`, with
//! configurations as those engines have: one process for all sessions that need no other settings.

mod command;

use std::path::{Path, PathBuf};

use command::{Server, directory};
use fixbolt_conformance::{Order, Script, Tcp, run};

/// Returns the reference folder, if it is there.
fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("FIXBOLT_SHARED").map_or_else(beside, PathBuf::from);
    if shared.join("acceptance").is_dir() {
        return Some(shared);
    }
    eprintln!("shared folder absent: no acceptance script of another engine was run");
    None
}

/// Scripts that ask for another Text than others of the same engine: ours names the field, as they
/// do.
const DIFFERENT: [&str; 1] = ["QFJ921_HigherResolutionTimestamps"];

/// Plays the scripts of a folder one after the other; returns what failed, and how many passed.
fn play(folder: &Path, server: &Server, order: Order) -> (Vec<String>, usize) {
    let (mut failures, mut passed) = (Vec::new(), 0);
    for script in Script::read_folder(folder).unwrap() {
        if DIFFERENT.contains(&&*script.name()) {
            eprintln!("{}: not run", script.name());
            continue;
        }
        match run(&script, &mut Tcp::new(server.address.parse().unwrap()), order) {
            Ok(()) => passed += 1,
            Err(failure) => failures.push(format!("{}: {failure}", script.name())),
        }
    }
    (failures, passed)
}

#[test]
fn every_script_of_quickfix_passes_against_the_program() {
    let Some(shared) = shared() else { return };
    let scripts = shared.join("acceptance/quickfix");
    let template = std::fs::read_to_string(scripts.join("at.cfg.template")).unwrap();
    let dictionaries = shared.join("dictionaries/quickfix");
    let config = directory("acceptance").join("at.cfg");
    let text = template.replace("$PORT", "0").replace("../spec", dictionaries.to_str().unwrap());
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--app", "echo", "--config", config.to_str().unwrap()]);
    // The scripts of a folder are for one session, which has one connection at a time.
    let results = std::thread::scope(|scope| {
        let folders = [("fix42", 45), ("fix44", 46), ("fix50sp2", 47)];
        let played = folders.map(|(name, count)| {
            let (folder, server) = (scripts.join(name), &server);
            (name, count, scope.spawn(move || play(&folder, server, Order::Any)))
        });
        played.map(|(name, count, played)| (name, count, played.join().unwrap()))
    });
    for (name, count, (failures, passed)) in results {
        assert_eq!(failures, Vec::<String>::new(), "{name}");
        assert!(passed >= count, "{name}: {passed} scripts");
    }
}

/// QuickFIX/J has a folder of scripts for each group of settings: its name, our settings, and how
/// many scripts there are.
const OF_QUICKFIXJ: [(&str, &str, usize); 5] = [
    ("timestamps/fix44", "TimeStampPrecision=NANOS", 1),
    ("resendRequestChunkSize/fix44", "ResendRequestChunkSize=5", 2),
    ("lastMsgSeqNumProcessed/fix44", "EnableLastMsgSeqNumProcessed=Y", 1),
    ("rejectGarbledMessages/fix50", "RejectGarbledMessage=Y", 1),
    ("validateChecksum/fix50", "ValidateChecksum=N", 1),
];

#[test]
fn the_scripts_of_quickfixj_pass_against_the_program() {
    let Some(shared) = shared() else { return };
    for (folder, settings, count) in OF_QUICKFIXJ {
        let config = directory("acceptance-j").join("at.cfg");
        let version = if folder.ends_with("fix50") {
            "BeginString=FIXT.1.1\nDefaultApplVerID=7"
        } else {
            "BeginString=FIX.4.4"
        };
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nResetOnLogon=Y\nNonStopSession=Y\n\
             Compatibility=quickfixj\nFileStorePath=store\n{settings}\n\
             [SESSION]\n{version}\nSenderCompID=ISLD\nTargetCompID=TW\n"
        );
        std::fs::write(&config, text).unwrap();
        let server = Server::start(&["--app", "echo", "--config", config.to_str().unwrap()]);
        let folder = shared.join("acceptance/quickfixj").join(folder);
        let (failures, passed) = play(&folder, &server, Order::AnyAndMore);
        assert_eq!(failures, Vec::<String>::new(), "{}", folder.display());
        assert!(passed >= count, "{}: {passed} scripts", folder.display());
    }
}
