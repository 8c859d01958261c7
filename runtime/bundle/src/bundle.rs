//! An opened bundle.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use crate::automata::Automata;
use crate::digest::Digest;
use crate::error::{Corrupt, OpenError};
use crate::format::{ENVELOPE_BYTES_MAX, FORMAT_MAJOR};
use crate::gate::Gate;
use crate::header;
use crate::host::Hosts;
use crate::manifest::Manifest;
use crate::messages::Messages;
use crate::place::{Place, PlaceIndex};
use crate::policy::Policy;
use crate::reader::{Reader, Storage};
use crate::role::CallerRole;
use crate::section::{Kind, SectionInfo};
use crate::settings::Settings;
use crate::skill_settings::SkillSettings;
use crate::tool::Tool;
use crate::tool_settings::ToolSettings;

/// The limit of the texts that a check may read: a number of bytes, plus a multiple of the bundle's
/// length.
const TEXTS_BYTES_MAX: u64 = 1 << 30;
const TEXTS_TIMES_MAX: u64 = 32;

/// An opened bundle.
///
/// Opening reads header, table and settings. A page of another section is checked against the table
/// before its first use. Trust is a further step: [`trust::verify`](crate::trust::verify).
pub struct Bundle {
    pub(crate) reader: Reader,
    pub(crate) settings: Settings,
    format_minor: u16,
    epoch: u64,
    digest: Digest,
    /// Whether the sections of the tag index were found to be consistent.
    pub(crate) tag_index_fits: AtomicBool,
    /// Counts from the sections of the index of skills, after the first read.
    pub(crate) skill_index_facts: OnceLock<SkillFacts>,
    content_length: usize,
    envelope_length: usize,
}

/// Counts from the sections of the index of skills, which were read and found to be consistent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillFacts {
    /// Whether any two skills share a topic.
    pub(crate) has_topics: bool,
    /// Whether any skill has selectors for both a tenant and a user.
    pub(crate) has_pairs: bool,
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle").field("digest", &self.digest).field("epoch", &self.epoch).finish()
    }
}

impl Bundle {
    /// Opens the bundle in `storage`.
    ///
    /// The cost is the same for every number of prompts: only header, table, padding and settings
    /// (1 MiB at most) are read, and one bit for each page of the file is allocated.
    ///
    /// # Errors
    ///
    /// The bytes differ from a bundle of this format; see [`OpenError`].
    pub fn open(storage: Storage) -> Result<Self, OpenError> {
        let file = (*storage).as_ref();
        let front = header::read(file)?;
        let envelope_length = envelope_length(file, front.content_length)?;
        let reader = Reader::new(storage, front.sections, front.trees);
        Ok(Self {
            settings: Settings::read(&reader)?,
            reader,
            format_minor: front.format_minor,
            epoch: front.epoch,
            digest: front.digest,
            tag_index_fits: AtomicBool::new(false),
            skill_index_facts: OnceLock::new(),
            content_length: front.content_length,
            envelope_length,
        })
    }

    /// Returns the signed digest that identifies the bundle: the SHA-256 of header and table.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the bundle's epoch.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the format, major and minor.
    #[must_use]
    pub fn format(&self) -> (u16, u16) {
        (FORMAT_MAJOR, self.format_minor)
    }

    /// Returns the rows of the section table.
    #[must_use]
    pub fn sections(&self) -> &[SectionInfo] {
        &self.reader.sections
    }

    /// Returns the envelope's JSON; empty for an unsigned bundle.
    #[must_use]
    pub fn envelope_bytes(&self) -> &[u8] {
        let start = self.content_length + size_of::<u64>();
        self.reader.file().get(start..start + self.envelope_length).unwrap_or_default()
    }

    /// Returns the bytes that the digest covers: header, table and sections.
    #[must_use]
    pub fn content_bytes(&self) -> &[u8] {
        self.reader.file().get(..self.content_length).unwrap_or_default()
    }

    /// Runs `check`, which reads the whole bundle, with a limit of one gibibyte of texts plus 32
    /// times the length of the bundle, since rows may share texts. It must be the only reader of
    /// the bundle meanwhile.
    ///
    /// # Errors
    ///
    /// An error of `check`, or its texts exceed the limit.
    pub fn bounded<T>(&self, check: impl FnOnce() -> Result<T, Corrupt>) -> Result<T, Corrupt> {
        let texts = (self.content_length as u64).saturating_mul(TEXTS_TIMES_MAX);
        self.reader.bounded(texts.saturating_add(TEXTS_BYTES_MAX), check)
    }

