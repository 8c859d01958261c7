//! The briefing that tags get, or a call that no one asked a briefing for, and why it is this one.

mod why;

use relay_bundle::{Bundle, GateView, PromptView, Unlock};
use relay_engine::briefing::{self, Occasion, Request};
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

/// What a text has where the server puts the handle, which is sealed for one caller.
const HANDLE: &str = "<briefing handle>";

/// What `relay explain --tags …` and `relay explain --call TOOL` print with `--json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SelectionExplained {
    /// The version of this form.
    format_version: u32,
    /// Whether sessions are gated; if not, this is what a gate with its defaults would select.
    gated: bool,
    /// The keywords of the call, in their order; only of `--call`.
    #[serde(skip_serializing_if = "Option::is_none")]
    keywords: Option<Vec<String>>,
    /// Why the server would refuse the tags; then nothing below is there.
    refused: Option<String>,
    /// What it would select.
    #[serde(flatten)]
    selected: Option<Selected>,
}

/// What the server would select and send.
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
    /// The text that an agent gets, `<briefing handle>` in place of the handle; none if no briefing
    /// is sent: there is no gate, the tool is not gated, or the gate refuses the call.
    text: Option<String>,
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

/// What the order of a prompt comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Score {
    /// The prompt.
    prompt: String,
    /// 1 (reference) to 10 (always sent).
    priority: u8,
    /// Matching tags times priority; none for priority 10.
    score: Option<usize>,
    /// How many tags match.
    #[serde(skip)]
    matching: usize,
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
    /// Names of prompts that were sent before; unknown ones do no harm. If present, `read_prompts`
    /// is asked, not `begin_session`.
    pub(crate) sent: Option<&'a [String]>,
    /// Whether a caller that is intercepted has a session.
    pub(crate) has_session: bool,
    /// Bytes of bodies, over those of the gate.
    pub(crate) budget: Option<usize>,
    /// Whether people want the reasons, not the text.
    pub(crate) why: bool,
    pub(crate) json: bool,
}

/// Why no briefing is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsent {
    /// The project has no gate.
    NoGate,
    /// The tool is not gated.
    NotGated,
    /// The gate refuses the call.
    Refused,
}

/// Explains what `begin_session` or `read_prompts` would answer.
pub(crate) fn explain_tags(
    bundle: &Bundle,
    tags: &[String],
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let gate = bundle.gate()?;
    let tags = Tags::new(tags, gate.as_ref().map_or(select::TAGS_MAX, |gate| gate.tags_max));
    let occasion = if asked.sent.is_some() { Occasion::Read } else { Occasion::Begin };
    let question = Question { bundle, gate, occasion, tool: None, asked };
    print(&question, &question.answer(tags, output)?, output)
}

/// Explains what would be put before the result of a call without a briefing.
pub(crate) fn explain_call(
    bundle: &Bundle,
    tool: &str,
    arguments: &Map<String, Value>,
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (gate, occasion) = (bundle.gate()?, Occasion::Intercept);
    let question = Question { bundle, gate, occasion, tool: Some(tool), asked };
    let tags = keywords::tags(tool, arguments);
    print(&question, &question.answer(Ok(tags), output)?, output)
}

/// Reads `--arguments` of a call: a JSON object.
pub(crate) fn arguments(json: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let Some(json) = json else { return Ok(Map::new()) };
    serde_json::from_str(json).map_err(|error| {
        Failure::unknown(format!("--arguments is not a JSON object: {error}"))
            .help("as in --arguments '{\"host\":\"web-1\"}'")
    })
}

/// A question for the gate.
struct Question<'a> {
    bundle: &'a Bundle,
    gate: Option<GateView<'a>>,
    occasion: Occasion,
    /// Whose call is asked about.
    tool: Option<&'a str>,
    asked: &'a Asked<'a>,
}

impl Question<'_> {
    fn answer(
        &self,
        tags: Result<Tags, TagError>,
        output: &mut Output,
    ) -> Result<SelectionExplained, Failure> {
        let tags = tags.map_err(|error| error.to_string());
        let keywords = match (self.tool, &tags) {
            (Some(_), Ok(tags)) => Some(tags.as_slice().to_vec()),
            _ => None,
        };
        let (refused, selected) = match tags {
            Err(reason) => (Some(reason), None),
            Ok(tags) => (None, Some(self.select(&tags, output)?)),
        };
        let gated = self.gate.is_some();
        Ok(SelectionExplained {
            format_version: FORMAT_VERSION,
            gated,
            keywords,
            refused,
            selected,
        })
    }

    fn select(&self, tags: &Tags, output: &mut Output) -> Result<Selected, Failure> {
        let known = known(self.bundle, self.asked.sent.unwrap_or_default(), output)?;
        let sent = Sent::from_indexes(known.iter().map(|(index, _)| *index));
        let Asked { has_session, budget: budget_bytes, .. } = *self.asked;
        let occasion = self.occasion;
        let request = Request { occasion, tags, sent: &sent, has_session, budget_bytes };
        let budget_bytes = match &self.gate {
            Some(gate) => briefing::limits(gate, &request).budget_bytes,
            None => budget_bytes.unwrap_or(select::BUDGET_BYTES),
        };
        // A text has an end; who asks why may see every prompt.
        let limits = Limits { budget_bytes, entries_max: usize::MAX };
        let selection = select::select(self.bundle, tags, &sent, limits)?;
        let mut selected = Selected::of(self.bundle, tags, budget_bytes, &selection)?;
        selected.sent = known.into_iter().map(|(_, name)| name.to_owned()).collect();
        if let (Some(gate), None) = (&self.gate, self.unsent()?) {
            selected.text = Some(briefing::brief(self.bundle, gate, &request)?.text(HANDLE));
        }
        Ok(selected)
    }

    /// Returns why no briefing is sent; `None` if one is.
    fn unsent(&self) -> Result<Option<Unsent>, Failure> {
        let Some(gate) = &self.gate else { return Ok(Some(Unsent::NoGate)) };
        let Some(tool) = self.tool else { return Ok(None) };
        for offered in self.bundle.tools() {
            let offered = offered?;
            if offered.name == tool && !offered.gated {
                return Ok(Some(Unsent::NotGated));
            }
        }
        Ok((gate.unlock == Unlock::Refuse).then_some(Unsent::Refused))
    }
}

fn print(
    question: &Question<'_>,
    answer: &SelectionExplained,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let text = answer.selected.as_ref().and_then(|selected| selected.text.as_ref());
    match text {
        _ if question.asked.json => output.json(answer)?,
        Some(text) if !question.asked.why => output.text(text)?,
        _ => output.result(why::render(question, answer, output.result_look().width)?)?,
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
            text: None,
        })
    }
}

impl Score {
    fn of(prompt: &PromptView<'_>, tags: &Tags) -> Result<Self, Failure> {
        let score = select::score(prompt, tags)?;
        Ok(Self {
            prompt: prompt.name()?.into(),
            priority: prompt.priority(),
            score: score.points(),
            matching: match score {
                select::Score::Points { matching, priority: _ } => matching,
                select::Score::Always => 0,
            },
            bytes: prompt.body_bytes(),
        })
    }
}
