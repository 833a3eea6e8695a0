//! The way in for dictionaries: a file, a text or a shipped version, and how it is read.
//!
//! Only [`Source::load`] accesses the file system, and only the files that it was told. What a file
//! may cost is limited before it is parsed.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use fixbolt_codec::Version;

use crate::encoding::{Encoding, decode};
use crate::limits;
use crate::loaded::{Loaded, Options};
use crate::model::Dictionary;
use crate::read::{Faults, Warning};
use crate::shipped::shipped;
use crate::transport::TransportMismatch;
use crate::{compact, orchestra, quickfix_xml, xml};

/// A dictionary to load, and how to read it. By default a source is read strictly, as it says.
///
/// The form is recognized from the text: QuickFIX XML, FIX Orchestra or a compact table. With
/// `<fix extends='FIX.4.4'>` the text contains only what it adds to that shipped version or changes
/// in it.
///
/// ```
/// use fixbolt_dictionary::Source;
/// let text = "<fix major='4' minor='4'>
///     <header><field name='BeginString' required='Y'/></header>
///     <messages><message name='News' msgtype='B'>
///     <field name='Headline' required='Y'/>
///     </message></messages>
///     <fields><field number='8' name='BeginString' type='STRING'/>
///     <field number='148' name='Headline' type='STRING'/></fields></fix>";
/// let loaded = Source::text(text).load().unwrap();
/// assert_eq!(loaded.dictionary.version().name, "FIX.4.4");
/// assert!(loaded.warnings.is_empty());
///
/// let misspelled = text.replace("name='Headline' req", "name='Headlime' req");
/// let error = Source::text(&misspelled).load().unwrap_err();
/// let told = "line 4: field 'Headlime' in message 'News': no field has this name";
/// assert_eq!(error.to_string(), told);
/// ```
///
/// # Limits
/// Reading takes time and memory in proportion to the size of the source. Refused are: more than
/// 32 MiB ([`Source::max_bytes`] changes it); elements nested deeper than 256, with more than 256
/// attributes or a tag of more than 64 KiB, and more than 64 namespaces; definitions nested deeper
/// than 64; more than 60,000 fields; a definition with more than 100,000 members when its
/// components and groups are replaced by theirs, or 4,000,000 in all messages and groups together;
/// and messages and groups whose number multiplied by that of the fields exceeds 67,108,864. The
/// first 1,000 errors, and as many warnings, are reported; the others are counted.
#[derive(Debug)]
pub struct Source<'a> {
    content: Content<'a>,
    encoding: Option<Encoding>,
    max_bytes: usize,
    options: Options<'a>,
    transport: Option<Box<Source<'a>>>,
}

// Derived, they would be inline: every crate would compile the copying and the comparison of whole
// dictionaries.
impl Clone for Source<'_> {
    fn clone(&self) -> Self {
        Self {
            content: self.content.clone(),
            encoding: self.encoding,
            max_bytes: self.max_bytes,
            options: self.options.clone(),
            transport: self.transport.clone(),
        }
    }
}

impl PartialEq for Source<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
            && self.encoding == other.encoding
            && self.max_bytes == other.max_bytes
            && self.options == other.options
            && self.transport == other.transport
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Content<'a> {
    File(PathBuf),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    Shipped(Version),
}

impl<'a> Source<'a> {
    fn new(content: Content<'a>) -> Source<'a> {
        Source {
            content,
            encoding: None,
            max_bytes: limits::BYTES,
            options: Options::default(),
            transport: None,
        }
    }

    /// Creates a source from a file, which [`Source::load`] reads.
    pub fn file(path: impl Into<PathBuf>) -> Source<'a> {
        Source::new(Content::File(path.into()))
    }

