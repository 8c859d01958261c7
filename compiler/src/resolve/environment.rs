//! Documents joined, and the nodes patched by the `when`s of an environment.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hashbrown::HashMap;
use miette::Diagnostic;
use thiserror::Error;

use super::patch::{self, Patches};
use super::skills::{self, SkillPlaces};
use crate::ast::{self, Ast, Item, PromptsItem};
use crate::diagnostic::Diagnostics;
use crate::model::{Gate, When};
use crate::parse::resolve_path;
use crate::source::{FileId, Sources, Span, Spanned};
use relay_engine::nearest::nearest;

/// The nodes of all documents, by kind, in the order of the text.
#[derive(Default)]
pub(super) struct Nodes<'a> {
    pub(super) projects: Vec<ast::Project>,
    /// Borrowed until a `when` patches one: a project may have thousands.
    pub(super) prompts: Vec<Cow<'a, PromptsItem>>,
    pub(super) prompt_patches: PromptPatches,
    pub(super) resources: Vec<ast::Resource>,
    pub(super) messages: Vec<ast::SystemMessage>,
    pub(super) gates: Vec<ast::Gate>,
    pub(super) hosts: Vec<ast::Hosts>,
    pub(super) tools: Vec<ast::Tools>,
    pub(super) policies: Vec<ast::Policy>,
    pub(super) facts: Vec<ast::Facts>,
    pub(super) skills: Vec<ast::Skills>,
    pub(super) tenants: Vec<ast::Tenant>,
    pub(super) roles: Vec<ast::Role>,
    pub(super) users: Vec<ast::User>,
    pub(super) expects: Vec<ast::Expect>,
}

/// The patches of undeclared prompts: those of markdown files are known when the folders are read.
#[derive(Default)]
pub(super) struct PromptPatches {
    by_name: HashMap<String, Vec<ast::Prompt>>,
    patches: Patches,
}

impl PromptPatches {
    /// Applies the patches of a markdown file's prompt.
    pub(super) fn apply(&mut self, prompt: &mut ast::Prompt, out: &mut Diagnostics) {
        let name = prompt.name.as_ref().map_or("", |name| &name.value);
        for patch in self.by_name.remove(name).unwrap_or_default() {
            self.patches.prompt(prompt, patch, out);
        }
    }

    /// Drops the patches of a file without a prompt, which was reported.
    pub(super) fn forget(&mut self, name: &str) {
        self.by_name.remove(name);
    }

    /// Reports the patches of unknown prompts.
    pub(super) fn report_rest(self, known: &BTreeSet<String>, out: &mut Diagnostics) {
        let patches = self.by_name.into_values().flatten();
        let mut names: Vec<_> = patches.filter_map(|patch| patch.name).collect();
        names.sort_unstable_by_key(|name| name.at);
        for name in names {
            let known = known.iter().map(String::as_str);
            self.patches.report_unknown("prompt", name, known, out);
        }
    }
}

/// Returns the environments that a project names, sorted.
pub(crate) fn environments(ast: &Ast) -> Vec<String> {
    let items = ast.documents.iter().flat_map(|document| &document.items);
    let names = items.filter_map(|item| match item {
        Item::When(when) => when.environment.as_ref().map(|name| name.value.clone()),
        _ => None,
    });
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Joins the documents and applies every `when` of the chosen environment.
pub(super) fn choose<'a>(
    sources: &Sources<'_>,
    ast: &'a Ast,
    environment: Option<&str>,
    root: FileId,
    out: &mut Diagnostics,
) -> (Nodes<'a>, Vec<When>) {
    let mut nodes = Nodes::default();
    let mut whens = Vec::new();
    let mut chosen = Vec::new();
    for item in ast.documents.iter().flat_map(|document| &document.items) {
        let Item::When(when) = item else {
            nodes.add(item, out);
            continue;
        };
        let Some(name) = &when.environment else { continue };
        whens.push(When {
            at: when.at,
            environment: name.clone(),
            nodes: when.items.iter().map(nodes_in).sum::<usize>() + when.unknown,
        });
        if environment == Some(name.value.as_str()) {
            chosen.extend(when.items.iter().cloned());
        }
    }
    if let Some(environment) = environment {
        report_unknown(environment, &whens, root, out);
        apply(sources, environment, &mut nodes, chosen, out);
    }
    (nodes, whens)
}

