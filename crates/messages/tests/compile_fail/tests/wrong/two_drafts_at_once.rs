use fixbolt_compile_fail::codec::Memory;
use fixbolt_compile_fail::paint::fields::Side;
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() {
    let required = paint_order::Required { cl_ord_id: b"1", side: Side::Buy };
    let mut session = [0; 256];
    let first = PaintOrder::write(Memory(&mut session), required);
    let second = PaintOrder::write(Memory(&mut session), required);
    first.send().unwrap();
    second.send().unwrap();
}
