//! `agent-skills`: each folder with a `SKILL.md` is an agent skill: a prompt with its text, and a
//! resource for each of its files (SEP-2640).

mod joined;
mod outside;
mod roots;

use std::collections::BTreeMap;

use miette::Diagnostic;
use relay_bundle::Content;
use relay_engine::agent_skill::{AROUND_MAX, SCHEME, SKILL_MD};
use relay_engine::derived::briefing_text;
use relay_engine::equal_text;
use thiserror::Error;

pub(super) use self::joined::{check_nested, move_files};

use self::roots::{Root, Roots};
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
const SKILL_BYTES_MAX: usize = 16 << 20;

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
    /// The URI of its folder; `None` for one inside another agent skill.
    base: Option<String>,
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
    let at = written.at;
    // A folder that cannot be entered may be an agent skill of its own.
    for Listed { path, link: _, fault } in &listed {
        if let Some(reason) = fault.clone() {
            out.report(at, Unreadable { path: path.clone(), reason, at });
        }
    }
    let roots = Roots::of(&listed);
    if roots.roots.is_empty() {
        out.report(at, NoSkill { folder: folder.clone(), at });
    }
    outside::report(&roots, &folder, at, out);
    let mut reader = Reader {
        sources,
        node,
        named_at: at,
        above: folder,
        bases: BTreeMap::new(),
        faults: Alike::default(),
    };
    for root in &roots.roots {
        match reader.skill(root, out) {
            Some(skill) => found.skills.push(skill),
            None => found.faulty.push(reader.name_of(root.path)),
        }
    }
    let Reader { faults, .. } = reader;
    faults.report(out);
    found
}

/// The agent skills of a folder while they are read.
struct Reader<'r, 's> {
    sources: &'r Sources<'s>,
    node: &'r Folder,
    named_at: Span,
    /// The folder.
    above: String,
    /// The URI of the folder of each agent skill that is in no other one, by its path.
    bases: BTreeMap<String, String>,
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

