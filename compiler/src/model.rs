//! The resolved project: ids for names, defaults filled in, files read, templates rendered.
//!
//! A value of a project is a [`Setting`]: it knows whether its author wrote it and where, so that
//! `relay show` can mark every default.

mod access;
pub(crate) mod audience;
mod hosts;

use relay_bundle::{Content, Level, Mask, Rendering, SharedText, Suppressed, Unlock, UriPiece};
use relay_engine::glob::is_name;
use relay_engine::tool::{Group, TOOLS, ToolSpec};

use crate::ast::{
    Expect, FactEnvironment, FactProgram, MessageName, OtherEffects, ToolChoice, ToolGroup,
};
use crate::source::{FileId, Span, Spanned};

pub(crate) use crate::language::gate::Gate;
pub(crate) use crate::language::message::TurnSettings;
pub(crate) use crate::language::policy::Policy;
pub(crate) use crate::language::project::ProjectSettings;
pub(crate) use crate::language::prompt::PromptSettings;
pub(crate) use crate::language::resource::ResourceSettings;
pub(crate) use crate::language::skills::{SkillLimits, SkillSettings};
pub(crate) use crate::setting::Setting;
pub(crate) use access::{Access, For, Readers, Role, User};
use audience::{Audience, Audiences};
pub(crate) use hosts::{Host, Hosts};

/// A project, joined from its documents, for one environment.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) project: Project,
    /// The chosen environment.
    pub(crate) environment: Option<String>,
    /// Every `when`, chosen or not.
    pub(crate) whens: Vec<When>,
    /// The enabled prompts, sorted by name.
    pub(crate) prompts: Vec<Prompt>,
    /// The names of the disabled prompts, sorted.
    pub(crate) disabled_prompts: Vec<Spanned<String>>,
    /// The resources with a fixed URI, sorted by URI.
    pub(crate) resources: Vec<Resource>,
    /// The resources whose URI has variables, sorted by URI template.
    pub(crate) templates: Vec<ResourceTemplate>,
    /// The tenants, roles and users, with the rights of each.
    pub(crate) access: Access,
    /// The audiences and the parts that each sees.
    pub(crate) audiences: Audiences,
    /// The gate of sessions.
    pub(crate) gate: Gate,
    /// The hosts that the project knows.
    pub(crate) hosts: Option<Hosts>,
    /// The offered groups of tools.
    pub(crate) tools: Vec<ToolChoice>,
    /// The tools of other servers that the project names: names, and patterns of names.
    pub(crate) other_tools: Vec<Spanned<String>>,
    /// The effects of the arguments of those tools.
    pub(crate) tool_effects: Vec<OtherEffects>,
    /// The rules for commands, and the facts for it.
    pub(crate) policy: Option<(Policy, Facts)>,
    /// The skills.
    pub(crate) skills: Skills,
    /// The texts of the server's own answers.
    pub(crate) messages: SystemTexts,
    /// The `expect`s of the project, in the order of the text.
    pub(crate) expects: Vec<Expect>,
}

/// The facts about programs: those of the project, and the table of all.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The programs that the project describes.
    pub(crate) programs: Vec<FactProgram>,
    /// The variables that the project's own rows declare harmless.
    pub(crate) environment: Vec<FactEnvironment>,
    /// The table of these and the shipped facts.
    pub(crate) table: Vec<u8>,
    /// The digest of its contents (places left out).
    pub(crate) meaning: String,
}

impl Model {
    /// Returns the offered tools, in the order of their list, each with its node.
    pub(crate) fn offered_tools(&self) -> Vec<(&'static ToolSpec, Span)> {
        offered_tools(&self.gate, &self.tools)
    }

    /// Returns the names of the tools that skills may name: the offered ones, and the declared
    /// names of other servers.
    pub(crate) fn known_tool_names(&self) -> Vec<&str> {
        let offered = self.offered_tools().into_iter().map(|(spec, _)| spec.name);
        let other = self.other_tools.iter().map(|pattern| pattern.value.as_str());
        offered.chain(other.filter(|pattern| is_name(pattern))).collect()
    }

