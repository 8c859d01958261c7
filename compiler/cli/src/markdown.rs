//! Markdown files with front matter, as an import and an export write them.

use serde_json::Value;

/// A key of front matter.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: Value,
}

/// Returns a file with this front matter, if there are keys, and this text.
pub(crate) fn file(keys: &[Key], text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    if keys.is_empty() {
        return format!("{text}{end}");
    }
    let lines: String = keys
        .iter()
        .map(|Key { name, value }| format!("{}: {}\n", flow(&name.as_str().into()), flow(value)))
        .collect();
    format!("---\n{lines}---\n{text}{end}")
}

/// Returns a value in one line of YAML: a text is unquoted if that means the same everywhere, else
/// as in JSON.
pub(crate) fn flow(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(ToString::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.to_string(),
    }
}

/// Returns whether YAML readers, those of single lines too, take a text as it is.
fn is_plain(text: &str) -> bool {
    let inner = |letter: char| {
        letter.is_alphanumeric()
            || matches!(letter, ' ' | '_' | '-' | '.' | '/' | '(' | ')' | ',' | ';')
    };
    let is_word = |word: &str| {
        ["true", "false", "null", "yes", "no", "on", "off", "nan", "inf"]
            .contains(&word.to_lowercase().as_str())
    };
    text.starts_with(char::is_alphabetic)
        && text.chars().all(inner)
        && !text.ends_with(' ')
        && !is_word(text)
}
