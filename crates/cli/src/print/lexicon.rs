//! Selects the dictionary that explains a message's tags: a loaded one of its version first, then
//! the shipped one.

use std::path::Path;

use fixbolt_dictionary::{
    Action, Check, Dictionary, Policy, Scratch, Validator, Version, fix_latest, fixt11, shipped,
};

use super::words::Words;
use crate::dictionary::load;
use crate::exit::Failure;

/// The dictionaries that messages are shown with.
pub(crate) struct Lexicon {
    loaded: Vec<Known>,
    shipped: Vec<Known>,
}

/// A dictionary, its validator, and its words as they are printed.
pub(crate) struct Known {
    /// Differs from that of every other dictionary of the lexicon.
    pub(crate) id: usize,
    pub(crate) dictionary: Dictionary,
    pub(crate) validator: Validator,
    pub(crate) scratch: Scratch,
    pub(crate) words: Words,
}

impl Known {
    fn new(id: usize, dictionary: Dictionary) -> Self {
        let validator = Validator::new(&dictionary);
        let scratch = validator.scratch();
        Self { id, dictionary, validator, scratch, words: Words::default() }
    }
}

/// Returns the policy of commands without a configuration: everything that the standard rejects,
/// except tags from 5000 on, which are the user's.
pub(crate) fn policy() -> Policy {
    Policy::standard().with(Check::UserDefinedTag, Action::Ignore)
}

impl Lexicon {
    /// Loads these dictionaries (names or files), which take precedence over the shipped versions.
    /// An application version over FIXT without a header is combined with the first transport among
    /// them, or else with the shipped one.
    pub(crate) fn new(arguments: &[impl AsRef<Path>]) -> Result<Self, Failure> {
        let mut dictionaries = Vec::new();
        for argument in arguments {
            dictionaries.push(load(argument.as_ref())?.dictionary);
        }
        let is_transport = |dictionary: &Dictionary| dictionary.version().name.starts_with("FIXT");
        let transport = dictionaries.iter().find(|dictionary| is_transport(dictionary)).cloned();
        let transport = transport.as_deref().unwrap_or_else(|| fixt11());
        let mut loaded = Vec::new();
        for (dictionary, argument) in dictionaries.into_iter().zip(arguments) {
            let whole = !dictionary.header().is_empty()
                || dictionary.version().begin_string != transport.version().begin_string;
            let dictionary = if whole {
                dictionary.into_owned()
            } else {
                let place = argument.as_ref().display();
                dictionary.over(transport).map_err(|error| Failure::usage(format!("{place}: {error}")))?
            };
            loaded.push(Known::new(loaded.len(), dictionary));
        }
        Ok(Self { loaded, shipped: Vec::new() })
    }

    /// Returns the dictionary for messages with this BeginString (8) and MsgType (35): among
    /// several of the version, the one that has the message.
    pub(crate) fn find(&mut self, begin_string: &[u8], msg_type: &[u8]) -> Option<&mut Known> {
        let of_version = |known: &Known| known.dictionary.version().begin_string.as_bytes() == begin_string;
        let with_message = |known: &Known| of_version(known) && known.dictionary.message(msg_type).is_some();
        let at =
            self.loaded.iter().position(with_message).or_else(|| self.loaded.iter().position(of_version));
        if let Some(at) = at {
            return self.loaded.get_mut(at);
        }
        if !self.shipped.iter().any(of_version) {
            let id = self.loaded.len() + self.shipped.len();
            self.shipped.push(Known::new(id, shipped_for(begin_string)?));
        }
        self.shipped.iter_mut().find(|known| of_version(known))
    }
}

/// Returns the shipped dictionary for whole messages with this BeginString (8). For FIXT.1.1 it is
/// the latest version, which has nearly everything in the earlier ones.
fn shipped_for(begin_string: &[u8]) -> Option<Dictionary> {
    match Version::from_begin_string(begin_string)? {
        Version::Fixt11 => fix_latest().over(fixt11()).ok(),
        version => Some(shipped(version).clone()),
    }
}
