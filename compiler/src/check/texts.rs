//! A text with forbidden contents: a secret, or characters that people cannot see.
//!
//! Every holder of a bundle can read its texts, and so can every agent. The project's texts are
//! searched first, as written, which gives exact places. Then all contents of the bundle are
//! searched, which covers generated texts and all future parts of bundles.

mod contents;
mod finding;
mod invisible;
mod place;
mod search;
mod secret;
mod strings;

use std::collections::BTreeSet;

use hashbrown::HashMap;

use self::finding::{Finding, Forbidden};
use self::invisible::{IdleInvisible, UnknownKind};
use self::place::Owner;
use self::secret::{IdleSuppression, UnknownRule};

pub(crate) use self::search::TextSearch;
use crate::ast::{Expect, Plain, PolicyRule, PolicyScope, Written};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Literal, Rule};
use crate::language::hosts::{HOST, HOSTS};
use crate::language::project::PROJECT;
use crate::language::prompt::PROMPT;
use crate::language::resource::RESOURCE;
use crate::language::skills::SKILL;
use crate::model::{
    About, Access, Allowed, Argument, BodySource, Facts, Host, Hosts, MessageSource, Model,
    PartSource, Policy, Project, Prompt, Setting, Skill, Skills, When,
};
use crate::setting::Settings;
use crate::source::{Sources, Span, Spanned};

/// Searches the project as written; the result searches the contents of the bundle.
pub(super) fn check(sources: &Sources<'_>, model: &Model, out: &mut Diagnostics) -> TextSearch {
    // Destructured in full, so that a new field of a project asks to be searched.
    let Model {
        project,
        environment: _,
        whens,
        prompts,
        disabled_prompts,
        resources,
        templates,
        access: Access { tenants, roles, users },
        audiences: _,
        gate: _,
        hosts,
        tools: _,
        other_tools,
        tool_effects,
        policy,
        skills,
        messages,
        expects,
    } = model;
    let at = project.name.at;
    let mut search = TextSearch {
        project: Owner::of_project(at),
        prompts: HashMap::with_capacity(prompts.len()),
        resources: HashMap::new(),
        skills: HashMap::new(),
        seen: BTreeSet::new(),
        found: 0,
        used: BTreeSet::new(),
    };
    let Project { name, settings } = project;
    let of_project = Owner::of_project(at);
    let mut pass = Pass { sources, owner: &of_project, search: &mut search, out };
    let arguments = tool_effects.iter().flat_map(|tools| &tools.arguments).map(|(name, _)| name);
    for line in [name].into_iter().chain(disabled_prompts).chain(other_tools).chain(arguments) {
        pass.value(&line.value, line.at);
    }
    pass.settings(&PROJECT, settings);
    let names = tenants.iter().chain(roles.iter().map(|role| &role.name));
    let patterns = roles.iter().flat_map(|role| role.tools.iter().flatten());
    for written in names.chain(patterns) {
        pass.value(&written.value, written.at);
    }
    for user in users {
        pass.value(&user.id, user.at);
    }
    for When { at: _, environment, nodes: _ } in whens {
        pass.value(&environment.value, environment.at);
    }
    if let Some(Hosts { at: _, settings, groups, hosts }) = hosts {
        pass.settings(&HOSTS, settings);
        groups.iter().for_each(|group| pass.value(&group.value, group.at));
        for Host { alias, settings } in hosts {
            pass.value(&alias.value, alias.at);
            pass.settings(&HOST, settings);
        }
    }
    if let Some((policy, facts)) = policy {
        pass.policy(policy, facts);
    }
    for expect in expects {
        let Expect {
            at: _,
            question: _,
            tenant,
            role,
            user,
            groups,
            tool,
            host,
            client,
            rule,
            tier: _,
            tags,
            claims,
        } = expect;
        let named = [tenant, role, user, tool, host, client, rule].into_iter().flatten();
        let claimed = claims.iter().map(|(_, about)| about);
        for written in named.chain(groups).chain(tags).chain(claimed) {
            pass.value(&written.value, written.at);
        }
    }
    for message in messages.all() {
        let file = message.file.map(|file| file.span(0, 0));
        if let Some(at) = file.or(message.at) {
            pass.value(&message.text, at);
        }
    }
    for prompt in prompts {
        let mut owner = Owner::of_prompt(prompt);
        let before = search.found;
        let mut pass = Pass { sources, owner: &owner, search: &mut search, out };
        pass.prompt(prompt);
        if search.found == before {
            owner.take_clean(sources, &prompt.bodies);
        }
        search.prompts.insert(prompt.name.value.clone(), owner);
    }
    for resource in resources {
        let mut owner = Owner::of_about(&resource.uri, &resource.about);
        let before = search.found;
        let mut pass = Pass { sources, owner: &owner, search: &mut search, out };
        pass.value(&resource.uri.value, resource.uri.at);
        pass.about(&resource.about);
        if search.found == before {
            owner.take_clean(sources, std::slice::from_ref(&resource.about.body));
        }
        search.resources.insert(resource.uri.value.clone(), owner);
    }
    for template in templates {
        let owner = Owner::of_about(&template.uri_template, &template.about);
        let mut pass = Pass { sources, owner: &owner, search: &mut search, out };
        pass.value(&template.uri_template.value, template.uri_template.at);
        pass.about(&template.about);
        pass.arguments(&template.arguments, &template.rendering.arguments);
        search.resources.insert(template.uri_template.value.clone(), owner);
    }
    let Skills { limits: _, list, disabled } = skills;
    for skill in list.iter().chain(disabled) {
        let owner = Owner::of_skill(skill);
        let mut pass = Pass { sources, owner: &owner, search: &mut search, out };
        pass.skill(skill);
        search.skills.insert(skill.label(), owner);
    }
    search.report_suppressions(out);
    search
}