    /// Checks every page of every section, including sections of unknown kinds.
    ///
    /// # Errors
    ///
    /// The first corrupt page.
    pub fn check_all(&self) -> Result<(), Corrupt> {
        self.reader.check_all()
    }

    /// Checks pages ahead of another thread that reads all of the bundle, or does about a half of the work of
    /// [`Bundle::check_all`] on another thread. Corrupt pages are reported by that thread.
    pub fn check_ahead(&self) {
        self.reader.check_ahead();
    }

    /// Returns the identity of the bundle: project, version, owner and compiler.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.settings.manifest
    }

    /// Returns the texts of the server's own messages.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        &self.settings.messages
    }

    /// Returns the settings of the gate, if sessions are gated.
    #[must_use]
    pub fn gate(&self) -> Option<&Gate> {
        self.settings.gate.as_ref()
    }

    /// Returns the tools, in the order of the list.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.settings.tools
    }

    /// Returns the roles, sorted by name.
    #[must_use]
    pub fn roles(&self) -> &[CallerRole] {
        &self.settings.roles
    }

    /// Returns the settings of skills, if the bundle has skills.
    #[must_use]
    pub fn skill_settings(&self) -> Option<&SkillSettings> {
        self.settings.skill_settings.as_ref()
    }

    /// Returns the settings of tools that start processes, if the project offers any.
    #[must_use]
    pub fn tool_settings(&self) -> Option<&ToolSettings> {
        self.settings.tool_settings.as_ref()
    }

    /// Returns the hosts that the project knows, if it names any.
    #[must_use]
    pub fn hosts(&self) -> Option<&Hosts> {
        self.settings.hosts.as_ref()
    }

    /// Returns the policy for commands, if the project has one.
    #[must_use]
    pub fn policy(&self) -> Option<&Policy> {
        self.settings.policy.as_ref()
    }

    /// Returns the table of the automata of regexes in rules; empty without any.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn automata_bytes(&self) -> Result<&[u8], Corrupt> {
        self.reader.section(Kind::Automata)
    }

    /// Returns the automata of regexes in rules, checked whole.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn automata(&self) -> Result<Automata<'_>, Corrupt> {
        Automata::open(self.reader.section(Kind::Automata)?)
    }

    /// Returns the automata of regexes in rules, for a bundle of which [`Self::automata`] checked
    /// them before.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn automata_in_place(&self) -> Result<Automata<'_>, Corrupt> {
        Automata::split(self.reader.section(Kind::Automata)?)
    }

    /// Returns the table of facts about programs, in the form of relay-policy; empty unless the
    /// project has a policy.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn facts(&self) -> Result<&[u8], Corrupt> {
        self.reader.section(Kind::Facts)
    }

    /// Returns a place in the project's files.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn place(&self, index: PlaceIndex) -> Result<Place<&str>, Corrupt> {
        self.reader.place(index)
    }

    /// Returns the effective project as canonical KDL.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn canonical(&self) -> Result<&str, Corrupt> {
        self.reader.whole_text(Kind::Canonical)
    }

    /// Returns the build's provenance as JSON.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn provenance(&self) -> Result<&str, Corrupt> {
        self.reader.whole_text(Kind::Provenance)
    }
}

fn envelope_length(file: &[u8], content_length: usize) -> Result<usize, OpenError> {
    let rest = file.get(content_length..).unwrap_or_default();
    let Some((word, envelope)) = rest.split_first_chunk() else { return Err(OpenError::Envelope) };
    let length = u64::from_le_bytes(*word);
    if length > ENVELOPE_BYTES_MAX as u64 {
        return Err(OpenError::Envelope);
    }
    let found = envelope.len() as u64;
    if found < length {
        let missing = length - found;
        let found = file.len() as u64;
        return Err(OpenError::Truncated { found, expected: found + missing });
    }
    if found > length {
        return Err(OpenError::Trailing { extra: found - length });
    }
    Ok(envelope.len())
}
