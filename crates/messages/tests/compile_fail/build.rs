//! Generates a small version for the mistakes, which the compiler reads again for each of them.
fn main() {
    fixbolt_codegen::build(fixbolt_codegen::Source::file("paint.xml"), &fixbolt_codegen::Options::default());
}
