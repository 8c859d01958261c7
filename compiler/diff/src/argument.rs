//! The arguments of a prompt or of a URI template.

use relay_bundle::{Argument, ArgumentKind};

use crate::finding::{Area, Change, Finding, Findings, Subject};

/// Compares the arguments of one subject, and how clients see them.
pub(crate) fn compare(subject: &Subject, a: &[Argument], b: &[Argument], out: &mut Findings) {
    let named = |list: &'_ [Argument], name: &str| list.iter().position(|one| one.name == name);
    let gone: Vec<&Argument> = a.iter().filter(|one| named(b, &one.name).is_none()).collect();
    let mut new: Vec<&Argument> = b.iter().filter(|one| named(a, &one.name).is_none()).collect();
    let mut renamed = Vec::new();
    for old in gone {
        // One equal but for its name, at the same place of the list.
        let same =
            |new: &&Argument| named(a, &old.name) == named(b, &new.name) && is_renamed(old, new);
        if let Some(index) = new.iter().position(same) {
            renamed.push((old, new.remove(index)));
        } else {
            let removed = finding(subject, &old.name, Change::Removed).breaking(true);
            out.push(removed.meaning("calls that give it are refused").at(Some(&old.at), None));
        }
    }
    for (old, new) in renamed {
        let change = Change::Renamed { before: old.name.clone() };
        let renamed = finding(subject, &new.name, change).breaking(true);
        out.push(
            renamed
                .meaning("calls that give the old name are refused")
                .at(Some(&old.at), Some(&new.at)),
        );
    }
    for new in new {
        let added = finding(subject, &new.name, Change::Added).at(None, Some(&new.at));
        out.push(if new.required {
            added.breaking(true).meaning("it is required: calls without it are refused")
        } else {
            added
        });
    }
    for new in b {
        if let Some(old) = a.iter().find(|old| old.name == new.name) {
            differences(subject, old, new, out);
        }
    }
    let kept = |list: &[Argument], other: &[Argument]| -> Vec<String> {
        let kept = list.iter().filter(|one| named(other, &one.name).is_some());
        kept.map(|one| one.name.clone()).collect()
    };
    let (before, after) = (kept(a, b), kept(b, a));
    if before != after {
        let change = value(Some(before.join(", ")), Some(after.join(", ")));
        out.push(of(subject, change).part("order of arguments"));
    }
}

fn of(subject: &Subject, change: Change) -> Finding {
    Finding::new(Area::Surface, subject.kind, subject.name.clone(), change)
}

fn finding(subject: &Subject, name: &str, change: Change) -> Finding {
    of(subject, change).part(format!("argument {name}"))
}

fn value(before: Option<String>, after: Option<String>) -> Change {
    Change::Value { before, after }
}

/// Returns whether two arguments of different names are equal in everything else that clients see.
fn is_renamed(a: &Argument, b: &Argument) -> bool {
    let Argument {
        name: _,
        description,
        required,
        default,
        kind,
        stride: _,
        only_printed: _,
        at: _,
    } = b;
    (&a.description, &a.required, &a.default, &a.kind) == (description, required, default, kind)
}

fn differences(subject: &Subject, a: &Argument, b: &Argument, out: &mut Findings) {
    // A text's dependence on it shows in the text.
    let Argument { name, description, required, default, kind, stride: _, only_printed: _, at } = b;
    let part = |part: &str, change| {
        let part = format!("argument {name} {part}");
        of(subject, change).part(part).at(Some(&a.at), Some(at))
    };
    if a.description != *description {
        let change = value(a.description.clone(), description.clone());
        out.push(part("description", change));
    }
    if a.required != *required {
        let change = value(Some(a.required.to_string()), Some(required.to_string()));
        let finding = part("required", change).breaking(*required);
        out.push(if *required { finding.meaning("calls without it are refused") } else { finding });
    }
    if a.default != *default {
        let change = value(a.default.clone(), default.clone());
        let mut finding = part("default", change);
        finding.area = Area::Contexts;
        out.push(finding);
    }
    if a.kind != *kind {
        let (narrower, meaning) = narrowed(&a.kind, kind);
        let mut finding = part("values", value(Some(shown(&a.kind)), Some(shown(kind))));
        finding.breaking = narrower;
        finding.meaning = meaning;
        out.push(finding);
    }
}

/// Returns whether calls that were answered are refused now, and the consequence for them.
fn narrowed(a: &ArgumentKind, b: &ArgumentKind) -> (bool, Option<String>) {
    match (a, b) {
        (ArgumentKind::Choice(a), ArgumentKind::Choice(b)) => {
            let gone: Vec<_> = a.iter().filter(|value| !b.contains(value)).cloned().collect();
            let meaning = (!gone.is_empty())
                .then(|| format!("calls with `{}` are refused", gone.join("`, `")));
            (meaning.is_some(), meaning)
        }
        (ArgumentKind::Text { .. }, ArgumentKind::Choice(_)) => {
            (true, Some("calls with another value are refused".into()))
        }
        (ArgumentKind::Text { chars_max: a }, ArgumentKind::Text { chars_max: b }) => {
            let shorter = *b != 0 && (*a == 0 || b < a);
            (false, shorter.then(|| "longer values are cut".into()))
        }
        (ArgumentKind::Choice(_), ArgumentKind::Text { .. }) => (false, None),
    }
}

fn shown(kind: &ArgumentKind) -> String {
    match kind {
        ArgumentKind::Choice(choices) => format!("one of {}", choices.join(", ")),
        ArgumentKind::Text { chars_max: 0 } => "any text".into(),
        ArgumentKind::Text { chars_max } => format!("any text of {chars_max} characters"),
    }
}
