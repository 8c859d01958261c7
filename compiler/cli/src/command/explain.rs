//! `relay explain`: what the server would answer, and why. Every answer comes from `engine`, which
//! the server calls too.

mod cascade;
mod index;
mod nearest;
mod prompt;
mod selection;
mod uri;

use relay_engine::cascade as engine;

use crate::args::{CascadeQuestion, ExplainArgs, Question};
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
    let asked = selection::Asked {
        sent: arguments.sent.as_deref(),
        has_session: !arguments.no_session,
        budget: arguments.budget,
        why: arguments.why,
        format,
    };
    let given = arguments.arguments.as_deref();
    let CascadeQuestion { tenant, tool, user } = &arguments.cascade;
    if tenant.is_some() || tool.is_some() || user.is_some() {
        let question = engine::Question {
            tenant: tenant.as_deref(),
            tool: tool.as_deref(),
            user: user.as_deref(),
        };
        return cascade::explain(&bundle, question, format, output);
    }
    match &arguments.question {
        Question { prompt: Some(name), .. } => {
            prompt::explain(&bundle, name, &prompt::given(given)?, format, output)
        }
        Question { uri: Some(uri), .. } => uri::explain(&bundle, uri, format, output),
        Question { tags: Some(tags), .. } => selection::explain_tags(&bundle, tags, &asked, output),
        Question { call: Some(tool), .. } => {
            let given = selection::arguments(given)?;
            selection::explain_call(&bundle, tool, &given, &asked, output)
        }
        Question { prompt: None, uri: None, tags: None, call: None, index: _ } => {
            index::explain(&bundle, format, output)
        }
    }
}
