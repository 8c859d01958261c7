//! Mistakes of people, and the answers: what is wrong, where, and what to write instead.

use crate::cli::{Run, Sandbox, project};

/// A mistake in a project's text: its lines after the head, the place and code of its only finding, and what to write.
struct Slip {
    text: &'static str,
    place: &'static str,
    says: &'static str,
}

const fn slip(text: &'static str, place: &'static str, says: &'static str) -> Slip {
    Slip { text, place, says }
}

const HEAD: &str = "project p version=\"1\" epoch=1\n";

const SLIPS: &[Slip] = &[
    slip(
        "prompts { prompt a { summary 'Names'; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "`\"Names\"`",
    ),
    slip(
        "prompts { prompt a { summary 'Names of'; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "in double quotes",
    ),
    slip(
        "prompts { prompt a { summary `Names`; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "`\"Names\"`",
    ),
    slip(
        "prompts { prompt a priority=3, title=x { text \"x\" } }",
        "2:29: error[kdl::syntax]",
        "write `3`: spaces separate them",
    ),
    slip(
        "prompts { prompt a { text Ask first, then go. } }",
        "2:31: error[kdl::syntax]",
        "write `text \"Ask first, then go.\"`",
    ),
    slip(
        "prompts { prompt a { text Note: read this } }",
        "2:27: error[kdl::syntax]",
        "write `text \"Note: read this\"`",
    ),
    slip(
        "prompts { prompt a { text Ask (always) first } }",
        "2:31: error[kdl::syntax]",
        "write `text \"Ask (always) first\"`",
    ),
    slip(
        "prompts { prompt a { text See https://a.example/b, then go } }",
        "2:31: error[kdl::syntax]",
        "write `text \"See https://a.example/b, then go\"`",
    ),
    slip(
        "prompts { prompt a title=Names, rules { text \"x\" } }",
        "2:26: error[kdl::syntax]",
        "write `title=\"Names, rules\"`",
    ),
    slip(
        "prompts { prompt a { summary 5 rules; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "write `summary \"5 rules\"`",
    ),
    slip(
        "skills { global { skill a Ask first, then go. // why\n} }",
        "2:31: error[kdl::syntax]",
        "write `skill a \"Ask first, then go.\"`",
    ),
    slip("tools { other \"a\", \"b\" }", "2:18: error[kdl::syntax]", "remove the comma"),
    slip(
        "prompts { prompt a { text \"x\"; arg b { one-of c,d } } }",
        "2:47: error[kdl::syntax]",
        "write `c d`",
    ),
    slip("gate true", "2:6: error[kdl::syntax]", "write `gate on`"),
    slip("gate #false", "2:6: error[kdl::syntax]", "write `gate off`"),
    slip("gate { on }", "2:8: error[node::unknown]", "write `gate on`"),
    slip(
        "prompts {\nprompt a {\ntext \"\"\"\n  x\n\ty\n  \"\"\"\n}\n}",
        "6:1: error[kdl::syntax]",
        "begin it with 2 spaces",
    ),
    slip(
        "prompts {\nprompt a {\ntext \"\"\"\n  x\n  y\"\"\"\n}\n}",
        "6:1: error[kdl::syntax]",
        "write it on the next line",
    ),
    slip(
        "prompts { prompt a { text \"\"\"x\"\"\" } }",
        "2:27: error[kdl::syntax]",
        "write a text of one line as `\"…\"`",
    ),
    slip("prompt a { text \"x\" }", "2:1: error[node::unknown]", "`prompts { prompt a … }`"),
    slip("skill a \"x\"", "2:1: error[node::unknown]", "`skills { global { skill a … } }`"),
    slip(
        "when e {\nprompt a { text \"x\" }\n}",
        "3:1: error[node::unknown]",
        "`prompts { prompt a … }`",
    ),
    slip(
        "prompts { prompt a { file \"a.md\" } }",
        "2:22: error[node::unknown]",
        "write `file=\"a.md\"`",
    ),
    slip(
        "prompts { prompt a { priority 8; text \"x\" } }",
        "2:22: error[node::unknown]",
        "write `priority=8`",
    ),
    slip(
        "prompts { prompt a priority 8 { text \"x\" } }",
        "2:20: error[node::extra_argument]",
        "write `priority=8`",
    ),
    slip(
        "prompts { prompt a priority=\"8\" { text \"x\" } }",
        "2:29: error[value::wrong_type]",
        "without quotes: `8`",
    ),
    slip(
        "prompts { prompt a enabled=yes { text \"x\" } }",
        "2:28: error[value::wrong_type]",
        "write `#true`",
    ),
    slip(
        "prompts { prompt a { summary Names of b; text \"x\" } }",
        "2:36: error[node::extra_argument]",
        "`summary \"Names of b\"`",
    ),
    slip(
        "tenants { tenant a tenant b }",
        "2:20: error[node::extra_argument]",
        "`tenant a; tenant b`",
    ),
    slip(
        "tenants { a b }",
        "2:11: error[node::unknown]",
        "write a node for each name: `tenants { tenant a; tenant b }`",
    ),
    slip(
        "tenants a b",
        "2:9: error[node::extra_argument]",
        "write nodes in braces: `tenants { tenant a; tenant b }`",
    ),
    slip(
        "roles { reader writer }",
        "2:9: error[node::unknown]",
        "`roles { role reader; role writer }`",
    ),
    slip(
        "tenants { tenant a b }",
        "2:20: error[node::extra_argument]",
        "a name is one word, `tenant a-b`; several are nodes of their own, `tenant a; tenant b`",
    ),
    slip(
        "prompts { prompt a priority=11 { summary \"A\"; text \"x\" } }",
        "2:29: error[value::out_of_range]",
        "the value is 11; the limit is 1 to 10",
    ),
    slip("roles { admin }", "2:9: error[node::unknown]", "write `role admin`"),
    slip("roles { role a { tier 2 } }", "2:18: error[node::unknown]", "write `tier=2`"),
    slip(
        "roles { role a tier=STATEFUL }",
        "2:21: error[value::wrong_type]",
        "write the tier as its number: `2`",
    ),
    slip("gate on { budget \"8KB\" }", "2:18: error[value::wrong_unit]", "write `(bytes)\"8KiB\"`"),
    slip(
        "gate on { budget (bytes)\"8kb\" }",
        "2:25: error[value::size]",
        "write `(bytes)\"8KiB\"`",
    ),
    slip("gate on { budget 8192 }", "2:18: error[value::wrong_unit]", "write `(bytes)8192`"),
    slip(
        "tools { other \"server_info\" }",
        "2:15: error[tools::own]",
        "`tools { diagnostics }` offers",
    ),
    slip("servers { server a }", "2:1: error[node::reserved]", "remove the node until then"),
];

