//! What one run of an area reports: values, and figures that cannot be measured here.

use std::collections::BTreeMap;

use super::declared::{Bound, Figure, Part};
use super::number::{shown, span};
use crate::Result;

/// The values of each part of each figure, and the reasons of those that were not run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    values: BTreeMap<(&'static str, &'static str), Vec<f64>>,
    reasons: BTreeMap<&'static str, String>,
    /// What a reader of the table may want to know beside the values; no file keeps it.
    details: BTreeMap<&'static str, Vec<String>>,
}

/// A word that begins a line between a run and the process that records it.
const VALUE: &str = "value";
const REASON: &str = "not-run";

impl Report {
    /// Adds a value of a part.
    ///
    /// # Errors
    ///
    /// If the figure declares no such part, or the value is no number.
    pub(crate) fn put(&mut self, figure: &Figure, part: &str, value: f64) -> Result<()> {
        let declared = figure.parts.iter().find(|declared| declared.name == part);
        let declared = declared.ok_or_else(|| format!("{} has no part `{part}`", figure.id))?;
        if !value.is_finite() {
            return Err(format!("{}, {part}: {value} is no figure", figure.id).into());
        }
        self.values.entry((figure.id, declared.name)).or_default().push(value);
        Ok(())
    }

    /// Adds the values of all parts, in their order.
    ///
    /// # Errors
    ///
    /// If there are more or fewer, or one is no number.
    pub(crate) fn put_all(&mut self, figure: &Figure, values: &[f64]) -> Result<()> {
        if values.len() != figure.parts.len() {
            let (have, want) = (values.len(), figure.parts.len());
            return Err(format!("{}: {have} values for {want} parts", figure.id).into());
        }
        figure
            .parts
            .iter()
            .zip(values)
            .try_for_each(|(part, value)| self.put(figure, part.name, *value))
    }

    /// Adds a detail to the printed row.
    pub(crate) fn detail(&mut self, figure: &Figure, text: String) {
        self.details.entry(figure.id).or_default().push(text);
    }

    /// Says why a figure cannot be measured here.
    pub(crate) fn not_run(&mut self, figure: &Figure, reason: &str) {
        self.reasons.insert(figure.id, reason.to_owned());
    }

    /// Returns the values of a part.
    pub(crate) fn values(&self, figure: &Figure, part: &Part) -> &[f64] {
        self.values.get(&(figure.id, part.name)).map_or(&[], Vec::as_slice)
    }

    /// Returns why a figure has no values.
    pub(crate) fn reason(&self, figure: &Figure) -> Option<&str> {
        self.reasons.get(figure.id).map(String::as_str)
    }

    /// Returns it as lines that [`Report::read`] reads.
    pub(crate) fn lines(&self) -> String {
        let values = self.values.iter().flat_map(|((id, part), values)| {
            values.iter().map(move |value| format!("{VALUE}\t{id}\t{part}\t{value}\n"))
        });
        let reason = |(id, reason): (&&str, &String)| {
            format!("{REASON}\t{id}\t{}\n", reason.replace(['\n', '\t'], " "))
        };
        values.chain(self.reasons.iter().map(reason)).collect()
    }

    /// Adds the lines of another run of these figures.
    ///
    /// # Errors
    ///
    /// If a line means nothing.
    pub(crate) fn read(&mut self, lines: &str, figures: &[Figure]) -> Result<()> {
        for line in lines.lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            let find = |id: &str| figures.iter().find(|figure| figure.id == id);
            match columns.as_slice() {
                [VALUE, id, part, value] => {
                    let figure = find(id).ok_or_else(|| format!("`{id}` is not declared"))?;
                    self.put(figure, part, value.parse()?)?;
                }
                [REASON, id, reason] => {
                    let figure = find(id).ok_or_else(|| format!("`{id}` is not declared"))?;
                    self.not_run(figure, reason);
                }
                _ => return Err(format!("a line that means nothing: {line}").into()),
            }
        }
        Ok(())
    }

    /// Returns the row of a figure as a table of Markdown has it.
    pub(crate) fn row(&self, figure: &Figure) -> String {
        let of = |part: &Part| self.values(figure, part).to_vec();
        let mut cells = Cells::of(figure, of, self.reason(figure));
        for detail in self.details.get(figure.id).into_iter().flatten() {
            cells.measured.push_str(&format!("; {detail}"));
        }
        format!("| {} |", cells.columns(figure).join(" | "))
    }
}

