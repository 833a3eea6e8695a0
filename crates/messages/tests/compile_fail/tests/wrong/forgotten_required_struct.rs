use fixbolt_compile_fail::codec::Memory;
use fixbolt_compile_fail::paint::PaintOrder;

fn main() {
    let mut memory = [0; 256];
    PaintOrder::send(Memory(&mut memory), |_| {}).unwrap();
}
