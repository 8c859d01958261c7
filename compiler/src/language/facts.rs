//! `facts { program …; environment … }`, and the nodes of fact files.

use relay_policy::facts::{Output, Position, Role, Special, Style, WordKind};

use super::shared::BECAUSE;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar};

/// The kind of every field that holds a role.
pub(crate) const ROLE_KIND: Kind = Kind::Words(Role::WORDS);

const COUNT_KIND: Kind = Kind::Number { low: 0, high: 255 };

const NAMES: Field = Field::arguments("a name", Kind::Name("text"), "A name.");
const SAYS: Field = Field::property(
    "says",
    Kind::Name("text"),
    "What it does, as the end of a sentence about it: `restarts a service`.",
);

/// The reason of a row that is lower than the shipped one.
const LOWERS: Field = Field::property(
    BECAUSE.name,
    Kind::Name("text"),
    "The reason; what is lower than what is shipped of the program needs one.",
);

/// The fields of programs and sub-commands, and others.
macro_rules! node_fields {
    ($($other:expr),*) => {
        &[
            NAMES,
            Field::property(
                "tier",
                Kind::TIER,
                "Its tier, whatever its options. Without it no one has read these facts, and it counts as unknown.",
            ),
            SAYS,
            Field::property(
                "style",
                Kind::Words(Style::WORDS),
                "How it reads its words: `gnu` (`-abc`, `--long`, shortened `--lo`), `go` (not shortened), `single` (`-name`), `none`, `key` (`key=value`), `letters` (`-abc` of declared letters; any other word is an operand).",
            )
            .or(Literal::Word("gnu")),
            Field::property("stop", COUNT_KIND, "From which operand on no word is an option.")
                .or(Literal::Number(0)),
            Field::property("sub-at", COUNT_KIND, "Which operand is the sub-command.")
                .or(Literal::Number(1)),
            Field::property("numbers", Kind::Boolean, "Whether `-5` is an option.")
                .or(Literal::Boolean(false)),
            Field::property(
                "bundle-first",
                Kind::Boolean,
                "Whether its first word may be options without a dash: `tar xf`.",
            )
            .or(Literal::Boolean(false)),
            Field::property(
                "ignore-case",
                Kind::Boolean,
                "Whether sub-commands may be in any case; they are written here in lower case.",
            )
            .or(Literal::Boolean(false)),
            Field::property(
                "sends",
                Kind::Boolean,
                "Whether it sends its standard input over a network.",
            )
            .or(Literal::Boolean(false)),
            Field::property(
                "listens",
                Kind::Boolean,
                "Whether it opens a port to others, whatever its options.",
            )
            .or(Literal::Boolean(false)),
            Field::property("builtin", Kind::Boolean, "Whether it is a builtin of the shell.")
                .or(Literal::Boolean(false)),
            Field::property(
                "user",
                Kind::Text("text"),
                "The user whose rights it takes if no option names one.",
            ),
            Field::property("writes", Kind::Name("path"), "A path that it writes by default."),
            Field::property(
                "stdin",
                ROLE_KIND,
                "What its standard input is if it has no operand: code of a shell, SQL.",
            )
            .or(Literal::Word("text")),
            Field::property("output", Kind::Words(Output::WORDS), "What it writes to standard output.")
                .or(Literal::Word("opaque")),
            Field::property(
                "special",
                Kind::Words(Special::WORDS),
                "What it means to the shell that runs it.",
            )
            .or(Literal::Word("nothing")),
            $($other),*
        ]
    };
}

pub(crate) static FACTS: Rule = Rule {
    name: "facts",
    what: "facts",
    meaning: "What the project knows about programs, beside what is shipped: `relay facts` prints all of it. It counts in every environment.",
    fields: &[],
    children: &[&PROGRAM, &GROUP, &ENVIRONMENT],
    example: include_str!("../reference/facts.kdl"),
};

/// A fact file, as a node with its nodes.
pub(crate) static FACT_FILE: Rule = Rule {
    name: "fact-file",
    what: "a fact file",
    meaning: "What is shipped about programs.",
    fields: &[],
    children: &[&CHECKED, &PROGRAM, &GROUP, &ENVIRONMENT, &WORDS],
    example: "",
};

pub(crate) static CHECKED: Rule = Rule::leaf(
    "checked",
    "a check",
    "Against what the programs of the file were checked that do not say it themselves.",
    &[Field::argument("a source", Kind::Name("text"), "Manual pages, help texts.")],
);

