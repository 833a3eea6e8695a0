//! One `[SESSION]` as typed values: what every used key means, which go together and which do not.

use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use fixbolt_codec::{Precision, Version};
use fixbolt_session::{Compatibility, MAX_MESSAGE_SIZE_BEFORE_LOGON, SessionId};

use super::error::{ConfigError, ConfigWarning, SourceLine};
use super::validation::Validation;
use super::value::{Settings, contradicts, wrong};

/// One session of a configuration file, every value parsed and checked.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SessionConfiguration {
    /// Where its section begins.
    pub place: SourceLine,
    /// Which session, or which sessions.
    pub identity: Identity,
    /// How the connection comes about.
    pub connection: ConnectionType,
    /// HeartBtInt in seconds; an acceptor takes the initiator's. 0: no heartbeats.
    pub heart_bt_int: u32,
    /// LogonTimeout: how long a Logon may take, sent or awaited.
    pub logon_timeout: Duration,
    /// LogoutTimeout: how long the answer to a Logout may take.
    pub logout_timeout: Duration,
    /// ResetOnLogon: numbers begin at 1 with each Logon.
    pub reset_on_logon: bool,
    /// ResetOnLogout: numbers begin at 1 after each Logout.
    pub reset_on_logout: bool,
    /// ResetOnDisconnect: numbers begin at 1 after each end of a connection.
    pub reset_on_disconnect: bool,
    /// CheckCompID: SenderCompID and TargetCompID of every message must be the session's.
    pub check_comp_id: bool,
    /// RequiresOrigSendingTime: a message with PossDupFlag=Y needs OrigSendingTime.
    pub requires_orig_sending_time: bool,
    /// MaxLatency: how far SendingTime may be from our clock; `None` with CheckLatency=N.
    pub max_latency: Option<Duration>,
    /// TimestampPrecision of the times we write.
    pub timestamp_precision: Precision,
    /// MaxMessageSize in bytes after logon.
    pub max_message_size: usize,
    /// Which engine's reactions the session reproduces.
    pub compatibility: Compatibility,
    /// FileStorePath: the directory that holds the session's journal; `None` keeps messages in memory.
    pub journal: Option<PathBuf>,
    /// PersistMessages: N keeps no messages, and gap-fills whatever is asked for.
    pub persist_messages: bool,
    /// DataDictionary: a dictionary in QuickFIX XML, FIX Orchestra or a compact table, or an overlay, instead of the shipped one.
    pub data_dictionary: Option<PathBuf>,
    /// What is checked of messages in each direction.
    pub validation: Validation,
    /// SocketNodelay: small messages leave at once.
    pub socket_nodelay: bool,
    /// Keys of this session and of the defaults that start with `X-`, without the prefix, as written after it.
    pub application: BTreeMap<String, String>,
}

/// Which session a section configures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Identity {
    /// This one.
    Fixed(SessionId),
    /// DynamicSession=Y: whichever initiator logs on. `None` stands for any.
    Dynamic {
        /// BeginString.
        version: Option<Version>,
        /// Our CompID.
        sender_comp_id: Option<String>,
        /// The counterparty's.
        target_comp_id: Option<String>,
    },
}

/// How the connection comes about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConnectionType {
    /// ConnectionType=acceptor.
    Acceptor {
        /// Where to listen; port 0 lets the system choose.
        listen: (IpAddr, u16),
        /// AllowedRemoteAddresses; empty for any.
        allowed: Vec<IpAddr>,
    },
    /// ConnectionType=initiator.
    Initiator {
        /// Hosts with ports, in the order in which they are tried. Names are resolved anew at each attempt.
        hosts: Vec<(String, u16)>,
        /// ReconnectInterval between attempts.
        reconnect_interval: Duration,
        /// SocketConnectTimeout of one attempt.
        connect_timeout: Duration,
    },
}

const DAY: u64 = 86_400;

/// The versions that sessions speak.
pub(crate) const SESSION_VERSIONS: [Version; 2] = [Version::Fix42, Version::Fix44];