impl<'a> Nodes<'a> {
    /// Adds a declaration for every environment.
    fn add(&mut self, item: &'a Item, out: &mut Diagnostics) {
        match item {
            Item::Project(project) => self.projects.push(project.clone()),
            Item::Prompts(items) => {
                items.iter().for_each(|item| report_new_of_item(item, out));
                self.prompts.extend(items.iter().map(Cow::Borrowed));
            }
            Item::Messages(messages) => self.messages.extend_from_slice(messages),
            Item::Resources(resources) => {
                for resource in resources {
                    patch::report_new(resource.new.as_ref(), out);
                    report_new_arguments(&resource.arguments, out);
                }
                self.resources.extend_from_slice(resources);
            }
            Item::Gate(gate) => self.gates.push(gate.clone()),
            Item::Hosts(hosts) => {
                hosts.hosts.iter().for_each(|host| patch::report_new(host.new.as_ref(), out));
                self.hosts.push(hosts.clone());
            }
            Item::Tools(tools) => self.tools.push(tools.clone()),
            Item::Policy(policy) => self.policies.push(policy.as_ref().clone()),
            Item::Facts(facts) => self.facts.push(facts.clone()),
            Item::Skills(skills) => {
                let each = skills.blocks.iter().flat_map(|block| &block.skills);
                each.for_each(|skill| patch::report_new(skill.new.as_ref(), out));
                self.skills.push(skills.clone());
            }
            Item::Tenants(tenants) => {
                tenants.iter().for_each(|tenant| patch::report_new(tenant.new.as_ref(), out));
                self.tenants.extend_from_slice(tenants);
            }
            Item::Roles(roles) => {
                roles.iter().for_each(|role| patch::report_new(role.new.as_ref(), out));
                self.roles.extend_from_slice(roles);
            }
            Item::Users(users) => {
                users.iter().for_each(|user| patch::report_new(user.new.as_ref(), out));
                self.users.extend_from_slice(users);
            }
            Item::Expect(expect) => self.expects.push(expect.clone()),
            // The grammar has no `when` inside a `when`.
            Item::When(_) => {}
        }
    }
}

/// Returns the number of nodes that an item of a `when` names.
fn nodes_in(item: &Item) -> usize {
    match item {
        Item::Prompts(items) => items.len(),
        Item::Messages(messages) => messages.len(),
        Item::Resources(resources) => resources.len(),
        Item::Skills(skills) => skills::count(skills),
        Item::Tenants(tenants) => tenants.len(),
        Item::Roles(roles) => roles.len(),
        Item::Users(users) => users.len(),
        Item::Hosts(hosts) => hosts.hosts.len().max(1),
        Item::Gate(_) | Item::Tools(_) | Item::Policy(_) | Item::Expect(_) => 1,
        Item::Project(_) | Item::When(_) | Item::Facts(_) => 0,
    }
}

fn report_new_of_item(item: &PromptsItem, out: &mut Diagnostics) {
    match item {
        PromptsItem::Prompt(prompt) => {
            patch::report_new(prompt.new.as_ref(), out);
            report_new_arguments(&prompt.arguments, out);
        }
        PromptsItem::Folder(folder)
        | PromptsItem::Commands(folder)
        | PromptsItem::AgentSkills(folder) => {
            patch::report_new(folder.new.as_ref(), out);
        }
    }
}

fn report_new_arguments(arguments: &[ast::Argument], out: &mut Diagnostics) {
    arguments.iter().for_each(|argument| patch::report_new(argument.new.as_ref(), out));
}

/// The nodes of a project while an environment patches them, found by kind and name.
struct Patcher<'p, 's, 'a> {
    sources: &'p Sources<'s>,
    nodes: &'p mut Nodes<'a>,
    /// The place of each node in `nodes`, among those of its list before the patches.
    prompts: HashMap<(&'static str, String), usize>,
    resources: HashMap<String, usize>,
    skills: SkillPlaces,
    patches: Patches,
}

