//! The skills of a project in the answers to calls of tools.

#![expect(clippy::disallowed_methods, reason = "tests run programs")]

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol};
use super::house::{self, House};
use super::web::{Request, Web};
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
        // first handle, a stateless caller is unrecognized.
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
            // A caller that names no user asks for itself.
            let own = Some("local").filter(|_| key == "user");
            if let Some(name) = name.or(own) {
                relay.arg(format!("--{key}={name}"));
            }
            // An empty text counts as absent.
            asked.insert(key.into(), json!(name.unwrap_or_default()));
        }
        let output = relay.output().unwrap();
        let mut expected: Value = serde_json::from_slice(&output.stdout).unwrap();
        expected.as_object_mut().unwrap().remove("format_version");
        // A caller of an unlisted tenant is refused all tools of the server.
        let refused = expected.as_object_mut().unwrap().remove("refused").unwrap();
        let is_unknown = matches!(tenant, Some("nowhere" | "acm"));
        assert_eq!(refused.is_string(), is_unknown, "{output:?}");
        assert_eq!(output.status.code(), Some(i32::from(is_unknown)), "{output:?}");
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
    // An empty text counts as absent.
    assert_eq!(text(&ask(json!({ "tool": "server_info", "user": "", "tenant": "" }))), text(&own));
    // A name that is near those of others stays as it is.
    let near = text(&ask(json!({ "tool": "server_inf", "user": "bob" })));
    let near: Value = serde_json::from_str(&near).unwrap();
    assert_eq!(
        (&near["resolved_context"], &near["notes"]),
        (&json!("For all.\nFor Bob."), &json!([]))
    );
    // A user of another tenant, one who has a skill for any tenant, and an unknown one.
    let refused: Vec<Value> =
        ["mei", "tom", "nobody"].map(|user| ask(json!({ "user": user }))).to_vec();
    assert!(text(&refused[0]).contains("users that the project names for your tenant"));
    assert_eq!(blocks(&refused[0]), blocks(&refused[2]));
    assert_eq!(blocks(&refused[1]), blocks(&refused[2]));
    let other = ask(json!({ "tenant": "globex" }));
    assert!(text(&other).contains("your own tenant alone"), "{other}");
}

/// A house with these API keys, each with more lines.
fn house_with_keys(project: &str, keys: &[(&str, &str)]) -> House {
    let house = House::of(&house::bundle_of(project));
    let sha256 = house::sha256(b"s");
    let key = |(id, more): &(&str, &str)| {
        format!("[[auth.api-keys]]\nid = \"{id}\"\nsha256 = \"{sha256}\"\nprincipal = \"{more}\n")
    };
    house.write("server.toml", keys.iter().map(key).collect::<String>());
    house
}

fn ask(web: &Web, key: &str, tool: &str, arguments: Value) -> Value {
    let request = Request::modern("tools/call", json!({ "name": tool, "arguments": arguments }))
        .with("Authorization", &format!("Bearer rk_{key}_s"));
    web.send(&request).json()["result"].take()
}

fn text_of(answer: &Value) -> String {
    blocks(answer).last().unwrap()["text"].as_str().unwrap().to_owned()
}

/// The tenants, roles and users of these tests.
const PEOPLE: &str = r#"project rules epoch=1
    tenants { tenant acme; tenant globex }
    roles { role operator; role reader { tools "server_info" "explain_context" "api-read" } }
    users {
        user ann tenant=acme role=operator
        user root role=operator
        anyone role=reader
    }
    tools { diagnostics; other "api-*" }
"#;

