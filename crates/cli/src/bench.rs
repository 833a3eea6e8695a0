//! `fixbolt bench`: starts `fixbolt-bench`, the program of the benchmarks.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use clap::{Args, CommandFactory as _};
use fixbolt_cli::beside;
use fixbolt_cli::exit::{Answer, Failure, reason};
use fixbolt_cli::note;

/// Benchmarks
///
/// Every result is checked before it is timed. The output names the machine.
///
/// The benchmarks are a program of their own, fixbolt-bench, which must be of the same build as
/// fixbolt and in the same folder; with it this command shows its help. To build both:
///   cargo build --release -p fixbolt-cli -p fixbolt-bench
///
/// Without sockets: codec, session, journal, print. Over loopback: rtt, stream. As other engines
/// publish them: jlbh, antenna, hftest, fix8-codec, aim, fsfix. All of these in a short form: all.
/// What was stored: compare, report.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, disable_help_flag = true)]
pub(crate) struct Arguments {
    /// The benchmark and its options
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs the command: this process becomes the other program.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let program = match beside::program("fixbolt-bench") {
        Err(absent) if arguments.ask_for_help() => {
            note!("fixbolt: {absent}\n");
            let mut fixbolt = crate::Arguments::command();
            fixbolt.build();
            fixbolt.find_subcommand_mut("bench").map_or(Ok(()), clap::Command::print_long_help)?;
            return Ok(Answer::Yes);
        }
        program => program?,
    };
    let mut command = Command::new(&program);
    let error = beside::introduce(&mut command).args(&arguments.arguments).exec();
    Err(Failure::usage(format!("cannot start {}: {}", program.display(), reason(&error))))
}

impl Arguments {
    fn ask_for_help(&self) -> bool {
        self.arguments.first().is_none_or(|first| ["-h", "--help", "help"].iter().any(|help| first == help))
    }
}
