//! The two configurations, and the engines that they describe.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use fixbolt::config::{Configuration, ConnectionType};
use fixbolt::{Engine, EngineBuilder};

use super::client::Client;
use super::progress::{Progress, Told};
use super::server::Server;

/// The configuration of the client, unless a file is named.
pub const CLIENT: &str = include_str!("client.cfg");
/// The configuration of the server, unless a file is named.
pub const SERVER: &str = include_str!("server.cfg");

/// Reads a configuration of one session: a file, or else `text`, which is one of the supplied ones.
/// The session must connect if `connects`, and accept otherwise.
///
/// # Errors
/// Returns the mistakes, with file and line.
pub fn configuration(file: Option<&Path>, text: &str, connects: bool) -> Result<Configuration, String> {
    let read = match file {
        Some(file) => Configuration::from_file(file),
        None => Configuration::from_text("hftest", text),
    };
    let configuration = read.map_err(|mistakes| mistakes.to_string())?;
    let place = file.map_or_else(|| "hftest".to_owned(), |file| file.display().to_string());
    let [session] = configuration.sessions.as_slice() else {
        return Err(format!(
            "{place}: the test has one session, the file has {}",
            configuration.sessions.len()
        ));
    };
    if matches!(session.connection, ConnectionType::Initiator(_)) != connects {
        let needed = if connects { "initiator" } else { "acceptor" };
        return Err(format!("{place}: the session must have ConnectionType={needed}"));
    }
    Ok(configuration)
}

/// Returns where the session connects to or listens, as text.
#[must_use]
pub fn address(configuration: &Configuration) -> String {
    match configuration.sessions.first().map(|session| &session.connection) {
        Some(ConnectionType::Acceptor { listen, .. }) => listen.to_string(),
        Some(ConnectionType::Initiator(initiation)) => {
            let hosts: Vec<String> =
                initiation.hosts.iter().map(|(host, port)| format!("{host}:{port}")).collect();
            hosts.join(", ")
        }
        _ => String::new(),
    }
}

/// Changes where the session connects to or listens.
///
/// # Errors
/// Returns an error if the session listens and `host` is not an IP address.
pub fn set_address(configuration: &mut Configuration, host: &str, port: u16) -> Result<(), String> {
    for session in &mut configuration.sessions {
        match &mut session.connection {
            ConnectionType::Acceptor { listen, .. } => {
                let ip: IpAddr = host
                    .parse()
                    .map_err(|_| format!("{host} is not an IP address, which a server needs to listen"))?;
                *listen = SocketAddr::new(ip, port);
            }
            ConnectionType::Initiator(initiation) => {
                initiation.hosts = vec![(host.to_owned(), port)];
                initiation.local_addresses.truncate(1);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Starts the server.
///
/// # Errors
/// Returns why the engine does not start.
pub fn start_server(
    configuration: &Configuration,
    seed: u64,
    told: Sender<Told>,
) -> Result<Engine<Server>, String> {
    let builder = EngineBuilder::from_config(configuration);
    builder.start_with(1, |_| Server::new(seed, told.clone())).map_err(|error| format!("{error:#}"))
}

/// Starts the client, which connects at once.
///
/// # Errors
/// Returns why the engine does not start.
pub fn start_client(
    configuration: &Configuration,
    progress: &Arc<Progress>,
    told: Sender<Told>,
) -> Result<Engine<Client>, String> {
    let builder = EngineBuilder::from_config(configuration);
    builder
        .start_with(1, |_| Client::new(Arc::clone(progress), told.clone()))
        .map_err(|error| format!("{error:#}"))
}
