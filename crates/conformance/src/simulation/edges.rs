//! The schedule of a world, in times that are worked out here and not by the session's calendar.

use std::sync::Arc;

use fixbolt_session::SessionSettings;
use fixbolt_session::schedule::{Edge, Schedule, ScheduleReset, TimeOfDay, Weekday, Weekdays, Window, Zone};

use super::random::Random;
use super::text::SECOND;

const DAY: u64 = 86_400;

/// A day on which a world begins: seconds since 1970, the zone of its schedule, and by how many
/// seconds the zone's clock is ahead of UTC then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    pub(super) utc: u64,
    zone: &'static str,
    ahead: i64,
}

const CET: &str = "CET-1CEST,M3.5.0,M10.5.0/3";
const EASTERN: &str = "EST5EDT,M3.2.0,M11.1.0";

/// Ordinary days, and days on which the clock of the zone is changed an hour before or so.
pub(super) const BEGINNINGS: [Beginning; 7] = [
    Beginning { utc: 20_775 * DAY + 15 * 3600, zone: "", ahead: 0 },
    Beginning { utc: 20_775 * DAY + 15 * 3600, zone: CET, ahead: 3600 },
    Beginning { utc: 20_775 * DAY + 18 * 3600 + 29 * 60, zone: "IST-5:30", ahead: 19_800 },
    // Midnight comes while the session trades.
    Beginning { utc: 20_775 * DAY + 23 * 3600 + 58 * 60, zone: "", ahead: 0 },
    Beginning { utc: 20_751 * DAY + 2 * 3600 + 600, zone: CET, ahead: 3600 },
    Beginning { utc: 20_758 * DAY + 7 * 3600 + 600, zone: EASTERN, ahead: -18_000 },
    Beginning { utc: 20_905 * DAY + 3600 + 600, zone: CET, ahead: 7200 },
];

/// What the schedule of a world does to it; times are nanoseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Plan {
    /// There is no schedule.
    None,
    /// A window ends at `ends`, the next begins at `begins`; each is a day or a week long.
    Window { ends: u64, begins: u64, reset: ScheduleReset },
    /// The numbers are reset in the session.
    InSession { at: u64 },
    /// The next edge is hours away.
    Far,
}

impl Plan {
    pub(super) fn draw(random: &mut Random, beginning: Beginning, settings: &mut SessionSettings) -> Self {
        let r = random;
        let zone = || {
            if beginning.zone.is_empty() {
                Zone::utc()
            } else {
                Zone::from_posix(beginning.zone).expect("a rule")
            }
        };
        let local = |utc: u64| utc.saturating_add_signed(beginning.ahead);
        let edge = |utc: u64| {
            let of_day = (local(utc) % DAY) as u32;
            let time = TimeOfDay::new(of_day / 3600, of_day / 60 % 60, of_day % 60).expect("a time of day");
            Edge::new(time, zone())
        };
        // 1970-01-01 was a Thursday.
        let weekday = |utc: u64| Weekday::ALL[((local(utc) / DAY + 4) % 7) as usize];
        let ends = beginning.utc + r.within(3, 60);
        let begins = ends + *r.pick(&[0, 0, 5, 30, 90]);
        let reset = *r.pick(&[
            ScheduleReset::AtStart,
            ScheduleReset::AtStart,
            ScheduleReset::AtEnd,
            ScheduleReset::Never,
        ]);
        let window = if r.once_in(3) {
            Window::weekly(weekday(begins), edge(begins), weekday(ends), edge(ends))
        } else {
            Window::daily(Weekdays::ALL, edge(begins), edge(ends))
        };
        let (schedule, plan) = match r.within(0, 6) {
            0 => (
                Schedule::non_stop().with_in_session_reset(edge(ends)),
                Self::InSession { at: ends * SECOND },
            ),
            1 => {
                let far = beginning.utc + 9 * 3600;
                let far = Window::daily(Weekdays::ALL, edge(far), edge(far));
                (Schedule::new([far]), Self::Far)
            }
            _ => {
                let plan = Self::Window { ends: ends * SECOND, begins: begins * SECOND, reset };
                (Schedule::new([window]).with_reset(reset), plan)
            }
        };
        settings.schedule = Some(Arc::new(schedule));
        plan
    }

    /// Returns when both sides reset their numbers without a message.
    pub(super) fn resets_at(self) -> Option<u64> {
        match self {
            Self::Window { begins, reset: ScheduleReset::AtStart, .. } => Some(begins),
            Self::Window { ends, reset: ScheduleReset::AtEnd, .. } => Some(ends),
            _ => None,
        }
    }

    /// Returns the last moment at which something happens because of the schedule.
    pub(super) fn last_edge(self) -> Option<u64> {
        match self {
            Self::Window { begins, .. } => Some(begins),
            Self::InSession { at } => Some(at),
            Self::None | Self::Far => None,
        }
    }

    /// Returns whether something happens because of the schedule between these times.
    pub(super) fn has_edge_in(self, times: std::ops::RangeInclusive<u64>) -> bool {
        match self {
            Self::Window { ends, begins, .. } => times.contains(&ends) || times.contains(&begins),
            Self::InSession { at } => times.contains(&at),
            Self::None | Self::Far => false,
        }
    }

    /// Returns whether there may be a connection at this time.
    pub(super) fn is_open(self, utc: u64) -> bool {
        !matches!(self, Self::Window { ends, begins, .. } if (ends..begins).contains(&utc))
    }
}