impl TextSearch {
    fn report_suppressions(&self, out: &mut Diagnostics) {
        let owners = self.prompts.values().chain(self.resources.values());
        let owners = owners.chain(self.skills.values());
        let mut allowed: Vec<&Allowed> = owners.flat_map(|owner| &owner.allowed).collect();
        allowed.sort_unstable_by_key(|allowed| allowed.rule.at);
        for Allowed { of, rule, because: _ } in allowed {
            let Some(of) = Forbidden::of(*of) else { continue };
            let (rule, at) = (rule.value.clone(), rule.at);
            let known = finding::rule_names(of);
            let all = match of {
                Forbidden::Secret => "rules",
                Forbidden::Invisible => "kinds",
            };
            if !known.contains(&rule.as_str()) {
                let help = match relay_engine::nearest::nearest(&rule, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the {all} are: {}", known.join(", ")),
                };
                match of {
                    Forbidden::Secret => out.report(at, UnknownRule { rule, help, at }),
                    Forbidden::Invisible => out.report(at, UnknownKind { rule, help, at }),
                }
            } else if !self.used.contains(&at) {
                match of {
                    Forbidden::Secret => out.report_idle(at, IdleSuppression { rule, at }),
                    Forbidden::Invisible => out.report_idle(at, IdleInvisible { rule, at }),
                }
            } else {
                out.mark_used(at);
            }
        }
    }
}

/// The search in the texts of one owner.
struct Pass<'p, 's> {
    sources: &'p Sources<'s>,
    owner: &'p Owner,
    search: &'p mut TextSearch,
    out: &'p mut Diagnostics,
}

impl Pass<'_, '_> {
    fn policy(&mut self, policy: &Policy, facts: &Facts) {
        let Facts { programs, environment, table: _, meaning: _ } = facts;
        policy.nodes().into_iter().for_each(|node| self.settings(node.rule, node.settings));
        let classes = policy.classes.iter();
        classes.for_each(|class| self.settings(class.rule, &class.settings));
        let scopes = policy.scopes.iter();
        for (_, text) in scopes.flat_map(PolicyScope::properties) {
            text.iter().for_each(|text| self.value(&text.value, text.at));
        }
        for text in policy.rules.iter().flat_map(PolicyRule::texts) {
            self.value(&text.value, text.at);
        }
        for written in environment.iter().flat_map(|row| row.names.iter().chain(&row.because)) {
            self.value(&written.value, written.at);
        }
        for program in programs {
            self.written(&program.written, program.at);
        }
    }

    /// Searches all texts of a node, whose place is that of the node around it.
    fn written(&mut self, node: &Written, at: Span) {
        let properties = node.properties.iter().map(|(_, value)| value);
        for value in node.arguments.iter().chain(properties) {
            if let Plain::Text(text) = value {
                self.value(text, at);
            }
        }
        node.children.iter().for_each(|child| self.written(child, at));
    }

    fn prompt(&mut self, prompt: &Prompt) {
        let Prompt {
            name,
            settings,
            briefing: _,
            summary,
            chapters,
            meta,
            arguments,
            rendering,
            // It is made of the bodies.
            body: _,
            bodies,
            included,
            messages,
            booleans: _,
            readers: _,
            allowed,
            // Its `SKILL.md` is a resource, which is searched whole.
            agent_skill: _,
            generated,
        } = prompt;
        if *generated {
            return;
        }
        self.value(&name.value, name.at);
        self.settings(&PROMPT, settings);
        for Setting { value, at } in summary.iter().chain(chapters) {
            // A generated value has no place; its source is searched instead.
            if let Some(at) = at {
                self.value(value, *at);
            }
        }
        if let Some(meta) = meta {
            strings::texts(meta, &mut |text| self.value(text, name.at));
        }
        self.arguments(arguments, &rendering.arguments);
        for body in bodies.iter().chain(included) {
            self.body(body);
        }
        for MessageSource { settings: _, parts } in messages {
            parts.iter().for_each(|part| self.part(part, name.at));
        }
        self.reasons(allowed);
    }

