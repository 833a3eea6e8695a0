//! Prints the dialect's typed messages.
use fixbolt_codegen::{Source, build};

fn main() {
    build(Source::file("auction.xml"));
}
