//! Model -> contents of a bundle. Lowering always succeeds: earlier stages report every fault.

mod access;
mod agent_skills;
mod gate;
mod hosts;
mod messages;
mod places;
mod policy;
mod provenance;
mod review;
mod rules;
mod skills;
mod tools;

pub(crate) use rules::automata;

use relay_bundle::{Contents, Manifest, Prompt, Resource, ResourceTemplate, Setting};
use relay_engine::derived::pages;
use relay_engine::tool::Limits;

use crate::model::{self, Model};
use crate::options::{Options, VERSION};
use crate::show::Effective;
use crate::source::Sources;
use places::Places;

/// Lowers an error-free model.
pub(crate) fn contents(
    sources: &Sources<'_>,
    options: &Options,
    model: Model,
    effective: &Effective,
) -> Contents {
    let places = Places(sources);
    let provenance = provenance::json(sources, options, &model);
    let messages = messages::messages(&model, &places);
    let gate = gate::gate(&model, &places);
    let review = review::review(&model, &places);
    let tool_settings = tools::settings(&model, &places);
    let limits = Limits::of(tool_settings.as_ref());
    let (tools, tool_pages) = tools::tools(&model, gate.as_ref(), &limits, &places);
    let indexes = access::indexes(&model);
    let Model {
        project,
        environment,
        prompts,
        resources,
        templates,
        access,
        audiences,
        hosts,
        skills,
        other_tools,
        tool_effects,
        policy,
        ..
    } = model;
    let model::Project { name, settings } = project;
    let model::ProjectSettings { version, epoch, title, owner } = settings;
    let policy::Lowered { policy, rules, automata, facts } =
        policy::policy(policy, tool_effects, &places);
    let skill_settings = skills::settings(&skills, &places);
    let skills = skills::skills(skills.list, &places);
    let mut found = Vec::new();
    let prompts = prompts.into_iter().map(|mut prompt| {
        let skill = prompt.agent_skill.take();
        found.extend(skill.map(|skill| (prompt.name.value.clone(), skill)));
        prompt
    });
    let prompts: Vec<_> = prompts.map(|prompt| lower_prompt(prompt, &places)).collect();
    let resources: Vec<_> =
        resources.into_iter().map(|resource| lower_resource(resource, &places)).collect();
    let agent_skills = agent_skills::agent_skills(found, &resources, &places);
    let templates: Vec<_> =
        templates.into_iter().map(|template| lower_template(template, &places)).collect();
    let known_tools = skills::known_tools(&skills, &tools, &other_tools);
    let prompt_pages = pages::pages(prompts.iter().map(pages::prompt));
    let resource_pages = pages::pages(resources.iter().map(pages::resource));
    let template_pages = pages::pages(templates.iter().map(pages::template));
    let pages = [&prompt_pages[..], &resource_pages, &template_pages, &tool_pages];
    Contents {
        epoch: epoch.value,
        manifest: Manifest {
            project: places.written(name),
            version: places.optional(version),
            title: places.optional(title),
            owner: places.optional(owner),
            environment,
            compiler: format!("relay {VERSION}"),
        },
        messages,
        gate,
        tools,
        tenants: access::tenants(&access, &places),
        roles: access::roles(&access, &places),
        users: access::users(&access, &places),
        audiences: indexes.map(|indexes| access::audiences(audiences, indexes, pages)),
        prompt_pages,
        resource_pages,
        template_pages,
        tool_pages,
        prompts,
        resources,
        templates,
        agent_skills,
        known_tools,
        skills,
        skill_settings,
        tool_settings,
        hosts: hosts.map(|hosts| hosts::hosts(hosts, &places)),
        policy,
        rules,
        automata,
        facts,
        canonical: effective.kdl(false),
        provenance,
        review,
    }
}

fn lower_prompt(prompt: model::Prompt, places: &Places<'_>) -> Prompt {
    let model::Prompt {
        name,
        settings:
            model::PromptSettings { enabled: _, priority, title, description, front_matter: _ },
        briefing,
        summary,
        chapters,
        meta,
        arguments: _,
        rendering,
        body,
        bodies: _,
        included: _,
        messages: _,
        booleans: _,
        readers: _,
        allowed: _,
        agent_skill: _,
        generated: _,
    } = prompt;
    let summary = summary.map(|summary| places.setting(summary));
    Prompt {
        at: places.of(name.at),
        name: name.value,
        title: places.optional(title),
        // A list describes a prompt even if its author gave no description.
        description: places.optional(description).or_else(|| summary.clone()),
        summary,
        chapters: chapters.into_iter().map(|chapter| places.setting(chapter)).collect(),
        priority: places.setting(priority),
        briefing: places.setting(briefing),
        meta: meta.map(|meta| serde_json::Value::Object(meta).to_string()),
        body: places.setting(body),
        rendering,
    }
}

fn lower_resource(resource: model::Resource, places: &Places<'_>) -> Resource {
    let model::Resource { uri, about, content } = resource;
    let model::About {
        name,
        settings: model::ResourceSettings { enabled: _, title, description },
        mime,
        body,
        included: _,
        readers: _,
        allowed: _,
    } = about;
    Resource {
        at: places.of(uri.at),
        uri: uri.value,
        name: places.setting(name),
        title: places.optional(title),
        description: places.optional(description),
        mime: places.setting(mime),
        content: Setting { value: content, at: Some(places.of(body.at())) },
    }
}

fn lower_template(template: model::ResourceTemplate, places: &Places<'_>) -> ResourceTemplate {
    let model::ResourceTemplate {
        uri_template,
        about,
        pieces,
        arguments: _,
        booleans: _,
        rendering,
    } = template;
    let model::About {
        name,
        settings: model::ResourceSettings { enabled: _, title, description },
        mime,
        body: _,
        included: _,
        readers: _,
        allowed: _,
    } = about;
    ResourceTemplate {
        at: places.of(uri_template.at),
        uri_template: uri_template.value,
        pieces,
        name: places.setting(name),
        title: places.optional(title),
        description: places.optional(description),
        mime: places.setting(mime),
        rendering,
    }
}
