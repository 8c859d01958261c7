//! `relay describe`: instructions, gate, tools and prompts.

use serde_json::{Value, json};

use crate::cli::{Sandbox, snapshot};

const PROJECT: &str = "project small version=\"1.0.0\" epoch=1 { title \"A small project\" }\n\
    messages { session-greeting \"Welcome to {{project_name}}.\\n\\n{{prompt_index}}\" }\n\
    prompts {\n\
        prompt hello priority=7 { summary \"Greets\"; text \"Hello.\" }\n\
        prompt roll briefing=#true template=#true {\n\
            summary \"Rolls a service out\"\n\
            arg service required=#true\n\
            arg where default=staging { one-of staging production }\n\
            text \"Roll {{ service }} out to {{ where|lower }}.\"\n\
        }\n\
    }\n";

#[test]
fn human_output() {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
    let run = sandbox.relay("describe project.kdl").ends(0).silent();
    snapshot("describe_human", &run.stdout);
    sandbox.relay("build . --unsigned").ends(0);
    assert_eq!(sandbox.relay("describe small.relay").ends(0).stdout, run.stdout);
}

#[test]
fn json_output() {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
    let answer = sandbox.relay("describe project.kdl --json").ends(0).silent().json();
    assert_eq!(
        answer["instructions"],
        "Welcome to small.\n\n- hello: Greets\n- roll: Rolls a service out"
    );
    let kinds: Vec<_> =
        answer["prompts"].as_array().unwrap().iter().map(|row| &row["kind"]).collect();
    assert_eq!(kinds, ["text", "template"]);
    assert_eq!(answer["prompts"][1]["variants"], 2);
    // The text that a briefing sends.
    let body = "[shown for where=staging; also: production]\nRoll {service} out to staging.";
    assert_eq!(answer["prompts"][0]["bytes"], "Hello.".len());
    assert_eq!(answer["prompts"][1]["bytes"], body.len());
    assert_eq!(answer["prompts"][1]["tokens_estimated"], body.len().div_ceil(4));
}

/// The same project with a gate.
fn gated(settings: &str) -> String {
    format!("{PROJECT}gate on {settings}\ntools {{ diagnostics }}\n")
}

#[test]
fn human_output_of_a_gate() {
    let sandbox = Sandbox::of(&[("project.kdl", &gated(""))]);
    let intercepts = sandbox.relay("describe .").ends(0).silent().stdout;
    snapshot("describe_gated_human", &intercepts);
    sandbox
        .write("project.kdl", &gated("hide-tools=#true { unlock else=refuse; tags ask=3 max=7 }"));
    sandbox
        .relay("describe .")
        .ends(0)
        .silent()
        .prints("asks for 3, takes 7 at most")
        .prints("refuse: a gated call without a briefing is denied")
        .prints("sees only `begin_session`");
    // `inspect` prints the same settings.
    sandbox.relay("inspect .").ends(0).prints("asks for 3, takes 7 at most");
}

#[test]
fn json_output_of_a_gate() {
    let settings = "hide-tools=#true { unlock else=intercept budget=(bytes)77; tags ask=3 max=7; \
                    budget (bytes)500 remaining=(bytes)333 }";
    let sandbox = Sandbox::of(&[("project.kdl", &gated(settings)), ("open.kdl", PROJECT)]);
    let answer = sandbox.relay("describe project.kdl --json").ends(0).json();
    assert_eq!(
        answer["gate"],
        json!({
            "unlock": { "value": "intercept", "at": "project.kdl:12:40" },
            "hide_tools": { "value": true, "at": "project.kdl:12:20" },
            "tags_ask": { "value": 3, "at": "project.kdl:12:77" },
            "tags_max": { "value": 7, "at": "project.kdl:12:83" },
            "budget_bytes": { "value": 500, "at": "project.kdl:12:100" },
            "repeat_bytes": { "value": 77, "at": "project.kdl:12:64" },
            "remaining_bytes": { "value": 333, "at": "project.kdl:12:121" },
            "at": "project.kdl:12:1",
        })
    );
    let facts = |answer: &Value| -> Vec<Value> {
        let tools = answer["tools"].as_array().expect("a list").iter();
        tools.map(|tool| json!([tool["name"], tool["tier"], tool["gated"]])).collect()
    };
    let expected = json!([
        ["begin_session", 0, false],
        ["read_prompts", 0, false],
        ["server_info", 0, true],
        ["audit_tail", 0, true],
        ["explain_context", 0, true],
    ]);
    assert_eq!(json!(facts(&answer)), expected);
    let open = sandbox.relay("describe open.kdl --json").ends(0).json();
    assert_eq!((&open["gate"], &open["tools"]), (&Value::Null, &json!([])));
    // In an ungated project, tools are ungated.
    sandbox.write("tools.kdl", &format!("{PROJECT}tools {{ diagnostics }}\n"));
    let answer = sandbox.relay("describe tools.kdl --json").ends(0).json();
    let expected =
        ["server_info", "audit_tail", "explain_context"].map(|tool| json!([tool, 0, false]));
    assert_eq!(json!(facts(&answer)), json!(expected));
}

#[test]
fn sizes_of_a_prompt_agree_between_verbs() {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
    let json = |line: &str| sandbox.relay(line).ends(0).json();
    let size = |value: &Value| value.as_u64().expect("a number");
    let (described, inspected) = (json("describe . --json"), json("inspect . --json"));
    let built = json("build . --unsigned --format json");
    let explained = json("explain . --json --tags greets rolls");
    for (index, name) in ["hello", "roll"].into_iter().enumerate() {
        let named = |list: &Value, key: &str| {
            let list = list.as_array().expect("a list");
            list.iter().find(|each| each[key] == name).expect("the prompt").clone()
        };
        // The text that a briefing sends.
        let briefing = size(&described["prompts"][index]["bytes"]);
        assert_eq!(size(&inspected["prompts"][index]["bytes"]), briefing, "{name}");
        assert_eq!(size(&named(&explained["scores"], "prompt")["bytes"]), briefing, "{name}");
        // The largest variant.
        let variants = inspected["prompts"][index]["variants"].as_array().expect("a list");
        let largest = variants.iter().map(|variant| size(&variant["bytes"])).max();
        let of_build = named(&built["bundle"]["largest_prompts"], "name");
        assert_eq!(Some(size(&of_build["bytes"])), largest, "{name}");
    }
    // If there are no slots, that is also the size of the answer.
    let called = json("explain . --json --prompt hello");
    assert_eq!(called["bytes"], inspected["prompts"][0]["variants"][0]["bytes"]);
    assert_eq!(called["tokens_estimated"], size(&called["bytes"]).div_ceil(4));
}
