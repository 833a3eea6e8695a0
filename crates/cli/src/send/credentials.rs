//! Username and Password of the Logon.
//!
//! A password is read from a file only: a command line is seen by everybody on the machine, and is
//! kept by shells.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixbolt_cli::exit::Failure;
use fixbolt_cli::note;
use fixbolt_dictionary::Dictionary;
use fixbolt_session::{LogonFields, Secret};

use super::Arguments;

/// The most bytes of a file with a password.
const MOST: u64 = 64 * 1024;

/// Returns the fields of the Logon that the command line asks for.
///
/// # Errors
/// The Logon of the version has no such field, or the name or the file cannot be used.
pub(super) fn logon_fields(arguments: &Arguments, dictionary: &Dictionary) -> Result<LogonFields, Failure> {
    let mut fields = LogonFields::default();
    if let Some(username) = &arguments.username {
        check_field(dictionary, 553, "--username")?;
        if username.is_empty() || username.chars().any(char::is_control) {
            return Err(Failure::usage(
                "--username: a name has at least one character, and no control character",
            ));
        }
        fields.username.clone_from(username);
    }
    if let Some(file) = &arguments.password_file {
        check_field(dictionary, 554, "--password-file")?;
        fields.password = password(file)?;
    }
    Ok(fields)
}

fn check_field(dictionary: &Dictionary, tag: u32, option: &str) -> Result<(), Failure> {
    let logon = dictionary.message(b"A");
    if logon.is_some_and(|logon| dictionary.expand(&logon.members).any(|member| member.tag == tag)) {
        return Ok(());
    }
    let name = if tag == 553 { "Username" } else { "Password" };
    let version = &dictionary.version().name;
    Err(Failure::usage(format!(
        "{option}: the Logon of {version} has no {name} ({tag}), which there is since FIX.4.3"
    )))
}

/// Reads a password: the text of a file without its last line end.
fn password(path: &Path) -> Result<Secret, Failure> {
    let named = path.display();
    let failed = |error: io::Error| Failure::usage(format!("--password-file {named}: {error}"));
    let mut file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o044 != 0 {
        note!(
            "fixbolt: warning: --password-file {named}: others than its owner may read this password (mode {mode:04o}); run `chmod 600 {named}`"
        );
    }
    let mut text = String::new();
    file.by_ref().take(MOST + 1).read_to_string(&mut text).map_err(failed)?;
    let word = text.strip_suffix('\n').map_or(&*text, |line| line.strip_suffix('\r').unwrap_or(line));
    let wrong = match word {
        "" => "it is empty",
        _ if text.len() as u64 > MOST => "it is larger than 64 KiB",
        _ if word.chars().any(char::is_control) => {
            "it has a control character; write the password in one line, and nothing else"
        }
        _ => return Ok(Secret::new(word)),
    };
    Err(Failure::usage(format!("--password-file {named}: {wrong}")))
}
