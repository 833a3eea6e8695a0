//! An engine that its caller drives: on one thread, without a thread of its own.

mod support;

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody};
use fixbolt::session::{
    Application, Delivery, Event, Failure, Role, SessionId, SessionKey, SessionSettings, SessionState, Turn,
};
use fixbolt::store::{Intercept, Intercepted, MemoryStore, Position, Recovered, Store, StoreError};
use fixbolt::{
    Change, DrivenEngine, Engine, EngineError, Initiation, OperationError, PostError, WorkerOptions,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use support::*;

/// An application that cannot be sent to another thread.
struct Noting {
    seen: Rc<RefCell<Vec<String>>>,
    on: std::thread::ThreadId,
}

impl Application for Noting {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        assert_eq!(std::thread::current().id(), self.on);
        self.seen.borrow_mut().push(format!("{message:?}"));
        let mut reply = turn.session().draft(MsgType::new(b"8"));
        reply.writer().bytes(Key::new(11), b"answer");
        reply.send()?;
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::LoggedOn) {
            self.seen.borrow_mut().push("logged on".to_owned());
        }
        Ok(())
    }
}

fn noting() -> (Noting, Rc<RefCell<Vec<String>>>) {
    let seen = Rc::default();
    (Noting { seen: Rc::clone(&seen), on: std::thread::current().id() }, seen)
}

/// Drives an engine as a loop does: waits for its descriptor until its deadline, and then polls.
fn drive<A: Application>(engine: &mut DrivenEngine<A>, mut done: impl FnMut(&mut DrivenEngine<A>) -> bool) {
    let give_up = Instant::now() + Duration::from_secs(20);
    loop {
        match engine.poll() {
            Err(EngineError::Stopped) => return,
            polled => polled.unwrap(),
        }
        if done(engine) {
            return;
        }
        let wait = engine.next_deadline().saturating_duration_since(Instant::now());
        assert!(wait <= Duration::from_secs(1));
        assert!(Instant::now() < give_up, "it never happened");
        let wait = Timespec::try_from(wait).unwrap();
        poll(&mut [PollFd::new(&engine.as_fd(), PollFlags::IN)], Some(&wait)).unwrap();
    }
}

#[test]
fn both_sides_of_a_session_are_driven_by_one_thread() {
    let (venue, at_venue) = noting();
    let (trader, at_trader) = noting();
    let mut venue = Engine::builder().accept(anywhere(), acceptor()).driven(venue).unwrap();
    let address = venue.addresses()[0];
    let mut trader = Engine::builder()
        .connect(Initiation::new(initiator(), &address.ip().to_string(), address.port()))
        .driven(trader)
        .unwrap();
    drive(&mut venue, |_| {
        trader.poll().unwrap();
        at_venue.borrow().len() == 1 && at_trader.borrow().len() == 1
    });
    // A message that another part of the program leaves wakes the loop by the descriptor.
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    let mut draft = sender.draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), b"order");
    draft.send().unwrap();
    drive(&mut trader, |_| {
        venue.poll().unwrap();
        at_trader.borrow().len() == 2
    });
    assert!(at_venue.borrow()[1].contains("11=order"), "{at_venue:?}");
    assert!(at_trader.borrow()[1].contains("11=answer"), "{at_trader:?}");
    // Sessions can be added between the calls.
    let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let other = venue.accept(address, other).unwrap();
    assert_eq!(other.state(), SessionState::Disconnected);
    assert_eq!(venue.accept(address, acceptor()).unwrap_err().to_string().lines().count(), 1);
    // A change would wait for the very thread that asks for it.
    assert_eq!(other.enable(Change::new("jane", "test"), LIMIT), Err(OperationError::OwnThread));
    // Nor does a sender wait for room that only its own thread can make.
    let full = (0..).find_map(|_| {
        let mut draft = sender.within(Duration::from_secs(20)).draft(MsgType::new(b"B"));
        draft.writer().bytes(Key::new(58), &[b'x'; 4000]);
        draft.send().err()
    });
    assert_eq!(full, Some(PostError::Full));
    // Engines with threads of their own are as they always are.
    let other = Engine::builder().accept(anywhere(), acceptor()).start(Scripted::venue().0).unwrap();
    other.session(&acceptor().id).unwrap().enable(Change::new("jane", "test"), LIMIT).unwrap();
    other.stop().unwrap();
    let stopper = trader.stopper();
    stopper.stop();
    drive(&mut trader, |_| {
        venue.poll().unwrap();
        false
    });
    assert_eq!(trader.poll(), Err(EngineError::Stopped));
    trader.stop().unwrap();
    venue.stop().unwrap();
}

