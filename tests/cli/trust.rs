//! `relay trust`: lists and edits a trust file.

use crate::cli::{Run, Sandbox};

/// Every key of a trust file, with comments; the public keys are those of docs/server.md.
const FULL: &str = r#"# Who may sign for the house.
version = 3          # with the release of May
project = "house"
threshold = 2
min-epoch = 40
allow-digests = ["sha256:06e72ef1642d0d44a89b4944b2810ab11b96c7f01b088c39626b2844d83d011a"]

[require]            # of the signatures that count
review = 1

[[keys]]             # replaced
name = "ci-2025"
id = "2ce9aa3ece708f5e"
public = "ed25519:N6ISwwutfCogpHb8Fy6XFYMDMhUlQ0ehX+rDBcxcw70="
roles = ["build"]
not-before = 2019-01-01
not-after = 2020-06-01T00:00:00Z

[[keys]]
name = "ci"
public = "ed25519:vvXx+nOYCoWPOUrGtt5DcHogdP9f85ryfsK5m1HZyQo="
roles = ["build"]

[[keys]]
name = "reviewer"
public = "ed25519:DeNPPRCSQEVmZH3j5FgntHBZZQEouxo0Zu6FCdoO6mM="
roles = ["review"]

[[keys]]
name = "lost-laptop"
public = "ed25519:2A+ZTfJb0JtS+aLc4AVU/pIQiCcb8DxRAxZDa50+L6k="
roles = ["review"]

[revoked]            # and why
keys = [
    "21650aa284786f5a",  # lost-laptop, in a train
]
digests = ["sha256:0b10ecb9358475a896d38cd76395f9a05cb40ad5f8d645491fcb18f36cd8f7c7"]
# The end.
"#;

/// A folder with the keys `one` and `two`, a bundle of the minimal example signed by `one`, and
/// `trust.toml` for it.
fn signed() -> Sandbox {
    let sandbox = Sandbox::example("minimal");
    let trust = sandbox.relay("keygen -o one").ends(0).stdout;
    sandbox.write("trust.toml", &trust);
    sandbox.relay("keygen -o two").ends(0);
    sandbox.relay("build minimal -q --key one.key -o x.relay").ends(0).silent();
    sandbox
}

fn trusted(sandbox: &Sandbox, code: i32) -> Run {
    sandbox.relay("verify x.relay --trust trust.toml").ends(code)
}

/// The lines that are only in the new text.
fn added(old: &str, new: &str) -> Vec<String> {
    let mut old: Vec<&str> = old.lines().collect();
    let mut added = Vec::new();
    for line in new.lines() {
        match old.iter().position(|other| *other == line) {
            Some(at) => drop(old.drain(..=at)),
            None => added.push(line.to_owned()),
        }
    }
    added
}

#[test]
fn a_new_file_is_as_keygen_prints_it() {
    let sandbox = signed();
    let run = sandbox.relay("trust add new.toml --key one.pub").ends(0).silent();
    assert!(run.stdout.ends_with("wrote `new.toml`, version 1\n"), "{}", run.stdout);
    assert_eq!(sandbox.read("new.toml"), sandbox.read("trust.toml"));
    sandbox
        .relay("trust add roles.toml --key two.pub --role review --min-epoch 7")
        .ends(0)
        .silent();
    let list = sandbox.relay("trust list roles.toml --json").ends(0).json();
    assert_eq!((&list["version"], &list["min_epoch"]), (&1.into(), &7.into()));
    assert_eq!(list["keys"][0]["roles"], serde_json::json!(["review"]));
}

#[test]
fn a_second_key_is_trusted_until_it_is_revoked() {
    let sandbox = signed();
    sandbox.relay("trust add trust.toml --key two.pub --min-epoch 1").ends(0).silent();
    sandbox.relay("build minimal -q --key two.key -o x.relay").ends(0);
    trusted(&sandbox, 0);
    let run = sandbox.relay("trust revoke trust.toml two").ends(0);
    assert!(run.stdout.ends_with("wrote `trust.toml`, version 3\n"), "{}", run.stdout);
    run.says("note: with a new version servers forget the highest epoch");
    trusted(&sandbox, 1).prints("key is revoked");
    let before = sandbox.read("trust.toml");
    sandbox.relay("trust revoke trust.toml two").ends(0).says("is revoked already");
    assert_eq!(sandbox.read("trust.toml"), before);
}

