//! Which prompts tags select, or a call that nobody asked a briefing for, and why.

use relay_bundle::{Bundle, PromptView};
use relay_engine::keywords;
use relay_engine::select::{self, HitPlace, Limits, Selection, Tags};
use relay_engine::sent::Sent;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::size::{counted, grouped};
use crate::answer::table::{self, number, printable, text};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, bold, dim};
use crate::schema::FORMAT_VERSION;

/// What `relay explain --tags …` and `relay explain --call TOOL` print with `--json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SelectionExplained {
    /// The version of this form.
    format_version: u32,
    /// The keywords that the call gives, in the order in which they stand; only of `--call`.
    #[serde(skip_serializing_if = "Option::is_none")]
    keywords: Option<Vec<String>>,
    /// Why the server would refuse the tags; then nothing below is there.
    refused: Option<String>,
    /// What it would select.
    #[serde(flatten)]
    selected: Option<Selected>,
}

/// What the server would select.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Selected {
    /// The prompts in full, in their order.
    full: Vec<String>,
    /// The other prompts that match, in their order: name and summary are sent.
    index: Vec<String>,
    /// The prompts that do not match, sorted: their names are sent.
    names: Vec<String>,
    /// Bytes of the bodies in full.
    bytes: usize,
    /// Which tag was found where, for every prompt in full or in the index.
    hits: Vec<Hit>,
    /// The tags that were searched: trimmed, lower-cased, each once.
    tags: Vec<String>,
    /// Bytes that the bodies may have together.
    budget_bytes: usize,
    /// The score of every prompt in full or in the index; without one it is always sent.
    scores: Vec<Score>,
    /// The first prompt that did not fit, which ended the filling.
    cut: Option<Cut>,
}

/// That a tag was found in a prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Hit {
    /// The prompt.
    prompt: String,
    /// The tag.
    tag: String,
    /// `summary`, or `chapter: ` and the chapter.
    #[serde(rename = "where")]
    place: String,
}

/// How high a prompt stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Score {
    /// The prompt.
    prompt: String,
    /// Matching tags times priority; none for priority 10.
    score: Option<usize>,
    /// Bytes of its body.
    bytes: usize,
}

/// The prompt that ended the filling.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Cut {
    /// The prompt.
    prompt: String,
    /// Bytes of its body.
    bytes: usize,
    /// Bytes that were left.
    left: usize,
}

/// What was asked beside the tags.
pub(crate) struct Asked<'a> {
    /// Names of prompts that were sent before; unknown ones do no harm.
    pub(crate) sent: &'a [String],
    /// Bytes of bodies, over those of the gate.
    pub(crate) budget: Option<usize>,
    pub(crate) json: bool,
}

/// Explains what `begin_session` or `read_prompts` would select.
pub(crate) fn explain_tags(
    bundle: &Bundle,
    tags: &[String],
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    explain(bundle, None, tags, asked, output)
}

/// Explains what would be put before the result of a call without a briefing.
pub(crate) fn explain_call(
    bundle: &Bundle,
    tool: &str,
    arguments: &Map<String, Value>,
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let keywords = keywords::keywords(tool, arguments);
    explain(bundle, Some(keywords.clone()), &keywords, asked, output)
}

/// Reads `--arguments` of a call: a JSON object.
pub(crate) fn arguments(json: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let Some(json) = json else { return Ok(Map::new()) };
    serde_json::from_str(json).map_err(|error| {
        Failure::unknown(format!("--arguments is not a JSON object: {error}"))
            .help("as in --arguments '{\"host\":\"web-1\"}'")
    })
}

fn explain(
    bundle: &Bundle,
    keywords: Option<Vec<String>>,
    tags: &[String],
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let gate = bundle.gate()?;
    let tags_max = match &keywords {
        Some(_) => keywords::KEYWORDS_MAX,
        None => gate.as_ref().map_or(select::TAGS_MAX, |gate| gate.tags_max),
    };
    let gate_budget = gate.as_ref().map_or(select::BUDGET_BYTES, |gate| gate.budget_bytes);
    let (refused, selected) = match Tags::new(tags, tags_max) {
        Err(error) => (Some(error.to_string()), None),
        Ok(tags) => {
            let budget_bytes = asked.budget.unwrap_or(gate_budget);
            let sent = sent(bundle, asked.sent)?;
            let limits = Limits { budget_bytes, entries_max: usize::MAX };
            let selection = select::select(bundle, &tags, &sent, limits)?;
            (None, Some(Selected::of(bundle, &tags, budget_bytes, &selection)?))
        }
    };
    let answer = SelectionExplained { format_version: FORMAT_VERSION, keywords, refused, selected };
    if asked.json {
        output.json(&answer)?;
    } else {
        let width = output.result_look().width;
        output.result(shown(bundle, &answer, width)?)?;
    }
    Ok(if answer.selected.is_some() { Exit::Yes } else { Exit::No })
}

fn sent(bundle: &Bundle, names: &[String]) -> Result<Sent, Failure> {
    let mut indexes = Vec::new();
    for name in names {
        let prompt = bundle.find_prompt(name)?;
        indexes.extend(prompt.and_then(|prompt| u32::try_from(prompt.index()).ok()));
    }
    Ok(Sent::from_indexes(indexes))
}

