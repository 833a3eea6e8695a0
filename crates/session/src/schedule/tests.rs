//! The schedule against a model that steps through time and looks at the local clock of each.

use proptest::prelude::*;

use super::civil::DAY;
use super::window::Days;
use super::*;

/// Zones with changes by an hour and by half an hour, at midnight, east and west of Greenwich, on
/// both hemispheres; and without any.
const RULES: [&str; 8] = [
    "UTC0",
    "CET-1CEST,M3.5.0,M10.5.0/3",
    "EST5EDT,M3.2.0,M11.1.0",
    "GMT0BST,M3.5.0/1,M10.5.0",
    "AEST-10AEDT,M10.1.0,M4.1.0/3",
    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "<-03>3<-02>,M10.3.0/0,M2.3.0/0",
    "<+0545>-5:45",
];
/// 2026-01-01.
const YEAR: i64 = 20_454 * DAY;
const MINUTE: i64 = 60;
/// The step of the model; every time and every change of a clock is a multiple of it.
const STEP: i64 = 15 * MINUTE;

fn zone(rule: &str) -> Zone {
    Zone::from_posix(rule).unwrap()
}

fn time(text: &str) -> TimeOfDay {
    text.parse().unwrap()
}

fn edge(text: &str, rule: &str) -> Edge {
    Edge::new(time(text), zone(rule))
}

fn daily(start: &str, end: &str, rule: &str) -> Window {
    Window::daily(Weekdays::ALL, edge(start, rule), edge(end, rule))
}

/// Reads `2026-03-29`.
fn date(text: &str) -> Date {
    text.replace('-', "").parse().unwrap()
}

fn as_date(day: Day) -> Date {
    Date::from_unix_day(day.epoch_day().unsigned_abs())
}

fn day(text: &str) -> Day {
    Day::of(date(text))
}

/// Reads `2026-03-29 01:00:00` as UTC.
fn utc(text: &str) -> Utc {
    let (day, clock) = text.split_once(' ').unwrap();
    moment(Day::of(date(day)).at(time(clock)))
}

fn inside(began: &str, ends: &str) -> WindowPosition {
    WindowPosition::In { began: utc(began), ends: utc(ends) }
}

fn outside(until: &str) -> WindowPosition {
    WindowPosition::Out { until: Some(utc(until)) }
}

const BERLIN: &str = RULES[1];
const NEW_YORK: &str = RULES[2];

#[test]
fn a_window_over_midnight_belongs_to_the_day_on_which_it_begins() {
    let workdays = "Mon,Tue,Wed,Thu,Fri".split(',').map(|day| day.parse().unwrap()).collect();
    let window = Window::daily(workdays, edge("22:00:00", "UTC0"), edge("06:00:00", "UTC0"));
    let schedule = Schedule::new([window]);
    // 2026-01-09 is a Friday.
    let night = inside("2026-01-09 22:00:00", "2026-01-10 06:00:00");
    assert_eq!(schedule.position_at(utc("2026-01-10 05:59:59")), night);
    assert_eq!(schedule.position_at(utc("2026-01-10 06:00:00")), outside("2026-01-12 22:00:00"));
    assert!(schedule.same_window(utc("2026-01-09 22:00:00"), utc("2026-01-10 05:00:00")));
    assert!(!schedule.same_window(utc("2026-01-09 21:59:59"), utc("2026-01-10 05:00:00")));
}

#[test]
fn equal_times_make_a_day_and_equal_days_and_times_a_week() {
    let day = Schedule::new([daily("17:00:00", "17:00:00", "UTC0")]);
    let (before, after) = (utc("2026-01-09 16:59:59"), utc("2026-01-09 17:00:00"));
    assert_eq!(day.position_at(before), inside("2026-01-08 17:00:00", "2026-01-09 17:00:00"));
    assert_eq!(day.position_at(after), inside("2026-01-09 17:00:00", "2026-01-10 17:00:00"));
    assert!(!day.same_window(before, after));
    let start = || edge("17:00:00", "UTC0");
    let week = Schedule::new([Window::weekly(Weekday::Sunday, start(), Weekday::Sunday, start())]);
    assert_eq!(week.position_at(after), inside("2026-01-04 17:00:00", "2026-01-11 17:00:00"));
}

