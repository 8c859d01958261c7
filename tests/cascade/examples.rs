//! The worked examples that fix how the cascade is read.

use relay_bundle::{Level, Skill};
use relay_engine::cascade::{Question, TraceRow, resolve};
use serde_json::{Value, json};

use super::bundle;
use crate::bundle::sample;

#[test]
fn the_examples_give_the_expected_texts_and_traces() {
    let file: Value = serde_json::from_str(include_str!("examples.json")).unwrap();
    let examples = file["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 16);
    for example in examples {
        let what = format!("{}: {}", example["id"], example["title"]);
        let skills = example["skills"].as_array().unwrap().iter();
        // A disabled skill is left out of bundles.
        let enabled = skills.filter(|skill| skill["enabled"] != json!(false));
        let bundle = bundle(enabled.map(read).collect(), &["api-create"]);
        let asked = &example["question"];
        let question = Question {
            tenant: asked["tenant"].as_str(),
            tool: asked["tool"].as_str(),
            user: asked["user"].as_str(),
        };
        let resolution = resolve(&bundle, question).unwrap();
        assert_eq!(json!(resolution.text().unwrap()), example["text"], "{what}");
        let trace: Vec<Value> = resolution.trace().unwrap().into_iter().map(row).collect();
        assert_eq!(json!(trace), example["trace"], "{what}");
    }
}

fn read(of: &Value) -> Skill {
    let text = |key: &str| of[key].as_str().map(|text| sample::made(text.to_owned()));
    let level = serde_json::from_value::<Level>(of["level"].clone()).unwrap();
    Skill {
        priority: sample::made(of["priority"].as_u64().unwrap() as u8),
        topic: text("topic"),
        tenant: text("tenant"),
        tools: text("tool").into_iter().collect(),
        user: text("user"),
        text: text("text").unwrap(),
        ..sample::skill(of["name"].as_str().unwrap(), level)
    }
}

fn row(TraceRow { level, skill }: TraceRow) -> Value {
    let mut row = json!({ "level": level, "skill": null, "matched": skill.is_some() });
    if let Some(skill) = skill {
        row["skill"] = json!(skill.name);
        row["priority"] = json!(skill.priority);
        if let Some(winner) = skill.overridden_by {
            row["overridden_by"] = json!(winner);
        }
    }
    row
}
