//! `relay build`: its output, the files it writes, and those it refuses to overwrite.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::cli::{Run, Sandbox, project, run, snapshot};

#[test]
fn human_output() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o ci").ends(0);
    let run = sandbox.relay("build minimal --key ci.key").ends(0).silent();
    snapshot("build_human", &masked(&run.stdout));
    assert!(!run.stdout.contains("section"), "{}", run.stdout);
    let verbose = sandbox.relay("build minimal --key ci.key --verbose").ends(0).silent();
    snapshot("build_verbose", &masked(&verbose.stdout));
    sandbox.relay("build minimal --verbose --quiet").ends(2);
}

#[test]
fn json_output() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o ci").ends(0);
    let built = sandbox.relay("build minimal --key ci.key --format json").ends(0).silent().json();
    let bundle = &built["bundle"];
    assert_eq!(bundle["path"], "minimal/minimal.relay");
    assert_eq!(bundle["bytes"], sandbox.bytes("minimal/minimal.relay").len());
    assert_eq!(bundle["signers"][0]["name"], "ci");
    assert_eq!(bundle["counts"]["prompts"], 2);
    assert_eq!(bundle["counts"]["variants"], 4);
    assert_eq!(bundle["epoch"], 1);
    assert_eq!(built["report"]["errors"], 0);
    let wrong = Sandbox::of(&[("project.kdl", "prompts\n")]);
    let built = wrong.relay("build . --unsigned --format json").ends(1).silent().json();
    assert_eq!(built["bundle"], Value::Null);
    assert_eq!(built["report"]["errors"], 1);
    assert_eq!(wrong.files(), ["project.kdl"]);
}

#[test]
fn the_texts_of_a_gate_are_measured() {
    let gated = "gate on { index cap=1 }\ntools { diagnostics }\n\
                 messages { session-greeting \"\"; gate-instructions \"{{prompt_index}}\" }\n\
                 prompts { prompt a priority=8 { description \"Of A\"; text \"A\" }\n\
                           prompt b { summary \"Of B\"; text \"B\" } }\n";
    let text = format!("project small version=\"1.0.0\" epoch=1\n{gated}");
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    let built = sandbox.relay("build . --unsigned --format json").ends(0).json();
    let (bundle, inspected) = (&built["bundle"], sandbox.relay("inspect . --json").ends(0).json());
    // These instructions consist of the index.
    let index = "- a: Of A\n(1 more; ask with read_prompts)";
    assert_eq!(inspected["instructions"], index);
    assert_eq!(bundle["gate_index"]["bytes"], index.len());
    assert_eq!(bundle["instructions"], bundle["gate_index"]);
    assert_eq!(bundle["counts"]["tools"], 5);
    assert!(bundle["tools_list"]["bytes"].as_u64().expect("a number") > 1000);
    sandbox
        .relay("build . --unsigned")
        .ends(0)
        .prints("gate index, in the instructions")
        .prints("tools/list, all pages")
        .prints("everyone")
        .prints("(est.)");
}

#[test]
fn a_text_that_was_not_resolved_is_an_upper_bound() {
    // More users than are tried, whose skills look larger than they are: one of a topic is given.
    let mut skills = String::new();
    for user in 0..420 {
        let one = |number| format!("skill u{user}-{number} topic=one \"{}\"; ", "a".repeat(100));
        let four: String = (0..4).map(one).collect();
        skills.push_str(&format!("user u{user} {{ {four} }}\n"));
    }
    let three: String = (0..3).map(|n| format!("skill z{n} \"{}\"; ", "z".repeat(120))).collect();
    skills.push_str(&format!("user zz {{ {three} }}\n"));
    let tenants: Vec<String> = (0..63).map(|number| format!("t{number:02}")).collect();
    for tenant in &tenants {
        skills.push_str(&format!("tenant {tenant} {{ skill {tenant} \"Of it.\" }}\n"));
    }
    let declared = tenants.iter().map(|tenant| format!("tenant {tenant}; ")).collect::<String>();
    let text = format!(
        "project many version=\"1.0.0\" epoch=1\ntenants {{ {declared} }}\n\
         prompts {{ prompt a {{ text A }} }}\nskills {{\n{skills}}}\n"
    );
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    let built = sandbox.relay("build . --unsigned --format json").ends(0).json();
    let texts = built["bundle"]["skill_texts"].as_array().expect("a list").clone();
    assert_eq!(texts.len(), 64);
    let given = "z".repeat(120).len() * 3 + 2;
    for text in texts {
        assert_eq!(text["is_bound"], true, "{text}");
        assert!(text["bytes"].as_u64() >= Some(given as u64), "{text}");
    }
}

