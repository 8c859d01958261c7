//! MCP requests: each method takes the bundle in force once and calls its module.

use std::sync::{Arc, Mutex};

use relay_machine::lock::lock;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    MetaObject, PaginatedRequestParams, Prompt, ReadResourceDirectoryRequestParams,
    ReadResourceDirectoryResult, ReadResourceRequestParams, ReadResourceResponse, Resource,
    ResourceTemplate, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::caller::{is_modern, placed};
use super::entry::Entry;
use super::lists::TTL_MS;
use super::rejection::damaged;
use super::service::{Served, Service};
use super::subscriptions::{Listener, Listening, Subscribed};
use super::{
    agent_skills, bad_params, completion, person, progress, prompts, rejection, resources,
    subscriptions, surface, tools,
};
use crate::caller::principal::Principal;
use crate::record::memory::Memory;
use crate::record::metrics::{Method, Outcome};
use crate::server::Server;
use crate::tool::call::Call;
use crate::trust::placed::Placed;

/// Answers MCP requests. There is one for each session of a legacy client, one for each request of
/// a modern client over HTTP, and one for the process on stdio.
pub(super) struct Handler {
    service: Arc<Service>,
    /// The caller that it was made for. A request of a session may come with other groups or
    /// another role; it is answered by its own credentials.
    principal: Arc<Principal>,
    /// The subscriptions of a legacy session.
    subscribed: Subscribed,
    /// Held while such a session listens for changes.
    listening: Mutex<Option<Listening>>,
    /// The memory of such a session.
    memory: Arc<Memory>,
}

impl Handler {
    pub(super) fn new(service: Arc<Service>, principal: Arc<Principal>) -> Self {
        Self {
            service,
            principal,
            subscribed: Subscribed::default(),
            listening: Mutex::default(),
            memory: Arc::default(),
        }
    }

    /// Returns the memory of the session of a request of a legacy client.
    fn memory(&self, context: &RequestContext<RoleServer>) -> Option<&Arc<Memory>> {
        (!is_modern(context)).then_some(&self.memory)
    }

    /// Returns the bundle in force, as the handler's caller sees it.
    fn placed(&self, served: &Served) -> Result<Placed, ErrorData> {
        let loaded = served.loaded.clone();
        Placed::new(loaded, &self.principal).map_err(|damage| damaged(&served.loaded, &damage))
    }

    /// Returns the answer to that caller when it connects.
    fn config(&self) -> Result<ServerConfig, ErrorData> {
        let served = self.service.served();
        let placed = self.placed(&served)?;
        surface::config(&placed).map_err(|damage| damaged(&served.loaded, &damage))
    }

    fn server(&self) -> &Arc<Server> {
        &self.service.server
    }

    /// Rejects every request while the bundle in force is revoked.
    fn in_force(&self) -> Result<(), ErrorData> {
        let loaded = self.server().loaded();
        loaded.in_force().map_err(|rejected| rejection::error(rejected, &loaded))
    }

