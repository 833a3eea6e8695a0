//! How many application messages may be sent or received in a period of time.
//!
//! Each of the last N messages has a permit, which is free again one window after the message. So
//! every window is exact, not only those that begin at a full second, and a message costs the same
//! however large N is. The permits are allocated when the session is opened.

use core::error::Error;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use crate::limits::pace::Pace;
use crate::values::fix::msg_type;
use crate::values::time::Mono;

/// The messages with which orders are entered, replaced and cancelled, alone or many at once:
/// NewOrderSingle (D), NewOrderList (E), OrderCancelRequest (F), OrderCancelReplaceRequest (G),
/// ListCancelRequest (K), OrderMassCancelRequest (q), NewOrderCross (s),
/// CrossOrderCancelReplaceRequest (t), CrossOrderCancelRequest (u), NewOrderMultileg (AB),
/// MultilegOrderCancelReplace (AC), OrderMassActionRequest (CA) and MassOrder (DJ).
///
/// [`ThrottleSettings::max_order_rate`](crate::ThrottleSettings::max_order_rate) limits these.
pub const ORDER_MSG_TYPES: [&[u8]; 13] =
    [b"D", b"E", b"F", b"G", b"K", b"q", b"s", b"t", b"u", b"AB", b"AC", b"CA", b"DJ"];

/// The most messages in any period of a given length, wherever it begins.
///
/// As text: `50` for 50 messages in a second, `10/250` for 10 in 250 milliseconds.
///
/// ```
/// use std::time::Duration;
///
/// use fixbolt_session::Rate;
///
/// let rate: Rate = "10/250".parse()?;
/// assert_eq!(Some(rate), Rate::new(10, Duration::from_millis(250)));
/// assert_eq!("50".parse(), Ok(Rate::per_second(50).ok_or("at least 1")?));
/// assert!("0".parse::<Rate>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rate {
    messages: u32,
    window: Duration,
}

impl Rate {
    /// The largest number of messages. A session keeps 24 bytes for each.
    pub const MOST: u32 = 100_000;
    /// The longest window.
    pub const LONGEST: Duration = Duration::from_secs(3600);

    /// Creates a rate of 1 to [`Rate::MOST`] messages in a window of 1 ms to [`Rate::LONGEST`];
    /// `None` if one is out of range.
    #[must_use]
    pub const fn new(messages: u32, window: Duration) -> Option<Self> {
        let fits = window.as_nanos() >= 1_000_000 && window.as_nanos() <= Self::LONGEST.as_nanos();
        if messages == 0 || messages > Self::MOST || !fits {
            return None;
        }
        Some(Self { messages, window })
    }

    /// Creates a rate of 1 to [`Rate::MOST`] messages in a second.
    #[must_use]
    pub const fn per_second(messages: u32) -> Option<Self> {
        Self::new(messages, Duration::from_secs(1))
    }

    /// Returns the number of messages.
    #[must_use]
    pub const fn messages(self) -> u32 {
        self.messages
    }

    /// Returns the length of the window.
    #[must_use]
    pub const fn window(self) -> Duration {
        self.window
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages in {:?}", self.messages, self.window)
    }
}

/// The text is not a [`Rate`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidRate;

impl fmt::Display for InvalidRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate is MESSAGES, 1 to 100000 in a second, or MESSAGES/MILLISECONDS, 1 to 3600000")
    }
}

impl Error for InvalidRate {}

impl FromStr for Rate {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let number = |text: &str| {
            // FromStr of integers accepts a leading '+'.
            text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let (messages, millis) = text.split_once('/').unwrap_or((text, "1000"));
        let rate = number(messages).zip(number(millis));
        let rate = rate.and_then(|(n, millis)| Self::new(n, Duration::from_millis(millis.into())));
        rate.ok_or(InvalidRate)
    }
}

