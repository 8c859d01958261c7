//! `expect selection`: the prompts of a briefing.

mod no_gate;
mod rejected_tags;

use miette::{Diagnostic, LabeledSpan};
use relay_bundle::{Bundle, Corrupt, List};
use relay_engine::briefing::{self, Listed, Occasion, Request};
use relay_engine::place::Placement;
use relay_engine::select::{self, HitPlace, Selection, Tags};
use relay_engine::sent::Sent;
use relay_engine::view::View;
use thiserror::Error;

use super::case::Case;
use super::coverage::Touched;
use super::declared::row_of;
use crate::ast::Claim;
use crate::source::Span;

/// The most places of tags that a report names.
const HITS_MAX: usize = 4;

/// An agent that asks with these tags would work without a text that the project promises, or with
/// a text that it excludes.
#[derive(Debug, Error, Diagnostic)]
#[error("prompt `{prompt}` {claim}")]
#[diagnostic(code(expect::selection))]
struct OtherSelection {
    prompt: String,
    claim: &'static str,
    #[help]
    help: String,
    #[label(primary, "does not hold: {got}")]
    at: Span,
    got: &'static str,
    #[label(collection, "this prompt")]
    declared: Vec<LabeledSpan>,
}

/// The form in which a prompt comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    Full,
    Index,
    Name,
    Not,
}

impl Comes {
    fn word(self) -> &'static str {
        match self {
            Self::Full => "it comes in full",
            Self::Index => "it comes with its summary",
            Self::Name => "it comes by its name alone",
            Self::Not => "it does not come",
        }
    }

    fn unmet(self) -> &'static str {
        match self {
            Self::Full => "does not come in full",
            Self::Index => "does not come with its summary",
            Self::Name => "does not come by its name alone",
            Self::Not => "comes in this briefing",
        }
    }
}

/// A briefing, as far as it decides the form of prompts.
struct Answer<'v> {
    view: View<'v>,
    tags: Tags,
    selection: Selection,
    listed: Listed,
}

pub(super) fn prove(
    case: &mut Case<'_, '_>,
    placement: &Placement,
    touched: &mut Touched,
) -> Result<(), Corrupt> {
    let bundle = case.bundle;
    let Some(gate) = bundle.gate() else {
        no_gate::report(case);
        return Ok(());
    };
    let given: Vec<&str> = case.expect.tags.iter().map(|tag| tag.value.as_str()).collect();
    let tags = match Tags::new(&given, gate.tags_max.value as usize) {
        Ok(tags) => tags,
        Err(reason) => {
            rejected_tags::report(case, reason);
            return Ok(());
        }
    };
    let view = View::of(bundle, placement)?;
    let request = Request {
        occasion: Occasion::Begin,
        tags: &tags,
        sent: &Sent::default(),
        has_session: true,
        budget_bytes: None,
    };
    let selection =
        select::select(&view, request.tags, request.sent, briefing::limits(gate, &request))?;
    let listed = briefing::listed(&view, gate, &request, &selection)?;
    touched.prompts.extend(selection.full.iter().chain(&selection.index));
    let answer = Answer { view, tags, selection, listed };
    for (claim, about) in &case.expect.claims {
        let wanted = match claim {
            Claim::Full => Comes::Full,
            Claim::Index => Comes::Index,
            Claim::Names => Comes::Name,
            Claim::Not => Comes::Not,
            _ => continue,
        };
        let row = row_of(&case.declared.prompts, &about.value);
        let got = row.map_or(Comes::Not, |row| answer.comes(row));
        if got == wanted {
            continue;
        }
        let declared = match row {
            Some(row) => vec![answer.label(case, row)?],
            None => Vec::new(),
        };
        let failed = OtherSelection {
            prompt: about.value.clone(),
            claim: wanted.unmet(),
            help: answer.help(case, placement, row, got)?,
            at: about.at,
            got: got.word(),
            declared: declared.into_iter().flatten().collect(),
        };
        case.fail(about.at, failed);
    }
    Ok(())
}

impl Answer<'_> {
    fn comes(&self, row: usize) -> Comes {
        let Selection { full, index, names, .. } = &self.selection;
        let is_listed = |list: &[usize], count| list.iter().take(count).any(|each| *each == row);
        match () {
            () if full.contains(&row) => Comes::Full,
            () if is_listed(index, self.listed.entries) => Comes::Index,
            () if is_listed(names, self.listed.names) => Comes::Name,
            () => Comes::Not,
        }
    }

    /// Labels the places where tags match a prompt.
    fn label(&self, case: &Case<'_, '_>, row: usize) -> Result<Option<LabeledSpan>, Corrupt> {
        let prompt = case.bundle.prompt(row)?;
        let hits = select::hits(&prompt, &self.tags)?;
        let mut said: Vec<String> = hits.iter().take(HITS_MAX).map(hit).collect();
        if let more @ 1.. = hits.len().saturating_sub(HITS_MAX) {
            said.push(format!("{more} more"));
        }
        let said = match said.as_slice() {
            [] if prompt.priority() == 10 && prompt.is_briefed() => "in every briefing".to_owned(),
            [] => "no tag matches it".to_owned(),
            said => said.join(", "),
        };
        let text = format!("priority {}: {said}", prompt.priority());
        let at = case.declared.prompts.get(row).map(|row| row.name.at);
        Ok(at.map(|at| LabeledSpan::new_with_span(Some(text), at)))
    }

    /// Explains the form in which a prompt comes.
    fn help(
        &self,
        case: &Case<'_, '_>,
        placement: &Placement,
        row: Option<usize>,
        got: Comes,
    ) -> Result<String, Corrupt> {
        let Some(row) = row else { return Ok("the prompt is switched off here".into()) };
        if !self.view.sees(List::Prompts, row)? {
            let caller = case.caller(placement);
            return Ok(format!("{caller}; no `for` of this prompt admits the caller"));
        }
        if !case.bundle.prompt(row)?.is_briefed() {
            return Ok("no briefing sends it, since `briefing=#false` holds for it".into());
        }
        let full = names(case.bundle, &self.selection.full)?;
        let mut help = match full.as_slice() {
            [] => "no prompt comes in full".to_owned(),
            full => format!("in full come: {}", full.join(", ")),
        };
        if let (Comes::Index | Comes::Name | Comes::Not, Some(cut)) = (got, self.selection.cut) {
            let prompt = case.bundle.prompt(cut.prompt)?.name()?;
            help.push_str(&format!(
                "; then `{prompt}` has {} bytes, and {} of the budget are left",
                cut.bytes, cut.left
            ));
        }
        let command = case.explain_selection();
        Ok(format!("{help}; `{command}` prints the whole selection"))
    }
}

fn hit(hit: &select::Hit<'_, '_>) -> String {
    let place = match hit.place {
        HitPlace::Name => "is its name".to_owned(),
        HitPlace::Summary => "is in its summary".to_owned(),
        HitPlace::Chapter(chapter) => format!("is in its chapter `{chapter}`"),
    };
    format!("tag `{}` {place}", hit.tag)
}

fn names<'b>(bundle: &'b Bundle, rows: &[usize]) -> Result<Vec<&'b str>, Corrupt> {
    const NAMED_MAX: usize = 10;
    rows.iter().take(NAMED_MAX).map(|row| bundle.prompt(*row)?.name()).collect()
}
