//! The output of the verbs that read a bundle: JSON types, and the human output that several verbs
//! share.

pub(crate) mod agent_skill;
pub(crate) mod audience;
pub(crate) mod decision;
pub(crate) mod effect;
pub(crate) mod gate;
pub(crate) mod hit;
pub(crate) mod host;
pub(crate) mod list;
pub(crate) mod message;
pub(crate) mod policy;
pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod size;
pub(crate) mod skill;
pub(crate) mod skill_text;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod tag_index;
pub(crate) mod tool;
pub(crate) mod tool_settings;
pub(crate) mod verdict;

/// The version of the JSON formats, a field of each.
pub(crate) const FORMAT_VERSION: u32 = 1;
