//! From the settings of a builder to a running engine: workers with open sessions, and ports.

use core::fmt;
use core::net::SocketAddr;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use fixbolt_session::{Application, OpenError, SessionId, SessionSettings, Sessions, WorkerWaker};
use mio::net::TcpListener;
use mio::{Poll, Waker};

use super::{EngineBuilder, Stores};
use crate::acceptance::Acceptance;
use crate::distribution::Distribution;
use crate::driven::DrivenEngine;
use crate::engine::Engine;
use crate::error::{EngineError, ListenError};
use crate::initiation::Initiation;
use crate::memory;
use crate::message_log::MessageLog;
use crate::ports::Port;
use crate::preparation;
use crate::session_check::check_log_name;
use crate::session_registry::SessionRegistry;
use crate::settings_error::SettingsError;
use crate::team::Team;
use crate::tier::choose_tier;
use crate::tls::PeerRules;
use crate::waiting::{WorkerOptions, check_cores, too_many};
use crate::worker::Worker;
use crate::worker::event_source::EventSource;
use crate::worker_signal::WorkerSignal;
use crate::workers_error::WorkersError;

/// The most sessions that can get their worker's attention at once without additional cost.
const SIGNAL_PLACES: usize = 4096;
/// The index of an inbound message has room for messages of at least this size, in bytes.
const MIN_INDEXED_SIZE: usize = 64 * 1024;

