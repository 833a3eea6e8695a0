//! What a first-time user reads after a mistake: where it is, what it is, what to do; and no
//! secret.

use core::time::Duration;

use super::other_keys::Treatment;
use super::tests::{ACCEPTOR, acceptor_refused, refused};
use super::*;
use crate::waiting::{Waiting, WorkerOptions};

#[test]
fn a_line_about_a_secret_is_not_repeated() {
    for line in [
        "Password hunter2",
        "Password: hunter2",
        "X-Password hunter2",
        "NewPassword:hunter2",
        "Password=hunter2${NO_SUCH_VARIABLE}",
        "Password=hunter2$${",
        "Password=hunter2$",
        "RawData\u{a0}hunter2",
        "SocketPrivateKeyBytes=hunter2",
        "LogonTag=5001=hunter2",
        "LogonTag1 hunter2",
    ] {
        let checked = CheckedConfiguration::from_text("a.cfg", &format!("{ACCEPTOR}{line}\n"));
        let effective = checked.sessions[0].effective.clone();
        let shown = format!("{:?}{:?}", checked.mistakes, effective);
        assert!(!shown.contains("hunter"), "{line}: {shown}");
    }
    assert_eq!(
        acceptor_refused("Password hunter2"),
        "a.cfg:7: \"Password ***\" is neither [SECTION], Key=Value nor # comment"
    );
}

