//! The settings of a world's session: every field of [`SessionSettings`] is drawn, set by the
//! world, or fixed with its reason. A field that is none of these fails the test below.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use fixbolt_codec::{Precision, Version};
use fixbolt_session::{
    AcceptedHeartBtInt, Compatibility, DelayMultiplier, InboundThrottle, OutboundThrottle,
    OutboundWatermarks, Rate, ReplayInterleave, ResendOverLimit, Role, SessionId, SessionSettings,
    TooLowAtLogon, WhileLoggedOff,
};

use super::dialect::Dialect;
use super::faults::Faults;
use super::random::Random;

/// Fields that are drawn where the world has `settings`, `throttles`, `slow` or `hostile`.
#[cfg(test)]
const DRAWN: &[&str] = &[
    "compatibility",
    "heart_bt_int",
    "heart_bt_int_override",
    "test_request_delay_multiplier",
    "heart_beat_timeout_multiplier",
    "disable_heart_beat_check",
    "logon_timeout",
    "logout_timeout",
    "send_timeout",
    "outbound_watermarks",
    "slow_consumer_timeout",
    "reject_garbled_message",
    "max_message_size",
    "reset_on_logon",
    "reset_on_logout",
    "reset_on_disconnect",
    "send_next_expected_msg_seq_num",
    "resend_request_chunk_size",
    "closed_resend_interval",
    "send_redundant_resend_requests",
    "max_resend_requests",
    "max_replay_rate",
    "max_resend_range",
    "max_resends",
    "resend_period",
    "resend_over_limit",
    "replay_interleave",
    "enable_last_msg_seq_num_processed",
    "tolerate_low_msg_seq_num_at_logon",
    "disconnect_on_error",
    "reset_on_error",
    "reject_message_on_unhandled_exception",
    "requires_orig_sending_time",
    "timestamp_precision",
    "while_logged_off",
    "max_delivery_attempts",
    "resend_horizon",
    "max_outbound_rate",
    "max_order_rate",
    "outbound_throttle",
    "max_inbound_rate",
    "inbound_throttle",
    "max_resent_rate_factor",
    "outbound_buffer_size",
    "reorder_buffer_size",
    "max_garbled_messages",
    "max_session_message_rate",
    "max_session_journal_growth",
];

/// Fields that follow from the world.
#[cfg(test)]
const BY_THE_WORLD: &[&str] = &["id", "role", "default_appl_ver_id", "dictionary", "outgoing", "schedule"];

/// Fields that stay as they are, and why.
#[cfg(test)]
const FIXED: &[(&str, &str)] = &[
    ("accepted_heart_bt_int", "a counterparty proposes what it likes"),
    ("incoming", "the messages of a legal counterparty are valid, those of a hostile one are judged by it"),
    ("max_latency", "the clock of a world jumps over it and stays below it"),
    ("clock_jump_hold", "no jump of a world lasts as long as the default"),
    ("validate_checksum", "a garbled message that counts makes every outcome right"),
    ("test_message_indicator", "the counterparty's Logons are for production"),
    ("allow_pos_dup", "the application sends no possible duplicates of its own"),
    ("check_comp_id", "without it a hostile counterparty passes for another"),
    ("logon", "the fields of a Logon change no number"),
    ("masked_tags", "an order has no secrets; the tests of secrets have their own"),
    ("codec_timing", "a world has no other clock"),
];

