//! The conformance scripts: ours and, if the reference folder is present, QuickFIX's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_conformance::store::Late;
use fixbolt_conformance::{
    Action, BrokenCore, Defect, Echo, Edition, Family, Order, Report, Script, VirtualTime, run, run_folder,
    run_scripts, run_suite,
};
use fixbolt_dictionary::{ApplicationVersion, DictionarySet, Policy, Validator, fixt11, shipped};
use fixbolt_journal::MemoryStore;
use fixbolt_session::store::Store;
use fixbolt_session::{
    AcceptedHeartBtInt, Compatibility, FixtDictionaries, Role, SessionDictionary, SessionId, SessionSettings,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn own(folder: &str) -> PathBuf {
    repository().join("conformance").join(folder)
}

/// Returns the folder of the reference folder's acceptance scripts, if it is present.
fn reference(folder: &str) -> Option<PathBuf> {
    let shared =
        std::env::var_os("FIXBOLT_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from);
    let folder = shared.join("acceptance/quickfix").join(folder);
    folder.is_dir().then_some(folder)
}

const OWN: [&str; 12] = [
    "fix42",
    "fix44",
    "fix42-continued",
    "fix44-continued",
    "fix44-next-expected",
    "fix44-sub-ids",
    "fix40-quickfix",
    "fix41-quickfix",
    "fix42-quickfix",
    "fix43-quickfix",
    "fix44-quickfix",
    "fix44-quickfixj",
];

#[test]
fn every_official_case_has_a_script_for_both_versions() {
    let cases = [
        "1B-a", "1B-b", "1B-c", "1B-d", "1B-e", "1Sa", "1Sb", "1Sc", "1Sd", "2S", "2a", "2b", "2c", "2d",
        "2e", "2f", "2g", "2h", "2i", "2j", "2k", "2l", "2m", "2n", "2o", "2p", "2q", "2r", "2s", "2t", "3a",
        "3b", "3c", "3d", "3e", "4a", "4b", "5", "6", "7", "8", "10a", "10b", "10c", "10d", "10e", "11a",
        "11b", "11c", "12", "13a", "13b", "14a", "14b", "14c", "14d", "14e", "14f", "14g", "14h", "14i",
        "14j", "14k", "15", "16", "18", "19a", "19b", "20", "21",
    ];
    for version in ["fix42", "fix44"] {
        let mut covered = BTreeSet::new();
        for folder in [version.to_owned(), format!("{version}-continued"), format!("{version}-initiator")] {
            for script in Script::read_folder(&own(&folder)).unwrap() {
                let (named, _) =
                    script.title.split_once(':').unwrap_or_else(|| panic!("{}: no title", script.name()));
                covered.extend(named.split(", ").map(|case| case.replace("1S-", "1S")));
            }
        }
        for case in cases {
            assert!(covered.contains(case), "{version}: no script names case {case}");
        }
    }
}

#[test]
fn both_versions_have_the_same_scripts() {
    for suffix in ["", "-continued", "-initiator"] {
        let names = |version: &str| -> Vec<String> {
            let scripts = Script::read_folder(&own(&format!("{version}{suffix}"))).unwrap();
            scripts.iter().map(Script::name).collect()
        };
        assert_eq!(names("fix42"), names("fix44"));
    }
}

#[test]
fn every_script_of_ours_says_what_must_come_back_and_ends_every_connection() {
    for folder in OWN.into_iter().chain(["fix42-initiator", "fix44-initiator"]) {
        for script in Script::read_folder(&own(folder)).unwrap() {
            let name = script.name();
            assert!(!script.title.is_empty(), "{folder}/{name} has no title");
            let mut open = BTreeSet::new();
            let mut expects = false;
            for step in &script.steps {
                match step.action {
                    Action::Connect => assert!(open.insert(step.connection), "{folder}/{name}:{}", step.line),
                    Action::Disconnect | Action::ExpectDisconnect => {
                        assert!(open.remove(&step.connection), "{folder}/{name}:{}", step.line);
                        expects |= step.action == Action::ExpectDisconnect;
                    }
                    Action::Expect(_) => expects = true,
                    _ => {}
                }
            }
            assert!(
                open.is_empty() && expects,
                "{folder}/{name} leaves a connection open or expects nothing"
            );
        }
    }
}

#[test]
fn every_script_of_the_reference_suites_is_understood() {
    let mut read = 0;
    for folder in ["fix42", "fix44", "fix50sp2"] {
        let Some(path) = reference(folder) else {
            eprintln!("shared folder absent: the scripts of quickfix/{folder} were not read");
            continue;
        };
        read += Script::read_folder(&path).unwrap().len();
    }
    eprintln!("{read} reference scripts read");
}

/// Returns the sessions for one of our folders: VENUE accepting TRADER42 or TRADER44, or several.
fn of_folder(folder: &str) -> Vec<SessionSettings> {
    let (version, kind) = folder.split_once('-').unwrap_or((folder, ""));
    let (compatibility, policy) = match kind {
        "quickfix" => (Compatibility::QuickFix, Policy::quickfix()),
        "quickfixj" => (Compatibility::QuickFixJ, Policy::quickfixj()),
        _ => (Compatibility::Standard, Policy::default()),
    };
    let settings = venue(version, !matches!(kind, "continued" | "next-expected")).with(|s| {
        s.compatibility = compatibility;
        s.validation.incoming = policy;
        s.resend.send_next_expected_msg_seq_num = kind == "next-expected";
    });
    let others: &[&str] = if kind == "sub-ids" {
        &["VENUE->TRADER44/DESK", "VENUE/FX->TRADER44/DESK/NY", "VENUE->MAKER44/DESK"]
    } else {
        &[]
    };
    let other = |id: &&str| settings.clone().with(|s| s.id = format!("FIX.4.4:{id}").parse().unwrap());
    others.iter().map(other).chain([settings.clone()]).collect()
}

/// The session of a version whose scripts are made of another version's.
fn of_edition(edition: Edition, family: Family) -> SessionSettings {
    SessionSettings::new(edition.session().unwrap(), Role::Acceptor).with(|s| {
        s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
        s.reset.reset_on_logon = family == Family::Reset;
        let dictionary = shipped(edition.version());
        s.dictionary = match edition.version().appl_ver_id().filter(|_| edition.version().is_application()) {
            None => SessionDictionary::Own(Arc::new(Validator::new(dictionary))),
            Some(id) => {
                s.default_appl_ver_id = Some(edition.version());
                let set = DictionarySet::new(fixt11().clone()).unwrap();
                let set = set.with(ApplicationVersion::new(id), dictionary).unwrap();
                SessionDictionary::Fixt(Arc::new(FixtDictionaries::new(set.validators())))
            }
        };
    })
}

/// VENUE accepting TRADER40 to TRADER44, under Compatibility=standard.
fn venue(version: &str, reset_on_logon: bool) -> SessionSettings {
    let minor = version.strip_prefix("fix4").unwrap();
    let id = format!("FIX.4.{minor}:VENUE->TRADER4{minor}");
    let id: SessionId = id.parse().unwrap();
    let dictionary = shipped(id.version());
    SessionSettings::new(id, Role::Acceptor).with(|s| {
        s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
        s.reset.reset_on_logon = reset_on_logon;
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(dictionary)));
    })
}

