//! The first hour: a project to begin with, keys for clients, a shell that knows the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use relay_bundle::Digest;

use crate::cli::Sandbox;
use crate::support::root;

#[test]
fn a_new_project_is_without_faults_in_every_environment() {
    let sandbox = Sandbox::new();
    let made = sandbox.relay("init my-team").ends(0);
    assert!(made.stdout.contains("my-team/project.kdl\n"), "{}", made.stdout);
    assert!(made.stderr.contains("relay check my-team"), "{}", made.stderr);
    sandbox.relay("check my-team --strict").ends(0);
    sandbox.relay("check my-team --strict --env production").ends(0);
    sandbox.relay("fmt my-team --check").ends(0);
    sandbox.relay("build my-team --unsigned -q").ends(0);
    assert!(sandbox.path("my-team/my-team.relay").exists());
    let workflow = fs::read_to_string(sandbox.path("my-team/.github/workflows/relay.yml"));
    let workflow = workflow.expect("it was written");
    // The pipeline of examples/ci, where only the project and the version of relay differ.
    let example = fs::read_to_string(root().join("examples/ci/github/relay.yml")).expect("there");
    let same = |text: &str| {
        let own = |line: &&str| !line.trim_start().starts_with("RELAY_");
        text.lines().filter(own).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(same(&workflow), same(&example));
    assert!(workflow.contains("RELAY_PROJECT: '.'"));
    // Every script that it calls is there and can be run.
    let calls = workflow.lines().filter_map(|line| line.trim().strip_prefix("run: .github/relay/"));
    let mut called = 0;
    for script in calls {
        let path = sandbox.path("my-team/.github/relay").join(script);
        let mode = fs::metadata(&path).expect("a script").permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{script}");
        called += 1;
    }
    assert_eq!(called, 4);
    let ignored = sandbox.read("my-team/.gitignore");
    assert!(ignored.contains("*.api-key\n") && ignored.contains("*.key\n"), "{ignored}");
    // A tag can be moved to other code; a commit is fixed.
    for action in workflow.lines().filter_map(|line| line.trim().strip_prefix("- uses: ")) {
        let (_, pinned) = action.split_once('@').expect("a version");
        let commit = pinned.split(' ').next().unwrap_or_default();
        assert!(commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()), "{action}");
    }
}

