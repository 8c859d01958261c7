//! Model -> contents of a bundle. Nothing here can fail: whatever can is found before.

mod gate;
mod pages;
mod provenance;
mod tools;

use relay_bundle::{Contents, Manifest, Place, Prompt, Resource, ResourceTemplate};

use crate::instructions;
use crate::model::{self, Model};
use crate::show::Effective;
use crate::source::{Sources, Span, Spanned};
use crate::{Options, VERSION};

/// Lowers a model that has no errors.
pub(crate) fn contents(
    sources: &Sources<'_>,
    options: &Options,
    model: Model,
    effective: &Effective,
) -> Contents {
    let provenance = provenance::json(sources, options, &model);
    let composed = instructions::compose(&model);
    let gate = gate::gate(&model, &composed.index, &|at| sources.place(at));
    let (tools, tool_pages) = tools::tools(&model, &|at| sources.place(at));
    let Model { project, environment, prompts, resources, templates, .. } = model;
    let place = |at: Span| sources.place(at);
    let prompts: Vec<_> = prompts.into_iter().map(|prompt| lower_prompt(prompt, &place)).collect();
    let resources: Vec<_> =
        resources.into_iter().map(|resource| lower_resource(resource, &place)).collect();
    let templates: Vec<_> =
        templates.into_iter().map(|template| lower_template(template, &place)).collect();
    Contents {
        manifest: Manifest {
            project: project.name.value,
            version: text(project.version),
            title: text(project.title),
            owner: text(project.owner),
            environment,
            compiler: format!("relay {VERSION}"),
            epoch: project.epoch.value,
            instructions: composed.text,
            index: composed.names,
        },
        gate,
        tools,
        tool_pages,
        prompt_pages: pages::prompts(&prompts),
        resource_pages: pages::resources(&resources),
        template_pages: pages::templates(&templates),
        prompts,
        resources,
        templates,
        canonical: effective.kdl(false),
        provenance,
    }
}

fn lower_prompt(prompt: model::Prompt, place: &impl Fn(Span) -> Place) -> Prompt {
    let at = place(prompt.name.at);
    let generated = prompt.generated();
    let summary = prompt.summary.map(|summary| summary.value);
    Prompt {
        name: prompt.name.value,
        title: text(prompt.title),
        // A list shows what a prompt is about even if nobody described it.
        description: text(prompt.description).or_else(|| summary.clone()),
        summary,
        chapters: prompt.chapters.into_iter().map(|chapter| chapter.value).collect(),
        generated,
        priority: prompt.priority.value,
        meta: prompt.meta.map(|meta| serde_json::Value::Object(meta).to_string()),
        body: prompt.body,
        rendering: prompt.rendering,
        at,
    }
}

fn lower_resource(resource: model::Resource, place: &impl Fn(Span) -> Place) -> Resource {
    let model::Resource { uri, about, content } = resource;
    Resource {
        at: place(uri.at),
        uri: uri.value,
        name: about.name.value,
        title: text(about.title),
        description: text(about.description),
        mime: Some(about.mime.value),
        content,
    }
}

fn lower_template(
    template: model::ResourceTemplate,
    place: &impl Fn(Span) -> Place,
) -> ResourceTemplate {
    let model::ResourceTemplate {
        uri_template,
        about,
        pieces,
        arguments: _,
        booleans: _,
        rendering,
    } = template;
    ResourceTemplate {
        at: place(uri_template.at),
        uri_template: uri_template.value,
        pieces,
        name: about.name.value,
        title: text(about.title),
        description: text(about.description),
        mime: Some(about.mime.value),
        rendering,
    }
}

fn text(written: Option<Spanned<String>>) -> Option<String> {
    written.map(|written| written.value)
}
