//! The settings sections: canonical JSON of one value each, decoded when a bundle is opened.
//!
//! Small values go through serde instead of rows. Canonical means that writing the value again
//! gives the same bytes, so every value has one spelling.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::OpenError;
use crate::format::SETTINGS_BYTES_MAX;
use crate::gate::Gate;
use crate::host::Hosts;
use crate::manifest::Manifest;
use crate::messages::Messages;
use crate::policy::Policy;
use crate::reader::Reader;
use crate::role::CallerRole;
use crate::section::{Kind, with_contents};
use crate::skill_settings::SkillSettings;
use crate::tool::Tool;
use crate::tool_settings::ToolSettings;
use crate::writer::Writer;

/// The most characters of the JSON parser's message that are repeated: it may quote the bundle.
const REASON_CHARS_MAX: usize = 200;

/// A value of a settings section.
pub(crate) trait Stored: Sized {
    /// Decodes it from its section.
    fn read(reader: &Reader, kind: Kind) -> Result<Self, OpenError>;

    /// Writes it; an absent value or an empty list has no section.
    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error>;
}

macro_rules! declare {
    (
        settings { $($(#[$doc:meta])* $setting:ident: $stored:ty = $stored_in:ident, $($how:ident)+;)+ }
        tables { $($tables:tt)+ }
    ) => {
        /// The values of the settings sections.
        #[derive(Debug)]
        pub(crate) struct Settings {
            $(pub(crate) $setting: $stored,)+
        }

        impl Settings {
            fn decode(reader: &Reader) -> Result<Self, OpenError> {
                Ok(Self { $($setting: Stored::read(reader, Kind::$stored_in)?,)+ })
            }
        }
    };
}

with_contents!(declare);

impl Settings {
    /// Decodes the settings of a bundle.
    pub(crate) fn read(reader: &Reader) -> Result<Self, OpenError> {
        let settings = Kind::ALL.into_iter().filter(|kind| kind.is_settings());
        let bytes: u64 =
            settings.filter_map(|kind| reader.section_bytes(kind)).map(|bytes| bytes as u64).sum();
        if bytes > SETTINGS_BYTES_MAX {
            return Err(OpenError::SettingsTooLarge { bytes, limit: SETTINGS_BYTES_MAX });
        }
        let settings = Self::decode(reader)?;
        let is_lost =
            |role: &CallerRole| role.parent.is_some() && role.parent_in(&settings.roles).is_none();
        if settings.roles.iter().any(is_lost) {
            return Err(malformed(Kind::Roles, "a parent is not one of the roles"));
        }
        Ok(settings)
    }
}

impl Stored for Manifest {
    fn read(reader: &Reader, kind: Kind) -> Result<Self, OpenError> {
        required(reader, kind)
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.settings(kind, self)
    }
}

impl Stored for Messages {
    fn read(reader: &Reader, kind: Kind) -> Result<Self, OpenError> {
        required(reader, kind)
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.settings(kind, self)
    }
}

impl<T: DeserializeOwned + Serialize> Stored for Option<T> {
    fn read(reader: &Reader, kind: Kind) -> Result<Self, OpenError> {
        value(reader, kind)
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        self.as_ref().map_or(Ok(()), |value| out.settings(kind, value))
    }
}

/// An empty list has one spelling: a missing section.
impl<T: DeserializeOwned + Serialize> Stored for Vec<T> {
    fn read(reader: &Reader, kind: Kind) -> Result<Self, OpenError> {
        match value::<Self>(reader, kind)? {
            Some(items) if items.is_empty() => Err(malformed(kind, "it is empty")),
            items => Ok(items.unwrap_or_default()),
        }
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        if self.is_empty() { Ok(()) } else { out.settings(kind, self) }
    }
}

fn required<T: DeserializeOwned + Serialize>(reader: &Reader, kind: Kind) -> Result<T, OpenError> {
    value(reader, kind)?.ok_or(OpenError::MissingSection { kind: kind.name() })
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
