//! Texts for reviewers alone: disabled names, suppressions, the settings of the index of prompts,
//! the reasons of facts, and the expectations that the build proves.

use std::collections::BTreeMap;

use relay_bundle::{Expectation, IndexSettings, Reason, Review, Setting, Suppression};

use super::places::Places;
use crate::ast::{Claim, Expect};
use crate::model::{Allowed, Gate, Model};
use crate::source::Spanned;

/// Returns the texts that reviewers must see beside the answers.
pub(super) fn review(model: &Model, places: &Places<'_>) -> Review {
    let mut switched_off: Vec<&Spanned<String>> = model.disabled_prompts.iter().collect();
    switched_off.sort_by(|a, b| a.value.cmp(&b.value));
    let mut gathered = Gathered { places, found: BTreeMap::new() };
    for prompt in &model.prompts {
        gathered.add(&prompt.allowed, |it| it.prompts.push(prompt.name.value.clone()));
    }
    for resource in &model.resources {
        let uri = &resource.uri.value;
        gathered.add(&resource.about.allowed, |it| it.resources.push(uri.clone()));
    }
    for template in &model.templates {
        let uri = &template.uri_template.value;
        gathered.add(&template.about.allowed, |it| it.resources.push(uri.clone()));
    }
    for skill in &model.skills.list {
        gathered.add(&skill.allowed, |it| it.skills.push(skill.label()));
    }
    let mut suppressions: Vec<Suppression> = gathered.found.into_values().collect();
    for Suppression { prompts, resources, skills, .. } in &mut suppressions {
        prompts.sort();
        resources.sort();
        skills.sort();
    }
    Review {
        switched_off: switched_off.into_iter().map(|name| places.written(name.clone())).collect(),
        switched_off_skills: model
            .skills
            .disabled
            .iter()
            .map(|skill| Setting { value: skill.label(), at: Some(places.of(skill.name.at)) })
            .collect(),
        suppressions,
        reasons: reasons(model, places),
        index: index(&model.gate),
        expectations: model.expects.iter().map(|expect| expectation(expect, places)).collect(),
    }
}

fn expectation(expect: &Expect, places: &Places<'_>) -> Expectation {
    let claim = |(claim, about): &(Claim, Spanned<String>)| expect.claimed(*claim, &about.value);
    Expectation {
        question: expect.asked(),
        claims: expect.claims.iter().map(claim).collect(),
        at: places.of(expect.at),
    }
}

/// Returns the settings of the index of prompts; `None` if the gate is off.
fn index(gate: &Gate) -> Option<IndexSettings> {
    gate.on.value.then_some(IndexSettings {
        cap: gate.index_cap.value,
        over_cap_priority: gate.over_cap_priority.value,
        entry_chars: gate.entry_chars.value,
        instructions_chars: gate.instructions_chars.value,
    })
}

/// Returns the reasons for lowered tiers of the project.
fn reasons(model: &Model, places: &Places<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut add = |kind: &str, name: &str, part: String, because: Option<&Spanned<String>>| {
        if let Some(because) = because.filter(|because| !because.value.trim().is_empty()) {
            let (value, at) = (because.value.clone(), places.of(because.at));
            let (kind, name) = (kind.to_owned(), name.to_owned());
            reasons.push(Reason { kind, name, part, because: value, at });
        }
    };
    let Some((policy, facts)) = &model.policy else { return reasons };
    for (floor, setting) in policy.floors.iter() {
        add("floor", floor.name(), String::new(), setting.because.as_ref());
    }
    for program in &facts.programs {
        for name in &program.names {
            add("program", &name.value, String::new(), program.because.as_ref());
            for row in &program.rows {
                add("program", &name.value, row.row.words(&program.fact), row.because.as_ref());
            }
        }
    }
    for row in &facts.environment {
        for name in &row.names {
            add("variable", &name.value, String::new(), row.because.as_ref());
        }
    }
    reasons.sort_by(|a, b| (&a.at, &a.name, &a.part).cmp(&(&b.at, &b.name, &b.part)));
    reasons
}

/// The suppressions by their place: that of a folder counts once for all its prompts.
struct Gathered<'p, 's> {
    places: &'p Places<'s>,
    found: BTreeMap<relay_bundle::Place, Suppression>,
}

impl Gathered<'_, '_> {
    fn add(&mut self, allowed: &[Allowed], mut add: impl FnMut(&mut Suppression)) {
        for Allowed { of, rule, because } in allowed {
            let at = self.places.of(rule.at);
            add(self.found.entry(at.clone()).or_insert_with(|| Suppression {
                of: *of,
                rule: rule.value.clone(),
                because: because.value.clone(),
                prompts: Vec::new(),
                resources: Vec::new(),
                skills: Vec::new(),
                at,
            }));
        }
    }
}
