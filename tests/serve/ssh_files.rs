//! Hosts of the server's own files, beside those of a project, and the resources that show hosts.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol};
use super::house::House;
use super::server::{self, wait_until};
use super::ssh::{house_of, last, web};
use super::ssh_server::{Host, USER};
use super::tool_reference::{AS_OPERATOR, said};

/// Adds lines to the settings of a house.
fn configure(house: &House, lines: &str) {
    let settings = house.read("server.toml");
    house.write("server.toml", format!("{settings}\n{lines}\n"));
}

/// Writes the settings that name both files.
fn with_files(house: &House, config: &str, inventory: &Value) {
    house.write("ssh_config", config);
    house.write("hosts.json", inventory.to_string());
    configure(house, "[ssh]\nconfig = \"ssh_config\"\ninventory = \"hosts.json\"");
}

/// The command of a server of a house with files: an ssh_config is that of a user.
fn command(house: &House) -> Command {
    let mut command = server::command(house, &[&["--config", "server.toml"], AS_OPERATOR].concat());
    command.env("USER", USER);
    command
}

fn agent(house: &House, protocol: Protocol) -> Agent {
    Agent::of(house, command(house), protocol)
}

fn operator(house: &House) -> Agent {
    agent(house, Protocol::Modern)
}

/// Returns the lines of a host of ssh_config.
fn block(alias: &str, host: &Host, more: &str) -> String {
    let address = host.address();
    let (ip, port) = (address.ip(), address.port());
    format!("Host {alias}\n HostName {ip}\n Port {port}\n User {USER}\n{more}\n")
}

fn exec(agent: &mut Agent, host: &str) -> String {
    said(agent, "ssh_exec", json!({ "host": host, "command": "true" }))
}

