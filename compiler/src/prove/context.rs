//! `expect context`: the skills of a call.

use std::cell::OnceCell;

use hashbrown::HashMap;
use miette::{Diagnostic, LabeledSpan};
use relay_bundle::{Bundle, Corrupt};
use relay_engine::cascade::{self, Matched, NearMiss, Question, Resolution};
use relay_engine::place::Placement;
use thiserror::Error;

use super::case::Case;
use super::coverage::Touched;
use super::declared::Declared;
use super::denied;
use super::rejected;
use crate::ast::Claim;
use crate::source::{Sources, Span, Spanned};

/// The most skills that a report points at.
const SHOWN_MAX: usize = 8;
/// The most characters of a text that a report quotes.
const QUOTED_MAX: usize = 200;

/// A call is given other skills than the project promises
///
/// Agents would miss a rule for this call that the project promises, or get one that it rules out.
/// The answer is that of the bundle itself, as a server would give it.
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
struct Answer<'c, 's, 'q> {
    sources: &'c Sources<'s>,
    bundle: &'c Bundle,
    declared: &'c Declared,
    question: Question<'q>,
    resolution: Resolution<'c>,
    text: String,
    /// The selector that each skill fails, in words, by the number of the skill. Only failed claims
    /// need it.
    misses: OnceCell<HashMap<u32, String>>,
    /// The text of each skill. Only failed claims need it.
    texts: OnceCell<Vec<&'c str>>,
}

/// The skills of a claim, by their numbers.
#[derive(Default)]
struct About {
    matched: Vec<u32>,
    /// Skills that fail one of their selectors.
    missed: Vec<u32>,
    /// Skills for other calls.
    others: Vec<u32>,
}

