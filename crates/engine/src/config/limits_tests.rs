//! Sizes, watermarks and rates.

use core::time::Duration;

use fixbolt_session::{Rate, SettingRange, WrongSetting};

use super::rows::row_of;
use super::tests::{ACCEPTOR, acceptor_refused, one, with};

#[test]
fn sizes_and_watermarks_follow_each_other_unless_both_are_given() {
    let session = one(&with(ACCEPTOR, "MaxMessageSize=1000000"));
    assert_eq!(
        (session.settings().limits.max_message_size, session.settings().limits.outbound_buffer_size),
        (1_000_000, 4_000_000)
    );
    let session = one(&with(ACCEPTOR, "MaxMessageSize=1000000\nOutboundBufferSize=2000000"));
    assert_eq!(session.settings().limits.outbound_buffer_size, 2_000_000);
    let watermarks = |lines: &str| {
        let watermarks = one(&with(ACCEPTOR, lines)).settings().limits.outbound_watermarks;
        (watermarks.high(), watermarks.low())
    };
    assert_eq!(watermarks("OutboundHighWatermark=10"), (10, 5));
    assert_eq!(watermarks("OutboundHighWatermark=90"), (90, 20));
    assert_eq!(watermarks("OutboundLowWatermark=9\nOutboundHighWatermark=10"), (10, 9));
}

#[test]
fn rates_are_messages_with_or_without_a_window() {
    let rate = |value: &str| {
        one(&with(ACCEPTOR, &format!("MaxOrderRate={value}"))).settings().throttle.max_order_rate
    };
    assert_eq!(rate("0"), None);
    assert_eq!(rate("100"), Rate::per_second(100));
    assert_eq!(rate("10/250"), Rate::new(10, Duration::from_millis(250)));
    for wrong in ["-1", "0/100", "10/0", "10/", "100001", "10/3600001", "10 / 250", "ten"] {
        let refused = acceptor_refused(&format!("MaxOrderRate={wrong}"));
        assert!(refused.contains("MESSAGES/MILLISECONDS, such as 10/250"), "{refused}");
    }
    let refused = acceptor_refused("OutboundHighWatermark=30\nOutboundLowWatermark=30");
    assert!(
        refused.contains("OutboundLowWatermark=30 is not less than OutboundHighWatermark=30"),
        "{refused}"
    );
}

#[test]
fn what_is_wrong_with_a_setting_names_a_key() {
    let ranges = [SettingRange::OUTBOUND_BUFFER_SIZE, SettingRange::MAX_MESSAGE_SIZE];
    let others = [
        WrongSetting::NoApplicationVersion,
        WrongSetting::DictionaryNotFilledIn,
        WrongSetting::OneDictionaryOfFixt,
        WrongSetting::SeveralDictionaries,
        WrongSetting::NoDictionaryOfDefault,
        WrongSetting::NothingToCheckBy,
        WrongSetting::NoResetInSession,
        WrongSetting::UnwritableLogon,
        WrongSetting::NothingKept,
        WrongSetting::MaskedHeader,
        WrongSetting::MaskedSubId,
    ];
    for wrong in ranges.map(|range| WrongSetting::OutOfRange { range, found: 0 }).into_iter().chain(others) {
        assert_eq!(row_of(wrong.key()).map(|row| row.name), Some(wrong.key()), "{wrong:?}");
    }
}
