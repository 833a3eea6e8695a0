//! The threads of a process, as Linux tells of them.

/// The status of a thread: `/proc/PID/task/TID/status`.
#[derive(Debug)]
pub struct ThreadStatus(String);

impl ThreadStatus {
    /// Returns those of all threads of a process that do not end meanwhile.
    #[must_use]
    pub fn of_process(process: u32) -> Vec<Self> {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("the process runs, on Linux");
        let read = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("status"));
        tasks.filter_map(|task| task.and_then(read).ok().map(Self)).collect()
    }

    /// Returns the value of a line, such as `Cpus_allowed_list`.
    #[must_use]
    pub fn field(&self, name: &str) -> &str {
        let line = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.expect("the status has this line").trim()
    }

    /// Returns the first fifteen characters of the thread's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.field("Name")
    }

    /// Returns how often the thread has slept.
    #[must_use]
    pub fn slept(&self) -> u64 {
        self.field("voluntary_ctxt_switches").parse().expect("a number")
    }
}