/// What happens to a message of the application that is one more than
/// [`max_outbound_rate`](crate::ThrottleSettings::max_outbound_rate) or
/// [`max_order_rate`](crate::ThrottleSettings::max_order_rate) allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum OutboundThrottle {
    /// It waits: it is stored with its turn, without a sequence number, and gets one when the
    /// window allows it; [`Event::Sent`](crate::Event::Sent) says so. Until then the application's
    /// messages after it wait, too, in order; those of the session layer pass them. If what waits
    /// would be larger than the session's outbound queue, sending returns
    /// [`SendError::BackPressure`](crate::SendError::BackPressure), as with a full outbox.
    #[default]
    Wait,
    /// It is refused: sending returns [`SendError::Throttled`](crate::SendError::Throttled), and
    /// for a message of another thread [`Event::NotSent`](crate::Event::NotSent) follows.
    Refuse,
}

/// What happens to a counterparty that sends more application messages than
/// [`max_inbound_rate`](crate::ThrottleSettings::max_inbound_rate) allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum InboundThrottle {
    /// Each excess message is rejected.
    #[default]
    Reject,
    /// The first excess message is rejected, and the connection ends with a Logout. Another one
    /// ends it before the Logout is answered.
    Disconnect,
}

/// The number of messages that a session's throttles have counted since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) messages: u64,
    pub(crate) orders: u64,
    pub(crate) inbound: u64,
}

/// What a message of the application is to the outbound throttles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Order,
    Other,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Order, Self::Other];

    /// Returns the kind of a message; `None` if it is never held up: one of the session layer, or a
    /// BusinessMessageReject, with which the session answers, too.
    pub(crate) fn of(msg_type: &[u8]) -> Option<Self> {
        if fixbolt_codec::is_admin(msg_type) || msg_type == msg_type::BUSINESS_MESSAGE_REJECT {
            None
        } else if ORDER_MSG_TYPES.contains(&msg_type) {
            Some(Self::Order)
        } else {
            Some(Self::Other)
        }
    }
}

/// The permit of one message.
#[derive(Clone, Copy, Debug)]
struct Permit {
    /// The number of messages before it, which tells it from one whose transaction was rolled back.
    number: u64,
    state: PermitState,
}

#[derive(Clone, Copy, Debug)]
enum PermitState {
    /// The message waits in the outbox, where it ends here, counted from the session's first byte.
    Queued { end: u64 },
    /// The window of the message began.
    Began(Mono),
}

impl Permit {
    const UNUSED: Self = Self { number: u64::MAX, state: PermitState::Began(Mono(0)) };
}

/// One permit for each message of a rate.
#[derive(Debug)]
struct Permits {
    rate: Rate,
    permits: Box<[Permit]>,
}

impl Permits {
    fn new(rate: Rate) -> Self {
        Self { rate, permits: vec![Permit::UNUSED; rate.messages as usize].into() }
    }

    fn at(&mut self, number: u64) -> &mut Permit {
        let index = (number % self.permits.len() as u64) as usize;
        &mut self.permits[index]
    }

    /// Returns when there is a permit for a message with `number` messages before it; the end of
    /// time if that depends on the socket. A permit of which another transaction was rolled back
    /// was free.
    fn free_at(&self, number: u64) -> Mono {
        let count = self.permits.len() as u64;
        let permit = self.permits[(number % count) as usize];
        match permit.state {
            _ if number.checked_sub(count) != Some(permit.number) => Mono(0),
            PermitState::Began(at) => at + self.rate.window,
            PermitState::Queued { .. } => Mono(u64::MAX),
        }
    }

    /// Returns when the permit of the message with `number` messages before it began; 0 if it has
    /// none any more.
    fn began(&self, number: u64) -> Mono {
        match self.permits[(number % self.permits.len() as u64) as usize] {
            Permit { number: of, state: PermitState::Began(at) } if of == number => at,
            _ => Mono(0),
        }
    }
}

