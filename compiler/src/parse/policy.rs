//! `policy MODE { floors { … }; paths { … }; RULES; scope { … } }`: what callers may do.

use relay_policy::tier::Floors;

use miette::Diagnostic;
use thiserror::Error;

use super::empty;
use super::node::{self, Node, Reader};
use super::rules;
use crate::ast::{
    ClassSettings, FloorSetting, PathSettings, Policy, PolicyRule, PolicyScope, PolicySettings,
    ScopeSettings,
};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::policy::{CLASS, FLOORS, PATHS, POLICY, SCOPE, SCOPE_RULES, floor_rule};
use crate::language::rules::RULES;
use crate::setting::{Entry, Settings as _};
use crate::source::Span;

/// The most scopes in each other.
const SCOPE_DEPTH_MAX: usize = 8;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Policy {
    if node.children.is_some() {
        empty::check(node, out);
    }
    let mut reader = Reader::new(node, &POLICY, out);
    let mut settings = PolicySettings::unwritten(&POLICY);
    reader.settings(&mut settings, out);
    let floors = reader.child(FLOORS.name, out);
    let paths = reader.child(PATHS.name, out);
    let (paths, classes) = paths.map_or_else(Default::default, |node| self::paths(node, out));
    let mut scoped = Scoped::default();
    scoped.read(&mut reader, RULES, None, 0, out);
    let policy = Policy {
        at: node.name.at,
        settings,
        rules: scoped.rules,
        scopes: scoped.scopes,
        classes,
        floors: self::floors(floors, out),
        paths,
    };
    reader.finish(out);
    policy
}

/// The rules and scopes of a policy while they are read.
#[derive(Default)]
struct Scoped {
    rules: Vec<PolicyRule>,
    scopes: Vec<PolicyScope>,
}

impl Scoped {
    /// Reads the rules and the scopes in a node.
    fn read(
        &mut self,
        reader: &mut Reader<'_>,
        rules: &'static [&'static Rule],
        parent: Option<usize>,
        depth: usize,
        out: &mut Diagnostics,
    ) {
        for (rule, child) in reader.any_children(rules) {
            self.rules.extend(rules::rule(child, rule, parent, out));
        }
        for child in reader.children(SCOPE.name) {
            if depth == SCOPE_DEPTH_MAX {
                let at = child.name.at;
                out.report(at, DeepScope { at });
                return;
            }
            let mut reader = Reader::new(child, &SCOPE, out);
            let mut settings = ScopeSettings::unwritten(&SCOPE);
            reader.settings(&mut settings, out);
            let at = child.name.at;
            let ScopeSettings { tenant, role, host, mode: _, widen: _ } = &settings;
            if tenant.is_none() && role.is_none() && host.is_none() {
                out.report(at, WideScope { at });
            }
            let number = self.scopes.len();
            self.scopes.push(PolicyScope { at, settings, parent });
            self.read(&mut reader, SCOPE_RULES, Some(number), depth + 1, out);
            reader.finish(out);
        }
    }
}

/// A scope for everyone reads as if it narrowed something.
#[derive(Debug, Error, Diagnostic)]
#[error("this scope holds for every caller and host")]
#[diagnostic(
    code(rule::wide_scope),
    help("write `tenant=`, `role=` or `host=`, or move its rules out of it")
)]
struct WideScope {
    #[label(primary, "narrows nothing")]
    at: Span,
}

/// Scopes are read one in the other, and people lose count sooner.
#[derive(Debug, Error, Diagnostic)]
#[error("more than {SCOPE_DEPTH_MAX} scopes are in each other")]
#[diagnostic(code(rule::deep_scope), help("join scopes: one takes `tenant=`, `role=` and `host=`"))]
struct DeepScope {
    #[label(primary, "too deep")]
    at: Span,
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

fn paths(
    node: &Node,
    out: &mut Diagnostics,
) -> (Vec<Entry<PathSettings>>, Vec<Entry<ClassSettings>>) {
    empty::check(node, out);
    let mut reader = Reader::new(node, &PATHS, out);
    let kinds: Vec<&Rule> =
        PATHS.children.iter().copied().filter(|rule| !std::ptr::eq(*rule, &CLASS)).collect();
    let rows = reader.entries(&kinds, out);
    let classes = reader.entries(&[&CLASS], out);
    reader.finish(out);
    (rows, classes)
}
