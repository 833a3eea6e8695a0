use fixbolt_compile_fail::codec::Memory;
use fixbolt_compile_fail::paint::PaintOrder;

fn main() {
    let mut memory = [0; 256];
    let order = PaintOrder::write(Memory(&mut memory));
    order.send().unwrap();
}