impl Selected {
    fn of(
        bundle: &Bundle,
        tags: &Tags,
        budget_bytes: usize,
        selection: &Selection,
    ) -> Result<Self, Failure> {
        let name = |index: &usize| -> Result<String, Failure> {
            Ok(bundle.prompt(*index)?.name()?.to_owned())
        };
        let names = |indexes: &[usize]| indexes.iter().map(name).collect::<Result<Vec<_>, _>>();
        let mut hits = Vec::new();
        let mut scores = Vec::new();
        for index in selection.full.iter().chain(&selection.index) {
            let prompt = bundle.prompt(*index)?;
            scores.push(Score::of(&prompt, tags)?);
            for hit in select::hits(&prompt, tags)? {
                let place = match hit.place {
                    HitPlace::Summary => "summary".to_owned(),
                    HitPlace::Chapter(chapter) => format!("chapter: {chapter}"),
                };
                hits.push(Hit { prompt: name(index)?, tag: hit.tag.to_owned(), place });
            }
        }
        let cut = selection.cut.as_ref().map(|cut| -> Result<Cut, Failure> {
            Ok(Cut { prompt: name(&cut.prompt)?, bytes: cut.bytes, left: cut.left })
        });
        Ok(Self {
            full: names(&selection.full)?,
            index: names(&selection.index)?,
            names: names(&selection.names)?,
            bytes: selection.bytes,
            hits,
            tags: tags.iter().map(ToOwned::to_owned).collect(),
            budget_bytes,
            scores,
            cut: cut.transpose()?,
        })
    }
}

impl Score {
    fn of(prompt: &PromptView<'_>, tags: &Tags) -> Result<Self, Failure> {
        let score = match select::score(prompt, tags)? {
            select::Score::Points(points) => Some(points),
            select::Score::Always => None,
        };
        Ok(Self { prompt: prompt.name()?.into(), score, bytes: prompt.body_bytes() })
    }
}

fn shown(bundle: &Bundle, answer: &SelectionExplained, width: usize) -> Result<String, Failure> {
    let SelectionExplained { format_version: _, keywords, refused, selected } = answer;
    let mut shown = String::new();
    if let Some(keywords) = keywords {
        shown.push_str(&line("keywords of the call:", &listed(keywords)));
    }
    if let Some(refused) = refused {
        shown.push_str(&format!("{} {}\n", bad("refused:"), printable(refused)));
    }
    let Some(selected) = selected else { return Ok(shown) };
    if keywords.is_none() {
        shown.push_str(&line("tags:", &listed(&selected.tags)));
    }
    shown.push_str(&line(
        "budget:",
        &format!("{} of {} bytes", grouped(selected.bytes), grouped(selected.budget_bytes)),
    ));
    shown.push_str(&heading("in full", selected.full.len()));
    shown.push_str(&rows(selected, &selected.full, width));
    if let Some(Cut { prompt, bytes, left }) = &selected.cut {
        let told = format!(
            "`{}` has {} bytes and {} were left: it and all behind it come as index entries",
            printable(prompt),
            grouped(*bytes),
            grouped(*left),
        );
        shown.push_str(&format!("  {}\n", dim(told)));
    }
    shown.push_str(&heading("as index entries", selected.index.len()));
    shown.push_str(&rows(selected, &selected.index, width));
    shown.push_str(&heading("by name", selected.names.len()));
    if !selected.names.is_empty() {
        shown.push_str(&format!("  {}\n", printable(&selected.names.join(", "))));
    }
    if let Some(gate) = bundle.gate()?.filter(|_| keywords.is_some()) {
        let told = format!(
            "a client that has no session and sends no briefing gets at most {} bytes with each call",
            grouped(gate.repeat_bytes)
        );
        shown.push_str(&format!("\n{}\n", dim(told)));
    }
    Ok(shown)
}

fn line(name: &str, value: &str) -> String {
    format!("{} {}\n", bold(name), printable(value))
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "(none)".to_owned() } else { words.join(", ") }
}

fn heading(what: &str, count: usize) -> String {
    format!("\n{} {}\n", bold(what), dim(format!("({})", counted(count, "prompt"))))
}

fn rows(selected: &Selected, names: &[String], width: usize) -> String {
    if names.is_empty() {
        return String::new();
    }
    let rows = names.iter().map(|name| {
        let score = selected.scores.iter().find(|score| score.prompt == *name);
        let points = score.map(|score| match score.score {
            Some(points) => grouped(points),
            None => "always".to_owned(),
        });
        let bytes = score.map(|score| grouped(score.bytes));
        let found = selected.hits.iter().filter(|hit| hit.prompt == *name);
        let found: Vec<String> =
            found.map(|Hit { prompt: _, tag, place }| format!("{tag} ({place})")).collect();
        vec![name.clone(), points.unwrap_or_default(), bytes.unwrap_or_default(), found.join(", ")]
    });
    let columns = [text("prompt"), number("score"), number("bytes"), text("found")];
    table::draw(&columns, rows.collect(), width)
}
