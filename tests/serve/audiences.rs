//! Callers of several tenants and roles on one server: each sees its own, and the rest is hidden
//! without a trace.

use harness::run;
use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol};
use super::house::{self, House};
use super::server::{command, modern};
use super::web::{Request, Web};

const PROJECT: &str = r#"/- kdl-version 2
project firm epoch=1
tenants { tenant acme; tenant globex }
roles {
    role admin tier=3
    role operator tier=1 { tools "server_*" "audit_tail" }
    role trainee parent=operator tier=0 { tools "server_info" }
    role reader tier=0 { tools "server_info" }
}
users {
    user ann tenant=acme role=operator
    user root role=admin
    user tim tenant=acme role=trainee
    group "globex:sre" tenant=globex role=operator
    anyone role=reader
}
gate on
tools { diagnostics }
prompts {
    prompt open priority=7 { summary "Doors"; text "Doors are open." }
    prompt acme-only priority=7 {
        for tenant=acme
        summary "Doors of acme"
        arg door { one-of front back }
        text "The acme door {{ door }}."
    }
    prompt ops priority=8 { for role=operator; for role=admin; summary "Doors by night"; text "Lock at ten." }
    prompt secret-plan priority=10 { for role=admin; summary "Doors tomorrow"; text "Hush." }
}
resources {
    resource "relay://open" { text "open" }
    resource "relay://hidden" { for role=admin; text "hidden" }
    resource "relay://{door}/state" template=#true {
        for tenant=acme role=operator
        arg door { one-of front back }
        text "{{ door }} is shut"
    }
}
"#;

fn firm() -> House {
    let house = House::of(&house::bundle_of(PROJECT));
    let key = |id: &str, more: &str| {
        let sha256 = house::sha256(b"s");
        format!(
            "[[auth.api-keys]]\nid = \"{id}\"\nsha256 = \"{sha256}\"\nprincipal = \"{id}\"\n{more}\n"
        )
    };
    let keys = [
        key("ann", "tenant = \"acme\""),
        key("bob", "tenant = \"globex\"\ngroups = [\"globex:sre\"]"),
        key("eve", "tenant = \"globex\""),
        key("root", ""),
        key("tim", "tenant = \"acme\""),
    ];
    house.write("server.toml", keys.concat());
    house
}

struct Firm {
    web: Web,
}

impl Firm {
    fn ask(&self, who: &str, method: &str, params: Value) -> Value {
        let request =
            Request::modern(method, params).with("Authorization", &format!("Bearer rk_{who}_s"));
        let answer = self.web.send(&request);
        answer.json()
    }

