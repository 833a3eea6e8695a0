use fixbolt_compile_fail::codec::Memory;
use fixbolt_compile_fail::paint::fields::Side;
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() {
    let mut memory = [0; 256];
    let required = paint_order::Required { cl_ord_id: 1, side: Side::BUY };
    PaintOrder::send(Memory(&mut memory), required, |_| {}).unwrap();
}