/// Applies the nodes of an environment's `when`s, in the order of the text.
fn apply(
    sources: &Sources<'_>,
    environment: &str,
    nodes: &mut Nodes<'_>,
    items: Vec<Item>,
    out: &mut Diagnostics,
) {
    let mut prompts = HashMap::new();
    for (index, item) in nodes.prompts.iter().enumerate() {
        // If two have one name, which is reported, the first is patched.
        let Some((kind, name)) = kind_and_name(sources, item) else { continue };
        prompts.entry((kind, name)).or_insert(index);
    }
    let mut resources = HashMap::new();
    for (index, resource) in nodes.resources.iter().enumerate() {
        let Some(uri) = &resource.uri else { continue };
        resources.entry(uri.value.clone()).or_insert(index);
    }
    let patches = Patches::new(environment);
    let skills = SkillPlaces::of(&nodes.skills);
    let mut patcher = Patcher { sources, nodes, prompts, resources, skills, patches };
    for item in items {
        match item {
            Item::Prompts(items) => {
                items.into_iter().for_each(|item| patcher.prompts_item(item, out));
            }
            Item::Resources(resources) => {
                resources.into_iter().for_each(|resource| patcher.resource(resource, out));
            }
            Item::Messages(messages) => {
                messages.into_iter().for_each(|message| patcher.message(message, out));
            }
            Item::Gate(gate) => patcher.gate(gate, out),
            Item::Hosts(hosts) => patcher.hosts(hosts, out),
            Item::Tools(tools) => patcher.tools(tools, out),
            Item::Policy(policy) => patcher.policy(*policy, out),
            Item::Skills(skills) => {
                patcher.skills.patch(&mut patcher.nodes.skills, skills, &mut patcher.patches, out);
            }
            Item::Tenants(tenants) => {
                tenants.into_iter().for_each(|tenant| patcher.tenant(tenant, out));
            }
            Item::Roles(roles) => roles.into_iter().for_each(|role| patcher.role(role, out)),
            Item::Users(users) => users.into_iter().for_each(|user| patcher.user(user, out)),
            Item::Expect(expect) => patcher.nodes.expects.push(expect),
            // The grammar has none of these in a `when`.
            Item::Project(_) | Item::When(_) | Item::Facts(_) => {}
        }
    }
    let Patcher { patches, nodes, .. } = patcher;
    nodes.prompt_patches.patches = patches;
}

