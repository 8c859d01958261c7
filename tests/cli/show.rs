//! `relay show`: the effective project, with every default and where it came from.

use serde_json::Value;

use crate::cli::{Sandbox, snapshot};

/// A project with one of everything that can be shown.
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
            file "more/filed.md"
            file "raw.md.j2" template=#false
            image "dot.png"
        }
        message role=assistant {
            resource "relay://small/page"
            resource "relay://of/{{ name }}" mime="text/x-own" template=#false { text "{{ not a slot }}" }
        }
    }
    prompt excused {
        allow-secret aws-access-key because="an example of the vendor's own manual"
        text "AKIAIOSFODNN7EXAMPLE"
    }
    prompt off enabled=#false
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
        ("more/more.kdl", "prompts { prompt filed file=\"filed.md\" }\n"),
        ("more/filed.md", "From {{ name }}'s file.\n"),
        ("commands/go.md", "---\ndescription: Goes\n---\nGo to $ARGUMENTS.\n"),
    ]);
    std::fs::write(sandbox.path("dot.png"), b"\x89PNG\r\n\x1a\n").expect("a file");
    sandbox
}

#[test]
fn for_people() {
    snapshot("show_human", &sandbox().relay("show .").ends(0).silent().stdout);
}

#[test]
fn for_programs() {
    let answer = sandbox().relay("show . --json").ends(0).silent().json();
    let nodes = answer["nodes"].as_array().expect("a list");
    let prompts = nodes.iter().find(|node| node["node"] == "prompts").expect("prompts");
    let named = |name: &str| {
        let all = prompts["children"].as_array().expect("a list");
        all.iter().find(|node| node["arguments"][0] == name).expect("a prompt")
    };
    assert_eq!(named("inline")["at"], "project.kdl:7");
    assert_eq!(named("inline")["properties"]["priority"], 8);
    assert_eq!(named("inline")["defaults"], serde_json::json!([]));
    assert_eq!(named("filed")["at"], "more/more.kdl:1");
    assert_eq!(named("filed")["properties"]["file"], "more/filed.md");
    assert_eq!(named("filed")["defaults"], serde_json::json!(["priority"]));
    assert_eq!(named("off")["properties"]["enabled"], false);
}

/// What a bundle of the project gives an agent; where it was declared is left out, and so is what
/// comes from markdown with front matter, which the language names by its folder alone.
fn given(sandbox: &Sandbox, arguments: &str) -> Value {
    let mut answer = sandbox.relay(&format!("inspect --json {arguments}")).ends(0).json();
    let folders = |prompt: &Value| prompt["at"].as_str().expect("a place").ends_with(".md:1");
    let mut given = serde_json::Map::new();
    for kind in ["prompts", "resources", "templates", "instructions"] {
        let mut things = answer[kind].take();
        if let Some(list) = things.as_array_mut() {
            list.retain(|thing| !folders(thing) && thing["name"] != "go");
            list.iter_mut()
                .for_each(|thing| drop(thing.as_object_mut().expect("an object").remove("at")));
        }
        given.insert(kind.into(), things);
    }
    given.into()
}

#[test]
fn what_is_shown_means_the_same() {
    let all = sandbox();
    for environment in ["", "--env production"] {
        let shown = all.relay(&format!("show . {environment}")).ends(0).stdout;
        all.write("shown.kdl", &shown);
        assert_eq!(given(&all, "shown.kdl"), given(&all, &format!(". {environment}")), "{shown}");
        // Showing what is shown changes nothing but where it stands.
        let again = all.relay("show shown.kdl").ends(0).stdout;
        assert_eq!(without_origins(&again), without_origins(&shown));
    }
}

#[test]
fn the_examples_mean_the_same_too() {
    for (name, environment) in [
        ("homelab", ""),
        ("homelab", "--env production"),
        ("minimal", ""),
        ("conformance", ""),
        ("spec-kit", ""),
    ] {
        let sandbox = Sandbox::example(name);
        let shown = sandbox.relay(&format!("show {name} {environment}")).ends(0).stdout;
        sandbox.write(&format!("{name}/shown.kdl"), &shown);
        let mut before = given(&sandbox, &format!("{name} {environment}"));
        let mut after = given(&sandbox, &format!("{name}/shown.kdl"));
        // Prompts of folders are named by their file, whose front matter then counts as text.
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
        for kind in ["prompts", "resources", "templates", "instructions"] {
            assert_eq!(before[kind].take(), after[kind].take(), "{name} {environment}: {kind}");
        }
    }
}

fn without_origins(shown: &str) -> String {
    shown
        .lines()
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
fn what_is_doubtful_is_told_beside_the_result() {
    let text = "project small version=\"1.0.0\"\nprompts { prompt a { text \"A\" } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", text)]);
    sandbox.relay("show .").ends(0).says("project::no_epoch").prints("epoch=0");
}