    /// Creates a source from a shipped version.
    ///
    /// The options for reading do not apply to it, except [`Source::transport`].
    pub fn shipped(version: Version) -> Source<'a> {
        Source::new(Content::Shipped(version))
    }

    /// Creates a source from what people write: the name of a shipped version in any usual spelling
    /// (`FIX.4.4`, `fix44`, `latest`), else a file. A file with the name of a version must be
    /// written with its folder: `./FIX44`.
    pub fn named(name: impl AsRef<Path>) -> Source<'a> {
        let path = name.as_ref();
        match path.to_str().and_then(|word| word.parse().ok()) {
            Some(version) => Source::shipped(version),
            None => Source::file(path),
        }
    }

    /// Creates a source from the text of a dictionary.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Source<'a> {
        Source::new(Content::Text(text.into()))
    }

    /// Creates a source from the bytes of a dictionary file.
    pub fn bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Source<'a> {
        Source::new(Content::Bytes(bytes.into()))
    }

    /// Sets the encoding, if the source does not say it or says it wrongly. By default it is UTF-16
    /// with a byte order mark, ISO-8859-1 if the XML declaration says so, and UTF-8 otherwise.
    ///
    /// ```
    /// use fixbolt_dictionary::{Encoding, Source};
    /// let latin = b"<fix extends='FIX.4.4'><!-- M\xfcller --></fix>";
    /// assert!(Source::bytes(&latin[..]).load().is_err());
    /// assert!(Source::bytes(&latin[..]).encoding(Encoding::Latin1).load().is_ok());
    /// ```
    #[must_use]
    pub fn encoding(mut self, encoding: Encoding) -> Source<'a> {
        self.encoding = Some(encoding);
        self
    }

    /// Sets the version that the source describes, if the source says it wrongly or not at all.
    /// A venue's Orchestra file may have the venue's own version, for example. By default a file of
    /// QuickFIX's XML without a service pack has that of its name: QuickFIX/J's FIX50SP1.xml.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Source<'a> {
        self.options.version = Some(in_full(version.into()));
        self
    }

    /// Reads only what belonged to this version, for example `FIX.5.0SP1`: FIX Orchestra notes the
    /// version in which each part was added. The session layer of a version over FIXT.1.1 is
    /// omitted, as FIXT.1.1 has it.
    #[must_use]
    pub fn as_of(mut self, version: impl Into<String>) -> Source<'a> {
        self.options.as_of = Some(in_full(version.into()));
        self
    }

    /// Accepts a tag that several fields have, which is an error otherwise. The first field stays,
    /// and the names of later ones refer to it.
    ///
    /// ```
    /// use fixbolt_dictionary::Source;
    /// let text = "<fix major='4' minor='4'><messages/><fields>
    ///     <field number='5001' name='A' type='INT'/>
    ///     <field number='5001' name='B' type='INT'/></fields></fix>";
    /// assert!(Source::text(text).load().is_err());
    /// let loaded = Source::text(text).accept_duplicate_tags().load().unwrap();
    /// assert_eq!(loaded.dictionary.field(5001).unwrap().name, "A");
    /// ```
    #[must_use]
    pub fn accept_duplicate_tags(mut self) -> Source<'a> {
        self.options.duplicate_tags = true;
        self
    }

    /// Reads messages as this scenario of FIX Orchestra has them, where it has its own; the others
    /// are those of base. Without it, [`Dictionary::scenarios`] has them beside those of base.
    #[must_use]
    pub fn scenario(mut self, name: impl Into<String>) -> Source<'a> {
        self.options.scenario = Some(name.into());
        self
    }

    /// Gives fields, messages and codes the names that FIX Orchestra has for the same tag, message
    /// type and value.
    #[must_use]
    pub fn standard_names(mut self) -> Source<'a> {
        self.options.standard_names = true;
        self
    }

    /// Puts the dictionary over a transport, from which it gets header, trailer and session
    /// messages.
    ///
    /// ```
    /// use fixbolt_dictionary::{Source, Version};
    /// let fixt = Source::shipped(Version::Fixt11);
    /// let whole = Source::shipped(Version::Fix50Sp2).transport(fixt).load().unwrap().dictionary;
    /// assert!(whole.message(b"A").is_some() && whole.message(b"D").is_some());
    /// ```
    #[must_use]
    pub fn transport(mut self, transport: Source<'a>) -> Source<'a> {
        self.transport = Some(Box::new(transport));
        self
    }

    /// Reads the source as additions to and changes of this dictionary, which need not be shipped.
    ///
    /// Such an overlay is QuickFIX XML that contains only the difference, and uses the names of the
    /// dictionary:
    /// - `<field>`: a new number is a new field. A known one gets the listed values added, for all
    ///   fields that share its codes.
    /// - `<component>`: a new name is a new component. A known one gets the members added. A
    ///   component around one `<group>` is that group, and a group of the dictionary is known by
    ///   the same name: `<component name='Parties'><group name='NoPartyIDs'>` adds members to it
    ///   wherever it is used.
    /// - `<message>`: a new msgtype is a new message. A known one gets the members added.
    /// - `<header>` and `<trailer>` get the members added.
    /// - For an existing member only its requiredness changes. An existing `<group>` gets members
    ///   added, in this place alone.
    /// - `replace='Y'` on a field, component or message replaces the old definition by the new one.
    ///
    /// Whatever contradicts the dictionary is an error: another name or type for a known number, a
    /// member that already comes with a component.
    ///
    /// ```
    /// use fixbolt_dictionary::{Source, fix44};
    ///
    /// let overlay = "<fix><fields>
    ///     <field number='5001' name='Colour' type='CHAR'>
    ///         <value enum='1' description='RED'/>
    ///     </field>
    ///     </fields><messages><message name='NewOrderSingle' msgtype='D'>
    ///     <field name='Colour' required='Y'/>
    ///     </message></messages></fix>";
    /// let dialect = Source::text(overlay).extending(fix44()).load().unwrap().dictionary;
    /// assert_eq!(dialect.code(5001, b"1").unwrap().name, "RED");
    /// let order = dialect.message(b"D").unwrap();
    /// assert!(dialect.expand(&order.members).any(|member| member.tag == 5001 && member.required));
    ///
    /// let wrong = overlay.replace("5001", "58");
    /// let error = Source::text(&wrong).extending(fix44()).load().unwrap_err();
    /// let told = "line 2: field 'Colour': field 58 is 'Text' in FIX.4.4 (and 1 more)";
    /// assert_eq!(error.to_string(), told);
    /// ```
    #[must_use]
    pub fn extending(mut self, base: &'a Dictionary) -> Source<'a> {
        self.options.base = Some(base);
        self
    }

    /// Sets the license under which the facts of the source are used. By default it is what the
    /// source says, and nothing is assumed of a source that says nothing.
    #[must_use]
    pub fn license(mut self, license: impl Into<String>) -> Source<'a> {
        self.options.license = Some(license.into());
        self
    }

    /// Sets the name of a text for messages and for [`Origin::name`](crate::Origin::name); that of
    /// a file is its own.
    #[must_use]
    pub fn called(mut self, name: impl Into<String>) -> Source<'a> {
        self.options.name = name.into();
        self
    }

    /// Sets the number of bytes from which on the source is refused before it is read.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Source<'a> {
        self.max_bytes = bytes;
        self
    }

    /// Returns the file, or the name of the shipped version as a path; `None` for a text or bytes.
    pub fn path(&self) -> Option<&Path> {
        match &self.content {
            Content::File(path) => Some(path),
            Content::Shipped(version) => Some(Path::new(version.name())),
            Content::Text(_) | Content::Bytes(_) => None,
        }
    }

    /// Returns the files that the source and its transport are read from.
    pub fn files(&self) -> Vec<&Path> {
        let mut files = self.transport.as_ref().map_or_else(Vec::new, |transport| transport.files());
        if let Content::File(path) = &self.content {
            files.insert(0, path);
        }
        files
    }

    /// Reads the dictionary.
    ///
    /// # Errors
    /// Returns why a file cannot be read, or what is wrong with the source, each with element, line
    /// and reason. A document type declaration is skipped: entities are never resolved.
    pub fn load(self) -> Result<Loaded, LoadError> {
        let place = match &self.content {
            Content::File(path) => path.display().to_string(),
            Content::Shipped(version) => version.name().to_string(),
            Content::Text(_) | Content::Bytes(_) => self.options.name.clone(),
        };
        let refused = |faults| LoadError::Refused { name: place.clone(), faults };
        let Source { content, encoding, max_bytes, mut options, transport } = self;
        let check_size = |bytes: u64| match bytes > max_bytes as u64 {
            true => Err(refused(Faults::of_document(format!(
                "{bytes} bytes are too many for a dictionary; the limit is {max_bytes}"
            )))),
            false => Ok(()),
        };
        let bytes: Cow<'a, [u8]> = match &content {
            Content::Shipped(_) => Cow::Borrowed(&[]),
            Content::Text(_) => Cow::Borrowed(&[]),
            Content::Bytes(bytes) => bytes.clone(),
            Content::File(path) => {
                let unreadable = |error| LoadError::File { file: path.clone(), error };
                let file = File::open(path).map_err(unreadable)?;
                check_size(file.metadata().map_err(unreadable)?.len())?;
                let mut bytes = Vec::new();
                file.take(max_bytes as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
                options.name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                Cow::Owned(bytes)
            }
        };
        let mut loaded = match content {
            Content::Shipped(version) => {
                Loaded { dictionary: shipped(version).clone(), warnings: Vec::new(), lines: HashMap::new() }
            }
            Content::Text(text) => {
                check_size(text.len() as u64)?;
                read(&text, &options).map_err(refused)?
            }
            Content::Bytes(_) | Content::File(_) => {
                check_size(bytes.len() as u64)?;
                let text = decode(&bytes, encoding).map_err(refused)?;
                read(&text, &options).map_err(refused)?
            }
        };
        if let Some(transport) = transport {
            let transport = transport.load()?;
            loaded.dictionary = loaded
                .dictionary
                .over(&transport.dictionary)
                .map_err(|mismatch| refused(Faults::of_document(mismatch.to_string())))?;
            loaded.warnings.retain(|warning| warning.reason != crate::assemble::NO_HEADER);
        }
        Ok(loaded)
    }
}

