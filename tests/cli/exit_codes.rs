//! Exit codes, which scripts may rely on: 0 yes, 1 no, 2 failed.

use std::process::Stdio;

use harness::Process;

use crate::binaries;
use crate::cli::{Sandbox, project};

const WARNED: &str =
    "project small version=\"1.0.0\" epoch=1\nprompts { prompt a { arg b; text \"A\" } }\n";

#[test]
fn every_outcome_has_its_code() {
    let sandbox = Sandbox::of(&[
        ("good/project.kdl", &project("")),
        ("warned.kdl", WARNED),
        ("wrong.kdl", "project small version=\"1.0.0\" epoch=1\nprompts { promt a }\n"),
        ("syntax.kdl", "project {"),
        ("bad.relay", "relay bundle\r\n"),
        ("ugly.kdl", "project   small\n"),
        ("no-trust.toml", "version = 1\n"),
        ("bad-trust.toml", "version = \"one\"\n"),
    ]);
    sandbox.relay("build good --unsigned -o good.relay").ends(0);
    let table = [
        // yes
        (0, "check good"),
        (0, "check good --strict"),
        (0, "check warned.kdl"),
        (0, "build warned.kdl --unsigned -o warned.relay"),
        (0, "inspect good.relay"),
        (0, "inspect good"),
        (0, "inspect bad.relay --canonical --keep-going"),
        (0, "explain good --prompt hello"),
        (0, "explain good --tags"),
        (0, "explain good --tags a --sent unknown --budget 0"),
        (0, "explain good --index"),
        (0, "diff good good.relay --exit-code"),
        (0, "diff good /dev/null"),
        (0, "diff good good.relay --fail-on loosens,breaking,contexts,surface"),
        (0, "diff good /dev/null --fail-on loosens"),
        (0, "rules"),
        (0, "rules gate::empty"),
        (0, "trust list no-trust.toml"),
        (0, "--version"),
        (0, "--help"),
        (0, "help build"),
        // no
        (1, "explain good --call any_tool --arguments {}"),
        (1, "check wrong.kdl"),
        (1, "check syntax.kdl"),
        (1, "check warned.kdl --strict"),
        (1, "build wrong.kdl --unsigned"),
        (1, "build warned.kdl --strict --unsigned"),
        (1, "show wrong.kdl"),
        (1, "inspect wrong.kdl"),
        (1, "describe wrong.kdl"),
        (1, "explain wrong.kdl --index"),
        (1, "explain good --prompt unknown"),
        (1, "explain good --uri relay://nowhere"),
        (1, "explain good --tags a b c d e f g h i j k"),
        (2, "check good --env nowhere"),
        (1, "diff good /dev/null --exit-code"),
        (1, "diff good /dev/null --fail-on breaking"),
        (1, "fmt ugly.kdl --check"),
        (1, "fmt syntax.kdl"),
        (1, "verify good.relay --trust no-trust.toml"),
        // failed
        (2, ""),
        (2, "frobnicate"),
        (2, "check"),
        (2, "check good --frobnicate"),
        (2, "check good --format yaml"),
        (2, "check missing.kdl"),
        (2, "check good.relay/x"),
        (2, "build missing"),
        (2, "build good --epoch never --unsigned"),
        (2, "build good --unsigned --key one.key"),
        (2, "build good --key missing.key"),
        (2, "build good --unsigned -o no/such/folder.relay"),
        (2, "rules gate::emtpy"),
        (2, "fmt missing.kdl"),
        (2, "show missing.kdl"),
        (2, "inspect missing.relay"),
        (2, "inspect bad.relay --canonical"),
        (2, "git-setup"),
        (2, "git-setup here"),
        (2, "inspect good.relay --json --canonical"),
        (2, "inspect good.relay --format json --canonical"),
        (2, "inspect good.relay --keep-going"),
        (2, "explain good --why --tags a --json"),
        (2, "explain good --why --tags a --format json"),
        (2, "inspect good.relay --env production"),
        (2, "describe missing.relay"),
        (2, "explain good"),
        (2, "explain good --index --prompt hello"),
        (2, "explain good --prompt hello --arguments ["),
        (2, "explain good --tags a --call b"),
        (2, "explain good --tags a --arguments {}"),
        (2, "explain good --call a --arguments ["),
        (2, "explain good --call a --arguments []"),
        (2, "explain good --tags a --budget many"),
        (2, "explain good --tags a --budget 99999999999999999999"),
        (2, "explain good --sent hello"),
        (2, "explain good --index --sent hello"),
        (2, "explain good --prompt hello --budget 1"),
        (2, "explain --tags a good"),
        (2, "diff"),
        (2, "diff good missing.kdl"),
        (2, "diff good wrong.kdl --exit-code"),
        (2, "diff syntax.kdl good"),
        (2, "diff good /dev/null --fail-on widens"),
        (2, "diff good /dev/null --only contexts --fail-on surface"),
        (2, "diff good /dev/null --accepted missing.toml"),
        (2, "diff good /dev/null --accepted no-trust.toml"),
        (2, "diff good /dev/null --max-chars 5000"),
        (2, "diff good good.relay --env production"),
        (2, "sign good.relay"),
        (2, "sign good.relay --key missing.key"),
        (2, "trust"),
        (2, "trust list missing.toml"),
        (2, "trust list bad-trust.toml"),
        (2, "trust revoke no-trust.toml one"),
        (2, "verify good.relay"),
        (2, "verify good.relay --trust missing.toml"),
        (2, "verify good.relay --trust bad-trust.toml"),
        (2, "verify missing.relay --trust no-trust.toml"),
        (2, "keygen -o no/such/folder/key"),
    ];
    for (code, line) in table {
        let run = sandbox.relay(line);
        let said = format!("relay {line}\n{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{said}");
        assert!(!said.contains("panicked"), "{said}");
        // A failure prints its reason, to standard error only.
        if code == 2 {
            assert_eq!(run.stdout, "", "relay {line}");
            assert!(!run.stderr.trim().is_empty(), "relay {line}");
        }
    }
}