#[test]
fn a_text_that_is_no_handle_does_not_make_a_caller_known() {
    let rules = r#"skills repeat=once { global { skill gdpr "Never send personal data." } }"#;
    for gate in ["", "gate on; prompts { prompt doors { summary \"Doors\"; text \"Open.\" } }\n"] {
        let project = format!("{PEOPLE}{gate}{rules}");
        let keys = [("ann", "ann\"\ntenant = \"acme\""), ("mei", "mei\"\ntenant = \"globex\"")];
        let web = Web::start(&house_with_keys(&project, &keys), &["--config", "server.toml"]);
        for (tool, handle) in
            [("server_info", ""), ("server_info", "  "), ("explain_context", "whatever")]
        {
            // A gate refuses other texts than handles; an ungated project ignores them.
            if handle == "whatever" && !gate.is_empty() {
                continue;
            }
            for key in ["ann", "ann", "mei"] {
                let answer = ask(&web, key, tool, json!({ "briefing": handle }));
                assert_eq!(
                    blocks(&answer)[0]["text"],
                    "Never send personal data.",
                    "{key}: {answer}"
                );
            }
        }
    }
}

#[test]
fn a_user_of_one_tenant_is_another_in_the_others() {
    let rules = "skills { global { skill all \"For all.\" }; user ann { skill anns \"For Ann.\" }; \
                 user tom { skill toms \"For Tom.\" } }";
    let keys = [
        ("a", "ann\"\ntenant = \"acme\""),
        ("b", "ann\"\ntenant = \"globex\""),
        ("c", "ann\""),
        ("t", "tom\"\ntenant = \"globex\""),
    ];
    let house = house_with_keys(&format!("{PEOPLE}{rules}"), &keys);
    let web = Web::start(&house, &["--config", "server.toml"]);
    let said = |key: &str| {
        blocks(&ask(&web, key, "server_info", json!({})))[0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(said("a"), "For all.\nFor Ann.");
    assert_eq!(said("b"), "For all.", "an issuer of globex may call anyone ann");
    assert_eq!(said("c"), "For all.\nFor Ann.", "her line gives her the tenant");
    assert_eq!(said("t"), "For all.\nFor Tom.", "no line names Tom");
    // A preview says the same.
    for (caller, text) in [
        ("--tenant=acme --user=ann", "For Ann."),
        ("--user=ann", "`users` gives this caller the tenant `acme`"),
        ("--tenant=globex --user=ann", "a caller `ann` of `globex` is not that user"),
    ] {
        let mut relay = Command::new(relay());
        relay.arg("explain").arg(house.path("house.relay")).args(caller.split(' '));
        let output = relay.args(["--tool", "server_info"]).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(page.contains(text), "{caller}: {page}");
        assert_eq!(page.contains("| For Ann."), !caller.contains("globex"), "{caller}: {page}");
        assert_eq!(page.contains("ann of another tenant"), caller.contains("globex"), "{page}");
    }
}

#[test]
fn explain_context_keeps_to_the_role_and_the_tenants_of_its_caller() {
    let rules = r#"skills {
        global { skill all "For all." }
        tenant globex { skill euro "In euro." }
        tool audit_tail { skill tail "Read the end." }
        tool "api-create" { skill create "Ask first." }
        tool "api-read" { skill read "Read alone." }
    }"#;
    let keys = [("root", "root\""), ("eve", "eve\"")];
    let house = house_with_keys(&format!("{PEOPLE}{rules}"), &keys);
    let web = Web::start(&house, &["--config", "server.toml"]);
    let ask = |key: &str, question: Value| ask(&web, key, "explain_context", question);
    // Nothing says that eve is of a tenant; a line names root for all of them.
    let euro = json!({ "tenant": "globex" });
    assert!(text_of(&ask("root", euro.clone())).contains("In euro."));
    assert!(text_of(&ask("eve", euro)).contains("your own tenant alone"));
    // `audit_tail` is hidden from a reader, who also may not create.
    let [hidden, never] =
        ["audit_tail", "audit_nope"].map(|tool| blocks(&ask("eve", json!({ "tool": tool }))));
    assert_eq!(hidden, never);
    assert!(text_of(&ask("root", json!({ "tool": "audit_tail" }))).contains("Read the end."));
    let explained: Value =
        serde_json::from_str(&text_of(&ask("eve", json!({ "tool": "server_info" })))).unwrap();
    let misses: Vec<&Value> =
        explained["near_misses"].as_array().unwrap().iter().map(|miss| &miss["skill"]).collect();
    assert_eq!(misses, ["read"], "{explained}");
}
