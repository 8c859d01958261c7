//! `relay inspect`: the contents of a bundle, as a summary, as JSON, or as text for a diff.

mod access;
mod canonical;

use relay_bundle::{
    Bundle, Gate, Hosts, List, MessagePiece, Messages, Policy, PromptView, ToolSettings,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answer::FORMAT_VERSION;
use crate::answer::agent_skill::{self, AgentSkill};
use crate::answer::audience::{self, Names, Seen};
use crate::answer::gate;
use crate::answer::host;
use crate::answer::policy::{self, Known};
use crate::answer::prompt::Prompt;
use crate::answer::resource::{Resource, Template};
use crate::answer::size::{counted, grouped};
use crate::answer::skill::{self, Skill};
use crate::answer::summary::{Section, Summary};
use crate::answer::table::{self, number, text};
use crate::answer::tag_index::TagIndex;
use crate::answer::tool::{self, Tool};
use crate::answer::tool_settings;
use crate::args::{InspectArgs, ReportFormat};
use crate::command::inspect::access::{Audience, Role, Tenant, User};
use crate::command::verify::{self, Signature};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judge::Judge;
use crate::output::{Output, doubtful};
use crate::subject::{self, Opened, Subject};
use crate::text::{printable, shown_path};
use crate::trust_file;

/// The output of `relay inspect --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Inspected {
    /// The version of this JSON format.
    format_version: u32,
    /// The project's name.
    project: String,
    /// The project's version.
    version: Option<String>,
    /// The project's title.
    title: Option<String>,
    /// The owner of the project.
    owner: Option<String>,
    /// The environment that `--env` chose.
    environment: Option<String>,
    /// The digest that identifies the bundle and is signed.
    digest: String,
    /// The digest of the bundle's decisions: comments, layout, places, epoch and compiler leave it
    /// the same.
    meaning: String,
    /// A number that increases from release to release.
    epoch: u64,
    /// The bundle format: `major.minor`.
    format: String,
    /// The compiler that wrote it.
    compiler: String,
    /// The size of the file in bytes.
    bytes: usize,
    /// The keys that the signatures name; only `--trust` checks the signatures.
    signers: Vec<Signature>,
    /// The instructions that a client gets when it connects; `null` if they depend on who it is:
    /// `audiences` has those of each.
    instructions: Option<String>,
    /// The messages of the server; unsent ones are empty.
    messages: Messages,
    /// The gate; `null` if the project has none.
    gate: Option<Gate>,
    /// How commands are judged; `null` if the project has no policy.
    policy: Option<Policy>,
    /// The facts about programs, in short; `null` if the project has no policy.
    facts: Option<Known>,
    /// The tenants, sorted by name.
    tenants: Vec<Tenant>,
    /// The roles, sorted by name; empty if everyone sees everything.
    roles: Vec<Role>,
    /// Who has which role: users, groups, then anyone.
    users: Vec<User>,
    /// The audiences: callers that see the same, and that part; one if everyone sees everything.
    audiences: Vec<Audience>,
    /// The settings of tools that start processes; `null` if none of them is offered.
    tool_settings: Option<ToolSettings>,
    /// The hosts that the project knows; `null` if it names none.
    hosts: Option<Hosts>,
    /// The tools, in the order of the list.
    tools: Vec<Seen<Tool>>,
    /// The prompts, sorted by name.
    prompts: Vec<Seen<Prompt>>,
    /// The resources with a fixed URI, sorted by URI.
    resources: Vec<Seen<Resource>>,
    /// The resources with variables in their URI.
    templates: Vec<Seen<Template>>,
    /// The agent skills, sorted by URI.
    agent_skills: Vec<AgentSkill>,
    /// The skills, in the order of the cascade: level, priority, name.
    skills: Vec<Skill>,
    /// The index that finds prompts by tags; `null` if the project has no prompts.
    tag_index: Option<TagIndex>,
    /// The sections, in the order of the file.
    sections: Vec<Section>,
    /// The provenance, if the bundle has one.
    provenance: Option<Value>,
    /// The effective project as KDL.
    canonical: String,
}

pub(crate) fn run(arguments: &InspectArgs, output: &mut Output) -> Result<Exit, Failure> {
    match inspect(arguments, output) {
        Err(Failure::Stopped { message, .. }) if arguments.keep_going => {
            // Git gives a bundle of a commit another name on every run.
            let name = format!("`{}`: ", shown_path(&arguments.subject.subject));
            let reason = message.strip_prefix(&name).unwrap_or(&message);
            output.result(canonical::unreadable(reason))?;
            Ok(Exit::Yes)
        }
        ended => ended,
    }
}

