//! Sessions in which anything happens, replayed.

use std::time::Duration;

use fixbolt_codec::Version;
use fixbolt_session::Role;

use crate::market::{INITIATOR, Market};
use crate::{configuration, replay};

/// The number of random sessions.
const SEEDS: u64 = 52;

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Settings that a journal does not show.
const CONFIGURED: [&str; 13] = [
    "",
    "Compatibility=quickfix\n",
    "Compatibility=quickfixj\n",
    "ResendRequestChunkSize=2\n",
    "SendRedundantResendRequests=Y\nClosedResendInterval=Y\n",
    "ReplayInterleave=all\n",
    "ReplayInterleave=heartbeats\nSendNextExpectedMsgSeqNum=Y\n",
    "MaxReplayRate=1\n",
    "DisconnectOnError=Y\n",
    "ResetOnDisconnect=Y\nResetOnLogout=Y\n",
    "MaxResendRange=1\nResendOverLimit=gap-fill\n",
    "MaxResends=1\nResendPeriod=60\n",
    "ResendHorizon=3\nDisableHeartBeatCheck=Y\n",
];

/// Lets anything happen in a session.
fn at_random(seed: u64, market: &mut Market) {
    let mut random = Random(seed);
    for connection in 0..3 {
        market.connect();
        for step in 0..random.below(40) {
            let side = random.below(2) as usize;
            match random.below(8) {
                0 => market.ends[side].loses = 1 + random.below(2) as usize,
                1 => market.pass(Duration::from_millis(random.below(90_000))),
                2 => {
                    drop(market.ends[side].side.test_request(0));
                    market.exchange();
                }
                n => {
                    let more = ["", "", "58=reject|", "58=refuse|", "59=%|"][n as usize - 3];
                    if market.is_logged_on(INITIATOR) {
                        market.order(&format!("{connection}-{step}"), more);
                    }
                }
            }
            if market.ends.iter().any(|end| end.side.next(0).close) {
                break;
            }
        }
        if random.below(2) == 0 && market.is_logged_on(INITIATOR) {
            market.log_out(INITIATOR);
        } else {
            market.disconnect();
        }
        market.pass(Duration::from_secs(random.below(5_000)));
    }
}

#[test]
fn whatever_happens_in_a_session_is_replayed_with_every_message_equal() {
    for seed in 0..SEEDS {
        let version = [Version::Fix42, Version::Fix44, Version::Fixt11][seed as usize % 3];
        let mut market = Market::new(&format!("random-{seed}"), version, |_| {});
        at_random(seed, &mut market);
        for base in market.close() {
            let text = replay(&base, &[]);
            assert_eq!((text.status, text.err.as_str()), (0, ""), "seed {seed}: {}", text.out);
        }
    }
}

#[test]
fn with_its_configuration_a_session_is_replayed_whatever_its_settings_are() {
    for seed in 0..SEEDS {
        let version = [Version::Fix42, Version::Fix44, Version::Fixt11][seed as usize % 3];
        let more = CONFIGURED[seed as usize % CONFIGURED.len()];
        let mut market = Market::new(&format!("configured-{seed}"), version, |s| {
            *s = configuration(version, s.role, more).1;
        });
        at_random(seed, &mut market);
        for (base, role) in market.close().iter().zip([Role::Initiator, Role::Acceptor]) {
            let file = base.join("session.cfg");
            std::fs::write(&file, configuration(version, role, more).0).unwrap();
            let ended = replay(base, &["--config", file.to_str().unwrap()]);
            assert_eq!((ended.status, ended.err.as_str()), (0, ""), "seed {seed}: {more}{}", ended.out);
        }
    }
}
