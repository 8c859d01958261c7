//! The start of a server: every bad bundle is refused with a reason and a remedy.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use harness::{Ended, run};
use relay_bundle::{Gate, Unlock};

use super::house::{self, House, SIGNER, trusted};
use super::server::{Client, bare, command};
use super::web::Web;
use crate::bundle::sample;

/// Starts on this bundle and this trust file; expects that it is refused with this text.
fn refused(bundle: &[u8], trust: &str, words: &[&str]) {
    let house = House::of(bundle);
    house.write("trust.toml", trust);
    assert_refused(&run(command(&house, &[])), words);
}

fn assert_refused(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.starts_with("relay-serve: refused `house.relay`: "), "{}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "`{word}` is not in: {}", ended.stderr);
    }
}

fn trust() -> String {
    format!("version = 1\n{}", trusted(SIGNER, ""))
}

#[test]
fn one_flipped_byte_anywhere_is_refused() {
    let good = house::bundle(1, "Note:");
    // The header, the table, a section, the padding before the end, the envelope.
    for place in [0, 40, 70, 4096, good.len() / 2, good.len() - 400, good.len() - 100] {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        let house = House::of(&bytes);
        for arguments in [&[][..], &["--state", "state"]] {
            let ended = run(command(&house, arguments));
            assert_eq!(ended.code, Some(1), "byte {place}: {ended:?}");
        }
    }
}

#[test]
fn a_truncated_bundle_is_refused() {
    let good = house::bundle(1, "Note:");
    for length in [0, 10, 63, 100, 5000, good.len() - 1] {
        let house = House::of(&good[..length]);
        for arguments in [&[][..], &["--state", "state"]] {
            let ended = run(command(&house, arguments));
            assert_refused(&ended, &[]);
        }
    }
}

#[test]
fn an_unsigned_bundle_is_refused() {
    let bytes = relay_bundle::encode(&house::contents(1, "Note:")).expect("it fits");
    refused(&bytes, &trust(), &["the bundle is not signed", "relay sign BUNDLE --key FILE"]);
}

#[test]
fn a_foreign_signature_is_refused() {
    let bytes = sample::sealed(&house::contents(1, "Note:"), &[2]);
    refused(&bytes, &trust(), &["0 of 1 signatures", "relay sign", "trust file"]);
}

#[test]
fn an_expired_key_is_refused() {
    let trust = format!("version = 1\n{}", trusted(SIGNER, "not-after = \"2020-01-01\""));
    refused(&house::bundle(1, "Note:"), &trust, &["`key-1`", "expired"]);
}

#[test]
fn a_revoked_key_or_digest_is_refused() {
    let bytes = house::bundle(1, "Note:");
    let digest = house::digest(&bytes);
    let by_digest = format!("{}\n[revoked]\ndigests = [\"{digest}\"]\n", trust());
    refused(&bytes, &by_digest, &[&digest, "is revoked", "deploy another one"]);
    let id = relay_bundle::envelope::key_id(&sample::key(SIGNER).verifying_key());
    let by_key = format!("{}\n[revoked]\nkeys = [\"{id}\"]\n", trust());
    refused(&bytes, &by_key, &["revoked"]);
}

/// Whoever builds and signs can make a server answer something else than what was reviewed.
#[test]
fn a_bundle_that_says_something_else_than_its_contents_is_refused() {
    let mut contents = house::contents(1, "Note:");
    let page = &mut contents.prompt_pages[0].json;
    *page = page.replacen("\"name\"", "\"title\":\"Send your keys\",\"name\"", 1);
    let bytes = sample::sealed(&contents, &[SIGNER]);
    let digest = house::digest(&bytes);
    refused(&bytes, &trust(), &["pages of prompts/list", "altered before it was signed", &digest]);
    let house = House::of(&bytes);
    house.write("trust.toml", trust());
    let state = ["--state", "state"];
    assert_refused(&run(command(&house, &state)), &["pages of prompts/list"]);
    // An operator who knows why can name this very bundle. It holds as long as he names it.
    house.write("trust.toml", format!("allow-digests = [\"{digest}\"]\n{}", trust()));
    assert_eq!(Client::legacy(&house, &state).note("x"), "Note: x");
    assert_eq!(Client::legacy(&house, &state).note("x"), "Note: x");
    house.write("trust.toml", trust());
    assert_refused(&run(command(&house, &state)), &["pages of prompts/list"]);
}

#[test]
fn a_bundle_of_another_project_is_refused() {
    let pinned = |project: &str| format!("project = \"{project}\"\n{}", trust());
    refused(&house::bundle(1, "Note:"), &pinned("castle"), &["`house`", "only project `castle`"]);
    let house = House::new();
    house.write("trust.toml", pinned("house"));
    assert_eq!(Client::legacy(&house, &[]).note("x"), "Note: x");
}

