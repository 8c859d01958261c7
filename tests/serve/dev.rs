//! `relay dev`: a project that is served while it is edited.

use std::cell::Cell;
use std::fs;
use std::net::TcpStream;
use std::process::Command;

use harness::Process;
use serde_json::json;

use super::house::House;
use super::server::{Client, LEGACY, wait_until};
use super::web::{Request, Web};
use crate::binaries::relay;

const PROJECT: &str = "\
/- kdl-version 2
project shop version=\"1\" epoch=1
prompts {
    folder notes
}
";

/// A project with the prompt `naming`.
fn project() -> House {
    let house = House::new();
    fs::create_dir_all(house.path("shop/notes")).unwrap();
    house.write("shop/project.kdl", PROJECT);
    write_note(&house, "naming", "Names are short.");
    house
}

fn write_note(house: &House, name: &str, text: &str) {
    let text = format!("---\ndescription: About {name}\n---\n{text}\n");
    house.write(&format!("shop/notes/{name}.md"), text);
}

/// Makes the command `relay dev shop`.
fn dev(house: &House, arguments: &[&str]) -> Command {
    let mut command = harness::command(relay(), &house.path(""));
    command.args(["dev", "shop"]).args(arguments).env("HOME", house.path("home"));
    command
}

fn over_http(house: &House) -> Web {
    Web::run(house, dev(house, &["--http", "127.0.0.1:0"]))
}

/// Returns the text of a prompt, if the server has it.
fn text(web: &Web, name: &str) -> Option<String> {
    let answer = web.send(&Request::modern("prompts/get", json!({ "name": name }))).json();
    let text = &answer["result"]["messages"][0]["content"]["text"];
    text.as_str().map(|text| text.trim_end().to_owned())
}

fn await_text(web: &Web, name: &str, expected: Option<&str>) {
    wait_until(|| text(web, name).as_deref() == expected);
}

#[test]
fn a_changed_file_is_built_and_served() {
    let house = project();
    let web = over_http(&house);
    assert_eq!(text(&web, "naming").as_deref(), Some("Names are short."));
    assert!(web.server.log().contains("watching 2 files and 1 folder\n"));
    write_note(&house, "naming", "Names are long.");
    await_text(&web, "naming", Some("Names are long."));
    let log = web.server.hear("rebuilt in ");
    assert!(log.contains("contexts 1 (prompt `naming`)"), "{log}");
    // A file that replaces another, as editors write it.
    house.write("shop/new", "---\ndescription: D\n---\nNames are names.\n");
    fs::rename(house.path("shop/new"), house.path("shop/notes/naming.md")).unwrap();
    await_text(&web, "naming", Some("Names are names."));
}

#[test]
fn a_file_that_never_rests_is_built() {
    let house = project();
    let web = over_http(&house);
    let times = Cell::new(0);
    wait_until(|| {
        times.set(times.get() + 1);
        write_note(&house, "naming", &format!("Names are written {} times.", times.get()));
        text(&web, "naming").is_some_and(|text| text.starts_with("Names are written"))
    });
}

#[test]
fn files_that_come_and_go_in_a_listed_folder_are_noticed() {
    let house = project();
    let web = over_http(&house);
    write_note(&house, "money", "Money is EUR.");
    await_text(&web, "money", Some("Money is EUR."));
    // A folder in it that was empty when it was listed.
    fs::create_dir(house.path("shop/notes/deep")).unwrap();
    write_note(&house, "deep/dates", "Dates are ISO 8601.");
    await_text(&web, "deep/dates", Some("Dates are ISO 8601."));
    fs::remove_file(house.path("shop/notes/money.md")).unwrap();
    await_text(&web, "money", None);
}

#[test]
fn a_faulty_build_is_printed_and_the_last_good_bundle_stays() {
    let house = project();
    let web = over_http(&house);
    house.write("shop/project.kdl", format!("{PROJECT}promts {{}}\n"));
    let log = web.server.hear("not built: 1 error; the last good bundle stays in force");
    assert!(log.contains("did you mean `prompts`?"), "{log}");
    assert_eq!(text(&web, "naming").as_deref(), Some("Names are short."));
    house.write("shop/project.kdl", PROJECT);
    web.server.hear("repaired: the project is again that of the bundle in force");
    // A fault at the same time as another change: the repair takes both.
    house.write("shop/project.kdl", format!("{PROJECT}prompts {{\n"));
    web.server.hear("is not closed");
    write_note(&house, "naming", "Names are long.");
    house.write("shop/project.kdl", PROJECT);
    await_text(&web, "naming", Some("Names are long."));
}

