//! `relay explain`: what the server would answer, and why.

use relay_bundle::{Bundle, Tier};
use relay_engine::select::{Limits, Tags, select};
use relay_engine::sent::Sent;
use serde_json::{Value, json};

use crate::bundle::sample;
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
    assert_eq!(answer["index"], json!(["roll"]));
    assert_eq!(answer["omitted"], 0);
    let text = answer["instructions"].as_str().expect("a text");
    assert!(text.ends_with("- roll: Rolls a service out"), "{text}");
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
    // The requested prompt is intact, but the bundle is not.
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
fn options_of_another_question_are_rejected() {
    let questions = ["--prompt=a", "--uri=a:b", "--index", "--tags=a", "--call=a"];
    for (option, without_sense) in [
        ("--arguments={}", vec!["--uri=a:b", "--index", "--tags=a"]),
        ("--sent=a", vec!["--prompt=a", "--uri=a:b", "--index", "--call=a"]),
        ("--no-session", vec!["--prompt=a", "--uri=a:b", "--index", "--tags=a"]),
        ("--budget=1", vec!["--prompt=a", "--uri=a:b", "--index"]),
        ("--why", vec!["--prompt=a", "--uri=a:b", "--index"]),
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
    let file: Value = serde_json::from_str(include_str!("../gate/selection.json")).unwrap();
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

#[test]
fn a_call_without_a_briefing() {
    // The worked example: the tags are the words of the call.
    let file: Value = serde_json::from_str(include_str!("../gate/selection.json")).unwrap();
    let examples = file["examples"].as_array().unwrap();
    let example = examples.iter().find(|example| example["id"] == "S50").unwrap();
    let arguments = r#"{"chain":"vpn","port":443,"briefing":"lights"}"#;
    let call = ["--call", "edge/set_firewall_rule", "--arguments", arguments, "--json"];
    let answer = explain_of(&written(&file["projects"][0]), &call).ends(1);
    let answer = answer.says("does not offer the tool `edge/set_firewall_rule`").json();
    assert_eq!(answer["keywords"], json!(["edge", "firewall", "rule", "vpn"]));
    assert_eq!((&answer["gated"], &answer["text"]), (&json!(false), &json!(null)));
    let decision = ["decision", "tier", "rule", "reason", "at"].map(|key| &answer[key]);
    let unknown = ["reject", "not-offered", "unknown tool"].map(Value::from);
    assert_eq!(decision, [&unknown[0], &json!(0), &unknown[1], &unknown[2], &json!(null)]);
    for list in ["full", "index", "names"] {
        assert_eq!(answer[list], example[list], "{list}");
    }

    let call = ["--call", "audit_tail", "--arguments", r#"{"tool":"lights"}"#];
    let texts = |more: &[&str]| {
        let ask =
            |more: &[&str]| explain_of(GATED, &[&call, more].concat()).ends(0).silent().stdout;
        format!("{}\n====\n{}", ask(more), ask(&[more, &["--no-session"]].concat()))
    };
    snapshot("explain_call_human", &texts(&[]));
    snapshot("explain_call_why", &texts(&["--why"]));
    // The tags of an undeclared tool are printed too, and a call may have no usable word.
    let unknown = explain_of(GATED, &["--why", "--call", "get"]).ends(1);
    let unknown = unknown.says("does not offer the tool `get`").stdout.clone();
    let decision = "decision: reject, tier 0 READ_ONLY\nrule: not-offered: unknown tool\n";
    let start = format!("{decision}keywords of the call: (none)\n");
    assert!(unknown.starts_with(&start), "{unknown}");
}

/// Explains a call to a bundle whose tools have this tier, as no compiler of this version writes it.
fn explain_at(tier: Tier, question: &str) -> Run {
    ask_at(tier, &format!("--call server_info {question}"))
}

/// Asks a question of a bundle whose tools have this tier.
fn ask_at(tier: Tier, question: &str) -> Run {
    let roles = "roles { role reader; role boss tier=3 }\nusers { anyone role=reader }\n";
    let sandbox = Sandbox::of(&[("project.kdl", &format!("{GATED}\n{roles}"))]);
    sandbox.relay("build . --unsigned -o x.relay").ends(0);
    let bundle = Bundle::open(Box::new(sandbox.bytes("x.relay"))).unwrap();
    let mut contents = bundle.contents().unwrap();
    contents.tools.iter_mut().for_each(|tool| tool.tier = tier);
    std::fs::write(sandbox.path("x.relay"), sample::sealed(&contents, &[])).unwrap();
    sandbox.relay(&format!("explain x.relay {question}"))
}

#[test]
fn a_call_is_decided_as_on_a_server() {
    let decided = |tier, question: &str, code| {
        let answer = explain_at(tier, &format!("{question} --json")).ends(code).json();
        let at = answer["at"].as_str().unwrap_or_default().to_owned();
        let of = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let is_briefed = !answer["text"].is_null();
        (of("decision"), answer["tier"].clone(), of("rule"), at, is_briefed)
    };
    let expected = |decision: &str, tier: u8, rule: &str, line: u32, is_briefed| {
        (decision.into(), json!(tier), rule.into(), format!("project.kdl:{line}"), is_briefed)
    };
    let (reader, boss) = ("--role reader", "--role boss");
    let allowed = expected("allow", 0, "read-only", 6, true);
    assert_eq!(decided(Tier::ReadOnly, reader, 0), allowed);
    assert_eq!(decided(Tier::ReadOnly, boss, 0), allowed);
    let over = expected("deny", 2, "role-tier", 15, false);
    assert_eq!(decided(Tier::Stateful, reader, 1), over);
    let no_policy = expected("deny", 2, "no-policy", 6, false);
    assert_eq!(decided(Tier::Stateful, boss, 1), no_policy);

    let denied = explain_at(Tier::Stateful, boss).ends(1).stdout;
    assert_eq!(denied, "[DENIED tier 2 (STATEFUL): no policy allows it]\n");
    let why = explain_at(Tier::Stateful, &format!("--why {boss}")).ends(1).stdout;
    let rule =
        "decision: deny, tier 2 STATEFUL\nrule: no-policy (project.kdl:6): no policy allows it";
    assert!(why.starts_with(rule), "{why}");
    assert!(why.contains("A call that is denied gets no briefing."), "{why}");
}

#[test]
fn the_tools_of_a_role_decide_on_tools_of_other_servers() {
    let sandbox = Sandbox::new();
    let text = "project firm epoch=1
roles { role reader { tools server_info }; role operator { tools \"api-*\" server_info } }
users { anyone role=reader; user ann role=operator }
tools { diagnostics; other \"api-*\" }
skills { global { skill dates \"ISO.\" } }
";
    sandbox.write("project.kdl", text);
    let call =
        |role: &str| sandbox.relay(&format!("explain project.kdl --call api-get --role {role}"));
    call("reader").ends(1).says("this caller does not see it");
    call("operator").ends(1).says("the project does not offer the tool `api-get`");
    let refused = "refused: this caller does not see `api-get`: a server rejects the call";
    let asked =
        |role: &str| sandbox.relay(&format!("explain project.kdl --tool api-get --role {role}"));
    asked("reader").ends(1).prints(refused).prints("skills otherwise: 4 bytes");
    assert!(!asked("operator").ends(0).stdout.contains("does not see"));
}

#[test]
fn a_denied_call_is_noted_beside_its_skills() {
    let refused = "refused: a server denies this call of `server_info`, and gives it no skills: tier 2, no policy allows it";
    ask_at(Tier::Stateful, "--tool server_info --role boss").ends(1).prints(refused);
}

#[test]
fn notes_on_unsent_briefings() {
    let [call, tags] = [["--call", "server_info"], ["--tags", "vpn"]];
    let refusing = GATED.replace("else=intercept budget=(bytes)64", "else=refuse");
    explain_of(&refusing, &call).ends(0).prints("has `unlock else=refuse`, so the call is denied");
    explain_of(GATED, &["--call", "read_prompts"]).ends(0).prints("`read_prompts` is not gated");
    // Without a gate and its tools, no server runs the call.
    for (question, code) in [(call, 1), (tags, 0)] {
        explain_of(PROJECT, &question).ends(code).prints("This project has no gate");
        let output = explain_of(GATED, &question).ends(0).silent().stdout;
        assert!(!output.contains("has no gate"), "{output}");
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
        // Text for agents is not wrapped.
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

const SKILLS: &str = "project small version=\"1.0.0\" epoch=1\n\
    tenants { tenant acme; tenant globex }; tools { other \"api-*\" \"db-read\" }\n\
    skills {\n\
        global {\n\
            skill request-id priority=10 \"Attach a request id to each call.\"\n\
            skill date-format topic=dates \"Write dates as DD/MM/YYYY.\"\n\
        }\n\
        tenant acme {\n\
            skill formats topic=dates \"Dates are ISO 8601.\"\n\
            skill gdpr priority=100 tools=\"api-*\" \"Mask personal data.\"\n\
        }\n\
        user \"john@acme.example\" { skill brief tenant=globex \"Be brief.\" }\n\
    }\n";

fn explain_skills(question: &[&str]) -> Run {
    let sandbox = Sandbox::of(&[("project.kdl", SKILLS)]);
    sandbox.relay("build . --unsigned").ends(0);
    sandbox.relay_of(&[&["explain", "small.relay"], question].concat()).silent()
}

#[test]
fn human_output_of_skills() {
    let john = "john@acme.example";
    let known = ["--tenant", "acme", "--tool", "db-read", "--user", john];
    let unknown = ["--tenant", "acm", "--tool", "api-create", "--user", "jon@acme.example"];
    let page = [(0, &known[..]), (1, &unknown[..]), (0, &["--user", john])]
        .map(|(code, question)| explain_skills(question).ends(code).stdout)
        .join("\n");
    snapshot("explain_cascade_human", &page);
}

#[test]
fn json_output_of_skills() {
    let answer = explain_skills(&["--tenant", "acme", "--tool", "db-read", "--json"]).ends(0);
    let answer = answer.json();
    let text = "Attach a request id to each call.\nDates are ISO 8601.";
    assert_eq!(answer["resolved_context"], text);
    assert_eq!(
        answer["trace"],
        json!([
            { "level": "global", "skill": "request-id", "priority": 10, "matched": true, "at": "project.kdl:5" },
            { "level": "global", "skill": "date-format", "priority": 50, "matched": true, "overridden_by": "formats", "at": "project.kdl:6" },
            { "level": "tenant", "skill": "formats", "priority": 50, "matched": true, "at": "project.kdl:9" },
            { "level": "tool", "skill": null, "matched": false },
            { "level": "user", "skill": null, "matched": false },
        ])
    );
    assert_eq!(
        answer["near_misses"],
        json!([{
            "level": "tenant", "skill": "gdpr", "priority": 100, "at": "project.kdl:10",
            "failed": { "selector": "tool", "wants": ["api-*"], "got": "db-read" },
        }])
    );
    assert_eq!(answer["notes"], json!([]));
}

#[test]
fn a_question_about_skills_is_asked_alone() {
    explain_skills_of("--tags x --tool y").ends(2).says("does not go together with");
    explain_skills_of("--tool y --budget 3").ends(2).says("does not go together with");
    explain_skills_of("").ends(2).says("needs a question");
}

fn explain_skills_of(question: &str) -> Run {
    Sandbox::of(&[("project.kdl", SKILLS)]).relay(&format!("explain . {question}"))
}
