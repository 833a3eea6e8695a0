//! Prints the dialect's typed messages.
use fixbolt_codegen::{Options, Source, build};

fn main() {
    build(Source::file("auction.xml"), &Options::default());
}
