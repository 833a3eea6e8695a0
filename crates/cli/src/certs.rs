//! `fixbolt certs`: certificates to try TLS with.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// Makes a certificate authority for tests, and a certificate with its key for each name.
///
/// The files are ca.pem, and NAME.pem and NAME.key for each name. A certificate has the name as its
/// common name (CN) and is for the hosts, for servers and for clients, and for a year. The
/// authority's own key is thrown away: nobody can make more of these certificates. Keys can be read
/// by their owner only.
///
/// Files that exist are not replaced.
///
/// Exit status: 0 made; 2 a file cannot be written.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt certs keys\n  fixbolt serve --tls --cert keys/FIXBOLT.pem --key keys/FIXBOLT.key --ca keys/ca.pem\n  fixbolt send D 55=IBM 54=1 38=100 40=1 --tls --ca keys/ca.pem --cert keys/CLIENT.pem --key keys/CLIENT.key\n\nCertificates for other counterparties, and for another host:\n  fixbolt certs keys --name VENUE --name TRADER --host venue.example"
)]
pub(crate) struct Arguments {
    /// The folder to put them in, which is made
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
    /// The names, such as CompIDs
    #[arg(long, value_name = "NAME", default_values_t = ["FIXBOLT".to_owned(), "CLIENT".to_owned()])]
    name: Vec<String>,
    /// The hosts, by name or address
    #[arg(long, value_name = "HOST", default_values_t = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()])]
    host: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    for name in &arguments.name {
        // Each is the name of a file.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.starts_with('.') || name == "ca" || !name.chars().all(is_plain) {
            return Err(Failure::usage(format!("--name {name}: write letters, digits, `-`, `_` and `.`")));
        }
    }
    let wrong = |error: &rcgen::Error| Failure::usage(format!("a certificate cannot be made: {error}"));
    let made = make(arguments).map_err(|error| wrong(&error))?;
    fs::create_dir_all(&arguments.directory).map_err(|error| failed(&arguments.directory, &error))?;
    let mut out = output::stdout();
    for File { name, text, is_secret } in made {
        let path = arguments.directory.join(name);
        write(&path, &text, is_secret).map_err(|error| failed(&path, &error))?;
        writeln!(out, "{}", path.display())?;
    }
    out.flush()?;
    Ok(Answer::Yes)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    let what_to_do = match error.kind() {
        io::ErrorKind::AlreadyExists => "; choose another folder, or remove the file",
        _ => "",
    };
    Failure::usage(format!("{}: {error}{what_to_do}", path.display()))
}

struct File {
    name: String,
    text: String,
    is_secret: bool,
}

/// Returns the authority's certificate, and certificate and key for each name.
fn make(arguments: &Arguments) -> Result<Vec<File>, rcgen::Error> {
    let mut authority = parameters("fixbolt test authority", &[])?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate()?;
    let text = authority.self_signed(&key)?.pem();
    let mut files = vec![File { name: "ca.pem".to_owned(), text, is_secret: false }];
    let issuer = Issuer::new(authority, key);
    for name in &arguments.name {
        let mut own = parameters(name, &arguments.host)?;
        own.use_authority_key_identifier_extension = true;
        own.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        own.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate()?;
        let text = own.signed_by(&key, &issuer)?.pem();
        files.push(File { name: format!("{name}.pem"), text, is_secret: false });
        files.push(File { name: format!("{name}.key"), text: key.serialize_pem(), is_secret: true });
    }
    Ok(files)
}

/// Returns the parameters of a certificate that is valid from the beginning of this month to that
/// of the same month in a year.
fn parameters(name: &str, hosts: &[String]) -> Result<CertificateParams, rcgen::Error> {
    let mut parameters = CertificateParams::new(hosts)?;
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (year, month) = year_and_month(now);
    parameters.not_before = rcgen::date_time_ymd(year, month, 1);
    parameters.not_after = rcgen::date_time_ymd(year + 1, month, 28);
    Ok(parameters)
}

/// Returns the year and the month of a time in seconds since 1970.
fn year_and_month(seconds: u64) -> (i32, u8) {
    let mut days = seconds / 86_400;
    let mut year = 1970;
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (i32::try_from(year).unwrap_or(i32::MAX), month)
}

fn write(path: &Path, text: &str, is_secret: bool) -> io::Result<()> {
    let mode = if is_secret { 0o600 } else { 0o644 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_that_of_the_time() {
        for (seconds, expected) in [
            (0, (1970, 1)),
            (1_709_164_800, (2024, 2)),
            (1_709_251_200, (2024, 3)),
            (1_795_442_555, (2026, 11)),
            (1_798_675_200, (2026, 12)),
        ] {
            assert_eq!(year_and_month(seconds), expected);
        }
    }
}
