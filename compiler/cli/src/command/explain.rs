//! `relay explain`: what the server would answer, and why. Every answer comes from `engine`, which
//! the server calls too.

mod cascade;
mod index;
mod nearest;
mod prompt;
mod selection;
mod uri;

use relay_engine::cascade as engine;

use crate::args::{ExplainArgs, Question};
use crate::caller;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::subject::{self, Opened};

pub(crate) use cascade::CascadeExplained;
pub(crate) use index::IndexExplained;
pub(crate) use prompt::PromptExplained;
pub(crate) use selection::SelectionExplained;
pub(crate) use uri::UriExplained;

pub(crate) fn run(arguments: &ExplainArgs, output: &mut Output) -> Result<Exit, Failure> {
    let bundle = match subject::open(&arguments.subject, output)? {
        Opened::Subject(subject) => subject.bundle,
        Opened::Ended(exit) => return Ok(exit),
    };
    // A preview of a damaged bundle would differ from what was built.
    bundle.check_all()?;
    let format = arguments.subject.format.chosen().of_answer();
    if let Some(question) = skills_question(arguments) {
        if arguments.caller.role.is_some() || !arguments.caller.group.is_empty() {
            let message = "a role or group decides nothing about skills";
            return Err(Failure::error(message).help("leave `--role` and `--group` out"));
        }
        return cascade::explain(&bundle, question, format, output);
    }
    let asker = caller::view(&bundle, &arguments.caller)?;
    let view = &asker.view;
    let asked = selection::Asked {
        sent: arguments.sent.as_deref(),
        has_session: !arguments.no_session,
        budget: arguments.budget,
        why: arguments.why,
        format,
    };
    let given = arguments.arguments.as_deref();
    match &arguments.question {
        Question { prompt: Some(name), .. } => {
            prompt::explain(view, name, &prompt::given(given)?, format, output)
        }
        Question { uri: Some(uri), .. } => uri::explain(view, uri, format, output),
        Question { tags: Some(tags), .. } => selection::explain_tags(view, tags, &asked, output),
        Question { call: Some(tool), .. } => {
            let given = selection::arguments(given)?;
            selection::explain_call(view, tool, &given, &asked, output)
        }
        Question { prompt: None, uri: None, tags: None, call: None, index: _ } => {
            index::explain(view, format, output)
        }
    }
}

/// Returns the question about skills: a tool, or a caller without another question.
fn skills_question(arguments: &ExplainArgs) -> Option<engine::Question<'_>> {
    let Question { prompt, uri, tags, call, index } = &arguments.question;
    let is_other = prompt.is_some() || uri.is_some() || tags.is_some() || call.is_some() || *index;
    (!is_other).then_some(engine::Question {
        tenant: arguments.caller.tenant.as_deref(),
        tool: arguments.tool.as_deref(),
        user: arguments.caller.user.as_deref(),
    })
}
