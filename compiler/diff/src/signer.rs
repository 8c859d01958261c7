//! The signers of bundles, as far as a trust file knows them.

use crate::finding::{Area, Change, Finding, Kind};

/// The signatures of a bundle, as a trust file sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signers {
    /// The keys whose signature counts, in words.
    pub good: Vec<String>,
    /// Whether a server with that trust file serves the bundle.
    pub trusted: bool,
}

/// Compares the signers of two bundles; `None` if they are equal.
#[must_use]
pub fn compare_signers(a: &Signers, b: &Signers) -> Option<Finding> {
    if a == b {
        return None;
    }
    let shown = |signers: &Signers| {
        let Signers { good, trusted } = signers;
        let names = (!good.is_empty()).then(|| good.join(", "));
        if *trusted { names } else { Some(format!("{}, not trusted", names?)) }
    };
    let change = Change::Value { before: shown(a), after: shown(b) };
    let finding = Finding::new(Area::Surface, Kind::Project, "", change).part("signers");
    Some(match (a.trusted, b.trusted) {
        (true, false) => {
            finding.breaking(true).meaning("servers with this trust file refuse the bundle")
        }
        (false, true) => finding.meaning("servers with this trust file serve the bundle"),
        _ => finding,
    })
}
