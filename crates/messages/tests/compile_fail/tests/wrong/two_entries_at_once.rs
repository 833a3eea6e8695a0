use fixbolt_compile_fail::codec::Memory;
use fixbolt_compile_fail::paint::fields::Side;
use fixbolt_compile_fail::paint::groups::pots_grp;
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() {
    let mut memory = [0; 256];
    let required = paint_order::Required { cl_ord_id: b"1", side: Side::BUY };
    PaintOrder::send(Memory(&mut memory), required, |order| {
        let mut pots = order.pots();
        let mut first = pots.entry(pots_grp::Required { pot_id: b"A" });
        let second = pots.entry(pots_grp::Required { pot_id: b"B" });
        first.pot_size(5);
        drop(second);
    })
    .unwrap();
}
