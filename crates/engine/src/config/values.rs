//! Values as text, and what each form means for a session.

use core::time::Duration;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use fixbolt_codec::Version;
use fixbolt_dictionary::Encoding;
use fixbolt_session::{CompIds, DelayMultiplier, LogonFields, Rate, Secret, SessionSettings};

use super::draft::Draft;
use super::engine::EngineConfiguration;
use super::paths::path_of;
pub(super) use super::refusal::Refusal;
use crate::network::Network;
use crate::session_check::unspoken;
use crate::waiting::{Waiting, check_named_once};

/// The version of a dictionary: one of the standard, under its own name.
pub(super) fn version_name(name: &mut Option<String>, value: &str) -> Result<(), Refusal> {
    let version: Version = value.parse().map_err(|_| Refusal::Form)?;
    *name = Some(version.name().to_owned());
    Ok(())
}

pub(super) fn encoding(encoding: &mut Option<Encoding>, value: &str) -> Result<(), Refusal> {
    *encoding = Some(value.parse().map_err(|_| Refusal::Form)?);
    Ok(())
}

/// The form of a CompID.
pub(super) const COMP_ID: &str = "1 to 64 printable ASCII characters";

pub(super) fn version(draft: &mut Draft, value: &str) -> Result<(), Refusal> {
    if value == "*" {
        return Ok(());
    }
    let version: Version = value.parse().map_err(|_| Refusal::Form)?;
    draft.version = Some(version);
    match unspoken(version) {
        Some(error) => Err(Refusal::Unavailable(format!(
            "{error}; leave the session out, or start the others with `fixbolt serve --keep-going`"
        ))),
        None => Ok(()),
    }
}

/// Reads a version with a value in ApplVerID, by that value or by name.
pub(super) fn default_appl_ver_id(draft: &mut Draft, value: &str) -> Result<(), Refusal> {
    let named = Version::from_appl_ver_id(value.as_bytes()).or_else(|| value.parse().ok());
    let version = named.filter(|version| version.appl_ver_id().is_some()).ok_or(Refusal::Form)?;
    draft.settings.default_appl_ver_id = Some(version);
    Ok(())
}

pub(super) fn comp_id(part: &mut Option<String>, value: &str) -> Result<(), Refusal> {
    CompIds::new(value).map_err(|_| Refusal::Form)?;
    *part = Some(value.to_owned());
    Ok(())
}

pub(super) fn accepted_heart_bt_int(draft: &mut Draft, value: &str) -> Result<(), Refusal> {
    draft.settings.timing.accepted_heart_bt_int = value.parse().map_err(|_| Refusal::Form)?;
    Ok(())
}

/// The values that a field of a Logon may have.
pub(super) const LOGON_TEXT: &str = "at least one character, and no control character such as a line end";

pub(super) fn logon_text(field: &mut String, value: &str) -> Result<(), Refusal> {
    if value.is_empty() || value.chars().any(char::is_control) {
        return Err(Refusal::Form);
    }
    value.clone_into(field);
    Ok(())
}

pub(super) fn secret(field: &mut Secret, value: &str) -> Result<(), Refusal> {
    let mut text = String::new();
    logon_text(&mut text, value)?;
    *field = Secret::new(text);
    Ok(())
}

/// The form of LogonTag. The tags that are excluded are [`LogonFields::can_have`]'s.
pub(super) const LOGON_TAG: &str = "TAG=VALUE, with a tag of the body that the session does not write itself (for SubIDs see TargetSubID) and no control character";

pub(super) fn logon_tag(draft: &mut Draft, value: &str) -> Result<(), Refusal> {
    let (tag, value) = value.split_once('=').ok_or(Refusal::Form)?;
    let tag = whole_number(tag, 1, u64::from(u32::MAX)).and_then(|tag| u32::try_from(tag).ok());
    let logon = &mut draft.settings.logon;
    match tag.ok_or(Refusal::Form)? {
        553 => logon_text(&mut logon.username, value),
        554 => secret(&mut logon.password, value),
        925 => secret(&mut logon.new_password, value),
        96 => secret(&mut logon.raw_data, value),
        tag if LogonFields::can_have(tag) => {
            let mut field = Secret::default();
            secret(&mut field, value)?;
            logon.others.push((tag, field));
            Ok(())
        }
        _ => Err(Refusal::Form),
    }
}

/// The form of a multiple of HeartBtInt.
pub(super) const MULTIPLIER: &str = "a number from 0 to 10 with at most two decimals";

pub(super) fn multiplier(value: &str) -> Result<DelayMultiplier, Refusal> {
    value.parse().map_err(|_| Refusal::Form)
}