/// The permits of messages that are sent. The window of each begins when the socket has accepted
/// its last byte.
#[derive(Debug)]
struct Outgoing {
    permits: Permits,
    /// The number of messages before the first that waits in the outbox.
    accepted: u64,
}

impl Outgoing {
    fn new(rate: Rate) -> Self {
        Self { permits: Permits::new(rate), accepted: 0 }
    }

    fn take(&mut self, number: u64, end: u64) {
        *self.permits.at(number) = Permit { number, state: PermitState::Queued { end } };
    }

    /// Checks that each message between the first that waits in the outbox and the last that was
    /// counted has its permit, and ends in the outbox, at `end` at the latest.
    fn check(&self, counted: u64, end: u64) {
        let Self { permits, accepted } = self;
        assert!(*accepted <= counted, "{accepted} messages of {counted} have been accepted");
        let (queued, most) = (counted - accepted, permits.permits.len() as u64);
        assert!(queued <= most, "{queued} messages wait in the outbox, and {most} have a permit");
        let mut before = 0;
        for number in *accepted..counted {
            let permit = permits.permits[(number % most) as usize];
            assert!(permit.number == number, "message {number} has lost its permit to {}", permit.number);
            let PermitState::Queued { end: its_end } = permit.state else {
                panic!("the window of message {number} began before the socket had it");
            };
            assert!(
                before < its_end && its_end <= end,
                "message {number} ends at {its_end}, the one before at {before}, the outbox at {end}"
            );
            before = its_end;
        }
    }

    fn accept(&mut self, counted: u64, position: u64, now: Mono) {
        while self.accepted < counted {
            let permit = self.permits.at(self.accepted);
            match permit.state {
                PermitState::Queued { end } if end > position => break,
                _ => permit.state = PermitState::Began(now),
            }
            self.accepted += 1;
        }
    }
}

/// For an order and for another message, what had been counted when one was refused that is to be
/// asked again, with what the same transaction had written before it.
pub(crate) type Awaited = [Option<Counted>; 2];

/// The outbound throttles of a session that has any.
#[derive(Debug)]
pub(crate) struct OutboundPermits {
    messages: Option<Outgoing>,
    orders: Option<Outgoing>,
    awaited: Awaited,
    /// The kind of the message that waits at the head of those written during a replay.
    follows: Option<Kind>,
}

impl OutboundPermits {
    pub(crate) fn new(messages: Option<Rate>, orders: Option<Rate>) -> Option<Box<Self>> {
        if messages.is_none() && orders.is_none() {
            return None;
        }
        let (messages, orders) = (messages.map(Outgoing::new), orders.map(Outgoing::new));
        Some(Box::new(Self { messages, orders, awaited: Awaited::default(), follows: None }))
    }

    /// Returns the throttles that a message of this kind needs a permit of, with what each has
    /// counted.
    fn of(&self, counted: Counted, kind: Kind) -> impl Iterator<Item = (&Permits, u64)> {
        let orders = self.orders.as_ref().filter(|_| kind == Kind::Order);
        let both = [(self.messages.as_ref(), counted.messages), (orders, counted.orders)];
        both.into_iter().filter_map(|(throttle, counted)| Some((&throttle?.permits, counted)))
    }

    /// Returns when there is a permit for a message; the end of time if that depends on the socket.
    pub(crate) fn free_at(&self, counted: Counted, kind: Kind) -> Mono {
        self.of(counted, kind).map(|(permits, counted)| permits.free_at(counted)).max().unwrap_or(Mono(0))
    }

    /// Returns the most messages of this kind in a window, and the longest window.
    pub(crate) fn limit(&self, kind: Kind) -> Option<Rate> {
        let rates = || self.of(Counted::default(), kind).map(|(permits, _)| permits.rate);
        let window = rates().map(Rate::window).max()?;
        Rate::new(rates().map(Rate::messages).min()?, window)
    }

