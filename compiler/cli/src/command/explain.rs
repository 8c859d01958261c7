//! `relay explain`: what the server would answer, and why. Every answer comes from the engine
//! that the server asks too.

mod index;
mod prompt;
mod uri;

use crate::args::{ExplainArgs, Question};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::subject::{self, Opened};

pub(crate) use index::IndexExplained;
pub(crate) use prompt::PromptExplained;
pub(crate) use uri::UriExplained;

pub(crate) fn run(arguments: &ExplainArgs, output: &mut Output) -> Result<Exit, Failure> {
    let given = prompt::given(arguments.arguments.as_deref())?;
    let bundle = match subject::open(&arguments.subject, output)? {
        Opened::Subject(subject) => subject.bundle,
        Opened::Ended(exit) => return Ok(exit),
    };
    // A preview of a damaged bundle would be a preview of something else.
    bundle.check_all()?;
    let Question { prompt, uri, index: _ } = &arguments.question;
    match (prompt, uri) {
        (Some(name), _) => prompt::explain(&bundle, name, &given, arguments.json, output),
        (None, Some(uri)) => uri::explain(&bundle, uri, arguments.json, output),
        (None, None) => index::explain(&bundle, arguments.json, output),
    }
}
