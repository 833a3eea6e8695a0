//! The wall clock, for what is written down.

use std::time::{SystemTime, UNIX_EPOCH};

use fixbolt_session::Utc;

/// Returns the time of the system's clock.
pub(crate) fn now() -> Utc {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Utc(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the time as `2026-11-21T20:45:00Z`.
pub(crate) fn text_of(time: Utc) -> String {
    let seconds = time.0 / 1_000_000_000;
    let (days, rest) = ((seconds / 86_400) as i64, seconds % 86_400);
    // Civil date from days since 1970-01-01 (proleptic Gregorian calendar, years counted from
    // March).
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        assert_eq!(text_of(Utc(0)), "1970-01-01T00:00:00Z");
        assert_eq!(text_of(Utc(951_782_400_000_000_000)), "2000-02-29T00:00:00Z");
        assert_eq!(text_of(Utc(1_795_297_199_999_999_999)), "2026-11-21T21:39:59Z");
    }
}
