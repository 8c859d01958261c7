//! The door and `engine::decide` agree on every call.

use proptest::collection::vec;
use proptest::prelude::*;
use relay_bundle::{Contents, Tier};
use relay_engine::authority::Authority;
use relay_engine::decide::{Call, Decision, Door, Outcome, decide};
use relay_engine::place::{Identity, place};
use relay_engine::tool::TOOLS;
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::{Value, json};

use super::house::{self, House};
use super::web::{Request, Web};
use crate::bundle::sample;

/// Tools that a project with a gate and `diagnostics` leaves out.
const OTHERS: [&str; 2] = ["shell_exec", "Server_Info"];

/// The `tools` of a role; the last admits nothing.
const PATTERNS: [&str; 5] =
    ["tools \"server_info\"", "tools \"*\"", "tools \"a*\" \"explain_?ontext\"", "tools \"x\"", ""];

/// A project whose role `r0` the user `u0` has, and so on; with the tiers of its tools.
fn firm() -> impl Strategy<Value = (usize, Contents)> {
    let tier = || prop::sample::select(Tier::ALL.as_slice());
    let role = (tier(), prop::sample::select(PATTERNS.as_slice()));
    (vec(role, 1..5), any::<bool>(), vec(tier(), TOOLS.len())).prop_map(|(roles, gate, tiers)| {
        let mut text = String::from("project firm epoch=1\ntools { diagnostics }\n");
        if gate {
            text.push_str(
                "gate on { unlock else=intercept }\nprompts { prompt a { text \"A\" } }\n",
            );
        }
        for (number, (tier, tools)) in roles.iter().enumerate() {
            let tier = tier.number();
            text.push_str(&format!("roles {{ role r{number} tier={tier} {{ {tools} }} }}\n"));
            text.push_str(&format!("users {{ user u{number} role=r{number} }}\n"));
        }
        let mut contents = house::contents_of(&text.replace("{  }", ""));
        for (tool, tier) in contents.tools.iter_mut().zip(tiers) {
            tool.tier = tier;
        }
        (roles.len(), contents)
    })
}

fn keys(users: usize) -> String {
    let sha256 = house::sha256(b"s");
    let key = |user| {
        format!(
            "[[auth.api-keys]]\nid = \"u{user}\"\nsha256 = \"{sha256}\"\nprincipal = \"u{user}\"\n"
        )
    };
    (0..users).map(key).collect()
}

/// Arguments that a tool takes, so that only the decision can refuse the call.
fn arguments(tool: &str) -> Value {
    match tool {
        "begin_session" | "read_prompts" => json!({ "tags": ["doors"] }),
        _ => json!({}),
    }
}

/// Asserts that an answer and its record are those of a decision.
fn assert_agrees(decision: &Decision, answer: &Value, record: &Value, about: &str) {
    let Decision { outcome, tier, at, .. } = decision;
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let (denied, why) = match outcome {
        Outcome::Allow => {
            assert_eq!(result["isError"], json!(false), "{about}: {answer}");
            (false, at.as_ref().unwrap().to_string())
        }
        Outcome::Deny | Outcome::Approve => {
            assert_eq!(result["isError"], json!(true), "{about}: {answer}");
            assert_eq!(text, decision.denial(), "{about}");
            (true, decision.reason())
        }
        Outcome::Reject => {
            let message = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(message.starts_with("unknown tool `"), "{about}: {answer}");
            (true, decision.reason())
        }
    };
    let of_record = (&record["denied"], &record["rule"], &record["tier"]);
    assert_eq!(of_record, (&json!(denied), &json!(why), &json!(tier.number())), "{about}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_server_answers_as_the_engine_decides((users, contents) in firm()) {
        let bytes = sample::sealed(&contents, &[house::SIGNER]);
        let house = House::of_altered(&contents);
        house.write("server.toml", keys(users));
        let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
        let bundle = sample::open(&bytes).unwrap();
        let authority = Authority::of(&bundle).unwrap();
        let location = Location::default();
        let mut calls = Vec::new();
        for user in 0..users {
            let id = format!("u{user}");
            let identity = Identity { id: &id, ..Identity::default() };
            let placement = place(&bundle, &identity).unwrap().unwrap();
            let view = View::of(&bundle, &placement).unwrap();
            let tools = TOOLS.iter().map(|spec| spec.name).chain(OTHERS);
            for tool in tools {
                let params = json!({ "name": tool, "arguments": arguments(tool) });
                let given = params["arguments"].as_object().unwrap().clone();
                let request = Request::modern("tools/call", params)
                    .with("Authorization", &format!("Bearer rk_{id}_s"));
                let call = Call {
                    tool,
                    arguments: &given,
                    client: None,
                    location: &location,
                    door: Door::Server,
                };
                let decision = decide(&view, &authority, &call).unwrap();
                calls.push((format!("{id} {tool}"), decision, web.send(&request).json()));
            }
        }
        let records = house.read("audit.jsonl");
        let records: Vec<Value> =
            records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(records.len(), calls.len());
        for ((about, decision, answer), record) in calls.iter().zip(&records) {
            assert_agrees(decision, answer, record, about);
        }
    }
}
