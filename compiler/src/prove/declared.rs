//! The declarations of a project that the reports of `expect`s need.

use hashbrown::HashMap;

use crate::ast::{Expect, PolicyRule};
use crate::model::{Model, Prompt, Readers};
use crate::source::{Span, Spanned};

/// The rows of a bundle with the places that declare them, and the `expect`s.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(super) expects: Vec<Expect>,
    /// The environment; absent for the base.
    pub(super) environment: Option<String>,
    pub(super) tenants: Vec<Spanned<String>>,
    pub(super) roles: Vec<DeclaredRole>,
    /// In the order of the cascade.
    pub(super) skills: Vec<DeclaredSkill>,
    /// The numbers of the skills of each name, rising.
    skill_numbers: HashMap<String, Vec<u32>>,
    /// Names and patterns of the tools of other servers.
    pub(super) other_tools: Vec<String>,
    pub(super) prompts: Vec<Row>,
    pub(super) resources: Vec<Row>,
    pub(super) templates: Vec<Row>,
    /// The texts on which rules are tried.
    pub(super) examples: Vec<Tried>,
    /// The project's own rules.
    pub(super) rules: Vec<PolicyRule>,
}

/// A text on which a rule is tried.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    /// The name of the rule.
    pub(super) rule: String,
    pub(super) text: String,
    /// Whether the rule should mean it.
    pub(super) matches: bool,
    /// Whether it is known to do so: a rule of a shipped policy, which a test has tried on the same facts.
    pub(super) holds: bool,
    pub(super) at: Span,
    pub(super) rule_at: Span,
}

/// A role.
#[derive(Debug)]
pub(super) struct DeclaredRole {
    pub(super) name: Spanned<String>,
    /// The patterns of the tools that it sees; absent if it sees all.
    pub(super) tools: Option<Vec<Spanned<String>>>,
}

/// A skill.
#[derive(Debug)]
pub(super) struct DeclaredSkill {
    pub(super) name: Spanned<String>,
    /// Its block and name.
    pub(super) label: String,
}

/// A row of a list.
#[derive(Debug)]
pub(super) struct Row {
    /// The name or the URI.
    pub(super) name: Spanned<String>,
    pub(super) readers: Readers,
    /// Whether it is a prompt that was made of the offered tools.
    pub(super) generated: bool,
}

impl Declared {
    /// Copies the `expect`s of a model, and the declarations that they can be about.
    pub(crate) fn of(model: &Model) -> Self {
        let row = |name: &Spanned<String>, readers: &Readers| Row {
            name: name.clone(),
            readers: readers.clone(),
            generated: false,
        };
        let prompt = |it: &Prompt| Row { generated: it.generated, ..row(&it.name, &it.readers) };
        let roles = model.access.roles.iter();
        let skills = model.skills.list.iter();
        let (resources, templates) = (model.resources.iter(), model.templates.iter());
        let other_tools = model.other_tools.iter();
        let mut skill_numbers: HashMap<String, Vec<u32>> = HashMap::new();
        for (number, skill) in (0..).zip(&model.skills.list) {
            skill_numbers.entry(skill.name.value.clone()).or_default().push(number);
        }
        Self {
            expects: model.expects.clone(),
            environment: model.environment.clone(),
            tenants: model.access.tenants.clone(),
            roles: roles
                .map(|role| DeclaredRole { name: role.name.clone(), tools: role.tools.clone() })
                .collect(),
            skills: skills
                .map(|skill| DeclaredSkill { name: skill.name.clone(), label: skill.label() })
                .collect(),
            skill_numbers,
            other_tools: other_tools.map(|pattern| pattern.value.clone()).collect(),
            prompts: model.prompts.iter().map(prompt).collect(),
            resources: resources.map(|it| row(&it.uri, &it.about.readers)).collect(),
            templates: templates.map(|it| row(&it.uri_template, &it.about.readers)).collect(),
            examples: examples(model),
            rules: own_rules(model),
        }
    }

    /// Returns whether a rule is still to be tried on a text.
    pub(super) fn has_open_examples(&self) -> bool {
        self.examples.iter().any(|tried| !tried.holds)
    }

    /// Returns the numbers of the skills with this name, rising.
    pub(super) fn skills_named(&self, name: &str) -> &[u32] {
        self.skill_numbers.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the place of a skill's declaration, by its number.
    pub(super) fn skill_at(&self, number: u32) -> Option<Span> {
        self.skills.get(number as usize).map(|skill| skill.name.at)
    }
}

/// Returns the texts on which the rules of a model are tried.
fn examples(model: &Model) -> Vec<Tried> {
    let Some((policy, facts)) = &model.policy else { return Vec::new() };
    let has_own_facts = !(facts.programs.is_empty() && facts.environment.is_empty());
    // A trial asks these beside the rule: a new part of it belongs here.
    let is_as_shipped = policy.judges_as_shipped && !has_own_facts && model.hosts.is_none();
    let of_rule = |rule: &PolicyRule| {
        let tried = |matches: bool| {
            let (name, rule_at) = (rule.name.value.clone(), rule.name.at);
            let holds = is_as_shipped && rule.origin.is_some();
            move |text: &Spanned<String>| Tried {
                rule: name.clone(),
                text: text.value.clone(),
                matches,
                holds,
                at: text.at,
                rule_at,
            }
        };
        let matches: Vec<Tried> = rule.matches.iter().map(tried(true)).collect();
        matches.into_iter().chain(rule.no_matches.iter().map(tried(false))).collect::<Vec<_>>()
    };
    policy.rules.iter().flat_map(of_rule).collect()
}

/// Returns the rules of a model that are the project's own.
fn own_rules(model: &Model) -> Vec<PolicyRule> {
    let rules = model.policy.iter().flat_map(|(policy, _)| &policy.rules);
    rules.filter(|rule| rule.origin.is_none()).cloned().collect()
}

/// Returns the row with this name.
pub(super) fn row_of(rows: &[Row], name: &str) -> Option<usize> {
    rows.iter().position(|row| row.name.value == name)
}
