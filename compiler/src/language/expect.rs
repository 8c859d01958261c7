//! `expect context|selection|visible|decision … { … }`: a statement about the bundle that every build
//! proves.

use relay_bundle::Tier;

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
    /// The decision of the policy on commands or calls.
    Decision,
}

words!(Question {
    "context" = Question::Context,
    "selection" = Question::Selection,
    "visible" = Question::Visible,
    "decision" = Question::Decision,
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
    /// The command runs.
    Allow = Decision ALLOW("allow", "a command", "`decision`: the command runs. Of a tool that runs no command, its arguments as JSON.");
    /// A person is asked first.
    Approve = Decision APPROVE("approve", "a command", "`decision`: a person is asked before the command runs.");
    Deny = Decision DENY("deny", "a command", "`decision`: the command is denied.");
}

/// The property that names the tool of a call.
pub(crate) const TOOL_OF_CALL: &str = "tool";
/// The property that names the host of a call.
pub(crate) const HOST: &str = "host";
/// The property that names the client of a caller.
pub(crate) const CLIENT: &str = "client";
/// The property that names the rule that decides.
pub(crate) const DECIDED_BY: &str = "rule";
/// The property of the tier that a decision has.
pub(crate) const TIER: &str = "tier";

/// The properties that belong to some questions only.
const PROPERTIES: &[(&str, &[Question])] = &[
    (TOOL_OF_CALL, &[Question::Context, Question::Decision]),
    (HOST, &[Question::Decision]),
    (CLIENT, &[Question::Decision]),
    (DECIDED_BY, &[Question::Decision]),
    (TIER, &[Question::Decision]),
];

pub(crate) static EXPECT: Rule = Rule {
    name: "expect",
    what: "an expect",
    meaning: "What a caller gets, proved by every build on the bytes that it has made: the skills of a call (`expect context`), the prompts of a briefing (`expect selection`), what the caller sees (`expect visible`), or what the policy decides (`expect decision`). What does not hold is an error. At the top of a document it counts without an environment and in each; in a `when`, in that one. `relay test` lists them.",
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
        Field::property(
            TOOL_OF_CALL,
            Kind::Name("text"),
            "`context`, `decision`: the tool that is called. Commands are those of `shell_exec`, unless it is another.",
        ),
        Field::property(HOST, Kind::Name("text"), "`decision`: the host on which the tool runs."),
        Field::property(CLIENT, Kind::Name("text"), "`decision`: the client of the caller."),
        Field::property(
            DECIDED_BY,
            Kind::Name("text"),
            "`decision`: the rule of the policy that decides each of them.",
        ),
        Field::property(TIER, Kind::TIER, "`decision`: the tier of each of them."),
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
        let properties = PROPERTIES.iter().filter(|(_, questions)| questions.contains(&self));
        let mut takes: Vec<String> = properties.map(|(name, _)| format!("`{name}=`")).collect();
        takes.push(GROUP.name.to_owned());
        takes.extend((self == Self::Selection).then(|| TAGS.name.to_owned()));
        takes.extend(self.claims().into_iter().map(str::to_owned));
        takes.join(", ")
    }

    /// Returns whether it takes a property of this name.
    pub(crate) fn takes_property(self, name: &str) -> bool {
        let own = PROPERTIES.iter().find(|(property, _)| *property == name);
        own.is_none_or(|(_, questions)| questions.contains(&self))
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
        /// The host of a call.
        host: Option<Spanned<String>> = HOST,
        /// The client of the caller.
        client: Option<Spanned<String>> = CLIENT,
        /// The rule that decides.
        rule: Option<Spanned<String>> = DECIDED_BY,
        /// The tier of the decision.
        tier: Option<Spanned<Tier>> = TIER,
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