impl SessionConfiguration {
    pub(super) fn read(
        settings: &Settings<'_>,
        warnings: &mut Vec<ConfigWarning>,
    ) -> Result<Self, ConfigError> {
        let acceptor = match settings.choice("ConnectionType", &[("acceptor", true), ("initiator", false)])? {
            Some(acceptor) => acceptor,
            None => return Err(missing(settings, "ConnectionType (acceptor or initiator)")),
        };
        let identity = identity(settings, acceptor)?;
        no_schedule(settings, warnings)?;
        let heart_bt_int = settings.number("HeartBtInt", 0..=86_400)?;
        if heart_bt_int.is_none() && !acceptor {
            return Err(missing(settings, "HeartBtInt (seconds), which an initiator decides"));
        }
        let connection = if acceptor { accept(settings)? } else { connect(settings)? };
        let journal = settings.text("FileStorePath")?.map(PathBuf::from);
        let persist_messages = settings.flag("PersistMessages", true)?;
        if let (true, false, Some(setting)) =
            (journal.is_some(), persist_messages, settings.find("PersistMessages"))
        {
            return Err(contradicts(
                setting,
                "PersistMessages=N keeps no journal, but FileStorePath names one",
            ));
        }
        let max_latency = settings.seconds("MaxLatency", 1..=DAY, 120)?;
        let dictionary = dictionary(settings)?;
        let compatibility = settings
            .choice(
                "Compatibility",
                &[
                    ("standard", Compatibility::Standard),
                    ("quickfix", Compatibility::QuickFix),
                    ("quickfixj", Compatibility::QuickFixJ),
                ],
            )?
            .unwrap_or_default();
        Ok(Self {
            place: settings.place().clone(),
            identity,
            connection,
            heart_bt_int: heart_bt_int.unwrap_or(30),
            logon_timeout: settings.seconds("LogonTimeout", 1..=DAY, 10)?,
            logout_timeout: settings.seconds("LogoutTimeout", 1..=DAY, 2)?,
            reset_on_logon: settings.flag("ResetOnLogon", false)?,
            reset_on_logout: settings.flag("ResetOnLogout", false)?,
            reset_on_disconnect: settings.flag("ResetOnDisconnect", false)?,
            check_comp_id: settings.flag("CheckCompID", true)?,
            requires_orig_sending_time: settings.flag("RequiresOrigSendingTime", true)?,
            max_latency: settings.flag("CheckLatency", true)?.then_some(max_latency),
            timestamp_precision: precision(settings)?,
            max_message_size: settings
                .number("MaxMessageSize", MAX_MESSAGE_SIZE_BEFORE_LOGON..=64 << 20)?
                .unwrap_or(64 << 10),
            compatibility,
            journal,
            persist_messages,
            data_dictionary: dictionary,
            validation: Validation::read(settings, compatibility)?,
            socket_nodelay: nodelay(settings)?,
            application: BTreeMap::new(),
        })
    }
}

fn missing(settings: &Settings<'_>, what: &str) -> ConfigError {
    let reason = format!("this session has no {what}");
    ConfigError::Missing { place: settings.place().clone(), reason }
}

fn identity(settings: &Settings<'_>, acceptor: bool) -> Result<Identity, ConfigError> {
    let mut dynamic = false;
    for key in ["DynamicSession", "AcceptorTemplate"] {
        if settings.flag(key, false)? {
            dynamic = true;
            if let (false, Some(setting)) = (acceptor, settings.find(key)) {
                return Err(contradicts(setting, format!("{key}=Y: only an acceptor takes any session")));
            }
        }
    }
    let version = match settings.find("BeginString") {
        Some(setting) if dynamic && setting.value == "*" => None,
        Some(setting) => {
            let version = setting.value.parse().ok().filter(|version| SESSION_VERSIONS.contains(version));
            Some(version.ok_or_else(|| wrong(setting, "FIX.4.2 or FIX.4.4"))?)
        }
        None => None,
    };
    let sender = settings.text("SenderCompID")?;
    let target = settings.text("TargetCompID")?;
    let qualifier = settings.text("SessionQualifier")?;
    if let (true, Some(setting)) = (acceptor, settings.find("SessionQualifier")) {
        let reason = "SessionQualifier: a Logon carries none, so an acceptor cannot tell such sessions apart";
        return Err(contradicts(setting, reason));
    }
    if dynamic {
        let named = |value: Option<&str>| value.filter(|value| *value != "*").map(str::to_owned);
        let (sender_comp_id, target_comp_id) = (named(sender), named(target));
        // The parts that are given must be parts that a session can have.
        let part = |value: &Option<String>| value.clone().unwrap_or_else(|| "ANY".to_owned());
        SessionId::new(version.unwrap_or(Version::Fix44), &part(&sender_comp_id), &part(&target_comp_id))
            .map_err(|e| ConfigError::Syntax { place: settings.place().clone(), reason: e.to_string() })?;
        return Ok(Identity::Dynamic { version, sender_comp_id, target_comp_id });
    }
    let version = version.ok_or_else(|| missing(settings, "BeginString"))?;
    let sender = sender.ok_or_else(|| missing(settings, "SenderCompID"))?;
    let target = target.ok_or_else(|| missing(settings, "TargetCompID"))?;
    SessionId::qualified(version, sender, target, qualifier.unwrap_or(""))
        .map(Identity::Fixed)
        .map_err(|e| ConfigError::Syntax { place: settings.place().clone(), reason: e.to_string() })
}