/// Returns the session for the reference suites: ISLD accepting TW42 or TW44.
fn island(version: &str) -> SessionSettings {
    let id = match version {
        "fix42" => "FIX.4.2:ISLD->TW42",
        _ => "FIX.4.4:ISLD->TW44",
    };
    let id: SessionId = id.parse().unwrap();
    let dictionary = shipped(id.version());
    SessionSettings::new(id, Role::Acceptor).with(|s| {
        s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
        s.reset.reset_on_logon = true;
        s.compatibility = Compatibility::QuickFix;
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(dictionary)));
        s.validation.incoming = Policy::quickfix();
    })
}

fn memory() -> Box<dyn Store> {
    Box::new(MemoryStore::new())
}

fn late() -> Box<dyn Store> {
    Box::new(Late::around(MemoryStore::new()))
}

fn run_own(folder: &str, order: Order, store: fn() -> Box<dyn Store>) -> Report {
    run_suite(&own(folder), order, &of_folder(folder), &mut { store }).unwrap()
}

#[track_caller]
fn all_pass(what: &str, report: &Report) {
    eprintln!("{what}: {} of {} scripts passed", report.passed(), report.results.len());
    assert!(!report.results.is_empty(), "{what} has no scripts");
    assert_eq!(report.passed(), report.results.len(), "{what}\n{report}");
}

#[test]
fn our_scripts_pass_in_virtual_time_field_by_field_in_their_order() {
    for folder in OWN {
        all_pass(folder, &run_own(folder, Order::Strict, memory));
    }
}

#[test]
fn our_scripts_pass_over_a_store_that_acknowledges_three_turns_late() {
    for folder in OWN {
        all_pass(folder, &run_own(folder, Order::Any, late));
    }
}

#[test]
fn the_scripts_of_every_other_version_pass_in_virtual_time() {
    for edition in Edition::ALL {
        for family in [Family::Reset, Family::Continued] {
            let settings = of_edition(edition, family);
            let scripts = edition.scripts(&repository().join("conformance"), family).unwrap();
            for (store, order) in [(memory as fn() -> Box<dyn Store>, Order::Strict), (late, Order::Any)] {
                let acceptor = |_: &Script| {
                    let settings = std::slice::from_ref(&settings);
                    VirtualTime::new(settings, store(), Box::new(Echo::new())).unwrap()
                };
                all_pass(edition.name(), &run_scripts(&scripts, order, acceptor));
            }
        }
    }
}

/// The acceptor's scripts whose connections begin with an exchange of Logons.
fn of_initiator(scripts: &[Script], resets: bool) -> Vec<Script> {
    scripts.iter().filter_map(|script| script.for_initiator(resets)).collect()
}

