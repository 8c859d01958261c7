use serde_json::json;

use super::super::{MARKER, SCAN_CHARS_MAX, redacted, redacted_json};

#[test]
fn values_of_secret_keys_are_hidden_whatever_their_type() {
    let given = json!({
        "password": "hunter2",
        "apiKey": 12345,
        "client_secret": {"a": ["b"]},
        "tokens": ["a", "b"],
        "secrets": {"a": "b"},
        "DB_PASSWORD": "$PASSWORD",
        "token": true,
        "AWS_SECRET_ACCESS_KEY": ["x"],
        "Authorization": "Basic x",
        "Proxy-Authorization": "Bearer ${env:TOKEN}",
        "Cookie": "a=b",
        "credential": null,
        "passwd": "",
        "PWD": "/home/bob",
        "max_tokens": 4096,
        "next_token": "x",
        "command": "mysql -phunter2 -u root",
        "list": ["curl -u bob:hunter2 x", 1, {"secret": 1}],
        "name": "x"
    });
    let expected = json!({
        "password": MARKER,
        "apiKey": MARKER,
        "client_secret": MARKER,
        "tokens": MARKER,
        "secrets": MARKER,
        "DB_PASSWORD": MARKER,
        "token": MARKER,
        "AWS_SECRET_ACCESS_KEY": MARKER,
        "Authorization": "Basic [redacted]",
        "Proxy-Authorization": "Bearer ${env:TOKEN}",
        "Cookie": MARKER,
        "credential": null,
        "passwd": "",
        "PWD": "/home/bob",
        "max_tokens": 4096,
        "next_token": "x",
        "command": "mysql -p[redacted] -u root",
        "list": ["curl -u bob:[redacted] x", 1, {"secret": MARKER}],
        "name": "x"
    });
    assert_eq!(redacted_json(&given), expected);
    assert_eq!(redacted_json(&expected), expected);
}

#[test]
fn pairs_of_names_and_values_are_hidden() {
    let given = json!([{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "A", "value": "b"}]);
    let expected = json!([{"name": "DB_PASSWORD", "value": MARKER}, {"name": "A", "value": "b"}]);
    assert_eq!(redacted_json(&given), expected);
}

#[test]
fn keys_that_are_secrets_are_hidden_and_every_entry_stays() {
    let key = |end: &str| format!("ghp_x7Qm2WpL9ZtK4bXc8Lp1Vy6Rk3Nd5Hf0J{end}");
    let given = json!({key("aa"): 1, key("bb"): 2});
    let redacted = redacted_json(&given);
    let text = redacted.to_string();
    assert!(!text.contains("ghp_"), "{text}");
    assert_eq!(redacted.as_object().map(serde_json::Map::len), Some(2), "{text}");
    assert_eq!(redacted_json(&redacted), redacted);
}

#[test]
fn a_text_that_is_an_object_is_redacted_as_one() {
    for (text, expected) in [
        (r#"{"DB_PASSWORD": 12345}"#, r#"{"DB_PASSWORD":"[redacted]"}"#),
        (r#"{"DB_PASSWORD": ["a", "b"], "A": "c"}"#, r#"{"DB_PASSWORD":"[redacted]","A":"c"}"#),
        (r#"{"secrets": {"a": "b"}}"#, r#"{"secrets":"[redacted]"}"#),
        (r#" {"A": "b", "PASSWORD": "hunter2"} "#, r#" {"A": "b", "PASSWORD": "[redacted]"} "#),
        (r#"{"A": "mysql -phunter2"}"#, r#"{"A": "mysql -p[redacted]"}"#),
        (r#"{"A": "{\"password\": [\"x\"]}"}"#, r#"{"A": "{\"password\": [redacted]}"}"#),
    ] {
        let found = redacted(text);
        assert_eq!(found, expected, "{text}");
        assert_eq!(redacted(&found), found);
    }
}

#[test]
fn deep_values_are_replaced() {
    let deep = (0..100).fold(json!("hunter2"), |inner, _| json!([inner]));
    let redacted = redacted_json(&deep);
    assert!(!redacted.to_string().contains("hunter2"));
    assert_eq!(redacted_json(&redacted), redacted);
}

#[test]
fn a_long_text_is_cut_with_a_mark() {
    let long = format!("{} password=hunter2", "a ".repeat(SCAN_CHARS_MAX));
    let found = redacted(&long);
    assert_eq!(found.chars().count(), SCAN_CHARS_MAX);
    assert!(found.ends_with('…') && !found.contains("hunter2"));
    assert_eq!(redacted(&found), found);
    // Marks make a text longer: it is cut again.
    let many = "token=x ".repeat(SCAN_CHARS_MAX / 8);
    let found = redacted(&many);
    assert!(found.chars().count() <= SCAN_CHARS_MAX, "{}", found.chars().count());
    assert!(!found.contains("token=x") && found.starts_with("token=[redacted] token="));
    assert_eq!(redacted(&found), found);
}

#[test]
fn a_secret_that_the_cut_splits_is_hidden() {
    for secret in [
        "password=Hq7ZtW2mKx9",
        "--password 'Hq7ZtW2mKx9 and more'",
        "https://bob:Hq7ZtW2mKx9@host/",
        "https://Hq7ZtW2mKx9Hq7Zt@host/",
        "ghp_Hq7ZtW2mKx9Hq7ZtW2mKx9Hq7ZtW2mKx9Hq7ZtW2mKx9",
        "AKIAHQ7ZTW2MKX9HQ7ZT",
        "eyJHq7ZtW2mKx9Hq7ZtW2mKx9.eyJHq7ZtW2mKx9Hq7ZtW2mKx9.Hq7ZtW2mKx9",
        "Authorization: Basic Hq7ZtW2mKx9",
        "curl -u bob:Hq7ZtW2mKx9",
        "-----BEGIN PRIVATE KEY-----\nHq7ZtW2mKx9Hq7ZtW2mKx9Hq7ZtW2mKx9Hq7ZtW2mKx9",
    ] {
        let start = secret.to_lowercase().find("hq7").unwrap();
        for shown in start + 3..secret.len() {
            let before = SCAN_CHARS_MAX - 1 - shown;
            let text = format!("{}\n{secret}", "x".repeat(before - 1));
            let found = redacted(&text);
            let tail: String = found.chars().skip(before - 1).collect();
            assert!(!tail.to_lowercase().contains("hq7"), "{secret:?} at {shown}: {tail:?}");
            assert_eq!(redacted(&found), found);
        }
    }
}
