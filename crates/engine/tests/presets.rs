//! The presets: each one is read by a configuration that includes it, and does what its comment
//! says.

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use fixbolt::codec::SeqNum;
use fixbolt::config::{Configuration, SessionConfiguration};
use fixbolt::schedule::WindowPosition;
use fixbolt::session::{Application, Delivery, Failure, Phase, Role, SessionSettings, Turn, Utc};
use fixbolt::testing::{Pair, TestSession};
use support::Scratch;

#[path = "../examples/signed_logon.rs"]
mod signed_logon;

struct Quiet;

impl Application for Quiet {
    fn on_message(&mut self, _: fixbolt::codec::Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::Done)
    }
}

fn presets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../presets")
}

const ACCEPTOR: &str = "ConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=VENUE\nTargetCompID=TRADER\n";
const INITIATOR: &str = "ConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort=1\nHeartBtInt=60\n\
     BeginString=FIX.4.4\nSenderCompID=TRADER\nTargetCompID=VENUE\n";

/// Reads a session with these lines after the preset of this name, which is included in
/// `[DEFAULT]`.
fn session(preset: &str, lines: &str) -> SessionConfiguration {
    let path = presets().join(format!("{preset}.cfg"));
    let text = format!("[DEFAULT]\ninclude={}\n[SESSION]\n{lines}", path.display());
    let mut configuration =
        Configuration::from_text("a.cfg", &text).unwrap_or_else(|e| panic!("{preset}: {e}"));
    assert_eq!(configuration.warnings, [], "{preset}");
    configuration.sessions.remove(0)
}

fn counterparty(of: &SessionSettings) -> SessionSettings {
    let role = if of.role == Role::Acceptor { Role::Initiator } else { Role::Acceptor };
    let id =
        fixbolt::session::SessionId::new(of.id.version(), of.id.target_comp_id(), of.id.sender_comp_id());
    SessionSettings::new(id.unwrap(), role)
}

#[test]
fn every_preset_is_on_the_page_and_begins_with_what_it_is_for() {
    let page = std::fs::read_to_string(presets().join("../docs/presets.md")).unwrap();
    let mut count = 0;
    for file in std::fs::read_dir(presets()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# ") && text.lines().any(|line| line == "#"), "{name} has no comment");
        let row = page.lines().find(|line| line.contains(&format!("(../presets/{name})")));
        let row = row.unwrap_or_else(|| panic!("docs/presets.md lacks {name}"));
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (key, _) = line.split_once('=').unwrap();
            assert!(row.contains(&format!("`{key}`")), "{name}: the page lacks {key}");
        }
        count += 1;
    }
    assert_eq!(page.matches("(../presets/").count(), count);
}

#[test]
fn with_enhanced_resend_each_message_has_369_and_a_gap_is_requested_in_closed_pieces() {
    let settings = session("enhanced-resend", &INITIATOR.replace("HeartBtInt=60\n", "")).settings().clone();
    let mut trader = TestSession::new(settings, Quiet).unwrap();
    let logon = trader.connect().remove(0);
    assert_eq!((logon.get(369), logon.get(108), logon.get(141)), (Some("0"), Some("60"), None));
    assert!(trader.receive("35=A|98=0|108=60|").is_empty());
    let answer = trader.receive("35=1|112=t|").remove(0);
    assert_eq!((answer.get(112), answer.get(369)), (Some("t"), Some("2")));
    let request = trader.receive("35=0|34=6003|").remove(0);
    let fields = [7, 16, 369].map(|tag| request.get(tag).unwrap_or_default().to_owned());
    assert_eq!((request.msg_type(), fields), ("2", ["3", "2502", "2"].map(str::to_owned)));
    let next = trader.receive("35=4|34=3|43=Y|122=20260105-09:00:00|123=Y|36=2503|").remove(0);
    assert_eq!([7, 16].map(|tag| next.get(tag).unwrap_or_default().to_owned()), ["2503", "5002"]);
    // Sequence numbers go on.
    trader.disconnect();
    let logon = trader.connect().remove(0);
    assert_eq!((logon.value::<u64>(34), logon.get(369)), (Some(5), Some("2502")));
}

#[test]
fn a_signed_logon_is_accepted_and_one_with_another_key_is_not() {
    signed_logon::main().unwrap();
}

