//! `relay explain`: what the server would answer, and why.

use serde_json::json;

use crate::cli::{Sandbox, snapshot};

const PROJECT: &str = "project small version=\"1.0.0\" epoch=1\n\
    prompts {\n\
        prompt roll template=#true {\n\
            summary \"Rolls a service out\"\n\
            arg service required=#true max=(chars)8\n\
            arg where default=staging { one-of staging production }\n\
            arg note\n\
            text \"Roll {{ service }} out to {{ where }}.{% if note %} {{ note }}{% endif %}\"\n\
        }\n\
    }\n\
    resources {\n\
        resource \"relay://small/page\" mime=\"text/markdown\" { text \"# Page\" }\n\
        resource \"relay://small/rooms/{room}\" template=#true { arg room { one-of hall attic }; text \"Room {{ room }}.\" }\n\
    }\n";

fn explain(question: &[&str]) -> crate::cli::Run {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
    let arguments = [&["explain", "project.kdl"], question].concat();
    let project = sandbox.relay_of(&arguments).silent();
    // A bundle answers as its project does.
    sandbox.relay("build . --unsigned").ends(0);
    let bundle = sandbox.relay_of(&[&["explain", "small.relay"], question].concat()).silent();
    assert_eq!((bundle.code, &bundle.stdout), (project.code, &project.stdout));
    project
}

#[test]
fn a_prompt_for_people() {
    let arguments = r#"{"service":"a long name","note":"Careful."}"#;
    let run = explain(&["--prompt", "roll", "--arguments", arguments]).ends(0);
    snapshot("explain_prompt_human", &run.stdout);
}

#[test]
fn a_prompt_for_programs() {
    let question = ["--prompt", "roll", "--json", "--arguments", r#"{"service":"web"}"#];
    let answer = explain(&question).ends(0).json();
    assert_eq!(answer["refused"], json!(null));
    assert_eq!(answer["at"], "project.kdl:3");
    assert_eq!(answer["when"], json!({ "note": null, "where": "staging" }));
    assert_eq!(
        answer["arguments"],
        json!([
            { "name": "service", "value": "web", "origin": "given", "cut": null },
            { "name": "where", "value": "staging", "origin": "default", "cut": null },
            { "name": "note", "value": null, "origin": "absent", "cut": null },
        ])
    );
    let text = "Roll web out to staging.";
    assert_eq!(
        answer["messages"],
        json!([{ "role": "user", "content": [{ "type": "text", "text": text }] }])
    );
    assert_eq!(answer["bytes"], text.len());
}

#[test]
fn text_from_a_caller_is_text() {
    let given = r#"{"service":"{{ x }}"}"#;
    let answer = explain(&["--prompt", "roll", "--json", "--arguments", given]).ends(0).json();
    assert_eq!(answer["messages"][0]["content"][0]["text"], "Roll {{ x }} out to staging.");
}

#[test]
fn what_would_be_refused() {
    let table = [
        (vec!["--prompt", "rol"], "there is no prompt `rol`; there is `roll`"),
        (vec!["--prompt", "roll"], "service"),
        (vec!["--prompt", "roll", "--arguments", r#"{"service":"a","wher":"x"}"#], "wher"),
        (
            vec!["--prompt", "roll", "--arguments", r#"{"service":"a","where":"mars"}"#],
            "must be one of: staging, production",
        ),
        (vec!["--uri", "relay://small/pag"], "no resource and no template has this URI"),
        (vec!["--uri", "relay://small/rooms/cellar"], "must be one of: hall, attic"),
        (vec!["--uri", "no URI at all"], "no resource and no template has this URI"),
    ];
    for (question, reason) in table {
        let run = explain(&question).ends(1);
        assert!(run.stdout.contains("refused: "), "{question:?}: {}", run.stdout);
        assert!(run.stdout.contains(reason), "{question:?}: {}", run.stdout);
        let answer = explain(&[question.clone(), vec!["--json"]].concat()).ends(1).json();
        assert!(answer["refused"].as_str().expect("a reason").contains(reason), "{question:?}");
    }
}

#[test]
fn arguments_are_an_object_of_texts() {
    for given in ["[", "[]", "{\"service\":1}", "{\"service\":null}", "text"] {
        let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
        let question = ["explain", "project.kdl", "--prompt", "roll", "--arguments", given];
        sandbox.relay_of(&question).ends(2).says("--arguments is not a JSON object of texts");
    }
}

#[test]
fn a_uri_for_people() {
    let page = explain(&["--uri", "relay://small/page"]).ends(0).stdout;
    let room = explain(&["--uri", "relay://small/rooms/hall"]).ends(0).stdout;
    snapshot("explain_uri_human", &format!("{page}\n{room}"));
}

#[test]
fn a_uri_for_programs() {
    let answer = explain(&["--uri", "relay://small/rooms/attic", "--json"]).ends(0).json();
    assert_eq!(answer["answered_by"], "template");
    assert_eq!(answer["pattern"], "relay://small/rooms/{room}");
    assert_eq!(answer["variables"], json!({ "room": "attic" }));
    assert_eq!(answer["text"], "Room attic.");
    let answer = explain(&["--uri", "relay://small/page", "--json"]).ends(0).json();
    assert_eq!(answer["answered_by"], "resource");
    assert_eq!(answer["mime"], "text/markdown");
}

#[test]
fn the_index() {
    snapshot("explain_index_human", &explain(&["--index"]).ends(0).stdout);
    let answer = explain(&["--index", "--json"]).ends(0).json();
    assert_eq!(answer["index"], json!(["roll"]));
    assert_eq!(answer["omitted"], 0);
    let text = answer["instructions"].as_str().expect("a text");
    assert!(text.ends_with("- roll: Rolls a service out"), "{text}");
}

#[test]
fn an_index_that_is_too_long_says_what_it_leaves_out() {
    let mut text = String::from("project small version=\"1.0.0\" epoch=1\nprompts {\n");
    for number in 10..50 {
        let summary = "words ".repeat(12);
        text.push_str(&format!(
            "    prompt p{number} {{ summary \"{summary}\"; text \"Text.\" }}\n"
        ));
    }
    text.push_str("}\n");
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    let answer = sandbox.relay("explain . --index --json").ends(0).json();
    let listed = answer["index"].as_array().expect("a list").len();
    assert!((1..40).contains(&listed), "{listed}");
    assert_eq!(answer["omitted"], 40 - listed);
    let text = answer["instructions"].as_str().expect("a text");
    assert!(text.chars().count() <= 2_000);
    let rest = format!("({} more; prompts/list names them)", 40 - listed);
    assert!(text.contains(&rest), "{text}");
    sandbox.relay("explain . --index").ends(0).prints(&format!("{} left out", 40 - listed));
}

#[test]
fn a_damaged_bundle_is_not_explained() {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
    sandbox.relay("build . --unsigned").ends(0);
    let mut file = sandbox.bytes("small.relay");
    let at = file.windows(6).position(|window| window == b"# Page").expect("it is in a body");
    file[at] ^= 1;
    std::fs::write(sandbox.path("small.relay"), &file).expect("a file");
    // The prompt that is asked for is whole; the bundle is not.
    let run = sandbox.relay_of(&[
        "explain",
        "small.relay",
        "--prompt",
        "roll",
        "--arguments",
        r#"{"service":"a"}"#,
    ]);
    assert_eq!(run.ends(2).stdout, "");
    sandbox.relay("inspect small.relay").ends(2);
}
