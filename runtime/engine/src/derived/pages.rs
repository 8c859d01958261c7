//! Contents -> pages of MCP lists, as the JSON that a server sends.
//!
//! The order is fixed, that of the bundle; each page is short enough for clients.

use relay_bundle::{
    Argument, ArgumentKind, Content, Mask, Page, Prompt, Rendering, Resource, ResourceTemplate,
    Setting,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

const ENTRIES_MAX: usize = 100;
const BYTES_MAX: usize = 64 * 1024;
/// The most values of an argument in a list.
const VALUES_MAX: usize = 12;

/// Returns the pages of a list with these entries.
#[must_use]
pub fn pages(entries: impl Iterator<Item = Value>) -> Vec<Page> {
    let mut pages = Pages::default();
    for entry in entries {
        pages.add(&entry);
    }
    pages.finish()
}

/// Pages during their derivation.
#[derive(Default)]
pub(super) struct Pages {
    full: Vec<Page>,
    /// The open page: its first row, its entries, and their text.
    first: usize,
    count: usize,
    json: String,
}

impl Pages {
    /// Adds the next entry, and returns its bytes.
    pub(super) fn add(&mut self, entry: &Value) -> usize {
        let entry = entry.to_string();
        if is_full(self.count, self.json.len(), entry.len()) {
            self.end_page();
        }
        self.json.push(if self.count == 0 { '[' } else { ',' });
        self.json.push_str(&entry);
        self.count += 1;
        entry.len()
    }

    /// Takes the full pages.
    pub(super) fn take_full(&mut self) -> Vec<Page> {
        std::mem::take(&mut self.full)
    }

    /// Returns the pages.
    pub(super) fn finish(mut self) -> Vec<Page> {
        if self.count > 0 {
            self.end_page();
        }
        self.full
    }

    fn end_page(&mut self) {
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
        self.json.push(']');
        let json = std::mem::take(&mut self.json);
        self.full.push(Page { first: number(self.first), count: number(self.count), json });
        self.first += self.count;
        self.count = 0;
    }
}

/// Returns the bytes of each entry of a list.
#[must_use]
pub fn entry_bytes(pages: &[Page]) -> Vec<usize> {
    let entries = pages.iter().flat_map(|page| {
        // INVARIANT: pages are arrays written by this module.
        serde_json::from_str::<Vec<&RawValue>>(&page.json).unwrap_or_default()
    });
    entries.map(|entry| entry.get().len()).collect()
}

/// Returns the first row of each page of a list with only `rows` visible.
#[must_use]
pub fn starts(rows: &Mask, bytes: &[usize]) -> Vec<u32> {
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

/// Returns whether a page of this many entries and bytes lacks room for another entry.
fn is_full(count: usize, length: usize, entry: usize) -> bool {
    count == ENTRIES_MAX || (count > 0 && length + entry > BYTES_MAX)
}

/// Returns the entry of `prompts/list`.
#[must_use]
pub fn prompt(prompt: &Prompt) -> Value {
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

/// Returns the entry of `resources/list`.
#[must_use]
pub fn resource(resource: &Resource) -> Value {
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

/// Returns the entry of `resources/templates/list`.
#[must_use]
pub fn template(template: &ResourceTemplate) -> Value {
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

/// Returns the first line of a description, since a list has room for one line; `…` ends it if more
/// lines follow.
fn first_line(description: &Option<Setting<String>>) -> Option<String> {
    let description = text(description)?.trim();
    Some(match description.split_once('\n') {
        None => description.to_owned(),
        Some((first, _)) => format!("{} …", first.trim_end()),
    })
}

/// Returns the description of an argument with its allowed values: MCP has a field for the
/// description alone.
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
