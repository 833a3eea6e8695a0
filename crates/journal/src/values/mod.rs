//! Values that everything else uses: time, limits, identities, totals.

pub(crate) mod clock;
pub(crate) mod identity;
pub(crate) mod ledger;
pub(crate) mod limits;
pub(crate) mod mutex;
pub(crate) mod reserve;
