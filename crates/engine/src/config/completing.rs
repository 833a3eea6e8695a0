//! What several keys decide together: identity, connection, sizes, validation.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use fixbolt_codec::Version;
use fixbolt_dictionary::{Action, Check, Policy};
use fixbolt_session::{OutboundWatermarks, Role, SessionDictionary, WrongSetting, wrong_settings};

use super::dictionaries::Dictionaries;
use super::dictionary_file::{Remark, shipped_in_place_of};
use super::draft::{ANY, Draft};
use super::error::{ConfigError, ConfigWarning};
use super::fixt::{APPLICATION, FixtDraft, TRANSPORT, version_in};
use super::groups_as_sent::GroupsAsSent;
use super::reading::SessionReader;
use super::rows::ROWS;
use super::text::Setting;
use super::values::{HOST, LOCAL_IP, local_ip, no_host, number_after, whole_number};
use crate::initiation::Initiation;
use crate::session_check::{self, unspoken};

/// The rows of an initiator's own address.
const SOURCE_HOST: &str = "SocketConnectSourceHost";
const SOURCE_PORT: &str = "SocketConnectSourcePort";
const REQUIRED_IDS: [&str; 3] = ["BeginString", "SenderCompID", "TargetCompID"];
const SUB_IDS: [&str; 4] = ["SenderSubID", "SenderLocationID", "TargetSubID", "TargetLocationID"];

/// The keys that say how incoming messages are validated.
const OF_INCOMING: [&str; 7] = [
    "ValidateFieldsOutOfOrder",
    "ValidateFieldsHaveValues",
    "ValidateUserDefinedFields",
    "ValidateUnorderedGroupFields",
    "AllowUnknownMsgFields",
    "AllowUnknownEnumValues",
    "RejectInvalidMessage",
];

/// The policy without validation. What leaves open where the fields of a message are, or what they
/// say, is rejected even so.
const SYNTAX_ONLY: Policy = Policy::ignoring()
    .with(Check::TagSyntax, Action::Reject)
    .with(Check::EmptyValue, Action::Reject)
    .with(Check::DataLength, Action::Reject);

impl<'s> SessionReader<'s> {
    /// Finds the role of a session without ConnectionType, as quickfixgo's configurations have
    /// them: what the session's own section says counts before the defaults.
    pub(super) fn infer_role(&mut self) {
        for section in [Some(self.own), self.defaults].into_iter().flatten() {
            self.draft.role = match (section.find("SocketAcceptPort"), section.find("SocketConnectHost")) {
                (None, None) => continue,
                (Some(_), None) => Some(Role::Acceptor),
                (None, Some(_)) => Some(Role::Initiator),
                (Some(accept), Some(connect)) => {
                    let place = &accept.place;
                    let reason = format!(
                        "SocketConnectHost is of an initiator, and SocketAcceptPort at {place} of an acceptor; write ConnectionType"
                    );
                    return self.contradicts(connect, reason);
                }
            };
            return;
        }
        self.missing("ConnectionType (acceptor or initiator)");
    }

    /// Checks the session's identity, and completes the settings with it.
    pub(super) fn identity(&mut self, warnings: &mut Vec<ConfigWarning>) {
        let acceptor = self.draft.role == Some(Role::Acceptor);
        if let (true, Some(setting)) = (acceptor, self.find("SessionQualifier")) {
            self.draft.qualifier = None;
            let instead = "a Logon carries none, so that an acceptor tells its sessions apart by their CompIDs, SubIDs and LocationIDs";
            warnings.push(setting.without_effect(instead));
        }
        let dynamic = self.draft.dynamic;
        for name in REQUIRED_IDS {
            self.required(name, name, !dynamic);
        }
        for name in REQUIRED_IDS.into_iter().chain(SUB_IDS) {
            if let (false, Some(setting)) = (dynamic, self.find(name))
                && setting.text() == ANY
            {
                let key = &setting.key;
                self.contradicts(
                    setting,
                    format!("{key}=*: it stands for any value, which only an acceptor's session with DynamicSession=Y may have"),
                );
            }
        }
        let draft = &mut self.draft;
        let Some(role) = draft.role else { return };
        draft.settings.role = role;
        let is_known = draft.version.map_or(dynamic, |version| unspoken(version).is_none())
            && (dynamic || draft.sender.comp_id.is_some() && draft.target.comp_id.is_some());
        let id = draft.id(if dynamic { ANY } else { "" });
        match id {
            Ok(id) => draft.settings.id = id,
            // What is missing, and a version without sessions, is reported already.
            Err(_) if !is_known => {}
            Err(error) => {
                let setting = SUB_IDS.into_iter().chain(["BeginString"]).find_map(|name| self.find(name));
                let place = setting.map_or(&self.own.place, |setting| &setting.place).clone();
                self.mistakes.push(ConfigError::Contradiction { place, reason: error.to_string() });
            }
        }
    }

