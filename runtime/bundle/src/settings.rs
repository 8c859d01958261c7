//! The settings sections: canonical JSON of one value each, decoded when a bundle is opened.
//!
//! A small value needs no rows: serde reads and writes it. Canonical means that writing the value
//! again gives the same bytes, so every value has one spelling.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::OpenError;
use crate::format::SETTINGS_BYTES_MAX;
use crate::gate::Gate;
use crate::manifest::Manifest;
use crate::messages::Messages;
use crate::policy::Policy;
use crate::reader::Reader;
use crate::role::CallerRole;
use crate::section::Kind;
use crate::skill_settings::SkillSettings;
use crate::tool::Tool;

/// Characters of the JSON parser's message that are repeated: it may quote the bundle.
const REASON_CHARS_MAX: usize = 200;

/// The values of the settings sections.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) manifest: Manifest,
    pub(crate) messages: Messages,
    pub(crate) gate: Option<Gate>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) roles: Vec<CallerRole>,
    pub(crate) skills: Option<SkillSettings>,
    pub(crate) policy: Option<Policy>,
}

impl Settings {
    /// Decodes the settings of a bundle.
    pub(crate) fn read(reader: &Reader) -> Result<Self, OpenError> {
        let settings = Kind::ALL.into_iter().filter(|kind| kind.is_settings());
        let bytes: u64 =
            settings.filter_map(|kind| reader.section_bytes(kind)).map(|bytes| bytes as u64).sum();
        if bytes > SETTINGS_BYTES_MAX {
            return Err(OpenError::SettingsTooLarge { bytes, limit: SETTINGS_BYTES_MAX });
        }
        let missing = |kind: Kind| OpenError::MissingSection { kind: kind.name() };
        Ok(Self {
            manifest: value(reader, Kind::Manifest)?.ok_or(missing(Kind::Manifest))?,
            messages: value(reader, Kind::Messages)?.ok_or(missing(Kind::Messages))?,
            gate: value(reader, Kind::Gate)?,
            tools: list(reader, Kind::Tools)?,
            roles: roles(reader)?,
            skills: value(reader, Kind::SkillSettings)?,
            policy: value(reader, Kind::Policy)?,
        })
    }
}

/// Reads the roles; the parent of each is one of them.
fn roles(reader: &Reader) -> Result<Vec<CallerRole>, OpenError> {
    let roles: Vec<CallerRole> = list(reader, Kind::Roles)?;
    let is_lost = |role: &CallerRole| role.parent.is_some() && role.parent_in(&roles).is_none();
    if roles.iter().any(is_lost) {
        return Err(malformed(Kind::Roles, "a parent is not one of the roles"));
    }
    Ok(roles)
}

/// An empty list has one spelling: no section.
fn list<T: DeserializeOwned + Serialize>(reader: &Reader, kind: Kind) -> Result<Vec<T>, OpenError> {
    match value::<Vec<T>>(reader, kind)? {
        Some(items) if items.is_empty() => Err(malformed(kind, "it is empty")),
        items => Ok(items.unwrap_or_default()),
    }
}

fn value<T: DeserializeOwned + Serialize>(
    reader: &Reader,
    kind: Kind,
) -> Result<Option<T>, OpenError> {
    let bytes = reader.section(kind).map_err(OpenError::Corrupt)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let value: T =
        serde_json::from_slice(bytes).map_err(|error| malformed(kind, &error.to_string()))?;
    if serde_json::to_vec(&value).is_ok_and(|canonical| canonical == bytes) {
        Ok(Some(value))
    } else {
        Err(malformed(kind, "it is not canonical"))
    }
}

fn malformed(kind: Kind, reason: &str) -> OpenError {
    OpenError::Settings {
        section: kind.name(),
        reason: reason.chars().take(REASON_CHARS_MAX).collect(),
    }
}
