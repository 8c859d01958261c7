//! `relay show`: the effective project, with every default and the origin of every value.

use serde_json::{Value, json};

use crate::cli::{Sandbox, snapshot};

/// A project with one node of every kind.
const PROJECT: &str = r#"project small version="1.0.0" epoch=1 {
    title "A small project"
    owner "team@example.com"
}
include "more/*.kdl"
prompts {
    prompt inline priority=8 {
        title "Inline"
        description "A text inside the document"
        chapters One "Two words"
        text "Some \"text\"."
    }
    prompt steered template=#true {
        arg dry type=boolean default=#true description="Only show"
        arg where default=staging { one-of staging production }
        arg note max=(chars)40
        text "{% if dry %}Show{% else %}Do{% endif %} {{ where }}{% if note %}: {{ note }}{% endif %}"
    }
    prompt raw file="raw.md.j2" template=#false
    prompt talk template=#true {
        arg name required=#true
        message role=user {
            text "I am {{ name }}."
            file "more/filed.md" template=#false
            file "raw.md.j2" template=#false
            image "dot.png"
        }
        message role=assistant {
            resource "relay://small/page"
            resource "relay://of/{{ name }}" mime="text/x-own" template=#false { text "{{ not a slot }}" }
        }
    }
    prompt suppressed {
        allow-secret aws-access-key because="an example of the vendor's own manual"
        text "AKIAIOSFODNN7QXMWPLE"
    }
    prompt off enabled=#false { text "Off." }
    prompt taken { text "In staging." }
    commands "commands"
}
resources {
    resource "relay://small/page" { text "\n  A page.\n   \n" }
    resource "relay://small/rooms/{room}" template=#true {
        arg room { one-of hall attic }
        text "Room {{ room }}."
    }
    resource "relay://small/dot" file="dot.png"
}
when production {
    prompts {
        prompt inline { text "Of production." }
        prompt taken enabled=#false
    }
    resources { resource "relay://small/dot" enabled=#false }
}
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::of(&[
        ("project.kdl", PROJECT),
        ("raw.md.j2", "{{ raw }}\n"),
        ("more/more.kdl", "prompts { prompt filed file=\"filed.md\" template=#false }\n"),
        ("more/filed.md", "From {{ name }}'s file.\n"),
        ("commands/go.md", "---\ndescription: Goes\n---\nGo to $ARGUMENTS.\n"),
    ]);
    std::fs::write(sandbox.path("dot.png"), b"\x89PNG\r\n\x1a\n").expect("a file");
    sandbox
}

#[test]
fn human_output() {
    snapshot("show_human", &sandbox().relay("show .").ends(0).silent().stdout);
}

#[test]
fn json_output() {
    let answer = sandbox().relay("show . --json").ends(0).silent().json();
    let nodes = answer["nodes"].as_array().expect("a list");
    let prompts = nodes.iter().find(|node| node["node"] == "prompts").expect("prompts");
    let named = |name: &str| {
        let all = prompts["children"].as_array().expect("a list");
        all.iter().find(|node| node["arguments"][0] == name).expect("a prompt")
    };
    assert_eq!(named("inline")["at"], "project.kdl:7");
    assert_eq!(named("inline")["properties"]["priority"], 8);
    assert_eq!(named("inline")["defaults"], serde_json::json!(["briefing"]));
    assert_eq!(named("filed")["at"], "more/more.kdl:1");
    assert_eq!(named("filed")["properties"]["file"], "more/filed.md");
    assert_eq!(named("filed")["defaults"], serde_json::json!(["priority", "briefing"]));
    assert_eq!(named("off")["properties"]["enabled"], false);
    let generated = |prompt: &str| -> Vec<Value> {
        let children = named(prompt)["children"].as_array().expect("a list").iter();
        let generated = children.filter(|child| child["generated"] == true);
        generated.map(|child| json!([child["node"], child["arguments"]])).collect()
    };
    assert_eq!(generated("inline"), [json!(["summary", ["A text inside the document"]])]);
    assert_eq!(
        generated("filed"),
        [json!(["summary", ["From {{ name }}'s file."]]), json!(["chapters", ["filed"]])]
    );
}

