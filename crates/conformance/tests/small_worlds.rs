//! Small worlds, exhausted: two session cores on their stores, and every order of a few orders,
//! deliveries, cuts, deaths, resets, logouts and timeouts.
//!
//! `FIXBOLT_SMALL_WORLDS=all` exhausts the larger worlds, too: five minutes in a release build. A
//! failure prints a shortest trace.
//!
//! What the worlds leave out: bytes that arrive in pieces, garbled or not at all while later ones
//! do; a second connection before the end of the first; applications that fail; dictionaries.

#[path = "small_worlds/bytes.rs"]
mod bytes;
#[path = "small_worlds/calm.rs"]
mod calm;
#[path = "small_worlds/event.rs"]
mod event;
#[path = "small_worlds/fingerprint.rs"]
mod fingerprint;
#[path = "small_worlds/invariants.rs"]
mod invariants;
#[path = "small_worlds/planted.rs"]
mod planted;
#[path = "small_worlds/search.rs"]
mod search;
#[path = "small_worlds/setup.rs"]
mod setup;
#[path = "small_worlds/side.rs"]
mod side;
#[path = "small_worlds/world.rs"]
mod world;

use fixbolt_codec::Version;

use search::{Found, exhaust};
use setup::{Budget, Defect, Setup};

const FAMILIES: [Version; 4] = [Version::Fix40, Version::Fix42, Version::Fix44, Version::Fixt11];

/// Exhausts a world in every version. Its number of states must be at least `floor`, so that what
/// shrinks a world is noticed; FIX.4.0 may have fewer, because it has no reset in the session.
fn exhaust_all(name: &'static str, floor: usize, budget: Budget, change: fn(&mut Setup)) {
    for version in FAMILIES {
        let mut setup = Setup::new(name, version, budget);
        change(&mut setup);
        if setup.next_expected && version < Version::Fix44 {
            continue;
        }
        match exhaust(&setup) {
            Ok(done) => {
                println!("{name}, {version}: {done}");
                assert!(done.states >= floor, "{} states, {floor} were expected", done.states);
            }
            Err(found) => panic!("{}", found.trace),
        }
    }
}

/// Returns whether the large worlds are to be exhausted, too.
fn is_long() -> bool {
    std::env::var("FIXBOLT_SMALL_WORLDS").is_ok_and(|which| which == "all")
}

const fn late(setup: &mut Setup) {
    setup.late = true;
}

const fn answers(setup: &mut Setup) {
    setup.answers = true;
}

const fn late_answers(setup: &mut Setup) {
    (setup.late, setup.answers) = (true, true);
}

const fn next_expected(setup: &mut Setup) {
    setup.next_expected = true;
}

const fn as_it_is(_: &mut Setup) {}

#[test]
fn an_order_and_its_answer_arrive_once_in_every_order_of_events_with_one_fault() {
    let order = Budget { connects: 2, ..Budget::orders(1, 0) };
    exhaust_all("an order, a cut", 250, Budget { cuts: 1, ..order }, answers);
    exhaust_all("an order, a death", 300, Budget { deaths: 1, ..order }, answers);
    exhaust_all("an order, a reset", 50, Budget { resets: 1, ..order }, as_it_is);
    exhaust_all("an order, a logout", 200, Budget { logouts: 1, ..order }, as_it_is);
}

#[test]
fn two_orders_arrive_once_in_every_order_of_events_with_one_fault() {
    if !is_long() {
        return;
    }
    let orders = Budget { connects: 2, ..Budget::orders(1, 1) };
    exhaust_all("two orders, a cut", 2_000, Budget { cuts: 1, ..orders }, answers);
    exhaust_all("two orders, a cut, 789", 800, Budget { cuts: 1, ..orders }, next_expected);
    exhaust_all("two orders, a death", 3_000, Budget { deaths: 1, ..orders }, answers);
    exhaust_all("two orders, two resets", 900, Budget { resets: 2, ..orders }, as_it_is);
    exhaust_all("two orders, a logout", 1_800, Budget { logouts: 1, ..orders }, answers);
    exhaust_all("two orders, two deadlines", 5_000, Budget { connects: 1, waits: 2, ..orders }, as_it_is);
}

