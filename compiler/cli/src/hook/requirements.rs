//! Codex's requirements of the system: TOML, whose comments and order stay.

use std::path::PathBuf;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::command_line::Found;

const HOOKS: &str = "hooks";

/// Relay's part of the requirements.
#[derive(Debug, Clone)]
pub(crate) struct Requirements {
    /// The clients whose entries are relay's own.
    pub(crate) clients: &'static [&'static str],
    /// The folder of the program.
    pub(crate) managed_dir: PathBuf,
    /// The command line.
    pub(crate) command: String,
    /// The events, with their matchers.
    pub(crate) events: Vec<(&'static str, Option<&'static str>)>,
    /// The seconds that Codex waits.
    pub(crate) timeout_s: u64,
}

impl Requirements {
    /// Returns the text with relay's entries.
    pub(super) fn installed(&self, old: Option<&str>) -> Result<String, String> {
        let old = old.unwrap_or_default();
        let mut document = read(old)?;
        self.take_out(&mut document)?;
        set(&mut document, &["allow_managed_hooks_only"], value(true))?;
        // Without it, an option of the command line switches managed hooks off.
        set(&mut document, &["features", "hooks"], value(true))?;
        let dir = self.managed_dir.to_string_lossy().into_owned();
        if table(&mut document, HOOKS)?.get("managed_dir").is_none() {
            set(&mut document, &[HOOKS, "managed_dir"], value(dir))?;
        }
        for &(event, matcher) in &self.events {
            let list = table(&mut document, HOOKS)?
                .entry(event)
                .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
            let list = list
                .as_array_of_tables_mut()
                .ok_or_else(|| format!("`hooks.{event}` is no list of tables"))?;
            list.push(self.entry(matcher));
        }
        let new = document.to_string();
        // The same entries in another layout are no change.
        let is_same = |one: &str, other: &str| {
            let value = |text: &str| toml::from_str::<toml::Table>(text).ok();
            value(one).is_some() && value(one) == value(other)
        };
        Ok(if is_same(&new, old) { old.to_owned() } else { new })
    }

    /// Returns the text with relay's entries taken out; `None` if the rest is empty.
    pub(super) fn removed(&self, old: &str) -> Result<Option<String>, String> {
        let mut document = read(old)?;
        self.take_out(&mut document)?;
        let mut rest = document.clone();
        _ = rest.remove("allow_managed_hooks_only");
        for (name, key) in [("features", "hooks"), (HOOKS, "managed_dir")] {
            if let Some(table) = rest.get_mut(name).and_then(Item::as_table_mut) {
                _ = table.remove(key);
                if table.is_empty() {
                    _ = rest.remove(name);
                }
            }
        }
        Ok((!rest.is_empty()).then(|| document.to_string()))
    }

    /// Returns relay's command lines, by the names of their events.
    pub(super) fn own(&self, text: &str) -> Result<Vec<(String, Found)>, String> {
        let document = read(text)?;
        let mut found = Vec::new();
        let Some(hooks) = document.get(HOOKS).and_then(Item::as_table) else { return Ok(found) };
        for (event, list) in hooks {
            for entry in list.as_array_of_tables().into_iter().flatten() {
                let own = commands(entry).into_iter().filter(|it| it.is_own(self.clients));
                found.extend(own.map(|it| (event.to_owned(), it)));
            }
        }
        Ok(found)
    }

    fn entry(&self, matcher: Option<&str>) -> Table {
        let mut hook = Table::new();
        hook.insert("type", value("command"));
        hook.insert("command", value(&self.command));
        hook.insert("timeout", value(i64::try_from(self.timeout_s).unwrap_or(i64::MAX)));
        let mut hooks = ArrayOfTables::new();
        hooks.push(hook);
        let mut entry = Table::new();
        if let Some(matcher) = matcher {
            entry.insert("matcher", value(matcher));
        }
        entry.insert(HOOKS, Item::ArrayOfTables(hooks));
        entry
    }

    /// Takes relay's entries out.
    fn take_out(&self, document: &mut DocumentMut) -> Result<(), String> {
        if document.get(HOOKS).is_none() {
            return Ok(());
        }
        let hooks = table(document, HOOKS)?;
        let events: Vec<String> = hooks.iter().map(|(event, _)| event.to_owned()).collect();
        for event in events {
            let Some(list) = hooks.get_mut(&event).and_then(Item::as_array_of_tables_mut) else {
                continue;
            };
            list.retain(|entry| {
                let all = commands(entry);
                all.is_empty() || !all.iter().all(|found| found.is_own(self.clients))
            });
            for entry in list.iter_mut() {
                let inner = entry.get_mut(HOOKS).and_then(Item::as_array_of_tables_mut);
                if let Some(inner) = inner {
                    inner.retain(|hook| !command(hook).is_some_and(|it| it.is_own(self.clients)));
                }
            }
            if list.is_empty() {
                _ = hooks.remove(&event);
            }
        }
        Ok(())
    }
}

fn read(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error| crate::toml_text::fault_of_edit(text, &error).to_string())
}

fn table<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut Table, String> {
    document
        .entry(name)
        .or_insert(Item::Table(Table::new()))
        .as_table_mut()
        .ok_or_else(|| format!("`{name}` is no table of its own"))
}

fn set(document: &mut DocumentMut, path: &[&str], new: Item) -> Result<(), String> {
    let place = match path {
        [name] => document.as_table_mut().entry(name),
        [outer, name] => table(document, outer)?.entry(name),
        _ => return Ok(()),
    };
    let item = place.or_insert(Item::None);
    // A value that is right keeps its comment.
    if item.as_bool() != new.as_bool() || item.is_none() {
        *item = new;
    }
    Ok(())
}

fn commands(entry: &Table) -> Vec<Found> {
    let hooks = entry.get(HOOKS).and_then(Item::as_array_of_tables);
    hooks.into_iter().flatten().filter_map(command).collect()
}

fn command(hook: &Table) -> Option<Found> {
    hook.get("command").and_then(Item::as_str).map(|text| Found::Shell(text.to_owned()))
}
