//! The calm after every state: nothing else goes wrong, and both sides must find back into step.

use fixbolt_session::Phase;
use fixbolt_session::store::RecordKind;

use crate::bytes;
use crate::event::name;
use crate::invariants;
use crate::setup::SIDES;
use crate::side::{KEY, Order};
use crate::world::World;

/// The events after which a world that is not in step is stuck.
const STEPS: u32 = 2000;
/// The deadlines after which a side must be able to send.
const WAITS: u32 = 4;
/// How often the operators may have to agree on new sequence numbers.
const AGREEMENTS: u32 = 2;

/// Lets the world come to rest, and checks that both sides are logged on, agree on the sequence
/// numbers, have every order that nothing excuses, and that the next orders arrive.
pub(crate) fn follow(world: &mut World<'_>) -> Result<(), String> {
    world.note(|| "* calm".to_owned());
    come_into_step(world)?;
    account(world)?;
    for side in SIDES {
        // While a reset in the session waits for the counterparty, nothing is taken.
        let mut waits = 0;
        while !world.order(side) {
            waits += 1;
            if waits > WAITS {
                return Err(format!("{} cannot send in the calm", name(side)));
            }
            pass_time(world);
            come_into_step(world)?;
        }
        world.settle(side);
    }
    come_into_step(world)?;
    account(world)
}

fn come_into_step(world: &mut World<'_>) -> Result<(), String> {
    let mut agreements = 0;
    for _ in 0..STEPS {
        step(world, &mut agreements);
        if let Some(broken) = world.broken.take() {
            return Err(broken);
        }
        if is_in_step(world) {
            return invariants::check(world);
        }
        if agreements > AGREEMENTS {
            return Err("the operators agree on new sequence numbers in vain".to_owned());
        }
    }
    let phases = SIDES.map(|side| {
        let sessions = &world.sides[side].sessions;
        (sessions.phase(KEY), sessions.numbers(KEY))
    });
    Err(format!("out of step for {:?}: {phases:?}", world.age()))
}

/// Does the next thing that is possible.
fn step(world: &mut World<'_>, agreements: &mut u32) {
    acknowledge(world);
    let delivers = SIDES.into_iter().find(|side| world.delivers(*side));
    let notices = SIDES.into_iter().find(|side| world.link.cut && world.sides[*side].attached);
    if let Some(side) = delivers {
        world.deliver(side);
    } else if let Some(side) = notices {
        world.disconnect(side);
    } else if world.may_connect() {
        // The operators see that one side has begun its numbers again, if the logon was refused.
        if world.causes.unsettled && world.is_unsettled() && world.causes.closed {
            *agreements += 1;
            for side in SIDES {
                world.reset(side);
            }
            world.follow_generations();
        }
        world.connect();
    } else if !is_in_step(world) {
        pass_time(world);
    }
    for side in SIDES {
        world.settle(side);
    }
    world.follow_generations();
}

/// Lets time pass until the next deadline of either side.
fn pass_time(world: &mut World<'_>) {
    let deadlines = SIDES.map(|side| world.sides[side].sessions.next(KEY).deadline);
    let next = deadlines.iter().flatten().min().copied();
    if let Some(side) = SIDES.into_iter().find(|side| next.is_some() && deadlines[*side] == next) {
        world.causes.waited = true;
        world.wake(side);
        world.settle(side);
    }
}

fn acknowledge(world: &mut World<'_>) {
    for side in SIDES {
        let side = &mut world.sides[side];
        let mut platter = side.disk.platter();
        let position = platter.position();
        platter.sync(position);
        drop(platter);
        side.sessions.store_advanced(world.now, &mut side.app);
    }
    for side in SIDES {
        world.settle(side);
    }
}

fn is_in_step(world: &World<'_>) -> bool {
    let [ours, theirs] = SIDES.map(|side| {
        let side = &world.sides[side];
        let is_at_rest = side.attached
            && side.sessions.phase(KEY) == Phase::LoggedOn
            && !side.sessions.next(KEY).close
            && !side.sessions.next(KEY).output;
        is_at_rest.then(|| side.sessions.numbers(KEY)).flatten()
    });
    let is_quiet = !world.link.cut && SIDES.iter().all(|side| world.link.to[*side].is_empty());
    is_quiet && ours.zip(theirs).is_some_and(|(ours, theirs)| ours == (theirs.1, theirs.0))
}

/// Returns whether the application must have been told of each reset. A process that dies may have
/// had no time for it.
///
/// The exception: if the connection breaks, or ends with a Logout, between our Logon of a reset in
/// the session and its answer, the application hears only of that, although the numbers begin at 1
/// again (`a_reset_in_the_session_is_told_even_if_the_connection_breaks` and
/// `a_reset_in_the_session_does_not_begin_after_our_logout`).
fn is_told_of_resets(world: &World<'_>) -> bool {
    let (left, all) = (&world.left, &world.setup.budget);
    let may_end_early = left.cuts < all.cuts || left.logouts < all.logouts;
    left.deaths == all.deaths && (!may_end_early || world.setup.strict)
}

/// Checks that every order has arrived, unless a reset, or the death of a process whose store had
/// not acknowledged it, excuses that.
fn account(world: &World<'_>) -> Result<(), String> {
    for side in SIDES {
        let (from, to) = (&world.sides[side], &world.sides[1 - side]);
        let (sender, receiver) = (from.disk.platter(), to.disk.platter());
        let kept = sender.bodies(0, RecordKind::Outbound);
        let taken = receiver.bodies(0, RecordKind::Inbound);
        if from.app.changes < sender.generation(0) && is_told_of_resets(world) {
            return Err(format!("a reset of which {} was not told", name(side)));
        }
        let has = |bodies: &[&[u8]], id: &[u8]| bodies.iter().any(|body| bytes::id(body) == id);
        for Order { id, generations, unsettled, told } in &from.sent {
            let is_reset = *unsettled || *generations != world.generations;
            let is_lost = !has(&kept, id) && (world.setup.late || !told);
            if !is_reset && !is_lost && !has(&taken, id) {
                return Err(format!("{} has not arrived at {}", bytes::readable(id), name(1 - side)));
            }
        }
    }
    Ok(())
}