#[test]
fn a_slip_is_one_finding_that_says_what_to_write() {
    for Slip { text, place, says } in SLIPS {
        let sandbox = Sandbox::of(&[("project.kdl", &format!("{HEAD}{text}\n"))]);
        let run = sandbox.relay("check --format short").ends(1).silent();
        let lines: Vec<&str> =
            run.stdout.lines().filter(|line| line.contains(": error[")).collect();
        let [line] = lines.as_slice() else { panic!("{text}:\n{}", run.stdout) };
        assert!(line.contains(&format!("project.kdl:{place}")), "{text}: {line}");
        assert!(line.contains(says), "{text}: {line}");
    }
}

#[test]
fn a_path_that_does_not_exist_is_answered_with_the_nearest_one() {
    let files = [
        ("house/prompts/naming.md", "---\ndescription: Names\n---\nNames.\n"),
        ("intro.md", "Hello.\n"),
    ];
    for (text, near) in [
        ("folder \"house/promts\"", "`house/prompts`"),
        ("folder \"hause/prompts\"", "`house/prompts`"),
        ("prompt a file=\"house/promts/naming.md\"", "`house/prompts/naming.md`"),
        ("prompt a file=\"house/prompts/namign.md\"", "`naming.md`"),
        ("prompt a file=\"into.md\"", "`intro.md`"),
    ] {
        let project = format!("{HEAD}prompts {{ {text} }}\n");
        let sandbox = Sandbox::of(&[files[0], files[1], ("project.kdl", &project)]);
        let run = sandbox.relay("check --format short").ends(1);
        run.prints("file::unreadable").prints(&format!("did you mean {near}?"));
    }
}

