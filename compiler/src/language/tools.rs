//! `tools { shell { … }; sessions; diagnostics; other PATTERN… }`: the tools that a server of the project offers, group by
//! group, and those of other servers that the project names.

use relay_bundle::Selector;

use super::shared::ENABLED;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar, words};
use crate::setting::{Setting, Settings as _, settings};
use crate::source::Spanned;

/// Tools that a project offers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolGroup {
    /// Commands and scripts.
    Shell,
    /// Terminal sessions.
    Sessions,
    /// Commands and transfers on other hosts.
    Ssh,
    /// Tools about the server itself.
    Diagnostics,
}

impl ToolGroup {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Shell, Self::Sessions, Self::Ssh, Self::Diagnostics];

    /// Returns whether its tools start processes, which the policy and its limits are about.
    pub(crate) const fn starts_processes(self) -> bool {
        matches!(self, Self::Shell | Self::Sessions | Self::Ssh)
    }

    /// Returns the rule of its node.
    pub(crate) fn rule(self) -> &'static Rule {
        match self {
            Self::Shell => &SHELL,
            Self::Sessions => &SESSIONS,
            Self::Ssh => &SSH,
            Self::Diagnostics => &DIAGNOSTICS,
        }
    }
}

pub(crate) static TOOLS: Rule = Rule {
    name: "tools",
    what: "tools",
    meaning: "The tools that a server of the project offers, besides those of the gate, and those of other servers that skills or roles name.",
    fields: &[],
    children: &[&SHELL, &SESSIONS, &SSH, &DIAGNOSTICS, &OTHER],
    example: include_str!("../reference/tools.kdl"),
};

/// Whether a group that is named is offered.
const OFFERED: Field = Field { meaning: "`#false` leaves them out.", ..ENABLED };

pub(crate) static SHELL: Rule = Rule {
    name: "shell",
    what: "a group of tools",
    meaning: "`shell_exec` and `shell_script`: commands on the machine of the server, behind the policy.",
    fields: &[OFFERED],
    children: &[&FOLDERS, &ENVIRONMENT],
    example: "",
};

/// The folders of processes.
pub(crate) static FOLDERS: Rule = Rule::leaf(
    "folders",
    "folders",
    "The folders that `cwd` may be in, or below. The first one is the folder of a call that names none. Without this node, `cwd` may be any folder, and a call that names none runs in that of the server.",
    &[Field::arguments("a folder", Kind::Name("path"), "An absolute path.")],
);

/// The variables of processes.
pub(crate) static ENVIRONMENT: Rule = Rule::leaf(
    "environment",
    "environment",
    "The variables of the server that processes get, beside `PATH`, `HOME`, `USER`, `LOGNAME`, `LANG` and `TZ`. Without this node they get all, except those that change which code runs, and those of relay itself.",
    &[Field::arguments(
        "a name",
        Kind::Name("name"),
        "The name of a variable, or a beginning and `*`.",
    )],
);

pub(crate) static SESSIONS: Rule = Rule::leaf(
    "sessions",
    "a group of tools",
    "`shell_spawn` and the `session_` tools: programs in a terminal, which agents type into. The folders and variables are those of `shell`. With `ssh` also `ssh_spawn`, for terminals on other hosts.",
    &[
        OFFERED,
        Field::property(
            "idle",
            Kind::duration(10, 86_400),
            "A session that nobody sends to or receives from for so long is ended.",
        )
        .or(Literal::Number(1800)),
        Field::property(
            "lifetime",
            Kind::duration(10, 7 * 86_400),
            "A session is ended after so long.",
        )
        .or(Literal::Number(8 * 3600)),
    ],
);

pub(crate) static SSH: Rule = Rule::leaf(
    "ssh",
    "a group of tools",
    "`ssh_exec`, `ssh_fanout`, `ssh_check`, `ssh_upload`, `ssh_download`, `ssh_keyscan`, `ssh_hosts` and the `ssh_forward` tools: commands, files and ports on other hosts, those of `hosts`.",
    &[OFFERED],
);

pub(crate) static DIAGNOSTICS: Rule = Rule::leaf(
    "diagnostics",
    "a group of tools",
    "`server_info`, `audit_tail` and `explain_context`: what the server is, what it recorded, and what calls are given.",
    &[OFFERED],
);

pub(crate) static OTHER: Rule = Rule {
    name: "other",
    what: "other tools",
    meaning: "Tools of other servers that skills, roles or rules name: names, and patterns of names. Its `arg`s say what a call does to the value of an argument, so that rules over effects reach it.",
    fields: &[Field::joined("a pattern", Kind::Name("pattern"), "A name or a pattern.")],
    children: &[&OTHER_ARG],
    example: "",
};

pub(crate) static OTHER_ARG: Rule = Rule::leaf(
    "arg",
    "an argument",
    "An argument of these tools, and its effect: `arg path writes`.",
    &[
        Field::argument("an argument", Kind::Name("name"), "The name of the argument."),
        Field::argument(
            "an effect",
            Kind::Words(Selector::WORDS),
            "What happens to its value: `reads`, `writes`, `removes`, `changes` or `touches` a path, `connects` to a host, `sends` it away, `listens` on it, `runs` it, or `escalates` to a user.",
        ),
    ],
);

words!(Selector {
    "reads" = Selector::Reads,
    "writes" = Selector::Writes,
    "removes" = Selector::Removes,
    "changes" = Selector::Changes,
    "touches" = Selector::Touches,
    "connects" = Selector::Connects,
    "sends" = Selector::Sends,
    "listens" = Selector::Listens,
    "runs" = Selector::Runs,
    "escalates" = Selector::Escalates,
});

settings! {
    /// The settings of a group of tools. Only groups with a node are offered.
    struct ToolGroupSettings {}
    DIAGNOSTICS | SHELL | SESSIONS | SSH {
        enabled: Setting<bool> = ENABLED.name,
    }
    FOLDERS {
        /// The folders that processes may begin in.
        folders: Option<Vec<Spanned<String>>> = "a folder",
    }
    ENVIRONMENT {
        /// The variables that processes get.
        variables: Option<Vec<Spanned<String>>> = "a name",
    }
    SESSIONS {
        idle_s: Setting<u32> = "idle",
        lifetime_s: Setting<u32> = "lifetime",
    }
}

impl ToolGroupSettings {
    /// Returns whether a setting other than `enabled` is written.
    pub(crate) fn says_more(&self, rule: &'static Rule) -> bool {
        let rules = [rule].into_iter().chain(rule.children.iter().copied());
        let mut settings = rules.flat_map(|rule| self.of(rule));
        settings.any(|(name, setting)| name != ENABLED.name && setting.at().is_some())
    }
}

settings! {
    /// The settings of `tools`.
    struct ToolSettings {}
    OTHER {
        /// The tools of other servers that the project names.
        other: Option<Vec<Spanned<String>>> = "a pattern",
    }
}
