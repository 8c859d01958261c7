//! The project's reasons for lowering something, which reviewers read beside the difference.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Reason, Review};

/// The reasons of one side, by their subject.
#[derive(Debug, Default)]
pub(crate) struct Reasons<'r> {
    by_subject: BTreeMap<Subject<'r>, String>,
}

/// The subject of a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject<'r> {
    pub(crate) kind: &'r str,
    pub(crate) name: &'r str,
    /// The row of a program; empty for all of it.
    pub(crate) part: &'r str,
}

impl<'r> Reasons<'r> {
    pub(crate) fn of_review(review: &'r Review) -> Self {
        let mut by_subject: BTreeMap<Subject<'r>, String> = BTreeMap::new();
        for Reason { kind, name, part, because, at: _ } in &review.reasons {
            let known = by_subject.entry(Subject { kind, name, part });
            known.and_modify(|all| *all = format!("{all}; {because}")).or_insert(because.clone());
        }
        Self { by_subject }
    }

    /// Returns the reason for lowering a setting: a floor, a variable.
    pub(crate) fn of(&self, kind: &str, name: &str) -> Option<String> {
        self.by_subject.get(&Subject { kind, name, part: "" }).cloned()
    }

    /// Returns the reason for lowering a row of a program: its own, else that of the program.
    pub(crate) fn of_program(&self, name: &str, row: &str) -> Option<String> {
        let of = |part| self.by_subject.get(&Subject { kind: "program", name, part });
        of(row).or_else(|| of("")).cloned()
    }

    /// Returns the subjects with differing reasons, with both of them.
    pub(crate) fn differing<'s>(
        &'s self,
        after: &'s Self,
    ) -> impl Iterator<Item = (Subject<'r>, Option<&'s str>, Option<&'s str>)> + 's {
        let subjects: BTreeSet<Subject<'r>> =
            self.by_subject.keys().chain(after.by_subject.keys()).copied().collect();
        let pair = move |subject: Subject<'r>| {
            let (old, new) = (self.by_subject.get(&subject), after.by_subject.get(&subject));
            (old != new).then(|| (subject, old.map(String::as_str), new.map(String::as_str)))
        };
        subjects.into_iter().filter_map(pair)
    }
}
