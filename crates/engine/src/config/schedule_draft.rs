//! The keys of a schedule: their values as text, and what was read of them so far.

use fixbolt_codec::Date;
use fixbolt_session::schedule::{ScheduleReset, TimeOfDay, Weekday, Weekdays};

use super::refusal::Refusal;

/// The keys of a schedule, as far as they were read.
#[derive(Default)]
pub(super) struct ScheduleDraft {
    pub(super) non_stop: bool,
    pub(super) start: Vec<LocalTime>,
    pub(super) end: Vec<LocalTime>,
    pub(super) logon: Vec<LocalTime>,
    pub(super) logout: Vec<LocalTime>,
    pub(super) start_day: Option<Weekday>,
    pub(super) end_day: Option<Weekday>,
    pub(super) logon_day: Option<Weekday>,
    pub(super) logout_day: Option<Weekday>,
    pub(super) weekdays: Option<Weekdays>,
    pub(super) use_local_time: bool,
    pub(super) time_zone: Option<String>,
    pub(super) holidays: Vec<Date>,
    pub(super) early_closes: Vec<(Date, TimeOfDay)>,
    pub(super) reset: ScheduleReset,
    pub(super) enable_reset_time: bool,
    pub(super) reset_time: Option<LocalTime>,
}

/// A time of day, and the zone if one is written after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LocalTime {
    pub(super) time: TimeOfDay,
    pub(super) zone: Option<String>,
}

/// The form of a time of a schedule.
pub(super) const TIMES: &str = "times in the form HH:MM:SS, or HH:MM:SS Europe/London, separated by commas";
/// The form of one time of a schedule.
pub(super) const TIME: &str = "a time in the form HH:MM:SS, or HH:MM:SS Europe/London";
/// The form of a weekday.
pub(super) const WEEKDAY: &str = "a weekday, such as Monday or mon";
/// The form of Weekdays.
pub(super) const WEEKDAYS: &str = "weekdays separated by commas, such as Mon,Tue,Wed";
/// The form of TimeZone.
pub(super) const TIME_ZONE: &str = "the name of a time zone, such as Europe/London";
/// The form of Holidays.
pub(super) const DATES: &str = "dates in the form YYYY-MM-DD separated by commas";
/// The form of EarlyCloses.
pub(super) const CLOSES: &str = "dates with times in the form YYYY-MM-DD HH:MM:SS separated by commas";

fn list<T>(value: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Refusal> {
    value.split(',').map(|part| read(part.trim())).collect::<Option<_>>().ok_or(Refusal::Form)
}

pub(super) fn times(times: &mut Vec<LocalTime>, value: &str) -> Result<(), Refusal> {
    *times = list(value, |part| {
        let (time, zone) =
            part.split_once(' ').map_or((part, None), |(time, zone)| (time, Some(zone.trim())));
        Some(LocalTime { time: time.parse().ok()?, zone: zone.map(str::to_owned) })
    })?;
    Ok(())
}

pub(super) fn time(time: &mut Option<LocalTime>, value: &str) -> Result<(), Refusal> {
    let mut all = Vec::new();
    times(&mut all, value)?;
    match all.as_slice() {
        [one] => *time = Some(one.clone()),
        _ => return Err(Refusal::Form),
    }
    Ok(())
}

pub(super) fn weekday(day: &mut Option<Weekday>, value: &str) -> Result<(), Refusal> {
    *day = Some(value.parse().map_err(|_| Refusal::Form)?);
    Ok(())
}

pub(super) fn weekdays(days: &mut Option<Weekdays>, value: &str) -> Result<(), Refusal> {
    *days = Some(list(value, |part| part.parse::<Weekday>().ok())?.into_iter().collect());
    Ok(())
}

pub(super) fn zone(name: &mut Option<String>, value: &str) -> Result<(), Refusal> {
    // So quickfixgo names the zone of the machine.
    if value.eq_ignore_ascii_case("local") {
        let instead = "the machine's time zone is UseLocalTime=Y, in place of this key";
        return Err(Refusal::Unavailable(instead.to_owned()));
    }
    *name = Some(value.to_owned());
    Ok(())
}

pub(super) fn dates(dates: &mut Vec<Date>, value: &str) -> Result<(), Refusal> {
    *dates = list(value, date)?;
    Ok(())
}

/// Reads `YYYY-MM-DD`, of the years from 1970 on.
fn date(text: &str) -> Option<Date> {
    let is_form = text.len() == 10 && text.match_indices('-').map(|(at, _)| at).eq([4, 7]);
    text.replace('-', "").parse().ok().filter(|date: &Date| is_form && date.year() >= 1970)
}

pub(super) fn closes(closes: &mut Vec<(Date, TimeOfDay)>, value: &str) -> Result<(), Refusal> {
    *closes = list(value, |part| {
        let (day, time) = part.split_once(' ')?;
        Some((date(day)?, time.trim().parse().ok()?))
    })?;
    Ok(())
}
