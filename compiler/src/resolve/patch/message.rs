//! Comparison of the messages of two prompts; places are left out.

use crate::ast::{Body, Message, Part, TurnSettings};
use crate::source::Spanned;

pub(super) fn same(one: &[Message], other: &[Message]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_message(one, other))
}

fn same_message(one: &Message, other: &Message) -> bool {
    let Message { at: _, settings: TurnSettings { role }, parts, broken: _ } = one;
    role.value == other.settings.role.value
        && parts.len() == other.parts.len()
        && parts.iter().zip(&other.parts).all(|(one, other)| same_part(one, other))
}

fn same_part(one: &Part, other: &Part) -> bool {
    match (one, other) {
        (Part::Text(one), Part::Text(other)) => one.value == other.value,
        (
            Part::File { path, template },
            Part::File { path: other_path, template: other_template },
        ) => same_path(path, other_path) && value(template) == value(other_template),
        (Part::Image { file, mime }, Part::Image { file: other_file, mime: other_mime })
        | (Part::Audio { file, mime }, Part::Audio { file: other_file, mime: other_mime }) => {
            same_path(file, other_file) && value(mime) == value(other_mime)
        }
        (
            Part::Resource { uri, mime, body },
            Part::Resource { uri: other_uri, mime: other_mime, body: other_body },
        ) => {
            uri.value == other_uri.value
                && value(mime) == value(other_mime)
                && same_body(body, other_body)
        }
        _ => false,
    }
}

fn same_body(one: &Body, other: &Body) -> bool {
    let Body { text, file, template, broken: _ } = one;
    let files = match (file, &other.file) {
        (Some(one), Some(other)) => same_path(one, other),
        (None, None) => true,
        _ => false,
    };
    files && value(text) == value(&other.text) && value(template) == value(&other.template)
}

/// Paths are relative to their document.
fn same_path(one: &Spanned<String>, other: &Spanned<String>) -> bool {
    one.value == other.value && one.at.file == other.at.file
}

fn value<T>(setting: &Option<Spanned<T>>) -> Option<&T> {
    setting.as_ref().map(|setting| &setting.value)
}