    /// Returns whether the messages counted since `before` need all permits of this kind, so that
    /// one more never has a permit with them.
    pub(crate) fn is_full_since(&self, before: Counted, counted: Counted, kind: Kind) -> bool {
        let is_full = |permits: &Permits, since: u64| since >= u64::from(permits.rate.messages);
        let counted = Counted {
            messages: counted.messages - before.messages,
            orders: counted.orders - before.orders,
            inbound: 0,
        };
        self.of(counted, kind).any(|(permits, since)| is_full(permits, since))
    }

    /// Counts a message that ends at `end` in the outbox.
    pub(crate) fn take(&mut self, counted: &mut Counted, kind: Kind, end: u64) {
        if let Some(messages) = &mut self.messages {
            messages.take(counted.messages, end);
            counted.messages += 1;
        }
        if let Some(orders) = self.orders.as_mut().filter(|_| kind == Kind::Order) {
            orders.take(counted.orders, end);
            counted.orders += 1;
        }
    }

    /// Records that the socket has accepted everything up to `position`.
    pub(crate) fn accept(&mut self, counted: Counted, position: u64, now: Mono) {
        for (throttle, counted) in
            [(&mut self.messages, counted.messages), (&mut self.orders, counted.orders)]
        {
            if let Some(throttle) = throttle {
                throttle.accept(counted, position, now);
            }
        }
    }

    /// Checks what holds between two calls; the outbox ends at `end`.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self, counted: Counted, end: u64) {
        for (throttle, counted) in [(&self.messages, counted.messages), (&self.orders, counted.orders)] {
            if let Some(throttle) = throttle {
                throttle.check(counted, end);
            }
        }
    }

    /// Gives up the permits of what waits in the outbox, because the connection has ended.
    pub(crate) fn forget_queued(&mut self, counted: &mut Counted) {
        if let Some(messages) = &self.messages {
            counted.messages = messages.accepted;
        }
        if let Some(orders) = &self.orders {
            counted.orders = orders.accepted;
        }
        (self.awaited, self.follows) = (Awaited::default(), None);
    }

    /// Records that a message was refused and is to be asked again.
    pub(crate) fn await_permit(&mut self, counted: Counted, kind: Kind) {
        self.awaited[kind as usize] = Some(counted);
    }

    /// Returns what was refused and is to be asked again.
    pub(crate) const fn awaited(&self) -> Awaited {
        self.awaited
    }

    /// Goes back to an earlier [`Self::awaited`].
    pub(crate) const fn set_awaited(&mut self, awaited: Awaited) {
        self.awaited = awaited;
    }

    /// Records which kind of message waits at the head of those written during a replay.
    pub(crate) fn set_follows(&mut self, kind: Option<Kind>) {
        self.follows = kind;
    }

    /// Returns whether a message at the head of those written during a replay waits for a permit.
    pub(crate) fn is_following(&self) -> bool {
        self.follows.is_some()
    }

    /// Returns when the message at the head of those written during a replay may be sent.
    pub(crate) fn follows_at(&self, counted: Counted) -> Mono {
        self.follows.map_or(Mono(0), |kind| self.free_at(counted, kind))
    }

    /// Returns whether a refused message is to be asked again.
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.iter().any(Option::is_some)
    }

    /// Returns when a refused message is to be asked again, unless that depends on the socket.
    pub(crate) fn due(&self) -> Option<Mono> {
        let free = Kind::ALL.into_iter().filter_map(|kind| self.awaited_at(kind));
        free.min().filter(|at| *at < Mono(u64::MAX))
    }

    /// Called when refused messages are asked again.
    pub(crate) fn asked(&mut self, now: Mono) {
        for kind in Kind::ALL {
            if self.awaited_at(kind).is_some_and(|at| at <= now) {
                self.awaited[kind as usize] = None;
            }
        }
    }

    /// Returns when there is a permit for the refused message of this kind, if there is one.
    fn awaited_at(&self, kind: Kind) -> Option<Mono> {
        self.awaited[kind as usize].map(|counted| self.free_at(counted, kind))
    }
}

