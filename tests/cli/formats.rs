//! The forms that verbs print for programs: `--format`, and `--json` for short.

use crate::cli::{Sandbox, project};

/// Every verb that prints a form for programs, with arguments and its forms.
const VERBS: &[(&str, &str, &[&str])] = &[
    ("check", "good", &["human", "short", "json", "sarif", "github"]),
    ("test", "good", &["human", "json", "junit"]),
    (
        "build",
        "good --unsigned --no-cache -o x.relay",
        &["human", "short", "json", "sarif", "github"],
    ),
    ("show", "good", &["human", "short", "json", "sarif", "github"]),
    ("inspect", "good", &["human", "short", "json", "sarif", "github"]),
    ("describe", "good", &["human", "short", "json", "sarif", "github"]),
    ("explain", "good --index", &["human", "short", "json", "sarif", "github"]),
    ("explain", "good --prompt hello", &["human", "short", "json", "sarif", "github"]),
    ("explain", "good --uri relay://nowhere", &["human", "short", "json", "sarif", "github"]),
    ("explain", "good --tags vpn", &["human", "short", "json", "sarif", "github"]),
    ("diff", "good /dev/null", &["human", "json", "markdown", "sarif", "github"]),
    ("rules", "", &["human", "json"]),
    ("rules", "gate::empty", &["human", "json"]),
    ("trust", "list trust.toml", &["human", "json"]),
    ("verify", "good.relay --trust trust.toml", &["human", "json"]),
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::of(&[
        ("good/project.kdl", &project("")),
        ("wrong.kdl", "project small version=\"1.0.0\" epoch=1\nprompts { promt a }\n"),
        ("warned.kdl", "project small version=\"1.0.0\"\nprompts { prompt a { text \"A\" } }\n"),
        ("trust.toml", "version = 1\n"),
    ]);
    sandbox.relay("build good --unsigned -o good.relay").ends(0);
    sandbox
}

#[test]
fn json_is_short_for_format_json() {
    let sandbox = sandbox();
    for (verb, arguments, _) in VERBS {
        let run = |format: &str| sandbox.relay(&format!("{verb} {arguments} {format}"));
        let (short, long) = (run("--json"), run("--format json"));
        assert_eq!(short.json()["format_version"], 1, "{verb} {arguments}");
        assert_eq!((short.code, &short.stdout), (long.code, &long.stdout), "{verb} {arguments}");
        let (none, human) = (run(""), run("--format human"));
        assert_ne!(none.stdout, short.stdout, "{verb} {arguments}");
        assert_eq!(none.stdout, human.stdout, "{verb} {arguments}");
        run("--json --format json").ends(2).says("does not go together with");
    }
}

#[test]
fn a_verb_takes_the_forms_that_it_has() {
    let sandbox = sandbox();
    for (verb, arguments, formats) in VERBS {
        for format in ["human", "short", "json", "sarif", "github", "yaml"] {
            let run = sandbox.relay(&format!("{verb} {arguments} --format {format}"));
            if formats.contains(&format) {
                assert_ne!(run.code, 2, "{verb} --format {format}: {}", run.stderr);
            } else {
                run.ends(2).says(&format!("its values are: {}", formats.join(", ")));
            }
        }
    }
    for verb in ["init", "fmt", "keygen", "sign", "completions", "man"] {
        sandbox.relay(&format!("{verb} --json")).ends(2).says("no option `--json`");
    }
}

#[test]
fn errors_and_warnings_have_the_form_of_the_answer() {
    let sandbox = sandbox();
    for line in
        ["show wrong.kdl", "inspect wrong.kdl", "describe wrong.kdl", "explain wrong.kdl --index"]
    {
        let report = sandbox.relay(&format!("{line} --json")).ends(1).silent().json();
        crate::cli::schemas::assert_conforms("check", &report);
        assert_eq!(report["diagnostics"][0]["code"], "node::unknown", "{line}");
        sandbox.relay(line).ends(1).says("node::unknown");
    }
    let warned = sandbox.relay("inspect warned.kdl --json").ends(0);
    crate::cli::schemas::assert_conforms("inspect", &warned.json());
    let report: serde_json::Value = serde_json::from_str(&warned.stderr).expect("JSON");
    crate::cli::schemas::assert_conforms("check", &report);
    assert_eq!(report["diagnostics"][0]["code"], "project::no_epoch");
}
