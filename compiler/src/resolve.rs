//! AST -> model: names looked up, documents joined, defaults filled, files read, texts rendered.
//!
//! Unresolvable nodes are reported and left out of the model. `check` judges the others.

mod access;
mod agent_skills;
mod argument;
mod environment;
mod expect;
mod facts;
mod file;
mod front_matter;
mod gate;
mod guide;
mod hosts;
mod markdown;
mod media;
mod message;
mod name;
mod patch;
mod pattern;
mod policy;
mod project;
mod prompt;
mod prompts;
mod resource;
mod rules;
mod skills;
mod summary;
mod template;
mod text;
mod tools;

pub(crate) use access::{ID_CHARS_MAX, ROLES_MAX};
pub(crate) use environment::environments;
pub(crate) use file::FILE_BYTES_MAX;
pub(crate) use markdown::{MARK_FORMS, MarkForm};
pub use markdown::{Mark, MarkKind, marks};
pub(crate) use name::NAME_CHARS_MAX;
pub(crate) use pattern::CHARS_MAX as PATTERN_CHARS_MAX;
pub(crate) use resource::TEMPLATES_MAX;
pub(crate) use summary::are_generated;
pub(crate) use template::{
    TEMPLATE_BYTES_MAX, TEXT_BYTES_MAX, TOTAL_BYTES_MAX, VARIANTS_MAX, vocabulary,
};
pub(crate) use text::ARGUMENTS_CHARS_MAX;

use crate::ast::Ast;
use crate::diagnostic::Diagnostics;
use crate::model::audience::Lists;
use crate::model::{Model, offered_tools};
use crate::options::Options;
use crate::source::Sources;

/// Resolves a project for one environment. `None`: it lacks a usable `project` node, or has a
/// document with syntax faults: the declarations of such a document are unknown, so every reference
/// to them would be reported as missing.
pub(crate) fn project(
    sources: &Sources<'_>,
    ast: &Ast,
    options: &Options,
    environment: Option<&str>,
    out: &mut Diagnostics,
) -> Option<Model> {
    if ast.broken {
        return None;
    }
    let root = ast.documents.first()?.file;
    let (nodes, whens) = environment::choose(sources, ast, environment, root, out);
    let mut known = expect::Known::declared(&nodes);
    let project = project::project(nodes.projects, options.epoch, root, out);
    let access = access::access(nodes.tenants, nodes.roles, nodes.users, out);
    let (mut resources, templates) = resource::resources(sources, nodes.resources, &access, out);
    let named = prompt::Named {
        sources,
        access: &access,
        resources: resources.iter().map(|it| (it.uri.value.as_str(), it)).collect(),
    };
    let gate = gate::gate(nodes.gates, out);
    let hosts = hosts::hosts(nodes.hosts, out);
    let tools::Tools { offered: tools, other: other_tools, effects: tool_effects } =
        tools::tools(nodes.tools, out);
    let generated = guide::prompt(sources, &tools);
    let (mut prompts, disabled_prompts) =
        prompts::prompts(nodes.prompts, nodes.prompt_patches, generated, named, out);
    agent_skills::move_files(&mut resources, &mut prompts, out);
    let policy = policy::policy(sources, nodes.policies, out);
    if let Some(policy) = &policy {
        rules::check(sources, policy, out);
    }
    let facts = facts::facts(sources, nodes.facts, policy.as_ref(), out);
    let skills = skills::skills(sources, nodes.skills, out);
    let messages =
        message::messages(sources, nodes.messages, &gate, &guide::short(&tools, &prompts), out);
    known.add(&prompts, &disabled_prompts, &other_tools, policy.as_ref());
    let expects = expect::expects(nodes.expects, &known, &access, out);
    let project = project?;
    let audiences = {
        let lists = Lists {
            prompts: prompts.iter().map(|prompt| &prompt.readers).collect(),
            resources: resources.iter().map(|resource| &resource.about.readers).collect(),
            templates: templates.iter().map(|template| &template.about.readers).collect(),
            tools: offered_tools(&gate, &tools).into_iter().map(|(spec, _)| spec).collect(),
            guide: prompts.iter().position(|prompt| prompt.generated),
        };
        access::audiences(&access, &lists, project.name.at, out)
    };
    Some(Model {
        project,
        environment: environment.map(str::to_owned),
        whens,
        prompts,
        disabled_prompts,
        resources,
        templates,
        access,
        audiences,
        gate,
        hosts,
        tools,
        other_tools,
        tool_effects,
        policy: policy.zip(facts),
        skills,
        messages,
        expects,
    })
}
