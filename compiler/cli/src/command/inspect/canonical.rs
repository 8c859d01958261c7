//! A bundle as text with stable diffs: made for git's textconv.
//!
//! One change of a project is one change here. Its consequences are left out: the index of prompts,
//! generated summaries and chapters, the list of tools, the built-in messages, digests, provenance
//! and places. Signers are left out too. A line in many renderings of a prompt is printed once.
//! Text of the project's author is indented, so that it stays apart from headings.

mod renderings;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Bound::{Included, Unbounded};

use relay_bundle::{
    Bundle, CallerRole, Expectation, Gate, IndexSettings, List, Manifest, MessagePiece, Messages,
    Policy, Reason, Review, Setting, Suppression,
};
use relay_compiler::{OwnProgram, OwnVariables, facts_kdl};
use relay_engine::briefing;

use crate::answer;
use crate::answer::agent_skill::AgentSkill;
use crate::answer::audience::{self, Names, Readers};
use crate::answer::host;
use crate::answer::policy::{OwnFacts, Rule};
use crate::answer::prompt::{Argument, Generated, Prompt, Variant};
use crate::answer::resource::{Resource, Template};
use crate::answer::skill::Skill;
use crate::answer::tool_settings;
use crate::command::inspect::access::{self, User};
use crate::failure::Failure;
use crate::judge::Judge;
use crate::text::{indented, printable};

const INDENT: &str = "    ";
/// The variable for the index of prompts in an author's message.
const INDEX: &str = "{{prompt_index}}";

/// The first line, with the version of this form.
const FIRST: &str = "relay bundle, canonical text 2\n\n";

/// Returns the text for a bundle that is unreadable.
pub(super) fn unreadable(reason: &str) -> String {
    format!("{FIRST}cannot be read: {}\n", printable(reason))
}

/// Returns the bundle as text.
pub(super) fn draw(bundle: &Bundle) -> Result<String, Failure> {
    let mut text = String::from(FIRST);
    let prompts: Vec<Prompt> =
        bundle.prompts().map(|view| Ok(Prompt::of(&view?)?)).collect::<Result<_, Failure>>()?;
    manifest(bundle, &mut text);
    let reviewed = bundle.review()?;
    if let Some(held) = bundle.gate() {
        gate(held, reviewed.index.as_ref(), &mut text);
    }
    if let Some(held) = bundle.policy() {
        policy(bundle, held, &facts(bundle, &reviewed.reasons)?, &mut text)?;
    }
    messages(bundle.messages(), &prompts, &mut text);
    people(bundle, &mut text)?;
    let names = Names::of(bundle)?;
    // The roles give the readers of tools.
    bundle.tools().iter().for_each(|held| tool(held, &mut text));
    if let Some(settings) = bundle.tool_settings() {
        text.push_str("\n== processes\n");
        for (name, says) in tool_settings::facts(settings) {
            field(name, Some(&says), &mut text);
        }
    }
    if let Some(hosts) = bundle.hosts() {
        text.push_str("\n== hosts\n");
        let facts = host::facts(hosts).into_iter();
        facts.for_each(|(name, says)| field(name, Some(&says), &mut text));
        for held in &hosts.hosts {
            text.push_str(&format!("\n== host {}\n", printable(&held.alias)));
            let facts = host::host_facts(held).into_iter();
            facts.for_each(|(name, says)| field(name, Some(&says), &mut text));
        }
    }
    for (held, readers) in prompts.iter().zip(names.all_seen_by(List::Prompts)?) {
        prompt(held, readers.as_deref(), &mut text);
    }
    for (view, readers) in bundle.resources().zip(names.all_seen_by(List::Resources)?) {
        resource(&Resource::of(&view?)?, readers.as_deref(), &mut text);
    }
    for (view, readers) in bundle.templates().iter().zip(names.all_seen_by(List::Templates)?) {
        template(&Template::of(&view?)?, readers.as_deref(), &mut text);
    }
    for skill in AgentSkill::all(bundle)? {
        agent_skill(&skill, &mut text);
    }
    for view in bundle.skills() {
        skill(&Skill::of(&view?)?, &mut text);
    }
    review(&reviewed, &mut text);
    Ok(text)
}

fn manifest(bundle: &Bundle, text: &mut String) {
    let (major, minor) = bundle.format();
    let Manifest { project, version, title, owner, environment, compiler } = bundle.manifest();
    let value = |setting: &Option<Setting<String>>| setting.as_ref().map(|it| it.value.clone());
    field("project", Some(&project.value), text);
    field("version", value(version).as_deref(), text);
    field("title", value(title).as_deref(), text);
    field("owner", value(owner).as_deref(), text);
    field("environment", environment.as_deref(), text);
    field("epoch", Some(&bundle.epoch().to_string()), text);
    field("format", Some(&format!("{major}.{minor}")), text);
    field("compiler", Some(compiler), text);
}

