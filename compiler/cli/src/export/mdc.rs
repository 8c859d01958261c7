//! A prompt as a rule of Cursor.

use relay_bundle::Prompt;

use super::made::{Made, MadeFile};
use super::text::{self, Mark};
use crate::markdown::{self, Key};

pub(super) fn made(prompt: &Prompt) -> Made {
    let mut changes = text::changes(prompt, true);
    changes.extend(text::dropped_meta(prompt));
    changes.extend(text::expanded(prompt, &[Mark::File]));
    if prompt.title.is_some() {
        changes.push("its title is dropped".to_owned());
    }
    let (description, summary) = (text::description(prompt), text::summary(prompt));
    if description.is_some() && summary.is_some() && description != summary {
        changes.push("its description is dropped".to_owned());
    }
    if !prompt.rendering.arguments.is_empty() {
        changes.push("`$ARGUMENTS` stays as it is written: rules take no arguments".to_owned());
    }
    let key = |name: &str, value| Key { name: name.to_owned(), value };
    let description = summary.or(description).map(|text| key("description", text.into()));
    let always = key("alwaysApply", (prompt.priority.value == 10).into());
    let keys: Vec<_> = description.into_iter().chain([always]).collect();
    let files = text::of(prompt).map(|text| {
        let path = format!("{}.mdc", prompt.name);
        vec![MadeFile::of_text(path, markdown::file(&keys, &text))]
    });
    Made { of: format!("prompt {}", prompt.name), files, changes }
}
