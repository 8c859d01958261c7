//! `expect context|selection|visible … { … }`: what every build proves of its bundle.

use miette::Diagnostic;
use thiserror::Error;

use super::node::{self, Node, Reader, Scalar};
use crate::ast::{Claim, Expect, Question};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Form, Kind, Rule, Scalar as _};
use crate::source::{Span, Spanned};

pub(crate) static EXPECT: Rule = Rule {
    name: "expect",
    what: "an expect",
    meaning: "What a caller gets, proved by every build on the bytes that it has made: the skills of a call (`expect context`), the prompts of a briefing (`expect selection`), or what the caller sees (`expect visible`). What does not hold is an error. At the top of a document it counts without an environment and in each; in a `when`, in that one. `relay test` lists them.",
    fields: &[
        Field::argument(
            "a question",
            Kind::Words(<Question as crate::grammar::Scalar>::WORDS),
            "What is asked.",
        ),
        Field::property("tenant", Kind::Text("text"), "The tenant of the caller."),
        Field::property(
            "role",
            Kind::Text("text"),
            "The role of the caller. With `user` or `group`, one that `users` gives it.",
        ),
        Field::property("user", Kind::Text("text"), "The id of the caller."),
        Field {
            name: GROUP.name,
            form: Form::Either,
            kind: Kind::Text("text"),
            default: None,
            meaning: "A group of the caller; the node takes several.",
        },
        Field::property("tool", Kind::Text("text"), "`context`: the tool that is called."),
    ],
    children: &[
        &TEXT,
        &NOT_TEXT,
        &SKILL,
        &NOT_SKILL,
        &TAGS,
        &FULL,
        &INDEX,
        &NAMES,
        &NOT,
        &PROMPT,
        &NOT_PROMPT,
        &RESOURCE,
        &NOT_RESOURCE,
        &TOOL,
        &NOT_TOOL,
    ],
    example: include_str!("../reference/expect.kdl"),
};

static GROUP: Rule = Rule::leaf(
    "group",
    "a group",
    "Groups of the caller.",
    &[Field::arguments("a group", Kind::Text("text"), "A group.")],
);

/// Declares the rule of a claim: a node with one text or name, or several.
macro_rules! claim {
    ($rule:ident, $name:literal, $meaning:literal, $value:literal) => {
        static $rule: Rule = Rule::leaf(
            $name,
            concat!("`", $name, "`"),
            $meaning,
            &[Field::arguments($value, Kind::Text("text"), $meaning)],
        );
    };
}

claim!(TEXT, "text", "`context`: the text of the skills holds this.", "a text");
claim!(NOT_TEXT, "not-text", "`context`: the text of the skills does not hold this.", "a text");
claim!(SKILL, "skill", "`context`: the skill is applied.", "a name");
claim!(
    NOT_SKILL,
    "not-skill",
    "`context`: the skill does not match, or another of its topic wins.",
    "a name"
);
claim!(TAGS, "tags", "`selection`: the tags that `begin_session` is called with.", "a tag");
claim!(FULL, "full", "`selection`: the prompt comes in full.", "a name");
claim!(INDEX, "index", "`selection`: the prompt comes with its summary.", "a name");
claim!(NAMES, "names", "`selection`: the prompt comes by its name alone.", "a name");
claim!(NOT, "not", "`selection`: the prompt does not come.", "a name");
claim!(PROMPT, "prompt", "`visible`: the caller sees the prompt.", "a name");
claim!(NOT_PROMPT, "not-prompt", "`visible`: the caller does not see the prompt.", "a name");
claim!(RESOURCE, "resource", "`visible`: the caller sees the resource or URI template.", "a URI");
claim!(
    NOT_RESOURCE,
    "not-resource",
    "`visible`: the caller does not see the resource or URI template.",
    "a URI"
);
claim!(TOOL, "tool", "`visible`: the caller sees the tool.", "a name");
claim!(NOT_TOOL, "not-tool", "`visible`: the caller does not see the tool.", "a name");

impl Claim {
    /// All of them.
    const ALL: [Self; 14] = [
        Self::Text,
        Self::NotText,
        Self::Skill,
        Self::NotSkill,
        Self::Full,
        Self::Index,
        Self::Names,
        Self::Not,
        Self::Prompt,
        Self::NotPrompt,
        Self::Resource,
        Self::NotResource,
        Self::Tool,
        Self::NotTool,
    ];

    fn rule(self) -> &'static Rule {
        match self {
            Self::Text => &TEXT,
            Self::NotText => &NOT_TEXT,
            Self::Skill => &SKILL,
            Self::NotSkill => &NOT_SKILL,
            Self::Full => &FULL,
            Self::Index => &INDEX,
            Self::Names => &NAMES,
            Self::Not => &NOT,
            Self::Prompt => &PROMPT,
            Self::NotPrompt => &NOT_PROMPT,
            Self::Resource => &RESOURCE,
            Self::NotResource => &NOT_RESOURCE,
            Self::Tool => &TOOL,
            Self::NotTool => &NOT_TOOL,
        }
    }

    /// Returns its node's name.
    pub(crate) fn word(self) -> &'static str {
        self.rule().name
    }

    /// Returns the question that it belongs to.
    fn question(self) -> Question {
        match self {
            Self::Text | Self::NotText | Self::Skill | Self::NotSkill => Question::Context,
            Self::Full | Self::Index | Self::Names | Self::Not => Question::Selection,
            Self::Prompt
            | Self::NotPrompt
            | Self::Resource
            | Self::NotResource
            | Self::Tool
            | Self::NotTool => Question::Visible,
        }
    }
}

