//! Pages of MCP lists, as the JSON that a server sends.
//!
//! The order is that of the bundle and never changes; a page ends before it is too long for a
//! client to take at once.

use relay_bundle::{
    Argument, ArgumentKind, Content, Mask, Page, Prompt, Rendering, Resource, ResourceTemplate,
    Setting,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

const ENTRIES_MAX: usize = 100;
const BYTES_MAX: usize = 64 * 1024;
/// The most values of an argument that a list names.
const VALUES_MAX: usize = 12;

/// Returns the pages of `prompts/list`.
pub(super) fn prompts(prompts: &[Prompt]) -> Vec<Page> {
    pages(prompts.iter().map(prompt))
}

/// Returns the pages of `resources/list`.
pub(super) fn resources(resources: &[Resource]) -> Vec<Page> {
    pages(resources.iter().map(resource))
}

/// Returns the pages of `resources/templates/list`.
pub(super) fn templates(templates: &[ResourceTemplate]) -> Vec<Page> {
    pages(templates.iter().map(template))
}

/// Returns the pages of a list with these entries.
pub(super) fn pages(entries: impl Iterator<Item = Value>) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let mut first = 0;
    let mut json = String::new();
    let mut count = 0;
    for entry in entries {
        let entry = entry.to_string();
        if is_full(count, json.len(), entry.len()) {
            pages.push(page(first, count, &json));
            first += count;
            count = 0;
            json.clear();
        }
        json.push(if count == 0 { '[' } else { ',' });
        json.push_str(&entry);
        count += 1;
    }
    if count > 0 {
        pages.push(page(first, count, &json));
    }
    pages
}

/// Returns the bytes of each entry of a list.
pub(super) fn entry_bytes(pages: &[Page]) -> Vec<usize> {
    let entries = pages.iter().flat_map(|page| {
        // INVARIANT: pages are arrays that were written here.
        serde_json::from_str::<Vec<&RawValue>>(&page.json).unwrap_or_default()
    });
    entries.map(|entry| entry.get().len()).collect()
}

/// Returns the first row of each page of a list of which only `rows` are visible.
pub(super) fn starts(rows: &Mask, bytes: &[usize]) -> Vec<u32> {
    let mut starts = Vec::new();
    let (mut count, mut length) = (0, 0);
    for (row, bytes) in (0..).zip(bytes) {
        if !rows.contains(row as usize) {
            continue;
        }
        if starts.is_empty() || is_full(count, length, *bytes) {
            starts.push(row);
            (count, length) = (0, 0);
        }
        count += 1;
        length += bytes + ",".len();
    }
    starts
}

/// Returns whether a page with so many entries and bytes has no room for another entry.
fn is_full(count: usize, length: usize, entry: usize) -> bool {
    count == ENTRIES_MAX || (count > 0 && length + entry > BYTES_MAX)
}

fn page(first: usize, count: usize, json: &str) -> Page {
    let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Page { first: number(first), count: number(count), json: format!("{json}]") }
}

fn prompt(prompt: &Prompt) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), json!(prompt.name));
    insert(&mut object, "title", text(&prompt.title));
    insert(&mut object, "description", first_line(&prompt.description).as_ref());
    if !prompt.rendering.arguments.is_empty() {
        object.insert("arguments".into(), arguments(&prompt.rendering));
    }
    if let Some(meta) = prompt.meta.as_ref().and_then(|meta| serde_json::from_str(meta).ok()) {
        object.insert("_meta".into(), meta);
    }
    Value::Object(object)
}

fn arguments(rendering: &Rendering) -> Value {
    let argument = |argument: &Argument| {
        let mut object = Map::new();
        object.insert("name".into(), json!(argument.name));
        insert(&mut object, "description", about(argument).as_ref());
        object.insert("required".into(), json!(argument.required));
        Value::Object(object)
    };
    rendering.arguments.iter().map(argument).collect()
}

fn resource(resource: &Resource) -> Value {
    let size = match &resource.content.value {
        Content::Blob(bytes) => bytes.len(),
        Content::Text(text) => text.len(),
    };
    let mut object = Map::new();
    object.insert("uri".into(), json!(resource.uri));
    object.insert("name".into(), json!(resource.name.value));
    insert(&mut object, "title", text(&resource.title));
    insert(&mut object, "description", first_line(&resource.description).as_ref());
    object.insert("mimeType".into(), json!(resource.mime.value));
    object.insert("size".into(), json!(size));
    Value::Object(object)
}

fn template(template: &ResourceTemplate) -> Value {
    let mut object = Map::new();
    object.insert("uriTemplate".into(), json!(template.uri_template));
    object.insert("name".into(), json!(template.name.value));
    insert(&mut object, "title", text(&template.title));
    insert(&mut object, "description", first_line(&template.description).as_ref());
    object.insert("mimeType".into(), json!(template.mime.value));
    Value::Object(object)
}

fn text(setting: &Option<Setting<String>>) -> Option<&String> {
    setting.as_ref().map(|setting| &setting.value)
}

/// Returns the first line of a description, which is all that a list has room for; `…` ends it if
/// there are more.
fn first_line(description: &Option<Setting<String>>) -> Option<String> {
    let description = text(description)?.trim();
    Some(match description.split_once('\n') {
        None => description.to_owned(),
        Some((first, _)) => format!("{} …", first.trim_end()),
    })
}

/// Returns the description of an argument with the values that it takes, which MCP has no field for.
fn about(argument: &Argument) -> Option<String> {
    let values = match &argument.kind {
        ArgumentKind::Text { .. } => return argument.description.clone(),
        ArgumentKind::Choice(values) => values,
    };
    let listed = values.iter().take(VALUES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match values.len().saturating_sub(VALUES_MAX) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let default = argument.default.iter().map(|default| format!("; default {default}"));
    let values = format!("(one of {listed}{more}{})", default.collect::<String>());
    Some(match &argument.description {
        Some(description) => format!("{description} {values}"),
        None => values,
    })
}

fn insert(object: &mut Map<String, Value>, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        object.insert(key.into(), json!(value));
    }
}
