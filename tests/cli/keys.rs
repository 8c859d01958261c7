//! `relay keygen` and `relay sign`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cli::Sandbox;

#[test]
fn a_new_key() {
    let sandbox = Sandbox::new();
    let run = sandbox.relay("keygen -o release.v2").ends(0);
    assert_eq!(sandbox.files(), ["release.v2.key", "release.v2.pub"]);
    let mode =
        |file: &str| fs::metadata(sandbox.path(file)).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode("release.v2.key"), 0o600);
    assert_eq!(mode("release.v2.pub"), 0o644);
    assert!(sandbox.read("release.v2.key").starts_with("-----BEGIN PRIVATE KEY-----\n"));
    let public = sandbox.read("release.v2.pub");
    let (public, name) = public.trim_end().split_once(' ').expect("a key and its name");
    assert_eq!(name, "release.v2");
    assert!(run.stdout.contains(&format!("public = \"{public}\"")), "{}", run.stdout);
    let trust: toml::Table = run.stdout.parse().expect("TOML");
    assert_eq!(trust["version"].as_integer(), Some(1));
    assert_eq!(trust["keys"][0]["name"].as_str(), Some("release.v2"));
}

#[test]
fn without_a_name_the_key_is_called_relay() {
    let sandbox = Sandbox::new();
    sandbox.relay("keygen").ends(0).says("keep it secret");
    assert_eq!(sandbox.files(), ["relay.key", "relay.pub"]);
}

#[test]
fn a_key_is_never_replaced() {
    for there in ["ci.key", "ci.pub"] {
        let sandbox = Sandbox::of(&[(there, "Mine.\n")]);
        let run = sandbox.relay("keygen -o ci").ends(2);
        let run = run.says(&format!("`{there}` already exists, and keys are never replaced"));
        assert_eq!(run.stdout, "");
        assert_eq!(sandbox.read(there), "Mine.\n");
        assert_eq!(sandbox.files(), [there]);
    }
}

#[test]
fn two_keys_are_two_keys() {
    let sandbox = Sandbox::new();
    sandbox.relay("keygen -o one").ends(0);
    sandbox.relay("keygen -o two").ends(0);
    assert_ne!(sandbox.read("one.key"), sandbox.read("two.key"));
    assert_eq!(sandbox.secrets().len(), 8, "the search for secrets in outputs finds both keys");
}

#[test]
fn a_readable_private_key_is_warned_of() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o ci").ends(0);
    sandbox.relay("build minimal -q --key ci.key").ends(0).silent();
    fs::set_permissions(sandbox.path("ci.key"), fs::Permissions::from_mode(0o644)).expect("ours");
    sandbox
        .relay("build minimal -q --key ci.key")
        .ends(0)
        .says("warning: others can read or change the private key `ci.key`")
        .says("chmod 600 ci.key");
}

#[test]
fn signing_adds_and_prints_the_digest() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o one").ends(0);
    sandbox.relay("keygen -o two").ends(0);
    let built = sandbox.relay("build minimal --unsigned -o x.relay --format json").ends(0).json();
    let run =
        sandbox.relay("sign x.relay --key one.key --key two.key").ends(0).says("(2 signatures)");
    assert_eq!(run.stdout.trim_end(), built["bundle"]["digest"]);
    let signers = sandbox.relay("inspect x.relay --json").ends(0).json()["signers"].clone();
    assert_eq!(signers.as_array().map(Vec::len), Some(2));
    // Signing during the build gives the same file.
    sandbox.relay("build minimal --key one.key --key two.key -o y.relay").ends(0);
    assert_eq!(sandbox.bytes("x.relay"), sandbox.bytes("y.relay"));
}

#[test]
fn an_altered_bundle_is_not_signed() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o ci").ends(0);
    sandbox.relay("build minimal --unsigned -o x.relay").ends(0);
    let mut file = sandbox.bytes("x.relay");
    let text = b"imperative";
    let at = file.windows(text.len()).position(|window| window == text).expect("it is in a body");
    file[at] ^= 1;
    fs::write(sandbox.path("x.relay"), &file).expect("a file");
    sandbox.relay("sign x.relay --key ci.key").ends(2).says("error:");
    assert_eq!(sandbox.bytes("x.relay"), file);
    sandbox
        .relay("sign minimal/project.kdl --key ci.key")
        .ends(2)
        .says("`minimal/project.kdl` is a project");
    sandbox.relay("sign minimal --key ci.key").ends(2).says("`minimal` is a folder");
}

#[test]
fn a_detached_signature_replaces_no_other_file() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o ci").ends(0);
    sandbox.relay("build minimal --unsigned -o x.relay").ends(0);
    let before = sandbox.bytes("x.relay");
    sandbox.write("notes.txt", "Mine.\n");
    sandbox
        .relay("sign x.relay --key ci.key --detached notes.txt")
        .ends(2)
        .says("`notes.txt` exists and is not a signature envelope");
    assert_eq!(sandbox.read("notes.txt"), "Mine.\n");
    sandbox.relay("sign x.relay --key ci.key --detached x.json").ends(0);
    let envelope = sandbox.read("x.json");
    assert!(envelope.contains("\"payloadType\""), "{envelope}");
    sandbox.relay("sign x.relay --key ci.key --detached x.json").ends(0);
    assert_eq!(sandbox.read("x.json"), envelope);
    assert_eq!(sandbox.bytes("x.relay"), before);
}
