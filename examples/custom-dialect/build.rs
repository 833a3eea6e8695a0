//! Prints the dialect's typed messages.
use fixbolt_codegen::{BaseVersion, Options, Source, build};

fn main() {
    // What the dialect leaves as it is in FIX.4.4 is of the types of FIX.4.4.
    let options = Options { base: Some(BaseVersion::Fix44), ..Options::default() };
    build(Source::file("auction.xml"), &options);
}
