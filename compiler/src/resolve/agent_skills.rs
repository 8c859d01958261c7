//! `agent-skills`: each folder with a `SKILL.md` is an agent skill: a prompt with its text, and a
//! resource for each of its files (SEP-2640).

use std::collections::{BTreeMap, BTreeSet};

use miette::Diagnostic;
use relay_bundle::Content;
use relay_engine::agent_skill::{SCHEME, SKILL_MD};
use relay_engine::derived::agent_skills::file_bytes;
use relay_engine::derived::briefing_text;
use relay_engine::equal_text;
use thiserror::Error;

use super::prompt::Markdown;
use super::resource;
use super::text;
use super::{file, markdown, media, pattern};
use crate::alike::Alike;
use crate::ast::{self, Folder, PromptSettings};
use crate::diagnostic::Diagnostics;
use crate::model::{About, AgentSkill, BodySource, Prompt, Resource, ResourceSettings, Setting};
use crate::parse::{Departure, MarkdownKind, has_slot, is_skill_name, skill_file};
use crate::source::{FileId, Listed, ReadError, Sources, Span, Spanned};

/// The key of a prompt's `_meta` with the URI of its agent skill.
const META_KEY: &str = "dev.relay/agent-skill";
/// The most files and bytes of an agent skill: those that every host supports (SEP-2640).
const FILES_MAX: usize = 512;
const BYTES_MAX: usize = 16 << 20;
/// Files that systems leave in folders. They are of no skill.
const OF_SYSTEMS: [&str; 3] = [".DS_Store", "Thumbs.db", "desktop.ini"];

/// An agent skill before an environment patches its prompt.
pub(super) struct SkillPrompt {
    pub(super) node: ast::Prompt,
    pub(super) markdown: Markdown,
    pub(super) skill: Draft,
}

/// The parts of an agent skill that its prompt lacks.
pub(super) struct Draft {
    /// The URI of its `SKILL.md`; `None` if hosts cannot list it.
    uri: Option<String>,
    frontmatter: serde_json::Map<String, serde_json::Value>,
    /// Its files; none if they are those of an agent skill around it.
    files: Vec<Resource>,
    /// The name of the prompt of the agent skill around it.
    pub(super) within: Option<String>,
    at: Span,
}

/// The agent skills below a folder.
#[derive(Default)]
pub(super) struct FolderSkills {
    pub(super) skills: Vec<SkillPrompt>,
    /// The names of the others, whose faults were reported.
    pub(super) faulty: Vec<String>,
}

/// Reads a folder of agent skills, or one that is an agent skill itself.
pub(super) fn folder(sources: &Sources<'_>, node: &Folder, out: &mut Diagnostics) -> FolderSkills {
    let mut found = FolderSkills::default();
    let Some(written) = &node.path else { return found };
    let Some(folder) = file::path(sources, written, out) else { return found };
    let listed = match sources.list(&folder) {
        Ok(listed) => listed,
        Err(reason) => {
            file::report_unreadable(sources, folder, reason, written.at, out);
            return found;
        }
    };
    let mut listed = listed;
    let exclude = pattern::valid(node.settings.exclude.clone().unwrap_or_default(), out);
    let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    markdown::leave_out(&exclude, &mut listed, &below, out);
    let roots = roots(&listed);
    if roots.is_empty() {
        let at = written.at;
        out.report(at, NoSkill { folder: folder.clone(), at });
    }
    let mut reader =
        Reader { sources, node, named_at: written.at, above: folder, faults: Alike::default() };
    for root in &roots {
        let around = roots.iter().find(|other| *other != root && is_below(root, other));
        match reader.skill(root, around.map(String::as_str), &listed, out) {
            Some(skill) => found.skills.push(skill),
            None => found.faulty.push(reader.name_of(root)),
        }
    }
    reader.faults.report(out);
    found
}

