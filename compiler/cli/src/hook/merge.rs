//! Hooks in a client's JSON file: put there beside those of others, found, and taken out again.

use serde_json::{Value, json};

use super::command_line::Found;
use super::json_text::{
    JsonError, Kind, NewPart, Node, parse, with_part, with_value, without_part,
};

/// The member that holds the hooks of every client.
const HOOKS: &str = "hooks";

/// The part of a client's file that relay writes.
#[derive(Debug, Clone)]
pub(crate) struct JsonPart {
    /// The clients whose entries in the file are relay's own.
    pub(crate) clients: &'static [&'static str],
    /// Whether the client reads comments.
    pub(crate) comments: bool,
    /// Members that a file of this kind needs.
    pub(crate) settings: Vec<Setting>,
    /// The entries, each in the list of an event.
    pub(crate) entries: Vec<(&'static str, Value)>,
}

/// A member that a file needs beside the hooks.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// Its path.
    pub(crate) path: &'static [&'static str],
    /// Its value.
    pub(crate) value: Value,
    /// Whether another value is replaced.
    pub(crate) is_forced: bool,
}

/// A hook of the file that belongs to relay: a place below `hooks`.
struct OwnHook {
    event: String,
    /// The number of the entry in the list of the event.
    entry: usize,
    /// The number of the hook in the entry, if others share the entry.
    shared: Option<usize>,
}

impl JsonPart {
    /// Returns the text of the file with this part; `old` is `None` if the file is missing.
    ///
    /// # Errors
    ///
    /// The client would fail to read the text.
    pub(crate) fn installed(&self, old: Option<&str>) -> Result<String, JsonError> {
        let mut text = match old.map(str::trim) {
            None | Some("") => "{}\n".to_owned(),
            Some(_) => old.unwrap_or_default().to_owned(),
        };
        for setting in &self.settings {
            text = self.with_setting(text, setting)?;
        }
        // Entries that stay as they are keep their place, so that clients that trust by place or by
        // contents need not be asked again.
        let mut kept: Vec<&'static str> = Vec::new();
        while let Some((own, node)) = self.next_own(&text, &kept)? {
            let wanted = self.entries.iter().find(|(event, _)| *event == own.event);
            let list = list_of(&node, &own.event);
            let entry = list.and_then(|list| list.items().get(own.entry));
            match (wanted, entry, own.shared) {
                (Some((event, value)), Some(entry), None) if !kept.contains(event) => {
                    if entry.value() != *value {
                        text = with_value(&text, &entry.place, value);
                    }
                    kept.push(event);
                }
                _ => text = without(&text, &node, &own),
            }
        }
        for (event, value) in &self.entries {
            if !kept.contains(event) {
                text = self.with_entry(text, event, value)?;
            }
        }
        Ok(text)
    }

    /// Returns the text of the file with relay's entries taken out; `None` if the rest is empty.
    ///
    /// # Errors
    ///
    /// The client would fail to read the text.
    pub(crate) fn removed(&self, old: &str) -> Result<Option<String>, JsonError> {
        let mut text = old.to_owned();
        let mut events = Vec::new();
        while let Some((own, node)) = self.next_own(&text, &[])? {
            text = without(&text, &node, &own);
            events.push(own.event);
        }
        for event in events {
            text = self.without_empty(text, &[HOOKS, &event])?;
        }
        text = self.without_empty(text, &[HOOKS])?;
        let root = parse(&text, self.comments)?;
        let is_setting =
            |key: &str| self.settings.iter().any(|setting| setting.path.first() == Some(&key));
        let is_bare = root.members().iter().all(|member| is_setting(&member.key));
        Ok((!is_bare).then_some(text))
    }

    /// Returns the hooks of relay in a text, by the names of their events.
    ///
    /// # Errors
    ///
    /// The client would fail to read the text.
    pub(crate) fn own(&self, text: &str) -> Result<Vec<(String, Found)>, JsonError> {
        self.hooks(text, |found| found.is_own(self.clients))
    }

    /// Returns the hooks of others for an event that relay's entries are for.
    ///
    /// # Errors
    ///
    /// The client would fail to read the text.
    pub(crate) fn others(&self, text: &str, event: &str) -> Result<usize, JsonError> {
        let others = self.hooks(text, |found| !found.is_own(self.clients))?;
        Ok(others.iter().filter(|(name, _)| name == event).count())
    }

