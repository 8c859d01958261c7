//! Agent skills. Their files are resources, and their text is a prompt: both are compared as such.

use relay_bundle::{AgentSkill, Bundle, Corrupt};

use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::join::{Joined, joined};
use crate::text::hunks;

/// Compares the agent skills of two bundles.
pub(crate) fn compare_all(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    joined(
        a.agent_skills(),
        b.agent_skills(),
        |skill| skill.uri(),
        |found| {
            match found {
                Joined::Gone(a) => {
                    let a = a.to_owned()?;
                    let gone = finding(&a, Area::Surface, Change::Removed).breaking(true);
                    out.push(gone.at(Some(&a.at), None));
                }
                Joined::New(b) => {
                    let b = b.to_owned()?;
                    out.push(finding(&b, Area::Surface, Change::Added).at(None, Some(&b.at)));
                }
                Joined::Both(a, b) => compare(&a.to_owned()?, &b.to_owned()?, out),
            }
            Ok(())
        },
    )
}

fn finding(skill: &AgentSkill, area: Area, change: Change) -> Finding {
    Finding::new(area, Kind::AgentSkill, skill.uri.clone(), change)
}

fn compare(a: &AgentSkill, b: &AgentSkill, out: &mut Findings) {
    // The list of files is made of the resources.
    let AgentSkill { uri: _, prompt, frontmatter, manifest: _, at } = b;
    if a.frontmatter != *frontmatter {
        let hunks = hunks(&lines(&a.frontmatter), &lines(frontmatter));
        let changed = finding(b, Area::Contexts, Change::Text { hunks }).part("front matter");
        let changed = changed.content(a.frontmatter.as_bytes(), frontmatter.as_bytes());
        out.push(changed.at(Some(&a.at), Some(at)));
    }
    if a.prompt != *prompt {
        let change = Change::Value { before: Some(a.prompt.clone()), after: Some(prompt.clone()) };
        let changed = finding(b, Area::Surface, change).part("prompt");
        out.push(changed.at(Some(&a.at), Some(at)));
    }
}

/// Returns front matter as lines, a key a line, so that a difference shows the keys that changed.
fn lines(frontmatter: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(frontmatter);
    let lines = value.and_then(|value| serde_json::to_string_pretty(&value));
    lines.unwrap_or_else(|_| frontmatter.to_owned())
}
