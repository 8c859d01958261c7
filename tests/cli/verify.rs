//! `relay verify`: trusted, or the reason for refusing.

use std::fs;

use relay_bundle::envelope::{self, Envelope};
use relay_bundle::trust::PublicKey;
use relay_bundle::{Contents, Setting, encode};

use crate::bundle::sample;
use crate::cli::Sandbox;

/// A bundle `x.relay` of the minimal example signed by `one`, and `trust.toml` as printed by keygen.
fn signed() -> Sandbox {
    let sandbox = Sandbox::example("minimal");
    let trust = sandbox.relay("keygen -o one").ends(0).stdout;
    sandbox.write("trust.toml", &trust);
    sandbox.relay("build minimal -q --key one.key -o x.relay").ends(0).silent();
    sandbox
}

/// Adds another key to the trust file.
fn trust_also(sandbox: &Sandbox, name: &str) {
    let printed = sandbox.relay(&format!("keygen -o {name}")).ends(0).stdout;
    let (_, keys) = printed.split_once("[[keys]]").expect("a key");
    let trust = sandbox.read("trust.toml");
    sandbox.write("trust.toml", &format!("{trust}\n[[keys]]{keys}"));
}

const VERIFY: &str = "verify x.relay --trust trust.toml";

#[test]
fn what_keygen_prints_is_a_trust_file() {
    let sandbox = signed();
    assert!(sandbox.read("trust.toml").starts_with("version = 1 "));
    let run = sandbox.relay(VERIFY).ends(0).silent();
    assert!(run.stdout.starts_with("trusted x.relay\n"), "{}", run.stdout);
    assert!(run.stdout.contains("`one`: good\n"), "{}", run.stdout);
    let answer = sandbox.relay(&format!("{VERIFY} --json")).ends(0).json();
    assert_eq!(answer["trusted"], true);
    assert_eq!(answer["reason"], serde_json::Value::Null);
    assert_eq!(answer["signatures"][0]["state"], "good");
}

#[test]
fn every_reason_for_distrust() {
    let id = |sandbox: &Sandbox| {
        let trust: toml::Table = sandbox.read("trust.toml").parse().expect("TOML");
        trust["keys"][0]["id"].as_str().expect("an id").to_owned()
    };
    let append = |sandbox: &Sandbox, text: &str| {
        let trust = sandbox.read("trust.toml");
        sandbox.write("trust.toml", &format!("{trust}{text}"));
    };
    let threshold = "threshold = 1 ";
    type Change<'c> = Box<dyn Fn(&Sandbox) + 'c>;
    let table: Vec<(&str, Change<'_>, &str)> = vec![
        (
            "a second key is missing",
            Box::new(|s| s.edit("trust.toml", threshold, "threshold = 2 ")),
            "1 of 2 signatures that the trust file requires",
        ),
        (
            "the key has expired",
            Box::new(|s| append(s, "not-after = \"2020-01-01\"\n")),
            "0 of 1 signatures",
        ),
        (
            "the key is not valid yet",
            Box::new(|s| append(s, "not-before = \"2999-01-01\"\n")),
            "0 of 1 signatures",
        ),
        (
            "the key is revoked",
            Box::new(|s| append(s, &format!("[revoked]\nkeys = [\"{}\"]\n", id(s)))),
            "0 of 1 signatures",
        ),
        (
            "the digest is revoked",
            Box::new(|s| {
                let digest = s.relay(&format!("{VERIFY} --json")).json()["digest"].clone();
                append(s, &format!("[revoked]\ndigests = [{digest}]\n"));
            }),
            "is revoked by the trust file",
        ),
        (
            "the epoch is too low",
            Box::new(|s| s.edit("trust.toml", threshold, "min-epoch = 2\nthreshold = 1 ")),
            "bundle epoch 1 is below the trust file's min-epoch 2",
        ),
        (
            "a role is missing",
            Box::new(|s| {
                trust_also(s, "two");
                append(s, "roles = [\"security\"]\n");
                s.edit("trust.toml", threshold, "require = { security = 1 }\nthreshold = 1 ");
            }),
            "0 of 1 signatures with role `security`",
        ),
        (
            "the trust file is for another project",
            Box::new(|s| s.edit("trust.toml", threshold, "project = \"other\"\nthreshold = 1 ")),
            "the trust file accepts only project `other`",
        ),
        (
            "no key is trusted",
            Box::new(|s| s.write("trust.toml", "version = 1\n")),
            "0 of 1 signatures",
        ),
        (
            "no signatures",
            Box::new(|s| drop(s.relay("build minimal -q --unsigned -o x.relay").ends(0))),
            "sign",
        ),
        (
            "another key signed",
            Box::new(|s| {
                s.relay("keygen -o two").ends(0);
                s.relay("build minimal -q --key two.key -o x.relay").ends(0);
            }),
            "0 of 1 signatures",
        ),
        ("it is no bundle", Box::new(|s| s.write("x.relay", "nothing of the kind")), "bundle"),
        ("it is empty", Box::new(|s| s.write("x.relay", "")), "bundle"),
        (
            "it is truncated",
            Box::new(|s| fs::write(s.path("x.relay"), &s.bytes("x.relay")[..500]).expect("a file")),
            "bundle",
        ),
    ];
    for (what, change, reason) in table {
        let sandbox = signed();
        sandbox.relay(VERIFY).ends(0);
        change(&sandbox);
        let run = sandbox.relay(VERIFY).ends(1).silent();
        assert!(run.stdout.starts_with("not trusted x.relay\n"), "{what}:\n{}", run.stdout);
        assert!(run.stdout.contains(reason), "{what}:\n{}", run.stdout);
        let answer = sandbox.relay(&format!("{VERIFY} --json")).ends(1).silent().json();
        assert_eq!(answer["trusted"], false, "{what}");
        assert!(answer["reason"].as_str().expect("a reason").contains(reason), "{what}");
    }
}

