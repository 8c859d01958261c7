//! Malformed questions: each is a denial.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::super::web::{Answer, Request};
use super::{Port, authzen, call, ext_authz, message, subject};

/// Asserts that nothing is permitted by an answer.
fn assert_denied(answer: &Answer, about: &str) {
    let is_permit = answer.body.contains("true") || answer.header("x-relay-outcome") == "allow";
    assert!(!is_permit, "{about}: {answer:?}");
}

/// A question that is permitted, with a word that only a permitted one has in its answer.
fn good() -> Value {
    let mut question = call(&subject("operator"), "shell_exec", &json!({ "command": "ls" }));
    question["subject"]["properties"] = json!({ "tenant": "acme", "groups": ["x"] });
    question
}

#[test]
fn each_missing_doubled_or_other_member_is_a_denial() {
    let port = Port::start();
    let post = |body: &str| port.web.send(&authzen("gw", "/access/v1/evaluation").body(body));
    let text = good().to_string();
    assert_eq!(post(&text).json()["decision"], json!(true));
    let paths = [
        "/subject",
        "/subject/type",
        "/subject/id",
        "/action",
        "/action/name",
        "/resource",
        "/resource/type",
        "/resource/id",
        "/context",
        "/context/arguments",
        "/context/arguments/command",
        "/subject/properties",
        "/subject/properties/tenant",
        "/subject/properties/groups",
    ];
    for path in paths {
        let (parent, name) = path.rsplit_once('/').expect("a path");
        let is_optional = path.starts_with("/subject/properties");
        if !is_optional {
            let mut without = good();
            let object = without.pointer_mut(parent).expect("an object").as_object_mut();
            object.expect("an object").remove(name);
            assert_denied(&post(&without.to_string()), path);
        }
        for other in
            [json!(null), json!(7), json!(""), json!([]), json!([1]), json!(["a", {}]), json!(true)]
        {
            // No groups are a list too, and a text is a command.
            let is_good = path == "/subject/properties/groups" && other == json!([])
                || path == "/context/arguments/command" && other == json!("");
            let mut changed = good();
            *changed.pointer_mut(path).expect("a value") = other.clone();
            if !is_good {
                let answer = post(&changed.to_string());
                assert!([200, 400].contains(&answer.status), "{path} {other}: {answer:?}");
                assert_denied(&answer, &format!("{path} {other}"));
            }
        }
        // The same member a second time, and one that differs only in its case.
        let value = good().pointer(path).expect("a value").clone();
        let member = format!("\"{name}\":{value}");
        for doubled in
            [format!("{member},{member}"), format!("{member},\"{}\":{value}", name.to_uppercase())]
        {
            assert_eq!(text.matches(&member).count(), 1, "{member}");
            let doubled = text.replace(&member, &doubled);
            let is_deep = path.matches('/').count() > 3;
            if !is_deep {
                assert_eq!(post(&doubled).status, 400, "{doubled}");
            }
        }
    }
    for body in [
        "",
        "null",
        "[]",
        "{}",
        "\"x\"",
        &text[..text.len() - 1],
        &format!("{text}x"),
        &format!("[{text}]"),
    ] {
        assert_eq!(post(body).status, 400, "{body}");
    }
    for (place, value) in [
        ("/resource/properties", json!({ "arguments": {} })),
        ("/resource/properties", json!({ "server": 7 })),
    ] {
        let mut changed = good();
        changed["resource"]["properties"] = value.clone();
        assert_denied(&post(&changed.to_string()), &format!("{place} {value}"));
    }
    let plain =
        Request::new("POST", "/access/v1/evaluation").with("Authorization", "Bearer rk_gw_s");
    assert_eq!(port.web.send(&plain.with("Content-Type", "text/plain").body(text)).status, 400);
}

