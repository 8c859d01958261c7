//! A record as an event of CEF (version 0) or LEEF (version 2.0), one line each.
//!
//! The file itself stays the chained JSON: these forms have room for a part of the record.

use std::fmt::Write as _;

use relay_engine::invisible;
use serde_json::{Map, Value};

/// The vendor, the product and the version in headers.
const VENDOR: &str = "relay";
const PRODUCT: &str = "relay";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The delimiter of attributes in LEEF, a tab, as its header names it.
const LEEF_DELIMITER: &str = "x09";
/// The severities of CEF and LEEF for the tiers, from 0 to 10; a denied request has one more.
const SEVERITIES: [u8; 4] = [1, 3, 5, 8];

/// Returns a record as a line of the Common Event Format.
pub(super) fn cef(record: &Map<String, Value>) -> String {
    let header = [VENDOR, PRODUCT, VERSION, &text(record, "tool"), &text(record, "action")];
    let header: String = header.into_iter().map(|it| header_text(it, '|') + "|").collect();
    let mut line = format!("CEF:0|{header}{}|", severity(record));
    let mut labelled = 0;
    for (name, value) in attributes(record) {
        let value = escaped(&value, '=');
        let key = match name.as_str() {
            "ts" => "rt",
            "principal" => "suser",
            "request_id" => "externalId",
            "rule" => "reason",
            "action" => "act",
            "tenant" => "destinationServiceName",
            _ => "",
        };
        if key.is_empty() {
            // CEF has six named texts; each further one has a key of its own.
            labelled += 1;
            let space = separator(&line);
            _ = match labelled {
                1..=6 => write!(
                    line,
                    "{space}cs{labelled}Label={} cs{labelled}={value}",
                    escaped(&name, '=')
                ),
                _ => write!(line, "{space}relay{}={value}", camel(&name)),
            };
        } else {
            _ = write!(line, "{}{key}={value}", separator(&line));
        }
    }
    line
}

/// Returns a record as a line of the Log Event Extended Format.
pub(super) fn leef(record: &Map<String, Value>) -> String {
    let header = [VENDOR, PRODUCT, VERSION, &text(record, "tool"), LEEF_DELIMITER];
    let header: String = header.into_iter().map(|it| header_text(it, '|') + "|").collect();
    let mut line = format!("LEEF:2.0|{header}sev={}", severity(record));
    for (name, value) in attributes(record) {
        let key = match name.as_str() {
            "ts" => "devTime",
            "principal" => "usrName",
            "action" => "cat",
            "rule" => "reason",
            other => other,
        };
        // Keys are letters and digits; a tab in a value would end it.
        _ = write!(line, "\t{}={}", camel_from(key), escaped(&value, '\t'));
    }
    line.push_str("\tdevTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSX");
    line
}

/// Returns the separator before an attribute; empty after the header.
fn separator(line: &str) -> &'static str {
    if line.ends_with('|') { "" } else { " " }
}

/// Returns the attributes of a record; lists and objects as JSON.
fn attributes(record: &Map<String, Value>) -> impl Iterator<Item = (String, String)> {
    let is_given = |value: &Value| !value.is_null();
    record.iter().filter(move |(_, value)| is_given(value)).map(|(name, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (name.clone(), text)
    })
}

fn text(record: &Map<String, Value>, name: &str) -> String {
    record.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn severity(record: &Map<String, Value>) -> u8 {
    let tier = record.get("tier").and_then(Value::as_u64).unwrap_or_default();
    let tier = usize::try_from(tier).unwrap_or_default();
    let denied = record.get("denied").and_then(Value::as_bool).unwrap_or_default();
    SEVERITIES.get(tier).copied().unwrap_or(1) + u8::from(denied)
}

/// Escapes a text of a header, in which `special` and a line end would end a field.
fn header_text(text: &str, special: char) -> String {
    escaped_by(text, special, " ")
}

/// Escapes a value; line feeds are written as `\n`.
fn escaped(text: &str, special: char) -> String {
    escaped_by(text, special, "\\n")
}

fn escaped_by(text: &str, special: char, line_feed: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // A collector may show an event on a terminal, which obeys what is invisible.
    for letter in invisible::visible(text).chars() {
        match letter {
            '\n' => out.push_str(line_feed),
            '\r' if line_feed == " " => out.push(' '),
            '\r' => out.push_str("\\r"),
            '\t' if special == '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            letter if letter == special => out.extend(['\\', letter]),
            letter => out.push(letter),
        }
    }
    out
}

/// Returns a name of a record such as `output_len` as `OutputLen`.
fn camel(name: &str) -> String {
    let parts = name.split(['_', '-']);
    parts
        .flat_map(|part| {
            let mut letters = part.chars();
            letters.next().map(|it| it.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .filter(char::is_ascii_alphanumeric)
        .collect()
}

/// Returns a name such as `output_len` as `outputLen`.
fn camel_from(name: &str) -> String {
    let camel = camel(name);
    let mut letters = camel.chars();
    letters.next().map(|it| it.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(tool: &str, rule: &str) -> Map<String, Value> {
        let record = serde_json::json!({
            "ts": "2027-01-31T10:00:00.000Z", "tool": tool, "tier": 2, "denied": true,
            "args": { "command": "a|b=c" }, "exit_code": null, "principal": "ann", "rule": rule,
            "action": "refused", "output_len": 3, "seq": 7,
        });
        record.as_object().expect("an object").clone()
    }

    #[test]
    fn cef_escapes_pipes_in_the_header_and_equals_signs_in_values() {
        let line = cef(&record("a|b\\c\nd", "x=y|z\\\nnext\tend"));
        assert!(line.starts_with("CEF:0|relay|relay|"), "{line}");
        assert!(line.contains("|a\\|b\\\\c d|refused|6|rt=2027-01-31T10:00:00.000Z "), "{line}");
        assert!(line.contains(" reason=x\\=y|z\\\\\\nnext\tend "), "{line}");
        assert!(line.contains("cs4={\"command\":\"a|b\\=c\"}"), "{line}");
        assert!(!line.contains('\n') && !line.contains("exit"), "{line}");
    }

    #[test]
    fn leef_escapes_tabs_and_line_feeds_in_values() {
        let line = leef(&record("a|b", "x=y\tz\r\nnext"));
        assert!(line.starts_with("LEEF:2.0|relay|relay|"), "{line}");
        assert!(line.contains("|a\\|b|x09|sev=6\tdevTime=2027-01-31T10:00:00.000Z\t"), "{line}");
        assert!(line.contains("\treason=x=y\\tz\\r\\nnext\t"), "{line}");
        assert!(line.contains("\toutputLen=3\t"), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn invisible_characters_are_written_as_text() {
        let record = record("a\u{1b}[31m", "b\u{202e}c");
        for line in [cef(&record), leef(&record)] {
            assert!(line.contains("|a\\\\u{1b}[31m|") && line.contains("b\\\\u{202e}c"), "{line}");
        }
    }

    #[test]
    fn every_attribute_is_in_both_forms() {
        let record = record("shell_exec", "project.kdl:7");
        for (name, value) in attributes(&record) {
            let found = |line: &str| line.contains(&escaped(&value, '=')) || line.contains(&value);
            assert!(found(&cef(&record)) && found(&leef(&record)), "{name}");
        }
    }
}
