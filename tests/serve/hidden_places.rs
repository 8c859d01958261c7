//! Answers about what was decided, and where: the number of hidden lines in between stays hidden.

use serde_json::{Value, json};

use super::agent::text;
use super::auth::key;
use super::house::{self, House};
use super::web::{Request, Web};

/// `HIDDEN` is replaced by declarations that are hidden from callers of Acme.
const PROJECT: &str = r#"project firm epoch=1
tenants { tenant acme; tenant globex }
roles {
    HIDDEN-ROLE
    role reader tier=0 { tools "server_info" "audit_tail" "explain_context" "api-*" }
}
users {
    HIDDEN-USER
    user "ann@house" tenant=acme role=reader
    anyone role=reader
}
gate off
tools { diagnostics; other "api-create" }
prompts {
    HIDDEN-PROMPT
    prompt open { summary "Doors"; text "Doors are open." }
}
resources {
    HIDDEN-RESOURCE
    resource "relay://open" { text "open" }
}
skills {
    global { skill first { text "First." } }
    tenant acme { skill second { text "Second." } }
    HIDDEN-SKILL
    tool "api-*" { skill third { text "Third." } }
    user "bob@house" { skill fourth { text "Fourth." } }
}
"#;

const HIDDEN: [(&str, &str); 5] = [
    ("HIDDEN-ROLE", "role admin tier=3"),
    (
        "HIDDEN-USER",
        "user \"root@house\" role=admin\n    user \"bob@house\" tenant=globex role=admin",
    ),
    (
        "HIDDEN-PROMPT",
        "prompt secret template=#true {\n        for role=admin\n        arg door required=#true\n        summary \"Hush\"\n        text \"Hush {{ door }}.\"\n    }",
    ),
    (
        "HIDDEN-RESOURCE",
        "resource \"relay://secret\" {\n        for role=admin\n        text \"x\"\n    }",
    ),
    (
        "HIDDEN-SKILL",
        "tenant globex {\n        skill other {\n            text \"Other.\"\n        }\n    }",
    ),
];

fn serve(with_hidden: bool) -> (House, Web) {
    let project = HIDDEN.iter().fold(PROJECT.to_owned(), |project, (mark, hidden)| {
        project.replace(mark, if with_hidden { hidden } else { "" })
    });
    let house = House::of(&house::bundle_of(&project));
    house.write("server.toml", key("ann", "s", "tenant = \"acme\""));
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "a.jsonl"]);
    (house, web)
}

fn ask(web: &Web, method: &str, params: Value) -> Value {
    let request = Request::modern(method, params).with("Authorization", "Bearer rk_ann_s");
    web.send(&request).json()
}

fn call(web: &Web, name: &str, arguments: Value) -> String {
    let mut answer = ask(web, "tools/call", json!({ "name": name, "arguments": arguments }));
    text(&answer["result"].take()).to_owned()
}

/// The answers to a caller that tries names, and then asks what was recorded.
fn answers(web: &Web) -> Vec<String> {
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "secret" },
        "argument": { "name": "door", "value": "f" },
    });
    for (method, params) in [
        ("prompts/get", json!({ "name": "open" })),
        ("prompts/get", json!({ "name": "secret" })),
        ("prompts/get", json!({ "name": "secret", "arguments": { "door": "front" } })),
        ("prompts/get", json!({ "name": "secret", "arguments": { "door": 7 } })),
        ("prompts/get", json!({ "name": "secret", "arguments": 7 })),
        ("completion/complete", complete),
        ("resources/read", json!({ "uri": "relay://open" })),
        ("resources/read", json!({ "uri": "relay://secret" })),
        ("tools/call", json!({ "name": "begin_session", "arguments": { "tags": ["x"] } })),
    ] {
        ask(web, method, params);
    }
    let mut answers: Vec<_> = [
        ("explain_context", json!({ "tool": "api-create" })),
        ("audit_tail", json!({ "lines": 50 })),
        ("audit_tail", json!({ "lines": 50, "tool": "prompt:secret" })),
        ("audit_tail", json!({ "lines": 50, "tool": "resource:relay://secret" })),
        ("server_info", json!({})),
    ]
    .into_iter()
    .map(|(tool, arguments)| call(web, tool, arguments))
    .collect();
    // What differs with any other bundle or server, and the time.
    let pattern = r#"sha256:[0-9a-f]+|"ts":"[^"]*"|"request_id":"[^"]*"|"bytes": \d+|"checkpoint_key": "\w+""#;
    let differs = regex::Regex::new(pattern).expect("a pattern");
    for answer in &mut answers {
        *answer = differs.replace_all(answer, "").into_owned();
    }
    answers
}

#[test]
fn a_caller_is_answered_as_if_what_is_hidden_did_not_exist() {
    let (with_house, with) = serve(true);
    let (_without_house, without) = serve(false);
    let (seen, expected) = (answers(&with), answers(&without));
    for (seen, expected) in seen.iter().zip(&expected) {
        assert_eq!(seen, expected);
    }
    assert!(seen[0].contains("\"at\": \"project.kdl\""), "{}", seen[0]);
    assert!(seen[1].contains("\"rule\":\"project.kdl\"") && !seen[1].contains("secret"));
    // A filter by a hidden name finds nothing; the text of the skills is before each answer.
    assert!(seen[1].contains('{') && !seen[2].contains('{') && !seen[3].contains('{'));
    // The record is for the operator, who reads all of it.
    let records = with_house.read("a.jsonl");
    for fact in ["prompt:secret", "this prompt is not for the caller", "\"rule\":\"project.kdl:"] {
        assert!(records.contains(fact), "{fact}: {records}");
    }
}

#[test]
fn lines_are_shown_where_nothing_can_be_hidden() {
    let project = "project plain epoch=1\ntools { diagnostics }\nskills { global { skill first { text \"x\" } } }\n";
    let house = House::of(&house::bundle_of(project));
    house.write("server.toml", key("ann", "s", ""));
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "a.jsonl"]);
    let explained = call(&web, "explain_context", json!({ "tool": "api-create" }));
    assert!(explained.contains("\"at\": \"project.kdl:3\""), "{explained}");
    let tail = call(&web, "audit_tail", json!({ "lines": 5 }));
    assert!(tail.contains("\"rule\":\"project.kdl:2\""), "{tail}");
}
