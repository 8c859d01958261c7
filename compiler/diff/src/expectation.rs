//! The promises of a project about its answers: each `expect`, which every build proves.
//!
//! A removed promise *loosens*, although all answers stay the same: builds would then miss a later
//! change that breaks it.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Expectation, Place, Review};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// The claims about one question, and where its first `expect` is.
struct Promised<'r> {
    claims: BTreeSet<&'r str>,
    at: &'r Place,
}

/// Compares the claims about each question.
pub(crate) fn compare(a: &Review, b: &Review, out: &mut Findings) {
    let (a, b) = (promised(a), promised(b));
    let questions: BTreeSet<&str> = a.keys().chain(b.keys()).copied().collect();
    for question in questions {
        let sides = (a.get(question), b.get(question));
        let claims = |side: Option<&Promised<'_>>, other: Option<&Promised<'_>>| -> Vec<String> {
            let is_kept = |claim: &&&str| other.is_some_and(|other| other.claims.contains(**claim));
            let all = side.into_iter().flat_map(|side| &side.claims);
            all.filter(|claim| !is_kept(claim)).map(|claim| (*claim).to_owned()).collect()
        };
        let (gone, new) = (claims(sides.0, sides.1), claims(sides.1, sides.0));
        let joined = |claims: &[String]| Some(claims.join("; ")).filter(|text| !text.is_empty());
        let (part, change) = match sides {
            (Some(_), None) => ("", Change::Removed),
            (None, _) => ("", Change::Added),
            _ if gone.is_empty() && new.is_empty() => continue,
            _ => ("claims", Change::Value { before: joined(&gone), after: joined(&new) }),
        };
        let (direction, meaning) = match (joined(&gone), joined(&new)) {
            (Some(gone), _) => (Direction::NotProved, format!("no build proves any more: {gone}")),
            (None, Some(new)) => (Direction::Narrower, format!("every build proves: {new}")),
            (None, None) => (Direction::NotProved, "no build asks it any more".to_owned()),
        };
        let finding = Finding::new(Area::Authority, Kind::Expectation, question, change);
        out.push(
            finding
                .part(part)
                .direction(direction)
                .meaning(meaning)
                .content(format!("{gone:?}").as_bytes(), format!("{new:?}").as_bytes())
                .at(sides.0.map(|it| it.at), sides.1.map(|it| it.at)),
        );
    }
}

fn promised(review: &Review) -> BTreeMap<&str, Promised<'_>> {
    let mut promised = BTreeMap::new();
    for Expectation { question, claims, at } in &review.expectations {
        let of = promised
            .entry(question.as_str())
            .or_insert_with(|| Promised { claims: BTreeSet::new(), at });
        of.claims.extend(claims.iter().map(String::as_str));
    }
    promised
}