#[test]
fn the_workflow_is_at_the_root_of_the_repository() {
    let sandbox = Sandbox::new();
    let git = |arguments: &[&str]| {
        let mut command = sandbox.command("git");
        command.args(arguments);
        sandbox.run(command).ends(0)
    };
    git(&["init", "-q", "."]);
    let run = sandbox.relay_of(&["init", "rules/Our Team"]).ends(0);
    let run = run
        .says("the workflow is at the root of the repository")
        .says("relay check 'rules/Our Team'");
    assert!(!sandbox.path("rules/Our Team/.github").exists(), "{}", run.stdout);
    let workflow = sandbox.read(".github/workflows/relay.yml");
    assert!(workflow.contains("RELAY_PROJECT: 'rules/Our Team'\n"), "{workflow}");
    // A second project of the repository leaves it as it is.
    sandbox.relay("init other").ends(0).says("it checks this project if RELAY_PROJECT is `other`");
    assert_eq!(sandbox.read(".github/workflows/relay.yml"), workflow);
    // Keys and bundles are protected from being added by accident.
    sandbox.relay("build other -q").ends(0);
    for line in ["keygen --api-key alice", "keygen -o release"] {
        sandbox.relay(line).ends(0);
    }
    for secret in ["alice.api-key", "release.key"] {
        fs::rename(sandbox.path(secret), sandbox.path("other").join(secret)).expect("moved");
    }
    git(&["add", "-A"]);
    let added = git(&["status", "--short"]).stdout;
    assert!(
        !added.contains("api-key") && !added.contains("release.key") && !added.contains(".relay\n"),
        "{added}"
    );
    // The steps of the pipeline run in it.
    git(&["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "x"]);
    let mut check = sandbox.command(".github/relay/check.sh");
    let folder = crate::binaries::relay().parent().expect("a folder").to_owned();
    let path = std::env::join_paths([folder, "/usr/bin".into(), "/bin".into()]).expect("a path");
    check.env("PATH", path).env("RELAY_PROJECT", "other");
    sandbox.run(check).ends(0).prints("no errors, no warnings");
}

#[test]
fn a_new_project_replaces_no_file() {
    let sandbox = Sandbox::of(&[("here/.gitignore", "mine\n")]);
    sandbox.relay("init here").ends(2).says("`here/.gitignore` already exists");
    assert!(!sandbox.path("here/project.kdl").exists());
    sandbox.relay("init 42 --name x").ends(0);
    sandbox.relay("init 42 --name x").ends(2);
    sandbox.relay("check 42 --strict").ends(0);
    // A folder whose name is invalid for a project.
    sandbox.relay("init 43").ends(0);
    sandbox.relay("check 43 --strict").ends(0);
}

#[test]
fn the_current_folder_is_the_default_project() {
    let sandbox = Sandbox::new();
    sandbox.relay("init").ends(0);
    for command in ["check", "fmt --check", "show", "build --unsigned -q"] {
        sandbox.relay(command).ends(0);
    }
}

#[test]
fn an_api_key_is_written_for_its_client_and_known_by_its_hash() {
    let sandbox = Sandbox::new();
    let made = sandbox.relay("keygen --api-key ann-2").ends(0);
    let path = sandbox.path("ann-2.api-key");
    let key = fs::read_to_string(&path).expect("it was written");
    let secret = key.trim_end().strip_prefix("rk_ann-2_").expect("the form of a key");
    assert_eq!(secret.len(), 43, "32 random bytes");
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    let hash = Digest::of(secret.as_bytes()).to_string();
    let hash = hash.trim_start_matches("sha256:");
    assert!(made.stdout.contains(&format!("sha256 = \"{hash}\"")), "{}", made.stdout);
    assert!(!format!("{}{}", made.stdout, made.stderr).contains(secret));
    sandbox.relay("keygen --api-key ann-2").ends(2).says("already exists");
    sandbox.relay("keygen --api-key a_b").ends(2).says("cannot be the id");
}

#[test]
fn an_api_key_may_have_an_end() {
    let sandbox = Sandbox::new();
    for date in ["2999-01-01", "2999-01-01T08:00:00+02:00"] {
        let id = format!("ann-{}", date.len());
        let made = sandbox.relay(&format!("keygen --api-key {id} --not-after {date}")).ends(0);
        let config: toml::Table = made.stdout.parse().expect("TOML");
        let key = &config["auth"]["api-keys"][0];
        assert_eq!(key["id"].as_str(), Some(id.as_str()));
        assert_eq!(key["not-after"].as_datetime().map(ToString::to_string), Some(date.to_owned()));
    }
    for (arguments, why) in [
        ("--api-key bob --not-after 2020-01-01", "is in the past"),
        ("--api-key bob --not-after soon", "`soon` is not a date"),
        ("-o bob --not-after 2999-01-01", "does not go together with"),
        ("--not-after 2999-01-01", "--api-key <ID>"),
    ] {
        sandbox.relay(&format!("keygen {arguments}")).ends(2).says(why);
    }
    assert_eq!(sandbox.files(), ["ann-10.api-key", "ann-25.api-key"]);
}

#[test]
fn shells_and_man_know_every_verb() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.relay(&format!("completions {shell}")).ends(0).silent().stdout;
        assert!(script.contains("inspect") && script.contains("strict"), "{shell}");
        // Those of this repository, and what tests give.
        for hidden in ["fact-table", "policy-automata", "every JSON output", "any-program"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
    let pages = sandbox.relay("man --out pages").ends(0).stdout;
    assert!(pages.contains("pages/relay.1\n") && pages.contains("pages/relay-init.1\n"), "{pages}");
    assert!(pages.contains("pages/relay-trust.1\npages/relay-trust-list.1\n"), "{pages}");
    let page = fs::read_to_string(sandbox.path("pages/relay-init.1")).expect("it was written");
    assert!(page.contains("relay init") && !page.contains("schemas"), "{page}");
}
