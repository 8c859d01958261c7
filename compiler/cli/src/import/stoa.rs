//! Skill documents in YAML (`kind: Skill`), each of which becomes a `skill`.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::Level;
use relay_compiler::{Yaml, YamlValue, yaml};
use serde_json::Value;

use super::name;
use super::part::{Content, Part, Skill};
use super::row::{Origin, Row};
use super::source::{COPIES, Found, LIST_BYTES_MAX, Source};

const ORIGIN: Origin = Origin::StoaSkills;
/// The folders that may hold such documents, besides the folder to import itself.
const FOLDERS: [&str; 3] = ["skills", "stoa", ".stoa"];
const ENDINGS: [&str; 2] = [".yaml", ".yml"];
/// The highest priority of a skill.
const PRIORITY_MAX: u64 = 100;
/// The longest text that is written into the project.
const LINE_CHARS_MAX: usize = 80;
/// The most skills of a file.
const DOCUMENTS_MAX: usize = 1000;
/// The ending of the files of their texts.
const COPY_ENDING: &str = ".md";

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    let is_yaml = |name: &&String| ENDINGS.iter().any(|ending| name.ends_with(ending));
    let mut paths: Vec<_> = source.names.iter().filter(is_yaml).map(|n| source.path(n)).collect();
    for folder in FOLDERS {
        // Other files of these folders are not for this.
        let mut ignored = Found::default();
        paths.extend(source.list(folder, &ENDINGS, ORIGIN, &mut ignored));
    }
    for path in paths {
        file(source, &path, found);
    }
}

/// Reads the documents of a file; a file without the words of a skill is not one.
pub(super) fn file(source: &Source<'_>, path: &str, found: &mut Found) {
    let mut unusable = Found::default();
    let Some(text) = source.text(path, LIST_BYTES_MAX, ORIGIN, &mut unusable) else {
        found.rows.append(&mut unusable.rows);
        return;
    };
    let documents = documents(&text);
    let skills = documents.iter().filter(|(_, document)| is_skill(document));
    for (count, (before, document)) in skills.enumerate() {
        if count == DOCUMENTS_MAX {
            let reason = format!("the file has more than {DOCUMENTS_MAX} skills");
            found.rows.push(Row::left_out(ORIGIN, path, before + 1, reason));
            return;
        }
        let read = yaml(document).map_err(|fault| (fault.line, fault.reason));
        match read.and_then(|yaml| skill(path, &yaml)) {
            Ok(mut part) => {
                part.line += before;
                part.changes.iter_mut().for_each(|(line, _)| *line += before);
                found.parts.push(part);
            }
            Err((line, reason)) => {
                found.rows.push(Row::left_out(ORIGIN, path, before + line, reason));
            }
        }
    }
}

/// Gives each file of a text a path of its own: names and selectors of which letters were replaced may be
/// the same.
pub(super) fn number_copies(parts: &mut [Part]) {
    let mut taken = BTreeSet::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for part in parts {
        let Content::Skill(Skill { copy: Some(copy), .. }) = &mut part.content else { continue };
        let stem = copy.strip_suffix(COPY_ENDING).unwrap_or(copy).to_owned();
        // On some disks, names that differ in case alone are the same.
        let number = numbers.entry(stem.to_lowercase()).or_insert(1);
        while !taken.insert(copy.to_lowercase()) {
            *number += 1;
            *copy = format!("{stem}-{number}{COPY_ENDING}");
        }
    }
}

/// Returns whether a text may be a skill, before it is read: most YAML of a repository is not.
fn is_skill(document: &str) -> bool {
    document.lines().any(|line| {
        let kind = line.strip_prefix("kind:").map(str::trim);
        kind.is_some_and(|kind| kind.trim_matches(['"', '\'']) == "Skill")
    })
}

/// Splits a file at its lines `---`; each document has the number of lines before it.
fn documents(text: &str) -> Vec<(usize, &str)> {
    let mut documents = Vec::new();
    let (mut before, mut start, mut at) = (0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let end = at + line.len();
        if line.trim_end() == "---" {
            documents.push((before, text.get(start..at).unwrap_or_default()));
            (before, start) = (number + 1, end);
        }
        at = end;
    }
    documents.push((before, text.get(start..).unwrap_or_default()));
    documents
}

