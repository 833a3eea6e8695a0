//! Generates the typed messages of each enabled version, all together, so that later versions
//! re-export what they share with earlier ones.
use std::{env, fs, path::PathBuf};

use fixbolt_codegen::{Options, Version, generate_together};
use fixbolt_dictionary::{ApplicationVersion, DictionarySet, Version as Shipped, fixt11, shipped};

/// Versions with a header of their own, oldest first.
const WHOLE: [Shipped; 5] = [Shipped::Fix40, Shipped::Fix41, Shipped::Fix42, Shipped::Fix43, Shipped::Fix44];
/// Versions over FIXT.1.1, oldest first.
const OVER_FIXT: [Shipped; 4] = [Shipped::Fix50, Shipped::Fix50Sp1, Shipped::Fix50Sp2, Shipped::FixLatest];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_enabled = |version: &Version<'_>| {
        env::var_os(format!("CARGO_FEATURE_{}", version.module.to_uppercase())).is_some()
    };
    let set = DictionarySet::new(fixt11().clone());
    let over_fixt = OVER_FIXT.into_iter().filter(|version| is_enabled(&Version::of(shipped(*version))));
    let set = over_fixt.fold(set, |set, version| {
        let id = version.appl_ver_id().expect("every version over FIXT.1.1 has one");
        set?.with(ApplicationVersion::new(id), shipped(version))
    });
    let set = set.unwrap_or_else(|error| panic!("{error}"));
    // The transport is the first, the versions over it are the last.
    let mut versions = Version::of_set(&set);
    versions.splice(1..1, WHOLE.map(|version| Version::of(shipped(version))));
    versions.retain(is_enabled);
    let printed =
        generate_together(&versions, &Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (version, printed) in versions.iter().zip(printed) {
        let file = folder.join(format!("{}.rs", version.module));
        fs::write(file, printed.source()).expect("OUT_DIR can be written");
    }
}
