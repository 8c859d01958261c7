//! Bytes -> diagnostics: every `expect`, asked of the bundle that was just encoded.
//!
//! The answers are `relay_engine`'s, as on a server: what is proved here is what callers get.

mod command;
mod context;
mod coverage;
mod declared;
mod no_place;
mod rejected;
mod selection;
mod unreadable;
mod visible;

use std::collections::BTreeMap;
use std::sync::Arc;

use miette::Diagnostic;
use relay_bundle::{Bundle, Corrupt, Storage};
use relay_engine::place::Placement;

use self::coverage::Touched;
use crate::ast::{Expect, Question};
use crate::diagnostic::Diagnostics;
use crate::source::{Sources, Span};

pub use coverage::{Coverage, Kind};
pub(crate) use declared::Declared;

/// What became of the `expect`s of a project in one environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proven {
    /// The environment; absent without one.
    pub environment: Option<String>,
    /// Whether there was a bundle to ask; else the project has errors.
    pub asked: bool,
    /// Each `expect`, in the order of the text.
    pub expects: Vec<Proof>,
    /// What an `expect` can be about, by kind and name; empty if there was no bundle to ask.
    pub coverage: BTreeMap<(Kind, String), Coverage>,
}

/// An `expect`, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Where it is.
    pub at: Span,
    /// What it asks: `context tenant=acme tool=api-create`.
    pub question: String,
    /// What does not hold, each with its place; none if all does.
    pub failures: Vec<(Span, String)>,
}

/// Asks a bundle every `expect`, and returns its bytes as they were.
pub(crate) fn run(
    sources: &Sources<'_>,
    bytes: Vec<u8>,
    declared: &Declared,
    named_at: Span,
    out: &mut Diagnostics,
) -> (Vec<u8>, Proven) {
    if declared.expects.is_empty() {
        let coverage = Touched::default().coverage(declared);
        return (bytes, Proven { asked: true, coverage, ..Proven::default() });
    }
    let shared = Arc::new(bytes);
    let proven = proven(sources, Shared(Arc::clone(&shared)), declared, out);
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
    declared: &Declared,
    out: &mut Diagnostics,
) -> Result<Proven, String> {
    let storage: Storage = Box::new(bytes);
    let bundle = Bundle::open(storage).map_err(|error| error.to_string())?;
    let mut touched = Touched::default();
    let mut expects = Vec::new();
    for expect in &declared.expects {
        let mut case =
            Case { sources, bundle: &bundle, declared, expect, failures: Vec::new(), out };
        case.ask(&mut touched).map_err(|error| error.to_string())?;
        let failures = case.failures;
        expects.push(Proof { at: expect.at, question: question(expect), failures });
    }
    Ok(Proven { environment: None, asked: true, expects, coverage: touched.coverage(declared) })
}

/// An `expect` while it is proved.
struct Case<'c, 's> {
    sources: &'c Sources<'s>,
    bundle: &'c Bundle,
    declared: &'c Declared,
    expect: &'c Expect,
    failures: Vec<(Span, String)>,
    out: &'c mut Diagnostics,
}

impl Case<'_, '_> {
    fn ask(&mut self, touched: &mut Touched) -> Result<(), Corrupt> {
        touched.named(self.expect);
        let Some(placement) = self.place()? else {
            touched.skills_named(self.expect);
            return Ok(());
        };
        touched.placed(&placement);
        match self.expect.question {
            Question::Context => context::prove(self, &placement, touched),
            Question::Selection => selection::prove(self, &placement, touched),
            Question::Visible => visible::prove(self, &placement),
        }
    }

    /// Reports what does not hold.
    fn fail(&mut self, at: Span, diagnostic: impl Diagnostic + Send + Sync + 'static) {
        self.failures.push((at, diagnostic.to_string()));
        self.out.report(at, diagnostic);
    }

    /// Describes a caller for people.
    fn caller(&self, placement: &Placement) -> String {
        let tenant = placement.tenant.and_then(|tenant| self.declared.tenants.get(tenant));
        let role = placement.role.and_then(|role| self.declared.roles.get(role));
        match (role, tenant) {
            (Some(role), Some(tenant)) => {
                format!(
                    "the caller has the role `{}` in tenant `{}`",
                    role.name.value, tenant.value
                )
            }
            (Some(role), None) => format!("the caller has the role `{}`", role.name.value),
            (None, Some(tenant)) => format!("the caller is of tenant `{}`", tenant.value),
            (None, None) if self.declared.tenants.is_empty() => {
                "the project has no tenants and no roles".into()
            }
            (None, None) => "the caller is of no tenant".into(),
        }
    }
}

/// Returns what an `expect` asks, as it is written.
fn question(expect: &Expect) -> String {
    let Expect { at: _, question, tenant, role, user, groups, tool, tags, claims: _ } = expect;
    let mut text = question.word().to_owned();
    let named = [("tenant", tenant), ("role", role), ("user", user), ("tool", tool)];
    for (name, value) in named {
        if let Some(value) = value {
            text.push_str(&format!(" {name}={}", value.value));
        }
    }
    for group in groups {
        text.push_str(&format!(" group={}", group.value));
    }
    if !tags.is_empty() {
        let tags: Vec<&str> = tags.iter().map(|tag| tag.value.as_str()).collect();
        text.push_str(&format!(" tags {}", tags.join(" ")));
    }
    text
}