    fn skill(&mut self, skill: &Skill) {
        let Skill {
            name,
            level: _,
            settings,
            meta,
            tenant,
            tools,
            user,
            body,
            // It is the text of the body.
            text: _,
            allowed,
        } = skill;
        self.value(&name.value, name.at);
        self.settings(&SKILL, settings);
        let lines = [tenant, user].into_iter().flatten();
        for line in lines.chain(tools) {
            self.value(&line.value, line.at);
        }
        if let Some(meta) = meta {
            strings::texts(&meta.value, &mut |text| self.value(text, name.at));
        }
        body.iter().for_each(|body| self.body(body));
        self.reasons(allowed);
    }

    /// Searches the settings with texts.
    fn settings(&mut self, rule: &'static Rule, settings: &dyn Settings) {
        for rule in [rule].into_iter().chain(rule.children.iter().copied()) {
            for (name, setting) in settings.of(rule) {
                let Some(field) = rule.field(name) else { continue };
                for value in setting.values(field.kind) {
                    if let (Literal::Text(text), Some(at)) = value {
                        self.value(text, at);
                    }
                }
            }
        }
    }

    /// Searches the media type of a part; its other texts are among the bodies.
    fn part(&mut self, part: &PartSource, at: Span) {
        match part {
            PartSource::Text(_) => {}
            PartSource::Image { body: _, mime } | PartSource::Audio { body: _, mime } => {
                self.value(mime, at);
            }
            PartSource::Resource { uri: _, mime, body: _ } => {
                mime.iter().for_each(|mime| self.value(mime, at));
            }
        }
    }

    fn about(&mut self, about: &About) {
        let About { name, settings, mime, body, included, readers: _, allowed } = about;
        for Setting { value, at } in [name, mime] {
            self.value(value, at.unwrap_or(self.owner.at));
        }
        self.settings(&RESOURCE, settings);
        for body in [body].into_iter().chain(included) {
            self.body(body);
        }
        self.reasons(allowed);
    }

    fn arguments(&mut self, facts: &[Argument], arguments: &[relay_bundle::Argument]) {
        for argument in arguments {
            let fact = facts.iter().find(|fact| fact.name.value == argument.name);
            let at = fact.map_or(self.owner.at, |fact| fact.name.at);
            let relay_bundle::Argument {
                name,
                description,
                required: _,
                default,
                kind,
                stride: _,
                only_printed: _,
                at: _,
            } = argument;
            self.value(name, at);
            for text in [description, default].into_iter().flatten() {
                self.value(text, at);
            }
            if let relay_bundle::ArgumentKind::Choice(choices) = kind {
                choices.iter().for_each(|choice| self.value(choice, at));
            }
        }
    }

    /// Searches reasons: the canonical source in the bundle holds them.
    fn reasons(&mut self, allowed: &[Allowed]) {
        for Allowed { of: _, rule: _, because: Spanned { value, at } } in allowed {
            self.value(value, *at);
        }
    }

    fn body(&mut self, body: &BodySource) {
        let BodySource { file, inline_at, named_at, text, start: _, template: _, is_settled: _ } =
            body;
        match (inline_at, text) {
            (Some(at), Some(text)) => self.value(text, *at),
            // Its bytes, so that places are those of the file and binary files are searched too.
            _ => {
                let file = *file;
                let source = self.sources.file(file);
                let bytes = source.bytes();
                for Finding { of, rule, range } in finding::search_file(&source, text.is_some()) {
                    let found = bytes.get(range.clone()).unwrap_or_default();
                    let at = named_at.unwrap_or(file.span(range.start, range.end));
                    self.search.take(Some(self.owner), (of, rule), found, at, self.out);
                }
            }
        }
    }

    fn value(&mut self, text: &str, at: Span) {
        let mut rest = at;
        for Finding { of, rule, range } in finding::search(text) {
            let found = text.as_bytes().get(range).unwrap_or_default();
            let escaped = || match of {
                Forbidden::Secret => None,
                Forbidden::Invisible => place::escaped(self.sources, rest, found),
            };
            let place = place::inside(self.sources, rest, found).or_else(escaped).unwrap_or(at);
            match of {
                // A secret that is written with escapes is found in no file, so its place is
                // recorded.
                Forbidden::Secret if place == at && place::has_escapes(self.sources, at) => {
                    self.sources.hide(at);
                }
                // The next character is after this one.
                Forbidden::Invisible if place != at => rest.start = place.end,
                _ => {}
            }
            self.search.take(Some(self.owner), (of, rule), found, place, self.out);
        }
    }
}
