//! A counterparty over TLS that is far away, and what strangers send in place of a handshake.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};

use crate::peer::Peer;
use crate::server::Server;

/// The alert close_notify, as a client sends it that has not begun.
pub(crate) const CLOSE_NOTIFY: [u8; 7] = [21, 3, 1, 0, 2, 1, 0];

fn client(roots: RootCertStore, version: &'static SupportedProtocolVersion) -> ClientConnection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .expect("the versions are known")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("it is a name");
    ClientConnection::new(Arc::new(config), name).expect("the settings are complete")
}

/// Returns a ClientHello: a server answers with a signature.
pub(crate) fn hello() -> Vec<u8> {
    let mut bytes = Vec::new();
    client(RootCertStore::empty(), &TLS13).write_tls(&mut bytes).expect("memory takes all of it");
    bytes
}

/// Logs on at the port with TLS, as a client whose packets need half of this time each way: each of
/// its answers comes this long after what it answers. Its handshake is that of TLS 1.2, which takes
/// two round trips, or of TLS 1.3.
///
/// # Errors
/// That the server closed the connection, or does not answer the Logon.
pub(crate) fn log_on(server: &Server, name: &str, away: Duration, is_old: bool) -> io::Result<()> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(server.authority()).expect("`fixbolt certs` has made it");
    roots.add(authority).expect("it is an authority");
    let mut tls = client(roots, if is_old { &TLS12 } else { &TLS13 });
    let mut peer = Peer::new(TcpStream::connect(&server.attacked)?, name, "VENUE");
    let logon = peer.message("35=A|98=0|108=30|141=Y");
    tls.write_tls(&mut peer.stream)?;
    while tls.is_handshaking() {
        read(&mut tls, &peer.stream)?;
        if !tls.is_handshaking() {
            tls.writer().write_all(&logon)?;
        }
        if tls.wants_write() {
            std::thread::sleep(away);
        }
        write(&mut tls, &peer.stream)?;
    }
    let mut answer = Vec::new();
    while !answer.windows(6).any(|bytes| bytes == b"\x0135=A\x01") {
        read(&mut tls, &peer.stream)?;
        let mut bytes = [0; 4096];
        match tls.reader().read(&mut bytes) {
            Ok(count) => answer.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn read(tls: &mut ClientConnection, mut stream: &TcpStream) -> io::Result<()> {
    if tls.read_tls(&mut stream)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    tls.process_new_packets().map_err(io::Error::other)?;
    Ok(())
}

fn write(tls: &mut ClientConnection, mut stream: &TcpStream) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(&mut stream)?;
    }
    Ok(())
}
