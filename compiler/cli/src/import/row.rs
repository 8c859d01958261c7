//! The rows of the report: the result of each file, its changes, and the reasons for files left out.

use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of an import for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// Agents get the text of the file.
    Exact,
    /// Agents get it, and something about it is different from the file's own program.
    Changes,
    /// The project does not have it.
    LeftOut,
}

/// The kinds of file that an import reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    /// `CLAUDE.md`, `AGENTS.md`, `GEMINI.md`, `.cursorrules`, `copilot-instructions.md`
    Instructions,
    /// `.claude/commands`
    ClaudeCommands,
    /// `.claude/rules`
    ClaudeRules,
    /// `.claude/skills`
    ClaudeSkills,
    /// `.agents/skills`, `.github/skills`, `.cursor/skills`, `.codex/skills`
    AgentSkills,
    /// `.cursor/commands`
    CursorCommands,
    /// `.cursor/rules`
    CursorRules,
    /// `.github/prompts`
    GithubPrompts,
    /// `.github/instructions`
    GithubInstructions,
    /// `.opencode/command`, `.opencode/commands`
    OpencodeCommands,
    /// `.gemini/commands`
    GeminiCommands,
    /// Skill documents in YAML.
    StoaSkills,
    /// Lists of prompts in YAML or JSON.
    PromptList,
}

/// A row of the report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct Row {
    /// The outcome.
    pub(crate) outcome: Outcome,
    /// The file or folder, by its path from the project's folder.
    pub(crate) file: String,
    /// The line in it, from 1.
    pub(crate) line: usize,
    /// The kind of file.
    pub(crate) origin: Origin,
    /// Its name in the project; `null` if it is left out.
    pub(crate) becomes: Option<String>,
    /// The difference, or the reason why it is left out; `null` if it is exact.
    pub(crate) reason: Option<String>,
}

impl Origin {
    /// Returns the word that tells names of this kind from equal ones of other kinds.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::ClaudeCommands | Self::ClaudeRules | Self::ClaudeSkills => "claude",
            Self::AgentSkills => "agents",
            Self::CursorCommands | Self::CursorRules => "cursor",
            Self::OpencodeCommands => "opencode",
            Self::GithubPrompts | Self::GithubInstructions => "github",
            Self::GeminiCommands => "gemini",
            Self::StoaSkills => "stoa",
            Self::PromptList => "list",
        }
    }
}

impl Row {
    /// Returns the row of something that is left out.
    pub(crate) fn left_out(
        origin: Origin,
        file: impl Into<String>,
        line: usize,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            outcome: Outcome::LeftOut,
            file: file.into(),
            line,
            origin,
            becomes: None,
            reason: Some(reason.into()),
        }
    }
}