/// A schedule that nobody keeps would be a lie: only what means "always" is accepted.
fn no_schedule(settings: &Settings<'_>, warnings: &mut Vec<ConfigWarning>) -> Result<(), ConfigError> {
    let non_stop = settings.flag("NonStopSession", false)?;
    let (start, end) = (time_of_day(settings, "StartTime")?, time_of_day(settings, "EndTime")?);
    let setting = settings.find("StartTime").or_else(|| settings.find("EndTime"));
    match (start, end, setting) {
        (None, None, _) | (_, _, None) => Ok(()),
        (Some(_), None, Some(setting)) => Err(contradicts(setting, "StartTime is given without EndTime")),
        (None, Some(_), Some(setting)) => Err(contradicts(setting, "EndTime is given without StartTime")),
        (Some(_), Some(_), Some(setting)) if non_stop => {
            Err(contradicts(setting, "NonStopSession=Y has no StartTime and no EndTime"))
        }
        (Some(start), Some(end), Some(setting)) if start == end => {
            warnings.push(ConfigWarning {
                place: setting.place.clone(),
                key: setting.key.clone(),
                instead:
                    "the session never ends and numbers are not reset once a day; write NonStopSession=Y"
                        .to_owned(),
            });
            Ok(())
        }
        (Some(_), Some(_), Some(setting)) => Err(ConfigError::Unavailable {
            place: setting.place.clone(),
            key: "a session schedule (StartTime other than EndTime)".to_owned(),
            reason: "use NonStopSession=Y and start and stop the process",
        }),
    }
}

/// `HH:MM:SS` in seconds since midnight.
fn time_of_day(settings: &Settings<'_>, key: &str) -> Result<Option<u32>, ConfigError> {
    let Some(setting) = settings.find(key) else { return Ok(None) };
    let parts: Vec<&str> = setting.value.split(':').collect();
    let number = |part: &str, limit: u32| {
        let number = part.parse::<u32>().ok().filter(|n| *n < limit)?;
        (part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit())).then_some(number)
    };
    let time = match parts[..] {
        [h, m, s] => {
            number(h, 24).zip(number(m, 60)).zip(number(s, 60)).map(|((h, m), s)| h * 3600 + m * 60 + s)
        }
        _ => None,
    };
    time.map(Some).ok_or_else(|| wrong(setting, "a time as HH:MM:SS"))
}

