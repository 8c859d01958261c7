//! What the project declares, as far as a failed `expect` shows it.

use crate::ast::Expect;
use crate::model::{Model, Readers};
use crate::source::{Span, Spanned};

/// The rows of a bundle with the places that declare them, and the `expect`s.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(super) expects: Vec<Expect>,
    pub(super) tenants: Vec<Spanned<String>>,
    pub(super) roles: Vec<DeclaredRole>,
    /// In the order of the cascade.
    pub(super) skills: Vec<DeclaredSkill>,
    pub(super) prompts: Vec<Row>,
    pub(super) resources: Vec<Row>,
    pub(super) templates: Vec<Row>,
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
}

impl Declared {
    /// Takes the `expect`s of a model, and copies what they can be about.
    pub(crate) fn take(model: &mut Model) -> Self {
        let expects = std::mem::take(&mut model.expects);
        if expects.is_empty() {
            return Self::default();
        }
        let row = |name: &Spanned<String>, readers: &Readers| Row {
            name: name.clone(),
            readers: readers.clone(),
        };
        let roles = model.access.roles.iter();
        let skills = model.skills.list.iter();
        let (resources, templates) = (model.resources.iter(), model.templates.iter());
        Self {
            expects,
            tenants: model.access.tenants.clone(),
            roles: roles
                .map(|role| DeclaredRole { name: role.name.clone(), tools: role.tools.clone() })
                .collect(),
            skills: skills
                .map(|skill| DeclaredSkill { name: skill.name.clone(), label: skill.label() })
                .collect(),
            prompts: model.prompts.iter().map(|it| row(&it.name, &it.readers)).collect(),
            resources: resources.map(|it| row(&it.uri, &it.about.readers)).collect(),
            templates: templates.map(|it| row(&it.uri_template, &it.about.readers)).collect(),
        }
    }

    /// Returns where a skill is declared, by its number.
    pub(super) fn skill_at(&self, number: u32) -> Option<Span> {
        self.skills.get(number as usize).map(|skill| skill.name.at)
    }
}

/// Returns the row with this name.
pub(super) fn row_of(rows: &[Row], name: &str) -> Option<usize> {
    rows.iter().position(|row| row.name.value == name)
}
