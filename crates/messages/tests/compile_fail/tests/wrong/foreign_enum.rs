use fixbolt_compile_fail::codec::Memory;
use fixbolt_compile_fail::paint::fields::{Colour, Side};
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() {
    let mut memory = [0; 256];
    let required = paint_order::Required { cl_ord_id: b"1", side: Colour::RED };
    PaintOrder::send(Memory(&mut memory), required, |order| {
        order.colour(Side::BUY);
    })
    .unwrap();
}
