//! Approvals: a person is asked through the client, and a yes counts once, for the call that it was
//! given to.

use std::time::Duration;

use serde_json::{Value, json};

use super::agent::text;
use super::house::{self, House};
use super::server::{Client, LEGACY, initialize_params, modern, wait_until};
use super::web::{Request, Web};

const PROJECT: &str = "project ops epoch=1\n\
    tools { shell; sessions; diagnostics }\n\
    roles { role operator tier=3; role root tier=3 approve=#true }\n\
    users { user op role=operator; user eve role=operator; user ann role=root }\n\
    policy open {\n\
        approve removals because=\"OPS-3\" { program rm }\n\
        approve soon ttl=(duration)\"1s\" { program truncate }\n\
        deny never { program shutdown }\n\
    }\n";
const AS_OPERATOR: &[&str] = &["--principal", "op", "--audit", "audit.jsonl"];
/// The place of the first rule.
const RULE: &str = "(project.kdl:6)";

fn house() -> House {
    let house = House::of(&house::bundle_of(PROJECT));
    house.write("victim", "");
    house
}

/// The arguments of a call that removes a file of the house.
fn removal(house: &House) -> Value {
    json!({ "command": "rm -v victim", "cwd": house.path(".") })
}

/// Returns the parameters of a call of a modern client that can ask.
fn call(arguments: &Value, more: Value) -> Value {
    let mut params = modern(json!({ "name": "shell_exec", "arguments": arguments }));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let more = more.as_object().expect("an object").clone();
    params.as_object_mut().expect("an object").extend(more);
    params
}

/// Calls, and returns the state of the question.
fn asked(client: &mut Client, arguments: &Value) -> String {
    let result = client.get("tools/call", call(arguments, json!({})));
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["requestState"].as_str().expect("a state").to_owned()
}

/// Repeats a call with an answer, and returns the text of its result.
fn repeated(client: &mut Client, arguments: &Value, state: &str, answer: &Value) -> String {
    let more = json!({ "requestState": state, "inputResponses": { "approve": answer } });
    text(&client.get("tools/call", call(arguments, more)))
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "decision": "run once" } })
}

/// Returns the action, the answer and the rule of each record of `shell_exec`.
fn records(house: &House) -> Vec<[String; 3]> {
    let text = house.read("audit.jsonl");
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    records
        .filter(|record| record["tool"] == "shell_exec")
        .filter(|record| record["action"] != "begun")
        .map(|record| ["action", "approval", "rule"].map(|name| text(&record[name])))
        .collect()
}

#[test]
fn a_modern_client_asks_and_repeats_the_call() {
    let house = house();
    let mut client = Client::start(&house, AS_OPERATOR);
    let arguments = removal(&house);
    let result = client.get("tools/call", call(&arguments, json!({})));
    assert_eq!(result["resultType"], "input_required", "{result}");
    let form = &result["inputRequests"]["approve"];
    assert_eq!(form["method"], "elicitation/create");
    let params = &form["params"];
    assert_eq!(params["mode"], "form");
    let folder = house.path(".").canonicalize().expect("the folder");
    assert_eq!(
        params["message"].as_str().expect("a message"),
        format!(
            "An agent asks to run this with `shell_exec` on the server of `ops`:\n\n    \
             rm -v victim\n\nFolder: {}\nCaller: op\nTier: 2 (STATEFUL)\n\
             Asked because: removals: OPS-3 {RULE}",
            folder.display()
        )
    );
    let schema = &params["requestedSchema"];
    assert_eq!(schema["required"], json!(["decision"]));
    let decision = &schema["properties"]["decision"];
    assert_eq!(decision["enum"], json!(["do not run", "run once"]));
    assert_eq!(decision["default"], "do not run");
    assert!(house.path("victim").exists());

    let state = result["requestState"].as_str().expect("a state");
    let done = repeated(&mut client, &arguments, state, &yes());
    assert_eq!(done, "[exit 0]\nremoved 'victim'\n");
    let again = repeated(&mut client, &arguments, state, &yes());
    let used = format!(
        "[DENIED tier 2 (STATEFUL): removals: OPS-3; this yes was used already, and counts once {RULE}]"
    );
    assert_eq!(again, used);
    client.end();
    let rule = format!("policy.removals: removals: OPS-3 {RULE}");
    let records = records(&house);
    assert_eq!(records[0], ["asked", "-", rule.as_str()]);
    assert_eq!(records[1][..2], ["served", "approved"]);
    let used = format!("{rule}; this yes was used already, and counts once");
    assert_eq!(records[2], ["refused", "used", used.as_str()]);
}

