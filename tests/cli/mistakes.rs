//! Mistakes of people in command lines and files of relay, and the answers: the fault, its place, and the line to write
//! instead.

use crate::cli::{Run, Sandbox, project};

/// A folder with a project, its bundle `p.relay`, signed by `k`, and the trust file of `k`.
fn shop() -> Sandbox {
    let text = project("gate on\nwhen production { prompts { prompt hello priority=3 } }\n");
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    sandbox.relay("keygen -o k").ends(0);
    sandbox.relay("keygen -o other").ends(0);
    sandbox.relay("build --key k.key -o p.relay -q").ends(0);
    sandbox.relay("build --key k.key -o q.relay -q").ends(0);
    sandbox.relay("trust add trust.toml --key k.pub").ends(0);
    sandbox.write("empty.toml", "");
    sandbox
}

#[test]
fn a_command_line_that_fails_says_the_one_that_was_meant() {
    let sandbox = shop();
    for (line, code, error, help) in [
        ("check p.relay", 2, "`p.relay` is a bundle", "`relay inspect p.relay`"),
        ("test p.relay", 2, "`p.relay` is a bundle", "`relay inspect p.relay`"),
        ("build p.relay", 2, "`p.relay` is a bundle", "`relay inspect p.relay`"),
        ("fmt p.relay", 2, "`p.relay` is a bundle", "`relay inspect p.relay`"),
        ("show p.relay", 2, "`p.relay` is a bundle", "`relay inspect p.relay`"),
        (
            "trust add k.pub trust.toml",
            2,
            "`k.pub` is a file",
            "`relay trust add trust.toml --key k.pub`",
        ),
        (
            "trust add trust.toml other.pub",
            2,
            "`other.pub` is a file",
            "`relay trust add trust.toml --key other.pub`",
        ),
        (
            "trust add --threshold 2 trust.toml",
            2,
            "no option `--threshold`",
            "`relay trust threshold FILE N`",
        ),
        (
            "sign project.kdl --key k.key",
            2,
            "`project.kdl` is a project, and a bundle is needed here",
            "`relay build project.kdl`",
        ),
        (
            "verify . --trust trust.toml",
            2,
            "`.` is a folder, and a bundle is needed here",
            "`relay build .`",
        ),
        (
            "verify p.relay --trust k.pub",
            2,
            "`k.pub` is a public key, and a trust file is needed here",
            "`relay trust add trust.toml --key k.pub`",
        ),
        (
            "trust list p.relay",
            2,
            "`p.relay` is a bundle, and a trust file is needed here",
            "`relay trust add trust.toml --key FILE.pub`",
        ),
        (
            "build --key p.relay",
            2,
            "`p.relay` is a bundle, and a private key is needed here",
            "give the .key file",
        ),
        (
            "check trust.toml",
            2,
            "`trust.toml` is a TOML file, and a project is needed here",
            "`relay trust list trust.toml`",
        ),
        ("audit p.relay", 2, "no verb `p.relay`", "`relay audit show p.relay`"),
        ("trust rm trust.toml k", 2, "no verb `rm`", "`relay trust remove` does that"),
        ("chek", 2, "no verb `chek`", "did you mean `relay check`?"),
        ("compile", 2, "no verb `compile`", "`relay build` does that"),
        ("schema", 2, "no verb `schema`", "`relay --help` lists the verbs"),
        ("p.relay", 2, "no verb `p.relay`", "`relay inspect p.relay`"),
        ("project.kdl", 2, "no verb `project.kdl`", "`relay check project.kdl`"),
        ("help chek", 2, "no verb `chek`", "did you mean `relay check`?"),
        ("check --fix", 2, "no option `--fix`", "`relay fmt --fix` writes the corrections"),
        ("check --write", 2, "no option `--write`", "`relay fmt --fix` writes the corrections"),
        ("build --out p.relay", 2, "no option `--out`", "did you mean `--output`?"),
        ("build -k k.key", 2, "no option `-k`", "did you mean `--key`?"),
        ("check nosuch/project.kdl", 2, "does not exist", "`relay init my-team` writes one"),
        ("dev --port 9000", 2, "no option `--port`", "write `--http 127.0.0.1:PORT`"),
        ("describe", 2, "needs <BUNDLE|PROJECT>", "write `relay describe .`"),
        ("inspect", 2, "needs <BUNDLE|PROJECT>", "write `relay inspect .`"),
        ("audit show", 2, "needs <FILE>", "`relay audit show ~/.local/state/relay/audit.jsonl`"),
        (
            "audit show project.kdl",
            2,
            "no line of `project.kdl` is an audit record",
            "give the file of the server's --audit",
        ),
        (
            "explain . --prompt hello --arg a=b",
            2,
            "no option `--arg`",
            "write `--arguments '{\"NAME\":\"VALUE\"}'`",
        ),
        ("export", 2, "`relay export` needs", "write `relay export command PROJECT -o"),
        (
            "export command .",
            2,
            "needs --output <FOLDER>",
            "write `relay export command . -o .claude/commands`",
        ),
        (
            "export . command",
            2,
            "`.` is not a value of `<FORM>`",
            "write `relay export command . -o .claude/commands`",
        ),
        ("export claude . -o out", 2, "`claude` is not a value of `<FORM>`", "write `relay export"),
        (
            "build --key release.key",
            2,
            "`release.key`: the file does not exist",
            "`relay keygen -o release` makes a key",
        ),
        ("trust add t.toml --key k.key", 2, "`k.key` is a private key", "`--key k.pub`"),
        (
            "verify p.relay --trust empty.toml",
            2,
            "the key `version` is missing",
            "`relay trust add NEW.toml --key FILE.pub` writes a trust file",
        ),
        (
            "check . --env prodution",
            2,
            "`prodution` is not an environment of this project",
            "did you mean `--env production`? (`when production`, project.kdl:",
        ),
        ("build --env none --unsigned", 2, "`none` is not an", "known environments: production"),
        ("explain node::unknown", 2, "needs a question", "`relay rules node::unknown`"),
        ("explain naming", 2, "needs a question", "`relay explain . --prompt naming`"),
        ("completions bsh", 2, "`bsh` is not a value of `<SHELL>`", "did you mean `bash`?"),
        ("check -s", 2, "no option `-s`", "did you mean `--strict`? it has no short form"),
        ("check --strict=yes", 2, "`--strict` takes no value: `yes`", "write `--strict` alone"),
        ("trust add k.pub", 2, "needs <PUB>", "`relay trust add trust.toml --key k.pub`"),
        ("fmt --write", 2, "no option `--write`", "writes without an option"),
        ("inspect --quiet p.relay", 2, "no option `--quiet`", "answers are on standard output"),
        ("check --fromat json", 2, "no option `--fromat`", "did you mean `--format`?"),
        ("check --color always", 2, "no option `--color`", "NO_COLOR"),
        ("check --format xml", 2, "`xml` is not a value of `--format`", "human, short, json"),
        (
            "check --format jsn",
            2,
            "`jsn` is not a value of `--format`",
            "did you mean `--format json`?",
        ),
        ("check --env", 2, "`--env` needs a value", "write --env <E>"),
        ("check a b", 2, "takes no further argument: `b`", "`relay check a && relay check b`"),
        ("sign p.relay", 2, "needs --key <FILE>", "`relay sign p.relay --key FILE.key`"),
        (
            "sign k.key p.relay",
            2,
            "no further argument: `p.relay`",
            "`relay sign p.relay --key k.key`",
        ),
        (
            "sign p.relay k.key",
            2,
            "no further argument: `k.key`",
            "`relay sign p.relay --key k.key`",
        ),
        ("sign p.relay --key k.pub", 2, "it is a public key", "`--key k.key`"),
        ("verify p.relay", 2, "needs --trust <FILE>", "`relay verify p.relay --trust trust.toml`"),
        (
            "verify trust.toml q.relay",
            2,
            "no further argument: `q.relay`",
            "`relay verify q.relay --trust trust.toml`",
        ),
        (
            "verify q.relay trust.toml",
            2,
            "no further argument: `trust.toml`",
            "`relay verify q.relay --trust trust.toml`",
        ),
        ("keygen release", 2, "no further argument: `release`", "`relay keygen -o release`"),
        (
            "explain p.relay hello",
            2,
            "no further argument: `hello`",
            "`relay explain p.relay --prompt hello`",
        ),
        ("explain p.relay", 2, "needs a question", "`relay explain p.relay --prompt NAME`"),
        (
            "explain --tags a b project.kdl",
            2,
            "needs <BUNDLE|PROJECT>",
            "`relay explain project.kdl --tags a b`",
        ),
        (
            "diff q.relay p.relay --fail-on loosens breaking",
            2,
            "cannot be compared",
            "`--fail-on loosens,breaking`",
        ),
        (
            "diff q.relay p.relay --only authority surface",
            2,
            "cannot be compared",
            "`--only authority,surface`",
        ),
        ("build --epoch one", 2, "`one` is not a value of `--epoch`", "a whole number from 0"),
        (
            "classify --max-tier 9 ls",
            2,
            "`9` is not a value of `--max-tier`",
            "from 0 (reads) to 3",
        ),
        (
            "build -",
            2,
            "only `relay check` reads a project from standard input",
            "give the project's document",
        ),
    ] {
        let run = sandbox.relay(line).ends(code).says(error).says(help);
        assert!(!run.stderr.contains("as a value, use"), "{line}: {}", run.stderr);
        assert!(!run.stderr.contains("Usage:"), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_server_that_does_not_start_says_what_was_meant() {
    let sandbox = shop();
    sandbox.write("keys.toml", "[auth]\napi-keys = [\"rk_a_b\"]\n");
    sandbox.write("limit.toml", "[limits]\nrequest-s-max = \"30s\"\n");
    sandbox.write("minute.toml", "[limits]\nrequest-s-max = \"1m\"\n");
    sandbox.write("open.toml", "trust = \"trust.toml\n");
    sandbox.write("yaml.toml", "trust: trust.toml\n");
    sandbox.write("one.toml", "[auth.jwt]\nissuer = \"https://a.example\"\n");
    sandbox.write("keys-one.toml", "[auth.api-keys]\nid = \"a\"\n");
    sandbox.write("json.toml", "{ \"trust\": \"trust.toml\" }\n");
    sandbox.write(
        "cert.toml",
        "listen = \"127.0.0.1:0\"\n[tls]\ncert = \"cert.pem\"\nkey = \"key.pem\"\n",
    );
    sandbox.write("k.pem", "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n");
    let tls =
        |cert| format!("listen = \"127.0.0.1:0\"\n[tls]\ncert = \"{cert}\"\nkey = \"k.pem\"\n");
    sandbox.write("swapped.toml", &tls("k.pem"));
    sandbox.write("no-cert.toml", &tls("k.pub"));
    sandbox.write("key-text.toml", "[auth]\napi-keys = \"rk_a\"\n");
    sandbox.write("access.toml", "[metrics]\naccess = \"anyon\"\n");
    sandbox.write("bare.toml", "trust = trust.toml\n");
    sandbox.write("typo.toml", "listn = \"127.0.0.1:0\"\n");
    sandbox.write("theshold.toml", "version = 1\ntheshold = 1\n");
    sandbox.write("quoted.toml", "version = \"1\"\n");
    sandbox.write("tls.toml", "listen = \"127.0.0.1:0\"\n[tls]\ncertificate = \"a.pem\"\n");
    for (line, error) in [
        (".", "`.` is a folder, and a bundle is served: write one with `relay build .`"),
        ("project.kdl", "`project.kdl` is a project, and a bundle is served"),
        ("p.relay --port 8080", "unknown option `--port`: write `--http 127.0.0.1:8080`"),
        ("p.relay --port=8080", "write `--http 127.0.0.1:8080`"),
        ("p.relay --host 0.0.0.0", "write `--http 0.0.0.0:8700`"),
        ("p.relay --turst trust.toml", "did you mean `--trust`?"),
        ("p.relay --http 8080", "write one as 127.0.0.1:8080"),
        ("p.relay --config keys.toml", "write `[[auth.api-keys]]` on a line of its own"),
        (
            "p.relay --config limit.toml",
            "a whole number from 1: write `request-s-max = 30`, without quotes, for 30 seconds",
        ),
        ("p.relay --config minute.toml", "a whole number from 1, in digits: the number of seconds"),
        ("p.relay --config open.toml", "`trust`: the text is not closed on its line"),
        ("p.relay --config yaml.toml", "yaml.toml:1:8: a line is `key = value`"),
        ("p.relay --config one.toml", "`auth.jwt` is a list of tables: write `[[auth.jwt]]`"),
        ("p.relay --config keys-one.toml", "write `[[auth.api-keys]]`, in double brackets"),
        ("p.relay --config json.toml", "the file is JSON, and is read as TOML"),
        ("p.relay --trust trust.toml --config cert.toml", "cert.toml:3:8: the certificate `/"),
        (
            "p.relay --trust trust.toml --config cert.toml",
            "cert.pem` does not exist: put it there, or write its path relative to the folder of cert.toml",
        ),
        (
            "p.relay --trust trust.toml --config swapped.toml",
            "k.pem` holds a private key and no certificate: name the certificate here",
        ),
        (
            "p.relay --trust trust.toml --config no-cert.toml",
            "k.pub` holds no certificate: it begins with `-----BEGIN CERTIFICATE-----`",
        ),
        (
            "p.relay --config key-text.toml",
            "\"rk_a\" does not fit `api-keys`, which takes tables: write `[[auth.api-keys]]`",
        ),
        (
            "p.relay --config access.toml",
            "\"anyon\" does not fit `access`; did you mean \"anyone\"?",
        ),
        (
            "p.relay --config bare.toml",
            "bare.toml:1:9: `trust`: a text is in quotes: write `trust = \"trust.toml\"`",
        ),
        (
            "p.relay --trust k.pub",
            "`k.pub` is a public key, and --trust takes a trust file: `relay trust add trust.toml --key k.pub`",
        ),
        ("p.relay --trust", "`--trust` needs a value: write `--trust FILE`"),
        ("p.relay --stdio=1", "`--stdio` takes no value"),
        ("", "no bundle is named: write `relay-serve NAME.relay`"),
        ("p.relay --config typo.toml", "did you mean `listen`?"),
        ("p.relay --config tls.toml", "did you mean `cert`?"),
        ("p.relay --config typo.toml", "typo.toml:1:1: unknown key `listn`"),
        (
            "p.relay --config limit.toml",
            "limit.toml:2:17: the text \"30s\" does not fit `request-s-max`",
        ),
        (
            "p.relay --trust none.toml",
            "`none.toml`: the file does not exist; `relay trust add none.toml --key FILE.pub`",
        ),
        (
            "p.relay --config none.toml",
            "`none.toml`: the file does not exist; name the file with --config",
        ),
        (
            "none.relay --trust trust.toml",
            "`none.relay`: the file does not exist; `relay build` writes one",
        ),
        (
            "p.relay --trust trust.toml --audit none/audit",
            "`none/audit`: its folder does not exist",
        ),
        (
            "p.relay --trust theshold.toml",
            "theshold.toml:2:1: unknown key `theshold`; did you mean `threshold`?",
        ),
        (
            "p.relay --trust quoted.toml",
            "quoted.toml:1:11: the text \"1\" does not fit `version`, which takes a whole number",
        ),
    ] {
        let run = sandbox.relay(&format!("serve {line}")).ends(2).says(error);
        for rust in ["struct", "u32", "usize", "os error", "TOML parse error", "No such file"] {
            assert!(!run.stderr.contains(rust), "{line}: {}", run.stderr);
        }
    }
}

#[test]
fn a_bundle_of_another_signer_names_the_commands_that_make_it_trusted() {
    let sandbox = shop();
    sandbox.relay("trust add other.toml --key other.pub").ends(0);
    for (line, remedy) in [
        ("serve p.relay --trust other.toml", "`relay sign p.relay --key FILE.key`"),
        ("serve p.relay --trust other.toml", "`relay trust add other.toml --key FILE.pub`"),
    ] {
        sandbox.relay(line).ends(1).says(remedy);
    }
    let verified = sandbox.relay("verify p.relay --trust other.toml").ends(1);
    verified.prints("`relay trust add other.toml --key FILE.pub`");
    // Any build makes the dev key.
    sandbox.relay("build -q -o dev.relay").ends(0);
    let run = sandbox.relay("serve p.relay").ends(1).says("it is signed by ");
    let run = run.says("without --trust only this user's dev key counts");
    run.says("`relay-serve p.relay --trust trust.toml`");
}

#[test]
fn what_remains_after_corrections_is_printed_for_the_same_project() {
    let sandbox = Sandbox::of(&[("p/project.kdl", &project("gate true\nroles { admin }\n"))]);
    sandbox.relay("fmt --fix p").ends(0).says("`relay check p` prints them");
}

#[test]
fn a_file_of_relay_with_a_fault_is_answered_with_its_place_and_key() {
    let sandbox = shop();
    sandbox.write("typo.toml", "version = 1\ntheshold = 1\n");
    sandbox.write("kind.toml", "version = 1\nrevoked = { keys = \"a\" }\n");
    sandbox.write("quote.toml", "version = 1\nproject = \"p\n");
    sandbox.write("empty.toml", "");
    for (line, error) in [
        (
            "trust list typo.toml",
            "typo.toml:2:1: unknown key `theshold`; did you mean `threshold`?",
        ),
        ("verify p.relay --trust typo.toml", "typo.toml:2:1: unknown key `theshold`"),
        (
            "trust list kind.toml",
            "kind.toml:2:20: the text \"a\" does not fit `keys`, which takes a list",
        ),
        ("trust list quote.toml", "quote.toml:2:"),
        ("trust list empty.toml", "empty.toml:1:1: the key `version` is missing"),
        ("diff trust.toml typo.toml", "typo.toml:2:1: unknown key `theshold`"),
        (
            "diff p.relay q.relay --accepted typo.toml",
            "typo.toml:2:1: unknown key `theshold`; known keys: accepted",
        ),
        ("trust add new.toml --key nope.pub", "`nope.pub`: the file does not exist"),
        (
            "trust add new.toml --key nope.pub",
            "help: give the file that ends with `.pub`; `relay keygen -o NAME` makes",
        ),
        ("trust add none/new.toml --key k.pub", "`none/new.toml`: its folder does not exist"),
    ] {
        let run = sandbox.relay(line).ends(2).says(error);
        for raw in ["os error", "No such file", "TOML parse error", "expected struct"] {
            assert!(!run.stderr.contains(raw), "{line}: {}", run.stderr);
        }
    }
}

#[test]
fn verbs_that_people_type_are_those_that_they_mean() {
    let sandbox = shop();
    for verb in ["lint", "validate"] {
        sandbox.relay(verb).ends(0).prints("no errors, no warnings");
    }
    sandbox.relay("new team").ends(0).prints("team/project.kdl");
    assert_eq!(sandbox.relay("version").ends(0).stdout, sandbox.relay("--version").stdout);
    sandbox.relay("run project.kdl").ends(2).says("a bundle is served");
}

#[test]
fn tags_are_separated_by_spaces_or_commas() {
    let sandbox = shop();
    let answer =
        |tags: &str| sandbox.relay(&format!("explain p.relay --tags {tags}")).ends(0).stdout;
    assert_eq!(answer("hello,foo"), answer("hello foo"));
    assert!(answer("foo,hello").contains("Hello."), "{}", answer("foo,hello"));
}

#[test]
fn warnings_do_not_precede_an_answer() {
    let warned = project("gate on\n").replace("epoch=1", "");
    let sandbox = Sandbox::of(&[("project.kdl", &warned)]);
    let Run { stderr, .. } =
        sandbox.relay("explain project.kdl --prompt hello").ends(0).prints("Hello.");
    assert_eq!(stderr, "note: the project has 1 warning: `relay check project.kdl` lists them\n");
    // Arguments are read before anything is compiled.
    sandbox.write("project.kdl", "broken {");
    let wrong = sandbox.relay("explain project.kdl --prompt hello --arguments x").ends(2);
    assert!(
        wrong.stderr.starts_with("error: --arguments is not a JSON object"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn equal_findings_are_drawn_once() {
    let sandbox =
        Sandbox::of(&[("project.kdl", "project p epoch=1\nprompts { folder \"prompts\" }\n")]);
    for number in 1..=9 {
        sandbox.write(&format!("prompts/{number}.md"), "Names.\n");
    }
    let run = sandbox.relay("check").ends(1);
    assert_eq!(run.stdout.matches("the file has no front matter").count(), 1, "{}", run.stdout);
    let run = run.prints("and 8 more like it: prompts/2.md:1,").prints("9 errors in 9 files");
    assert!(run.stdout.lines().count() < 15, "{}", run.stdout);
    let short = sandbox.relay("check --format short").ends(1);
    assert_eq!(short.stdout.lines().count(), 9, "{}", short.stdout);
    // Programs get each place.
    let json = sandbox.relay("check --json").ends(1).json();
    assert_eq!(json["errors"], 9);
    assert_eq!(json["diagnostics"].as_array().map(Vec::len), Some(9));
}

#[test]
fn errors_are_drawn_before_warnings() {
    let sandbox =
        Sandbox::of(&[("project.kdl", &project("when staging { }\ntenants { tenat a }\n"))]);
    let run = sandbox.relay("check").ends(1);
    let place = |code: &str| run.stdout.find(code).unwrap_or_else(|| panic!("{}", run.stdout));
    assert!(place("node::unknown") < place("when::idle"), "{}", run.stdout);
}

#[test]
fn a_project_is_read_from_standard_input() {
    let sandbox = Sandbox::of(&[("a.md", "Hello.\n")]);
    let check = |text: &str, options: &[&str]| {
        sandbox.write("typed", text);
        let mut command = sandbox.command("sh");
        command.args(["-c", "exec \"$0\" check - \"$@\" < typed"]).arg(crate::binaries::relay());
        command.args(options);
        sandbox.run(command)
    };
    let text = "project p epoch=1\nprompts { prompt a file=\"a.md\" { summary \"A\" } }\n";
    assert_eq!(check(text, &["-q"]).ends(0).silent().stdout, "");
    check(text, &[]).ends(0).prints("no errors, no warnings");
    let run = check(&text.replace("a.md", "b.md"), &["--format", "short"]).ends(1);
    assert!(run.stdout.starts_with("<stdin>:2:"), "{}", run.stdout);
}
