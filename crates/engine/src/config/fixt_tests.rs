//! The keys of sessions of FIXT.1.1.

use fixbolt_codec::Version;
use fixbolt_session::SessionDictionary;

use super::*;

const SESSION: &str = "[SESSION]\nConnectionType=acceptor\nBeginString=FIXT.1.1\nSenderCompID=A\nTargetCompID=B\nSocketAcceptPort=0\n";

fn read(lines: &str) -> Result<Configuration, ConfigErrors> {
    Configuration::from_text("a.cfg", &format!("{SESSION}{lines}\n"))
}

fn refused(lines: &str) -> String {
    read(lines).unwrap_err().to_string()
}

fn warnings(configuration: &Configuration) -> Vec<String> {
    configuration.warnings.iter().map(ToString::to_string).collect()
}

/// The application versions of a session.
fn versions(configuration: &Configuration) -> Vec<String> {
    let SessionDictionary::Fixt(dictionaries) = &configuration.sessions[0].settings().dictionary else {
        panic!("no dictionaries: {:?}", configuration.sessions[0].settings().dictionary)
    };
    let id = |id: &[u8]| String::from_utf8_lossy(id).into_owned();
    dictionaries.versions().versions().map(|(version, _)| id(version.appl_ver_id)).collect()
}

#[test]
fn a_session_of_fixt_needs_the_version_of_its_messages_and_then_has_the_shipped_dictionaries() {
    assert_eq!(
        refused(""),
        "a.cfg:1: this session has no DefaultApplVerID, such as FIX.5.0SP2, which FIXT.1.1 needs; add it here or in [DEFAULT]"
    );
    assert_eq!(
        refused("DefaultApplVerID=FIXT.1.1"),
        "a.cfg:7: DefaultApplVerID=FIXT.1.1: a version such as FIX.5.0SP2, or its number, 9 expected"
    );
    for (name, version) in [
        ("9", Version::Fix50Sp2),
        ("FIX.5.0SP2", Version::Fix50Sp2),
        ("5.0", Version::Fix50),
        ("6", Version::Fix44),
        ("FIX.Latest", Version::FixLatest),
    ] {
        let read = read(&format!("DefaultApplVerID={name}")).unwrap();
        let settings = &read.sessions[0].settings();
        assert_eq!(settings.default_appl_ver_id, Some(version));
        assert_eq!(settings.dictionary, SessionDictionary::Shipped);
        assert_eq!((warnings(&read), &read.sessions[0].data_dictionary), (vec![], &None));
    }
}

