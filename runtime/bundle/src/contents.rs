//! The contents of a bundle as owned values: the last form of a project before it becomes bytes.
//!
//! Order matters: [`encode`](crate::encode()) writes lists in their order here, and a reader
//! answers in the same order. The caller sorts everything.
//!
//! The table in `section.rs` lists them next to the sections.

use serde::{Deserialize, Serialize};

use crate::agent_skill::AgentSkill;
use crate::audience::Audiences;
use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::gate::Gate;
use crate::host::Hosts;
use crate::known_tool::KnownTool;
use crate::manifest::Manifest;
use crate::messages::Messages;
use crate::page::Page;
use crate::part::Part;
use crate::policy::Policy;
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::resource_template::ResourceTemplate;
use crate::review::Review;
use crate::role::CallerRole;
use crate::rule::Rule;
use crate::section::{Kind, with_contents};
use crate::settings::Stored;
use crate::skill::Skill;
use crate::skill_settings::SkillSettings;
use crate::tenant::Tenant;
use crate::tool::Tool;
use crate::tool_settings::ToolSettings;
use crate::user::User;
use crate::writer::Writer;

macro_rules! declare {
    (
        settings { $($(#[$setting_doc:meta])* $setting:ident: $stored:ty = $stored_in:ident, $($setting_how:ident)+;)+ }
        tables { $($(#[$table_doc:meta])* $table:ident: $held:ty = $held_in:ident, $($table_how:ident)+;)+ }
    ) => {
        /// The contents of one bundle.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Contents {
            /// A number that only rises from release to release; servers refuse to go back.
            pub epoch: u64,
            $($(#[$setting_doc])* pub $setting: $stored,)+
            $($(#[$table_doc])* pub $table: $held,)+
        }

        impl Bundle {
            /// Returns the contents of the bundle.
            ///
            /// # Errors
            ///
            /// The bundle is corrupt.
            pub fn contents(&self) -> Result<Contents, Corrupt> {
                Ok(Contents {
                    epoch: self.epoch(),
                    $($setting: self.settings.$setting.clone(),)+
                    $($table: Part::read(self, Kind::$held_in)?,)+
                })
            }
        }

        /// Takes the tables that [`Bundle::inconsistent`] reads, whole or a row at a time, in their order:
        /// reading them takes longer than most other checks.
        ///
        /// # Errors
        ///
        /// Each function: the bundle is corrupt.
        #[expect(clippy::missing_errors_doc, reason = "all as the trait")]
        pub trait Seen {
            $($(#[$table_doc])*
            fn $table(&mut self, _some: $held) -> Result<(), Corrupt> {
                Ok(())
            })+
        }

        /// Drops them.
        impl Seen for () {}

        impl Bundle {
            /// Returns the kinds of sections that differ from those of the contents.
            ///
            /// Servers answer from tables and indexes that are derived from the contents. Each
            /// section is compared with the one that [`encode`](crate::encode()) writes for its own
            /// contents. Compilers write only equal sections; a signer who alters a table makes a
            /// difference. Sections of unknown kinds are left out: they do not affect answers here.
            ///
            /// Besides the bundle, memory holds one prompt or one other table at a time, and `seen` takes
            /// each.
            ///
            /// # Errors
            ///
            /// The bundle is corrupt, or cannot follow from any contents.
            pub fn inconsistent(&self, seen: &mut impl Seen) -> Result<Vec<Kind>, Corrupt> {
                let mut out = Writer::comparing(|kind| self.reader.unchecked(kind));
                let malformed = |kind: Kind| {
                    move |_| Corrupt::Record { section: kind.name(), what: "value" }
                };
                $(Stored::write(&self.settings.$setting, Kind::$stored_in, &mut out)
                    .map_err(malformed(Kind::$stored_in))?;)+
                $(<$held as Part>::write_again(self, Kind::$held_in, &mut out, &mut |some| seen.$table(some))?;)+
                Ok(out.differing())
            }
        }

        impl Contents {
            /// Writes everything except the epoch, which is in the header.
            pub(crate) fn write(&self, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
                $(Stored::write(&self.$setting, Kind::$stored_in, out)?;)+
                $(Part::write(&self.$table, Kind::$held_in, out)?;)+
                Ok(())
            }
        }
    };
}

with_contents!(declare);
