//! `--only` and `--fail-on`: the shown findings, and those that fail the run.

use clap::ValueEnum;
use relay_diff::{Area, Direction};

use crate::args::{AreaName, Condition, DiffArgs};
use crate::command::diff::comparison::{Comparison, Found};
use crate::command::diff::words;
use crate::failure::Failure;
use crate::text::{printable, shortened};

/// Characters of a finding's title in the reason of a failure.
const TITLE_CHARS_MAX: usize = 200;

impl AreaName {
    fn area(self) -> Area {
        match self {
            Self::Authority => Area::Authority,
            Self::Contexts => Area::Contexts,
            Self::Surface => Area::Surface,
        }
    }
}

impl Condition {
    /// Returns the only area whose findings can trip it; `None` for any area.
    fn area(self) -> Option<Area> {
        match self {
            Self::Loosens => Some(Area::Authority),
            Self::Breaking | Self::Always => None,
            Self::Contexts => Some(Area::Contexts),
            Self::Surface => Some(Area::Surface),
        }
    }

    fn is_tripped_by(self, found: &Found) -> bool {
        let finding = &found.finding;
        let holds = match self {
            Self::Loosens => finding.direction == Some(Direction::NotProved),
            Self::Breaking => finding.breaking,
            Self::Always => finding.always,
            Self::Contexts => finding.area == Area::Contexts,
            Self::Surface => finding.area == Area::Surface,
        };
        holds && found.accepted.is_none()
    }
}

/// Returns the areas of `--only`; empty if it is absent. A condition beyond these areas is an
/// error: it would always pass.
pub(crate) fn areas(arguments: &DiffArgs) -> Result<Vec<Area>, Failure> {
    let areas: Vec<Area> = arguments.only.iter().map(|name| name.area()).collect();
    for condition in &arguments.fail_on {
        if let Some(area) =
            condition.area().filter(|area| !areas.is_empty() && !areas.contains(area))
        {
            let message =
                format!("`--fail-on {}` trips on nothing that `--only` shows", name(*condition));
            let area = words::area(area).to_lowercase();
            return Err(Failure::error(message).help(format!("add `{area}` to --only, or omit it")));
        }
    }
    Ok(areas)
}

/// Marks the findings that fail the run.
pub(crate) fn mark(conditions: &[Condition], comparison: &mut Comparison) {
    let all = comparison.projects.iter_mut().flat_map(|project| &mut project.findings);
    for found in all {
        found.trips = conditions.iter().any(|condition| condition.is_tripped_by(found));
    }
}

/// Returns why the run fails: the gravest finding that trips a condition.
pub(crate) fn tripped(conditions: &[Condition], comparison: &Comparison) -> Option<Failure> {
    let trips =
        |found: &Found| conditions.iter().copied().find(|condition| condition.is_tripped_by(found));
    let all = comparison.gravest_first();
    let mut tripping =
        all.iter().filter_map(|(project, found)| Some((project, found, trips(found)?)));
    let (project, found, condition) = tripping.next()?;
    let finding = &found.finding;
    let title = words::title(&finding.subject, &finding.part);
    let title = shortened(&printable(&title), TITLE_CHARS_MAX);
    let of = match comparison.projects.len() {
        1 => String::new(),
        _ => format!(" of `{}`", printable(project.project())),
    };
    let more = match tripping.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let fingerprint = &found.fingerprint;
    let condition = name(condition);
    let message = format!("`--fail-on {condition}`: {title}{of} (fingerprint {fingerprint}){more}");
    Some(Failure::no(message).help("review it; `--accepted FILE` passes what is intended"))
}

fn name(condition: Condition) -> String {
    condition.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
