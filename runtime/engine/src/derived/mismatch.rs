//! A part of a bundle that differs from the one derived from its contents.

use std::fmt;

use relay_bundle::{Kind, List};

/// A part of a bundle that differs from the one derived from its contents. Only a faulty or
/// malicious writer makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// Two rows with one name, of a kind with unique names.
    Twice(&'static str),
    /// The patterns of skills that match the tool with this name.
    KnownTool(String),
    /// A section: an index, a table that finds rows, or the order in which texts are stored.
    Section(Kind),
    /// The pages of a list.
    Pages(List),
    /// The first rows of the pages of audiences, in a list.
    AudiencePages(List),
    /// The index of prompts in instructions.
    PromptIndex,
    /// The text of the prompt with this name that briefings send.
    BriefingText(String),
    /// The generated description of the prompt with this name.
    Description(String),
    /// The pieces of this URI template.
    UriTemplate(String),
    /// The tier of the tool with this name, or whether the gate applies to it.
    Tool(String),
    /// The generated summary or chapters of the prompt with this name.
    Generated(String),
    /// The files of the agent skill with this URI, their digests and sizes, or the prompt with its text.
    AgentSkill(String),
    /// The order of rows of a kind that is searched by it.
    Order(&'static str),
    /// The table of facts about programs.
    Facts,
    /// The keys under which the rule with this name is found.
    RuleKeys(String),
    /// The automata of regexes in rules.
    Automata,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(kind) => write!(f, "two rows of one name among the {kind}"),
            Self::KnownTool(name) => write!(f, "patterns of skills for tool {name}"),
            Self::Section(kind) => write!(f, "section {}", kind.name()),
            Self::Pages(list) => write!(f, "pages of {}", list.method()),
            Self::AudiencePages(list) => write!(f, "pages of {} for each audience", list.method()),
            Self::PromptIndex => f.write_str("index of prompts in instructions"),
            Self::BriefingText(name) => write!(f, "text of prompt {name} in briefings"),
            Self::Description(name) => write!(f, "description of prompt {name}"),
            Self::UriTemplate(uri) => write!(f, "pieces of {uri}"),
            Self::Tool(name) => write!(f, "tier or gate of tool {name}"),
            Self::Generated(name) => write!(f, "generated summary or chapters of prompt {name}"),
            Self::AgentSkill(uri) => write!(f, "files or prompt of agent skill {uri}"),
            Self::Order(kind) => write!(f, "order of the {kind}"),
            Self::Facts => f.write_str("facts about programs"),
            Self::RuleKeys(name) => write!(f, "keys of rule {name}"),
            Self::Automata => f.write_str("automata of regexes"),
        }
    }
}