/// When a message can have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub(crate) earliest: Mono,
    pub(crate) latest: Mono,
}

/// The inbound throttle of a session that has one.
///
/// A message is judged by when it can have arrived: while a session does not read, messages wait
/// through nobody's fault, and one may be as old as that. One that is kept after a gap has arrived
/// when it was read: a gap saves up no permits.
#[derive(Debug)]
pub(crate) struct InboundPermits {
    permits: Permits,
    /// When the messages that are processed now can have arrived at the earliest.
    earliest: Mono,
    /// Whether messages that have arrived wait to be processed.
    is_behind: bool,
    /// How fast those are read that we requested.
    pub(crate) requested: Box<Pace>,
}

impl InboundPermits {
    /// `factor` says how many times as fast those may come that we requested.
    pub(crate) fn new(rate: Option<Rate>, factor: u32) -> Option<Box<Self>> {
        rate.map(|rate| {
            let (permits, requested) = (Permits::new(rate), Pace::new(rate.messages, rate.window, factor));
            Box::new(Self { permits, earliest: Mono(0), is_behind: false, requested })
        })
    }

    /// Called when bytes are passed to the session.
    pub(crate) fn begin(&mut self, now: Mono) {
        if !self.is_behind {
            self.earliest = now;
        }
    }

    /// Called afterwards; `is_behind` says whether messages that have arrived wait.
    pub(crate) fn end(&mut self, is_behind: bool) {
        self.is_behind = is_behind;
    }

    /// Returns when a message that is read now can have arrived.
    pub(crate) fn arrival(&self, now: Mono) -> Arrival {
        Arrival { earliest: self.earliest, latest: now }
    }

    /// Returns when a message can have arrived so that there is a permit for it; `None` if there is
    /// none. Messages that arrived before it in the counterparty's order, and later in fact, count
    /// before it.
    fn arrived_at(&self, counted: Counted, arrival: Arrival) -> Option<Mono> {
        let at = self.permits.free_at(counted.inbound).max(arrival.earliest);
        let last = counted.inbound.checked_sub(1).map_or(Mono(0), |last| self.permits.began(last));
        (at <= arrival.latest.max(last)).then_some(at)
    }

    /// Returns whether a message is one too many.
    pub(crate) fn is_excess(&self, counted: Counted, arrival: Arrival) -> bool {
        self.arrived_at(counted, arrival).is_none()
    }

    /// Counts a message.
    pub(crate) fn take(&mut self, counted: &mut Counted, arrival: Arrival) {
        let state = PermitState::Began(self.arrived_at(*counted, arrival).unwrap_or(arrival.latest));
        let number = counted.inbound;
        *self.permits.at(number) = Permit { number, state };
        counted.inbound += 1;
    }