pub(super) fn prove(
    case: &mut Case<'_, '_>,
    placement: &Placement,
    touched: &mut Touched,
) -> Result<(), Corrupt> {
    let expect = case.expect;
    if rejected::report(case, placement)? || denied::report(case, placement)? {
        touched.skills_named(expect);
        return Ok(());
    }
    let tenant = placement.tenant.and_then(|tenant| case.declared.tenants.get(tenant));
    let name = |name: &'_ Option<Spanned<String>>| name.as_ref().map(|name| name.value.clone());
    let (tool, user) = (name(&expect.tool), name(&expect.user));
    let question = Question {
        tenant: tenant.map(|tenant| tenant.value.as_str()),
        tool: tool.as_deref(),
        user: user.as_deref(),
    };
    let resolution = cascade::resolve(case.bundle, question)?;
    touched.skills.extend(resolution.matched.iter().map(|matched| matched.skill));
    let answer = Answer {
        sources: case.sources,
        bundle: case.bundle,
        declared: case.declared,
        question,
        text: resolution.text()?,
        resolution,
        misses: OnceCell::new(),
        texts: OnceCell::new(),
    };
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
                let holds = answer.is_applied(&about.value) == wanted;
                if !wanted || !holds {
                    // The claim is about the calls that the skill misses.
                    touched.skill_named(&about.value);
                }
                if !holds {
                    answer.fail_skill(case, about, wanted)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

impl<'c> Answer<'c, '_, '_> {
    fn is_applied(&self, name: &str) -> bool {
        let mut numbers = self.declared.skills_named(name).iter();
        let matched = |number: &u32| self.matched(*number);
        numbers.any(|number| matched(number).is_some_and(|it| it.overridden_by.is_none()))
    }

    /// Returns the result for a skill that matches.
    fn matched(&self, number: u32) -> Option<Matched> {
        // INVARIANT: they are in the order of the cascade, which numbers them.
        let matched = &self.resolution.matched;
        let place = matched.binary_search_by_key(&number, |matched| matched.skill).ok()?;
        matched.get(place).copied()
    }

    fn fail_text(
        &self,
        case: &mut Case<'_, '_>,
        about: &Spanned<String>,
        wanted: bool,
    ) -> Result<(), Corrupt> {
        let texts = self.texts()?;
        let have = (0u32..).zip(texts).filter(|(_, text)| text.contains(&about.value));
        let have = self.about(have.map(|(number, _)| number), wanted)?;
        let has = if wanted { "lacks" } else { "has" };
        let claim = format!("the text of this call {has} `{}`", quoted(&about.value));
        self.fail(case, about.at, claim, &have, |reason| match reason {
            Reason::Matched(row) => format!("{row}, and has the text"),
            Reason::Missed(miss) => format!("has the text, but {miss}"),
            Reason::Other => "has the text, but is for other calls".into(),
        })
    }

    fn fail_skill(
        &self,
        case: &mut Case<'_, '_>,
        about: &Spanned<String>,
        wanted: bool,
    ) -> Result<(), Corrupt> {
        let name = &about.value;
        let named = self.about(self.declared.skills_named(name).iter().copied(), wanted)?;
        let claim = match wanted {
            true => format!("the skill `{name}` is not applied to this call"),
            false => format!("the skill `{name}` is applied to this call"),
        };
        self.fail(case, about.at, claim, &named, |reason| match reason {
            Reason::Matched(said) | Reason::Missed(said) => said,
            Reason::Other => "is for other calls".into(),
        })
    }

    /// Sorts the skills of a claim by their result. Skills that miss the call explain only the
    /// absence of a wanted one.
    fn about(&self, numbers: impl Iterator<Item = u32>, wanted: bool) -> Result<About, Corrupt> {
        let mut about = About::default();
        for number in numbers {
            if self.matched(number).is_some() {
                about.matched.push(number);
            } else if wanted && self.misses()?.contains_key(&number) {
                about.missed.push(number);
            } else if wanted {
                about.others.push(number);
            }
        }
        Ok(about)
    }

    /// Returns the failed selector of each skill that fails one, in words, by the number of the
    /// skill.
    fn misses(&self) -> Result<&HashMap<u32, String>, Corrupt> {
        if let Some(said) = self.misses.get() {
            return Ok(said);
        }
        let mut said = HashMap::new();
        // INVARIANT: both are in the order of the cascade.
        let mut declared = (0u32..).zip(&self.declared.skills);
        for miss in cascade::near_misses(self.bundle, self.question)? {
            let NearMiss { skill, selector, wants, got, at, .. } = miss;
            let number = declared.find(|(_, declared)| {
                declared.name.value == skill && self.sources.place(declared.name.at) == at
            });
            let wants = wants.join("` or `");
            let got = got.map_or_else(|| "none is named".into(), |got| format!("got `{got}`"));
            if let Some((number, _)) = number {
                said.insert(number, format!("wants {} `{wants}`, {got}", selector.word()));
            }
        }
        Ok(self.misses.get_or_init(|| said))
    }

    fn texts(&self) -> Result<&[&'c str], Corrupt> {
        if let Some(texts) = self.texts.get() {
            return Ok(texts);
        }
        let texts = self.bundle.skills().map(|skill| skill?.text());
        let texts = texts.collect::<Result<_, _>>()?;
        Ok(self.texts.get_or_init(|| texts))
    }

    /// Returns the result for a skill that matches, in words.
    fn row(&self, matched: Matched) -> Result<String, Corrupt> {
        let view = self.bundle.skill(matched.skill as usize)?;
        let (level, priority) = (view.level()?.word(), view.priority());
        Ok(match matched.overridden_by {
            None => format!("{level}, priority {priority}: applied"),
            Some(winner) => {
                let winner = self.bundle.skill(winner as usize)?.name()?;
                format!("{level}, priority {priority}: overridden by `{winner}`")
            }
        })
    }

    /// Reports a claim: first its own skills, then the others that match.
    fn fail(
        &self,
        case: &mut Case<'_, '_>,
        at: Span,
        claim: String,
        about: &About,
        say: impl Fn(Reason) -> String,
    ) -> Result<(), Corrupt> {
        let About { matched, missed, others } = about;
        let mut rows = Vec::new();
        for number in matched.iter().chain(missed).chain(others).take(SHOWN_MAX) {
            let reason = match (self.matched(*number), self.misses.get()) {
                (Some(matched), _) => Reason::Matched(self.row(matched)?),
                (None, Some(misses)) => match misses.get(number) {
                    Some(miss) => Reason::Missed(miss.clone()),
                    None => Reason::Other,
                },
                (None, None) => Reason::Other,
            };
            rows.push((*number, say(reason)));
        }
        let of_call = self.resolution.matched.iter();
        let rest = of_call.filter(|each| matched.binary_search(&each.skill).is_err());
        for each in rest.take(SHOWN_MAX.saturating_sub(rows.len())) {
            rows.push((each.skill, self.row(*each)?));
        }
        let all = missed.len() + others.len() + self.resolution.matched.len();
        let help = self.help(case, all.saturating_sub(rows.len()));
        let trace = rows.into_iter().filter_map(|(number, row)| {
            let at = self.declared.skill_at(number)?;
            Some(LabeledSpan::new_with_span(Some(row), at))
        });
        let trace = trace.collect();
        case.fail(at, OtherContext { claim, help, at, trace });
        Ok(())
    }

    /// Returns the text that the call gets, and the command that prints the rest.
    fn help(&self, case: &Case<'_, '_>, hidden: usize) -> String {
        let quote = quoted(&self.text);
        let is_cut = quote.len() != self.text.len();
        let mut help = match self.text.len() {
            0 => "got no text at all".to_owned(),
            1 => format!("got 1 byte: `{quote}`"),
            bytes => format!("got {bytes} bytes: `{quote}`"),
        };
        match hidden {
            0 => {}
            1 => help.push_str("; 1 more skill is not shown"),
            hidden => help.push_str(&format!("; {hidden} more skills are not shown")),
        }
        let Question { tenant, tool, user } = self.question;
        let asked = [("tenant", tenant), ("tool", tool), ("user", user)].into_iter();
        let asked: Vec<_> = asked.filter_map(|(flag, value)| Some((flag, value?))).collect();
        if (is_cut || hidden > 0) && !asked.is_empty() {
            let command = case.explain(&asked);
            help.push_str(&format!("; `{command}` prints all of it"));
        }
        help
    }
}

/// The relation of a skill to a claim, in words for its row.
enum Reason {
    Matched(String),
    Missed(String),
    Other,
}

/// Returns a text, truncated for a report.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
