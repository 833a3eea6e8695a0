//! What a pairing runs: which steps in which versions, with which settings of both sides.

use crate::identity::{OURS, SUB_IDS_STEP, THEIRS};
use crate::pairing::{GROUP_STEP, STEPS, Setup, Step, logon};
use crate::recovery::{
    CHUNKS_STEP, NEXT_EXPECTED, NEXT_EXPECTED_LOGON, NEXT_EXPECTED_STEP, RESET_STEP, TOO_HIGH_STEP,
};
use crate::side::Engine;
use crate::sizes::{LARGE_STEP, TOO_LARGE_RESENT_STEP, TOO_LARGE_STEP};
use std::path::{Path, PathBuf};

/// A pairing with its steps, in order; each builds on the one before.
pub(crate) struct Course {
    pub(crate) setup: Setup,
    pub(crate) steps: Vec<Step>,
}

const VERSIONS: [&str; 3] = ["FIX.4.2", "FIX.4.4", "FIXT.1.1"];

/// Returns the courses of Fixbolt against a peer, in both roles: every course, or the shorter
/// selection.
pub(crate) fn both_ways(peer: Engine, every: bool) -> Vec<Course> {
    let (theirs, ours) = (between(peer, Engine::Fixbolt, every), between(Engine::Fixbolt, peer, every));
    theirs.into_iter().chain(ours).collect()
}

/// Returns the courses of an initiator and an acceptor.
pub(crate) fn between(initiator: Engine, acceptor: Engine, every: bool) -> Vec<Course> {
    let peer = if initiator == Engine::Fixbolt { acceptor } else { initiator };
    let against_us = [initiator, acceptor].contains(&Engine::Fixbolt);
    let mut courses = Vec::new();
    for version in VERSIONS {
        let setup = Setup::new(initiator, acceptor, version);
        let mut steps = STEPS.to_vec();
        if against_us {
            steps.push(TOO_LARGE_STEP);
            if initiator != Engine::QuickFixGo {
                steps.push(TOO_LARGE_RESENT_STEP);
            }
        }
        courses.push(Course { setup: setup.clone(), steps });
        let setup = Setup {
            ours: &["MaxMessageSize=262144", "ResendRequestChunkSize=10"],
            theirs: &["ResendRequestChunkSize=10"],
            ..setup
        };
        if every || version == "FIX.4.4" {
            courses.push(Course { setup, steps: vec![LOGON, LARGE_STEP, CHUNKS_STEP] });
        }
    }
    let setup = Setup::new(initiator, acceptor, "FIX.4.4");
    if peer != Engine::QuickFixCpp {
        courses.push(Course { setup, steps: vec![GROUP_STEP] });
    } else if let Some(dictionary) = quickfix_dictionary() {
        courses
            .push(Course { setup: Setup { dictionary: Some(dictionary), ..setup }, steps: vec![GROUP_STEP] });
    } else {
        println!("SKIP {}: the reference folder has no FIX44.xml", GROUP_STEP.name);
    }
    courses.append(&mut next_expected(initiator, acceptor, every));
    if against_us && peer != Engine::QuickFixCpp {
        for version in if every { &VERSIONS[..] } else { &["FIX.4.4"] } {
            let setup = Setup { ours: OURS, theirs: THEIRS, ..Setup::new(initiator, acceptor, version) };
            let before = if every { STEPS } else { &[LOGON] };
            courses.push(Course { setup, steps: [before, &[SUB_IDS_STEP]].concat() });
        }
    }
    // Fixbolt as an imitation of the peer, where engines differ.
    let imitation: Option<&[&str]> = match peer {
        Engine::QuickFixCpp => Some(&["Compatibility=quickfix"]),
        Engine::QuickFixJ => Some(&["Compatibility=quickfixj"]),
        _ => None,
    };
    if let Some(ours) = imitation.filter(|_| every && against_us) {
        for version in VERSIONS {
            let setup = Setup { ours, ..Setup::new(initiator, acceptor, version) };
            courses.push(Course { setup, steps: STEPS.to_vec() });
        }
    }
    if every && peer == Engine::QuickFixJ {
        let both: &[&str] = &[NEXT_EXPECTED, "ResetOnLogon=Y"];
        let setup = Setup { ours: both, theirs: both, ..Setup::new(initiator, acceptor, "FIX.4.4") };
        courses.push(Course { setup, steps: vec![RESET_STEP] });
    }
    courses
}

/// The courses with NextExpectedMsgSeqNum of both sides, or of one. QuickFIX C++ 1.15.1 has none.
fn next_expected(initiator: Engine, acceptor: Engine, every: bool) -> Vec<Course> {
    const WITH: &[&str] = &[NEXT_EXPECTED];
    let both = [("FIX.4.4", WITH, WITH), ("FIXT.1.1", WITH, WITH)];
    let one: [(_, _, &[_]); 2] = [("FIX.4.4", WITH, &[]), ("FIX.4.4", &[], WITH)];
    let lost = vec![NEXT_EXPECTED_LOGON, NEXT_EXPECTED_STEP];
    let (steps, settings) = match (initiator, acceptor) {
        (Engine::QuickFixCpp, _) | (_, Engine::QuickFixCpp) => return Vec::new(),
        (Engine::QuickFixGo, Engine::QuickFixGo) => return Vec::new(),
        (Engine::QuickFixGo, _) => (vec![TOO_HIGH_STEP], both.to_vec()),
        (_, Engine::QuickFixGo) => (lost, both.to_vec()),
        (Engine::Fixbolt, _) | (_, Engine::Fixbolt) if every => (lost, [both, one].concat()),
        _ => (lost, both.to_vec()),
    };
    let setups = settings.into_iter().map(|(version, ours, theirs)| Setup {
        ours,
        theirs,
        ..Setup::new(initiator, acceptor, version)
    });
    setups.map(|setup| Course { setup, steps: steps.clone() }).collect()
}

const LOGON: Step = Step { name: "logon", run: logon };

/// Returns QuickFIX's dictionary of FIX.4.4, if the reference folder is there and has it.
fn quickfix_dictionary() -> Option<PathBuf> {
    let folder = match std::env::var_os("FIXBOLT_SHARED") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    Some(folder.join("dictionaries/quickfix/FIX44.xml")).filter(|file| file.exists())
}