fn accept(settings: &Settings<'_>) -> Result<ConnectionType, ConfigError> {
    for key in ["SocketConnectHost", "SocketConnectPort", "SocketConnectTimeout", "ReconnectInterval"] {
        if let Some(setting) = settings.find_own(key) {
            return Err(contradicts(
                setting,
                format!("{key} is an initiator's; this session is an acceptor"),
            ));
        }
    }
    let port = settings.number("SocketAcceptPort", 0..=u16::MAX)?;
    let port = port.ok_or_else(|| missing(settings, "SocketAcceptPort"))?;
    // QuickFIX/J says Address, quickfixgo says Host.
    let mut address = None;
    for key in ["SocketAcceptAddress", "SocketAcceptHost"] {
        let Some(setting) = settings.find(key) else { continue };
        let found = match setting.value.as_str() {
            name if name.eq_ignore_ascii_case("localhost") => IpAddr::V4(Ipv4Addr::LOCALHOST),
            value => value.parse().map_err(|_| wrong(setting, "an IP address of this machine"))?,
        };
        if address.replace(found).is_some_and(|other| other != found) {
            return Err(contradicts(setting, "SocketAcceptHost and SocketAcceptAddress differ"));
        }
    }
    let mut allowed = Vec::new();
    if let Some(setting) = settings.find("AllowedRemoteAddresses") {
        for part in setting.value.split(',') {
            allowed
                .push(part.trim().parse().map_err(|_| wrong(setting, "IP addresses with commas between"))?);
        }
    }
    let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    Ok(ConnectionType::Acceptor { listen: (address, port), allowed })
}

fn connect(settings: &Settings<'_>) -> Result<ConnectionType, ConfigError> {
    for key in ["SocketAcceptPort", "SocketAcceptHost", "SocketAcceptAddress", "AllowedRemoteAddresses"] {
        if let Some(setting) = settings.find_own(key) {
            return Err(contradicts(
                setting,
                format!("{key} is an acceptor's; this session is an initiator"),
            ));
        }
    }
    let mut hosts = Vec::new();
    for n in 0.. {
        let suffix = if n == 0 { String::new() } else { n.to_string() };
        let (host_key, port_key) =
            (format!("SocketConnectHost{suffix}"), format!("SocketConnectPort{suffix}"));
        let host = settings.text(&host_key)?;
        let port = settings.number(&port_key, 1..=u16::MAX)?;
        match (host, port) {
            (Some(host), Some(port)) => hosts.push((host.to_owned(), port)),
            (None, None) if n == 0 => {
                return Err(missing(settings, "SocketConnectHost and SocketConnectPort"));
            }
            (None, None) => break,
            (Some(_), None) => return Err(missing(settings, &port_key)),
            (None, Some(_)) => return Err(missing(settings, &host_key)),
        }
    }
    settings.numbers_end_at(&["SocketConnectHost", "SocketConnectPort"], hosts.len() - 1)?;
    Ok(ConnectionType::Initiator {
        hosts,
        reconnect_interval: settings.seconds("ReconnectInterval", 1..=DAY, 30)?,
        connect_timeout: settings.seconds("SocketConnectTimeout", 1..=DAY, 10)?,
    })
}

/// QuickFIX counts digits, QuickFIX/J names the unit, and MillisecondsInTimeStamp is the older switch of both.
fn precision(settings: &Settings<'_>) -> Result<Precision, ConfigError> {
    let millis = settings.flag("MillisecondsInTimeStamp", true)?;
    let names = [
        ("0", Precision::Seconds),
        ("3", Precision::Millis),
        ("6", Precision::Micros),
        ("9", Precision::Nanos),
        ("SECONDS", Precision::Seconds),
        ("MILLIS", Precision::Millis),
        ("MICROS", Precision::Micros),
        ("NANOS", Precision::Nanos),
    ];
    let named = settings.choice("TimestampPrecision", &names)?;
    Ok(named.unwrap_or(if millis { Precision::Millis } else { Precision::Seconds }))
}

fn dictionary(settings: &Settings<'_>) -> Result<Option<PathBuf>, ConfigError> {
    let path = settings.text("DataDictionary")?.map(PathBuf::from);
    if let (Some(setting), false) =
        (settings.find_own("DataDictionary"), settings.flag("UseDataDictionary", true)?)
    {
        return Err(contradicts(
            setting,
            "DataDictionary is named, but UseDataDictionary=N does not read it",
        ));
    }
    Ok(path)
}

fn nodelay(settings: &Settings<'_>) -> Result<bool, ConfigError> {
    let one = settings.optional_flag("SocketNodelay")?;
    let other = settings.optional_flag("SocketTcpNoDelay")?;
    match (one, other, settings.find("SocketTcpNoDelay")) {
        (Some(a), Some(b), Some(setting)) if a != b => {
            Err(contradicts(setting, "SocketNodelay and SocketTcpNoDelay differ"))
        }
        _ => Ok(one.or(other).unwrap_or(true)),
    }
}
