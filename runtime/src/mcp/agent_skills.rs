//! `skills/list`, `skills/get` and `resources/directory/read`: agent skills, by the skills extension
//! (SEP-2640). Their files are read like every resource.

use std::collections::BTreeMap;

use relay_bundle::{AgentSkillView, Corrupt};
use relay_engine::agent_skill::{self, Child, Directory};
use relay_engine::audit_record::{OutputHash, Subject};
use rmcp::ErrorData;
use rmcp::model::{
    DIRECTORY_MIME_TYPE, JsonObject, Resource, Skill, SkillFrontmatter, SkillResource,
    SkillResources,
};
use serde_json::Value;

use super::lists::{self, Page};
use super::rejection;
use crate::caller::rejection::{self as reasons, Rejection};
use crate::caller::{Caller, truncate};
use crate::record::audit::Entry;
use crate::record::verb;
use crate::server::Server;
use crate::trust::placed::Placed;

/// Returns the page of `skills/list` for a cursor, by default the first, with an entry for each skill.
pub(super) fn list<'b, T>(
    placed: &'b Placed,
    cursor: Option<&str>,
    entry: impl Fn(&AgentSkillView<'b>) -> Result<T, Corrupt>,
) -> Result<Page<T>, ErrorData> {
    let skipped = lists::skipped(placed, cursor)?;
    let page = || -> Result<_, Rejection> {
        placed.loaded.in_force()?;
        let page = agent_skill::page(&placed.view()?, skipped)?;
        let items = page.items.iter().map(&entry).collect::<Result<_, _>>()?;
        Ok((items, page.next))
    };
    let (items, next) = page().map_err(|rejected| rejection::error(rejected, &placed.loaded))?;
    Ok(Page { items, next_cursor: lists::cursor_after(placed, next)? })
}

/// Answers with the agent skill whose `SKILL.md` has the URI `uri`. The request gets one record.
pub(super) fn get(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    uri: &str,
) -> Result<Skill, ErrorData> {
    let found = || -> Result<_, Rejection> {
        placed.loaded.in_force()?;
        let view = placed.view()?;
        match agent_skill::find(&view, uri)? {
            // rmcp refuses an answer whose URI has another spelling than the request.
            Some(skill) if skill.uri()? == uri => Ok(Found {
                answer: entry(&skill)?,
                uri: skill.uri()?.to_owned(),
                place: skill.at()?.to_string(),
            }),
            _ => Err(unknown("agent skill", uri, agent_skill::hidden(&view, uri).is_some())),
        }
    };
    answer(server, placed, caller, (verb::MANIFEST, uri), found())
}

/// Answers with the children of a folder of an agent skill. The request gets one record.
pub(super) fn children(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    uri: &str,
    cursor: Option<&str>,
) -> Result<Page<Resource>, ErrorData> {
    let skipped = lists::skipped(placed, cursor)?;
    let found = || -> Result<_, Rejection> {
        placed.loaded.in_force()?;
        let view = placed.view()?;
        match agent_skill::children(&view, uri, skipped)? {
            Some(Directory { uri, children }) => {
                let items = children.items.iter().map(child).collect::<Result<Vec<_>, _>>()?;
                let answer = (items, children.next);
                Ok(Found { answer, uri: uri.to_owned(), place: String::new() })
            }
            None => {
                let is_hidden = agent_skill::hidden_folder(&view, uri).is_some();
                Err(unknown("folder of an agent skill", uri, is_hidden))
            }
        }
    };
    let (items, next) = answer(server, placed, caller, (verb::DIRECTORY, uri), found())?;
    Ok(Page { items, next_cursor: lists::cursor_after(placed, next)? })
}

/// An agent skill or a folder that a request named.
struct Found<T> {
    answer: T,
    /// Its URI in the bundle, for the record: the caller may have sent another spelling.
    uri: String,
    place: String,
}

/// Records a request that names `uri`, and returns its answer.
fn answer<T>(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    (verb, uri): (&str, &str),
    found: Result<Found<T>, Rejection>,
) -> Result<T, ErrorData> {
    let loaded = &placed.loaded;
    let label = |uri: Option<&str>| {
        format!("{verb}:{}", uri.map_or(Subject::UnknownResource, Subject::Resource))
    };
    let (entry, answer) = match found {
        Ok(Found { answer, uri, place }) => {
            let label = label(Some(&uri));
            (Entry::served(label, BTreeMap::new(), OutputHash::default(), place), Ok(answer))
        }
        Err(rejected) => {
            let view = placed.view().ok();
            let hidden = view.and_then(|view| {
                agent_skill::hidden(&view, uri).or_else(|| agent_skill::hidden_folder(&view, uri))
            });
            let entry = Entry::refused(label(hidden), BTreeMap::new(), rejected.rule());
            (entry, Err(rejection::error(rejected, loaded)))
        }
    };
    server.audit.record(caller, loaded.digest(), entry);
    answer
}

fn unknown(what: &'static str, uri: &str, is_hidden: bool) -> Rejection {
    let text = format!("unknown {what} `{}`", truncate(uri));
    Rejection::Wrong { text, rule: reasons::unknown(what, is_hidden) }
}

/// Returns an agent skill as MCP sends it.
///
/// The types of rmcp would copy each entry before they read it: a list may be one or the word `dynamic`,
/// and front matter has fields and other keys.
pub(super) fn entry(skill: &AgentSkillView<'_>) -> Result<Skill, Corrupt> {
    let malformed = || Corrupt::Record { section: "agent-skills", what: "JSON" };
    let mut keys: JsonObject =
        serde_json::from_str(in_one_line(skill.frontmatter()?)?).map_err(|_| malformed())?;
    // The others keep their order.
    let mut text = |key| match keys.shift_remove(key) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(malformed()),
    };
    let mut frontmatter = SkillFrontmatter::new(text("name")?, text("description")?);
    frontmatter.extra = keys;
    let files: Vec<SkillResource> =
        serde_json::from_str(in_one_line(skill.manifest()?)?).map_err(|_| malformed())?;
    Ok(Skill::new(skill.uri()?, frontmatter, SkillResources::Files(files)))
}

/// Returns JSON of the bundle, which compilers write in one line. In an answer on standard output, a second
/// one would be a message of its own, and its author a signer.
pub(super) fn in_one_line(json: &str) -> Result<&str, Corrupt> {
    match json.contains(['\n', '\r']) {
        true => Err(Corrupt::Record { section: "agent-skills", what: "JSON (several lines)" }),
        false => Ok(json),
    }
}

fn child(child: &Child<'_>) -> Result<Resource, Corrupt> {
    Ok(match child {
        Child::Folder(uri) => {
            let name = uri.rsplit('/').next().unwrap_or(uri);
            Resource::new(*uri, name).with_mime_type(DIRECTORY_MIME_TYPE)
        }
        Child::File(file) => {
            let mut resource =
                Resource::new(file.uri()?, file.name()?).with_mime_type(file.mime()?);
            resource.description = file.description()?.map(str::to_owned);
            resource.size = Some(file.size().into());
            resource
        }
    })
}