/// The cells of a figure's row.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    pub(crate) measured: String,
    pub(crate) beside: String,
    pub(crate) goal: String,
    pub(crate) result: String,
}

/// The names of the columns.
pub(crate) const HEADER: [&str; 5] =
    ["figure", "measured", "beside, in the same run", "goal", "result"];

impl Cells {
    /// Makes them of the values of each part.
    pub(crate) fn of(
        figure: &Figure,
        values: impl Fn(&Part) -> Vec<f64>,
        reason: Option<&str>,
    ) -> Self {
        let shown = |is_beside: bool| {
            let parts = figure.parts.iter().filter(|part| part.is_beside == is_beside);
            let all = parts.filter_map(|part| {
                let values = values(part);
                (!values.is_empty()).then(|| quantity(part.name, &span(&values), part.unit))
            });
            all.collect::<Vec<_>>().join("; ")
        };
        let goals = goals(figure);
        let (mut measured, mut result) = (shown(false), result(figure, &values));
        let is_whole = figure.parts.iter().all(|part| !values(part).is_empty());
        if !is_whole {
            let reason = reason.unwrap_or("the run reported no value");
            let words = if measured.is_empty() { "not run" } else { "in part" };
            let comma = if measured.is_empty() { "" } else { "; " };
            measured = format!("{measured}{comma}{words}: {reason}");
            if result.is_empty() {
                "not run".clone_into(&mut result);
            }
        }
        Self { measured, beside: shown(true), goal: goals, result }
    }

    /// Returns the columns of the row.
    pub(crate) fn columns(&self, figure: &Figure) -> [String; 5] {
        let or_none = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
        [
            format!("`{}`: {}", figure.id, figure.work),
            or_none(&self.measured),
            or_none(&self.beside),
            or_none(&self.goal),
            or_none(&self.result),
        ]
    }
}

fn quantity(name: &str, value: &str, unit: &str) -> String {
    let words = [name, value, unit].into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the goals in words: one for all parts, where they share it.
fn goals(figure: &Figure) -> String {
    let mut own = figure.parts.iter().filter(|part| !part.is_beside);
    if let [first, _, ..] = figure.parts
        && own.all(|part| (part.goal, part.next, part.unit) == (first.goal, first.next, first.unit))
    {
        return goal(first, "each").unwrap_or_default();
    }
    let all = figure.parts.iter().filter_map(|part| goal(part, part.name));
    all.collect::<Vec<_>>().join("; ")
}

/// Returns the goal of a part in words.
fn goal(part: &Part, name: &str) -> Option<String> {
    let bound = |bound: Bound| format!("{} {}", bound.sign(), shown(bound.limit()));
    let goal = part.goal.map(|goal| quantity(name, &bound(goal), part.unit));
    let next = part.next.map(|next| format!("next {}", bound(next)));
    match (goal, next) {
        (Some(goal), Some(next)) => Some(format!("{goal}, {next}")),
        (None, Some(next)) => Some(quantity(name, &next, part.unit)),
        (goal, None) => goal,
    }
}

/// Returns whether the goals were met by every run, as the values say.
fn result(figure: &Figure, values: &impl Fn(&Part) -> Vec<f64>) -> String {
    let (mut missed, mut judged, mut next_missed) = (Vec::new(), 0, false);
    for part in figure.parts {
        let values = values(part);
        next_missed |= part.next.is_some_and(|next| values.iter().any(|it| !next.is_met(*it)));
        let Some(goal) = part.goal.filter(|_| !values.is_empty()) else { continue };
        judged += 1;
        let misses = values.iter().filter(|value| !goal.is_met(**value)).count();
        let name = if part.name.is_empty() { part.unit } else { part.name };
        match misses {
            0 => {}
            _ if misses == values.len() => missed.push((name.to_owned(), true)),
            _ => missed.push((format!("{name} in {misses} of {} runs", values.len()), false)),
        }
    }
    let is_always = missed.iter().all(|(_, is_always)| *is_always);
    match (missed.len(), judged) {
        (0, 0) if next_missed => "next missed".to_owned(),
        (0, 0) => String::new(),
        (0, _) if next_missed => "met; next missed".to_owned(),
        (0, _) => "met".to_owned(),
        (1, 1) if is_always => "**missed**".to_owned(),
        (count, all) if count == all && is_always => "**missed**: all".to_owned(),
        _ => {
            let names: Vec<String> = missed.into_iter().map(|(name, _)| name).collect();
            format!("**missed**: {}", names.join(", "))
        }
    }
}
