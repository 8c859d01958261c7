//! The file of findings that are accepted, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use relay_compiler::nearest;
use serde::Deserialize;
use toml::Spanned;

use crate::answer::size::grouped;
use crate::command::diff::comparison::{Accepted, Comparison};
use crate::disk;
use crate::failure::Failure;

const FILE_BYTES_MAX: u64 = 1024 * 1024;
const REASON_CHARS_MAX: usize = 1_000;
const FINGERPRINT_CHARS: usize = 16;
/// Entries that fit nothing and are named.
const UNFIT_MAX: usize = 10;

/// An example of an accepted finding, for helps.
const EXAMPLE: &str = "write `[[accepted]]`, `fingerprint = \"…\"` and `reason = \"…\"`";

/// The entries of a file, by fingerprint.
pub(crate) struct AcceptedFile {
    path: String,
    entries: BTreeMap<String, Entry>,
}

struct Entry {
    reason: String,
    line: usize,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    accepted: Vec<WrittenEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEntry {
    fingerprint: Spanned<String>,
    reason: Spanned<String>,
}

impl AcceptedFile {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = disk::read_text(path, FILE_BYTES_MAX)?;
        let path = path.display().to_string();
        let written: Written = toml::from_str(&text).map_err(|error| {
            let error = error.to_string();
            let message = format!("`{path}` is not a file of accepted findings:\n{error}");
            Failure::error(message.trim_end()).help(EXAMPLE)
        })?;
        let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
        for WrittenEntry { fingerprint, reason } in written.accepted {
            let at = line(fingerprint.span().start);
            let fingerprint = fingerprint.into_inner();
            let is_digit = |digit: char| matches!(digit, '0'..='9' | 'a'..='f');
            if fingerprint.len() != FINGERPRINT_CHARS || !fingerprint.chars().all(is_digit) {
                let message = format!("`{path}`, line {at}: `{fingerprint}` is no fingerprint");
                let lower = fingerprint.trim().to_lowercase();
                let is_meant = lower.len() == FINGERPRINT_CHARS && lower.chars().all(is_digit);
                return Err(Failure::error(message).help(if is_meant {
                    format!("did you mean `{lower}`?")
                } else {
                    "it has 16 hexadecimal digits in lower case, as `relay diff --json` prints it"
                        .into()
                }));
            }
            let reason_at = line(reason.span().start);
            let reason = reason.into_inner().trim().to_owned();
            if reason.is_empty() || reason.chars().count() > REASON_CHARS_MAX {
                let what = if reason.is_empty() { "is empty" } else { "is too long" };
                return Err(Failure::error(format!("`{path}`, line {reason_at}: `reason` {what}"))
                    .help(format!(
                        "say in 1 to {REASON_CHARS_MAX} characters why the difference is wanted"
                    )));
            }
            if let Some(first) = entries.get(&fingerprint) {
                let first = first.line;
                let message = format!(
                    "`{path}`, line {at}: `{fingerprint}` is accepted already in line {first}"
                );
                return Err(Failure::error(message).help("remove one of them"));
            }
            entries.insert(fingerprint, Entry { reason, line: at });
        }
        Ok(Self { path, entries })
    }

    /// Marks the findings that are accepted, and sorts them after the others of their area. An
    /// entry that fits none is noted.
    pub(crate) fn apply(&self, comparison: &mut Comparison) {
        let mut known: BTreeSet<String> = BTreeSet::new();
        for project in &mut comparison.projects {
            for found in &mut project.findings {
                let entry = self.entries.get(&found.fingerprint);
                found.accepted = entry.map(|entry| Accepted { reason: entry.reason.clone() });
                known.insert(found.fingerprint.clone());
            }
            project.findings.sort_by_key(|found| (found.finding.area, found.accepted.is_some()));
        }
        let mut unfit: Vec<(&String, &Entry)> =
            self.entries.iter().filter(|(fingerprint, _)| !known.contains(*fingerprint)).collect();
        unfit.sort_by_key(|(_, entry)| entry.line);
        let path = &self.path;
        for (fingerprint, Entry { reason: _, line }) in unfit.iter().take(UNFIT_MAX) {
            let near = nearest(fingerprint, known.iter().map(String::as_str));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            comparison.notes.push(format!(
                "`{path}`, line {line}: no finding has the fingerprint `{fingerprint}`{near}"
            ));
        }
        if unfit.len() > UNFIT_MAX {
            let more = grouped(unfit.len() - UNFIT_MAX);
            comparison.notes.push(format!("`{path}`: {more} more entries fit no finding"));
        }
    }
}