    /// Returns whether everyone sees everything.
    pub(crate) fn is_one_audience(&self) -> bool {
        let [audience] = self.audiences.list.as_slice() else { return false };
        let seen = [&audience.prompts, &audience.resources, &audience.templates, &audience.tools];
        let tools = self.offered_tools().len();
        let all = [self.prompts.len(), self.resources.len(), self.templates.len(), tools];
        seen.map(Mask::count) == all
    }

    /// Returns the prompts that an audience sees, each with its row.
    pub(crate) fn seen_by(&self, audience: &Audience) -> impl Iterator<Item = (usize, &Prompt)> {
        let prompts = self.prompts.iter().enumerate();
        prompts.filter(|(row, _)| audience.prompts.contains(*row))
    }

    /// Returns the prompts that briefings may send.
    pub(crate) fn briefed(&self) -> impl Iterator<Item = &Prompt> {
        self.prompts.iter().filter(|prompt| prompt.briefing.value)
    }

    /// Returns the prompts of an audience's index. Prompts that people run are left out of it, with
    /// the gate on or off.
    pub(crate) fn indexed(&self, audience: &Audience) -> impl Iterator<Item = (usize, &Prompt)> {
        self.seen_by(audience).filter(|(_, prompt)| prompt.briefing.value)
    }
}

/// The name and the settings of the project.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) name: Spanned<String>,
    pub(crate) settings: ProjectSettings,
}

impl Model {
    /// Returns whether the project offers tools that start processes.
    pub(crate) fn starts_processes(&self) -> bool {
        self.tools.iter().any(|choice| choice.group.value.starts_processes())
    }

    /// Returns whether an audience reads how to use the tools that start processes: it sees all of them,
    /// since the text may name each.
    pub(crate) fn guides(&self, audience: &Audience) -> bool {
        let tools: Vec<_> = self.offered_tools().into_iter().map(|(spec, _)| spec).collect();
        audience.sees_all_that_start_processes(&tools)
    }

    /// Returns whether its server ever sends a message.
    pub(crate) fn says(&self, message: &SystemText) -> bool {
        let gate = &self.gate;
        match message.name {
            MessageName::SessionGreeting => true,
            MessageName::ToolGuidance => {
                let mut audiences = self.audiences.with_callers();
                self.starts_processes() && audiences.any(|audience| self.guides(audience))
            }
            MessageName::GateInterceptPreamble => {
                gate.on.value && gate.unlock.value == Unlock::Intercept
            }
            MessageName::GateInstructions
            | MessageName::GateEncouragement
            | MessageName::ReadPromptsReminder => gate.on.value,
        }
    }
}

/// Returns the tools that a gate and groups of tools offer, each with its node.
pub(crate) fn offered_tools(gate: &Gate, groups: &[ToolChoice]) -> Vec<(&'static ToolSpec, Span)> {
    let group_at = |group| {
        let mut groups = groups.iter().map(|choice| &choice.group);
        groups.find(|each| each.value == group).map(|each| each.at)
    };
    let offered_at = |group| match group {
        Group::Gate => gate.at.filter(|_| gate.on.value),
        Group::Shell => group_at(ToolGroup::Shell),
        Group::Sessions => group_at(ToolGroup::Sessions),
        Group::Ssh => group_at(ToolGroup::Ssh),
        Group::SshSessions => group_at(ToolGroup::Sessions).and_then(|_| group_at(ToolGroup::Ssh)),
        Group::Diagnostics => group_at(ToolGroup::Diagnostics),
    };
    TOOLS.iter().filter_map(|spec| Some((spec, offered_at(spec.group)?))).collect()
}

/// Returns the node that offers a group of tools.
pub(crate) fn offer(group: Group) -> &'static str {
    match group {
        Group::Gate => "gate on",
        Group::Shell => "tools { shell }",
        Group::Sessions => "tools { sessions }",
        Group::Ssh => "tools { ssh }",
        Group::SshSessions => "tools { ssh; sessions }",
        Group::Diagnostics => "tools { diagnostics }",
    }
}

/// A `when` and its effect.
#[derive(Debug)]
pub(crate) struct When {
    pub(crate) at: Span,
    pub(crate) environment: Spanned<String>,
    /// The number of nodes in it that patch or add something.
    pub(crate) nodes: usize,
}

