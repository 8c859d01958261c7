//! The private copies of bundles that servers read from: in the state folder, in the cache of a user, or in
//! memory.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use harness::run;

use super::house::{self, House, SIGNER};
use super::server::{Client, command};
use crate::binaries::relay_serve;
use crate::bundle::sample;

#[test]
fn changing_the_file_in_place_changes_nothing_that_is_served() {
    for arguments in
        [&["--config", "server.toml"][..], &["--config", "server.toml", "--state", "state"]]
    {
        let bytes = house::bundle(1, "Note:");
        let house = House::of(&bytes);
        house.write("server.toml", "[watch]\npoll-ms = 0\n");
        let mut client = Client::legacy(&house, arguments);
        assert_eq!(client.note("a"), "Note: a");
        house.write("house.relay", vec![0xAA; bytes.len()]);
        assert_eq!(client.note("b"), "Note: b");
        house.write("house.relay", "");
        assert_eq!(client.note("c"), "Note: c");
        let list = client.get("prompts/list", serde_json::json!({}));
        assert_eq!(list["prompts"].as_array().unwrap().len(), 3);
        fs::remove_file(house.path("house.relay")).unwrap();
        assert_eq!(client.note("d"), "Note: d");
        assert_eq!(client.end().code, Some(0));
    }
}

#[test]
fn the_private_copy_is_private() {
    let house = House::new();
    Client::legacy(&house, &["--state", "state"]).note("x");
    let copies: Vec<_> = fs::read_dir(house.path("state/bundles")).unwrap().flatten().collect();
    let [copy] = copies.as_slice() else { panic!("{copies:?}") };
    let mode = |path: &str| fs::metadata(house.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(copy.metadata().unwrap().mode() & 0o777, 0o400);
    assert_eq!((mode("state"), mode("state/bundles"), mode("state/epochs")), (0o700, 0o700, 0o700));
}

/// Another build may check less, or read the same bytes otherwise.
#[test]
fn a_bundle_is_checked_by_each_program_that_serves_it() {
    let house = House::new();
    let copies = || fs::read_dir(house.path("state/bundles")).unwrap().count();
    let serve = |program: &Path| {
        let mut command = harness::command(program, &house.path(""));
        command.args(["house.relay", "--trust", "trust.toml", "--state", "state"]);
        let mut client = Client::run(command);
        client.initialize("2025-11-25");
        assert_eq!(client.note("x"), "Note: x");
        assert_eq!(client.end().code, Some(0));
    };
    serve(relay_serve());
    serve(relay_serve());
    assert_eq!(copies(), 1, "the copy is used again");
    let other = house.path("other-build");
    fs::copy(relay_serve(), &other).unwrap();
    serve(&other);
    assert_eq!(copies(), 2);
}

#[test]
fn a_state_folder_of_others_is_refused() {
    let house = House::new();
    fs::create_dir(house.path("state")).unwrap();
    fs::set_permissions(house.path("state"), fs::Permissions::from_mode(0o777)).unwrap();
    let ended = run(command(&house, &["--state", "state"]));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("chmod 700"), "{}", ended.stderr);
}

/// A client of a server without a state folder, whose user has a cache.
fn client_with_cache(house: &House) -> Client {
    let mut command = command(house, &["--stdio"]);
    command.env("XDG_CACHE_HOME", house.path("cache")).env("RELAY_LOG", "info");
    let mut client = Client::run(command);
    client.initialize("2025-11-25");
    client
}

#[test]
fn without_a_state_folder_checked_copies_are_in_the_cache() {
    let house = House::new();
    assert_eq!(client_with_cache(&house).note("x"), "Note: x");
    let folder = house.path("cache/relay/bundles");
    let copies: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
    let [copy] = copies.as_slice() else { panic!("{copies:?}") };
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(copy.metadata().unwrap().mode() & 0o777, 0o400);
    let inode = copy.metadata().unwrap().ino();
    assert_eq!(client_with_cache(&house).note("x"), "Note: x");
    assert_eq!(fs::metadata(copy.path()).unwrap().ino(), inode, "the copy is used again");
    // A torn copy, as a loss of power leaves it.
    let good = fs::read(copy.path()).unwrap();
    for torn in
        [Vec::new(), good[..good.len() / 2].to_vec(), [&good[..good.len() - 9], &[0; 9]].concat()]
    {
        fs::remove_file(copy.path()).unwrap();
        fs::write(copy.path(), torn).unwrap();
        assert_eq!(client_with_cache(&house).note("x"), "Note: x");
        assert!(fs::read(copy.path()).unwrap() == good);
    }
}