/// Returns the settings of the session.
pub(super) fn draw(
    random: &mut Random,
    faults: Faults,
    dialect: Dialect,
    role: Role,
    peer: &str,
) -> SessionSettings {
    let id = SessionId::new(dialect.session, "US", peer).expect("two CompIDs");
    let mut s = SessionSettings::new(id, role);
    s.dictionary = dialect.dictionary();
    s.default_appl_ver_id = dialect.application;
    s.validation.outgoing = random.once_in(2).then(fixbolt_dictionary::Policy::standard);
    s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
    if faults.settings {
        draw_freely(random, &mut s, dialect);
    }
    if faults.throttles {
        let mut rate = |most| {
            let window = Duration::from_millis(random.within(50, 3000));
            random.once_in(2).then(|| Rate::new(random.within(2, most) as u32, window)).flatten()
        };
        (s.throttle.max_outbound_rate, s.throttle.max_order_rate, s.throttle.max_inbound_rate) =
            (rate(30), rate(30), rate(60));
        s.throttle.outbound_throttle = *random.pick(&[OutboundThrottle::Wait, OutboundThrottle::Refuse]);
        if random.once_in(8) {
            s.throttle.inbound_throttle = InboundThrottle::Disconnect;
        }
        s.throttle.max_resent_rate_factor = at_least_1(*random.pick(&[20, 20, 2, 100]));
    }
    if faults.hostile {
        s.limits.max_garbled_messages = NonZeroU32::new(*random.pick(&[100, 3, 0]));
        s.limits.max_session_message_rate = NonZeroU32::new(*random.pick(&[1000, 20, 0]));
        s.limits.max_session_journal_growth = NonZeroU64::new(*random.pick(&[32 << 20, 4 << 20, 0]));
        if random.once_in(2) {
            s.throttle.max_inbound_rate = Rate::new(random.within(2, 60) as u32, Duration::from_secs(1));
        }
    }
    if faults.slow {
        s.limits.outbound_buffer_size = random.within(16, 64) as usize * 1024;
        let high = random.within(2, 60);
        let low = random.within(0, high);
        s.limits.outbound_watermarks =
            OutboundWatermarks::new(high as u8, low as u8).expect("the low one is less");
        s.limits.slow_consumer_timeout =
            random.once_in(3).then(|| Duration::from_millis(random.within(500, 9000)));
        s.timing.send_timeout = Duration::from_secs(*random.pick(&[30, 30, 5]));
    }
    s
}

fn at_least_1(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("at least 1")
}