/// A prompt.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) name: Spanned<String>,
    pub(crate) settings: PromptSettings,
    /// Whether briefings may send it.
    pub(crate) briefing: Setting<bool>,
    /// A generated one, made of the text, has no place.
    pub(crate) summary: Option<Setting<String>>,
    /// Generated ones, made of the text and the name, have no places: all of them or none.
    pub(crate) chapters: Vec<Setting<String>>,
    /// A JSON object for the prompt's `_meta`.
    pub(crate) meta: Option<serde_json::Map<String, serde_json::Value>>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) rendering: Rendering,
    /// The text that a briefing sends.
    pub(crate) body: Setting<SharedText>,
    /// The origins of the texts, in the order of the text.
    pub(crate) bodies: Vec<BodySource>,
    /// The files that templates include.
    pub(crate) included: Vec<BodySource>,
    /// The `message` nodes; empty if the prompt is one text.
    pub(crate) messages: Vec<MessageSource>,
    /// The names of the arguments whose templates see a truth value.
    pub(crate) booleans: Vec<String>,
    pub(crate) readers: Readers,
    pub(crate) allowed: Vec<Allowed>,
    /// The agent skill whose text it has.
    pub(crate) agent_skill: Option<AgentSkill>,
    /// Whether it was made of the tools that the project offers. Only callers who see all that start
    /// processes see it.
    pub(crate) generated: bool,
}

/// An agent skill.
#[derive(Debug)]
pub(crate) struct AgentSkill {
    /// The URI of its `SKILL.md`, if hosts can list it.
    pub(crate) uri: Option<String>,
    pub(crate) frontmatter: serde_json::Map<String, serde_json::Value>,
    /// The URI of its folder; `None` if its files are those of an agent skill around it.
    pub(crate) base: Option<String>,
    /// Its files, until they are among the resources of the project.
    pub(crate) files: Vec<Resource>,
    pub(crate) at: Span,
}

/// A `message` node as written, for `relay show` and the checks.
#[derive(Debug)]
pub(crate) struct MessageSource {
    pub(crate) settings: TurnSettings,
    pub(crate) parts: Vec<PartSource>,
}

/// A part of a `message` node as written.
#[derive(Debug)]
pub(crate) enum PartSource {
    Text(BodySource),
    Image {
        body: BodySource,
        mime: String,
    },
    Audio {
        body: BodySource,
        mime: String,
    },
    /// If its body is absent, it refers to one of the project's resources.
    Resource {
        uri: BodySource,
        mime: Option<String>,
        body: Option<BodySource>,
    },
}

/// An argument of a prompt or a URI template: its facts besides those of the rendering.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: Spanned<String>,
    /// Whether some text uses it.
    pub(crate) used: bool,
}

/// The origin of a text.
#[derive(Debug, Clone)]
pub(crate) struct BodySource {
    /// The file, or the document for an inline text.
    pub(crate) file: FileId,
    /// The inline text's place; absent for a whole file.
    pub(crate) inline_at: Option<Span>,
    /// The place where the document names a binary file, whose contents no report can display.
    pub(crate) named_at: Option<Span>,
    /// The text of a text file before rendering, for the checks.
    pub(crate) text: Option<SharedText>,
    /// The first byte of the text in the file, for exact places.
    pub(crate) start: usize,
    /// Whether it is a template.
    pub(crate) template: bool,
    /// Whether its author decided that: then marks of templates in plain text are intended.
    pub(crate) is_settled: bool,
}

impl BodySource {
    /// Returns the text before rendering; empty for a binary file.
    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns the place where the text begins.
    pub(crate) fn at(&self) -> Span {
        self.file.span(self.start, self.start)
    }
}

/// A suppression of a rule that searches texts.
#[derive(Debug, Clone)]
pub(crate) struct Allowed {
    pub(crate) of: Suppressed,
    pub(crate) rule: Spanned<String>,
    pub(crate) because: Spanned<String>,
}

/// A resource with a fixed URI.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) uri: Spanned<String>,
    pub(crate) about: About,
    pub(crate) content: Content,
}

/// A resource whose URI has variables.
#[derive(Debug)]
pub(crate) struct ResourceTemplate {
    pub(crate) uri_template: Spanned<String>,
    pub(crate) about: About,
    pub(crate) pieces: Vec<UriPiece>,
    pub(crate) arguments: Vec<Argument>,
    /// The names of the arguments whose templates see a truth value.
    pub(crate) booleans: Vec<String>,
    pub(crate) rendering: Rendering,
}

