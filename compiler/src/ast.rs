//! The project's documents as typed nodes, every value with its span.
//!
//! `resolve` looks up names and joins documents. A missing value is `None`, or a
//! [`Setting`](crate::setting::Setting) of its default, which has no place.

use relay_bundle::{Selector, Suppressed, Tier};

use crate::source::{FileId, Span, Spanned};

pub(crate) use crate::language::argument::{ArgumentSettings, ArgumentType};
pub(crate) use crate::language::expect::{Claim, ExpectSettings, Question};
pub(crate) use crate::language::gate::Gate;
pub(crate) use crate::language::hosts::{HostSettings, HostsSettings};
pub(crate) use crate::language::limits::LimitSettings;
pub(crate) use crate::language::message::TurnSettings;
pub(crate) use crate::language::messages::{MessageName, MessageSettings};
pub(crate) use crate::language::policy::{
    ClassSettings, FloorSetting, ModeSettings, PathSettings, Policy, PolicyScope, PolicySettings,
};
pub(crate) use crate::language::project::ProjectSettings;
pub(crate) use crate::language::prompt::{FrontMatterUse, PromptAbout, PromptSettings};
pub(crate) use crate::language::prompts::{FolderSettings, FrontMatterRule, OnError};
pub(crate) use crate::language::readers::ForSettings;
pub(crate) use crate::language::resource::{ResourceAbout, ResourceSettings};
pub(crate) use crate::language::roles::RoleSettings;
pub(crate) use crate::language::rules::{PolicyCondition, PolicyRule};
pub(crate) use crate::language::skills::{SkillLimits, SkillSelectors, SkillSettings};
pub(crate) use crate::language::tools::{ToolGroup, ToolGroupSettings, ToolSettings};
pub(crate) use crate::language::users::UserSettings;

/// All documents of a project: the first one, then its includes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ast {
    pub(crate) documents: Vec<Document>,
    /// Whether a document has syntax faults: its declarations are then unknown.
    pub(crate) broken: bool,
}

/// One KDL document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) file: FileId,
    pub(crate) includes: Vec<Spanned<String>>,
    pub(crate) items: Vec<Item>,
    /// Whether it has syntax faults.
    pub(crate) broken: bool,
}

/// A node that may be at the top of a document or in a `when`.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    Project(Project),
    Prompts(Vec<PromptsItem>),
    Messages(Vec<SystemMessage>),
    Resources(Vec<Resource>),
    Gate(Gate),
    Hosts(Hosts),
    Tools(Tools),
    Policy(Box<Policy>),
    Facts(Facts),
    Tenants(Vec<Tenant>),
    Roles(Vec<Role>),
    Users(Vec<User>),
    Skills(Skills),
    Expect(Expect),
    When(When),
}

/// `project NAME version=… epoch=… { title …; owner … }`
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) at: Span,
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) settings: ProjectSettings,
}

/// `hosts … { groups …; host ALIAS … }`
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    pub(crate) at: Span,
    pub(crate) settings: HostsSettings,
    pub(crate) hosts: Vec<Host>,
}

impl Hosts {
    /// Returns the node without the `new`s that have done their part.
    pub(crate) fn settled(mut self) -> Self {
        self.hosts.iter_mut().for_each(|host| host.new = None);
        self
    }
}

/// `host ALIAS … { groups …; pin … }`
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) alias: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
    pub(crate) settings: HostSettings,
}

/// `when ENVIRONMENT { … }`
#[derive(Debug, Clone)]
pub(crate) struct When {
    pub(crate) at: Span,
    pub(crate) environment: Option<Spanned<String>>,
    pub(crate) items: Vec<Item>,
    /// The number of nodes in it that were reported as unknown.
    pub(crate) unknown: usize,
}

/// A node of `prompts { … }`.
#[derive(Debug, Clone)]
pub(crate) enum PromptsItem {
    Prompt(Prompt),
    Folder(Folder),
    Commands(Folder),
    AgentSkills(Folder),
}

/// `prompt NAME … { … }`
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
    pub(crate) settings: PromptSettings,
    pub(crate) about: PromptAbout,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) body: Body,
    pub(crate) messages: Vec<Message>,
    pub(crate) readers: Vec<For>,
    pub(crate) allowed: Vec<Allowed>,
}

/// The text of a prompt, a resource or a system message: `text "…"` or `file=`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Body {
    pub(crate) text: Option<Spanned<String>>,
    pub(crate) file: Option<Spanned<String>>,
    pub(crate) template: Option<Spanned<bool>>,
    /// Whether its text or file was faulty, which was reported.
    pub(crate) broken: bool,
}