#[test]
fn a_yes_counts_for_the_call_that_it_was_given_to() {
    let house = house();
    let mut client = Client::start(&house, AS_OPERATOR);
    let arguments = removal(&house);
    let denied = |text: &str| {
        assert!(
            text.starts_with(
                "[DENIED tier 2 (STATEFUL): removals: OPS-3; the yes is for another call"
            ),
            "{text}"
        );
        assert!(house.path("victim").exists());
    };
    // Another command, another folder, and further arguments.
    let state = asked(&mut client, &arguments);
    let mut others = vec![removal(&house), removal(&house), removal(&house)];
    others[0]["command"] = "rm -v victim victim".into();
    others[1]["cwd"] = "/tmp".into();
    others[2]["stdin"] = "y".into();
    for other in &others {
        denied(&repeated(&mut client, other, &state, &yes()));
    }
    // An altered state, and one of another server.
    for place in [0, state.len() / 2, state.len() - 1] {
        let mut altered = state.clone().into_bytes();
        altered[place] = if altered[place] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).expect("ASCII");
        denied(&repeated(&mut client, &arguments, &altered, &yes()));
    }
    for garbage in ["", "x", "rs1.AAAA.AAAA"] {
        denied(&repeated(&mut client, &arguments, garbage, &yes()));
    }
    let mut other = Client::start(&house, AS_OPERATOR);
    let foreign = asked(&mut other, &arguments);
    denied(&repeated(&mut client, &arguments, &foreign, &yes()));
    // None of these used it.
    assert!(repeated(&mut client, &arguments, &state, &yes()).starts_with("[exit 0]"));
    // An answer without a state is a new call.
    house.write("victim", "");
    let more = json!({ "inputResponses": { "approve": yes() } });
    let result = client.get("tools/call", call(&arguments, more));
    assert_eq!(result["resultType"], "input_required", "{result}");
}

#[test]
fn every_other_answer_is_a_no_and_uses_the_question() {
    let house = house();
    let mut client = Client::start(&house, AS_OPERATOR);
    let arguments = removal(&house);
    let answers = [
        (json!({ "action": "decline" }), "the person declined it", "declined"),
        (
            json!({ "action": "decline", "content": { "decision": "run once" } }),
            "the person declined it",
            "declined",
        ),
        (json!({ "action": "cancel" }), "the person closed the question", "closed"),
        (
            json!({ "action": "accept", "content": { "decision": "do not run" } }),
            "the person declined it",
            "declined",
        ),
        (
            json!({ "action": "accept", "content": {} }),
            "without a decision of a person",
            "undecided",
        ),
        (json!({ "action": "accept" }), "without a decision of a person", "undecided"),
        (
            json!({ "action": "accept", "content": { "decision": true } }),
            "without a decision of a person",
            "undecided",
        ),
        (json!({ "action": "approve" }), "without a decision of a person", "undecided"),
        (json!({}), "without a decision of a person", "undecided"),
    ];
    for (answer, why, word) in &answers {
        let state = asked(&mut client, &arguments);
        let denied = repeated(&mut client, &arguments, &state, answer);
        assert!(denied.starts_with("[DENIED ") && denied.contains(why), "{answer}: {denied}");
        let again = repeated(&mut client, &arguments, &state, &yes());
        assert!(again.contains("was used already"), "{answer}: {again}");
        let records = records(&house);
        assert_eq!(records[records.len() - 2][1], *word, "{answer}");
    }
    assert!(house.path("victim").exists());
}

#[test]
fn a_late_yes_is_a_no() {
    let house = house();
    let mut client = Client::start(&house, AS_OPERATOR);
    let arguments = json!({ "command": "truncate -s 9 victim", "cwd": house.path(".") });
    let state = asked(&mut client, &arguments);
    std::thread::sleep(Duration::from_millis(1100));
    let denied = repeated(&mut client, &arguments, &state, &yes());
    assert!(denied.contains("the yes came too late (project.kdl:7)"), "{denied}");
    assert_eq!(house.read("victim"), "");
}

