//! The methods of MCP about which gateways ask.

/// A method.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Method {
    /// Its name in MCP.
    pub(super) name: &'static str,
    pub(super) names: Names,
}

/// The thing that the requests of a method name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// A tool, with arguments.
    Tool,
    Prompt,
    Resource,
    /// A prompt, or a resource by its template.
    PromptOrResource,
    /// The server as a whole.
    Server,
    /// The same, and no one answers.
    Notification,
}

const fn method(name: &'static str, names: Names) -> Method {
    Method { name, names }
}

/// All methods that can be permitted.
const METHODS: &[Method] = &[
    method("completion/complete", Names::PromptOrResource),
    method("initialize", Names::Server),
    method("notifications/cancelled", Names::Notification),
    method("notifications/initialized", Names::Notification),
    method("notifications/progress", Names::Notification),
    method("notifications/roots/list_changed", Names::Notification),
    method("ping", Names::Server),
    method("prompts/get", Names::Prompt),
    method("prompts/list", Names::Server),
    method("resources/list", Names::Server),
    method("resources/read", Names::Resource),
    method("resources/subscribe", Names::Resource),
    method("resources/templates/list", Names::Server),
    method("resources/unsubscribe", Names::Resource),
    method("server/discover", Names::Server),
    method("tools/call", Names::Tool),
    method("tools/list", Names::Server),
];

/// Returns the method of a name.
pub(super) fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}
