//! `policy { floors { … }; paths { … } }`: how commands are judged.

use relay_bundle::PathKind;
use relay_policy::tier::{Floor, Tier};

use super::empty;
use super::node::{Node, Reader};
use crate::ast::{FloorChoice, PathChoice, Policy};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Kind, Literal, Scalar};
use crate::language::policy::{EXCEPT, FLOOR_RULES, FLOORS, PATH_RULES, PATHS, POLICY};
use crate::language::shared::BECAUSE;
use crate::source::Spanned;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Policy {
    if node.children.is_some() {
        empty::check(node, out);
    }
    let mut reader = Reader::new(node, &POLICY, out);
    let mut policy = Policy { at: node.name.at, floors: Vec::new(), paths: Vec::new() };
    if let Some(child) = reader.child(FLOORS.name, out) {
        policy.floors = floors(child, out);
    }
    if let Some(child) = reader.child(PATHS.name, out) {
        policy.paths = path_rows(child, out);
    }
    reader.finish(out);
    policy
}

fn floors(node: &Node, out: &mut Diagnostics) -> Vec<FloorChoice> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &FLOORS, out);
    let mut floors = Vec::new();
    for (rule, floor) in FLOOR_RULES.into_iter().zip(Floor::ALL) {
        let Some(child) = reader.child(rule.name, out) else { continue };
        let mut reader = Reader::new(child, rule, out);
        let tier =
            reader.argument(out).and_then(|value| value.literal(Kind::TIER, out)).and_then(tier);
        let because = reader.text(BECAUSE.name, out);
        reader.finish(out);
        floors.push(FloorChoice { floor, at: child.name.at, tier, because });
    }
    reader.finish(out);
    floors
}

fn tier(literal: Spanned<Literal<'_>>) -> Option<Spanned<Tier>> {
    Tier::decode(literal.value).map(|value| Spanned { value, at: literal.at })
}

fn path_rows(node: &Node, out: &mut Diagnostics) -> Vec<PathChoice> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &PATHS, out);
    let mut rows = Vec::new();
    for child in reader.all_children() {
        let mut rules = PATH_RULES.into_iter().zip(PathKind::ALL);
        let Some((rule, kind)) = rules.find(|(rule, _)| rule.name == child.name.value) else {
            continue;
        };
        let mut reader = Reader::new(child, rule, out);
        let patterns = reader.texts(out);
        let mut except = Vec::new();
        for child in reader.children(EXCEPT.name) {
            let mut reader = Reader::new(child, &EXCEPT, out);
            except.extend(reader.texts(out));
            reader.finish(out);
        }
        reader.finish(out);
        rows.push(PathChoice { kind, at: child.name.at, patterns, except });
    }
    reader.finish(out);
    rows
}