#[test]
fn a_client_that_shows_no_forms_is_not_asked() {
    let house = house();
    let arguments = removal(&house);
    let confirm = format!("[CONFIRM REQUIRED tier 2 (STATEFUL): removals: OPS-3 {RULE}]");
    let mut client = Client::start(&house, AS_OPERATOR);
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut params = call(&arguments, json!({}));
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        assert_eq!(text(&client.get("tools/call", params)), confirm);
    }
    client.end();
    let mut client = Client::start(&house, AS_OPERATOR);
    client.initialize(LEGACY);
    let params = json!({ "name": "shell_exec", "arguments": arguments });
    assert_eq!(text(&client.get("tools/call", params)), confirm);
    assert!(house.path("victim").exists());
    assert!(records(&house).iter().all(|record| record[1] == "unable"), "{:?}", records(&house));
}

#[test]
fn a_deny_comes_before_every_question() {
    let house = house();
    let mut client = Client::start(&house, AS_OPERATOR);
    let arguments = json!({ "command": "rm -v victim; shutdown now", "cwd": house.path(".") });
    let denied = text(&client.get("tools/call", call(&arguments, json!({}))));
    assert!(denied.starts_with("[DENIED ") && denied.contains("never"), "{denied}");
}

#[test]
fn a_yes_ends_with_its_bundle() {
    let house = house();
    let mut client = Client::start(&house, AS_OPERATOR);
    let arguments = removal(&house);
    let state = asked(&mut client, &arguments);
    house.replace(&house::bundle_of(&PROJECT.replace("epoch=1", "epoch=2")));
    client.server.signal("HUP");
    wait_until(|| house.read("audit.jsonl").contains("bundle:reload"));
    let denied = repeated(&mut client, &arguments, &state, &yes());
    assert!(denied.contains("the yes is for another call"), "{denied}");
}

#[test]
fn another_caller_cannot_use_a_yes() {
    let house = house();
    let key = |user: &str| {
        let sha256 = house::sha256(b"s");
        format!(
            "[[auth.api-keys]]\nid = \"{user}\"\nsha256 = \"{sha256}\"\nprincipal = \"{user}\"\n"
        )
    };
    house.write("server.toml", ["op", "eve"].map(key).concat());
    let web = Web::start(&house, &["--config", "server.toml"]);
    let arguments = removal(&house);
    let send = |user: &str, more: Value| {
        let params = call(&arguments, more);
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = Request::modern("tools/call", params).body(message.to_string());
        let answer = web.send(&request.with("authorization", &format!("Bearer rk_{user}_s")));
        answer.json()["result"].clone()
    };
    let state = send("op", json!({}))["requestState"].as_str().expect("a state").to_owned();
    let more = json!({ "requestState": state, "inputResponses": { "approve": yes() } });
    let denied = text(&send("eve", more.clone()));
    assert!(denied.contains("the yes is for another call"), "{denied}");
    assert_eq!(text(&send("op", more)), "[exit 0]\nremoved 'victim'\n");
}

#[test]
fn a_role_asks_before_tier_3() {
    let house = house();
    let mut client = Client::start(&house, &["--principal", "ann"]);
    let arguments = json!({ "command": "mkfs -V /dev/null/x", "cwd": house.path(".") });
    let result = client.get("tools/call", call(&arguments, json!({})));
    let message = &result["inputRequests"]["approve"]["params"]["message"];
    let message = message.as_str().expect("a message");
    assert!(
        message.contains("the caller's role asks a person before tier 3 (project.kdl:3)"),
        "{message}"
    );
}

/// A legacy client that can show forms.
fn legacy(house: &House, arguments: &[&str]) -> Client {
    let mut client = Client::start(house, arguments);
    let mut params = initialize_params(LEGACY);
    params["capabilities"] = json!({ "elicitation": {} });
    client.get("initialize", params);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client
}

/// Sends a call, and returns its id and the question of the server.
fn begin(client: &mut Client, tool: &str, arguments: &Value) -> (u64, Value) {
    let id = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    let question = client.next_message().expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (id, question)
}

fn answer(client: &mut Client, question: &Value, result: Value) {
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
}

fn ended(client: &mut Client, id: u64) -> String {
    text(&client.answer(id)["result"])
}

