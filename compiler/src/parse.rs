//! Text -> AST: what was written, with spans.
//!
//! A document is parsed on its own; [`project()`] follows the includes. Broken nodes are reported
//! and left out, so that one run reports everything.

mod argument;
mod body;
mod document;
mod empty;
mod expect;
mod facts;
mod front_matter;
mod gate;
mod include;
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
mod resource;
mod roles;
mod skills;
mod tenants;
mod tools;
mod users;
mod when;

pub(crate) use document::{
    DEPTH_MAX, DOCUMENT_BYTES_MAX, NODES_MAX, VALUES_MAX, format, is_newline,
};
pub(crate) use front_matter::{FILE_BYTES_MAX as MARKDOWN_BYTES_MAX, Reporter};
pub(crate) use include::{INCLUDE_DEPTH_MAX, project};
pub(crate) use markdown_prompt::{
    COMMAND_KEYS, FOLDER_KEYS, Key, Kind as MarkdownKind, MarkdownPrompt, markdown_prompt, slots,
};
pub(crate) use node::RESERVED;
pub(crate) use path::{PathError, resolve as resolve_path};
pub(crate) use project::EPOCH;
pub(crate) use prompt::PRIORITY;
pub(crate) use roles::TIER;
pub(crate) use skills::{MERGED_BYTES, SKILL_CHARS, SKILL_PRIORITY};

use node::Node;
use relay_policy::facts::{Knowledge, SHIPPED};

use crate::ast::{Document, Item};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::setting::GATE;
use crate::source::{FileId, Sources};

/// The nodes at the top of a document.
pub(crate) static TOP: &[&Rule] = &[
    &project::PROJECT,
    &include::INCLUDE,
    &tenants::TENANTS,
    &roles::ROLES,
    &users::USERS,
    &GATE,
    &tools::TOOLS,
    &policy::POLICY,
    &facts::FACTS,
    &prompts::PROMPTS,
    &messages::MESSAGES,
    &resource::RESOURCES,
    &skills::SKILLS,
    &expect::EXPECT,
    &when::WHEN,
];

/// Parses one document.
fn document(file: FileId, bytes: &[u8], out: &mut Diagnostics) -> Document {
    let nodes = document::parse(file, bytes, out);
    let broken = nodes.is_none();
    let mut document = Document { file, includes: Vec::new(), items: Vec::new(), broken };
    for node in nodes.unwrap_or_default() {
        match node.name.value.as_str() {
            "include" => document.includes.extend(include::node(&node, out)),
            // Facts name the lines that they are in, as those that are shipped do.
            "facts" => {
                let facts = facts::block(&node, &facts::Lines::new(0, bytes), out);
                document.items.push(Item::Facts(facts));
            }
            _ => document.items.extend(item(&node, out)),
        }
    }
    document
}

/// Reads fact files. What is broken in them is reported and left out.
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
        let bytes = &sources.file(file).bytes;
        let nodes = document::parse(file, bytes, out).unwrap_or_default();
        let lines = facts::Lines::new(number, bytes);
        reader.read(&Node::of_file(file, nodes), &lines, &mut knowledge, out);
    }
    knowledge
}

fn item(node: &Node, out: &mut Diagnostics) -> Option<Item> {
    match node.name.value.as_str() {
        "project" => Some(Item::Project(project::node(node, out))),
        "gate" => Some(Item::Gate(gate::node(node, out))),
        "tenants" => Some(Item::Tenants(tenants::block(node, out))),
        "roles" => Some(Item::Roles(roles::block(node, out))),
        "users" => Some(Item::Users(users::block(node, out))),
        "tools" => Some(Item::Tools(tools::node(node, out))),
        "policy" => Some(Item::Policy(policy::node(node, out))),
        "prompts" => Some(Item::Prompts(prompts::node(node, out))),
        "messages" => Some(Item::Messages(messages::node(node, out))),
        "skills" => Some(Item::Skills(skills::node(node, out))),
        "resources" => Some(Item::Resources(resource::block(node, out))),
        "expect" => expect::node(node, out).map(Item::Expect),
        "when" => Some(Item::When(when::node(node, out))),
        _ => {
            let known: Vec<&str> = TOP.iter().map(|rule| rule.name).collect();
            node::unknown(node, &known, "a project", out);
            None
        }
    }
}