#[test]
fn generated_fields_are_comments() {
    let written = "project small version=\"1.0.0\" epoch=1\n\
                   prompts {\n\
                       prompt a file=\"a.md\"\n\
                       prompt b { summary \"Mine\"; text \"# Two\" }\n\
                       prompt c { chapters Mine; text \"Three. More.\" }\n\
                   }\n";
    let sandbox = Sandbox::of(&[("project.kdl", written), ("a.md", "# One\n\nA text.\n")]);
    sandbox
        .relay("show .")
        .ends(0)
        .prints("// summary (generated): \"A text.\"")
        .prints("// chapters (generated): \"One\"")
        .prints("summary \"Mine\"\n        // chapters (generated): \"Two\"")
        .prints("// summary (generated): \"Three.\"\n        chapters \"Mine\"");
    let inspected =
        |project: &str| sandbox.relay(&format!("inspect {project} --json")).ends(0).silent().json();
    let answer = inspected(".");
    let canonical = answer["canonical"].as_str().expect("a text");
    assert!(!canonical.contains("generated") && !canonical.contains("A text."), "{canonical}");
    assert!(
        canonical.contains("prompt \"a\" priority=5 briefing=#true file=\"a.md\"\n"),
        "{canonical}"
    );
    sandbox.write("canonical.kdl", canonical);
    sandbox.write("output.kdl", &sandbox.relay("show .").ends(0).stdout);
    for again in ["canonical.kdl", "output.kdl"] {
        let again = inspected(again);
        assert_eq!(again["canonical"], answer["canonical"]);
        for (before, after) in
            answer["prompts"].as_array().unwrap().iter().zip(again["prompts"].as_array().unwrap())
        {
            for key in ["summary", "chapters", "generated", "description", "bytes"] {
                assert_eq!(before[key], after[key], "{key}: {before}");
            }
        }
    }
}

/// The contents of a bundle of the project, stripped of places of declarations and of prompts from
/// markdown with front matter, which the language refers to only by folder.
fn given(sandbox: &Sandbox, arguments: &str) -> Value {
    let mut answer = sandbox.relay(&format!("inspect --json {arguments}")).ends(0).json();
    let folders = |prompt: &Value| prompt["at"].as_str().expect("a place").ends_with(".md:1");
    let mut given = serde_json::Map::new();
    for kind in ["prompts", "resources", "templates", "instructions"] {
        let mut things = answer[kind].take();
        if let Some(list) = things.as_array_mut() {
            // Files of agent skills are declared by their folder, or by the output.
            let of_skill = |thing: &Value| {
                thing["uri"].as_str().is_some_and(|uri| uri.starts_with("skill://"))
            };
            list.retain(|thing| !folders(thing) && !of_skill(thing) && thing["name"] != "go");
            list.iter_mut()
                .for_each(|thing| drop(thing.as_object_mut().expect("an object").remove("at")));
        }
        given.insert(kind.into(), things);
    }
    given.into()
}

#[test]
fn the_output_means_the_same() {
    let all = sandbox();
    for environment in ["", "--env production"] {
        let output = all.relay(&format!("show . {environment}")).ends(0).stdout;
        all.write("output.kdl", &output);
        assert_eq!(given(&all, "output.kdl"), given(&all, &format!(". {environment}")), "{output}");
        // Printing the output again changes only the places of declarations.
        let again = all.relay("show output.kdl").ends(0).stdout;
        assert_eq!(without_origins(&again), without_origins(&output));
    }
}

