//! Whether the Logon that a session sends has fields that its dictionary does not know there.

use core::fmt::Write as _;

use fixbolt_codec::{Frame, Framer, Index, Span, Version};
use fixbolt_dictionary::{Action, Check, Policy, RefTag, Validator};
use fixbolt_session::{SessionDictionary, TestMessageIndicator};

use super::error::ConfigWarning;
use super::reading::SessionReader;

/// Tags from here on are a venue's own.
const USER_DEFINED: u32 = 5000;
/// What refuses a field that the Logon does not have, and nothing else.
const MEMBERS: Policy =
    Policy::ignoring().with(Check::UnknownTag, Action::Reject).with(Check::TagNotInMessage, Action::Reject);

impl SessionReader<'_> {
    /// Warns of each key that adds a field to the Logon which the dictionary, as the engine would
    /// use it, does not have there.
    pub(super) fn check_logon(&self, dictionary: &SessionDictionary, warnings: &mut Vec<ConfigWarning>) {
        let Some(version) = self.draft.version else { return };
        let versions;
        let validator: &Validator = match dictionary {
            SessionDictionary::Own(validator) => validator,
            SessionDictionary::Fixt(dictionaries) => {
                versions = dictionaries.versions();
                versions.transport()
            }
            _ => return,
        };
        let settings = &self.draft.settings;
        let logon = &settings.logon;
        let is_test = settings.validation.test_message_indicator == TestMessageIndicator::Test;
        let fields = [
            ("Username", 553, !logon.username.is_empty()),
            ("Password", 554, !logon.password.expose().is_empty()),
            ("NewPassword", 925, !logon.new_password.expose().is_empty()),
            ("RawData", 96, !logon.raw_data.expose().is_empty()),
            ("TestMessageIndicator", 464, is_test),
        ];
        let of_keys = fields.into_iter().filter(|(.., is_sent)| *is_sent);
        let named = of_keys.filter_map(|(key, tag, _)| Some((self.find(key)?, tag)));
        let others = self.find_all("LogonTag").into_iter().filter_map(|setting| {
            let tag = setting.value.as_deref()?.split('=').next()?.trim().parse().ok()?;
            Some((setting, tag))
        });
        for (setting, tag) in named.chain(others) {
            if tag < USER_DEFINED && !has(validator, version, tag) {
                warnings.push(setting.doubtful(format!(
                    "the Logon of {version} has no field {tag}, and a counterparty that validates refuses it; if the venue asks for it, name its dictionary, which has it"
                )));
            }
        }
    }
}

/// Returns whether the Logon of a dictionary has a field.
fn has(validator: &Validator, version: Version, tag: u32) -> bool {
    let mut body = "35=A\x0149=A\x0156=B\x0134=1\x0152=20260101-00:00:00\x0198=0\x01108=30\x01".to_owned();
    let _ = match tag {
        96 => write!(body, "95=1\x0196=x\x01"),
        _ => write!(body, "{tag}=1\x01"),
    };
    let mut message = format!("8={}\x019={}\x01{body}", version.begin_string(), body.len());
    let sum = message.bytes().fold(0_u8, u8::wrapping_add);
    let _ = write!(message, "10={sum:03}\x01");
    let Frame::Message(framed) = Framer::new(message.len()).next(message.as_bytes()) else { return true };
    let (mut tags, mut spans) = ([0; 32], [Span::default(); 32]);
    let mut index = Index::new(&mut tags, &mut spans);
    let Ok(logon) = index.build(framed) else { return true };
    let violations = validator.all(&logon, &MEMBERS, &mut validator.scratch());
    violations.iter().all(|violation| violation.tag != RefTag::Number(tag))
}

#[cfg(test)]
mod tests {
    use super::super::tests::ACCEPTOR;
    use super::super::*;

    #[test]
    fn a_field_that_the_logon_of_the_version_does_not_have_is_a_warning() {
        let warned = |version: &str, line: &str| {
            let text = format!("{}{line}\n", ACCEPTOR.replace("FIX.4.4", version));
            let read = Configuration::from_text("a.cfg", &text).unwrap();
            read.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        for (version, line, tag) in [
            ("FIX.4.2", "Username=desk", Some(553)),
            ("FIX.4.2", "Password=p", Some(554)),
            ("FIX.4.3", "Username=desk", None),
            ("FIX.4.4", "Password=p", None),
            ("FIX.4.4", "NewPassword=p", Some(925)),
            ("FIX.4.4", "RawData=p", None),
            ("FIX.4.0", "RawData=p", None),
            ("FIX.4.2", "TestMessageIndicator=Y", Some(464)),
            ("FIX.4.4", "TestMessageIndicator=Y", None),
            ("FIX.4.4", "LogonTag=4999=x", Some(4999)),
            ("FIX.4.4", "LogonTag=5000=x", None),
            ("FIX.4.4", "LogonTag1=1=x", Some(1)),
            ("FIXT.1.1\nDefaultApplVerID=9", "NewPassword=p", None),
        ] {
            let warnings = warned(version, line);
            match (tag, &warnings[..]) {
                (None, []) => {}
                (Some(tag), [warning]) => {
                    let key = line.split('=').next().unwrap();
                    let said = format!("a.cfg:7: {key}: the Logon of {version} has no field {tag}, ");
                    assert!(warning.starts_with(&said), "{warning}");
                }
                other => panic!("{version} {line}: {other:?}"),
            }
        }
    }
}
