//! The tier of a command by the policy of the bundle.

use relay_bundle::Bundle;
use relay_policy::classify::classify_at;
use relay_policy::location::Location;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::hit::{Raised, is_zero};
use crate::args::{AnswerFormat, ExplainArgs};
use crate::command::classify::draw;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judge::{self, Judge};
use crate::output::Output;

/// The output of `relay explain --command TEXT --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CommandExplained {
    /// The version of this JSON format.
    format_version: u32,
    /// The tier: how hard the worst effect of the command is to undo, 0 to 3.
    tier: u8,
    /// The tier's name.
    name: &'static str,
    /// The parts that raise it, the highest first; empty exactly for tier 0.
    hits: Vec<Raised>,
    /// How many further hits there are.
    #[serde(skip_serializing_if = "is_zero")]
    omitted: usize,
}

/// Judges `command`, run at `location`, as `relay classify --policy` does, by the policy of the bundle.
pub(super) fn explain(
    bundle: &Bundle,
    command: &str,
    arguments: &ExplainArgs,
    location: &Location,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let judge = Judge::of(bundle)?.ok_or_else(|| {
        let help = "add `policy` to the project; `relay classify` judges by what is shipped";
        judge::no_policy(&arguments.subject.subject).help(help)
    })?;
    let facts = judge.facts()?;
    let verdict = classify_at(command, location, &facts, &judge.rules);
    match arguments.subject.format.chosen().of_answer() {
        AnswerFormat::Json => output.json(&CommandExplained {
            format_version: FORMAT_VERSION,
            tier: verdict.tier.number(),
            name: verdict.tier.name(),
            hits: Raised::all(&verdict, &facts),
            omitted: verdict.omitted,
        })?,
        AnswerFormat::Human => {
            let width = output.result_look().width;
            output.result(draw::verdict(command, &verdict, &facts, width))?;
        }
    }
    Ok(Exit::Yes)
}