#[test]
fn the_largest_skill_texts_are_measured_whatever_their_tenant_is_called() {
    let (mut declared, mut skills) = (String::new(), String::new());
    for number in 0..70 {
        declared.push_str(&format!("tenant t{number:02}; "));
        let text = "x".repeat(10 + number);
        skills.push_str(&format!("tenant t{number:02} {{ skill s \"{text}\" }}\n"));
    }
    let text = format!(
        "project many version=\"1.0.0\" epoch=1\ntenants {{ {declared} }}\n\
         prompts {{ prompt a {{ text A }} }}\nskills {{\nglobal {{ skill all \"For all.\" }}\n{skills}}}\n"
    );
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    let built = sandbox.relay("build . --unsigned --format json").ends(0).json();
    let texts = built["bundle"]["skill_texts"].as_array().expect("a list").clone();
    // All are listed: 70 tenants, and callers that give none.
    assert_eq!(texts.len(), 71);
    let sizes: Vec<_> = texts.iter().map(|text| text["bytes"].as_u64()).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    let (first, last) = (&texts[0], &texts[70]);
    assert_eq!((&first["tenant"], &first["is_bound"]), (&"t69".into(), &false.into()));
    assert_eq!((&last["tenant"], &last["is_bound"]), (&Value::Null, &false.into()));
    let bounds = texts.iter().filter(|text| text["is_bound"] == true);
    let bounds: Vec<_> = bounds.map(|text| text["tenant"].as_str().unwrap_or("none")).collect();
    assert_eq!(bounds, ["t05", "t04", "t03", "t02", "t01", "t00"]);
    let page = sandbox.relay("build . --unsigned").ends(0).stdout;
    assert!(page.contains("\n  t69 ") && page.contains("+59 more, none larger\n"), "{page}");
}

#[test]
fn quiet_prints_only_warnings() {
    let warned = "project small version=\"1.0.0\"\nprompts { prompt a { text \"A\" } }\n";
    let sandbox = Sandbox::of(&[("good.kdl", &project("")), ("warned.kdl", warned)]);
    let run = sandbox.relay("build good.kdl --unsigned -q").ends(0).silent();
    assert_eq!(run.stdout, "");
    let run = sandbox.relay("build warned.kdl --unsigned -q").ends(0).says("1 warning in 1 file");
    assert_eq!(run.stdout, "");
    // In machine formats the report is the result, so the table goes to standard error.
    sandbox
        .relay("build warned.kdl --unsigned --format github")
        .ends(0)
        .says("digest    sha256:")
        .prints("::warning ");
    sandbox.relay("build good.kdl --unsigned --format sarif -q").ends(0).silent().prints("2.1.0");
}

#[test]
fn the_dev_key_is_made_once() {
    let sandbox = Sandbox::example("minimal");
    let first = sandbox.relay("build minimal").ends(0);
    let said = format!("note: made a dev key for you in `{}`", sandbox.dev_key().display());
    assert!(first.stderr.starts_with(&said), "{}", first.stderr);
    assert!(first.stderr.contains("stdio and loopback only"), "{}", first.stderr);
    assert_eq!(mode(&sandbox.dev_key()), 0o600);
    assert_eq!(mode(sandbox.dev_key().parent().expect("a folder")), 0o700);
    let key = fs::read(sandbox.dev_key()).expect("a key");
    let bundle = sandbox.bytes("minimal/minimal.relay");

    sandbox.relay("build minimal").ends(0).silent().prints("`dev`");
    assert_eq!(fs::read(sandbox.dev_key()).expect("a key"), key);
    assert_eq!(sandbox.bytes("minimal/minimal.relay"), bundle);
}

/// A public file of another key would make servers refuse every later build.
#[test]
fn a_new_dev_key_replaces_the_public_file_of_a_lost_one() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("build minimal").ends(0);
    let public = sandbox.dev_key().with_extension("pub");
    let before = fs::read(&public).expect("a public key");
    fs::remove_file(sandbox.dev_key()).expect("a key");
    sandbox.relay("build minimal").ends(0);
    assert_ne!(fs::read(&public).expect("a public key"), before);
    let public = public.to_str().expect("UTF-8");
    sandbox.relay_of(&["trust", "add", "trust.toml", "--key", public]).ends(0);
    sandbox.relay("verify minimal/minimal.relay --trust trust.toml").ends(0);
}

#[test]
fn the_dev_key_falls_back_to_the_home() {
    let sandbox = Sandbox::example("minimal");
    // A relative folder must be ignored (XDG base directory specification).
    sandbox.relay_with(&[("XDG_DATA_HOME", "somewhere")], "build minimal").ends(0);
    let key = sandbox.base.path().join("home/.local/share/relay/dev.key");
    assert_eq!(mode(&key), 0o600);
    let nowhere = [("XDG_DATA_HOME", ""), ("HOME", "")];
    sandbox
        .relay_with(&nowhere, "build minimal")
        .ends(2)
        .says("neither XDG_DATA_HOME nor HOME is set");
}

