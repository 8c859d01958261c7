//! `gate on|off hide-tools=… { unlock …; tags …; budget …; index … }`

use relay_bundle::Unlock;

use super::node::{Node, Reader, Value};
use crate::ast::{Gate, GateSettings};
use crate::diagnostic::Diagnostics;
use crate::source::Spanned;

/// The most bytes of a budget: an answer that is longer helps no agent.
const BYTES_MAX: u64 = 1024 * 1024;
/// The most tags that a call may bring.
const TAGS_MAX: u64 = 32;
/// The highest cap of an index.
const CAP_MAX: u64 = 1000;
/// An entry holds at least a name and a word of what it is about.
const ENTRY_CHARS: (u64, u64) = (16, 500);
/// Clients cut instructions in silence, the strictest known one behind 2048 characters; what they
/// put in front of them has to fit as well.
const INSTRUCTIONS_CHARS: (u64, u64) = (200, 2000);

/// Reads one child of a gate into its settings.
type Read = fn(&mut Reader<'_>, &mut GateSettings, &mut Diagnostics);

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Gate {
    let words = [("on", true), ("off", false)];
    let mut reader = Reader::new(node, out);
    let on = reader.argument("`on` or `off`", out).and_then(|value| value.one_of(&words, out));
    let hide_tools = reader.property("hide-tools");
    let first_child = node.children.iter().flatten().next();
    let mut settings = GateSettings {
        hide_tools: hide_tools.and_then(|value| value.boolean(out)),
        ..GateSettings::default()
    };
    let mut empty = Vec::new();
    let readers: [(&'static str, Read); 4] =
        [("unlock", unlock), ("tags", tags), ("budget", budget), ("index", index)];
    for (name, read) in readers {
        let Some(child) = reader.child(name, out) else { continue };
        if child.arguments.is_empty() && child.properties.is_empty() {
            empty.push(child.name.clone());
        }
        let mut reader = Reader::new(child, out);
        read(&mut reader, &mut settings, out);
        reader.finish(name, out);
    }
    reader.finish("a gate", out);
    let hide_tools = hide_tools.map(|value| value.at);
    let first_setting = hide_tools.or_else(|| first_child.map(|child| child.name.at));
    Gate { at: node.name.at, on, settings, first_setting, empty }
}

fn unlock(reader: &mut Reader<'_>, settings: &mut GateSettings, out: &mut Diagnostics) {
    let words = [("intercept", Unlock::Intercept), ("refuse", Unlock::Refuse)];
    settings.unlock = reader.property("else").and_then(|value| value.one_of(&words, out));
    settings.repeat_bytes = reader.property("budget").and_then(|value| bytes(value, out));
}

fn tags(reader: &mut Reader<'_>, settings: &mut GateSettings, out: &mut Diagnostics) {
    settings.tags_ask = reader.property("ask").and_then(|value| whole(value, 1, TAGS_MAX, out));
    settings.tags_max = reader.property("max").and_then(|value| whole(value, 1, TAGS_MAX, out));
}

fn budget(reader: &mut Reader<'_>, settings: &mut GateSettings, out: &mut Diagnostics) {
    settings.budget_bytes = reader.optional_argument().and_then(|value| bytes(value, out));
    settings.remaining_bytes = reader.property("remaining").and_then(|value| bytes(value, out));
}

fn index(reader: &mut Reader<'_>, settings: &mut GateSettings, out: &mut Diagnostics) {
    settings.index_cap = reader.property("cap").and_then(|value| whole(value, 0, CAP_MAX, out));
    let priority = reader.property("over-cap-priority");
    settings.over_cap_priority = priority.and_then(|value| narrow(value.integer(1, 10, out)));
    settings.entry_chars =
        reader.property("entry").and_then(|value| chars(value, ENTRY_CHARS, out));
    let instructions = reader.property("instructions");
    settings.instructions_chars =
        instructions.and_then(|value| chars(value, INSTRUCTIONS_CHARS, out));
}

fn bytes(value: &Value, out: &mut Diagnostics) -> Option<Spanned<u32>> {
    narrow(value.bytes(0, BYTES_MAX, out))
}

fn whole(value: &Value, low: u64, high: u64, out: &mut Diagnostics) -> Option<Spanned<u32>> {
    narrow(value.integer(low, high, out))
}

fn chars(value: &Value, (low, high): (u64, u64), out: &mut Diagnostics) -> Option<Spanned<u32>> {
    narrow(value.with_unit("chars", low, high, out))
}

/// Returns a number in the type of its setting, which holds the whole range that was checked.
fn narrow<T: TryFrom<u64>>(number: Option<Spanned<u64>>) -> Option<Spanned<T>> {
    let Spanned { value, at } = number?;
    T::try_from(value).ok().map(|value| Spanned { value, at })
}
