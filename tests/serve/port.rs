//! The decision port: gateways ask over AuthZEN and over external authorization, and get the
//! decision of the server's own door.

mod malformed;

use serde_json::{Value, json};

use super::house::{self, House};
use super::server::wait_until;
use super::web::{Answer, Request, Web};

/// A project with a gateway, callers of every kind, and rules over tools of this and other servers.
const PROJECT: &str = r#"project firm epoch=1
tools {
    diagnostics
    other "fs_*" { arg path writes }
}
tenants { tenant acme; tenant globex }
roles {
    role gateway decides=#true
    role reader { tools "audit_tail" "explain_*" }
    role operator tier=2
    role root tier=3 approve=#true
}
users {
    user gw role=gateway
    user local role=gateway tenant=acme
    user plain role=operator
    user reader role=reader
    user operator role=operator
    group ops role=root
}
prompts {
    prompt secret { for role=root; text "It is hidden." }
    prompt open { text "It is not." }
}
resources {
    resource "relay://secret" { for role=root; text "It is hidden." }
    resource "relay://open" { text "It is not." }
}
policy guarded {
    deny no-etc because="SEC-1" { writes "/etc/**" }
    deny no-tail role=operator { tool audit_tail; arg denied "true" }
    deny not-yet observe=#true { tool shell_exec }
    approve ask-first { program reboot }
    allow restart because="WEB-7" { program systemctl; sub restart; operands nginx }
    allow scratch { writes "/tmp/**" }
}
"#;

/// A server of a project, and what it needs.
pub(crate) struct Port {
    pub(super) web: Web,
    house: House,
}

/// A decision, as both protocols and the door give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decided {
    /// `allow`, `approve`, `deny` or `reject`.
    pub(super) outcome: String,
    /// The text for an agent, of a call that does not run.
    pub(super) refusal: Option<String>,
}

impl Port {
    /// Starts a server of the project.
    pub(super) fn start() -> Self {
        Self::of(PROJECT, "")
    }

    pub(crate) fn of(project: &str, settings: &str) -> Self {
        let house = House::of(&house::bundle_of(project));
        let sha256 = house::sha256(b"s");
        let key = |id: &str| {
            format!(
                "[[auth.api-keys]]\nid = \"{id}\"\nsha256 = \"{sha256}\"\nprincipal = \"{id}\"\n"
            )
        };
        let keys = ["gw", "local", "plain", "reader", "operator", "nobody"].map(key).concat();
        house.write("server.toml", format!("{settings}{keys}"));
        let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
        Self { web, house }
    }

    /// Asks as the gateway.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_as("gw", path, body)
    }

    fn post_as(&self, id: &str, path: &str, body: &Value) -> Answer {
        self.web.send(&authzen(id, path).body(body.to_string()))
    }

    /// Returns the decision on a call of a tool, over AuthZEN.
    pub(super) fn decide(&self, subject: &Value, tool: &str, arguments: &Value) -> Decided {
        let answer = self.post("/access/v1/evaluation", &call(subject, tool, arguments));
        assert_eq!(answer.status, 200, "{answer:?}");
        let answer = answer.json();
        let outcome = answer["context"]["outcome"].as_str().expect("an outcome").to_owned();
        assert_eq!(answer["decision"], outcome == "allow", "{answer}");
        Decided { outcome, refusal: None }
    }

    /// Returns the decision on a call of a tool, over external authorization.
    fn forward(&self, subject: &str, tool: &str, arguments: &Value) -> Decided {
        let message = message(tool, arguments);
        let request = ext_authz(subject).body(message.to_string());
        let answer = self.web.send(&request);
        let outcome = answer.header("x-relay-outcome").to_owned();
        assert_eq!(answer.status == 200, outcome == "allow", "{answer:?}");
        let refusal = (answer.status != 200).then(|| {
            let body = answer.json();
            assert_eq!((&body["error"]["code"], &body["id"]), (&json!(-32001), &json!(7)));
            body["error"]["message"].as_str().expect("a message").to_owned()
        });
        Decided { outcome, refusal }
    }

    /// Returns the decision of the server's own door on a call of a caller.
    fn call(&self, id: &str, tool: &str, arguments: &Value) -> Decided {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = Request::modern("tools/call", params);
        let answer = self.web.send(&request.with("Authorization", &bearer(id))).json();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let (outcome, refusal) = match &answer["error"]["message"] {
            Value::String(_) => ("reject", Some("unknown tool".to_owned())),
            _ if answer["result"]["isError"] == json!(false) => ("allow", None),
            _ if text.starts_with("[CONFIRM") => ("approve", Some(text.to_owned())),
            _ => ("deny", Some(text.to_owned())),
        };
        Decided { outcome: outcome.to_owned(), refusal }
    }

    /// Returns the records of the audit file.
    pub(super) fn records(&self) -> Vec<Value> {
        let text = self.house.read("audit.jsonl");
        text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    }
}

