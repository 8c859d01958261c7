//! `relay describe`: what an agent gets.

use crate::cli::{Sandbox, snapshot};

const PROJECT: &str = "project small version=\"1.0.0\" epoch=1 { title \"A small project\" }\n\
    messages { session-greeting \"Welcome to {{project_name}}.\\n\\n{{prompt_index}}\" }\n\
    prompts {\n\
        prompt hello priority=7 { summary \"Greets\"; text \"Hello.\" }\n\
        prompt roll template=#true {\n\
            summary \"Rolls a service out\"\n\
            arg service required=#true\n\
            arg where default=staging { one-of staging production }\n\
            text \"Roll {{ service }} out to {{ where }}.\"\n\
        }\n\
    }\n";

#[test]
fn for_people() {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
    let run = sandbox.relay("describe project.kdl").ends(0).silent();
    snapshot("describe_human", &run.stdout);
    sandbox.relay("build . --unsigned").ends(0);
    assert_eq!(sandbox.relay("describe small.relay").ends(0).stdout, run.stdout);
}

#[test]
fn for_programs() {
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
    // As a briefing sends it.
    let body = "[shown for where=staging; also: production]\nRoll {service} out to staging.";
    assert_eq!(answer["prompts"][0]["bytes"], "Hello.".len());
    assert_eq!(answer["prompts"][1]["bytes"], body.len());
    assert_eq!(answer["prompts"][1]["tokens_estimated"], body.len().div_ceil(4));
}
