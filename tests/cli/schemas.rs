//! All JSON output conforms to its schema, with exactly its keys.

use std::fs;

use regex::Regex;
use serde_json::{Map, Value};

use crate::cli::Sandbox;
use crate::support::root;

#[test]
fn every_answer_conforms() {
    let sandbox = Sandbox::example("homelab");
    sandbox.relay("keygen -o ci").ends(0);
    let trust = sandbox.relay("keygen -o other").ends(0).stdout;
    sandbox.write("trust.toml", &trust);
    sandbox.write("empty.kdl", "project empty version=\"1.0.0\"\n");
    sandbox.write("empty/CLAUDE.md", "Run the tests.\n");
    sandbox.write("wrong.kdl", "project wrong version=\"1.0.0\"\npromts\n");
    let table = [
        ("build", 0, "build homelab --key ci.key -o x.relay --format json"),
        ("build", 0, "build empty.kdl --unsigned -o empty.relay --format json"),
        ("build", 1, "build wrong.kdl --unsigned --format json"),
        ("check", 0, "check homelab --format json"),
        ("check", 1, "check wrong.kdl --format json"),
        ("test", 0, "test homelab --json"),
        ("rules", 0, "rules --json"),
        ("rules", 0, "rules front_matter::no_description --json"),
        ("facts", 0, "facts --json"),
        ("facts", 0, "facts git push --json"),
        ("show", 0, "show homelab --json"),
        ("show", 0, "show homelab --env production --json"),
        ("inspect", 0, "inspect x.relay --json"),
        ("inspect", 0, "inspect x.relay --trust trust.toml --json"),
        ("inspect", 0, "inspect empty.kdl --json"),
        ("describe", 0, "describe x.relay --json"),
        ("describe", 0, "describe empty.relay --json"),
        ("trust-list", 0, "trust list trust.toml --json"),
        ("import", 0, "import empty --dry-run --json"),
        ("export", 0, "export command x.relay -o exported --json"),
        ("verify", 1, "verify x.relay --trust trust.toml --json"),
        ("explain-cascade", 0, "explain x.relay --tenant acme --tool audit_tail --json"),
        ("explain-index", 0, "explain x.relay --index --json"),
        ("explain-selection", 0, "explain x.relay --tags zigbee vpn --budget 5000 --json"),
        ("explain-selection", 0, "explain x.relay --tags --sent vpn --json"),
        ("explain-selection", 0, "explain x.relay --call audit_tail --json"),
        ("explain-selection", 0, "explain empty.relay --tags zigbee --json"),
        ("explain-selection", 1, "explain x.relay --tags a b c d e f g h i j k --json"),
        ("explain-prompt", 0, "explain x.relay --prompt change-review --json"),
        (
            "explain-prompt",
            0,
            "explain x.relay --prompt rollout --arguments {\"service\":\"x\"} --json",
        ),
        ("explain-prompt", 1, "explain x.relay --prompt rollout --json"),
        ("explain-uri", 0, "explain x.relay --uri relay://homelab/rooms/kitchen --json"),
        ("explain-uri", 0, "explain x.relay --uri relay://homelab/icon --json"),
        ("explain-uri", 1, "explain x.relay --uri relay://homelab/rooms/mars --json"),
    ];
    for (schema, code, line) in table {
        let answer = sandbox.relay(line).ends(code).json();
        assert_conforms(schema, &answer);
        assert_eq!(answer["format_version"], 1, "relay {line}");
    }
}

#[test]
fn a_rejection_has_only_a_reason() {
    let sandbox = Sandbox::example("minimal");
    let refused = sandbox.relay("explain minimal --prompt unknown --json").ends(1).json();
    let keys: Vec<_> = refused.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["format_version", "prompt", "refused"]);
    let sent = sandbox.relay("explain minimal --prompt commit-rules --json").ends(0).json();
    let mut every: Vec<_> =
        schema("explain-prompt")["properties"].as_object().unwrap().keys().cloned().collect();
    // Only a prompt that others see has it.
    every.retain(|key| key != "hidden");
    assert_eq!(sent.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), every);
}

#[test]
fn the_check_itself_finds_errors() {
    let good = Sandbox::example("minimal").relay("check minimal --format json").ends(0).json();
    assert_eq!(violations("check", &good), [""; 0]);
    let with = |name: &str, value: Value| {
        let mut answer = good.clone();
        answer[name] = value;
        violations("check", &answer)
    };
    assert_eq!(with("surplus", Value::Null), [".surplus is not in the schema"]);
    assert_eq!(with("errors", "none".into()), [".errors is not integer"]);
    let mut answer = good.clone();
    answer.as_object_mut().unwrap().remove("errors");
    assert_eq!(violations("check", &answer), [".errors is missing"]);
    assert_eq!(with("errors", serde_json::json!(-1)), [".errors is beyond the minimum 0"]);
    assert!(!with("diagnostics", serde_json::json!([{ "code": 1 }])).is_empty());
}

