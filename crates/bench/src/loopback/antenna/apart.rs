//! Venue and trader in processes of their own, on one host or two.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::configurations::Configuration;
use super::sides::{Setup, Validation, Venue};
use super::trip::Trip;
use super::{Measured, Outcome, Settings, Subject, TEST, TITLE, table};
use crate::folder::Folder;
use crate::harness::{Control, Monotonic, Waiting, measure};
use crate::loopback::layout::{Layout, cores};
use crate::loopback::watch::Watch;
use crate::results::{Series, TestReport};

/// The venue's process.
#[derive(Clone, PartialEq, Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// The configuration.
    pub configuration: Configuration,
    /// What is validated.
    pub validation: Validation,
    /// The worker's core; empty for one that suits, if the configuration pins it.
    pub cores: Vec<usize>,
    /// The profile of Onload that the process runs with.
    pub onload_profile: Option<String>,
}

/// The trader's process.
#[derive(Clone, PartialEq, Debug)]
pub struct Client {
    /// The server's host and port.
    pub server: (String, u16),
    /// The configuration.
    pub configuration: Configuration,
    /// What is validated.
    pub validation: Validation,
    /// The cores of the worker and of the thread that puts orders; those that are missing are
    /// chosen, if the configuration pins them.
    pub cores: Vec<usize>,
    /// The profile of Onload that the process runs with.
    pub onload_profile: Option<String>,
    /// Rate, number and warm-up of the orders; one slice.
    pub settings: Settings,
}

fn layout(configuration: &Configuration, named: &[usize]) -> Layout {
    let layout = configuration.layout(&[]);
    let chosen = if configuration.is_pinned { cores().first().copied() } else { None };
    let core = named.first().copied().or(chosen);
    Layout { venue: core, trader: core, ..layout }
}

fn described(
    configuration: &Configuration,
    validation: Validation,
    layout: Layout,
    profile: Option<&String>,
) -> TestReport {
    let core = layout.venue.map_or_else(|| "not pinned".to_owned(), |core| format!("on core {core}"));
    let mut report = TestReport::new(TEST, TITLE)
        .setting("messages", "NOS-FA, ER-FA (FIX.4.2)")
        .setting("configuration", configuration.name)
        .setting("validation", validation.name())
        .setting("worker", format!("{}, {core}", layout.name()))
        .setting("onload profile", profile.map_or("none", String::as_str));
    if configuration.bypasses && profile.is_none() {
        report.notes.push(format!(
            "{} was published with Solarflare OpenOnload; this process runs without.",
            configuration.name
        ));
    }
    report
}

impl Server {
    /// Serves one client until it has logged out. `listening` is called with the address.
    ///
    /// # Errors
    /// Returns why it cannot listen, or what was wrong with an order or the journal.
    pub fn run(&self, control: &Control, listening: impl FnOnce(SocketAddr)) -> Result<TestReport, String> {
        let layout = layout(&self.configuration, &self.cores);
        let setup = Setup { configuration: self.configuration, validation: self.validation, layout };
        let (watch, folder) = (Watch::default(), Folder::new()?);
        let mut venue = Venue::new(&setup, &watch);
        let (answered, gone) = venue.apart();
        let side = setup.venue(self.address, folder.0.join("venue"), venue)?;
        listening(side.engine.addresses()[0]);
        control.begin("waiting for a client", 0);
        while !gone.load(Ordering::Acquire) && !control.is_stopped() {
            watch.check()?;
            std::thread::sleep(Duration::from_millis(20));
        }
        watch.end();
        let orders = answered.load(Ordering::Relaxed);
        let stopped = side.stop((orders, orders));
        if !control.is_stopped() {
            stopped?;
        }
        let profile = self.onload_profile.as_ref();
        let report = described(&self.configuration, self.validation, layout, profile);
        Ok(report.setting("side", "server").setting("orders answered", orders))
    }
}

impl Client {
    /// Connects to a server, and measures.
    ///
    /// # Errors
    /// Returns why the measurement is worthless, or was not possible.
    pub fn run(&self, control: &Control) -> Result<Outcome, String> {
        let layout = layout(&self.configuration, &self.cores);
        let setup = Setup { configuration: self.configuration, validation: self.validation, layout };
        let mut settings = Settings { slices: 1, ..self.settings.clone() };
        settings.configurations = vec![self.configuration];
        let sending = self.cores.get(1).copied();
        let mut plan = settings.plan();
        if sending.is_some() {
            plan = plan.waiting(Waiting::Spin);
        }
        let (host, port) = (&self.server.0, self.server.1);
        let trip = Trip::new(setup, plan.warm_up + plan.iterations);
        let mut trip = trip.to(host, port).sending_on(sending, cores());
        let runs = measure(&plan, &mut trip, &Monotonic, control)?;
        let subject = Subject::Fixbolt(setup);
        let series = Series::new(TEST, subject.engine(), subject.name(), runs);
        let times = vec![(format!("{} {}", series.engine, series.name), vec![trip.times(plan.warm_up)])];
        let measured = [Measured { subject, series }];
        let profile = self.onload_profile.as_ref();
        let mut report = described(&self.configuration, self.validation, layout, profile)
            .setting("side", "client")
            .setting("server", format!("{host}:{port}"))
            .setting("rate", settings.rate)
            .setting("orders", settings.messages)
            .setting("warm-up", settings.warm_up)
            .setting(
                "sending thread",
                sending.map_or_else(|| "not pinned".to_owned(), |core| format!("on core {core}, spinning")),
            );
        report
            .notes
            .push("Between two processes there is no raw TCP beside it: in one process there is.".to_owned());
        report.tables = table::of_one(&measured);
        report.rows = table::rows(&measured);
        report.notes.extend(table::notes(&measured));
        report.series = measured.into_iter().map(|it| it.series).collect();
        Ok(Outcome { report, times })
    }
}
