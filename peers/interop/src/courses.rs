//! What a pairing runs: which steps in which versions, with which settings of both sides.

use crate::pairing::{GROUP_STEP, STEPS, Setup, Step, logon};
use crate::recovery::{ADJUSTED_STEP, CHUNKS_STEP, NEXT_EXPECTED_LOGON, NEXT_EXPECTED_STEP, TOO_HIGH_STEP};
use crate::side::Engine;
use crate::sizes::{LARGE_STEP, TOO_LARGE_STEP};
use std::path::{Path, PathBuf};

/// A pairing with its steps, in order; each builds on the one before.
pub(crate) struct Course {
    pub(crate) setup: Setup,
    pub(crate) steps: Vec<Step>,
}

const VERSIONS: [&str; 3] = ["FIX.4.2", "FIX.4.4", "FIXT.1.1"];

/// Returns the courses of Fixbolt against a peer, in both roles; or of a peer against itself.
pub(crate) fn both_ways(peer: Engine) -> Vec<Course> {
    [between(peer, Engine::Fixbolt), between(Engine::Fixbolt, peer)].into_iter().flatten().collect()
}

/// Returns every course of an initiator and an acceptor.
pub(crate) fn between(initiator: Engine, acceptor: Engine) -> Vec<Course> {
    let peer = if initiator == Engine::Fixbolt { acceptor } else { initiator };
    let against_us = [initiator, acceptor].contains(&Engine::Fixbolt);
    let mut courses = Vec::new();
    for version in VERSIONS {
        let setup = Setup::new(initiator, acceptor, version);
        let mut steps = STEPS.to_vec();
        if against_us {
            steps.push(TOO_LARGE_STEP);
        }
        courses.push(Course { setup: setup.clone(), steps });
        let setup = Setup {
            ours: &["MaxMessageSize=262144", "ResendRequestChunkSize=10"],
            theirs: &["ResendRequestChunkSize=10"],
            ..setup
        };
        courses.push(Course { setup, steps: vec![LOGON, LARGE_STEP, CHUNKS_STEP] });
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
    // QuickFIX C++ 1.15.1 does not know NextExpectedMsgSeqNum.
    let steps = match (initiator, acceptor) {
        (Engine::QuickFixGo, Engine::Fixbolt) => vec![TOO_HIGH_STEP],
        (Engine::Fixbolt, Engine::QuickFixGo) => vec![NEXT_EXPECTED_LOGON, ADJUSTED_STEP],
        (Engine::QuickFixJ, _) | (_, Engine::QuickFixJ) => vec![NEXT_EXPECTED_LOGON, NEXT_EXPECTED_STEP],
        _ => vec![],
    };
    for version in ["FIX.4.4", "FIXT.1.1"] {
        let setup = Setup {
            ours: &["EnableNextExpectedMsgSeqNum=Y"],
            theirs: &["EnableNextExpectedMsgSeqNum=Y"],
            ..Setup::new(initiator, acceptor, version)
        };
        if !steps.is_empty() {
            courses.push(Course { setup, steps: steps.clone() });
        }
    }
    courses
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
