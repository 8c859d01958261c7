//! Every text carries the place where it was written, so that a review can annotate the line that
//! changed, rather than that of the declaration, or of the base where an environment has a text of
//! its own.

use std::collections::BTreeMap;

use relay_bundle::{Contents, Place, Setting};
use relay_compiler::Options;

use crate::support::{Memory, compiled, contents};

const PROJECT: &str = r#"project demo version="1.0.0" epoch=1 {
    title "Demo"
}
include "more.kdl"
gate on {
    tags ask=3
}
messages {
    session-greeting file="greeting.md"
    gate-encouragement "Look again: {{remaining_prompts}}"
}
prompts {
    prompt inline priority=7 {
        summary "A summary"
        chapters One Two
        text "The text of it."
    }
    prompt rollout file="rollout.md.j2" {
        arg service required=#true
        arg environment default=staging {
            one-of staging production
        }
    }
    prompt talk {
        message role=user {
            text "Look at this:"
            image file="a.png"
        }
        message role=assistant {
            resource "relay://runbook"
        }
    }
    folder "prompts"
}
resources {
    resource "relay://runbook" title="Runbook" {
        text "Sleep."
    }
    resource "relay://rooms/{room}" template=#true {
        arg room
        text "In {{ room }}."
    }
}
"#;

fn demo() -> (Contents, BTreeMap<String, String>) {
    let texts = [
        ("project.kdl", PROJECT),
        ("more.kdl", "tools {\n    diagnostics\n}\n"),
        ("greeting.md", "Hello from a file.\n"),
        (
            "rollout.md.j2",
            "{% if environment == 'staging' %}Try{% else %}Roll out{% endif %} {{ service }}\n",
        ),
        ("a.png", "PNG"),
        ("prompts/night.md", "---\ndescription: What to do\npriority: 4\n---\nSleep well.\n"),
    ];
    let (compiled, report) = compiled(&Memory::of(&texts), "project.kdl", &Options::default());
    let texts = texts.map(|(path, text)| (path.to_owned(), text.to_owned()));
    (contents(&compiled).expect(&report), texts.into())
}

#[test]
fn every_text_and_setting_has_its_own_place() {
    let (contents, files) = demo();
    // The text from a place on, as far as it is looked at.
    let text_at = |at: &Place| -> String {
        let line = files[&at.file].lines().nth(at.line as usize - 1).expect("a line");
        line.chars().skip(at.column as usize - 1).collect()
    };
    let check = |what: &str, at: &Place, file: &str, begins: &str| {
        assert_eq!(at.file, file, "{what}");
        assert!(text_at(at).starts_with(begins), "{what} at {at}: {}", text_at(at));
    };
    fn written<T>(setting: &Setting<T>) -> Place {
        setting.at.clone().expect("it was written")
    }

    let Contents { manifest, messages, gate, tools, prompts, resources, templates, .. } = &contents;
    check("name", &written(&manifest.project), "project.kdl", "demo version");
    check("version", &written(manifest.version.as_ref().unwrap()), "project.kdl", "\"1.0.0\"");
    check("title", &written(manifest.title.as_ref().unwrap()), "project.kdl", "\"Demo\"");

    let gate = gate.as_ref().expect("a gate");
    check("tags", gate.tags_ask.at.as_ref().unwrap(), "project.kdl", "3");
    assert_eq!(gate.tags_max.at, None, "a default has no place");
    check("tool", &tools[0].at, "project.kdl", "gate on");
    check("tool", &tools[2].at, "more.kdl", "diagnostics");
    let greeting = messages.session_greeting.at.as_ref().unwrap();
    check("message of a file", greeting, "greeting.md", "Hello");
    let encouragement = messages.gate_encouragement.at.as_ref().unwrap();
    check("message", encouragement, "project.kdl", "\"Look again: ");
    assert_eq!(messages.read_prompts_reminder.at, None, "it is built in");

    let prompt = |name: &str| prompts.iter().find(|prompt| prompt.name == name).expect("a prompt");
    let inline = prompt("inline");
    check("prompt", &inline.at, "project.kdl", "inline");
    check("priority", inline.priority.at.as_ref().unwrap(), "project.kdl", "7");
    check("summary", &written(inline.summary.as_ref().unwrap()), "project.kdl", "\"A summary\"");
    check("chapter", &written(&inline.chapters[1]), "project.kdl", "Two");
    check("body", &written(&inline.body), "project.kdl", "\"The text of it.\"");

    let rollout = prompt("rollout");
    check("body of a file", &written(&rollout.body), "rollout.md.j2", "{% if");
    for variant in &rollout.rendering.variants {
        check("part of a file", &variant[0].parts[0].at, "rollout.md.j2", "{% if");
    }
    check("argument", &rollout.rendering.arguments[1].at, "project.kdl", "environment");

    let [user, assistant] = &prompt("talk").rendering.variants[0][..] else { panic!("two") };
    check("message", &user.at, "project.kdl", "message role=user");
    check("text", &user.parts[0].at, "project.kdl", "\"Look at this:\"");
    check("image", &user.parts[1].at, "project.kdl", "\"a.png\"");
    check("message", &assistant.at, "project.kdl", "message role=assistant");
    check("resource", &assistant.parts[0].at, "project.kdl", "\"relay://runbook\"");

    let night = prompt("night");
    check("body after front matter", &written(&night.body), "prompts/night.md", "Sleep well.");
    let description = written(night.description.as_ref().unwrap());
    check("description", &description, "prompts/night.md", "What to do");
    check("priority", night.priority.at.as_ref().unwrap(), "prompts/night.md", "4");
    assert_eq!(night.summary.as_ref().unwrap().at, None, "it was made of the text");

    check("content", resources[0].content.at.as_ref().unwrap(), "project.kdl", "\"Sleep.\"");
    check("title", &written(resources[0].title.as_ref().unwrap()), "project.kdl", "\"Runbook\"");
    assert_eq!(resources[0].mime.at, None, "a default has no place");
    let part = &templates[0].rendering.variants[0][0].parts[0];
    check("content of a template", &part.at, "project.kdl", "\"In {{ room }}.\"");
    check("variable", &templates[0].rendering.arguments[0].at, "project.kdl", "room");
}