impl Patcher<'_, '_, '_> {
    fn prompts_item(&mut self, item: PromptsItem, out: &mut Diagnostics) {
        let Some((kind, name)) = kind_and_name(self.sources, &item) else { return };
        let index = self.prompts.get(&(kind, name.clone())).copied();
        let known = index.and_then(|index| self.nodes.prompts.get_mut(index)).map(Cow::to_mut);
        match (item, known) {
            (PromptsItem::Prompt(mut prompt), known) => {
                let Some(at) = prompt.name.as_ref().map(|name| name.at) else { return };
                let is_new = prompt.new.as_ref().is_some_and(|new| new.value);
                match known {
                    Some(PromptsItem::Prompt(known)) if is_new => {
                        let first_at = known.name.as_ref().map_or(at, |name| name.at);
                        self.patches.report_known(
                            kind,
                            Spanned { value: &name, at },
                            first_at,
                            out,
                        );
                    }
                    Some(PromptsItem::Prompt(known)) => self.patches.prompt(known, prompt, out),
                    _ if is_new => {
                        report_new_arguments(&prompt.arguments, out);
                        prompt.new = None;
                        self.nodes.prompts.push(Cow::Owned(PromptsItem::Prompt(prompt)));
                    }
                    // It may be the prompt of a markdown file.
                    _ => self.nodes.prompt_patches.by_name.entry(name).or_default().push(prompt),
                }
            }
            (
                PromptsItem::Folder(folder)
                | PromptsItem::Commands(folder)
                | PromptsItem::AgentSkills(folder),
                Some(
                    PromptsItem::Folder(known)
                    | PromptsItem::Commands(known)
                    | PromptsItem::AgentSkills(known),
                ),
            ) => {
                let Some(path) = &folder.path else { return };
                if folder.new.as_ref().is_some_and(|new| new.value) {
                    let first_at = known.path.as_ref().map_or(path.at, |path| path.at);
                    self.patches.report_known(
                        kind,
                        Spanned { value: &name, at: path.at },
                        first_at,
                        out,
                    );
                } else {
                    self.patches.folder(kind, known, folder, out);
                }
            }
            (item, _) => {
                let (PromptsItem::Folder(folder)
                | PromptsItem::Commands(folder)
                | PromptsItem::AgentSkills(folder)) = &item
                else {
                    return;
                };
                if folder.new.as_ref().is_some_and(|new| new.value) {
                    self.nodes.prompts.push(Cow::Owned(item));
                } else if let Some(path) = folder.path.clone() {
                    let of_kind = self.prompts.keys().filter(|(known, _)| *known == kind);
                    let known: Vec<&str> = of_kind.map(|(_, name)| name.as_str()).collect();
                    self.patches.report_unknown(kind, path, known, out);
                }
            }
        }
    }

    fn resource(&mut self, resource: ast::Resource, out: &mut Diagnostics) {
        let Some(uri) = resource.uri.clone() else { return };
        let is_new = resource.new.as_ref().is_some_and(|new| new.value);
        let index = self.resources.get(&uri.value).copied();
        match index.and_then(|index| self.nodes.resources.get_mut(index)) {
            Some(known) if is_new => {
                let first_at = known.uri.as_ref().map_or(uri.at, |uri| uri.at);
                self.patches.report_known("resource", uri.as_str(), first_at, out);
            }
            Some(known) => self.patches.resource(known, resource, out),
            None if is_new => {
                report_new_arguments(&resource.arguments, out);
                self.nodes.resources.push(resource);
            }
            None => {
                let known: Vec<&str> = self.resources.keys().map(String::as_str).collect();
                self.patches.report_unknown("resource", uri, known, out);
            }
        }
    }

    fn message(&mut self, message: ast::SystemMessage, out: &mut Diagnostics) {
        let named = |known: &&mut ast::SystemMessage| known.name.value == message.name.value;
        if let Some(known) = self.nodes.messages.iter_mut().find(named) {
            self.patches.message(known, message, out);
        } else {
            // A message that the project does not write has a built-in text, which is patched.
            let mut built_in =
                ast::SystemMessage { name: message.name.clone(), body: ast::Body::default() };
            self.patches.message(&mut built_in, message, out);
            self.nodes.messages.push(built_in);
        }
    }

    fn gate(&mut self, gate: ast::Gate, out: &mut Diagnostics) {
        if self.nodes.gates.is_empty() {
            self.nodes.gates.push(Gate::default());
        }
        if let Some(known) = self.nodes.gates.first_mut() {
            self.patches.gate(known, gate, out);
        }
    }

    fn tenant(&mut self, tenant: ast::Tenant, out: &mut Diagnostics) {
        let Some(name) = tenant.name.clone() else { return };
        let named = |known: &&ast::Tenant| is_named(known.name.as_ref(), &name.value);
        let known = self.nodes.tenants.iter().find(named).and_then(|known| known.name.clone());
        match (known, tenant.new.as_ref().is_some_and(|new| new.value)) {
            (Some(known), true) => {
                self.patches.report_known("tenant", name.as_str(), known.at, out);
            }
            (Some(_), false) => {
                self.patches.nothing(format!("tenant `{}`", name.value), name.at, out);
            }
            (None, true) => self.nodes.tenants.push(ast::Tenant { new: None, ..tenant }),
            (None, false) => {
                let known = self.nodes.tenants.iter().filter_map(|known| known.name.as_ref());
                let known: Vec<&str> = known.map(|name| name.value.as_str()).collect();
                self.patches.report_unknown("tenant", name, known, out);
            }
        }
    }

    fn role(&mut self, role: ast::Role, out: &mut Diagnostics) {
        let Some(name) = role.name.clone() else { return };
        let named = |known: &&mut ast::Role| is_named(known.name.as_ref(), &name.value);
        let is_new = role.new.as_ref().is_some_and(|new| new.value);
        match self.nodes.roles.iter_mut().find(named) {
            Some(known) if is_new => {
                let first_at = known.name.as_ref().map_or(name.at, |known| known.at);
                self.patches.report_known("role", name.as_str(), first_at, out);
            }
            Some(known) => self.patches.role(known, role, out),
            None if is_new => self.nodes.roles.push(ast::Role { new: None, ..role }),
            None => {
                let known = self.nodes.roles.iter().filter_map(|known| known.name.as_ref());
                let known: Vec<&str> = known.map(|name| name.value.as_str()).collect();
                self.patches.report_unknown("role", name, known, out);
            }
        }
    }

    /// Patches or adds a `user`, `group` or `anyone`, which is found by its kind, its id and its
    /// tenant.
    fn user(&mut self, user: ast::User, out: &mut Diagnostics) {
        let text = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.value.clone());
        let key = |user: &ast::User| (user.who, text(&user.id), text(&user.settings.tenant));
        let is_new = user.new.as_ref().is_some_and(|new| new.value);
        let kind = user.who.word();
        let name = text(&user.id).unwrap_or_default();
        let what = match &user.settings.tenant {
            Some(tenant) => format!("{kind} `{name}` of tenant `{}`", tenant.value),
            None => format!("{kind} `{name}`"),
        };
        match self.nodes.users.iter_mut().find(|known| key(known) == key(&user)) {
            Some(known) if is_new => {
                self.patches.report_known(
                    kind,
                    Spanned { value: &name, at: user.at },
                    known.at,
                    out,
                );
            }
            Some(known) => self.patches.user(what, known, user, out),
            None if is_new => self.nodes.users.push(ast::User { new: None, ..user }),
            None => {
                let of_kind = self.nodes.users.iter().filter(|known| known.who == user.who);
                let mut known: Vec<String> = of_kind.filter_map(|known| text(&known.id)).collect();
                known.retain(|known| *known != name);
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let name = Spanned { value: name, at: user.at };
                self.patches.report_unknown(kind, name, known, out);
            }
        }
    }

    fn policy(&mut self, policy: ast::Policy, out: &mut Diagnostics) {
        let at = policy.at;
        let is_more = policy.rules.iter().map(|rule| rule.at);
        let start = policy.settings.starts_from.as_ref();
        let is_more = is_more.chain(start.map(|start| start.at));
        let is_more = is_more.chain(policy.drops.iter().map(|drop| drop.at));
        let is_more = is_more.chain(policy.scopes.iter().map(|scope| scope.at));
        let is_more = is_more.chain(policy.paths.iter().map(|row| row.at));
        let is_more = is_more.chain(policy.classes.iter().map(|row| row.at));
        let is_more = is_more.chain(policy.floors.iter().filter_map(|(_, floor)| floor.at));
        for at in is_more {
            out.report(at, MoreThanMode { at });
        }
        match self.nodes.policies.first_mut() {
            Some(known) => self.patches.policy(known, &policy, out),
            None => out.report(at, NoPolicy { at }),
        }
    }

    fn hosts(&mut self, patch: ast::Hosts, out: &mut Diagnostics) {
        let Some(base) = self.nodes.hosts.first_mut() else {
            // An environment that is the only one with hosts declares them.
            return self.nodes.hosts.push(patch.settled());
        };
        let ast::Hosts { at: _, settings, hosts } = patch;
        self.patches.hosts(base, &settings, out);
        for host in hosts {
            let Some(alias) = host.alias.clone() else { continue };
            let is_new = host.new.as_ref().is_some_and(|new| new.value);
            let named = |known: &&mut ast::Host| is_named(known.alias.as_ref(), &alias.value);
            match base.hosts.iter_mut().find(named) {
                Some(known) if is_new => {
                    let first_at = known.alias.as_ref().map_or(alias.at, |known| known.at);
                    self.patches.report_known("host", alias.as_str(), first_at, out);
                }
                Some(known) => self.patches.host(known, host, out),
                None if is_new => base.hosts.push(ast::Host { new: None, ..host }),
                None => {
                    let known = base.hosts.iter().filter_map(|known| known.alias.as_ref());
                    let known: Vec<&str> = known.map(|alias| alias.value.as_str()).collect();
                    self.patches.report_unknown("host", alias, known, out);
                }
            }
        }
    }

    fn tools(&mut self, tools: ast::Tools, out: &mut Diagnostics) {
        if self.nodes.tools.is_empty() {
            self.nodes.tools.push(ast::Tools {
                at: tools.at,
                groups: Vec::new(),
                settings: ast::ToolSettings::default(),
                effects: Vec::new(),
            });
        }
        if let Some(known) = self.nodes.tools.first_mut() {
            self.patches.tools(known, tools, out);
        }
    }
}

