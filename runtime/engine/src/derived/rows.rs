//! The rows of a bundle that have derived parts, checked as they are read.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, Corrupt, List, Prompt, Resource, ResourceTemplate, Seen};

use super::made_list::{EntryBytes, MadeList};
use super::mismatch::Mismatch;
use super::{briefing_text, pages, uri_template};

/// The checks of prompts, resources and URI templates, and of the pages of their lists.
pub(super) struct Rows<'b> {
    /// The URI of the agent skill of each prompt that is one.
    skills: BTreeMap<&'b str, &'b str>,
    prompts: MadeList<'b>,
    resources: MadeList<'b>,
    templates: MadeList<'b>,
    differing: Vec<Mismatch>,
}

impl<'b> Rows<'b> {
    pub(super) fn of(bundle: &'b Bundle) -> Result<Self, Corrupt> {
        let mut skills = BTreeMap::new();
        for skill in bundle.agent_skills() {
            let skill = skill?;
            skills.insert(skill.prompt()?, skill.uri()?);
        }
        let list = |list| MadeList::of(bundle, list);
        Ok(Self {
            skills,
            prompts: list(List::Prompts),
            resources: list(List::Resources),
            templates: list(List::Templates),
            differing: Vec::new(),
        })
    }

    /// Appends the parts that differ. Returns the entries of the lists of prompts, resources and templates.
    pub(super) fn finish(self, out: &mut Vec<Mismatch>) -> Result<[EntryBytes; 3], Corrupt> {
        out.extend(self.differing);
        Ok([self.prompts.finish()?, self.resources.finish()?, self.templates.finish()?])
    }

    fn prompt(&mut self, prompt: Prompt) -> Result<(), Corrupt> {
        self.prompts.add(&pages::prompt(&prompt))?;
        let Prompt { name, description, summary, body, rendering, .. } = prompt;
        let about = description.as_ref().map_or("", |description| &description.value);
        let is_derived = match self.skills.get(name.as_str()) {
            Some(uri) => *body.value == briefing_text::of_agent_skill(&name, about, uri),
            None => briefing_text::is(&rendering, &body.value),
        };
        if !is_derived {
            self.differing.push(Mismatch::BriefingText(name.clone()));
        }
        // A generated description equals the summary.
        let is_written = description.as_ref().is_some_and(|description| description.at.is_some());
        if !is_written && description.map(|it| it.value) != summary.map(|it| it.value) {
            self.differing.push(Mismatch::Description(name));
        }
        Ok(())
    }

    fn template(&mut self, template: ResourceTemplate) -> Result<(), Corrupt> {
        self.templates.add(&pages::template(&template))?;
        let pieces = uri_template::pieces(&template.uri_template);
        let numbered =
            |pieces: Vec<_>| uri_template::numbered(&pieces, &template.rendering.arguments);
        if pieces.map(numbered).as_ref() != Ok(&template.pieces) {
            self.differing.push(Mismatch::UriTemplate(template.uri_template));
        }
        Ok(())
    }
}

impl Seen for Rows<'_> {
    fn prompts(&mut self, some: Vec<Prompt>) -> Result<(), Corrupt> {
        some.into_iter().try_for_each(|prompt| self.prompt(prompt))
    }

    fn resources(&mut self, some: Vec<Resource>) -> Result<(), Corrupt> {
        some.iter().try_for_each(|resource| self.resources.add(&pages::resource(resource)))
    }

    fn templates(&mut self, some: Vec<ResourceTemplate>) -> Result<(), Corrupt> {
        some.into_iter().try_for_each(|template| self.template(template))
    }
}
