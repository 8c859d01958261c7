//! A prompt as a markdown command, as Claude Code and others read it.

use relay_bundle::Prompt;
use serde_json::{Map, Value};

use super::made::{Made, MadeFile};
use super::text::{self, Mark};
use crate::markdown::{self, Key};

pub(super) fn made(prompt: &Prompt) -> Made {
    let mut changes = text::changes(prompt, false);
    changes.extend(text::expanded(prompt, &[Mark::Command, Mark::File, Mark::Argument]));
    if prompt.briefing.value {
        changes.push("people run it; no briefing sends it".to_owned());
    }
    let (description, summary) = (text::description(prompt), text::summary(prompt));
    if description.is_some() && summary.is_some() && description != summary {
        changes.push("its summary is dropped".to_owned());
    }
    let mut keys: Vec<_> =
        description.or(summary).map(|text| key("description", text)).into_iter().collect();
    keys.extend(prompt.title.as_ref().map(|title| key("title", &title.value)));
    let meta = prompt.meta.as_deref().and_then(|meta| serde_json::from_str(meta).ok());
    let meta: Map<String, Value> = meta.unwrap_or_default();
    for (name, value) in meta {
        match keys.iter().any(|key| key.name == name) {
            true => changes.push(format!("`{name}` of its `meta` is dropped")),
            false => keys.push(Key { name, value }),
        }
    }
    if !keys.is_empty() && !keys.iter().any(|key| key.name == "description") {
        // Front matter without one would be a fault.
        keys.insert(0, key("description", &prompt.name));
    }
    let files = text::of(prompt).map(|text| {
        let path = format!("{}.md", prompt.name);
        vec![MadeFile::of_text(path, markdown::file(&keys, &text))]
    });
    Made { of: format!("prompt {}", prompt.name), files, changes }
}

fn key(name: &str, text: &str) -> Key {
    Key { name: name.to_owned(), value: text.into() }
}
