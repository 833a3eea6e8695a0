//! Generates the typed messages of each enabled version, all together, so that later versions
//! re-export what they share with earlier ones.
use std::{env, fs, path::PathBuf};

use fixbolt_codegen::{Options, Version, generate_together};
use fixbolt_dictionary as dictionaries;
use fixbolt_dictionary::Dictionary;

type Shipped = fn() -> &'static Dictionary;

/// Module (also the feature) and dictionary, oldest first. Versions with `true` are generated over
/// FIXT.1.1.
const VERSIONS: [(&str, Shipped, bool); 10] = [
    (FIXT11, dictionaries::fixt11, false),
    ("fix40", dictionaries::fix40, false),
    ("fix41", dictionaries::fix41, false),
    ("fix42", dictionaries::fix42, false),
    ("fix43", dictionaries::fix43, false),
    ("fix44", dictionaries::fix44, false),
    ("fix50", dictionaries::fix50, true),
    ("fix50sp1", dictionaries::fix50sp1, true),
    ("fix50sp2", dictionaries::fix50sp2, true),
    ("fix_latest", dictionaries::fix_latest, true),
];
const FIXT11: &str = "fixt11";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut wanted = Vec::new();
    for (module, dictionary, over_fixt) in VERSIONS {
        if env::var_os(format!("CARGO_FEATURE_{}", module.to_uppercase())).is_some() {
            let mut dictionary = dictionary().clone();
            if over_fixt {
                dictionary =
                    dictionary.over(dictionaries::fixt11()).unwrap_or_else(|error| panic!("{error}"));
            }
            wanted.push((module, dictionary, over_fixt.then_some(FIXT11)));
        }
    }
    let versions: Vec<Version<'_>> = wanted
        .iter()
        .map(|(module, dictionary, transport)| Version { module, dictionary, transport: *transport })
        .collect();
    let printed =
        generate_together(&versions, &Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (version, printed) in versions.iter().zip(printed) {
        let file = folder.join(format!("{}.rs", version.module));
        fs::write(file, printed.source()).expect("OUT_DIR can be written");
    }
}