    fn hooks(
        &self,
        text: &str,
        is_wanted: impl Fn(&Found) -> bool,
    ) -> Result<Vec<(String, Found)>, JsonError> {
        let mut hooks = Vec::new();
        // Clients take an empty file for one without settings.
        if text.trim().is_empty() {
            return Ok(hooks);
        }
        let root = parse(text, self.comments)?;
        for list in root.at(&[HOOKS]).map(Node::members).unwrap_or_default() {
            for entry in list.value.items() {
                let inner = entry.member(HOOKS).map(|member| member.value.items());
                let all = inner.unwrap_or(std::slice::from_ref(entry));
                let found = all.iter().filter_map(|hook| Found::of(&hook.value()));
                hooks.extend(found.filter(&is_wanted).map(|found| (list.key.clone(), found)));
            }
        }
        Ok(hooks)
    }

    /// Returns the first hook of relay outside of the events that are done, with the text's tree.
    fn next_own(&self, text: &str, done: &[&str]) -> Result<Option<(OwnHook, Node)>, JsonError> {
        let root = parse(text, self.comments)?;
        let is_own =
            |hook: &Node| Found::of(&hook.value()).is_some_and(|it| it.is_own(self.clients));
        let mut found = None;
        for list in root.at(&[HOOKS]).map(Node::members).unwrap_or_default() {
            let mut is_first = true;
            for (entry, node) in list.value.items().iter().enumerate() {
                let shared = match node.member(HOOKS).map(|member| member.value.items()) {
                    None if is_own(node) => None,
                    Some(inner) if !inner.is_empty() && inner.iter().all(is_own) => None,
                    Some(inner) => match inner.iter().position(is_own) {
                        Some(number) => Some(number),
                        None => continue,
                    },
                    None => continue,
                };
                // The first entry of an event that is done is the one that stays.
                if std::mem::take(&mut is_first)
                    && shared.is_none()
                    && done.contains(&list.key.as_str())
                {
                    continue;
                }
                found = Some(OwnHook { event: list.key.clone(), entry, shared });
                break;
            }
            if found.is_some() {
                break;
            }
        }
        Ok(found.map(|own| (own, root)))
    }

    fn with_setting(&self, text: String, setting: &Setting) -> Result<String, JsonError> {
        let Setting { path, value, is_forced } = setting;
        match parse(&text, self.comments)?.at(path) {
            Some(node) if *is_forced && node.value() != *value => {
                Ok(with_value(&text, &node.place, value))
            }
            Some(_) => Ok(text),
            None => self.with_member(text, path, value),
        }
    }

    /// Returns the text with a member, and with the objects that lead to it.
    fn with_member(&self, text: String, path: &[&str], value: &Value) -> Result<String, JsonError> {
        let root = parse(&text, self.comments)?;
        let Some((key, above)) = path.split_last() else { return Ok(text) };
        match root.at(above) {
            Some(node) if matches!(node.kind, Kind::Object(_)) => {
                Ok(with_part(&text, node, &NewPart::Member(key, value)))
            }
            Some(node) => {
                let name = above.last().map_or("the file".to_owned(), |name| format!("`{name}`"));
                Err(JsonError::at(&text, node.place.start, &format!("{name} is no object")))
            }
            None => self.with_member(text, above, &json!({ *key: value })),
        }
    }

    fn with_entry(&self, text: String, event: &str, value: &Value) -> Result<String, JsonError> {
        let root = parse(&text, self.comments)?;
        match root.at(&[HOOKS, event]) {
            Some(list) if matches!(list.kind, Kind::Array(_)) => {
                Ok(with_part(&text, list, &NewPart::Item(value)))
            }
            Some(other) => {
                let reason = format!("`{event}` is no list of hooks");
                Err(JsonError::at(&text, other.place.start, &reason))
            }
            None => self.with_member(text, &[HOOKS, event], &json!([value])),
        }
    }

    fn without_empty(&self, text: String, path: &[&str]) -> Result<String, JsonError> {
        let root = parse(&text, self.comments)?;
        let Some((key, above)) = path.split_last() else { return Ok(text) };
        let Some(parent) = root.at(above) else { return Ok(text) };
        let number = parent.members().iter().position(|member| {
            let Node { kind, .. } = &member.value;
            let is_empty = match kind {
                Kind::Object(members) => members.is_empty(),
                Kind::Array(items) => items.is_empty(),
                Kind::Other(_) => false,
            };
            member.key == *key && is_empty
        });
        Ok(number.map_or_else(|| text.clone(), |number| without_part(&text, parent, number)))
    }
}

fn list_of<'n>(root: &'n Node, event: &str) -> Option<&'n Node> {
    root.at(&[HOOKS, event]).filter(|list| matches!(list.kind, Kind::Array(_)))
}

fn without(text: &str, root: &Node, own: &OwnHook) -> String {
    let Some(list) = list_of(root, &own.event) else { return text.to_owned() };
    match (list.items().get(own.entry), own.shared) {
        (Some(entry), Some(number)) => match entry.member(HOOKS) {
            Some(inner) => without_part(text, &inner.value, number),
            None => text.to_owned(),
        },
        _ => without_part(text, list, own.entry),
    }
}
