//! `group NAME { … }` and `use NAME…`: facts that several commands share, written once.
//!
//! Each `use` is replaced by the contents of its groups before anything is read. So readers and
//! checks see commands alone, and a fact is at the line of its group in each command that has it.

use hashbrown::HashMap;
use miette::Diagnostic;
use thiserror::Error;

use super::names::Names;
use super::written::{Word, words};
use crate::diagnostic::Diagnostics;
use crate::language::facts::{GROUP, USE};
use crate::parse::document::NODES_MAX;
use crate::parse::node::{Node, Reader};
use crate::source::Span;
use relay_engine::nearest::nearest;

/// The most levels of groups in groups.
const DEPTH_MAX: usize = 8;

/// Returns the nodes of facts, groups dissolved: each `use` replaced by the contents of its groups.
pub(super) fn expand(nodes: &[Node], out: &mut Diagnostics) -> Vec<Node> {
    let mut names = Names::of(GROUP.name);
    let mut groups = HashMap::new();
    for node in nodes.iter().filter(|node| node.name.value == GROUP.name) {
        let mut reader = Reader::new(node, &GROUP, out);
        if let Some(name) = reader.name(out) {
            groups.entry(name.value).or_insert(Group { node, at: name.at, is_used: false });
        }
        let _ = reader.any_children(GROUP.children);
        reader.finish(out);
        names.declare(words(node).take(1), out);
    }
    let mut expansion = Expansion { groups, within: Vec::new(), room: NODES_MAX };
    let others = nodes.iter().filter(|node| node.name.value != GROUP.name);
    let expanded = others.map(|node| expansion.node(node, out)).collect();
    let mut unused: Vec<_> =
        expansion.groups.into_iter().filter(|(_, group)| !group.is_used).collect();
    unused.sort_unstable_by_key(|(_, group)| group.at);
    for (name, group) in unused {
        out.report(group.at, UnusedGroup { name, at: group.at });
    }
    expanded
}

struct Group<'n> {
    node: &'n Node,
    /// The place of its name.
    at: Span,
    is_used: bool,
}

struct Expansion<'n> {
    groups: HashMap<String, Group<'n>>,
    /// The groups that the current node is in.
    within: Vec<String>,
    /// The number of nodes and words that groups may still add. The limit stops groups in groups,
    /// which grow exponentially.
    room: usize,
}

impl Expansion<'_> {
    fn node(&mut self, node: &Node, out: &mut Diagnostics) -> Node {
        // Only commands have a `use`; elsewhere it is an unknown node, which the reader reports.
        let children = node.children.as_ref().map(|children| match node.name.value.as_str() {
            "program" | "sub" => self.children(children, out),
            _ => children.clone(),
        });
        Node {
            name: node.name.clone(),
            annotation: node.annotation.clone(),
            arguments: node.arguments.clone(),
            properties: node.properties.clone(),
            children,
        }
    }

    fn children(&mut self, children: &[Node], out: &mut Diagnostics) -> Vec<Node> {
        let mut expanded = Vec::new();
        for child in children {
            if child.name.value != USE.name {
                if !self.within.is_empty() {
                    self.room = self.room.saturating_sub(size(child));
                }
                expanded.push(self.node(child, out));
                continue;
            }
            let mut reader = Reader::new(child, &USE, out);
            reader.texts(out);
            reader.finish(out);
            for name in words(child) {
                expanded.extend(self.group(name, out));
            }
        }
        expanded
    }

    /// Returns the contents of a group.
    fn group(&mut self, name: Word<'_>, out: &mut Diagnostics) -> Vec<Node> {
        let Word { text, at } = name;
        let Some(group) = self.groups.get_mut(text) else {
            let help = match nearest(text, self.groups.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it with `group \"{text}\"`, in the same file"),
            };
            out.report(at, UnknownGroup { name: text.to_owned(), help, at });
            return Vec::new();
        };
        group.is_used = true;
        let (node, group_at) = (group.node, group.at);
        if self.within.iter().any(|within| within == text) {
            out.report(at, GroupCycle { name: text.to_owned(), group_at, at });
            return Vec::new();
        }
        if self.room == 0 || self.within.len() == DEPTH_MAX {
            out.report(at, LargeGroups { depth: DEPTH_MAX, nodes: NODES_MAX, at });
            return Vec::new();
        }
        let held = node.children.as_deref().unwrap_or_default();
        // Other nodes were reported in the group.
        let held = held.iter().filter(|child| GROUP.has_child(&child.name.value));
        let held: Vec<Node> = held.cloned().collect();
        self.within.push(text.to_owned());
        let expanded = self.children(&held, out);
        self.within.pop();
        expanded
    }
}

/// Returns the number of nodes and words in a node.
fn size(node: &Node) -> usize {
    let children = node.children.iter().flatten().map(size);
    1 + node.arguments.len() + children.sum::<usize>()
}

/// The command would lack the contents of the group, and a tier that one of its options raises
/// would be lost.
#[derive(Debug, Error, Diagnostic)]
#[error("no group is called `{name}`")]
#[diagnostic(code(fact::unknown_group))]
struct UnknownGroup {
    name: String,
    #[help]
    help: String,
    #[label(primary, "not declared in this file")]
    at: Span,
}

/// A group that includes itself is endless.
#[derive(Debug, Error, Diagnostic)]
#[error("the group `{name}` uses itself")]
#[diagnostic(
    code(fact::group_cycle),
    help("remove this `use`, or put what both need into a third group")
)]
struct GroupCycle {
    name: String,
    #[label("the group")]
    group_at: Span,
    #[label(primary, "leads back to it")]
    at: Span,
}

/// Groups in groups grow with each level, so their size has a limit.
#[derive(Debug, Error, Diagnostic)]
#[error("groups are more than {depth} deep in groups, or become more than {nodes} nodes and words")]
#[diagnostic(code(fact::large_groups), help("use fewer groups in groups"))]
struct LargeGroups {
    depth: usize,
    nodes: usize,
    #[label(primary, "beyond the limit")]
    at: Span,
}

/// An unused group has no effect, and looks as if it had.
#[derive(Debug, Error, Diagnostic)]
#[error("no command uses the group `{name}`")]
#[diagnostic(
    code(fact::unused_group),
    severity(Warning),
    help("write `use \"{name}\"` in a command, or remove the group")
)]
struct UnusedGroup {
    name: String,
    #[label(primary, "never used")]
    at: Span,
}