#[test]
fn ci_has_no_dev_key() {
    let sandbox = Sandbox::example("minimal");
    let run = sandbox.relay_with(&[("CI", "true")], "build minimal").ends(2).says("CI is set");
    let help = run.stderr.lines().find(|line| line.contains("help:")).expect("a help");
    assert!(help.contains("--key") && help.contains("--unsigned"), "{help}");
    assert!(!sandbox.dev_key().exists());
    assert!(!sandbox.path("minimal/minimal.relay").exists());
    sandbox.relay_with(&[("CI", "1")], "build minimal --unsigned").ends(0).silent();
    sandbox.relay_with(&[("CI", "false")], "build minimal").ends(0);
}

#[test]
fn only_the_given_keys_sign() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o one").ends(0);
    sandbox.relay("keygen -o two").ends(0);
    let signers = |arguments: &str| {
        let line = format!("build minimal -o x.relay --format json {arguments}");
        let built = sandbox.relay(&line).ends(0).silent().json();
        let signers = built["bundle"]["signers"].as_array().expect("a list").clone();
        signers
            .iter()
            .map(|one| one["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(signers("--key one.key --key two.key"), ["one", "two"]);
    assert_eq!(signers("--unsigned"), [""; 0]);
    assert!(!sandbox.dev_key().exists());
    sandbox
        .relay("build minimal --unsigned")
        .ends(0)
        .prints("no one: servers refuse it until `relay sign`");
    sandbox
        .relay("build minimal --key one.pub")
        .ends(2)
        .says("cannot sign with `one.pub`: it is a public key");
    sandbox.write("text.key", "no key\n");
    sandbox.relay("build minimal --key text.key").ends(2).says("it is not an Ed25519 private key");
}

#[test]
fn only_bundles_are_overwritten() {
    let sandbox =
        Sandbox::of(&[("project.kdl", &project("")), ("notes.txt", "Mine.\n"), ("empty", "")]);
    sandbox
        .relay("build project.kdl --unsigned -o notes.txt")
        .ends(2)
        .says("`notes.txt` exists and is not a bundle")
        .says("-o");
    assert_eq!(sandbox.read("notes.txt"), "Mine.\n");
    sandbox.relay("build project.kdl --unsigned -o project.kdl").ends(2);
    assert_eq!(sandbox.read("project.kdl"), project(""));
    fs::create_dir(sandbox.path("folder")).expect("a folder");
    sandbox
        .relay("build project.kdl --unsigned -o folder")
        .ends(2)
        .says("as in `folder/NAME.relay`");
    sandbox.relay("build project.kdl --unsigned -o empty").ends(0);

    sandbox.relay("build project.kdl --unsigned").ends(0);
    fs::set_permissions(sandbox.path("small.relay"), fs::Permissions::from_mode(0o640))
        .expect("ours");
    let before = sandbox.bytes("small.relay");
    sandbox.relay("build project.kdl --unsigned --epoch 2").ends(0);
    assert_ne!(sandbox.bytes("small.relay"), before);
    assert_eq!(mode(&sandbox.path("small.relay")), 0o640);
    assert_eq!(sandbox.files(), ["empty", "folder", "notes.txt", "project.kdl", "small.relay"]);
}

#[test]
fn a_link_to_a_bundle_stays_a_link() {
    let sandbox = Sandbox::of(&[("project.kdl", &project(""))]);
    sandbox.relay("build . --unsigned -o real.relay").ends(0);
    std::os::unix::fs::symlink("real.relay", sandbox.path("small.relay")).expect("a link");
    sandbox.relay("build . --unsigned --epoch 7").ends(0);
    assert!(fs::symlink_metadata(sandbox.path("small.relay")).expect("a link").is_symlink());
    sandbox.relay("inspect real.relay").ends(0).prints("epoch     7");
}

#[test]
fn the_bundle_is_written_beside_the_document() {
    let sandbox = Sandbox::example("minimal");
    for (folder, project) in [
        ("", "minimal"),
        ("", "minimal/project.kdl"),
        ("", "./minimal/"),
        ("minimal", "project.kdl"),
        ("minimal", "."),
    ] {
        let mut command = sandbox.command(crate::binaries::relay());
        command.args(["build", project, "--unsigned"]).current_dir(sandbox.path(folder));
        sandbox.run(command).ends(0);
        fs::remove_file(sandbox.path("minimal/minimal.relay"))
            .unwrap_or_else(|error| panic!("{project}: {error}"));
    }
}

#[test]
fn a_failed_build_writes_no_file() {
    let sandbox = Sandbox::of(&[("project.kdl", &project("")), ("notes.txt", "Mine.\n")]);
    sandbox.relay("build . --unsigned").ends(0);
    let before = sandbox.bytes("small.relay");
    sandbox.write("project.kdl", "project small {");
    sandbox.relay("build . --unsigned -o small.relay").ends(1);
    sandbox.relay("build . --unsigned -o notes.txt").ends(1);
    assert_eq!(sandbox.bytes("small.relay"), before);
    assert_eq!(sandbox.files(), ["notes.txt", "project.kdl", "small.relay"]);
}

#[test]
fn the_epoch_of_the_command_line_is_used() {
    let without = "project small version=\"1.0.0\"\nprompts { prompt a { text \"A\" } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", &project("")), ("without.kdl", without)]);
    let epoch = |line: &str| sandbox.relay(line).ends(0).json()["bundle"]["epoch"].clone();
    assert_eq!(epoch("build project.kdl --unsigned --format json"), 1);
    assert_eq!(epoch("build project.kdl --unsigned --format json --epoch 118"), 118);
    assert_eq!(epoch("build project.kdl --unsigned --format json --epoch 0"), 0);
    assert_eq!(epoch("build without.kdl --unsigned --format json"), 0);
    sandbox.relay("build without.kdl --unsigned").ends(0).says("project::no_epoch");
    sandbox.relay("build without.kdl --unsigned --epoch 3").ends(0).silent();
}