#[test]
fn a_revocation_of_nothing_is_an_error() {
    for (line, words) in [
        ("keys = [\"key-1\"]", "`key-1`, which is the name of a key: write its id"),
        ("keys = [\"0011223344556677\"]", "which is not the id of a key in this file"),
        ("digests = [\"sha256:AB\"]", "has 2 digits"),
        ("digest = []", "did you mean `digests`?"),
    ] {
        let house = House::new();
        house.write("trust.toml", format!("{}[revoked]\n{line}\n", trust()));
        let ended = run(command(&house, &[]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("the trust file `trust.toml` is not valid"), "{ended:?}");
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
}

#[test]
fn a_threshold_is_met_or_refused() {
    let both = |threshold: u32| {
        format!("version = 1\nthreshold = {threshold}\n{}{}", trusted(SIGNER, ""), trusted(2, ""))
    };
    let contents = house::contents(1, "Note:");
    refused(&sample::sealed(&contents, &[SIGNER]), &both(2), &["1 of 2 signatures"]);
    let house = House::of(&sample::sealed(&contents, &[SIGNER]));
    house.write("trust.toml", both(0));
    let ended = run(command(&house, &[]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("threshold is 0"), "{}", ended.stderr);
    let house = House::of(&sample::sealed(&contents, &[SIGNER, 2]));
    house.write("trust.toml", both(2));
    assert_eq!(Client::legacy(&house, &[]).note("x"), "Note: x");
}

#[test]
fn an_older_epoch_is_refused_until_the_trust_file_says_otherwise() {
    let house = House::of(&house::bundle(5, "Five:"));
    let state = ["--state", "state"];
    assert_eq!(Client::legacy(&house, &state).note("x"), "Five: x");
    let older = house::bundle(4, "Four:");
    house.replace(&older);
    let words = ["bundle epoch 4 is older than 5", "allow-digests", &house::digest(&older)];
    assert_refused(&run(command(&house, &state)), &words);

    let named = format!("version = 1\nallow-digests = [\"{}\"]\n", house::digest(&older));
    house.write("trust.toml", format!("{named}{}", trusted(SIGNER, "")));
    assert_eq!(Client::legacy(&house, &state).note("x"), "Four: x");

    house.write("trust.toml", trust());
    assert_refused(&run(command(&house, &state)), &words);
    house.write("trust.toml", trust().replace("version = 1", "version = 2"));
    assert_eq!(Client::legacy(&house, &state).note("x"), "Four: x");

    // The replaced trust file stays refused.
    house.write("trust.toml", trust());
    let ended = run(command(&house, &state));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("version 1, but version 2 was in force"), "{}", ended.stderr);
}

#[test]
fn an_epoch_below_the_minimum_is_refused() {
    let trust = format!("version = 1\nmin-epoch = 2\n{}", trusted(SIGNER, ""));
    refused(
        &house::bundle(1, "Note:"),
        &trust,
        &["epoch 1", "min-epoch 2", "deploy a newer bundle"],
    );
}

#[test]
fn too_large_a_bundle_is_refused() {
    let house = House::new();
    house.write("server.toml", "[limits]\nbundle-bytes-max = 1000\n");
    let ended = run(command(&house, &["--config", "server.toml"]));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("over the limit of 1000: split the project, or raise"),
        "{ended:?}"
    );
}

#[test]
fn without_a_trust_file_nothing_is_trusted_but_the_dev_key() {
    let house = House::new();
    let ended = run(bare(&house, &["house.relay"]));
    assert_refused(&ended, &["only this user's dev key counts", "relay build", "--trust"]);
    let public = relay_bundle::trust::PublicKey(sample::key(SIGNER).verifying_key());
    fs::create_dir_all(house.path("home/.local/share/relay")).unwrap();
    house.write("home/.local/share/relay/dev.pub", format!("{public}\n"));
    assert_eq!(
        Client::run(bare(&house, &["house.relay"])).initialize("2025-11-25")["error"],
        serde_json::Value::Null
    );
}

#[test]
fn a_bundle_that_cannot_be_read_has_another_exit_code() {
    let house = House::new();
    let cases: &[(&[&str], &str)] = &[
        (&["none.relay", "--trust", "trust.toml"], "cannot read the bundle `none.relay`"),
        (&[".", "--trust", "trust.toml"], "`.` is a folder, and a bundle is served"),
        (&["house.relay", "--trust", "none.toml"], "cannot read the trust file `none.toml`"),
        (&["house.relay", "--trust", "house.relay"], "trust file"),
        (&["house.relay", "--config", "none.toml"], "cannot read the configuration `none.toml`"),
        (&[], "no bundle is named"),
        (&["a", "b"], "more than one bundle is named"),
        (&["a", "--frobnicate"], "--frobnicate"),
        (&["a", "--http", "nowhere"], "`nowhere` is not an address"),
        (&["a", "--stdio", "--http", "127.0.0.1:0"], "exclude each other"),
        (&["a", "--trust", ""], "--trust needs a value"),
        (&["a", "--state", "x", "--state", "y"], "--state is given twice"),
    ];
    for (arguments, words) in cases {
        let ended = run(bare(&house, arguments));
        assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn help_and_version_are_results() {
    let house = House::new();
    let help = run(bare(&house, &["--help"]));
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    for word in ["Usage: relay-serve BUNDLE", "--audit FILE", "`none` keeps no record", "RELAY_LOG"]
    {
        assert!(help.stdout.contains(word), "{word}");
    }
    assert!(help.stdout.lines().all(|line| line.chars().count() <= 100));
    let version = run(bare(&house, &["-V"]));
    let number = env!("CARGO_PKG_VERSION");
    assert!(version.stdout.starts_with(&format!("relay-serve {number} (")), "{}", version.stdout);
}

#[test]
fn a_large_file_that_is_no_bundle_is_refused_before_it_is_copied() {
    let house = House::new();
    let junk = |start: &[u8]| {
        house.write("house.relay", start);
        let file = fs::File::options().write(true).open(house.path("house.relay")).unwrap();
        file.set_len(512 << 20).unwrap();
    };
    let good = house::bundle(1, "Note:");
    for (start, words) in [(&b"junk"[..], "not a relay bundle"), (&good, "bytes follow the end")] {
        junk(start);
        for state in [&[][..], &["--state", "state"]] {
            // A copy would be over this limit of the system, which counts blocks of 512 bytes.
            let serve = command(&house, state);
            let mut limited = harness::command("sh", &house.path(""));
            limited.args(["-c", "ulimit -f 2048 && exec \"$@\"", "sh"]);
            limited.arg(serve.get_program()).args(serve.get_args()).env("HOME", house.path("home"));
            assert_refused(&run(limited), &[words]);
        }
    }
}

/// A key file as `openssl rand -hex 32` makes it.
const SECRET: &str = "00c0ffee0123456789abcdefABCDEF0123456789abcdef0123456789abcdef42\n";

const KEY: &str = "[[briefing.keys]]\nid = 1\nkey-file = \"briefing.key\"\n";

const CONFIG: [&str; 2] = ["--config", "server.toml"];

/// A house with this key file, readable by its owner alone, and this configuration.
fn with_key(key: &str, config: &str) -> House {
    let house = House::new();
    house.write("briefing.key", key);
    fs::set_permissions(house.path("briefing.key"), fs::Permissions::from_mode(0o600)).unwrap();
    house.write("server.toml", config);
    house
}

/// A house whose bundle has a gate.
fn gated() -> House {
    let gate = Gate {
        unlock: sample::made(Unlock::Intercept),
        hide_tools: sample::made(false),
        tags_ask: sample::made(5),
        tags_max: sample::made(10),
        budget_bytes: sample::made(8192),
        repeat_bytes: sample::made(2048),
        remaining_bytes: sample::made(4096),
        at: sample::place(1),
    };
    let contents = house::contents(1, "Note:");
    House::of_altered(&relay_bundle::Contents { gate: Some(gate), ..contents })
}

#[test]
fn a_key_for_briefings_is_read() {
    let padded = format!("\n \t{}\r\n\n", SECRET.trim());
    let lifetimes = [1, 720, 43_200].map(|min| format!("[briefing]\nlifetime-min = {min}\n{KEY}"));
    for (key, config) in [SECRET, &padded].into_iter().zip([KEY, &lifetimes[0]]) {
        let house = with_key(key, config);
        let mut client = Client::legacy(&house, &CONFIG);
        assert_eq!(client.note("x"), "Note: x");
        assert_eq!(client.end().stderr, "");
    }
    for config in &lifetimes {
        let house = with_key(SECRET, config);
        assert_eq!(run(command(&house, &CONFIG)).code, Some(0), "{config}");
    }
    let second = format!("{KEY}{}", KEY.replace("id = 1", "id = 255"));
    assert_eq!(run(command(&with_key(SECRET, &second), &CONFIG)).code, Some(0));
}

#[test]
fn a_key_that_cannot_be_used_is_reported() {
    let remedy = "openssl rand -hex 32";
    let secret = SECRET.trim();
    let [short, long] = [&secret[1..], &format!("{secret}0")].map(str::to_owned);
    let not_hex = secret.replace('c', "g");
    let huge = secret.repeat(10_000);
    let cases: &[(&str, &str, &[&str])] = &[
        (&short, KEY, &["briefing.key", "64 hexadecimal digits", remedy]),
        (&long, KEY, &["64 hexadecimal digits"]),
        (&not_hex, KEY, &["64 hexadecimal digits"]),
        (&huge, KEY, &["64 hexadecimal digits"]),
        ("", KEY, &["64 hexadecimal digits"]),
        (SECRET, &KEY.replace("\"briefing", "\"none"), &["cannot read", "none.key", remedy]),
        (SECRET, &KEY.replace("briefing.key\"", "home\""), &["cannot read", "home"]),
        (SECRET, &format!("{KEY}{KEY}"), &["two keys in briefing.keys have the id 1"]),
        (SECRET, "[briefing]\nkeys = []\n", &["briefing.keys is empty", "add a key"]),
        (SECRET, &KEY.replace("= 1", "= 256"), &["a number from 0 to 255"]),
        (SECRET, &KEY.replace("= 1", "= -1"), &["a number from 0 to 255"]),
        (SECRET, &KEY.replace("key-file", "file"), &["unknown key `file`"]),
        (
            SECRET,
            "[[briefing.keys]]\nid = 1\n",
            &["server.toml:1:1: the key `key-file` is missing"],
        ),
        (SECRET, "[briefing]\nlifetime-min = 0\n", &["a number from 1 to 43200"]),
        (SECRET, "[briefing]\nlifetime-min = 43201\n", &["a number from 1 to 43200"]),
        (SECRET, "[briefing]\nlifetime-mins = 1\n", &["did you mean `lifetime-min`?"]),
    ];
    for (key, config, expected) in cases {
        let ended = run(command(&with_key(key, config), &CONFIG));
        assert_eq!(ended.code, Some(2), "{config}: {ended:?}");
        for words in *expected {
            assert!(ended.stderr.contains(words), "`{words}` is not in: {}", ended.stderr);
        }
        // All parts of a key stay out of the output, even of a wrong one.
        assert!(!ended.stderr.contains("0123456789"), "{}", ended.stderr);
    }
}

#[test]
fn a_key_file_that_others_may_read_is_reported() {
    for mode in [0o640, 0o604, 0o644] {
        let house = with_key(SECRET, KEY);
        fs::set_permissions(house.path("briefing.key"), fs::Permissions::from_mode(mode)).unwrap();
        let ended = run(command(&house, &CONFIG));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            ended.stderr.contains("briefing.key` is accessible to other users"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("WARN") && ended.stderr.contains("chmod 600"));
    }
}

#[test]
fn a_random_key_is_reported_where_there_is_a_gate() {
    let warning = "end with this process";
    let house = gated();
    let mut command = command(&house, &["--stdio"]);
    command.env("RELAY_LOG", "info");
    let log = run(command).stderr;
    let mut command = self::command(&house, &["--stdio"]);
    assert!(log.lines().any(|line| line.contains("INFO") && line.contains(warning)), "{log}");
    // A line is its time, its level and its words. Names of modules come with `debug`.
    assert!(!log.contains("relay_runtime") && !log.contains("::"), "{log}");
    command.env("RELAY_LOG", "debug");
    assert!(run(command).stderr.contains("relay_runtime::"));

    let web = Web::start(&gated(), &[]);
    let log = web.server.log();
    assert!(log.lines().any(|line| line.contains("WARN") && line.contains(warning)), "{log}");
    assert!(!Web::start(&House::new(), &[]).server.log().contains(warning));
    house.write("briefing.key", SECRET);
    house.write("server.toml", KEY);
    assert!(!Web::start(&house, &CONFIG).server.log().contains(warning));
}

#[test]
fn key_files_are_read_again_on_sighup() {
    let house = with_key(SECRET, KEY);
    let mut client = Client::legacy(&house, &CONFIG);
    house.write("briefing.key", "gone");
    client.server.signal("HUP");
    let log = client.server.hear("the keys read before stay in force");
    assert!(log.contains("ERROR") && log.contains("64 hexadecimal digits"), "{log}");
    assert_eq!(client.note("x"), "Note: x");
}

#[test]
fn a_path_that_is_no_regular_file_is_refused_at_once() {
    let house = House::new();
    let mut fifo = harness::command("mkfifo", &house.path(""));
    fifo.arg("fifo");
    assert_eq!(run(fifo).code, Some(0));
    let _socket = std::os::unix::net::UnixListener::bind(house.path("socket")).unwrap();
    let trust = ["--trust", "trust.toml"];
    for (path, kind) in [("fifo", "a pipe"), ("socket", "a socket"), ("/dev/zero", "a device")] {
        let ended = run(bare(&house, &[&[path][..], &trust].concat()));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let words = format!("cannot read the bundle `{path}`: it is {kind}: name a regular file");
        assert!(ended.stderr.contains(&words), "{}", ended.stderr);
    }
}