fn draw_freely(r: &mut Random, s: &mut SessionSettings, dialect: Dialect) {
    s.compatibility = *r.pick(&[Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ]);
    s.timing.heart_bt_int = *r.pick(&[5, 10, 30, 60]);
    s.timing.heart_bt_int_override = r.once_in(8);
    let percent = |percent| DelayMultiplier::from_percent(percent).expect("at most 1000");
    s.timing.test_request_delay_multiplier = percent(*r.pick(&[20, 0, 50, 100]));
    s.timing.heart_beat_timeout_multiplier = r.once_in(3).then(|| percent(r.within(100, 300) as u16));
    s.timing.disable_heart_beat_check = r.once_in(8);
    s.timing.logon_timeout = Duration::from_secs(r.within(2, 15));
    s.timing.logout_timeout = Duration::from_secs(r.within(1, 6));
    s.validation.reject_garbled_message = r.once_in(8);
    s.limits.max_message_size = *r.pick(&[64, 64, 8]) * 1024;
    s.reset.reset_on_logon = r.once_in(10) && dialect.since(Version::Fix41);
    s.reset.reset_on_logout = r.once_in(10);
    s.reset.reset_on_disconnect = r.once_in(12);
    s.resend.send_next_expected_msg_seq_num = r.once_in(2);
    s.resend.resend_request_chunk_size = r.once_in(4).then(|| r.within(1, 20)).and_then(NonZeroU64::new);
    s.resend.closed_resend_interval = r.once_in(4);
    s.resend.send_redundant_resend_requests = r.once_in(8);
    s.resend.max_resend_requests = at_least_1(*r.pick(&[3, 3, 1, 2, 6]));
    s.resend.max_replay_rate = r.once_in(4).then(|| *r.pick(&[2, 10, 50, 500])).and_then(NonZeroU32::new);
    s.resend.max_resend_range = r.once_in(5).then(|| r.within(1, 60)).and_then(NonZeroU64::new);
    s.resend.max_resends = r.once_in(5).then(|| r.within(1, 4) as u32).and_then(NonZeroU32::new);
    s.resend.resend_over_limit = *r.pick(&[ResendOverLimit::GapFill, ResendOverLimit::Refuse]);
    // A counterparty that is refused waits for the next period.
    let refuses = s.resend.resend_over_limit == ResendOverLimit::Refuse;
    s.resend.resend_period =
        Duration::from_secs(if refuses { r.within(2, 20) } else { *r.pick(&[5, 60, 3600]) });
    s.resend.replay_interleave =
        *r.pick(&[ReplayInterleave::None, ReplayInterleave::Heartbeats, ReplayInterleave::All]);
    s.resend.enable_last_msg_seq_num_processed = r.once_in(4);
    s.reset.tolerate_low_msg_seq_num_at_logon =
        *r.pick(&[TooLowAtLogon::Refused, TooLowAtLogon::Refused, TooLowAtLogon::AcceptedOnce]);
    s.validation.disconnect_on_error = r.once_in(10);
    s.reset.reset_on_error = r.once_in(16);
    s.validation.reject_message_on_unhandled_exception = r.once_in(4);
    s.validation.requires_orig_sending_time = !r.once_in(4);
    s.timing.timestamp_precision =
        *r.pick(&[Precision::Millis, Precision::Seconds, Precision::Micros, Precision::Nanos]);
    s.resend.while_logged_off = *r.pick(&[WhileLoggedOff::Refuse, WhileLoggedOff::Keep]);
    s.limits.max_delivery_attempts = at_least_1(r.within(1, 6) as u32);
    s.resend.resend_horizon = r.once_in(5).then(|| r.within(1, 60)).and_then(NonZeroU64::new);
    s.limits.outbound_buffer_size = r.within(16, 256) as usize * 1024;
    s.limits.reorder_buffer_size = *r.pick(&[1 << 20, 60_000, 2000, 200]);
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::super::dialect::DIALECTS;
    use super::super::world::World;
    use super::*;

    /// Returns the fields of a value, and those of its groups in their place, as `{:#?}` shows
    /// them: name and text.
    fn fields(settings: &SessionSettings) -> Vec<(String, String)> {
        let text = format!("{settings:#?}");
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut depth = "    ";
        for line in text.lines().skip(1) {
            if line == "    }," {
                depth = "    ";
            }
            match line.strip_prefix(depth).filter(|rest| !rest.starts_with([' ', '}', ']', ')'])) {
                Some(rest) if rest.ends_with("Settings {") => depth = "        ",
                Some(rest) => {
                    let (name, value) = rest.split_once(": ").unwrap();
                    fields.push((name.to_owned(), value.to_owned()));
                }
                None => fields.last_mut().map(|(_, value)| value.push_str(line)).unwrap_or_default(),
            }
        }
        fields
    }

    #[test]
    fn every_setting_is_drawn_or_set_by_the_world_or_fixed_with_a_reason() {
        let draw = draw(&mut Random::new(1), Faults::default(), DIALECTS[4], Role::Acceptor, "PEER");
        let names: Vec<_> = fields(&draw).into_iter().map(|(name, _)| name).collect();
        let fixed = FIXED.iter().map(|(name, _)| *name);
        let mut listed: Vec<_> = DRAWN.iter().chain(BY_THE_WORLD).copied().chain(fixed).collect();
        let mut there: Vec<_> = names.iter().map(String::as_str).collect();
        listed.sort_unstable();
        there.sort_unstable();
        assert_eq!(listed, there);
    }

    #[test]
    fn what_the_world_sets_differs_from_world_to_world() {
        let drawn: Vec<_> = (0..100).flat_map(|seed| World::new(seed, None).settings()).collect();
        for name in BY_THE_WORLD {
            let values = drawn.iter().flat_map(fields).filter(|(field, _)| field == name);
            let values: BTreeSet<_> = values.map(|(_, value)| value).collect();
            assert!(values.len() > 1, "{name} is always {values:?}");
        }
        let versions: HashSet<_> = drawn.iter().map(|s| (s.id.version(), s.default_appl_ver_id)).collect();
        let there = DIALECTS.iter().map(|dialect| (dialect.session, dialect.application));
        assert_eq!(versions, there.collect());
    }

    #[test]
    fn every_setting_that_is_drawn_differs_from_its_default_now_and_then() {
        let faults: Faults = "settings,throttles,slow,hostile".parse().unwrap();
        let plain =
            fields(&draw(&mut Random::new(1), Faults::default(), DIALECTS[4], Role::Acceptor, "PEER"));
        let mut unchanged: Vec<_> = DRAWN.to_vec();
        for seed in 0..200 {
            let drawn = fields(&draw(&mut Random::new(seed), faults, DIALECTS[4], Role::Acceptor, "PEER"));
            unchanged.retain(|name| {
                let value = |of: &[(String, String)]| of.iter().find(|(n, _)| n == name).unwrap().1.clone();
                value(&drawn) == value(&plain)
            });
        }
        assert_eq!(unchanged, Vec::<&str>::new());
    }
}
