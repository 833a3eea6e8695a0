//! How much memory there is, and how much of it this process has.

/// Returns the bytes that new programs can use without swapping, as the system estimates them.
#[must_use]
pub fn available_memory() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// Returns the resident bytes of this process; 0 where the system does not say.
#[must_use]
pub fn resident() -> u64 {
    kilobytes("/proc/self/status", "VmRSS:").unwrap_or(0)
}

/// Returns the bytes on the line that begins with `name`, which has them in kB.
fn kilobytes(path: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    // Other tests of this process release memory meanwhile: only what is held here is known.
    #[test]
    fn memory_that_a_process_holds_is_resident() {
        const HELD: u64 = 64 << 20;
        let memory = vec![1u8; HELD as usize];
        assert!(std::hint::black_box(&memory).iter().all(|byte| *byte == 1));
        let total = kilobytes("/proc/meminfo", "MemTotal:").expect("the machine's memory");
        let resident = resident();
        assert!((HELD..total).contains(&resident), "{resident} of {total}");
        let available = available_memory().expect("an estimate");
        assert!((HELD..=total).contains(&available), "{available} of {total}");
        drop(memory);
    }
}
