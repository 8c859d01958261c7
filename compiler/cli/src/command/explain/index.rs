//! The prompts that the instructions list, and the number of omitted ones.

use relay_engine::view::View;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::size::{Size, counted, grouped};
use crate::args::AnswerFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bold};
use crate::text::{indented, wrapped};

/// The output of `relay explain --index --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct IndexExplained {
    /// The version of this JSON format.
    format_version: u32,
    /// The prompts that the instructions list, in their order.
    index: Vec<String>,
    /// The number of prompts that they omit.
    omitted: usize,
    /// The instructions that a client gets when it connects.
    instructions: String,
}

pub(crate) fn explain(
    view: &View<'_>,
    format: AnswerFormat,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let answer = answer(view)?;
    match format {
        AnswerFormat::Json => output.json(&answer)?,
        AnswerFormat::Human => output.result(render(&answer, output.result_look().width))?,
    }
    Ok(Exit::Yes)
}

fn answer(view: &View<'_>) -> Result<IndexExplained, Failure> {
    let index: Vec<String> = view.listed()?.into_iter().map(str::to_owned).collect();
    Ok(IndexExplained {
        format_version: FORMAT_VERSION,
        omitted: view.briefed()?.saturating_sub(index.len()),
        index,
        instructions: view.instructions()?,
    })
}

fn render(answer: &IndexExplained, width: usize) -> String {
    let IndexExplained { format_version: _, index, omitted, instructions } = answer;
    let size = Size::of(instructions.len());
    let mut text = format!(
        "{} {} in the instructions, {} omitted\n",
        bold("index:"),
        counted(index.len(), "prompt"),
        grouped(*omitted),
    );
    if !index.is_empty() {
        text.push_str(&wrapped(&index.join(", "), "  ", width));
    }
    text.push_str(&format!(
        "\n{} {} bytes, {}, about {} tokens\n",
        bold("instructions:"),
        grouped(size.bytes),
        counted(instructions.chars().count(), "character"),
        grouped(size.tokens_estimated)
    ));
    text.push_str(&indented(instructions, "  | "));
    text
}
