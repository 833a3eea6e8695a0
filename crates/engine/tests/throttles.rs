//! Sessions that may only send or receive so many messages in a window, over sockets.

mod support;

use std::num::NonZeroU32;
use std::time::Duration;

use fixbolt::codec::{BodySink, Key, MsgType, NewBody};
use fixbolt::session::{InboundThrottle, OutboundThrottle, Rate, SessionSettings};
use fixbolt::{Engine, Sender};
use support::*;

const WINDOW: Duration = Duration::from_millis(200);
const MOST: usize = 5;

fn venue(change: impl FnOnce(&mut SessionSettings)) -> (Engine<Recorder>, Log, Peer) {
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor().with(change)).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    log.logged_on();
    (venue, log, peer)
}

fn limited(settings: &mut SessionSettings) {
    settings.throttle.max_outbound_rate = Rate::new(MOST as u32, WINDOW);
}

fn post(sender: &mut Sender, name: &str) {
    let mut draft = sender.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), name.as_bytes());
    draft.send().unwrap();
}

/// Returns SendingTime (52) in milliseconds since midnight.
fn sending_time(message: &str) -> u64 {
    let time = message.split("|52=").nth(1).and_then(|rest| rest.split('|').next()).unwrap();
    let [hours, minutes, seconds, millis] =
        [9..11, 12..14, 15..17, 18..21].map(|range| time[range].parse::<u64>().unwrap());
    ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis
}

/// Asserts that no window has more messages. A message is written after the time in it, and the
/// next window begins after it is written.
fn assert_within_limit(times: &[u64]) {
    for within in times.windows(MOST + 1) {
        let day = 24 * 3600 * 1000;
        let took = (within[MOST] + day - within[0]) % day;
        assert!(took + 1 >= WINDOW.as_millis() as u64, "{} messages in {took} ms: {times:?}", MOST + 1);
    }
}

#[test]
fn messages_of_another_thread_wait_for_their_window_and_keep_their_order() {
    let (venue, log, mut peer) = venue(limited);
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    for n in 0..22 {
        post(&mut sender, &format!("o{n}"));
    }
    let mut times = Vec::new();
    for n in 0..22 {
        let message = peer.receive();
        assert!(message.contains(&format!("|11=o{n}|")), "{message}");
        times.push(sending_time(&message));
        log.wait(|seen| matches!(seen, Seen::Sent(..)));
    }
    assert_within_limit(&times);
    drop(peer);
    venue.stop().unwrap();
}

#[test]
fn answers_wait_for_their_window_and_no_message_is_lost() {
    let (venue, _log, mut peer) = venue(limited);
    for n in 0..12 {
        peer.send("D", &format!("11=o{n}"));
    }
    let mut times = Vec::new();
    for n in 0..12 {
        let message = peer.receive();
        assert!(message.contains(&format!("|11=o{n}|")), "{message}");
        times.push(sending_time(&message));
    }
    assert_within_limit(&times);
    drop(peer);
    venue.stop().unwrap();
}

#[test]
fn a_message_of_another_thread_is_refused_with_the_reason_if_the_session_does_that() {
    let (venue, log, mut peer) = venue(|s| {
        s.throttle.max_outbound_rate = Rate::new(2, Duration::from_secs(3600));
        s.throttle.outbound_throttle = OutboundThrottle::Refuse;
    });
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    for name in ["a", "b", "c"] {
        post(&mut sender, name);
    }
    let Seen::NotSent(ticket, why) = log.wait(|seen| matches!(seen, Seen::NotSent(..))) else {
        unreachable!()
    };
    assert_eq!(ticket, 3);
    assert!(why.starts_with("the session may send no more messages now; try again in "), "{why}");
    assert!(peer.receive().contains("|11=a|") && peer.receive().contains("|11=b|"));
    drop(peer);
    venue.stop().unwrap();
}

#[test]
fn a_counterparty_that_sends_too_much_is_told_and_logged_out() {
    let (venue, log, mut peer) = venue(|s| {
        s.throttle.max_inbound_rate = Rate::new(2, Duration::from_secs(3600));
        s.throttle.inbound_throttle = InboundThrottle::Disconnect;
    });
    for name in ["a", "b", "c"] {
        peer.send("D", &format!("11={name}"));
    }
    for part in ["|11=a|", "|11=b|", "|35=j|", "|35=5|"] {
        let message = peer.receive();
        assert!(message.contains(part), "{part}: {message}");
    }
    peer.send("5", "");
    assert!(log.ended().contains("MessageRate"));
    drop(peer);
    venue.stop().unwrap();
}

#[test]
fn what_was_requested_is_read_in_its_time_and_none_of_it_is_refused() {
    let (venue, _log, mut peer) = venue(|s| {
        s.throttle.max_inbound_rate = Rate::new(MOST as u32, WINDOW);
        s.throttle.max_resent_rate_factor = NonZeroU32::MIN;
    });
    peer.seq = 24;
    peer.send("D", "11=o24");
    assert!(peer.receive().contains("|35=2|"));
    peer.seq = 2;
    for n in 2..24 {
        peer.send("D", &format!("43=Y|122={}|11=o{n}", timestamp()));
    }
    let mut times = Vec::new();
    for n in 2..24 {
        let report = peer.receive();
        assert!(report.contains(&format!("|11=o{n}|")), "{report}");
        times.push(sending_time(&report));
    }
    assert_within_limit(&times);
    assert!(peer.receive().contains("|11=o24|"));
    drop(peer);
    venue.stop().unwrap();
}
