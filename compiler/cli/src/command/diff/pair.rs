//! Two sides of one project, compared in one environment after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use relay_bundle::Bundle;
use relay_bundle::trust::Trust;
use relay_compiler::{Options, nearest};
use relay_diff::Signers;
use relay_engine::derived::Mismatch;

use crate::command::diff::anchor::Anchors;
use crate::command::diff::side::{Broken, Content, Opened, Side};
use crate::command::verify::Signature;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::shipped;
use crate::subject::{self, Front};
use crate::text::printable;

/// Two sides of one project.
pub(crate) struct Pair {
    /// The side before.
    pub(crate) a: Side,
    /// The side after.
    pub(crate) b: Side,
    /// Notes that a reader needs to understand the comparison.
    pub(crate) notes: Vec<String>,
}

/// The bundles of both sides in one environment.
pub(crate) struct InEnvironment<'e> {
    /// The environment; `None` for the project without one.
    pub(crate) environment: Option<&'e str>,
    /// The bundle of A; `None` for an empty side.
    pub(crate) a: Option<&'e Bundle>,
    /// The bundle of B; `None` for an empty side.
    pub(crate) b: Option<&'e Bundle>,
    /// Whether a side was compiled here. Its manifest may lack the environment, so that field is
    /// left out.
    pub(crate) is_compiled: bool,
    /// Whether both are the same bundle. Then its tables may be unread.
    pub(crate) is_same: bool,
    /// The marks of findings in the source of B.
    pub(crate) anchors: &'e Anchors<'e>,
}

/// Facts about both sides, after their comparison.
pub(crate) struct Facts {
    /// Facts of A.
    pub(crate) a: SideFacts,
    /// Facts of B.
    pub(crate) b: SideFacts,
    /// Notes that a reader needs to understand the comparison.
    pub(crate) notes: Vec<String>,
}

/// Facts about a side, after its comparison.
pub(crate) struct SideFacts {
    /// Path and digest of each source file; `None` if both sides are the same bundle, whose list
    /// stays unread.
    pub(crate) files: Option<BTreeMap<String, String>>,
    /// The signatures of a bundle.
    pub(crate) signatures: Vec<Signature>,
    /// The signatures by the trust file; `None` without one, or for another side than a bundle.
    pub(crate) trust: Option<Signers>,
    /// The parts of a bundle that contradict its contents; empty for one that was compiled here or
    /// is on both sides.
    pub(crate) derived: Vec<Mismatch>,
}

impl SideFacts {
    fn of(side: &Opened<'_>, is_same: bool, trust: Option<&Trust>, derived: Vec<Mismatch>) -> Self {
        let files = (!is_same).then(|| side.files());
        Self { files, signatures: side.signatures(trust), trust: side.signers(trust), derived }
    }
}

impl Pair {
    /// Returns whether a side is a bundle.
    pub(crate) fn has_bundle(&self) -> bool {
        [&self.a, &self.b].into_iter().any(|side| matches!(side.content, Content::Bundle(_)))
    }

    /// Calls `compare` with the bundles of both sides in each environment that either names, or in
    /// `asked` alone. Memory holds one environment at a time, and the bundle without one of a side
    /// that does not name all of them.
    pub(crate) fn compare(
        &self,
        asked: Option<&str>,
        trust: Option<&Trust>,
        output: &mut Output,
        mut compare: impl FnMut(&InEnvironment<'_>) -> Result<(), Failure>,
    ) -> Result<Facts, Failure> {
        let progress = Progress::start(output, "comparing");
        let options = Options::default();
        let (a_sources, b_sources) = (self.a.sources(), self.b.sources());
        let (mut a, mut b) = match self.same_bundle()? {
            Some((a, b)) => (Opened::Bundle(Rc::new(a)), Opened::Bundle(Rc::new(b))),
            None => {
                let a = self.a.open(a_sources.as_ref(), &options)?;
                (a, self.b.open(b_sources.as_ref(), &options)?)
            }
        };
        let is_same =
            a.as_bundle().zip(b.as_bundle()).is_some_and(|(a, b)| a.digest() == b.digest());
        // Before any comparison: this ends at a bundle whose rows ask for any amount of text.
        let derived = |side: &Opened<'_>| match side.as_bundle() {
            Some(bundle) if !is_same => relay_compiler::mismatches(bundle, shipped::facts()),
            _ => Ok(Vec::new()),
        };
        let (derived_a, derived_b) = (derived(&a)?, derived(&b)?);
        let environments = self.environments(&a, &b, asked)?;
        a.expect(&environments);
        b.expect(&environments);
        let anchors = Anchors::new(a_sources.as_ref(), b_sources.as_ref());
        let is_compiled = a.as_bundle().is_none() || b.as_bundle().is_none();
        for environment in environments.iter().map(Option::as_deref) {
            let (of_a, of_b) = match (a.bundle(environment)?, b.bundle(environment)?) {
                (Ok(of_a), Ok(of_b)) => (of_a, of_b),
                (of_a, of_b) => {
                    drop(progress);
                    let is_in_all = environments.len() > 1;
                    return self.fail([(&a, of_a.err()), (&b, of_b.err())], is_in_all, output);
                }
            };
            let (a, b) = (of_a.as_deref(), of_b.as_deref());
            let is_same = a.zip(b).is_some_and(|(a, b)| a.digest() == b.digest());
            compare(&InEnvironment { environment, a, b, is_compiled, is_same, anchors: &anchors })?;
        }
        let mut notes = self.notes.clone();
        notes.extend(differing_builds(&a, &b));
        let of = |side, derived| SideFacts::of(side, is_same, trust, derived);
        Ok(Facts { a: of(&a, derived_a), b: of(&b, derived_b), notes })
    }

