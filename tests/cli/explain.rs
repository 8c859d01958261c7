//! `relay explain`: what the server would answer, and why.

mod briefing;
mod calls;
mod matrix;
mod skills;

use serde_json::{Value, json};

use crate::cli::{Run, Sandbox, snapshot};

const PROJECT: &str = "project small version=\"1.0.0\" epoch=1\n\
    prompts {\n\
        prompt roll template=#true {\n\
            summary \"Rolls a service out\"\n\
            arg service required=#true max=(chars)8\n\
            arg where default=staging { one-of staging production }\n\
            arg note\n\
            text \"Roll {{ service }} out to {{ where|lower }}.{% if note %} {{ note }}{% endif %}\"\n\
        }\n\
    }\n\
    resources {\n\
        resource \"relay://small/page\" mime=\"text/markdown\" { text \"# Page\" }\n\
        resource \"relay://small/rooms/{room}\" template=#true { arg room { one-of hall attic }; text \"Room {{ room }}.\" }\n\
    }\n";

fn explain(question: &[&str]) -> Run {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
    let arguments = [&["explain", "project.kdl"], question].concat();
    let project = sandbox.relay_of(&arguments).silent();
    // A bundle gives the same answers as its project.
    sandbox.relay("build . --unsigned").ends(0);
    let bundle = sandbox.relay_of(&[&["explain", "small.relay"], question].concat()).silent();
    assert_eq!((bundle.code, &bundle.stdout), (project.code, &project.stdout));
    project
}

#[test]
fn human_output_of_a_prompt() {
    let arguments = r#"{"service":"a long name","note":"Careful."}"#;
    let run = explain(&["--prompt", "roll", "--arguments", arguments]).ends(0);
    snapshot("explain_prompt_human", &run.stdout);
}

