//! `tools { diagnostics; other PATTERN… }`: the tools that a server of the project offers, group by
//! group, and those of other servers that the project names.

use relay_bundle::Selector;

use super::empty;
use super::node::{self, Node, Reader};
use crate::ast::{OtherEffects, ToolChoice, ToolGroup, ToolSettings, Tools};
use crate::diagnostic::Diagnostics;
use crate::language::tools::{OTHER, OTHER_ARG, TOOLS};
use crate::source::Spanned;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Tools {
    empty::check(node, out);
    let mut reader = Reader::new(node, &TOOLS, out);
    let mut groups = Vec::new();
    for group in ToolGroup::ALL {
        let Some(child) = reader.child(group.rule().name, out) else { continue };
        let settings = node::entry(child, group.rule(), out).settings;
        groups.push(ToolChoice { group: Spanned { value: group, at: child.name.at }, settings });
    }
    let mut settings = ToolSettings::default();
    let mut effects = Vec::new();
    for child in reader.children(OTHER.name) {
        let mut reader = Reader::new(child, &OTHER, out);
        let patterns = reader.texts(out);
        let arguments = reader.children(OTHER_ARG.name).filter_map(|node| argument(node, out));
        let arguments: Vec<_> = arguments.collect();
        reader.finish(out);
        settings.other.get_or_insert_default().extend(patterns.iter().cloned());
        if !arguments.is_empty() {
            effects.push(OtherEffects { at: child.name.at, patterns, arguments });
        }
    }
    reader.finish(out);
    Tools { at: node.name.at, groups, settings, effects }
}

fn argument(node: &Node, out: &mut Diagnostics) -> Option<(Spanned<String>, Spanned<Selector>)> {
    let mut reader = Reader::new(node, &OTHER_ARG, out);
    let name = reader.name(out);
    let effect = reader.word::<Selector>(out);
    reader.finish(out);
    Some((name?, effect?))
}
