//! `completion/complete`: the start of an argument -> the values that complete it.

use relay_bundle::{Corrupt, RenderingView, TemplateView};
use relay_engine::completion::{self, Completion};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::rejection;
use crate::caller::truncate;
use crate::load::Loaded;
use crate::rejection::Rejection;

/// Completes an argument of a prompt, or a variable of a URI template.
pub(super) fn complete(
    loaded: &Loaded,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let Completion { values, total } =
        values(loaded, request).map_err(|rejected| rejection::error(rejected, loaded))?;
    let has_more = values.len() < total;
    let values = values.into_iter().map(ToOwned::to_owned).collect();
    let total = u32::try_from(total).ok();
    CompletionInfo::with_pagination(values, total, has_more)
        .map(CompleteResult::new)
        .map_err(|reason| ErrorData::internal_error(reason, None))
}

fn values<'b>(
    loaded: &'b Loaded,
    request: &CompleteRequestParams,
) -> Result<Completion<'b>, Rejection> {
    loaded.in_force()?;
    let argument = &request.argument;
    completion::complete(rendering(loaded, &request.r#ref)?, &argument.name, &argument.value)?
        .ok_or_else(|| {
            Rejection::Invalid(format!("unknown argument `{}`", truncate(&argument.name)))
        })
}

fn rendering<'b>(
    loaded: &'b Loaded,
    reference: &Reference,
) -> Result<RenderingView<'b>, Rejection> {
    match reference {
        Reference::Prompt(prompt) => {
            loaded.bundle.find_prompt(&prompt.name)?.map(|prompt| prompt.rendering()).ok_or_else(
                || Rejection::Invalid(format!("unknown prompt `{}`", truncate(&prompt.name))),
            )
        }
        Reference::Resource(resource) => {
            template(loaded, &resource.uri)?.map(|template| template.rendering()).ok_or_else(|| {
                Rejection::Invalid(format!("unknown URI template `{}`", truncate(&resource.uri)))
            })
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
