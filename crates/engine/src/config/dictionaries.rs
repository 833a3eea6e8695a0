//! The files that DataDictionary names, each read once.

use std::path::Path;
use std::sync::Arc;

use fixbolt_codec::Version;
use fixbolt_dictionary::{Policy, Source, Validator};
use fixbolt_session::{FixtDictionaries, SessionDictionary};

use super::dictionary_file::{Lacks, Unread, read_dictionary};
use super::fixt::{Fixt, FixtDraft};
use super::groups_as_sent::GroupsAsSent;

/// The dictionaries that were read, by source.
#[derive(Default)]
pub(super) struct Dictionaries {
    read: Vec<(Source<'static>, Result<Known, Unread>)>,
    /// The dictionaries of sessions of FIXT.1.1, by the keys that name them, how their files are
    /// read, and the policy.
    fixt: Vec<(FixtDraft, Version, Vec<Source<'static>>, Policy, Fixt)>,
    /// The dictionaries that read groups as they are sent, by the dictionary that does not and the
    /// groups.
    as_sent: Vec<(SessionDictionary, GroupsAsSent, SessionDictionary)>,
}

struct Known {
    begin_string: String,
    lacks: Lacks,
    name: String,
    validator: Arc<Validator>,
    odd: Vec<String>,
}

impl Dictionaries {
    /// Returns the validator for a dictionary, for a session of this version, and what is odd in
    /// the dictionary.
    ///
    /// # Errors
    /// Why there is none, and what to do.
    pub(super) fn validator(
        &mut self,
        source: Source<'static>,
        version: Option<Version>,
        policy: &Policy,
    ) -> Result<(Arc<Validator>, Vec<String>), String> {
        let at = self.read.iter().position(|(known, _)| *known == source).unwrap_or_else(|| {
            let known = read_dictionary(source.clone()).map(|(dictionary, odd)| Known {
                name: dictionary.version().name.clone(),
                begin_string: dictionary.version().begin_string.clone(),
                lacks: Lacks::of(&dictionary),
                validator: Arc::new(Validator::new(&dictionary)),
                odd,
            });
            self.read.push((source, known));
            self.read.len() - 1
        });
        let Known { name, begin_string, lacks, validator, odd } = match &self.read[at].1 {
            Ok(known) => known,
            Err(unread) => {
                return Err(match version {
                    Some(_) => unread.or_shipped(version),
                    None => unread.or_any_shipped(),
                });
            }
        };
        match version {
            Some(version) if begin_string == version.begin_string() => match lacks.no_logon(policy) {
                None => Ok((Arc::clone(validator), odd.clone())),
                Some(reason) => Err(reason),
            },
            Some(version) => Err(format!("it is for {name}, but the session uses {version}")),
            None => {
                Err(format!("it is for {name}, but the session may use any version; set its BeginString"))
            }
        }
    }

    /// Returns a dictionary that reads groups as they are sent. Sessions with the same dictionary
    /// and groups share it.
    ///
    /// # Errors
    /// The first tag that counts no group of the dictionary.
    pub(super) fn as_sent(
        &mut self,
        dictionary: &SessionDictionary,
        groups: &GroupsAsSent,
    ) -> Result<SessionDictionary, u32> {
        let known = self.as_sent.iter().find(|known| known.0 == *dictionary && known.1 == *groups);
        if let Some((.., as_sent)) = known {
            return Ok(as_sent.clone());
        }
        let read = |validator: &Arc<Validator>| {
            let mut validator = Validator::clone(validator);
            groups.apply(&mut validator);
            Arc::new(validator)
        };
        let (unknown, as_sent) = match dictionary {
            SessionDictionary::Own(validator) => {
                (groups.unknown_to([&**validator]), SessionDictionary::Own(read(validator)))
            }
            SessionDictionary::Fixt(dictionaries) => {
                let versions = dictionaries.versions();
                let all: Vec<&Validator> =
                    versions.applications().chain([versions.transport()]).map(|one| &**one).collect();
                let as_sent = FixtDictionaries::new(versions.map(read));
                (groups.unknown_to(all), SessionDictionary::Fixt(Arc::new(as_sent)))
            }
            other => (None, other.clone()),
        };
        if let Some(tag) = unknown {
            return Err(tag);
        }
        self.as_sent.push((dictionary.clone(), groups.clone(), as_sent.clone()));
        Ok(as_sent)
    }

    /// Returns the dictionaries of a session of FIXT.1.1. Sessions with the same files share them.
    ///
    /// # Errors
    /// The key whose file cannot be used, and why.
    pub(super) fn of_fixt(
        &mut self,
        draft: &FixtDraft,
        default: Version,
        application: &dyn Fn(&Path) -> Source<'static>,
        policy: &Policy,
    ) -> Fixt {
        let sources: Vec<_> = draft.application_files().map(application).collect();
        let known = |of: &&(FixtDraft, Version, Vec<Source<'static>>, Policy, Fixt)| {
            of.0 == *draft && of.1 == default && of.2 == sources && of.3 == *policy
        };
        if let Some((.., read)) = self.fixt.iter().find(known) {
            return read.clone();
        }
        let read = draft.read(default, application, policy).map(|(read, remarks)| (Arc::new(read), remarks));
        self.fixt.push((draft.clone(), default, sources, *policy, read.clone()));
        read
    }
}