fn gate(gate: &Gate, index: Option<&IndexSettings>, text: &mut String) {
    text.push_str("\n== gate\n");
    for (name, value) in relay_bundle::values(gate) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        field(&name.replace('_', " "), Some(&value), text);
    }
    let index = index.map(|settings| {
        let IndexSettings { cap, over_cap_priority, entry_chars, instructions_chars } = settings;
        format!(
            "cap={cap} over-cap-priority={over_cap_priority} entry=(chars){entry_chars} \
             instructions=(chars){instructions_chars}"
        )
    });
    field("index", index.as_deref(), text);
}

/// Draws the policy, and the facts that the project adds. The shipped facts depend on the compiler.
fn policy(bundle: &Bundle, policy: &Policy, facts: &str, text: &mut String) -> Result<(), Failure> {
    text.push_str("\n== policy\n");
    for Rule { name, says, except } in answer::policy::rules(bundle, policy)? {
        field(name, Some(&says), text);
        field("except", Some(&*except).filter(|list| !list.is_empty()), text);
    }
    if !facts.is_empty() {
        section("facts", facts, text);
    }
    Ok(())
}

/// Returns the facts that the project adds, in the form of its source. They are from the table that
/// judges commands; only the reasons are the author's words.
fn facts(bundle: &Bundle, reasons: &[Reason]) -> Result<String, Failure> {
    let Some(judge) = Judge::of(bundle)? else { return Ok(String::new()) };
    let OwnFacts { programs, mut environment } = OwnFacts::of(&judge.facts()?);
    let of = |kind| reasons.iter().filter(move |it| it.kind == kind && it.part.is_empty());
    let programs = programs.iter().map(|(program, _)| OwnProgram {
        program,
        because: of("program")
            .find(|reason| program.names.contains(&reason.name))
            .map(|reason| reason.because.as_str()),
    });
    // One `because` is for all variables of its node.
    let rows: Vec<&Reason> = of("variable").collect();
    let mut variables: Vec<OwnVariables<'_>> = rows
        .chunk_by(|a, b| a.at == b.at)
        .map(|row| OwnVariables {
            because: row.first().map(|reason| reason.because.as_str()),
            names: row
                .iter()
                .map(|reason| reason.name.as_str())
                .filter(|name| environment.remove(*name))
                .collect(),
        })
        .filter(|row| !row.names.is_empty())
        .collect();
    let rest: Vec<&str> = environment.iter().map(String::as_str).collect();
    variables.extend((!rest.is_empty()).then_some(OwnVariables { names: rest, because: None }));
    Ok(facts_kdl(&programs.collect::<Vec<_>>(), &variables))
}

fn review(review: &Review, text: &mut String) {
    // The index is part of the gate; the reasons of whole programs and variables are part of facts.
    let Review { switched_off, switched_off_skills, suppressions, reasons, index: _, expectations } =
        review;
    if !(switched_off.is_empty() && switched_off_skills.is_empty()) {
        let prompts = switched_off.iter().map(|name| ("prompt", name));
        let skills = switched_off_skills.iter().map(|label| ("skill", label));
        let names = prompts.chain(skills);
        let names = names.map(|(kind, name)| format!("{kind} {}", printable(&name.value)));
        section("switched off", &names.collect::<Vec<_>>().join("\n"), text);
    }
    let expectation = |it: &Expectation| {
        let Expectation { question, claims, at: _ } = it;
        claims.iter().map(|claim| printable(&format!("{question}: {claim}"))).collect::<Vec<_>>()
    };
    let lines: BTreeSet<String> = expectations.iter().flat_map(expectation).collect();
    if !lines.is_empty() {
        section("expectations", &lines.into_iter().collect::<Vec<_>>().join("\n"), text);
    }
    let mut lines = BTreeSet::new();
    for Suppression { of, rule, because, prompts, resources, skills, at: _ } in suppressions {
        let prompts = prompts.iter().map(|name| format!("prompt {name}"));
        let resources = resources.iter().map(|uri| format!("resource {uri}"));
        let skills = skills.iter().map(|label| format!("skill {label}"));
        for held in prompts.chain(resources).chain(skills) {
            let node = of.node();
            lines.insert(printable(&format!("{held}: {node} {rule}, because {because}")));
        }
    }
    if !lines.is_empty() {
        section("suppressions", &lines.into_iter().collect::<Vec<_>>().join("\n"), text);
    }
    let reason = |reason: &Reason| {
        let Reason { kind, name, part, because, at: _ } = reason;
        let part = if part.is_empty() { String::new() } else { format!(", {part}") };
        printable(&format!("{kind} {name}{part}: because {because}"))
    };
    let apart = reasons.iter().filter(|it| it.kind == "floor" || !it.part.is_empty());
    let lines: BTreeSet<String> = apart.map(reason).collect();
    if !lines.is_empty() {
        section("reasons", &lines.into_iter().collect::<Vec<_>>().join("\n"), text);
    }
}

