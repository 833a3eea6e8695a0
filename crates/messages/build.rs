//! Generates the typed messages of each enabled version, all together, so that later versions
//! re-export what they share with earlier ones.
use std::{env, fs, path::PathBuf};

use fixbolt_codegen::{Options, Version, generate_together};
use fixbolt_dictionary::{ApplicationVersion, DictionarySet, Version as Shipped, fixt11, shipped};

/// Versions with a header of their own and their features, oldest first.
const WHOLE: [(Shipped, &str); 5] = [
    (Shipped::Fix40, "FIX40"),
    (Shipped::Fix41, "FIX41"),
    (Shipped::Fix42, "FIX42"),
    (Shipped::Fix43, "FIX43"),
    (Shipped::Fix44, "FIX44"),
];
/// Versions over FIXT.1.1 and their features, oldest first.
const OVER_FIXT: [(Shipped, &str); 4] = [
    (Shipped::Fix50, "FIX50"),
    (Shipped::Fix50Sp1, "FIX50SP1"),
    (Shipped::Fix50Sp2, "FIX50SP2"),
    (Shipped::FixLatest, "FIX_LATEST"),
];

fn is_enabled(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{feature}")).is_some()
}

/// Returns those of these versions that are enabled. The others' dictionaries are not read.
fn enabled(versions: &[(Shipped, &str)]) -> impl Iterator<Item = Shipped> {
    versions.iter().filter(|(_, feature)| is_enabled(feature)).map(|(version, _)| *version)
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let set = DictionarySet::new(fixt11().clone());
    let set = enabled(&OVER_FIXT).fold(set, |set, version| {
        let id = version.appl_ver_id().expect("every version over FIXT.1.1 has one");
        set?.with(ApplicationVersion::new(id), shipped(version))
    });
    let set = set.unwrap_or_else(|error| panic!("{error}"));
    // The transport is the first, the versions over it are the last.
    let mut versions = Version::of_set(&set);
    versions.splice(1..1, enabled(&WHOLE).map(|version| Version::of(shipped(version))));
    if !is_enabled("FIXT11") {
        versions.remove(0);
    }
    let printed =
        generate_together(&versions, &Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (version, printed) in versions.iter().zip(printed) {
        let file = folder.join(format!("{}.rs", version.module));
        fs::write(file, printed.source()).expect("OUT_DIR can be written");
    }
}
