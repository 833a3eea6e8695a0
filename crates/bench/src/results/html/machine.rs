//! The machine, and what on it spoils latency.

use fixbolt_workloads::machine::{Finding, Machine};

use super::figures::{commas, digits};
use super::markup::Markup;
use super::percentiles::of_latencies;
use super::tables::notes;

/// Writes everything that is known of a machine.
pub(super) fn machine(to: &mut Markup, machine: &Machine) {
    to.inside("div", &[("class", "machine")], |to| {
        to.inside("div", &[], |to| {
            to.inside("dl", &[], |to| {
                for (name, value) in fields(machine) {
                    to.element("dt", &[], name);
                    to.element("dd", &[], &value);
                }
            });
        });
        to.inside("div", &[], |to| {
            if let Some(plot) =
                of_latencies("Jitter: gaps in a thread that only reads the clock", &machine.jitter, "base")
            {
                plot.write(to, &[]);
            }
        });
    });
    let spoiled: Vec<(String, &str)> = machine
        .advice()
        .into_iter()
        .filter_map(|advice| match advice.finding {
            Finding::Spoils { effect, remedy } => {
                Some((format!("{} {}: {effect}", advice.what, advice.found), remedy))
            }
            Finding::Good | Finding::Unknown => None,
        })
        .collect();
    if !machine.optimized {
        notes(
            to,
            &["WARNING: the program was built without optimization; its figures mean nothing.".to_owned()],
        );
    }
    if spoiled.is_empty() {
        return;
    }
    to.element("h4", &[], "What spoils latency here");
    to.inside("ul", &[("class", "advice")], |to| {
        for (warning, remedy) in spoiled {
            to.inside("li", &[], |to| {
                to.text(&warning);
                to.element("span", &[("class", "remedy")], &format!(". To set: {remedy}."));
            });
        }
    });
}

fn fields(machine: &Machine) -> Vec<(&'static str, String)> {
    let known = |value: &Option<String>| match value.as_deref() {
        None => "unknown".to_owned(),
        Some("") => "none".to_owned(),
        Some(value) => value.to_owned(),
    };
    #[expect(clippy::cast_precision_loss, reason = "no machine has 2^53 bytes")]
    let memory = |bytes: Option<u64>| {
        bytes.map_or_else(
            || "unknown".to_owned(),
            |bytes| format!("{} GiB", digits(bytes as f64 / 2f64.powi(30))),
        )
    };
    let list = |list: Vec<String>| if list.is_empty() { "unknown".to_owned() } else { list.join(", ") };
    let idle = machine.idle_states.iter().map(|(name, latency)| format!("{name} ({latency} us)"));
    let jitter = &machine.jitter;
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    let gaps = commas(jitter.count() as f64);
    vec![
        ("processor", machine.processor.clone()),
        ("flags", list(machine.flags.clone())),
        ("processors", format!("{} usable ({})", machine.processors, known(&machine.allowed))),
        ("isolated", known(&machine.isolated)),
        ("without a tick", known(&machine.tickless)),
        ("governor", known(&machine.governor)),
        (
            "hardware threads",
            machine.smt.map_or("unknown", |smt| if smt { "two per core" } else { "one per core" }).to_owned(),
        ),
        ("idle states", list(idle.collect())),
        ("clock", known(&machine.clock_source)),
        ("huge pages", known(&machine.huge_pages)),
        ("memory", format!("{}, {} available", memory(machine.memory), memory(machine.available_memory))),
        ("system", machine.system.clone()),
        ("load", machine.load.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2}"))),
        (
            "jitter",
            if jitter.count() == 0 {
                "not measured".to_owned()
            } else {
                let [p50, .., p9999, worst] = jitter.table().map(|row| row.ns);
                format!("p50 {p50} ns, p99.99 {} ns, worst {} ns of {gaps} gaps", whole(p9999), whole(worst))
            },
        ),
        ("compiler", machine.rustc.clone()),
        ("build", machine.build.clone()),
        ("optimized", if machine.optimized { "yes" } else { "NO" }.to_owned()),
        ("C library", machine.libc.clone()),
        ("allocator", machine.allocator.clone()),
        ("commit", machine.commit.clone()),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn whole(ns: u64) -> String {
    commas(ns as f64)
}
