//! `relay diff`: what a change does to what agents read and may do.

mod anchor;
mod comparison;
mod human;
mod input;
mod pair;
mod side;

use crate::args::{AnswerFormat, DiffArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) use comparison::Comparison;

use self::comparison::Gathered;

pub(crate) fn run(arguments: &DiffArgs, output: &mut Output) -> Result<Exit, Failure> {
    let mut projects = Vec::new();
    for pair in input::pairs(&arguments.sides)? {
        let mut gathered = Gathered::default();
        let facts =
            pair.compare(arguments.env.as_deref(), output, |sides| gathered.compare(sides))?;
        projects.push(gathered.finish(&pair, facts));
    }
    let comparison = Comparison::of(projects);
    match arguments.format.chosen() {
        AnswerFormat::Human => output.result(human::draw(&comparison, output.result_look()))?,
        AnswerFormat::Json => output.json(&comparison)?,
    }
    Ok(if !comparison.same_meaning && arguments.exit_code { Exit::No } else { Exit::Yes })
}