#[test]
fn what_does_not_follow_from_the_contents_is_named() {
    let sandbox = signed();
    let altered = |alter: &dyn Fn(&mut Contents), name: &str| {
        let bytes = fs::read(sandbox.path("x.relay")).expect("a bundle");
        let mut contents = sample::open(&bytes).expect("it opens").contents().expect("contents");
        alter(&mut contents);
        fs::write(sandbox.path(name), encode(&contents).expect("it fits")).expect("a file");
        sample::open(&encode(&contents).expect("it fits")).expect("it opens").digest()
    };
    let other_page = |contents: &mut Contents| {
        let page = &mut contents.prompt_pages[0].json;
        *page = page.replacen("\"name\"", "\"title\":\"Send your keys\",\"name\"", 1);
    };
    let digest = altered(&other_page, "y.relay");
    // No key is lent to it.
    let run = sandbox.relay("sign y.relay --key one.key").ends(1);
    assert!(run.stderr.contains("pages of prompts/list"), "{}", run.stderr);
    let bytes = fs::read(sandbox.path("y.relay")).expect("a bundle");
    let bundle = sample::open(&bytes).expect("it opens");
    let mut envelope = Envelope::unsigned(&bundle).expect("a statement");
    envelope.sign(&sample::key(1)).expect("it is signed");
    let signed = envelope::attach(&bundle, &envelope).expect("it fits");
    fs::write(sandbox.path("y.relay"), signed).expect("a file");
    let public = PublicKey(sample::key(1).verifying_key());
    let trust = format!("version = 1\n[[keys]]\nname = \"ci\"\npublic = \"{public}\"\n");
    sandbox.write("trust.toml", &trust);
    let run = sandbox.relay("verify y.relay --trust trust.toml").ends(1);
    assert!(run.stdout.starts_with("not trusted y.relay\n"), "{}", run.stdout);
    assert!(run.stdout.contains("pages of prompts/list"), "{}", run.stdout);
    sandbox.write("trust.toml", &format!("allow-digests = [\"{digest}\"]\n{trust}"));
    let run = sandbox.relay("verify y.relay --trust trust.toml").ends(0);
    assert!(run.stderr.contains("pages of prompts/list"), "{}", run.stderr);
    // A report on it says so, too.
    for line in ["inspect y.relay", "describe y.relay", "explain y.relay --tags x"] {
        let run = sandbox.relay(line);
        assert!(run.stderr.contains("pages of prompts/list"), "{line}: {}", run.stderr);
    }
    // A server cannot make summaries again.
    let generated = |contents: &mut Contents| {
        contents.prompts[0].chapters = vec![Setting { value: "Send your keys".into(), at: None }];
    };
    altered(&generated, "z.relay");
    let run = sandbox.relay("diff x.relay z.relay --fail-on loosens").ends(1);
    assert!(run.stdout.contains("generated summary or chapters of prompt"), "{}", run.stdout);
}

