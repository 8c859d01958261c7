//! What the skills of a project say to calls of tools.

#![expect(clippy::disallowed_methods, reason = "tests run programs")]

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol};
use super::house::{self, House};
use crate::binaries::relay;

const PROJECT: &str = r#"project rules epoch=1
tenants { tenant acme; tenant globex }
gate on { unlock else=UNLOCK }
tools { diagnostics; other "api-*" }
prompts { prompt doors priority=7 { summary "Doors"; text "Doors are open." } }
skills REPEAT {
    global {
        skill request-id priority=10 "Attach a request id to each call.  \n"
        skill dates topic=dates "Write dates as DD/MM/YYYY."
    }
    tenant acme { skill formats topic=dates "Dates are ISO 8601." }
    tool "server_*" { skill short "Ask once a task." }
    tool "audit_*" { skill tail user="local" "Read the last lines alone." }
    user "ann" { skill brief "Answer in short sentences." }
}
"#;

fn house(unlock: &str, repeat: &str) -> House {
    let project = PROJECT.replace("UNLOCK", unlock).replace("REPEAT", repeat);
    let house = House::of(&house::bundle_of(&project));
    house.write("server.toml", "");
    house
}

fn blocks(answer: &Value) -> Vec<Value> {
    answer["content"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_call_that_ran_begins_with_the_resolved_text() {
    let house = house("intercept", "");
    for protocol in PROTOCOLS {
        let arguments = ["--tenant", "acme", "--audit", "audit.jsonl"];
        let mut agent = Agent::with(&house, protocol, &arguments);
        let answer = agent.call("server_info", json!({}));
        let blocks = blocks(&answer);
        assert_eq!(
            blocks[0],
            json!({
                "type": "text",
                "text": "Attach a request id to each call.\nDates are ISO 8601.\nAsk once a task.",
                "_meta": { "dev.relay/skill-context": { "skills": ["request-id", "formats", "short"] } },
                "annotations": { "audience": ["assistant"] },
            })
        );
        assert!(
            blocks[1]["text"].as_str().unwrap().starts_with("Your call ran"),
            "then the briefing"
        );
        assert!(blocks[2]["text"].as_str().unwrap().contains("\"version\""), "then the result");
        let records = house.read("audit.jsonl");
        assert!(records.contains(r#""skills":["request-id","formats","short"]"#), "{records}");
        // Each call says it again.
        let again = agent.call("audit_tail", json!({}));
        let text = again["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.ends_with("Read the last lines alone."), "{text}");
    }
}

#[test]
fn a_refused_call_gets_none() {
    let house = house("refuse", "");
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        let refused = agent.call("server_info", json!({}));
        assert!(!refused.to_string().contains("request id"), "{refused}");
        let malformed = agent.call("begin_session", json!({ "tags": "doors" }));
        assert!(!malformed.to_string().contains("request id"), "{malformed}");
    }
}

#[test]
fn with_repeat_once_a_text_is_sent_once() {
    let house = house("refuse", "repeat=once");
    for protocol in PROTOCOLS {
        let mut agent =
            Agent::with(&house, protocol, &["--principal", "ann", "--tenant", "globex"]);
        let handle = agent.begin(&["doors"]);
        let mut said = |tool: &str| {
            let answer = agent.call(tool, json!({ "briefing": handle }));
            blocks(&answer)[0]["text"].as_str().unwrap().to_owned()
        };
        let whole = "Attach a request id to each call.\nWrite dates as DD/MM/YYYY.\nAsk once a task.\nAnswer in short sentences.";
        assert_eq!(said("server_info"), whole);
        assert_eq!(
            said("server_info"),
            "(These rules apply to this call too, as sent before: request-id, dates, short, brief.)"
        );
        // Another tool has another text. A session had this one with `begin_session`; before its
        // first handle, a caller without a session cannot be recognized.
        let other = said("explain_context");
        match protocol {
            Protocol::Legacy => {
                assert!(other.ends_with("as sent before: request-id, dates, brief.)"))
            }
            Protocol::Modern => assert!(other.ends_with("DD/MM/YYYY.\nAnswer in short sentences.")),
        }
    }
}

#[test]
fn lists_are_the_same_with_and_without_skills() {
    let with = house::contents_of(&PROJECT.replace("UNLOCK", "refuse").replace("REPEAT", ""));
    let start = PROJECT.find("skills REPEAT").unwrap();
    let without = house::contents_of(&PROJECT[..start].replace("UNLOCK", "refuse"));
    assert_eq!(with.tool_pages, without.tool_pages);
    assert_eq!(with.prompt_pages, without.prompt_pages);
    assert_eq!(with.messages, without.messages);
}

/// A number below `below` that follows from `seed`.
fn pick(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*seed >> 33).unwrap() % below
}

/// Skills whose patterns, topics, tenants and users overlap.
fn many_skills(seed: &mut u64) -> String {
    let mut skills = String::new();
    let mut any = |list: &[&str]| list[pick(seed, list.len())].to_owned();
    for number in 0..80 {
        let block =
            any(&["global", "tenant acme", "tenant globex", "tool", "user ann", "user bob"]);
        let patterns =
            ["\"*\"", "\"api-*\"", "\"*-read\"", "\"server_*\"", "\"[a-d]*\"", "db-read"];
        let topic = any(&["", "topic=dates", "topic=money"]);
        let priority = any(&["10", "50", "90"]);
        let (block, tools) = match block.as_str() {
            "tool" => (format!("tool {}", any(&patterns)), String::new()),
            _ if any(&["all", "some"]) == "some" => (block, format!("tools={}", any(&patterns))),
            _ => (block, String::new()),
        };
        skills.push_str(&format!(
            "{block} {{ skill s{number:02} priority={priority} {topic} {tools} \"Rule {number}.\" }}\n"
        ));
    }
    skills
}

#[test]
fn explain_context_says_what_relay_explain_says() {
    let mut seed = 2611;
    let project = format!(
        "project rules epoch=1\ntenants {{ tenant acme; tenant globex }}\n\
         tools {{ diagnostics; other \"api-*\" db-read api-read }}\nskills {{\n{}}}\n",
        many_skills(&mut seed)
    );
    let house = House::of(&house::bundle_of(&project));
    house.write("server.toml", "");
    let mut agent = Agent::new(&house, PROTOCOLS[0]);
    let mut texts = BTreeSet::new();
    for _ in 0..1000 {
        let mut name = |names: &[&'static str]| {
            Some(names[pick(&mut seed, names.len())]).filter(|name| !name.is_empty())
        };
        let tenant = name(&["acme", "globex", "nowhere", "acm", ""]);
        let tool =
            name(&["server_info", "audit_tail", "api-create", "api-read", "db-read", "x", ""]);
        let user = name(&["ann", "bob", "carl", "an", ""]);
        let mut asked = serde_json::Map::new();
        let mut relay = Command::new(relay());
        relay.args(["explain", "--json"]).arg(house.path("house.relay"));
        for (key, name) in [("tenant", tenant), ("tool", tool), ("user", user)] {
            if let Some(name) = name {
                relay.arg(format!("--{key}={name}"));
            }
            // A caller who names nobody asks for itself.
            asked.insert(key.into(), json!(name.unwrap_or_default()));
        }
        if (tenant, tool, user) == (None, None, None) {
            continue;
        }
        let output = relay.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut expected: Value = serde_json::from_slice(&output.stdout).unwrap();
        expected.as_object_mut().unwrap().remove("format_version");
        let answer = agent.call("explain_context", Value::Object(asked));
        let text = blocks(&answer).last().unwrap()["text"].as_str().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        texts.insert(expected["resolved_context"].to_string());
    }
    assert!(texts.len() > 20, "only {} texts", texts.len());
}

#[test]
fn explain_context_tells_callers_of_a_tenant_of_that_one_alone() {
    let project = r#"project rules epoch=1
        tenants { tenant acme; tenant globex }
        roles { role operator }
        users {
            user ann tenant=acme role=operator
            user bob tenant=acme role=operator
            user mei tenant=globex role=operator
            anyone role=operator
        }
        tools { diagnostics }
        skills {
            global { skill all "For all." }
            tenant globex { skill euro "In euro." }
            user ann { skill anns "For Ann." }
            user bob { skill bobs "For Bob." }
            user mei { skill meis "For Mei." }
            user tom { skill toms "For Tom." }
        }
    "#;
    let house = House::of(&house::bundle_of(project));
    house.write("server.toml", "");
    let mut ann = Agent::with(&house, PROTOCOLS[0], &["--tenant", "acme", "--principal", "ann"]);
    let mut ask = |arguments: Value| ann.call("explain_context", arguments);
    let text = |answer: &Value| blocks(answer).last().unwrap()["text"].as_str().unwrap().to_owned();
    // For herself, as her own call is given it.
    let own = ask(json!({ "tool": "server_info" }));
    assert_eq!(blocks(&own)[0]["text"], "For all.\nFor Ann.");
    let explained: Value = serde_json::from_str(&text(&own)).unwrap();
    assert_eq!(explained["resolved_context"], "For all.\nFor Ann.");
    assert_eq!(explained["near_misses"].as_array().unwrap().len(), 1, "{explained}");
    assert_eq!(explained["near_misses"][0]["skill"], "bobs");
    // A name that is near those of others is not corrected.
    assert_eq!(explained["notes"], json!([]));
    assert!(text(&ask(json!({ "tool": "server_inf", "user": "bob" }))).contains("For Bob."));
    assert!(!text(&ask(json!({ "user": "" }))).contains("For Ann."));
    // A user of another tenant, one who has a skill and no tenant, and one whom nobody knows.
    let refused: Vec<Value> =
        ["mei", "tom", "nobody"].map(|user| ask(json!({ "user": user }))).to_vec();
    assert!(text(&refused[0]).contains("users that the project names for its tenant"));
    let without_id = |answer: &Value| blocks(answer);
    assert_eq!(without_id(&refused[0]), without_id(&refused[2]));
    assert_eq!(without_id(&refused[1]), without_id(&refused[2]));
    let other = ask(json!({ "tenant": "globex" }));
    assert!(text(&other).contains("its own tenant alone"), "{other}");
}
