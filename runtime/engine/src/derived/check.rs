//! A bundle -> the parts that differ from those of its contents.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, List, Mask};
use relay_policy::facts::Facts;

use super::made_list::{EntryBytes, MadeList};
use super::mismatch::Mismatch;
use super::rows::Rows;
use super::{pages, tools};
use crate::agent_skill;
use crate::glob;
use crate::prompt_index;
use crate::rule_keys;
use crate::tool::{Limits, find};

/// Returns the parts of a bundle that differ from those of its contents; empty for every bundle
/// that a compiler of this version wrote.
///
/// All of the bundle is read. Summaries and chapters generated from markdown are checked by the
/// compiler, and facts by the policy.
///
/// # Errors
///
/// The bundle is corrupt, or cannot follow from any contents.
pub fn mismatches(bundle: &Bundle) -> Result<Vec<Mismatch>, Corrupt> {
    bundle.bounded(|| found(bundle))
}

fn found(bundle: &Bundle) -> Result<Vec<Mismatch>, Corrupt> {
    let mut rows = Rows::of(bundle)?;
    let mut out: Vec<Mismatch> =
        bundle.inconsistent(&mut rows)?.into_iter().map(Mismatch::Section).collect();
    out.extend(twice(bundle)?.into_iter().map(Mismatch::Twice));
    if !out.is_empty() {
        // The remaining parts depend on these, and may be expensive to derive.
        return Ok(out);
    }
    known_tools(bundle, &mut out)?;
    agent_skills(bundle, &mut out)?;
    rules(bundle, &mut out)?;
    let [prompts, resources, templates] = rows.finish(&mut out)?;
    let made = [prompts, resources, templates, offered(bundle, &mut out)?];
    let lists = List::ALL.into_iter().zip(&made);
    out.extend(lists.filter(|(_, made)| made.is_none()).map(|(list, _)| Mismatch::Pages(list)));
    audiences(bundle, &made, &mut out)?;
    Ok(out)
}

/// Returns the kinds of rows with a duplicate name. A search for the name finds either of two.
fn twice(bundle: &Bundle) -> Result<Vec<&'static str>, Corrupt> {
    let users = bundle.users().list()?;
    let users = users.iter().map(|user| Ok((user.who, user.id.as_str(), user.tenant)));
    let paths = bundle.policy().map_or(&[][..], |policy| &policy.paths);
    let paths = paths.iter().flat_map(|row| row.patterns.iter().map(move |it| (row.kind, it)));
    let tenants = 0..bundle.tenants().count();
    let checks = [
        ("prompts", is_once(bundle.prompts().map(|prompt| prompt?.name()))?),
        ("resources", is_once(bundle.resources().map(|resource| resource?.uri()))?),
        ("agent skills", is_once(bundle.agent_skills().map(|skill| skill?.uri()))?),
        ("URI templates", is_once(bundle.templates().iter().map(|it| it?.uri_template()))?),
        ("tenants", is_once(tenants.map(|row| bundle.tenants().name(row)))?),
        ("roles", is_once(bundle.roles().iter().map(|role| Ok(&role.name)))?),
        ("users", is_once(users)?),
        ("tools", is_once(bundle.tools().iter().map(|tool| Ok(&tool.name)))?),
        ("known tools", is_once(bundle.known_tools().iter().map(|tool| tool?.name()))?),
        ("paths", is_once(paths.map(Ok))?),
    ];
    Ok(checks.into_iter().filter(|(_, is_once)| !is_once).map(|(kind, _)| kind).collect())
}

