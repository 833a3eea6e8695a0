//! Selects the dictionary that explains a message's tags: a loaded one of its version first, then
//! the shipped one.

use fixbolt::config::GroupsAsSent;
use fixbolt_cli::exit::Failure;
use fixbolt_dictionary::{
    Action, ApplicationVersion, Check, Dictionary, DictionarySet, Member, Policy, Scratch, Validator,
    Version, fixt11, shipped,
};

use super::garbled::meant_version;
use super::words::Words;

/// The dictionaries that messages are shown with.
pub(crate) struct Lexicon {
    loaded: Vec<Known>,
    shipped: Vec<Known>,
    groups_as_sent: GroupsAsSent,
}

/// A dictionary, its validator, and its words as they are printed.
pub(crate) struct Known {
    /// Differs from that of every other dictionary of the lexicon.
    pub(crate) id: usize,
    pub(crate) dictionary: Dictionary,
    pub(crate) validator: Validator,
    pub(crate) scratch: Scratch,
    pub(crate) words: Words,
    /// The tags of the header and of the groups in it.
    pub(crate) header: Vec<u32>,
}

impl Known {
    fn new(id: usize, dictionary: Dictionary, groups_as_sent: &GroupsAsSent) -> Self {
        let mut validator = Validator::new(&dictionary);
        groups_as_sent.apply(&mut validator);
        let scratch = validator.scratch();
        let mut header = Vec::new();
        add_tags(&dictionary, dictionary.header(), &mut header);
        Self { id, dictionary, validator, scratch, words: Words::default(), header }
    }
}

/// Adds the tags of these members and of the groups among them.
fn add_tags(dictionary: &Dictionary, members: &[Member], tags: &mut Vec<u32>) {
    for member in dictionary.expand(members) {
        tags.push(member.tag);
        if let Some(group) = member.group {
            add_tags(dictionary, &dictionary.group(group).members, tags);
        }
    }
}

/// Returns the policy of commands without a configuration: everything that the standard rejects,
/// except tags from 5000 on, which are the user's.
pub(crate) fn policy() -> Policy {
    Policy::standard().with(Check::UserDefinedTag, Action::Ignore)
}

impl Lexicon {
    /// Takes these dictionaries, which take precedence over the shipped versions.
    /// An application version over FIXT without a header is combined with the first transport among
    /// them, or else with the shipped one. All read these groups as they are sent.
    pub(crate) fn new(dictionaries: Vec<Dictionary>, groups_as_sent: GroupsAsSent) -> Result<Self, Failure> {
        let is_transport = |dictionary: &Dictionary| dictionary.version().known == Some(Version::Fixt11);
        let transport = dictionaries.iter().find(|dictionary| is_transport(dictionary));
        let transport = transport.unwrap_or_else(|| fixt11()).clone();
        let begin_string = transport.version().begin_string.clone();
        let (applications, mut loaded): (Vec<_>, Vec<_>) = dictionaries.into_iter().partition(|dictionary| {
            dictionary.header().is_empty() && dictionary.version().begin_string == begin_string
        });
        let set = DictionarySet::new(transport).and_then(|set| {
            applications.iter().enumerate().try_fold(set, |set, (at, one)| {
                // Several may be of the same version: the place keeps them apart.
                let (id, place) = (one.version().appl_ver_id().unwrap_or_default(), at.to_string());
                set.with(ApplicationVersion::new(id).custom(&place), one)
            })
        });
        let set = set.map_err(|mismatch| Failure::usage(mismatch.to_string()))?;
        loaded.extend(set.applications().map(|(_, dictionary)| dictionary.clone()));
        let known = |(at, dictionary)| Known::new(at, dictionary, &groups_as_sent);
        let loaded = loaded.into_iter().enumerate().map(known).collect();
        Ok(Self { loaded, shipped: Vec::new(), groups_as_sent })
    }

    /// Checks that the count fields that were named count groups.
    ///
    /// # Errors
    /// Names one that counts none in any version.
    pub(crate) fn check_groups_as_sent(&self) -> Result<(), Failure> {
        let validators = self.loaded.iter().map(|known| &known.validator);
        // Nearly every group is in the latest version.
        let is_shipped = |tag: u32| {
            let counts = |version| shipped(version).groups().iter().any(|group| group.count_tag == tag);
            Version::ALL.into_iter().rev().any(counts)
        };
        match self.groups_as_sent.unknown_to(validators) {
            Some(tag) if !is_shipped(tag) => {
                Err(Failure::usage(format!("--groups-as-sent: {tag} counts no group of any version")))
            }
            _ => Ok(()),
        }
    }

    /// Returns the dictionary for messages with this BeginString (8) and MsgType (35): among
    /// several of the version, the one that has the message. Over FIXT.1.1, `version` is that of
    /// the message, if it is known. A BeginString that no message has, but that names a version,
    /// stands for it.
    pub(crate) fn find(
        &mut self,
        begin_string: &[u8],
        msg_type: &[u8],
        version: Option<Version>,
    ) -> Option<&mut Known> {
        let begins = |known: &Known, begin_string: &[u8]| {
            known.dictionary.version().begin_string.as_bytes() == begin_string
        };
        let is_loaded = self.loaded.iter().any(|known| begins(known, begin_string));
        let meant = if is_loaded { None } else { meant_version(begin_string) };
        let named = meant.filter(|version| version.is_application());
        let begin_string = meant.map_or(begin_string, |version| version.begin_string().as_bytes());
        let of_version = |known: &Known| {
            let version = known.dictionary.version().known;
            begins(known, begin_string) && named.is_none_or(|named| version == Some(named))
        };
        let with_message = |known: &Known| of_version(known) && known.dictionary.message(msg_type).is_some();
        let at =
            self.loaded.iter().position(with_message).or_else(|| self.loaded.iter().position(of_version));
        if let Some(at) = at {
            return self.loaded.get_mut(at);
        }
        // Of the versions over FIXT.1.1, the latest has nearly everything in the earlier ones.
        let version = match Version::from_begin_string(begin_string)? {
            Version::Fixt11 => {
                let version = named.or(version).filter(|version| version.appl_ver_id().is_some());
                version.unwrap_or(Version::FixLatest)
            }
            version => version,
        };
        let is_same = |known: &Known| of_version(known) && known.dictionary.version().known == Some(version);
        if !self.shipped.iter().any(is_same) {
            let id = self.loaded.len() + self.shipped.len();
            self.shipped.push(Known::new(id, shipped_for(begin_string, version)?, &self.groups_as_sent));
        }
        self.shipped.iter_mut().find(|known| is_same(known))
    }
}

/// Returns the shipped dictionary for whole messages of this version with this BeginString (8).
fn shipped_for(begin_string: &[u8], version: Version) -> Option<Dictionary> {
    if begin_string == fixt11().version().begin_string.as_bytes() {
        return shipped(version).over(fixt11()).ok();
    }
    Some(shipped(version).clone())
}
