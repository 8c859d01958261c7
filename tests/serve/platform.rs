//! `examples/platform` and `docs/skills.md`: what they show is what servers answer.

use std::fs;

use relay_compiler::Options;
use serde_json::{Value, json};

use super::house::{self, House, SIGNER};
use super::web::{Request, Web};
use crate::bundle::sample;
use crate::support::{Memory, compiled, contents, root};

#[test]
fn the_two_callers_of_the_example_see_their_own() {
    let folder = root().join("examples/platform");
    let files = Memory::folder(&folder);
    let (project, report) = compiled(&files, "project.kdl", &Options::default());
    let house = House::of(&sample::sealed(&contents(&project).expect(&report), &[SIGNER]));

    let settings = fs::read_to_string(folder.join("server.toml")).expect("server.toml");
    // The hashes in the example are of no key.
    let key = house::sha256(b"s");
    let lines = settings.lines().map(|line| match line.strip_prefix("sha256 = \"0000") {
        Some(_) => format!("sha256 = \"{key}\""),
        None => line.to_owned(),
    });
    let settings = lines.collect::<Vec<_>>().join("\n");
    assert_eq!(settings.matches(&key).count(), 2);
    house.write("server.toml", &settings);
    let web = Web::start(&house, &["--config", "server.toml"]);
    let readme = fs::read_to_string(folder.join("README.md")).expect("README.md");
    for (who, seen, hidden) in
        [("john", "acme-contract", "globex-contract"), ("tom", "globex-contract", "acme-contract")]
    {
        assert!(readme.contains(who));
        let names = |method: &str, list: &str| -> Vec<String> {
            let request = Request::modern(method, json!({}))
                .with("Authorization", &format!("Bearer rk_{who}_s"));
            let answer = web.send(&request).json();
            let items = answer["result"][list].as_array().cloned().unwrap_or_default();
            items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
        };
        let prompts = names("prompts/list", "prompts");
        assert!(prompts.iter().any(|name| name == seen), "{who}: {prompts:?}");
        assert!(prompts.iter().all(|name| name != hidden), "{who}: {prompts:?}");
        let sees_the_audit = names("tools/list", "tools").iter().any(|name| name == "audit_tail");
        assert_eq!(sees_the_audit, who == "john", "trainees have fewer tools than operators");
    }

    // The issuers that are commented out are written as servers take them.
    let issuers = settings.lines().skip_while(|line| !line.starts_with("# [[auth.jwt]]"));
    let issuers: Vec<&str> =
        issuers.map(|line| line.trim_start_matches('#').trim_start()).collect();
    house.write("server.toml", format!("{settings}\n{}\n", issuers.join("\n")));
    house.write("acme-jwks.json", super::auth::jwks(7));
    house.write("globex-jwks.json", super::tokens::Signer::rsa().jwks());
    drop(Web::start(&house, &["--config", "server.toml"]));
}

#[test]
fn the_block_in_the_document_is_what_a_call_gets() {
    let page = fs::read_to_string(root().join("docs/skills.md")).expect("docs/skills.md");
    let block = |begin: &str| {
        let (_, rest) = page.split_once(begin).expect("a block");
        rest.split("```").next().expect("its text").to_owned()
    };
    let project = format!("project orders {}", block("```kdl\nproject orders "));
    let shown: Value = serde_json::from_str(&block("```json\n")).expect("JSON");
    let house = House::of(&house::bundle_of(&project));
    house.write("server.toml", "[principal]\nid = \"john@acme.example\"\ntenant = \"acme\"\n");
    let web = Web::start(&house, &["--config", "server.toml"]);
    let call = json!({ "name": "server_info", "arguments": {} });
    let answer = web.send(&Request::modern("tools/call", call)).json();
    assert_eq!(answer["result"]["content"][0], shown);
}