#[test]
fn a_bundle_is_revoked_by_its_file_or_its_digest() {
    for by_file in [true, false] {
        let sandbox = signed();
        let digest = sandbox.relay("inspect x.relay --json").json()["digest"].clone();
        let digest = digest.as_str().expect("a digest");
        let named = if by_file { "x.relay" } else { digest };
        let run = sandbox.relay(&format!("trust revoke trust.toml {named}")).ends(0);
        assert!(run.stdout.starts_with(&format!("revoked {digest}\n")), "{}", run.stdout);
        trusted(&sandbox, 1).prints("is revoked by the trust file");
    }
}

#[test]
fn an_edit_keeps_comments_and_layout() {
    let sandbox = signed();
    sandbox.write("full.toml", FULL);
    sandbox
        .relay(
            "trust add full.toml --key two.pub --role review --role build --role review --not-after 2999-01-01",
        )
        .ends(0);
    let with_key = sandbox.read("full.toml");
    let public = sandbox.read("two.pub");
    let public = public.split(' ').next().expect("a key");
    let list = sandbox.relay("trust list full.toml --json").ends(0).json();
    let expected = [
        "version = 4          # with the release of May".to_owned(),
        "[[keys]]".to_owned(),
        "name = \"two\"".to_owned(),
        format!("id = {}", list["keys"][4]["id"]),
        format!("public = \"{public}\""),
        "roles = [\"build\", \"review\"]".to_owned(),
        "not-after = 2999-01-01".to_owned(),
    ];
    let lines: Vec<String> = added(FULL, &with_key);
    assert_eq!(
        lines.iter().filter(|line| !line.is_empty()).collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
    assert!(with_key.ends_with("# The end.\n"), "{with_key}");

    sandbox.relay("trust revoke full.toml ci --min-epoch 41").ends(0);
    let revoked = sandbox.read("full.toml");
    let id = list["keys"][1]["id"].as_str().expect("an id");
    assert_eq!(
        added(&with_key, &revoked),
        [
            "version = 5          # with the release of May",
            "min-epoch = 41",
            &format!("    \"{id}\","),
        ]
    );
    assert!(revoked.contains("\"21650aa284786f5a\",  # lost-laptop, in a train\n"), "{revoked}");
}

#[test]
fn every_layout_can_be_edited() {
    let sandbox = signed();
    let one = sandbox.relay("trust list trust.toml --json").ends(0).json()["keys"][0].clone();
    let entry = format!("{{ name = \"one\", public = {} }}", one["public"]);
    let id = one["id"].as_str().expect("an id");
    let digest = format!("sha256:{}", "ab".repeat(32));
    for text in [
        format!("version = 1\nkeys = [{entry}]\n"),
        format!("version = 1\nkeys = [\n  {entry} # one\n]\n# end"),
        format!("version = 1\nrevoked.digests = []\nkeys = [{entry},]\n"),
        format!("version = 1\nrevoked = {{ keys = [\n] }}\nkeys = [{entry}]"),
        format!(
            "version=1\r\n[revoked]\r\nkeys = []\r\n[[keys]]\r\nname=\"one\"\r\npublic={}\r\n",
            one["public"]
        ),
    ] {
        sandbox.write("other.toml", &text);
        sandbox.relay("trust add other.toml --key two.pub").ends(0);
        sandbox.relay(&format!("trust revoke other.toml {id}")).ends(0);
        sandbox.relay(&format!("trust revoke other.toml {digest}")).ends(0);
        let list = sandbox.relay("trust list other.toml --json").ends(0).json();
        let states = [&list["keys"][0]["state"], &list["keys"][1]["state"]];
        assert_eq!(states, ["revoked", "good"], "{}", sandbox.read("other.toml"));
        assert_eq!(list["revoked_digests"], serde_json::json!([digest]));
        assert_eq!(list["version"], 4);
        for comment in ["# one", "# end"].iter().filter(|comment| text.contains(**comment)) {
            assert!(sandbox.read("other.toml").contains(comment), "{}", sandbox.read("other.toml"));
        }
    }
}

#[test]
fn a_wrong_edit_changes_nothing() {
    let sandbox = signed();
    sandbox.write("full.toml", FULL);
    sandbox.write("last.toml", "version = 9223372036854775807\n");
    sandbox.write("bad.toml", "version = 1\nthreshold = 0\n");
    std::os::unix::fs::symlink("missing.toml", sandbox.path("link.toml")).expect("a link");
    let two = sandbox.read("two.pub");
    let two = two.split(' ').next().expect("a key");
    let add = "trust add full.toml";
    let table: &[(&str, &str)] = &[
        ("trust add trust.toml --key one.pub", "has this key already"),
        ("trust add trust.toml --key two.pub --name one", "another key with the name `one`"),
        (&format!("trust add trust.toml {two}"), "help: write --name NAME"),
        ("trust add trust.toml two.pub", "write `relay trust add trust.toml --key two.pub`"),
        ("trust add trust.toml --key two.key", "help: give the file that ends with `.pub`"),
        ("trust add trust.toml --key missing.pub", "the file does not exist"),
        ("trust add trust.toml", "needs <PUB>"),
        (&format!("{add} --key two.pub --role Review"), "did you mean `review`?"),
        ("trust add new.toml --key two.pub --role Review", "help: nothing was written"),
        ("trust add full.toml --key two.pub --name=", "help: write --name NAME"),
        (&format!("{add} --key two.pub --not-after soon"), "`soon` is not a date"),
        (&format!("{add} --key two.pub --not-after 2020-01-01"), "is in the past"),
        (&format!("{add} --key two.pub --min-epoch 39"), "below the file's min-epoch 40"),
        ("trust add last.toml --key two.pub", "larger than TOML can write"),
        ("trust add bad.toml --key two.pub", "threshold is 0"),
        ("trust add link.toml --key two.pub", "the file does not exist"),
        ("trust revoke full.toml lost-laptob", "did you mean `lost-laptop`?"),
        ("trust revoke full.toml frobnicate", "help: `relay trust list full.toml` lists the keys"),
        ("trust revoke full.toml sha256:ab", "is not a digest"),
        ("trust revoke full.toml one.pub", "`one.pub`"),
        ("trust remove full.toml lost-laptob", "did you mean `lost-laptop`?"),
        ("trust remove trust.toml x.relay", "is not among the allowed bundles"),
        ("trust allow full.toml reviewer", "is a key, and `allow` takes a bundle"),
        ("trust allow full.toml x.relay", "min-epoch of the file is 40"),
        (
            "trust allow full.toml sha256:0b10ecb9358475a896d38cd76395f9a05cb40ad5f8d645491fcb18f36cd8f7c7",
            "is revoked, which counts more",
        ),
        ("trust threshold trust.toml 0", "`0` is not a value"),
        ("trust threshold trust.toml", "needs <N>"),
        ("trust revoke missing.toml one", "`relay keygen` prints a trust file"),
        ("trust list missing.toml", "`relay keygen` prints a trust file"),
        ("trust list bad.toml", "threshold is 0"),
    ];
    let names = ["trust.toml", "full.toml", "last.toml", "bad.toml"];
    let before = names.map(|name| sandbox.read(name));
    let files = sandbox.files();
    for (line, reason) in table {
        let run = sandbox.relay(line).ends(2).says(reason);
        assert_eq!(run.stdout, "", "{line}");
        assert_eq!(names.map(|name| sandbox.read(name)), before, "{line}");
        assert_eq!(sandbox.files(), files, "{line}");
    }
}

#[test]
fn a_key_of_which_the_threshold_needs_is_revoked_with_a_warning() {
    let sandbox = signed();
    let last = sandbox.relay("trust revoke trust.toml one").ends(0);
    last.says("warning: no bundle is trusted with this file: 0 keys of 1 that must sign")
        .says("help: add a key with `relay trust add`");
    sandbox.write("full.toml", FULL);
    let run = sandbox.relay("trust revoke full.toml reviewer").ends(0);
    run.says("1 key of 2 that must sign").says("0 keys of 1 with the role `review`");
    let list = sandbox.relay("trust list full.toml --json").ends(0).silent().json();
    assert_eq!(list["unmet"].as_array().map(Vec::len), Some(2));
}

#[test]
fn keys_of_one_name_are_told_apart_by_their_ids() {
    let sandbox = signed();
    sandbox.write("full.toml", &FULL.replace("name = \"ci-2025\"", "name = \"ci\""));
    let run =
        sandbox.relay("trust revoke full.toml ci").ends(2).says("several keys have the name `ci`");
    assert!(run.stderr.contains("2ce9aa3ece708f5e, "), "{}", run.stderr);
    sandbox.relay("trust revoke full.toml 2ce9aa3ece708f5e").ends(0);
}

#[test]
fn the_list_for_people() {
    let sandbox = Sandbox::of(&[("full.toml", FULL)]);
    crate::cli::snapshot("trust_list", &sandbox.relay("trust list full.toml").ends(0).stdout);
}

#[test]
fn the_threshold_is_set_and_bundles_below_it_are_refused() {
    let sandbox = signed();
    sandbox.relay("trust add trust.toml --key two.pub").ends(0);
    sandbox.relay("trust threshold trust.toml 2").ends(0).prints("threshold 1 → 2\n");
    assert!(sandbox.read("trust.toml").contains("threshold = 2    # the number of keys"));
    trusted(&sandbox, 1).prints("1 of 2 signatures");
    sandbox.relay("trust threshold trust.toml 2").ends(0).says("the threshold is 2 already");
    sandbox.relay("trust threshold trust.toml 3").ends(0).says("`relay trust threshold`");
    sandbox.relay("trust threshold trust.toml 1").ends(0);
    trusted(&sandbox, 0);
}

#[test]
fn a_bundle_is_allowed_and_the_exception_ends() {
    let sandbox = signed();
    let before = sandbox.read("trust.toml");
    sandbox.relay("trust allow trust.toml x.relay").ends(0).prints("allowed sha256:");
    let digest = sandbox.relay("verify x.relay --trust trust.toml --json").ends(0).json();
    let digest = digest["digest"].as_str().expect("a digest").to_owned();
    assert!(sandbox.read("trust.toml").contains(&format!("allow-digests = [\"{digest}\"]")));
    sandbox.relay("trust allow trust.toml x.relay").ends(0).says("is allowed already");
    sandbox
        .relay("trust remove trust.toml x.relay")
        .ends(0)
        .prints("from the bundles that are allowed");
    let after = sandbox.read("trust.toml");
    assert!(!after.contains(&digest), "{after}");
    let keys = |text: &str| text.split_once("[[keys]]").expect("a key").1.to_owned();
    assert_eq!(keys(&before), keys(&after));
}

#[test]
fn a_key_is_removed_and_the_others_keep_their_layout() {
    let sandbox = signed();
    sandbox.write("full.toml", FULL);
    sandbox
        .relay("trust remove full.toml ci-2025")
        .ends(0)
        .prints("removed 2ce9aa3ece708f5e `ci-2025`");
    let left = sandbox.read("full.toml");
    assert!(!left.contains("ci-2025") && left.contains("name = \"ci\"\n"), "{left}");
    assert!(left.contains("\"21650aa284786f5a\",  # lost-laptop, in a train"), "{left}");
    // What is revoked stays so.
    let kept = sandbox.relay("trust remove full.toml lost-laptop").ends(2);
    kept.says("is revoked, and a revoked key keeps its entry");
    assert_eq!(sandbox.read("full.toml"), left);
    sandbox.relay("trust remove trust.toml one").ends(0).says("no bundle is trusted");
    trusted(&sandbox, 1);
}