#[test]
fn a_configuration_shown_for_debugging_has_no_secret() {
    let text = format!("[APP]\nPassword=hunter1\n{ACCEPTOR}Password=hunter2\nX-Password=hunter3\nX-Desk=A\n");
    let configuration = Configuration::from_text("a.cfg", &text).unwrap();
    assert_eq!(configuration.sessions[0].application["Password"], "hunter3");
    let shown = format!("{configuration:?}");
    assert!(!shown.contains("hunter") && shown.contains(r#""Desk": "A""#), "{shown}");
    let checked = CheckedConfiguration::from_text("a.cfg", &text);
    let shown = format!("{checked:?}");
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn a_file_in_another_encoding_is_refused_with_the_line() {
    let directory = std::env::temp_dir().join(format!("fixbolt-latin-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.cfg");
    std::fs::write(&path, b"[DEFAULT]\r\nX-Desk=caf\xe9\r\n").unwrap();
    let error = Configuration::from_file(&path).unwrap_err().to_string();
    assert!(error.ends_with("a.cfg: line 2 is not UTF-8 (at byte 21); save the file as UTF-8"), "{error}");
    let text = "[DEFAULT]\r\nX-Desk=caf\u{e9}\r\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [[b"\xff\xfe", &*little].concat(), [b"\xfe\xff", &*big].concat(), little, big] {
        std::fs::write(&path, bytes).unwrap();
        let error = Configuration::from_file(&path).unwrap_err().to_string();
        assert!(error.ends_with("a.cfg: it is in UTF-16; save the file as UTF-8"), "{error}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_value_that_is_empty_is_refused_with_what_belongs_there() {
    assert_eq!(
        acceptor_refused("LogonTimeout=\nFileStorePath=\nUsername="),
        "a.cfg:7: LogonTimeout=: a whole number from 1 to 86400 expected
a.cfg:8: FileStorePath=: a directory expected
a.cfg:9: Username=: at least one character, and no control character such as a line end expected"
    );
}

#[test]
fn a_number_with_a_unit_of_time_is_told_without_it() {
    for (line, expected) in [
        ("LogonTimeout=5s", "the number of seconds without a unit, 5, expected"),
        ("LogonTimeout=2m", "the number of seconds without a unit, 120, expected"),
        ("LogoutTimeout=3000ms", "the number of seconds without a unit, 3, expected"),
        // Whatever is no whole number of seconds in the range is told by the range.
        ("LogonTimeout=1500ms", "a whole number from 1 to 86400 expected"),
        ("LogonTimeout=25h", "a whole number from 1 to 86400 expected"),
        ("LogonTimeout=0s", "a whole number from 1 to 86400 expected"),
        ("LogonTimeout=s", "a whole number from 1 to 86400 expected"),
        ("MaxResends=5s", "a whole number from 0 to 1000000 expected"),
    ] {
        assert_eq!(acceptor_refused(line), format!("a.cfg:7: {line}: {expected}"));
    }
    let text = format!("[DEFAULT]\nWarmUpInterval=2s\nDynamicSessionIdleTime=1h\n{ACCEPTOR}");
    assert_eq!(
        refused(&text),
        "a.cfg:2: WarmUpInterval=2s: the number of milliseconds without a unit, 2000, expected\n\
         a.cfg:3: DynamicSessionIdleTime=1h: the number of seconds without a unit, 3600, expected"
    );
}

#[test]
fn a_tag_that_the_session_needs_cannot_be_masked() {
    assert_eq!(
        acceptor_refused("MaskedTags=554, 34"),
        "a.cfg:7: MaskedTags=554, 34: none, or tags separated by commas, without those that the session itself writes (8, 9, 10, 34, 35, 43, 49, 52, 56, 122, 369) expected"
    );
    for tag in 1..1000 {
        let listed =
            super::values::MASKED_TAGS.split(['(', ',', ' ', ')']).any(|word| word == tag.to_string());
        assert_eq!(listed, !fixbolt_session::SessionSettings::can_be_masked(tag), "{tag}");
    }
}

#[test]
fn a_comment_after_a_value_or_a_header_is_told_where_it_belongs() {
    let hint = "(a comment must be on a line of its own, and begins with #)";
    assert_eq!(
        acceptor_refused("HeartBtInt=30 ; seconds"),
        format!("a.cfg:7: HeartBtInt=30 ; seconds: a whole number from 0 to 86400 expected {hint}")
    );
    assert_eq!(
        refused(&ACCEPTOR.replace("[SESSION]", "[SESSION] # venue")),
        format!("a.cfg:1: the section's name must end with ']', the last character of the line {hint}")
    );
}

#[test]
fn a_dollar_sign_that_begins_nothing_is_told_with_its_key() {
    assert_eq!(
        acceptor_refused("Password=pa$word"),
        "a.cfg:7: Password: a '$' begins ${NAME} or ${file:PATH}; write $$ for the sign itself"
    );
    assert_eq!(
        acceptor_refused("Username=${}"),
        "a.cfg:7: ${}: the name of an environment variable expected between the braces"
    );
}

#[test]
fn a_file_without_a_session_says_so_beside_its_other_mistakes() {
    assert_eq!(
        refused("[DEFAULT]\nHeartBeatInt=30\n"),
        "a.cfg:1: there is no [SESSION]; each session needs one
a.cfg:2: unknown key HeartBeatInt; did you mean HeartBtInt? A key of the application belongs in [APP], or is written X-HeartBeatInt"
    );
    // A misspelled header is why there is none.
    assert_eq!(
        refused("[SESION]\n"),
        "a.cfg:1: unknown section [SESION]; there are [DEFAULT], [SESSION] and [APP]"
    );
}

#[test]
fn a_star_is_for_dynamic_sessions_only() {
    for key in ["SenderCompID", "TargetCompID"] {
        let name = if key == "SenderCompID" { "VENUE" } else { "TRADER" };
        let error = refused(&ACCEPTOR.replace(name, "*"));
        assert!(error.ends_with(&format!("{key}=*: it stands for any value, which only an acceptor's session with DynamicSession=Y may have")), "{error}");
    }
}

#[test]
fn a_second_dynamic_session_that_would_never_be_asked_is_refused() {
    let dynamic = "[SESSION]\nConnectionType=acceptor\nDynamicSession=Y\nSocketAcceptPort=9880\n";
    assert_eq!(
        refused(&format!("{dynamic}{dynamic}")),
        "a.cfg:5: the session *:*->* is configured twice, first at a.cfg:1"
    );
    // Another setting brings it no counterparties.
    let error = refused(&format!("{dynamic}{dynamic}LogonTimeout=7\n"));
    assert_eq!(error, "a.cfg:5: the session *:*->* is configured twice, first at a.cfg:1");
    // With a port or addresses of its own it has its own.
    let other = dynamic.replace("9880", "9881");
    assert!(Configuration::from_text("a.cfg", &format!("{dynamic}{other}")).is_ok());
    let near = format!("{dynamic}AllowedRemoteAddresses=10.0.0.1\n");
    assert!(Configuration::from_text("a.cfg", &format!("{near}{dynamic}")).is_ok());
}

#[test]
fn a_version_that_no_session_speaks_is_one_mistake() {
    let error = refused(&ACCEPTOR.replace("FIX.4.4", "FIX.5.0SP2"));
    assert_eq!(error.lines().count(), 1, "{error}");
}

/// The other sessions cannot be asked whether they keep a journal: they have mistakes, too.
#[test]
fn a_mistake_does_not_make_the_limits_of_journals_look_useless() {
    let text = format!("[DEFAULT]\nFileStorePath=store\nJournalQuota=5\n{ACCEPTOR}");
    let checked = CheckedConfiguration::from_text("a.cfg", &text);
    let mistakes: Vec<String> = checked.mistakes.iter().map(ToString::to_string).collect();
    assert!(mistakes[0].starts_with("a.cfg:3: JournalQuota=5: a whole number"), "{mistakes:?}");
    assert!(checked.warnings.is_empty(), "{:?}", checked.warnings);
}

#[test]
fn a_key_of_the_engine_in_app_is_a_warning() {
    let text = format!("[APP]\nHeartBtInt=30\nDesk=A\nStartTime=1\n{ACCEPTOR}");
    let configuration = Configuration::from_text("a.cfg", &text).unwrap();
    let warnings: Vec<String> = configuration.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["2: HeartBtInt", "4: StartTime"].map(|key| format!(
            "a.cfg:{key} has no effect: in [APP] it belongs to the application; for the engine, move it to [DEFAULT] or [SESSION]"
        ))
    );
    assert_eq!(configuration.application["HeartBtInt"], "30");
}

#[test]
fn a_default_that_depends_on_another_setting_is_shown_as_it_is() {
    let effective = |lines: &str, key: &str| {
        let checked = CheckedConfiguration::from_text("a.cfg", &format!("{ACCEPTOR}{lines}\n"));
        let session = &checked.sessions[0];
        session.effective.iter().find(|setting| setting.key == key).unwrap().value.clone()
    };
    assert_eq!(effective("", "ValidateUnorderedGroupFields"), "Y");
    assert_eq!(effective("Compatibility=quickfixj", "ValidateUnorderedGroupFields"), "Y");
    assert_eq!(effective("Compatibility=quickfix", "ValidateUnorderedGroupFields"), "N");
    assert_eq!(effective("MillisecondsInTimeStamp=N", "TimestampPrecision"), "0");
    assert_eq!(effective("MaxMessageSize=1000000", "OutboundBufferSize"), "4000000");
}

#[test]
fn a_missing_key_says_where_to_add_it_and_a_key_of_the_other_role_what_to_do() {
    assert_eq!(
        refused(&ACCEPTOR.replace("SocketAcceptPort=9880\n", "SocketConnectHost=a\n")),
        "a.cfg:1: this session has no SocketAcceptPort; add it here or in [DEFAULT]
a.cfg:6: SocketConnectHost applies to initiators only, and this session is an acceptor; remove it"
    );
}

#[test]
fn the_engines_settings_are_in_default_and_nowhere_else() {
    let read = |lines: &str| Configuration::from_text("a.cfg", &format!("[DEFAULT]\n{lines}{ACCEPTOR}"));
    let defaults = read("").unwrap().engine;
    assert_eq!(defaults, EngineConfiguration::default());
    for row in rows::ROWS.iter().filter(|row| row.scope == rows::Scope::Engine) {
        let name = row.name;
        let other = match name {
            "Workers" | "ArchiveDays" | "WarmUpInterval" => "7",
            "JournalQuota" => "7000000",
            "ContinueInitializationOnError" | "LockMemory" | "WarmUp" => "Y",
            "WorkerWaiting" => "spinning",
            "WorkerCores" => "0",
            "FileLogPath" | "JournalCookies" => "log",
            "Store" => "memory",
            _ => "70000",
        };
        if row.default.bytes().all(|b| b.is_ascii_digit()) {
            assert_eq!(read(&format!("{name}={}\n", row.default)).unwrap().engine, defaults, "{name}");
        }
        assert_ne!(read(&format!("{name}={other}\n")).unwrap().engine, defaults, "{name}");
        let wrong = if matches!(name, "FileLogPath" | "JournalCookies") { "" } else { "many" };
        let error = read(&format!("{name}={wrong}\n")).unwrap_err().to_string();
        let expected = match row.effect {
            rows::Effect::Flag(_) => "Y or N",
            rows::Effect::Text { form, .. } => form,
            _ => "a whole number from ",
        };
        assert!(error.starts_with(&format!("a.cfg:2: {name}={wrong}: {expected}")), "{error}");
        assert_eq!(
            acceptor_refused(&format!("{name}=70000")),
            format!("a.cfg:7: {name} applies to the whole engine; move it to [DEFAULT]")
        );
    }
    assert_eq!(read("Workers=4\n").unwrap().engine.workers, Some(4));
}

#[test]
fn cores_that_do_not_fit_are_mistakes_and_more_workers_than_cores_a_warning() {
    let read = |lines: &str| Configuration::from_text("a.cfg", &format!("[DEFAULT]\n{lines}{ACCEPTOR}"));
    let refused = |lines: &str| read(lines).unwrap_err().to_string();
    assert_eq!(
        refused("Workers=2\nWorkerCores=0\n"),
        "a.cfg:3: WorkerCores names 1, but there are Workers=2; name one core for each, or none"
    );
    assert_eq!(
        refused("WorkerCores=0,1,0\n"),
        "a.cfg:2: WorkerCores=0,1,0 is not available: core 0 is named for worker 0 and for worker 2"
    );
    assert_eq!(
        refused("WorkerCores=0-1\n"),
        "a.cfg:2: WorkerCores=0-1: numbers of cores separated by commas expected"
    );
    // The configuration may be for another machine.
    let tried = |lines: &str| {
        let text = format!("[DEFAULT]\nStore=memory\n{lines}{ACCEPTOR}");
        let mut checked = CheckedConfiguration::from_text("a.cfg", &text);
        assert_eq!((&checked.mistakes[..], &checked.warnings[..]), (&[][..], &[][..]));
        checked.try_start();
        checked
    };
    let warned = |lines: &str| match &tried(lines).warnings[..] {
        [warning] if warning.is_used => warning.to_string(),
        warnings => panic!("{warnings:?}"),
    };
    #[cfg(target_os = "linux")]
    {
        let mistakes = tried("WorkerCores=1023\n").mistakes;
        let said = "a.cfg:3: WorkerCores: workers: core 1023 does not exist, or this process may not use it";
        assert!(mistakes[0].to_string().starts_with(said), "{mistakes:?}");
    }
    let lines = "Workers=1024\nWorkerWaiting=Spinning\n";
    assert_eq!(read(lines).unwrap().engine.worker_waiting, crate::Waiting::Spinning);
    let said = "a.cfg:4: WorkerWaiting: 1024 workers spin, and this process has ";
    let warning = warned(lines);
    assert!(warning.starts_with(said), "{warning}");
    // Without Workers, there is one for each core named.
    let named: Vec<String> = (0..1023).map(|core| core.to_string()).collect();
    let lines = format!("WorkerCores={}\nWorkerWaiting=spinning\n", named.join(","));
    let warning = warned(&lines);
    assert!(warning.starts_with("a.cfg:4: WorkerWaiting: 1023 workers spin"), "{warning}");
}

#[test]
fn a_session_may_have_a_thread_of_its_own() {
    let dedicated = |lines: &str| {
        let text = format!("{ACCEPTOR}{lines}\n");
        Configuration::from_text("a.cfg", &text).unwrap().sessions.remove(0).dedicated_worker
    };
    assert_eq!(dedicated("DedicatedWorker=n"), None);
    let options = |waiting, core| Some(WorkerOptions { waiting, core });
    assert_eq!(dedicated("DedicatedWorker=Blocking"), options(Waiting::Blocking, None));
    let spins = Waiting::SpinningFor(Duration::from_micros(50));
    assert_eq!(dedicated("DedicatedWorker=50\nDedicatedWorkerCore=3"), options(spins, Some(3)));
    for value in ["Y", "0", "1000001", "busy"] {
        let refused = acceptor_refused(&format!("DedicatedWorker={value}"));
        assert!(refused.ends_with("1 to 1000000 expected"), "{refused}");
    }
    let refused = acceptor_refused("DedicatedWorkerCore=3");
    assert!(refused.ends_with("set DedicatedWorker"), "{refused}");
    let refused = acceptor_refused("DynamicSession=Y\nDedicatedWorker=blocking");
    assert!(refused.contains("DynamicSession=Y makes any number of them"), "{refused}");
}

#[test]
fn a_comp_id_that_no_header_can_have_is_refused_at_its_line() {
    let expected = "1 to 64 printable ASCII characters";
    let long = "X".repeat(65);
    for value in [long.as_str(), "caf\u{e9}"] {
        let text = ACCEPTOR.replace("TRADER", value);
        assert_eq!(refused(&text), format!("a.cfg:5: TargetCompID={value}: {expected} expected"));
    }
    assert_eq!(
        refused(&ACCEPTOR.replace("TRADER", "")),
        format!("a.cfg:5: TargetCompID=: {expected} expected")
    );
}

#[test]
fn a_control_character_is_refused_and_never_breaks_the_errors_line() {
    let error = Configuration::from_text("a.cfg", "[DEFAULT]\nConnec\rtionType=acceptor\n").unwrap_err();
    let error = error.to_string();
    assert!(error.contains("\na.cfg:2: the line contains U+000D, which an editor may show"), "{error}");
    assert_eq!(error.lines().count(), 2);
}

#[test]
fn what_some_editors_take_for_a_line_end_is_a_space_at_a_lines_ends_and_a_mistake_within_it() {
    for space in ["\r", "\u{b}", "\u{c}", "\r\u{c} \t"] {
        let text = ACCEPTOR.replace("SenderCompID=VENUE", &format!("{space}SenderCompID=VENUE{space}"));
        let session = Configuration::from_text("a.cfg", &text).unwrap().sessions.remove(0);
        assert_eq!(session.settings().id.to_string(), "FIX.4.4:VENUE->TRADER", "{space:?}");
        assert!(
            refused(&ACCEPTOR.replace("VENUE", &format!("VE{space}NUE"))).contains("the line contains U+00")
        );
    }
    for odd in ["\u{7}", "\u{85}", "\u{2028}", "\u{2029}", "\u{202e}"] {
        for text in [format!("VENUE{odd}"), format!("VE{odd}NUE")] {
            assert!(refused(&ACCEPTOR.replace("VENUE", &text)).contains("the line contains"), "{odd:?}");
        }
    }
}

fn warnings(text: &str) -> Vec<String> {
    let checked = CheckedConfiguration::from_text("a.cfg", text);
    assert!(checked.mistakes.is_empty(), "{:?}", checked.mistakes);
    checked.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_shell_or_windows_would_replace_and_quotation_marks_are_warnings() {
    for (value, said) in [
        ("\"DESK\"", "`\"DESK\"` is the value, with its quotation marks; leave them out"),
        ("'DESK'", "`'DESK'` is the value, with its quotation marks; leave them out"),
    ] {
        let told = warnings(&format!("{ACCEPTOR}SenderSubID={value}\n"));
        assert_eq!(told, [format!("a.cfg:7: SenderSubID: {said}")]);
    }
    for (value, said) in [
        (
            "~trader/fix",
            "`~trader/fix` is taken as it is, since only a shell replaces `~`; write the whole path",
        ),
        (
            "%TEMP%",
            "`%TEMP%` is taken as it is, since only Windows replaces %TEMP%; write ${TEMP} in its place",
        ),
        #[cfg(unix)]
        (
            "C:\\fix\\store",
            "`C:\\fix\\store` is a path of Windows, and is taken here as one below the current directory; write a path of this system",
        ),
    ] {
        let told = warnings(&format!("{ACCEPTOR}FileStorePath={value}\n"));
        assert_eq!(told, [format!("a.cfg:7: FileStorePath: {said}")]);
    }
    for plain in ["50%", "%", "a'b'", "'", "a:b", "A:", "~", "~/x", "X:/A", "%TEMP%"] {
        assert_eq!(warnings(&format!("{ACCEPTOR}SenderSubID={plain}\n")), [""; 0], "{plain}");
    }
    // Whoever reads the warnings learns nothing of a password.
    assert_eq!(warnings(&format!("{ACCEPTOR}Password='hunter2'\n")), [""; 0]);
}

#[test]
fn a_value_that_is_no_host_is_refused_with_what_to_write() {
    let told = |host: &str| {
        let text =
            ACCEPTOR.replace("acceptor", "initiator").replace("SocketAcceptPort=9880", "HeartBtInt=30");
        let checked = CheckedConfiguration::from_text(
            "a.cfg",
            &format!("{text}SocketConnectHost={host}\nSocketConnectPort=9880\n"),
        );
        checked.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    for host in ["venue.example", "venue_1", "127.0.0.1", "::1", "fe80::1%eth0", "b\u{fc}cher.example"] {
        assert_eq!(told(host), "", "{host}");
    }
    for (host, expected) in [
        ("[::1]", "the address without brackets, ::1 expected"),
        (
            "venue.example:9880",
            "a host's name or address alone, venue.example; the port is SocketConnectPort=9880 expected",
        ),
        ("tcp://venue.example", "a host's name or address alone, without a scheme such as tcp:// expected"),
        ("venue example", "a host's name or address expected"),
        ("venue.example/", "a host's name or address expected"),
    ] {
        assert_eq!(told(host), format!("a.cfg:7: SocketConnectHost={host}: {expected}"));
    }
    assert!(told("[::1]:9880").contains("alone, ::1; the port is SocketConnectPort=9880"));
    assert!(told("[fe80::1%eth0]").contains("the address without brackets, fe80::1%eth0"));
    let told = refused(
        "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nHeartBtInt=30\nSocketConnectHost=one\nSocketConnectPort=1\nSocketConnectHost1=venue:2\n",
    );
    assert!(told.contains("alone, venue; the port is SocketConnectPort1=2 expected"), "{told}");
}

#[test]
fn an_error_about_a_host_never_shows_what_is_in_place_of_a_variable() {
    let directory = std::env::temp_dir().join(format!("fixbolt-host-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("h"), "user:s3cret@venue:99").unwrap();
    let text = ACCEPTOR.replace("acceptor", "initiator").replace("SocketAcceptPort=9880", "HeartBtInt=30");
    let file = directory.join("a.cfg");
    std::fs::write(&file, format!("{text}SocketConnectHost=${{file:h}}\nSocketConnectPort=9880\n")).unwrap();
    let told = Configuration::from_file(&file).unwrap_err().to_string();
    assert!(told.ends_with("SocketConnectHost=${file:h}: a host's name or address expected"), "{told}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn an_error_about_two_files_shows_neither_in_place_of_a_variable() {
    let directory = std::env::temp_dir().join(format!("fixbolt-two-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("h"), "s3cret.pem").unwrap();
    std::fs::write(directory.join("id"), "DESK").unwrap();
    let file = directory.join("a.cfg");
    let told = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Configuration::from_file(&file).unwrap_err().to_string()
    };
    let files = "SocketCertificateFile=${file:h}\nSocketKeyStore=b.pem\nSocketCAFile=c.pem\n";
    let error = told(&format!("{ACCEPTOR}{files}"));
    assert!(error.contains("another key names another file: ") && !error.contains("s3cret"), "{error}");
    // A session is named by its CompIDs, as in the log.
    let session = ACCEPTOR.replace("TRADER", "${file:id}");
    let error = told(&format!("{session}{session}"));
    assert!(error.contains("the session FIX.4.4:VENUE->DESK is configured twice"), "{error}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_another_mistake_may_be_the_reason_of_is_told_once_that_one_is_corrected() {
    let subbed = |key: &str, id: &str| format!("{ACCEPTOR}{key}={id}\n");
    let twice = |key: &str| refused(&format!("{}{}", subbed(key, "A"), subbed("SenderSubID", "B")));
    // Each of both has a SubID of its own, and one of them is misspelled.
    assert!(!twice("SenderSubIDD").contains("configured twice"));
    assert!(
        Configuration::from_text("a.cfg", &[subbed("SenderSubID", "A"), subbed("SenderSubID", "B")].concat())
            .is_ok()
    );
    // The dictionary that has the group may be the one of the misspelled key.
    let lines = "DataDictionaryy=venue.xml\nGroupsAsSent=448";
    assert!(!acceptor_refused(lines).contains("GroupsAsSent"));
    assert!(acceptor_refused("GroupsAsSent=448").contains("GroupsAsSent: 448 counts no group"));
}

#[test]
fn a_key_that_only_says_more_about_one_that_is_not_set_is_a_warning() {
    for (alone, partner) in [
        ("InboundThrottle=disconnect", "MaxInboundRate=10"),
        ("OutboundThrottle=refuse", "MaxOrderRate=10"),
        ("OutboundThrottle=refuse", "MaxOutboundRate=10"),
        ("ResendPeriod=60", "MaxResends=3"),
        ("ResendOverLimit=gap-fill", "MaxResends=3"),
        ("ResendOverLimit=gap-fill", "MaxResendRange=3"),
        ("HeartBtInt=30", "HeartBtIntOverride=Y"),
        ("MaxLatency=60", ""),
    ] {
        let key = alone.split_once('=').unwrap().0;
        let without = if key == "MaxLatency" { "CheckLatency=N\n" } else { "" };
        let told = warnings(&format!("{ACCEPTOR}{alone}\n{without}"));
        assert!(
            told.len() == 1 && told[0].starts_with(&format!("a.cfg:7: {key} has no effect: ")),
            "{alone}: {told:?}"
        );
        assert_eq!(warnings(&format!("{ACCEPTOR}{alone}\n{partner}\n")), [""; 0], "{alone}");
        // In [DEFAULT] it may be for other sessions.
        assert_eq!(warnings(&format!("[DEFAULT]\n{alone}\n{without}{ACCEPTOR}")), [""; 0], "{alone}");
    }
}

#[test]
fn a_key_that_another_one_leaves_nothing_to_say_is_a_warning() {
    let initiator = "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nHeartBtInt=30\nSocketConnectHost=venue\nSocketConnectPort=1\n";
    let fixt = ACCEPTOR.replace("BeginString=FIX.4.4", "BeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2");
    let of = |version: &str| ACCEPTOR.replace("FIX.4.4", version);
    let schedule = "StartTime=08:00:00\nEndTime=17:00:00";
    // A session, a key, what leaves it without effect, and what gives it one.
    for (text, key, idle, active) in [
        (ACCEPTOR, "AcceptedHeartBtInt=30", "HeartBtIntOverride=Y\nHeartBtInt=30", ""),
        (ACCEPTOR, "ClockJumpHold=60", "", schedule),
        (ACCEPTOR, "SlowConsumerTimeout=5", "OutboundHighWatermark=100", "OutboundHighWatermark=99"),
        (ACCEPTOR, "OutboundLowWatermark=30", "OutboundHighWatermark=100", ""),
        (ACCEPTOR, "MaxReplayRate=5", "PersistMessages=N", ""),
        (ACCEPTOR, "ReplayInterleave=all", "PersistMessages=N", ""),
        (
            initiator,
            "HostSelectionPolicyPriorityStartOverInterval=5",
            "HostSelectionPolicy=ROUND_ROBIN",
            "HostSelectionPolicy=PRIORITY",
        ),
        (ACCEPTOR, "ValidateFieldsOutOfOrder=N", "UseDataDictionary=N", ""),
        (ACCEPTOR, "ValidateFieldsHaveValues=N", "UseDataDictionary=N", ""),
        (ACCEPTOR, "ValidateUserDefinedFields=N", "ValidateIncomingMessage=N", ""),
        (ACCEPTOR, "ValidateUnorderedGroupFields=N", "UseDataDictionary=N", ""),
        (ACCEPTOR, "AllowUnknownMsgFields=Y", "ValidateIncomingMessage=N\nValidateOutgoingMessage=Y", ""),
        (ACCEPTOR, "AllowUnknownEnumValues=Y", "UseDataDictionary=N", ""),
        (ACCEPTOR, "RejectInvalidMessage=N", "UseDataDictionary=N", ""),
        (ACCEPTOR, "FirstFieldInGroupIsDelimiter=Y", "UseDataDictionary=N", "ValidateUnorderedGroupFields=N"),
        (ACCEPTOR, "DataDictionary=none.xml", "ValidateIncomingMessage=N", "-"),
        (&fixt, "TransportDataDictionary=none.xml", "UseDataDictionary=N", "-"),
        (&fixt, "AppDataDictionary=none.xml", "ValidateIncomingMessage=N", "-"),
        (&of("FIX.4.3"), "SendNextExpectedMsgSeqNum=Y", "", "-"),
        (&of("FIX.4.1"), "EnableLastMsgSeqNumProcessed=Y", "", "-"),
    ] {
        let name = key.split_once('=').unwrap().0;
        let told = warnings(&format!("{text}{key}\n{idle}\n"));
        assert!(told.len() == 1 && told[0].contains(&format!(": {name} has no effect: ")), "{key}: {told:?}");
        if active != "-" {
            assert_eq!(warnings(&format!("{text}{key}\n{active}\n")), [""; 0], "{key}");
        }
        // In [DEFAULT] it may be for other sessions, unless there is none of its version.
        if !text.contains("FIX.4.3") && !text.contains("FIX.4.1") {
            assert_eq!(warnings(&format!("[DEFAULT]\n{key}\n{text}{idle}\n")), [""; 0], "{key}");
        }
    }
    for (version, key) in
        [("FIX.4.4", "SendNextExpectedMsgSeqNum"), ("FIX.4.2", "EnableLastMsgSeqNumProcessed")]
    {
        assert_eq!(warnings(&format!("{}{key}=Y\n", of(version))), [""; 0], "{key}");
        assert_eq!(warnings(&format!("{}{key}=N\n", of("FIX.4.0"))), [""; 0], "{key}");
        let any = ACCEPTOR.replace("BeginString=FIX.4.4\n", "DynamicSession=Y\n");
        assert_eq!(warnings(&format!("{any}{key}=Y\n")), [""; 0], "{key}");
    }
    // The silence after which the next TestRequest follows still counts.
    let both = "DisableHeartBeatCheck=Y\nHeartBeatTimeoutMultiplier=2\n";
    assert_eq!(warnings(&format!("{ACCEPTOR}{both}")), [""; 0]);
}

#[test]
fn each_key_of_another_engine_that_is_not_used_is_a_warning_or_stops_the_start() {
    for (name, treatment) in other_keys::other_keys() {
        let key = name.replace('*', "Something");
        let told = |value: &str| {
            // The keys of TLS are for a session that has it, or says that it has none.
            let text = format!("{ACCEPTOR}SocketUseSSL=N\n{key}={value}\n");
            let CheckedConfiguration { warnings, mistakes, .. } =
                CheckedConfiguration::from_text("a.cfg", &text);
            let warnings = warnings.iter().map(ToString::to_string);
            let mistakes = mistakes.iter().map(ToString::to_string);
            (warnings.collect::<Vec<_>>(), mistakes.collect::<Vec<_>>())
        };
        match treatment {
            Treatment::Replaced(instead) => {
                let warning = format!("a.cfg:8: {key} has no effect: {instead}");
                assert_eq!(told("something"), (vec![warning], vec![]));
            }
            Treatment::Unavailable { harmless, reason } => {
                let mistake = format!("a.cfg:8: {key} is not available: {reason}");
                assert_eq!(told("something"), (vec![], vec![mistake]));
                for value in *harmless {
                    assert_eq!(told(value), (vec![], vec![]), "{key}={value}");
                    assert_eq!(told(&value.to_lowercase()), (vec![], vec![]), "{key}={value}");
                }
            }
        }
    }
}

#[test]
fn a_key_in_app_that_resembles_one_of_tls_is_the_applications_and_a_warning() {
    let others = "UseXML=Y\nProtocol=x\nEnabled=Y\nX-UseSSL=Y\nDesk=A";
    let told = warnings(&format!("[APP]\nUseSSL=Y\n{others}\n{ACCEPTOR}"));
    assert!(
        told.len() == 1
            && told[0].starts_with(
                "a.cfg:2: UseSSL has no effect: in [APP] it belongs to the application; if SocketUseSSL is meant"
            ),
        "{told:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_configuration_is_read_from_a_pipe() {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(ACCEPTOR.as_bytes()).unwrap();
    drop(writer);
    let path = format!("/dev/fd/{}", reader.as_raw_fd());
    assert_eq!(Configuration::from_file(path).unwrap().sessions.len(), 1);
}

#[test]
fn an_address_that_is_not_this_machines_and_one_that_is_written_twice_are_told_at_their_lines() {
    let tried = |text: &str| {
        let mut checked = CheckedConfiguration::from_text("a.cfg", text);
        assert!(checked.mistakes.is_empty(), "{:?}", checked.mistakes);
        let in_use = checked.try_start().in_use;
        assert!(in_use.is_empty(), "{in_use:?}");
        checked.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let told = tried(&format!("[DEFAULT]\nStore=memory\n{ACCEPTOR}SocketAcceptHost=192.0.2.1\n"));
    assert!(told.len() == 1 && told[0].starts_with("a.cfg:9: SocketAcceptHost: "), "{told:?}");
    let of = |name: &str, host: &str| {
        let text = ACCEPTOR.replace("TRADER", name).replace("9880", "49880");
        format!("{text}SocketAcceptHost={host}\n")
    };
    let told = tried(&format!(
        "[DEFAULT]\nStore=memory\n{}{}",
        of("ONE", "127.0.0.1"),
        of("OTHER", "::ffff:127.0.0.1")
    ));
    assert!(told.len() == 1 && told[0].contains("overlaps with 127.0.0.1:49880"), "{told:?}");
}

#[test]
fn a_key_in_default_that_is_of_no_session_is_a_warning() {
    let initiator = "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nHeartBtInt=30\nSocketConnectHost=venue\nSocketConnectPort=1\n";
    let shared = "[DEFAULT]\nReconnectInterval=5\nAllowedRemoteAddresses=127.0.0.1\n";
    assert_eq!(
        warnings(&format!("{shared}{ACCEPTOR}")),
        ["a.cfg:2: ReconnectInterval has no effect: it is of initiators, and no session is one"]
    );
    assert_eq!(
        warnings(&format!("{shared}{initiator}")),
        ["a.cfg:3: AllowedRemoteAddresses has no effect: it is of acceptors, and no session is one"]
    );
    assert_eq!(warnings(&format!("{shared}{ACCEPTOR}{initiator}")), [""; 0]);
    let fixt = ACCEPTOR.replace("BeginString=FIX.4.4", "BeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2");
    assert_eq!(
        warnings(&format!("[DEFAULT]\nDataDictionary=FIX50SP2.xml\n{fixt}")),
        [
            "a.cfg:2: DataDictionary has no effect: sessions of FIXT.1.1 have TransportDataDictionary and AppDataDictionary instead"
        ]
    );
    for (key, why) in [
        ("DefaultApplVerID=9", "it belongs to sessions of FIXT.1.1, and there is none"),
        ("TransportDataDictionary=none.xml", "it belongs to sessions of FIXT.1.1, and there is none"),
        ("AppDataDictionary.FIX.4.4=none.xml", "it belongs to sessions of FIXT.1.1, and there is none"),
        ("MaxDynamicSessions=7", "there is no session with DynamicSession=Y"),
        ("DynamicSessionIdleTime=7", "there is no session with DynamicSession=Y"),
        ("SendNextExpectedMsgSeqNum=Y", "versions before FIX.4.4 have no NextExpectedMsgSeqNum (789)"),
        ("EnableLastMsgSeqNumProcessed=Y", "versions before FIX.4.2 have no LastMsgSeqNumProcessed (369)"),
    ] {
        let name = key.split_once('=').unwrap().0;
        let (old, other) = (ACCEPTOR.replace("FIX.4.4", "FIX.4.1"), initiator.replace("=B", "=C"));
        let told = warnings(&format!("[DEFAULT]\n{key}\n{old}"));
        assert_eq!(told, [format!("a.cfg:2: {name} has no effect: {why}")]);
        let template = ACCEPTOR.replace("BeginString=FIX.4.4\n", "DynamicSession=Y\n");
        let template = match name {
            // A session of any version does not read it.
            "TransportDataDictionary" | "AppDataDictionary.FIX.4.4" => continue,
            _ => template,
        };
        assert_eq!(warnings(&format!("[DEFAULT]\n{key}\n{template}{other}")), [""; 0], "{key}");
    }
}