/// The value of `checked` for an unchecked program in a checked file.
pub(crate) const UNCHECKED: &str = "no";

const CHECKED_FIELD: Field = Field::property(
    "checked",
    Kind::Name("text"),
    "Against what these facts were checked, for people: `man 1 rm, coreutils 9.5`; `no` if they were not.",
);

pub(crate) static PROGRAM: Rule = Rule {
    name: "program",
    what: "a program",
    meaning: "What is known about a program. Options and operands are closed: what is not declared is a doubt, and so at least tier 2. What replaces a shipped program needs a `because`, and so does each row in it that is lower than what is shipped.",
    fields: node_fields![CHECKED_FIELD, BECAUSE],
    children: &[&FLAGS, OPERAND, REST, LAST, &FORM, &SUB_1, &USE],
    example: "",
};

static SUB_1: Rule = Rule {
    name: "sub",
    what: "a sub-command",
    meaning: "A sub-command. One name may end or begin with `*`.",
    fields: node_fields![LOWERS],
    children: &[&FLAGS, OPERAND, REST, LAST, &FORM, &SUB_2, &USE],
    example: "",
};

static SUB_2: Rule =
    Rule { children: &[&FLAGS, OPERAND, REST, LAST, &FORM, &SUB_3, &USE], ..SUB_1_WITHOUT };

static SUB_3: Rule =
    Rule { children: &[&FLAGS, OPERAND, REST, LAST, &FORM, &SUB_4, &USE], ..SUB_1_WITHOUT };

static SUB_4: Rule =
    Rule { children: &[&FLAGS, OPERAND, REST, LAST, &FORM, &USE], ..SUB_1_WITHOUT };

const SUB_1_WITHOUT: Rule = Rule {
    name: "sub",
    what: "a sub-command",
    meaning: "A sub-command of a sub-command.",
    fields: node_fields![LOWERS],
    children: &[],
    example: "",
};

pub(crate) static GROUP: Rule = Rule {
    name: "group",
    what: "a group",
    meaning: "What several commands have alike; `use` puts it into each. It counts in this node alone.",
    fields: &[Field::argument("a name", Kind::Name("text"), "A name.")],
    children: &[&FLAGS, OPERAND, REST, LAST, &FORM, &SUB_1, &USE],
    example: "",
};

pub(crate) static USE: Rule =
    Rule::leaf("use", "a use of groups", "Puts all that these groups hold in its place.", &[NAMES]);

/// The rules of sub-commands, by depth.
pub(crate) static SUBS: [&Rule; 4] = [&SUB_1, &SUB_2, &SUB_3, &SUB_4];

pub(crate) static FLAGS: Rule = Rule {
    name: "flags",
    what: "options",
    meaning: "Options that mean the same, dashes included. One that ends with `*` is the beginning of others.",
    fields: &[
        NAMES,
        Field::property("value", ROLE_KIND, "They take a value; this is what it is."),
        Field::property("attached", ROLE_KIND, "They take a value only if it is attached."),
        Field::property("tier", Kind::TIER, "The tier that they raise the command to."),
        Field::property("cap", Kind::TIER, "The most that the command itself is with them; 3 takes back what other options of it say."),
        SAYS,
        Field::property(
            "listens",
            Kind::Boolean,
            "Whether they open a port to others. Those with a value say `value=\"listen\"` instead.",
        )
        .or(Literal::Boolean(false)),
        Field::property("everywhere", Kind::Boolean, "Whether sub-commands take them too.")
            .or(Literal::Boolean(false)),
        LOWERS,
    ],
    children: &[&VALUE],
    example: "",
};

pub(crate) static VALUE: Rule = Rule::leaf(
    "value",
    "a value",
    "What certain values mean; the first row that matches counts. A pattern has one `*`, at its end or beginning; before a `*` at the end, `[*]` is the character. `[relative]` is any value that begins as a relative path does: with a letter, a digit, `.`, `_` or `@`. `[name]` is any value that begins with a letter or a digit and is no path, address or setting: it may compare a version, as in `name==1.0`.",
    &[
        Field::arguments("a pattern", Kind::Name("text"), "A value or a pattern."),
        Field::property("tier", Kind::TIER, "The tier that it raises the command to."),
        Field::property(
            "cap",
            Kind::TIER,
            "The most that the command itself is with it; 3 takes back what other options say.",
        ),
        Field::property("role", ROLE_KIND, "What the text is that `*` stands for.")
            .or(Literal::Word("text")),
        SAYS,
    ],
);

