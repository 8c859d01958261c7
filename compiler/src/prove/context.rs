//! `expect context`: the skills of a call.

use std::collections::BTreeMap;

use miette::{Diagnostic, LabeledSpan};
use relay_bundle::Corrupt;
use relay_engine::cascade::{self, NearMiss, Question, Resolution};
use relay_engine::place::Placement;
use thiserror::Error;

use super::Case;
use super::coverage::Touched;
use crate::ast::Claim;
use crate::source::{Span, Spanned};

/// The most skills that a report points at.
const SHOWN_MAX: usize = 8;
/// The most characters of a text that a report quotes.
const QUOTED_MAX: usize = 200;

/// A call is given other skills than the project promises
///
/// Agents would not get a rule for this call that the project promises, or would get one that it rules
/// out. The answer is that of the bundle itself, as a server would give it.
#[derive(Debug, Error, Diagnostic)]
#[error("{claim}")]
#[diagnostic(code(expect::context))]
struct OtherContext {
    claim: String,
    #[help]
    help: String,
    #[label(primary, "does not hold")]
    at: Span,
    #[label(collection, "in this call")]
    trace: Vec<LabeledSpan>,
}

/// A call with its answer.
struct Answer<'b, 'q> {
    question: Question<'q>,
    resolution: Resolution<'b>,
    text: String,
    /// What is said of each skill that matches, by its number.
    rows: BTreeMap<u32, String>,
}

