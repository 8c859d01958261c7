//! Agent skills over MCP: the lists of the skills extension, their files, and what legacy clients get.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use relay_bundle::{Bundle, Contents};
use relay_compiler::Options;
use relay_engine::agent_skill::{self, Child};
use relay_engine::view::View;
use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, text};
use super::house::{House, sha256};
use crate::bundle::sample;
use crate::shipped;
use crate::support::{self, Memory, compiled};

const PROJECT: &str = r#"project skills epoch=1
tenants { tenant acme; tenant globex }
prompts {
    agent-skills "skills"
    agent-skills "of-acme" { for tenant=acme }
}
"#;

const DEPLOY: &str = "---\nname: deploy\ndescription: Deploys a service. Use it for releases.\nmetadata:\n  owner: platform\n  area: delivery\nlicense: MIT\ncompatibility: Any.\n---\n# Deploy\n\nRun `scripts/run.sh` for $ARGUMENTS.\n";

/// The contents of a project with these files.
pub(super) fn contents(project: &str, files: &[(&str, &str)]) -> Contents {
    let mut all = Memory::of(files);
    all.0.insert("project.kdl".into(), project.as_bytes().to_vec());
    let (compiled, report) = compiled(&all, "project.kdl", &Options::default());
    support::contents(&compiled).unwrap_or_else(|| panic!("{report}"))
}

fn bundle(project: &str, files: &[(&str, &str)]) -> Vec<u8> {
    sample::sealed(&contents(project, files), &[super::house::SIGNER])
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}.\n---\nText of {name}.\n")
}

/// A server's folder with a bundle of these files.
pub(super) fn house(project: &str, files: &[(&str, &str)]) -> House {
    let house = House::of(&bundle(project, files));
    house.write("server.toml", "");
    house
}

fn example() -> House {
    let pdf = skill("pdf");
    let secret = skill("ledger");
    house(
        PROJECT,
        &[
            ("skills/deploy/SKILL.md", DEPLOY),
            ("skills/deploy/scripts/run.sh", "#!/bin/sh\r\necho hi\r\n"),
            ("skills/deploy/scripts/lib/a b#1.sh", "true\n"),
            // Its name is decomposed, as macOS writes it.
            ("skills/deploy/scripts/u\u{308}ber.sh", "true\n"),
            ("skills/docs/pdf/SKILL.md", &pdf),
            ("of-acme/ledger/SKILL.md", &secret),
        ],
    )
}