    /// Checks what a connection needs, and finds the hosts of an initiator.
    pub(super) fn check_connection(&mut self) {
        match self.draft.role {
            None => {}
            Some(Role::Acceptor) => {
                self.required("SocketAcceptPort", "SocketAcceptPort", true);
                let decides = self.draft.settings.timing.heart_bt_int_override;
                self.required("HeartBtInt", "HeartBtInt, which HeartBtIntOverride=Y makes its own", decides);
            }
            Some(Role::Initiator) => {
                self.required("HeartBtInt", "HeartBtInt (seconds), which an initiator decides", true);
                let Initiation { reconnect_interval, max_reconnect_interval, .. } = self.draft.initiation;
                if let Some(setting) = self.find("MaxReconnectInterval")
                    && max_reconnect_interval < reconnect_interval
                {
                    let shortest = reconnect_interval.as_secs();
                    let what = format!("MaxReconnectInterval is shorter than ReconnectInterval ({shortest})");
                    self.contradicts(setting, &what);
                }
                if let Some(hosts) = self.hosts()
                    && let Some(local_addresses) = self.local_addresses(hosts.len())
                {
                    let initiation = &mut self.draft.initiation;
                    (initiation.hosts, initiation.local_addresses) = (hosts, local_addresses);
                }
            }
        }
    }

    /// Returns the hosts to try, in order.
    fn hosts(&mut self) -> Option<Vec<(String, u16)>> {
        let (host_key, port_key) = ("SocketConnectHost", "SocketConnectPort");
        let (own, defaults) = (self.own, self.defaults);
        let find = move |key: &str| own.find(key).or_else(|| defaults.and_then(|d| d.find(key)));
        let mut hosts = Some(Vec::new());
        let mut length = 0;
        loop {
            let suffix = if length == 0 { String::new() } else { length.to_string() };
            let (host_key, port_key) = (format!("{host_key}{suffix}"), format!("{port_key}{suffix}"));
            let (host, port) = (find(&host_key), find(&port_key));
            if let Some(host) = host
                && let Some(instead) = host.value.as_deref().and_then(|value| no_host(value, &port_key))
            {
                // What is in place of `${...}` is never shown.
                let is_written = host.value.as_ref() == Some(&host.written);
                self.wrong(host, if is_written { &instead } else { HOST });
                hosts = None;
            }
            let (host, port) = match (host, port) {
                (Some(host), Some(port)) => (host, port),
                (None, None) if length == 0 => {
                    self.missing("SocketConnectHost and SocketConnectPort");
                    return None;
                }
                (None, None) => break,
                (Some(_), None) => {
                    self.missing(&port_key);
                    return None;
                }
                (None, Some(_)) => {
                    self.missing(&host_key);
                    return None;
                }
            };
            let all_digits = port.text().bytes().all(|b| b.is_ascii_digit());
            match port.text().parse::<u16>().ok().filter(|port| all_digits && *port > 0) {
                Some(number) if host.value.as_ref().is_some_and(|host| !host.is_empty()) => {
                    hosts.as_mut().map(|hosts| hosts.push((host.text().to_owned(), number)))
                }
                number => {
                    // An empty host is reported already, and so is a port that could not be
                    // expanded.
                    if number.is_none() && port.value.is_some() {
                        self.wrong(port, "a whole number from 1 to 65535");
                    }
                    hosts = None;
                    Some(())
                }
            };
            length += 1;
        }
        // Numbered keys after the end of their list would never be read.
        let all = self.own.settings.iter().chain(self.defaults.iter().flat_map(|d| &d.settings));
        for setting in all {
            let number =
                number_after(&setting.key, host_key).or_else(|| number_after(&setting.key, port_key));
            if number.is_some_and(|number| number >= length) {
                let reason = format!("{} is never tried: the list has no number {length}", setting.key);
                self.contradicts(setting, reason);
                break;
            }
        }
        hosts
    }

