//! `completion/complete`: the start of an argument -> the values that complete it.

use std::collections::BTreeMap;

use relay_bundle::{Corrupt, RenderingView, TemplateView};
use relay_engine::audit_record::{self, OutputHash, Subject};
use relay_engine::completion::{self, Completion};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::rejection;
use crate::audit::Entry;
use crate::caller::{Caller, truncate};
use crate::load::Loaded;
use crate::rejection::Rejection;
use crate::server::Server;

/// What records write before the prompt or resource whose argument was completed.
pub(super) const LABEL: &str = "complete";

/// Completes an argument of a prompt, or a variable of a URI template. Served or rejected, the
/// request gets one record.
pub(super) fn complete(
    server: &Server,
    loaded: &Loaded,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let record = |entry| server.audit.record(caller, loaded.bundle.digest(), entry);
    let argument = &request.argument;
    let given = BTreeMap::from([(argument.name.clone(), argument.value.clone())]);
    let mut subject = unknown(&request.r#ref).to_string();
    let mut args = audit_record::typed_arguments(&given, &[]);
    let answer = completed(loaded, &request.r#ref).and_then(|completed| {
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
    let label = format!("{LABEL}:{subject}");
    match answer {
        Ok((completion, place)) => {
            let mut output = OutputHash::default();
            completion.values.iter().for_each(|value| output.update(value.as_bytes()));
            record(Entry::served(label, args, output, place));
            result(completion)
        }
        Err(rejected) => {
            record(Entry::refused(label, args, rejected.rule()));
            Err(rejection::error(rejected, loaded))
        }
    }
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

/// What an argument is completed of.
struct Completed<'b> {
    subject: Subject<'b>,
    place: String,
    rendering: RenderingView<'b>,
}

/// Returns what records call a reference to nothing.
fn unknown(reference: &Reference) -> Subject<'static> {
    match reference {
        Reference::Prompt(_) => Subject::UnknownPrompt,
        _ => Subject::UnknownResource,
    }
}

fn completed<'b>(loaded: &'b Loaded, reference: &Reference) -> Result<Completed<'b>, Rejection> {
    loaded.in_force()?;
    let wrong = |what: &str, name: &str| Rejection::Wrong {
        text: format!("unknown {what} `{}`", truncate(name)),
        rule: format!("unknown {what}"),
    };
    match reference {
        Reference::Prompt(named) => {
            let prompt = loaded.bundle.find_prompt(&named.name)?;
            let prompt = prompt.ok_or_else(|| wrong("prompt", &named.name))?;
            let subject = Subject::Prompt(prompt.name()?);
            let place = prompt.at()?.to_string();
            Ok(Completed { subject, place, rendering: prompt.rendering() })
        }
        Reference::Resource(named) => {
            let template = template(loaded, &named.uri)?;
            let template = template.ok_or_else(|| wrong("URI template", &named.uri))?;
            let subject = Subject::Resource(template.uri_template()?);
            let place = template.at()?.to_string();
            Ok(Completed { subject, place, rendering: template.rendering() })
        }
        _ => Err(Rejection::Invalid("only prompts and URI templates are completed".to_owned())),
    }
}

fn template<'b>(loaded: &'b Loaded, uri: &str) -> Result<Option<TemplateView<'b>>, Corrupt> {
    for index in 0..loaded.bundle.template_count() {
        let template = loaded.bundle.template(index)?;
        if template.uri_template()? == uri {
            return Ok(Some(template));
        }
    }
    Ok(None)
}