#[test]
fn the_provenance_has_the_commit() {
    let sandbox = Sandbox::example("minimal");
    if git(&sandbox, "--version").is_none() {
        // git is missing.
        return;
    }
    let provenance = |arguments: &str| {
        sandbox.relay(&format!("build minimal --unsigned {arguments}")).ends(0);
        sandbox.relay("inspect minimal/minimal.relay --json").ends(0).json()["provenance"].clone()
    };
    assert_eq!(provenance("").get("git"), None);
    let outside = sandbox.relay("build minimal --unsigned --provenance").ends(2);
    outside.says("cannot find the git commit of `minimal`").says("omit --provenance");

    for line in [
        "init -q",
        "add minimal/project.kdl minimal/bug-report.md.j2",
        "-c user.name=x -c user.email=x@example.com -c commit.gpgsign=false commit -q -m first",
    ] {
        git(&sandbox, line).expect("git").ends(0);
    }
    let commit = git(&sandbox, "rev-parse HEAD").expect("git").stdout.trim().to_owned();
    // The folder also has the bundle of the builds above, which is no source of the project.
    let clean = serde_json::json!({ "commit": commit, "dirty": false });
    assert_eq!(provenance("--provenance")["git"], clean);
    assert_eq!(provenance("--provenance")["git"], clean);
    assert_eq!(provenance("").get("git"), None);
    sandbox.write("minimal/notes.md", "Not committed.\n");
    assert_eq!(provenance("--provenance")["git"]["dirty"], true);
    assert_eq!(provenance("--provenance")["git"]["commit"], commit.as_str());
}

/// Runs git, if it is installed.
fn git(sandbox: &Sandbox, line: &str) -> Option<Run> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| folder.join("git").is_file())?;
    let mut command = sandbox.command("git");
    command.args(line.split(' ')).env("GIT_CONFIG_NOSYSTEM", "1");
    Some(run(command))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .permissions()
        .mode()
        & 0o777
}

/// Masks the parts that change with every edit of the example: digests, sizes and their padding.
pub(super) fn masked(text: &str) -> String {
    let mut masked = String::new();
    // It depends on the Rust version of the build.
    let (major, minor, update) = char::UNICODE_VERSION;
    let text = text.replace(&format!("Unicode {major}.{minor}.{update}"), "Unicode U");
    for line in text.lines() {
        let words = line.split_inclusive(' ').map(|word| {
            let bare = word.trim_end();
            let number = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_digit() || c == ',');
            let hex = bare.len() == 16 && bare.chars().all(|c| c.is_ascii_hexdigit());
            let mask = match bare {
                // The id of one key in some two thousand is a number.
                _ if hex => "KEY",
                _ if number => "N",
                _ if bare.starts_with("sha256:") => "sha256:…",
                other => other,
            };
            format!("{mask}{}", if word.ends_with(' ') { " " } else { "" })
        });
        let line: String = words.collect();
        let indent = line.len() - line.trim_start().len();
        let parts: Vec<&str> =
            line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
        masked.push_str(&" ".repeat(indent));
        masked.push_str(&parts.join("  "));
        masked.push('\n');
    }
    masked
}
