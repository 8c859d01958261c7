//! `resources/read`: a URI -> its resource, a file or a filled template.

use std::collections::BTreeMap;

use relay_bundle::{Corrupt, TemplateView};
use relay_engine::audit_record::{self, OutputHash, Subject};
use relay_engine::prompt::{self, FillError, Part};
use relay_engine::resource::{self, Found};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents};

use super::convert;
#[cfg(feature = "ssh")]
use super::hosts;
use super::rejection;
use crate::caller::rejection::{self as reasons, Rejection};
use crate::caller::{Caller, truncate};
use crate::record::audit::Entry;
use crate::server::Server;
use crate::trust::placed::Placed;

/// The bytes by which resources of the server itself are compared.
const OUTPUT_BYTES: u32 = u32::MAX;

/// Answers with the resource of `uri`. Served or rejected, the request gets one record.
pub(super) fn read(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    uri: String,
) -> Result<ReadResourceResult, ErrorData> {
    let loaded = &placed.loaded;
    let record = |entry| server.audit.record(caller, loaded.digest(), entry);
    let mut output = OutputHash::default();
    let bytes_max = server.settings.processes.lower(placed.loaded.limits()).output_bytes;
    match contents(placed, &uri, bytes_max, &mut output) {
        Ok(Read { contents, subject, place, args }) => {
            let args = args.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            record(Entry::served(subject, args, output, place));
            Ok(ReadResourceResult::new(vec![contents]))
        }
        Err(rejected) => {
            let subject = match rejected {
                // A template with unknown values answers as an unknown resource.
                Rejection::NotFound { .. } if !hides(placed, &uri) => {
                    Subject::UnknownResource.to_string()
                }
                _ => found_subject(placed, &uri),
            };
            record(Entry::refused(subject, BTreeMap::new(), rejected.rule()));
            Err(rejection::error(rejected, loaded))
        }
    }
}

/// Returns whether an existing resource is hidden from the caller.
fn hides(placed: &Placed, uri: &str) -> bool {
    placed.view().is_ok_and(|view| view.hides_resource(uri))
}

/// Returns the place of the resource with the URI `uri`.
pub(super) fn place(placed: &Placed, uri: &str) -> Result<String, Rejection> {
    placed.loaded.in_force()?;
    match resource::find(&placed.view()?, uri)? {
        Some(Found::Resource(resource)) => Ok(resource.at()?.to_string()),
        Some(Found::Template(template, _)) => Ok(template.at()?.to_string()),
        None if live(placed, uri, OUTPUT_BYTES)?.is_some() => Ok(String::new()),
        None => Err(not_found(placed, uri, None)),
    }
}

/// Returns whether a resource has the URI `uri`.
pub(super) fn exists(placed: &Placed, uri: &str) -> bool {
    let found = placed.view().and_then(|view| Ok(resource::find(&view, uri)?.is_some()));
    let found = found.and_then(|found| Ok(found || live(placed, uri, OUTPUT_BYTES)?.is_some()));
    match found {
        Ok(exists) => exists,
        Err(damage) => {
            placed.loaded.note_damage(&damage);
            false
        }
    }
}

/// Returns whether the two bundles answer `uri` alike.
pub(super) fn is_same(old: &Placed, new: &Placed, uri: &str) -> bool {
    let answer = |placed| contents(placed, uri, OUTPUT_BYTES, &mut OutputHash::default()).ok();
    answer(old).map(|read| read.contents) == answer(new).map(|read| read.contents)
}

/// Returns the label in records of a resource whose reading failed.
pub(crate) fn found_subject(placed: &Placed, uri: &str) -> String {
    let Ok(view) = placed.view() else { return Subject::UnknownResource.to_string() };
    let found = match resource::find(&view, uri) {
        Ok(Some(Found::Resource(resource))) => resource.uri().ok(),
        Ok(Some(Found::Template(template, _))) => template.uri_template().ok(),
        // Only the record says that this resource exists.
        Ok(None) if view.hides_resource(uri) => Some(uri),
        Ok(None) => {
            return match live(placed, uri, OUTPUT_BYTES) {
                Ok(Some(live)) => live.subject,
                _ => Subject::UnknownResource.to_string(),
            };
        }
        Err(_) => None,
    };
    found.map_or(Subject::UnknownResource, Subject::Resource).to_string()
}

