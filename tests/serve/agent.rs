//! An agent of either protocol: how it asks, and what it was answered.

use serde_json::{Value, json};

use super::house::House;
use super::server::{Client, modern};

/// The protocol of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Legacy,
    Modern,
}

pub(crate) const PROTOCOLS: [Protocol; 2] = [Protocol::Legacy, Protocol::Modern];

/// A client and how it asks.
pub(crate) struct Agent {
    pub(crate) client: Client,
    protocol: Protocol,
}

impl Agent {
    pub(crate) fn new(house: &House, protocol: Protocol) -> Self {
        Self::with(house, protocol, &[])
    }

    pub(crate) fn with(house: &House, protocol: Protocol, arguments: &[&str]) -> Self {
        let arguments = [&["--config", "server.toml"], arguments].concat();
        let client = match protocol {
            Protocol::Legacy => Client::legacy(house, &arguments),
            Protocol::Modern => Client::start(house, &arguments),
        };
        Self { client, protocol }
    }

    /// Runs a command that serves on standard input and output.
    pub(crate) fn of(house: &House, command: std::process::Command, protocol: Protocol) -> Self {
        let mut client = Client::run(command);
        client.server.keep(house.folder());
        if protocol == Protocol::Legacy {
            client.initialize(super::server::LEGACY);
        }
        Self { client, protocol }
    }

    fn params(&self, params: Value) -> Value {
        if self.protocol == Protocol::Modern { modern(params) } else { params }
    }

    /// Sends a request, and returns its result.
    pub(crate) fn get(&mut self, method: &str, params: Value) -> Value {
        let params = self.params(params);
        self.client.get(method, params)
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let params = self.params(json!({}));
        let list = self.client.get("tools/list", params);
        let tools = list["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = self.params(json!({ "name": tool, "arguments": arguments }));
        self.client.get("tools/call", params)
    }

    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> (i64, String) {
        let params = self.params(json!({ "name": tool, "arguments": arguments }));
        self.client.refused("tools/call", params)
    }

    /// Sends a request that is expected to fail, and returns code and message.
    pub(crate) fn rejected(&mut self, method: &str, params: Value) -> (i64, String) {
        let params = self.params(params);
        self.client.refused(method, params)
    }

    /// Calls a tool twice with the same id: the server reads both calls together. Returns what it
    /// says to them.
    pub(crate) fn twice_with_one_id(&mut self, tool: &str, arguments: Value) -> [Value; 2] {
        let params = self.params(json!({ "name": tool, "arguments": arguments }));
        let call = message(9003, &params);
        self.client.write(format!("{call}\n{call}\n").as_bytes());
        [(); 2].map(|()| self.client.next_message().expect("an answer"))
    }

    /// Calls a tool and leaves the answer for later.
    pub(crate) fn request(&mut self, tool: &str, arguments: Value) {
        _ = self.request_id(tool, arguments);
    }

    /// Calls a tool and leaves the answer for later; returns the id of the request.
    pub(crate) fn request_id(&mut self, tool: &str, arguments: Value) -> u64 {
        let params = self.params(json!({ "name": tool, "arguments": arguments }));
        self.client.request("tools/call", params)
    }

    /// Calls a tool and cancels the call at once: the server reads both together.
    pub(crate) fn cancelled(&mut self, tool: &str, arguments: Value) {
        let params = self.params(json!({ "name": tool, "arguments": arguments }));
        let call = message(9000, &params);
        let cancel = json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": self.params(json!({ "requestId": 9000 })),
        });
        self.client.write(format!("{call}\n{cancel}\n").as_bytes());
    }

    /// Calls a tool twice: the server reads both calls together. Returns the answers.
    pub(crate) fn twice(&mut self, tool: &str, arguments: Value) -> [Value; 2] {
        let params = self.params(json!({ "name": tool, "arguments": arguments }));
        let ids = [9001, 9002];
        let calls = ids.map(|id| format!("{}\n", message(id, &params)));
        self.client.write(calls.concat().as_bytes());
        ids.map(|id| self.client.answer(id)["result"].take())
    }

    /// Begins a session; returns the handle.
    pub(crate) fn begin(&mut self, tags: &[&str]) -> String {
        handle_of(&self.call("begin_session", json!({ "tags": tags })))
    }
}

fn message(id: u64, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

pub(crate) fn blocks(result: &Value) -> Vec<&str> {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().map(|block| block["text"].as_str().unwrap()).collect()
}

pub(crate) fn text(result: &Value) -> String {
    blocks(result).join("\n")
}

pub(crate) fn handle_of(result: &Value) -> String {
    briefing(result)["briefing"].as_str().expect("a handle").to_owned()
}

fn briefing(result: &Value) -> &Value {
    &result["_meta"]["dev.relay/briefing"]
}

pub(crate) fn full(result: &Value) -> Vec<&str> {
    let names = briefing(result)["full"].as_array().expect("names");
    names.iter().map(|name| name.as_str().unwrap()).collect()
}

pub(crate) fn error(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    text(result)
}
