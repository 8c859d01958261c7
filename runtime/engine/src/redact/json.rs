//! JSON: the values of keys that name secrets, and the texts of all others.

use serde_json::{Map, Value as Json};

use super::mark::{JSON_DEPTH_MAX, JSON_TEXTS_MAX, MARKER};
use super::name::{self, Secret};
use super::named;
use super::plain::{Quoting, is_plain};
use super::scans::scanned;
use super::text::Text;
use super::value::HeaderKind;

/// A text, read as a JSON object.
pub(super) enum ObjectText {
    /// An object, with its secrets replaced.
    Changed(String),
    /// An object that stays as it is.
    Same,
    /// Any other text.
    Other,
}

/// Returns a text with its secrets replaced, if it is a JSON object. `texts` counts the JSON texts
/// around it.
pub(super) fn object_text(text: &str, texts: usize) -> ObjectText {
    let is_object =
        text.trim_ascii_start().starts_with('{') && text.trim_ascii_end().ends_with('}');
    if !is_object || texts >= JSON_TEXTS_MAX {
        return ObjectText::Other;
    }
    let Ok(before) = serde_json::from_str::<Json>(text) else { return ObjectText::Other };
    let after = value(&before, texts + 1, 0);
    // The spaces of the text stay where nothing was found.
    if before == after { ObjectText::Same } else { ObjectText::Changed(after.to_string()) }
}

/// Returns a value with its secrets replaced.
pub(super) fn value(json: &Json, texts: usize, depth: usize) -> Json {
    match json {
        Json::String(text) => Json::String(string(text, texts)),
        Json::Array(_) | Json::Object(_) if depth >= JSON_DEPTH_MAX => Json::String(MARKER.into()),
        Json::Array(items) => items.iter().map(|item| value(item, texts, depth + 1)).collect(),
        Json::Object(entries) => Json::Object(object(entries, texts, depth + 1)),
        Json::Null | Json::Bool(_) | Json::Number(_) => json.clone(),
    }
}

fn string(text: &str, texts: usize) -> String {
    match object_text(text, texts) {
        ObjectText::Changed(object) => object,
        ObjectText::Same | ObjectText::Other => scanned(text).into_owned(),
    }
}

fn object(entries: &Map<String, Json>, texts: usize, depth: usize) -> Map<String, Json> {
    let is_pair = entries.iter().any(|(key, json)| {
        named::is_key(key.as_bytes())
            && json.as_str().is_some_and(|name| name::secret(name.as_bytes()).is_some())
    });
    let mut redacted = Map::new();
    for (key, json) in entries {
        let is_secret = is_secret(key, json) || (is_pair && named::is_value(key.as_bytes()));
        let json = match json {
            Json::Null => Json::Null,
            Json::String(text) if text.is_empty() => json.clone(),
            Json::String(text) if is_credentials(key) => Json::String(credentials(text)),
            _ if is_secret => Json::String(MARKER.into()),
            _ => value(json, texts, depth),
        };
        // Two keys may become one: each entry stays.
        let key = scanned(key);
        let mut free = key.clone().into_owned();
        let mut count = redacted.len();
        while redacted.contains_key(&free) {
            free = format!("{key} {count}");
            count += 1;
        }
        redacted.insert(free, json);
    }
    redacted
}

fn is_credentials(key: &str) -> bool {
    named::header(key.as_bytes()) == Some(HeaderKind::Credentials)
}

/// Returns the value of a header with its scheme, and a mark for its credentials.
fn credentials(text: &str) -> String {
    let start = named::after_scheme(&Text::new(text), 0..text.len());
    match text.split_at_checked(start) {
        Some((_, rest)) if is_plain(rest.as_bytes(), Quoting::Double) => text.to_owned(),
        Some((scheme, _)) => format!("{scheme}{MARKER}"),
        None => MARKER.to_owned(),
    }
}

fn is_secret(key: &str, json: &Json) -> bool {
    let is_directory = |text: &str| text.starts_with(['/', '~', '.', '$']);
    let is_list = matches!(json, Json::Array(_) | Json::Object(_));
    let plural = key.strip_suffix(['s', 'S']).filter(|_| is_list).unwrap_or(key);
    match name::secret(key.as_bytes()).or_else(|| name::secret(plural.as_bytes())) {
        Some(Secret::Directory) => !json.as_str().is_some_and(is_directory),
        Some(_) => true,
        None => named::header(key.as_bytes()).is_some(),
    }
}