/// Returns the folders that have a `SKILL.md`, sorted: one comes after those around it.
fn roots(listed: &[Listed]) -> Vec<String> {
    let roots = listed.iter().filter_map(|file| match file.path.strip_suffix(SKILL_MD)? {
        "" => Some(String::new()),
        folder => folder.strip_suffix('/').map(str::to_owned),
    });
    roots.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns whether a path is below a folder.
fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The agent skills of a folder while they are read.
struct Reader<'r, 's> {
    sources: &'r Sources<'s>,
    node: &'r Folder,
    named_at: Span,
    /// The folder.
    above: String,
    /// Faults of one kind are one report.
    faults: Alike,
}

impl Reader<'_, '_> {
    /// Returns the name of the prompt of an agent skill: its path below the folder, or the name of that
    /// folder.
    fn name_of(&self, root: &str) -> String {
        let inside = match self.above.as_str() {
            "" => Some(root),
            above => root.strip_prefix(above).map(|rest| rest.trim_start_matches('/')),
        };
        let last = root.rsplit('/').next().unwrap_or(root);
        inside.filter(|inside| !inside.is_empty()).unwrap_or(last).to_owned()
    }

    fn skill(
        &mut self,
        root: &str,
        around: Option<&str>,
        listed: &[Listed],
        out: &mut Diagnostics,
    ) -> Option<SkillPrompt> {
        let path = if root.is_empty() { SKILL_MD.to_owned() } else { format!("{root}/{SKILL_MD}") };
        let id = self.load(&path, out)?;
        let bytes = &self.sources.file(id).bytes;
        let read = skill_file(id, bytes, self.node.settings.strict.value, &mut self.faults)?;
        let at = id.span(0, 0);
        let mut departures = read.departures;
        let folder = root.rsplit('/').next().unwrap_or(root);
        let own = read.name.as_ref().filter(|name| is_skill_name(&name.value));
        if let Some(name) = own.filter(|name| !folder.is_empty() && name.value != folder) {
            departures.push((Departure::OtherName, name.at));
        }
        // Files below another agent skill have its URIs, so their folder must have the name.
        let is_listed = !departures.iter().any(|(departure, _)| {
            departure.unlists() || (around.is_some() && *departure == Departure::OtherName)
        });
        departures.into_iter().for_each(|(departure, at)| self.depart(departure, at));
        let name = self.name_of(root);
        let base = self.base(&name, own.map(|name| name.value.as_str()));
        let files = match around {
            None => self.files(root, &base, &read.frontmatter, listed, out)?,
            Some(_) => Vec::new(),
        };
        let uri = format!("{base}{SKILL_MD}");
        let takes_arguments = has_slot(&read.body);
        let arguments = takes_arguments.then(|| markdown::arguments(at, None));
        let description = read.description;
        let prompt = ast::Prompt {
            name: Some(Spanned { value: name, at }),
            new: None,
            settings: PromptSettings { description, ..PromptSettings::default() },
            about: ast::PromptAbout { briefing: None, summary: None, chapters: None },
            arguments: arguments.into_iter().collect(),
            body: ast::Body::default(),
            messages: Vec::new(),
            readers: self.node.readers.clone(),
            allowed: self.node.allowed.clone(),
        };
        let mut meta = serde_json::Map::new();
        if is_listed {
            meta.insert(META_KEY.to_owned(), uri.clone().into());
        }
        let text = text::from_markdown(id, read.body, read.body_start, true);
        Some(SkillPrompt {
            node: prompt,
            markdown: Markdown { text, meta, kind: MarkdownKind::AgentSkill },
            skill: Draft {
                uri: is_listed.then_some(uri),
                frontmatter: read.frontmatter,
                files,
                within: around.map(|around| self.name_of(around)),
                at,
            },
        })
    }

    /// Returns the URI of the folder of an agent skill, whose last part is its name.
    fn base(&self, path: &str, name: Option<&str>) -> String {
        let (above, last) = path.rsplit_once('/').map_or(("", path), |(above, last)| (above, last));
        let parts = above.split('/').filter(|part| !part.is_empty());
        let parts = parts.chain([name.unwrap_or(last)]).map(segment);
        let base = format!("{SCHEME}{}/", parts.collect::<Vec<_>>().join("/"));
        // The first part is in the place of a host, which has no upper case (RFC 3986, section 3.2.2).
        equal_text::normal_uri(&base).unwrap_or(base)
    }

    /// Returns the files below an agent skill as resources.
    fn files(
        &self,
        root: &str,
        base: &str,
        frontmatter: &serde_json::Map<String, serde_json::Value>,
        listed: &[Listed],
        out: &mut Diagnostics,
    ) -> Option<Vec<Resource>> {
        let mut files = Vec::new();
        let mut bytes = 0;
        let mut whole = true;
        for listed in listed.iter().filter(|file| is_below(&file.path, root)) {
            let inside = listed.path.get(root.len()..).unwrap_or_default().trim_start_matches('/');
            let name = inside.rsplit('/').next().unwrap_or(inside);
            if OF_SYSTEMS.contains(&name) || name.starts_with("._") {
                continue;
            }
            if let Some(reason) = listed.fault.clone() {
                let (path, at) = (listed.path.clone(), self.named_at);
                out.report(at, Unreadable { path, reason, at });
                whole = false;
                continue;
            }
            let Some(id) = self.load(&listed.path, out) else {
                whole = false;
                continue;
            };
            let parts: Vec<String> = inside.split('/').map(segment).collect();
            let uri = format!("{base}{}", parts.join("/"));
            let facts = (inside == SKILL_MD).then_some(frontmatter);
            let file = self.file(id, uri, name, facts);
            bytes += file_bytes(as_view(&file.content)).len();
            files.push(file);
        }
        let at = self.named_at;
        if files.len() > FILES_MAX || bytes > BYTES_MAX {
            let (root, count) = (root.to_owned(), files.len());
            out.report(at, TooLarge { root, count, bytes, at });
            return None;
        }
        whole.then_some(files)
    }

    fn file(
        &self,
        id: FileId,
        uri: String,
        name: &str,
        frontmatter: Option<&serde_json::Map<String, serde_json::Value>>,
    ) -> Resource {
        let at = id.span(0, 0);
        let read = self.sources.file(id);
        let (text, content) = resource::content(&read.bytes, None);
        let fallback = match &content {
            Content::Text(_) => "text/plain",
            Content::Blob(_) => "application/octet-stream",
        };
        let word = |key| Some(frontmatter?.get(key)?.as_str()?.trim().to_owned());
        let written = |value| Setting { value, at: Some(at) };
        let settings = ResourceSettings {
            description: word("description").map(|value| Spanned { value, at }),
            ..ResourceSettings::default()
        };
        Resource {
            uri: Spanned { value: uri, at },
            about: About {
                name: written(word("name").unwrap_or_else(|| name.to_owned())),
                settings,
                mime: written(media::of_path(&read.path).unwrap_or(fallback).to_owned()),
                body: BodySource {
                    file: id,
                    inline_at: None,
                    named_at: text.is_none().then_some(self.named_at),
                    text,
                    start: 0,
                    template: false,
                    is_settled: true,
                },
                included: Vec::new(),
                readers: crate::model::Readers::default(),
                allowed: Vec::new(),
            },
            content,
        }
    }

    fn load(&self, path: &str, out: &mut Diagnostics) -> Option<FileId> {
        match self.sources.load(path) {
            Ok(id) => Some(id),
            Err(reason) => {
                let at = self.named_at;
                out.report(at, Unreadable { path: path.to_owned(), reason, at });
                None
            }
        }
    }

    fn depart(&mut self, departure: Departure, at: Span) {
        let (what, help) = departure.words();
        let message = match departure.unlists() {
            true => format!("{what}: {UNLISTED}"),
            false => what.to_owned(),
        };
        let help = help.to_owned();
        if self.node.settings.strict.value {
            self.faults.add_apart(at, Refused { message, help, at }, what);
        } else {
            self.faults.add_apart(at, Departs { message, help, at }, what);
        }
    }
}

/// Said of agent skills without a valid name or a description.
const UNLISTED: &str =
    "hosts cannot list it as an agent skill, so it is a prompt and its files alone";

/// Returns a part of a path as a part of a URI: characters with a meaning there are escaped (RFC 3986,
/// sections 3.2 and 3.3). Letters beyond ASCII stay, as in the normal form of URIs.
fn segment(part: &str) -> String {
    let mut escaped = String::new();
    for letter in part.chars() {
        let is_plain = !letter.is_ascii()
            || letter.is_ascii_alphanumeric()
            || "-._~!$&'()*+,;=".contains(letter);
        if is_plain {
            escaped.push(letter);
        } else {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                escaped.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    escaped
}

fn as_view(content: &Content) -> Content<&str, &[u8]> {
    match content {
        Content::Text(text) => Content::Text(text),
        Content::Blob(bytes) => Content::Blob(&bytes.0),
    }
}

/// Makes the agent skill of a prompt that was resolved: its files have the prompt's readers.
pub(super) fn finish(draft: Draft, prompt: &mut Prompt) {
    let Draft { uri, frontmatter, files, within: _, at } = draft;
    let with_readers = |mut file: Resource| {
        file.about.readers = prompt.readers.clone();
        file.about.allowed = prompt.allowed.clone();
        file
    };
    let files = files.into_iter().map(with_readers).collect();
    if let Some(uri) = &uri {
        // A briefing lists it; an agent reads its text when a task needs it.
        let description = prompt.settings.description.as_ref().map(|text| text.value.as_str());
        let summary = prompt.summary.as_ref().map(|summary| summary.value.as_str());
        let about = description.or(summary).unwrap_or_default();
        prompt.body.value = briefing_text::of_agent_skill(&prompt.name.value, about, uri);
    }
    prompt.agent_skill = Some(AgentSkill { uri, frontmatter, files, at });
}

/// Checks the agent skills inside others: readers of the outer one see its files.
pub(super) fn check_nested(
    within: &BTreeMap<String, String>,
    prompts: &[(Prompt, bool)],
    out: &mut Diagnostics,
) {
    let by_name: BTreeMap<&str, &(Prompt, bool)> =
        prompts.iter().map(|prompt| (prompt.0.name.value.as_str(), prompt)).collect();
    let readers = |prompt: &Prompt| -> BTreeSet<_> {
        prompt.readers.0.iter().map(|each| (each.tenant, each.role)).collect()
    };
    for (inner, outer) in within {
        let (Some((inner, on)), Some((outer, outer_on))) =
            (by_name.get(inner.as_str()), by_name.get(outer.as_str()))
        else {
            continue;
        };
        if *outer_on && (!on || readers(inner) != readers(outer)) {
            let at = inner.name.at;
            let (inner, outer) = (inner.name.value.clone(), outer.name.value.clone());
            out.report(at, Nested { inner, outer, at });
        }
    }
}

/// Moves the files of agent skills to the resources of the project, sorted.
pub(super) fn move_files(
    resources: &mut Vec<Resource>,
    prompts: &mut [Prompt],
    out: &mut Diagnostics,
) {
    let skills = prompts.iter_mut().filter_map(|prompt| prompt.agent_skill.as_mut());
    let files: Vec<Resource> = skills.flat_map(|skill| std::mem::take(&mut skill.files)).collect();
    if files.is_empty() {
        return;
    }
    resources.extend(files);
    resources.sort_by(|a, b| a.uri.value.cmp(&b.uri.value));
    let mut kept: Vec<Resource> = Vec::with_capacity(resources.len());
    for resource in std::mem::take(resources) {
        match kept.last().filter(|last| last.uri.value == resource.uri.value) {
            Some(last) => {
                let (uri, at) = (resource.uri.value, resource.uri.at);
                out.report(at, SameUri { uri, first_at: last.uri.at, at });
            }
            None => kept.push(resource),
        }
    }
    debug_assert!(kept.iter().all(|it| equal_text::normal_uri(&it.uri.value).is_none()));
    *resources = kept;
}

/// A node that gives no agent skills has a mistyped path, or is no longer needed.
#[derive(Debug, Error, Diagnostic)]
#[error("no `SKILL.md` below `{folder}`")]
#[diagnostic(
    code(agent_skills::nothing),
    help("name a folder with a `SKILL.md`, or one with such folders, or remove the node")
)]
struct NoSkill {
    folder: String,
    #[label(primary, "gives no agent skills")]
    at: Span,
}

/// The front matter departs from the specification of agent skills. The project that reads it
/// serves it all the same; other hosts may refuse it.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(code(agent_skills::departs), severity(Warning))]
struct Departs {
    message: String,
    #[help]
    help: String,
    #[label(primary, "here")]
    at: Span,
}

/// The front matter departs from the specification of agent skills. Other hosts refuse such a skill,
/// and `strict=#true` asks for skills that every host takes.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(code(agent_skills::refused))]
struct Refused {
    message: String,
    #[help]
    help: String,
    #[label(primary, "here")]
    at: Span,
}

/// A list of files that lacks one would pass for the whole skill.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot read `{path}`: {reason}")]
#[diagnostic(
    code(agent_skills::unreadable),
    help("see that it can be read, or take it out of the skill's folder")
)]
struct Unreadable {
    path: String,
    reason: ReadError,
    #[label(primary, "below this folder")]
    at: Span,
}

