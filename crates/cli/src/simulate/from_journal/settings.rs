//! The settings of a replayed session: those of its configuration, or defaults with what its
//! journal shows.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fixbolt::config::{
    CheckedConfiguration, CompIdsTemplate, ConnectionType, IdentityTemplate, SessionConfiguration,
    SubIdTemplate,
};
use fixbolt_cli::exit::Failure;
use fixbolt_codec::{Precision, Version, byte_sum};
use fixbolt_dictionary::{Action, ApplicationVersion, Check, DictionarySet, Validator, shipped};
use fixbolt_session::store::{Record, RecordFlags, RecordKind};
use fixbolt_session::{
    AcceptedHeartBtInt, CompIds, FixtDictionaries, Role, SessionDictionary, SessionId, SessionSettings,
    TestMessageIndicator, TooLowAtLogon, WhileLoggedOff,
};

use super::turn::Turn;
use super::wire::{msg_type, number, time, value};
use crate::check_config::refused;

/// Settings, and where they come from, in words.
pub(super) struct Chosen {
    pub(super) settings: SessionSettings,
    pub(super) from: String,
}

/// Returns the settings of session `id` in a configuration.
pub(super) fn configured(file: &Path, id: &SessionId) -> Result<Chosen, Failure> {
    let checked = CheckedConfiguration::from_file(file);
    let configuration = checked.whole().map_err(|mistakes| refused(&mistakes))?;
    let makes_it = |session: &&SessionConfiguration| match &session.connection {
        ConnectionType::Acceptor { dynamic_session: Some(template), .. } => is_for(template, id),
        _ => false,
    };
    let sessions = &configuration.sessions;
    let found = sessions.iter().find(|session| session.id() == Some(id));
    let found = found.or_else(|| sessions.iter().find(makes_it));
    let Some(session) = found else {
        return Err(Failure::usage(format!(
            "{}: there is no session {id}, whose journal this is; leave out --config, or name the file with its settings",
            file.display()
        )));
    };
    let mut settings = session.settings().clone();
    settings.id = id.clone();
    // What was sent again by then depended on the socket: the recorded answers say what was
    // refused.
    (settings.resend.max_resend_range, settings.resend.max_resends) = (None, None);
    if settings.dictionary == SessionDictionary::Shipped {
        settings.dictionary = dictionary(id.version(), settings.default_appl_ver_id);
    }
    Ok(Chosen { settings, from: format!("settings of {}", session.place) })
}

/// Returns whether a template makes this session.
fn is_for(template: &IdentityTemplate, id: &SessionId) -> bool {
    let fits_id = |only: &SubIdTemplate, named: Option<&str>| match only {
        SubIdTemplate::Only(only) => named == Some(only),
        SubIdTemplate::Ignored => named.is_none(),
        _ => true,
    };
    let fits = |side: &CompIdsTemplate, named: &CompIds| {
        side.comp_id.as_deref().is_none_or(|only| only == named.comp_id())
            && fits_id(&side.sub_id, named.sub_id())
            && fits_id(&side.location_id, named.location_id())
    };
    template.version.is_none_or(|only| only == id.version())
        && fits(&template.sender, id.sender())
        && fits(&template.target, id.target())
}

/// Returns the shipped dictionary, as an engine chooses it.
fn dictionary(version: Version, default: Option<Version>) -> SessionDictionary {
    if version != Version::Fixt11 {
        return SessionDictionary::Own(Arc::new(Validator::new(shipped(version))));
    }
    let set = default.and_then(|default| {
        let id = ApplicationVersion::new(default.appl_ver_id()?);
        DictionarySet::new(shipped(version).clone()).ok()?.with(id, shipped(default)).ok()
    });
    set.map_or(SessionDictionary::None, |set| {
        SessionDictionary::Fixt(Arc::new(FixtDictionaries::new(set.validators())))
    })
}

