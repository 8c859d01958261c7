//! The search in the contents of the bundle.

use relay_bundle::Contents;
use serde::Serialize;

use super::finding::{self, Finding, Forbidden};
use super::place::{Owner, dense};
use super::search::TextSearch;
use super::strings::texts;
use crate::diagnostic::Diagnostics;
use crate::source::Sources;

impl TextSearch {
    /// Searches the finished contents for findings beyond those in the project's own text: composed
    /// by a template, decoded, or in another part of a bundle.
    pub(crate) fn check_contents(
        mut self,
        sources: &Sources<'_>,
        contents: &Contents,
        out: &mut Diagnostics,
    ) {
        // Destructured in full, so that a new part of a bundle asks for its owner.
        let Contents {
            epoch: _,
            manifest,
            messages,
            gate,
            tools,
            tenants,
            roles,
            users,
            audiences,
            prompts,
            resources,
            templates,
            agent_skills,
            skills,
            skill_settings,
            tool_settings,
            hosts,
            policy,
            rules,
            // They follow from the regexes.
            automata: _,
            // The canonical source holds the project's own facts.
            facts: _,
            known_tools,
            prompt_pages,
            resource_pages,
            template_pages,
            tool_pages,
            canonical,
            provenance,
            review,
        } = contents;
        let of_prompts = std::mem::take(&mut self.prompts);
        for prompt in prompts {
            self.value(sources, of_prompts.get(&prompt.name), prompt, out);
        }
        for skill in agent_skills {
            self.value(sources, of_prompts.get(&skill.prompt), skill, out);
        }
        let of_resources = std::mem::take(&mut self.resources);
        for resource in resources {
            self.value(sources, of_resources.get(&resource.uri), resource, out);
        }
        for template in templates {
            self.value(sources, of_resources.get(&template.uri_template), template, out);
        }
        let of_skills = std::mem::take(&mut self.skills);
        for skill in skills {
            self.value(sources, of_skills.get(&skill.label()), skill, out);
        }
        // These come last: they repeat the others.
        self.value(sources, None, manifest, out);
        self.value(sources, None, messages, out);
        self.value(sources, None, gate, out);
        self.value(sources, None, tools, out);
        self.value(sources, None, skill_settings, out);
        self.value(sources, None, tool_settings, out);
        self.value(sources, None, hosts, out);
        self.value(sources, None, policy, out);
        self.value(sources, None, rules, out);
        self.value(sources, None, tenants, out);
        self.value(sources, None, roles, out);
        self.value(sources, None, users, out);
        self.value(sources, None, audiences, out);
        self.value(sources, None, known_tools, out);
        for pages in [prompt_pages, resource_pages, template_pages, tool_pages] {
            self.value(sources, None, pages, out);
        }
        self.value(sources, None, canonical, out);
        self.value(sources, None, provenance, out);
        self.value(sources, None, review, out);
        self.used.iter().for_each(|at| out.mark_used(*at));
    }

    fn value(
        &mut self,
        sources: &Sources<'_>,
        owner: Option<&Owner>,
        value: &impl Serialize,
        out: &mut Diagnostics,
    ) {
        let mut found = Vec::new();
        texts(value, &mut |text| {
            if owner.is_some_and(|owner| owner.is_clean(text)) {
                return;
            }
            let searched = match owner {
                Some(_) => finding::search(text),
                None => finding::search_again(text),
            };
            for Finding { of, rule, range } in searched {
                found.push((of, rule, text.as_bytes().get(range).unwrap_or_default().to_vec()));
            }
        });
        for (of, rule, text) in found {
            if self.is_seen((of, rule), &dense(&text), owner) {
                continue;
            }
            let owned = owner.unwrap_or(&self.project);
            let at = match of {
                Forbidden::Secret => owned.place(sources, &text),
                // The same character elsewhere in the document may belong to another owner.
                Forbidden::Invisible => owned.at,
            };
            self.take(owner, (of, rule), &text, at, out);
        }
    }

    /// Returns whether a finding, or a text around it, was found before: a secret anywhere,
    /// invisible characters in this owner.
    fn is_seen(
        &self,
        found: (Forbidden, &'static str),
        text: &[u8],
        owner: Option<&Owner>,
    ) -> bool {
        let holds = |outer: &[u8], inner: &[u8]| {
            outer.windows(inner.len().max(1)).any(|window| window == inner)
        };
        self.seen.iter().any(|seen| {
            let is_elsewhere = owner.is_some_and(|owner| seen.owner != Some(owner.at));
            (seen.of, seen.rule) == found
                && !(is_elsewhere && seen.of == Forbidden::Invisible)
                && (holds(&seen.text, text) || holds(text, &seen.text))
        })
    }
}
