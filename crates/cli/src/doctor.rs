//! `fixbolt doctor`: what on this machine spoils latency.

use std::io::Write as _;

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::{self, Format, Object};
use fixbolt_workloads::machine::{Finding, Machine};

/// Looks for what on this machine spoils latency, and says what to set.
///
/// Looks at the build, the processors that this process may use and which of them are isolated, the
/// frequency governor, hardware threads, idle states, the clock, a hypervisor, the load, and for
/// 200 ms at how long a thread that only reads the clock is held up. Changes nothing. Every
/// benchmark stores the same with its results.
///
/// Exit status: 0 nothing spoils latency; 1 something does; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let machine = Machine::measured();
    let advice = machine.advice();
    let mut out = output::verdict();
    if arguments.output == Format::Text {
        writeln!(out, "{machine}\n")?;
    }
    for it in &advice {
        let (verdict, effect, remedy) = match &it.finding {
            Finding::Good => ("good", None, None),
            Finding::Unknown => ("unknown", None, None),
            Finding::Spoils { effect, remedy } => ("SPOILS", Some(*effect), Some(*remedy)),
        };
        if arguments.output == Format::Json {
            let object = Object::new().text("what", it.what).text("found", &it.found);
            let object = object.text("verdict", &verdict.to_lowercase());
            writeln!(out, "{}", object.maybe_text("effect", effect).maybe_text("remedy", remedy))?;
            continue;
        }
        writeln!(out, "{verdict:<8} {}: {}", it.what, it.found)?;
        if let Some((effect, remedy)) = effect.zip(remedy) {
            writeln!(out, "         {effect}\n         to set: {remedy}")?;
        }
    }
    out.flush()?;
    let spoilt = advice.iter().any(|it| matches!(it.finding, Finding::Spoils { .. }));
    Ok(if spoilt { Answer::No } else { Answer::Yes })
}