/// The form of a rate.
pub(super) const RATE: &str = "0; messages in a second, 1 to 100000; or MESSAGES/MILLISECONDS, such as 10/250, in a window of 1 to 3600000 ms";

pub(super) fn rate(rate: &mut Option<Rate>, value: &str) -> Result<(), Refusal> {
    *rate = if value == "0" { None } else { Some(value.parse().map_err(|_| Refusal::Form)?) };
    Ok(())
}

/// The form of MaskedTags. Those that are excluded are [`SessionSettings::can_be_masked`]'s.
pub(super) const MASKED_TAGS: &str = "none, or tags separated by commas, without those that the session itself writes (8, 9, 10, 34, 35, 43, 49, 52, 56, 122, 369)";

pub(super) fn masked_tags(draft: &mut Draft, value: &str) -> Result<(), Refusal> {
    draft.settings.masked_tags = match value {
        "none" => Vec::new(),
        tags => {
            let masked = |tag: &u32| *tag > 0 && SessionSettings::can_be_masked(*tag);
            let tag = |text: &str| text.trim().parse::<u32>().ok().filter(masked);
            tags.split(',').map(tag).collect::<Option<_>>().ok_or(Refusal::Form)?
        }
    };
    Ok(())
}

pub(super) use super::groups_as_sent::FORM as GROUPS_AS_SENT;

pub(super) fn groups_as_sent(draft: &mut Draft, value: &str) -> Result<(), Refusal> {
    draft.groups_as_sent = value.parse().map_err(|_| Refusal::Form)?;
    Ok(())
}

pub(super) fn path(path: &mut Option<PathBuf>, value: &str) -> Result<(), Refusal> {
    *path = Some(path_of(value));
    Ok(())
}

pub(super) fn listen(draft: &mut Draft, value: &str) -> Result<(), Refusal> {
    draft.address = local_ip(value).ok_or(Refusal::Form)?;
    Ok(())
}

/// The form of a host.
pub(super) const HOST: &str = "a host's name or address";

/// Returns what a value that is no host's name or address should have been. `port_key` is the key
/// of its port.
pub(super) fn no_host(value: &str, port_key: &str) -> Option<String> {
    // The zone of an address of IPv6 is whatever the system calls its interfaces.
    let is_v6 = |value: &str| value.split('%').next().is_some_and(|ip| ip.parse::<Ipv6Addr>().is_ok());
    let bare = |value: &str| {
        let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        inner.filter(|inner| is_v6(inner)).map(str::to_owned)
    };
    if let Some(address) = bare(value) {
        return Some(format!("the address without brackets, {address}"));
    }
    if value.is_empty() || value.parse::<IpAddr>().is_ok() || is_v6(value) {
        return None;
    }
    if value.contains("://") {
        return Some("a host's name or address alone, without a scheme such as tcp://".to_owned());
    }
    if let Some((host, port)) = value.rsplit_once(':')
        && let Some(port) = whole_number(port, 1, 65_535)
    {
        let host = bare(host).unwrap_or_else(|| host.to_owned());
        return Some(format!("a host's name or address alone, {host}; the port is {port_key}={port}"));
    }
    let is_of_a_name =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') || !byte.is_ascii();
    (!value.bytes().all(is_of_a_name)).then(|| HOST.to_owned())
}

/// The form of an address of this machine.
pub(super) const LOCAL_IP: &str = "an IP address of this machine, or localhost";

/// Reads an address of this machine; one of IPv6 may be in brackets. Those of groups and of
/// everybody are nobody's.
pub(super) fn local_ip(value: &str) -> Option<IpAddr> {
    if value.eq_ignore_ascii_case("localhost") {
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let bracketed = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let ip: IpAddr = match bracketed {
        Some(inner) => inner.parse::<Ipv6Addr>().ok()?.into(),
        None => value.parse().ok()?,
    };
    (!ip.is_multicast() && ip != IpAddr::V4(Ipv4Addr::BROADCAST)).then_some(ip)
}

/// The form of SocketTrafficClass.
pub(super) const TRAFFIC_CLASS: &str =
    "0 to 255, or IPTOS_LOWCOST, IPTOS_RELIABILITY, IPTOS_THROUGHPUT, IPTOS_LOWDELAY joined by |";

/// Reads a traffic class: a number, or names of bits.
pub(super) fn traffic_class(class: &mut Option<u8>, value: &str) -> Result<(), Refusal> {
    const NAMES: [(&str, u8); 4] = [
        ("IPTOS_LOWCOST", 0x02),
        ("IPTOS_RELIABILITY", 0x04),
        ("IPTOS_THROUGHPUT", 0x08),
        ("IPTOS_LOWDELAY", 0x10),
    ];
    let named = |text: &str| {
        let name = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim()));
        name.map(|(_, bit)| *bit)
    };
    let number = whole_number(value, 0, 255).and_then(|number| u8::try_from(number).ok());
    let bits = || value.split(['|', ',']).map(named).try_fold(0, |bits, bit| Some(bits | bit?));
    *class = Some(number.or_else(bits).ok_or(Refusal::Form)?);
    Ok(())
}

