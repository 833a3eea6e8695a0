use fixbolt_compile_fail::codec::Memory;
use fixbolt_compile_fail::paint::fields::Side;
use fixbolt_compile_fail::paint::groups::pots_grp;
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() {
    let mut memory = [0; 256];
    let required = paint_order::Required { cl_ord_id: b"1", side: Side::Buy };
    let mut order = PaintOrder::write(Memory(&mut memory), required);
    let mut kept = None;
    order.pots([b"A", b"B"], |new, pot_id| {
        let written = new.entry(pots_grp::Required { pot_id }).done();
        kept.replace(written).unwrap()
    });
    order.send().unwrap();
}
