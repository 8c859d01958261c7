//! Which prompts tags select, or a call that nobody asked a briefing for, and why.

mod shown;

use relay_bundle::{Bundle, PromptView};
use relay_engine::keywords;
use relay_engine::select::{self, HitPlace, Limits, Selection, TagError, Tags};
use relay_engine::sent::Sent;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::table::printable;
use crate::command::explain::nearest;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::schema::FORMAT_VERSION;

/// What `relay explain --tags …` and `relay explain --call TOOL` print with `--json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SelectionExplained {
    /// The version of this form.
    format_version: u32,
    /// Whether sessions are gated; if not, this is what a gate with its defaults would select.
    gated: bool,
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
    /// The prompts that were sent before, in the order of their mention.
    sent: Vec<String>,
    /// Bytes that the bodies may have together; prompts of priority 10 come whatever it is.
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
    /// 1 (reference) to 10 (always sent).
    priority: u8,
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
    let tags_max = bundle.gate().map_or(select::TAGS_MAX, |gate| gate.tags_max.value as usize);
    let answer = answer(bundle, None, Tags::new(tags, tags_max), asked, output)?;
    tell(bundle, None, &answer, asked, output)
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
    let tags = Tags::new(&keywords, keywords::KEYWORDS_MAX);
    let answer = answer(bundle, Some(keywords), tags, asked, output)?;
    tell(bundle, Some(tool), &answer, asked, output)
}

/// Reads `--arguments` of a call: a JSON object.
pub(crate) fn arguments(json: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let Some(json) = json else { return Ok(Map::new()) };
    serde_json::from_str(json).map_err(|error| {
        Failure::unknown(format!("--arguments is not a JSON object: {error}"))
            .help("as in --arguments '{\"host\":\"web-1\"}'")
    })
}

fn answer(
    bundle: &Bundle,
    keywords: Option<Vec<String>>,
    tags: Result<Tags, TagError>,
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<SelectionExplained, Failure> {
    let gate = bundle.gate();
    let (refused, selected) = match tags {
        Err(error) => (Some(error.to_string()), None),
        Ok(tags) => {
            let of_gate =
                gate.map_or(select::BUDGET_BYTES, |gate| gate.budget_bytes.value as usize);
            let budget_bytes = asked.budget.unwrap_or(of_gate);
            let known = known(bundle, asked.sent, output)?;
            let sent = Sent::from_indexes(known.iter().map(|(index, _)| *index));
            let limits = Limits { budget_bytes, entries_max: usize::MAX };
            let selection = select::select(bundle, &tags, &sent, limits)?;
            let mut selected = Selected::of(bundle, &tags, budget_bytes, &selection)?;
            selected.sent = known.into_iter().map(|(_, name)| name.to_owned()).collect();
            (None, Some(selected))
        }
    };
    let gated = gate.is_some();
    Ok(SelectionExplained { format_version: FORMAT_VERSION, gated, keywords, refused, selected })
}

fn tell(
    bundle: &Bundle,
    tool: Option<&str>,
    answer: &SelectionExplained,
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if asked.json {
        output.json(answer)?;
    } else {
        let width = output.result_look().width;
        output.result(shown::shown(bundle, tool, answer, width)?)?;
    }
    Ok(if answer.selected.is_some() { Exit::Yes } else { Exit::No })
}

/// Finds the prompts that were sent before, each once, and warns of names that no prompt has.
fn known<'n>(
    bundle: &Bundle,
    names: &'n [String],
    output: &mut Output,
) -> Result<Vec<(u32, &'n str)>, Failure> {
    let mut known = Vec::new();
    for name in names {
        let index = bundle.find_prompt(name)?.and_then(|prompt| u32::try_from(prompt.index()).ok());
        match index {
            Some(index) if known.contains(&(index, name.as_str())) => {}
            Some(index) => known.push((index, name.as_str())),
            None => {
                let help = match nearest(bundle, name)? {
                    Some(nearest) => format!("there is `{}`", printable(nearest)),
                    None => "`relay describe` lists the prompts".to_owned(),
                };
                let message =
                    format!("no prompt is named `{}`: --sent without effect", printable(name));
                output.warn(&message, &help);
            }
        }
    }
    Ok(known)
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
            tags: tags.as_slice().to_vec(),
            sent: Vec::new(),
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
        Ok(Self {
            prompt: prompt.name()?.into(),
            priority: prompt.priority(),
            score,
            bytes: prompt.body_bytes(),
        })
    }
}