struct Read {
    contents: ResourceContents,
    /// Its label in records: its URI, or its URI template, whose values a caller typed.
    subject: String,
    place: String,
    /// The values of a template's variables, for the record.
    args: BTreeMap<String, String>,
}

/// Reads a resource that the server itself has for a caller.
#[cfg_attr(not(feature = "ssh"), expect(unused_variables, reason = "it has those of hosts alone"))]
fn live(placed: &Placed, uri: &str, bytes_max: u32) -> Result<Option<Read>, Corrupt> {
    #[cfg(feature = "ssh")]
    if let Some(read) = hosts::read(placed, uri, bytes_max as usize)? {
        let hosts::Read { text, mime, label, args } = read;
        let output = &mut OutputHash::default();
        return Ok(Some(Read {
            contents: convert::text_resource(uri.to_owned(), Some(mime), text, output),
            subject: label.to_owned(),
            place: String::new(),
            args,
        }));
    }
    Ok(None)
}

fn contents(
    placed: &Placed,
    uri: &str,
    bytes_max: u32,
    output: &mut OutputHash,
) -> Result<Read, Rejection> {
    placed.loaded.in_force()?;
    match resource::find(&placed.view()?, uri)? {
        Some(Found::Resource(resource)) => {
            let content = resource.content()?;
            Ok(Read {
                contents: convert::resource(
                    uri.to_owned(),
                    Some(resource.mime()?),
                    content,
                    output,
                ),
                subject: Subject::Resource(resource.uri()?).to_string(),
                place: resource.at()?.to_string(),
                args: BTreeMap::new(),
            })
        }
        Some(Found::Template(template, values)) => filled(placed, &template, &values, uri, output),
        None => match live(placed, uri, bytes_max)? {
            Some(read) => {
                if let ResourceContents::TextResourceContents { text, .. } = &read.contents {
                    output.update(text.as_bytes());
                }
                Ok(read)
            }
            None => Err(not_found(placed, uri, None)),
        },
    }
}

fn filled(
    placed: &Placed,
    template: &TemplateView<'_>,
    values: &BTreeMap<String, String>,
    uri: &str,
    output: &mut OutputHash,
) -> Result<Read, Rejection> {
    // An unlisted value names an unknown resource.
    let filled = prompt::fill(template.rendering(), values).map_err(|error| match error {
        FillError::Corrupt(damage) => Rejection::Damaged(damage),
        error => not_found(placed, uri, Some(&error)),
    })?;
    let args = audit_record::arguments(&filled.values)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let texts = filled.messages.into_iter().flat_map(|message| message.parts);
    let text = texts
        .filter_map(|part| match part {
            Part::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    Ok(Read {
        contents: convert::text_resource(uri.to_owned(), Some(template.mime()?), text, output),
        subject: Subject::Resource(template.uri_template()?).to_string(),
        place: template.at()?.to_string(),
        args,
    })
}

fn not_found(placed: &Placed, uri: &str, because: Option<&FillError>) -> Rejection {
    let is_hidden = placed.view().is_ok_and(|view| view.hides_resource(uri));
    let unknown = reasons::unknown("resource", is_hidden);
    let with = |text: &str, because: Option<String>| match because {
        Some(because) => format!("{text}: {because}"),
        None => text.to_owned(),
    };
    Rejection::NotFound {
        reason: with(
            &format!("unknown resource `{}`", truncate(uri)),
            because.map(ToString::to_string),
        ),
        uri: uri.to_owned(),
        rule: with(&unknown, because.map(FillError::rule)),
    }
}