impl EngineBuilder {
    /// Opens journals and ports and starts one worker thread.
    ///
    /// The application sees its sessions' journals (`on_resume`) before this returns.
    ///
    /// # Errors
    /// [`EngineError`], one line that says what is wrong and where: a port in use, a journal that
    /// another process holds, a configuration that asks for several workers, ...
    pub fn start<A: Application + Send + 'static>(self, app: A) -> Result<Engine<A>, EngineError> {
        let mut app = Some(app);
        self.run(1, &mut |_| app.take())
    }

    /// Starts several shared worker threads (at least one), and the dedicated ones, each with an
    /// application of its own, which `app` makes from the worker's index, from 0.
    ///
    /// A session belongs to one worker for as long as it is open: a dedicated one, or the shared
    /// one that had the fewest sessions when it was added, in the order in which they are named.
    /// Sessions that [`EngineBuilder::together`] names belong to one worker. It does not matter
    /// which worker accepts a connection: once its Logon has named the session, the connection
    /// moves to the session's worker. A session of [`EngineBuilder::accept_any`] belongs to the
    /// shared worker that had the fewest connections when its first one was accepted.
    ///
    /// A worker that dies because a store has panicked ends its own sessions only, with an error
    /// that names them. Their connections are refused until the engine is started again.
    ///
    /// # Errors
    /// [`EngineError`], one line that says what is wrong and where, for example a port in use or a
    /// journal that another process holds; [`EngineError::Workers`] if `together` or `dedicated`
    /// names an unknown session, if several workers would share one store, if a configuration asks
    /// for another number of workers, or if they cannot be pinned to the cores named.
    pub fn start_with<A: Application + Send + 'static>(
        self,
        workers: usize,
        mut app: impl FnMut(usize) -> A,
    ) -> Result<Engine<A>, EngineError> {
        self.run(workers.max(1), &mut |worker| Some(app(worker)))
    }

    /// Opens journals and ports, and leaves it to the caller to drive the engine.
    ///
    /// # Errors
    /// [`EngineError`], one line that says what is wrong and where, for example a port in use or a
    /// journal that another process holds; [`EngineError::Workers`] if a configuration asks for
    /// several workers, or if cores or dedicated workers are named: there are no threads.
    pub fn driven<A: Application>(self, app: A) -> Result<DrivenEngine<A>, EngineError> {
        if !self.cores.is_empty() || !self.dedicated.is_empty() {
            return Err(EngineError::Workers(WorkersError::NoThreads));
        }
        let mut app = Some(app);
        let Assembled { mut workers, team, registry, .. } = self.assemble(1, &mut |_| app.take())?;
        let (mut worker, mut app) = workers.pop().ok_or(EngineError::NoSessions)?;
        team.workers()[0].drive_here();
        worker.begin(&mut app);
        Ok(DrivenEngine::new(worker, app, team, registry))
    }

    fn run<A: Application + Send + 'static>(
        self,
        shared: usize,
        app: &mut dyn FnMut(usize) -> Option<A>,
    ) -> Result<Engine<A>, EngineError> {
        let Assembled { workers, cores, team, registry } = self.assemble(shared, app)?;
        Engine::spawn(workers, cores, team, registry).map_err(system("starting a worker thread"))
    }

    /// Makes the workers, opens journals and ports, and starts nothing.
    fn assemble<A: Application>(
        self,
        shared: usize,
        app: &mut dyn FnMut(usize) -> Option<A>,
    ) -> Result<Assembled<A>, EngineError> {
        let mut ready = self.prepare(shared)?;
        let mut apps = Vec::with_capacity(ready.workers.len());
        for n in 0..ready.workers.len() {
            apps.push(app(n).ok_or(EngineError::Workers(WorkersError::OneApplication))?);
        }
        ready.open(&mut apps.iter_mut().map(|app| app as &mut dyn Application).collect::<Vec<_>>())?;
        let Ready { workers, cores, team, registry, .. } = ready;
        Ok(Assembled { workers: workers.into_iter().zip(apps).collect(), cores, team, registry })
    }

    /// Checks everything and makes the workers, without sessions.
    ///
    /// From here to the open ports nothing knows the application's type: it is compiled once, not
    /// in each program for each of its applications.
    fn prepare(mut self, shared: usize) -> Result<Ready, EngineError> {
        let Plan { options, bound, places } = self.plan(shared).map_err(Refused::first)?;
        if !self.keep_going {
            self.check_session_limit()?;
        }
        if self.lock_memory {
            memory::lock().map_err(|error| EngineError::lock_memory(&error))?;
        }
        if let Some(directory) = self.message_log.take() {
            let log = MessageLog::start(&directory)
                .map_err(|error| EngineError::message_log(&directory, &error))?;
            self.observer = Some(log.beside(self.observer.take()));
        }
        let registry = Arc::new(SessionRegistry::new(
            self.limits.sessions,
            self.outbound_queue_size,
            self.outbound_queue_budget,
        ));
        registry.tls().leave_out_keys(self.are_doubts_told);
        let (team, workers) = self.workers(&options, shared, &registry)?;
        let cores = options.iter().map(|worker| worker.core).collect();
        Ok(Ready { builder: self, shared, bound, places, workers, cores, team, registry })
    }

    /// Checks what can be checked before anything is opened, and decides what runs where.
    ///
    /// # Errors
    /// Everything that is wrong; with `keep_going`, what does not concern single sessions.
    pub(super) fn plan(&mut self, shared: usize) -> Result<Plan, Refused> {
        let mut refused = Refused { keep_going: self.keep_going, errors: Vec::new() };
        if self.acceptances.is_empty() && self.templates.is_empty() && self.initiations.is_empty() {
            refused.errors.push(EngineError::NoSessions);
        }
        if let Some(configured) = self.workers.filter(|workers| *workers != shared) {
            let error = WorkersError::NotAsConfigured { configured, started: shared };
            refused.errors.push(EngineError::Workers(error));
        }
        let options = refused.unless(self.worker_options(shared).map_err(EngineError::Workers));
        refused.unless(self.give_settings_of_addresses());
        self.check_binding(&mut refused);
        let bound = self.bound();
        let are_logged = self.message_log.is_some();
        prepare(&mut self.acceptances, &mut self.initiations, are_logged, &mut refused);
        refused.unless(choose_tier());
        let places = refused
            .unless(self.distribute().map_err(EngineError::Workers))
            .map(|distribution| distribution.workers(shared));
        match (options, places) {
            (Some(options), Some(places)) if refused.errors.is_empty() => Ok(Plan { options, bound, places }),
            _ => Err(refused),
        }
    }

    /// Returns the settings of every session, those that are accepted first.
    fn settings(&self) -> impl Iterator<Item = &SessionSettings> {
        let accepted = self.acceptances.iter().map(|(_, acceptance)| &acceptance.settings);
        accepted.chain(self.initiations.iter().map(|session| &session.settings))
    }

    /// Checks that there are no more sessions than the limit allows.
    ///
    /// # Errors
    /// [`EngineError::Open`] of the first session that is one too many.
    pub(super) fn check_session_limit(&self) -> Result<(), EngineError> {
        let most = self.limits.sessions.all;
        match self.settings().nth(most) {
            Some(beyond) => Err(EngineError::open(beyond.id.clone(), OpenError::TooManySessions { most })),
            None => Ok(()),
        }
    }

    /// Gives the sessions of an address its TLS and its proxies, unless they have their own.
    ///
    /// # Errors
    /// [`EngineError::Listen`] if no session is accepted there: those that were meant would have
    /// neither.
    fn give_settings_of_addresses(&mut self) -> Result<(), EngineError> {
        let sessions = self
            .acceptances
            .iter_mut()
            .map(|(at, session)| (at, &mut session.tls, &mut session.proxy_protocol_from));
        let templates = self.templates.iter_mut().map(|(at, any)| (at, &mut any.tls, &mut any.proxies));
        for (address, tls, proxies) in sessions.chain(templates) {
            if tls.is_none() {
                *tls = last_of(&self.tls, address);
            }
            if proxies.is_empty() {
                *proxies = last_of(&self.proxies, address).unwrap_or_default();
            }
        }
        let accepted =
            self.acceptances.iter().map(|(at, _)| at).chain(self.templates.iter().map(|(at, _)| at));
        let accepted: HashSet<&SocketAddr> = accepted.collect();
        let tls = self.tls.iter().map(|(at, _)| (at, "TLS"));
        let mut named = tls.chain(self.proxies.iter().map(|(at, _)| (at, "proxies")));
        match named.find(|(address, _)| !accepted.contains(address)) {
            None => Ok(()),
            Some((address, of)) => {
                Err(EngineError::Listen { address: *address, error: ListenError::NoSession { of } })
            }
        }
    }

    /// Returns the options of each worker, the shared ones first. Warns if too many of them spin.
    fn worker_options(&self, shared: usize) -> Result<Vec<WorkerOptions>, WorkersError> {
        let named = self.cores.len();
        if named > 0 && named != shared {
            return Err(WorkersError::Cores { workers: shared, named });
        }
        let waiting = self.waiting;
        let shared = (0..shared).map(|n| WorkerOptions { waiting, core: self.cores.get(n).copied() });
        let options: Vec<_> = shared.chain(self.dedicated.iter().map(|(_, worker)| *worker)).collect();
        let (found, most) = (options.len(), usize::from(u16::MAX));
        if found > most {
            return Err(WorkersError::TooMany { most, found });
        }
        if found > 1 && matches!(self.store, Stores::One(_)) {
            return Err(WorkersError::OneStore);
        }
        check_cores(&options)?;
        if let (false, Some(warning)) = (self.are_doubts_told, too_many(&options)) {
            tracing::warn!("{warning}");
        }
        Ok(options)
    }

    /// Determines which sessions belong together.
    fn distribute(&self) -> Result<Distribution, WorkersError> {
        let mut distribution = Distribution::default();
        for SessionSettings { id, .. } in self.settings() {
            distribution.add(id);
        }
        for sessions in &self.together {
            distribution.join(sessions)?;
        }
        for (n, (session, _)) in self.dedicated.iter().enumerate() {
            distribution.dedicate(session, n)?;
        }
        Ok(distribution)
    }

    /// Creates the workers, without sessions.
    fn workers(
        &mut self,
        options: &[WorkerOptions],
        shared: usize,
        registry: &Arc<SessionRegistry>,
    ) -> Result<(Arc<Team>, Vec<Worker>), EngineError> {
        let places = self.limits.sessions.all.clamp(1, SIGNAL_PLACES);
        let mut polls = Vec::with_capacity(options.len());
        let mut signals = Vec::with_capacity(options.len());
        for _ in options {
            let poll = Poll::new().map_err(system("creating the event queue"))?;
            let waker = Waker::new(poll.registry(), EventSource::Waker.token())
                .map_err(system("creating the waker"))?;
            signals.push(Arc::new(WorkerSignal::new(waker, places)));
            polls.push(poll);
        }
        let team = Arc::new(Team::new(signals, shared));
        let mut workers = Vec::with_capacity(options.len());
        for ((number, poll), WorkerOptions { waiting, .. }) in (0..).zip(polls).zip(options) {
            let sessions = self.sessions(number, Arc::clone(&team.workers()[usize::from(number)]));
            let member = (number, Arc::clone(&team));
            let registry = Arc::clone(registry);
            workers.push(Worker::new(sessions, (poll, *waiting), member, registry, self.limits));
        }
        Ok((team, workers))
    }

    /// Opens every session on its worker, and binds the ports of those that are accepted. Returns
    /// the sockets of these.
    fn open_sessions(
        &mut self,
        places: &HashMap<SessionId, usize>,
        workers: &mut [Worker],
        apps: &mut [&mut dyn Application],
        registry: &SessionRegistry,
    ) -> Result<Vec<(Port, TcpListener)>, EngineError> {
        let keep_going = self.keep_going;
        let ports = registry.ports();
        let mut sockets = Vec::new();
        let mut sessions_had = 0;
        for (address, acceptance) in core::mem::take(&mut self.acceptances) {
            let id = acceptance.settings.id.clone();
            let n = places[&id];
            let opened = ports.open_at(address, |port| workers[n].accept_at(port, acceptance, &mut *apps[n]));
            let had = or_left_out(keep_going, &id, opened)?;
            sessions_had += usize::from(had.is_some());
            sockets.extend(had.flatten());
        }
        for (address, template) in core::mem::take(&mut self.templates) {
            let opened = ports.open_at(address, |port| {
                ports
                    .agree(port, &template.proxies, template.tls.as_ref(), registry.tls())
                    .map_err(|faults| EngineError::listen_for_sessions(address, faults.to_string()))?;
                ports.add_template(port, template);
                Ok(())
            });
            let had = or_left_out(keep_going, &"any counterparty", opened)?;
            sessions_had += usize::from(had.is_some());
            sockets.extend(had.flatten());
        }
        for initiation in core::mem::take(&mut self.initiations) {
            let id = initiation.settings.id.clone();
            let n = places[&id];
            let opened = workers[n].connect_for(initiation, &mut *apps[n]);
            sessions_had += usize::from(or_left_out(keep_going, &id, opened)?.is_some());
        }
        if sessions_had == 0 { Err(EngineError::NoSessions) } else { Ok(sockets) }
    }

    /// Returns the core of a worker, without sessions.
    fn sessions(&mut self, number: u16, signal: Arc<WorkerSignal>) -> Sessions {
        let sizes = self.settings().map(|settings| settings.limits.max_message_size);
        let largest = sizes.fold(MIN_INDEXED_SIZE, usize::max);
        let store = self.store.take(usize::from(number));
        let mut sessions = Sessions::new(store, largest)
            .on_worker(number, signal as Arc<dyn WorkerWaker>)
            .with_outbound_queue(self.outbound_queue_size);
        if let Some(every) = self.warm_up {
            sessions = sessions.warmed_up(every);
        }
        if let Some(observer) = &self.observer {
            sessions = sessions.observed_by(Arc::clone(observer));
        }
        match &self.before_send {
            Some(hook) => sessions.before_send(Arc::clone(hook)),
            None => sessions,
        }
    }
}