pub(super) fn bearer(id: &str) -> String {
    format!("Bearer rk_{id}_s")
}

/// A request of AuthZEN without a body.
pub(super) fn authzen(id: &str, path: &str) -> Request {
    let request = Request::new("POST", path).with("Content-Type", "application/json");
    request.with("Authorization", &bearer(id))
}

/// A question about a call of a tool.
pub(crate) fn call(subject: &Value, tool: &str, arguments: &Value) -> Value {
    json!({
        "subject": subject,
        "action": { "name": "tools/call" },
        "resource": { "type": "tool", "id": tool },
        "context": { "agent": "test", "arguments": arguments },
    })
}

pub(crate) fn subject(id: &str) -> Value {
    json!({ "type": "identity", "id": id })
}

/// A request of a proxy without a body.
pub(super) fn ext_authz(subject: &str) -> Request {
    let request = Request::new("POST", "/ext-authz/mcp").with("Authorization", &bearer("gw"));
    request.with("x-relay-subject", subject)
}

pub(super) fn message(tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments },
    })
}

/// Calls of tools of this server, each of which the door can be asked about too.
fn own_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("audit_tail", json!({})),
        ("audit_tail", json!({ "denied": true })),
        ("audit_tail", json!({ "lines": 2, "denied": false })),
        ("server_info", json!({})),
        ("explain_context", json!({ "tool": "audit_tail" })),
        ("explain_context", json!({ "tool": 7 })),
        ("server_info", json!({ "surplus": 1 })),
    ]
}

#[test]
fn both_protocols_and_the_door_decide_alike() {
    let port = Port::start();
    let mut outcomes = std::collections::BTreeSet::new();
    for id in ["reader", "operator"] {
        for (tool, arguments) in own_calls() {
            let about = format!("{id} {tool} {arguments}");
            let door = port.call(id, tool, &arguments);
            let forwarded = port.forward(id, tool, &arguments);
            assert_eq!(forwarded.outcome, door.outcome, "{about}");
            if door.outcome != "allow" {
                let [of_port, of_door] = [&forwarded.refusal, &door.refusal].map(|it| it.as_ref());
                let (of_port, of_door) = (of_port.expect("a text"), of_door.expect("a text"));
                let same = of_port == of_door || of_door.starts_with("[ERROR: ");
                assert!(same, "{about}: {of_port} {of_door}");
            }
            let question = call(&subject(id), tool, &arguments);
            let answer = port.post("/access/v1/evaluation", &question);
            // Arguments of a wrong form are no well-formed question.
            let asked = match answer.status {
                400 => "deny".to_owned(),
                _ => port.decide(&subject(id), tool, &arguments).outcome,
            };
            assert_eq!(asked, door.outcome, "{about}");
            outcomes.insert(asked);
        }
    }
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), ["allow", "deny", "reject"]);
}