    /// Answers a request for a page of a list.
    fn list<E: Entry>(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<E::Answer, ErrorData> {
        let mut timer = self.server().metrics.time(E::METHOD);
        let served = self.service.served();
        let (placed, _) = placed(self.server(), &served.loaded, context)?;
        let mut page = E::pages(&served.surface).page(&placed, cursor(request.as_ref()))?;
        E::hide(&mut page, &placed, self.memory(context));
        #[cfg(feature = "ssh")]
        if page.next_cursor.is_none() {
            page.items.extend(E::live(&placed).map_err(|damage| damaged(&placed.loaded, &damage))?);
        }
        #[cfg(feature = "conformance-tools")]
        if page.next_cursor.is_none() {
            page.items.extend_from_slice(E::of_suite());
        }
        let mut meta = None;
        stamp(&mut meta, &served, context);
        timer.outcome = Outcome::Answered;
        Ok(E::answer(page, meta, self.service.cache_scope()))
    }
}

fn cursor(request: Option<&PaginatedRequestParams>) -> Option<&str> {
    request?.cursor.as_deref()
}

/// Adds the server's identity to a result's `_meta`, for modern clients only.
fn stamp(meta: &mut Option<MetaObject>, served: &Served, context: &RequestContext<RoleServer>) {
    if is_modern(context) {
        served.surface.stamp(meta);
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        // A request that needs it finds the damage again, and fails.
        self.config().unwrap_or_default()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.in_force()?;
        self.config()?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut timer = self.server().metrics.time(Method::ServerDiscover);
        self.in_force()?;
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.config()?);
        result.ttl_ms = TTL_MS;
        result.cache_scope = self.service.cache_scope();
        timer.outcome = Outcome::Answered;
        Ok(result)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.list::<Prompt>(request, &context)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut timer = self.server().metrics.time(Method::PromptsGet);
        #[cfg(feature = "conformance-tools")]
        if let Some(response) = super::conformance_tools::get_prompt(&request, &context) {
            return response;
        }
        let served = self.service.served();
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        let mut result =
            prompts::get(self.server(), &placed, &caller, &request.name, request.arguments)?;
        stamp(&mut result.meta, &served, &context);
        timer.outcome = Outcome::Answered;
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let mut timer = self.server().metrics.time(Method::CompletionComplete);
        let served = self.service.served();
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        let mut result = completion::complete(self.server(), &placed, &caller, &request)?;
        stamp(&mut result.meta, &served, &context);
        timer.outcome = Outcome::Answered;
        Ok(result)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.list::<Resource>(request, &context)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.list::<ResourceTemplate>(request, &context)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let mut timer = self.server().metrics.time(Method::ResourcesRead);
        let served = self.service.served();
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        let mut result = resources::read(self.server(), &placed, &caller, request.uri)?
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(self.service.cache_scope());
        stamp(&mut result.meta, &served, &context);
        timer.outcome = Outcome::Answered;
        Ok(result.into())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let mut timer = self.server().metrics.time(Method::SkillsList);
        let served = self.service.served();
        let (placed, _) = placed(self.server(), &served.loaded, &context)?;
        let page = agent_skills::list(&placed, cursor(request.as_ref()), agent_skills::entry)?;
        let answer = ListSkillsResult::with_all_items(page.items);
        let mut answer = answer.with_ttl_ms(TTL_MS).with_cache_scope(self.service.cache_scope());
        answer.next_cursor = page.next_cursor;
        stamp(&mut answer.meta, &served, &context);
        timer.outcome = Outcome::Answered;
        Ok(answer)
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let mut timer = self.server().metrics.time(Method::SkillsGet);
        let served = self.service.served();
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        let skill = agent_skills::get(self.server(), &placed, &caller, &request.uri)?;
        let answer = GetSkillResult::new(skill);
        let mut answer = answer.with_ttl_ms(TTL_MS).with_cache_scope(self.service.cache_scope());
        stamp(&mut answer.meta, &served, &context);
        timer.outcome = Outcome::Answered;
        Ok(answer)
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        let mut timer = self.server().metrics.time(Method::ResourcesDirectoryRead);
        let served = self.service.served();
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        let cursor = request.cursor.as_deref();
        let page = agent_skills::children(self.server(), &placed, &caller, &request.uri, cursor)?;
        let answer = ReadResourceDirectoryResult::with_all_items(page.items);
        let mut answer = answer.with_ttl_ms(TTL_MS).with_cache_scope(self.service.cache_scope());
        answer.next_cursor = page.next_cursor;
        stamp(&mut answer.meta, &served, &context);
        timer.outcome = Outcome::Answered;
        Ok(answer)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.list::<Tool>(request, &context)
    }