fn uris(answer: &Value, list: &str) -> Vec<String> {
    let items = answer[list].as_array().unwrap();
    items.iter().map(|item| item["uri"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn hosts_list_and_read_agent_skills() {
    let house = example();
    for protocol in PROTOCOLS {
        let mut agent = Agent::with(&house, protocol, &["--tenant", "globex"]);
        let list = agent.get("skills/list", json!({}));
        assert_eq!(uris(&list, "skills"), ["skill://deploy/SKILL.md", "skill://docs/pdf/SKILL.md"]);
        let deploy = &list["skills"][0];
        // The keys have the order of the file.
        let frontmatter = json!({
            "name": "deploy",
            "description": "Deploys a service. Use it for releases.",
            "metadata": { "owner": "platform", "area": "delivery" },
            "license": "MIT",
            "compatibility": "Any.",
        });
        assert_eq!(deploy["frontmatter"].to_string(), frontmatter.to_string());
        let got = agent.get("skills/get", json!({ "uri": "skill://deploy/SKILL.md" }));
        assert_eq!(&got["skill"], deploy);
        assert_eq!(
            uris(deploy, "resources"),
            [
                "skill://deploy/SKILL.md",
                "skill://deploy/scripts/lib/a%20b%231.sh",
                "skill://deploy/scripts/run.sh",
                "skill://deploy/scripts/über.sh",
            ]
        );
        for file in deploy["resources"].as_array().unwrap() {
            let read = agent.get("resources/read", json!({ "uri": file["uri"] }));
            let text = read["contents"][0]["text"].as_str().unwrap();
            assert_eq!(file["size"], json!(text.len()), "{file}");
            assert_eq!(file["digest"], json!(format!("sha256:{}", sha256(text.as_bytes()))));
        }
        let mut children = |uri: &str| {
            let answer = agent.get("resources/directory/read", json!({ "uri": uri }));
            let of = |item: &Value| {
                let text = |key: &str| item[key].as_str().unwrap().to_owned();
                (text("uri"), text("mimeType"))
            };
            answer["resources"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
        };
        let pair = |uri: &str, mime: &str| (uri.to_owned(), mime.to_owned());
        assert_eq!(
            children("skill://deploy"),
            [
                pair("skill://deploy/SKILL.md", "text/markdown"),
                pair("skill://deploy/scripts", "inode/directory"),
            ]
        );
        assert_eq!(
            children("skill://deploy/scripts"),
            [
                pair("skill://deploy/scripts/lib", "inode/directory"),
                pair("skill://deploy/scripts/run.sh", "text/plain"),
                pair("skill://deploy/scripts/über.sh", "text/plain"),
            ]
        );
        let folder = |uri: &str| ("resources/directory/read", json!({ "uri": uri }));
        let skill = |uri: &str| ("skills/get", json!({ "uri": uri }));
        for (method, params) in [
            folder("skill://deploy/SKILL.md"),
            folder("skill://deploy/"),
            folder("skill://docs"),
            folder("skill://ledger"),
            folder("skill://"),
            skill("skill://nowhere/SKILL.md"),
            // It is another tenant's.
            skill("skill://ledger/SKILL.md"),
        ] {
            let (code, message) = agent.rejected(method, params.clone());
            assert_eq!(code, -32602, "{method} {params}: {message}");
            assert!(message.starts_with("unknown "), "{message}");
        }
        let (code, _) = agent.rejected("skills/list", json!({ "cursor": "0.1" }));
        assert_eq!(code, -32602);
        let prompt = agent
            .get("prompts/get", json!({ "name": "deploy", "arguments": { "arguments": "api" } }));
        assert_eq!(
            prompt["messages"][0]["content"]["text"],
            json!("# Deploy\n\nRun `scripts/run.sh` for api.\n")
        );
    }
}

/// Records name the URI of the bundle, never the spelling that a caller typed.
#[test]
fn equivalent_uris_find_the_same_folders() {
    let house = example();
    for protocol in PROTOCOLS {
        let mut agent =
            Agent::with(&house, protocol, &["--tenant", "globex", "--audit", "spelled.jsonl"]);
        for (method, uri, spellings) in [
            (
                "resources/directory/read",
                "skill://deploy/scripts",
                ["skill://DEPLOY/%73cripts", "skill://deploy/./scripts"],
            ),
            ("resources/directory/read", "skill://deploy", ["Skill://deploy", "skill://%64eploy"]),
        ] {
            let expected = agent.get(method, json!({ "uri": uri }));
            for spelled in spellings {
                assert_eq!(agent.get(method, json!({ "uri": spelled })), expected, "{spelled}");
            }
        }
        // The library refuses an answer in another spelling than the request, so the skill is unknown by it.
        let (code, _) = agent.rejected("skills/get", json!({ "uri": "SKILL://Deploy/SKILL.md" }));
        assert_eq!(code, -32602);
        // It is another tenant's.
        for spelled in ["skill://LEDGER/SKILL.md", "skill://%6Cedger/SKILL.md"] {
            agent.rejected("skills/get", json!({ "uri": spelled }));
        }
        agent.rejected("resources/directory/read", json!({ "uri": "skill://Ledger" }));
    }
    let labels: BTreeSet<String> = house
        .read("spelled.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["tool"].as_str().unwrap().into())
        .filter(|label: &String| label.contains("skill:"))
        .collect();
    let expected = [
        "directory:resource:skill://deploy",
        "directory:resource:skill://deploy/scripts",
        "directory:resource:skill://ledger",
        "manifest:resource:skill://ledger/SKILL.md",
    ];
    assert_eq!(labels, expected.map(str::to_owned).into());
}

#[test]
fn readers_of_the_prompt_are_those_of_the_agent_skill() {
    let house = example();
    let mut acme =
        Agent::with(&house, PROTOCOLS[1], &["--tenant", "acme", "--audit", "audit.jsonl"]);
    let ledger = "skill://ledger/SKILL.md";
    assert!(uris(&acme.get("skills/list", json!({})), "skills").contains(&ledger.to_owned()));
    acme.get("skills/get", json!({ "uri": ledger }));
    acme.get("resources/directory/read", json!({ "uri": "skill://ledger" }));
    acme.rejected("skills/get", json!({ "uri": "skill://a/SKILL.md" }));
    acme.rejected("skills/get", json!({ "uri": 7 }));
    let mut globex = Agent::with(&house, PROTOCOLS[1], &["--tenant", "globex"]);
    for uri in [ledger, "skill://ledger"] {
        globex.rejected("resources/read", json!({ "uri": uri }));
    }
    let records = house.read("audit.jsonl");
    let labels: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["tool"].take())
        .collect();
    for label in [
        "manifest:resource:skill://ledger/SKILL.md",
        "directory:resource:skill://ledger",
        "manifest:resource:unknown",
        "manifest:unknown",
    ] {
        assert!(labels.contains(&json!(label)), "{label}: {labels:?}");
    }
}

#[test]
fn a_briefing_lists_the_agent_skills_that_match() {
    let pdf = skill("pdf");
    let files = [("skills/deploy/SKILL.md", DEPLOY), ("skills/pdf/SKILL.md", &pdf)];
    let project = "project gated epoch=1\ngate on\nprompts { agent-skills \"skills\" }\n";
    let house = house(project, &files);
    for protocol in PROTOCOLS {
        let mut agent = Agent::with(&house, protocol, &[]);
        let briefing = text(&agent.call("begin_session", json!({ "tags": ["releases"] })));
        let listed = "Agent skill `deploy`: Deploys a service. Use it for releases.\nBefore you do this, read the resource skill://deploy/SKILL.md.";
        assert!(briefing.contains(listed), "{briefing}");
        assert!(!briefing.contains("Run `scripts"), "{briefing}");
        assert!(!briefing.contains("Agent skill `pdf`"), "{briefing}");
        let more = text(&agent.call("read_prompts", json!({ "tags": ["pdf"] })));
        assert!(more.contains("Agent skill `pdf`: About pdf."), "{more}");
    }
}

#[test]
fn a_client_without_agent_skills_is_told_of_none() {
    let house = House::new();
    house.write("server.toml", "");
    let mut agent = Agent::new(&house, PROTOCOLS[1]);
    let about = agent.get("server/discover", json!({}));
    assert!(about["capabilities"]["extensions"].is_null(), "{about}");
    assert_eq!(agent.rejected("skills/list", json!({})).0, -32601);
}

#[test]
fn a_long_list_has_pages_and_no_entry_is_split() {
    let files: Vec<(String, String)> = (0..120)
        .flat_map(|number| {
            let name = format!("skill-{number:03}");
            let folder = format!("skills/{name}");
            let files =
                (0..20).map(move |file| (format!("{folder}/files/{file}.md"), "x".to_owned()));
            [(format!("skills/{name}/SKILL.md"), skill(&name))].into_iter().chain(files)
        })
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let project = "project many epoch=1\nprompts { agent-skills \"skills\" }\n";
    let house = house(project, &files);
    let mut agent = Agent::new(&house, PROTOCOLS[1]);
    let (mut cursor, mut found, mut pages) = (None, Vec::new(), 0);
    loop {
        let params = cursor.map_or(json!({}), |cursor: String| json!({ "cursor": cursor }));
        let page = agent.get("skills/list", params);
        for skill in page["skills"].as_array().unwrap() {
            assert_eq!(skill["resources"].as_array().unwrap().len(), 21);
            found.push(skill["uri"].as_str().unwrap().to_owned());
        }
        pages += 1;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(found.len(), 120);
    assert!(found.is_sorted() && pages > 2, "{pages} pages");
}

/// Returns the direct children of each folder of a set of paths, by the simplest way.
fn naive(paths: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<String>> {
    let mut children: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in paths {
        for (end, _) in path.match_indices('/') {
            let rest = &path[end + 1..];
            let name = rest.split('/').next().unwrap_or_default();
            let child = format!("{}/{name}", &path[..end]);
            children.entry(path[..end].to_owned()).or_default().insert(child);
        }
    }
    children
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Names around `/` in the order of bytes, and folders with more children than a page.
    #[test]
    fn folders_have_the_children_of_the_naive_model(
        paths in prop::collection::btree_set("[ab!0~]{1,2}(/[ab!0~.]{1,2}x){0,3}", 1..40),
        wide in 0..250usize,
    ) {
        let is_file = |path: &&String| {
            let folder = format!("{path}/");
            !paths.iter().any(|other| other.starts_with(&folder))
        };
        let mut files: Vec<(String, String)> = paths
            .iter()
            .filter(is_file)
            .map(|path| (format!("skills/s/{path}"), "x".to_owned()))
            .collect();
        files.extend((0..wide).map(|number| (format!("skills/s/wide/{number}"), "x".to_owned())));
        files.push(("skills/s/SKILL.md".to_owned(), skill("s")));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let project = "project tree epoch=1\nprompts { agent-skills \"skills\" }\n";
        let bundle: Bundle = sample::open(&bundle(project, &files)).unwrap();
        prop_assert_eq!(relay_compiler::mismatches(&bundle, shipped::facts()).unwrap(), Vec::new());
        let view = View::of_audience(&bundle, 0).unwrap();
        let all: BTreeSet<String> = bundle
            .resources()
            .map(|resource| resource.unwrap().uri().unwrap()["skill://".len()..].to_owned())
            .collect();
        let expected = naive(&all);
        for (folder, children) in &expected {
            let uri = format!("skill://{folder}");
            let (mut found, mut first) = (Vec::new(), Some(0));
            while let Some(from) = first {
                let page = agent_skill::children(&view, &uri, from).unwrap().unwrap().children;
                prop_assert!(page.items.len() <= 100);
                found.extend(page.items.iter().map(|child| match child {
                    Child::File(file) => file.uri().unwrap()["skill://".len()..].to_owned(),
                    Child::Folder(uri) => uri["skill://".len()..].to_owned(),
                }));
                first = page.next;
            }
            prop_assert_eq!(found.len(), children.len());
            prop_assert_eq!(&found.into_iter().collect::<BTreeSet<_>>(), children);
        }
        for file in &all {
            let uri = format!("skill://{file}");
            prop_assert!(agent_skill::children(&view, &uri, 0).unwrap().is_none());
        }
    }
}