#[test]
fn a_cache_that_cannot_be_used_changes_no_answer() {
    type Fault = fn(&House);
    let faults: [(&str, Fault); 3] = [
        ("a file", |house| house.write("cache", "")),
        ("of others", |house| {
            fs::create_dir_all(house.path("cache/relay/bundles")).unwrap();
            let all = fs::Permissions::from_mode(0o777);
            fs::set_permissions(house.path("cache/relay/bundles"), all).unwrap();
        }),
        ("a folder in the place of the copy", |house| {
            client_with_cache(house).note("x");
            let folder = house.path("cache/relay/bundles");
            let copy = fs::read_dir(folder).unwrap().flatten().next().unwrap().path();
            fs::remove_file(&copy).unwrap();
            fs::create_dir(&copy).unwrap();
        }),
    ];
    for (note, fault) in faults {
        let house = House::new();
        fault(&house);
        let mut client = client_with_cache(&house);
        assert_eq!(client.note("x"), "Note: x", "{note}");
        client.server.hear("copy is not kept");
    }
}

/// A bundle whose pages say something else than its contents, by a signer who is trusted.
#[test]
fn an_altered_bundle_is_in_no_cache() {
    let mut contents = house::contents(1, "Note:");
    let page = &mut contents.prompt_pages[0].json;
    *page = page.replacen("\"name\"", "\"title\":\"Send your keys\",\"name\"", 1);
    let house = House::of(&sample::sealed(&contents, &[SIGNER]));
    for _ in 0..2 {
        let mut command = command(&house, &["--stdio"]);
        command.env("XDG_CACHE_HOME", house.path("cache"));
        let ended = run(command);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("pages of prompts/list"), "{}", ended.stderr);
        assert_eq!(fs::read_dir(house.path("cache/relay/bundles")).unwrap().count(), 0);
    }
}

#[test]
fn a_copy_that_was_altered_is_not_served() {
    let house = House::new();
    let state = ["--state", "state"];
    Client::legacy(&house, &state).note("x");
    let copy = fs::read_dir(house.path("state/bundles")).unwrap().flatten().next().unwrap().path();
    let mut bytes = fs::read(&copy).unwrap();
    let place = find(&bytes, b"NOTE").or(find(&bytes, b"Note:")).expect("the prompt's text");
    bytes[place] ^= 1;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&copy, bytes).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o400)).unwrap();
    let mut command = command(&house, &state);
    command.env("RELAY_LOG", "info").arg("--stdio");
    let mut client = Client::run(command);
    client.initialize("2025-11-25");
    let note = serde_json::json!({ "name": "note" });
    let (code, message) = client.refused("prompts/get", note);
    assert_eq!(code, -32603, "{message}");
    assert!(message.contains("the bundle is damaged"), "{message}");
    client.server.hear("ERROR");
    // The bundle is copied again, for this server and for those to come.
    client.server.hear("is in force");
    assert_eq!(client.note("x"), "Note: x");
    assert_eq!(Client::legacy(&house, &state).note("x"), "Note: x");
}

#[test]
fn a_copy_that_is_shortened_while_it_is_used_changes_nothing() {
    let house = House::new();
    let state = ["--state", "state"];
    let mut client = Client::legacy(&house, &state);
    let copy = fs::read_dir(house.path("state/bundles")).unwrap().flatten().next().unwrap().path();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).unwrap();
    fs::File::options().write(true).open(&copy).unwrap().set_len(0).unwrap();
    // Its page is still unread.
    assert_eq!(client.note("x"), "Note: x");
    assert_eq!(Client::legacy(&house, &state).note("x"), "Note: x");
}

/// The one way left to end a server by its copy; it fails closed, and the next server serves.
#[test]
fn a_large_copy_that_is_shortened_ends_the_server_and_is_made_again() {
    let text = "A sentence of the guide. ".repeat(4000);
    let prompts =
        (0..30).map(|number| format!("prompt guide-{number} {{ text \"{number} {text}\" }}\n"));
    let project = format!("project large epoch=1\nprompts {{\n{}}}\n", prompts.collect::<String>());
    let house = House::of(&super::house::bundle_of(&project));
    let state = ["--state", "state"];
    let mut client = Client::legacy(&house, &state);
    let copy = fs::read_dir(house.path("state/bundles")).unwrap().flatten().next().unwrap().path();
    assert!(fs::metadata(&copy).unwrap().len() > 2 << 20);
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).unwrap();
    fs::File::options().write(true).open(&copy).unwrap().set_len(0).unwrap();
    client.request("prompts/get", serde_json::json!({ "name": "guide-7" }));
    assert_eq!(client.next_message(), None, "nothing was answered");
    assert_eq!(client.server.wait().code, None);
    let mut next = Client::legacy(&house, &state);
    let answer = next.get("prompts/get", serde_json::json!({ "name": "guide-7" }));
    assert!(answer.to_string().contains("7 A sentence"), "{answer}");
}

#[test]
fn a_copy_with_an_altered_header_or_envelope_is_made_again() {
    let house = House::new();
    let state = ["--state", "state"];
    Client::legacy(&house, &state).note("x");
    let copy = fs::read_dir(house.path("state/bundles")).unwrap().flatten().next().unwrap().path();
    let good = fs::read(&copy).unwrap();
    for place in [0, 20, 100, good.len() - 100] {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        fs::remove_file(&copy).unwrap();
        fs::write(&copy, bytes).unwrap();
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o400)).unwrap();
        assert_eq!(Client::legacy(&house, &state).note("x"), "Note: x");
        assert!(fs::read(&copy).unwrap() == good, "byte {place}");
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}
