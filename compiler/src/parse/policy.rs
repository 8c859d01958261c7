//! `policy MODE { floors { … }; paths { … }; RULES; scope { … } }`: what callers may do.

use relay_policy::tier::Floors;

use miette::Diagnostic;
use thiserror::Error;

use super::node::{self, Node, Reader};
use super::rules;
use super::{document, empty};
use crate::ast::{
    ClassSettings, FloorSetting, LimitSettings, ModeSettings, PathSettings, Policy, PolicyRule,
    PolicyScope, PolicySettings,
};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::limits::LIMITS;
use crate::language::policy::{
    CLASS, DROP, FLOORS, HOST, INNER_SCOPE, PATHS, POLICY, ROLE, SCOPE, SCOPE_MODE, SCOPE_RULES,
    TENANT, floor_rule,
};
use crate::language::rules::RULES;
use crate::language::shared::BECAUSE;
use crate::setting::{Entry, Settings as _};
use crate::shipped_policy::ShippedPolicy;
use crate::source::{Sources, Span, Spanned};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Policy {
    if node.children.is_some() {
        empty::check(node, out);
    }
    let mut reader = Reader::new(node, &POLICY, out);
    let mut settings = PolicySettings::unwritten(&POLICY);
    reader.settings(&mut settings, out);
    let limits = reader.child(LIMITS.name, out);
    let floors = reader.child(FLOORS.name, out);
    let paths = reader.child(PATHS.name, out);
    let (paths, classes) = paths.map_or_else(Default::default, |node| self::paths(node, out));
    let drops = self::drops(&mut reader, out);
    let mut scoped = Scoped::default();
    scoped.read(&mut reader, RULES, None, out);
    let policy = Policy {
        at: node.name.at,
        settings,
        drops,
        rules: scoped.rules,
        scopes: scoped.scopes,
        classes,
        limits: self::limits(limits, out),
        floors: self::floors(floors, out),
        paths,
        judges_as_shipped: false,
    };
    reader.finish(out);
    policy
}

/// Reads the limits, or takes their defaults.
fn limits(node: Option<&Node>, out: &mut Diagnostics) -> LimitSettings {
    let Some(node) = node else { return LimitSettings::default() };
    let settings = node::entry::<LimitSettings>(node, &LIMITS, out).settings;
    LimitSettings { at: Some(node.name.at), ..settings }
}

/// Reads the names of the rules of a shipped policy that the project does without.
fn drops(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Vec<Spanned<String>> {
    let mut names = Vec::new();
    for node in reader.children(DROP.name) {
        let mut reader = Reader::new(node, &DROP, out);
        let name = reader.name(out);
        let because = reader.text(BECAUSE.name, out);
        reader.finish(out);
        if because.is_none_or(|because| because.value.trim().is_empty()) {
            let at = node.name.at;
            out.report(at, DropWithoutReason { at });
        }
        names.extend(name);
    }
    names
}

/// Returns the policy that a shipped document holds; `None` only if the document is broken, which is reported.
pub(crate) fn shipped(
    sources: &Sources<'_>,
    shipped: ShippedPolicy,
    out: &mut Diagnostics,
) -> Option<Policy> {
    let file = sources.add_shipped(&shipped.path(), shipped.text().as_bytes());
    let nodes = document::parse(file, sources.file(file).bytes(), out)?;
    let policy = nodes.iter().find(|node| node.name.value == POLICY.name)?;
    let mut policy = self::node(policy, out);
    for rule in &mut policy.rules {
        rule.origin = Some(shipped);
    }
    Some(policy)
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
        out: &mut Diagnostics,
    ) {
        for (rule, child) in reader.any_children(rules) {
            self.rules.extend(rules::rule(child, rule, parent, out));
        }
        let rule = if parent.is_none() { &SCOPE } else { &INNER_SCOPE };
        if !reader.takes(rule) {
            return;
        }
        for child in reader.children(SCOPE.name) {
            let mut reader = Reader::new(child, rule, out);
            let at = child.name.at;
            let tenant = reader.text(TENANT, out);
            let role = reader.text(ROLE, out);
            let host = reader.text(HOST, out);
            if tenant.is_none() && role.is_none() && host.is_none() {
                out.report(at, WideScope { at });
            }
            let mode = reader.child(SCOPE_MODE.name, out);
            let mode =
                mode.map(|node| node::entry::<ModeSettings>(node, &SCOPE_MODE, out).settings);
            let widens = mode.as_ref().is_some_and(|mode| mode.widen.value);
            let mode = mode.and_then(|mode| mode.mode);
            let number = self.scopes.len();
            self.scopes.push(PolicyScope { at, tenant, role, host, mode, widens, parent });
            self.read(&mut reader, SCOPE_RULES, Some(number), out);
            reader.finish(out);
        }
    }
}

/// The policy refuses less without the rule, and a reviewer needs to know why.
#[derive(Debug, Error, Diagnostic)]
#[error("`drop` without a reason")]
#[diagnostic(
    code(policy::drop_without_reason),
    help("add `because=\"…\"`; it shows in the review")
)]
struct DropWithoutReason {
    #[label(primary, "leaves out a rule")]
    at: Span,
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
