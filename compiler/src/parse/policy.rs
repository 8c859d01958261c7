//! `policy { floors { … }; paths { … } }`: the rules for commands.

use relay_policy::tier::Floors;

use super::empty;
use super::node::{self, Node, Reader};
use crate::ast::{FloorSetting, PathSettings, Policy};
use crate::diagnostic::Diagnostics;
use crate::language::policy::{FLOORS, PATHS, POLICY, floor_rule};
use crate::setting::{Entry, Settings as _};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Policy {
    if node.children.is_some() {
        empty::check(node, out);
    }
    let mut reader = Reader::new(node, &POLICY, out);
    let floors = reader.child(FLOORS.name, out);
    let paths = reader.child(PATHS.name, out);
    let policy = Policy {
        at: node.name.at,
        floors: self::floors(floors, out),
        paths: paths.map_or_else(Vec::new, |node| self::paths(node, out)),
    };
    reader.finish(out);
    policy
}

/// Reads the floors of a project; the others are the defaults.
fn floors(node: Option<&Node>, out: &mut Diagnostics) -> Floors<FloorSetting> {
    let default = |floor| FloorSetting::unwritten(floor_rule(floor));
    let Some(node) = node else { return Floors::each(default) };
    empty::check(node, out);
    let mut reader = Reader::new(node, &FLOORS, out);
    let floors = Floors::each(|floor| {
        let rule = floor_rule(floor);
        let Some(child) = reader.child(rule.name, out) else { return default(floor) };
        let Entry { rule: _, at, settings } = node::entry::<FloorSetting>(child, rule, out);
        FloorSetting { at: Some(at), ..settings }
    });
    reader.finish(out);
    floors
}

fn paths(node: &Node, out: &mut Diagnostics) -> Vec<Entry<PathSettings>> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &PATHS, out);
    let rows = reader.entries(PATHS.children, out);
    reader.finish(out);
    rows
}