/// What is decided before anything is opened.
pub(super) struct Plan {
    /// The options of each worker, the shared ones first.
    options: Vec<WorkerOptions>,
    /// The rules about certificates of the sessions that are accepted.
    bound: Vec<(SocketAddr, SessionId, PeerRules)>,
    /// The worker of each session.
    places: HashMap<SessionId, usize>,
}

/// What is wrong before anything is opened.
#[derive(Debug)]
pub(super) struct Refused {
    /// Whether a session that cannot be opened is left out.
    keep_going: bool,
    pub(super) errors: Vec<EngineError>,
}

impl Refused {
    /// Returns the error with which the start fails.
    fn first(self) -> EngineError {
        self.errors.into_iter().next().unwrap_or(EngineError::NoSessions)
    }

    /// Returns what there is, unless it is an error.
    fn unless<T>(&mut self, result: Result<T, EngineError>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    /// Notes that a session cannot be opened, or leaves it out.
    pub(super) fn session(&mut self, session: &dyn fmt::Display, error: EngineError) {
        if let Err(error) = or_left_out::<()>(self.keep_going, session, Err(error)) {
            self.errors.push(error);
        }
    }
}

/// The parts of an engine, before its sessions are open.
struct Ready {
    builder: EngineBuilder,
    /// How many of the workers are shared: the first ones.
    shared: usize,
    /// The rules about certificates of the sessions that are accepted.
    bound: Vec<(SocketAddr, SessionId, PeerRules)>,
    /// The worker of each session.
    places: HashMap<SessionId, usize>,
    workers: Vec<Worker>,
    /// The core of each worker.
    cores: Vec<Option<usize>>,
    team: Arc<Team>,
    registry: Arc<SessionRegistry>,
}

impl Ready {
    /// Opens the sessions on their workers, of which each has its application, and the ports.
    fn open(&mut self, apps: &mut [&mut dyn Application]) -> Result<(), EngineError> {
        let Self { builder, workers, places, registry, .. } = self;
        let sockets = builder.open_sessions(places, workers, apps, registry)?;
        for (address, id, rules) in self.bound.drain(..) {
            registry.ports().bind_left_out(address, &id, rules);
        }
        // A port has a shared worker, in rotation.
        for (n, (port, socket)) in sockets.into_iter().enumerate() {
            workers[n % self.shared].listen(port, socket)?;
        }
        if memory::is_locked() {
            registry.pages().prepare(places.len());
        }
        // Those of sessions that are added later were not told.
        registry.tls().leave_out_keys(false);
        Ok(())
    }
}

/// The parts of an engine, before it runs.
struct Assembled<A> {
    /// Each with its application.
    workers: Vec<(Worker, A)>,
    /// The core of each worker.
    cores: Vec<Option<usize>>,
    team: Arc<Team>,
    registry: Arc<SessionRegistry>,
}

/// Returns what was set last for an address.
fn last_of<T: Clone>(set: &[(SocketAddr, T)], address: &SocketAddr) -> Option<T> {
    set.iter().rev().find(|(at, _)| at == address).map(|(_, value)| value.clone())
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> EngineError {
    move |error| EngineError::system(doing, &error)
}

/// Returns what could be opened; `None` if it is left out.
fn or_left_out<T>(
    keep_going: bool,
    session: &dyn fmt::Display,
    result: Result<T, EngineError>,
) -> Result<Option<T>, EngineError> {
    match result {
        Ok(had) => Ok(Some(had)),
        Err(error) if keep_going => {
            tracing::error!(%session, error = %format_args!("{error:#}"), "the session is left out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Checks every session before anything is opened, and fills in the shipped dictionaries.
fn prepare(
    acceptances: &mut Vec<(SocketAddr, Acceptance)>,
    initiations: &mut Vec<Initiation>,
    are_logged: bool,
    refused: &mut Refused,
) {
    let mut known = HashSet::new();
    let mut keep = |id: &SessionId, result: Result<(), EngineError>| {
        result.map_err(|error| refused.session(id, error)).is_ok()
    };
    let mut once = |settings: &SessionSettings| match known.insert(settings.id.clone()) {
        true if are_logged => {
            check_log_name(&settings.id).map_err(|error| preparation::wrong(&settings.id, error))
        }
        true => Ok(()),
        false => Err(preparation::wrong(&settings.id, SettingsError::Twice)),
    };
    let mut accepted: Vec<(SocketAddr, SessionId)> = Vec::new();
    acceptances.retain_mut(|(address, acceptance)| {
        let id = acceptance.settings.id.clone();
        let others = accepted.iter().filter(|(at, _)| at == address).map(|(_, other)| other);
        let checked = once(&acceptance.settings)
            .and_then(|()| preparation::prepare_acceptance(acceptance))
            .and_then(|()| preparation::check_unambiguous(&id, others));
        let is_kept = keep(&id, checked);
        accepted.extend(is_kept.then_some((*address, id)));
        is_kept
    });
    initiations.retain_mut(|initiation| {
        let id = initiation.settings.id.clone();
        keep(&id, once(&initiation.settings).and_then(|()| preparation::prepare_initiation(initiation)))
    });
}
