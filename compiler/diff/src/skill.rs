//! Skills.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, Corrupt, Repeat, Setting, Skill, SkillSettings};

use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::text::hunks;

/// Compares the skills of two bundles, each by its block and name.
pub(crate) fn compare_all(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    settings(a, b, out);
    let (mut a, b) = (labelled(a)?, labelled(b)?);
    for (label, new) in b {
        let mut old = a.remove(&label).unwrap_or_default().into_iter();
        for new in new {
            match old.next() {
                Some(old) => compare(&old, &new, out),
                None => {
                    let added = finding(&new, Change::Added).bytes(0, new.text.value.len());
                    out.push(added.at(None, Some(&new.at)));
                }
            }
        }
        old.for_each(|old| gone(&old, out));
    }
    a.into_values().flatten().for_each(|old| gone(&old, out));
    Ok(())
}

/// Compares the settings of skills; where a side lacks skills, they follow from that.
fn settings(a: &Bundle, b: &Bundle, out: &mut Findings) {
    if a.skill_count() == 0 || b.skill_count() == 0 {
        return;
    }
    let repeat = |settings: &SkillSettings| {
        let SkillSettings { repeat } = settings;
        repeat.clone()
    };
    let [before, after] = [a, b].map(|bundle| bundle.skill_settings().map(repeat));
    let shown = |repeat: &Repeat| match repeat {
        Repeat::Always => "always".to_owned(),
        Repeat::Once => "once".to_owned(),
    };
    let place = |setting: &Option<Setting<Repeat>>| setting.as_ref().and_then(|it| it.at.clone());
    let (old, new) = (place(&before), place(&after));
    out.setting(before.as_ref(), after.as_ref(), shown, |change| {
        let changed = Finding::new(Area::Contexts, Kind::Skill, "", change).part("repeat");
        changed.at(old.as_ref(), new.as_ref())
    });
}

fn labelled(bundle: &Bundle) -> Result<BTreeMap<String, Vec<Skill>>, Corrupt> {
    let mut skills: BTreeMap<String, Vec<Skill>> = BTreeMap::new();
    for skill in bundle.skills() {
        let skill = skill?.to_owned()?;
        skills.entry(skill.label()).or_default().push(skill);
    }
    Ok(skills)
}

fn gone(skill: &Skill, out: &mut Findings) {
    let removed = finding(skill, Change::Removed).bytes(skill.text.value.len(), 0).always(true);
    out.push(removed.at(Some(&skill.at), None));
}

fn finding(skill: &Skill, change: Change) -> Finding {
    Finding::new(Area::Contexts, Kind::Skill, skill.label(), change)
}

fn compare(a: &Skill, b: &Skill, out: &mut Findings) {
    // The level is a part of the label.
    let Skill {
        name: _,
        level: _,
        priority,
        topic,
        title,
        description,
        meta,
        tenant,
        tools,
        user,
        text,
        at,
    } = b;
    let of =
        |part: &'static str| move |change| finding(b, change).part(part).at(Some(&a.at), Some(at));
    if a.text.value != text.value {
        let (old, new) = (&a.text.value, &text.value);
        let changed = of("text")(Change::Text { hunks: hunks(old, new) });
        let places = (a.text.at.as_ref().or(Some(&a.at)), text.at.as_ref().or(Some(at)));
        let changed = changed.content(old.as_bytes(), new.as_bytes()).at(places.0, places.1);
        let is_emptied = new.trim().is_empty();
        out.push(changed.bytes(old.len(), new.len()).always(is_emptied));
    }
    let mut named = |a: &Option<Setting<String>>, b: &Option<Setting<String>>, part| {
        out.setting(a.as_ref(), b.as_ref(), String::clone, of(part));
    };
    named(&a.tenant, tenant, "tenant");
    named(&a.user, user, "user");
    named(&a.topic, topic, "topic");
    named(&a.title, title, "title");
    named(&a.description, description, "description");
    out.setting(Some(&a.priority), Some(priority), u8::to_string, of("priority"));
    let shown = |tools: &[Setting<String>]| {
        let patterns: Vec<&str> = tools.iter().map(|tool| tool.value.as_str()).collect();
        (!patterns.is_empty()).then(|| patterns.join(" · "))
    };
    let (before, after) = (shown(&a.tools), shown(tools));
    if before != after {
        out.push(of("tools")(Change::Value { before, after }));
    }
    if a.meta != *meta {
        out.push(of("meta")(Change::Value { before: a.meta.clone(), after: meta.clone() }));
    }
}
