//! Settings that switch a client's hooks off.

use std::path::PathBuf;

use serde_json::Value;

use super::file;
use super::json_text;
use crate::text::shown_path;

/// A setting of a file that switches hooks off.
#[derive(Debug, Clone)]
pub(crate) struct Switch {
    /// The file, JSON or TOML.
    pub(crate) path: PathBuf,
    /// The path of the member.
    pub(crate) member: &'static [&'static str],
    /// The kind of value that switches hooks off.
    pub(crate) off: Off,
}

/// A value that switches hooks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Off {
    /// This value.
    Is(bool),
    /// A list with this text.
    Has(&'static str),
}

/// Returns words for each of the settings that switch hooks off now.
///
/// An unreadable file is one of them: it may hold anything.
pub(crate) fn switched_off(switches: &[Switch]) -> Vec<String> {
    switches.iter().filter_map(fault).collect()
}

fn fault(switch: &Switch) -> Option<String> {
    let path = shown_path(&switch.path);
    let text = match file::read(&switch.path) {
        Ok(text) => text?,
        Err(_) => return Some(format!("`{path}` cannot be read, and may switch hooks off")),
    };
    let value = match switch.path.extension().is_some_and(|kind| kind == "toml") {
        true => toml::from_str::<Value>(&text).ok(),
        false if text.trim().is_empty() => return None,
        false => json_text::parse(&text, true).ok().map(|node| node.value()),
    };
    let Some(value) = value else {
        return Some(format!("`{path}` is not valid, and may switch hooks off"));
    };
    let found = switch.member.iter().try_fold(&value, |value, key| value.get(key))?;
    let is_off = match switch.off {
        Off::Is(off) => *found == Value::Bool(off),
        Off::Has(name) => found.as_array().is_some_and(|list| list.iter().any(|it| it == name)),
    };
    is_off.then(|| format!("`{path}` switches hooks off: `{}` is {found}", switch.member.join(".")))
}
