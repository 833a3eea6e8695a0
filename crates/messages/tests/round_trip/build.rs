//! Generates code that calls every setter and getter of the versions under test.
use std::{env, fs, path::PathBuf};

use fixbolt_dictionary::{Dictionary, Source, fix42, fix44, fix50sp2, fixt11};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for dialect in ["odd", "hostile"] {
        let source = Source::file(format!("{dialect}.xml"));
        fixbolt_codegen::build(source.clone(), &fixbolt_codegen::Options::default());
        print(dialect, &source.load().expect("the build has read it").dictionary);
    }
    print("fix42", fix42());
    print("fix44", fix44());
    print("fix50sp2", &fix50sp2().over(fixt11()).expect("FIXT.1.1 carries it"));
}

fn print(version: &str, dictionary: &Dictionary) {
    let test = fixbolt_codegen::round_trip(dictionary);
    let test = test.unwrap_or_else(|errors| panic!("{version}: {}", errors[0]));
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(folder.join(format!("{version}_calls.rs")), test).expect("OUT_DIR can be written");
}