    /// Returns the local address of the connections to each of `count` hosts.
    fn local_addresses(&mut self, count: usize) -> Option<Vec<Option<SocketAddr>>> {
        let rows = [SOURCE_HOST, SOURCE_PORT];
        let mistakes = self.mistakes.len();
        let settings: Vec<_> = rows.iter().flat_map(|name| self.find_all(name)).collect();
        for setting in settings {
            let number = rows.iter().find_map(|name| number_after(&setting.key, name));
            if let Some(number) = number.filter(|number| *number >= count) {
                let reason = format!("{} is of no host: there is no SocketConnectHost{number}", setting.key);
                self.contradicts(setting, reason);
            }
        }
        for (name, alias) in [(SOURCE_HOST, "SocketLocalHost"), (SOURCE_PORT, "SocketLocalPort")] {
            for section in [Some(self.own), self.defaults].into_iter().flatten() {
                if let (Some(first), Some(second)) = (section.find(name), section.find(alias))
                    && first.value != second.value
                {
                    let reason = format!("{name} and {alias} are the same key, but their values differ");
                    self.contradicts(second, reason);
                }
            }
        }
        let one = |reader: &mut Self, index: usize| {
            let host = reader.of_host(SOURCE_HOST, index);
            let port = reader.of_host(SOURCE_PORT, index);
            let ip = match host.map(|setting| (setting, local_ip(setting.text()))) {
                Some((setting, None)) => {
                    reader.wrong(setting, LOCAL_IP);
                    None
                }
                Some((_, ip)) => ip,
                None => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            }?;
            let number = match port.map(|setting| (setting, whole_number(setting.text(), 0, 65_535))) {
                Some((setting, None)) => {
                    reader.wrong(setting, "a whole number from 0 to 65535");
                    None
                }
                Some((_, number)) => number.and_then(|number| u16::try_from(number).ok()),
                None => Some(0),
            }?;
            Some((host.is_some() || port.is_some()).then(|| SocketAddr::new(ip, number)))
        };
        let mut addresses = Vec::new();
        for index in 0..count {
            addresses.push(one(self, index)?);
        }
        if addresses.iter().all(Option::is_none) {
            addresses.clear();
        }
        (self.mistakes.len() == mistakes).then_some(addresses)
    }

