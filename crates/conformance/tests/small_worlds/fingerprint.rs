//! What distinguishes two states: everything that the future of a world depends on.
//!
//! Left out are points in time, of which only the distance from now counts, numbers of connections,
//! positions of stores and of outboxes, which only grow, and what was on the wire, which follows
//! from the stores.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use fixbolt_session::store::{RecordFlags, RecordKind};
use fixbolt_session::{MatrixState, Read};

use crate::bytes;
use crate::setup::SIDES;
use crate::side::{KEY, Order, Side};
use crate::world::World;

/// Returns a fingerprint of 128 bits.
pub(crate) fn of(world: &World<'_>) -> u128 {
    let mut text = Vec::with_capacity(4096);
    for side in SIDES {
        core(world, side, &mut text);
        store(world, side, &mut text);
        for message in &world.link.to[side] {
            text.push(b'>');
            bytes::without_times(message, &mut text);
        }
    }
    let mut halves = [1_u8, 2].map(|key| {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        text.hash(&mut hasher);
        (world.link.ended, world.link.cut, world.left, world.causes).hash(&mut hasher);
        (world.is_unsettled(), world.generations).hash(&mut hasher);
        hasher.finish()
    });
    halves.sort_unstable();
    u128::from(halves[0]) << 64 | u128::from(halves[1])
}

/// Adds what a session holds in memory.
fn core(world: &World<'_>, side: usize, text: &mut Vec<u8>) {
    let Side { sessions, attached, inbox, app, disk, .. } = &world.sides[side];
    let snapshot = sessions.snapshot(KEY);
    let mut lines = snapshot.lines();
    let [state, cursor, reorder] = [(); 3].map(|()| lines.next().unwrap_or_default());
    relative(state, world.now.mono.nanos(), text);
    let position = disk.platter().position();
    outbox(cursor, position, text);
    if !reorder.contains("entries: []") {
        relative(reorder, world.now.mono.nanos(), text);
    }
    let deadline = sessions.next(KEY).deadline.map(|at| at.nanos().wrapping_sub(world.now.mono.nanos()));
    let flags = [
        *attached,
        sessions.next(KEY).close,
        sessions.next(KEY).read == Read::Nothing,
        sessions.matrix_state(KEY) == Some(MatrixState::HandlingResendRequest),
    ];
    text.extend(flags.map(u8::from));
    text.extend(deadline.unwrap_or(u64::MAX).to_le_bytes());
    text.extend(app.changes.to_le_bytes());
    text.extend(inbox);
    text.push(0);
}

/// Copies debug text with points in time as distances, and without numbers that only count up.
fn relative(mut rest: &str, now: u64, text: &mut Vec<u8>) {
    while let Some(open) = rest.find('(') {
        let (name, inside) = rest.split_at(open + 1);
        text.extend_from_slice(name.as_bytes());
        let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
        let number = bytes::number(&inside.as_bytes()[..digits]);
        if name.ends_with("mono(") {
            text.extend(number.wrapping_sub(now).to_le_bytes());
        } else if !name.ends_with("Utc(") && !name.ends_with("ConnectionNumber(") {
            text.extend_from_slice(&inside.as_bytes()[..digits]);
        }
        rest = &inside[digits..];
        if let Some(counted) =
            rest.find("counted: Counted {").filter(|at| rest.find('(').is_none_or(|p| *at < p))
        {
            text.extend_from_slice(&rest.as_bytes()[..counted]);
            rest = &rest[counted + rest[counted..].find('}').unwrap_or(0)..];
        }
    }
    text.extend_from_slice(rest.as_bytes());
}

/// Adds the cursor of an outbox: the lengths of what is queued, and what each stretch waits for.
fn outbox(cursor: &str, position: u64, text: &mut Vec<u8>) {
    let numbers = cursor.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let numbers: Vec<u64> = numbers.map(|digits| bytes::number(digits.as_bytes())).collect();
    let [head, released, tail, waiting @ .., origin, _] = numbers.as_slice() else { return };
    text.extend((released - head).to_le_bytes());
    text.extend((tail - head).to_le_bytes());
    for stretch in waiting.chunks_exact(2) {
        text.extend(position.wrapping_sub(stretch[0]).to_le_bytes());
        text.extend(stretch[1].wrapping_sub(origin + head).to_le_bytes());
    }
}

/// Adds what a store holds: what may be read again, what may still be lost, and what was taken; and
/// what became of the orders.
fn store(world: &World<'_>, side: usize, text: &mut Vec<u8>) {
    let Side { disk, sent, .. } = &world.sides[side];
    let platter = disk.platter();
    let durable = if world.setup.late { platter.durable() } else { platter.position() };
    let last = platter.log.iter().rev().find(|kept| kept.position <= durable);
    let oldest = last.map_or(0, |kept| kept.generation.0);
    text.extend(last.map_or(0, |kept| kept.next_in.0).to_le_bytes());
    for kept in &platter.log {
        let is_lasting = kept.position <= durable;
        let is_message = kept.kind == RecordKind::Outbound && !kept.flags.contains(RecordFlags::POSS_DUP);
        let is_taken = kept.kind == RecordKind::Inbound && kept.flags.contains(RecordFlags::DELIVERED);
        if is_taken && !kept.flags.contains(RecordFlags::ADMIN) {
            text.push(b'<');
            text.push(u8::from(bytes::is_poss_dup(&kept.body)));
            text.extend_from_slice(bytes::field(&kept.body, b"35=").unwrap_or_default());
            text.extend_from_slice(bytes::id(&kept.body));
        }
        if !is_lasting || (is_message && kept.generation.0 >= oldest) {
            text.push(b'=');
            text.extend((kept.kind as u8).to_le_bytes());
            text.extend(kept.flags.0.to_le_bytes());
            text.extend(kept.seq.0.to_le_bytes());
            text.extend(kept.generation.0.to_le_bytes());
            text.extend_from_slice(bytes::id(&kept.body));
        }
        if !is_lasting {
            text.extend((platter.position() - kept.position).to_le_bytes());
            text.extend(kept.next_in.0.to_le_bytes());
        }
    }
    for Order { id, generations, unsettled, told } in sent {
        text.push(b'+');
        text.extend_from_slice(id);
        let is_excused = *unsettled || *generations != world.generations;
        text.extend([u8::from(*told), u8::from(is_excused)]);
    }
}
