//! Without a policy the effects of a text are unknown: a bundle that offers tools for commands all the same,
//! which no build of today makes, has every one denied.

use relay_bundle::{Bundle, Contents, encode};
use relay_compiler::Options;
use relay_engine::authority::Authority;
use relay_engine::decide::Rule;
use relay_engine::tool::{TOOLS, reach};
use serde_json::json;

use super::{Judged, Who};
use crate::support::{Memory, compiled, contents};

const ANYONE: Who<'_> = ("", "");

/// Returns a bundle of the project without its policy.
fn without_policy(nodes: &str) -> Judged {
    let text = format!("project demo epoch=1\n{nodes}\npolicy open\n");
    let files = Memory::of(&[("project.kdl", &text)]);
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let all = contents(&compiled).expect(&report);
    let contents = Contents {
        policy: None,
        facts: Vec::new(),
        rules: Vec::new(),
        automata: Vec::new(),
        ..all
    };
    let bundle = Bundle::open(Box::new(encode(&contents).expect("it can be encoded")));
    let bundle = bundle.expect("a bundle");
    let authority = Authority::of(&bundle).expect("no policy");
    Judged { bundle, authority }
}

#[test]
fn tools_for_commands_are_denied_and_those_that_read_are_not() {
    for roles in ["", "roles { role op tier=3 }\nusers { anyone role=op }"] {
        let judged = without_policy(&format!("tools {{ shell; sessions; diagnostics }}\n{roles}"));
        let who = if roles.is_empty() { ANYONE } else { ("", "op") };
        for spec in
            TOOLS.iter().filter(|spec| judged.bundle.tools().iter().any(|it| it.name == spec.name))
        {
            let given =
                json!({ "command": "ls", "script": "ls", "data": "ls", "session_id": "sh-0" });
            let decision = judged.call(who, spec.name, given.as_object().expect("an object"));
            let runs_text = reach(spec.name).is_some_and(|reach| reach.text.is_some());
            if runs_text {
                assert_eq!(
                    (decision.outcome.word(), decision.rule),
                    ("deny", Rule::NoPolicy),
                    "{}",
                    spec.name
                );
            } else {
                assert_eq!(
                    decision.outcome.word(),
                    if spec.tier.number() == 0 { "allow" } else { "deny" },
                    "{}",
                    spec.name
                );
            }
        }
    }
}