#[test]
fn a_decision_comes_with_its_reason_rule_place_and_tier() {
    let port = Port::start();
    let ask = |id: Value, tool: &str, arguments: Value| {
        port.post("/access/v1/evaluation", &call(&id, tool, &arguments)).json()
    };
    let operator = || subject("operator");
    let of_ops = || json!({ "type": "user", "id": "eve", "properties": { "groups": ["ops"] } });
    let shell = |command: &str| json!({ "command": command });
    let table = [
        (operator(), "shell_exec", shell("ls"), true, "allow", 0, "read-only", None),
        (operator(), "shell_exec", shell("touch /tmp/x"), true, "allow", 1, "mode", None),
        (
            operator(),
            "shell_exec",
            shell("touch /etc/x"),
            false,
            "deny",
            2,
            "policy.no-etc",
            Some(30),
        ),
        (
            operator(),
            "shell_exec",
            shell("systemctl restart nginx"),
            true,
            "allow",
            2,
            "policy.restart",
            Some(34),
        ),
        (
            operator(),
            "shell_exec",
            shell("systemctl restart x"),
            false,
            "deny",
            2,
            "mode-guarded",
            Some(29),
        ),
        (operator(), "shell_exec", shell("rm -rf /srv"), false, "deny", 3, "role-tier", Some(10)),
        (
            of_ops(),
            "shell_exec",
            shell("reboot"),
            false,
            "approve",
            3,
            "policy.ask-first",
            Some(33),
        ),
        (
            of_ops(),
            "shell_exec",
            shell("rm -rf /srv"),
            false,
            "approve",
            3,
            "role-approves",
            Some(11),
        ),
        (
            operator(),
            "fs_write",
            json!({ "path": "/etc/passwd" }),
            false,
            "deny",
            3,
            "policy.no-etc",
            Some(30),
        ),
        (operator(), "zigbee/reset", json!({}), false, "deny", 2, "mode-guarded", Some(29)),
    ];
    for (subject, tool, arguments, decision, outcome, tier, rule, line) in table {
        let answer = ask(subject, tool, arguments.clone());
        let context = &answer["context"];
        let found = (&answer["decision"], &context["outcome"], &context["rule"]);
        let about = format!("{tool} {arguments}: {answer}");
        assert_eq!(found, (&json!(decision), &json!(outcome), &json!(rule)), "{about}");
        if tool == "shell_exec" {
            assert_eq!(context["tier"], tier, "{about}");
        }
        assert!(!context["reason"].as_str().expect("a reason").is_empty(), "{about}");
        if let Some(line) = line {
            assert_eq!(context["at"], format!("project.kdl:{line}"), "{about}");
        }
    }
    let denied = ask(operator(), "shell_exec", shell("touch /etc/x"));
    assert_eq!(denied["context"]["reason"], "no-etc: SEC-1");
    let asked = ask(of_ops(), "shell_exec", shell("reboot"));
    let reason = asked["context"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("a person must approve it"), "{asked}");
}

#[test]
fn a_subject_without_a_place_is_denied_with_the_reason() {
    let port = Port::start();
    let with = |properties: Value| json!({ "type": "user", "id": "eve", "properties": properties });
    let table = [
        (with(json!({})), "no line of `users` admits this caller"),
        (with(json!({ "groups": ["other"] })), "no line of `users` admits this caller"),
        (with(json!({ "tenant": "initech" })), "the tenant `initech` is unknown here"),
        (
            with(json!({ "groups": ["ops"], "role": "reader" })),
            "this caller does not have the role `reader` here",
        ),
    ];
    for (subject, reason) in table {
        let answer = port.post("/access/v1/evaluation", &call(&subject, "audit_tail", &json!({})));
        let answer = answer.json();
        assert_eq!(answer["decision"], json!(false), "{answer}");
        assert_eq!(answer["context"]["reason"], reason);
        assert_eq!(answer["context"]["rule"], "no-place");
    }
    let of_ops = with(json!({ "groups": ["x", "ops"], "tenant": "acme", "role": "root" }));
    assert_eq!(port.decide(&of_ops, "audit_tail", &json!({})).outcome, "allow");
    // A record says why without the names that the gateway sent.
    let records = port.records();
    assert!(records[2]["rule"] == "the tenant of the subject is unknown", "{}", records[2]);
    assert_eq!(records[4]["subject_role"], "root");
    assert_eq!(records[4]["subject_tenant"], "acme");
}

#[test]
fn a_gateway_of_a_tenant_asks_for_its_tenant_alone() {
    let port = Port::start();
    let ask = |properties: Value| {
        let subject = json!({ "type": "user", "id": "operator", "properties": properties });
        let question = call(&subject, "audit_tail", &json!({}));
        port.post_as("local", "/access/v1/evaluation", &question).json()
    };
    assert_eq!(ask(json!({ "tenant": "acme" }))["decision"], json!(true));
    assert_eq!(ask(json!({}))["decision"], json!(true));
    assert_eq!(port.records()[1]["subject_tenant"], "acme");
    let other = ask(json!({ "tenant": "globex" }));
    assert_eq!(other["decision"], json!(false));
    let reason = "the gateway asks for the callers of its own tenant alone";
    assert_eq!(other["context"]["reason"], reason);
}