/// Returns the name of a version that is written in any usual spelling.
fn in_full(version: String) -> String {
    version.parse::<Version>().map_or(version, |known| known.name().to_string())
}

/// Reads a text in the form that it shows.
fn read(text: &str, options: &Options<'_>) -> Result<Loaded, Faults> {
    if let Some(version) = options.version.as_ref().filter(|version| !version.starts_with("FIX")) {
        let reason = format!("the version '{version}' that was set does not begin with FIX");
        return Err(Faults::of_document(reason));
    }
    let plain = xml::plain(text);
    let root = root_element(&plain);
    let is_xml = root.is_some();
    let mut loaded = match root {
        Some("repository") => orchestra::read(text, options),
        Some(_) => quickfix_xml::read(text, options),
        None if options.reads_xml() => {
            Err(Faults::of_document("options apply to FIX Orchestra and QuickFIX XML, not to a table"))
        }
        None => compact::read(text),
    }?;
    let dictionary = &mut loaded.dictionary;
    if let (false, Some(license)) = (is_xml, &options.license) {
        dictionary.origin.license = license.clone();
    }
    if let Some(name) = &options.scenario {
        *dictionary = dictionary.in_scenario(name).ok_or_else(|| {
            let mut seen = HashSet::new();
            let names = dictionary.scenarios.iter().map(|one| one.name.as_str());
            let names = names.filter(|name| seen.insert(*name)).collect::<Vec<_>>().join(", ");
            let known =
                if names.is_empty() { "there is none".to_string() } else { format!("there are {names}") };
            Faults::of_document(format!("no message has the scenario '{name}'; {known}"))
        })?;
    }
    if let (Some(named), None) = (options.file_version(), &options.version)
        && dictionary.version.known != Some(named)
    {
        let reason = format!(
            "the file's name is that of {named}, but it says {}, as which it is read; the version can be set",
            dictionary.version.name
        );
        loaded.warnings.insert(0, Warning { line: 1, element: "document".to_string(), reason });
    }
    Ok(loaded)
}

