//! Bytes -> diagnostics: every `expect`, asked of the bundle that was just encoded.
//!
//! The answers come from `relay_engine`, as on a server, so the proof holds for callers.

mod case;
mod command;
mod context;
mod coverage;
mod decision;
mod declared;
mod denied;
mod examples;
mod mutants;
mod no_place;
mod rejected;
mod selection;
mod unreadable;
mod visible;

use std::collections::BTreeMap;
use std::sync::Arc;

use relay_bundle::{Bundle, Corrupt, Storage};
use relay_engine::authority::Authority;

use self::case::Case;
use self::coverage::Touched;
use crate::ast::Question;
use crate::diagnostic::Diagnostics;
use crate::source::{Sources, Span};

pub use coverage::{Coverage, Kind};
pub(crate) use declared::Declared;
pub use mutants::{Cut, Mutant};

/// The results of the `expect`s of a project in one environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proven {
    /// The environment; absent for the base.
    pub environment: Option<String>,
    /// Whether there was a bundle to ask; else the project has errors.
    pub asked: bool,
    /// Each `expect`, in the order of the text.
    pub expects: Vec<Proof>,
    /// The declarations that an `expect` can be about, by kind and name; empty if the bundle is
    /// absent.
    pub coverage: BTreeMap<(Kind, String), Coverage>,
    /// The mutants of the project's own rules, in the order of the text; absent unless they were
    /// asked for and every text and `expect` holds.
    pub mutants: Option<Vec<Mutant>>,
}

/// An `expect`, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Its place.
    pub at: Span,
    /// Its question: `context tenant=acme tool=api-create`.
    pub question: String,
    /// The messages of its failures, each with its place; empty if the `expect` holds.
    pub failures: Vec<(Span, String)>,
}

/// Asks a bundle every `expect`, and returns its bytes as they were. `with_mutants` also tries each
/// mutant of its rules.
pub(crate) fn run(
    sources: &Sources<'_>,
    bytes: Vec<u8>,
    (declared, with_mutants): (&Declared, bool),
    named_at: Span,
    out: &mut Diagnostics,
) -> (Vec<u8>, Proven) {
    let is_mutated = with_mutants && !declared.rules.is_empty();
    if declared.expects.is_empty() && !declared.has_open_examples() && !is_mutated {
        let coverage = Touched::default().coverage(declared);
        return (bytes, Proven { asked: true, coverage, ..Proven::default() });
    }
    let shared = Arc::new(bytes);
    let proven = proven(sources, Shared(Arc::clone(&shared)), (declared, is_mutated), out);
    let proven = proven.unwrap_or_else(|reason| {
        unreadable::report(reason, named_at, out);
        Proven::default()
    });
    (Arc::try_unwrap(shared).unwrap_or_else(|shared| shared.to_vec()), proven)
}

/// The bytes of a bundle, which the compiler keeps.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn proven(
    sources: &Sources<'_>,
    bytes: Shared,
    (declared, is_mutated): (&Declared, bool),
    out: &mut Diagnostics,
) -> Result<Proven, String> {
    let storage: Storage = Box::new(bytes);
    let bundle = Bundle::open(storage).map_err(|error| error.to_string())?;
    let authority = Authority::of(&bundle).map_err(|error| error.to_string())?;
    // `shipped_facts::table` has checked them, or a test of the shipped ones.
    authority.facts_were_checked();
    let all_hold = examples::prove(&bundle, &authority, declared, out);
    let mut all_hold = all_hold.map_err(|error| error.to_string())?;
    let mut touched = Touched::default();
    let mut expects = Vec::new();
    for expect in &declared.expects {
        let mut case = Case {
            sources,
            bundle: &bundle,
            authority: &authority,
            declared,
            expect,
            failures: Vec::new(),
            out,
        };
        ask(&mut case, &mut touched).map_err(|error| error.to_string())?;
        let failures = case.failures;
        all_hold &= failures.is_empty();
        expects.push(Proof { at: expect.at, question: expect.asked(), failures });
    }
    let mut coverage = touched.coverage(declared);
    let mut mutants = None;
    if is_mutated && all_hold {
        let tried = mutants::try_all(&bundle, &authority, declared, &touched.decided);
        let (found, of_rules) = tried.map_err(|error| error.to_string())?;
        mutants = Some(found);
        coverage.extend(of_rules);
    }
    Ok(Proven { environment: None, asked: true, expects, coverage, mutants })
}

/// Asks the bundle one `expect`.
fn ask(case: &mut Case<'_, '_>, touched: &mut Touched) -> Result<(), Corrupt> {
    touched.named(case.expect);
    let Some(placement) = case.place()? else {
        touched.skills_named(case.expect);
        return Ok(());
    };
    touched.placed(&placement);
    match case.expect.question {
        Question::Context => context::prove(case, &placement, touched),
        Question::Selection => selection::prove(case, &placement, touched),
        Question::Visible => visible::prove(case, &placement),
        Question::Decision => decision::prove(case, &placement, touched),
    }
}