fn skill(path: &str, document: &Yaml) -> Result<Part, (usize, String)> {
    let missing = |at: &Yaml, key: &str| (at.line, format!("it has no `{key}`"));
    let metadata = document.get("metadata").ok_or_else(|| missing(document, "metadata"))?;
    let spec = document.get("spec").ok_or_else(|| missing(document, "spec"))?;
    let named = metadata.get("name").ok_or_else(|| missing(metadata, "metadata.name"))?;
    let name = named.text().and_then(name::plain);
    let name = name.ok_or_else(|| (named.line, "its name is unusable".to_owned()))?;
    let empty = Yaml { line: spec.line, value: YamlValue::Null };
    let scope = spec.get("scope").unwrap_or(&empty);
    let context = spec.get("context").unwrap_or(&empty);
    let text = context.get("instructions").and_then(Yaml::text);
    let text = text.ok_or_else(|| missing(context, "spec.context.instructions"))?.trim_end();
    let mut changes = others(spec, scope, context);
    let selected = |key: &str| scope.get(key).and_then(Yaml::text).map(str::to_owned);
    let namespace = metadata.get("namespace").and_then(Yaml::text).unwrap_or_default();
    let tenant = selected("tenantId").or_else(|| {
        // A skill of a tenant is in the tenant's namespace.
        namespace.strip_prefix("tenant-").map(str::to_owned)
    });
    let (tools, user) = (selected("toolPattern"), selected("userId"));
    let word = selected("type").unwrap_or_else(|| "global".to_owned());
    let lacks = |key: &str| (scope.line, format!("its scope is `{word}`, and it has no `{key}`"));
    let (level, selector) = match word.as_str() {
        "global" => (Level::Global, None),
        "tenant" => (Level::Tenant, Some(tenant.clone().ok_or_else(|| lacks("tenantId"))?)),
        "tool" => (Level::Tool, Some(tools.clone().ok_or_else(|| lacks("toolPattern"))?)),
        "user" => (Level::User, Some(user.clone().ok_or_else(|| lacks("userId"))?)),
        _ => return Err((scope.line, format!("its scope `{word}` is unknown"))),
    };
    let narrowed = [
        ("tenant", tenant, level == Level::Global || level == Level::Tenant),
        ("tools", tools, level == Level::Tool),
        ("user", user, level == Level::User),
    ];
    let narrowed = narrowed.into_iter().filter(|(_, _, is_block)| !is_block);
    let narrowed = narrowed.filter_map(|(name, value, _)| Some((name, value?))).collect();
    let priority = spec.get("priority").or_else(|| context.get("priority"));
    let priority = priority.map(|written| priority_of(written, &mut changes)).transpose()?;
    let line = |key: &str| spec.get(key).and_then(Yaml::text).map(one_line);
    let is_line = !text.contains('\n') && text.chars().count() <= LINE_CHARS_MAX;
    let selector = selector.unwrap_or_default();
    let folder = match level {
        Level::Global => String::new(),
        Level::Tenant | Level::Tool | Level::User => {
            // Without a `.`, no folder has the name of a file.
            let selector = name::plain(&selector).unwrap_or_default().replace(['/', '.'], "-");
            format!("{}-{selector}/", level.word())
        }
    };
    let skill = Skill {
        level,
        priority,
        narrowed,
        title: line("displayName"),
        description: line("description"),
        meta: meta(spec.get("metadata").or_else(|| context.get("metadata")), &mut changes),
        is_enabled: !matches!(
            spec.get("enabled"),
            Some(Yaml { value: YamlValue::Bool(false), .. })
        ),
        text: text.to_owned(),
        copy: (!is_line).then(|| {
            let file = name.replace('/', "-");
            format!("{COPIES}/skills/{folder}{file}{COPY_ENDING}")
        }),
        selector,
        name,
    };
    let line = document.get("kind").map_or(document.line, |kind| kind.line);
    let content = Content::Skill(skill);
    Ok(Part { origin: ORIGIN, file: path.to_owned(), line, changes, content })
}

/// Returns a note on each key that a skill of the project has no place for.
fn others(spec: &Yaml, scope: &Yaml, context: &Yaml) -> Vec<(usize, String)> {
    let known: [(&Yaml, &str, &[&str]); 3] = [
        (
            spec,
            "spec",
            &["scope", "context", "displayName", "description", "metadata", "priority", "enabled"],
        ),
        (scope, "spec.scope", &["type", "tenantId", "toolPattern", "userId"]),
        (context, "spec.context", &["instructions", "metadata", "priority"]),
    ];
    let unknown = known.into_iter().flat_map(|(group, name, known)| {
        let entries = group.entries().iter().filter(|(key, _)| !known.contains(&key.as_str()));
        entries.map(move |(key, value)| (value.line, format!("`{name}.{key}` is dropped")))
    });
    unknown.collect()
}

fn priority_of(written: &Yaml, changes: &mut Vec<(usize, String)>) -> Result<u64, (usize, String)> {
    let number = match &written.value {
        YamlValue::Number(number) => number.as_u64(),
        _ => None,
    };
    let number =
        number.ok_or_else(|| (written.line, "its priority is no whole number".to_owned()))?;
    if number > PRIORITY_MAX {
        changes
            .push((written.line, format!("priority {number} becomes {PRIORITY_MAX}, the highest")));
    }
    Ok(number.min(PRIORITY_MAX))
}

/// Returns the facts that are texts, numbers or booleans.
fn meta(written: Option<&Yaml>, changes: &mut Vec<(usize, String)>) -> Vec<(String, Value)> {
    let mut facts = Vec::new();
    for (key, value) in written.map(Yaml::entries).unwrap_or_default() {
        match &value.value {
            YamlValue::Text(text) => facts.push((key.clone(), text.as_str().into())),
            YamlValue::Bool(fact) => facts.push((key.clone(), (*fact).into())),
            YamlValue::Number(number) if number.is_i64() => {
                facts.push((key.clone(), number.clone().into()));
            }
            YamlValue::Number(_) | YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => {
                changes.push((value.line, format!("`metadata.{key}` is dropped")));
            }
        }
    }
    facts
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