#[test]
fn each_malformed_message_of_a_proxy_is_a_denial() {
    let port = Port::start();
    let good = message("shell_exec", &json!({ "command": "ls" })).to_string();
    let send = |request: Request| port.web.send(&request);
    let of = |body: &str| ext_authz("operator").body(body);
    let ok = send(of(&good));
    assert_eq!((ok.status, ok.body.as_str()), (200, ""));
    let bodies = [
        good.replace("\"2.0\"", "\"1.0\""),
        good.replace("\"jsonrpc\":\"2.0\",", ""),
        good.replace("\"id\":7,", ""),
        good.replace("\"id\":7,", "\"id\":null,"),
        good.replace("\"id\":7,", "\"id\":{},"),
        good.replace("\"id\":7,", "\"id\":7,\"id\":8,"),
        good.replace("tools/call", "tools/cal"),
        good.replace("\"method\":\"tools/call\",", ""),
        good.replace("\"method\"", "\"Method\""),
        good.replace("\"method\"", "\"Method\":\"tools/list\",\"method\""),
        good.replace("\"method\":\"tools/call\"", "\"result\":{}"),
        good.replace(
            "\"method\":\"tools/call\"",
            "\"method\":\"tools/list\",\"method\":\"tools/call\"",
        ),
        good.replace("\"name\":\"shell_exec\",", ""),
        good.replace("\"name\":\"shell_exec\"", "\"name\":\"audit_tail\",\"NAME\":\"shell_exec\""),
        good.replace("\"name\":\"shell_exec\"", "\"name\":7"),
        good.replace("{\"command\":\"ls\"}", "null"),
        good.replace("{\"command\":\"ls\"}", "[]"),
        good.replace("{\"command\":\"ls\"}", "{}"),
        good.replace("{\"command\":\"ls\"}", "{\"Command\":\"ls\"}"),
        good.replace("{\"command\":\"ls\"}", "{\"command\":[\"ls\"]}"),
        good.replace("{\"command\":\"ls\"}", "{\"command\":\"ls\",\"COMMAND\":\"rm\"}"),
        format!("[{good}]"),
        format!("{good}{good}"),
        good[..good.len() - 1].to_owned(),
        "{}".to_owned(),
        "x".to_owned(),
    ];
    for body in bodies {
        assert_ne!(body, good);
        let answer = send(of(&body));
        assert_eq!(answer.status, 403, "{body}");
        assert_denied(&answer, &body);
    }
    let with =
        |name: &str, value: &str| ext_authz("operator").with(name, value).body(good.as_str());
    for (name, value) in [
        ("x-relay-subject", ""),
        ("x-relay-subjects", "operator"),
        ("x-relay-group", "ops"),
        ("x-relay-tenant", ""),
        ("x-relay-tenant", "initech"),
        ("x-relay-role", "root"),
        ("x-relay-groups", "[1]"),
        ("x-relay-groups", "[\"a\""),
        ("x-relay-groups", "a,,b"),
        ("x-relay-server", ""),
        ("x-relay-server", "other"),
        ("x-relay-method", "tools/call"),
        ("x-relay-tool", "audit_tail"),
        ("x-relay-arguments", "{}"),
        ("x-envoy-auth-partial-body", "true"),
        ("x-envoy-auth-partial-body", "yes"),
        ("content-encoding", "gzip"),
        ("mcp-method", "tools/list"),
    ] {
        let answer = send(with(name, value));
        assert_eq!(answer.status, 403, "{name}: {value}: {answer:?}");
        // A header that is there twice has no value that counts, even if both are equal.
        let (head, body) = (ext_authz("operator").bytes(&port.web.address), good.as_str());
        let head = String::from_utf8(head).expect("a head").replace("Content-Length: 0", "");
        let twice =
            format!("{name}: {value}\r\n{name}: {value}\r\nContent-Length: {}\r\n\r\n", body.len());
        let raw = head.trim_end().to_owned() + "\r\n" + &twice + body;
        let answer = port.web.raw(raw.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 403"), "{name}: {answer}");
    }
    let doubled = String::from_utf8(of(&good).bytes(&port.web.address)).expect("a request");
    let doubled = doubled.replace(
        "x-relay-subject: operator",
        "x-relay-subject: operator\r\nx-relay-subject: operator",
    );
    assert!(port.web.raw(doubled.as_bytes()).starts_with("HTTP/1.1 403"));
    for (name, value) in [
        ("x-relay-tenant", "acme"),
        ("x-relay-groups", "a, b"),
        ("x-relay-groups", "[\"cn=a,dc=b\"]"),
        ("x-envoy-auth-partial-body", "false"),
        ("mcp-method", "tools/call"),
    ] {
        assert_eq!(send(with(name, value)).status, 200, "{name}: {value}");
    }
    let missing = Request::new("POST", "/ext-authz/mcp").with("Authorization", "Bearer rk_gw_s");
    assert_eq!(send(missing.body(good.as_str())).status, 403);
}

#[test]
fn headers_stand_for_a_body_if_they_say_all() {
    let port = Port::start();
    let send = |headers: &[(&str, &str)]| {
        let request =
            headers.iter().fold(ext_authz("operator"), |it, (name, value)| it.with(name, value));
        port.web.send(&request).status
    };
    let method = ("x-relay-method", "tools/call");
    let (tool, ls) =
        (("x-relay-tool", "shell_exec"), ("x-relay-arguments", "{\"command\":\"ls\"}"));
    assert_eq!(send(&[method, tool, ls]), 200);
    assert_eq!(send(&[("x-relay-method", "prompts/get"), ("x-relay-prompt", "open")]), 200);
    assert_eq!(
        send(&[("x-relay-method", "resources/read"), ("x-relay-resource", "relay://open")]),
        200
    );
    assert_eq!(send(&[("x-relay-method", "tools/list")]), 200);
    for headers in [
        &[][..],
        &[tool, ls],
        &[method, ls],
        &[method, tool],
        &[method, tool, ("x-relay-arguments", "")],
        &[method, tool, ("x-relay-arguments", "{}")],
        &[method, tool, ("x-relay-arguments", "[]")],
        &[method, tool, ("x-relay-arguments", "{\"command\":\"ls\",\"command\":\"ls\"}")],
        &[method, tool, ("x-relay-arguments", "{\"command\":\"touch /etc/x\"}")],
        &[method, tool, ls, ("x-relay-prompt", "open")],
        &[method, tool, ls, ("x-relay-server", "other")],
        &[("x-relay-method", "prompts/get"), ("x-relay-prompt", "secret")],
        &[
            ("x-relay-method", "prompts/get"),
            ("x-relay-prompt", "open"),
            ("x-relay-server", "other"),
        ],
        &[("x-relay-method", "prompts/get")],
        &[("x-relay-method", "tools/list"), tool],
        &[("x-relay-method", "tasks/list")],
    ] {
        assert_eq!(send(headers), 403, "{headers:?}");
    }
    // A preflight of a page is not answered for the server behind the proxy.
    let preflight = Request::new("OPTIONS", "/ext-authz/mcp")
        .with("Authorization", "Bearer rk_gw_s")
        .with("Origin", "http://localhost")
        .with("Access-Control-Request-Method", "POST");
    assert_eq!(port.web.send(&preflight).status, 403);
    // A stream or the end of a session has no message, and so no decision.
    for method in ["GET", "DELETE"] {
        let request =
            Request::new(method, "/ext-authz/mcp").with("Authorization", "Bearer rk_gw_s");
        assert_eq!(port.web.send(&request.with("x-relay-subject", "operator")).status, 403);
    }
}

/// Cuts, doubles, removes and replaces bytes of a request that is denied: no mutation of it may be
/// permitted, unless it is a well-formed question about another call.
#[test]
fn no_mutation_of_a_denied_question_is_permitted() {
    let port = Port::start();
    let mut denied = good();
    denied["context"]["arguments"]["command"] = json!("rm -rf /srv /etc");
    let denied = denied.to_string();
    let forwarded = message("shell_exec", &json!({ "command": "rm -rf /srv /etc" })).to_string();
    let piece = prop::sample::select(vec![
        "",
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "null",
        "true",
        "\\",
        "\u{feff}",
        "{}",
        "\"id\":1,",
        "\"subject\":{},",
        "\"context\":{},",
        "\"arguments\":{},",
        "\"params\":{},",
        "\u{0}",
        " ",
    ]);
    let mutations = prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, piece), 1..4);
    let mut runner =
        TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let run = runner.run(&mutations, |mutations| {
        let mutated = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            for (place, removed, piece) in &mutations {
                let at = place.index(bytes.len() + 1).min(bytes.len());
                let end = (at + removed).min(bytes.len());
                bytes.splice(at..end, piece.bytes());
            }
            bytes
        };
        // A command that is still one, and still removes something, may be tier 3 or unreadable;
        // one that lost its name or its operands may be harmless, so those bytes are kept.
        let keeps = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("rm -rf /srv /etc");
        for (path, body) in
            [("/access/v1/evaluation", mutated(&denied)), ("/ext-authz", mutated(&forwarded))]
        {
            if !keeps(&body) {
                continue;
            }
            let request = authzen("gw", path).with("x-relay-subject", "operator");
            let answer = port.web.send(&request.body(body.clone()));
            let is_permit = answer.body.contains("\"decision\":true")
                || (path == "/ext-authz" && answer.status == 200);
            prop_assert!(!is_permit, "{}: {answer:?}", String::from_utf8_lossy(&body));
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

/// Every cut of a permitted question is a denial: a cut body is never the whole call.
#[test]
fn no_beginning_of_a_permitted_question_is_permitted() {
    let port = Port::start();
    let (question, forwarded) =
        (good().to_string(), message("shell_exec", &json!({ "command": "ls" })).to_string());
    for (path, text) in [("/access/v1/evaluation", question), ("/ext-authz", forwarded)] {
        for length in (0..text.len()).step_by(3) {
            let request = authzen("gw", path).with("x-relay-subject", "operator");
            let answer = port.web.send(&request.body(&text.as_bytes()[..length]));
            assert_denied(&answer, &text[..length]);
            assert_ne!(answer.status, 200, "{}", &text[..length]);
        }
    }
}
