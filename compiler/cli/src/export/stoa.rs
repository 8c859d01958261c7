//! A skill as a YAML document (`kind: Skill`).

use relay_bundle::{Level, Skill};
use serde_json::{Map, Value};

use super::made::{Made, MadeFile};
use crate::markdown::flow;

pub(super) fn made(skill: &Skill) -> Made {
    let mut changes = Vec::new();
    if skill.topic.is_some() {
        changes.push("its topic is dropped".to_owned());
    }
    let files = match skill.tools.len() {
        0 | 1 => Ok(vec![MadeFile::of_text(path(skill), document(skill))]),
        several => Err(format!("it has {several} patterns of tools, and a document has one")),
    };
    Made { of: format!("skill {}", skill.label()), files, changes }
}

fn path(skill: &Skill) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let selector: String = selector(skill).chars().map(plain).collect();
    match skill.level {
        Level::Global => format!("{}.yaml", skill.name),
        Level::Tenant | Level::Tool | Level::User => {
            format!("{}-{selector}/{}.yaml", skill.level.word(), skill.name)
        }
    }
}

/// Returns the selector of the skill's block.
fn selector(skill: &Skill) -> &str {
    let of = match skill.level {
        Level::Global => None,
        Level::Tenant => skill.tenant.as_ref(),
        Level::Tool => skill.tools.first(),
        Level::User => skill.user.as_ref(),
    };
    of.map(|setting| setting.value.as_str()).unwrap_or_default()
}

fn document(skill: &Skill) -> String {
    let text = |text: &str| flow(&text.into());
    let namespace = match (&skill.level, &skill.tenant) {
        (Level::Tenant, Some(tenant)) => format!("tenant-{}", tenant.value),
        _ => "stoa-system".to_owned(),
    };
    let mut lines = vec![
        "apiVersion: gostoa.dev/v1alpha1".to_owned(),
        "kind: Skill".to_owned(),
        "metadata:".to_owned(),
        format!("  name: {}", text(&skill.name)),
        format!("  namespace: {}", text(&namespace)),
        "spec:".to_owned(),
    ];
    let named = [("displayName", &skill.title), ("description", &skill.description)];
    lines.extend(
        named.into_iter().filter_map(|(key, setting)| {
            Some(format!("  {key}: {}", text(&setting.as_ref()?.value)))
        }),
    );
    lines.extend(["  scope:".to_owned(), format!("    type: {}", skill.level.word())]);
    let tools = skill.tools.first();
    let selectors = [
        ("tenantId", skill.tenant.as_ref()),
        ("toolPattern", tools),
        ("userId", skill.user.as_ref()),
    ];
    lines.extend(
        selectors
            .into_iter()
            .filter_map(|(key, setting)| Some(format!("    {key}: {}", text(&setting?.value)))),
    );
    lines.push("  context:".to_owned());
    lines.push(instructions(&skill.text.value));
    let meta = skill.meta.as_deref().and_then(|meta| serde_json::from_str(meta).ok());
    let meta: Map<String, Value> = meta.unwrap_or_default();
    if !meta.is_empty() {
        lines.push("  metadata:".to_owned());
    }
    lines.extend(meta.iter().map(|(key, value)| format!("    {}: {}", text(key), flow(value))));
    if skill.priority.at.is_some() {
        lines.push(format!("  priority: {}", skill.priority.value));
    }
    lines.join("\n") + "\n"
}

/// Returns a text as a block of lines, or in one line if a block would not hold it as it is.
fn instructions(text: &str) -> String {
    let is_block = !text.starts_with([' ', '\n', '\t'])
        && !text.chars().any(|letter| letter.is_control() && letter != '\n');
    if !is_block {
        return format!("    instructions: {}", flow(&text.into()));
    }
    let lines = text.lines().map(|line| match line {
        "" => String::new(),
        line => format!("      {line}"),
    });
    let lines: Vec<_> = ["    instructions: |-".to_owned()].into_iter().chain(lines).collect();
    lines.join("\n")
}
