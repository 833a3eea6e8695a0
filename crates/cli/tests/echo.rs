//! Runs conformance scripts over TCP against `fixbolt serve --app echo`: a selection of quick ones;
//! the engine's tests run all of them.

mod command;

use std::path::PathBuf;

use command::{Server, directory};
use fixbolt_conformance::{Order, Script, Tcp, run};

#[test]
fn the_echo_of_a_configuration_passes_conformance_scripts() {
    let config = directory("echo").join("echo.cfg");
    let journal = directory("echo-journal");
    let sessions = ["42", "44"].map(|version| {
        let (major, minor) = version.split_at(1);
        format!(
            "[SESSION]\nBeginString=FIX.{major}.{minor}\nSenderCompID=VENUE\nTargetCompID=TRADER{version}\n"
        )
    });
    std::fs::write(
        &config,
        format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nResetOnLogon=Y\nCompatibility=standard\nFileStorePath={}\n{}",
            journal.display(),
            sessions.concat()
        ),
    )
    .unwrap();
    let server = Server::start(&["--app", "echo", "--config", config.to_str().unwrap()]);
    let scripts = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let mut run_so_far = 0;
    for folder in ["fix42", "fix44"] {
        for script in Script::read_folder(&scripts.join(folder)).unwrap() {
            let name = script.name();
            let quick =
                ["1Sa_valid_logon", "14a_", "14i_", "18_", "19a_", "19b_", "group_echoed", "2r_", "8_mixed"];
            if !quick.iter().any(|quick| name.contains(quick)) {
                continue;
            }
            if let Err(failure) = run(&script, &mut Tcp::new(server.address.parse().unwrap()), Order::Any) {
                panic!("{folder}/{name}: {failure}");
            }
            run_so_far += 1;
        }
    }
    assert!(run_so_far >= 16, "{run_so_far} scripts were found");
    // An echo begins at 1 whenever it starts: it keeps nothing.
    assert_eq!(std::fs::read_dir(&journal).unwrap().count(), 0);
}