#[test]
fn hidden_things_are_answered_as_unknown_ones() {
    let port = Port::start();
    let ask = |method: &str, kind: &str, id: &str| {
        let question = json!({
            "subject": subject("reader"),
            "action": { "name": method },
            "resource": { "type": kind, "id": id },
            "context": { "arguments": {} },
        });
        port.post("/access/v1/evaluation", &question).body
    };
    for (method, kind, hidden, unknown, seen) in [
        ("tools/call", "tool", "server_info", "server_inf0", "audit_tail"),
        ("prompts/get", "prompt", "secret", "secr3t", "open"),
        ("completion/complete", "prompt", "secret", "secr3t", "open"),
        ("resources/read", "resource", "relay://secret", "relay://secr3t", "relay://open"),
        ("resources/subscribe", "resource", "relay://secret", "relay://secr3t", "relay://open"),
    ] {
        assert_eq!(ask(method, kind, hidden), ask(method, kind, unknown), "{method}");
        assert!(ask(method, kind, hidden).contains("\"outcome\":\"reject\""), "{method}");
        assert!(ask(method, kind, seen).contains("\"decision\":true"), "{method}");
    }
    // Over the other protocol too.
    let refusal = |tool: &str| port.forward("reader", tool, &json!({})).refusal;
    assert_eq!(refusal("server_info"), refusal("server_inf0"));
    // The record alone says which of them exist.
    let rules: Vec<Value> = port.records().iter().map(|it| it["rule"].clone()).collect();
    assert!(rules.contains(&json!("this tool is not for the caller")), "{rules:?}");
    assert!(rules.contains(&json!("unknown prompt")), "{rules:?}");
}

#[test]
fn messages_about_the_server_need_a_place_alone() {
    let port = Port::start();
    for method in ["initialize", "ping", "tools/list", "notifications/initialized"] {
        let question = |id: &str| {
            json!({
                "subject": subject(id),
                "action": { "name": method },
                "resource": { "type": "mcp_server", "id": "https://mcp.example" },
            })
        };
        let decision =
            |id: &str| port.post("/access/v1/evaluation", &question(id)).json()["decision"].clone();
        assert_eq!((decision("reader"), decision("eve")), (json!(true), json!(false)), "{method}");
    }
    for method in ["tasks/list", "logging/setLevel", "tools/Call", "notifications/other", ""] {
        let question = json!({
            "subject": subject("operator"),
            "action": { "name": method },
            "resource": { "type": "mcp_server", "id": "x" },
        });
        let answer = port.post("/access/v1/evaluation", &question);
        assert!(!answer.body.contains("\"decision\":true"), "{method}: {answer:?}");
    }
}

