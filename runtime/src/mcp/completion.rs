//! `completion/complete`: the start of an argument -> the values that complete it.

use std::collections::BTreeMap;

use relay_bundle::{Corrupt, RenderingView, TemplateView};
use relay_engine::audit_record::{self, OutputHash, Subject};
use relay_engine::completion::{self, Completion};
use relay_engine::view::View;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

#[cfg(feature = "ssh")]
use super::hosts;
use super::rejection;
use crate::caller::rejection::{self as reasons, Rejection};
use crate::caller::{Caller, truncate};
use crate::record::audit::Entry;
use crate::record::verb::COMPLETE;
use crate::server::Server;
use crate::trust::placed::Placed;

/// Completes an argument of a prompt, or a variable of a URI template. Served or rejected, the
/// request gets one record.
pub(super) fn complete(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let loaded = &placed.loaded;
    let record = |entry| server.audit.record(caller, loaded.digest(), entry);
    let argument = &request.argument;
    let given = BTreeMap::from([(argument.name.clone(), argument.value.clone())]);
    let mut subject = unknown(&request.r#ref).to_string();
    let mut args = audit_record::typed_arguments(&given, &[]);
    if let Some((label, values)) =
        live(placed, request).map_err(|damage| rejection::damaged(loaded, &damage))?
    {
        let values = values.iter().map(String::as_str).collect();
        let completion = completion::matching(values, &argument.value);
        let args = audit_record::typed_arguments(&given, &[argument.name.as_str()]);
        let entry =
            Entry::served(format!("{COMPLETE}:{label}"), args, hash(&completion), String::new());
        record(entry);
        return result(completion);
    }
    let answer = completed(placed, &request.r#ref).and_then(|completed| {
        let Completed { subject: known, place, rendering } = completed;
        subject = known.to_string();
        let declared: Vec<_> =
            rendering.arguments()?.into_iter().map(|argument| argument.name).collect();
        args = audit_record::typed_arguments(&given, &declared);
        let completion = completion::complete(rendering, &argument.name, &argument.value)?;
        let unknown = || Rejection::Wrong {
            text: format!("unknown argument `{}`", truncate(&argument.name)),
            rule: "unknown argument".to_owned(),
        };
        Ok((completion.ok_or_else(unknown)?, place))
    });
    let label = format!("{COMPLETE}:{subject}");
    match answer {
        Ok((completion, place)) => {
            record(Entry::served(label, args, hash(&completion), place));
            result(completion)
        }
        Err(rejected) => {
            record(Entry::refused(label, args, rejected.rule()));
            Err(rejection::error(rejected, loaded))
        }
    }
}

fn hash(completion: &Completion<'_>) -> OutputHash {
    let mut output = OutputHash::default();
    completion.values.iter().for_each(|value| output.update(value.as_bytes()));
    output
}

/// Returns the values that the server itself has for an argument, with the label in records.
#[cfg_attr(
    not(feature = "ssh"),
    expect(unused_variables, reason = "it has values for hosts alone")
)]
fn live(
    placed: &Placed,
    request: &CompleteRequestParams,
) -> Result<Option<(&'static str, Vec<String>)>, Corrupt> {
    #[cfg(feature = "ssh")]
    if let Reference::Resource(named) = &request.r#ref
        && let Some(values) = hosts::completions(placed, &named.uri, &request.argument.name)?
    {
        return Ok(Some((hosts::HOST_LABEL, values)));
    }
    Ok(None)
}

fn result(completion: Completion<'_>) -> Result<CompleteResult, ErrorData> {
    let Completion { values, total } = completion;
    let has_more = values.len() < total;
    let values = values.into_iter().map(ToOwned::to_owned).collect();
    let total = u32::try_from(total).ok();
    CompletionInfo::with_pagination(values, total, has_more)
        .map(CompleteResult::new)
        .map_err(|reason| ErrorData::internal_error(reason, None))
}

/// The prompt or resource whose argument is completed.
struct Completed<'b> {
    subject: Subject<'b>,
    place: String,
    rendering: RenderingView<'b>,
}

/// Returns the label in records of a reference to an unknown thing.
fn unknown(reference: &Reference) -> Subject<'static> {
    match reference {
        Reference::Prompt(_) => Subject::UnknownPrompt,
        _ => Subject::UnknownResource,
    }
}

fn completed<'b>(placed: &'b Placed, reference: &Reference) -> Result<Completed<'b>, Rejection> {
    placed.loaded.in_force()?;
    let view = placed.view()?;
    let wrong = |what: &str, name: &str, is_hidden| Rejection::Wrong {
        text: format!("unknown {what} `{}`", truncate(name)),
        rule: reasons::unknown(what, is_hidden),
    };
    match reference {
        Reference::Prompt(named) => {
            let prompt = view.find_prompt(&named.name)?;
            let is_hidden = || view.hides_prompt(&named.name);
            let prompt = prompt.ok_or_else(|| wrong("prompt", &named.name, is_hidden()))?;
            let subject = Subject::Prompt(prompt.name()?);
            let place = prompt.at()?.to_string();
            Ok(Completed { subject, place, rendering: prompt.rendering() })
        }
        Reference::Resource(named) => {
            let template = template(&view, &named.uri)?;
            let is_hidden = || view.hides_template(&named.uri);
            let template =
                template.ok_or_else(|| wrong("URI template", &named.uri, is_hidden()))?;
            let subject = Subject::Resource(template.uri_template()?);
            let place = template.at()?.to_string();
            Ok(Completed { subject, place, rendering: template.rendering() })
        }
        _ => Err(Rejection::Invalid("only prompts and URI templates are completed".to_owned())),
    }
}

fn template<'b>(view: &View<'b>, uri: &str) -> Result<Option<TemplateView<'b>>, Corrupt> {
    for template in view.templates()? {
        let template = template?;
        if template.uri_template()? == uri {
            return Ok(Some(template));
        }
    }
    Ok(None)
}