    fn skill(&mut self, found: &Root<'_>, out: &mut Diagnostics) -> Option<SkillPrompt> {
        let Root { path: root, outermost, around, ref files } = *found;
        if root.is_empty() {
            let at = self.named_at;
            out.report(at, NoFolder { at });
            return None;
        }
        let path = format!("{root}/{SKILL_MD}");
        let id = self.load(&path, out)?;
        let read = skill_file(
            id,
            &self.sources.file(id),
            self.node.settings.strict.value,
            &mut self.faults,
        )?;
        let at = id.span(0, 0);
        if around > AROUND_MAX {
            self.faults.add(at, TooDeep { root: root.to_owned(), around, at }, None);
        }
        let mut departures = read.departures;
        let folder = root.rsplit('/').next().unwrap_or(root);
        let own = read.name.as_ref().filter(|name| is_skill_name(&name.value));
        if let Some(name) = own.filter(|name| name.value != folder) {
            departures.push(match outermost {
                Some(_) => (Departure::OtherNameInside, name.at),
                None => (Departure::OtherName, name.at),
            });
        }
        let is_listed = !departures.iter().any(|(departure, _)| departure.unlists());
        departures.into_iter().for_each(|(departure, at)| self.depart(departure, at));
        let name = self.name_of(root);
        let (base, files) = match outermost {
            None => {
                let base = self.base(&name, own.map(|name| name.value.as_str()));
                self.bases.insert(root.to_owned(), base.clone());
                let files = self.files(root, &base, files, out)?;
                (base, files)
            }
            // Its files have the URIs of the outer one's; faults of that one were reported.
            Some(outermost) => (self.base_inside(outermost, root)?, Vec::new()),
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
                base: outermost.is_none().then_some(base),
                files,
                within: outermost.map(|outermost| self.name_of(outermost)),
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

    /// Returns the URI of the folder of an agent skill inside another one.
    fn base_inside(&self, around: &str, root: &str) -> Option<String> {
        let outer = self.bases.get(around)?;
        let inside = root.strip_prefix(around)?.split('/').filter(|part| !part.is_empty());
        let inside: String = inside.map(|part| segment(part) + "/").collect();
        Some(format!("{outer}{inside}"))
    }

    /// Returns the files below an agent skill as resources.
    fn files(
        &self,
        root: &str,
        base: &str,
        own: &[&Listed],
        out: &mut Diagnostics,
    ) -> Option<Vec<Resource>> {
        let at = self.named_at;
        if own.len() > FILES_MAX {
            let (root, count) = (root.to_owned(), own.len());
            out.report(at, TooManyFiles { root, count, at });
            return None;
        }
        let mut files = Vec::new();
        let (mut bytes, mut whole) = (0, true);
        for listed in own {
            let inside = listed.path.get(root.len()..).unwrap_or_default().trim_start_matches('/');
            if listed.fault.is_some() {
                whole = false;
                continue;
            }
            let Some(id) = self.load(&listed.path, out) else {
                whole = false;
                continue;
            };
            let parts: Vec<String> = inside.split('/').map(segment).collect();
            let uri = format!("{base}{}", parts.join("/"));
            let name = inside.rsplit('/').next().unwrap_or(inside);
            let file = self.file(id, uri, name);
            bytes += file.content.bytes().len();
            files.push(file);
            if bytes > SKILL_BYTES_MAX {
                out.report(at, TooLarge { root: root.to_owned(), at });
                return None;
            }
        }
        whole.then_some(files)
    }

    fn file(&self, id: FileId, uri: String, name: &str) -> Resource {
        let at = id.span(0, 0);
        let read = self.sources.file(id);
        let (text, content) = resource::content(&read, None);
        let fallback = match &content {
            Content::Text(_) => "text/plain",
            Content::Blob(_) => "application/octet-stream",
        };
        let written = |value| Setting { value, at: Some(at) };
        Resource {
            uri: Spanned { value: uri, at },
            about: About {
                name: written(name.to_owned()),
                settings: ResourceSettings::default(),
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
        } else if departure == Departure::OwnKey {
            self.faults.add_apart(at, OwnKey { at }, what);
        } else {
            self.faults.add_apart(at, Departs { message, help, at }, what);
        }
    }
}

/// Said of agent skills without a valid name or a description.
const UNLISTED: &str =
    "hosts cannot list it as an agent skill, so it is a prompt and its files alone";

/// Returns a part of a path as a part of a URI: characters with a meaning there are escaped (RFC 3986,
/// sections 3.2 and 3.3). Letters beyond ASCII stay, composed, as in the normal form of URIs.
fn segment(part: &str) -> String {
    let mut escaped = String::new();
    for letter in equal_text::composed(part).chars() {
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

/// Makes the agent skill of a prompt that was resolved: its files have the prompt's readers.
pub(super) fn finish(draft: Draft, prompt: &mut Prompt) {
    let Draft { uri, frontmatter, base, files, within: _, at } = draft;
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
        prompt.body.value = briefing_text::of_agent_skill(&prompt.name.value, about, uri).into();
    }
    prompt.agent_skill = Some(AgentSkill { uri, frontmatter, base, files, at });
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

/// A key of the author's own departs from the specification of agent skills. relay and most hosts pass it on or
/// ignore it, and the skill works without.
#[derive(Debug, Error, Diagnostic)]
#[error("a key is not of the specification of agent skills")]
#[diagnostic(
    code(agent_skills::own_key),
    severity(Advice),
    help("move it into `metadata`: some hosts refuse others, as `strict=#true` does")
)]
struct OwnKey {
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

/// An agent skill is a folder with a name, and the project's own folder has none.
#[derive(Debug, Error, Diagnostic)]
#[error("the folder of the project is no agent skill")]
#[diagnostic(
    code(agent_skills::no_folder),
    help("move the `SKILL.md` and its files into a folder")
)]
struct NoFolder {
    #[label(primary, "has a `SKILL.md`")]
    at: Span,
}

/// The list of files of an agent skill has those of all agent skills inside it. Deep ones would make a
/// bundle that takes long to load, and servers refuse it.
#[derive(Debug, Error, Diagnostic)]
#[error("the agent skill `{root}` is inside {around} others, over the limit of {AROUND_MAX}")]
#[diagnostic(
    code(agent_skills::too_deep),
    help("move the folder out of the folder of another agent skill")
)]
struct TooDeep {
    root: String,
    around: usize,
    #[label(primary, "this skill")]
    at: Span,
}

/// Hosts need not take an agent skill with more files (SEP-2640).
#[derive(Debug, Error, Diagnostic)]
#[error("the agent skill `{root}` has {count} files, over the limit of {FILES_MAX}")]
#[diagnostic(code(agent_skills::too_large), help("split it, or leave files out by `exclude`"))]
struct TooManyFiles {
    root: String,
    count: usize,
    #[label(primary, "below this folder")]
    at: Span,
}

/// Hosts need not take an agent skill with more bytes (SEP-2640).
#[derive(Debug, Error, Diagnostic)]
#[error("the files of the agent skill `{root}` have over {SKILL_BYTES_MAX} bytes")]
#[diagnostic(code(agent_skills::too_large), help("split it, or leave files out by `exclude`"))]
struct TooLarge {
    root: String,
    #[label(primary, "below this folder")]
    at: Span,
}
