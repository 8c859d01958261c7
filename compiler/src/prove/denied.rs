//! An `expect context` for a call that a server denies.

use miette::Diagnostic;
use relay_bundle::Corrupt;
use relay_engine::decide::{Call, Door, Outcome, decide};
use relay_engine::place::Placement;
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::Map;
use thiserror::Error;

use super::case::Case;
use crate::source::Span;

/// A denied call gets the reason of its denial instead of skills. The caller sees the tool, but its
/// role or the policy forbids the call.
#[derive(Debug, Error, Diagnostic)]
#[error("this call of `{tool}` is denied, so it is given no skill text")]
#[diagnostic(code(expect::denied_call))]
struct DeniedCall {
    tool: String,
    reason: String,
    #[help]
    help: String,
    #[label(primary, "{reason}")]
    at: Span,
}

/// Reports a call that a server denies; returns whether it is denied.
pub(super) fn report(case: &mut Case<'_, '_>, placement: &Placement) -> Result<bool, Corrupt> {
    let Some(name) = &case.expect.tool else { return Ok(false) };
    // In a project with roles, a call without a role belongs to no particular caller.
    if placement.role.is_none() && !case.bundle.roles().is_empty() {
        return Ok(false);
    }
    let view = View::of(case.bundle, placement)?;
    let (arguments, location) = (Map::new(), Location::default());
    let call = Call {
        tool: &name.value,
        arguments: &arguments,
        client: None,
        location: &location,
        door: Door::Server,
    };
    let decision = decide(&view, case.authority, &call)?;
    if !matches!(decision.outcome, Outcome::Deny | Outcome::Approve) {
        return Ok(false);
    }
    let reason = format!("tier {}: {}", decision.tier.number(), decision.reason());
    let mut help = case.caller(placement);
    if let Some(place) = &decision.at {
        help.push_str(&format!("; what decides is at {place}"));
    }
    let (tool, at) = (name.value.clone(), name.at);
    case.fail(at, DeniedCall { tool, reason, help, at });
    Ok(true)
}

#[cfg(test)]
mod tests {
    use relay_bundle::Tier;

    use crate::diagnostic::Diagnostics;
    use crate::options::Options;
    use crate::prove::{Declared, run};
    use crate::show::Effective;
    use crate::source::{Files, Listed, ReadError, Sources};

    const PROJECT: &str = "project odd epoch=1
roles { role operator tier=1; role admin tier=3 }
users { anyone role=operator }
tools { diagnostics }
skills { global { skill dates \"ISO.\" } }
expect context role=operator tool=audit_tail { skill dates }
expect context role=admin tool=audit_tail { not-text \"EUR\" }
expect context role=operator tool=server_info { skill dates }
expect context tool=audit_tail { skill dates }
";

    struct One;

    impl Files for One {
        fn read(&self, _path: &str) -> Result<Vec<u8>, ReadError> {
            Ok(PROJECT.into())
        }

        fn list(&self, _folder: &str) -> Result<Vec<Listed>, ReadError> {
            Err(ReadError::NotFound)
        }
    }

    /// Every tool of this version only reads, so the test raises the tier of one.
    #[test]
    fn a_call_that_is_denied_fails_its_expectation() {
        let sources = Sources::new(&One, "project.kdl");
        let options = Options::default();
        let mut out = Diagnostics::new(false);
        let ast = crate::parse::project(&sources, &mut out);
        let model = crate::resolve::project(&sources, &ast, &options, None, &mut out);
        let model = model.expect("it can be resolved");
        let (at, effective) = (model.project.name.at, Effective::of(&sources, &model));
        let declared = Declared::of(&model);
        let mut contents = crate::lower::contents(&sources, &options, model, &effective);
        let mut tools = contents.tools.iter_mut();
        tools.find(|tool| tool.name == "audit_tail").expect("it is offered").tier = Tier::Stateful;
        let bytes = crate::encode::bundle(&contents, at, &mut out).expect("it can be encoded");
        let (_, proven) = run(&sources, bytes, (&declared, false), at, &mut out);
        let failed: Vec<usize> = proven.expects.iter().map(|it| it.failures.len()).collect();
        // The role of the first is too low, and no policy allows the second. The last belongs to no
        // particular caller.
        assert_eq!(failed, [1, 1, 0, 0]);
        let codes: Vec<_> = out.sorted().iter().map(|report| report.code()).collect();
        assert_eq!(codes, ["expect::denied_call", "expect::denied_call"]);
    }
}
