//! `skills/list` in the usual form is answered without rmcp, and any other request for it by rmcp: the
//! answers are the same. The two forms are those of `direct`.

use serde_json::{Value, json};

use super::agent_skills::{contents, house};
use super::auth::{config, key};
use super::direct::{compared, compared_lines};
use super::house::{House, SIGNER};
use super::server::{Client, MODERN, modern};
use super::web::{Request, Web};
use crate::bundle::sample;

/// The agent skills; each has files enough that a page holds a few.
const SKILLS: usize = 12;

/// Agent skills for all and one for a tenant. The front matter has its keys in any order, and values of all
/// kinds.
fn skills(project: &str) -> House {
    let mut files = vec![(
        "of-acme/ledger/SKILL.md".to_owned(),
        "---\nname: ledger\ndescription: Books.\n---\nText.\n".to_owned(),
    )];
    for number in 0..SKILLS {
        let name = format!("skill-{number:02}");
        let folder = format!("skills/{name}");
        let front = match number % 3 {
            0 => format!("name: {name}\ndescription: Part {number}.\nlicense: MIT"),
            1 => format!("license: \"«MIT» \\\"x\\\"\"\ndescription: Part {number}.\nname: {name}"),
            _ => format!(
                "metadata: {{ ratio: 0.1, big: 1e300, all: [1, true, null, \"a/b\"] }}\nname: {name}\ndescription: Part."
            ),
        };
        files.push((format!("{folder}/SKILL.md"), format!("---\n{front}\n---\nText.\n")));
        for file in 0..12 {
            files.push((format!("{folder}/references/{file} é.md"), format!("File {file}.\n")));
        }
    }
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    house(project, &files)
}

const PROJECT: &str = r#"project skills epoch=1
tenants { tenant acme; tenant globex }
prompts {
    agent-skills "skills"
    agent-skills "of-acme" { for tenant=acme }
}
"#;

/// Returns the URIs of a page, and the cursor of the next.
fn page(answer: &Value) -> (Vec<String>, Option<String>) {
    let skills = answer["result"]["skills"].as_array().expect("skills");
    let uris = skills.iter().map(|skill| skill["uri"].as_str().expect("a URI").to_owned());
    (uris.collect(), answer["result"]["nextCursor"].as_str().map(str::to_owned))
}

/// Returns a line that asks with these parameters, and the same in a form that is rmcp's.
fn both(params: &Value) -> [String; 2] {
    let mut other = params.clone();
    match other.get_mut("_meta") {
        Some(_) => other["further"] = json!(1),
        None => other["_meta"] = json!({}),
    }
    [params, &other].map(|params| {
        json!({ "jsonrpc": "2.0", "id": 7, "method": "skills/list", "params": params }).to_string()
    })
}

#[test]
fn lists_over_stdio_are_answered_as_by_rmcp() {
    let house = skills(PROJECT);
    for (is_session, tenant) in [(true, "acme"), (true, "globex"), (false, "acme")] {
        let mut client = match is_session {
            true => Client::legacy(&house, &["--tenant", tenant, "--audit", "audit.jsonl"]),
            false => Client::start(&house, &["--tenant", tenant, "--audit", "audit.jsonl"]),
        };
        // The first request is rmcp's: it chooses the lifecycle.
        client.get("prompts/list", if is_session { json!({}) } else { modern(json!({})) });
        let params = |cursor: Value| match is_session {
            true => json!({ "cursor": cursor }),
            false => modern(json!({ "cursor": cursor })),
        };
        let mut ask = |params: Value| {
            let [usual, other] = both(&params);
            compared_lines(&house, &mut client, [&usual, &other])
        };
        let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let (uris, next) = page(&ask(params(cursor)));
            seen.extend(uris);
            pages += 1;
            match next {
                Some(next) => cursor = json!(next),
                None => break,
            }
        }
        assert!(pages > 1);
        assert_eq!(seen.len(), SKILLS + usize::from(tenant == "acme"), "{seen:?}");
        let first = ask(params(json!("")));
        assert_eq!(page(&first).0, seen[..page(&first).0.len()]);
        for unknown in ["x", "0000000000000000.1"] {
            let answer = ask(params(json!(unknown)));
            assert!(answer.get("error").is_some(), "{unknown}: {answer}");
        }
        // rmcp ignores a cursor of another type.
        for other in [json!(1), json!([])] {
            assert_eq!(ask(params(other)), first);
        }
    }
}

#[test]
fn requests_without_parameters_are_answered_as_by_rmcp() {
    let house = skills(PROJECT);
    let mut client = Client::legacy(&house, &["--audit", "audit.jsonl"]);
    let [_, by_rmcp] = both(&json!({}));
    let request =
        |rest: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"method":"skills/list"{rest}}}"#);
    for rest in ["", r#","params":{}"#, r#","params":{"cursor":null}"#] {
        let answer = compared_lines(&house, &mut client, [&request(rest), &by_rmcp]);
        assert!(!page(&answer).0.is_empty(), "{answer}");
    }
}

#[test]
fn lists_over_http_are_answered_as_by_rmcp() {
    let house = skills(PROJECT);
    let ann = key("ann", "secret-of-ann", "tenant = \"acme\"");
    house.write("server.toml", config(&[ann]));
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    let list = |params: &Value| Request::modern("skills/list", params.clone());
    let first = compared(&house, &web, "the first page", || list(&json!({}))).json();
    let (uris, next) = page(&first);
    assert!(!uris.is_empty());
    assert_eq!(first["result"]["cacheScope"], "private", "{first}");
    let second = compared(&house, &web, "the next", || list(&json!({ "cursor": next }))).json();
    assert!(!page(&second).0.is_empty());
    for params in [
        json!({ "cursor": "" }),
        json!({ "cursor": "x" }),
        json!({ "cursor": 1 }),
        json!({ "cursor": null }),
        json!({ "name": "deploy" }),
        json!({ "arguments": {} }),
    ] {
        compared(&house, &web, &params.to_string(), || list(&params));
    }
    for (name, value) in [
        ("Mcp-Name", "deploy"),
        ("Mcp-Name", ""),
        ("Mcp-Method", "prompts/get"),
        ("Mcp-Method", "skills/get"),
        ("MCP-Protocol-Version", "2025-06-18"),
    ] {
        let what = format!("{name}: {value}");
        compared(&house, &web, &what, || list(&json!({})).with(name, value));
    }
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"skills/list"}"#;
    compared(&house, &web, "no parameters", || {
        Request::message(&json!({}))
            .with("MCP-Protocol-Version", MODERN)
            .with("Mcp-Method", "skills/list")
            .body(bare)
    });
}

/// A signer could write JSON in several lines, of which one is a message to the client.
#[test]
fn front_matter_in_several_lines_is_refused() {
    let file = "---\nname: one\ndescription: Of one line.\n---\nText.\n";
    let project = "project skills epoch=1\nprompts { agent-skills \"skills\" }\n";
    let mut contents = contents(project, &[("skills/one/SKILL.md", file)]);
    let message = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
    let front = format!("{{\"name\":\"one\",\"description\":\"x\",\"more\":\n{message}\n}}");
    contents.agent_skills[0].frontmatter = front;
    let house = House::of(&sample::sealed(&contents, &[SIGNER]));
    let mut client = Client::legacy(&house, &["--audit", "audit.jsonl"]);
    let [usual, other] = both(&json!({}));
    let answer = compared_lines(&house, &mut client, [&usual, &other]);
    assert!(answer.get("error").is_some(), "{answer}");
}