#[test]
fn a_weekly_window_ends_on_its_last_day_and_a_holiday_delays_its_start() {
    let week = Window::weekly(
        Weekday::Sunday,
        edge("17:00:00", NEW_YORK),
        Weekday::Friday,
        edge("16:00:00", NEW_YORK),
    );
    let schedule = Schedule::new([week]).with_holidays([date("2026-01-04")]);
    assert_eq!(schedule.position_at(utc("2026-01-05 21:59:59")), outside("2026-01-05 22:00:00"));
    let short = inside("2026-01-05 22:00:00", "2026-01-09 21:00:00");
    assert_eq!(schedule.position_at(utc("2026-01-05 22:00:00")), short);
    assert_eq!(schedule.position_at(utc("2026-01-09 21:00:00")), outside("2026-01-11 22:00:00"));
}

#[test]
fn an_early_close_ends_the_window_that_it_lies_in_and_drops_one_that_begins_with_it() {
    let schedule =
        Schedule::new([daily("08:00:00", "12:00:00", BERLIN), daily("13:00:00", "17:00:00", BERLIN)])
            .with_early_closes([
                (date("2026-12-24"), time("11:00:00")),
                (date("2026-12-24"), time("13:00:00")),
            ])
            .with_holidays([date("2026-12-25"), date("2026-12-26")]);
    let morning = inside("2026-12-24 07:00:00", "2026-12-24 10:00:00");
    assert_eq!(schedule.position_at(utc("2026-12-24 09:00:00")), morning);
    assert_eq!(schedule.position_at(utc("2026-12-24 10:00:00")), outside("2026-12-27 07:00:00"));
}

// R-SCHEDULE-6
#[test]
fn a_start_in_a_skipped_hour_is_the_first_moment_after_it_and_so_is_an_end() {
    // The clock is put forward at 01:00 UTC, from 02:00 to 03:00.
    let schedule = Schedule::new([daily("02:30:00", "10:00:00", BERLIN)]);
    let window = inside("2026-03-29 01:00:00", "2026-03-29 08:00:00");
    assert_eq!(schedule.position_at(utc("2026-03-29 01:00:00")), window);
    let schedule = Schedule::new([daily("01:00:00", "02:30:00", BERLIN)]);
    let window = inside("2026-03-29 00:00:00", "2026-03-29 01:00:00");
    assert_eq!(schedule.position_at(utc("2026-03-29 00:30:00")), window);
    // It does not take place that day, and takes place on the next.
    let schedule = Schedule::new([daily("02:10:00", "02:50:00", BERLIN)]);
    assert_eq!(schedule.position_at(utc("2026-03-29 00:00:00")), outside("2026-03-30 00:10:00"));
}

// R-SCHEDULE-6
#[test]
fn a_start_that_the_clock_shows_twice_is_the_first_and_an_end_the_last() {
    // The clock is put back at 01:00 UTC, from 03:00 to 02:00.
    let schedule = Schedule::new([daily("02:30:00", "10:00:00", BERLIN)]);
    let window = inside("2026-10-25 00:30:00", "2026-10-25 09:00:00");
    assert_eq!(schedule.position_at(utc("2026-10-25 00:30:00")), window);
    let schedule = Schedule::new([daily("01:00:00", "02:30:00", BERLIN)]);
    let window = inside("2026-10-24 23:00:00", "2026-10-25 01:30:00");
    assert_eq!(schedule.position_at(utc("2026-10-25 01:29:59")), window);
    // A session of a day begins anew at the first of both, once.
    let schedule = Schedule::new([daily("02:30:00", "02:30:00", BERLIN)]);
    let window = inside("2026-10-25 00:30:00", "2026-10-26 01:30:00");
    assert_eq!(schedule.position_at(utc("2026-10-25 01:30:00")), window);
}

