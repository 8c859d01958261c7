//! What is prebuilt from the rest: the lists that clients get, and the indexes that tags and skills are
//! found by.
//!
//! Where nothing that they are made of differs, they do not either, unless a bundle was altered before
//! it was signed, or another compiler wrote it. Then an answer may differ though no cause is found.
//! What each bundle is found by must say what its contents say.

use relay_bundle::{Bundle, Corrupt, Kind as Section};

use crate::consistent::inconsistent;
use crate::finding::{Area, Change, Direction, Finding, Findings, Kind};

/// The sections of the prebuilt lists.
const LISTS: [Section; 6] = [
    Section::PromptPages,
    Section::ResourcePages,
    Section::TemplatePages,
    Section::ToolPages,
    Section::PageBytes,
    Section::AudiencePages,
];
/// The sections of the tag index.
const TAGS: [Section; 4] =
    [Section::TagOrder, Section::TagWords, Section::TagText, Section::TagPostings];

/// The sections of the index of skills.
const SKILLS: [Section; 6] = [
    Section::SkillPatterns,
    Section::SkillScopes,
    Section::SkillScopeIndex,
    Section::SkillLists,
    Section::SkillPostings,
    Section::SkillTopics,
];

/// Compares what is prebuilt: with what each bundle should have, and, if nothing else was found, with
/// the other one.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let (of_a, of_b) = (inconsistent(a)?, inconsistent(b)?);
    for (side, sections) in [("before", &of_a), ("after", &of_b)] {
        if sections.is_empty() {
            continue;
        }
        let names = sections.join(", ");
        let change = match side {
            "before" => Change::Value { before: Some(names.clone()), after: None },
            _ => Change::Value { before: None, after: Some(names.clone()) },
        };
        let finding = Finding::new(Area::Authority, Kind::Project, "", change)
            .direction(Direction::Changes)
            .part("tables that say something else than the contents");
        let meaning = "servers answer from this, and no comparison shows it: the bundle was altered \
                       before it was signed, or another version of relay built it";
        out.push(finding.meaning(meaning).content(side.as_bytes(), names.as_bytes()));
    }
    if out.count() > 0 {
        return Ok(());
    }
    for (part, sections) in [
        ("prebuilt lists", LISTS.as_slice()),
        ("prebuilt tag index", &TAGS),
        ("prebuilt index of skills", &SKILLS),
    ] {
        let held = |bundle: &Bundle| {
            let sections = bundle
                .sections()
                .iter()
                .filter(|it| it.kind.is_some_and(|kind| sections.contains(&kind)));
            sections.map(|it| it.digest.hex()).collect::<Vec<_>>().join(" ")
        };
        let (before, after) = (held(a), held(b));
        if before != after {
            let change =
                Change::Value { before: Some("one".into()), after: Some("another".into()) };
            let finding = Finding::new(Area::Surface, Kind::Project, "", change).part(part);
            let meaning = "nothing that it is made of differs: build both with one compiler";
            out.push(finding.meaning(meaning).content(before.as_bytes(), after.as_bytes()));
        }
    }
    Ok(())
}
