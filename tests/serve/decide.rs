//! The door and `engine::decide` agree on every call.

#![expect(clippy::disallowed_methods, reason = "tests run programs")]

use std::process::Command;

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

/// Rules over the tools of a server: by name, by an argument, and one that is only observed.
const RULES: &str = r#"project firm epoch=1
tools { diagnostics }
tenants { tenant acme }
roles { role reader; role operator tier=2; role root tier=3 }
users { user reader role=reader; user operator role=operator; user root role=root }
policy MODE {
    deny no-tail role=reader because="SEC-9" {
        tool audit_tail
    }
    deny no-denials {
        tool audit_tail
        arg denied "true"
        except { arg tool server_info }
    }
    deny no-info role=operator { tool server_info }
    deny not-yet observe=#true {
        tool audit_tail server_info
    }
    allow info because="it shows limits alone" {
        tool server_info
    }
}
"#;

/// A call, and the roles to which a rule denies it, each with the rule and its line.
type RuledCall = (&'static str, Value, &'static [(&'static str, &'static str, u32)]);

/// The calls, each with the roles and the line of the rule that denies it, if one of the policy does.
fn ruled_calls() -> Vec<RuledCall> {
    // Of rules that mean a call as surely, the first by name is named.
    let denials: &[_] =
        &[("reader", "no-denials", 10), ("operator", "no-denials", 10), ("root", "no-denials", 10)];
    let tail: &[_] = &[("reader", "no-tail", 7)];
    vec![
        ("audit_tail", json!({}), tail),
        ("audit_tail", json!({ "denied": true }), denials),
        ("audit_tail", json!({ "denied": true, "tool": "server_info" }), tail),
        ("audit_tail", json!({ "denied": false, "lines": 2 }), tail),
        ("server_info", json!({}), &[("operator", "no-info", 15)]),
    ]
}

/// Asks the command line about a call.
fn explained(house: &House, role: &str, tool: &str, arguments: &Value) -> Value {
    let mut command = Command::new(crate::binaries::relay());
    command.args(["explain", "--json", "--role", role, "--call", tool]);
    command.args(["--arguments", &arguments.to_string()]).arg(house.path("house.relay"));
    let output = command.output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {message}"))
}

#[test]
fn refusal_explanation_and_record_name_one_rule_and_line() {
    let roles = ["reader", "operator", "root"];
    let sha256 = house::sha256(b"s");
    let key = |role| {
        format!(
            "[[auth.api-keys]]\nid = \"{role}\"\nsha256 = \"{sha256}\"\nprincipal = \"{role}\"\n"
        )
    };
    let mut count = 0;
    // `server_info` with a tier of its own shows the modes: no tool of this version has one.
    for (mode, tier) in [
        ("open", Tier::ReadOnly),
        ("guarded", Tier::ReadOnly),
        ("readonly", Tier::ReadOnly),
        ("open", Tier::Stateful),
        ("guarded", Tier::Stateful),
        ("readonly", Tier::Stateful),
    ] {
        let mut contents = house::contents_of(&RULES.replace("MODE", mode));
        let info = contents.tools.iter_mut().find(|tool| tool.name == "server_info").unwrap();
        info.tier = tier;
        let house = House::of_altered(&contents);
        house.write("server.toml", roles.map(key).concat());
        let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
        let mut expected = Vec::new();
        for role in roles {
            let authorization = format!("Bearer rk_{role}_s");
            let session = web.begin(Some(&authorization));
            for (tool, arguments, denials) in ruled_calls() {
                let asked = explained(&house, role, tool, &arguments);
                let denial = denials.iter().find(|(of, ..)| *of == role);
                let is_info = tool == "server_info";
                let rule = match denial {
                    Some((_, name, _)) => format!("policy.{name}"),
                    None if !is_info || tier == Tier::ReadOnly => "read-only".to_owned(),
                    None if role == "reader" => "role-tier".to_owned(),
                    None => {
                        ["mode", "policy.info", "mode-readonly"][["open", "guarded", "readonly"]
                            .iter()
                            .position(|it| *it == mode)
                            .unwrap()]
                        .to_owned()
                    }
                };
                let about = format!("{mode} {tier:?} {role} {tool} {arguments}: {asked}");
                assert_eq!(asked["rule"], json!(rule), "{about}");
                let at = asked["at"].as_str().unwrap_or_default().to_owned();
                if let Some((_, _, line)) = denial {
                    assert_eq!(at, format!("project.kdl:{line}"), "{about}");
                }
                let line = at;
                let params = json!({ "name": tool, "arguments": arguments });
                for request in [
                    Request::modern("tools/call", params.clone()),
                    Request::legacy(&session, "tools/call", params.clone()),
                ] {
                    let answer = web.send(&request.with("Authorization", &authorization)).json();
                    let result = &answer["result"];
                    let text = result["content"][0]["text"].as_str().unwrap_or_default();
                    let is_denied = asked["decision"] == "deny";
                    assert_eq!(result["isError"], json!(is_denied), "{about}: {answer}");
                    if is_denied {
                        let reason = asked["reason"].as_str().unwrap();
                        assert!(
                            text.starts_with("[DENIED tier ") && text.contains(reason),
                            "{text}"
                        );
                        let names_line = text.contains(&format!("({line})"));
                        assert_eq!(names_line, denial.is_some(), "{about}: {text}");
                    }
                    expected.push((about.clone(), role, is_denied, denial.copied(), line.clone()));
                }
                count += 1;
            }
        }
        let records = house.read("audit.jsonl");
        let records: Vec<Value> =
            records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let calls: Vec<&Value> = records
            .iter()
            .filter(|it| it["tool"] == "audit_tail" || it["tool"] == "server_info")
            .filter(|it| it["action"] != "begun")
            .collect();
        assert_eq!(calls.len(), expected.len());
        for ((about, role, is_denied, denial, line), record) in expected.iter().zip(calls) {
            let about = format!("{about}: {record}");
            assert_eq!(
                (&record["denied"], &record["role"]),
                (&json!(is_denied), &json!(role)),
                "{about}"
            );
            let rule = record["rule"].as_str().unwrap();
            match denial {
                Some((_, name, _)) => {
                    assert!(rule.starts_with(&format!("policy.{name}: ")), "{about}");
                    assert!(rule.ends_with(&format!("({line})")), "{about}");
                }
                None if *is_denied => assert!(!rule.contains("policy."), "{about}"),
                None => assert!(rule.contains(line.as_str()), "{about}"),
            }
            // What is only observed denies nothing, and is recorded.
            assert!(!rule.starts_with("policy.not-yet: "), "{about}");
            assert_eq!(record["observed"], json!(["policy.not-yet (project.kdl:16)"]), "{about}");
        }
    }
    assert_eq!(count, 6 * 3 * 5);
}