#[test]
fn a_legacy_client_is_asked_while_its_call_waits() {
    let house = house();
    let mut client = legacy(&house, AS_OPERATOR);
    let arguments = removal(&house);
    let nos = [
        (json!({ "action": "decline" }), "the person declined it"),
        (json!({ "action": "cancel" }), "the person closed the question"),
        (json!({ "action": "accept", "content": {} }), "without a decision of a person"),
    ];
    for (no, why) in nos {
        let (id, question) = begin(&mut client, "shell_exec", &arguments);
        answer(&mut client, &question, no);
        let denied = ended(&mut client, id);
        assert!(denied.starts_with("[DENIED ") && denied.contains(why), "{denied}");
    }
    let (id, question) = begin(&mut client, "shell_exec", &arguments);
    let unknown = json!({ "code": -32601, "message": "no such method" });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": unknown }));
    let unable = ended(&mut client, id);
    assert_eq!(unable, format!("[CONFIRM REQUIRED tier 2 (STATEFUL): removals: OPS-3 {RULE}]"));
    assert!(house.path("victim").exists());
    let (id, question) = begin(&mut client, "shell_exec", &arguments);
    assert_eq!(
        question["params"]["requestedSchema"]["properties"]["decision"]["default"],
        "do not run"
    );
    answer(&mut client, &question, yes());
    assert_eq!(ended(&mut client, id), "[exit 0]\nremoved 'victim'\n");
    client.end();
    let words: Vec<_> = records(&house).into_iter().map(|[_, word, _]| word).collect();
    assert_eq!(words, ["declined", "closed", "undecided", "unable", "approved"]);
}

#[test]
fn silence_is_a_no_and_a_cancelled_call_withdraws_its_question() {
    let house = house();
    let mut client = legacy(&house, AS_OPERATOR);
    let arguments = json!({ "command": "truncate -s 9 victim", "cwd": house.path(".") });
    let (id, question) = begin(&mut client, "shell_exec", &arguments);
    let withdrawn = client.notified();
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    let denied = ended(&mut client, id);
    assert!(denied.contains("the question was not answered in time (project.kdl:7)"), "{denied}");
    let (id, _) = begin(&mut client, "shell_exec", &removal(&house));
    let cancel = json!({ "requestId": id });
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    wait_until(|| records(&house).len() == 2);
    assert_eq!(records(&house)[1][0], "cancelled");
    assert!(house.path("victim").exists());
}

#[test]
fn calls_that_wait_for_a_person_take_no_place_of_running_ones_and_have_a_limit() {
    let house = house();
    house.write("server.toml", "[limits]\nprincipal-calls-max = 1\n");
    let arguments = [&["--config", "server.toml"], AS_OPERATOR].concat();
    let mut client = legacy(&house, &arguments);
    let waiting: Vec<_> =
        (0..16).map(|_| begin(&mut client, "shell_exec", &removal(&house))).collect();
    let params = json!({ "name": "shell_exec", "arguments": { "command": "echo runs" } });
    assert_eq!(text(&client.get("tools/call", params)), "[exit 0]\nruns\n");
    let params = json!({ "name": "shell_exec", "arguments": removal(&house) });
    let busy = text(&client.get("tools/call", params));
    assert_eq!(busy, "[ERROR: busy: 16 of your calls wait for a person; call again later]");
    let info = client.get("tools/call", json!({ "name": "server_info", "arguments": {} }));
    let info: Value = serde_json::from_str(&text(&info)).expect("JSON");
    assert_eq!(info["confirm"], json!({ "tier3": false, "pending": 16, "ttl": 120 }));
    for (id, question) in waiting {
        answer(&mut client, &question, json!({ "action": "decline" }));
        assert!(ended(&mut client, id).starts_with("[DENIED "));
    }
    // The server ends at once although a question is open.
    let _open = begin(&mut client, "shell_exec", &removal(&house));
    client.end();
    assert_eq!(records(&house).last().expect("a record")[0], "cancelled");
}

