//! What is prebuilt from the rest: the lists that clients get, and the indexes that tags and skills are
//! found by.
//!
//! Where nothing that they are made of differs, they do not either, unless a bundle was altered before
//! it was signed, or another compiler wrote it. Then an answer may differ though no cause is found.

use relay_bundle::{Bundle, Kind as Section};

use crate::finding::{Area, Change, Finding, Findings, Kind};

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

/// Compares what is prebuilt, if nothing else was found.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) {
    if out.count() > 0 {
        return;
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
}
