//! The guide to the tools of `shell` and `sessions`, and its short form in the instructions.

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS};
use super::house::{self, House};
use super::server::{Client, LEGACY};

const PROJECT: &str = "project ops epoch=1\n\
    tools { shell; sessions; diagnostics }\n\
    roles { role operator tier=2; role reader parent=operator tier=0 { tools \"shell_*\" } }\n\
    users { user op role=operator; user rea role=reader }\n\
    policy readonly\n";

fn instructions(house: &House, principal: &str) -> String {
    let mut client = Client::start(house, &["--config", "server.toml", "--principal", principal]);
    let answer = client.initialize(LEGACY);
    answer["result"]["instructions"].as_str().unwrap_or_default().to_owned()
}

fn prompts(agent: &mut Agent) -> Vec<String> {
    let list = agent.get("prompts/list", json!({}));
    let names = list["prompts"].as_array().unwrap().iter();
    names.map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_caller_with_all_tools_reads_the_guide_and_it_is_recorded() {
    for protocol in PROTOCOLS {
        let house = House::of(&house::bundle_of(PROJECT));
        let mut agent =
            Agent::with(&house, protocol, &["--principal", "op", "--audit", "audit.jsonl"]);
        assert_eq!(prompts(&mut agent), ["operating_guide"]);
        let guide = agent.get("prompts/get", json!({ "name": "operating_guide" }));
        let text = guide["messages"][0]["content"]["text"].as_str().unwrap();
        for tool in agent.tools() {
            let is_about_it = tool.starts_with("shell_") || tool.starts_with("session_");
            // A resize is no part of the usual way.
            let named = text.contains(&format!("`{tool}")) || tool == "session_resize";
            assert!(!is_about_it || named, "{tool}: {text}");
        }
        let log = house.read("audit.jsonl");
        let record: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        assert_eq!(record["tool"], "prompt:operating_guide");
        assert_eq!(record["tier"], 0);
        assert_eq!(record["output_len"], text.len());
        assert!(!log.contains("Which tool"), "{log}");
    }
}

#[test]
fn a_caller_who_lacks_one_of_its_tools_gets_no_word_of_it() {
    let house = House::of(&house::bundle_of(PROJECT));
    assert!(instructions(&house, "op").contains("`shell_spawn` starts a session"));
    let told = instructions(&house, "rea");
    assert!(told.starts_with("This server"), "{told}");
    assert!(!told.contains("shell_") && !told.contains("operating_guide"), "{told}");
    for protocol in PROTOCOLS {
        let mut agent =
            Agent::with(&house, protocol, &["--principal", "rea", "--audit", "audit.jsonl"]);
        assert_eq!(agent.tools(), ["shell_exec", "shell_script", "shell_spawn"]);
        assert!(prompts(&mut agent).is_empty());
        let hidden = agent.rejected("prompts/get", json!({ "name": "operating_guide" }));
        let missing = agent.rejected("prompts/get", json!({ "name": "operating_guidf" }));
        assert_eq!(hidden.1.replace("guide", "x"), missing.1.replace("guidf", "x"));
    }
}

#[test]
fn server_info_names_the_account() {
    let house = House::of(&house::bundle_of(PROJECT));
    let mut agent = Agent::with(&house, PROTOCOLS[1], &["--principal", "op"]);
    let info = super::agent::text(&agent.call("server_info", json!({})));
    let info: Value = serde_json::from_str(&info).unwrap();
    let mut run = |command: &str| {
        let answer = super::agent::text(&agent.call("shell_exec", json!({ "command": command })));
        answer.split_once('\n').map(|(_, output)| output.trim().to_owned()).unwrap_or_default()
    };
    assert_eq!(info["runtime"]["user"], run("id -un"));
    let sudo = info["runtime"]["sudo_binary"].as_str().unwrap_or_default();
    assert_eq!(sudo, run("which sudo"));
}
