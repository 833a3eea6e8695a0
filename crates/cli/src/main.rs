//! The `fixbolt` command: tools around a FIX engine, in one style.
//!
//! Each command has its own module; this file knows only their names. Answers go to standard
//! output, everything else to standard error; if the reader goes away (`| head`), a command ends
//! quietly.
#![forbid(unsafe_code)]

mod bench;
mod certs;
mod check_config;
mod demo;
mod dictionary;
mod doctor;
mod fixt;
mod generate;
mod halts;
mod journal;
mod nearest;
mod print;
mod send;
mod serve;
mod simulate;
mod tls;
mod venue;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fixbolt_cli::{beside, exit};

/// Tools of a FIX engine.
///
/// Exit status of every command: 0 yes, valid, answered; 1 no, invalid, rejected; 2 wrong usage, or
/// something cannot be read or written; 3 timeout or no connection; 130 interrupted.
#[derive(Debug, Parser)]
#[command(
    name = "fixbolt",
    version,
    max_term_width = 120,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(
    after_help = "To begin:\n  fixbolt demo\n\n`fixbolt COMMAND --help` shows the manual of a command."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Serve(serve::Arguments),
    Send(send::Arguments),
    Print(print::Arguments),
    CheckConfig(check_config::Arguments),
    #[command(subcommand)]
    Journal(journal::Command),
    Simulate(simulate::Arguments),
    #[command(subcommand)]
    Dictionary(dictionary::Command),
    Generate(generate::Arguments),
    Bench(bench::Arguments),
    Certs(certs::Arguments),
    Doctor(doctor::Arguments),
}

fn main() -> ExitCode {
    if let Err(other) = beside::check() {
        return exit::code(Err(other));
    }
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.len() > 2 && words[1] == "help" && words[2] == "bench" {
        // The other program has the help of `bench`.
        words.swap(1, 2);
    }
    let arguments = Arguments::parse_from(words);
    if let Err(wrong) = fixbolt::choose_tier() {
        return exit::code(Err(exit::Failure::usage(format!("{wrong:#}"))));
    }
    let result = match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Send(arguments) => send::run(&arguments),
        Command::Print(arguments) => print::run(&arguments),
        Command::CheckConfig(arguments) => check_config::run(&arguments),
        Command::Journal(command) => journal::run(&command),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Dictionary(command) => dictionary::run(&command),
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Certs(arguments) => certs::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
    };
    exit::code(result)
}
