//! Prints the small version that the mistakes are made with: the compiler reads it again for them.
fn main() {
    fixbolt_codegen::build("paint.xml");
}
