//! The rules of a client, as its files have them: the same type for every client. One file a client reads its files to this
//! model; `import` translates the model to a policy.

use schemars::JsonSchema;
use serde::Serialize;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct At {
    /// The file, as it was given, or from the folder that was given.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
}

impl At {
    /// Returns the place as text.
    pub(crate) fn shown(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// The level of a file, which says who writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// An administrator of the machine.
    Managed,
    /// The user, for all projects.
    User,
    /// The project, for all who work on it.
    Project,
    /// The user, for this project.
    Local,
}

impl Level {
    /// Returns its word in reports.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// The answer of a client to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    /// It runs unasked.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

/// A rule of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRule {
    /// Its place.
    pub(crate) at: At,
    /// The level of its file.
    pub(crate) level: Level,
    /// Its answer.
    pub(crate) answer: Answer,
    /// The rule as it is written.
    pub(crate) written: String,
    /// The calls that it is about.
    pub(crate) subject: Subject,
    /// Commands that the client's files give as examples of it.
    pub(crate) examples: Vec<String>,
    /// Differences that come with its file: a mode in which alone it counts, a trust that it needs.
    pub(crate) notes: Vec<String>,
}

/// The calls that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Commands of a shell, any of these.
    Commands(Vec<Command>),
    /// Files that are read, by these patterns of relay.
    Reads(Paths),
    /// Files that are written, by these patterns of relay.
    Writes(Paths),
    /// Hosts; `*` is any text.
    Hosts(Vec<String>),
    /// Tools by patterns of relay's names, and the value of an argument if one is named.
    Tools {
        /// The patterns, of which any is meant.
        patterns: Vec<String>,
        /// The name and the pattern of its value.
        argument: Option<(String, String)>,
    },
    /// Every call.
    Everything,
    /// Nothing at the client: the reason.
    Inert(String),
    /// Calls beyond the words of a policy: the reason.
    Unnamed(String),
}

/// Patterns of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// The patterns, of which any is meant.
    pub(crate) patterns: Vec<String>,
    /// Whether they mean the same paths as at the client; otherwise more in a rule that restricts, fewer in one that permits.
    pub(crate) is_exact: bool,
}

/// Commands that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// One text.
    Exact(String),
    /// Texts that begin with these words, after which a blank or the end comes.
    Prefix(Vec<String>),
    /// Commands that begin with these words, however each is quoted.
    Tokens(Vec<String>),
    /// Texts in which each `*` is any text.
    Glob(String),
    /// Texts in which a regex of Python or JavaScript is found.
    Regex(String),
    /// All.
    Any,
}

/// The rules of a client's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRules {
    /// The client's name for people.
    pub(crate) client: &'static str,
    /// Its rules, in the order of its files.
    pub(crate) rules: Vec<ClientRule>,
    /// Its answer to an unlisted call.
    pub(crate) unlisted: Answer,
    /// The mode of the policy; the rule about unlisted calls comes before it.
    pub(crate) mode: &'static str,
    /// Commands that it runs unasked by itself, as patterns of words.
    pub(crate) unasked: &'static [&'static str],
    /// Programs that it asks about in spite of a pattern, with the patterns of their commands.
    pub(crate) never_by_prefix: &'static [(&'static str, &'static [&'static str])],
    /// Its tools that read, write and fetch, with the name of the argument.
    pub(crate) tools: Tools,
    /// The other settings, each with its fate.
    pub(crate) settings: Vec<Setting>,
}

/// The names of a client's own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tools {
    /// Tools that read the file of an argument.
    pub(crate) read: (&'static [&'static str], &'static str),
    /// Tools that write the file of an argument.
    pub(crate) write: (&'static [&'static str], &'static str),
    /// Tools that fetch from the host of an argument.
    pub(crate) fetch: (&'static [&'static str], &'static str),
    /// Whether files of the work tree are read unasked.
    pub(crate) reads_work_tree: bool,
}

impl Tools {
    /// The tools of a client whose rules are about commands alone.
    pub(crate) const NONE: Self =
        Self { read: (&[], ""), write: (&[], ""), fetch: (&[], ""), reads_work_tree: false };
}

/// A setting beside the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Its place.
    pub(crate) at: At,
    /// The level of its file.
    pub(crate) level: Level,
    /// The setting as it is written.
    pub(crate) written: String,
    /// Its fate in the policy.
    pub(crate) fate: Fate,
    /// The reason.
    pub(crate) reason: String,
}

/// The fate of a setting in the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The policy says the same.
    Kept,
    /// The policy is stricter without it.
    Stricter,
    /// It is outside of a policy.
    Outside,
    /// It does nothing at the client.
    Inert,
}
