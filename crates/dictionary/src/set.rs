//! A transport and the application versions that it carries, as one value.
//!
//! What needs all of them takes this: validators of a session, typed messages, printing. Each
//! application version is put over the transport when it is added, so that whole messages can be
//! read with it.

use fixbolt_codec::Version;

use crate::application_versions::{ApplicationVersion, ApplicationVersions, UnsupportedApplicationVersion};
use crate::model::Dictionary;
use crate::shipped::{fixt11, shipped};
use crate::transport::TransportMismatch;
#[cfg(feature = "validation")]
use crate::validate::Validator;

/// A transport dictionary and its application versions.
///
/// ```
/// use fixbolt_dictionary::{ApplicationVersion, DictionarySet, fix44, fix50sp2, fixt11};
///
/// let set = DictionarySet::new(fixt11().clone())?
///     .with(ApplicationVersion::new("9"), fix50sp2())?
///     .with(ApplicationVersion::new("6"), fix44())?
///     .with_default(ApplicationVersion::new("9"))
///     .expect("9 was added");
/// assert_eq!(set.transport().version().name, "FIXT.1.1");
/// let names: Vec<&str> = set.applications().map(|(_, one)| one.version().name.as_str()).collect();
/// assert_eq!(names, ["FIX.5.0SP2", "FIX.4.4"]);
/// // Each has the transport's header and session messages.
/// assert!(set.applications().all(|(_, one)| one.message(b"A").is_some()));
/// let validators = set.validators();
/// # let _ = validators.scratch();
/// # Ok::<(), fixbolt_dictionary::TransportMismatch>(())
/// ```
#[derive(Debug, Clone)]
pub struct DictionarySet {
    dictionaries: ApplicationVersions<Dictionary>,
}

impl DictionarySet {
    /// Creates a set without application versions.
    ///
    /// # Errors
    /// Returns an error if the transport has no header.
    pub fn new(transport: Dictionary) -> Result<DictionarySet, TransportMismatch> {
        if transport.header().is_empty() {
            return Err(TransportMismatch::without_header(&transport, &transport));
        }
        Ok(DictionarySet { dictionaries: ApplicationVersions::new(transport) })
    }

    /// Adds an application version, or replaces the one that was added before under this version.
    ///
    /// # Errors
    /// Returns an error if a name has different tags in it and in the transport.
    pub fn with(
        self,
        version: ApplicationVersion<'_>,
        application: &Dictionary,
    ) -> Result<DictionarySet, TransportMismatch> {
        let whole = application.over(self.transport())?;
        Ok(DictionarySet { dictionaries: self.dictionaries.with(version, whole) })
    }

    /// Sets the default for messages whose version neither the message nor a Logon names.
    ///
    /// # Errors
    /// Returns an error if the version was not added.
    pub fn with_default(
        self,
        version: ApplicationVersion<'_>,
    ) -> Result<DictionarySet, UnsupportedApplicationVersion> {
        Ok(DictionarySet { dictionaries: self.dictionaries.with_default(version)? })
    }

    /// Returns FIXT.1.1 with every shipped version that has a value in ApplVerID(1128).
    ///
    /// # Errors
    /// The shipped versions fit their transport, so this does not fail.
    pub fn shipped() -> Result<DictionarySet, TransportMismatch> {
        let versions = Version::ALL.into_iter().filter_map(|version| Some((version, version.appl_ver_id()?)));
        versions.fold(DictionarySet::new(fixt11().clone()), |set, (version, id)| {
            set?.with(ApplicationVersion::new(id), shipped(version))
        })
    }

    /// Returns the transport.
    pub fn transport(&self) -> &Dictionary {
        self.dictionaries.transport()
    }

    /// Returns the application versions over the transport, in the order in which they were added.
    pub fn applications(&self) -> impl Iterator<Item = (ApplicationVersion<'_>, &Dictionary)> {
        self.dictionaries.versions()
    }

    /// Returns the dictionaries by version, to choose one for a message. A session that reads
    /// Logons clones this.
    pub fn dictionaries(&self) -> &ApplicationVersions<Dictionary> {
        &self.dictionaries
    }

    /// Compiles a validator for the transport and for each application version. Sessions share
    /// them: each has a clone, as Logons determine its defaults.
    #[cfg(feature = "validation")]
    pub fn validators(&self) -> ApplicationVersions<std::sync::Arc<Validator>> {
        self.dictionaries.map(|dictionary| std::sync::Arc::new(Validator::new(dictionary)))
    }
}
