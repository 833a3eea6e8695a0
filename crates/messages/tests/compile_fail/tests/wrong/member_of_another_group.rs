use fixbolt_compile_fail::codec::Memory;
use fixbolt_compile_fail::paint::fields::Side;
use fixbolt_compile_fail::paint::groups::pots_grp;
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() {
    let mut memory = [0; 256];
    let required = paint_order::Required { cl_ord_id: b"1", side: Side::BUY };
    PaintOrder::send(Memory(&mut memory), required, |order| {
        order.pots().entry(pots_grp::Required { pot_id: b"A" }).brush_width(5);
        order.brushes().entry(pots_grp::Required { pot_id: b"B" });
        order.pot_size(5);
    })
    .unwrap();
}
