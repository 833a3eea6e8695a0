//! The schedule that its keys make together.

use std::sync::Arc;

use fixbolt_session::schedule::{Edge, Schedule, ScheduleReset, Weekday, Weekdays, Window, Zone};

use super::draft::Draft;
use super::error::ConfigWarning;
use super::reading::SessionReader;
use super::schedule_draft::{LocalTime, ScheduleDraft};
use super::text::Setting;
use crate::zones::{local_time_zone, time_zone};

impl<'s> SessionReader<'s> {
    /// Makes the schedule of what its keys say together.
    pub(super) fn schedule(&mut self, warnings: &mut Vec<ConfigWarning>) {
        if !self.keys_agree() {
            return;
        }
        let idle_start = self.idle_start();
        if let Some(setting) = idle_start {
            // One of [DEFAULT] may be for other sessions.
            if self.find_own("StartTime").is_some() || self.find_own("NonStopSession").is_none() {
                warnings.push(setting.without_effect("NonStopSession=Y is a session without an end"));
            }
            (self.draft.schedule.start, self.draft.schedule.end) = Default::default();
        }
        let Draft { schedule, .. } = &self.draft;
        let has_windows = !schedule.start.is_empty();
        let has_logon = !(schedule.logon.is_empty() && schedule.logout.is_empty());
        let reset_time = schedule.reset_time.clone().filter(|_| schedule.enable_reset_time);
        if let (Some(setting), None) = (self.find("ResetSeqTime"), &reset_time) {
            warnings.push(setting.without_effect("there is no EnableResetSeqTime=Y"));
        }
        if !has_windows && !has_logon && reset_time.is_none() {
            for name in ["TimeZone", "UseLocalTime"] {
                // Where the times of [DEFAULT] are for other sessions, so is their zone.
                let setting = if idle_start.is_some() { self.find_own(name) } else { self.find(name) };
                if let Some(setting) = setting.filter(|setting| setting.text() != "N") {
                    warnings.push(setting.without_effect("there is no schedule that would need it"));
                }
            }
            return;
        }
        let Some(zone) = self.schedule_zone() else { return };
        let days = schedule_days(&self.draft.schedule, false);
        let windows = self.windows(("StartTime", "EndTime"), days, &zone);
        let days = schedule_days(&self.draft.schedule, true);
        let logon = has_logon.then(|| self.windows(("LogonTime", "LogoutTime"), days, &zone));
        let (Some(windows), Some(logon)) = (windows, logon.map_or(Some(None), |found| found.map(Some)))
        else {
            return;
        };
        let reset_at = match reset_time {
            Some(time) => {
                let Some(edge) = self.edge(&time, self.find("ResetSeqTime"), &zone) else { return };
                Some(edge)
            }
            None => None,
        };
        let draft = &mut self.draft;
        let ScheduleDraft { holidays, early_closes, reset, .. } = &draft.schedule;
        let mut made = if has_windows { Schedule::new(windows) } else { Schedule::non_stop() };
        if let Some(logon) = logon {
            made = made.with_logon_windows(logon);
        }
        made = made.with_holidays(holidays.iter().copied());
        made = made.with_early_closes(early_closes.iter().copied()).with_reset(*reset);
        if let Some(edge) = reset_at {
            made = made.with_in_session_reset(edge);
        }
        draft.settings.schedule = Some(Arc::new(made));
    }