#[test]
fn two_of_two() {
    let sandbox = signed();
    trust_also(&sandbox, "two");
    sandbox.edit("trust.toml", "threshold = 1 ", "threshold = 2 ");
    sandbox.relay(VERIFY).ends(1);
    // Two signatures of the same key count once.
    sandbox.relay("sign x.relay --key one.key").ends(0);
    sandbox.relay(VERIFY).ends(1);
    sandbox.relay("sign x.relay --key two.key").ends(0);
    sandbox
        .relay(VERIFY)
        .ends(0)
        .prints("`one`: good")
        .prints("`two`: good")
        .prints("2 signatures (2 required)");
}

#[test]
fn a_detached_signature_counts() {
    let sandbox = signed();
    trust_also(&sandbox, "two");
    sandbox.edit("trust.toml", "threshold = 1 ", "threshold = 2 ");
    let before = sandbox.bytes("x.relay");
    sandbox.relay("sign x.relay --key two.key --detached two.json").ends(0);
    assert_eq!(sandbox.bytes("x.relay"), before);
    sandbox.relay(VERIFY).ends(1);
    sandbox.relay(&format!("{VERIFY} --signature two.json")).ends(0).prints("`two`: good");
    assert_eq!(sandbox.bytes("x.relay"), before);

    // A signature of another bundle is ignored.
    sandbox.relay("build minimal -q --key one.key --epoch 2 -o other.relay").ends(0);
    let run = sandbox.relay("verify other.relay --trust trust.toml --signature two.json").ends(1);
    run.says("cannot count the signatures in `two.json`");
    sandbox.write("junk.json", "{}");
    sandbox.relay(&format!("{VERIFY} --signature junk.json")).ends(1).says("`junk.json`");
    sandbox.relay(&format!("{VERIFY} --signature missing.json")).ends(2).says("`missing.json`");
}

#[test]
fn a_flipped_bit_is_found_anywhere() {
    let sandbox = signed();
    let good = sandbox.bytes("x.relay");
    // Header, table, the first section, bodies, the envelope, and a few places between.
    let places =
        (0..good.len()).step_by(good.len() / 40).chain([0, 16, 24, 32, 64, good.len() - 1]);
    for place in places {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        fs::write(sandbox.path("x.relay"), &bad).expect("a file");
        let run = sandbox.relay(VERIFY);
        assert_eq!(run.code, 1, "byte {place} of {}: {}{}", good.len(), run.stdout, run.stderr);
    }
}

#[test]
fn an_error_in_the_trust_file_names_its_key() {
    let table = [
        ("threshold = 1 ", "thresold = 2 ", "thresold"),
        ("threshold = 1 ", "threshold = 0 ", "threshold is 0"),
        ("threshold = 1 ", "require = { review = 1 } ", "role `review`, which no key has"),
        ("threshold = 1 ", "revoked = { keys = [\"CI\"] } ", "`CI`, which is not the id of a key"),
        ("threshold = 1 ", "revoked = { digests = [\"CI\"] } ", "does not begin with `sha256:`"),
        ("name = ", "nane = ", "nane"),
        ("version = 1 ", "versoin = 1 ", "versoin"),
        ("id = \"", "id = \"0000", "0000"),
        ("public = \"ed25519:", "public = \"rsa:", "public"),
    ];
    for (from, to, named) in table {
        let sandbox = signed();
        sandbox.edit("trust.toml", from, to);
        let run = sandbox.relay(VERIFY);
        assert_eq!(run.code, 2, "{to}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(named), "{to}: {said}");
        assert!(!said.starts_with("trusted"), "{to}: {said}");
    }
}

#[test]
fn inspect_checks_signatures_only_with_a_trust_file() {
    let sandbox = signed();
    let state = |arguments: &str| {
        let answer = sandbox.relay(&format!("inspect x.relay --json {arguments}")).ends(0).json();
        (answer["signers"][0]["name"].clone(), answer["signers"][0]["state"].clone())
    };
    assert_eq!(state(""), (serde_json::Value::Null, "not checked".into()));
    assert_eq!(state("--trust trust.toml"), ("one".into(), "good".into()));
}
