//! Text -> AST: the project as written, with spans.
//!
//! A document is parsed on its own; [`project()`] follows the includes. Broken nodes are reported
//! and left out, so that one run reports everything.

mod agent_skill;
mod argument;
mod body;
mod document;
mod empty;
mod expect;
mod facts;
mod front_matter;
mod gate;
mod hosts;
mod include;
mod item;
mod markdown_prompt;
mod message;
mod messages;
mod node;
mod path;
mod policy;
mod project;
mod prompt;
mod prompts;
mod readers;
mod reading;
mod resource;
mod roles;
mod rules;
mod skills;
mod tenants;
mod tools;
mod users;
mod when;
mod yaml;

pub(crate) use agent_skill::{Departure, is_name as is_skill_name, skill_file};
pub(crate) use document::{DEPTH_MAX, DOCUMENT_BYTES_MAX, NODES_MAX, VALUES_MAX, format};
pub(crate) use front_matter::{
    FILE_BYTES_MAX as MARKDOWN_BYTES_MAX, Reporter, parts as front_matter_parts,
};
pub(crate) use include::{INCLUDE_DEPTH_MAX, project};
pub(crate) use markdown_prompt::{
    CLIENT_TOOLS, CLIENTS, COMMAND_KEYS, Client, ClientTools, FOLDER_KEYS, Key, KeyValue,
    MarkdownPrompt, UnknownCommandKey, has_slot, markdown_prompt, normal_lines, slots,
};
pub use yaml::{Yaml, YamlFault, YamlValue, front_matter, yaml};

pub(crate) use path::{PathError, resolve as resolve_path};
pub(crate) use policy::shipped as shipped_policy;
pub(crate) use reading::{Kind as MarkdownKind, Reading};

use node::Node;
use relay_policy::facts::{Knowledge, SHIPPED};

use crate::diagnostic::Diagnostics;
use crate::source::Sources;

/// Reads fact files. Broken nodes are reported and left out.
pub(crate) fn fact_files(
    sources: &Sources<'_>,
    files: &[String],
    out: &mut Diagnostics,
) -> Knowledge {
    let shipped = files.iter().map(|file| format!("{SHIPPED}{file}"));
    let mut knowledge = Knowledge { files: shipped.collect(), ..Knowledge::default() };
    let mut reader = facts::FactFiles::new();
    for (number, path) in (0u8..).zip(files) {
        let Ok(file) = sources.load(path) else { continue };
        let source = sources.file(file);
        let bytes = source.bytes();
        let nodes = document::parse(file, bytes, out).unwrap_or_default();
        let lines = facts::Lines::new(number, bytes);
        reader.read(&Node::of_file(file, nodes), &lines, &mut knowledge, out);
    }
    knowledge
}