#[test]
fn several_questions_have_defaults_and_an_end() {
    let port = Port::start();
    let ask = |entries: Value, semantic: Option<&str>| {
        let mut request = call(&subject("operator"), "shell_exec", &json!({ "command": "ls" }));
        request["evaluations"] = entries;
        if let Some(semantic) = semantic {
            request["options"] = json!({ "evaluations_semantic": semantic, "other": 1 });
        }
        let answer = port.post("/access/v1/evaluations", &request);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let command = |text: &str| json!({ "context": { "arguments": { "command": text } } });
    let (yes, no) = (command("pwd"), command("touch /etc/x"));
    let decisions = |answer: Value| -> Vec<bool> {
        let answers = answer["evaluations"].as_array().expect("a list");
        answers.iter().map(|it| it["decision"].as_bool().expect("a truth value")).collect()
    };
    let entries = json!([{}, no, { "subject": subject("eve") }, yes, {}]);
    let all = [true, false, false, true, true];
    assert_eq!(decisions(ask(entries.clone(), None)), all);
    assert_eq!(decisions(ask(entries.clone(), Some("execute_all"))), all);
    assert_eq!(decisions(ask(entries.clone(), Some("deny_on_first_deny"))), all[..2]);
    assert_eq!(decisions(ask(entries, Some("permit_on_first_permit"))), all[..1]);
    let late = json!([no, no, yes, yes]);
    assert_eq!(decisions(ask(late, Some("permit_on_first_permit"))), [false, false, true]);
    // A faulty entry is a denial among the others, and an overridden default is not restored.
    let faulty = ask(json!([7, { "subject": null }, { "context": {} }, {}]), None);
    assert_eq!(faulty["evaluations"][0]["context"]["error"]["status"], 400);
    assert_eq!(decisions(faulty), [false, false, false, true]);
    // Without entries the request is one question.
    assert_eq!(ask(json!([]), None)["decision"], json!(true));
    for (member, value) in [
        ("options", json!({ "evaluations_semantic": "all" })),
        ("options", json!([])),
        ("evaluations", json!({})),
        ("evaluations", Value::Array(vec![json!({}); 129])),
    ] {
        let mut request = call(&subject("operator"), "shell_exec", &json!({ "command": "ls" }));
        request["evaluations"] = json!([{}]);
        request[member] = value;
        let answer = port.post("/access/v1/evaluations", &request);
        assert_eq!(answer.status, 400, "{answer:?}");
    }
}

#[test]
fn only_a_role_that_decides_may_ask() {
    let port = Port::start();
    let question = call(&subject("operator"), "audit_tail", &json!({}));
    let paths = ["/access/v1/evaluation", "/access/v1/evaluations", "/ext-authz", "/ext-authz/a/b"];
    for path in paths {
        for id in ["plain", "nobody"] {
            assert_eq!(port.post_as(id, path, &question).status, 403, "{path} {id}");
        }
        assert_eq!(port.post_as("stranger", path, &question).status, 401, "{path}");
    }
    let records = port.records();
    assert_eq!(records[0]["rule"], "the role of the caller does not decide");
    assert_eq!(records[0]["principal"], "plain");
    let get = Request::new("GET", "/access/v1/evaluation").with("Authorization", &bearer("gw"));
    assert_eq!(port.web.send(&get).status, 405);
    // Without such a role there is no port.
    let closed = Port::of(&PROJECT.replace(" decides=#true", ""), "");
    for path in paths {
        assert_eq!(closed.post_as("gw", path, &question).status, 404, "{path}");
    }
    assert_eq!(closed.web.get("/.well-known/authzen-configuration").status, 404);
}

#[test]
fn the_configuration_names_the_endpoints() {
    let port = Port::start();
    let base = format!("http://{}", port.web.address);
    let document = port.web.get("/.well-known/authzen-configuration");
    assert_eq!(document.header("content-type"), "application/json");
    let expected = json!({
        "policy_decision_point": base,
        "access_evaluation_endpoint": format!("{base}/access/v1/evaluation"),
        "access_evaluations_endpoint": format!("{base}/access/v1/evaluations"),
    });
    assert_eq!(document.json(), expected);
}

#[test]
fn a_request_id_is_returned_and_recorded() {
    let port = Port::start();
    let question = call(&subject("operator"), "audit_tail", &json!({}));
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let request = authzen("gw", "/access/v1/evaluation")
        .with("X-Request-ID", "bfe9eb29")
        .with("traceparent", trace);
    let answer = port.web.send(&request.body(question.to_string()));
    assert_eq!((answer.status, answer.header("x-request-id")), (200, "bfe9eb29"));
    let wrong = authzen("gw", "/access/v1/evaluation").with("X-Request-ID", "x").body("{}");
    let answer = port.web.send(&wrong);
    assert_eq!((answer.status, answer.header("x-request-id")), (400, "x"));
    let record = &port.records()[0];
    assert_eq!(
        (&record["request_id"], &record["traceparent"]),
        (&json!("bfe9eb29"), &json!(trace))
    );
}

#[test]
fn every_decision_on_a_thing_leaves_a_record() {
    let port = Port::start();
    let secret = "touch /etc/the-secret";
    port.decide(&subject("operator"), "shell_exec", &json!({ "command": secret }));
    port.decide(&subject("operator"), "fs_secret", &json!({ "path": "/etc/secret" }));
    port.decide(&subject("operator"), "the-secret/tool", &json!({ "secret": 1 }));
    port.forward("operator", "audit_tail", &json!({ "lines": 3 }));
    port.post("/access/v1/evaluation", &json!({ "secret": "secret" }));
    let text = port.house.read("audit.jsonl");
    assert!(!text.contains("secret"), "{text}");
    let records = port.records();
    let part = |record: &Value, names: &[&str]| -> Value {
        names.iter().map(|name| record[name].clone()).collect()
    };
    let common = ["tool", "tier", "denied", "action", "port", "method", "subject", "ruling"];
    let expected = [
        json!(["shell_exec", 2, true, "refused", "authzen", "tools/call", "operator", "deny"]),
        json!(["fs_*", 2, true, "refused", "authzen", "tools/call", "operator", "deny"]),
        json!(["tool:unknown", 2, true, "refused", "authzen", "tools/call", "operator", "deny"]),
        json!(["audit_tail", 0, false, "served", "ext_authz", "tools/call", "operator", "allow"]),
        json!(["request", 0, true, "refused", "authzen", "unknown", null, "deny"]),
    ];
    assert_eq!(records.iter().map(|it| part(it, &common)).collect::<Vec<_>>(), expected);
    let first = &records[0];
    assert_eq!(first["rule"], "policy.no-etc: no-etc: SEC-1 (project.kdl:30)");
    assert_eq!(first["observed"], json!(["policy.not-yet (project.kdl:32)"]));
    assert_eq!(first["args"], json!({ "command": "[21 characters]" }));
    assert_eq!((&first["principal"], &first["role"]), (&json!("gw"), &json!("gateway")));
    assert_eq!(first["subject_role"], "operator");
    assert_eq!(first["effects"][0]["effect"], "writes");
    assert_eq!(records[2]["args"], json!({ "[unknown]": "[1 entries]" }));
    assert_eq!(records[3]["request_id"], "7");
    // They are one chain, and counted.
    let metrics =
        port.web.send(&Request::new("GET", "/metrics").with("Authorization", &bearer("gw")));
    for line in [
        "relay_port_decisions_total{port=\"authzen\",decision=\"deny\"} 3",
        "relay_port_decisions_total{port=\"authzen\",decision=\"error\"} 1",
        "relay_port_decisions_total{port=\"ext_authz\",decision=\"allow\"} 1",
    ] {
        assert!(metrics.body.contains(line), "{line}: {}", metrics.body);
    }
}

#[test]
fn questions_are_within_the_limits_of_requests() {
    let port = Port::of(PROJECT, "[limits]\nbody-bytes-max = 65536\nbody-values-max = 2000\n");
    let big = json!({ "command": format!("echo {}", "x".repeat(70_000)) });
    let question = call(&subject("operator"), "shell_exec", &big);
    assert_eq!(port.post("/access/v1/evaluation", &question).status, 413);
    let forwarded = ext_authz("operator").body(message("shell_exec", &big).to_string());
    // A proxy may let requests pass if its authorization fails, so this is a denial.
    assert_eq!(port.web.send(&forwarded).status, 403);
    let many = json!({ "command": "ls", "stdin": vec![0; 3000] });
    let question = call(&subject("operator"), "shell_exec", &many);
    assert_eq!(port.post("/access/v1/evaluation", &question).status, 400);
    let forwarded = ext_authz("operator").body(message("shell_exec", &many).to_string());
    assert_eq!(port.web.send(&forwarded).status, 403);
    // A large question goes the way of large requests, and is decided.
    let large = json!({ "command": format!("echo {}", "x".repeat(20_000)) });
    assert_eq!(port.decide(&subject("operator"), "shell_exec", &large).outcome, "allow");
}

#[test]
fn a_revoked_bundle_permits_nothing() {
    let port = Port::start();
    let question = call(&subject("operator"), "audit_tail", &json!({}));
    assert_eq!(port.post("/access/v1/evaluation", &question).json()["decision"], json!(true));
    let digest = house::digest(&house::bundle_of(PROJECT));
    let trusted = house::trusted(house::SIGNER, "");
    let text = format!("version = 2\n{trusted}[revoked]\ndigests = [\"{digest}\"]\n");
    port.house.write("new.toml", text);
    std::fs::rename(port.house.path("new.toml"), port.house.path("trust.toml")).expect("a rename");
    port.web.server.signal("HUP");
    wait_until(|| port.post("/access/v1/evaluation", &question).status == 503);
    let forwarded = ext_authz("operator").body(message("audit_tail", &json!({})).to_string());
    assert_eq!(port.web.send(&forwarded).status, 403);
}