    fn names(&self, who: &str, method: &str, list: &str, name: &str) -> Vec<String> {
        let answer = self.ask(who, method, json!({}));
        let items = answer["result"][list].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item[name].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn each_caller_has_its_own_lists_and_instructions() {
    let house = firm();
    let firm = Firm { web: Web::start(&house, &["--config", "server.toml"]) };
    let prompts = |who| firm.names(who, "prompts/list", "prompts", "name");
    assert_eq!(prompts("ann"), ["acme-only", "open", "ops"]);
    assert_eq!(prompts("bob"), ["open", "ops"]);
    assert_eq!(prompts("eve"), ["open"]);
    assert_eq!(prompts("root"), ["open", "ops", "secret-plan"]);
    assert_eq!(prompts("tim"), ["acme-only", "open", "ops"], "a role covers its children");
    let resources = |who| firm.names(who, "resources/list", "resources", "uri");
    assert_eq!(resources("eve"), ["relay://open"]);
    assert_eq!(resources("root"), ["relay://hidden", "relay://open"]);
    let templates =
        |who| firm.names(who, "resources/templates/list", "resourceTemplates", "uriTemplate");
    assert_eq!(templates("ann"), ["relay://{door}/state"]);
    assert_eq!(templates("bob"), Vec::<String>::new());
    let tools = |who| firm.names(who, "tools/list", "tools", "name");
    assert_eq!(tools("eve"), ["begin_session", "read_prompts", "server_info"]);
    assert_eq!(tools("ann"), ["begin_session", "read_prompts", "server_info", "audit_tail"]);
    for (who, own, others) in [
        ("ann", ["open", "acme-only", "ops"].as_slice(), ["secret-plan"].as_slice()),
        ("bob", &["open", "ops"], &["acme-only", "secret-plan"]),
        ("eve", &["open"], &["acme-only", "ops", "secret-plan"]),
    ] {
        let answer = firm.ask(who, "server/discover", json!({}));
        let said = answer["result"]["instructions"].as_str().unwrap().to_owned();
        for name in own {
            assert!(said.contains(&format!("- {name}: ")), "{who}: {said}");
        }
        for name in others {
            assert!(!said.contains(name), "{who}: {said}");
        }
        assert!(!said.contains(" more;"), "nothing that is hidden is counted: {said}");
    }
}

#[test]
fn what_is_hidden_is_answered_as_what_never_was() {
    let house = firm();
    let firm = Firm { web: Web::start(&house, &["--config", "server.toml", "--audit", "a.jsonl"]) };
    let prompts = [("secret-plan", "secret-nope"), ("acme-only", "acme-nope")];
    let mut asked = 0;
    let mut same = |method: &str, hidden: &str, never: &str, params: &dyn Fn(&str) -> Value| {
        let of_hidden = firm.ask("eve", method, params(hidden));
        let of_never = firm.ask("eve", method, params(never));
        let text = |answer: &Value, name: &str| {
            let mut answer = answer.clone();
            answer.as_object_mut().unwrap().remove("id");
            answer.to_string().replace(name, "NAME")
        };
        asked += 1;
        assert_eq!(text(&of_hidden, hidden), text(&of_never, never), "{method} {hidden}");
    };
    for (hidden, never) in prompts {
        same("prompts/get", hidden, never, &|name| json!({ "name": name }));
        same(
            "prompts/get",
            hidden,
            never,
            &|name| json!({ "name": name, "arguments": { "door": "front" } }),
        );
        same(
            "prompts/get",
            hidden,
            never,
            &|name| json!({ "name": name, "arguments": { "door": 7 } }),
        );
        same("completion/complete", hidden, never, &|name| {
            json!({
                "ref": { "type": "ref/prompt", "name": name },
                "argument": { "name": "door", "value": "f" },
            })
        });
        same(
            "tools/call",
            hidden,
            never,
            &|name| json!({ "name": "begin_session", "arguments": { "tags": [name] } }),
        );
        same(
            "tools/call",
            hidden,
            never,
            &|name| json!({ "name": "read_prompts", "arguments": { "tags": [name, "doors"] } }),
        );
    }
    for (hidden, never) in
        [("relay://hidden", "relay://nowhere"), ("relay://front/state", "relay://sides/state")]
    {
        same("resources/read", hidden, never, &|uri| json!({ "uri": uri }));
    }
    same(
        "completion/complete",
        "relay://{door}/state",
        "relay://{gate}/state",
        &|uri| json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": { "name": "door", "value": "" } }),
    );
    same(
        "tools/call",
        "audit_tail",
        "audit_nope",
        &|name| json!({ "name": name, "arguments": {} }),
    );
    same(
        "tools/call",
        "audit_tail",
        "audit_nope",
        &|name| json!({ "name": name, "arguments": { "lines": "x" } }),
    );
    assert_eq!(asked, 17);
    // Only the record tells.
    let records = house.read("a.jsonl");
    assert!(records.contains(r#""tool":"prompt:secret-plan""#), "{records}");
    assert!(records.contains("this prompt is not for the caller"), "{records}");
    assert!(records.contains("this resource is not for the caller"), "{records}");
    assert!(records.contains(r#""role":"reader""#), "{records}");
}

#[test]
fn a_cursor_and_a_handle_are_of_their_audience() {
    let house = firm();
    let firm = Firm { web: Web::start(&house, &["--config", "server.toml"]) };
    let begun = firm.ask(
        "root",
        "tools/call",
        json!({ "name": "begin_session", "arguments": { "tags": ["doors"] } }),
    );
    let handle = begun["result"]["_meta"]["dev.relay/briefing"]["briefing"].clone();
    assert!(begun.to_string().contains("Hush."), "{begun}");
    let foreign = firm.ask(
        "ann",
        "tools/call",
        json!({ "name": "server_info", "arguments": { "briefing": handle } }),
    );
    assert!(foreign.to_string().contains("another caller"), "{foreign}");
    let info = firm.ask("ann", "tools/call", json!({ "name": "server_info", "arguments": {} }));
    let text = info["result"]["content"].to_string();
    for fact in [
        r#"\"role\": \"operator\""#,
        r#"\"tenant\": \"acme\""#,
        r#"\"prompts\": 3"#,
        // The line is left out: it would tell callers the size of the hidden part.
        r#"\"role_given_at\": \"project.kdl\""#,
    ] {
        assert!(text.contains(fact), "{fact}: {text}");
    }
}

/// The firm with nobody who is only authenticated. Then nobody reads.
fn without_anyone() -> String {
    let reader = r#"role reader tier=0 { tools "server_info" }"#;
    PROJECT.replace("    anyone role=reader\n", "").replace(reader, "")
}

#[test]
fn who_has_no_place_gets_403_and_a_record() {
    let house = House::of(&house::bundle_of(&without_anyone()));
    let config = house_config(&house);
    house.write("server.toml", config);
    let firm = Firm { web: Web::start(&house, &["--config", "server.toml", "--audit", "a.jsonl"]) };
    let list = |who: &str| {
        let request = Request::modern("prompts/list", json!({}))
            .with("Authorization", &format!("Bearer rk_{who}_s"));
        firm.web.send(&request).status
    };
    assert_eq!((list("ann"), list("eve")), (200, 403));
    assert!(house.read("a.jsonl").contains("no line of `users` admits this caller"));
}

fn house_config(_: &House) -> String {
    let sha256 = house::sha256(b"s");
    ["ann\"\ntenant = \"acme", "eve\"\ntenant = \"globex"]
        .map(|more| {
            let id = more.split('"').next().unwrap();
            format!(
                "[[auth.api-keys]]\nid = \"{id}\"\nsha256 = \"{sha256}\"\nprincipal = \"{more}\"\n"
            )
        })
        .concat()
}

#[test]
fn a_session_has_the_instructions_of_its_caller() {
    let house = firm();
    let web = Web::start(&house, &["--config", "server.toml"]);
    let begin = |who: &str| {
        let request = Request::initialize().with("Authorization", &format!("Bearer rk_{who}_s"));
        web.send(&request).json()["result"]["instructions"].as_str().unwrap().to_owned()
    };
    let (ann, eve) = (begin("ann"), begin("eve"));
    assert!(ann.contains("- acme-only: ") && ann.contains("- ops: "), "{ann}");
    assert!(eve.contains("- open: ") && !eve.contains("ops"), "{eve}");
}

#[test]
fn listeners_hear_of_their_own_lists() {
    let house = firm();
    let arguments = ["--config", "server.toml"];
    let config = house.read("server.toml");
    house.write("server.toml", format!("watch.poll-ms = 20\n{config}"));
    let web = Web::start(&house, &arguments);
    let listen = |who: &str| {
        let what = json!({ "promptsListChanged": true, "toolsListChanged": true });
        let request = Request::modern("subscriptions/listen", json!({ "notifications": what }))
            .with("Authorization", &format!("Bearer rk_{who}_s"));
        let mut events = web.listen(&request);
        assert_eq!(events.next()["method"], "notifications/subscriptions/acknowledged");
        events
    };
    let (mut ann, mut eve) = (listen("ann"), listen("eve"));
    // Only operators see this one.
    house.replace(&house::bundle_of(
        &PROJECT.replace("epoch=1", "epoch=2").replace("prompt ops ", "prompt ops-by-night "),
    ));
    assert_eq!(ann.next()["method"], "notifications/prompts/list_changed");
    // Everyone sees this one; it is the first that a reader hears of.
    house.replace(&house::bundle_of(
        &PROJECT
            .replace("epoch=1", "epoch=3")
            .replace("prompt ops ", "prompt ops-by-night ")
            .replace(
                "role reader tier=0 { tools \"server_info\" }",
                "role reader tier=0 { tools \"*\" }",
            ),
    ));
    assert_eq!(eve.next()["method"], "notifications/tools/list_changed");
}

#[test]
fn a_server_does_not_start_with_names_that_the_project_lacks() {
    let house = firm();
    let stopped = |arguments: &[&str], words: &[&str]| {
        let ended = run(command(&house, arguments));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        for word in words {
            assert!(ended.stderr.contains(word), "`{word}` is not in: {}", ended.stderr);
        }
    };
    stopped(&["--role", "operater"], &["no role `operater`", "did you mean `operator`?"]);
    stopped(&["--tenant", "acne"], &["no tenant `acne`", "did you mean `acme`?"]);
    // Everyone who is only authenticated reads.
    stopped(
        &["--role", "operator"],
        &["`local` has no place", "does not have the role `operator`"],
    );
    house.write("bad.toml", "[principal]\ntenant = \"globexx\"\n");
    stopped(&["--config", "bad.toml"], &["did you mean `globex`?"]);
    let keys = house.read("server.toml").replacen("tenant = \"acme\"", "role = \"admn\"", 1);
    house.write("bad.toml", keys);
    stopped(
        &["--config", "bad.toml", "--http", "127.0.0.1:0"],
        &["auth.api-keys, key `ann`", "`admin`?"],
    );
}

#[test]
fn a_stdio_server_needs_a_place_whatever_authenticates_others() {
    let house = House::of(&house::bundle_of(&without_anyone()));
    house.write("server.toml", house_config(&house));
    let arguments = ["--stdio", "--config", "server.toml", "--principal", "bob"];
    let ended = run(command(&house, &arguments));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("the caller `bob` has no place"), "{}", ended.stderr);
    let mut agent = Agent::with(&house, PROTOCOLS[0], &["--principal", "ann", "--tenant", "acme"]);
    agent.client.server.hear("`auth` is not used on standard input and output");
    assert!(agent.tools().contains(&"audit_tail".to_owned()));
}

#[test]
fn who_loses_its_place_on_stdio_sees_nothing_and_the_log_says_why() {
    for protocol in PROTOCOLS {
        let house = House::of(&house::bundle_of(PROJECT));
        house.write("server.toml", "[watch]\npoll-ms = 0\n");
        let mut agent = Agent::with(&house, protocol, &["--principal", "bob"]);
        assert!(agent.tools().contains(&"server_info".to_owned()));
        let unknown = agent.refused("server_nope", json!({}));
        house.replace(&house::bundle_of(&without_anyone().replace("epoch=1", "epoch=2")));
        agent.client.server.signal("HUP");
        agent.client.server.hear("the caller `bob` has no place in the project");
        assert_eq!(agent.tools(), Vec::<String>::new());
        for (method, list) in [
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        ] {
            let params = if protocol == Protocol::Modern { modern(json!({})) } else { json!({}) };
            assert_eq!(agent.client.get(method, params)[list], json!([]), "{method}");
        }
        let (code, text) = agent.refused("server_info", json!({}));
        assert_eq!((code, text.replace("server_info", "server_nope")), unknown);
        // It has a place again.
        house.replace(&house::bundle_of(&PROJECT.replace("epoch=1", "epoch=3")));
        agent.client.server.signal("HUP");
        wait_until_seen(&mut agent);
    }
}

fn wait_until_seen(agent: &mut Agent) {
    for _ in 0..500 {
        if !agent.tools().is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the tools are not back");
}

#[test]
fn a_caller_finds_its_own_records_whoever_says_its_tenant() {
    let house = firm();
    let sha256 = house::sha256(b"s");
    let key =
        format!("[[auth.api-keys]]\nid = \"an2\"\nsha256 = \"{sha256}\"\nprincipal = \"ann\"\n");
    house.write("server.toml", house.read("server.toml") + &key);
    let firm = Firm { web: Web::start(&house, &["--config", "server.toml", "--audit", "a.jsonl"]) };
    let call = |who: &str, tool: &str| {
        firm.ask(who, "tools/call", json!({ "name": tool, "arguments": {} })).to_string()
    };
    // The credentials leave the tenant open; the line of `users` names it.
    call("an2", "server_info");
    assert!(call("an2", "audit_tail").contains("server_info"));
    call("bob", "server_info");
    assert!(!call("an2", "audit_tail").contains("globex"));
}