#[test]
fn a_start_and_an_end_may_have_different_zones() {
    let window = Window::daily(Weekdays::ALL, edge("08:00:00", "GMT0"), edge("17:00:00", NEW_YORK));
    let schedule = Schedule::new([window]);
    let summer = inside("2026-07-01 08:00:00", "2026-07-01 21:00:00");
    assert_eq!(schedule.position_at(utc("2026-07-01 12:00:00")), summer);
    let winter = inside("2026-01-05 08:00:00", "2026-01-05 22:00:00");
    assert_eq!(schedule.position_at(utc("2026-01-05 12:00:00")), winter);
}

#[test]
fn there_are_connections_only_inside_both_kinds_of_windows() {
    let week =
        |start, end| Window::weekly(Weekday::Sunday, edge(start, "UTC0"), Weekday::Friday, edge(end, "UTC0"));
    let schedule = Schedule::new([week("17:00:00", "17:00:00")])
        .with_logon_windows([daily("08:00:00", "20:00:00", "UTC0")]);
    // 2026-01-11 is a Sunday.
    let first = inside("2026-01-11 17:00:00", "2026-01-11 20:00:00");
    assert_eq!(schedule.connection_at(utc("2026-01-11 18:00:00")), first);
    assert_eq!(schedule.connection_at(utc("2026-01-11 09:00:00")), outside("2026-01-11 17:00:00"));
    assert_eq!(schedule.connection_at(utc("2026-01-11 20:00:00")), outside("2026-01-12 08:00:00"));
    assert_eq!(schedule.connection_at(utc("2026-01-16 17:00:00")), outside("2026-01-18 17:00:00"));
    let all_week = schedule.position_at(utc("2026-01-12 03:00:00"));
    assert_eq!(all_week, inside("2026-01-11 17:00:00", "2026-01-16 17:00:00"));
    let nightly = Schedule::non_stop().with_logon_windows([daily("08:00:00", "20:00:00", "UTC0")]);
    assert!(nightly.position_at(Utc(0)).is_in());
    assert_eq!(nightly.next_edge(Utc(0)), None);
    assert_eq!(nightly.connection_at(utc("2026-01-11 20:00:00")), outside("2026-01-12 08:00:00"));
    // Windows that never meet.
    let never = Schedule::new([daily("08:00:00", "09:00:00", "UTC0")])
        .with_logon_windows([daily("10:00:00", "11:00:00", "UTC0")]);
    assert_eq!(never.connection_at(utc("2026-01-11 08:30:00")), WindowPosition::Out { until: None });
    assert_eq!(Schedule::new([]).position_at(Utc(0)), WindowPosition::Out { until: None });
}

#[test]
fn a_window_after_a_year_of_holidays_is_found() {
    let all: Vec<Date> = (0..400).map(|n| as_date(day("2026-01-01").plus(n))).collect();
    let schedule = Schedule::new([daily("08:00:00", "09:00:00", "UTC0")]).with_holidays(all);
    assert_eq!(schedule.position_at(utc("2026-01-05 00:00:00")), outside("2027-02-05 08:00:00"));
    let since = utc("2025-12-31 08:30:00");
    let first = Some(utc("2025-12-31 08:00:00"));
    assert_eq!(schedule.reset_due(utc("2025-12-31 07:00:00"), utc("2027-01-01 00:00:00")), first);
    assert_eq!(schedule.reset_due(since, utc("2027-01-01 00:00:00")), None);
}

