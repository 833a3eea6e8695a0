//! What on a machine spoils latency, and what to set.

use super::Machine;

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advice {
    /// What was looked at: `frequency governor`, ...
    pub what: &'static str,
    /// What was found.
    pub found: String,
    /// Whether it spoils latency.
    pub finding: Finding,
}

/// Whether something spoils latency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// It does not.
    Good,
    /// The system does not tell.
    Unknown,
    /// It does: the effect, and what to do.
    Spoils {
        /// What it does to latencies.
        effect: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
}

impl Machine {
    /// Returns everything that was looked at.
    #[must_use]
    pub fn advice(&self) -> Vec<Advice> {
        let known = |found: &Option<String>| found.clone().unwrap_or_else(|| "unknown".to_owned());
        let judge = |known: bool, spoils: bool, effect, remedy| match (known, spoils) {
            (false, _) => Finding::Unknown,
            (true, false) => Finding::Good,
            (true, true) => Finding::Spoils { effect, remedy },
        };
        let mut advice = Vec::new();
        let mut add = |what, found: String, finding| advice.push(Advice { what, found, finding });
        add(
            "build",
            self.build.clone(),
            judge(
                true,
                !self.optimized,
                "an unoptimized program is many times slower",
                "build with cargo build --release",
            ),
        );
        add(
            "processors",
            format!("{} usable ({})", self.processors, known(&self.allowed)),
            judge(
                true,
                self.processors < 4,
                "the harness, both engines and the kernel share cores: high percentiles are the scheduler's",
                "measure on a machine with at least four cores",
            ),
        );
        add(
            "isolated processors",
            self.isolated.clone().filter(|list| !list.is_empty()).unwrap_or_else(|| "none".to_owned()),
            judge(
                self.isolated.is_some(),
                self.isolated_processors() < 4,
                "other threads and interrupts run on the cores that are measured",
                "boot with isolcpus=LIST nohz_full=LIST rcu_nocbs=LIST, and pin threads to LIST",
            ),
        );
        add(
            "frequency governor",
            known(&self.governor),
            judge(
                self.governor.is_some(),
                self.governor.as_deref() != Some("performance"),
                "the clock frequency follows the load: idle cores begin slowly",
                "cpupower frequency-set -g performance",
            ),
        );
        add(
            "hardware threads",
            self.smt.map_or("unknown", |smt| if smt { "two per core" } else { "one per core" }).to_owned(),
            judge(
                self.smt.is_some(),
                self.smt == Some(true),
                "a neighbor on the same core takes execution units and cache",
                "echo off > /sys/devices/system/cpu/smt/control, or leave the siblings idle",
            ),
        );
        let deepest = self.idle_states.iter().max_by_key(|(_, latency)| *latency);
        add(
            "idle states",
            deepest.map_or_else(
                || "unknown".to_owned(),
                |(name, latency)| format!("down to {name}, {latency} us to wake up"),
            ),
            judge(
                deepest.is_some(),
                deepest.is_some_and(|(_, latency)| *latency > 10),
                "a core that has slept wakes up late: blocking threads pay this for each message",
                "cpupower idle-set -D 10, or threads that spin",
            ),
        );
        add(
            "clock",
            known(&self.clock_source),
            judge(
                self.clock_source.is_some(),
                self.clock_source.as_deref().is_some_and(|clock| !["tsc", "kvm-clock"].contains(&clock)),
                "reading the time is a system call of a microsecond or more",
                "boot with clocksource=tsc tsc=reliable if the processor's TSC is constant",
            ),
        );
        add(
            "hypervisor",
            if self.has("hypervisor") { "present" } else { "none seen" }.to_owned(),
            judge(
                !self.flags.is_empty(),
                self.has("hypervisor"),
                "the host takes cores away without a trace in this system",
                "measure on the bare machine, or reserve the host's cores for this guest",
            ),
        );
        add(
            "load",
            self.load.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2} runnable threads")),
            judge(
                self.load.is_some(),
                self.load.is_some_and(|load| load > 0.5),
                "other programs take cores and caches",
                "stop them, or wait until the load is near 0",
            ),
        );
        let jitter = self.jitter.count() > 0;
        add(
            "jitter of this core",
            if jitter {
                format!("{} ns at most", self.jitter.ns_at(100.0))
            } else {
                "not measured".to_owned()
            },
            judge(
                jitter,
                self.jitter.ns_at(100.0) > 50_000,
                "a thread that only reads the clock was held up for more than 50 us",
                "isolate cores, move interrupts away (/proc/irq/*/smp_affinity), stop other programs",
            ),
        );
        advice
    }

    /// Returns what spoils latency here, one line each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let line = |advice: Advice| match advice.finding {
            Finding::Spoils { effect, .. } => Some(format!("{} {}: {effect}", advice.what, advice.found)),
            Finding::Good | Finding::Unknown => None,
        };
        self.advice().into_iter().filter_map(line).collect()
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|it| it == flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_machine_has_no_warnings_and_each_fault_of_a_bad_one_has_its_own() {
        let mut machine = Machine {
            flags: vec!["avx2".to_owned()],
            processors: 8,
            isolated: Some("4-7".to_owned()),
            governor: Some("performance".to_owned()),
            smt: Some(false),
            idle_states: vec![("C1".to_owned(), 2)],
            clock_source: Some("tsc".to_owned()),
            load: Some(0.1),
            optimized: true,
            ..Machine::here()
        };
        assert_eq!(machine.warnings(), Vec::<String>::new());
        let spoil: [fn(&mut Machine); 10] = [
            |machine| machine.processors = 2,
            |machine| machine.isolated = Some(String::new()),
            |machine| machine.governor = Some("powersave".to_owned()),
            |machine| machine.smt = Some(true),
            |machine| machine.idle_states.push(("C6".to_owned(), 133)),
            |machine| machine.clock_source = Some("hpet".to_owned()),
            |machine| machine.flags.push("hypervisor".to_owned()),
            |machine| machine.load = Some(1.5),
            |machine| machine.jitter.add_ns(60_000),
            |machine| machine.optimized = false,
        ];
        for (n, spoil) in spoil.into_iter().enumerate() {
            spoil(&mut machine);
            assert_eq!(machine.warnings().len(), n + 1, "{:?}", machine.warnings());
        }
        assert_eq!(machine.advice().len(), 10);
    }
}
