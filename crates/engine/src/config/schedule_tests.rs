//! The keys of a schedule, as a schedule.

use fixbolt_session::Utc;
use fixbolt_session::schedule::{Schedule, WindowPosition};

use super::{CheckedConfiguration, Configuration};

fn read(keys: &str) -> Result<Configuration, String> {
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=9880\n[SESSION]\nBeginString=FIX.4.4\nSenderCompID=VENUE\nTargetCompID=TRADER\n{keys}\n"
    );
    Configuration::from_text("a.cfg", &text).map_err(|mistakes| mistakes.to_string())
}

fn schedule(keys: &str) -> Schedule {
    let configuration = read(keys).unwrap();
    assert!(configuration.warnings.is_empty(), "{:?}", configuration.warnings);
    Schedule::clone(configuration.sessions[0].settings().schedule.as_ref().unwrap())
}

/// 2026-11-23T00:00:00Z, a Monday.
const MONDAY: u64 = 1_795_392_000;

/// Returns a time of that week, by the day from Monday as 0, and the hour.
fn on(day: u64, hour: u64) -> Utc {
    Utc((MONDAY + day * 86_400 + hour * 3600) * 1_000_000_000)
}

fn inside(from: (u64, u64), to: (u64, u64)) -> WindowPosition {
    WindowPosition::In { began: on(from.0, from.1), ends: on(to.0, to.1) }
}

#[test]
fn a_session_without_times_never_ends() {
    for keys in ["", "NonStopSession=Y", "NonStopSession=N", "UseLocalTime=N"] {
        let configuration = read(keys).unwrap();
        assert_eq!(configuration.sessions[0].settings().schedule, None);
        assert!(configuration.warnings.is_empty());
    }
}

#[test]
fn equal_times_beside_a_session_without_an_end_have_no_effect() {
    for times in ["StartTime=00:00:00\nEndTime=00:00:00", "StartTime=17:00:00\nEndTime=17:00:00"] {
        let configuration = read(&format!("{times}\nNonStopSession=Y")).unwrap();
        assert_eq!(configuration.sessions[0].settings().schedule, None);
        let warnings: Vec<_> = configuration.warnings.iter().map(ToString::to_string).collect();
        let said = "a.cfg:8: StartTime has no effect: NonStopSession=Y is a session without an end";
        assert_eq!(warnings, [said]);
    }
}

#[test]
fn equal_times_make_a_session_of_a_day() {
    let day = schedule("StartTime=00:00:00\nEndTime=00:00:00");
    assert_eq!(day.position_at(on(0, 12)), inside((0, 0), (1, 0)));
    assert_eq!(day.reset_due(on(0, 23), on(1, 0)), Some(on(1, 0)));
}

#[test]
fn days_make_a_session_weekly_and_weekdays_choose_the_days_of_a_daily_one() {
    let week = schedule("StartDay=mon\nStartTime=08:00:00\nEndDay=Friday\nEndTime=17:00:00");
    assert_eq!(week.position_at(on(2, 3)), inside((0, 8), (4, 17)));
    let days = schedule("Weekdays=Tue, thursday\nStartTime=08:00:00\nEndTime=17:00:00");
    assert_eq!(days.position_at(on(0, 9)), WindowPosition::Out { until: Some(on(1, 8)) });
    assert_eq!(days.position_at(on(1, 17)), WindowPosition::Out { until: Some(on(3, 8)) });
}

#[test]
fn several_times_are_several_windows_with_holidays_early_closes_and_a_reset_policy() {
    let windows = schedule(
        "StartTime=08:00:00,13:00:00\nEndTime=12:00:00, 17:00:00\nHolidays=2026-11-24\nEarlyCloses=2026-11-23 15:00:00\nScheduleReset=end",
    );
    assert_eq!(windows.position_at(on(0, 9)), inside((0, 8), (0, 12)));
    assert_eq!(windows.position_at(on(0, 14)), inside((0, 13), (0, 15)));
    assert_eq!(windows.position_at(on(0, 15)), WindowPosition::Out { until: Some(on(2, 8)) });
    assert_eq!(windows.reset_due(on(0, 9), on(0, 12)), Some(on(0, 12)));
    let never = schedule("StartTime=08:00:00\nEndTime=12:00:00\nScheduleReset=never");
    assert_eq!(never.reset_due(on(0, 9), on(5, 12)), None);
}