#[test]
fn the_output_of_the_examples_means_the_same() {
    for (name, environment) in [
        ("homelab", ""),
        ("homelab", "--env production"),
        ("minimal", ""),
        ("conformance", ""),
        ("spec-kit", ""),
    ] {
        let sandbox = Sandbox::example(name);
        let output = sandbox.relay(&format!("show {name} {environment}")).ends(0).stdout;
        sandbox.write(&format!("{name}/output.kdl"), &output);
        let has_folder = name == "spec-kit";
        let mut before = given(&sandbox, &format!("{name} {environment}"));
        let mut after = given(&sandbox, &format!("{name}/output.kdl"));
        // The output refers to prompts of folders as files, so their front matter becomes text.
        let names = |given: &Value| -> Vec<String> {
            given["prompts"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|p| p["name"].to_string())
                .collect()
        };
        let kept = names(&before);
        after["prompts"]
            .as_array_mut()
            .expect("a list")
            .retain(|p| kept.contains(&p["name"].to_string()));
        assert!(!kept.is_empty());
        // This also changes the index, which covers summaries and chapters.
        let index = if has_folder { &[][..] } else { &["instructions"] };
        for kind in ["prompts", "resources", "templates"].iter().chain(index) {
            assert_eq!(before[kind].take(), after[kind].take(), "{name} {environment}: {kind}");
        }
    }
}

fn without_origins(output: &str) -> String {
    output
        .lines()
        .filter(|line| !line.trim_start().starts_with("// "))
        .map(|line| line.split("  // ").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn an_environment_switches_a_prompt_off() {
    let sandbox = sandbox();
    let names = |arguments: &str| {
        let prompts = given(&sandbox, arguments)["prompts"].clone();
        let prompts = prompts.as_array().expect("a list").clone();
        prompts.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(names(".").contains(&"taken".to_owned()));
    assert!(!names(". --env production").contains(&"taken".to_owned()));
    let resources =
        |arguments: &str| given(&sandbox, arguments)["resources"].as_array().map(Vec::len);
    assert_eq!((resources("."), resources(". --env production")), (Some(2), Some(1)));
    sandbox.relay("show . --env production").ends(0).prints("prompt \"taken\" enabled=#false");
}

#[test]
fn warnings_are_printed_beside_the_result() {
    let text = "project small version=\"1.0.0\"\nprompts { prompt a { text \"A\" } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", text)]);
    sandbox.relay("show .").ends(0).says("project::no_epoch").prints("epoch=0");
}

#[test]
fn a_gate_has_every_setting_and_its_origin() {
    let text = "project small version=\"1.0.0\" epoch=1\n\
                gate on { tags ask=3; budget (bytes)\"4KiB\" }\ntools { diagnostics }\n\
                messages { read-prompts-reminder \"{{remaining_prompts}}\" }\n\
                prompts { prompt a { summary \"A\"; text \"A\" } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", text)]);
    sandbox
        .relay("show .")
        .ends(0)
        .silent()
        .prints("gate \"on\" hide-tools=#false {  // project.kdl:2; default: hide-tools\n")
        .prints("unlock else=\"intercept\" budget=(bytes)2048  // default: else, budget\n")
        .prints("tags ask=3 max=10  // default: max\n")
        .prints("budget (bytes)4096 remaining=(bytes)4096  // default: remaining\n")
        .prints("diagnostics  // project.kdl:3\n")
        .prints("read-prompts-reminder \"{{remaining_prompts}}\"  // project.kdl:4\n")
        .prints("gate-intercept-preamble \"");
    let answer = sandbox.relay("show . --json").ends(0).json();
    let gate = &answer["nodes"][1];
    assert_eq!(gate["node"], "gate");
    assert_eq!(gate["children"][2]["arguments"][0], 4096);
    let none = text.replace("gate on { tags ask=3; budget (bytes)\"4KiB\" }", "");
    sandbox.write("project.kdl", &none);
    let output = sandbox.relay("show .").ends(0).says("message::idle");
    assert!(output.stdout.contains("\ngate \"off\"  // default: off\n"), "{}", output.stdout);
    assert!(!output.stdout.contains("read-prompts-reminder"), "{}", output.stdout);
}
