//! The briefing for given tags, or for a call without a briefing, and its selection; whether such a
//! call runs.

mod answer;
mod why;

use relay_bundle::{Bundle, Gate, Unlock};
use relay_engine::briefing::{self, Occasion, Request};
use relay_engine::decide::{Call, Decision, Door, Outcome, Rule, decide};
use relay_engine::glob;
use relay_engine::keywords;
use relay_engine::select::{self, Limits, TagError, Tags};
use relay_engine::sent::Sent;
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::{Map, Value};

use crate::answer::FORMAT_VERSION;
use crate::args::AnswerFormat;
use crate::caller::Asker;
use crate::command::explain::prompt::nearest_prompt;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judge::authority;
use crate::output::Output;
use crate::text::printable;

pub(crate) use answer::SelectionExplained;
use answer::{Decided, Selected};

/// The placeholder for the handle, which the server seals for one caller.
const HANDLE: &str = "<briefing handle>";

/// The options of the question.
pub(crate) struct Asked<'a> {
    /// Names of prompts sent before; unknown ones are ignored with a warning. If present, the
    /// question is for `read_prompts`, not `begin_session`.
    pub(crate) sent: Option<&'a [String]>,
    /// Whether the client of an intercepted call has a session.
    pub(crate) has_session: bool,
    /// The byte budget of the bodies, instead of the gate's.
    pub(crate) budget: Option<usize>,
    /// Whether to print the reasons instead of the text.
    pub(crate) why: bool,
    /// The form of the answer.
    pub(crate) format: AnswerFormat,
}

/// The reason for which the briefing stays unsent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsent {
    /// The project is ungated.
    NoGate,
    /// The call is denied.
    Denied,
    /// The tool is ungated.
    NotGated,
    /// The gate denies the call.
    Refused,
}

/// Explains the answer of `begin_session` or `read_prompts`.
pub(crate) fn explain_tags(
    view: &View<'_>,
    tags: &[String],
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let gate = view.gate();
    let tags = Tags::new(tags, gate.map_or(select::TAGS_MAX, |gate| gate.tags_max.value as usize));
    let occasion = if asked.sent.is_some() { Occasion::Read } else { Occasion::Begin };
    let question = Question { view, gate, occasion, call: None, asked };
    print(&question, &question.answer(tags, output)?, output)
}

/// Explains whether a call would run, and the briefing before the result if it had none.
pub(crate) fn explain_call(
    asker: &Asker<'_>,
    tool: &str,
    arguments: &Map<String, Value>,
    asked: &Asked<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Asker { bundle, placement: _, view } = asker;
    let (gate, occasion) = (view.gate(), Occasion::Intercept);
    let location = Location::default();
    // A policy decides the calls of all tools, as `relay diff` and `expect decision` ask them.
    let door = if bundle.policy().is_some() { Door::Elsewhere } else { Door::Server };
    let call = Call { tool, arguments, client: None, location: &location, door };
    let decision = decide(view, &authority(bundle)?, &call)?;
    match decision.rule {
        Rule::NotSeen => {
            let message =
                format!("the server rejects this call: unknown tool `{}`", printable(tool));
            let help = "this caller does not see it; see --role and --user";
            return Err(Failure::no(message).help(help));
        }
        Rule::NotOffered => {
            let message = format!("the project does not offer the tool `{}`", printable(tool));
            let help = "a server rejects the call; this is what it would be briefed with";
            output.warn(&message, help);
        }
        _ if door == Door::Elsewhere && !is_known(bundle, tool) => {
            let message = format!("the project does not name the tool `{}`", printable(tool));
            output.warn(&message, "its own server rejects the call; the policy decides for others");
        }
        _ => {}
    }
    let call = Some(Asking { tool, decision });
    let question = Question { view, gate, occasion, call, asked };
    let tags = keywords::tags(tool, arguments);
    print(&question, &question.answer(Ok(tags), output)?, output)
}

/// Returns whether the project offers a tool, or names one of another server.
fn is_known(bundle: &Bundle, tool: &str) -> bool {
    let is_offered = bundle.tools().iter().any(|offered| offered.name == tool);
    let rows = bundle.policy().map_or(&[][..], |policy| &policy.tools);
    let mut patterns = rows.iter().flat_map(|row| &row.patterns);
    is_offered || patterns.any(|pattern| glob::matches(pattern, tool))
}

/// Reads `--arguments` of a call: a JSON object.
pub(crate) fn arguments(json: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let Some(json) = json else { return Ok(Map::new()) };
    serde_json::from_str(json).map_err(|error| {
        Failure::error(format!("--arguments is not a JSON object: {error}"))
            .help("write --arguments '{\"host\":\"web-1\"}'")
    })
}

/// A call in question.
struct Asking<'a> {
    tool: &'a str,
    decision: Decision,
}

/// A question for the gate.
struct Question<'a> {
    view: &'a View<'a>,
    gate: Option<&'a Gate>,
    occasion: Occasion,
    /// The call, for `--call`.
    call: Option<Asking<'a>>,
    asked: &'a Asked<'a>,
}