fn names(agent: &mut Agent) -> Vec<String> {
    let listed = said(agent, "ssh_hosts", json!({}));
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let each = listed.as_array().unwrap().iter();
    each.map(|host| host["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn files_of_the_server_add_aliases_and_the_project_keeps_its_own() {
    let (host, other) = (Host::start(), Host::start());
    // The project refuses hosts outside, and what the server lists is inside.
    let house = house_of(
        "open",
        "hosts known-hosts=accept-new { groups edge; host db address=\"10.1.2.3\" }",
        "",
    );
    host.admit(&house);
    fs::rename(house.path("home/.ssh/id_ed25519"), house.path("key")).unwrap();
    let key = house.path("key");
    let config = format!(
        "{}{}{}Host *.corp\n User {USER}\n",
        block("box", &host, &format!(" IdentityFile {}\n", key.display())),
        "Host db\n HostName 10.9.9.9\n",
        "Host mask\n HostName 10.1.2.3\n",
    );
    let address = other.address();
    let inventory = json!({
        "other": { "hostname": address.ip().to_string(), "port": address.port(), "user": USER },
        "box": { "hostname": "127.0.0.9" },
    });
    with_files(&house, &config, &inventory);
    other.admit(&house);
    let mut agent = operator(&house);
    assert_eq!(names(&mut agent), ["box", "db", "other"]);
    assert_eq!(exec(&mut agent, "other"), "[exit 0]\n");
    // The inventory comes before the ssh_config.
    let listed = said(&mut agent, "ssh_hosts", json!({}));
    assert!(
        listed.contains("127.0.0.9") && listed.contains("10.1.2.3") && !listed.contains("10.9.9.9"),
        "{listed}"
    );
    let mask = exec(&mut agent, "mask");
    assert!(
        mask.starts_with("[DENIED") || mask.contains("its address is that of the project's `db`"),
        "{mask}"
    );
    let house = house_of("open", "", "");
    host.admit(&house);
    fs::rename(house.path("home/.ssh/id_ed25519"), house.path("key")).unwrap();
    let config = block("box", &host, &format!(" IdentityFile {}\n", house.path("key").display()));
    with_files(&house, &config, &json!({}));
    let mut agent = operator(&house);
    assert_eq!(exec(&mut agent, "box"), "[exit 0]\n", "its key is that of the file");
}

#[test]
fn a_line_that_starts_a_program_refuses_its_host_alone() {
    let host = Host::start();
    let house = house_of("open", "", "");
    host.admit(&house);
    let config = format!(
        "{}{}{}{}",
        block("box", &host, ""),
        block("proxied", &host, " ProxyCommand nc %h %p\n"),
        block("behind", &host, " ProxyJump proxied\n"),
        "Host *.corp\n HostName 10.0.0.1\n",
    );
    with_files(&house, &config, &json!({}));
    let mut agent = operator(&house);
    assert_eq!(exec(&mut agent, "box"), "[exit 0]\n");
    let refused = exec(&mut agent, "proxied");
    assert!(refused.contains("ssh_config:10: `ProxyCommand` starts a program"), "{refused}");
    let refused = exec(&mut agent, "behind");
    assert!(refused.contains("its jump `proxied` is out of reach"), "{refused}");
    let refused = exec(&mut agent, "db.corp");
    assert!(refused.contains("give it a `Host` line of its own"), "{refused}");
    assert_eq!(names(&mut agent), ["box"]);
}

/// A rule of the project holds for a host of a file by each of its names, and on each way through it.
#[test]
fn rules_see_the_hosts_of_files() {
    let host = Host::start();
    let house = house_of("open", "", "deny no-box { connects box }");
    host.admit(&house);
    let config =
        format!("{}{}", block("box", &host, ""), block("behind", &host, " ProxyJump box\n"));
    with_files(
        &house,
        &config,
        &json!({ "far": { "hostname": "10.0.0.9", "jump": "tester@box2:2222,behind" } }),
    );
    let mut agent = operator(&house);
    for name in ["box", "BOX", "127.0.0.1", "127.1", "behind", "far", "tester@box"] {
        let answer = exec(&mut agent, name);
        assert!(
            answer.starts_with("[DENIED") || answer.contains("out of reach"),
            "{name}: {answer}"
        );
    }
    assert_eq!(host.logins(), 0);
}

#[test]
fn a_malformed_file_refuses_the_start() {
    let refusals = [
        ("Host web\n Port many\n", json!({}), "ssh_config:2: "),
        ("", json!({ "web": { "prot": 22 } }), "hosts.json:1:"),
        ("", json!([]), "hosts.json:1:"),
    ];
    for (config, inventory, expected) in refusals {
        let house = house_of("open", "", "");
        with_files(&house, config, &inventory);
        let run = command(&house).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let house = house_of("open", "", "");
    configure(&house, "[ssh]\nconfig = \"missing\"");
    let run = command(&house).output().unwrap();
    assert!(String::from_utf8_lossy(&run.stderr).contains("missing"));
    assert_eq!(run.status.code(), Some(2));
}

fn read(agent: &mut Agent, uri: &str) -> Value {
    let read = agent.get("resources/read", json!({ "uri": uri }));
    let [content] = read["contents"].as_array().unwrap().as_slice() else { panic!("{read}") };
    assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!("application/json")));
    serde_json::from_str(content["text"].as_str().unwrap()).expect("JSON")
}

#[test]
fn resources_show_the_hosts_of_the_caller() {
    let host = Host::start();
    let hosts = format!(
        "hosts outside=permit {{ groups edge; {}; host db address=\"10.1.2.3\" }}",
        web(&host, &host.pin())
    );
    for protocol in PROTOCOLS {
        let house = house_of("open", &hosts, "deny no-db { host db }");
        with_files(&house, "Host box\n User me\nHost web\n User me\n", &json!({}));
        let mut agent = agent(&house, protocol);
        let listed = agent.get("resources/list", json!({}));
        let uris = ["relay-shell://inventory", "relay-shell://ssh-config"];
        let shown: Vec<_> =
            listed["resources"].as_array().unwrap().iter().map(|it| it["uri"].clone()).collect();
        assert_eq!(shown, uris);
        let templates = agent.get("resources/templates/list", json!({}));
        let template = "relay-shell://inventory/{host}";
        assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], template, "{templates}");
        let inventory = read(&mut agent, uris[0]);
        let names: Vec<_> =
            inventory.as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
        assert_eq!(names, ["box", "web"], "db is denied");
        assert_eq!(last(&house)["tool"], "resource:inventory");
        assert_eq!(said(&mut agent, "ssh_hosts", json!({})), format!("{inventory:#}"));
        let one = read(&mut agent, "relay-shell://inventory/web");
        assert_eq!((&one["user"], &one["groups"]), (&json!(USER), &json!(["edge"])));
        let record = last(&house);
        assert_eq!(
            (&record["tool"], &record["args"]["host"]),
            (&json!("resource:inventory_host"), &json!("web"))
        );
        assert_eq!(record["tier"], 0);
        let other = read(&mut agent, "relay-shell://inventory/new.example");
        assert_eq!(other["hostname"], "new.example", "an unknown name is passed through");
        assert_eq!(last(&house)["args"]["host"], "[11 characters]");
        for uri in [
            "relay-shell://inventory/db",
            "relay-shell://inventory/10.1.2.3",
            "relay-shell://inventory/",
            "relay-shell://inventory/a%2Fb",
            "relay-shell://nothing",
        ] {
            let (_, message) = agent.rejected("resources/read", json!({ "uri": uri }));
            assert!(message.contains("unknown resource"), "{uri}: {message}");
        }
        let config = read(&mut agent, uris[1]);
        assert_eq!(config["aliases"], json!(["box", "web"]), "it describes the file");
        assert!(config["path"].as_str().unwrap().ends_with("ssh_config"));
        assert_eq!(last(&house)["tool"], "resource:ssh-config");
        let completed = agent.get(
            "completion/complete",
            json!({
                "ref": { "type": "ref/resource", "uri": template },
                "argument": { "name": "host", "value": "w" },
            }),
        );
        assert_eq!(completed["completion"]["values"], json!(["web"]));
        assert_eq!(last(&house)["tool"], "complete:resource:inventory_host");
    }
}