#[test]
fn the_scripts_of_the_initiator_role_pass_in_virtual_time() {
    let connects = |settings: &SessionSettings, scripts: &[Script], name: &str| {
        for (store, order) in [(memory as fn() -> Box<dyn Store>, Order::Strict), (late, Order::Any)] {
            let initiator = |script: &Script| {
                let settings = settings.clone().with(|s| {
                    s.role = Role::Initiator;
                    s.timing.heart_bt_int = script.heart_bt_int().unwrap_or(30);
                });
                VirtualTime::new(&[settings], store(), Box::new(Echo::new())).unwrap()
            };
            all_pass(&format!("{name}, connecting"), &run_scripts(scripts, order, initiator));
        }
    };
    for version in ["fix42", "fix44"] {
        for suffix in ["", "-continued", "-initiator"] {
            let folder = format!("{version}{suffix}");
            let scripts = Script::read_folder(&own(&folder)).unwrap();
            let scripts =
                if suffix == "-initiator" { scripts } else { of_initiator(&scripts, suffix.is_empty()) };
            connects(&venue(version, suffix.is_empty()), &scripts, &folder);
        }
    }
    for edition in Edition::ALL {
        for family in [Family::Reset, Family::Continued, Family::Initiator] {
            let mut scripts = edition.scripts(&repository().join("conformance"), family).unwrap();
            if family != Family::Initiator {
                scripts = of_initiator(&scripts, family == Family::Reset);
            }
            connects(&of_edition(edition, family), &scripts, edition.name());
        }
    }
}

#[test]
fn every_script_of_quickfix_passes_under_its_compatibility() {
    for version in ["fix42", "fix44"] {
        let Some(folder) = reference(version) else {
            eprintln!("shared folder absent: the scripts of quickfix/{version} were not run");
            continue;
        };
        for (store, name) in [(memory as fn() -> Box<dyn Store>, "memory"), (late, "late")] {
            let report = run_suite(&folder, Order::Any, &[island(version)], &mut { store }).unwrap();
            all_pass(&format!("quickfix/{version} over the {name} store"), &report);
        }
    }
}

#[test]
fn the_scripts_catch_every_broken_core() {
    let catches = [
        (Defect::NumberAdvancedEarly, "2d_garbled"),
        (Defect::NumberReused, "4b_test_request"),
        (Defect::NoPossDupFlag, "8_only_application_messages"),
        (Defect::NoOrigSendingTime, "8_only_application_messages"),
        (Defect::GapFillOffByOne, "8_only_admin_messages"),
        (Defect::NoHeartbeat, "4a_heartbeat_when_idle"),
        (Defect::TestReqIdNotEchoed, "4b_test_request"),
        (Defect::TooLowAccepted, "2c_msg_seq_num_too_low"),
        (Defect::ResentTwice, "8_mixed_messages"),
        (Defect::RejectDoesNotAdvance, "14b_required_tag_missing"),
        (Defect::LogoutNotAnswered, "13b_logout_received"),
        (Defect::GapNotAsked, "2b_msg_seq_num_too_high"),
        (Defect::CheckSumNotVerified, "3b_check_sum_wrong"),
    ];
    assert_eq!(catches.map(|(defect, _)| defect), Defect::ALL);
    let broken = |version, defect| {
        let settings = [venue(version, true)];
        BrokenCore::new(VirtualTime::new(&settings, memory(), Box::new(Echo::new())).unwrap(), defect)
    };
    for (defect, by) in catches {
        let report = run_folder(&own("fix44"), Order::Any, |_| broken("fix44", defect)).unwrap();
        let caught = report.failures().count();
        eprintln!("{defect:?} is caught by {caught} of {} scripts, {by} among them", report.results.len());
        for version in ["fix42", "fix44"] {
            let script = Script::read(&own(version).join(by).with_extension("def")).unwrap();
            let result = run(&script, &mut broken(version, defect), Order::Any);
            assert!(result.is_err(), "{version}: {by} does not catch {defect:?}");
        }
    }
}

#[test]
fn under_quickfixj_one_logout_says_why_a_logon_is_refused() {
    let text = "iCONNECT\n\
        I8=FIX.4.4|35=A|34=1|49=TW44|52=<TIME>|56=ISLD|98=0|\n\
        E8=FIX.4.4|35=5|34=1|49=ISLD|52=<TIME>|56=TW44|58=Invalid Logon message: Required tag missing, field=108|\n\
        eDISCONNECT\n\
        iCONNECT\n\
        I8=FIX.4.4|35=A|34=1|49=TW44|52=<TIME>|56=ISLD|98=0|108=-3|\n\
        E8=FIX.4.4|35=5|34=2|49=ISLD|52=<TIME>|56=TW44|58=HeartBtInt must not be negative|\n\
        eDISCONNECT\n";
    let script = Script::parse(Path::new("quickfixj.def"), text.as_bytes()).unwrap();
    let settings = island("fix44").with(|s| {
        s.compatibility = Compatibility::QuickFixJ;
        s.reset.reset_on_logon = false;
    });
    let mut acceptor = VirtualTime::new(&[settings], memory(), Box::new(Echo::new())).unwrap();
    run(&script, &mut acceptor, Order::Any).unwrap_or_else(|failure| panic!("{failure}"));
}