#[test]
fn other_threads_reach_a_driven_engine_and_wake_it() {
    let (app, log) = Scripted::venue();
    let mut venue = Engine::builder().accept(anywhere(), acceptor()).driven(app).unwrap();
    let (address, session, stopper) =
        (venue.addresses()[0], venue.session(&acceptor().id).unwrap(), venue.stopper());
    let other = std::thread::spawn(move || {
        let mut peer = Peer::connect(address);
        peer.log_on();
        peer.send("D", "11=ord");
        assert!(peer.receive().contains("|11=ord|"));
        session.send_test_request(LIMIT).unwrap();
        assert!(peer.receive().contains("|35=1|"));
        let mut sender = session.sender();
        // The loop sleeps for up to a second, unless it is woken.
        for n in 0..20 {
            let began = Instant::now();
            let mut draft = sender.draft(MsgType::new(b"8"));
            draft.writer().bytes(Key::new(11), format!("late{n}").as_bytes());
            draft.send().unwrap();
            assert!(peer.receive().contains(&format!("|11=late{n}|")));
            assert!(began.elapsed() < Duration::from_millis(500), "nobody has woken the loop");
        }
        stopper.stop();
        assert!(peer.receive().contains("|35=5|"));
        peer.send("5", "");
        assert_eq!(peer.try_receive(), None);
        Instant::now()
    });
    drive(&mut venue, |_| false);
    // The end is the loop's own doing: nobody wakes it for that.
    let closed = other.join().unwrap();
    assert!(closed.elapsed() < Duration::from_millis(500), "the loop has slept although it had ended");
    log.logged_on();
    venue.stop().unwrap();
}

#[test]
fn a_driven_engine_keeps_the_time_when_its_deadlines_are_kept() {
    let settings =
        acceptor().with(|s: &mut SessionSettings| s.timing.logout_timeout = Duration::from_millis(300));
    let (app, _log) = Scripted::venue();
    let mut venue = Engine::builder().accept(anywhere(), settings).driven(app).unwrap();
    let address = venue.addresses()[0];
    let other = std::thread::spawn(move || {
        let mut peer = Peer::connect(address);
        peer.send("A", "98=0|108=1");
        assert!(peer.receive().contains("|35=A|"));
        let began = Instant::now();
        assert!(peer.receive().contains("|35=0|"));
        let after = began.elapsed();
        assert!(after > Duration::from_millis(500), "{after:?}");
        peer
    });
    drive(&mut venue, |_| other.is_finished());
    // Nobody answers the Logout.
    let _peer = other.join().unwrap();
    venue.stop().unwrap();
}

#[test]
fn a_deadline_does_not_move_while_the_loop_does_other_things() {
    let (app, _log) = Scripted::venue();
    let mut venue = Engine::builder().accept(anywhere(), acceptor()).driven(app).unwrap();
    let address = venue.addresses()[0];
    let other = std::thread::spawn(move || {
        let mut peer = Peer::connect(address);
        peer.send("A", "98=0|108=1");
        assert!(peer.receive().contains("|35=A|"));
        assert!(peer.receive().contains("|35=0|"));
    });
    // A loop that other things wake up often: it polls only if the engine has asked for it.
    while !other.is_finished() {
        let wait = Timespec::try_from(Duration::from_millis(5)).unwrap();
        let readable = poll(&mut [PollFd::new(&venue.as_fd(), PollFlags::IN)], Some(&wait)).unwrap() > 0;
        if readable || venue.next_deadline() <= Instant::now() {
            venue.poll().unwrap();
        }
    }
    other.join().unwrap();
    venue.stop().unwrap();
}

#[test]
fn the_thread_that_makes_a_driven_engine_does_not_wait_for_it_before_the_first_poll() {
    let mut venue = Engine::builder().accept(anywhere(), acceptor()).driven(Scripted::venue().0).unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    assert_eq!(session.enable(Change::new("jane", "test"), LIMIT), Err(OperationError::OwnThread));
    // Another thread drives it from now on, and this one may wait.
    let done = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                venue.poll_for(Duration::from_millis(1)).unwrap();
            }
        });
        eventually(|| session.enable(Change::new("jane", "test"), LIMIT) == Ok(()));
        done.store(true, Ordering::SeqCst);
    });
    venue.stop().unwrap();
}

#[test]
fn a_store_that_panics_while_a_session_is_added_ends_a_driven_engine() {
    let store = Box::new(Intercepted::new(MemoryStore::new(), DyingLater(1)));
    let mut venue =
        Engine::builder().accept(anywhere(), acceptor()).store(store).driven(Scripted::venue().0).unwrap();
    let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let added = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        venue.accept(anywhere(), other.clone()).map(drop)
    }));
    assert_eq!(added.unwrap_err().downcast_ref(), Some(&"a store's mistake"));
    assert_eq!(venue.poll(), Err(EngineError::Panicked));
    assert_eq!(venue.accept(anywhere(), other).map(drop), Err(EngineError::Panicked));
    drop(venue);
}

/// A store that panics when it is to open one session more than this.
struct DyingLater(usize);

impl<S: Store> Intercept<S> for DyingLater {
    fn open(&mut self, store: &mut S, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.0 = self.0.checked_sub(1).unwrap_or_else(|| panic!("a store's mistake"));
        store.open(key, session)
    }
}