#[test]
fn resources_about_hosts_are_bounded_and_for_callers_that_see_the_list() {
    let many: Vec<String> =
        (0..200).map(|number| format!("host h{number} address=\"10.0.0.{number}\"")).collect();
    let hosts = format!("hosts {{ {} }}", many.join("; "));
    let house = house_of("open", &hosts, "limits output=(bytes)\"1KiB\"");
    let mut agent = operator(&house);
    let read = agent.get("resources/read", json!({ "uri": "relay-shell://inventory" }));
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.len() < 1100 && text.ends_with(" bytes total, 1024 shown]"), "{text}");
    let house = House::of(&super::house::bundle_of(
        "project fleet epoch=1\ntools { ssh; diagnostics }\n\
         roles { role operator tier=3 { tools ssh_exec server_info } }\nusers { user op role=operator }\n\
         hosts { host web address=\"10.0.0.1\" }\npolicy open\n",
    ));
    let mut agent = operator(&house);
    assert_eq!(agent.get("resources/list", json!({}))["resources"], json!([]));
    let (_, message) =
        agent.rejected("resources/read", json!({ "uri": "relay-shell://inventory" }));
    assert!(message.contains("unknown resource"), "{message}");
}

/// The list is that of the bundle in force.
#[test]
fn a_new_bundle_has_other_hosts() {
    let project = |epoch: u32, host: &str| {
        super::house::bundle_of(&format!(
            "project fleet epoch={epoch}\ntools {{ ssh; diagnostics }}\nhosts {{ host {host} address=\"10.0.0.1\" }}\npolicy open\n"
        ))
    };
    let house = House::of(&project(1, "one"));
    house.write("hosts.json", json!({ "box": {} }).to_string());
    configure(&house, "[ssh]\ninventory = \"hosts.json\"");
    let mut agent = operator(&house);
    assert_eq!(names(&mut agent), ["box", "one"]);
    house.replace(&project(2, "two"));
    wait_until(|| names(&mut agent) == ["box", "two"]);
}