#[test]
fn two_orders_arrive_once_in_every_order_of_events_with_two_faults() {
    if !is_long() {
        return;
    }
    let orders = Budget { connects: 3, ..Budget::orders(1, 1) };
    exhaust_all("a cut and a reset", 10_000, Budget { cuts: 1, resets: 1, ..orders }, as_it_is);
    exhaust_all("a death and a reset", 10_000, Budget { deaths: 1, resets: 1, ..orders }, as_it_is);
    exhaust_all("a logout and a reset", 5_000, Budget { logouts: 1, resets: 1, ..orders }, as_it_is);
    let order = Budget { connects: 3, ..Budget::orders(1, 0) };
    exhaust_all("a death and a logout", 5_000, Budget { deaths: 1, logouts: 1, ..order }, answers);
    exhaust_all("two deaths", 5_000, Budget { deaths: 2, ..order }, answers);
    let orders = Budget { connects: 2, ..orders };
    exhaust_all("a cut and a deadline", 30_000, Budget { cuts: 1, waits: 1, ..orders }, as_it_is);
}

#[test]
fn orders_arrive_once_in_every_order_of_events_with_stores_that_acknowledge_late() {
    if !is_long() {
        return;
    }
    let orders = Budget { connects: 2, ..Budget::orders(1, 1) };
    exhaust_all("late stores, a cut", 25_000, Budget { cuts: 1, ..orders }, late);
    let order = Budget { connects: 2, ..Budget::orders(1, 0) };
    exhaust_all("late stores, a death", 3_000, Budget { deaths: 1, ..order }, late_answers);
    exhaust_all("late stores, a reset", 150, Budget { resets: 1, ..order }, late);
    exhaust_all("late stores, a logout", 1_000, Budget { logouts: 1, ..order }, late);
    let order = Budget { connects: 3, ..order };
    exhaust_all("late stores, a cut and a death", 40_000, Budget { cuts: 1, deaths: 1, ..order }, late);
}

#[test]
fn six_orders_arrive_once_in_every_order_of_events() {
    if !is_long() {
        return;
    }
    exhaust_all("six orders", 60_000, Budget::orders(3, 3), as_it_is);
}

#[test]
fn a_reset_in_the_session_is_told_even_if_the_connection_breaks() {
    let budget = Budget { connects: 3, cuts: 1, resets: 1, ..Budget::orders(0, 0) };
    exhaust_all("a reset is told", 30, budget, |setup| setup.strict = true);
}

#[test]
fn a_reset_in_the_session_does_not_begin_after_our_logout() {
    let budget = Budget { connects: 3, logouts: 1, resets: 1, ..Budget::orders(0, 0) };
    exhaust_all("a reset after a Logout", 30, budget, |setup| setup.strict = true);
}

/// Returns what the search finds in a world with a defect.
fn find(defect: Defect, budget: Budget) -> Found {
    let mut setup = Setup::new("a defect", Version::Fix44, budget);
    setup.defect = Some(defect);
    setup.answers = true;
    setup.late = defect == Defect::AcknowledgesEarly;
    let found = exhaust(&setup).expect_err("the defect is found");
    println!("{defect:?}: {}", found.trace);
    *found
}

#[test]
fn a_lost_poss_dup_flag_is_found() {
    let found = find(Defect::DropsPossDup, Budget::orders(2, 0));
    assert!(found.why.contains("MsgSeqNum (34) was too low"), "{}", found.trace);
    assert_eq!(found.path.len(), 3, "{}", found.trace);
}

#[test]
fn a_store_that_forgets_its_last_commit_is_found() {
    let budget = Budget { connects: 2, deaths: 1, ..Budget::orders(1, 0) };
    let found = find(Defect::ForgetsLastCommit, budget);
    assert!(found.why.contains("has not arrived"), "{}", found.trace);
    assert_eq!(found.path.len(), 2, "{}", found.trace);
}

#[test]
fn a_store_that_acknowledges_what_it_has_not_kept_is_found() {
    let found = find(Defect::AcknowledgesEarly, Budget::orders(1, 0));
    assert!(found.why.contains("not durable"), "{}", found.trace);
    assert_eq!(found.path.len(), 1, "{}", found.trace);
}

#[test]
fn a_store_that_tears_turns_is_found() {
    let budget = Budget { deaths: 1, ..Budget::orders(1, 0) };
    let found = find(Defect::TearsTurns, budget);
    assert!(found.why.contains("a half turn"), "{}", found.trace);
    assert_eq!(found.path.len(), 5, "{}", found.trace);
}