#[test]
fn a_reset_is_due_once_after_each_edge_and_not_again_if_the_clock_is_put_back_over_it() {
    let schedule = Schedule::new([daily("08:00:00", "17:00:00", "UTC0")]);
    let edge = utc("2026-01-05 08:00:00");
    let (before, after) = (utc("2026-01-05 07:59:59"), utc("2026-01-05 08:00:01"));
    assert_eq!(schedule.reset_due(before, after), Some(edge));
    assert_eq!(schedule.reset_due(before, edge), Some(edge));
    assert_eq!(schedule.reset_due(edge, after), None);
    // After downtime of weeks, for the last edge only.
    assert_eq!(schedule.reset_due(utc("2025-11-05 12:00:00"), after), Some(edge));
    // The clock was ahead of the edge by a little, or by days.
    assert_eq!(schedule.reset_due(after, before), None);
    assert_eq!(schedule.reset_due(utc("2026-01-09 12:00:00"), before), Some(utc("2026-01-04 08:00:00")));
    let at_end = schedule.clone().with_reset(ScheduleReset::AtEnd);
    let end = utc("2026-01-05 17:00:00");
    assert_eq!(at_end.reset_due(before, after), None);
    assert_eq!(at_end.reset_due(after, end), Some(end));
    assert_eq!(at_end.reset_due(end, utc("2026-01-06 16:59:59")), None);
    let never = schedule.with_reset(ScheduleReset::Never);
    assert_eq!(never.reset_due(utc("2025-01-05 17:00:00"), end), None);
    assert_eq!(Schedule::non_stop().reset_due(before, end), None);
}

#[test]
fn times_and_weekdays_are_read_and_shown() {
    for text in ["00:00:00", "23:59:59", "08:05:09"] {
        assert_eq!(time(text).to_string(), text);
    }
    for text in ["24:00:00", "8:00:00", "08:00", "08:00:00:00", "+8:00:00", "08:60:00", ""] {
        assert!(text.parse::<TimeOfDay>().is_err(), "{text}");
    }
    assert_eq!(day("2026-01-09").weekday(), Weekday::Friday);
    for (text, day) in [("mo", Weekday::Monday), ("SUNDAY", Weekday::Sunday), ("thurs", Weekday::Thursday)] {
        assert_eq!(text.parse(), Ok(day));
    }
    for text in ["", "m", "Mondayy", "xy"] {
        assert!(text.parse::<Weekday>().is_err(), "{text}");
    }
}

#[test]
fn contents_that_are_no_zone_are_refused() {
    assert!(Zone::from_tzif("X", b"TZif").is_err());
    assert!(Zone::from_posix("Europe/London").is_err());
    // RFC 9636: a version 2 file with no changes and one local time, UTC+1, and its footer.
    let header = |types: u8, chars: u8| {
        let mut head = b"TZif2".to_vec();
        head.extend([0; 15]);
        for count in [0, 0, 0, 0, types, chars] {
            head.extend([0, 0, 0, count]);
        }
        head
    };
    let mut file = header(1, 4);
    file.extend([0, 0, 0, 0, 0, 0]);
    file.extend(b"UTC\0");
    file.extend(header(1, 4));
    file.extend([0, 0, 0x0e, 0x10, 0, 0]);
    file.extend(b"CET\0\nCET-1CEST,M3.5.0,M10.5.0/3\n");
    let from_file = Zone::from_tzif("Europe/Berlin", &file).unwrap();
    assert_eq!(from_file.name(), "Europe/Berlin");
    let (winter, summer) = (seconds(utc("2026-01-01 00:00:00")), seconds(utc("2026-07-01 00:00:00")));
    assert_eq!([from_file.offset(winter), from_file.offset(summer)], [3600, 7200]);
}

/// A schedule whose parts the model can read.
#[derive(Clone, Debug)]
struct Plan {
    windows: Vec<Window>,
    holidays: Vec<Day>,
    early_closes: Vec<(Day, TimeOfDay)>,
    /// The first day that is looked at, and the number of days.
    first: i64,
    days: i64,
}

/// One step of the model: the window that it is in, by its index among the windows that took
/// place.
type Owner = Option<usize>;

impl Plan {
    fn schedule(&self) -> Schedule {
        Schedule::new(self.windows.clone())
            .with_holidays(self.holidays.iter().map(|day| as_date(*day)))
            .with_early_closes(self.early_closes.iter().map(|(day, time)| (as_date(*day), *time)))
    }

