//! Agent skills: their rows, made of the prompts and resources.

use relay_bundle::{AgentSkill, Resource};
use relay_engine::agent_skill::SKILL_MD;
use relay_engine::derived::agent_skills::Manifest;
use serde_json::{Map, Value};

use super::places::Places;
use crate::model;

/// The keys that the front matter of all agent skills has.
const KEYS: [&str; 2] = ["name", "description"];

/// Lowers the agent skills that hosts can list, given the prompt of each, and all resources in the
/// order of their URIs.
pub(super) fn agent_skills(
    found: Vec<(String, model::AgentSkill)>,
    resources: &[Resource],
    places: &Places<'_>,
) -> Vec<AgentSkill> {
    let lowered = found.into_iter().filter_map(|(prompt, skill)| {
        let model::AgentSkill { uri, frontmatter, base: _, files: _, at } = skill;
        let uri = uri?;
        let manifest = manifest(uri.strip_suffix(SKILL_MD)?, resources);
        let frontmatter = Value::Object(as_in_mcp(frontmatter)).to_string();
        Some(AgentSkill { uri, prompt, frontmatter, manifest, at: places.of(at) })
    });
    let mut lowered: Vec<_> = lowered.collect();
    lowered.sort_by(|a, b| a.uri.cmp(&b.uri));
    lowered
}

/// Returns front matter with the keys that all have before the others, as servers send it: so they can
/// send the bytes of the bundle.
fn as_in_mcp(frontmatter: Map<String, Value>) -> Map<String, Value> {
    let (mut first, rest): (Map<_, _>, Map<_, _>) =
        frontmatter.into_iter().partition(|(key, _)| KEYS.contains(&key.as_str()));
    let mut keys: Map<_, _> = KEYS
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), first.shift_remove(key)?)))
        .collect();
    keys.extend(rest);
    keys
}

/// Returns the list of the files below a folder.
fn manifest(folder: &str, resources: &[Resource]) -> String {
    let start = resources.partition_point(|resource| resource.uri.as_str() < folder);
    let from = resources.get(start..).unwrap_or_default();
    let mut manifest = Manifest::default();
    for resource in from.iter().take_while(|resource| resource.uri.starts_with(folder)) {
        manifest.add(&resource.uri, resource.content.value.bytes());
    }
    manifest.finish()
}