fn inspect(arguments: &InspectArgs, output: &mut Output) -> Result<Exit, Failure> {
    let trust = arguments.trust.as_deref().map(trust_file::read).transpose()?;
    let subject = match subject::open(&arguments.subject, output)? {
        Opened::Subject(subject) => subject,
        Opened::Ended(exit) => return Ok(exit),
    };
    let bundle = &subject.bundle;
    // A summary of a damaged bundle would differ from the built one.
    bundle.check_all()?;
    let signers = match &trust {
        Some(trust) => verify::signatures(bundle, trust),
        None => verify::unchecked_signatures(bundle),
    };
    if arguments.canonical {
        output.result(canonical::draw(bundle)?)?;
    } else if arguments.subject.format.chosen() == ReportFormat::Json {
        output.json(&Inspected::of(&subject, signers)?)?;
    } else {
        output.result(summary(&subject, &signers, output.result_look().width)?)?;
    }
    Ok(Exit::Yes)
}

impl Inspected {
    fn of(subject: &Subject, signers: Vec<Signature>) -> Result<Self, Failure> {
        let Subject { bundle, bytes } = subject;
        let Summary {
            project,
            version,
            title,
            owner,
            environment,
            digest,
            epoch,
            format,
            compiler,
            sections,
            ..
        } = Summary::of(bundle)?;
        let names = Names::of(bundle)?;
        let instructions = match names.numbers().len() {
            1 => Some(names.view(0)?.instructions()?),
            _ => None,
        };
        Ok(Self {
            format_version: FORMAT_VERSION,
            project,
            version,
            title,
            owner,
            environment,
            digest,
            meaning: bundle.contents()?.meaning().to_string(),
            epoch,
            format,
            compiler,
            bytes: *bytes,
            signers,
            instructions,
            messages: bundle.messages().clone(),
            gate: bundle.gate().cloned(),
            policy: bundle.policy().cloned(),
            tool_settings: bundle.tool_settings().cloned(),
            hosts: bundle.hosts().cloned(),
            facts: known(bundle)?,
            tenants: access::tenants(bundle)?,
            roles: access::roles(bundle),
            users: access::users(bundle)?,
            audiences: access::audiences(&names)?,
            tools: access::seen(Tool::all(bundle)?, &names, List::Tools)?,
            prompts: access::seen(prompts(bundle)?, &names, List::Prompts)?,
            resources: access::seen(resources(bundle)?, &names, List::Resources)?,
            templates: access::seen(templates(bundle)?, &names, List::Templates)?,
            agent_skills: AgentSkill::all(bundle)?,
            skills: skills(bundle)?,
            tag_index: TagIndex::of(bundle)?,
            sections,
            provenance: serde_json::from_str(bundle.provenance()?).ok(),
            canonical: bundle.canonical()?.into(),
        })
    }
}

/// Reads the facts of a bundle, if it has a policy.
fn known(bundle: &Bundle) -> Result<Option<Known>, Failure> {
    let Some(judge) = Judge::of(bundle)? else { return Ok(None) };
    Ok(Some(Known::of(&judge.facts()?, judge.facts_bytes())))
}

fn prompts(bundle: &Bundle) -> Result<Vec<Prompt>, Failure> {
    bundle.prompts().map(|prompt| Ok(Prompt::of(&prompt?)?)).collect()
}

fn resources(bundle: &Bundle) -> Result<Vec<Resource>, Failure> {
    bundle.resources().map(|resource| Ok(Resource::of(&resource?)?)).collect()
}

fn templates(bundle: &Bundle) -> Result<Vec<Template>, Failure> {
    bundle.templates().iter().map(|template| Ok(Template::of(&template?)?)).collect()
}

fn skills(bundle: &Bundle) -> Result<Vec<Skill>, Failure> {
    bundle.skills().map(|skill| Ok(Skill::of(&skill?)?)).collect()
}

