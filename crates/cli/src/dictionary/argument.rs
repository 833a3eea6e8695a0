//! Dictionary arguments: the name of a shipped version, in any usual spelling, or a file, and how
//! files are read.

use std::path::{Path, PathBuf};

use clap::Args;
use fixbolt_cli::exit::Failure;
use fixbolt_dictionary::{Encoding, LoadError, Loaded, Source, Version};

/// How dictionary files are read; the same for every command.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "How files are read")]
pub(crate) struct SourceOptions {
    /// The version that a file describes, if it does not say so or is wrong
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Accept a tag that several fields have: the first one is kept
    #[arg(long)]
    accept_duplicate_tags: bool,
    /// UTF-8, ISO-8859-1 or UTF-16, if a file does not say so or is wrong
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<Encoding>,
    /// Header, trailer and session messages for FIX.5.0 and later: a version or a file
    #[arg(long, value_name = "DICTIONARY")]
    transport: Option<PathBuf>,
    /// Only what this version (such as FIX.5.0SP1) already had, as far as a FIX Orchestra file says
    #[arg(long, value_name = "VERSION")]
    as_of: Option<String>,
    /// Messages as this scenario of a FIX Orchestra file has them; the others are those of base
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Use FIX Orchestra's names of fields, messages and codes for the same tags, types and values
    #[arg(long)]
    standard_names: bool,
    /// The license of a file's facts, if it does not say so
    #[arg(long, value_name = "TEXT")]
    license: Option<String>,
}

impl SourceOptions {
    /// Returns the source that an argument names, with these options.
    ///
    /// # Errors
    /// Refuses options for files with a shipped version, which they would not change.
    pub(crate) fn source(&self, argument: &Path) -> Result<Source<'static>, Failure> {
        let source = Source::named(argument);
        if let (true, Some(option)) = (source.files().is_empty(), self.for_files()) {
            let name = argument.display();
            let other = self.version.as_ref().filter(|_| option == "--version");
            let instead = other.map(|version| format!("; name {version} as the dictionary instead"));
            return Err(Failure::usage(format!(
                "{option} is for files, and {name} is a shipped version{}",
                instead.unwrap_or_default()
            )));
        }
        let source = self.applied(source);
        Ok(match &self.transport {
            Some(transport) => source.transport(Source::named(transport)),
            None => source,
        })
    }

    /// Returns an option that is set and changes how a file is read.
    fn for_files(&self) -> Option<&'static str> {
        let set = [
            ("--version", self.version.is_some()),
            ("--accept-duplicate-tags", self.accept_duplicate_tags),
            ("--encoding", self.encoding.is_some()),
            ("--as-of", self.as_of.is_some()),
            ("--scenario", self.scenario.is_some()),
            ("--standard-names", self.standard_names),
            ("--license", self.license.is_some()),
        ];
        set.into_iter().find(|(_, is_set)| *is_set).map(|(name, _)| name)
    }

    /// Returns two dictionaries. If only one of them is a file, options for files apply to it
    /// alone.
    pub(crate) fn load_both(&self, arguments: [&Path; 2]) -> Result<[Loaded; 2], Failure> {
        let is_shipped = |argument: &Path| Source::named(argument).files().is_empty();
        let for_shipped = SourceOptions { transport: self.transport.clone(), ..SourceOptions::default() };
        let [left, right] = arguments;
        let options = |one: &Path, other: &Path| match is_shipped(one) && !is_shipped(other) {
            true => &for_shipped,
            false => self,
        };
        Ok([options(left, right).load(left)?, options(right, left).load(right)?])
    }

    fn applied(&self, mut source: Source<'static>) -> Source<'static> {
        if let Some(version) = &self.version {
            source = source.version(version);
        }
        if self.accept_duplicate_tags {
            source = source.accept_duplicate_tags();
        }
        if let Some(encoding) = self.encoding {
            source = source.encoding(encoding);
        }
        if let Some(version) = &self.as_of {
            source = source.as_of(version);
        }
        if let Some(scenario) = &self.scenario {
            source = source.scenario(scenario);
        }
        if self.standard_names {
            source = source.standard_names();
        }
        if let Some(license) = &self.license {
            source = source.license(license);
        }
        source
    }

    /// Returns the dictionary that an argument names.
    pub(crate) fn load(&self, argument: &Path) -> Result<Loaded, Failure> {
        self.source(argument)?.load().map_err(|error| failure(argument, &error))
    }
}

/// Returns why there is no dictionary, as one line.
pub(crate) fn failure(argument: &Path, error: &LoadError) -> Failure {
    match error {
        LoadError::File { file, error } => {
            let is_a_name = file.extension().is_none_or(|end| end.as_encoded_bytes()[0].is_ascii_digit())
                && file.components().count() == 1;
            match file.to_str().map(str::parse::<Version>) {
                Some(Err(unknown)) if is_a_name && !file.exists() => {
                    Failure::usage(format!("{} is {unknown}, and no such file", file.display()))
                }
                _ => Failure::file("read", file, error),
            }
        }
        LoadError::Refused { name, faults } => {
            let first = faults.first().first().map_or_else(String::new, ToString::to_string);
            let more = match faults.count() {
                0 | 1 => String::new(),
                many => format!(" ({} more: `fixbolt dictionary check` shows them)", many - 1),
            };
            Failure::usage(format!("{name}: not a dictionary: {first}{more}"))
        }
        other => Failure::usage(format!("{}: {other}", argument.display())),
    }
}
