//! The text of a TOML file -> its value, or the fault with its place and its key.

use relay_engine::toml_fault::{self, TomlFault};
use serde::de::DeserializeOwned;

/// Tables of `server.toml` by the names of their types, and the lines that a person writes.
const TABLES: [(&str, &str); 8] = [
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
        "[[auth.api-keys]]",
        "tables: write `[[auth.api-keys]]` on a line of its own for each key, then id, sha256 and principal; `relay keygen --api-key ID` prints them",
    ),
    (
        "[[auth.jwt]]",
        "tables: write `[[auth.jwt]]` on a line of its own for each issuer, then issuer, audience, algorithms and its keys",
    ),
    (
        "[[briefing.keys]]",
        "tables: write `[[briefing.keys]]` on a line of its own for each key, then id and key-file",
    ),
    ("struct Auth", "a table: write `[auth]` on a line of its own, then its keys"),
    ("struct Tls", "a table: write `[tls]` on a line of its own, then cert and key"),
];

/// Reads a value from the text of a file.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, TomlFault> {
    toml::from_str(text)
        .map_err(|error| toml_fault::of_message(text, error.span(), error.message(), &TABLES))
}
