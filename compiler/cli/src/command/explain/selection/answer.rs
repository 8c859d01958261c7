//! A selection, as it is printed for programs.

use relay_bundle::{Bundle, PromptView};
use relay_engine::select::{self, HitPlace, Selection, Tags};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

/// What `relay explain --tags …` and `relay explain --call TOOL` print with `--json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SelectionExplained {
    /// The version of this form.
    pub(super) format_version: u32,
    /// Whether sessions are gated; if not, this is what a gate with its defaults would select.
    pub(super) gated: bool,
    /// The keywords of the call, in their order; only of `--call`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) keywords: Option<Vec<String>>,
    /// Why the server would refuse the tags; then nothing below is there.
    pub(super) refused: Option<String>,
    /// What it would select.
    #[serde(flatten)]
    pub(super) selected: Option<Selected>,
}

/// What the server would select and send.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Selected {
    /// The prompts in full, in their order.
    pub(super) full: Vec<String>,
    /// The other prompts that match, in their order: name and summary are sent.
    pub(super) index: Vec<String>,
    /// The prompts that do not match, sorted: their names are sent.
    pub(super) names: Vec<String>,
    /// Bytes of the bodies in full.
    pub(super) bytes: usize,
    /// Which tag was found where, for every prompt in full or in the index.
    pub(super) hits: Vec<Hit>,
    /// The tags that were searched: trimmed, lower-cased, each once.
    pub(super) tags: Vec<String>,
    /// The prompts that were sent before, in the order of their mention.
    pub(super) sent: Vec<String>,
    /// Bytes that the bodies may have together; prompts of priority 10 come regardless of it.
    pub(super) budget_bytes: usize,
    /// The score of every prompt in full or in the index; without one it is always sent.
    pub(super) scores: Vec<Score>,
    /// The first prompt that did not fit, which ended the filling.
    pub(super) cut: Option<BudgetEnd>,
    /// The text that an agent gets, `<briefing handle>` in place of the handle; none if no briefing
    /// is sent: there is no gate, the tool is not gated, or the gate refuses the call.
    pub(super) text: Option<String>,
}

/// That a tag was found in a prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Hit {
    /// The prompt.
    pub(super) prompt: String,
    /// The tag.
    pub(super) tag: String,
    /// `summary`, or `chapter: ` and the chapter.
    #[serde(rename = "where")]
    pub(super) place: String,
}

/// What the order of a prompt comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Score {
    /// The prompt.
    pub(super) prompt: String,
    /// 1 (reference) to 10 (always sent).
    pub(super) priority: u8,
    /// Matching tags times priority; none for priority 10.
    pub(super) score: Option<usize>,
    /// How many tags match.
    #[serde(skip)]
    pub(super) matching: usize,
    /// Bytes of its body.
    pub(super) bytes: usize,
}

/// The prompt that ended the filling.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct BudgetEnd {
    /// The prompt.
    pub(super) prompt: String,
    /// Bytes of its body.
    pub(super) bytes: usize,
    /// Bytes that were left.
    pub(super) left: usize,
}

impl Selected {
    pub(super) fn of(
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
