//! The scripts of the initiator role that are made of the acceptor's, so that equal ones exist only
//! once.
//!
//! After the exchange of Logons, a session does the same in both roles. Only who speaks first
//! differs: the Logon that the acceptor would send as its answer comes first, and the
//! counterparty's Logon answers it. Scripts about the first message of a connection have no such
//! exchange: those of the initiator are written by hand.

use fixbolt_codec::Version;

use crate::script::{Action, Script, Step};

const LOGON: &str = "35=A";

impl Script {
    /// Returns the same script for a session that connects; `None` if some connection does not
    /// begin with an exchange of Logons. `resets` says whether the session resets the sequence
    /// numbers at each Logon.
    #[must_use]
    pub fn for_initiator(&self, resets: bool) -> Option<Self> {
        let mut steps = self.steps.clone();
        let mut at = 0;
        while at < steps.len() {
            at += 1;
            if steps[at - 1].action != Action::Connect {
                continue;
            }
            let [theirs, ours, ..] = &mut steps[at..] else { return None };
            let (Action::Send(answer), Action::Expect(first)) = (&mut theirs.action, &mut ours.action) else {
                return None;
            };
            let is_first = !resets || answer.contains("34=1");
            if !answer.contains(LOGON) || !first.contains(LOGON) || answer.contains("141=Y") || !is_first {
                return None;
            }
            // FIX.4.0 has no ResetSeqNumFlag (141): the counterparty resets because it was agreed.
            if resets && !first.contains(&format!("8={}", Version::Fix40.begin_string())) {
                for line in [answer, first] {
                    line.insert_after("108", "141=Y");
                }
            }
            std::mem::swap(&mut theirs.action, &mut ours.action);
            at += 2;
        }
        Some(Self { steps, ..self.clone() })
    }

    /// Returns HeartBtInt (108) of the first Logon that the session under test sends, in seconds.
    #[must_use]
    pub fn heart_bt_int(&self) -> Option<u32> {
        self.steps.iter().find_map(|Step { action, .. }| match action {
            Action::Expect(line) if line.contains(LOGON) => line.value("108")?.parse().ok(),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn parse(text: &str) -> Script {
        Script::parse(Path::new("x.def"), text.as_bytes()).unwrap()
    }

    #[test]
    fn the_session_logs_on_first_and_all_else_stays() {
        let accepted = parse(
            "iCONNECT\nI8=FIX.4.4|35=A|34=1|98=0|108=5|\nE8=FIX.4.4|35=A|34=7|108=5|383=9|\nI8=FIX.4.4|35=0|34=2|\n\
             iCONNECT\nI8=FIX.4.4|35=A|34=1|108=5|\nE8=FIX.4.4|35=A|34=8|108=5|\neDISCONNECT",
        );
        let wanted = "iCONNECT\nE8=FIX.4.4|35=A|34=7|108=5|383=9|\nI8=FIX.4.4|35=A|34=1|98=0|108=5|\nI8=FIX.4.4|35=0|34=2|\n\
             iCONNECT\nE8=FIX.4.4|35=A|34=8|108=5|\nI8=FIX.4.4|35=A|34=1|108=5|\neDISCONNECT";
        let actions = |script: Script| script.steps.into_iter().map(|s| s.action).collect::<Vec<_>>();
        let connects = |resets: bool| actions(accepted.for_initiator(resets).unwrap());
        assert_eq!(accepted.heart_bt_int(), Some(5));
        assert_eq!(connects(false), actions(parse(wanted)));
        assert_eq!(connects(true), actions(parse(&wanted.replace("|108=5|", "|108=5|141=Y|"))));
    }

    #[test]
    fn a_flag_that_the_version_has_not_is_not_added() {
        let accepted = "iCONNECT\nI8=FIX.4.0|35=A|34=1|108=5|\nE8=FIX.4.0|35=A|34=1|108=6|\neDISCONNECT";
        let wanted = parse("iCONNECT\nE8=FIX.4.0|35=A|34=1|108=6|\nI8=FIX.4.0|35=A|34=1|108=5|\neDISCONNECT");
        let connects = parse(accepted).for_initiator(true).unwrap();
        assert!(connects.steps.iter().map(|s| &s.action).eq(wanted.steps.iter().map(|s| &s.action)));
    }

    #[test]
    fn what_is_about_the_acceptors_first_answer_is_no_script_for_an_initiator() {
        assert_eq!(parse("iCONNECT\nI8=FIX.4.4|35=A|34=1|\neDISCONNECT").for_initiator(false), None);
        let high = parse("iCONNECT\nI8=FIX.4.4|35=A|34=5|108=5|\nE8=FIX.4.4|35=A|34=1|108=5|\neDISCONNECT");
        assert_eq!(high.for_initiator(true), None, "a reset begins with 1");
        assert!(high.for_initiator(false).is_some());
    }
}