fn summary(subject: &Subject, signers: &[Signature], width: usize) -> Result<String, Failure> {
    let Subject { bundle, bytes } = subject;
    let summary = Summary::of(bundle)?;
    let mut page = format!(
        "{}\n  {}\n\n  digest    {}\n  meaning   {}\n  epoch     {}\n  format    {}, written by {}, {} bytes\n",
        summary.heading(),
        summary.counts(),
        summary.digest,
        bundle.contents()?.meaning(),
        summary.epoch,
        summary.format,
        printable(&summary.compiler),
        grouped(*bytes),
    );
    if let Some(owner) = &summary.owner {
        page.push_str(&format!("  owner     {}\n", printable(owner)));
    }
    page.push_str(&generated(bundle)?);
    if signers.is_empty() {
        page.push_str(&format!("  signed by {}\n", doubtful("no one")));
    }
    for Signature { keyid, name, state } in signers {
        let name = name.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
        let who = printable(&format!("{keyid}{name}"));
        page.push_str(&format!("  signed by {who} ({state})\n"));
    }
    page.push('\n');
    page.push_str(&format!("{}\n{}", summary.texts(width), summary.sections(width)));
    if let Some(index) = TagIndex::of(bundle)? {
        page.push_str(&format!("  {}\n", index.line()));
    }
    page.push_str(&gate_facts(bundle, width));
    if let (Some(held), Some(known)) = (bundle.policy(), known(bundle)?) {
        let at = printable(&held.at.to_string());
        let policy = policy::draw(bundle, held, &known, width)?;
        page.push_str(&format!("\n  policy declared at {at}\n{policy}"));
    }
    let names = Names::of(bundle)?;
    page.push_str(&access::draw(bundle, &names, width)?);
    let tools = Tool::all(bundle)?;
    if !tools.is_empty() {
        page.push('\n');
        page.push_str(&tool::draw(&tools, &access::column(&names, List::Tools)?, width));
    }
    if let Some(settings) = bundle.tool_settings() {
        let facts = tool_settings::facts(settings);
        page.push_str(&format!("\n  processes\n{}", table::facts(&facts, width)));
    }
    if let Some(hosts) = bundle.hosts() {
        let facts = table::facts(&host::facts(hosts), width);
        page.push_str(&format!("\n  hosts\n{facts}\n{}", host::draw(hosts, width)));
    }
    if summary.counts.resources + summary.counts.templates > 0 {
        page.push('\n');
        page.push_str(&resource_table(bundle, &names, width)?);
    }
    let agent_skills = AgentSkill::all(bundle)?;
    if !agent_skills.is_empty() {
        page.push('\n');
        page.push_str(&agent_skill::draw(agent_skills, width));
    }
    let skills = skills(bundle)?;
    if !skills.is_empty() {
        page.push('\n');
        page.push_str(&skill::draw(skills, width));
    }
    Ok(page)
}

/// Returns the numbers of generated summaries and chapters.
fn generated(bundle: &Bundle) -> Result<String, Failure> {
    let (mut summaries, mut chapters) = (0, 0);
    for prompt in bundle.prompts() {
        let prompt: PromptView<'_> = prompt?;
        summaries += usize::from(prompt.has_generated_summary());
        chapters += usize::from(prompt.has_generated_chapters()?);
    }
    let counts: Vec<_> = [("summaries", summaries), ("chapters", chapters)]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(what, count)| format!("{what} of {}", counted(count, "prompt")))
        .collect();
    if counts.is_empty() {
        return Ok(String::new());
    }
    Ok(format!("  generated {}\n", counts.join(", ")))
}

/// Returns the settings of the gate, and the sizes of its messages.
fn gate_facts(bundle: &Bundle, width: usize) -> String {
    let Some(held) = bundle.gate() else { return "\n  gate off\n".to_owned() };
    let mut facts = gate::facts(held);
    let said =
        bundle.messages().named().map(|(name, said)| (name, MessagePiece::source(&said.value)));
    let size = |(name, text): &(&str, String)| format!("{name} {}", counted(text.len(), "byte"));
    let sizes: Vec<String> = said.iter().filter(|(_, text)| !text.is_empty()).map(size).collect();
    facts.push(("messages", sizes.join(", ")));
    let at = printable(&held.at.to_string());
    format!("\n  gate on, declared at {at}\n{}", table::facts(&facts, width))
}

fn resource_table(bundle: &Bundle, names: &Names<'_>, width: usize) -> Result<String, Failure> {
    let mut rows = Vec::new();
    for resource in resources(bundle)? {
        let bytes = usize::try_from(resource.bytes).unwrap_or(usize::MAX);
        rows.push(vec![resource.uri, resource.mime, grouped(bytes)]);
    }
    for template in templates(bundle)? {
        let largest = template.variants.iter().map(|variant| variant.bytes).max().unwrap_or(0);
        rows.push(vec![template.uri_template, template.mime, grouped(largest)]);
    }
    let mut columns = vec![text("resource"), text("media type"), number("bytes, largest variant")];
    let seen_by = [List::Resources, List::Templates].map(|list| names.all_seen_by(list));
    let [resources, templates] = seen_by;
    let seen_by = [resources?, templates?].concat();
    if seen_by.iter().any(Option::is_some) {
        columns.push(text("seen by"));
        for (row, readers) in rows.iter_mut().zip(&seen_by) {
            row.push(audience::short(readers.as_deref()));
        }
    }
    Ok(table::draw(&columns, rows, width))
}