#[test]
fn a_failure_prints_a_help() {
    let sandbox = Sandbox::of(&[("project.kdl", &project("")), ("other.kdl", "")]);
    sandbox
        .relay("check projct.kdl")
        .ends(2)
        .says("error: cannot read `projct.kdl`: the file or folder does not exist")
        .says("help: did you mean `other.kdl` or `project.kdl`?");
    sandbox.relay("chek project.kdl").ends(2).says("check");
    sandbox
        .relay("verify x.relay --trust y.toml")
        .ends(2)
        .says("`relay keygen` prints a trust file");
    sandbox
        .relay("explain project.kdl --call a --arguments []")
        .ends(2)
        .says("error: --arguments is not a JSON object")
        .says("help: write --arguments '{\"host\":\"web-1\"}'");
    sandbox
        .relay("explain --tags a project.kdl")
        .ends(2)
        .says("`relay explain project.kdl --tags a`");
}

#[test]
fn a_closed_pipe_does_not_change_the_answer() {
    let sandbox = Sandbox::example("homelab");
    sandbox.relay("build homelab --unsigned -o x.relay").ends(0);
    let trust = sandbox.relay("keygen -o one").ends(0).stdout;
    sandbox.write("trust.toml", &trust);
    for (line, code) in [
        ("check homelab", 0),
        ("check homelab --format json", 0),
        ("show homelab", 0),
        ("inspect x.relay --json", 0),
        ("inspect x.relay --canonical", 0),
        ("describe x.relay", 0),
        ("explain x.relay --index", 0),
        ("explain x.relay --tags vpn", 0),
        ("diff x.relay homelab", 0),
        ("--help", 0),
        // A reader that goes leaves a no as it is.
        ("verify x.relay --trust trust.toml", 1),
        ("diff /dev/null homelab --exit-code", 1),
        ("diff homelab /dev/null --fail-on surface", 1),
        ("classify --max-tier 1 rm -rf /", 1),
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = sandbox.command(binaries::relay());
        command.args(line.split_whitespace()).stdin(Stdio::null()).stdout(writer);
        let ended = Process::start(command).wait();
        assert_eq!(ended.code, Some(code), "relay {line}: {}", ended.stderr);
    }
}

#[test]
fn a_full_disk_is_reported() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let sandbox = Sandbox::example("minimal");
    let mut command = sandbox.command(binaries::relay());
    command.args(["show", "minimal"]).stdout(full).stderr(Stdio::piped());
    let output = command.output().expect("relay runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(said, "error: cannot write to standard output: the disk is full\n");
}