pub(super) fn prove(
    case: &mut Case<'_, '_>,
    placement: &Placement,
    touched: &mut Touched,
) -> Result<(), Corrupt> {
    let expect = case.expect;
    let name = |name: &'_ Option<Spanned<String>>| name.as_ref().map(|name| name.value.clone());
    let (tool, user) = (name(&expect.tool), name(&expect.user));
    let tenant = placement.tenant.and_then(|tenant| case.declared.tenants.get(tenant));
    let question = Question {
        tenant: tenant.map(|tenant| tenant.value.as_str()),
        tool: tool.as_deref(),
        user: user.as_deref(),
    };
    let resolution = cascade::resolve(case.bundle, question)?;
    touched.skills.extend(resolution.matched.iter().map(|matched| matched.skill));
    let text = resolution.text()?;
    let rows = rows(&resolution, case)?;
    let answer = Answer { question, resolution, text, rows };
    for (claim, about) in &expect.claims {
        match claim {
            Claim::Text | Claim::NotText => {
                let wanted = *claim == Claim::Text;
                if answer.text.contains(&about.value) != wanted {
                    answer.fail_text(case, about, wanted)?;
                }
            }
            Claim::Skill | Claim::NotSkill => {
                let wanted = *claim == Claim::Skill;
                if answer.is_applied(case, &about.value) != wanted {
                    answer.fail_skill(case, about, wanted)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Says of each skill that matches what became of it.
fn rows(
    resolution: &Resolution<'_>,
    case: &Case<'_, '_>,
) -> Result<BTreeMap<u32, String>, Corrupt> {
    let mut rows = BTreeMap::new();
    for matched in &resolution.matched {
        let view = case.bundle.skill(matched.skill as usize)?;
        let (level, priority) = (view.level()?.word(), view.priority());
        let row = match matched.overridden_by {
            None => format!("{level}, priority {priority}: applied"),
            Some(winner) => {
                let winner = case.bundle.skill(winner as usize)?.name()?;
                format!("{level}, priority {priority}: overridden by `{winner}`")
            }
        };
        rows.insert(matched.skill, row);
    }
    Ok(rows)
}

impl Answer<'_, '_> {
    fn is_applied(&self, case: &Case<'_, '_>, name: &str) -> bool {
        self.resolution.matched.iter().any(|matched| {
            let skill = case.declared.skills.get(matched.skill as usize);
            matched.overridden_by.is_none() && skill.is_some_and(|skill| skill.name.value == name)
        })
    }

    fn fail_text(
        &self,
        case: &mut Case<'_, '_>,
        about: &Spanned<String>,
        wanted: bool,
    ) -> Result<(), Corrupt> {
        let mut rows = self.rows.clone();
        let misses = if wanted { self.misses(case)? } else { BTreeMap::new() };
        for number in 0..case.bundle.skill_count() {
            let holds = case.bundle.skill(number)?.text()?.contains(&about.value);
            let Some(number) = u32::try_from(number).ok().filter(|_| holds) else { continue };
            let note = match (rows.remove(&number), misses.get(&number)) {
                (Some(row), _) => format!("{row}, and has the text"),
                (None, Some(miss)) => format!("has the text, but {miss}"),
                (None, None) if wanted => "has the text, but is for other calls".into(),
                (None, None) => continue,
            };
            rows.insert(number, note);
        }
        let has = if wanted { "lacks" } else { "has" };
        let claim = format!("the text of this call {has} `{}`", quoted(&about.value));
        self.fail(case, about.at, claim, rows);
        Ok(())
    }

    fn fail_skill(
        &self,
        case: &mut Case<'_, '_>,
        about: &Spanned<String>,
        wanted: bool,
    ) -> Result<(), Corrupt> {
        let mut rows = self.rows.clone();
        let name = &about.value;
        if wanted {
            let misses = self.misses(case)?;
            for (number, skill) in (0u32..).zip(&case.declared.skills) {
                if skill.name.value == *name && !rows.contains_key(&number) {
                    let miss = misses.get(&number).cloned();
                    rows.insert(number, miss.unwrap_or_else(|| "is for other calls".into()));
                }
            }
        }
        let claim = match wanted {
            true => format!("the skill `{name}` is not applied to this call"),
            false => format!("the skill `{name}` is applied to this call"),
        };
        self.fail(case, about.at, claim, rows);
        Ok(())
    }

    /// Says of each skill that fails one of its selectors which one, by the number of the skill.
    fn misses(&self, case: &Case<'_, '_>) -> Result<BTreeMap<u32, String>, Corrupt> {
        let mut said = BTreeMap::new();
        for miss in cascade::near_misses(case.bundle, self.question)? {
            let NearMiss { skill, selector, wants, got, at, .. } = miss;
            let number = (0u32..).zip(&case.declared.skills).find(|(_, declared)| {
                declared.name.value == skill && case.sources.place(declared.name.at) == at
            });
            let wants = wants.join("` or `");
            let got = got.map_or_else(|| "none is named".into(), |got| format!("got `{got}`"));
            if let Some((number, _)) = number {
                said.insert(number, format!("wants {} `{wants}`, {got}", selector.word()));
            }
        }
        Ok(said)
    }

    fn fail(&self, case: &mut Case<'_, '_>, at: Span, claim: String, rows: BTreeMap<u32, String>) {
        let more = rows.len().saturating_sub(SHOWN_MAX);
        let trace = rows.into_iter().take(SHOWN_MAX).filter_map(|(number, row)| {
            let at = case.declared.skill_at(number)?;
            Some(LabeledSpan::new_with_span(Some(row), at))
        });
        let trace = trace.collect();
        let mut help = match self.text.as_str() {
            "" => "got no text at all".to_owned(),
            text => format!("got {} bytes: `{}`", text.len(), quoted(text)),
        };
        if more > 0 {
            help.push_str(&format!("; {more} more skills match"));
        }
        let Question { tenant, tool, user } = self.question;
        let asked = [("tenant", tenant), ("tool", tool), ("user", user)].into_iter();
        let asked: String =
            asked.filter_map(|(name, value)| Some(format!(" --{name} {}", value?))).collect();
        if !asked.is_empty() {
            help.push_str(&format!("; `relay explain{asked}` prints all of it"));
        }
        case.fail(at, OtherContext { claim, help, at, trace });
    }
}

/// Shortens a text.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
