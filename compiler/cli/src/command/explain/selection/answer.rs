//! A selection as JSON.

use relay_bundle::{PromptView, Tier};
use relay_engine::decide::Decision;
use relay_engine::select::{self, HitPlace, Selection, Tags};
use relay_engine::view::View;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

/// The output of `relay explain --tags …` and `relay explain --call TOOL` with `--json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SelectionExplained {
    /// The version of this JSON format.
    pub(super) format_version: u32,
    /// Whether sessions are gated; if not, this is the selection of a gate with default settings.
    pub(super) gated: bool,
    /// Whether the call runs; only of `--call`.
    #[serde(flatten)]
    pub(super) decided: Option<Decided>,
    /// The keywords of the call, in their order; only of `--call`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) keywords: Option<Vec<String>>,
    /// Why the server would reject the tags; then the fields below are absent.
    pub(super) refused: Option<String>,
    /// The selection.
    #[serde(flatten)]
    pub(super) selected: Option<Selected>,
}

/// The decision on a call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Decided {
    /// `allow`, `approve` if a person is asked first, `deny`, or `reject` if the tool does not exist for the caller; only of `--call`, as
    /// are the tier, the rule, the reason and the place.
    pub(super) decision: &'static str,
    /// The difficulty of undoing the worst effect of the call: 0 to 3.
    pub(super) tier: Tier,
    /// The rule that decides.
    pub(super) rule: String,
    /// The reason that the rule gives.
    pub(super) reason: String,
    /// The place of the deciding declaration, as `file:line`; absent if it does not offer
    /// the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<String>,
}

/// The prompts that the server would select, and the text that it would send.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Selected {
    /// The prompts in full, in their order.
    pub(super) full: Vec<String>,
    /// The other prompts that match, in their order: name and summary are sent.
    pub(super) index: Vec<String>,
    /// The prompts that do not match, sorted: their names are sent.
    pub(super) names: Vec<String>,
    /// The size in bytes of the bodies in full.
    pub(super) bytes: usize,
    /// Where each tag was found, for every prompt in full or in the index.
    pub(super) hits: Vec<Hit>,
    /// The tags that were searched: trimmed, lower-cased, each once.
    pub(super) tags: Vec<String>,
    /// Those that match no prompt, sent ones included.
    pub(super) unmatched: Vec<String>,
    /// The prompts that were sent before, in the order given.
    pub(super) sent: Vec<String>,
    /// The byte budget of all bodies; prompts of priority 10, and one that is asked for by its name
    /// alone, are sent regardless of it.
    pub(super) budget_bytes: usize,
    /// The score of every prompt in full or in the index.
    pub(super) scores: Vec<Score>,
    /// The first prompt over the budget; it and those after it are not sent in full.
    pub(super) cut: Option<BudgetEnd>,
    /// The text that an agent gets, with `<briefing handle>` in place of the handle; absent if no
    /// briefing is sent: there is no gate, the tool is not gated, or the call is denied.
    pub(super) text: Option<String>,
}

/// A tag found in a prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Hit {
    /// The prompt.
    pub(super) prompt: String,
    /// The tag.
    pub(super) tag: String,
    /// `name`, `summary`, or `chapter: ` and the chapter.
    #[serde(rename = "where")]
    pub(super) place: String,
}

/// The values that order a prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Score {
    /// The prompt.
    pub(super) prompt: String,
    /// 1 (reference) to 10 (always sent).
    pub(super) priority: u8,
    /// Matching tags times priority; absent for priority 10, which is always sent.
    pub(super) score: Option<usize>,
    /// The number of tags that match.
    #[serde(skip)]
    pub(super) matching: usize,
    /// The size of its body in bytes.
    pub(super) bytes: usize,
}

/// The first prompt over the budget.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct BudgetEnd {
    /// The prompt.
    pub(super) prompt: String,
    /// The size of its body in bytes.
    pub(super) bytes: usize,
    /// The bytes of the budget that were left.
    pub(super) left: usize,
}

impl Decided {
    pub(super) fn of(decision: &Decision) -> Self {
        Self {
            decision: decision.outcome.word(),
            tier: decision.tier,
            rule: decision.rule_name(),
            reason: decision.reason(),
            at: decision.at.as_ref().map(ToString::to_string),
        }
    }
}

impl Selected {
    pub(super) fn of(
        view: &View<'_>,
        tags: &Tags,
        budget_bytes: usize,
        selection: &Selection,
    ) -> Result<Self, Failure> {
        let name = |index: &usize| -> Result<String, Failure> {
            Ok(view.prompt(*index)?.name()?.to_owned())
        };
        let names = |indexes: &[usize]| indexes.iter().map(name).collect::<Result<Vec<_>, _>>();
        let mut hits = Vec::new();
        let mut scores = Vec::new();
        for index in selection.full.iter().chain(&selection.index) {
            let prompt = view.prompt(*index)?;
            scores.push(Score::of(&prompt, tags)?);
            for hit in select::hits(&prompt, tags)? {
                let place = match hit.place {
                    HitPlace::Name => "name".to_owned(),
                    HitPlace::Summary => "summary".to_owned(),
                    HitPlace::Chapter(chapter) => format!("chapter: {chapter}"),
                };
                hits.push(Hit { prompt: name(index)?, tag: hit.tag.to_owned(), place });
            }
        }
        let unmatched = selection.unmatched.iter().filter_map(|place| tags.as_slice().get(*place));
        let cut = selection.cut.as_ref().map(|cut| -> Result<BudgetEnd, Failure> {
            Ok(BudgetEnd { prompt: name(&cut.prompt)?, bytes: cut.bytes, left: cut.left })
        });
        Ok(Self {
            full: names(&selection.full)?,
            index: names(&selection.index)?,
            names: names(&selection.names)?,
            bytes: selection.bytes,
            hits,
            tags: tags.as_slice().to_vec(),
            unmatched: unmatched.cloned().collect(),
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
