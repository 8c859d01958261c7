//! `docs/server.md`: its examples are loaded as they are.

use std::fs;

use harness::{Process, run};
use relay_bundle::envelope::key_id;
use relay_bundle::trust::{PublicKey, Trust};

use super::auth;
use super::house::{self, House};
use super::server::bare;
use crate::bundle::sample::{self, key};
use crate::support::root;

/// The example of one of the two files, and the tables that describe its keys.
struct File {
    example: String,
    tables: String,
}

fn file(name: &str) -> File {
    let page = fs::read_to_string(root().join("docs/server.md")).unwrap();
    let (_, section) = page.split_once(&format!("\n## {name}\n")).expect("a section of the file");
    let section = section.split("\n## ").next().unwrap();
    let (_, rest) = section.split_once("```toml\n").expect("an example");
    let (example, tables) = rest.split_once("```\n").expect("its end");
    File { example: example.to_owned(), tables: tables.to_owned() }
}

/// The example of `trust.toml` with test keys in the place of the invented ones.
fn trust_of_test_keys() -> String {
    let mut number = 0;
    let mut lines = Vec::new();
    for line in file("trust.toml").example.lines() {
        number += u8::from(line.starts_with("[[keys]]"));
        let public = || key(number).verifying_key();
        lines.push(match line.split_once(" = ") {
            Some(("public", _)) => format!("public = \"{}\"", PublicKey(public())),
            Some(("id", _)) => format!("id = \"{}\"", key_id(&public())),
            // The last key is the one that is revoked.
            Some(("keys", _)) => format!("keys = [\"{}\"]", key_id(&public())),
            _ => line.to_owned(),
        });
    }
    lines.join("\n")
}

/// A project with the tenants and the role that the example of `server.toml` names.
const PROJECT: &str = r#"
project house epoch=42
tenants { tenant acme; tenant initech; tenant globex }
roles { role developer }
users {
    group "acme:dev" role=developer tenant=acme
    user "alice@example.com" role=developer tenant=acme
}
prompts { prompt hello { text "Hello." } }
"#;

/// A house with the files that the example of `server.toml` names.
fn house(signers: &[u8], trust: &str) -> House {
    let house = House::of(&sample::sealed(&house::contents_of(PROJECT), signers));
    house.write("server.toml", file("server.toml").example);
    house.write("trust.toml", trust);
    house.write("jwks.json", auth::jwks(7));
    // Nothing answers at the URL of the example.
    house.write("globex-ca.pem", include_bytes!("tls/authority.pem"));
    house.write("briefing.key", "42".repeat(32));
    house.write("ssh_config", "Host box\n HostName 10.0.0.1\n");
    house.write("hosts.json", "{}");
    fs::create_dir(house.path("tls")).unwrap();
    house.write("tls/cert.pem", include_bytes!("tls/cert.pem"));
    house.write("tls/key.pem", include_bytes!("tls/key.pem"));
    house
}

const ARGUMENTS: [&str; 5] = ["house.relay", "--config", "server.toml", "--http", "127.0.0.1:0"];

#[test]
fn the_examples_serve() {
    let house = house(&[2, 3], &trust_of_test_keys());
    let mut server = Process::start(bare(&house, &ARGUMENTS));
    let log = server.hear("/mcp\n");
    assert!(log.contains(" at https://127.0.0.1:"), "{log}");
    server.signal("TERM");
    assert_eq!(server.wait().code, Some(0));
    for name in ["audit.jsonl", "state/epochs"] {
        assert!(house.path(name).exists(), "{name}");
    }
}

#[test]
fn the_example_of_trust_is_enforced() {
    for (signers, trust, reason) in [
        (&[2, 3][..], file("trust.toml").example, "0 of 2 signatures"),
        (&[2], trust_of_test_keys(), "1 of 2 signatures"),
        (&[1, 3], trust_of_test_keys(), "key has expired"),
        (&[2, 4], trust_of_test_keys(), "key is revoked"),
    ] {
        let ended = run(bare(&house(signers, &trust), &ARGUMENTS));
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(reason), "{reason}: {}", ended.stderr);
    }
}

#[test]
fn the_examples_have_every_key() {
    let trust: Trust = toml::from_str(&file("trust.toml").example).expect("a trust file");
    assert_eq!(trust.check(), Ok(()));
    for (name, least) in [("server.toml", 40), ("trust.toml", 10)] {
        let File { example, tables } = file(name);
        let example: toml::Table = example.parse().unwrap();
        let mut table = Some(example.clone());
        let mut count = 0;
        for line in tables.lines() {
            if let Some(heading) = line.strip_prefix("### ") {
                let path = heading.trim_matches(['`', '[', ']']).split('.');
                let start = example.clone();
                table = path.into_iter().try_fold(start, |table, key| inner(&table[key]));
            } else if let Some(key) = line.strip_prefix("| `") {
                let (key, meaning) = key.split_once('`').unwrap();
                let has_it = table.as_ref().is_some_and(|table| table.contains_key(key));
                assert!(has_it, "{name} lacks {key}");
                assert!(!meaning.ends_with("|  |"), "{name}: {key} has no meaning");
                count += 1;
            }
        }
        assert!(count >= least, "{name}: only {count} keys were found");
    }
}

/// A table, or all keys of several: some exclude each other.
fn inner(value: &toml::Value) -> Option<toml::Table> {
    let several = value.as_array().into_iter().flatten().filter_map(toml::Value::as_table);
    let all = value.as_table().into_iter().chain(several);
    let keys: toml::Table = all.flat_map(toml::Table::clone).collect();
    (!keys.is_empty()).then_some(keys)
}
