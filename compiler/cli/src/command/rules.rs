//! `relay rules`: the meanings of the codes of errors and warnings.

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::args::{AnswerFormat, RulesArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, bold, doubtful};
use crate::report::{Rule, Severity};
use crate::text::{padded, widest, wrapped};

/// The output of `relay rules --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Rules {
    /// The version of this JSON format.
    format_version: u32,
    /// The rules, sorted by code; with a CODE, that rule alone.
    rules: Vec<Rule>,
}

pub(crate) fn run(arguments: &RulesArgs, output: &mut Output) -> Result<Exit, Failure> {
    let rules = match &arguments.code {
        Some(code) => vec![find(Rule::all(), code)?],
        None => Rule::all(),
    };
    match (arguments.format.chosen(), rules.as_slice()) {
        (AnswerFormat::Json, _) => output.json(&Rules { format_version: FORMAT_VERSION, rules })?,
        (AnswerFormat::Human, [rule]) => output.result(page(rule, output.result_look().width))?,
        (AnswerFormat::Human, rules) => output.result(list(rules, output.result_columns()))?,
    }
    Ok(Exit::Yes)
}

/// The least room for a message, even on a narrow terminal.
const MESSAGE_COLUMNS_MIN: usize = 30;

fn find(rules: Vec<Rule>, code: &str) -> Result<Rule, Failure> {
    let nearest = relay_compiler::nearest(code, rules.iter().map(|rule| rule.code.as_str()));
    let help = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`relay rules` lists every code".to_owned(),
    };
    let unknown = Failure::error(format!("unknown code `{code}`")).help(help);
    rules.into_iter().find(|rule| rule.code == code).ok_or(unknown)
}

/// Returns a line for each message, with a blank line between areas. On a terminal, a long message
/// continues below its beginning.
fn list(rules: &[Rule], columns: Option<usize>) -> String {
    let width = widest(rules.iter().map(|rule| rule.code.as_str()));
    let mut text = String::new();
    let mut area = rules.first().map_or("", Rule::area);
    for rule in rules {
        if rule.area() != area {
            area = rule.area();
            text.push('\n');
        }
        for message in &rule.messages {
            let (code, severity) = (padded(&rule.code, width), severity(message.severity));
            // Two spaces, `warning`, and two spaces.
            let indent = " ".repeat(width + 11);
            let message = match columns {
                None => format!("{}\n", message.message),
                Some(columns) => {
                    let room = columns.max(indent.len() + MESSAGE_COLUMNS_MIN);
                    wrapped(&message.message, &indent, room)
                }
            };
            text.push_str(&format!("{code}  {severity}  {}", message.trim_start()));
        }
    }
    text
}

/// Returns everything about one rule.
fn page(rule: &Rule, width: usize) -> String {
    let mut text = format!("{}\n\n", bold(&rule.code));
    for message in &rule.messages {
        text.push_str(&format!("{}  {}\n", severity(message.severity), message.message));
        if let Some(help) = &message.help {
            text.push_str(&format!("help     {help}\n"));
        }
    }
    for paragraph in &rule.why {
        text.push_str(&format!("\n{}", wrapped(paragraph, "", width)));
    }
    if let Some(example) = &rule.example {
        text.push_str(&format!("\nAn example:\n\n{example}"));
    }
    text
}

fn severity(severity: Severity) -> String {
    match severity {
        Severity::Error => format!("{}  ", bad("error")),
        Severity::Warning => doubtful("warning").to_string(),
        Severity::Note => "note   ".to_owned(),
    }
}
