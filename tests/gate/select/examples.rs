//! The worked examples that fix how selection is read.

use relay_engine::select::{Score, Tags, score, select};
use relay_engine::sent::Sent;
use serde_json::Value;

use super::{all, bundle, names, prompt};
use crate::bundle::sample;

#[test]
fn the_examples_give_the_expected_selection() {
    let file: Value = serde_json::from_str(include_str!("../selection.json")).unwrap();
    let examples = file["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 13);
    for example in examples {
        let project = &file["projects"][example["project"].as_u64().unwrap() as usize];
        check(project, example);
    }
}

fn check(project: &Value, example: &Value) {
    let what = format!("{}: {}", example["id"], example["title"]);
    let bundle = bundle(project.as_array().unwrap().iter().map(read).collect());
    let tags = Tags::new(&texts(&example["tags"]), 10).unwrap();
    let index = |name: &String| Some(bundle.find_prompt(name).unwrap()?.index() as u32);
    let sent = Sent::from_indexes(texts(&example["sent"]).iter().filter_map(index));
    let budget = example["budget"].as_u64().unwrap() as usize;

    let selection = select(&crate::support::view(&bundle), &tags, &sent, all(budget)).unwrap();
    for (list, indexes) in
        [("full", &selection.full), ("index", &selection.index), ("names", &selection.names)]
    {
        assert_eq!(names(&bundle, indexes), texts(&example[list]), "{what}: {list}");
    }
    for (name, expected) in example["scores"].as_object().unwrap() {
        let prompt = bundle.find_prompt(name).unwrap().unwrap();
        let expected = expected.as_u64().map(|points| points as usize);
        assert_eq!(score(&prompt, &tags).map(Score::points), Ok(expected), "{what}: {name}");
    }
}

fn read(of: &Value) -> relay_bundle::Prompt {
    let text = |key: &str| of[key].as_str();
    let priority = of["priority"].as_u64().unwrap() as u8;
    let bytes = of["body_bytes"].as_u64().unwrap_or_default() as usize;
    let mut prompt = prompt(text("name").unwrap(), priority, text("summary"), bytes);
    prompt.chapters = texts(&of["chapters"]).into_iter().map(sample::made).collect();
    if let Some(body) = text("body") {
        prompt.body = sample::made(body.into());
    }
    prompt
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
