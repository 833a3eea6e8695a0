//! An initiator and an acceptor, connected to each other.

use core::time::Duration;

use fixbolt_session::{Application, Mono, Role, SessionSettings};

use super::session::TestSession;
use crate::error::EngineError;

/// An initiator and an acceptor, each with its application, joined by a connection that delivers at
/// once.
///
/// ```
/// use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody};
/// use fixbolt::session::{Application, Delivery, Event, Failure, Role, SessionSettings, Turn};
/// use fixbolt::testing::Pair;
///
/// /// Sends an order after the logon.
/// struct Trader;
///
/// impl Application for Trader {
///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         Ok(Delivery::Done)
///     }
///
///     fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
///         if matches!(event, Event::LoggedOn) {
///             let mut order = turn.session().draft(MsgType::new(b"D"));
///             order.writer().bytes(Key::new(11), b"ord1").bytes(Key::new(54), b"1");
///             order.writer().bytes(Key::new(60), b"20260105-09:00:00").bytes(Key::new(40), b"1");
///             order.send()?;
///         }
///         Ok(())
///     }
/// }
///
/// /// Counts orders.
/// #[derive(Default)]
/// struct Venue(usize);
///
/// impl Application for Venue {
///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         self.0 += 1;
///         Ok(Delivery::Done)
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let trader = SessionSettings::new("FIX.4.4:TRADER->VENUE".parse()?, Role::Initiator);
/// let venue = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
/// let mut pair = Pair::new((trader, Trader), (venue, Venue::default()))?;
/// pair.connect();
/// assert_eq!(pair.acceptor.app().0, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pair<I, A> {
    /// The side that connects.
    pub initiator: TestSession<I>,
    /// The side that accepts.
    pub acceptor: TestSession<A>,
}

impl<I: Application, A: Application> Pair<I, A> {
    /// Opens both sessions on stores in memory.
    ///
    /// # Errors
    /// [`EngineError`] if a setting is invalid.
    ///
    /// # Panics
    /// If the first settings are not an initiator's, or the second not an acceptor's.
    pub fn new(initiator: (SessionSettings, I), acceptor: (SessionSettings, A)) -> Result<Self, EngineError> {
        assert_eq!((initiator.0.role, acceptor.0.role), (Role::Initiator, Role::Acceptor));
        Ok(Self {
            initiator: TestSession::new(initiator.0, initiator.1)?,
            acceptor: TestSession::new(acceptor.0, acceptor.1)?,
        })
    }

    /// Connects the two, and exchanges messages until neither side has more to send.
    pub fn connect(&mut self) {
        self.acceptor.open_transport();
        self.initiator.open_transport();
        self.settle();
    }

    /// Exchanges messages until neither side has more to send. The connection is closed if a side
    /// requests that.
    pub fn settle(&mut self) {
        loop {
            let to_acceptor = self.initiator.take_bytes();
            self.acceptor.hear(&to_acceptor);
            let to_initiator = self.acceptor.take_bytes();
            self.initiator.hear(&to_initiator);
            if to_acceptor.is_empty() && to_initiator.is_empty() {
                break;
            }
        }
        if self.initiator.wants_close() || self.acceptor.wants_close() {
            self.disconnect();
        }
    }

    /// Closes the connection.
    pub fn disconnect(&mut self) {
        self.initiator.disconnect();
        self.acceptor.disconnect();
    }

    /// Advances the clock of both by `time`; everything that becomes due meanwhile happens at its
    /// time.
    pub fn advance(&mut self, time: Duration) {
        let until = self.initiator.now().mono + time;
        loop {
            let now = self.initiator.now().mono;
            let due = [self.initiator.next_deadline(), self.acceptor.next_deadline()];
            let due: Option<Mono> = due.into_iter().flatten().min().filter(|due| *due < until);
            let next = due.map_or(until, |due| due.max(now + Duration::from_millis(1)).min(until));
            self.initiator.pass(next - now);
            self.acceptor.pass(next - now);
            self.initiator.wake();
            self.acceptor.wake();
            self.settle();
            if next >= until {
                return;
            }
        }
    }
}
