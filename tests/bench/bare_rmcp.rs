//! A server of rmcp and nothing else, beside which the row `http` is read: one prompt of 4 KB, without
//! authentication, audit, limits or a bundle.
//!
//! `bare-rmcp ADDRESS` serves until it is killed. It has the version, the features and the settings of
//! rmcp in `relay-serve`, and as many threads.

#![expect(clippy::print_stderr, reason = "it says when it can be reached")]

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, PromptMessage, Role,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::net::TcpListener;

/// The threads of `relay-serve` over HTTP.
const THREADS: usize = 2;
/// A line of the text, and how often it is repeated.
const LINE: &str =
    "restart the gateway of the house, then look whether every sensor is heard again\n";
const LINES: usize = 50;

struct Bare {
    text: Arc<str>,
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_prompts().build())
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let message = PromptMessage::new_text(Role::User, &*self.text);
        Ok(GetPromptResult::new(vec![message]).into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("give an address")?;
    let text: Arc<str> = LINE.repeat(LINES).into();
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service =
        StreamableHttpService::new(move || Ok(Bare { text: text.clone() }), sessions, config);
    let routes = Router::new().route_service("/mcp", service);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    runtime.block_on(async {
        let socket = TcpListener::bind(&address).await?;
        eprintln!("serving at http://{address}/mcp");
        axum::serve(socket, routes).await?;
        Ok(())
    })
}
