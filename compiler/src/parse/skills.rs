//! `skills { global { … }; tenant NAME { … }; tool PATTERN… { … }; user ID { … } }`

use miette::Diagnostic;
use relay_bundle::Level;
use serde_json::{Map, Value};
use thiserror::Error;

use super::node::{DuplicateNode, Node, Reader, Scalar, TEXT};
use super::{argument, body, empty, when};
use crate::ast::{Repeat, Skill, SkillBlock, Skills};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Form, Kind, Literal, Rule, Scalar as _};
use crate::source::{Span, Spanned};

/// The priority of a skill that gives none.
pub(crate) const SKILL_PRIORITY: u8 = 50;
/// The most characters of one skill, if the project does not say.
pub(crate) const SKILL_CHARS: u32 = 2000;
/// The most bytes of what one call is given, if the project does not say.
pub(crate) const MERGED_BYTES: u32 = 8 * 1024;

pub(crate) static SKILLS: Rule = Rule {
    name: "skills",
    what: "skills",
    meaning: "Texts that a call of a tool is given, by tenant, tool and user: level by level, the widest first. A project may have any number of such nodes.",
    fields: &[
        Field::property(
            "limit",
            Kind::Chars { low: 1, high: 100_000 },
            "The most characters of one skill.",
        )
        .or(Literal::Number(SKILL_CHARS as u64)),
        Field::property(
            "merged",
            Kind::Bytes { high: 1024 * 1024 },
            "The most bytes that any call is given, whatever tenant, tool and user meet.",
        )
        .or(Literal::Number(MERGED_BYTES as u64)),
        Field::property(
            "repeat",
            Kind::Words(Repeat::WORDS),
            "`once` gives a text once to callers with a session or a briefing, and then the names of the skills.",
        )
        .or(Literal::Word("always")),
    ],
    children: &[&GLOBAL, &TENANT, &TOOL, &USER],
    example: include_str!("../reference/skills.kdl"),
};

static GLOBAL: Rule = Rule {
    name: "global",
    what: "a block of skills",
    meaning: "Skills for every call.",
    fields: &[],
    children: &[&SKILL],
    example: "",
};

static TENANT: Rule = Rule {
    name: "tenant",
    meaning: "Skills for a tenant.",
    fields: &[Field::argument("a name", Kind::Text("text"), "The tenant.")],
    ..GLOBAL
};

static TOOL: Rule = Rule {
    name: "tool",
    meaning: "Skills for the tools that one of the patterns matches.",
    fields: &[Field::arguments("a pattern", Kind::Text("pattern"), "A pattern.")],
    ..GLOBAL
};

static USER: Rule = Rule {
    name: "user",
    meaning: "Skills for a user.",
    fields: &[Field::argument("an id", Kind::Text("text"), "The user, as authentication says.")],
    ..GLOBAL
};

static SKILL: Rule = Rule {
    name: "skill",
    what: "a skill",
    meaning: "A skill. Its text is its second argument, a `text`, or a `file=`; it is plain text, never a template. Each selector that its block does not say may narrow it.",
    fields: &[
        Field::argument("a name", Kind::Text("text"), "Its name, once in its block."),
        Field::optional("a text", Kind::Text("text"), "Its text."),
        body::FILE,
        Field::property("enabled", Kind::Boolean, "`#false` leaves it out of the bundle.")
            .or(Literal::Boolean(true)),
        Field::property(
            "priority",
            Kind::Number { low: 0, high: 100 },
            "Inside a level, a higher one comes later; equal ones go by name.",
        )
        .or(Literal::Number(SKILL_PRIORITY as u64)),
        Field::either("topic", "Of the matched skills of one topic only the last one is applied."),
        Field::either("title", "Its name for people."),
        Field::either("description", "What it is for."),
        Field::property("tenant", Kind::Text("text"), "Only for this tenant."),
        Field::property("tools", Kind::Text("pattern"), "Only for tools that the pattern matches."),
        Field::property("user", Kind::Text("text"), "Only for this user."),
        when::NEW,
    ],
    children: &[&SKILL_TOOLS, &META, &TEXT, &body::ALLOW_SECRET],
    example: include_str!("../reference/skill.kdl"),
};