/// `arg NAME … { one-of … }`
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
    pub(crate) settings: ArgumentSettings,
    pub(crate) default: Option<Spanned<Default>>,
}

/// The default of an argument, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Default {
    Text(String),
    Boolean(bool),
}

/// `message role=user|assistant { … }`
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) at: Span,
    pub(crate) settings: TurnSettings,
    pub(crate) parts: Vec<Part>,
    /// Whether a text at the wrong place was reported, so that missing parts are no second fault.
    pub(crate) broken: bool,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(Spanned<String>),
    File { path: Spanned<String>, template: Option<Spanned<bool>> },
    Image { file: Spanned<String>, mime: Option<Spanned<String>> },
    Audio { file: Spanned<String>, mime: Option<Spanned<String>> },
    Resource { uri: Spanned<String>, mime: Option<Spanned<String>>, body: Body },
}

/// `folder PATH`, `commands PATH on-error=…` or `agent-skills PATH`
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) path: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
    pub(crate) settings: FolderSettings,
    pub(crate) readers: Vec<For>,
    pub(crate) allowed: Vec<Allowed>,
}

/// `resource URI … { … }`
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub(crate) uri: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
    pub(crate) settings: ResourceSettings,
    pub(crate) about: ResourceAbout,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) body: Body,
    pub(crate) readers: Vec<For>,
    pub(crate) allowed: Vec<Allowed>,
}

/// A node of `messages { … }`: `NAME "…"` or `NAME file=…`.
#[derive(Debug, Clone)]
pub(crate) struct SystemMessage {
    pub(crate) name: Spanned<MessageName>,
    pub(crate) body: Body,
}

/// `skills limit=… merged=… repeat=… { … }`
#[derive(Debug, Clone, Default)]
pub(crate) struct Skills {
    pub(crate) limits: SkillLimits,
    pub(crate) blocks: Vec<SkillBlock>,
}

/// `global { … }`, `tenant NAME { … }`, `tool PATTERN… { … }` or `user ID { … }`
#[derive(Debug, Clone)]
pub(crate) struct SkillBlock {
    pub(crate) level: relay_bundle::Level,
    /// The tenant, the patterns or the user.
    pub(crate) selectors: Vec<Spanned<String>>,
    pub(crate) skills: Vec<Skill>,
}

/// `skill NAME "…" … { … }`
#[derive(Debug, Clone)]
pub(crate) struct Skill {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
    pub(crate) settings: SkillSettings,
    pub(crate) meta: Option<Spanned<serde_json::Map<String, serde_json::Value>>>,
    pub(crate) selectors: SkillSelectors,
    pub(crate) body: Body,
    pub(crate) allowed: Vec<Allowed>,
}

/// `tools { … }`
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    pub(crate) at: Span,
    pub(crate) groups: Vec<ToolChoice>,
    pub(crate) settings: ToolSettings,
    pub(crate) effects: Vec<OtherEffects>,
}

/// `other PATTERN… { arg NAME EFFECT }`
#[derive(Debug, Clone)]
pub(crate) struct OtherEffects {
    pub(crate) at: Span,
    pub(crate) patterns: Vec<Spanned<String>>,
    /// Arguments with an effect.
    pub(crate) arguments: Vec<(Spanned<String>, Spanned<Selector>)>,
}

/// `diagnostics`, `shell { folders … }`, `sessions idle=…`
#[derive(Debug, Clone)]
pub(crate) struct ToolChoice {
    pub(crate) group: Spanned<ToolGroup>,
    pub(crate) settings: ToolGroupSettings,
}

/// `facts { program … { … }; environment … }`
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) at: Span,
    pub(crate) programs: Vec<FactProgram>,
    pub(crate) environment: Vec<FactEnvironment>,
}

/// `program NAME… because=… { … }`
#[derive(Debug, Clone)]
pub(crate) struct FactProgram {
    pub(crate) at: Span,
    pub(crate) names: Vec<Spanned<String>>,
    pub(crate) because: Option<Spanned<String>>,
    /// Its facts. `resolve` gives them the number of their file, which is 0 here.
    pub(crate) fact: relay_policy::facts::Node,
    pub(crate) written: Written,
    pub(crate) rows: Vec<FactRow>,
}

/// A row below a program: a sub-command, options, an operand or a form.
#[derive(Debug, Clone)]
pub(crate) struct FactRow {
    /// The place among the facts.
    pub(crate) row: relay_diff::facts::Row,
    pub(crate) at: Span,
    /// The reason why it is lower than the shipped one.
    pub(crate) because: Option<Spanned<String>>,
}

