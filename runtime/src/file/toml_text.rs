//! The text of a TOML file -> its value, or a reason with the nearest known key.

use serde::de::DeserializeOwned;

/// Reads a value from the text of a file.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| with_suggestion(&error))
}

/// Names of Rust in the errors of the TOML reader, and the words of a person.
const EXPECTED: [(&str, &str); 16] = [
    (
        "struct ApiKey",
        "a table: write `[[auth.api-keys]]` on a line of its own, then id, sha256 and principal; `relay keygen --api-key ID` prints them",
    ),
    (
        "struct Jwt",
        "a table: write `[[auth.jwt]]` on a line of its own, then issuer, audience, algorithms and its keys",
    ),
    (
        "struct BriefingKey",
        "a table: write `[[briefing.keys]]` on a line of its own, then id and key-file",
    ),
    (
        "struct TrustedKey",
        "a table: write `[[keys]]` on a line of its own, as `relay trust add` does",
    ),
    ("struct Auth", "a table: write `[auth]` on a line of its own, then its keys"),
    ("struct Tls", "a table: write `[tls]` on a line of its own, then cert and key"),
    ("struct Revoked", "a table: write `[revoked]` on a line of its own, then keys and digests"),
    ("struct", "a table: write its name in brackets on a line of its own, then its keys"),
    ("a sequence", "a list: write `[\"…\", \"…\"]`"),
    ("a map", "a table"),
    ("a nonzero", "a whole number from 1; the name of the key has its unit"),
    ("a boolean", "true or false"),
    ("a string", "a text in quotes"),
    ("path string", "a path in quotes"),
    ("socket address", "an address in quotes, such as \"127.0.0.1:8700\""),
    ("", "a whole number"),
];

/// Returns the report on an error, in the words of a person who writes TOML.
fn with_suggestion(error: &toml::de::Error) -> String {
    let report = error.to_string();
    let report = report.trim_end();
    let message = error.message();
    if let Some((found, expected)) = wrong_type(message) {
        return report
            .replace(message, &format!("{found} does not fit: this key takes {expected}"));
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().filter(|_| message.starts_with("unknown field"));
    let nearest = unknown.and_then(|unknown| {
        names
            .map(|name| (strsim::osa_distance(unknown, name), name))
            .min()
            .filter(|(distance, name)| *distance <= 1 + name.len() / 4 || unknown.starts_with(name))
    });
    let report =
        report.replace("unknown field", "unknown key").replace("missing field", "missing key");
    match nearest {
        Some((_, name)) => format!("{report}\ndid you mean `{name}`?"),
        None => report,
    }
}

/// Returns the found and the expected type in an error about the type of a value.
fn wrong_type(message: &str) -> Option<(String, &'static str)> {
    let (found, expected) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))?
        .split_once(", expected ")?;
    let is_number = ["u8", "u16", "u32", "u64", "usize", "i64"].contains(&expected);
    let meant = EXPECTED.iter().find(|(rust, _)| match *rust {
        "" => is_number,
        rust => expected.starts_with(rust),
    });
    let found = found.replacen("string ", "the text ", 1).replacen("integer ", "the number ", 1);
    let found =
        found.replacen("floating point ", "the number ", 1).replacen("boolean ", "the value ", 1);
    let found = found.replacen("sequence", "a list", 1).replacen("map", "a table", 1);
    meant.map(|(_, meant)| (found, *meant))
}
