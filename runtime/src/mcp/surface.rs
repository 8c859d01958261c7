//! The MCP description of a bundle: its identity, and its capabilities for a caller.

use relay_bundle::{Corrupt, List, Manifest};
use relay_engine::agent_skill;
use relay_engine::view::View;
use rmcp::model::{
    Implementation, MetaObject, Prompt, Resource, ResourceTemplate, SKILLS_EXTENSION_ID,
    ServerCapabilities, ServerConfig, SkillsCapability, Tool,
};
use serde_json::json;

use super::lists::Pages;
use crate::trust::loaded::Loaded;
use crate::trust::placed::Placed;

/// The `_meta` key under which a result names its server.
const SERVER_INFO_META_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// The version of an unversioned project.
const NO_VERSION: &str = "0";

/// The parts of answers that depend on the bundle alone.
#[derive(Debug)]
pub(super) struct Surface {
    /// The `_meta` of a result: the identity of the server.
    meta: MetaObject,
    pub(super) tools: Pages<Tool>,
    pub(super) prompts: Pages<Prompt>,
    pub(super) resources: Pages<Resource>,
    pub(super) templates: Pages<ResourceTemplate>,
}

impl Surface {
    /// Reads it from the manifest. A list is read on its first request.
    pub(super) fn new(loaded: &Loaded) -> Self {
        let mut meta = MetaObject::new();
        meta.insert(SERVER_INFO_META_KEY.to_owned(), json!(implementation(loaded.manifest())));
        Self {
            meta,
            tools: Pages::new(List::Tools),
            prompts: Pages::new(List::Prompts),
            resources: Pages::new(List::Resources),
            templates: Pages::new(List::Templates),
        }
    }

    /// Adds the identity of the server to the `_meta` of a result.
    pub(super) fn stamp(&self, meta: &mut Option<MetaObject>) {
        meta.get_or_insert_default().extend(self.meta.clone());
    }
}

/// Returns the answer to `initialize` and `server/discover` for a caller.
pub(super) fn config(placed: &Placed) -> Result<ServerConfig, Corrupt> {
    let view = placed.view()?;
    let server_info = implementation(placed.loaded.manifest());
    let config = ServerConfig::new(capabilities(placed, &view)?).with_server_info(server_info);
    let instructions = view.instructions()?;
    if instructions.is_empty() { Ok(config) } else { Ok(config.with_instructions(instructions)) }
}

/// Returns whether clients with a session see only `begin_session` until they have called it.
pub(super) fn hides_tools(placed: &Placed) -> bool {
    let gate = placed.view().ok().and_then(|view| view.gate());
    gate.is_some_and(|gate| gate.hide_tools.value)
}

fn implementation(manifest: &Manifest) -> Implementation {
    let project = &manifest.project.value;
    let version = manifest.version.as_ref().map_or(NO_VERSION, |version| &version.value);
    let mut implementation = Implementation::new(project, version);
    implementation.title = Some(manifest.title.as_ref().map_or(project, |it| &it.value).clone());
    implementation
}

/// Declares the capabilities of a caller. Missing lists are still answered, as empty: some clients
/// request every list and stop on an error.
#[cfg_attr(not(feature = "ssh"), expect(unused_variables, reason = "hosts alone are the server's"))]
fn capabilities(placed: &Placed, view: &View<'_>) -> Result<ServerCapabilities, Corrupt> {
    let mut capabilities = ServerCapabilities::default();
    let has = |list| view.count(list) > 0;
    let has_prompts = has(List::Prompts);
    let has_resources = has(List::Resources) || has(List::Templates);
    #[cfg(feature = "ssh")]
    let has_resources = has_resources || crate::tool::inventory::is_seen(placed)?;
    if has(List::Tools) {
        capabilities.tools.get_or_insert_default().list_changed = Some(true);
    }
    if has_prompts {
        capabilities.prompts.get_or_insert_default().list_changed = Some(true);
    }
    if has_resources {
        let resources = capabilities.resources.get_or_insert_default();
        resources.list_changed = Some(true);
        resources.subscribe = Some(true);
    }
    if agent_skill::is_any_seen(view)? {
        let settings = serde_json::to_value(SkillsCapability::new().with_directory_read());
        let settings = settings.ok().and_then(|settings| settings.as_object().cloned());
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions.insert(SKILLS_EXTENSION_ID.to_owned(), settings.unwrap_or_default());
    }
    if has_prompts || has_resources {
        capabilities.completions.get_or_insert_default();
    }
    #[cfg(feature = "conformance-tools")]
    super::conformance_tools::declare(&mut capabilities);
    Ok(capabilities)
}