    /// Returns the steps around the days that are looked at, each with its owner.
    fn walk(&self) -> (i64, Vec<Owner>) {
        let from = self.first - 20 * DAY;
        let steps = usize::try_from((self.days + 40) * DAY / STEP).unwrap();
        let at = |n: usize| from + STEP * i64::try_from(n).unwrap();
        let mut taken: Vec<(usize, usize)> = Vec::new();
        for window in &self.windows {
            let clock =
                |edge: &Edge| -> Vec<i64> { (0..steps).map(|n| at(n) + edge.zone.offset(at(n))).collect() };
            let (start_clock, end_clock) = (clock(&window.start), clock(&window.end));
            // The first step at which the clock shows the time or has passed it.
            let first = |clock: &[i64], local| clock.iter().position(|shown| *shown >= local);
            // The last step at which it shows it, or else the first at which it has passed it.
            let last = |clock: &[i64], local| {
                clock.iter().rposition(|shown| *shown == local).or_else(|| first(clock, local))
            };
            let closes: Vec<usize> = self
                .early_closes
                .iter()
                .filter_map(|(date, time)| last(&end_clock, date.at(*time)))
                .collect();
            for day in from / DAY + 1..from / DAY + self.days + 39 {
                let date = Day::from_epoch_day(i32::try_from(day).unwrap());
                let (mut begins_on, ends_on) = match window.days {
                    Days::On(days) => {
                        if !days.contains(date.weekday()) || self.holidays.contains(&date) {
                            continue;
                        }
                        (date, date.plus(i32::from(window.end.time <= window.start.time)))
                    }
                    Days::Weekly(first, last) => {
                        if date.weekday() != first {
                            continue;
                        }
                        let mut end = date;
                        while end.weekday() != last || end == date && window.end.time <= window.start.time {
                            end = end.plus(1);
                        }
                        (date, end)
                    }
                };
                while self.holidays.contains(&begins_on) {
                    begins_on = begins_on.plus(1);
                }
                let Some(begin) = first(&start_clock, begins_on.at(window.start.time)) else { continue };
                let Some(mut end) = last(&end_clock, ends_on.at(window.end.time)) else { continue };
                for close in &closes {
                    if begin <= *close && *close < end {
                        end = *close;
                    }
                }
                if begin < end {
                    taken.push((begin, end));
                }
            }
        }
        taken.sort_by_key(|(begin, end)| (*begin, usize::MAX - end));
        taken.dedup_by_key(|(begin, _)| *begin);
        let mut owners: Vec<Owner> = vec![None; steps];
        for (n, (begin, end)) in taken.iter().enumerate() {
            owners[*begin..].fill(None);
            owners[*begin..*end].fill(Some(n));
        }
        (from, owners)
    }
}