/// A text has one tier in every environment, and a rule that exists in one alone is easily missed in
/// a review.
#[derive(Debug, Error, Diagnostic)]
#[error("a `when` changes the mode of the policy alone")]
#[diagnostic(
    code(when::policy),
    help(
        "write rules, floors and paths in the project's `policy`; they hold in every environment"
    )
)]
struct MoreThanMode {
    #[label(primary, "holds in every environment")]
    at: Span,
}

/// The mode would decide by facts that the other environments do not have.
#[derive(Debug, Error, Diagnostic)]
#[error("the project has no `policy` to change")]
#[diagnostic(code(when::no_policy), help("add `policy` to the project"))]
struct NoPolicy {
    #[label(primary, "changes nothing")]
    at: Span,
}

fn is_named(known: Option<&Spanned<String>>, name: &str) -> bool {
    known.is_some_and(|known| known.value == name)
}

/// Returns the kind and name of a node of `prompts`; the name of a folder is its path from the
/// project's folder.
fn kind_and_name(sources: &Sources<'_>, item: &PromptsItem) -> Option<(&'static str, String)> {
    let path = |folder: &ast::Folder| {
        let written = folder.path.as_ref()?;
        let document = sources.file(written.at.file);
        // An invalid path is reported where it is read.
        Some(resolve_path(&document.path, &written.value).unwrap_or(written.value.clone()))
    };
    Some(match item {
        PromptsItem::Prompt(prompt) => ("prompt", prompt.name.as_ref()?.value.clone()),
        PromptsItem::Folder(folder) => ("folder", path(folder)?),
        PromptsItem::Commands(folder) => ("commands", path(folder)?),
        PromptsItem::AgentSkills(folder) => ("agent-skills", path(folder)?),
    })
}

fn report_unknown(environment: &str, whens: &[When], root: FileId, out: &mut Diagnostics) {
    let mut known: Vec<&str> = whens.iter().map(|when| when.environment.value.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    if known.contains(&environment) {
        return;
    }
    let near = nearest(environment, known.iter().copied());
    let help = match near {
        Some(near) => format!("did you mean `--env {near}`?"),
        None if known.is_empty() => "the project has no `when`; leave `--env` out".into(),
        None => format!("known environments: {}", known.join(", ")),
    };
    // The fault is in the command line; the place is that of the name that was meant.
    let meant = whens.iter().find(|when| Some(when.environment.value.as_str()) == near);
    let at = meant.map_or(root.span(0, 0), |when| when.environment.at);
    out.report(at, UnknownEnvironment { environment: environment.into(), help, at });
}

/// The name is probably mistyped, and the build would be one without patches.
#[derive(Debug, Error, Diagnostic)]
#[error("`{environment}` is not an environment of this project")]
#[diagnostic(code(when::unknown_environment))]
struct UnknownEnvironment {
    environment: String,
    #[help]
    help: String,
    #[label(primary, "no `when` has that name")]
    at: Span,
}
