//! The briefing for some tags, and how it was selected.

use relay_bundle::Bundle;
use relay_engine::select::{Limits, Tags, select};
use relay_engine::sent::Sent;
use serde_json::{Value, json};

use super::{GATED, explain_of, written};
use crate::cli::{Sandbox, snapshot};

#[test]
fn human_output_of_tags() {
    let texts = |more: &[&str]| {
        let cut = [&["--tags", "Zigbee", "lights ", "mqtt"], more].concat();
        let sent = ["--tags", "vpn", "--sent", "common-mistakes", "--sent", "mesh", "--sent=mesh"];
        let sent = [sent.as_slice(), more].concat();
        let nothing = [&["--tags", "--budget", "0"], more].concat();
        let texts = [cut, sent, nothing]
            .map(|question| explain_of(GATED, &question).ends(0).silent().stdout);
        texts.join("\n====\n")
    };
    snapshot("explain_tags_human", &texts(&[]));
    snapshot("explain_tags_why", &texts(&["--why"]));
}

#[test]
fn sent_selects_read_prompts() {
    let text = |more: &[&str]| {
        let question = [more, &["--tags", "nothing"]].concat();
        explain_of(GATED, &question).ends(0).silent().stdout
    };
    let (begun, read) = (text(&[]), text(&["--sent"]));
    assert!(begun.contains("Never guess."), "{begun}");
    assert!(read.contains("Never guess."), "nothing was sent: {read}");
    assert_ne!(begun, read, "the messages differ");
    let read = text(&["--sent", "common-mistakes"]);
    assert!(read.starts_with("(No further prompt matches these keywords.)"), "{read}");
}

#[test]
fn json_output_of_tags() {
    let question = ["--tags", " Zigbee ", "lights", "zigbee", "", "--sent", "vpn", "--json"];
    let mut answer = explain_of(GATED, &question).ends(0).silent().json();
    let text = answer["text"].take();
    let human = explain_of(GATED, &question[..question.len() - 1]).ends(0).silent().stdout;
    assert_eq!(text.as_str().map(|text| format!("{text}\n")), Some(human));
    assert_eq!(
        answer,
        json!({
            "format_version": 1,
            "gated": true,
            "refused": null,
            "full": ["common-mistakes", "mesh", "lights"],
            "index": ["pairing"],
            "names": [],
            "bytes": 106,
            "hits": [
                { "prompt": "common-mistakes", "tag": "lights", "where": "summary" },
                { "prompt": "common-mistakes", "tag": "lights", "where": "chapter: Lights" },
                { "prompt": "mesh", "tag": "zigbee", "where": "summary" },
                { "prompt": "mesh", "tag": "lights", "where": "chapter: Lights" },
                { "prompt": "lights", "tag": "zigbee", "where": "chapter: Zigbee lights" },
                { "prompt": "lights", "tag": "lights", "where": "name" },
                { "prompt": "lights", "tag": "lights", "where": "summary" },
                { "prompt": "lights", "tag": "lights", "where": "chapter: Zigbee lights" },
                { "prompt": "pairing", "tag": "zigbee", "where": "summary" },
            ],
            "tags": ["zigbee", "lights"],
            "unmatched": [],
            "sent": ["vpn"],
            "budget_bytes": 128,
            "scores": [
                { "prompt": "common-mistakes", "priority": 10, "score": null, "bytes": 12 },
                { "prompt": "mesh", "priority": 7, "score": 14, "bytes": 70 },
                { "prompt": "lights", "priority": 6, "score": 12, "bytes": 24 },
                { "prompt": "pairing", "priority": 4, "score": 4, "bytes": 84 },
            ],
            "cut": { "prompt": "pairing", "bytes": 84, "left": 22 },
            "text": null,
        })
    );
}

