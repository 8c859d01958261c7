//! The provenance of a bundle, after SLSA's build provenance: everything that decides its bytes,
//! and nothing of the machine.

use serde_json::{Value, json};

use crate::model::Model;
use crate::options::{Git, Options, VERSION};
use crate::source::Sources;

pub(super) fn json(sources: &Sources<'_>, options: &Options, model: &Model) -> String {
    let dependencies: Vec<Value> = sources
        .digests()
        .into_iter()
        .map(|(path, digest)| json!({ "name": path, "digest": { "sha256": digest.hex() } }))
        .collect();
    let mut provenance = json!({
        "buildType": "https://relay.dev/build/v1",
        "builder": { "id": format!("relay {VERSION}") },
        "parameters": {
            "project": sources.root(),
            "environment": model.environment,
            "epoch": model.project.settings.epoch.value,
        },
        "resolvedDependencies": dependencies,
    });
    if let (Some(Git { commit, dirty }), Some(object)) = (&options.git, provenance.as_object_mut())
    {
        object.insert("git".into(), json!({ "commit": commit, "dirty": dirty }));
    }
    provenance.to_string()
}
