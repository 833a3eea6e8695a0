//! What happened in runs of the simulation.

/// What happened in a run.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) orders: u64,
    pub(crate) refused: u64,
    pub(crate) cuts: u64,
    pub(crate) deaths: u64,
    pub(crate) power_losses: u64,
    pub(crate) garbled: u64,
    pub(crate) logouts: u64,
    pub(crate) failures: u64,
    pub(crate) not_now: u64,
    pub(crate) resends: u64,
    pub(crate) gaps: u64,
    pub(crate) duplicates: u64,
    pub(crate) beyond_horizon: u64,
    pub(crate) throttled: u64,
    pub(crate) slow: u64,
    pub(crate) recovered: u64,
    pub(crate) steps: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        let Self { orders, refused, cuts, deaths, power_losses, garbled, logouts, .. } = other;
        self.orders += orders;
        self.refused += refused;
        self.cuts += cuts;
        self.deaths += deaths;
        self.power_losses += power_losses;
        self.garbled += garbled;
        self.logouts += logouts;
        self.failures += other.failures;
        self.not_now += other.not_now;
        self.resends += other.resends;
        self.gaps += other.gaps;
        self.duplicates += other.duplicates;
        self.beyond_horizon += other.beyond_horizon;
        self.throttled += other.throttled;
        self.slow += other.slow;
        self.recovered += other.recovered;
        self.steps += other.steps;
    }

    /// Checks that every kind of event happened: otherwise the simulation proves nothing.
    pub(crate) fn assert_everything_happened(&self) {
        let Self { orders, refused, cuts, deaths, power_losses, garbled, logouts, .. } = *self;
        let others = [
            self.failures,
            self.not_now,
            self.resends,
            self.gaps,
            self.duplicates,
            self.beyond_horizon,
            self.throttled,
            self.slow,
            self.recovered,
        ];
        let all = [orders, refused, cuts, deaths, power_losses, garbled, logouts];
        assert!(all.iter().chain(&others).all(|count| *count > 0), "{self:?}");
    }
}