    /// Returns the fronts of two files with the same bundle.
    ///
    /// The digest names the contents: if it is equal, all servers answer alike, independently of
    /// the rest of the files. So large tables stay unread, and with them any damage: `relay verify`
    /// finds it, and a server refuses the page.
    fn same_bundle(&self) -> Result<Option<(Bundle, Bundle)>, Failure> {
        let (Content::Bundle(a), Content::Bundle(b)) = (&self.a.content, &self.b.content) else {
            return Ok(None);
        };
        let fronts = (a.front(), b.front());
        let (Some(of_a), Some(of_b)) = fronts else { return Ok(None) };
        if of_a.bundle.digest() != of_b.bundle.digest() {
            return Ok(None);
        }
        let checked = |front: Front, side: &Side| {
            let Front { bundle, is_whole } = front;
            if is_whole {
                bundle.check_all().map_err(|error| subject::at(&side.label, error.into()))?;
            }
            Ok::<_, Failure>(bundle)
        };
        Ok(Some((checked(of_a, &self.a)?, checked(of_b, &self.b)?)))
    }

    /// Returns the environments to compare in.
    fn environments(
        &self,
        a: &Opened<'_>,
        b: &Opened<'_>,
        asked: Option<&str>,
    ) -> Result<Vec<Option<String>>, Failure> {
        let bundles = [(&self.a, a.as_bundle()), (&self.b, b.as_bundle())];
        let bundles = bundles.into_iter().filter_map(|(side, bundle)| Some((side, bundle?)));
        let mut built = None;
        for (side, bundle) in bundles {
            let environment = bundle.manifest().environment.clone();
            if asked.is_some() && environment.as_deref() != asked {
                let built = match &environment {
                    Some(name) => format!("built for the environment `{}`", printable(name)),
                    None => "built without an environment".into(),
                };
                let message = format!("`--env` does not fit: `{}` is a bundle {built}", side.label);
                return Err(Failure::error(message)
                    .help("omit it: a bundle is compared as what it was built for"));
            }
            built = Some(environment);
        }
        if let Some(environment) = built {
            return Ok(vec![environment]);
        }
        let named: BTreeSet<&String> = a.environments().iter().chain(b.environments()).collect();
        let Some(asked) = asked else {
            return Ok([None].into_iter().chain(named.into_iter().cloned().map(Some)).collect());
        };
        if named.iter().any(|name| *name == asked) {
            return Ok(vec![Some(asked.to_owned())]);
        }
        let failure = Failure::error(format!("neither side names an environment `{asked}`"));
        let near = nearest(asked, named.iter().map(|name| name.as_str()));
        Err(match (near, named.is_empty()) {
            (Some(near), _) => failure.help(format!("did you mean `{near}`?")),
            (None, true) => failure.help("omit --env: there is no `when` in either"),
            (None, false) => {
                let names: Vec<_> = named.iter().map(|name| format!("`{name}`")).collect();
                failure.help(format!("they name {}", names.join(", ")))
            }
        })
    }

    /// Reports the errors of the sides with errors.
    fn fail(
        &self,
        [a, b]: [(&Opened<'_>, Option<Broken>); 2],
        is_in_all: bool,
        output: &mut Output,
    ) -> Result<Facts, Failure> {
        let mut labels = Vec::new();
        for (side, (opened, broken)) in [(&self.a, a), (&self.b, b)] {
            if let Some(broken) = broken {
                opened.report(broken, is_in_all, output)?;
                labels.push(format!("`{}`", side.label));
            }
        }
        let verb = if labels.len() == 1 { "has" } else { "have" };
        let labels = labels.join(" and ");
        Err(Failure::error(format!("cannot compare: {labels} {verb} errors")))
    }
}

/// Returns the differences in the builds of two sides, which may explain findings.
fn differing_builds(a: &Opened<'_>, b: &Opened<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |what: &str, a: String, b: String| {
        if a != b {
            notes.push(format!("{what} {a} and {b}"));
        }
    };
    if let (Some((a, (a_major, a_minor))), Some((b, (b_major, b_minor)))) = (a.build(), b.build()) {
        note("written by", a, b);
        note("of the formats", format!("{a_major}.{a_minor}"), format!("{b_major}.{b_minor}"));
    }
    let environment = |bundle: &Bundle| match &bundle.manifest().environment {
        Some(name) => format!("for `{name}`"),
        None => "without an environment".into(),
    };
    if let (Some(a), Some(b)) = (a.as_bundle(), b.as_bundle()) {
        note("built", environment(a), environment(b));
    }
    notes
}