#[test]
fn json_output_of_a_prompt() {
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
fn arguments_are_escaped() {
    let given = r#"{"service":"{{ x }}"}"#;
    let answer = explain(&["--prompt", "roll", "--json", "--arguments", given]).ends(0).json();
    assert_eq!(answer["messages"][0]["content"][0]["text"], "Roll {{ x }} out to staging.");
}

#[test]
fn rejected_requests() {
    let table = [
        (vec!["--prompt", "rol"], "unknown prompt `rol`; did you mean `roll`?"),
        (vec!["--prompt", "roll"], "service"),
        (vec!["--prompt", "roll", "--arguments", r#"{"service":"a","wher":"x"}"#], "wher"),
        (
            vec!["--prompt", "roll", "--arguments", r#"{"service":"a","where":"mars"}"#],
            "must be one of: staging, production",
        ),
        (vec!["--uri", "relay://small/pag"], "no resource or template has this URI"),
        (vec!["--uri", "relay://small/rooms/cellar"], "must be one of: hall, attic"),
        (vec!["--uri", "not a URI"], "no resource or template has this URI"),
    ];
    for (question, reason) in table {
        let run = explain(&question).ends(1);
        assert!(run.stdout.contains("rejected: "), "{question:?}: {}", run.stdout);
        assert!(run.stdout.contains(reason), "{question:?}: {}", run.stdout);
        let answer = explain(&[question.clone(), vec!["--json"]].concat()).ends(1).json();
        assert!(answer["refused"].as_str().expect("a reason").contains(reason), "{question:?}");
    }
}

#[test]
fn arguments_are_an_object_of_strings() {
    for given in ["[", "[]", "{\"service\":1}", "{\"service\":null}", "text"] {
        let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
        let question = ["explain", "project.kdl", "--prompt", "roll", "--arguments", given];
        sandbox.relay_of(&question).ends(2).says("--arguments is not a JSON object of strings");
    }
}

#[test]
fn human_output_of_a_uri() {
    let page = explain(&["--uri", "relay://small/page"]).ends(0).stdout;
    let room = explain(&["--uri", "relay://small/rooms/hall"]).ends(0).stdout;
    snapshot("explain_uri_human", &format!("{page}\n{room}"));
}

#[test]
fn json_output_of_a_uri() {
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
    // People run a prompt with a required argument.
    assert_eq!(answer["index"], json!([]));
    assert_eq!(answer["omitted"], 0);
    let text = answer["instructions"].as_str().expect("a text");
    assert!(text.ends_with("(none)"), "{text}");
}

#[test]
fn a_long_index_counts_the_omitted_prompts() {
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
    sandbox.relay("explain . --index").ends(0).prints(&format!("{} omitted", 40 - listed));
}

#[test]
fn a_damaged_bundle_is_not_explained() {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT)]);
    sandbox.relay("build . --unsigned").ends(0);
    let mut file = sandbox.bytes("small.relay");
    let at = file.windows(6).position(|window| window == b"# Page").expect("it is in a body");
    file[at] ^= 1;
    std::fs::write(sandbox.path("small.relay"), &file).expect("a file");
    // The requested prompt is intact, but the bundle is damaged.
    let run = sandbox.relay_of(&[
        "explain",
        "small.relay",
        "--prompt",
        "roll",
        "--arguments",
        r#"{"service":"a"}"#,
    ]);
    assert_eq!(run.ends(2).stdout, "");
    for line in ["inspect small.relay", "describe small.relay", "explain small.relay --tags a"] {
        assert_eq!(sandbox.relay(line).ends(2).stdout, "", "{line}");
    }
}

/// A small project with a gate: names as in the worked examples, short texts.
const GATED: &str = "project house version=\"1.0.0\" epoch=1\n\
    gate on {\n    unlock else=intercept budget=(bytes)64\n    budget (bytes)128\n}\n\
    tools { diagnostics }\n\
    prompts {\n\
        prompt common-mistakes priority=10 { summary \"Mistakes with lights\"; chapters Pairing Lights; text \"Never guess.\" }\n\
        prompt lights priority=6 { summary \"Lights of the house\"; chapters Scenes \"Zigbee lights\"; text \"One scene for each room.\" }\n\
        prompt mesh priority=7 { summary \"Zigbee mesh\"; chapters Lights Routers; text \"A mesh needs routers: a lamp that is switched off at the wall is none.\" }\n\
        prompt pairing priority=4 { summary \"Pairing of Zigbee devices\"; chapters Codes; text \"One device at a time, and the door for new devices is closed after the last of them.\" }\n\
        prompt vpn priority=8 { summary \"VPN access\"; chapters Peers; text \"Ask first.\" }\n\
    }\n";

/// Runs `relay explain` on a project and on its bundle, which give the same answer.
fn explain_of(project: &str, question: &[&str]) -> Run {
    let sandbox = Sandbox::of(&[("project.kdl", project)]);
    sandbox.relay("build . --unsigned -o x.relay").ends(0);
    let ask = |subject| sandbox.relay_of(&[&["explain", subject], question].concat());
    let (of_project, of_bundle) = (ask("project.kdl"), ask("x.relay"));
    assert_eq!((of_project.code, &of_project.stdout), (of_bundle.code, &of_bundle.stdout));
    of_bundle
}

#[test]
fn options_of_another_question_are_rejected() {
    let questions = ["--prompt=a", "--uri=a:b", "--index", "--tags=a", "--call=a"];
    for (option, without_sense) in [
        ("--arguments={}", vec!["--uri=a:b", "--index", "--tags=a"]),
        ("--sent=a", vec!["--prompt=a", "--uri=a:b", "--index", "--call=a"]),
        ("--no-session", vec!["--prompt=a", "--uri=a:b", "--index", "--tags=a"]),
        ("--budget=1", vec!["--prompt=a", "--uri=a:b", "--index"]),
        ("--why", vec!["--prompt=a", "--uri=a:b", "--index"]),
        ("--cwd=/a", questions.to_vec()),
        ("--home=/a", questions.to_vec()),
    ] {
        for question in questions {
            let run = Sandbox::new().relay_of(&["explain", "missing.relay", question, option]);
            let run = run.ends(2);
            let is_rejected = run.stderr.contains("does not go together with");
            assert_eq!(
                is_rejected,
                without_sense.contains(&question),
                "{question} {option}: {run:?}"
            );
        }
    }
}

/// The project of a worked example.
fn written(prompts: &Value) -> String {
    let mut text = String::from("project small version=\"1.0.0\" epoch=1\nprompts {\n");
    for prompt in prompts.as_array().unwrap() {
        let bytes = prompt["body_bytes"].as_u64().unwrap_or_default() as usize;
        let body = prompt["body"].as_str().map_or_else(|| "x".repeat(bytes), str::to_owned);
        let chapters = prompt["chapters"].as_array().unwrap();
        let chapters: String = chapters.iter().map(|chapter| format!(" {chapter}")).collect();
        let chapters = if chapters.is_empty() { chapters } else { format!("chapters{chapters};") };
        text.push_str(&format!(
            "    prompt {} priority={} {{ summary {}; {chapters} text \"{body}\" }}\n",
            prompt["name"], prompt["priority"], prompt["summary"]
        ));
    }
    text.push_str("}\n");
    text
}