    /// With the tool from here, rmcp compares the `Mcp-Param-*` headers of a call with its
    /// arguments.
    #[cfg(feature = "conformance-tools")]
    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        super::conformance_tools::tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut timer = self.server().metrics.time(Method::ToolsCall);
        let served = self.service.served();
        #[cfg(feature = "conformance-tools")]
        let listeners = &self.service.listeners;
        #[cfg(feature = "conformance-tools")]
        if let Some(answer) = super::conformance_tools::call(&request, &context, listeners).await {
            return answer.map(|mut response| {
                if let CallToolResponse::Complete(result) = &mut response {
                    stamp(&mut result.meta, &served, &context);
                }
                response
            });
        }
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        let call = Call {
            server: self.server().clone(),
            placed,
            person: person::behind(self.server(), &caller.principal, &context, &mut request),
            caller,
            memory: self.memory(&context).cloned(),
            cancelled: context.ct.clone(),
        };
        // rmcp moves the future of every request, of any method, a dozen times: the large one stays in
        // its place.
        let answer = Box::pin(tools::call(call, request));
        let (mut response, list_changed) = progress::during(&context, answer).await?;
        if list_changed {
            // A failure is ignored: the client still gets its answer.
            _ = context.peer.notify_tool_list_changed().await;
        }
        let meta = match &mut response {
            CallToolResponse::Complete(result) => Some(&mut result.meta),
            CallToolResponse::InputRequired(required) => Some(&mut required.meta),
            _ => None,
        };
        if let Some(meta) = meta {
            stamp(meta, &served, &context);
        }
        let failed =
            matches!(&response, CallToolResponse::Complete(it) if it.is_error == Some(true));
        timer.outcome = if failed { Outcome::ToolError } else { Outcome::Answered };
        Ok(response)
    }

    /// rmcp supports `subscriptions/listen` only with this.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let served = self.service.served();
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(self.server().settings.limits.subscriptions_max.get());
            match self.placed(&served) {
                Ok(placed) => uris.retain(|uri| resources::exists(&placed, uri)),
                Err(_) => uris.clear(),
            }
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut timer = self.server().metrics.time(Method::SubscriptionsListen);
        let listeners = &self.service.listeners;
        let served = self.service.served();
        let (_, caller) = placed(self.server(), &served.loaded, context.request_context())?;
        let Some(_slot) = listeners.take_stream(&caller.principal) else {
            let max = listeners.principal_streams_max();
            let reason = format!("{max} streams are open, which is the limit: end one first");
            return Err(ErrorData::internal_error(reason, None));
        };
        let Some(_listening) =
            listeners.add(&caller.principal, Listener::Stream(context.sink().clone()))
        else {
            return Err(ErrorData::internal_error("too many clients listen for changes", None));
        };
        subscriptions::record_stream(self.server(), &caller, context.sink());
        timer.outcome = Outcome::Answered;
        drop(timer);
        tokio::select! {
            () = context.cancelled() => {}
            () = self.server().closing.cancelled() => {}
        }
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let listener = Listener::Session { peer: context.peer, uris: self.subscribed.clone() };
        let listening = self.service.listeners.add(&self.principal, listener);
        if listening.is_none() {
            tracing::warn!("too many clients listen for changes: a session will not be notified");
        }
        *lock(&self.listening) = listening;
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut timer = self.server().metrics.time(Method::ResourcesSubscribe);
        let served = self.service.served();
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        let most = self.server().settings.limits.subscriptions_max.get();
        let server = self.server();
        subscriptions::subscribe(server, &placed, &caller, request.uri, &self.subscribed, most)?;
        timer.outcome = Outcome::Answered;
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut timer = self.server().metrics.time(Method::ResourcesUnsubscribe);
        let served = self.service.served();
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        subscriptions::unsubscribe(self.server(), &placed, &caller, &request.uri, &self.subscribed);
        timer.outcome = Outcome::Answered;
        Ok(())
    }

    /// rmcp calls this for an unknown method, and for malformed parameters of a known one.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let _timer = self.server().metrics.time(Method::Malformed);
        let served = self.service.served();
        let (placed, caller) = placed(self.server(), &served.loaded, &context)?;
        let modern = is_modern(&context);
        Err(bad_params::reject(self.server(), &placed, &caller, modern, request))
    }

    #[cfg(feature = "conformance-tools")]
    #[expect(deprecated, reason = "the suite still sets a level")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // rmcp itself rejects `ping` and `resources/subscribe` of modern clients, but leaves this
        // to us.
        if is_modern(&context) {
            return Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>());
        }
        Ok(())
    }
}