/// Asserts that `answer` conforms to `schemas/NAME.json`.
#[track_caller]
pub(super) fn assert_conforms(name: &str, answer: &Value) {
    let violations = violations(name, answer);
    assert!(
        violations.is_empty(),
        "does not conform to schemas/{name}.json:\n{}",
        violations.join("\n")
    );
}

fn schema(name: &str) -> Value {
    let path = root().join(format!("schemas/{name}.json"));
    serde_json::from_slice(&fs::read(path).expect("a schema")).expect("JSON")
}

fn violations(name: &str, answer: &Value) -> Vec<String> {
    let root = schema(name);
    let mut violations = Vec::new();
    check(&root, &root, answer, "", &mut violations);
    violations
}

/// Checks the keywords of JSON Schema that our schemas use, and panics at any other keyword.
fn check(root: &Value, schema: &Value, value: &Value, at: &str, violations: &mut Vec<String>) {
    // `true` accepts any value.
    let Some(keywords) = schema.as_object() else { return };
    let keywords = &merged(root, keywords);
    for (keyword, rule) in keywords {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" => {}
            "type" => {
                let named = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                if !named.iter().any(|name| is_of(name.as_str().expect("a type"), value)) {
                    let names: Vec<_> = named.iter().map(|name| name.as_str().unwrap()).collect();
                    violations.push(format!("{at} is not {}", names.join(" or ")));
                }
            }
            "properties" => members(root, keywords, value, at, violations),
            "required" => {
                for name in rule.as_array().expect("a list") {
                    let name = name.as_str().expect("a name");
                    if value.is_object() && value.get(name).is_none() {
                        violations.push(format!("{at}.{name} is missing"));
                    }
                }
            }
            // The meaning of a missing value.
            "default" => {}
            // Checked together with the properties.
            "additionalProperties" => {}
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}[{index}]"), violations);
                }
            }
            "pattern" => {
                let pattern = Regex::new(rule.as_str().expect("a pattern")).expect("a pattern");
                if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
                    violations.push(format!("{at} does not match {rule}"));
                }
            }
            "const" if rule != value => violations.push(format!("{at} is not {rule}")),
            "const" => {}
            "minItems" | "maxItems" => {
                let limit = rule.as_u64().expect("a number");
                let is_beyond = |items: &Vec<Value>| match keyword.as_str() {
                    "minItems" => (items.len() as u64) < limit,
                    _ => (items.len() as u64) > limit,
                };
                if value.as_array().is_some_and(is_beyond) {
                    violations.push(format!("{at} is beyond the {keyword} {rule}"));
                }
            }
            "minimum" | "maximum" => {
                let limit = rule.as_f64().expect("a number");
                let is_beyond = |number: f64| match keyword.as_str() {
                    "minimum" => number < limit,
                    _ => number > limit,
                };
                if value.as_f64().is_some_and(is_beyond) {
                    violations.push(format!("{at} is beyond the {keyword} {rule}"));
                }
            }
            "oneOf" | "anyOf" => {
                let fits = |choice: &&Value| {
                    let mut violations = Vec::new();
                    check(root, choice, value, at, &mut violations);
                    violations.is_empty()
                };
                let fitting = rule.as_array().expect("a list").iter().filter(fits).count();
                if fitting == 0 || (keyword == "oneOf" && fitting > 1) {
                    violations.push(format!("{at} fits {fitting} of the choices: {value}"));
                }
            }
            other => panic!("the check does not know the keyword `{other}`"),
        }
    }
}

fn members(
    root: &Value,
    keywords: &Map<String, Value>,
    value: &Value,
    at: &str,
    violations: &mut Vec<String>,
) {
    let known = keywords["properties"].as_object().expect("an object");
    let is_open = keywords.get("additionalProperties").is_some_and(|rule| rule != false);
    for (name, member) in value.as_object().into_iter().flatten() {
        match known.get(name) {
            Some(schema) => check(root, schema, member, &format!("{at}.{name}"), violations),
            None if is_open => {}
            None => violations.push(format!("{at}.{name} is not in the schema")),
        }
    }
}

/// Returns the keywords of a schema, merged with those of the schema it references.
fn merged(root: &Value, keywords: &Map<String, Value>) -> Map<String, Value> {
    let mut keywords = keywords.clone();
    let Some(reference) = keywords.remove("$ref") else { return keywords };
    let path =
        reference.as_str().and_then(|path| path.strip_prefix('#')).expect("a path in the file");
    let referred = root.pointer(path).and_then(Value::as_object).expect("a schema");
    for (keyword, rule) in merged(root, referred) {
        match (keywords.get_mut(&keyword), rule) {
            (Some(Value::Object(own)), Value::Object(theirs)) => own.extend(theirs),
            (Some(Value::Array(own)), Value::Array(theirs)) => own.extend(theirs),
            (Some(_), _) => {}
            (None, rule) => {
                keywords.insert(keyword, rule);
            }
        }
    }
    keywords
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("the check does not know the type `{other}`"),
    }
}
