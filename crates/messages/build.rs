//! Prints the typed messages of each version that a feature asks for.
use std::{env, fs, path::PathBuf};

use fixbolt_dictionary::{Dictionary, fix42, fix44};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_FIX42").is_some() {
        print("fix42", fix42());
    }
    if env::var_os("CARGO_FEATURE_FIX44").is_some() {
        print("fix44", fix44());
    }
}

fn print(version: &str, dictionary: &Dictionary) {
    let generated = fixbolt_codegen::generate(dictionary, &fixbolt_codegen::Options::default());
    let generated = generated.unwrap_or_else(|errors| panic!("{version}: {}", errors[0]));
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(folder.join(format!("{version}.rs")), generated.source()).expect("OUT_DIR can be written");
}