/// Returns the local name of the first element, or `None` if the text is not XML.
fn root_element(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start().strip_prefix('<')?;
        let end = match text {
            _ if text.starts_with("!--") => "-->",
            _ if text.starts_with('?') => "?>",
            _ => break,
        };
        text = text.split_once(end).map(|(_, rest)| rest)?;
    }
    let name = text.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next()?;
    name.rsplit(':').next()
}

impl Loaded {
    /// Replaces the dictionary by one with which whole messages can be read
    /// ([`Dictionary::whole`]), and keeps the rest.
    ///
    /// # Errors
    /// Returns an error if a name has different tags in an application version and in FIXT.1.1.
    pub fn whole(self) -> Result<Loaded, TransportMismatch> {
        Ok(Loaded { dictionary: self.dictionary.whole()?, ..self })
    }
}

/// Why no dictionary was loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The source is not a dictionary.
    Refused {
        /// The file, or the name that the source was given; may be empty.
        name: String,
        /// What is wrong with it.
        faults: Faults,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::File { file, error } => write!(f, "cannot read {}: {error}", file.display()),
            LoadError::Refused { name, faults } if name.is_empty() => write!(f, "{faults}"),
            LoadError::Refused { name, faults } => write!(f, "{name}: {faults}"),
        }
    }
}

impl std::error::Error for LoadError {}