#[test]
fn a_driven_engine_that_is_dropped_closes_its_connections_and_journals() {
    let scratch = Scratch::new("driven");
    let (app, _log) = Scripted::venue();
    let builder = || Engine::builder().accept(anywhere(), acceptor()).journal(&scratch.0);
    let mut venue = builder().driven(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("A", "98=0|108=30");
    let session = venue.session(&acceptor().id).unwrap();
    drive(&mut venue, |_| session.state() == SessionState::LoggedOn);
    assert!(peer.receive().contains("|35=A|"));
    drop(venue);
    assert_eq!(session.state(), SessionState::Closed);
    assert_eq!(peer.try_receive(), None);
    // Its journal is free.
    let venue = builder().driven(Scripted::venue().0).unwrap();
    assert_eq!(venue.session(&acceptor().id).unwrap().next_in().0, 2);
}

#[test]
fn a_driven_engine_has_no_threads_to_configure_and_dies_with_its_store() {
    let builder = || Engine::builder().accept(anywhere(), acceptor());
    let said = "workers: an engine that is driven by its caller has no threads of its own";
    for builder in
        [builder().worker_cores([0]), builder().dedicated_worker(acceptor().id, WorkerOptions::default())]
    {
        assert_eq!(builder.driven(Scripted::venue().0).unwrap_err().to_string(), said);
    }
    let store = Box::new(Intercepted::new(MemoryStore::new(), Dying));
    let mut venue = builder().store(store).driven(Scripted::venue().0).unwrap();
    let session = venue.session(&acceptor().id).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("A", "98=0|108=30");
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        loop {
            venue.poll_for(Duration::from_millis(10)).unwrap();
        }
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"a store's mistake"));
    peer.closed_silently();
    assert_eq!(session.state(), SessionState::Closed);
    assert_eq!(venue.poll(), Err(EngineError::Panicked));
    assert_eq!(venue.stop().map(drop), Err(EngineError::Panicked));
}

/// A store that panics when it is to keep a record.
struct Dying;

impl<S: Store> Intercept<S> for Dying {
    fn begin(&mut self, _: &mut S) {
        panic!("a store's mistake");
    }
}

/// Counts what a store is asked for.
#[derive(Clone, Default)]
struct Counted(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    commits: u32,
    prepared: u32,
    /// How many steps there are to prepare.
    left: u32,
}

impl Counted {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap()
    }

    /// Returns the commits and the steps so far.
    fn counts(&self) -> (u32, u32) {
        let calls = self.calls();
        (calls.commits, calls.prepared)
    }
}

impl<S: Store> Intercept<S> for Counted {
    fn prepare(&mut self, _: &mut S) -> bool {
        let mut calls = self.calls();
        calls.prepared += 1;
        calls.left = calls.left.saturating_sub(1);
        calls.left > 0
    }

    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        self.calls().commits += 1;
        Ok(store.commit()?.position)
    }
}

#[test]
fn a_store_prepares_in_cycles_that_found_nothing_and_a_worker_that_sleeps_looks_for_them_now_and_then() {
    let counted = Counted::default();
    let store = Box::new(Intercepted::new(MemoryStore::new(), counted.clone()));
    let (app, _log) = Scripted::venue();
    let mut venue = Engine::builder().accept(anywhere(), acceptor()).store(store).driven(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("A", "98=0|108=30");
    // Returns the steps of a cycle: at most one, and none if there was anything else to do.
    let cycle = |venue: &mut DrivenEngine<_>| {
        let before = counted.counts();
        venue.poll().unwrap();
        let now = counted.counts();
        let (commits, prepared) = (now.0 - before.0, now.1 - before.1);
        assert!(prepared == 0 || (prepared == 1 && commits == 0), "{prepared} with {commits} commits");
        prepared
    };
    let sleeps = |venue: &DrivenEngine<_>| venue.next_deadline() > Instant::now();
    let session = venue.session(&acceptor().id).unwrap();
    eventually(|| {
        cycle(&mut venue);
        session.state() == SessionState::LoggedOn
    });
    peer.receive();
    eventually(|| cycle(&mut venue) == 1 && sleeps(&venue));
    // From here on it is woken for each message, and sleeps in between.
    let mut steps = |venue: &mut DrivenEngine<_>, n: u32| {
        peer.send("D", &format!("11=order{n}"));
        let wait = Timespec::try_from(Duration::from_secs(20)).unwrap();
        poll(&mut [PollFd::new(&venue.as_fd(), PollFlags::IN)], Some(&wait)).unwrap();
        let mut steps = cycle(venue);
        assert_eq!(steps, 0, "there was a message");
        while !sleeps(venue) {
            steps += cycle(venue);
        }
        assert!(peer.receive().contains(&format!("|11=order{n}|")));
        steps
    };
    let all: Vec<u32> = (0..64).map(|n| steps(&mut venue, n)).collect();
    let taken: u32 = all.iter().sum();
    assert!(all.iter().all(|steps| *steps <= 1) && (4..=16).contains(&taken), "{all:?}");
    // As long as there are steps left, it takes one each time.
    while steps(&mut venue, 64) == 0 {}
    counted.calls().left = 6;
    while steps(&mut venue, 65) == 0 {}
    let all: Vec<u32> = (66..74).map(|n| steps(&mut venue, n)).collect();
    assert_eq!(all, [1, 1, 1, 1, 1, 0, 0, 0]);
    venue.stop().unwrap();
}