#[test]
fn logon_times_default_to_those_of_the_session() {
    let both = schedule("StartTime=00:00:00\nEndTime=00:00:00\nLogonTime=08:00:00\nLogoutTime=17:00:00");
    assert_eq!(both.connection_at(on(0, 9)), inside((0, 8), (0, 17)));
    assert_eq!(both.position_at(on(0, 9)), inside((0, 0), (1, 0)));
    let early = schedule("StartTime=08:00:00\nEndTime=17:00:00\nLogoutTime=16:00:00");
    assert_eq!(early.connection_at(on(0, 9)), inside((0, 8), (0, 16)));
    let non_stop = schedule("NonStopSession=Y\nLogonTime=08:00:00\nLogoutTime=17:00:00");
    assert_eq!(non_stop.connection_at(on(0, 9)), inside((0, 8), (0, 17)));
    assert_eq!(non_stop.next_edge(on(0, 9)), None);
    let week = schedule(
        "StartDay=Sun\nStartTime=08:00:00\nEndDay=Fri\nEndTime=17:00:00\nLogonDay=Mon\nLogonTime=06:00:00",
    );
    assert_eq!(week.connection_at(on(0, 5)), WindowPosition::Out { until: Some(on(0, 6)) });
    assert_eq!(week.connection_at(on(2, 5)), inside((0, 6), (4, 17)));
}

#[test]
fn a_zone_is_for_all_times_or_follows_one() {
    // The names of UTC need no database.
    let zoned = schedule("TimeZone=Etc/UTC\nStartTime=08:00:00 GMT\nEndTime=17:00:00");
    assert_eq!(zoned.position_at(on(0, 9)), inside((0, 8), (0, 17)));
    let unknown = read("TimeZone=Europe/Nowhere\nStartTime=08:00:00\nEndTime=17:00:00").unwrap_err();
    assert!(unknown.starts_with("a.cfg:8: time zone Europe/Nowhere: "), "{unknown}");
    let unknown = read("StartTime=08:00:00 Europe/Nowhere\nEndTime=17:00:00").unwrap_err();
    assert!(unknown.starts_with("a.cfg:8: time zone Europe/Nowhere: "), "{unknown}");
    match crate::zones::time_zone("Europe/London") {
        Ok(_) => {
            let london = schedule("TimeZone=Europe/London\nStartTime=08:00:00\nEndTime=17:00:00");
            // A Wednesday in July.
            let summer = 1_784_073_600 + 8 * 3600;
            let WindowPosition::In { began, .. } = london.position_at(Utc(summer * 1_000_000_000)) else {
                panic!("outside");
            };
            assert_eq!(began, Utc((summer - 3600) * 1_000_000_000));
        }
        Err(error) => eprintln!("skipped: {error}"),
    }
}