#[test]
fn front_matter_of_two_documents_says_which_line_to_remove() {
    let project = format!("{HEAD}prompts {{ folder \"prompts\" }}\n");
    for (text, line, help) in [
        (
            "---\n---\ndescription: Names\n---\nNames.\n",
            1,
            "remove that line, so that the keys below count",
        ),
        ("---\ntitle: Names\n--- \ndescription: Names\n---\nNames.\n", 3, "write exactly `---`"),
        ("---\n---\nNames.\n", 1, "add a line `description: …`"),
    ] {
        let sandbox = Sandbox::of(&[("project.kdl", &project), ("prompts/a.md", text)]);
        let run = sandbox.relay("check --format short").ends(1);
        run.prints(&format!("prompts/a.md:{line}:1: error[front_matter::")).prints(help);
    }
}

#[test]
fn a_document_of_another_language_is_one_finding() {
    for (text, language) in [
        ("{\n  \"project\": \"p\",\n  \"prompts\": []\n}\n", "JSON"),
        ("[\"p\"]\n", "TOML"),
        ("[\n  1\n]\n", "JSON"),
        ("[project]\nname = \"p\"\n", "TOML"),
        ("---\nproject: p\n", "YAML"),
    ] {
        let sandbox = Sandbox::of(&[("project.kdl", text)]);
        let run = sandbox.relay("check --format short").ends(1).silent();
        assert_eq!(run.stdout.lines().count(), 1, "{text}: {}", run.stdout);
        run.prints(&format!("the document is {language}")).prints("`relay init` writes a project");
    }
}

#[test]
fn a_wrong_value_is_not_reported_as_missing() {
    let text = "project p epoch=\"one\"\nprompts { prompt a { summary \"A\"; text \"x\" } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", text)]);
    let run = sandbox.relay("check --format short").ends(1);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    run.prints("error[value::wrong_type]").prints("write a whole number from 0, without quotes");
}

#[test]
fn a_role_that_names_a_tool_of_the_server_says_what_offers_it() {
    let text = "roles { role a { tools \"server_info\" \"begin_session\" \"explain_*\" } }\nusers { anyone role=a }\n";
    let sandbox = Sandbox::of(&[("project.kdl", &project(text))]);
    let run = sandbox.relay("check --format short").ends(0);
    let said: Vec<_> = run.stdout.lines().filter(|line| line.contains("role::no_tool")).collect();
    assert_eq!(said.len(), 3, "{}", run.stdout);
    for (line, offer) in
        said.iter().zip(["tools { diagnostics }", "gate on", "tools { diagnostics }"])
    {
        assert!(line.contains(&format!("if the project has `{offer}`")), "{line}");
    }
}

/// A folder with a project, its bundle `p.relay`, signed by `k`, and the trust file of `k`.
fn shop() -> Sandbox {
    let sandbox = Sandbox::of(&[("project.kdl", &project("gate on\n"))]);
    sandbox.relay("keygen -o k").ends(0);
    sandbox.relay("keygen -o other").ends(0);
    sandbox.relay("build --key k.key -o p.relay -q").ends(0);
    sandbox.relay("build --key k.key -o q.relay -q").ends(0);
    sandbox.relay("trust add trust.toml --key k.pub").ends(0);
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
        ("check --fix", 2, "no option `--fix`", "`relay fmt` writes the canonical layout"),
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
        ("p.relay --config limit.toml", "a whole number from 1; the name of the key has its unit"),
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