const ROLE_FIELD: &[Field] = &[Field::argument("a role", ROLE_KIND, "What it is."), LOWERS];
const VALUES: &[&Rule] = &[&VALUE];

/// The rest names its first operand by number, so that the loss of another row is a doubt.
const REST_FIELDS: &[Field] = &[
    Field::argument("a role", ROLE_KIND, "What they are."),
    Field::property(
        "from",
        COUNT_KIND,
        "Which operand is the first of them, counted from 1; without it the first that no row before is about.",
    )
    .or(Literal::Number(0)),
    Field::property("not-last", Kind::Boolean, "Whether the last of several is none of them.")
        .or(Literal::Boolean(false)),
    LOWERS,
];

const fn operand(name: &'static str, meaning: &'static str) -> Rule {
    Rule { name, what: "an operand", meaning, fields: ROLE_FIELD, children: VALUES, example: "" }
}

static OPERAND_RULE: Rule = operand("operand", "The next operand.");
static REST_RULE: Rule =
    Rule { fields: REST_FIELDS, ..operand("rest", "All operands that remain.") };
static LAST_RULE: Rule = operand("last", "The last operand, if there is more than one.");
const OPERAND: &Rule = &OPERAND_RULE;
const REST: &Rule = &REST_RULE;
const LAST: &Rule = &LAST_RULE;

/// The rules of operands, in the order of `Position`.
pub(crate) static OPERANDS: [&Rule; 3] = [OPERAND, REST, LAST];

/// Returns the rule of operands at a position.
pub(crate) fn operand_rule(position: Position) -> &'static Rule {
    match position {
        Position::Next => OPERAND,
        Position::Rest => REST,
        Position::Last => LAST,
    }
}

pub(crate) static FORM: Rule = Rule {
    name: "form",
    what: "a form",
    meaning: "What the command is under conditions; the first form that holds counts. A form may only lower the tier, so that a lost one can only raise it.",
    fields: &[
        Field::property("tier", Kind::TIER, "Its tier then.").or(Literal::Number(0)),
        SAYS,
        Field::property("least", COUNT_KIND, "The fewest operands.").or(Literal::Number(0)),
        Field::property("most", COUNT_KIND, "The most operands.").or(Literal::Number(255)),
        Field::property("output", Kind::Words(Output::WORDS), "What its output is then."),
        Field::property("stdin", ROLE_KIND, "What its standard input is then."),
        Field::property("writes", Kind::Name("path"), "A path that it writes then."),
        LOWERS,
    ],
    children: &[&HAS, &WITHOUT, &MATCHING, OPERAND, REST, LAST, &FORM_ROLE],
    example: "",
};

pub(crate) static HAS: Rule =
    Rule::leaf("has", "options", "Options of which one must be there.", &[NAMES]);

pub(crate) static WITHOUT: Rule =
    Rule::leaf("without", "options", "Options of which none may be there.", &[NAMES]);

pub(crate) static MATCHING: Rule = Rule::leaf(
    "matching",
    "patterns",
    "Patterns, as of values, of which each operand must match one.",
    &[NAMES],
);

pub(crate) static FORM_ROLE: Rule = Rule::leaf(
    "role",
    "a role",
    "What the values of options are then.",
    &[NAMES, Field::property("is", ROLE_KIND, "What they are.")],
);

pub(crate) static ENVIRONMENT: Rule = Rule::leaf(
    "environment",
    "variables",
    "Variables of the environment that change no code. One that ends with `*` is the beginning of others. A project gives a `because`.",
    &[NAMES, BECAUSE],
);

pub(crate) static WORDS: Rule = Rule::leaf(
    "words",
    "words of a language",
    "Words of a programming language, for code in one line.",
    &[
        Field::arguments("a word", Kind::Name("text"), "A word."),
        Field::property("language", ROLE_KIND, "The language."),
        Field::property("kind", Kind::Words(WordKind::WORDS), "What they mean."),
    ],
);

/// Implements `Scalar` for enumerations of facts.
macro_rules! scalars {
    ($($type:ty),*) => {
        $(impl Scalar for $type {
            const WORDS: &'static [&'static str] = <$type>::WORDS;

            fn decode(literal: Literal<'_>) -> Option<Self> {
                match literal {
                    Literal::Word(word) => Self::from_word(word),
                    Literal::Boolean(_) | Literal::Number(_) | Literal::Text(_) => None,
                }
            }

            fn encode(self, _kind: Kind) -> Literal<'static> {
                Literal::Word(self.word())
            }
        })*
    };
}

scalars!(Role, Style, Output, Special, WordKind);
