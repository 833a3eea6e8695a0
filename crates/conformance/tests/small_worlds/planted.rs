//! Stores with a defect, to see that the search finds it.

use fixbolt_conformance::disk::Disk;
use fixbolt_session::SessionKey;
use fixbolt_session::store::{Intercept, Intercepted, Position, Record, Store, StoreError};

use crate::setup::Defect;

/// Returns the store of one process, with the defect if it is one of stores. That a store forgets
/// is what happens when its process dies, not here.
pub(crate) fn store(disk: &Disk, defect: Option<Defect>) -> Box<dyn Store> {
    let disk = disk.clone();
    match defect {
        Some(Defect::AcknowledgesEarly) => Box::new(Intercepted::new(disk, AcknowledgesEarly)),
        Some(Defect::TearsTurns) => Box::new(Intercepted::new(disk, TearsTurns)),
        _ => Box::new(disk),
    }
}

struct AcknowledgesEarly;

impl Intercept<Disk> for AcknowledgesEarly {
    fn durable(&mut self, store: &mut Disk, _: SessionKey) -> Option<Position> {
        Some(Position(store.platter().position()))
    }
}

struct TearsTurns;

impl Intercept<Disk> for TearsTurns {
    fn append(&mut self, store: &mut Disk, key: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        store.append(key, record)?;
        store.commit()?;
        store.begin();
        Ok(())
    }
}
