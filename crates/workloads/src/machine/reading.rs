//! Asking the system about the machine.

use std::path::PathBuf;
use std::process::Command;

use super::Machine;
use crate::harness::Latencies;

/// The flags of a processor that matter here.
const FLAGS: [&str; 9] = [
    "sse4_2",
    "avx2",
    "bmi2",
    "avx512f",
    "avx512bw",
    "avx512vbmi2",
    "constant_tsc",
    "tsc_reliable",
    "hypervisor",
];

/// Where `/proc` and `/sys` are.
pub(super) struct System {
    root: PathBuf,
}

impl Default for System {
    fn default() -> Self {
        Self { root: PathBuf::from("/") }
    }
}

impl System {
    #[cfg(test)]
    pub(super) fn at(root: &std::path::Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn read(&self, path: &str) -> Option<String> {
        Some(std::fs::read_to_string(self.root.join(path)).ok()?.trim().to_owned())
    }

    /// Returns the value after `name` in a file of `name: value` lines.
    fn value(&self, path: &str, name: &str) -> Option<String> {
        let text = self.read(path)?;
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    }

    fn kilobytes(&self, name: &str) -> Option<u64> {
        let value = self.value("proc/meminfo", name)?;
        Some(value.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    }

    pub(super) fn machine(&self) -> Machine {
        let system = rustix::system::uname();
        let flags = self.value("proc/cpuinfo", "flags").unwrap_or_default();
        let flags = flags.split(' ').map(|flag| if flag == "avx512_vbmi2" { "avx512vbmi2" } else { flag });
        Machine {
            processor: self
                .value("proc/cpuinfo", "model name")
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            flags: flags.filter(|flag| FLAGS.contains(flag)).map(str::to_owned).collect(),
            processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            allowed: self.value("proc/self/status", "Cpus_allowed_list"),
            isolated: self.read("sys/devices/system/cpu/isolated"),
            tickless: self.read("sys/devices/system/cpu/nohz_full").filter(|list| list != "(null)"),
            governor: self.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            smt: self.read("sys/devices/system/cpu/smt/active").map(|active| active == "1"),
            idle_states: self.idle_states(),
            clock_source: self.read("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            huge_pages: self
                .read("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| chosen(&text)),
            system: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
            memory: self.kilobytes("MemTotal"),
            available_memory: self.kilobytes("MemAvailable"),
            load: self.read("proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
            jitter: Latencies::default(),
            rustc: env!("FIXBOLT_RUSTC").to_owned(),
            build: env!("FIXBOLT_PROFILE").to_owned(),
            optimized: !cfg!(debug_assertions),
            libc: libc(),
            allocator: "the system's".to_owned(),
            commit: env!("FIXBOLT_COMMIT").to_owned(),
        }
    }

    fn idle_states(&self) -> Vec<(String, u64)> {
        let state = |n: usize| {
            let of = |file: &str| self.read(&format!("sys/devices/system/cpu/cpu0/cpuidle/state{n}/{file}"));
            Some((of("name")?, of("latency")?.parse().ok()?))
        };
        (0..).map_while(state).collect()
    }
}

/// Returns the choice that the kernel displays in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn libc() -> String {
    let version = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok();
    let version = version.filter(|output| output.status.success() && cfg!(target_env = "gnu"));
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    version
        .unwrap_or_else(|| if cfg!(target_env = "musl") { "musl".to_owned() } else { "unknown".to_owned() })
}

/// Returns how many processors a list of the kernel has: `0-1,4` has 3.
pub(super) fn list_len(list: &str) -> usize {
    let parts = list.split(',').filter(|part| !part.is_empty());
    let len = |part: &str| match part.split_once('-') {
        Some((first, last)) => {
            let ends = first.trim().parse::<usize>().ok().zip(last.trim().parse::<usize>().ok());
            ends.map_or(0, |(first, last)| (last + 1).saturating_sub(first))
        }
        None => usize::from(part.trim().parse::<usize>().is_ok()),
    };
    parts.map(len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_counted() {
        let lists = ["", "0", "2-5", "0-1,4", "3,", "x"];
        assert_eq!(lists.map(list_len), [0, 1, 4, 3, 1, 0]);
    }

    #[test]
    fn a_machine_is_read_from_its_files_and_what_is_absent_is_none() {
        let folder = std::env::temp_dir().join(format!("fixbolt-machine-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let empty = System::at(&folder).machine();
        assert_eq!((empty.governor, empty.smt, empty.memory, empty.load), (None, None, None, None));
        write(
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Quick 9000\nflags\t\t: fpu avx2 avx512_vbmi2 sse\n",
        );
        write("proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\n");
        write("proc/loadavg", "0.25 0.5 0.75 1/100 4242\n");
        write("sys/devices/system/cpu/isolated", "2-3\n");
        write("sys/devices/system/cpu/nohz_full", "(null)\n");
        write("sys/devices/system/cpu/smt/active", "1\n");
        write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        write("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n");
        write("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n");
        write("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n");
        write("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n");
        write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        let machine = System::at(&folder).machine();
        std::fs::remove_dir_all(folder).unwrap();
        assert_eq!(machine.processor, "Quick 9000");
        assert_eq!(machine.flags, ["avx2", "avx512vbmi2"]);
        assert_eq!((machine.memory, machine.load), (Some(1 << 20), Some(0.25)));
        assert_eq!((machine.isolated_processors(), machine.tickless), (2, None));
        assert_eq!((machine.smt, machine.governor.as_deref()), (Some(true), Some("powersave")));
        assert_eq!(machine.idle_states, [("POLL".to_owned(), 0), ("C6".to_owned(), 133)]);
        assert_eq!(machine.huge_pages.as_deref(), Some("madvise"));
    }
}
