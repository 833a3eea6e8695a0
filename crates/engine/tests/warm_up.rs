//! An engine whose sessions are warmed up sends what it sends otherwise.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fixbolt::session::SessionKey;
use fixbolt::store::{Intercept, Intercepted, MemoryStore, Record, Store, StoreError};
use fixbolt::{Engine, EngineBuilder};
use support::*;

/// Counts the records that were appended, committed or not.
struct Appended(Arc<AtomicU64>);

impl<S: Store> Intercept<S> for Appended {
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        store.append(session, record)
    }
}

/// Logs on, lets some time pass, and sends an order. Returns the answers' sequence numbers, and how
/// many records were appended before the order.
fn exchange(with: impl FnOnce(EngineBuilder) -> EngineBuilder) -> (Vec<String>, u64) {
    let appended = Arc::new(AtomicU64::new(0));
    let store = Intercepted::new(MemoryStore::new(), Appended(Arc::clone(&appended)));
    let builder = Engine::builder().accept(anywhere(), acceptor()).store(Box::new(store));
    let engine = with(builder).start(Recorder::venue().0).unwrap();
    let mut trader = Peer::connect(engine.addresses()[0]);
    trader.send("A", "98=0|108=30");
    let mut answers = vec![trader.receive()];
    std::thread::sleep(Duration::from_millis(100));
    let before = appended.load(Ordering::SeqCst);
    trader.send("D", "11=A");
    answers.push(trader.receive());
    trader.hears_nothing();
    drop(trader);
    engine.stop().unwrap();
    let number =
        |answer: String| answer.split('|').find(|field| field.starts_with("34=")).unwrap().to_owned();
    (answers.into_iter().map(number).collect(), before)
}

#[test]
fn sessions_are_warmed_up_on_request_only_and_nobody_sees_it() {
    let numbers = vec!["34=1".to_owned(), "34=2".to_owned()];
    // Both Logons.
    assert_eq!(exchange(|builder| builder), (numbers.clone(), 2));
    assert_eq!(exchange(|builder| builder.warm_up(true)), (numbers.clone(), 3));
    let (seen, appended) = exchange(|builder| builder.warm_up_interval(Duration::from_millis(1)));
    assert_eq!(seen, numbers);
    assert!(appended > 5, "{appended}");
}
