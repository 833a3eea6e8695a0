//! What may go wrong in a world.

use std::fmt;
use std::str::FromStr;

use super::random::Random;

/// Declares [`Faults`]: its fields, their names in text, and what each is.
macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $flag:ident $name:literal;)+) => {
        /// What may go wrong in a world. As text: `inbound=60,cuts,operators`.
        ///
        /// ```
        /// use fixbolt_conformance::simulation::Faults;
        ///
        /// let faults: Faults = "inbound=60,cuts".parse()?;
        /// assert_eq!((faults.inbound, faults.cuts), (60, true));
        /// assert_eq!(faults.to_string(), "inbound=60,cuts");
        /// assert!("inbound=400".parse::<Faults>().is_err());
        /// # Ok::<(), String>(())
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        #[non_exhaustive]
        pub struct Faults {
            /// How many of a thousand messages to the session are lost, alone or in runs: 0 to 300.
            pub inbound: u16,
            /// How many of a thousand messages of the session are lost, alone or in runs: 0 to 300.
            pub outbound: u16,
            $($(#[doc = $doc])+ pub $flag: bool,)+
        }

        impl Faults {
            /// Every switch with its name and its explanation.
            pub const SWITCHES: &[(&str, &str)] = &[$(($name, concat!($($doc),+))),+];

            fn switch(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $($name => Some(&mut self.$flag),)+
                    _ => None,
                }
            }

            fn switched_on(&self) -> Vec<&'static str> {
                [$((self.$flag, $name)),+].into_iter().filter_map(|(on, name)| on.then_some(name)).collect()
            }
        }
    };
}

faults! {
    /// Connections are cut at any byte, in both directions.
    cuts "cuts";
    /// The counterparty logs out, answers a Logout late or not at all, and closes without one.
    logouts "logouts";
    /// The counterparty resets sequence numbers: with its Logon, in the session, by SequenceReset.
    resets "resets";
    /// Operators log out, disable, enable, reset, set numbers, resume and remove sessions.
    operators "operators";
    /// The session limits how fast messages are sent or taken.
    throttles "throttles";
    /// The session has a schedule, whose edges come while it trades.
    schedule "schedule";
    /// Settings other than the defaults.
    settings "settings";
    /// The wall clock of the session's machine jumps, the monotonic one does not.
    clock "clock";
    /// The session's process stands still for seconds or minutes.
    pauses "pauses";
    /// The process dies at any point of a turn, and starts again; some deaths take the machine's
    /// power.
    deaths "deaths";
    /// The store acknowledges late, refuses, or is full for a while.
    store "store";
    /// The store is put back to an older state while the process is down.
    restored "restored";
    /// The application fails, panics or answers "not now".
    application "application";
    /// The counterparty reads slowly, or not for a while.
    slow "slow";
    /// The process has several sessions, and the application writes to them in one turn.
    several "several";
    /// The counterparty is hostile: malformed session messages, new ones with PossDupFlag=Y,
    /// numbers far ahead, floods, half a message and silence.
    hostile "hostile";
}

impl Faults {
    /// Most messages that may be lost, of a thousand.
    pub const MOST: u16 = 300;

    /// Draws the faults of a world: usually a few of them, since one hides another.
    pub(super) fn draw(random: &mut Random) -> Self {
        let mut faults = Self::default();
        const RATES: [u16; 7] = [0, 0, 10, 60, 100, 150, 300];
        if !random.once_in(3) {
            faults.inbound = *random.pick(&RATES);
        }
        if !random.once_in(3) {
            faults.outbound = *random.pick(&RATES);
        }
        let often = random.within(2, 9);
        for (name, _) in Self::SWITCHES {
            if random.once_in(often)
                && let Some(switch) = faults.switch(name)
            {
                *switch = true;
            }
        }
        faults
    }

    /// Returns the same faults with one of them less, or weaker, in every way: for shrinking.
    pub(super) fn weaker(self) -> Vec<Self> {
        let mut all = Vec::new();
        for name in self.switched_on() {
            let mut one = self;
            if let Some(switch) = one.switch(name) {
                *switch = false;
            }
            all.push(one);
        }
        if self.inbound > 0 {
            all.push(Self { inbound: 0, ..self });
            all.push(Self { inbound: self.inbound / 2, ..self });
        }
        if self.outbound > 0 {
            all.push(Self { outbound: 0, ..self });
            all.push(Self { outbound: self.outbound / 2, ..self });
        }
        all
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates = [("inbound", self.inbound), ("outbound", self.outbound)];
        let rates = rates.iter().filter(|(_, rate)| *rate > 0).map(|(name, rate)| format!("{name}={rate}"));
        let all: Vec<_> = rates.chain(self.switched_on().into_iter().map(str::to_owned)).collect();
        f.write_str(if all.is_empty() { "none" } else { "" })?;
        f.write_str(&all.join(","))
    }
}

impl FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut faults = Self::default();
        if text == "none" {
            return Ok(faults);
        }
        for part in text.split(',') {
            let rate = |value: &str| {
                let rate = value.parse::<u16>().ok().filter(|rate| *rate <= Self::MOST);
                rate.ok_or_else(|| format!("{part}: the rate is 0 to {} of a thousand messages", Self::MOST))
            };
            match part.split_once('=') {
                Some(("inbound", value)) => faults.inbound = rate(value)?,
                Some(("outbound", value)) => faults.outbound = rate(value)?,
                _ => match faults.switch(part) {
                    Some(switch) => *switch = true,
                    None => {
                        let names: Vec<_> = Self::SWITCHES.iter().map(|(name, _)| *name).collect();
                        return Err(format!(
                            "{part:?} is no fault of a world: inbound=RATE, outbound=RATE, {} or none",
                            names.join(", ")
                        ));
                    }
                },
            }
        }
        Ok(faults)
    }
}
