//! The cascade of skills: which texts a call of a tool is given, by tenant, tool and user.

pub(crate) mod any;
mod examples;
mod glob;
pub(crate) mod model;
mod near_miss;
mod resolve;
mod worst;

use std::fmt::Write as _;

use relay_bundle::{Bundle, Contents, KnownTool, Skill, distinct_patterns, encode};
use relay_engine::cascade::{Question, TraceRow, TracedSkill, resolve};
use relay_engine::glob::matches;

use crate::bundle::sample;

/// A bundle of these skills, in any order, that knows these tools.
pub(crate) fn bundle(mut skills: Vec<Skill>, known: &[&str]) -> Bundle {
    skills.sort_by(|a, b| a.order().cmp(&b.order()));
    let patterns = distinct_patterns(&skills);
    let matching = |name: &str| {
        (0u32..).zip(&patterns).filter(|(_, p)| matches(p, name)).map(|(n, _)| n).collect()
    };
    let mut known_tools: Vec<KnownTool> = known
        .iter()
        .map(|name| KnownTool { name: (*name).into(), patterns: Some(matching(name)) })
        .collect();
    known_tools.sort_by(|a, b| a.name.cmp(&b.name));
    let contents = Contents { known_tools, skills: skills.clone(), ..Contents::default() };
    sample::open(&encode(&contents).unwrap()).unwrap()
}

fn question<'q>(tenant: &'q str, tool: &'q str, user: &'q str) -> Question<'q> {
    let named = |name: &'q str| (!name.is_empty()).then_some(name);
    Question { tenant: named(tenant), tool: named(tool), user: named(user) }
}

/// The text, and a line for each row of the trace.
fn shown(bundle: &Bundle, question: Question<'_>) -> String {
    let resolution = resolve(bundle, question).unwrap();
    let mut shown = resolution.text().unwrap();
    for TraceRow { level, skill } in resolution.trace().unwrap() {
        write!(shown, "\n- {}", level.word()).unwrap();
        let Some(TracedSkill { name, priority, overridden_by, .. }) = skill else { continue };
        write!(shown, " {name} {priority}").unwrap();
        if let Some(winner) = overridden_by {
            write!(shown, " < {winner}").unwrap();
        }
    }
    shown
}
