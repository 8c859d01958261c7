//! All skills of a project: in the order of the cascade, each once in its block.

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_bundle::Level;
use thiserror::Error;

use super::patch::Patches;
use super::text;
use super::{name, pattern, prompt};
use crate::ast;
use crate::diagnostic::Diagnostics;
use crate::language::skills::{SKILLS, SkillLimits};
use crate::model::{Skill, Skills};
use crate::setting::{Settings as _, count_written};
use crate::source::{Sources, Span, Spanned};

/// Resolves all skills.
pub(super) fn skills(
    sources: &Sources<'_>,
    nodes: Vec<ast::Skills>,
    out: &mut Diagnostics,
) -> Skills {
    let limits = limits(&nodes, out);
    let mut first_at: HashMap<String, Span> = HashMap::new();
    let (mut list, mut disabled) = (Vec::new(), Vec::new());
    for block in nodes.into_iter().flat_map(|node| node.blocks) {
        let ast::SkillBlock { level, selectors, skills } = block;
        for node in skills {
            let Some(name) = node.name.clone() else { continue };
            let label = label(level, &selectors, &name.value);
            if let Some(first_at) = first_at.get(&label) {
                out.report(name.at, SecondSkill { label, first_at: *first_at, at: name.at });
                continue;
            }
            first_at.insert(label, name.at);
            let on = node.settings.enabled.value;
            let undecided = prompt::undecided(&[], &node.allowed);
            match skill(sources, level, selectors.clone(), node, out) {
                Some(skill) if on => list.push(skill),
                Some(skill) => disabled.push(skill),
                None => undecided.into_iter().for_each(|at| out.mark_used(at)),
            }
        }
    }
    list.sort_by(|a, b| a.order().cmp(&b.order()));
    disabled.sort_by(|a, b| a.order().cmp(&b.order()));
    Skills { limits, list, disabled }
}

/// Joins the limits of all nodes; each may be written once.
fn limits(nodes: &[ast::Skills], out: &mut Diagnostics) -> SkillLimits {
    let mut limits = SkillLimits::default();
    for node in nodes {
        for ((what, limit), (_, written)) in
            limits.of_mut(&SKILLS).into_iter().zip(node.limits.of(&SKILLS))
        {
            let Some(field) = SKILLS.field(what) else { continue };
            match (limit.at(), written.at()) {
                (Some(first_at), Some(at)) => {
                    out.report(at, SecondLimit { what, first_at, at });
                }
                (None, Some(at)) => {
                    let values = written.values(field.kind).into_iter();
                    let values = values.map(|(value, _)| Spanned { value, at });
                    limit.set(&values.collect::<Vec<_>>());
                }
                (_, None) => {}
            }
        }
    }
    limits
}

/// Resolves one skill; `None` if it has faults, which are reported.
fn skill(
    sources: &Sources<'_>,
    level: Level,
    selectors: Vec<Spanned<String>>,
    node: ast::Skill,
    out: &mut Diagnostics,
) -> Option<Skill> {
    let ast::Skill {
        name,
        new: _,
        settings,
        meta,
        selectors: ast::SkillSelectors { tenant, tools, user },
        body,
        allowed,
    } = node;
    let allowed = prompt::allowed(allowed, out);
    let name = name?;
    let named = name::check(&name, "skill", out);
    let (mut tenant, mut tools, mut user) = (tenant, tools.unwrap_or_default(), user);
    match level {
        Level::Global => {}
        Level::Tenant => tenant = selectors.into_iter().next(),
        Level::Tool => tools = selectors,
        Level::User => user = selectors.into_iter().next(),
    }
    let written = tools.len();
    let tools = pattern::valid(tools, out);
    // With all patterns broken the skill would apply to every tool.
    if tools.is_empty() && written > 0 {
        return None;
    }
    let off = !settings.enabled.value;
    let is_bare = off && prompt::has_no_body(&body);
    let text = if is_bare { None } else { Some(one_text(sources, &name, body, out)?) };
    named.then_some(Skill {
        name,
        level,
        settings,
        meta,
        tenant,
        tools,
        user,
        text: text.as_ref().map_or("", |text| text.source.text()).into(),
        body: text.map(|text| text.source),
        allowed,
    })
}

/// Reads the one text of a skill, which is always plain.
fn one_text(
    sources: &Sources<'_>,
    name: &Spanned<String>,
    mut body: ast::Body,
    out: &mut Diagnostics,
) -> Option<text::Text> {
    let broken = body.broken;
    match (&body.text, &body.file) {
        _ if broken => return None,
        (None, None) => {
            out.report(name.at, NoText { name: name.value.clone(), at: name.at });
            return None;
        }
        (Some(text), Some(file)) => {
            out.report(text.at, TwoTexts { first_at: file.at, at: text.at });
            return None;
        }
        (Some(_), None) | (None, Some(_)) => {}
    }
    let at = body.text.as_ref().or(body.file.as_ref()).map_or(name.at, |written| written.at);
    body.template = Some(Spanned { value: false, at });
    text::of_body(sources, body, out)
}