/// Draws the messages that the project writes. The built-in ones follow from the gate and the
/// version of relay.
fn messages(messages: &Messages, prompts: &[Prompt], text: &mut String) {
    let index = Index::of(prompts);
    let written = messages.named().into_iter().filter(|(_, message)| message.at.is_some());
    for (name, message) in written.filter(|(_, message)| !message.value.is_empty()) {
        heading("message", name, text);
        body(&index.removed_from(&MessagePiece::source(&message.value)), text);
    }
}

/// The lines that the index of prompts can have. A bundle lacks the index's own lines and its end.
struct Index(BTreeSet<String>);

impl Index {
    fn of(prompts: &[Prompt]) -> Self {
        let entries = prompts.iter().flat_map(|prompt| {
            let about = [&prompt.summary, &prompt.description];
            about.map(|about| briefing::entry(&prompt.name, about.as_deref(), usize::MAX))
        });
        Self(entries.collect())
    }

    /// Returns a message with its variable in place of the index.
    fn removed_from(&self, message: &str) -> String {
        let mut lines: Vec<&str> = Vec::new();
        for line in message.split('\n') {
            let is_after = lines.last() == Some(&INDEX);
            if self.has(line) || (is_after && is_rest(line)) {
                if !is_after {
                    lines.push(INDEX);
                }
            } else {
                lines.push(line);
            }
        }
        lines.join("\n")
    }

    fn has(&self, line: &str) -> bool {
        let is_cut = |cut: &str| {
            let next = self.0.range::<str, _>((Included(cut), Unbounded)).next();
            cut.starts_with("- ") && next.is_some_and(|entry| entry.starts_with(cut))
        };
        self.0.contains(line) || line.strip_suffix('…').is_some_and(is_cut)
    }
}

/// Returns whether a line is the last one of an index that omits prompts.
fn is_rest(line: &str) -> bool {
    line.starts_with('(') && line.ends_with(')') && line.contains(" more; ")
}

fn tool(tool: &relay_bundle::Tool, text: &mut String) {
    let relay_bundle::Tool { name, gated, tier, at: _ } = tool;
    heading("tool", name, text);
    field("tier", Some(&tier.number().to_string()), text);
    field("gated", Some(yes_or_no(*gated)), text);
}

/// Draws the tenants, the roles, and the users of each.
fn people(bundle: &Bundle, text: &mut String) -> Result<(), Failure> {
    let lines = |lines: Vec<String>| {
        lines.iter().map(|line| printable(line)).collect::<Vec<_>>().join("\n")
    };
    let tenants = access::tenants(bundle)?;
    if !tenants.is_empty() {
        let names = tenants.into_iter().map(|tenant| tenant.name);
        section("tenants", &lines(names.collect()), text);
    }
    for role in bundle.roles() {
        let CallerRole { name, tier, approve, decides, parent: _, tools, at: _ } = role;
        let parent = role.parent_in(bundle.roles()).map(|parent| parent.name.as_str());
        heading("role", name, text);
        field("tier", Some(&tier.value.number().to_string()), text);
        let approve = approve.as_ref().map(|approve| yes_or_no(approve.value));
        field("approve", approve, text);
        let decides = decides.as_ref().map(|decides| yes_or_no(decides.value));
        field("decides", decides, text);
        field("parent", parent, text);
        field("tools", Some(&access::patterns(tools.as_deref())), text);
    }
    let users = access::users(bundle)?;
    if !users.is_empty() {
        let user = |User { who, id, tenant, role, .. }: User| {
            let id = id.map(|id| format!(" {id}")).unwrap_or_default();
            let tenant = tenant.map(|tenant| format!(", tenant {tenant}")).unwrap_or_default();
            format!("{}{id}{tenant}: {role}", who.word())
        };
        section("users", &lines(users.into_iter().map(user).collect()), text);
    }
    Ok(())
}

/// Draws the readers of something, unless they are everyone.
fn seen_by(readers: Option<&[Readers]>, text: &mut String) {
    field("seen by", readers.map(audience::whole).as_deref(), text);
}

fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn prompt(prompt: &Prompt, readers: Option<&[Readers]>, text: &mut String) {
    let Prompt {
        name,
        title,
        description,
        priority,
        briefing,
        summary,
        chapters,
        generated,
        meta,
        bytes: _,
        arguments,
        variants,
        at: _,
    } = prompt;
    heading("prompt", name, text);
    seen_by(readers, text);
    field("priority", Some(&priority.to_string()), text);
    field("in briefings", Some(yes_or_no(*briefing)), text);
    field("title", title.as_deref(), text);
    // A prompt whose author left the description out has its summary.
    field("description", description.as_deref().filter(|it| Some(*it) != summary.as_deref()), text);
    let is_written = |which| !generated.contains(&which);
    field("summary", summary.as_deref().filter(|_| is_written(Generated::Summary)), text);
    for chapter in chapters.iter().filter(|_| is_written(Generated::Chapters)) {
        field("chapter", Some(chapter), text);
    }
    field("meta", meta.as_ref().map(ToString::to_string).as_deref(), text);
    rendering(arguments, variants, text);
}

fn resource(resource: &Resource, readers: Option<&[Readers]>, text: &mut String) {
    let Resource { uri, name, title, description, mime, bytes, digest, text: held, blob: _, at: _ } =
        resource;
    heading("resource", uri, text);
    seen_by(readers, text);
    field("name", Some(name), text);
    field("title", title.as_deref(), text);
    field("description", description.as_deref(), text);
    field("mime", Some(mime), text);
    match held {
        Some(held) => body(held, text),
        None => field("content", Some(&format!("{bytes} bytes, {digest}")), text),
    }
}

fn template(template: &Template, readers: Option<&[Readers]>, text: &mut String) {
    let Template { uri_template, name, title, description, mime, arguments, variants, at: _ } =
        template;
    heading("resource template", uri_template, text);
    seen_by(readers, text);
    field("name", Some(name), text);
    field("title", title.as_deref(), text);
    field("description", description.as_deref(), text);
    field("mime", Some(mime), text);
    rendering(arguments, variants, text);
}

/// Draws an agent skill: its files are resources.
fn agent_skill(skill: &AgentSkill, text: &mut String) {
    let AgentSkill { uri, prompt, frontmatter, resources: _, files: _, bytes: _, at: _ } = skill;
    heading("agent skill", uri, text);
    field("prompt", Some(prompt), text);
    for (key, value) in frontmatter.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        field(key, Some(&value), text);
    }
}

fn skill(skill: &Skill, text: &mut String) {
    let Skill {
        name,
        level,
        priority,
        topic,
        title,
        description,
        meta,
        tenant,
        tools,
        user,
        text: held,
        bytes: _,
        at: _,
    } = skill;
    heading("skill", name, text);
    field("level", Some(level.word()), text);
    field("tenant", tenant.as_deref(), text);
    for pattern in tools {
        field("tools", Some(pattern), text);
    }
    field("user", user.as_deref(), text);
    field("priority", Some(&priority.to_string()), text);
    field("topic", topic.as_deref(), text);
    field("title", title.as_deref(), text);
    field("description", description.as_deref(), text);
    field("meta", meta.as_ref().map(ToString::to_string).as_deref(), text);
    body(held, text);
}

fn rendering(arguments: &[Argument], variants: &[Variant], text: &mut String) {
    for argument in arguments {
        field("argument", Some(&described(argument)), text);
    }
    match variants {
        [variant] => text.push_str(&said(variant)),
        variants => text.push_str(&renderings::draw(variants, |variant| {
            said(variant).lines().map(str::to_owned).collect()
        })),
    }
}

/// Returns the messages of one rendering.
fn said(variant: &Variant) -> String {
    let mut text = String::new();
    for message in &variant.messages {
        field("message", Some(message.role.as_str()), &mut text);
        body(&message.human(), &mut text);
    }
    text
}

fn described(argument: &Argument) -> String {
    let Argument { name, description, required, default, one_of, chars_max } = argument;
    let mut text = name.clone();
    text.push_str(if *required { ", required" } else { ", optional" });
    if let Some(default) = default {
        let _ = write!(text, ", default {default:?}");
    }
    if let Some(values) = one_of {
        let _ = write!(text, ", one of {values:?}");
    }
    if let Some(chars) = chars_max {
        let _ = write!(text, ", at most {chars} characters");
    }
    if let Some(description) = description {
        let _ = write!(text, ": {description}");
    }
    text
}

fn heading(kind: &str, name: &str, text: &mut String) {
    let _ = writeln!(text, "\n== {kind} {}", printable(name));
}

fn section(name: &str, held: &str, text: &mut String) {
    let _ = writeln!(text, "\n== {name}");
    body(held, text);
}

fn field(name: &str, value: Option<&str>, text: &mut String) {
    if let Some(value) = value {
        let _ = writeln!(text, "{name}: {}", printable(value));
    }
}

fn body(held: &str, text: &mut String) {
    text.push_str(&indented(held, INDENT));
}