    /// Returns StartTime of a session that never ends, if it is the EndTime, too, and nothing else
    /// needs it: such times are in the defaults of many files, and other engines pass over them.
    fn idle_start(&self) -> Option<&'s Setting> {
        let ScheduleDraft { non_stop, start, end, .. } = &self.draft.schedule;
        let depends = ["StartDay", "Weekdays", "Holidays", "EarlyCloses", "ScheduleReset"];
        let is_idle = *non_stop && start == end && depends.iter().all(|key| self.find(key).is_none());
        self.find("StartTime").filter(|_| is_idle && !start.is_empty())
    }

    /// Checks that no key of the schedule contradicts another, or needs one that is absent.
    fn keys_agree(&mut self) -> bool {
        let before = self.mistakes.len();
        let pairs = [("StartTime", "EndTime"), ("StartDay", "EndDay"), ("LogonDay", "LogoutDay")];
        for (one, other) in pairs {
            for (given, absent) in [(one, other), (other, one)] {
                // A day of the logon window defaults to that of the session.
                let has_default = given.starts_with("Log") && self.find("StartDay").is_some();
                if let (Some(setting), None, false) = (self.find(given), self.find(absent), has_default) {
                    self.contradicts(setting, format!("{given} is given without {absent}"));
                }
            }
        }
        let non_stop = self.find("NonStopSession").filter(|_| self.draft.schedule.non_stop);
        let is_idle = self.idle_start().is_some();
        for name in ["StartTime", "StartDay", "Weekdays"] {
            if let (Some(non_stop), Some(setting)) = (non_stop, self.find(name))
                && self.mistakes.len() == before
                && !(is_idle && name == "StartTime")
            {
                let both = if name == "StartTime" { "StartTime and EndTime" } else { name };
                let reason = format!(
                    "NonStopSession=Y at {} is a session without an end: remove {both}, or NonStopSession",
                    non_stop.place
                );
                self.contradicts(setting, reason);
            }
        }
        let needs = |name: &str, needed: &[&str]| {
            let setting = self.find(name)?;
            needed.iter().all(|other| self.find(other).is_none()).then_some(setting)
        };
        let schedule_reset = self.draft.schedule.reset;
        let any: &[&str] = &["StartTime", "LogonTime", "LogoutTime"];
        let rules: [(&str, &[&str], &str); 6] = [
            ("StartDay", &["StartTime"], "StartTime"),
            ("Weekdays", &["StartTime"], "StartTime"),
            ("LogonDay", &["LogonTime", "LogoutTime"], "LogonTime"),
            ("Holidays", any, "StartTime"),
            ("EarlyCloses", any, "StartTime"),
            ("ScheduleReset", &["StartTime"], "StartTime"),
        ];
        // What ScheduleReset says by default needs nothing.
        let applies = |name: &str| name != "ScheduleReset" || schedule_reset != ScheduleReset::AtStart;
        let lacking: Vec<_> = rules
            .into_iter()
            .filter(|(name, ..)| applies(name))
            .filter_map(|(name, needed, first)| {
                Some((needs(name, needed)?, format!("{name} is set, but there is no {first}")))
            })
            .collect();
        if self.mistakes.len() == before {
            for (setting, reason) in lacking {
                self.contradicts(setting, reason);
            }
        }
        if let (Some(setting), true, None) = (
            self.find("EnableResetSeqTime"),
            self.draft.schedule.enable_reset_time,
            self.find("ResetSeqTime"),
        ) {
            self.contradicts(setting, "EnableResetSeqTime is set, but there is no ResetSeqTime");
        }
        if let (Some(setting), Some(_)) = (self.find("Weekdays"), self.find("StartDay")) {
            self.contradicts(setting, "Weekdays is for daily windows, and StartDay makes the window weekly");
        }
        self.mistakes.len() == before
    }

    /// Returns the zone of times without one of their own.
    fn schedule_zone(&mut self) -> Option<Zone> {
        let ScheduleDraft { use_local_time, time_zone: name, .. } = &self.draft.schedule;
        let (named, local) = (self.find("TimeZone"), self.find("UseLocalTime"));
        let (found, setting) = match (name, *use_local_time, named, local) {
            (Some(_), true, Some(setting), _) => {
                self.contradicts(
                    setting,
                    "TimeZone names a zone, but UseLocalTime=Y asks for that of the machine",
                );
                return None;
            }
            (Some(name), false, Some(setting), _) => (time_zone(name), setting),
            (None, true, _, Some(setting)) => (local_time_zone(), setting),
            // A mistake in the value of TimeZone is reported already.
            _ => return Some(Zone::utc()),
        };
        found.map_err(|error| self.contradicts(setting, error.to_string())).ok()
    }

    /// Returns the windows from one list of times to another; the times of the session stand for
    /// absent ones of the logon.
    fn windows(&mut self, keys: (&str, &str), days: ScheduleDays, zone: &Zone) -> Option<Vec<Window>> {
        let draft = &self.draft.schedule;
        let or = |times: &Vec<LocalTime>, else_times: &Vec<LocalTime>| {
            if times.is_empty() { else_times.clone() } else { times.clone() }
        };
        let (starts, ends) = match keys.0 {
            "StartTime" => (draft.start.clone(), draft.end.clone()),
            _ => (or(&draft.logon, &draft.start), or(&draft.logout, &draft.end)),
        };
        let setting = self.find(keys.0).or_else(|| self.find(keys.1));
        if starts.len() != ends.len() {
            // A time that could not be read is reported already.
            let unread = |key: &str, times: &[LocalTime]| times.is_empty() && self.find(key).is_some();
            let reported = unread(keys.0, &starts) || unread(keys.1, &ends);
            if let (Some(setting), false) = (setting, reported) {
                let (from, to) = (starts.len(), ends.len());
                let reason =
                    format!("{} has {from} times and {} has {to}; each window has both", keys.0, keys.1);
                self.contradicts(setting, reason);
            }
            return None;
        }
        if let (true, ScheduleDays::Weekly(..), Some(setting)) = (starts.len() > 1, days, setting) {
            self.contradicts(setting, format!("a weekly window has one {}", keys.0));
            return None;
        }
        let mut windows = Vec::new();
        for (start, end) in starts.iter().zip(&ends) {
            let (start, end) = (self.edge(start, setting, zone)?, self.edge(end, setting, zone)?);
            windows.push(match days {
                ScheduleDays::Daily(days) => Window::daily(days, start, end),
                ScheduleDays::Weekly(first, last) => Window::weekly(first, start, last, end),
            });
        }
        Some(windows)
    }

    fn edge(&mut self, local: &LocalTime, setting: Option<&Setting>, zone: &Zone) -> Option<Edge> {
        let zone = match &local.zone {
            None => zone.clone(),
            Some(name) => match (time_zone(name), setting) {
                (Ok(zone), _) => zone,
                (Err(error), Some(setting)) => {
                    self.contradicts(setting, error.to_string());
                    return None;
                }
                (Err(_), None) => return None,
            },
        };
        Some(Edge::new(local.time, zone))
    }
}

#[derive(Clone, Copy)]
enum ScheduleDays {
    Daily(Weekdays),
    Weekly(Weekday, Weekday),
}

/// Returns the days of the session's windows, or of those of the logon.
fn schedule_days(draft: &ScheduleDraft, logon: bool) -> ScheduleDays {
    let (first, last) = match logon {
        true => (draft.logon_day.or(draft.start_day), draft.logout_day.or(draft.end_day)),
        false => (draft.start_day, draft.end_day),
    };
    match (first, last) {
        (Some(first), Some(last)) => ScheduleDays::Weekly(first, last),
        _ => ScheduleDays::Daily(draft.weekdays.unwrap_or(Weekdays::ALL)),
    }
}
