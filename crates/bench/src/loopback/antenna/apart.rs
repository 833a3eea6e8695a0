//! Venue and trader in processes of their own, on one host or two.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fixbolt_session::Role;
use fixbolt_workloads::harness::{Control, Monotonic, Waiting, measure};

use super::configurations::Configuration;
use super::sides::{Setup, Validation, Venue};
use super::trip::Trip;
use super::{Measured, Outcome, Settings, Subject, TEST, TITLE, pacing_words, table};
use crate::folder::Folder;
use crate::loopback::layout::{Layout, OnCores, allowed, cores};
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

/// Returns the layout of a side: of the cores that suit, the venue has the first one and the trader
/// the second one, as both may be on one host.
fn layout(configuration: &Configuration, named: &[usize], side: Role) -> Layout {
    let layout = configuration.layout(&[]);
    let suit = if configuration.is_pinned { cores() } else { Vec::new() };
    let chosen = match (side, &suit[..]) {
        (Role::Initiator, [_, second, ..]) => Some(*second),
        (_, suit) => suit.first().copied(),
    };
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
        .setting("workers", configuration.workers)
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
    /// Returns why it cannot listen, what was wrong with an order or the journal, or how the client
    /// went away without a Logout.
    pub fn run(&self, control: &Control, listening: impl FnOnce(SocketAddr)) -> Result<TestReport, String> {
        let layout = layout(&self.configuration, &self.cores, Role::Acceptor);
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
        watch.check()?;
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
        let layout = layout(&self.configuration, &self.cores, Role::Initiator);
        let setup = Setup { configuration: self.configuration, validation: self.validation, layout };
        let mut settings = Settings { slices: 1, ..self.settings.clone() };
        settings.configurations = vec![self.configuration];
        let sending = self.cores.get(1).copied();
        let mut plan = settings.plan();
        if sending.is_some() {
            plan = plan.waiting(Waiting::Spin);
        }
        let (host, port) = (&self.server.0, self.server.1);
        let all = allowed();
        let free = if self.configuration.is_pinned { layout.free(&all) } else { Vec::new() };
        let _apart = if sending.is_none() { OnCores::pin(&free, &all)? } else { None };
        let trip = Trip::new(setup, plan.warm_up + plan.iterations);
        let mut trip = trip.to(host, port).sending_on(sending, all.clone());
        let runs = measure(&plan, &mut trip, &Monotonic, control)?;
        let subject = Subject::Fixbolt(setup);
        let series = Series::new(TEST, subject.engine(), subject.name(), runs).message(super::MESSAGE);
        let times = vec![(format!("{} {}", series.engine, series.name), vec![trip.times(plan.warm_up)])];
        let measured = [Measured { subject, series }];
        let profile = self.onload_profile.as_ref();
        let mut report = described(&self.configuration, self.validation, layout, profile)
            .setting("side", "client")
            .setting("server", format!("{host}:{port}"))
            .setting("rate", settings.rate)
            .setting("orders", settings.messages)
            .setting("warm-up", settings.warm_up)
            .setting("pacing", pacing_words(plan.waiting))
            .setting(
                "sending thread",
                match sending {
                    Some(core) => format!("on core {core}"),
                    None if free.is_empty() => "not pinned".to_owned(),
                    None => "off the worker's core".to_owned(),
                },
            );
        report
            .notes
            .push("Between two processes there is no raw TCP beside it: in one process there is.".to_owned());
        report.tables = table::of_one(&measured);
        report.rows = table::rows(&measured, &all);
        report.notes.extend(table::notes(&measured, &all));
        report.series = measured.into_iter().map(|it| it.series).collect();
        Ok(Outcome { report, times })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use fixbolt_codec::{Key, MsgType, SeqNum};

    use super::super::messages::{PARTIES, VERSION};
    use super::*;
    use fixbolt_workloads::wire::Encoder;

    #[test]
    fn both_sides_on_one_host_have_a_core_each() {
        let hard = Configuration::named("Optimized.hard").unwrap();
        let core = |side| layout(&hard, &[], side).venue;
        assert_eq!(core(Role::Acceptor), cores().first().copied());
        assert_eq!(core(Role::Acceptor) == core(Role::Initiator), cores().len() < 2);
        assert_eq!(layout(&hard, &[5], Role::Initiator).trader, Some(5));
        let default = Configuration::named("Default").unwrap();
        assert_eq!(layout(&default, &[], Role::Initiator).trader, None);
    }

    #[test]
    fn a_server_says_that_its_client_went_away_without_a_logout() {
        let server = Server {
            address: "127.0.0.1:0".parse().unwrap(),
            configuration: Configuration::named("Default").unwrap(),
            validation: Validation::Chosen,
            cores: Vec::new(),
            onload_profile: None,
        };
        let served = server.run(&Control::default(), |address| {
            let (trader, venue) = PARTIES;
            let version = VERSION.begin_string().as_bytes();
            let mut encoder = Encoder::new(version, trader.as_bytes(), venue.as_bytes()).unwrap();
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            let (now, mut slot) = (now.as_nanos() as u64, [0; 512]);
            let logon = encoder.encode(&mut slot, MsgType::new(b"A"), SeqNum(1), now, |body| {
                body.bytes(Key::new(98), b"0").bytes(Key::new(108), b"30").bytes(Key::new(141), b"Y");
            });
            let mut client = TcpStream::connect(address).unwrap();
            client.write_all(&slot[logon.unwrap()]).unwrap();
            assert!(client.read(&mut [0; 512]).unwrap() > 0);
        });
        assert_eq!(
            served.unwrap_err(),
            "the venue's session ended: the connection was lost without a Logout"
        );
    }

    #[test]
    fn a_client_that_is_turned_away_asks_whether_the_server_has_another_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = Client {
            server: (address.ip().to_string(), address.port()),
            configuration: Configuration::named("Default").unwrap(),
            validation: Validation::Chosen,
            cores: Vec::new(),
            onload_profile: None,
            settings: Settings::default(),
        };
        let closing = std::thread::spawn(move || drop(listener.accept()));
        let error = client.run(&Control::default()).unwrap_err();
        closing.join().unwrap();
        assert!(error.starts_with(&format!("no session with {address}: ")), "{error}");
        assert!(error.ends_with("has it no other client?"), "{error}");
    }
}