/// `environment NAME… because=…`
#[derive(Debug, Clone)]
pub(crate) struct FactEnvironment {
    pub(crate) at: Span,
    pub(crate) names: Vec<Spanned<String>>,
    pub(crate) because: Option<Spanned<String>>,
}

/// A node as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<Plain>,
    pub(crate) properties: Vec<(&'static str, Plain)>,
    pub(crate) children: Vec<Self>,
}

/// A value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plain {
    Text(String),
    Number(u64),
    Boolean(bool),
}

/// `tenant NAME`
#[derive(Debug, Clone)]
pub(crate) struct Tenant {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
}

/// `role NAME tier=… parent=… { tools … }`
#[derive(Debug, Clone)]
pub(crate) struct Role {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
    pub(crate) settings: RoleSettings,
}

/// `user ID tenant=… role=…`, `group …` or `anyone …`
#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) at: Span,
    pub(crate) who: Who,
    /// Absent for `anyone`, and for a faulty one.
    pub(crate) id: Option<Spanned<String>>,
    pub(crate) new: Option<Spanned<bool>>,
    pub(crate) settings: UserSettings,
    /// Whether a value at the wrong place was reported, so that a missing role is no second fault.
    pub(crate) broken: bool,
}

pub(crate) use relay_bundle::Who;

/// `expect QUESTION … { … }`
#[derive(Debug, Clone)]
pub(crate) struct Expect {
    /// The place of its question.
    pub(crate) at: Span,
    pub(crate) question: Question,
    pub(crate) tenant: Option<Spanned<String>>,
    pub(crate) role: Option<Spanned<String>>,
    pub(crate) user: Option<Spanned<String>>,
    pub(crate) groups: Vec<Spanned<String>>,
    /// The tool of a call.
    pub(crate) tool: Option<Spanned<String>>,
    /// The host of a call.
    pub(crate) host: Option<Spanned<String>>,
    /// The client of the caller.
    pub(crate) client: Option<Spanned<String>>,
    /// The rule that decides.
    pub(crate) rule: Option<Spanned<String>>,
    /// The tier of the decision.
    pub(crate) tier: Option<Spanned<Tier>>,
    /// The tags of a briefing.
    pub(crate) tags: Vec<Spanned<String>>,
    /// The claims, each with its text or name.
    pub(crate) claims: Vec<(Claim, Spanned<String>)>,
}

impl Expect {
    /// Returns its question as written.
    pub(crate) fn asked(&self) -> String {
        let Self {
            at: _,
            question,
            tenant,
            role,
            user,
            groups,
            tool,
            host,
            client,
            rule: _,
            tier: _,
            tags,
            claims: _,
        } = self;
        let mut text = question.word().to_owned();
        let callers = [("tenant", tenant), ("role", role), ("user", user)];
        let named = callers.into_iter().chain([("tool", tool), ("host", host), ("client", client)]);
        for (name, value) in named {
            if let Some(value) = value {
                text.push_str(&format!(" {name}={}", value.value));
            }
        }
        for group in groups {
            text.push_str(&format!(" group={}", group.value));
        }
        if !tags.is_empty() {
            let tags: Vec<&str> = tags.iter().map(|tag| tag.value.as_str()).collect();
            text.push_str(&format!(" tags {}", tags.join(" ")));
        }
        text
    }

    /// Returns a claim as written, with the rule and the tier that hold for it.
    pub(crate) fn claimed(&self, claim: Claim, about: &str) -> String {
        let mut text = format!("{} {about}", claim.word());
        if let Some(rule) = &self.rule {
            text.push_str(&format!(" rule={}", rule.value));
        }
        if let Some(tier) = &self.tier {
            text.push_str(&format!(" tier={}", tier.value.number()));
        }
        text
    }
}

/// `for tenant=… role=…`
#[derive(Debug, Clone)]
pub(crate) struct For {
    pub(crate) at: Span,
    /// Whether it has a tenant or a role, even a faulty one.
    pub(crate) says: bool,
    pub(crate) settings: ForSettings,
}

/// `allow-secret RULE because="…"`, `allow-invisible KIND because="…"` or `allow-mark KIND
/// because="…"`: admits findings in a text.
#[derive(Debug, Clone)]
pub(crate) struct Allowed {
    pub(crate) of: Suppressed,
    pub(crate) rule: Spanned<String>,
    pub(crate) because: Option<Spanned<String>>,
}
