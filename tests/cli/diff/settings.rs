//! Trust files and `server.toml`: who may sign and who is admitted, as a reviewer reads it.

use relay_bundle::trust::PublicKey;

use crate::bundle::sample;
use crate::cli::Sandbox;

fn key(number: u8, extra: &str) -> String {
    let public = PublicKey(sample::key(number).verifying_key());
    format!("[[keys]]\nname = \"key-{number}\"\npublic = \"{public}\"\n{extra}\n")
}

/// The directions and names of what differs between two files.
fn found(before: &str, after: &str) -> Vec<String> {
    let sandbox = Sandbox::new();
    sandbox.write("a.toml", before);
    sandbox.write("b.toml", after);
    let forms = ["diff --trust a.toml b.toml --json", "diff a.toml b.toml --json"];
    let [one, other] = forms.map(|arguments| sandbox.relay(arguments).ends(0).json());
    assert_eq!(one, other);
    let findings = one["projects"][0]["findings"].as_array().expect("findings").clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let words = |it: &serde_json::Value| {
        let of = &it["subject"];
        let words =
            [text(&it["direction"]), text(&of["kind"]), text(&of["name"]), text(&it["part"])];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    findings.iter().map(words).collect()
}

#[test]
fn more_that_may_sign_loosens() {
    let head = "version = 1\nthreshold = 2\nproject = \"p\"\nmin-epoch = 4\n";
    let base = format!("{head}{}{}", key(1, "roles = [\"release\"]"), key(2, ""));
    let id = |number| relay_bundle::envelope::key_id(&sample::key(number).verifying_key());
    let third = format!("key-3 {}", id(3));
    let cases: Vec<(String, Vec<String>)> = vec![
        (base.clone(), vec![]),
        (format!("{base}{}", key(3, "")), vec![format!("loosens key {third}")]),
        (base.replace("threshold = 2", "threshold = 1"), vec!["loosens trust threshold".into()]),
        (base.replace("threshold = 2", "threshold = 3"), vec!["tightens trust threshold".into()]),
        (base.replace("project = \"p\"\n", ""), vec!["loosens trust project".into()]),
        (base.replace("min-epoch = 4", "min-epoch = 3"), vec!["loosens trust min-epoch".into()]),
        (base.replace("version = 1", "version = 2"), vec!["loosens trust version".into()]),
        (
            base.replace("[\"release\"]", "[\"release\", \"root\"]"),
            vec![format!("loosens key key-1 {} roles", id(1))],
        ),
        (
            format!("{base}not-after = 2030-01-01\n"),
            vec![format!("tightens key key-2 {} not-after", id(2))],
        ),
        (
            format!("{base}[revoked]\nkeys = [\"{}\"]\n", id(1)),
            vec!["tightens trust revoked key".into()],
        ),
        (
            format!("allow-digests = [\"sha256:{}\"]\n{base}", "0".repeat(64)),
            vec!["loosens trust allowed bundle".into()],
        ),
    ];
    for (after, expected) in cases {
        assert_eq!(found(&base, &after), expected, "{after}");
        let reversed = found(&after, &base);
        assert_eq!(reversed.len(), expected.len(), "{after}");
        for (there, back) in expected.iter().zip(&reversed) {
            let is_loose = |words: &str| words.starts_with("loosens");
            assert!(is_loose(there) || is_loose(back) || there.contains("version"), "{after}");
        }
    }
}

#[test]
fn callers_that_a_server_admits_loosen() {
    let base = "listen = \"127.0.0.1:1\"\n[[auth.api-keys]]\nid = \"ana\"\nsha256 = \"00\"\nprincipal = \"ana\"\n";
    let bob = "[[auth.api-keys]]\nid = \"bob\"\nsha256 = \"11\"\nprincipal = \"bob\"\n";
    let both = format!("{base}{bob}");
    assert_eq!(found(base, base), Vec::<String>::new());
    assert_eq!(found(base, &both), ["loosens server auth.api-keys.bob"]);
    assert_eq!(found(&both, base), ["tightens server auth.api-keys.bob"]);
    let none = "listen = \"127.0.0.1:1\"\n";
    assert_eq!(found(base, none), ["loosens server auth.api-keys.ana"]);
    let tenant = format!("{base}tenant = \"acme\"\n");
    assert_eq!(found(base, &tenant), ["loosens server auth.api-keys.ana.tenant"]);
    assert_eq!(found(&tenant, base), ["loosens server auth.api-keys.ana.tenant"]);
    let limits = format!("{base}[limits]\nbody-bytes-max = 5\n");
    assert_eq!(found(base, &limits), ["none server limits.body-bytes-max"]);
    // Texts that look alike differ, and so do two entries of one id.
    let groups = |list: &str| format!("{base}groups = {list}\n");
    let found_groups = found(&groups("[\"a, b\"]"), &groups("[\"a\", \"b\"]"));
    assert_eq!(found_groups, ["loosens server auth.api-keys.ana.groups"]);
    let twin = format!("{base}{}", base.split_once('\n').unwrap().1);
    assert_eq!(found(base, &twin), ["loosens server auth.api-keys.ana (again)"]);
    let keys = |one: u8, two: u8| {
        let key = |id| format!("[[briefing.keys]]\nid = {id}\nkey-file = \"{id}\"\n");
        format!("{base}{}{}", key(one), key(two))
    };
    assert_eq!(found(&keys(1, 2), &keys(2, 1)), ["loosens server briefing.keys.first"]);
    let other = base.replace("127.0.0.1:1", "0.0.0.0:1");
    assert_eq!(found(base, &other), ["loosens server listen"]);
}

#[test]
fn no_secret_is_printed_and_none_changes_in_silence() {
    let sandbox = Sandbox::new();
    sandbox.write("a.toml", "client-secret = \"hunter22\"\n");
    sandbox.write("b.toml", "client-secret = \"hunter33\"\n");
    let run = sandbox.relay("diff a.toml b.toml --fail-on loosens").ends(1);
    assert!(run.stdout.contains("client-secret"), "{}", run.stdout);
    assert!(!run.stdout.contains("hunter"), "{}", run.stdout);
}

#[test]
fn files_of_two_kinds_are_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("trust.toml", &format!("version = 1\n{}", key(1, "")));
    sandbox.write("server.toml", "listen = \"127.0.0.1:1\"\n");
    let run = sandbox.relay("diff trust.toml server.toml").ends(2);
    assert!(run.stderr.contains("files of two kinds"), "{}", run.stderr);
    sandbox.write("broken.toml", "listen = [\n");
    let run = sandbox.relay("diff server.toml broken.toml").ends(2);
    assert!(run.stderr.contains("`broken.toml` is not TOML"), "{}", run.stderr);
    // A committed file alone is compared with the last commit.
    for line in ["init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm one"] {
        let mut git = sandbox.command("git");
        git.args(line.split(' '));
        assert_eq!(harness::run(git).code, Some(0), "{line}");
    }
    sandbox.write("server.toml", "listen = \"0.0.0.0:1\"\n");
    let run = sandbox.relay("diff server.toml --exit-code").ends(1);
    assert!(run.stdout.contains("server `listen`"), "{}", run.stdout);
}
