//! The contents of a bundle as owned values: the last form of a project before it becomes bytes.
//!
//! Order matters: [`encode`](crate::encode()) writes lists in the order that they have here, and a
//! reader answers in the same order. Everything is sorted by the caller.

use serde::{Deserialize, Serialize};

use crate::audience::Audiences;
use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::gate::Gate;
use crate::known_tool::KnownTool;
use crate::manifest::Manifest;
use crate::messages::Messages;
use crate::page::{List, Page};
use crate::policy::Policy;
use crate::prompt::{Prompt, PromptView};

use crate::resource::{Resource, ResourceView};
use crate::resource_template::{ResourceTemplate, TemplateView};
use crate::review::Review;
use crate::role::CallerRole;
use crate::skill::Skill;
use crate::skill_settings::SkillSettings;
use crate::tenant::Tenant;
use crate::tool::Tool;
use crate::user::User;

/// The contents of one bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// A number that only rises from release to release; servers refuse to go back.
    pub epoch: u64,
    /// The identity of the bundle.
    pub manifest: Manifest,
    /// The texts of the server's own messages.
    pub messages: Messages,
    /// The settings of the gate; absent if sessions are not gated.
    pub gate: Option<Gate>,
    /// The tools, in the order of the list, names unique.
    pub tools: Vec<Tool>,
    /// The tenants, sorted by name, names unique.
    pub tenants: Vec<Tenant>,
    /// The roles, sorted by name, names unique.
    pub roles: Vec<CallerRole>,
    /// Who has which role, sorted by whom it names, the id, and the tenant, without a tenant last.
    pub users: Vec<User>,
    /// Who sees what; absent if everyone sees everything.
    pub audiences: Option<Audiences>,
    /// The prompts, sorted by name (code points), names unique.
    pub prompts: Vec<Prompt>,
    /// The resources with a fixed URI, sorted by URI, URIs unique.
    pub resources: Vec<Resource>,
    /// The resources whose URI has variables, sorted by URI template.
    pub templates: Vec<ResourceTemplate>,
    /// The skills, sorted by level, priority, name (code points), tenant, user and tools.
    pub skills: Vec<Skill>,
    /// How calls are given them; absent if there are none.
    pub skill_settings: Option<SkillSettings>,
    /// How commands are judged; absent if the project has no policy.
    pub policy: Option<Policy>,
    /// The facts about programs, in the form of relay-policy; empty if the project has no policy.
    pub facts: Vec<u8>,
    /// The tools that skills were compared with in advance, sorted by name, names unique.
    pub known_tools: Vec<KnownTool>,
    /// Prebuilt pages of `prompts/list`.
    pub prompt_pages: Vec<Page>,
    /// Prebuilt pages of `resources/list`.
    pub resource_pages: Vec<Page>,
    /// Prebuilt pages of `resources/templates/list`.
    pub template_pages: Vec<Page>,
    /// Prebuilt pages of `tools/list`.
    pub tool_pages: Vec<Page>,
    /// The effective project as canonical KDL, every default written out.
    pub canonical: String,
    /// The build's provenance as JSON: compiler, source digests and build options.
    pub provenance: String,
    /// What decides no answer but is for reviewers.
    pub review: Review,
}

impl Bundle {
    /// Returns the contents of the bundle.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn contents(&self) -> Result<Contents, Corrupt> {
        let prompt = |view: Result<PromptView<'_>, _>| view?.to_owned();
        let resource = |view: Result<ResourceView<'_>, _>| view?.to_owned();
        let template = |view: Result<TemplateView<'_>, _>| view?.to_owned();
        Ok(Contents {
            epoch: self.epoch(),
            manifest: self.manifest().clone(),
            messages: self.messages().clone(),
            gate: self.gate().cloned(),
            tools: self.tools().to_vec(),
            tenants: self.tenants()?,
            roles: self.roles().to_vec(),
            users: self.users()?,
            audiences: self.audiences()?,
            prompts: self.prompts().map(prompt).collect::<Result<_, _>>()?,
            resources: self.resources().map(resource).collect::<Result<_, _>>()?,
            templates: self.templates().map(template).collect::<Result<_, _>>()?,
            skills: self.owned_skills()?,
            skill_settings: self.skill_settings().cloned(),
            policy: self.policy().cloned(),
            facts: self.facts()?.to_vec(),
            known_tools: self.owned_known_tools()?,
            prompt_pages: self.owned_pages(List::Prompts)?,
            resource_pages: self.owned_pages(List::Resources)?,
            template_pages: self.owned_pages(List::Templates)?,
            tool_pages: self.owned_pages(List::Tools)?,
            canonical: self.canonical()?.to_owned(),
            provenance: self.provenance()?.to_owned(),
            review: self.review()?,
        })
    }
}