#[test]
fn the_worked_examples() {
    let file: Value = serde_json::from_str(include_str!("../../gate/selection.json")).unwrap();
    for example in file["examples"].as_array().unwrap() {
        let project = &file["projects"][example["project"].as_u64().unwrap() as usize];
        let budget = example["budget"].to_string();
        let texts = |key: &str| -> Vec<&str> {
            example[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
        };
        let mut question = vec!["--json", "--budget", &budget];
        texts("sent").iter().for_each(|name| question.extend(["--sent", name]));
        question.push("--tags");
        question.extend(texts("tags"));
        let answer = explain_of(&written(project), &question).ends(0).json();
        for list in ["full", "index", "names"] {
            assert_eq!(answer[list], example[list], "{}: {list}", example["id"]);
        }
        for score in answer["scores"].as_array().unwrap() {
            let expected = &example["scores"][score["prompt"].as_str().unwrap()];
            let expected = if expected == "inf" { &Value::Null } else { expected };
            assert_eq!(score["score"], *expected, "{}: {score}", example["id"]);
        }
    }
}

#[test]
fn unknown_names_are_warned_of() {
    let question = ["--tags", "vpn", "--sent", "vpm", "--sent", "other", "--json"];
    let run = explain_of(GATED, &question).ends(0);
    assert_eq!(
        run.stderr,
        "warning: unknown prompt `vpm` in --sent is ignored\n  help: did you mean `vpn`?\n\
         warning: unknown prompt `other` in --sent is ignored\n  \
         help: list the prompts with `relay describe`\n"
    );
    assert_eq!(run.json()["sent"], json!([]));
    assert_eq!(run.json()["full"], json!(["common-mistakes", "vpn"]));
}

#[test]
fn tags_have_the_limits_of_the_server() {
    let eleven: Vec<String> = (0..11).map(|number| format!("t{number}")).collect();
    let mut question = vec!["--tags"];
    question.extend(eleven.iter().map(String::as_str));
    let rejection = "11 tags are too many: send at most 10, the most specific ones";
    explain_of(GATED, &question).ends(1).silent().prints(&format!("rejected: {rejection}\n"));
    question.push("--json");
    let answer = explain_of(GATED, &question).ends(1).silent().json();
    assert_eq!(answer, json!({ "format_version": 1, "gated": true, "refused": rejection }));
    let three = GATED.replace("gate on {", "gate on {\n    tags ask=2 max=3");
    explain_of(&three, &["--tags", "a", "b", "c"]).ends(0);
    explain_of(&three, &["--tags", "a", "b", "c", "d"]).ends(1).prints("send at most 3");
    let long = "x".repeat(201);
    explain_of(GATED, &["--tags", "a", &long]).ends(1).prints("tag 2 is over 200 characters");
}

#[test]
fn any_budget_is_accepted() {
    let most = u64::MAX.to_string();
    for (budget, full) in [("0", 1), ("12", 1), ("82", 2), (most.as_str(), 4)] {
        let question = ["--tags", "zigbee", "--json", "--budget", budget];
        let answer = explain_of(GATED, &question).ends(0).json();
        assert_eq!(answer["full"].as_array().map(Vec::len), Some(full), "{budget}");
        assert_eq!(answer["budget_bytes"].to_string(), budget);
    }
}

#[test]
fn a_selection_equals_that_of_the_engine() {
    let sandbox = Sandbox::example("homelab");
    sandbox.relay("build homelab --unsigned -o x.relay").ends(0);
    let bundle = Bundle::open(Box::new(sandbox.bytes("x.relay"))).expect("a bundle");
    for (tags, sent, budget) in [
        (vec!["zigbee", "lights", "mqtt", "pairing", "automation"], vec![], 8192),
        (vec!["vpn"], vec!["common-mistakes", "vpn"], 8192),
        (vec!["e"], vec![], 30_000),
        (vec!["backup", "restore"], vec!["stop-rules"], 1),
    ] {
        let indexes =
            sent.iter().map(|name| bundle.find_prompt(name).unwrap().unwrap().index() as u32);
        let limits = Limits { budget_bytes: budget, entries_max: usize::MAX, named_in_full: true };
        let sent_before = Sent::from_indexes(indexes);
        let tags_ = Tags::new(&tags, 10).unwrap();
        let selection =
            select(&crate::support::view(&bundle), &tags_, &sent_before, limits).unwrap();
        let names = |indexes: &[usize]| -> Value {
            indexes.iter().map(|index| bundle.prompt(*index).unwrap().name().unwrap()).collect()
        };
        let budget = budget.to_string();
        let mut question = vec!["explain", "x.relay", "--json", "--budget", &budget];
        sent.iter().for_each(|name| question.extend(["--sent", name]));
        question.push("--tags");
        question.extend(&tags);
        let answer = sandbox.relay_of(&question).ends(0).silent().json();
        assert_eq!(answer["full"], names(&selection.full), "{tags:?}");
        assert_eq!(answer["index"], names(&selection.index), "{tags:?}");
        assert_eq!(answer["names"], names(&selection.names), "{tags:?}");
        assert_eq!(answer["bytes"], selection.bytes, "{tags:?}");
        let all = ["full", "index", "names"].map(|list| answer[list].as_array().unwrap().len());
        let briefed =
            bundle.prompts().filter(|prompt| prompt.as_ref().unwrap().is_briefed()).count();
        assert_eq!(all.iter().sum::<usize>() + sent.len(), briefed, "{tags:?}");
    }
}

#[test]
fn no_line_of_a_selection_is_too_wide() {
    let sandbox = Sandbox::example("homelab");
    for question in ["--why --tags zigbee lights mqtt", "--why --call audit_tail", "--index"] {
        let output = sandbox.relay(&format!("explain homelab {question}")).ends(0).stdout;
        // Text for agents stays unwrapped.
        let ours = output.lines().filter(|line| !line.starts_with("  |"));
        let widest = ours.map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{question}: {output}");
        assert!(!output.contains('\u{1b}'), "colours in a pipe");
    }
}

#[test]
fn wide_letters_count_as_two_columns() {
    let chapters: String = (10..30).map(|number| format!(" \"家電{number}🔥\"")).collect();
    let prompt = format!("prompt a {{ summary \"A\"; chapters{chapters}; text \"Text.\" }}");
    let text = format!("project small version=\"1.0.0\" epoch=1\nprompts {{ {prompt} }}\n");
    let output = explain_of(&text, &["--why", "--tags", "家電"]).ends(0).stdout;
    assert_eq!(output.matches("🔥").count(), 20, "{output}");
    let columns = |line: &str| -> usize {
        line.chars().map(|letter| if "家電🔥".contains(letter) { 2 } else { 1 }).sum()
    };
    assert!(output.lines().all(|line| columns(line) <= 100), "{output}");
    assert!(output.lines().any(|line| columns(line) > 80), "no room is wasted: {output}");
}