static SKILL_TOOLS: Rule = Rule::leaf(
    "tools",
    "tools",
    "Only for tools that one of the patterns matches.",
    &[Field::arguments("a pattern", Kind::Text("pattern"), "A pattern.")],
);

static META: Rule = Rule::leaf(
    "meta",
    "meta",
    "Further facts about it, for people and reports.",
    &[Field {
        name: "a key",
        form: Form::Keys,
        kind: Kind::Text("text, number or boolean"),
        default: None,
        meaning: "A fact.",
    }],
);

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Skills {
    let mut reader = Reader::new(node, &SKILLS, out);
    let limit = reader.value("limit", out);
    let merged = reader.value("merged", out);
    let repeat = reader.value("repeat", out);
    if limit.is_none() && merged.is_none() && repeat.is_none() {
        empty::check(node, out);
    }
    let mut blocks = Vec::new();
    for (rule, level) in SKILLS.children.iter().zip(Level::ALL) {
        let children = reader.children(rule.name);
        blocks.extend(children.filter_map(|child| block(child, rule, level, out)));
    }
    reader.finish(out);
    Skills { limit, merged, repeat, blocks }
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
        Level::Tenant | Level::User => {
            let selector = reader.argument(out).and_then(|value| value.non_empty(out));
            selector.map(|selector| vec![selector])
        }
        Level::Tool => Some(reader.texts(out)).filter(|patterns| !patterns.is_empty()),
    };
    let skills = reader.children("skill").map(|child| skill(child, level, out)).collect();
    reader.finish(out);
    Some(SkillBlock { level, selectors: selectors?, skills })
}

fn skill(node: &Node, level: Level, out: &mut Diagnostics) -> Skill {
    let mut reader = Reader::new(node, &SKILL, out);
    let name = reader.argument(out).and_then(|value| value.text(out));
    let argument = reader.optional_argument();
    let mut body = body::plain(&mut reader, out);
    if let Some(value) = argument {
        let written = value.text(out);
        body.broken |= written.is_none();
        if let (Some(first), Some(again)) = (&written, &body.text) {
            let (first_at, at) = (first.at, again.at);
            out.report(at, DuplicateNode { name: "text".into(), first_at, at });
        }
        body.text = written.or(body.text);
    }
    let tenant = one(&mut reader, "tenant", out);
    let user = one(&mut reader, "user", out);
    let tools = tools(&mut reader, out);
    let skill = Skill {
        name,
        new: reader.value("new", out),
        enabled: reader.value("enabled", out),
        priority: reader.value("priority", out),
        topic: reader.text("topic", out),
        title: reader.text("title", out),
        description: reader.text("description", out),
        meta: reader.child("meta", out).map(|child| meta(child, out)),
        tenant: tenant.filter(|it| narrows(it, level, Level::Tenant, out)),
        user: user.filter(|it| narrows(it, level, Level::User, out)),
        tools: tools.filter(|tools| {
            tools.first().is_none_or(|first| narrows(first, level, Level::Tool, out))
        }),
        body,
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish(out);
    skill
}

fn one(
    reader: &mut Reader<'_>,
    name: &'static str,
    out: &mut Diagnostics,
) -> Option<Spanned<String>> {
    reader.property(name).and_then(|value| value.non_empty(out))
}

/// Takes the patterns of a property or of a node.
fn tools(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Option<Vec<Spanned<String>>> {
    let property = reader.property("tools");
    let child = reader.child("tools", out);
    if let (Some(first), Some(again)) = (property, child) {
        let (first_at, at) = (first.at, again.name.at);
        out.report(at, DuplicateNode { name: "tools".into(), first_at, at });
    }
    match (property, child) {
        (Some(value), _) => value.non_empty(out).map(|pattern| vec![pattern]),
        (None, Some(child)) => Some(argument::list(child, &SKILL_TOOLS, out)),
        (None, None) => None,
    }
}

/// Returns whether a selector narrows the skills of a level; reports one that does not.
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

/// The block already says so, or the skill would be at the wrong level: the order of the texts, and
/// which of two wins, would not be what the block says.
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
