//! `expect context|selection|visible … { … }`: a statement about the bundle that every build
//! proves.

use crate::grammar::{Field, Kind, Literal, Rule, Scalar, words};
use crate::setting::settings;
use crate::source::Spanned;

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

/// Declares the claims, each once: its question, and its node with one text or name, or several.
macro_rules! claims {
    ($(
        $(#[$doc:meta])*
        $claim:ident = $question:ident $rule:ident($name:literal, $value:literal, $meaning:literal);
    )*) => {
        /// An expectation of a text or a name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Claim {
            $($(#[$doc])* $claim,)*
        }

        $(pub(crate) static $rule: Rule = Rule::leaf(
            $name,
            concat!("`", $name, "`"),
            $meaning,
            &[Field::joined($value, Kind::Name("text"), $meaning)],
        );)*

        /// The nodes of an `expect`.
        const NODES: &[&Rule] = &[&GROUP, &TAGS, $(&$rule),*];

        impl Claim {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$claim),*];

            /// Returns the rule of its node.
            pub(crate) fn rule(self) -> &'static Rule {
                match self {
                    $(Self::$claim => &$rule,)*
                }
            }

            /// Returns its question.
            pub(crate) fn question(self) -> Question {
                match self {
                    $(Self::$claim => Question::$question,)*
                }
            }
        }
    };
}

claims! {
    /// The skills of the call have the text.
    Text = Context TEXT("text", "a text", "`context`: the text of the skills holds this.");
    NotText = Context NOT_TEXT("not-text", "a text", "`context`: the text of the skills does not hold this.");
    /// The skill is applied.
    Skill = Context SKILL("skill", "a name", "`context`: the skill is applied.");
    NotSkill = Context NOT_SKILL("not-skill", "a name", "`context`: the skill does not match, or another of its topic wins.");
    /// The prompt comes in full.
    Full = Selection FULL("full", "a name", "`selection`: the prompt comes in full.");
    /// It comes with its summary.
    Index = Selection INDEX("index", "a name", "`selection`: the prompt comes with its summary.");
    /// It comes by its name alone.
    Names = Selection NAMES("names", "a name", "`selection`: the prompt comes by its name alone.");
    /// The prompt is left out.
    Not = Selection NOT("not", "a name", "`selection`: the prompt does not come.");
    /// The caller sees the prompt.
    Prompt = Visible PROMPT("prompt", "a name", "`visible`: the caller sees the prompt.");
    NotPrompt = Visible NOT_PROMPT("not-prompt", "a name", "`visible`: the caller does not see the prompt.");
    Resource = Visible RESOURCE("resource", "a URI", "`visible`: the caller sees the resource or URI template.");
    NotResource = Visible NOT_RESOURCE("not-resource", "a URI", "`visible`: the caller does not see the resource or URI template.");
    Tool = Visible TOOL("tool", "a name", "`visible`: the caller sees the tool.");
    NotTool = Visible NOT_TOOL("not-tool", "a name", "`visible`: the caller does not see the tool.");
}

/// The property that names the tool of a call.
pub(crate) const TOOL_OF_CALL: &str = "tool";

pub(crate) static EXPECT: Rule = Rule {
    name: "expect",
    what: "an expect",
    meaning: "What a caller gets, proved by every build on the bytes that it has made: the skills of a call (`expect context`), the prompts of a briefing (`expect selection`), or what the caller sees (`expect visible`). What does not hold is an error. At the top of a document it counts without an environment and in each; in a `when`, in that one. `relay test` lists them.",
    fields: &[
        Field::argument("a question", Kind::Words(Question::WORDS), "What is asked."),
        Field::property("tenant", Kind::Name("text"), "The tenant of the caller."),
        Field::property(
            "role",
            Kind::Name("text"),
            "The role of the caller. With `user` or `group`, one that `users` gives it.",
        ),
        Field::property("user", Kind::Name("text"), "The id of the caller."),
        Field::property("group", Kind::Name("text"), "A group of the caller."),
        Field::property(TOOL_OF_CALL, Kind::Name("text"), "`context`: the tool that is called."),
    ],
    children: NODES,
    example: include_str!("../reference/expect.kdl"),
};

pub(crate) static GROUP: Rule = Rule::leaf(
    "group",
    "a group",
    "Groups of the caller.",
    &[Field::joined("a group", Kind::Name("text"), "A group.")],
);

pub(crate) static TAGS: Rule = Rule::leaf(
    "tags",
    "`tags`",
    "`selection`: the tags that `begin_session` is called with.",
    &[Field::joined("a tag", Kind::Name("text"), "A tag.")],
);

impl Claim {
    /// Returns its node's name.
    pub(crate) fn word(self) -> &'static str {
        self.rule().name
    }
}

impl Question {
    /// Returns its word.
    pub(crate) fn word(self) -> &'static str {
        match self.encode(Kind::Words(Self::WORDS)) {
            Literal::Word(word) | Literal::Text(word) => word,
            Literal::Boolean(_) | Literal::Number(_) => "",
        }
    }

    /// Returns the names of its claims.
    pub(crate) fn claims(self) -> Vec<&'static str> {
        let of_it = Claim::ALL.iter().filter(|claim| claim.question() == self);
        of_it.map(|claim| claim.word()).collect()
    }

    /// Returns its parts besides the tenant, the role and the user of the caller.
    pub(crate) fn takes(self) -> String {
        let own: &[&str] = match self {
            Self::Context => &["`tool=`", GROUP.name],
            Self::Selection => &[GROUP.name, TAGS.name],
            Self::Visible => &[GROUP.name],
        };
        [own, &self.claims()].concat().join(", ")
    }
}

settings! {
    /// The settings of an `expect`.
    struct ExpectSettings {}
    EXPECT {
        tenant: Option<Spanned<String>> = "tenant",
        role: Option<Spanned<String>> = "role",
        user: Option<Spanned<String>> = "user",
        /// A group that is a property.
        group: Option<Spanned<String>> = "group",
        /// The tool of a call.
        tool: Option<Spanned<String>> = TOOL_OF_CALL,
    }
    GROUP {
        /// Groups that are nodes.
        groups: Option<Vec<Spanned<String>>> = "a group",
    }
    TAGS {
        /// The tags of a briefing.
        tags: Option<Vec<Spanned<String>>> = "a tag",
    }
}
