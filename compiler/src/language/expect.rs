//! `expect context|selection|visible … { … }`: what every build proves of its bundle.

use crate::grammar::{Field, Form, Kind, Rule, words};

/// The question of an `expect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// The skills of a call.
    Context,
    /// The prompts of a briefing.
    Selection,
    /// The lists that a caller sees.
    Visible,
}

words!(Question {
    "context" = Question::Context,
    "selection" = Question::Selection,
    "visible" = Question::Visible,
});

/// An expectation of a text or a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// The skills of the call have the text.
    Text,
    NotText,
    /// The skill is applied.
    Skill,
    NotSkill,
    /// The prompt comes in full.
    Full,
    /// It comes with its summary.
    Index,
    /// It comes by its name alone.
    Names,
    /// It does not come.
    Not,
    /// The caller sees the prompt.
    Prompt,
    NotPrompt,
    Resource,
    NotResource,
    Tool,
    NotTool,
}

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

pub(crate) static GROUP: Rule = Rule::leaf(
    "group",
    "a group",
    "Groups of the caller.",
    &[Field::arguments("a group", Kind::Text("text"), "A group.")],
);

/// Declares the rule of a claim: a node with one text or name, or several.
macro_rules! claim {
    ($rule:ident, $name:literal, $meaning:literal, $value:literal) => {
        pub(crate) static $rule: Rule = Rule::leaf(
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
    pub(crate) const ALL: [Self; 14] = [
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

    pub(crate) fn rule(self) -> &'static Rule {
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
    pub(crate) fn question(self) -> Question {
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
    pub(crate) fn claims(self) -> Vec<&'static str> {
        let of_it = Claim::ALL.into_iter().filter(|claim| claim.question() == self);
        of_it.map(Claim::word).collect()
    }

    /// Returns what it takes besides the tenant, the role and the user of the caller.
    pub(crate) fn takes(self) -> String {
        let own: &[&str] = match self {
            Self::Context => &["`tool=`", GROUP.name],
            Self::Selection => &[GROUP.name, TAGS.name],
            Self::Visible => &[GROUP.name],
        };
        [own, &self.claims()].concat().join(", ")
    }
}