#[test]
fn a_line_that_changes_while_the_person_is_asked_is_not_run() {
    let house = house();
    let mut client = legacy(&house, AS_OPERATOR);
    let mut get = |name: &str, arguments: Value| {
        text(&client.get("tools/call", json!({ "name": name, "arguments": arguments })))
    };
    let started = get("shell_spawn", json!({ "command": "bash --norc", "cwd": house.path(".") }));
    let session = started.split(' ').nth(1).expect("an id").to_owned();
    let typed = json!({ "session_id": session, "data": "rm victim" });
    let (id, question) = begin(&mut client, "session_send", &typed);
    let before = json!({ "session_id": session, "data": "echo ", "enter": false });
    let params = json!({ "name": "session_send", "arguments": before });
    client.get("tools/call", params);
    answer(&mut client, &question, yes());
    let denied = ended(&mut client, id);
    assert!(denied.contains("the yes is for another call"), "{denied}");
    assert!(house.path("victim").exists());
}

#[test]
fn a_client_with_a_token_hears_of_a_long_call() {
    let house = house();
    for is_modern in [true, false] {
        let mut client = if is_modern {
            Client::start(&house, AS_OPERATOR)
        } else {
            legacy(&house, AS_OPERATOR)
        };
        let arguments = json!({ "command": "sleep 6" });
        let mut params = json!({ "name": "shell_exec", "arguments": arguments });
        if is_modern {
            params = modern(params);
        }
        params["_meta"]["progressToken"] = "long".into();
        let id = client.request("tools/call", params);
        let notified = client.notified();
        assert_eq!(notified["method"], "notifications/progress", "{notified}");
        assert_eq!(notified["params"]["progressToken"], "long");
        assert_eq!(notified["params"]["progress"], 5.0);
        assert_eq!(ended(&mut client, id), "[exit 0]\n");
    }
}

/// A yes is for the session that it began, which goes on under each bundle that still asks.
#[test]
fn an_approved_session_outlives_a_reload_that_still_asks() {
    let bundle = |epoch: u32, rule: &str| {
        let project = PROJECT.replace("epoch=1", &format!("epoch={epoch}"));
        house::bundle_of(&project.replace("policy open {", &format!("policy open {{ {rule};")))
    };
    let asks = "approve terminals { tool shell_spawn }";
    let house = House::of(&bundle(1, asks));
    let mut client = Client::start(&house, AS_OPERATOR);
    let spawn = |more: Value| {
        let mut params = call(&json!({ "command": "cat" }), more);
        params["name"] = "shell_spawn".into();
        params
    };
    let result = client.get("tools/call", spawn(json!({})));
    let state = result["requestState"].as_str().expect("a state");
    let more = json!({ "requestState": state, "inputResponses": { "approve": yes() } });
    let begun = text(&client.get("tools/call", spawn(more)));
    let id = begun.split(' ').nth(1).expect("an id");
    house.replace(&bundle(2, asks));
    wait_until(|| house.read("audit.jsonl").contains("\"bundle:reload\""));
    let list = modern(json!({ "name": "session_list", "arguments": {} }));
    let listed = text(&client.get("tools/call", list));
    assert!(listed.contains(id), "{listed}");
    house.replace(&bundle(3, "deny terminals { tool shell_spawn }"));
    wait_until(|| house.read("audit.jsonl").contains("\"session:ended\""));
}

/// The person hears on which host a command would run, and by which way.
#[test]
fn a_question_names_the_host() {
    let project = "project ops epoch=1\ntools { ssh; diagnostics }\n\
        roles { role operator tier=3 }\nusers { user op role=operator }\n\
        hosts { host web; host gate }\npolicy open { approve all { tool \"ssh_*\" } }\n";
    let house = House::of(&house::bundle_of(project));
    let mut client = Client::start(&house, AS_OPERATOR);
    for (tool, arguments, line) in [
        ("ssh_exec", json!({ "host": "web", "command": "reboot" }), "Host: web\n"),
        (
            "ssh_exec",
            json!({ "host": "web", "command": "reboot", "user": "root", "port": 2222, "jump": "gate" }),
            "Host: web, as root, port 2222, through gate\n",
        ),
        ("ssh_fanout", json!({ "command": "reboot" }), "Host: all hosts of the project\n"),
        ("ssh_fanout", json!({ "hosts": "web gate", "command": "reboot" }), "Host: web gate\n"),
    ] {
        let mut params = call(&arguments, json!({}));
        params["name"] = tool.into();
        let result = client.get("tools/call", params);
        let message = &result["inputRequests"]["approve"]["params"]["message"];
        let message = message.as_str().unwrap_or_else(|| panic!("{result}"));
        assert!(message.contains("    reboot\n") && message.contains(line), "{message}");
    }
}