/// The values that resources and resource templates both have.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) name: Setting<String>,
    pub(crate) settings: ResourceSettings,
    pub(crate) mime: Setting<String>,
    pub(crate) body: BodySource,
    /// The files that its template includes.
    pub(crate) included: Vec<BodySource>,
    pub(crate) readers: Readers,
    pub(crate) allowed: Vec<Allowed>,
}

/// The skills of a project.
#[derive(Debug)]
pub(crate) struct Skills {
    pub(crate) limits: SkillLimits,
    /// The enabled skills, in the order of the cascade.
    pub(crate) list: Vec<Skill>,
    /// The disabled skills, in the order of the cascade.
    pub(crate) disabled: Vec<Skill>,
}

/// A skill.
#[derive(Debug)]
pub(crate) struct Skill {
    pub(crate) name: Spanned<String>,
    pub(crate) level: Level,
    pub(crate) settings: SkillSettings,
    pub(crate) meta: Option<Spanned<serde_json::Map<String, serde_json::Value>>>,
    pub(crate) tenant: Option<Spanned<String>>,
    /// Valid patterns, each once.
    pub(crate) tools: Vec<Spanned<String>>,
    pub(crate) user: Option<Spanned<String>>,
    /// Absent only for a disabled skill.
    pub(crate) body: Option<BodySource>,
    pub(crate) text: String,
    pub(crate) allowed: Vec<Allowed>,
}

impl Skill {
    /// Returns its place in the order of the cascade.
    pub(crate) fn order(&self) -> impl Ord + '_ {
        let text = |selector: &'_ Option<Spanned<String>>| {
            selector.as_ref().map(|selector| selector.value.clone())
        };
        let tools: Vec<&str> = self.tools.iter().map(|pattern| pattern.value.as_str()).collect();
        let Self { name, level, settings, tenant, user, .. } = self;
        (*level, settings.priority.value, &name.value, text(tenant), text(user), tools)
    }

    /// Returns the selectors of its block: the tenant, the patterns or the user.
    pub(crate) fn block(&self) -> Vec<&Spanned<String>> {
        match self.level {
            Level::Global => Vec::new(),
            Level::Tenant => self.tenant.iter().collect(),
            Level::Tool => self.tools.iter().collect(),
            Level::User => self.user.iter().collect(),
        }
    }

    /// Returns the block and the name in the form of reports: `tenant acme/formats`.
    pub(crate) fn label(&self) -> String {
        let block = self.block().into_iter().map(|selector| format!(" {}", selector.value));
        format!("{}{}/{}", self.level.word(), block.collect::<String>(), self.name.value)
    }
}

/// The texts of the server's own answers.
#[derive(Debug)]
pub(crate) struct SystemTexts {
    pub(crate) session_greeting: SystemText,
    pub(crate) tool_guidance: SystemText,
    pub(crate) gate_instructions: SystemText,
    pub(crate) gate_encouragement: SystemText,
    pub(crate) read_prompts_reminder: SystemText,
    pub(crate) gate_intercept_preamble: SystemText,
}

impl SystemTexts {
    /// Returns all of them, in the order of [`MessageName::ALL`].
    pub(crate) fn all(&self) -> [&SystemText; 6] {
        let Self {
            session_greeting,
            tool_guidance,
            gate_instructions,
            gate_encouragement,
            read_prompts_reminder,
            gate_intercept_preamble,
        } = self;
        [
            session_greeting,
            tool_guidance,
            gate_instructions,
            gate_encouragement,
            read_prompts_reminder,
            gate_intercept_preamble,
        ]
    }
}

/// A text of the server's own answers, with its variables still in it.
#[derive(Debug)]
pub(crate) struct SystemText {
    pub(crate) name: MessageName,
    pub(crate) text: String,
    /// Its place; absent for the built-in text.
    pub(crate) at: Option<Span>,
    /// The file, if it is in one.
    pub(crate) file: Option<FileId>,
}

impl SystemText {
    /// Returns the place where its text begins; `None` for a built-in text.
    pub(crate) fn text_at(&self) -> Option<Span> {
        self.file.map(|file| file.span(0, 0)).or(self.at)
    }
}