/// Returns a skill's block and name in the form of reports.
fn label(level: Level, selectors: &[Spanned<String>], name: &str) -> String {
    let mut selectors: Vec<&str> = selectors.iter().map(|it| it.value.as_str()).collect();
    selectors.sort_unstable();
    selectors.dedup();
    let block: String = selectors.into_iter().map(|selector| format!(" {selector}")).collect();
    format!("{}{block}/{name}", level.word())
}

/// Returns the number of settings and skills in a node of a `when`.
pub(super) fn count(node: &ast::Skills) -> usize {
    let set = count_written(&node.limits.of(&SKILLS));
    set + node.blocks.iter().map(|block| block.skills.len()).sum::<usize>()
}

/// The place of each skill among the nodes before the patches.
pub(super) struct SkillPlaces {
    /// The node, the block in it, and the skill in that, by label.
    places: HashMap<String, [usize; 3]>,
}

impl SkillPlaces {
    pub(super) fn of(nodes: &[ast::Skills]) -> Self {
        let mut places = HashMap::new();
        for (n, node) in nodes.iter().enumerate() {
            for (b, block) in node.blocks.iter().enumerate() {
                for (s, skill) in block.skills.iter().enumerate() {
                    let Some(name) = &skill.name else { continue };
                    let label = label(block.level, &block.selectors, &name.value);
                    // If two have one label, which is reported, the first is patched.
                    places.entry(label).or_insert([n, b, s]);
                }
            }
        }
        Self { places }
    }

    /// Applies the skills of a `when`.
    pub(super) fn patch(
        &self,
        nodes: &mut Vec<ast::Skills>,
        patch: ast::Skills,
        patches: &mut Patches,
        out: &mut Diagnostics,
    ) {
        let is_set = |node: &ast::Skills| count_written(&node.limits.of(&SKILLS)) > 0;
        if is_set(&patch) {
            let place = nodes.iter().position(is_set).unwrap_or(0);
            if nodes.is_empty() {
                nodes.push(ast::Skills::default());
            }
            if let Some(node) = nodes.get_mut(place) {
                patches.skill_limits(node, &patch, out);
            }
        }
        for ast::SkillBlock { level, selectors, skills } in patch.blocks {
            let mut added = Vec::new();
            for mut skill in skills {
                let Some(name) = skill.name.clone() else { continue };
                let label = label(level, &selectors, &name.value);
                let is_new = skill.new.as_ref().is_some_and(|new| new.value);
                let known = self.places.get(&label).and_then(|[n, b, s]| {
                    nodes.get_mut(*n)?.blocks.get_mut(*b)?.skills.get_mut(*s)
                });
                match known {
                    Some(known) if is_new => {
                        let first_at = known.name.as_ref().map_or(name.at, |known| known.at);
                        patches.report_known(
                            "skill",
                            Spanned { value: &label, at: name.at },
                            first_at,
                            out,
                        );
                    }
                    Some(known) => patches.skill(&label, known, skill, out),
                    None if is_new => {
                        skill.new = None;
                        added.push(skill);
                    }
                    None => {
                        let known = self.places.keys().map(String::as_str);
                        let label = Spanned { value: label, at: name.at };
                        patches.report_unknown("skill", label, known, out);
                    }
                }
            }
            if !added.is_empty() {
                let block = ast::SkillBlock { level, selectors, skills: added };
                nodes.push(ast::Skills { blocks: vec![block], ..ast::Skills::default() });
            }
        }
    }
}

/// A skill is patched and compared by its block and name, so each pair is unique.
#[derive(Debug, Error, Diagnostic)]
#[error("skill `{label}` is declared twice")]
#[diagnostic(code(skill::duplicate), help("rename or remove one of them"))]
struct SecondSkill {
    label: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// With two, their order would decide which one counts.
#[derive(Debug, Error, Diagnostic)]
#[error("`{what}` of the skills is set twice")]
#[diagnostic(
    code(skill::second_limit),
    help("keep one of them; a `when` patches it for an environment")
)]
struct SecondLimit {
    what: &'static str,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// A skill consists of its text.
#[derive(Debug, Error, Diagnostic)]
#[error("skill `{name}` has no text")]
#[diagnostic(code(skill::no_text), help("write it after the name, or give a `text` or a `file=`"))]
struct NoText {
    name: String,
    #[label(primary, "no text")]
    at: Span,
}

/// The choice between the two texts would follow a rule that no one knows.
#[derive(Debug, Error, Diagnostic)]
#[error("a skill has one text: written here, or in a file")]
#[diagnostic(code(skill::two_texts), help("remove one of them"))]
struct TwoTexts {
    #[label("the file")]
    first_at: Span,
    #[label(primary, "the text")]
    at: Span,
}
