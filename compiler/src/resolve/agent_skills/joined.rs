//! Agent skills beside each other and beside the resources of the project, after environments.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use miette::Diagnostic;
use relay_engine::equal_text;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{AgentSkill, Prompt, Resource};
use crate::source::{Span, Spanned};

/// Checks the agent skills inside others: readers of the outer one see its files.
pub(in crate::resolve) fn check_nested(
    within: &BTreeMap<String, String>,
    prompts: &[Prompt],
    out: &mut Diagnostics,
) {
    let by_name: HashMap<&str, &Prompt> =
        prompts.iter().map(|prompt| (prompt.name.value.as_str(), prompt)).collect();
    let readers = |prompt: &Prompt| -> HashSet<_> {
        prompt.readers.0.iter().map(|each| (each.tenant, each.role)).collect()
    };
    for (inner, outer) in within {
        let (Some(inner), Some(outer)) = (by_name.get(inner.as_str()), by_name.get(outer.as_str()))
        else {
            continue;
        };
        let [on, outer_on] = [inner, outer].map(|prompt| prompt.settings.enabled.value);
        let differ = on != outer_on || readers(inner) != readers(outer);
        if (on || outer_on) && differ {
            let at = inner.name.at;
            let (inner, outer) = (inner.name.value.clone(), outer.name.value.clone());
            out.report(at, Nested { inner, outer, at });
        }
    }
}

/// Moves the files of agent skills to the resources of the project, sorted.
pub(in crate::resolve) fn move_files(
    resources: &mut Vec<Resource>,
    prompts: &mut [Prompt],
    out: &mut Diagnostics,
) {
    let skills = prompts.iter_mut().filter_map(|prompt| prompt.agent_skill.as_mut());
    let files: Vec<Resource> = skills.flat_map(|skill| std::mem::take(&mut skill.files)).collect();
    if files.is_empty() {
        return;
    }
    report_overlaps(resources, prompts, out);
    resources.extend(files);
    resources.sort_by(|a, b| a.uri.value.cmp(&b.uri.value));
    let mut kept: Vec<Resource> = Vec::with_capacity(resources.len());
    for resource in std::mem::take(resources) {
        match kept.last().filter(|last| last.uri.value == resource.uri.value) {
            Some(last) => {
                let (uri, at) = (resource.uri.value, resource.uri.at);
                out.report(at, SameUri { uri, first_at: last.uri.at, at });
            }
            None => kept.push(resource),
        }
    }
    debug_assert!(kept.iter().all(|it| equal_text::normal_uri(&it.uri.value).is_none()));
    prompts.iter().filter_map(|prompt| prompt.agent_skill.as_ref()).for_each(|skill| {
        name_by_front_matter(skill, &mut kept);
    });
    *resources = kept;
}

/// Reports agent skills and declared resources with URIs below the folder of another agent skill.
fn report_overlaps(resources: &[Resource], prompts: &[Prompt], out: &mut Diagnostics) {
    let skills = prompts.iter().filter_map(|prompt| {
        let skill = prompt.agent_skill.as_ref()?;
        Some((skill.base.as_ref()?, &prompt.name.value, skill.at))
    });
    let mut skills: Vec<_> = skills.collect();
    skills.sort();
    for Spanned { value: uri, at } in resources.iter().map(|resource| &resource.uri) {
        // The folders that a URI is below precede it, the last one directly: no two overlap.
        let before = skills.partition_point(|(base, _, _)| base.as_str() <= uri.as_str());
        let last = before.checked_sub(1).and_then(|last| skills.get(last));
        if let Some((_, skill, first_at)) =
            last.filter(|(base, _, _)| uri.starts_with(base.as_str()))
        {
            let (uri, skill) = (uri.clone(), (*skill).clone());
            out.report(*at, Below { uri, skill, first_at: *first_at, at: *at });
        }
    }
    // All that begin with a text follow it.
    for (outer, inner) in skills.iter().zip(skills.iter().skip(1)) {
        let ((base, outer, first_at), (inner_base, inner, at)) = (outer, inner);
        if inner_base != base && inner_base.starts_with(base.as_str()) {
            let (inner, outer) = ((*inner).clone(), (*outer).clone());
            out.report(*at, Overlap { inner, outer, first_at: *first_at, at: *at });
        }
    }
}

/// Gives a `SKILL.md` the name and the description of its front matter.
fn name_by_front_matter(skill: &AgentSkill, resources: &mut [Resource]) {
    let AgentSkill { uri: Some(uri), frontmatter, base: _, files: _, at } = skill else { return };
    let found = resources.binary_search_by(|resource| resource.uri.value.as_str().cmp(uri));
    let Some(resource) = found.ok().and_then(|index| resources.get_mut(index)) else { return };
    let word = |key| Some(frontmatter.get(key)?.as_str()?.trim().to_owned());
    if let Some(name) = word("name") {
        resource.about.name.value = name;
    }
    resource.about.settings.description =
        word("description").map(|value| Spanned { value, at: *at });
}

/// A list of files has all files below the folder of its agent skill, so one skill's list would name the
/// other's files to readers of its own.
#[derive(Debug, Error, Diagnostic)]
#[error("the files of the agent skill `{inner}` would have URIs below the folder of `{outer}`")]
#[diagnostic(
    code(agent_skills::overlap),
    help("give one of them another name, or put `{inner}` into the folder of `{outer}`")
)]
struct Overlap {
    inner: String,
    outer: String,
    #[label("the folder is here")]
    first_at: Span,
    #[label(primary, "below it")]
    at: Span,
}

/// The list of files of an agent skill would name the resource, also to those who do not see it.
#[derive(Debug, Error, Diagnostic)]
#[error("the resource `{uri}` lies below the folder of the agent skill `{skill}`")]
#[diagnostic(
    code(agent_skills::resource),
    help("give the resource another URI, or put its file into the folder of the skill")
)]
struct Below {
    uri: String,
    skill: String,
    #[label("the folder is here")]
    first_at: Span,
    #[label(primary, "below it")]
    at: Span,
}

/// An agent skill has all files below its folder. A narrower `for` or `enabled=#false` for a skill
/// inside it would hide nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("the files of `{inner}` are also those of the agent skill `{outer}` around it")]
#[diagnostic(
    code(agent_skills::nested),
    help("give both the same readers, or move one out of the other's folder")
)]
struct Nested {
    inner: String,
    outer: String,
    #[label(primary, "this skill has other readers")]
    at: Span,
}

/// Two files would have one URI, and a client could read one of them alone.
#[derive(Debug, Error, Diagnostic)]
#[error("two files have the URI `{uri}`")]
#[diagnostic(
    code(agent_skills::same_uri),
    help("give one of the folders or agent skills another name")
)]
struct SameUri {
    uri: String,
    #[label("one is here")]
    first_at: Span,
    #[label(primary, "the other here")]
    at: Span,
}