impl Question<'_> {
    fn answer(
        &self,
        tags: Result<Tags, TagError>,
        output: &mut Output,
    ) -> Result<SelectionExplained, Failure> {
        let tags = tags.map_err(|error| error.to_string());
        let keywords = match (&self.call, &tags) {
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
            decided: self.call.as_ref().map(|call| Decided::of(&call.decision)),
            keywords,
            refused,
            selected,
        })
    }

    fn select(&self, tags: &Tags, output: &mut Output) -> Result<Selected, Failure> {
        let known = known(self.view, self.asked.sent.unwrap_or_default(), output)?;
        let sent = Sent::from_indexes(known.iter().map(|(index, _)| *index));
        let Asked { has_session, budget: budget_bytes, .. } = *self.asked;
        let occasion = self.occasion;
        let request = Request { occasion, tags, sent: &sent, has_session, budget_bytes };
        let limits = match &self.gate {
            Some(gate) => briefing::limits(gate, &request),
            None => Limits {
                budget_bytes: budget_bytes.unwrap_or(select::BUDGET_BYTES),
                entries_max: usize::MAX,
                named_in_full: true,
            },
        };
        // A briefing limits its entries; `--why` lists every prompt.
        let limits = Limits { entries_max: usize::MAX, ..limits };
        let selection = select::select(self.view, tags, &sent, limits)?;
        let mut selected = Selected::of(self.view, tags, limits.budget_bytes, &selection)?;
        selected.sent = known.into_iter().map(|(_, name)| name.to_owned()).collect();
        if let (Some(gate), None) = (&self.gate, self.unsent()) {
            selected.text = Some(briefing::brief(self.view, gate, &request)?.text(HANDLE));
        }
        Ok(selected)
    }

    /// Returns the denial for the caller; `None` for an allowed call.
    fn denial(&self) -> Option<String> {
        let Asking { decision, .. } = self.call.as_ref()?;
        let is_refused = matches!(decision.outcome, Outcome::Deny | Outcome::Approve);
        is_refused.then(|| decision.denial())
    }

    /// Returns the reason for which the briefing stays unsent, if it does.
    fn unsent(&self) -> Option<Unsent> {
        if self.denial().is_some() {
            return Some(Unsent::Denied);
        }
        let Some(gate) = &self.gate else { return Some(Unsent::NoGate) };
        let tool = self.call.as_ref()?.tool;
        let mut tools = self.view.tools().into_iter().flatten();
        if tools.any(|offered| offered.name == tool && !offered.gated) {
            return Some(Unsent::NotGated);
        }
        (gate.unlock.value == Unlock::Refuse).then_some(Unsent::Refused)
    }

    /// Returns a note on the time of this briefing, if it needs one, or on its absence.
    fn note(&self) -> Option<String> {
        let tool = self.call.as_ref().map(|call| call.tool).unwrap_or_default();
        Some(match self.unsent() {
            Some(Unsent::Denied) => "A call that is denied gets no briefing.".to_owned(),
            Some(Unsent::NoGate) => "This project has no gate, so no agent gets a briefing. A gate \
                                     with the default settings would select this."
                .to_owned(),
            Some(Unsent::NotGated) => {
                format!("`{tool}` is not gated: no briefing precedes its result.")
            }
            Some(Unsent::Refused) => {
                "This gate has `unlock else=refuse`, so the call is denied. With \
                 `else=intercept`, this briefing would precede its result."
                    .to_owned()
            }
            None if self.call.is_none() => return None,
            None if self.asked.has_session => "This briefing precedes the result once per session. A \
                                                   client without a session gets a smaller one with \
                                                   each call: `--no-session` prints it."
                .to_owned(),
            None => "A client without a session gets this briefing before the result of each call that \
                     has no briefing."
                .to_owned(),
        })
    }
}

fn print(
    question: &Question<'_>,
    answer: &SelectionExplained,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let text = answer.selected.as_ref().and_then(|selected| selected.text.clone());
    match question.denial().or(text) {
        _ if question.asked.format == AnswerFormat::Json => output.json(answer)?,
        Some(text) if !question.asked.why => output.text(&text)?,
        _ => {
            let (note, width) = (question.note(), output.result_look().width);
            output.result(why::render(answer, note.as_deref(), width))?;
        }
    }
    let runs = question.call.as_ref().is_none_or(|call| call.decision.outcome == Outcome::Allow);
    Ok(if answer.selected.is_some() && runs { Exit::Yes } else { Exit::No })
}

/// Returns the prompts sent before, each once, and warns of unknown names.
fn known<'n>(
    view: &View<'_>,
    names: &'n [String],
    output: &mut Output,
) -> Result<Vec<(u32, &'n str)>, Failure> {
    let mut known = Vec::new();
    for name in names {
        let index = view.find_prompt(name)?.and_then(|prompt| u32::try_from(prompt.index()).ok());
        match index {
            Some(index) if known.contains(&(index, name.as_str())) => {}
            Some(index) => known.push((index, name.as_str())),
            None => {
                let help = match nearest_prompt(view, name)? {
                    Some(nearest) => format!("did you mean `{}`?", printable(nearest)),
                    None => "list the prompts with `relay describe`".to_owned(),
                };
                let message = format!("unknown prompt `{}` in --sent is ignored", printable(name));
                output.warn(&message, &help);
            }
        }
    }
    Ok(known)
}
