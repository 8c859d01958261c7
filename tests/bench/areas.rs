//! The areas: what measures together, and under which heading.

use crate::figures::document::Section;
use crate::figures::{Figure, Report};
use crate::{
    Result, Setting, agent_skills, audience, audit, automata, bundle, cascade, classify, cost,
    crowd, decide, diff, hook, http, peer, port, select, shell, size, ssh, stdio, terminal,
};

/// Figures that one function measures.
pub(crate) struct Area {
    /// The beginning of the ids of its figures.
    pub(crate) name: &'static str,
    /// The heading of the document; areas in a row with one heading share a table.
    pub(crate) title: &'static str,
    pub(crate) figures: &'static [Figure],
    pub(crate) run: fn(&Setting, &mut Report) -> Result<()>,
    /// Whether it needs no other binary.
    pub(crate) is_in_process: bool,
}

const SERVER: &str = "Server";
const COMPILER: &str = "Compiler and review";
const BUNDLE: &str = "Bundle, selection and skills";
const POLICY: &str = "Policy and hooks";
const TOOLS: &str = "Commands, terminals and hosts";
const SIZE: &str = "Audit and size";

/// All areas, in the order of the document.
pub(crate) const AREAS: &[Area] = &[
    of("start", SERVER, stdio::START, stdio::start),
    of("stdio", SERVER, stdio::GET, stdio::prompts_get),
    of("http", SERVER, http::FIGURES, http::prompts_get),
    of("port", SERVER, port::FIGURES, port::evaluations),
    of("crowd", SERVER, crowd::FIGURES, crowd::flood),
    of("agent-skills", SERVER, agent_skills::FIGURES, agent_skills::skills),
    of("check", COMPILER, cost::CHECK, cost::check),
    of("build", COMPILER, cost::BUILD, cost::build),
    of("diff", COMPILER, diff::FIGURES, diff::diff),
    of("load", BUNDLE, bundle::LOAD, bundle::load),
    of("read", BUNDLE, bundle::READ, bundle::read).in_process(),
    of("select", BUNDLE, select::FIGURES, select::by_tags).in_process(),
    of("cascade", BUNDLE, cascade::FIGURES, cascade::cascade),
    of("audiences", BUNDLE, audience::FIGURES, audience::audiences),
    of("classify", POLICY, classify::FIGURES, classify::in_process).in_process(),
    of("relay-classify", POLICY, classify::process::FIGURES, classify::process::process),
    of("automata", POLICY, automata::FIGURES, automata::automata).in_process(),
    of("decide", POLICY, decide::FIGURES, decide::decisions),
    of("hook", POLICY, hook::FIGURES, hook::hooks),
    of("shell", TOOLS, shell::FIGURES, shell::commands),
    of("terminal", TOOLS, terminal::FIGURES, terminal::sessions),
    of("ssh", TOOLS, ssh::FIGURES, ssh::hosts),
    of("peer", TOOLS, peer::FIGURES, peer::beside),
    of("audit", SIZE, audit::FIGURES, audit::records).in_process(),
    of("size", SIZE, size::FIGURES, size::sizes),
];

const fn of(
    name: &'static str,
    title: &'static str,
    figures: &'static [Figure],
    run: fn(&Setting, &mut Report) -> Result<()>,
) -> Area {
    Area { name, title, figures, run, is_in_process: false }
}

impl Area {
    const fn in_process(self) -> Self {
        Self { is_in_process: true, ..self }
    }
}

/// Returns the areas that are named, or that have figures that are, each with these figures; without
/// names all.
///
/// # Errors
///
/// If a name is neither.
pub(crate) fn chosen(names: &[&str]) -> Result<Vec<(&'static Area, Vec<&'static str>)>> {
    let is_known = |name: &str| {
        AREAS.iter().any(|area| area.name == name || area.figures.iter().any(|it| it.id == name))
    };
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let areas: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
        let areas = areas.join(", ");
        return Err(format!("no area or figure is named `{unknown}`; areas are {areas}").into());
    }
    let ids = |area: &Area| -> Vec<&'static str> {
        let is_all = names.is_empty() || names.contains(&area.name);
        let ids = area.figures.iter().map(|figure| figure.id);
        ids.filter(|id| is_all || names.contains(id)).collect()
    };
    Ok(AREAS.iter().map(|area| (area, ids(area))).filter(|(_, ids)| !ids.is_empty()).collect())
}

/// Returns the figures by headings.
pub(crate) fn sections() -> Vec<Section<'static>> {
    let mut sections: Vec<Section<'static>> = Vec::new();
    for area in AREAS {
        match sections.last_mut() {
            Some(last) if last.title == area.title => last.figures.extend(area.figures),
            _ => sections.push(Section { title: area.title, figures: area.figures.to_vec() }),
        }
    }
    sections
}
