//! `relay explain`: the server's answer, and the reasons. Every answer comes from `engine`, which
//! the server calls too.

mod cascade;
mod command;
mod hidden;
mod index;
mod matrix;
mod prompt;
mod selection;
mod uri;

use std::collections::BTreeMap;

use relay_policy::location::Location;
use serde_json::{Map, Value};

use crate::args::{ExplainArgs, Question};
use crate::caller;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::subject::{self, Opened};

pub(crate) use cascade::CascadeExplained;
pub(crate) use command::CommandExplained;
pub(crate) use index::IndexExplained;
pub(crate) use matrix::MatrixExplained;
pub(crate) use prompt::PromptExplained;
pub(crate) use selection::SelectionExplained;
pub(crate) use uri::UriExplained;

pub(crate) fn run(arguments: &ExplainArgs, output: &mut Output) -> Result<Exit, Failure> {
    // A malformed question is reported before a project is compiled.
    let given = Given::of(arguments)?;
    let bundle = match subject::open_to_explain(&arguments.subject, output)? {
        Opened::Subject(subject) => subject.bundle,
        Opened::Ended(exit) => return Ok(exit),
    };
    // A preview of a damaged bundle would differ from the built one.
    bundle.check_all()?;
    let format = arguments.subject.format.chosen().of_answer();
    if let Some(command) = &arguments.question.command {
        return command::explain(&bundle, command, arguments, &given.location, output);
    }
    if let Some(words) = &arguments.question.matrix {
        return matrix::explain(&bundle, words, arguments, &given.location, output);
    }
    if is_of_skills(&arguments.question) {
        let (caller, tool) = (&arguments.caller, arguments.tool.as_deref());
        return cascade::explain(&bundle, caller, tool, format, output);
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
    match &arguments.question {
        Question { prompt: Some(name), .. } => {
            prompt::explain(&asker, name, &given.texts, format, output)
        }
        Question { uri: Some(uri), .. } => uri::explain(&asker, uri, format, output),
        Question { tags: Some(tags), .. } => selection::explain_tags(view, tags, &asked, output),
        Question { call: Some(tool), .. } => {
            selection::explain_call(&asker, tool, &given.values, &asked, output)
        }
        Question {
            prompt: None,
            uri: None,
            tags: None,
            call: None,
            command: _,
            matrix: _,
            index: _,
        } => index::explain(view, format, output),
    }
}

/// The circumstances of the question: the arguments of a request, the folders of a command.
#[derive(Default)]
struct Given {
    /// Those of a prompt.
    texts: BTreeMap<String, String>,
    /// Those of a call.
    values: Map<String, Value>,
    /// Where a command runs.
    location: Location,
}

impl Given {
    fn of(arguments: &ExplainArgs) -> Result<Self, Failure> {
        let json = arguments.arguments.as_deref();
        Ok(match &arguments.question {
            Question { call: Some(_), .. } => {
                Self { values: selection::arguments(json)?, ..Self::default() }
            }
            Question { command: Some(_), .. } | Question { matrix: Some(_), .. } => {
                Self { location: arguments.location.location()?, ..Self::default() }
            }
            _ => Self { texts: prompt::given(json)?, ..Self::default() },
        })
    }
}

/// Returns whether the question is about skills: a tool, or a caller as the whole question.
fn is_of_skills(question: &Question) -> bool {
    let Question { prompt, uri, tags, call, command, matrix, index } = question;
    let texts = [prompt, uri, call, command];
    let lists = [tags, matrix];
    texts.into_iter().all(Option::is_none) && lists.into_iter().all(Option::is_none) && !*index
}
