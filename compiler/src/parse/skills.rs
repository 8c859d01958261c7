//! `skills { global { … }; tenant NAME { … }; tool PATTERN… { … }; user ID { … } }`

use miette::Diagnostic;
use relay_bundle::Level;
use serde_json::{Map, Value};
use thiserror::Error;

use super::node::{DuplicateNode, Node, Reader, Scalar};
use super::{body, empty};
use crate::ast::{Skill, SkillBlock, SkillLimits, SkillSelectors, SkillSettings, Skills};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::shared::TEXT;
use crate::language::skills::{META, SKILL, SKILL_TOOLS, SKILLS};
use crate::setting::{Settings as _, count_written};
use crate::source::{Span, Spanned};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Skills {
    let mut reader = Reader::new(node, &SKILLS, out);
    let mut limits = SkillLimits::default();
    reader.settings(&mut limits, out);
    if count_written(&limits.of(&SKILLS)) == 0 {
        empty::check(node, out);
    }
    let mut blocks = Vec::new();
    for (rule, level) in SKILLS.children.iter().zip(Level::ALL) {
        let children = reader.children(rule.name);
        blocks.extend(children.filter_map(|child| block(child, rule, level, out)));
    }
    reader.finish(out);
    Skills { limits, blocks }
}

fn block(
    node: &Node,
    rule: &'static Rule,
    level: Level,
    out: &mut Diagnostics,
) -> Option<SkillBlock> {
    empty::check(node, out);
    let mut reader = Reader::new(node, rule, out);
    let selectors = match level {
        Level::Global => Some(Vec::new()),
        Level::Tenant | Level::User => reader.name(out).map(|selector| vec![selector]),
        Level::Tool => Some(reader.texts(out)).filter(|patterns| !patterns.is_empty()),
    };
    let skills = reader.children(SKILL.name).map(|child| skill(child, level, out)).collect();
    reader.finish(out);
    Some(SkillBlock { level, selectors: selectors?, skills })
}

fn skill(node: &Node, level: Level, out: &mut Diagnostics) -> Skill {
    let mut reader = Reader::new(node, &SKILL, out);
    let name = reader.name(out);
    let argument = reader.optional_argument();
    let mut body = body::plain(&mut reader, out);
    if let Some(value) = argument {
        let written = value.text(out);
        body.broken |= written.is_none();
        if let (Some(first), Some(again)) = (&written, &body.text) {
            let (first_at, at) = (first.at, again.at);
            out.report(at, DuplicateNode { name: TEXT.name.into(), first_at, at });
        }
        body.text = written.or(body.text);
    }
    let mut settings = SkillSettings::default();
    reader.settings(&mut settings, out);
    let mut selectors = SkillSelectors::default();
    reader.settings(&mut selectors, out);
    // One pattern may be a property.
    if let Some(pattern) = reader.text(SKILL_TOOLS.name, out) {
        if let Some(again) = reader.children(SKILL_TOOLS.name).next() {
            let (first_at, at) = (pattern.at, again.name.at);
            out.report(at, DuplicateNode { name: SKILL_TOOLS.name.into(), first_at, at });
        }
        selectors.tools = Some(vec![pattern]);
    }
    let SkillSelectors { tenant, user, tools } = selectors;
    let selectors = SkillSelectors {
        tenant: tenant.filter(|it| narrows(it, level, Level::Tenant, out)),
        user: user.filter(|it| narrows(it, level, Level::User, out)),
        tools: tools.filter(|tools| {
            tools.first().is_none_or(|first| narrows(first, level, Level::Tool, out))
        }),
    };
    let skill = Skill {
        name,
        new: reader.is_new(out),
        settings,
        meta: reader.child(META.name, out).map(|child| meta(child, out)),
        selectors,
        body,
        allowed: body::allowed(&mut reader, out),
    };
    reader.finish(out);
    skill
}

/// Returns whether a selector narrows the skills of a level; reports an idle selector.
fn narrows(
    written: &Spanned<String>,
    block: Level,
    selector: Level,
    out: &mut Diagnostics,
) -> bool {
    // A skill for every call may be narrowed to tools; tenants and users have a level of their own.
    let narrows = selector != block && (block != Level::Global || selector == Level::Tool);
    if !narrows {
        let of = selector.word();
        let word = if selector == Level::Tool { SKILL_TOOLS.name } else { of };
        let help = if selector == block {
            format!("the block says which {of} its skills are for; remove it")
        } else {
            format!("move the skill into a block `{of} {:?} {{ … }}`", written.value)
        };
        out.report(written.at, ForeignSelector { block: block.word(), word, help, at: written.at });
    }
    narrows
}

/// Takes the properties of a node as JSON.
fn meta(node: &Node, out: &mut Diagnostics) -> Spanned<Map<String, Value>> {
    let mut reader = Reader::new(node, &META, out);
    let mut facts = Map::new();
    for property in reader.all_properties(out) {
        property.value.plain(out);
        let value = match &property.value.scalar {
            Scalar::Text(text) => Value::from(text.as_str()),
            Scalar::Boolean(yes) => Value::from(*yes),
            Scalar::Integer(number) => match i64::try_from(*number) {
                Ok(number) => Value::from(number),
                Err(_) => Value::from(number.to_string()),
            },
            Scalar::Float(text) => Value::from(text.as_str()),
            Scalar::Null => Value::Null,
        };
        facts.insert(property.name.value.clone(), value);
    }
    reader.finish(out);
    Spanned { value: facts, at: node.name.at }
}

/// The block already selects this, or the selector belongs to another level, which would change the
/// order of the texts and the winner of two skills.
#[derive(Debug, Error, Diagnostic)]
#[error("a skill of a `{block}` block takes no `{word}`")]
#[diagnostic(code(skill::selector))]
struct ForeignSelector {
    block: &'static str,
    word: &'static str,
    #[help]
    help: String,
    #[label(primary, "does not belong here")]
    at: Span,
}
