//! `cargo run --release -- [TARGET...] [--seconds N] [--seed N]` in this directory; without a name
//! all targets run.
//!
//! Prints one line per target, and failures with their input; the last line has the totals. The
//! exit status is 0 if everything passed, 1 if something failed, 2 for bad usage. `TARGET --input N
//! --seed N` runs one input again, `TARGET --file FILE` one from a file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use fixbolt_fuzz::{Settings, TARGETS, Target, replay, run_all, run_one};

const USAGE: &str = "usage: fixbolt-fuzz [TARGET...] [--seconds N] [--seed N] [--input N | --file FILE]";

enum Want {
    Time,
    Input(u64),
    File(PathBuf),
}

fn main() -> ExitCode {
    let (targets, settings, want) = match arguments() {
        Ok(found) => found,
        Err(why) => {
            eprintln!("fixbolt-fuzz: {why}\n{USAGE}");
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            eprintln!("targets: {}", names.join(" "));
            return ExitCode::from(2);
        }
    };
    let one = match (&want, targets.as_slice()) {
        (Want::Time, _) => {
            let summaries = run_all(&targets, &settings);
            let inputs: u64 = summaries.iter().map(|summary| summary.inputs).sum();
            let failures = summaries.iter().filter(|summary| summary.failure.is_some()).count();
            println!(
                "{} targets, {} s each, seed {}, {inputs} inputs, {failures} failures",
                summaries.len(),
                settings.time.as_secs(),
                settings.seed
            );
            return ExitCode::from(u8::from(failures > 0));
        }
        (Want::Input(number), [target]) => run_one(target, &settings, *number),
        (Want::File(path), [target]) => match std::fs::read(path) {
            Ok(input) => replay(target, &input),
            Err(error) => {
                eprintln!("fixbolt-fuzz: {}: {error}", path.display());
                return ExitCode::from(2);
            }
        },
        _ => {
            eprintln!("fixbolt-fuzz: give exactly one target with --input or --file\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match one {
        Ok(()) => {
            println!("passed");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("FAILURE: {why}");
            ExitCode::from(1)
        }
    }
}

fn arguments() -> Result<(Vec<&'static Target>, Settings, Want), String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut settings = Settings {
        time: Duration::from_secs(30),
        seed: 1,
        corpus: here.join("corpus"),
        regressions: here.join("regressions"),
        artifacts: here.join("artifacts"),
    };
    let (mut targets, mut want) = (Vec::new(), Want::Time);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("'{text}' is not a number"));
        match arg.as_str() {
            "--seconds" => settings.time = Duration::from_secs(number(value()?)?),
            "--seed" => settings.seed = number(value()?)?,
            "--input" => want = Want::Input(number(value()?)?),
            "--file" => want = Want::File(value()?.into()),
            name => targets
                .push(TARGETS.iter().find(|t| t.name == name).ok_or_else(|| format!("no target '{name}'"))?),
        }
    }
    if targets.is_empty() {
        targets = TARGETS.iter().collect();
    }
    Ok((targets, settings, want))
}
