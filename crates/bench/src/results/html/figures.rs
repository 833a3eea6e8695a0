//! Figures as people read them: three digits and a unit.

use fixbolt_workloads::numbers::grouped;

/// Returns a duration: `812 ns`, `12.3 us`, `1.24 ms`, `2.50 s`.
pub(super) fn time(ns: f64) -> String {
    let (value, unit) = in_unit(ns);
    format!("{} {unit}", digits(value))
}

/// Returns a duration without zeros at its end, for an axis: `10 us`.
pub(super) fn short_time(ns: f64) -> String {
    if ns == 0.0 {
        return "0".to_owned();
    }
    let (value, unit) = in_unit(ns);
    format!("{} {unit}", short(value))
}

/// Returns a figure whose unit is named elsewhere, if it is not a duration.
pub(super) fn figure(value: f64, unit: &str) -> String {
    if unit == "ns" { time(value) } else { digits(value) }
}

/// Returns a figure whose unit is named elsewhere, if it is not a duration, without zeros at its
/// end, for an axis: `2M` for a rate.
pub(super) fn short_figure(value: f64, unit: &str) -> String {
    if unit == "ns" { short_time(value) } else { thousands(value) }
}

/// Returns a number with three digits at least, and commas between thousands.
pub(super) fn digits(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "-".to_owned(),
        size if size >= 1e15 => format!("{value:.2e}"),
        size if size >= 99.95 => commas(value),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Returns a number with commas between thousands, without a fraction.
pub(super) fn commas(value: f64) -> String {
    let sign = if value <= -0.5 { "-" } else { "" };
    format!("{sign}{}", grouped(format_args!("{:.0}", value.abs())))
}

/// Returns a number of an axis: `500`, `2k`, `1.5M`.
pub(super) fn thousands(value: f64) -> String {
    let size = value.abs();
    let scales = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match scales.into_iter().find(|(scale, _)| size >= *scale) {
        Some((scale, letter)) => format!("{}{letter}", short(value / scale)),
        None => short(value),
    }
}

/// Returns a number without zeros at its end.
pub(super) fn short(value: f64) -> String {
    if value.abs() >= 1e15 {
        return format!("{value:e}");
    }
    let text = if value.abs() >= 1e4 { commas(value) } else { format!("{value:.3}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Returns a number of markup: a coordinate or a share in per cent.
pub(super) fn coordinate(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the value in the unit in which it has one to three digits before the point.
fn in_unit(ns: f64) -> (f64, &'static str) {
    // 999.6 ns is 1.00 us.
    match ns.abs() {
        size if size >= 999.5e6 => (ns / 1e9, "s"),
        size if size >= 999.5e3 => (ns / 1e6, "ms"),
        size if size >= 999.5 => (ns / 1e3, "us"),
        _ => (ns, "ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_the_unit_that_fits() {
        for (ns, expected) in [
            (0.0, "0.00 ns"),
            (0.04, "0.040 ns"),
            (61.25, "61.2 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 us"),
            (12_345.0, "12.3 us"),
            (999_600.0, "1.00 ms"),
            (2.5e9, "2.50 s"),
            (3.6e12, "3,600 s"),
        ] {
            assert_eq!(time(ns), expected);
        }
        assert_eq!(figure(3_512_345.0, "messages/s"), "3,512,345");
        assert_eq!((commas(-1_234.0).as_str(), digits(f64::NAN).as_str()), ("-1,234", "-"));
        assert_eq!(time(f64::MAX), "1.80e299 s");
    }

    #[test]
    fn figures_of_an_axis_are_short() {
        let of_time = [0.0, 1.0, 10.0, 1_000.0, 5e6, 2e10].map(short_time);
        assert_eq!(of_time, ["0", "1 ns", "10 ns", "1 us", "5 ms", "20 s"]);
        let of_rates = [0.5, 500.0, 2_000.0, 1.5e6, 2e9].map(thousands);
        assert_eq!(of_rates, ["0.5", "500", "2k", "1.5M", "2G"]);
        assert_eq!((coordinate(12.3456), coordinate(100.0)), ("12.35".to_owned(), "100".to_owned()));
    }
}
