//! The `fixbolt-bench` command, which `fixbolt bench` starts: runs the benchmarks.
#![forbid(unsafe_code)]

mod aim;
mod all;
mod antenna;
mod batches;
mod codec;
mod compare;
mod fix8_codec;
mod fsfix;
mod hftest;
mod journal;
mod load;
mod loopback;
mod outputs;
mod print;
mod processes;
mod report;
mod session;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fixbolt_cli::beside;
use fixbolt_cli::exit::{self, Failure};

/// Benchmarks.
///
/// Every result is checked before it is timed. The output names the machine.
#[derive(Debug, Parser)]
#[command(
    name = "fixbolt-bench",
    bin_name = "fixbolt bench",
    max_term_width = 120,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Codec(codec::Codec),
    Session(session::Session),
    Journal(journal::Journal),
    Print(print::Print),
    Rtt(loopback::Rtt),
    Stream(loopback::Stream),
    Jlbh(loopback::Jlbh),
    Antenna(antenna::Antenna),
    All(all::All),
    Hftest(hftest::Hftest),
    Fix8Codec(fix8_codec::Fix8Codec),
    Aim(aim::Aim),
    Fsfix(fsfix::Fsfix),
    Compare(compare::Compare),
    Report(report::Arguments),
}

fn main() -> ExitCode {
    if let Err(other) = beside::check() {
        return exit::code(Err(other));
    }
    let arguments = Arguments::parse();
    if let Err(wrong) = fixbolt::choose_tier() {
        return exit::code(Err(Failure::usage(format!("{wrong:#}"))));
    }
    exit::code(match &arguments.command {
        Command::Codec(arguments) => codec::run(arguments),
        Command::Session(arguments) => session::run(arguments),
        Command::Journal(arguments) => journal::run(arguments),
        Command::Print(arguments) => print::run(arguments),
        Command::Rtt(arguments) => loopback::rtt(arguments),
        Command::Stream(arguments) => loopback::stream(arguments),
        Command::Jlbh(arguments) => loopback::jlbh(arguments),
        Command::Antenna(arguments) => antenna::run(arguments),
        Command::All(arguments) => all::run(arguments, PAGE, SHORTER),
        Command::Hftest(arguments) => hftest::run(arguments),
        Command::Fix8Codec(arguments) => fix8_codec::bench(arguments),
        Command::Aim(arguments) => aim::bench(arguments),
        Command::Fsfix(arguments) => fsfix::bench(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Report(arguments) => report::run(arguments),
    })
}

/// Every test in the form that the page has, which is the short one of most, in its order.
const PAGE: &[(&str, all::Short)] = &[
    ("codec", codec::page),
    ("session", session::page),
    ("journal", journal::short),
    ("print", print::short),
    ("rtt", loopback::short_rtt),
    ("stream", loopback::short_stream),
    ("fix8-codec", fix8_codec::short),
    ("hftest", hftest::short),
    ("jlbh", loopback::short_jlbh),
    ("aim", aim::short),
    ("fsfix", fsfix::short),
    ("antenna", antenna::short),
];

/// The tests that are longer on the page than with their `--short`.
const SHORTER: &[(&str, all::Short)] = &[("codec", codec::short), ("session", session::short)];
