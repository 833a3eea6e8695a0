//! The same without a mistake: so that each of the others has one only.
use fixbolt_compile_fail::codec::{EncodeError, Memory};
use fixbolt_compile_fail::paint::components::*;
use fixbolt_compile_fail::paint::fields::{Colour, Side};
use fixbolt_compile_fail::paint::groups::pots_grp;
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() -> Result<(), EncodeError> {
    let mut memory = [0; 256];
    let mut order =
        PaintOrder::write(Memory(&mut memory), paint_order::Required { cl_ord_id: b"1", side: Side::Buy });
    order.colour(Colour::Red).account(b"A");
    order.pots([b"P"], |new, pot_id| new.entry(pots_grp::Required { pot_id }).pot_size(5.into()).done());
    order.send()?;
    Ok(())
}
