//! What the skills of a project say to calls of tools.

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol};
use super::house::{self, House};

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

#[test]
fn explain_context_says_what_relay_explain_says() {
    let house = house("intercept", "");
    let mut agent = Agent::new(&house, PROTOCOLS[0]);
    let names = |known: &[&'static str]| -> Vec<Option<&'static str>> {
        std::iter::once(None).chain(known.iter().copied().map(Some)).collect()
    };
    let tenants = names(&["acme", "globex", "nowhere"]);
    let tools = names(&[
        "server_info",
        "audit_tail",
        "begin_session",
        "api-create",
        "api-",
        "x",
        "server_",
        "serverx",
    ]);
    let users = names(&["ann", "local", "bob"]);
    let bundle = std::fs::read(house.path("house.relay")).unwrap();
    let bundle = crate::bundle::sample::open(&bundle).unwrap();
    for tenant in &tenants {
        for tool in &tools {
            for user in &users {
                let question =
                    relay_engine::cascade::Question { tenant: *tenant, tool: *tool, user: *user };
                let expected = json!(relay_engine::cascade::explain(&bundle, question).unwrap());
                let asked = json!({ "tenant": tenant, "tool": tool, "user": user });
                let asked: serde_json::Map<String, Value> = asked
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                let answer = agent.call("explain_context", Value::Object(asked));
                let text = blocks(&answer).last().unwrap()["text"].as_str().unwrap().to_owned();
                assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
            }
        }
    }
    let mut acme = Agent::with(&house, PROTOCOLS[0], &["--tenant", "acme"]);
    let other = acme.call("explain_context", json!({ "tenant": "globex" }));
    assert!(other.to_string().contains("its own tenant alone"), "{other}");
    let own = acme.call("explain_context", json!({}));
    assert!(own.to_string().contains("Dates are ISO 8601."), "{own}");
}
