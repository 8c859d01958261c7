//! The text of a TOML file -> its value, or a reason with the nearest known key.

use serde::de::DeserializeOwned;

/// Reads a value from the text of a file.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| with_suggestion(&error))
}

/// Adds the nearest known name to the error about an unknown key.
fn with_suggestion(error: &toml::de::Error) -> String {
    let report = error.to_string();
    let report = report.trim_end();
    let mut names = error.message().split('`').skip(1).step_by(2);
    let unknown = names.next().filter(|_| error.message().starts_with("unknown field"));
    let nearest = unknown.and_then(|unknown| {
        names
            .map(|name| (strsim::osa_distance(unknown, name), name))
            .min()
            .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
    });
    match nearest {
        Some((_, name)) => format!("{report}\ndid you mean `{name}`?"),
        None => report.to_owned(),
    }
}
