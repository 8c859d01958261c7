//! Two files of a server, compared by their meaning: trust files, or `server.toml`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use relay_bundle::Digest;
use relay_diff::{Finding, ServerSettings, compare_server, compare_trust};
use toml::{Table, Value};

use crate::args::DiffArgs;
use crate::command::diff::comparison::{Compared, Described};
use crate::disk;
use crate::failure::Failure;
use crate::process::Repository;
use crate::revision::{Named, Revision};
use crate::text::shown_path;
use crate::toml_text;
use crate::trust_file;

/// The maximum size of a file in bytes.
const BYTES_MAX: u64 = 1024 * 1024;
/// The word for an empty side.
const NOTHING: &str = "/dev/null";
/// Words in the name of a setting whose value is kept out of reports.
const SECRET: [&str; 3] = ["secret", "password", "token"];

/// A side: the typed name, its commit, and the text of its file.
struct Side {
    label: String,
    commit: Option<String>,
    text: String,
}

/// Returns the two named files; `None` for other things. `--trust A B` names them too.
pub(crate) fn named(arguments: &DiffArgs) -> Option<[PathBuf; 2]> {
    let is_toml = |path: &Path| path.extension().is_some_and(|ending| ending == "toml");
    let is_side = |path: &Path| is_toml(path) || path == Path::new(NOTHING);
    match (arguments.sides.as_slice(), &arguments.trust) {
        ([b], Some(a)) if is_toml(a) && is_toml(b) => Some([a.clone(), b.clone()]),
        ([b], None) if is_toml(b) => Some([head_of(b), b.clone()]),
        ([a, b], None) if is_side(a) && is_side(b) && (is_toml(a) || is_toml(b)) => {
            Some([a.clone(), b.clone()])
        }
        _ => None,
    }
}

/// Returns the name of a file's version in the last commit.
fn head_of(path: &Path) -> PathBuf {
    let mut name = OsString::from("HEAD:./");
    name.push(path);
    name.into()
}

/// Compares two files.
pub(crate) fn compare([a, b]: &[PathBuf; 2]) -> Result<Compared, Failure> {
    let sides = [Side::open(a)?, Side::open(b)?];
    let tables = [sides[0].table()?, sides[1].table()?];
    let is_trust = |table: &Table| table.contains_key("version") || table.contains_key("keys");
    let is_nothing = |side: &Side| side.text.trim().is_empty();
    let kinds: Vec<bool> = sides
        .iter()
        .zip(&tables)
        .filter(|(side, _)| !is_nothing(side))
        .map(|(_, table)| is_trust(table))
        .collect();
    let findings = match kinds.as_slice() {
        [true, false] | [false, true] => {
            let message =
                format!("`{}` and `{}` are files of two kinds", shown_path(a), shown_path(b));
            return Err(
                Failure::error(message).help("compare two trust files, or two `server.toml`")
            );
        }
        [true, ..] if kinds.len() < sides.len() => {
            let message = "a trust file is compared with another one".to_owned();
            return Err(Failure::error(message).help("`relay trust list FILE` shows one alone"));
        }
        [true, ..] => sides[0].trust_changes(&sides[1])?,
        _ => compare_server(&settings(&tables[0]), &settings(&tables[1])),
    };
    let [a, b] = sides.map(|side| Described::of_file(side.label, side.commit));
    Ok(Compared::of_files(a, b, findings))
}

impl Side {
    fn open(typed: &Path) -> Result<Self, Failure> {
        let label = shown_path(typed);
        if typed == Path::new(NOTHING) {
            return Ok(Self { label, commit: None, text: String::new() });
        }
        let named = if typed.exists() { None } else { Named::of(typed)? };
        let Some(Named { revision, path }) = named else {
            return Ok(Self { label, commit: None, text: disk::read_text(typed, BYTES_MAX)? });
        };
        let revision = Revision::open(&Repository::default(), &revision, &label)?;
        let path = revision.path(&path, &label)?;
        let text = String::from_utf8(revision.read(&path, BYTES_MAX, &label)?)
            .map_err(|_| Failure::error(format!("`{label}` is not UTF-8")))?;
        Ok(Self { label, commit: revision.commit.clone(), text })
    }

    fn table(&self) -> Result<Table, Failure> {
        let label = &self.label;
        toml_text::parse(&self.text)
            .map_err(|fault| Failure::error(format!("`{label}` is not TOML: {label}:{fault}")))
    }

    fn trust_changes(&self, after: &Self) -> Result<Vec<Finding>, Failure> {
        let read = |side: &Self| trust_file::of_text(&side.text, &side.label);
        Ok(compare_trust(&read(self)?, &read(after)?))
    }
}

/// Returns the settings of a server by their paths.
fn settings(table: &Table) -> ServerSettings {
    let mut out = ServerSettings::new();
    for (name, value) in table {
        add(vec![name.clone()], value, &mut out);
    }
    out
}

fn add(path: Vec<String>, value: &Value, out: &mut ServerSettings) {
    let under = |name: &str| path.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(name, value)| add(under(name), value, out));
        }
        Value::Array(items) if items.iter().any(Value::is_table) => {
            // The first key of briefings seals, and the others only open.
            if path.last().is_some_and(|last| last == "keys")
                && let Some(first) = items.first().and_then(id)
            {
                out.insert(under("first"), first);
            }
            let mut seen = BTreeSet::new();
            for (number, item) in items.iter().enumerate() {
                let mut name = id(item).unwrap_or_else(|| number.to_string());
                // Two entries of one id are two entries.
                while !seen.insert(name.clone()) {
                    name.push_str(" (again)");
                }
                add(under(&name), item, out);
            }
        }
        value => {
            let last = path.last().map(String::as_str).unwrap_or_default();
            let is_secret = SECRET.iter().any(|word| last.contains(word));
            let words = shown(value);
            let digest = || Digest::of(words.as_bytes()).hex().chars().take(8).collect::<String>();
            let words = if is_secret { format!("a value, digest {}", digest()) } else { words };
            out.insert(path, words);
        }
    }
}

/// Returns the name of an entry of a list.
fn id(item: &Value) -> Option<String> {
    let named = ["id", "issuer", "name"].into_iter().find_map(|key| item.get(key))?;
    Some(named.as_str().map_or_else(|| shown(named), str::to_owned))
}

fn shown(value: &Value) -> String {
    match value {
        // In quotes, so that a text differs from a date and from a list.
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        Value::Table(table) => {
            let members = table.iter().map(|(name, value)| format!("{name}={}", shown(value)));
            members.collect::<Vec<_>>().join(", ")
        }
    }
}