#[test]
fn names_of_versions_are_the_shipped_dictionaries_where_there_are_no_such_files() {
    let lines = "DefaultApplVerID=FIX.5.0SP2\nTransportDataDictionary=FIXT11.xml\nAppDataDictionary=FIX50SP2.xml\nAppDataDictionary.FIX.4.4=FIX44.xml";
    let read = read(lines).unwrap();
    assert_eq!(versions(&read), ["6", "9"]);
    assert_eq!(
        warnings(&read),
        [
            "a.cfg:8: TransportDataDictionary has no effect: there is no such file; the shipped dictionary of FIXT.1.1 is used",
            "a.cfg:10: AppDataDictionary.FIX.4.4 has no effect: there is no such file; the shipped dictionary of FIX.4.4 is used",
            "a.cfg:9: AppDataDictionary has no effect: there is no such file; the shipped dictionary of FIX.5.0SP2 is used",
        ]
    );
    // Sessions with the same files share them.
    let two = format!("{SESSION}{lines}\n{}{lines}\n", SESSION.replace("=B", "=C"));
    let read = Configuration::from_text("a.cfg", &two).unwrap();
    assert_eq!(read.sessions[0].settings().dictionary, read.sessions[1].settings().dictionary);
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_key() {
    let directory = std::env::temp_dir().join(format!("fixbolt-fixt-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = |name: &str, text: &str| {
        let file = directory.join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let with = |lines: String| format!("DefaultApplVerID=9\n{lines}");
    let dialect = file(
        "dialect.xml",
        "<fix extends='FIX.5.0SP2'><messages><message name='Auction' msgtype='U9' msgcat='app'><field name='Text' required='Y'/></message></messages></fix>",
    );
    let read = read(&with(format!("AppDataDictionary.FIX.5.0SP2={dialect}"))).unwrap();
    assert_eq!((versions(&read), warnings(&read)), (vec!["9".to_owned()], vec![]));
    let own = read.sessions[0].data_dictionary.clone().unwrap().load().unwrap().dictionary;
    assert!(own.message(b"U9").is_some() && own.message(b"A").is_some());
    let transport = file("fixt.xml", "<fix extends='FIXT.1.1'/>");
    let of_42 = file("42.xml", "<fix extends='FIX.4.2'/>");
    let adds = file(
        "adds.xml",
        "<fix type='FIXT' major='1' minor='1'><messages/><fields><field number='5001' name='Desk' type='STRING'/></fields></fix>",
    );
    for (line, why) in [
        (
            format!("TransportDataDictionary={adds}"),
            "it has no header, so nobody could log on: it replaces all of FIXT.1.1; if it only adds to that, begin it with <fix extends='FIXT.1.1'>".to_owned(),
        ),
        (
            "TransportDataDictionary=nowhere.xml".to_owned(),
            "=nowhere.xml: No such file or directory (os error 2); leave the key out (then the shipped one of FIXT.1.1 is used), or correct the path".to_owned(),
        ),
        (
            "AppDataDictionary=nowhere.xml".to_owned(),
            "(then the shipped one of FIX.5.0SP2 is used), or correct the path".to_owned(),
        ),
        // However the version is spelled, the line and the file are named.
        (
            "AppDataDictionary.fix44=nowhere.xml".to_owned(),
            "=nowhere.xml: No such file or directory (os error 2); correct the path".to_owned(),
        ),
        (
            format!("AppDataDictionary={transport}"),
            "it is of FIXT.1.1 and has no application messages; the key is for FIX.5.0SP2".to_owned(),
        ),
        (
            format!("TransportDataDictionary={of_42}"),
            "it is of FIX.4.2, and the transport is FIXT.1.1".to_owned(),
        ),
        (format!("AppDataDictionary={of_42}"), "it is of FIX.4.2, and the key is for FIX.5.0SP2".to_owned()),
        (
            format!("AppDataDictionary.FIX.4.4={of_42}"),
            "it is of FIX.4.2, and the key is for FIX.4.4".to_owned(),
        ),
    ] {
        let error = refused(&with(line.clone()));
        let key = line.split('=').next().unwrap();
        assert!(error.starts_with(&format!("a.cfg:8: {key}=")) && error.contains(&why), "{error}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn keys_of_other_sessions_are_no_keys_of_fixt_and_the_reverse() {
    assert_eq!(
        refused("DefaultApplVerID=9\nDataDictionary=FIX44.xml"),
        "a.cfg:8: DataDictionary is not used by a session of FIXT.1.1: it has TransportDataDictionary and AppDataDictionary"
    );
    let error = refused("DefaultApplVerID=9\nAppDataDictionary.FIX.9.9=x.xml");
    assert!(error.starts_with("a.cfg:8: unknown key AppDataDictionary.FIX.9.9"), "{error}");
    // In the defaults they are for those sessions that use them.
    let other = SESSION.replace("FIXT.1.1", "FIX.4.4");
    let both = format!(
        "[DEFAULT]\nDefaultApplVerID=9\nAppDataDictionary=FIX50SP2.xml\nDataDictionary=FIX44.xml\n{SESSION}{other}"
    );
    let read = Configuration::from_text("a.cfg", &both).unwrap();
    let about: Vec<_> = read.warnings.iter().map(|warning| warning.key.as_str()).collect();
    assert_eq!(about, ["AppDataDictionary", "DataDictionary"]);
    let mixed = CheckedConfiguration::from_text("a.cfg", &format!("{SESSION}DefaultApplVerID=9\n{other}"));
    let shown = |n: usize| -> Vec<_> {
        let keys = mixed.sessions[n].effective.iter().map(|setting| setting.key.as_str());
        keys.filter(|key| key.ends_with("DataDictionary") && !key.starts_with("Use")).collect()
    };
    assert_eq!(shown(0), ["TransportDataDictionary", "AppDataDictionary"]);
    assert_eq!(shown(1), ["DataDictionary"]);
    assert_eq!(
        refused("DefaultApplVerID=9\nDataDictionaryEncoding=UTF-8\nTransportDataDictionary=FIXT11.xml"),
        "a.cfg:8: DataDictionaryEncoding is set, but AppDataDictionary names no file"
    );
    // Without dictionaries no file is read.
    let none = read_none();
    assert_eq!(none.sessions[0].settings().dictionary, SessionDictionary::None);
}

#[test]
fn sessions_that_read_the_same_file_differently_have_a_dictionary_each() {
    let directory = std::env::temp_dir().join(format!("fixbolt-fixt-read-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("latin.xml");
    std::fs::write(&file, b"<!-- caf\xe9 --><fix extends='FIX.4.4'/>").unwrap();
    let lines = format!("DefaultApplVerID=9\nAppDataDictionary.FIX.4.4={}\n", file.display());
    let text =
        format!("{SESSION}{lines}{}{lines}DataDictionaryEncoding=ISO-8859-1\n", SESSION.replace("=B", "=C"));
    let checked = CheckedConfiguration::from_text("a.cfg", &text);
    std::fs::remove_dir_all(&directory).unwrap();
    let results: Vec<_> = checked.sessions.iter().map(|session| session.result.is_ok()).collect();
    assert_eq!(results, [false, true], "{:?}", checked.sessions[1].result);
}

#[test]
fn a_session_of_any_version_cannot_name_the_dictionaries_of_fixt() {
    let any = SESSION.replace("BeginString=FIXT.1.1", "DynamicSession=Y");
    let lines = "DefaultApplVerID=9\nUseDataDictionary=Y\n";
    assert!(Configuration::from_text("a.cfg", &format!("{any}{lines}")).is_ok());
    for key in ["TransportDataDictionary", "AppDataDictionary", "AppDataDictionary.FIX.4.4"] {
        let text = format!("{any}{lines}{key}=nowhere.xml\n");
        assert_eq!(
            Configuration::from_text("a.cfg", &text).unwrap_err().to_string(),
            format!(
                "a.cfg:9: {key} is for sessions of FIXT.1.1, but the session may use any version; set its BeginString"
            )
        );
        assert!(Configuration::from_text("a.cfg", &text.replace("Dictionary=Y", "Dictionary=N")).is_ok());
    }
}

#[test]
fn the_sessions_own_key_counts_before_that_of_the_defaults_however_the_version_is_spelled() {
    let text = format!(
        "[DEFAULT]\nDefaultApplVerID=9\nAppDataDictionary.FIX.5.0SP2=nowhere.xml\n{SESSION}AppDataDictionary.5.0SP2=FIX50SP2.xml\n"
    );
    let read = Configuration::from_text("a.cfg", &text).unwrap();
    assert_eq!(
        warnings(&read),
        [
            "a.cfg:10: AppDataDictionary.5.0SP2 has no effect: there is no such file; the shipped dictionary of FIX.5.0SP2 is used"
        ]
    );
    assert!(read.sessions[0].data_dictionary.clone().unwrap().load().is_ok());
}

fn read_none() -> Configuration {
    read("DefaultApplVerID=9\nUseDataDictionary=N\nAppDataDictionary=nowhere.xml").unwrap()
}
