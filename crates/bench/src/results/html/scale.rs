//! Where a value stands on an axis, and which values an axis names.

/// An axis of values, linear or logarithmic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Scale {
    /// Logarithms if `log`.
    from: f64,
    /// Above `from`.
    to: f64,
    log: bool,
}

impl Scale {
    /// Returns a logarithmic axis on which all values have a place. It spans a factor of ten at
    /// least, so that small differences look small. Values that have no logarithm do not count.
    pub(super) fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let logs = values.into_iter().filter(|value| value.is_finite() && *value > 0.0).map(f64::log10);
        let (from, to) = extremes(logs).unwrap_or((0.0, 1.0));
        // Room for marks at the ends.
        let room = ((to - from) * 0.04).max(0.04);
        let (from, to) = (from - room, to + room);
        let missing = (1.0 - (to - from)).max(0.0) / 2.0;
        Self { from: from - missing, to: to + missing, log: true }
    }

    /// Returns a linear axis from 0 to the largest value.
    pub(super) fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let most = extremes(finite).map_or(0.0, |(_, most)| most);
        Self { from: 0.0, to: if most > 0.0 { most } else { 1.0 }, log: false }
    }

    /// Returns whether it is logarithmic.
    pub(super) const fn is_log(&self) -> bool {
        self.log
    }

    /// Returns the place of a value, in per cent of the axis. What is beyond an end is moved to it.
    pub(super) fn percent(&self, value: f64) -> f64 {
        let at = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        ((at - self.from) / (self.to - self.from) * 100.0).clamp(0.0, 100.0)
    }

    /// Returns the round values on the axis, in order: at least two, about `most` at most.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        if self.log { self.decades(most) } else { self.steps(most) }
    }

    fn decades(&self, most: usize) -> Vec<f64> {
        #[expect(clippy::cast_possible_truncation, reason = "logarithms of floating-point numbers are small")]
        let (first, last) = (self.from.floor() as i32, self.to.ceil() as i32);
        let on_axis = |mantissas: &[f64], every: usize| -> Vec<f64> {
            (first..=last)
                .filter(|decade| decade.rem_euclid(i32::try_from(every).unwrap_or(i32::MAX)) == 0)
                .flat_map(|decade| mantissas.iter().map(move |mantissa| mantissa * 10f64.powi(decade)))
                .filter(|value| (self.from..=self.to).contains(&value.log10()))
                .collect()
        };
        let fine = on_axis(&[1.0, 2.0, 5.0], 1);
        if fine.len() <= most {
            return fine;
        }
        let mut every = 1;
        loop {
            let decades = on_axis(&[1.0], every);
            if decades.len() <= most || every > 600 {
                // A few decades with their 2 and 5 would be too many, without them too few.
                return if decades.len() < 2 { fine } else { decades };
            }
            every += 1;
        }
    }

    fn steps(&self, most: usize) -> Vec<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a few ticks")]
        let least = (self.to - self.from) / most.max(2) as f64;
        let power = 10f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|mantissa| mantissa * power);
        let step = step.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power);
        (0..=u32::try_from(most).unwrap_or(u32::MAX))
            .map(|n| self.from + f64::from(n) * step)
            .take_while(|value| *value <= self.to * (1.0 + 1e-9) && value.is_finite())
            .collect()
    }
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |extremes, value| {
        let (least, most) = extremes.unwrap_or((value, value));
        Some((least.min(value), most.max(value)))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let log = |least: f64, most: f64| Scale::log([least, most]).ticks(8);
        assert_eq!(log(1_000.0, 90_000.0), [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5]);
        assert_eq!(log(100.0, 5e8), [1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8]);
        assert_eq!(log(1.0, 3.6e12), [1.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12]);
        // Equal values stand in the middle of a decade.
        assert_eq!(log(5_000.0, 5_000.0), [2e3, 5e3, 1e4]);
        assert!((Scale::log([5_000.0]).percent(5_000.0) - 50.0).abs() < 1e-9);
        assert_eq!(Scale::log([]).ticks(8), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(Scale::log([0.0, -1.0, f64::NAN]), Scale::log([]));
        assert_eq!(Scale::from_zero([7.0, 93.0]).ticks(6), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(Scale::from_zero([0.0]).ticks(5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
    }

    #[test]
    fn the_largest_numbers_have_an_axis() {
        for scale in [Scale::from_zero([f64::MAX]), Scale::log([f64::MAX, f64::MIN_POSITIVE])] {
            let ticks = scale.ticks(5);
            assert!((2..=6).contains(&ticks.len()), "{ticks:?}");
        }
    }

    proptest! {
        #[test]
        fn every_axis_has_ticks_in_order_and_a_place_for_its_values(
            a in 1e-9..1e15f64, b in 1e-9..1e15f64, most in 4usize..12, log: bool,
        ) {
            let scale = if log { Scale::log([a, b]) } else { Scale::from_zero([a, b]) };
            let ticks = scale.ticks(most);
            prop_assert!((2..=most + 1).contains(&ticks.len()), "{:?}", ticks);
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
            let percents: Vec<f64> = ticks.iter().map(|tick| scale.percent(*tick)).collect();
            prop_assert!(percents.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", percents);
            prop_assert!((scale.percent(a) < scale.percent(b)) == (a < b) || (a / b - 1.0).abs() < 1e-9);
        }
    }
}
