//! The MCP description of a bundle: identity, capabilities and lists.

use relay_bundle::{Bundle, List, Manifest};
use rmcp::model::{
    Implementation, MetaObject, Prompt, Resource, ResourceTemplate, ServerCapabilities,
    ServerConfig, Tool,
};
use serde_json::json;

use super::lists::Pages;

/// The `_meta` key under which a result names its server.
const SERVER_INFO_META_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// The version of a project that has none.
const NO_VERSION: &str = "0";

/// The parts of answers that are the same for one bundle.
#[derive(Debug)]
pub(super) struct Surface {
    /// The answer to `initialize` and `server/discover`.
    pub(super) config: ServerConfig,
    /// The `_meta` of a result: the identity of the server.
    pub(super) meta: MetaObject,
    /// Whether clients with a session see only `begin_session` until they have called it.
    pub(super) hides_tools: bool,
    pub(super) tools: Pages<Tool>,
    pub(super) prompts: Pages<Prompt>,
    pub(super) resources: Pages<Resource>,
    pub(super) templates: Pages<ResourceTemplate>,
}

impl Surface {
    /// Reads it from the manifest. A list is not read before it is requested.
    pub(super) fn new(bundle: &Bundle) -> Self {
        let server_info = implementation(bundle.manifest());
        let mut meta = MetaObject::new();
        meta.insert(SERVER_INFO_META_KEY.to_owned(), json!(server_info));
        let mut config = ServerConfig::new(capabilities(bundle)).with_server_info(server_info);
        let instructions = bundle.messages().instructions();
        if !instructions.is_empty() {
            config = config.with_instructions(instructions);
        }
        Self {
            config,
            meta,
            hides_tools: hides_tools(bundle),
            tools: Pages::new(List::Tools),
            prompts: Pages::new(List::Prompts),
            resources: Pages::new(List::Resources),
            templates: Pages::new(List::Templates),
        }
    }
}

/// Returns whether clients with a session see only `begin_session` until they have called it.
pub(super) fn hides_tools(bundle: &Bundle) -> bool {
    bundle.gate().is_some_and(|gate| gate.hide_tools.value)
}

fn implementation(manifest: &Manifest) -> Implementation {
    let project = &manifest.project.value;
    let version = manifest.version.as_ref().map_or(NO_VERSION, |version| &version.value);
    let mut implementation = Implementation::new(project, version);
    implementation.title = Some(manifest.title.as_ref().map_or(project, |it| &it.value).clone());
    implementation
}

/// Declares the capabilities of a bundle. Lists that it lacks are still answered, as empty: some
/// clients request every list and stop on an error.
fn capabilities(bundle: &Bundle) -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::default();
    let has_prompts = bundle.prompt_count() > 0;
    let has_resources = bundle.resource_count() > 0 || bundle.template_count() > 0;
    if !bundle.tools().is_empty() {
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
    if has_prompts || has_resources {
        capabilities.completions.get_or_insert_default();
    }
    #[cfg(feature = "conformance-tools")]
    super::conformance_tools::declare(&mut capabilities);
    capabilities
}