/// Hosts need not take an agent skill with more files or bytes (SEP-2640).
#[derive(Debug, Error, Diagnostic)]
#[error(
    "the agent skill `{root}` has {count} files with {bytes} bytes, over the limit of {FILES_MAX} files or {BYTES_MAX} bytes"
)]
#[diagnostic(code(agent_skills::too_large), help("split it, or take files out of its folder"))]
struct TooLarge {
    root: String,
    count: usize,
    bytes: usize,
    #[label(primary, "below this folder")]
    at: Span,
}

/// An agent skill has all files below its folder. A narrower `for` or `enabled=#false` for a skill
/// inside it would hide nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("the files of `{inner}` are also those of the agent skill `{outer}` around it")]
#[diagnostic(
    code(agent_skills::nested),
    help("give both the same readers, or move one out of the other's folder")
)]
struct Nested {
    inner: String,
    outer: String,
    #[label(primary, "this skill has other readers")]
    at: Span,
}

/// Two files would have one URI, and a client could read one of them alone.
#[derive(Debug, Error, Diagnostic)]
#[error("two files have the URI `{uri}`")]
#[diagnostic(
    code(agent_skills::same_uri),
    help("give one of the folders or agent skills another name")
)]
struct SameUri {
    uri: String,
    #[label("one is here")]
    first_at: Span,
    #[label(primary, "the other here")]
    at: Span,
}
