//! Sessions in simulated worlds: short forms of what `fixbolt simulate` plays for minutes.

use fixbolt_conformance::Relapse;
use fixbolt_conformance::simulation::{Faults, Outcome, Simulation, Story, Totals};

/// Returns the number of worlds of a test in a debug build.
fn worlds() -> u64 {
    std::env::var("FIXBOLT_WORLDS").map_or(120, |number| number.parse().expect("FIXBOLT_WORLDS is a number"))
}

fn faults(text: &str) -> Faults {
    text.parse().unwrap()
}

fn play(simulation: &Simulation, seeds: impl IntoIterator<Item = u64>) -> Totals {
    let mut totals = Totals::default();
    for seed in seeds {
        let (outcome, one) = simulation.play(seed);
        if matches!(outcome, Outcome::Failed(_)) {
            panic!("{}", simulation.explain(seed).unwrap());
        }
        totals.add(&one);
    }
    totals
}

#[test]
fn every_outcome_has_its_cause_in_what_the_world_did() {
    let simulation = Simulation::new();
    let mut totals = play(&simulation, 0..worlds());
    // Logons with gaps on both sides need faults that few worlds have together.
    let gaps = faults("inbound=60,outbound=60,cuts,settings");
    totals.add(&play(&simulation.with_faults(gaps), 0..40));
    println!("{totals}");
    // Otherwise the worlds prove nothing. Resets without an answer are rare, and have a test of
    // their own.
    let counts = totals.counts().into_iter();
    let never: Vec<_> =
        counts.filter(|(what, count)| *count == 0 && *what != "resets without an answer").collect();
    assert_eq!(never, Vec::new(), "{totals}");
}

#[test]
fn the_same_seed_makes_the_same_world() {
    let simulation = Simulation::new();
    for seed in 0..10 {
        assert_eq!(simulation.trace(seed), simulation.trace(seed), "{seed}");
    }
    assert_ne!(simulation.trace(1), simulation.trace(2));
}

/// Worlds that are tried until one runs into a fault.
const MOST: u64 = 2000;

/// The Logon of the reset is lost, or its answer, or the connection with both: nothing on the wire
/// says which. Once the operators have compared the numbers, the two sides go on in step.
#[test]
fn a_reset_in_the_session_without_an_answer_is_told_and_both_sides_go_on() {
    let simulation = Simulation::new().with_faults(faults("outbound=300,operators"));
    let mut seeds = 0..MOST;
    let mut totals = Totals::default();
    while totals.unanswered < 2 {
        totals.add(&play(&simulation, seeds.next()));
    }
}

/// The gap has thousands of messages, and a ResendRequest asks for one.
#[test]
fn a_large_gap_that_is_asked_for_in_small_pieces_is_closed_in_the_end() {
    let world = "inbound=300,outbound=60,settings,clock,pauses,application,several,hostile";
    play(&Simulation::new().with_faults(faults(world)), [55_620_405_749]);
}

#[test]
fn a_failure_is_shrunk_to_the_faults_that_it_needs_and_repeats() {
    let world = || faults("cuts,hostile");
    let broken = || Simulation::new().with_relapse(Relapse::SequenceResetNotVerified);
    let simulation = broken().with_faults(world());
    let smaller = |story: &Story| story.faults != world();
    // A world with other faults draws other things, so not each one can do with fewer.
    let story = (0..400).filter_map(|seed| simulation.explain(seed)).find(smaller).unwrap();
    let seed = story.seed;
    assert!(story.trace.contains("35=A|"), "{story}");
    let again = broken().with_faults(story.faults);
    assert_eq!(again.play(seed).0, Outcome::Failed(story.why.clone()));
    assert!(story.to_string().ends_with(&story.why));
    assert_eq!(broken().with_faults(faults("none")).explain(seed), None);
}

#[test]
fn faults_have_names_that_are_read_again() {
    for (name, about) in Faults::SWITCHES {
        assert_eq!(faults(name).to_string(), *name);
        assert!(about.trim().ends_with('.'), "{name}: {about}");
    }
    assert_eq!(faults("none"), Faults::default());
    assert_eq!(
        "inbound=301".parse::<Faults>().unwrap_err(),
        "inbound=301: the rate is 0 to 300 of a thousand messages"
    );
    assert!(
        "rain".parse::<Faults>().unwrap_err().starts_with("\"rain\" is no fault of a world: inbound=RATE")
    );
}

/// Each defect that the core once had, and what is said of it in hostile worlds.
const RELAPSES: &[(Relapse, &str)] =
    &[(Relapse::SequenceResetNotVerified, "NextNumIn is"), (Relapse::PossDupNotCounted, "were delivered")];

#[test]
fn every_defect_that_is_brought_back_is_found() {
    for (relapse, found_by) in RELAPSES {
        let broken = Simulation::new().with_faults(faults("hostile")).with_relapse(*relapse);
        let found = (0..MOST).find(|seed| match broken.play(*seed).0 {
            Outcome::Failed(why) => why.contains(found_by),
            _ => false,
        });
        let seed = found.unwrap_or_else(|| panic!("{relapse:?} is not found"));
        println!("{relapse:?} {seed}");
        let whole = Simulation::new().with_faults(faults("hostile"));
        assert!(!matches!(whole.play(seed).0, Outcome::Failed(_)), "{seed}");
    }
    assert_eq!(RELAPSES.len(), Relapse::ALL.len());
}
