//! The file of accepted findings, each with its reason.
//!
//! A change cannot accept its own findings: if A is a commit and the file is in its repository,
//! only entries in that commit's file count, and findings of other entries are shown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use relay_compiler::nearest;
use serde::Deserialize;
use toml::Spanned;

use crate::answer::size::{counted, grouped};
use crate::command::diff::comparison::{Accepted, Comparison};
use crate::disk;
use crate::failure::Failure;
use crate::process::Repository;
use crate::revision::{Found, Revision};
use crate::text::shown_path;
use crate::toml_text;

const FILE_BYTES_MAX: u64 = 1024 * 1024;
const REASON_CHARS_MAX: usize = 1_000;
const FINGERPRINT_CHARS: usize = 16;
/// Characters of a commit's hash in messages.
const COMMIT_CHARS: usize = 12;
/// The most named entries that match none of the findings.
const UNFIT_MAX: usize = 10;

/// An example of an accepted finding, for helps.
const EXAMPLE: &str = "write `[[accepted]]`, `fingerprint = \"…\"` and `reason = \"…\"`";

/// The entries of a file, by fingerprint.
pub(crate) struct AcceptedFile {
    path: String,
    entries: BTreeMap<String, Entry>,
    /// The file in the commit of A, if A is a commit of its repository.
    base: Option<Base>,
}

/// The file of accepted findings in a commit.
struct Base {
    /// Its name: the commit and the path.
    label: String,
    fingerprints: BTreeSet<String>,
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
    /// Reads a file, and its version in the commit of A.
    pub(crate) fn read(path: &Path, commit: Option<&str>) -> Result<Self, Failure> {
        let text = disk::read_text(path, FILE_BYTES_MAX)?;
        let entries = entries(&text, &shown_path(path))?;
        let base = commit.map(|commit| Base::of(path, commit)).transpose()?.flatten();
        Ok(Self { path: shown_path(path), entries, base })
    }

    /// Marks the accepted findings, and sorts them after the others of their area. An idle entry is
    /// noted.
    pub(crate) fn apply(&self, comparison: &mut Comparison) {
        let mut known: BTreeSet<String> = BTreeSet::new();
        for project in &mut comparison.projects {
            for found in &mut project.findings {
                let entry = self.entries.get(&found.fingerprint);
                let accepted = entry.map(|entry| Accepted { reason: entry.reason.clone() });
                match self.counts(&found.fingerprint) {
                    true => found.accepted = accepted,
                    false => found.accepted_here = accepted,
                }
                known.insert(found.fingerprint.clone());
            }
            let here = project.findings.iter().filter(|found| found.accepted_here.is_some());
            if let (count @ 1.., Some(Base { label, .. })) = (here.count(), &self.base) {
                let (verb, they) =
                    if count == 1 { ("is", "it counts") } else { ("are", "they count") };
                project.notes.push(format!(
                    "{} {verb} accepted by this change itself: {they} as accepted once `{label}` says so",
                    counted(count, "finding")
                ));
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

    /// Returns whether an entry counts: whether the commit of A has it, if it can have the file.
    fn counts(&self, fingerprint: &str) -> bool {
        self.base.as_ref().is_none_or(|base| base.fingerprints.contains(fingerprint))
    }
}

impl Base {
    /// Returns the file in a commit; `None` if the file is in another repository or outside of any.
    fn of(path: &Path, commit: &str) -> Result<Option<Self>, Failure> {
        let Some(name) = path.file_name() else { return Ok(None) };
        let repository = Repository::of(disk::folder_of(path));
        if repository.inside()?.is_err() || repository.commit(commit.as_ref())?.is_none() {
            return Ok(None);
        }
        let subject = shown_path(path);
        let revision = Revision::open(&repository, commit.as_ref(), &subject)?;
        let path = revision.path(&Path::new(".").join(name), &subject)?;
        let short = commit.get(..COMMIT_CHARS).unwrap_or(commit);
        let label = format!("{short}:{}", path.to_string_lossy().trim_start_matches('/'));
        let mut fingerprints = BTreeSet::new();
        if matches!(revision.find(&path, &label)?, Found::File) {
            let bytes = revision.read(&path, FILE_BYTES_MAX, &label)?;
            let text = String::from_utf8_lossy(&bytes);
            fingerprints.extend(entries(&text, &label)?.into_keys());
        }
        Ok(Some(Self { label, fingerprints }))
    }
}

/// Returns the entries of a file.
fn entries(text: &str, path: &str) -> Result<BTreeMap<String, Entry>, Failure> {
    let written: Written = toml_text::parse(text).map_err(|fault| {
        let message = format!("`{path}` is not a file of accepted findings: {path}:{fault}");
        Failure::error(message).help(EXAMPLE)
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
            let message =
                format!("`{path}`, line {at}: `{fingerprint}` is accepted already in line {first}");
            return Err(Failure::error(message).help("remove one of them"));
        }
        entries.insert(fingerprint, Entry { reason, line: at });
    }
    Ok(entries)
}
