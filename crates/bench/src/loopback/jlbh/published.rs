//! The published figures: JLBH Examples 4, Benchmarking QuickFix vs ChronicleFix (2016; Intel Xeon
//! E5-2650 v2 at 2.60 GHz).

use fixbolt_workloads::clock::median;
use fixbolt_workloads::harness::PERCENTILES;

/// A published table: microseconds by percentile and run.
pub(super) struct Published {
    /// The engine.
    pub(super) engine: &'static str,
    /// Messages per second.
    pub(super) rate: u32,
    /// A row for each of [`PERCENTILES`], a figure for each run.
    pub(super) rows: [&'static [f64]; PERCENTILES.len()],
}

impl Published {
    /// Returns a cell for each percentile, with the figures of all runs.
    pub(super) fn cells(&self) -> Vec<String> {
        let cell = |row: &&[f64]| row.iter().map(|us| format!("{us:.2}")).collect::<Vec<_>>().join(" ");
        self.rows.iter().map(cell).collect()
    }

    /// Returns the median of the runs, in nanoseconds.
    pub(super) fn median_ns(&self, percentile: f64) -> Option<f64> {
        let at = PERCENTILES.iter().position(|it| *it == percentile)?;
        median(&mut self.rows[at].to_vec()).map(|us| us * 1e3)
    }
}

pub(super) const QUICKFIXJ: [Published; 3] = [
    Published {
        engine: "QuickFIX/J",
        rate: 2_000,
        rows: [
            &[270.34, 270.34, 233.47],
            &[352.26, 335.87, 1867.78],
            &[6684.67, 4849.66, 69206.02],
            &[13369.34, 12845.06, 163577.86],
            &[81788.93, 20447.23, 163577.86],
            &[111149.06, 98566.14, 163577.86],
        ],
    },
    Published {
        engine: "QuickFIX/J",
        rate: 10_000,
        rows: [
            &[184.32, 176.13, 176.13],
            &[573.44, 270.34, 249.86],
            &[19398.66, 2686.98, 5111.81],
            &[28835.84, 7733.25, 7995.39],
            &[30932.99, 9699.33, 9175.04],
            &[30932.99, 9699.33, 9175.04],
        ],
    },
    Published {
        engine: "QuickFIX/J",
        rate: 50_000,
        rows: [
            &[176.13, 176.13, 176.13],
            &[12845.06, 29884.42, 3604.48],
            &[34603.01, 94371.84, 17301.50],
            &[42991.62, 98566.14, 25690.11],
            &[45088.77, 98566.14, 27787.26],
            &[45088.77, 98566.14, 27787.26],
        ],
    },
];

pub(super) const CHRONICLE: [Published; 3] = [
    Published {
        engine: "Chronicle FIX",
        rate: 2_000,
        rows: [
            &[16.90, 16.90, 16.90],
            &[18.94, 18.94, 18.94],
            &[26.11, 30.21, 23.04],
            &[35.84, 39.94, 33.79],
            &[540.67, 671.74, 401.41],
            &[638.98, 1081.34, 606.21],
        ],
    },
    Published {
        engine: "Chronicle FIX",
        rate: 10_000,
        rows: [
            &[16.90, 16.90, 16.13],
            &[18.94, 18.94, 18.94],
            &[26.11, 22.02, 20.99],
            &[88.06, 33.79, 83.97],
            &[999.42, 167.94, 802.82],
            &[1146.88, 249.86, 966.66],
        ],
    },
    Published {
        engine: "Chronicle FIX",
        rate: 50_000,
        rows: [
            &[15.62, 15.10, 15.62],
            &[17.92, 16.90, 16.90],
            &[22.02, 30.21, 29.18],
            &[120.83, 352.26, 33.79],
            &[335.87, 802.82, 96.26],
            &[450.56, 901.12, 151.55],
        ],
    },
];

/// Parsing of a message into its data model, including logging: the profile of 10,000 to 200,000
/// messages per second.
#[expect(clippy::approx_constant, reason = "they are microseconds")]
pub(super) const PARSE: Published = Published {
    engine: "Chronicle FIX",
    rate: 0,
    rows: [
        &[1.01, 1.01, 1.01, 1.01, 1.06],
        &[1.12, 1.12, 1.12, 1.12, 1.12],
        &[1.38, 1.31, 1.44, 1.31, 2.11],
        &[2.88, 2.88, 2.88, 2.88, 4.03],
        &[3.26, 3.14, 3.39, 3.14, 6.02],
        &[5.25, 6.27, 22.02, 20.99, 18.94],
    ],
};

/// The list at the end of the page: an engine, its time and that of TCP in microseconds, all
/// throughputs taken together.
pub(super) const DEDUCTED: [(&str, u32, u32); 2] = [("QuickFIX/J", 200, 10), ("Chronicle FIX", 16, 10)];