    pub(crate) fn rate(&self) -> Rate {
        self.permits.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rate(messages: u32, millis: u64) -> Rate {
        match Rate::new(messages, Duration::from_millis(millis)) {
            Some(rate) => rate,
            None => panic!("out of range"),
        }
    }

    #[test]
    fn a_rate_is_text_with_or_without_a_window() {
        assert_eq!("50".parse(), Ok(rate(50, 1000)));
        assert_eq!("100000/1".parse(), Ok(rate(100_000, 1)));
        assert_eq!("1/3600000".parse(), Ok(rate(1, 3_600_000)));
        let wrong =
            ["", "0", "/", "5/", "/5", "5/0", "-1", "+1", "1/+1", "1/3600001", "100001", "1/1/1", " 1"];
        for text in wrong.into_iter().chain(["99999999999999999999", "1/99999999999999999999", "1s"]) {
            assert_eq!(text.parse::<Rate>(), Err(InvalidRate), "{text:?}");
        }
        assert!(InvalidRate.to_string().starts_with("a rate is MESSAGES, 1 to 100000"));
        assert_eq!(rate(10, 250).to_string(), "10 messages in 250ms");
        assert_eq!(Rate::new(1, Duration::from_micros(999)), None);
        assert_eq!(Rate::new(1, Duration::MAX), None);
    }

    #[test]
    fn orders_are_the_messages_that_enter_replace_and_cancel_them() {
        for (msg_type, kind) in [
            (&b"D"[..], Some(Kind::Order)),
            (b"AB", Some(Kind::Order)),
            (b"8", Some(Kind::Other)),
            (b"H", Some(Kind::Other)),
            (b"j", None),
            (b"0", None),
            (b"A", None),
        ] {
            assert_eq!(Kind::of(msg_type), kind);
        }
    }

    /// A generator of numbers below `most`.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % most
        }
    }

    /// Returns whether one more message at `now` would make more than a rate's in a window.
    fn is_full(rate: Rate, accepted: &[Mono], queued: usize, now: Mono) -> bool {
        let within = accepted.iter().filter(|at| now - **at < rate.window).count();
        within + queued >= rate.messages as usize
    }

    /// Changes what the throttle of all messages knows, and what `check` says then.
    type Damage = (fn(&mut Outgoing), &'static str);

    const DAMAGES: [Damage; 6] = [
        (|it| it.accepted = 4, "4 messages of 3 have been accepted"),
        (
            |it| it.permits.permits = vec![Permit::UNUSED].into(),
            "2 messages wait in the outbox, and 1 have a permit",
        ),
        (|it| it.permits.permits[1].number = 4, "message 1 has lost its permit to 4"),
        (
            |it| it.permits.permits[2].state = PermitState::Began(Mono(1)),
            "the window of message 2 began before the socket had it",
        ),
        (
            |it| it.permits.permits[2].state = PermitState::Queued { end: 20 },
            "message 2 ends at 20, the one before at 20, the outbox at 30",
        ),
        (
            |it| it.permits.permits[2].state = PermitState::Queued { end: 31 },
            "message 2 ends at 31, the one before at 20, the outbox at 30",
        ),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        for (damage, says) in DAMAGES {
            let mut permits = OutboundPermits::new(Some(rate(3, 1)), None).unwrap();
            let mut counted = Counted::default();
            for end in [10, 20, 30] {
                permits.take(&mut counted, Kind::Other, end);
            }
            permits.accept(counted, 10, Mono(1));
            permits.check(counted, 30);
            damage(permits.messages.as_mut().unwrap());
            let said = crate::invariants::said(|| permits.check(counted, 30));
            assert!(said.contains(says), "{said}, not {says}");
        }
    }

    #[test]
    fn in_no_window_does_the_socket_accept_more_and_no_message_waits_longer_than_that_takes() {
        for seed in 0..300 {
            let mut random = Random(seed);
            let messages = rate(1 + random.below(6) as u32, 1 + random.below(20));
            let orders = rate(1 + random.below(6) as u32, 1 + random.below(20));
            let mut permits = OutboundPermits::new(Some(messages), Some(orders)).unwrap();
            let mut counted = Counted::default();
            // What has been accepted, of all and of orders; what is queued, with its end.
            let mut accepted = [Vec::new(), Vec::new()];
            let mut queued: Vec<(u64, Kind)> = Vec::new();
            let (mut end, mut position, mut now) = (0, 0, Mono(1_000_000_000));
            for _ in 0..2000 {
                now = now + Duration::from_micros(random.below(4) * 500);
                let kind = Kind::ALL[random.below(2) as usize];
                let (before, len) = (counted, queued.len());
                for _ in 0..random.below(3) {
                    let free_at = permits.free_at(counted, kind);
                    let of_orders = queued.iter().filter(|(_, kind)| *kind == Kind::Order).count();
                    let full = is_full(messages, &accepted[0], queued.len(), now)
                        || kind == Kind::Order && is_full(orders, &accepted[1], of_orders, now);
                    assert_eq!(free_at > now, full, "seed {seed}: free at {free_at}, now {now}");
                    if !full {
                        end += 10;
                        permits.take(&mut counted, kind, end);
                        queued.push((end, kind));
                    }
                }
                permits.check(counted, end);
                match random.below(8) {
                    0 => {
                        // Rolled back.
                        end -= 10 * (queued.len() - len) as u64;
                        queued.truncate(len);
                        counted = before;
                    }
                    1 => {
                        // The connection ends, and its queue with it.
                        permits.forget_queued(&mut counted);
                        queued.clear();
                        position = end;
                    }
                    2..=5 => {
                        position = (position + random.below(25)).min(end);
                        permits.accept(counted, position, now);
                        queued.retain(|(end, kind)| {
                            let is_accepted = *end <= position;
                            if is_accepted {
                                accepted[0].push(now);
                                accepted[1].extend((*kind == Kind::Order).then_some(now));
                            }
                            !is_accepted
                        });
                    }
                    _ => {}
                }
            }
            for (rate, times) in [(messages, &accepted[0]), (orders, &accepted[1])] {
                let most = rate.messages as usize;
                assert!(times.len() > most, "seed {seed}: nothing is throttled");
                assert!(times.windows(most + 1).all(|w| w[most] - w[0] >= rate.window), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_place_is_free_exactly_one_window_after_its_message() {
        let mut permits = InboundPermits::new(Some(rate(2, 10)), 20).unwrap();
        let mut counted = Counted::default();
        let at = |micros: u64| Mono(1_000_000_000 + micros * 1000);
        let arrives = |permits: &mut InboundPermits, counted: &mut Counted, now: Mono| {
            permits.begin(now);
            let excess = permits.is_excess(*counted, permits.arrival(now));
            if !excess {
                permits.take(counted, permits.arrival(now));
            }
            permits.end(false);
            !excess
        };
        let times = [0, 4_000, 9_999, 10_000, 10_001, 13_999, 14_000, 20_000, 20_000];
        let accepted = times.map(|micros| arrives(&mut permits, &mut counted, at(micros)));
        assert_eq!(accepted, [true, true, false, true, false, false, true, true, false]);
    }

    #[test]
    fn what_waited_unread_is_judged_by_when_it_can_have_arrived() {
        let mut permits = InboundPermits::new(Some(rate(2, 10)), 20).unwrap();
        let mut counted = Counted::default();
        let at = |millis: u64| Mono(1_000_000_000 + millis * 1_000_000);
        permits.begin(at(0));
        permits.end(true);
        // Read 35 ms later: two in each 10 ms can have arrived since, and no more.
        permits.begin(at(35));
        let accepted = (0..20).filter(|_| {
            let may = !permits.is_excess(counted, permits.arrival(at(35)));
            if may {
                permits.take(&mut counted, permits.arrival(at(35)));
            }
            may
        });
        assert_eq!(accepted.count(), 8);
        permits.end(false);
        permits.begin(at(39));
        assert!(permits.is_excess(counted, permits.arrival(at(39))));
        permits.begin(at(40));
        assert!(!permits.is_excess(counted, permits.arrival(at(40))), "the last two can have arrived at 30");
    }

    #[test]
    fn times_at_the_end_of_the_clock_do_not_overflow() {
        let mut permits = OutboundPermits::new(Some(rate(1, 3_600_000)), None).unwrap();
        let mut counted = Counted { messages: u64::MAX - 3, ..Counted::default() };
        permits.messages.as_mut().unwrap().accepted = counted.messages;
        for _ in 0..2 {
            assert_eq!(permits.free_at(counted, Kind::Order), Mono(0));
            permits.take(&mut counted, Kind::Order, 1);
            assert_eq!(permits.free_at(counted, Kind::Order), Mono(u64::MAX));
            permits.accept(counted, 1, Mono(u64::MAX));
            assert_eq!(permits.free_at(counted, Kind::Order), Mono(u64::MAX));
            permits.messages.as_mut().unwrap().permits.permits.fill(Permit::UNUSED);
        }
    }
}
