//! The artifact: one signed, deterministic file that the compiler writes and the runtime serves.
//!
//! Format 1 is a header, a table of sections, the sections with their digest trees, and last a DSSE
//! envelope whose statement names the SHA-256 of header and table. There are two kinds of section.
//! *Settings* are small: a serde value each, decoded when a bundle is opened. *Tables* are large or
//! hot: a reader uses them in place, and decodes only the rows that it needs. Every page is checked
//! against the signed table before any of its bytes is used.
//!
//! One file holds one concept: its owned type, its row, its writing, its reading, and the way back
//! to the owned type.
//!
//! This crate only handles bytes. It opens no file, reads no clock and trusts no claim of a bundle
//! about itself: the caller's [`trust::Trust`] determines who may sign.

#![forbid(unsafe_code)]

mod agent_skill;
mod argument;
mod audience;
mod automata;
mod automaton;
mod bundle;
mod contents;
mod digest;
mod encode;
pub mod envelope;
mod error;
mod format;
mod gate;
mod header;
mod host;
mod known_tool;
mod lower_case;
mod manifest;
mod mask;
mod meaning;
mod message;
mod messages;
mod mode;
mod name_index;
mod page;
mod part;
mod place;
mod policy;
mod prompt;
mod reader;
mod rendering;
mod resource;
mod resource_template;
mod review;
mod role;
mod row;
mod rule;
mod rule_index;
mod rule_key;
mod section;
mod selector;
mod setting;
mod settings;
mod shared_text;
mod skill;
mod skill_index;
mod skill_settings;
mod tag_grams;
mod tag_index;
mod tenant;
mod tier;
mod tool;
mod tool_settings;
pub mod trust;
mod user;
mod writer;

pub use agent_skill::{AgentSkill, AgentSkillView};
pub use argument::{Argument, ArgumentKind, ArgumentView};
pub use audience::{Audience, AudienceView, Audiences, AudiencesView, Visible};
pub use automata::{AUTOMATA_BYTES_MAX, Automata, AutomataWriter};
pub use automaton::{AUTOMATON_STATES_MAX, Automaton, AutomatonParts, DEAD, MATCHED};
pub use bundle::Bundle;
pub use contents::{Contents, Seen};
pub use digest::Digest;
pub use encode::{EncodeError, encode};
pub use error::{Corrupt, OpenError};
pub use format::{FORMAT_MAJOR, FORMAT_MINOR, HEADER_BYTES, MAGIC, SECTION_BYTES};
pub use gate::{Gate, Unlock};
pub use header::{Outline, outline};
pub use host::{Host, Hosts, KnownHosts, Outside};
pub use known_tool::{KnownTool, KnownToolView, KnownToolsView};
pub use lower_case::{UNICODE, lower_case};
pub use manifest::Manifest;
pub use mask::{Mask, MaskView};
pub use meaning::meaning_of;
pub use message::{Blob, Message, MessageView, Part, PartContent, PartView, Role, Segment};
pub use messages::{MessagePiece, Messages, TOOL_GUIDANCE};
pub use mode::Mode;
pub use page::{List, ListView, Page};
pub use place::{Place, PlaceIndex};
pub use policy::{ArgumentEffect, PathClassRow, PathKind, PathRow, Policy, Scope, ToolEffects};
pub use prompt::{Prompt, PromptView};
pub use reader::Storage;
pub use rendering::{Rendering, RenderingView};
pub use resource::{Content, Resource, ResourceView};
pub use resource_template::{ResourceTemplate, TemplateView, TemplatesView, UriPiece};
pub use review::{Expectation, IndexSettings, Reason, Review, Suppressed, Suppression};
pub use role::CallerRole;
pub use rule::{Condition, ConditionView, Example, Rule, RuleView, ValuesView};
pub use rule_index::RuleIndexView;
pub use rule_key::RuleKey;
pub use section::{Kind, Prebuilt, SectionInfo};
pub use selector::{RuleKind, Selector, Subject};
pub use setting::{Setting, values};
pub use shared_text::SharedText;
pub use skill::{Level, Skill, SkillView};
pub use skill_index::{Numbers, ScopeView, SkillIndexView, SkillPatternsView, distinct_patterns};
pub use skill_settings::{Repeat, SkillSettings};
pub use tag_index::{Postings, RANK_BLOCK, RankBlock, TagIndexView};
pub use tenant::{Tenant, TenantsView};
pub use tier::{Floor, Floors, Tier};
pub use tool::Tool;
pub use tool_settings::{RemoteLimits, SessionSettings, ShellSettings, ToolLimits, ToolSettings};
pub use user::{User, UserRow, UsersView, Who};
