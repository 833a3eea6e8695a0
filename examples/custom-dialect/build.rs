//! Prints the dialect's typed messages.
fn main() {
    fixbolt_codegen::build("auction.xml");
}
