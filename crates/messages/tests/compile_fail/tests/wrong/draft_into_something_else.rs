use fixbolt_compile_fail::paint::fields::Side;
use fixbolt_compile_fail::paint::{PaintOrder, paint_order};

fn main() {
    let required = paint_order::Required { cl_ord_id: b"1", side: Side::BUY };
    let mut bytes = Vec::<u8>::new();
    PaintOrder::send(&mut bytes, required, |_| {}).unwrap();
}
