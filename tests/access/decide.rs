//! Which rule decides a call, and where it stands in the project.

use relay_bundle::{Bundle, Contents, Tier, encode};
use relay_compiler::Options;
use relay_engine::authority::Authority;
use relay_engine::decide::{Call, Decision, Door, Outcome, Rule, decide};
use relay_engine::place::{Identity, place, preview};
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::Map;

use crate::bundle::sample;
use crate::support::{Memory, compiled, contents};

const PROJECT: &str = r#"project firm epoch=1
roles {
    role admin tier=3
    role operator tier=1
    role trainee parent=operator
    role reader { tools "server_info" }
}
users { user ann role=operator; user tim role=trainee }
tools { diagnostics }
"#;

/// The contents of a project whose tools have these tiers; all others only read.
fn with_tiers(project: &str, tiers: &[(&str, Tier)]) -> Contents {
    let files = Memory::of(&[("project.kdl", project)]);
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let mut contents = contents(&compiled).unwrap_or_else(|| panic!("{report}"));
    for (name, tier) in tiers {
        contents.tools.iter_mut().find(|tool| tool.name == *name).unwrap().tier = *tier;
    }
    contents
}

fn firm() -> Bundle {
    let tiers = [("audit_tail", Tier::Stateful), ("explain_context", Tier::Reversible)];
    sample::open(&encode(&with_tiers(PROJECT, &tiers)).unwrap()).unwrap()
}

/// Returns the rule, the outcome and the place of a decision.
fn told(decision: &Decision) -> (Rule, Outcome, u8, String) {
    let Decision { outcome, tier, rule, at, .. } = decision;
    (*rule, *outcome, tier.number(), at.as_ref().map(ToString::to_string).unwrap_or_default())
}

/// Decides a call without arguments, at the door of a server.
fn decided(bundle: &Bundle, view: &View<'_>, tool: &str) -> Decision {
    let authority = Authority::of(bundle).unwrap();
    let (arguments, location) = (Map::new(), Location::default());
    let call =
        Call { tool, arguments: &arguments, client: None, location: &location, door: Door::Server };
    decide(view, &authority, &call).unwrap()
}

#[test]
fn each_rule_decides_a_call() {
    let bundle = firm();
    let check = |role, tool, rule, outcome, tier, at: &str| {
        let identity = Identity { role: Some(role), ..Identity::default() };
        let placement = preview(&bundle, &identity).unwrap().unwrap();
        let view = View::of(&bundle, &placement).unwrap();
        let decision = decided(&bundle, &view, tool);
        assert_eq!(told(&decision), (rule, outcome, tier, at.to_owned()), "{role} {tool}");
    };
    check("reader", "server_info", Rule::ReadOnly, Outcome::Allow, 0, "project.kdl:9");
    // Another server may offer it, and the role leaves it out.
    check("reader", "shell_exec", Rule::NotSeen, Outcome::Reject, 0, "project.kdl:6");
    check("admin", "shell_exec", Rule::NotOffered, Outcome::Reject, 0, "");
    check("reader", "audit_tail", Rule::NotSeen, Outcome::Reject, 2, "project.kdl:6");
    check("operator", "audit_tail", Rule::RoleTier, Outcome::Deny, 2, "project.kdl:4");
    // An inherited tier takes its place from the role.
    check("trainee", "audit_tail", Rule::RoleTier, Outcome::Deny, 2, "project.kdl:5");
    check("admin", "audit_tail", Rule::NoPolicy, Outcome::Deny, 2, "project.kdl:9");
    check("operator", "explain_context", Rule::NoPolicy, Outcome::Deny, 1, "project.kdl:9");
    check("trainee", "explain_context", Rule::NoPolicy, Outcome::Deny, 1, "project.kdl:9");
}

#[test]
fn the_role_that_users_give_limits_the_tier() {
    let bundle = firm();
    let identity = Identity { id: "ann", ..Identity::default() };
    let placement = place(&bundle, &identity).unwrap().unwrap();
    let view = View::of(&bundle, &placement).unwrap();
    let decision = decided(&bundle, &view, "audit_tail");
    let denial = "[DENIED tier 2 (STATEFUL): it is over the tier of the caller's role]";
    assert_eq!((decision.rule, decision.denial()), (Rule::RoleTier, denial.to_owned()));
}

#[test]
fn without_a_place_or_a_role_no_call_does_more_than_read() {
    let bundle = firm();
    let of = |view: &View<'_>, tool| decided(&bundle, view, tool).rule;
    let nothing = View::nothing(&bundle);
    assert_eq!(of(&nothing, "server_info"), Rule::NotSeen);
    assert_eq!(of(&nothing, "shell_exec"), Rule::NotOffered);
    // Callers of one audience may have several roles.
    let operators = bundle.roles().iter().position(|role| role.name == "operator").unwrap();
    let audience = bundle.audiences().of(None, Some(operators)).unwrap().unwrap().number();
    let view = View::of_audience(&bundle, audience).unwrap();
    assert_eq!(of(&view, "explain_context"), Rule::RoleTier);
    assert_eq!(of(&view, "server_info"), Rule::ReadOnly);
}

#[test]
fn without_roles_the_missing_policy_denies() {
    let project = "project house epoch=1\ntools { diagnostics }\n";
    for tier in Tier::ALL {
        let contents = with_tiers(project, &[("audit_tail", tier)]);
        let bundle = sample::open(&encode(&contents).unwrap()).unwrap();
        let view = View::of_audience(&bundle, 0).unwrap();
        let decision = decided(&bundle, &view, "audit_tail");
        let (rule, outcome) = match tier {
            Tier::ReadOnly => (Rule::ReadOnly, Outcome::Allow),
            _ => (Rule::NoPolicy, Outcome::Deny),
        };
        let at = "project.kdl:2".to_owned();
        assert_eq!(told(&decision), (rule, outcome, tier.number(), at));
    }
}
