//! The skills that a call is given, which of them win, and which it misses by one selector.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Level};
use relay_engine::cascade::{self, NearMiss, Question, TraceRow, TracedSkill};
use relay_engine::nearest::nearest;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::size::{Size, grouped};
use crate::answer::table::{self, number, text};
use crate::args::AnswerFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bold, doubtful};
use crate::schema::FORMAT_VERSION;
use crate::text::{indented, printable};

/// The output of `relay explain --tenant T --tool X --user U --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CascadeExplained {
    /// The version of this JSON format.
    format_version: u32,
    /// The text that the call is given.
    resolved_context: String,
    /// The skills that match, in the order of the text, and a row for each level without one.
    trace: Vec<Row>,
    /// The skills that would match but for one selector.
    near_misses: Vec<Miss>,
    /// Names of the question that no skill and no tool of the bundle has.
    notes: Vec<String>,
}

/// A skill that matches, or a level at which none does.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Row {
    /// The level.
    level: Level,
    /// The name of the skill; `null` if none of this level matches.
    skill: Option<String>,
    /// Its priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u8>,
    /// Whether there is a skill.
    matched: bool,
    /// The skill of the same topic that wins, so that this one gives no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden_by: Option<String>,
    /// Where it was declared: `file:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

/// A skill that fails exactly one of its selectors.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Miss {
    /// Its level.
    level: Level,
    /// Its name.
    skill: String,
    /// Its priority.
    priority: u8,
    /// The selector that fails.
    failed: Failed,
    /// Where it was declared: `file:line`.
    at: String,
}

/// A selector that fails.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Failed {
    /// `tenant`, `tool` or `user`.
    selector: &'static str,
    /// The name that it asks for, or the patterns of which one must match.
    wants: Vec<String>,
    /// What the question has.
    got: Option<String>,
}

pub(super) fn explain(
    bundle: &Bundle,
    question: Question<'_>,
    format: AnswerFormat,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let answer = answer(bundle, question)?;
    match format {
        AnswerFormat::Json => output.json(&answer)?,
        AnswerFormat::Human => output.result(render(&answer, output.result_look().width))?,
    }
    Ok(Exit::Yes)
}

fn answer(bundle: &Bundle, question: Question<'_>) -> Result<CascadeExplained, Failure> {
    let resolution = cascade::resolve(bundle, question)?;
    Ok(CascadeExplained {
        format_version: FORMAT_VERSION,
        resolved_context: resolution.text()?,
        trace: resolution.trace()?.into_iter().map(row).collect(),
        near_misses: cascade::near_misses(bundle, question)?.into_iter().map(miss).collect(),
        notes: notes(bundle, question)?,
    })
}

fn row(TraceRow { level, skill }: TraceRow) -> Row {
    let Some(TracedSkill { name, priority, overridden_by, at }) = skill else {
        let (skill, priority, overridden_by, at) = (None, None, None, None);
        return Row { level, skill, priority, matched: false, overridden_by, at };
    };
    Row {
        level,
        skill: Some(name),
        priority: Some(priority),
        matched: true,
        overridden_by,
        at: Some(at.to_string()),
    }
}

fn miss(miss: NearMiss) -> Miss {
    let NearMiss { level, skill, priority, selector, wants, got, at } = miss;
    let failed = Failed { selector: selector.word(), wants, got };
    Miss { level, skill, priority, failed, at: at.to_string() }
}

/// Returns a line for each name of the question that is unknown, with the nearest one.
fn notes(bundle: &Bundle, question: Question<'_>) -> Result<Vec<String>, Failure> {
    let (mut tenants, mut users, mut tools) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for skill in bundle.skills() {
        let skill = skill?;
        tenants.extend(skill.tenant()?);
        users.extend(skill.user()?);
    }
    for tool in bundle.known_tools() {
        tools.insert(tool?.name()?);
    }
    tools.extend(bundle.tools().iter().map(|tool| tool.name.as_str()));
    let Question { tenant, tool, user } = question;
    let asked = [
        ("tenant", tenant, &tenants, "no skill asks for it"),
        ("tool", tool, &tools, "it is compared with the patterns all the same"),
        ("user", user, &users, "no skill asks for it"),
    ];
    let mut notes = Vec::new();
    for (what, name, known, meaning) in asked {
        let Some(name) = name.filter(|name| !known.contains(name)) else { continue };
        let near = nearest(name, known.iter().copied());
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        notes.push(format!("the {what} `{name}` is not known: {meaning}{near}"));
    }
    Ok(notes)
}

fn render(answer: &CascadeExplained, width: usize) -> String {
    let CascadeExplained { format_version: _, resolved_context, trace, near_misses, notes } =
        answer;
    let mut page = String::new();
    for note in notes {
        page.push_str(&format!("{} {}\n", doubtful("note:"), printable(note)));
    }
    let size = Size::of(resolved_context.len());
    page.push_str(&format!(
        "{} {} bytes, about {} tokens\n",
        bold("skills:"),
        grouped(size.bytes),
        grouped(size.tokens_estimated)
    ));
    page.push_str(&indented(resolved_context, "  | "));
    page.push('\n');
    let rows = trace.iter().map(|row| {
        let Row { level, skill, priority, matched: _, overridden_by, at } = row;
        let result = match (skill, overridden_by) {
            (None, _) => "nothing matches".into(),
            (Some(_), None) => "applied".into(),
            (Some(_), Some(winner)) => format!("overridden by {winner}"),
        };
        vec![
            level.word().to_owned(),
            skill.clone().unwrap_or_default(),
            priority.map(|priority| priority.to_string()).unwrap_or_default(),
            result,
            at.clone().unwrap_or_default(),
        ]
    });
    let columns =
        [text("level"), text("skill"), number("priority"), text("result"), text("declared at")];
    page.push_str(&table::draw(&columns, rows.collect(), width));
    if !near_misses.is_empty() {
        page.push('\n');
        let rows = near_misses.iter().map(|miss| {
            let Failed { selector, wants, got } = &miss.failed;
            vec![
                miss.level.word().to_owned(),
                miss.skill.clone(),
                format!("{selector} {}", wants.join(" or ")),
                got.clone().unwrap_or_else(|| "none".into()),
                miss.at.clone(),
            ]
        });
        let columns =
            [text("level"), text("near miss"), text("wants"), text("got"), text("declared at")];
        page.push_str(&table::draw(&columns, rows.collect(), width));
    }
    page
}