fn is_once<T: Ord>(names: impl Iterator<Item = Result<T, Corrupt>>) -> Result<bool, Corrupt> {
    let mut known = BTreeSet::new();
    for name in names {
        if !known.insert(name?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks the patterns listed for known tools: they select the skills for calls of these tools.
fn known_tools(bundle: &Bundle, out: &mut Vec<Mismatch>) -> Result<(), Corrupt> {
    for tool in bundle.known_tools().iter() {
        let tool = tool?;
        let name = tool.name()?;
        let Some(listed) = tool.patterns()? else { continue };
        let matching = bundle.skill_patterns().matching(|pattern| glob::matches(pattern, name))?;
        if !matching.into_iter().eq(listed.iter()) {
            out.push(Mismatch::KnownTool(name.to_owned()));
        }
    }
    Ok(())
}

/// Checks the order of resources and agent skills, and the files and the prompt of each agent skill.
fn agent_skills(bundle: &Bundle, out: &mut Vec<Mismatch>) -> Result<(), Corrupt> {
    if bundle.agent_skill_count() == 0 {
        return Ok(());
    }
    let resources = is_sorted(bundle.resources().map(|resource| resource?.uri()))?;
    let skills = is_sorted(bundle.agent_skills().map(|skill| skill?.uri()))?;
    for (kind, is_sorted) in [("resources", resources), ("agent skills", skills)] {
        if !is_sorted {
            out.push(Mismatch::Order(kind));
            return Ok(());
        }
    }
    let folders: Result<Vec<_>, Corrupt> = bundle
        .agent_skills()
        .map(|skill| {
            let uri = skill?.uri()?;
            Ok(uri.strip_suffix(agent_skill::SKILL_MD).unwrap_or(uri))
        })
        .collect();
    let mut folders = folders?;
    folders.sort_unstable();
    let counts = agent_skill::around(&folders);
    let too_deep = folders.iter().zip(counts).find(|(_, count)| *count > agent_skill::AROUND_MAX);
    if let Some((folder, _)) = too_deep {
        // Their files would be read once for each agent skill around them.
        out.push(Mismatch::AgentSkill(format!("{folder}{}", agent_skill::SKILL_MD)));
        return Ok(());
    }
    for skill in bundle.agent_skills() {
        let skill = skill?;
        let uri = skill.uri()?;
        let has_prompt = bundle.find_prompt(skill.prompt()?)?.is_some();
        if !has_prompt || skill.manifest()? != super::agent_skills::manifest(bundle, uri)? {
            out.push(Mismatch::AgentSkill(uri.to_owned()));
        }
    }
    Ok(())
}

/// Checks the order of rules, by which one is found, and the keys of each: a decision reads only the
/// rules of the keys in its request.
fn rules(bundle: &Bundle, out: &mut Vec<Mismatch>) -> Result<(), Corrupt> {
    if bundle.rule_count() == 0 {
        return Ok(());
    }
    if !is_sorted(bundle.rules().map(|rule| rule?.name()))? {
        out.push(Mismatch::Order("rules"));
    }
    let Ok(facts) = Facts::open(bundle.facts()?) else {
        out.push(Mismatch::Facts);
        return Ok(());
    };
    for rule in bundle.rules() {
        let rule = rule?.to_owned()?;
        if rule_keys::keys(&rule, &facts) != rule.keys {
            out.push(Mismatch::RuleKeys(rule.name));
        }
    }
    Ok(())
}

fn is_sorted<T: Ord>(names: impl Iterator<Item = Result<T, Corrupt>>) -> Result<bool, Corrupt> {
    let mut last = None;
    for name in names {
        let name = name?;
        if last.is_some_and(|last| last >= name) {
            return Ok(false);
        }
        last = Some(name);
    }
    Ok(true)
}

/// Checks the tools, and the pages of their list. Servers refuse a bundle with a tool outside of
/// the table.
fn offered(bundle: &Bundle, out: &mut Vec<Mismatch>) -> Result<EntryBytes, Corrupt> {
    let mut made = MadeList::of(bundle, List::Tools);
    let limits = Limits::of(bundle.tool_settings());
    for tool in bundle.tools() {
        let Some(spec) = find(&tool.name) else { continue };
        made.add(&tools::listed(spec, bundle.gate(), &limits))?;
        if tool.gated != tools::is_gated(spec, bundle.gate()) || tool.tier != spec.tier {
            out.push(Mismatch::Tool(tool.name.clone()));
        }
    }
    made.finish()
}

/// Checks the first rows of the pages of audiences, and their indexes.
fn audiences(
    bundle: &Bundle,
    made: &[EntryBytes; 4],
    out: &mut Vec<Mismatch>,
) -> Result<(), Corrupt> {
    let Some(audiences) = bundle.audiences().list()? else {
        if !lists_the_first(bundle, &bundle.messages().prompt_index)? {
            out.push(Mismatch::PromptIndex);
        }
        return Ok(());
    };
    for (list, made) in List::ALL.into_iter().zip(made) {
        let Some(bytes) = made else { continue };
        let fits = |rows: &Mask, starts: &[u32]| pages::starts(rows, bytes) == starts;
        let mut seen = audiences.list.iter().map(|audience| audience.visible(list));
        if !seen.all(|visible| fits(&visible.rows, &visible.pages)) {
            out.push(Mismatch::AudiencePages(list));
        }
    }
    let order = prompt_index::order(bundle)?;
    for (number, audience) in audiences.list.iter().enumerate() {
        let sees = |row: &&usize| audience.prompts.rows.contains(**row);
        let count = bundle.audiences().get(number)?.ranked();
        let prompts = order.iter().filter(sees).map(|row| bundle.prompt(*row));
        let is_index =
            prompt_index::is_index(&audience.index, count, bundle.gate().is_some(), prompts)?;
        let first = order.iter().filter(sees).take(audience.listed.len()).copied();
        if !is_index || !audience.listed.iter().map(|row| *row as usize).eq(first) {
            out.push(Mismatch::PromptIndex);
            break;
        }
    }
    Ok(())
}

/// Returns whether these are the names of the first prompts, in the order of selection.
fn lists_the_first(bundle: &Bundle, names: &[String]) -> Result<bool, Corrupt> {
    let order = prompt_index::order(bundle)?;
    if names.len() > order.len() {
        return Ok(false);
    }
    for (row, name) in order.iter().zip(names) {
        if bundle.prompt(*row)?.name()? != name {
            return Ok(false);
        }
    }
    Ok(true)
}