#[test]
fn a_trading_week_begins_with_new_sequence_numbers_and_ends_with_a_logout() {
    let settings = session("weekly-reset", INITIATOR).settings().clone();
    let schedule = settings.schedule.clone().unwrap();
    // The clock of a test begins on Monday, 2026-01-05, at 9:00. Chicago is six hours behind.
    let hour = 3_600_000_000_000;
    let monday = 1_767_603_600_000_000_000 - 9 * hour;
    let [sunday, friday] = [Utc(monday - 3 * hour), Utc(monday + (4 * 24 + 22) * hour + hour / 2)];
    assert_eq!(schedule.position_at(Utc(monday)), WindowPosition::In { began: sunday, ends: friday });
    let other = counterparty(&settings).with(|s| s.schedule = settings.schedule.clone());
    let mut pair = Pair::new((settings, Quiet), (other, Quiet)).unwrap();
    pair.connect();
    pair.advance(Duration::from_secs(3600));
    pair.disconnect();
    let before = pair.initiator.numbers();
    pair.connect();
    assert_eq!(pair.initiator.numbers(), (before.0.next(), before.1.next()), "they go on within the week");
    // To Friday, then over the weekend.
    pair.advance(Duration::from_secs((4 * 24 + 14) * 3600));
    assert_eq!(pair.initiator.phase(), Phase::Disconnected);
    pair.connect();
    assert_ne!(pair.initiator.phase(), Phase::LoggedOn, "the week has ended");
    pair.advance(Duration::from_secs(47 * 3600));
    pair.connect();
    assert_eq!(pair.initiator.phase(), Phase::LoggedOn);
    assert_eq!(pair.initiator.numbers(), (SeqNum(2), SeqNum(2)));
}

#[test]
fn a_session_that_never_closes_resets_each_day_on_the_same_connection() {
    let settings = session("daily-reset-in-session", INITIATOR).settings().clone();
    let other = counterparty(&settings);
    let mut pair = Pair::new((settings, Quiet), (other, Quiet)).unwrap();
    pair.connect();
    // From 9:00 to 22:00 UTC, which is 17:00 in New York.
    pair.advance(Duration::from_secs(13 * 3600 - 1));
    assert!(pair.initiator.numbers().1 > SeqNum(100));
    pair.advance(Duration::from_secs(2));
    assert_eq!(pair.initiator.numbers(), (SeqNum(2), SeqNum(2)));
    assert_eq!((pair.initiator.phase(), pair.acceptor.phase()), (Phase::LoggedOn, Phase::LoggedOn));
}

#[test]
fn below_the_floor_a_logon_is_refused_with_the_accepted_values() {
    let settings = session("heartbeat-floor", ACCEPTOR).settings().clone();
    for (seconds, is_accepted) in [(0, false), (9, false), (10, true), (60, true), (61, false)] {
        let mut venue = TestSession::new(settings.clone(), Quiet).unwrap();
        venue.connect();
        let answer = venue.receive(&format!("35=A|98=0|108={seconds}|")).remove(0);
        let expected = if is_accepted { ("A", None) } else { ("5", Some("HeartBtInt (108) must be 10-60")) };
        assert_eq!((answer.msg_type(), answer.get(58)), expected, "{seconds}");
    }
}

#[test]
fn a_venue_with_a_heart_bt_int_of_its_own_answers_with_it_and_the_initiator_follows() {
    let venue = session("heartbeat-own", ACCEPTOR).settings().clone();
    let trader = counterparty(&venue).with(|s| s.timing.heart_bt_int = 5);
    let mut pair = Pair::new((trader, Quiet), (venue, Quiet)).unwrap();
    pair.connect();
    let before = pair.initiator.numbers();
    pair.advance(Duration::from_secs(29));
    assert_eq!(pair.initiator.numbers(), before, "nobody sends heartbeats each 5 seconds");
    pair.advance(Duration::from_secs(2));
    assert_eq!(pair.initiator.numbers(), (before.0.next(), before.1.next()));
}

#[test]
fn a_password_in_raw_data_comes_from_its_file_and_is_shown_nowhere() {
    let folder = Scratch::new("presets");
    let preset = folder.0.join("raw-data-password.cfg");
    std::fs::copy(presets().join("raw-data-password.cfg"), preset).unwrap();
    std::fs::write(folder.0.join("venue-password"), "correct horse\n").unwrap();
    let main = folder.0.join("trader.cfg");
    std::fs::write(&main, format!("[SESSION]\ninclude=raw-data-password.cfg\n{INITIATOR}")).unwrap();
    let session = Configuration::from_file(&main).unwrap().sessions.remove(0);
    assert!(!format!("{session:?}").contains("horse"));
    let mut trader = TestSession::new(session.settings().clone(), Quiet).unwrap();
    for _ in 0..2 {
        let logon = trader.connect().remove(0);
        let fields = [95, 96, 141, 34].map(|tag| logon.get(tag).unwrap_or_default().to_owned());
        assert_eq!(fields, ["13", "correct horse", "Y", "1"]);
        assert!(!format!("{logon}").contains("horse"), "{logon}");
        assert!(trader.receive("35=A|34=1|98=0|108=60|141=Y|").is_empty());
        assert_eq!(trader.phase(), Phase::LoggedOn);
        trader.disconnect();
    }
}