impl Question {
    /// Returns its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Selection => "selection",
            Self::Visible => "visible",
        }
    }

    /// Returns the names of the nodes that say what is expected.
    fn claims(self) -> Vec<&'static str> {
        let of_it = Claim::ALL.into_iter().filter(|claim| claim.question() == self);
        of_it.map(Claim::word).collect()
    }

    /// Returns what it takes besides the tenant, the role and the user of the caller.
    fn takes(self) -> String {
        let own: &[&str] = match self {
            Self::Context => &["`tool=`", GROUP.name],
            Self::Selection => &[GROUP.name, TAGS.name],
            Self::Visible => &[GROUP.name],
        };
        [own, &self.claims()].concat().join(", ")
    }
}

/// Reads an `expect`; `None` if what it asks for is not known, which is reported.
pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Option<Expect> {
    if let Some(first) = node.arguments.first()
        && first.scalar == Scalar::Text("decision".into())
    {
        node::reserved("expect decision", "policies", first.at, out);
        return None;
    }
    let mut reader = Reader::new(node, &EXPECT, out);
    let kind = EXPECT.argument(0)?.kind;
    let word = reader.argument(out).and_then(|value| value.literal(kind, out));
    let asked = word.and_then(|word| Some((Question::decode(word.value)?, word.at)));
    let mut text = |name| reader.property(name).and_then(|value| value.non_empty(out));
    let [tenant, role, user, tool, group] =
        ["tenant", "role", "user", "tool", "group"].map(&mut text);
    let mut groups = Vec::from_iter(group);
    for child in reader.children(GROUP.name) {
        groups.extend(values(child, &GROUP, out));
    }
    let mut tags = Vec::new();
    let mut foreign: Vec<Spanned<String>> = Vec::new();
    for child in reader.children(TAGS.name) {
        tags.extend(values(child, &TAGS, out));
        foreign.extend(stray(child, Question::Selection, asked));
    }
    let mut claims = Vec::new();
    for claim in Claim::ALL {
        for child in reader.children(claim.word()) {
            claims.extend(values(child, claim.rule(), out).into_iter().map(|about| (claim, about)));
            foreign.extend(stray(child, claim.question(), asked));
        }
    }
    reader.finish(out);
    let (question, at) = asked?;
    let named = node.properties.iter().find(|property| property.name.value == "tool");
    if let Some(property) = named.filter(|_| question != Question::Context) {
        foreign.push(property.name.clone());
    }
    // What belongs to another question was reported, and is not looked at again.
    let tool = tool.filter(|_| question == Question::Context);
    claims.retain(|(claim, _)| claim.question() == question);
    for Spanned { value: name, at } in foreign {
        let takes = question.takes();
        out.report(at, Foreign { name, question: question.word(), takes, at });
    }
    // A mistyped node was meant to say something, and was reported.
    let mut children = node.children.iter().flatten().map(|child| child.name.value.as_str());
    if children.all(|name| [GROUP.name, TAGS.name].contains(&name)) {
        let takes = question.claims().join(", ");
        out.report(at, SaysNothing { question: question.word(), takes, at });
    }
    Some(Expect { at, question, tenant, role, user, groups, tool, tags, claims })
}

/// Takes the texts of a node.
fn values(node: &Node, rule: &'static Rule, out: &mut Diagnostics) -> Vec<Spanned<String>> {
    let mut reader = Reader::new(node, rule, out);
    let texts = reader.texts(out);
    reader.finish(out);
    texts
}

/// Returns the name of a node that belongs to another question than the one that is asked.
fn stray(node: &Node, home: Question, asked: Option<(Question, Span)>) -> Option<Spanned<String>> {
    asked.filter(|(question, _)| *question != home).map(|_| node.name.clone())
}

/// An expectation that checks nothing passes whatever the bundle holds.
#[derive(Debug, Error, Diagnostic)]
#[error("this `expect {question}` expects nothing")]
#[diagnostic(code(expect::empty), help("say what must hold, with one of: {takes}"))]
struct SaysNothing {
    question: &'static str,
    takes: String,
    #[label(primary, "would always hold")]
    at: Span,
}

/// Each question has its own answers; what is not part of the answer cannot be expected of it.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` does not belong in an `expect {question}`")]
#[diagnostic(code(expect::foreign), help("an `expect {question}` takes: {takes}"))]
struct Foreign {
    name: String,
    question: &'static str,
    takes: String,
    #[label(primary, "not part of this question")]
    at: Span,
}