    /// Returns the setting of a row with one key per host, for the host with this index: that with
    /// its number, else the one without a number.
    fn of_host(&self, name: &str, index: usize) -> Option<&'s Setting> {
        let all = self.find_all(name);
        let with = |number: Option<usize>| {
            all.iter().rfind(|setting| number_after(&setting.key, name) == number).copied()
        };
        with((index > 0).then_some(index)).or_else(|| with(None))
    }

    /// Warns of keys of the session that only say more about what another key begins, or that
    /// another one leaves nothing to say.
    pub(super) fn check_partners(&self, warnings: &mut Vec<ConfigWarning>) {
        if !self.mistakes.is_empty() {
            return;
        }
        for row in ROWS {
            let setting = || self.find_own(row.name);
            let is_later = |(first, _): &(Version, &str)| {
                self.draft.version.is_some_and(|version| version < *first)
                    && setting().is_some_and(|setting| setting.text().eq_ignore_ascii_case("Y"))
            };
            let unmet = row.needs.as_ref().filter(|need| !(need.is_met)(&self.draft)).map(|need| need.why);
            let why = unmet.or(row.since.filter(is_later).map(|(_, why)| why));
            warnings.extend(why.and_then(|why| Some(setting()?.without_effect(why))));
        }
    }

    /// Checks that a thread of its own is asked for where there can be one.
    pub(super) fn check_dedicated(&mut self) {
        let is_dedicated = self.draft.dedicated_worker.is_some();
        if let (true, true, Some(setting)) = (self.draft.dynamic, is_dedicated, self.find("DedicatedWorker"))
        {
            let what = "DedicatedWorker is for one session, but DynamicSession=Y makes any number of them";
            self.contradicts(setting, what);
        }
        if let (false, Some(setting)) = (is_dedicated, self.find("DedicatedWorkerCore")) {
            let what =
                "DedicatedWorkerCore is set, but the session has no thread of its own; set DedicatedWorker";
            self.contradicts(setting, what);
        }
    }

    pub(super) fn check_sizes_and_times(&mut self) {
        let draft = &mut self.draft;
        draft.settings.timing.max_latency = draft.check_latency.then_some(draft.max_latency);
        if !draft.outbox_given {
            draft.settings.limits.outbound_buffer_size =
                draft.settings.limits.outbound_buffer_size.max(4 * draft.settings.limits.max_message_size);
        }
        let (high, low) = (draft.high_watermark, draft.low_watermark);
        match (OutboundWatermarks::new(high, low), self.find("OutboundLowWatermark")) {
            (Some(watermarks), _) => self.draft.settings.limits.outbound_watermarks = watermarks,
            (None, Some(setting)) => self.contradicts(
                setting,
                format!("OutboundLowWatermark={low} is not less than OutboundHighWatermark={high}"),
            ),
            // Without a low one, it follows the high one.
            (None, None) => {}
        }
        let draft = &self.draft;
        if let (true, false, Some(setting)) =
            (draft.journal.is_some(), draft.persist_messages, self.find("PersistMessages"))
        {
            self.contradicts(setting, "PersistMessages=N keeps no journal, but FileStorePath names one");
        }
        for key in ["ResendHorizon", "MaxResendRange", "MaxResends"] {
            if let (false, Some(setting)) = (self.draft.persist_messages, self.find(key)) {
                let why = format!("{key} sends messages again, but PersistMessages=N keeps none");
                self.contradicts(setting, why);
            }
        }
        let draft = &self.draft;
        let nothing_kept = wrong_settings(&draft.settings, draft.persist_messages)
            .any(|wrong| wrong == WrongSetting::NothingKept);
        if let (true, Some(setting)) = (nothing_kept, self.find(WrongSetting::NothingKept.key())) {
            self.contradicts(setting, "WhileLoggedOff=keep keeps messages, but PersistMessages=N keeps none");
        }
    }

    pub(super) fn check_validation(
        &mut self,
        dictionaries: &mut Dictionaries,
        warnings: &mut Vec<ConfigWarning>,
    ) {
        let Draft { use_dictionary, validate_incoming, validate_outgoing, .. } = self.draft;
        if let (false, Some(setting)) = (use_dictionary, self.find_own("DataDictionary")) {
            self.contradicts(setting, "DataDictionary is named, but UseDataDictionary=N does not read it");
        }
        let draft = &self.draft;
        let options = [
            ("DataDictionaryVersion", draft.dictionary_version.is_some()),
            ("DataDictionaryEncoding", draft.dictionary_encoding.is_some()),
            ("DataDictionaryDuplicateTags", draft.accept_duplicate_tags),
            ("DataDictionaryAsOf", draft.dictionary_as_of.is_some()),
            ("DataDictionaryScenario", draft.dictionary_scenario.is_some()),
            ("DataDictionaryStandardNames", draft.standard_names),
        ];
        let (named, names_none) = match draft.version {
            Some(Version::Fixt11) => (APPLICATION, draft.fixt.names_no_application()),
            _ => ("DataDictionary", draft.dictionary.is_none()),
        };
        for (key, is_set) in options {
            if let (true, true, Some(setting)) = (names_none, is_set, self.find_own(key)) {
                self.contradicts(setting, format!("{key} is set, but {named} names no file"));
            }
        }
        if let (false, true, Some(setting)) =
            (use_dictionary, validate_outgoing, self.find_own("ValidateOutgoingMessage"))
        {
            let reason = "ValidateOutgoingMessage=Y needs a dictionary, but UseDataDictionary=N has none";
            self.contradicts(setting, reason);
        }
        let (incoming, outgoing) = (use_dictionary && validate_incoming, use_dictionary && validate_outgoing);
        if let (false, Some(setting)) = (incoming, self.find_own("Incoming.CHECK")) {
            let reason = format!("{} is set, but incoming messages are not validated", setting.key);
            self.contradicts(setting, reason);
        }
        if let (false, Some(setting)) = (incoming, self.find_own("ValidationPolicy")) {
            let reason = "ValidationPolicy is set, but incoming messages are not validated";
            self.contradicts(setting, reason);
        }
        if let (false, Some(setting)) = (outgoing, self.find_own("Outgoing.CHECK")) {
            let key = &setting.key;
            self.contradicts(
                setting,
                format!("{key} is set, but only ValidateOutgoingMessage=Y validates outgoing messages"),
            );
        }
        self.check_unvalidated(incoming, outgoing, warnings);
        let draft = &mut self.draft;
        draft.settings.validation.incoming = if incoming { draft.incoming } else { SYNTAX_ONLY };
        draft.settings.validation.outgoing = outgoing.then_some(draft.outgoing);
        if !incoming && !outgoing {
            draft.settings.dictionary = SessionDictionary::None;
            (draft.dictionary, draft.fixt) = (None, FixtDraft::default());
        }
        if self.draft.version == Some(Version::Fixt11) {
            self.read_fixt(dictionaries, warnings);
        } else {
            self.read_dictionary(dictionaries, warnings);
        }
        self.check_groups_as_sent(warnings);
        // Checks what the builder checks when the engine starts; an unsupported version is reported
        // already.
        if self.mistakes.is_empty() {
            let mut settings = self.draft.settings.clone();
            match session_check::prepare(&mut settings) {
                Ok(()) => {
                    self.check_logon(&settings.dictionary, warnings);
                    self.read_as_sent(&settings.dictionary, dictionaries);
                }
                Err(error) => {
                    let (place, reason) = (self.own.place.clone(), error.to_string());
                    self.mistakes.push(ConfigError::Contradiction { place, reason });
                }
            }
        }
    }

    /// Warns of keys of the session about what is not validated.
    fn check_unvalidated(&self, incoming: bool, outgoing: bool, warnings: &mut Vec<ConfigWarning>) {
        let mut idle: Vec<&str> = Vec::new();
        if !incoming {
            idle.extend(OF_INCOMING);
        }
        if !incoming && !outgoing {
            idle.push("FirstFieldInGroupIsDelimiter");
            // Without UseDataDictionary, that of another version is a mistake.
            match self.draft.version {
                Some(Version::Fixt11) => idle.extend([TRANSPORT, APPLICATION]),
                _ if self.draft.use_dictionary => idle.push("DataDictionary"),
                _ => {}
            }
        }
        let why = match self.draft.use_dictionary {
            true => "ValidateIncomingMessage=N validates no incoming message",
            false => "UseDataDictionary=N validates no message",
        };
        let all = idle.into_iter().filter_map(|key| self.find_own(key));
        warnings.extend(all.map(|setting| setting.without_effect(why)));
    }

    /// Finds out which groups are read as they are sent.
    fn check_groups_as_sent(&mut self, warnings: &mut Vec<ConfigWarning>) {
        let draft = &mut self.draft;
        if draft.first_field_is_delimiter {
            if draft.settings.validation.incoming.action(Check::GroupOrder) != Action::Ignore {
                if let Some(setting) = self.find("FirstFieldInGroupIsDelimiter") {
                    let instead = "the order of a group's fields is checked; GroupsAsSent names groups that have another";
                    warnings.push(setting.without_effect(instead));
                }
            } else if draft.groups_as_sent.is_none() {
                draft.groups_as_sent = GroupsAsSent::All;
            }
        }
        let (Some(setting), false) = (self.find_own("GroupsAsSent"), self.draft.groups_as_sent.is_none())
        else {
            return;
        };
        if self.draft.settings.dictionary == SessionDictionary::None {
            let reason = "GroupsAsSent is set, but without a dictionary, or if no messages are validated, no groups are known";
            self.contradicts(setting, reason);
        } else if self.draft.version.is_none() && self.draft.dynamic {
            let reason = "GroupsAsSent is for groups of one version, but the session may use any version; set its BeginString";
            self.contradicts(setting, reason);
        }
    }

    /// Lets the session's dictionary, which is `prepared`, read groups as they are sent.
    fn read_as_sent(&mut self, prepared: &SessionDictionary, dictionaries: &mut Dictionaries) {
        let Draft { groups_as_sent, settings, version, .. } = &mut self.draft;
        if groups_as_sent.is_none() || version.is_none() {
            return;
        }
        match dictionaries.as_sent(prepared, groups_as_sent) {
            Ok(dictionary) => settings.dictionary = dictionary,
            Err(tag) => {
                let reason = format!("GroupsAsSent: {tag} counts no group of the session's dictionary");
                if let Some(setting) = self.find("GroupsAsSent") {
                    self.contradicts(setting, reason);
                }
            }
        }
    }

    /// Reads the dictionary of a session of another version than FIXT.1.1, or of any.
    fn read_dictionary(&mut self, dictionaries: &mut Dictionaries, warnings: &mut Vec<ConfigWarning>) {
        for key in [TRANSPORT, APPLICATION] {
            if let (None, false, Some(setting)) =
                (self.draft.version, self.draft.fixt.names_no_file(), self.find(key))
            {
                let key = &setting.key;
                let reason = format!(
                    "{key} is for sessions of FIXT.1.1, but the session may use any version; set its BeginString"
                );
                self.contradicts(setting, reason);
            }
        }
        for key in ["DefaultApplVerID", TRANSPORT, APPLICATION] {
            // A session of any version may be one of FIXT.1.1.
            if let (true, Some(setting)) = (self.draft.version.is_some(), self.find_own(key)) {
                let instead = "it belongs to sessions of FIXT.1.1; others use DataDictionary";
                warnings.push(setting.without_effect(instead));
            }
        }
        if let (Some(version), Some(setting)) = (self.draft.version, self.find("DataDictionary"))
            && self.draft.dictionary.as_deref().is_some_and(|file| shipped_in_place_of(file) == Some(version))
        {
            self.draft.dictionary = None;
            warnings.push(setting.without_effect(Remark::in_place(&setting.key, version).text));
        }
        if let (Some(source), Some(setting)) = (self.draft.data_dictionary(), self.find("DataDictionary")) {
            match dictionaries.validator(source, self.draft.version, &self.draft.settings.validation.incoming)
            {
                Ok((validator, odd)) => {
                    warnings.extend(Remark::odd(&setting.key, odd).map(|odd| setting.doubtful(odd.text)));
                    self.draft.settings.dictionary = SessionDictionary::Own(validator);
                }
                Err(reason) => self.mistakes.push(ConfigError::Dictionary {
                    place: setting.place.clone(),
                    key: setting.key.clone(),
                    file: setting.written.clone(),
                    reason,
                }),
            }
        }
    }

    /// Reads the dictionaries of a session of FIXT.1.1.
    fn read_fixt(&mut self, dictionaries: &mut Dictionaries, warnings: &mut Vec<ConfigWarning>) {
        let Some(default) = self.draft.settings.default_appl_ver_id else {
            if self.find("DefaultApplVerID").is_none() {
                self.missing("DefaultApplVerID, such as FIX.5.0SP2, which FIXT.1.1 needs");
            }
            return;
        };
        if let Some(setting) = self.find_own("DataDictionary") {
            let reason = "DataDictionary is not used by a session of FIXT.1.1: it has TransportDataDictionary and AppDataDictionary";
            return self.contradicts(setting, reason);
        }
        let Draft { settings, fixt, .. } = &self.draft;
        if fixt.names_no_file() || settings.dictionary == SessionDictionary::None {
            return;
        }
        let setting_of = |key: &str| {
            // The key may spell the version differently.
            let is_it = |setting: &&Setting| match version_in(key) {
                Some(version) => version_in(&setting.key) == Some(version),
                None => setting.key.eq_ignore_ascii_case(key),
            };
            let mut sections = [Some(self.own), self.defaults].into_iter().flatten();
            sections.find_map(|section| section.settings.iter().rfind(is_it))
        };
        match dictionaries.of_fixt(
            fixt,
            default,
            &|file| self.draft.source_of(file),
            &settings.validation.incoming,
        ) {
            Ok((read, remarks)) => {
                for Remark { key, text: instead, is_used } in remarks {
                    let setting = setting_of(&key);
                    let place = setting.map_or(&self.own.place, |setting| &setting.place).clone();
                    let key = setting.map_or(key, |setting| setting.key.clone());
                    warnings.push(ConfigWarning { place, key, instead, is_used });
                }
                self.draft.settings.dictionary = SessionDictionary::Fixt(read);
            }
            Err((key, reason)) => {
                let setting = setting_of(&key);
                let written = setting.map_or("", |setting| setting.written.as_str());
                self.mistakes.push(ConfigError::Dictionary {
                    place: setting.map_or(&self.own.place, |setting| &setting.place).clone(),
                    file: written.to_owned(),
                    key: setting.map_or(key, |setting| setting.key.clone()),
                    reason,
                });
            }
        }
    }
}