/// Returns the default settings of session `id`, with what its journal shows.
pub(super) fn derived(turns: &[Turn<'_>], id: &SessionId) -> Chosen {
    let records = || turns.iter().flat_map(|turn| turn.records());
    let is_logon = |record: &&Record<'_>| is_message(record) && msg_type(record.body) == b"A";
    let role = match records().find(is_logon).map(|record| record.kind) {
        Some(RecordKind::Outbound) => Role::Initiator,
        _ => Role::Acceptor,
    };
    let mut shown = Shown::default();
    let mut settings = SessionSettings::new(id.clone(), role).with(|s| {
        s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
        s.validation.test_message_indicator = TestMessageIndicator::Any;
        s.resend.while_logged_off = WhileLoggedOff::Keep;
        s.resend.allow_pos_dup = true;
    });
    let by_both = |kind| move |record: &&Record<'_>| record.kind == kind && is_logon(record);
    let (ours, theirs) =
        (records().find(by_both(RecordKind::Outbound)), records().find(by_both(RecordKind::Inbound)));
    if let Some(ours) = ours.map(|record| record.body) {
        let heart_bt_int = number(ours, 108).and_then(|seconds| u32::try_from(seconds).ok());
        settings.timing.heart_bt_int = heart_bt_int.unwrap_or(settings.timing.heart_bt_int);
        let theirs = theirs.and_then(|record| value(record.body, 108));
        settings.timing.heart_bt_int_override = role == Role::Acceptor && theirs != value(ours, 108);
        shown.add(format!("HeartBtInt={}", settings.timing.heart_bt_int));
        if let Some(size) = number(ours, 383).and_then(|size| usize::try_from(size).ok()) {
            settings.limits.max_message_size = size.clamp(8192, 16 << 20);
            settings.limits.outbound_buffer_size =
                settings.limits.outbound_buffer_size.max(4 * settings.limits.max_message_size);
            shown.add(format!("MaxMessageSize={}", settings.limits.max_message_size));
        }
        if value(ours, 789).is_some() {
            settings.resend.send_next_expected_msg_seq_num = true;
            shown.add("SendNextExpectedMsgSeqNum=Y".to_owned());
        }
        if value(ours, 464) == Some(b"Y") {
            settings.validation.test_message_indicator = TestMessageIndicator::Test;
        }
    }
    if id.version() == Version::Fixt11 {
        let named =
            |record: Option<&Record<'_>>| value(record?.body, 1137).and_then(Version::from_appl_ver_id);
        let version = named(ours).or_else(|| named(theirs)).unwrap_or(Version::Fix50Sp2);
        settings.default_appl_ver_id = Some(version);
        shown.add(format!("DefaultApplVerID={version}"));
    }
    settings.dictionary = dictionary(id.version(), settings.default_appl_ver_id);
    // A Reject about SendingTime shows that it was compared.
    let compares = records().any(|record| {
        record.kind == RecordKind::Outbound
            && msg_type(record.body) == b"3"
            && value(record.body, 373) == Some(b"10")
    });
    for record in records() {
        match record.kind {
            RecordKind::Outbound => {
                if value(record.body, 369).is_some() && !settings.resend.enable_last_msg_seq_num_processed {
                    settings.resend.enable_last_msg_seq_num_processed = true;
                    shown.add("EnableLastMsgSeqNumProcessed=Y".to_owned());
                }
            }
            RecordKind::Inbound => {
                received(record, &mut settings, &mut shown);
                if !compares {
                    delayed(record, &mut settings, &mut shown);
                }
            }
            RecordKind::Reset | RecordKind::Adjust => reason(record.body, &mut settings, &mut shown),
            RecordKind::Attempt | RecordKind::Waiting | RecordKind::Dropped => {}
        }
    }
    let digits = records().find(|record| record.kind == RecordKind::Outbound).and_then(|record| {
        let fraction = value(record.body, 52)?.split(|byte| *byte == b'.').nth(1);
        u8::try_from(fraction.map_or(0, <[u8]>::len)).ok()
    });
    if let Some(digits) = digits.filter(|digits| *digits != settings.timing.timestamp_precision.digits())
        && id.version() >= Version::Fix42
    {
        settings.timing.timestamp_precision = match digits {
            0 => Precision::Seconds,
            1..=3 => Precision::Millis,
            4..=6 => Precision::Micros,
            7..=9 => Precision::Nanos,
            _ => Precision::Picos,
        };
        shown.add(format!("TimestampPrecision={digits}"));
    }
    Chosen { settings, from: format!("default settings, and from the journal: {}", shown.words()) }
}

/// What a journal shows of the settings, each once.
#[derive(Default)]
struct Shown(Vec<String>, BTreeSet<String>);

impl Shown {
    fn add(&mut self, setting: String) {
        if self.1.insert(setting.clone()) {
            self.0.push(setting);
        }
    }

    fn words(&self) -> String {
        if self.0.is_empty() { "nothing".to_owned() } else { self.0.join(" ") }
    }
}

fn is_message(record: &Record<'_>) -> bool {
    matches!(record.kind, RecordKind::Inbound | RecordKind::Outbound)
}

/// Takes over what an accepted message of the counterparty shows.
fn received(record: &Record<'_>, settings: &mut SessionSettings, shown: &mut Shown) {
    const CHECK_SUM: usize = b"10=000\x01".len();
    let (body, end) = record.body.split_at(record.body.len().saturating_sub(CHECK_SUM));
    if settings.validation.validate_checksum && end != format!("10={:03}\u{1}", byte_sum(body)).as_bytes() {
        settings.validation.validate_checksum = false;
        shown.add("ValidateChecksum=N".to_owned());
    }
    if !record.flags.contains(RecordFlags::DELIVERED) {
        return;
    }
    let tags = body.split(|byte| *byte == 1).filter_map(|field| {
        let tag = field.split(|byte| *byte == b'=').next()?;
        std::str::from_utf8(tag).ok()?.parse::<u32>().ok()
    });
    if settings.validation.incoming.action(Check::UserDefinedTag) == Action::Reject
        && tags.into_iter().any(|tag| tag >= 5000)
    {
        settings.validation.incoming =
            settings.validation.incoming.with(Check::UserDefinedTag, Action::Ignore);
        shown.add("ValidateUserDefinedFields=N".to_owned());
    }
}

/// A message that waited for others is recorded when it was processed, which may be long after it
/// was sent.
fn delayed(record: &Record<'_>, settings: &mut SessionSettings, shown: &mut Shown) {
    if let (Some(limit), Some(sent)) = (settings.timing.max_latency, time(record.body, 52))
        && record.utc.abs_diff(sent) > limit.saturating_sub(Duration::from_secs(1))
    {
        settings.timing.max_latency = None;
        shown.add("CheckLatency=N".to_owned());
    }
}

/// Takes over what the reason of a reset shows.
fn reason(body: &[u8], settings: &mut SessionSettings, shown: &mut Shown) {
    let (setting, key) = match body {
        b"ResetOnLogon" => (&mut settings.reset.reset_on_logon, "ResetOnLogon=Y"),
        b"ResetOnLogout" => (&mut settings.reset.reset_on_logout, "ResetOnLogout=Y"),
        b"ResetOnDisconnect" => (&mut settings.reset.reset_on_disconnect, "ResetOnDisconnect=Y"),
        b"ResetOnError" => (&mut settings.reset.reset_on_error, "ResetOnError=Y"),
        _ if body.ends_with(b"TolerateLowMsgSeqNumAtLogon allows") => {
            settings.reset.tolerate_low_msg_seq_num_at_logon = TooLowAtLogon::Accepted;
            return shown.add("TolerateLowMsgSeqNumAtLogon=always".to_owned());
        }
        _ => return,
    };
    *setting = true;
    shown.add(key.to_owned());
}
