//! A search through all states of a world, the nearest ones first: what it finds has a trace that
//! none is shorter than.
//!
//! A core cannot be copied, so a state is the path to it, and is made again from its beginning.

use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::calm;
use crate::event::{Event, Plain};
use crate::fingerprint;
use crate::invariants;
use crate::setup::Setup;
use crate::world::World;

/// What a search went through.
#[derive(Debug)]
pub(crate) struct Exhausted {
    pub(crate) states: usize,
    pub(crate) transitions: u64,
    /// The length of the longest shortest path.
    pub(crate) depth: usize,
    pub(crate) seconds: f64,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, transitions, depth, seconds } = self;
        write!(f, "{states} states, {transitions} transitions, {depth} events deep, {seconds:.1} s")
    }
}

/// A path to a state in which something is wrong, or after which it is in the calm.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) why: String,
    pub(crate) path: Vec<Event>,
    /// The path as text, with every message.
    pub(crate) trace: String,
}

struct Node {
    parent: u32,
    event: Event,
}

/// Visits every state of the world.
pub(crate) fn exhaust(setup: &Setup) -> Result<Exhausted, Box<Found>> {
    let begin = Instant::now();
    let mut nodes: Vec<Node> = Vec::new();
    let first = World::new(setup);
    let mut visited = HashSet::from([fingerprint::of(&first)]);
    let (mut transitions, mut depth) = (0, 0);
    let mut level = vec![Open { place: u32::MAX, deaths: first.left.deaths, options: first.options() }];
    while !level.is_empty() {
        let mut next = Vec::new();
        for Open { place, deaths, options } in level {
            let path = path(&nodes, place);
            let mut try_event = |event: Event| -> Result<[u8; 2], Box<Found>> {
                let visit = || visit(setup, &path, event, &mut visited);
                let result = catch_unwind(AssertUnwindSafe(visit));
                let result = result.unwrap_or_else(|_| Err("a panic".to_owned()));
                transitions += 1;
                match result {
                    Ok(Visit { new, calls }) => {
                        if let Some(options) = new {
                            let deaths = deaths - u8::from(event.is_death());
                            next.push(Open { place: nodes.len() as u32, deaths, options });
                            nodes.push(Node { parent: place, event });
                        }
                        Ok(calls)
                    }
                    Err(why) => Err(found(setup, &path, event, why)),
                }
            };
            for plain in options {
                let calls = try_event(Event::Plain(plain))?;
                if deaths == 0 || matches!(plain, Plain::Die(_) | Plain::Acknowledge(_)) {
                    continue;
                }
                for side in 0..2_u8 {
                    for calls in 1..calls[usize::from(side)] {
                        try_event(Event::Dies { within: plain, side, calls })?;
                    }
                }
            }
        }
        depth += usize::from(!next.is_empty());
        level = next;
    }
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Exhausted { states: visited.len(), transitions, depth, seconds })
}

/// A state that is not expanded yet.
struct Open {
    place: u32,
    /// How often a process may still die.
    deaths: u8,
    options: Vec<Plain>,
}

struct Visit {
    /// What may happen next, if the state is new.
    new: Option<Vec<Plain>>,
    /// How often each store was called in the event.
    calls: [u8; 2],
}

/// Makes a state, and checks it and the calm after it if it is new.
fn visit(setup: &Setup, path: &[Event], event: Event, visited: &mut HashSet<u128>) -> Result<Visit, String> {
    let mut world = replay(setup, path);
    let calls = |world: &World<'_>| [0, 1].map(|side: usize| world.sides[side].disk.platter().calls());
    let before = calls(&world);
    let changed = world.apply(event);
    let after = calls(&world);
    let calls = [0, 1].map(|side: usize| (after[side].saturating_sub(before[side])) as u8);
    if let Some(broken) = world.broken.take() {
        return Err(broken);
    }
    invariants::check(&world)?;
    let is_new = changed && visited.insert(fingerprint::of(&world));
    let new = is_new.then(|| world.options());
    if is_new {
        calm::follow(&mut world)?;
    }
    Ok(Visit { new, calls })
}

fn replay<'s>(setup: &'s Setup, path: &[Event]) -> World<'s> {
    let mut world = World::new(setup);
    for event in path {
        world.apply(*event);
    }
    world
}

fn path(nodes: &[Node], mut place: u32) -> Vec<Event> {
    let mut path = Vec::new();
    while let Some(node) = nodes.get(place as usize) {
        path.push(node.event);
        place = node.parent;
    }
    path.reverse();
    path
}

/// Plays the path once more, for its trace.
fn found(setup: &Setup, path: &[Event], event: Event, why: String) -> Box<Found> {
    let mut world = World::new(setup);
    world.diary = Some(Vec::new());
    let path: Vec<Event> = path.iter().copied().chain([event]).collect();
    let _ = catch_unwind(AssertUnwindSafe(|| {
        for event in &path {
            world.apply(*event);
        }
        if world.broken.is_none() && invariants::check(&world).is_ok() {
            let _ = calm::follow(&mut world);
        }
    }));
    let mut trace = format!("{}: {why}, after {} events\n", setup.name, path.len());
    for line in world.diary.unwrap_or_default() {
        let _ = writeln!(trace, "{line}");
    }
    Box::new(Found { why, path, trace })
}
