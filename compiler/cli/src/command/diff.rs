//! `relay diff`: what a change does to what agents read.

mod input;
mod pair;
mod side;

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Digest};

use crate::answer::size::counted;
use crate::args::DiffArgs;
use crate::command::diff::pair::{Facts, InEnvironment, Pair};
use crate::command::verify::Signature;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::text::printable;

pub(crate) fn run(arguments: &DiffArgs, output: &mut Output) -> Result<Exit, Failure> {
    let mut differs = false;
    for pair in input::pairs(&arguments.sides)? {
        let mut environments = Vec::new();
        let facts = pair.compare(arguments.env.as_deref(), output, |bundles| {
            if !has_equal_meaning(bundles)? {
                environments.push(bundles.environment.map(str::to_owned));
            }
            Ok(())
        })?;
        differs |= !environments.is_empty();
        output.result(verdict(&pair, &environments))?;
        for note in notes(&pair, &facts) {
            output.note(printable(&note));
        }
    }
    Ok(if differs && arguments.exit_code { Exit::No } else { Exit::Yes })
}

/// Returns whether both sides decide the same in an environment.
fn has_equal_meaning(bundles: &InEnvironment<'_>) -> Result<bool, Failure> {
    let meaning = |bundle: Option<&Bundle>| -> Result<Option<Digest>, Failure> {
        let Some(bundle) = bundle else { return Ok(None) };
        let mut contents = bundle.contents()?;
        if bundles.is_compiled {
            contents.manifest.environment = None;
        }
        Ok(Some(contents.meaning()))
    };
    let InEnvironment { environment: _, a, b, is_compiled: _ } = bundles;
    Ok(meaning(*a)? == meaning(*b)?)
}

fn verdict(pair: &Pair, differing: &[Option<String>]) -> String {
    let project = pair.project.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    if differing.is_empty() {
        return format!("{project}no difference in meaning\n");
    }
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "no environment".into());
    let names: Vec<_> = differing.iter().map(name).collect();
    format!("{project}the meaning differs ({})\n", names.join(", "))
}

fn notes(pair: &Pair, facts: &Facts) -> Vec<String> {
    let Facts { a, b, notes } = facts;
    let mut notes = notes.clone();
    for (side, facts) in [(&pair.a, a), (&pair.b, b)] {
        if let Some(commit) = &side.commit {
            notes.push(format!("`{}` is of commit {commit}", side.label));
        }
        for Signature { keyid, name: _, state } in &facts.signers {
            notes.push(format!("`{}` is signed by {keyid} ({state})", side.label));
        }
    }
    let paths: BTreeSet<_> = a.files.keys().chain(b.files.keys()).collect();
    let differ = paths.iter().filter(|path| a.files.get(**path) != b.files.get(**path)).count();
    if differ > 0 {
        notes.push(format!("{differ} of {} differ", counted(paths.len(), "source file")));
    }
    notes
}
