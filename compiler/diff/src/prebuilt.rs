//! Prebuilt tables: the lists that clients get, and the indexes that tags and skills are
//! found by.
//!
//! Where nothing that they are made of differs, they do not either, unless a bundle was altered before
//! it was signed, or another compiler wrote it. Then an answer may differ though no cause is found.
//! The indexes of each bundle must agree with its contents.

use relay_bundle::{Bundle, Corrupt, Kind as Section, Prebuilt};

use crate::consistent::inconsistent;
use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

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
            .direction(Direction::NotProved)
            .part("tables that say something else than the contents");
        let meaning = "servers answer from this, and no comparison shows it: the bundle was altered \
                       before it was signed, or another version of relay built it";
        out.push(finding.meaning(meaning).content(side.as_bytes(), names.as_bytes()));
    }
    if out.count() > 0 {
        return Ok(());
    }
    for (part, made) in [
        ("prebuilt lists", Prebuilt::Lists),
        ("prebuilt tag index", Prebuilt::TagIndex),
        ("prebuilt index of skills", Prebuilt::SkillIndex),
    ] {
        let held = |bundle: &Bundle| {
            let sections = bundle
                .sections()
                .iter()
                .filter(|it| it.kind.and_then(Section::prebuilt) == Some(made));
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
