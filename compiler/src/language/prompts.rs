//! `prompts { … }`: prompts, folders of prompts and folders of commands.

use super::shared::{ALLOW_INVISIBLE, ALLOW_MARK, ALLOW_SECRET, NEW};
use super::{prompt, readers};
use crate::grammar::{Field, Kind, Literal, Rule, Scalar as _, words};
use crate::setting::{Setting, settings};
use crate::source::Spanned;

/// Whether markdown files must have front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrontMatterRule {
    Required,
    Optional,
}

words!(FrontMatterRule {
    "required" = FrontMatterRule::Required,
    "optional" = FrontMatterRule::Optional,
});

/// The effect of a faulty command file on the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    Fail,
    Skip,
    Repair,
}

words!(OnError {
    "fail" = OnError::Fail,
    "skip" = OnError::Skip,
    "repair" = OnError::Repair,
});

pub(crate) static PROMPTS: Rule = Rule {
    name: "prompts",
    what: "prompts",
    meaning: "Prompts, one by one and by the folder. A project may have any number of such nodes.",
    fields: &[],
    children: &[&prompt::PROMPT, &FOLDER, &COMMANDS, &AGENT_SKILLS],
    example: include_str!("../reference/prompts.kdl"),
};

pub(crate) static FOLDER: Rule = Rule {
    name: "folder",
    what: "a folder",
    meaning: "Makes a prompt of every `*.md` file below a folder; a name is the path below the folder without `.md`.",
    fields: &[
        Field::argument("a folder", Kind::Name("path"), "The folder, relative to this document."),
        // Read to be reported in its own words: it belongs to `commands`.
        Field { meaning: "", ..ON_ERROR },
        FRONT_MATTER.or(Literal::Word("required")),
        NEW,
    ],
    children: &[&readers::FOR, &ALLOW_SECRET, &ALLOW_INVISIBLE],
    example: "",
};

pub(crate) static COMMANDS: Rule = Rule {
    name: "commands",
    what: "commands",
    meaning: "Makes a prompt of every markdown command below a folder, as other programs use them. A name is the path below the folder without `.md` or `.prompt.md`.",
    fields: &[
        Field::argument("a folder", Kind::Name("path"), "The folder, relative to this document."),
        PATTERN,
        PREFIX,
        ON_ERROR,
        FRONT_MATTER.or(Literal::Word("optional")),
        BRIEFING,
        NEW,
    ],
    children: &[&EXCLUDE, &readers::FOR, &ALLOW_SECRET, &ALLOW_INVISIBLE, &ALLOW_MARK],
    example: "",
};

pub(crate) static EXCLUDE: Rule = Rule::leaf(
    "exclude",
    "exclude",
    "Files that are left out: patterns of their paths below the folder.",
    &[Field::joined(
        "a pattern",
        Kind::Name("pattern"),
        "A path or a pattern; `*` matches `/` too.",
    )],
);

pub(crate) const PATTERN: Field = Field::property(
    "pattern",
    Kind::Name("pattern"),
    "The files that are commands: a pattern of their paths below the folder. Without it, every `*.md` but a `README.md` without front matter.",
);

pub(crate) const PREFIX: Field = Field::property(
    "prefix",
    Kind::Name("text"),
    "What the names begin with, for folders with files of one name: `prefix=\"git-\"`.",
);

pub(crate) static AGENT_SKILLS: Rule = Rule {
    name: "agent-skills",
    what: "agent skills",
    meaning: "Serves each folder with a `SKILL.md` as an agent skill: to hosts of the skills extension of MCP, to others as a prompt and resources. The name of the prompt is the path below the folder; a `when` patches it by that name.",
    fields: &[
        Field::argument(
            "a folder",
            Kind::Name("path"),
            "The folder, relative to this document: one agent skill, or any number below it.",
        ),
        STRICT,
        NEW,
    ],
    children: &[&EXCLUDE, &readers::FOR, &ALLOW_SECRET, &ALLOW_INVISIBLE],
    example: "",
};

pub(crate) const STRICT: Field = Field::property(
    "strict",
    Kind::Boolean,
    "`#true` refuses front matter that departs from the specification of agent skills, which other hosts refuse.",
)
.or(Literal::Boolean(false));

pub(crate) const ON_ERROR: Field = Field::property(
    "on-error",
    Kind::Words(OnError::WORDS),
    "What a faulty file does: `fail` is an error, `skip` leaves the file out, `repair` corrects what it can. A slip of YAML with one correction is corrected in each case, and a note names it.",
)
.or(Literal::Word("fail"));

pub(crate) const FRONT_MATTER: Field = Field::property(
    "front-matter",
    Kind::Words(FrontMatterRule::WORDS),
    "`optional` takes files without front matter or `description`; the description is then the first sentence of the text, else its first heading.",
);

pub(crate) const BRIEFING: Field = Field::property(
    "briefing",
    Kind::Boolean,
    "`#true` lets briefings send the commands too; without it only people run them, from their client's list.",
)
.or(Literal::Boolean(false));

settings! {
    /// The settings of a folder; only `commands` has them all.
    struct FolderSettings {}
    COMMANDS | FOLDER {
        on_error: Setting<OnError> = "on-error",
        front_matter: Setting<FrontMatterRule> = "front-matter",
        pattern: Option<Spanned<String>> = PATTERN.name,
        prefix: Option<Spanned<String>> = PREFIX.name,
        briefing: Setting<bool> = "briefing",
    }
    EXCLUDE {
        /// The patterns of the files that are left out.
        exclude: Option<Vec<Spanned<String>>> = "a pattern",
    }
    AGENT_SKILLS {
        strict: Setting<bool> = "strict",
    }
}