fn days_and_times() -> impl Strategy<Value = Window> {
    let quarter = || (0..96u32).prop_map(|n| TimeOfDay::new(n / 4, n % 4 * 15, 0).unwrap());
    // Most of what can go wrong is near the changes of the clock, which are at night.
    let night = || (0..20u32).prop_map(|n| TimeOfDay::new(n / 4, n % 4 * 15, 0).unwrap());
    let any_time = || prop_oneof![quarter(), night()];
    let weekday = || (0..7usize).prop_map(|n| Weekday::ALL[n]);
    let daily = prop_oneof![
        Just(Weekdays::ALL),
        prop::collection::vec(weekday(), 1..7).prop_map(|days| days.into_iter().collect())
    ];
    let days = prop_oneof![
        3 => daily.prop_map(Days::On),
        1 => (weekday(), weekday()).prop_map(|(first, last)| Days::Weekly(first, last)),
    ];
    (days, any_time(), any_time()).prop_map(|(days, start, end)| {
        let edge = |time| Edge::new(time, Zone::utc());
        Window { days, start: edge(start), end: edge(end) }
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let days = 14i64;
    // Around each change of a clock of 2026, or anywhere.
    let first = prop_oneof![
        Just(66),
        Just(87),
        Just(90),
        Just(43),
        Just(276),
        Just(289),
        Just(297),
        Just(304),
        0..340i64
    ];
    let windows = prop::collection::vec(days_and_times(), 1..4);
    let date = move || 0..days;
    let holidays = prop::collection::vec(date(), 0..4);
    let closes = prop::collection::vec((date(), 0..96u32), 0..3);
    (windows, 0..RULES.len(), first, holidays, closes).prop_map(
        move |(mut windows, rule, first, holidays, closes)| {
            let zone = zone(RULES[rule]);
            for window in &mut windows {
                (window.start.zone, window.end.zone) = (zone.clone(), zone.clone());
            }
            let first = YEAR + (first - 7) * DAY;
            let on = |n: i64| Day::from_epoch_day(i32::try_from(first / DAY + n).unwrap());
            Plan {
                windows,
                holidays: holidays.into_iter().map(on).collect(),
                early_closes: closes
                    .into_iter()
                    .map(|(n, time)| (on(n), TimeOfDay::new(time / 4, time % 4 * 15, 0).unwrap()))
                    .collect(),
                first,
                days,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_moment_has_the_place_that_stepping_through_the_local_clock_gives_it(plan in plan()) {
        let (schedule, (from, owners)) = (plan.schedule(), plan.walk());
        let at = |n: usize| from + STEP * i64::try_from(n).unwrap();
        let first = usize::try_from((plan.first - from) / STEP).unwrap();
        let end = first + usize::try_from(plan.days * DAY / STEP).unwrap();
        // Both sides of every edge, and a moment every nine hours.
        for n in (first..end).filter(|n| owners[*n] != owners[n - 1] || owners[*n] != owners[n + 1] || n % 36 == 0) {
            let owner = owners[n];
            let begin = (0..=n).rev().take_while(|m| owners[*m] == owner).last().unwrap();
            // The model does not look further ahead than this.
            let Some(next) = (n..owners.len()).find(|m| owners[*m] != owner) else { break };
            let expected = match owner {
                Some(_) => WindowPosition::In { began: moment(at(begin)), ends: moment(at(next)) },
                None => WindowPosition::Out { until: Some(moment(at(next))) },
            };
            for utc in [at(n), at(n) + STEP - 1] {
                prop_assert_eq!(schedule.position_at(moment(utc)), expected, "at {}", utc);
            }
        }
    }

    #[test]
    fn from_edge_to_edge_windows_follow_each_other_without_overlap(plan in plan()) {
        let schedule = plan.schedule();
        let mut at = moment(plan.first);
        for _ in 0..40 {
            let position = schedule.position_at(at);
            let Some(edge) = schedule.next_edge(at) else { break };
            prop_assert!(edge > at);
            if let WindowPosition::In { began, ends } = position {
                prop_assert!(began <= at && ends == edge);
                let last = Utc(ends.0 - 1);
                prop_assert!(schedule.same_window(began, last) && !schedule.same_window(began, ends));
            } else {
                prop_assert!(!schedule.position_at(Utc(edge.0 - 1)).is_in());
                prop_assert!(schedule.position_at(edge).is_in());
            }
            at = edge;
        }
    }

    /// Runs a clock that is mostly right, sometimes put forth or back, and sometimes not looked at
    /// for days; resets whenever one is due.
    #[test]
    fn sequence_numbers_are_reset_once_for_each_edge_whatever_the_clock_does(
        plan in plan(),
        moves in prop::collection::vec((1..40_000i64, -7_200..7_200i64, 0..8u32), 1..60),
        at_end in any::<bool>(),
    ) {
        let reset = if at_end { ScheduleReset::AtEnd } else { ScheduleReset::AtStart };
        let schedule = plan.schedule().with_reset(reset);
        let mut time = plan.first;
        let mut since = moment(time);
        let mut reset_for = Vec::new();
        for (passes, step, kind) in moves {
            time += match kind { 0 => passes * 20, 1 => step, _ => passes };
            let now = moment(time);
            if let Some(edge) = schedule.reset_due(since, now) {
                prop_assert!(edge <= now && (since < edge || since > now));
                // A second look changes nothing.
                since = now;
                prop_assert_eq!(schedule.reset_due(since, now), None);
                reset_for.push(edge);
            }
        }
        // Steps back of two hours pass at most a few edges; only a step over several of them may
        // repeat one.
        if plan.windows.len() == 1 {
            prop_assert!(reset_for.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", reset_for);
        }
    }
}
