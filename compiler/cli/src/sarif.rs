//! SARIF 2.1.0: the common parts of the logs of all verbs.

use relay_engine::invisible::visible_json;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::text::printable_lines;

/// The address of relay's documentation.
pub(crate) const HOME: &str = env!("CARGO_PKG_REPOSITORY");
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A log with one run.
pub(crate) struct Log {
    /// The rules, each an object that results name by its id.
    pub(crate) rules: Vec<Value>,
    /// The results.
    pub(crate) results: Vec<Value>,
    /// Notes for readers besides the results.
    pub(crate) notes: Vec<String>,
    /// The category, which keeps these results apart from others of relay for one commit: code
    /// scanning replaces results by later ones of the same category.
    pub(crate) category: Option<&'static str>,
}

impl Log {
    /// Returns the log as text.
    pub(crate) fn draw(self) -> Result<String, Failure> {
        let Self { rules, results, notes, category } = self;
        let note = |text: &String| json!({ "level": "note", "message": message(text) });
        let notes: Vec<Value> = notes.iter().map(note).collect();
        let invocation = json!({ "executionSuccessful": true });
        let notes = (!notes.is_empty()).then_some(Value::Array(notes));
        let invocation = with(invocation, "toolExecutionNotifications", notes);
        let run = json!({
            "tool": { "driver": {
                "name": "relay",
                "informationUri": HOME,
                "version": relay_compiler::VERSION,
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
        });
        let category = category.map(|category| json!({ "id": format!("{category}/") }));
        let run = with(run, "automationDetails", category);
        let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
        Ok(format!("{}\n", visible_json(&serde_json::to_string_pretty(&log)?)))
    }
}

/// Returns a message. It holds no link: the text may be an author's.
pub(crate) fn message(text: &str) -> Value {
    json!({ "text": printable_lines(text).replace("](", "] (") })
}

/// Returns a location: a region of a file, with the path for its reader.
pub(crate) fn location(file: &str, region: Value) -> Value {
    json!({ "physicalLocation": { "artifactLocation": artifact(file), "region": region } })
}

/// Returns the location of a file, whose path is as its reader opens it.
pub(crate) fn artifact(file: &str) -> Value {
    if file.starts_with('/') {
        json!({ "uri": format!("file://{}", uri(file)) })
    } else {
        json!({ "uri": uri(file), "uriBaseId": "%SRCROOT%" })
    }
}

/// Adds a member to an object, if it has a value.
pub(crate) fn with(mut object: Value, name: &str, value: Option<Value>) -> Value {
    if let (Some(members), Some(value)) = (object.as_object_mut(), value) {
        members.insert(name.into(), value);
    }
    object
}

/// Returns a path as the path of a URI (RFC 3986).
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
