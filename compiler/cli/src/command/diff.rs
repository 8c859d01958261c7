//! `relay diff`: the effects of a change on the texts and the authority of agents.

mod accepted;
mod anchor;
mod comparison;
mod condition;
mod github;
mod human;
mod input;
mod markdown;
mod outline;
mod pair;
mod sarif;
mod settings;
mod side;
mod words;

use crate::args::{DiffArgs, DiffFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::text::printable;
use crate::trust_file;

pub(crate) use comparison::Comparison;
pub(crate) use words::{NO_DIFFERENCE, area, title};

use self::accepted::AcceptedFile;
use self::comparison::{Compared, Gathered};
use self::outline::Outline;
use self::pair::Pair;

pub(crate) fn run(arguments: &DiffArgs, output: &mut Output) -> Result<Exit, Failure> {
    let areas = condition::areas(arguments)?;
    if arguments.max_chars.is_some() && arguments.format.chosen() != DiffFormat::Markdown {
        return Err(Failure::error("`--max-chars` is for `--format markdown`")
            .help("omit it: the other forms have limits of their own"));
    }
    let (projects, base) = match settings::named(arguments) {
        Some(files) => {
            let compared = settings::compare(&files)?;
            let base = compared.a.commit.clone();
            (vec![compared], base)
        }
        None => compared(arguments, output)?,
    };
    let accepted = arguments.accepted.as_deref();
    let accepted = accepted.map(|path| AcceptedFile::read(path, base.as_deref())).transpose()?;
    let mut comparison = Comparison::of(projects);
    if let Some(accepted) = accepted {
        accepted.apply(&mut comparison);
    }
    if !areas.is_empty() {
        comparison.keep(&areas);
    }
    condition::mark(&arguments.fail_on, &mut comparison);
    let format = arguments.format.chosen();
    if format != DiffFormat::Human {
        for note in &comparison.notes {
            output.warn(&printable(note), "remove the entry, or correct its fingerprint");
        }
    }
    let outline = || Outline::of(&comparison);
    match format {
        DiffFormat::Human => output.result(human::draw(&outline(), output.result_look()))?,
        DiffFormat::Json => output.json(&comparison)?,
        DiffFormat::Markdown => {
            output.verbatim(&markdown::draw(&outline(), arguments.markdown_chars()))?;
        }
        DiffFormat::Sarif => output.verbatim(&sarif::draw(&outline())?)?,
        DiffFormat::Github => output.verbatim(&github::draw(&outline()))?,
    }
    if let Some(failure) = condition::tripped(&arguments.fail_on, &comparison) {
        return Err(failure);
    }
    let differs = comparison.projects.iter().any(|project| !project.findings.is_empty());
    Ok(if differs && arguments.exit_code { Exit::No } else { Exit::Yes })
}

/// Compares the projects and bundles of both sides; returns each, and the commit of the first side.
fn compared(
    arguments: &DiffArgs,
    output: &mut Output,
) -> Result<(Vec<Compared>, Option<String>), Failure> {
    let trust = arguments.trust.as_deref().map(trust_file::read).transpose()?;
    let pairs = input::pairs(&arguments.sides)?;
    let base = pairs.iter().find_map(|pair| pair.a.commit.clone());
    if trust.is_some() && !pairs.iter().any(Pair::has_bundle) {
        return Err(Failure::error("`--trust` is for bundles, and neither side is one")
            .help("omit it: a project is not signed"));
    }
    let mut projects = Vec::new();
    for pair in pairs {
        let mut gathered = Gathered::default();
        let facts = pair.compare(arguments.env.as_deref(), trust.as_ref(), output, |sides| {
            gathered.compare(sides)
        })?;
        projects.push(gathered.finish(&pair, facts));
    }
    Ok((projects, base))
}