#[test]
fn keys_that_contradict_each_other_or_lack_one_stop_the_start() {
    for (keys, reason) in [
        ("StartTime=17:00:00", "StartTime is given without EndTime"),
        ("EndTime=17:00:00", "EndTime is given without StartTime"),
        (
            "StartTime=0:00:00\nEndTime=00:00:00",
            "StartTime=0:00:00: times in the form HH:MM:SS, or HH:MM:SS Europe/London, separated by commas expected",
        ),
        (
            "StartTime=08:00:00\nEndTime=17:00:00\nNonStopSession=Y",
            "NonStopSession=Y at a.cfg:10 is a session without an end: remove StartTime and EndTime, or NonStopSession",
        ),
        (
            "Weekdays=mon\nNonStopSession=Y",
            "NonStopSession=Y at a.cfg:9 is a session without an end: remove Weekdays, or NonStopSession",
        ),
        (
            "StartTime=00:00:00\nEndTime=00:00:00\nHolidays=2026-12-25\nNonStopSession=Y",
            "NonStopSession=Y at a.cfg:11 is a session without an end: remove StartTime and EndTime, or NonStopSession",
        ),
        ("StartDay=mon\nStartTime=08:00:00\nEndTime=17:00:00", "StartDay is given without EndDay"),
        (
            "TimeZone=Local\nStartTime=08:00:00\nEndTime=17:00:00",
            "TimeZone=Local is not available: the machine's time zone is UseLocalTime=Y, in place of this key",
        ),
        ("Weekdays=mon", "Weekdays is set, but there is no StartTime"),
        ("Holidays=2026-12-25", "Holidays is set, but there is no StartTime"),
        ("EarlyCloses=2026-12-24 12:00:00", "EarlyCloses is set, but there is no StartTime"),
        ("ScheduleReset=end", "ScheduleReset is set, but there is no StartTime"),
        (
            "StartTime=08:00:00,13:00:00\nEndTime=17:00:00",
            "StartTime has 2 times and EndTime has 1; each window has both",
        ),
        ("LogonTime=08:00:00", "LogonTime has 1 times and LogoutTime has 0; each window has both"),
        (
            "Weekdays=mon\nStartDay=mon\nEndDay=fri\nStartTime=08:00:00\nEndTime=17:00:00",
            "Weekdays is for daily windows, and StartDay makes the window weekly",
        ),
        (
            "StartTime=08:00:00,09:00:00\nEndTime=08:30:00,17:00:00\nStartDay=mon\nEndDay=fri",
            "a weekly window has one StartTime",
        ),
        (
            "TimeZone=UTC\nUseLocalTime=Y\nStartTime=08:00:00\nEndTime=17:00:00",
            "TimeZone names a zone, but UseLocalTime=Y asks for that of the machine",
        ),
        (
            "Holidays=2026-02-30\nStartTime=08:00:00\nEndTime=17:00:00",
            "Holidays=2026-02-30: dates in the form YYYY-MM-DD separated by commas expected",
        ),
        (
            "Holidays=1969-12-31\nStartTime=08:00:00\nEndTime=17:00:00",
            "Holidays=1969-12-31: dates in the form YYYY-MM-DD separated by commas expected",
        ),
        (
            "Holidays=+026-01-01\nStartTime=08:00:00\nEndTime=17:00:00",
            "Holidays=+026-01-01: dates in the form YYYY-MM-DD separated by commas expected",
        ),
        (
            "StartDay=m\nEndDay=fri\nStartTime=08:00:00\nEndTime=17:00:00",
            "StartDay=m: a weekday, such as Monday or mon expected",
        ),
    ] {
        assert_eq!(read(keys).unwrap_err(), format!("a.cfg:8: {reason}"), "{keys}");
    }
}

#[test]
fn the_pages_example_is_a_weekly_session_of_new_york() {
    let page = include_str!("../../../../docs/schedules.md");
    let example: String =
        page.lines().filter_map(|line| line.strip_prefix("    ")).map(|line| format!("{line}\n")).collect();
    if let Err(error) = crate::zones::time_zone("America/New_York") {
        return eprintln!("skipped: {error}");
    }
    let configuration = Configuration::from_text("page.cfg", &example).unwrap();
    let schedule = configuration.sessions[0].settings().schedule.clone().unwrap();
    // From Sunday, 17:00 in New York, to the early close on Friday.
    let began = Utc((MONDAY - 2 * 3600) * 1_000_000_000);
    let ends = Utc((MONDAY + 4 * 86_400 + 18 * 3600 + 900) * 1_000_000_000);
    assert_eq!(schedule.position_at(on(1, 0)), WindowPosition::In { began, ends });
}

#[test]
fn a_time_in_the_defaults_that_another_session_uses_is_no_warning_of_one_without_an_end() {
    let text = "[DEFAULT]\nStore=memory\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=V\nSocketAcceptPort=0\n\
        StartTime=00:00:00\nEndTime=00:00:00\nTimeZone=UTC\n\
        [SESSION]\nTargetCompID=A\n[SESSION]\nTargetCompID=B\n";
    let read = |text: &str| CheckedConfiguration::from_text("a.cfg", text);
    let checked = read(&format!("{text}NonStopSession=Y\n"));
    assert_eq!((&checked.mistakes[..], &checked.warnings[..]), (&[][..], &[][..]));
    let has_schedule = |n: usize| checked.sessions[n].result.as_ref().unwrap().settings().schedule.is_some();
    assert!(has_schedule(0) && !has_schedule(1));
    let checked = read(&text.replace("StartTime", "NonStopSession=Y\nStartTime"));
    let told = "a.cfg:8: StartTime has no effect: NonStopSession=Y is a session without an end";
    assert_eq!(checked.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), [told]);
}
