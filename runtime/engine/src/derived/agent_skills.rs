//! Files -> the list of files of an agent skill, as the skills extension of MCP sends it (SEP-2640).

use std::fmt::Write as _;

use relay_bundle::{Bundle, Corrupt, Digest};
use serde_json::json;

use crate::agent_skill;

/// A list of files while it is made: a JSON array of objects with `uri`, `digest` and `size`.
#[derive(Default)]
pub struct Manifest {
    json: String,
}

impl Manifest {
    /// Adds a file, given its bytes. Files are added in the order of their URIs.
    pub fn add(&mut self, uri: &str, bytes: &[u8]) {
        self.json.push(if self.json.is_empty() { '[' } else { ',' });
        let digest = format!("sha256:{}", Digest::of(bytes).hex());
        let entry = json!({ "uri": uri, "digest": digest, "size": bytes.len() });
        // INVARIANT: writing to a text always succeeds.
        _ = write!(self.json, "{entry}");
    }

    /// Returns the list.
    #[must_use]
    pub fn finish(self) -> String {
        if self.json.is_empty() { "[]".to_owned() } else { self.json + "]" }
    }
}

/// Returns the list of files of the agent skill whose `SKILL.md` has the URI `uri`.
pub(super) fn manifest(bundle: &Bundle, uri: &str) -> Result<String, Corrupt> {
    let mut manifest = Manifest::default();
    for row in agent_skill::files(bundle, uri)? {
        let resource = bundle.resource(row)?;
        manifest.add(resource.uri()?, resource.content()?.view_bytes());
    }
    Ok(manifest.finish())
}