#[test]
fn a_document_that_is_gone_may_come_back() {
    let house = project();
    let web = over_http(&house);
    let path = house.path("shop/project.kdl");
    fs::remove_file(&path).unwrap();
    web.server.hear("cannot read `shop/project.kdl`: the file or folder does not exist");
    assert_eq!(text(&web, "naming").as_deref(), Some("Names are short."));
    let other = PROJECT.replace("folder notes", "prompt inline { summary \"S\"; text \"T\" }");
    house.write("shop/project.kdl", other);
    await_text(&web, "inline", Some("T"));
}

#[test]
fn the_first_good_build_starts_the_server() {
    let house = project();
    house.write("shop/project.kdl", PROJECT.replace("folder notes", "folder missing"));
    let mut web = Process::start(dev(&house, &["--http", "127.0.0.1:0"]));
    let log = web.hear("not built: 1 error; the first build without errors starts the server");
    assert!(!log.contains("/mcp"), "{log}");
    // The missing folder is watched for.
    fs::rename(house.path("shop/notes"), house.path("shop/missing")).unwrap();
    web.hear("/mcp\n");
    web.signal("TERM");
    web.wait();
}

#[test]
fn the_server_ends_when_its_parent_is_killed() {
    for signal in ["KILL", "TERM", "INT"].into_iter().filter(|it| !Process::ignores(it)) {
        let house = project();
        let mut web = over_http(&house);
        web.server.signal(signal);
        assert_eq!(web.server.wait().code, None);
        wait_until(|| TcpStream::connect(&web.address).is_err());
    }
}

#[test]
fn a_server_that_cannot_start_ends_the_run() {
    let house = project();
    let web = over_http(&house);
    let ended = harness::run(dev(&house, &["--http", &web.address]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("relay-serve: "), "{ended:?}");
    let ended = harness::run(dev(&house, &["--", "--nonsense"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let ended = harness::run(dev(&house, &["--env", "x", "--strict"]));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
}

#[test]
fn a_session_on_standard_input_lives_over_a_rebuild() {
    let house = project();
    let mut client = Client::run(dev(&house, &[]));
    client.initialize(LEGACY);
    write_note(&house, "money", "Money is EUR.");
    assert_eq!(client.notified()["method"], "notifications/prompts/list_changed");
    let answer = client.get("prompts/get", json!({ "name": "money" }));
    assert_eq!(answer["messages"][0]["content"]["text"], "Money is EUR.\n");
    let ended = client.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn requests_on_standard_input_wait_for_the_first_good_build() {
    let house = project();
    house.write("shop/project.kdl", PROJECT.replace("prompts {", "prompts"));
    let mut client = Client::run(dev(&house, &["--stdio"]));
    client.server.hear("the first build without errors starts the server");
    let request = client.request("prompts/get", super::server::modern(json!({ "name": "naming" })));
    house.write("shop/project.kdl", PROJECT);
    let answer = client.answer(request);
    let text = &answer["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "Names are short.\n", "{answer}");
    assert_eq!(client.end().code, Some(0));
}

#[test]
fn a_client_that_leaves_before_the_first_good_build_ends_the_run() {
    let house = project();
    house.write("shop/project.kdl", "nothing");
    let ended = harness::run(dev(&house, &["--stdio"]));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.contains("the client left before the first good build"), "{ended:?}");
}

#[test]
fn a_project_that_cannot_be_read_at_the_start_is_an_error() {
    let house = project();
    let mut command = harness::command(relay(), &house.path(""));
    command.args(["dev", "shp"]).env("HOME", house.path("home"));
    let ended = harness::run(command);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(!house.path("home/.local").exists(), "no key is made");
    let mut command = dev(&house, &[]);
    let ended = harness::run({
        command.env("CI", "true");
        command
    });
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("CI is set"), "{ended:?}");
}
