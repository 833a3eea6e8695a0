use fixbolt_compile_fail::codec::{EncodeError, Memory};
use fixbolt_compile_fail::paint::prelude::*;
use fixbolt_compile_fail::paint::fields::{Colour, Side};
use fixbolt_compile_fail::paint::groups::pots_grp;
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() -> Result<(), EncodeError> {
    let mut memory = [0; 256];
    let required = paint_order::Required { cl_ord_id: b"1", side: Side::BUY };
    let size = Some(5);
    PaintOrder::send(Memory(&mut memory), required, |order| {
        order.colour(Colour::RED).account("A");
        let mut pots = order.pots();
        let mut pot = pots.entry(pots_grp::Required { pot_id: b"P" });
        if let Some(size) = size {
            pot.pot_size(size);
        }
    })?;
    Ok(())
}