pub(super) fn addresses(addresses: &mut Vec<IpAddr>, value: &str) -> Result<(), Refusal> {
    let named = value.split(',').map(|part| part.trim().parse());
    *addresses = named.collect::<Result<_, _>>().map_err(|_| Refusal::Form)?;
    Ok(())
}

/// The form of ProxyProtocolFrom.
pub(super) const NETWORKS: &str = "IP addresses and networks, such as 10.1.0.0/28, separated by commas";

pub(super) fn networks(networks: &mut Vec<Network>, value: &str) -> Result<(), Refusal> {
    let named = value.split(',').map(|part| part.trim().parse());
    *networks = named.collect::<Result<_, _>>().map_err(|_| Refusal::Form)?;
    Ok(())
}

/// The form of WorkerWaiting.
pub(super) const WAITING: &str =
    "blocking, spinning, or how many microseconds to spin before blocking, 1 to 1000000";

pub(super) fn waiting(waiting: &mut Waiting, value: &str) -> Result<(), Refusal> {
    *waiting = waiting_of(value).ok_or(Refusal::Form)?;
    Ok(())
}

/// Sets that messages are kept in memory on purpose.
pub(super) fn store(engine: &mut EngineConfiguration, value: &str) -> Result<(), Refusal> {
    engine.store_in_memory = value.eq_ignore_ascii_case("memory");
    if engine.store_in_memory { Ok(()) } else { Err(Refusal::Form) }
}

fn waiting_of(value: &str) -> Option<Waiting> {
    let words = [("blocking", Waiting::Blocking), ("spinning", Waiting::Spinning)];
    let named = words.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(value));
    let time = || whole_number(value, 1, 1_000_000).map(Duration::from_micros).map(Waiting::SpinningFor);
    named.map(|(_, waiting)| waiting).or_else(time)
}

/// The form of DedicatedWorker.
pub(super) const DEDICATED: &str =
    "N, blocking, spinning, or how many microseconds to spin before blocking, 1 to 1000000";

pub(super) fn dedicated(worker: &mut Option<Waiting>, value: &str) -> Result<(), Refusal> {
    *worker = match flag(value) {
        Some(false) => None,
        _ => Some(waiting_of(value).ok_or(Refusal::Form)?),
    };
    Ok(())
}

/// The form of WorkerCores.
pub(super) const CORES: &str = "numbers of cores separated by commas";

pub(super) fn cores(cores: &mut Vec<usize>, value: &str) -> Result<(), Refusal> {
    let core =
        |text: &str| whole_number(text.trim(), 0, u64::MAX).and_then(|core| usize::try_from(core).ok());
    let named: Vec<usize> = value.split(',').map(core).collect::<Option<_>>().ok_or(Refusal::Form)?;
    check_named_once(named.iter().copied().enumerate())
        .map_err(|error| Refusal::Unavailable(error.to_string()))?;
    *cores = named;
    Ok(())
}

/// Reads Y or N.
pub(super) fn flag(value: &str) -> Option<bool> {
    let flags = [("Y", true), ("N", false)];
    flags.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(value)).map(|(_, on)| on)
}

/// Reads a whole number within a range.
pub(super) fn whole_number(value: &str, from: u64, to: u64) -> Option<u64> {
    // FromStr accepts a leading '+', which no engine writes.
    let digits = value.bytes().all(|b| b.is_ascii_digit());
    value.parse().ok().filter(|number| digits && (from..=to).contains(number))
}

/// Reads a number with a unit of time, such as `5s` of quickfixgo, as a whole number of `unit`.
pub(super) fn without_unit(value: &str, unit: &str) -> Option<u64> {
    let one = [("milliseconds", 1), ("seconds", 1000)].into_iter().find(|(name, _)| *name == unit)?.1;
    let (number, suffix) = value.split_at(value.find(|c: char| !c.is_ascii_digit())?);
    let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
    let each = units.into_iter().find(|(name, _)| *name == suffix)?.1;
    let all = number.parse::<u64>().ok()?.checked_mul(each)?;
    all.is_multiple_of(one).then_some(all / one)
}

/// Returns the number in `Name12` for the name `Name`; the first number is 1.
pub(super) fn number_after(key: &str, name: &str) -> Option<usize> {
    let digits = key.get(name.len()..).filter(|_| key[..name.len()].eq_ignore_ascii_case(name))?;
    let all = !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| all)
}
