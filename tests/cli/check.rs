//! `relay check`: one report, four formats.

use std::collections::BTreeSet;

use crate::cli::schemas::assert_conforms;
use crate::cli::{Sandbox, project, snapshot};

/// A project with errors in two documents, one with two labels, and a warning.
fn faulty() -> Sandbox {
    Sandbox::of(&[
        (
            "demo/project.kdl",
            "project demo version=\"1.0.0\" epoch=1\n\
             include \"more.kdl\"\n\
             prompts {\n    \
                 prompt hello {\n        text \"Hi.\"\n    }\n    \
                 prompt \"50%\" {\n        text \"Half.\"\n    }\n    \
                 promt typo\n\
             }\n",
        ),
        (
            "demo/more.kdl",
            "prompts {\n    \
                 prompt hello {\n        text \"Hi again.\"\n    }\n    \
                 prompt idle {\n        arg unused\n        text \"Plain.\"\n    }\n\
             }\n",
        ),
    ])
}

const CODES: [&str; 4] =
    ["name::character", "node::unknown", "name::duplicate", "argument::unused"];

#[test]
fn human_output() {
    let sandbox = faulty();
    let run = sandbox.relay("check demo").ends(1).silent();
    assert!(!run.stdout.contains('\u{1b}'), "colour in a pipe");
    assert!(!run.stdout.contains(&sandbox.path("").display().to_string()));
    snapshot("check_human", &run.stdout);
    // Settings for width, theme and colour are ignored in a pipe.
    let liked = [("COLUMNS", "40"), ("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
    assert_eq!(sandbox.relay_with(&liked, "check demo").stdout, run.stdout);
}

#[test]
fn colour_can_be_forced() {
    let sandbox = faulty();
    let run = sandbox.relay_with(&[("CLICOLOR_FORCE", "1")], "check demo").ends(1);
    assert!(run.stdout.contains('\u{1b}'));
}

#[test]
fn a_clean_project() {
    let sandbox = Sandbox::of(&[("project.kdl", &project(""))]);
    let said = "no errors, no warnings in 1 file\n";
    assert_eq!(sandbox.relay("check project.kdl").ends(0).silent().stdout, said);
    assert_eq!(sandbox.relay("check .").ends(0).silent().stdout, said);
    assert_eq!(sandbox.relay("check project.kdl --format github").ends(0).silent().stdout, "");
}

#[test]
fn json_output() {
    let report = faulty().relay("check demo --format json").ends(1).silent().json();
    assert_conforms("check", &report);
    assert_eq!(report["format_version"], 1);
    assert_eq!(report["errors"], 3);
    assert_eq!(report["warnings"], 1);
    let found = report["diagnostics"].as_array().expect("a list");
    let codes: Vec<_> = found.iter().map(|one| one["code"].as_str().expect("a code")).collect();
    assert_eq!(codes, CODES);
    for one in found {
        let [primary] = one["labels"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|label| label["primary"] == true)
            .collect::<Vec<_>>()[..]
        else {
            panic!("{one}")
        };
        for place in ["file", "line", "column", "end_line", "end_column"] {
            assert_eq!(primary[place], one[place]);
        }
    }
    let duplicate = &found[2];
    assert_eq!(duplicate["file"], "demo/more.kdl");
    assert_eq!(duplicate["labels"][0]["file"], "demo/project.kdl");
    assert_eq!(found[1]["help"], "did you mean `prompt`?");
}

#[test]
fn sarif_output() {
    let log = faulty().relay("check demo --format sarif").ends(1).silent().json();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules: BTreeSet<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|rule| rule["id"].as_str().expect("an id"))
        .collect();
    let results = run["results"].as_array().expect("a list");
    assert_eq!(results.len(), CODES.len());
    let mut fingerprints = BTreeSet::new();
    for result in results {
        let rule = result["ruleId"].as_str().expect("a rule");
        assert!(rules.contains(rule), "{rule} is no rule of the tool");
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("a number")).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], rule);
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().expect("a URI").starts_with("demo/"));
        let region = |name: &str| place["region"][name].as_u64().expect("a number");
        for name in ["startLine", "startColumn", "endLine", "endColumn"] {
            assert!(region(name) >= 1, "{place}");
        }
        assert!(
            (region("startLine"), region("startColumn"))
                <= (region("endLine"), region("endColumn"))
        );
        fingerprints.insert(result["partialFingerprints"].to_string());
    }
    assert_eq!(fingerprints.len(), results.len());
}

#[test]
fn fingerprints_survive_a_move() {
    let sandbox = faulty();
    let fingerprints = || {
        let log = sandbox.relay("check demo --format sarif").ends(1).json();
        let results = log["runs"][0]["results"].as_array().expect("a list").clone();
        results.iter().map(|result| result["partialFingerprints"].clone()).collect::<Vec<_>>()
    };
    let before = fingerprints();
    sandbox.edit("demo/project.kdl", "prompts {\n", "// Moved down.\n\nprompts {\n");
    assert_eq!(fingerprints(), before);
}

#[test]
fn github_output() {
    let text = faulty().relay("check demo --format github").ends(1).silent().stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), CODES.len());
    for (line, code) in lines.iter().zip(CODES) {
        assert!(
            line.starts_with("::error file=demo/") || line.starts_with("::warning file=demo/"),
            "{line}"
        );
        assert!(line.contains(&format!("title={}::", code.replace(':', "%3A"))), "{line}");
        assert!(line.contains("%0Ahelp: "), "{line}");
    }
    assert!(lines[0].contains("line=7,endLine=7,col=12,endColumn=17,"), "{}", lines[0]);
    assert!(lines[0].contains("`50%25`"), "{}", lines[0]);
    assert!(lines[2].contains("%0Afirst here: demo/project.kdl:4:12%0A"), "{}", lines[2]);
}

#[test]
fn other_verbs_report_in_the_same_formats() {
    let sandbox = faulty();
    // If there is no result, a machine report goes to standard output, a human one to standard
    // error.
    for verb in ["build --unsigned", "show", "inspect", "describe", "explain --index"] {
        let run = sandbox.relay(&format!("{verb} demo")).ends(1);
        assert_eq!(run.stdout, "", "{verb}");
        assert!(run.stderr.contains("3 errors, 1 warning in 2 files"), "{verb}: {}", run.stderr);
        let log = sandbox.relay(&format!("{verb} demo --format sarif")).ends(1).json();
        assert_eq!(log["version"], "2.1.0", "{verb}");
    }
    for verb in ["show", "inspect", "describe", "explain --index"] {
        let report = sandbox.relay(&format!("{verb} demo --format json")).ends(1).json();
        assert_conforms("check", &report);
    }
}

#[test]
fn many_errors_are_counted() {
    let mut text = project("");
    text.push_str("prompts {\n");
    for number in 0..1_200 {
        text.push_str(&format!("    nothing{number}\n"));
    }
    text.push_str("}\n");
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    let report = sandbox.relay("check . --format json").ends(1).json();
    assert_eq!(report["errors"], 1_200);
    assert_eq!(report["omitted"], 200);
    assert_eq!(report["diagnostics"].as_array().map(Vec::len), Some(1_000));
    sandbox.relay("check .").ends(1).prints("200 of them are not listed");
    sandbox
        .relay("check . --format github")
        .ends(1)
        .prints("::notice::200 more findings are not listed\n");
}

/// A project with a fault that two of its environments share.
fn faulty_in_environments() -> Sandbox {
    Sandbox::of(&[(
        "project.kdl",
        "project demo epoch=1\n\
         messages { gate-instructions \"Begin.\" }\n\
         prompts { prompt a { summary \"A\"; text \"x\" } }\n\
         when staging { gate on }\n\
         when production {\n    gate on\n    prompts { prompt b priority=9 }\n}\n",
    )])
}

#[test]
fn every_environment_is_checked_and_named() {
    let sandbox = faulty_in_environments();
    let human = sandbox.relay("check .").ends(1).silent().stdout;
    assert!(human.contains("do not list the prompts (with --env production, staging)"), "{human}");
    assert!(human.contains("production)"), "{human}");
    assert!(human.ends_with("1 error, 1 warning in 1 file\n"), "{human}");

    let json = sandbox.relay("check . --format json").ends(1).silent().json();
    assert_conforms("check", &json);
    let found = json["diagnostics"].as_array().expect("a list");
    let found: Vec<_> = found.iter().map(|one| (&one["code"], &one["environments"])).collect();
    let expected = [
        (&serde_json::json!("message::no_index"), &serde_json::json!(["production", "staging"])),
        (&serde_json::json!("when::unknown_name"), &serde_json::json!(["production"])),
    ];
    assert_eq!(found, expected);

    let sarif = sandbox.relay("check . --format sarif").ends(1).silent().json();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["properties"]["environments"], serde_json::json!(["production", "staging"]));
    assert!(result["message"]["text"].as_str().expect("a text").contains("--env production"));

    let github = sandbox.relay("check . --format github").ends(1).silent().stdout;
    assert_eq!(github.matches("(with --env production, staging)").count(), 1, "{github}");
}

#[test]
fn one_environment_is_checked_if_it_is_named() {
    let sandbox = faulty_in_environments();
    let run = sandbox.relay("check . --env staging --format json").ends(0).silent().json();
    let codes: Vec<_> = run["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (one["code"].as_str().expect("a code"), one["environments"].clone()))
        .collect();
    assert_eq!(codes, [("message::no_index", serde_json::json!([]))]);
}

#[test]
fn settings_that_no_server_enforces_yet_are_noted_in_one_line() {
    let text = project("roles { role a tier=2 }\nusers { anyone role=a }\npolicy\n");
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    let noted = "no server enforces this yet: the `tier=` of roles, and `policy` with its";
    for strict in ["", " --strict"] {
        let human = sandbox.relay(&format!("check .{strict}")).ends(0).silent().stdout;
        let lines: Vec<&str> = human.lines().collect();
        assert_eq!(lines.len(), 2, "{human}");
        assert!(lines[0].starts_with("note: project.kdl:"), "{human}");
        assert!(lines[0].contains(noted), "{human}");
        assert!(lines[0].contains("`expect` and `diff` go by it"), "{human}");
        assert_eq!(lines[1], "no errors, no warnings in 1 file", "{human}");

        let json = sandbox.relay(&format!("check . --json{strict}")).ends(0).silent().json();
        assert_conforms("check", &json);
        let counts = ["errors", "warnings", "notes"].map(|key| json[key].as_u64());
        assert_eq!(counts, [Some(0), Some(0), Some(1)]);
        assert_eq!(json["diagnostics"][0]["severity"], "note");

        let build = sandbox.relay(&format!("build .{strict}")).ends(0);
        assert_eq!(build.stderr.matches(noted).count(), 1, "{}", build.stderr);
        assert!(!build.stdout.contains("note: "), "{}", build.stdout);
        let json = sandbox.relay(&format!("build . --json{strict}")).ends(0).json();
        assert_conforms("build", &json);
        assert_eq!(json["report"]["notes"], 1);
    }
    let sarif = sandbox.relay("check . --format sarif").ends(0).json();
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "note");
    let github = sandbox.relay("check . --format github").ends(0).stdout;
    assert!(github.starts_with("::notice "), "{github}");
    let short = sandbox.relay("check . --format short").ends(0).stdout;
    assert!(short.contains(": note[project::not_enforced]: "), "{short}");
    assert_eq!(sandbox.relay("check . -q").ends(0).silent().stdout, "");
    sandbox.relay("build . -q").ends(0).silent();
    // An answer to a question stays visible below it.
    sandbox.relay("explain . --prompt hello --role a").ends(0).silent();
    sandbox.relay("rules project::not_enforced").ends(0).prints("note     no server enforces");
}

#[test]
fn settings_that_servers_enforce_are_not_noted() {
    let text = project(
        "gate on\ntools { diagnostics }\nroles { role a tier=0 { tools \"server_info\" } }\nusers { anyone role=a }\n",
    );
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    let run = sandbox.relay("check .").ends(0).silent();
    assert!(!run.stdout.contains("note"), "{}", run.stdout);
    let json = sandbox.relay("check . --json").ends(0).json();
    assert_eq!(json["notes"], 0);
}

#[test]
fn names_with_a_hyphen_stay_on_one_line() {
    let text = project("expect visible { frobnicate a }\n");
    let run = Sandbox::of(&[("project.kdl", &text)]).relay("check .").ends(1);
    assert!(!run.stdout.lines().any(|line| line.ends_with('-')), "{}", run.stdout);
    run.prints("not-resource").prints("not-prompt");
}

/// A project whose own facts decide in the base and in two environments.
const OWN_FACTS: &str = "\
project demo version=\"1.0.0\" epoch=1
roles { role dev tier=1 }
users { anyone role=dev }
policy guarded
facts {
    program our-list tier=0 says=\"lists\"
    program our-deploy tier=2 says=\"deploys\"
}
prompts { prompt a { summary \"A\"; text \"x\" } }
expect decision role=dev { allow \"our-list\"; deny \"our-deploy\" }
when staging { expect decision role=dev { allow \"our-list\"; deny \"our-deploy\" } }
when production { prompts { prompt a { summary \"P\" } } }
";

#[test]
fn every_environment_has_the_facts_of_the_project() {
    let sandbox = Sandbox::of(&[("project.kdl", OWN_FACTS)]);
    sandbox.relay("check .").ends(0);
    // With other facts the expectations of each fail.
    let wrong = OWN_FACTS.replace("tier=2 says=\"deploys\"", "tier=1 says=\"deploys\"");
    sandbox.write("project.kdl", &wrong);
    let report = sandbox.relay("check . --format json").ends(1).json();
    let errors = report["diagnostics"].as_array().expect("diagnostics").iter();
    let errors = errors.filter(|one| one["severity"] == "error");
    let errors: Vec<_> = errors.map(|one| (&one["code"], &one["environments"])).collect();
    let failed = serde_json::Value::from("expect::decision");
    let places = [serde_json::json!([]), serde_json::json!(["staging"])];
    assert_eq!(errors, places.each_ref().map(|place| (&failed, place)), "{report}");
}

#[test]
fn a_fault_of_the_facts_is_reported_once_for_all_environments() {
    let faulty = OWN_FACTS.replace("program our-list", "program git");
    let (alone, _) = faulty.split_once("when staging").expect("an environment");
    let report = |text: &str| {
        let sandbox = Sandbox::of(&[("project.kdl", text)]);
        sandbox.relay("check . --format json").ends(1).json()["diagnostics"].take()
    };
    let found = report(&faulty);
    let codes = found.as_array().expect("diagnostics").iter().map(|one| one["code"].as_str());
    assert!(codes.flatten().any(|code| code == "facts::replaces"), "{found}");
    assert_eq!(found, report(alone));
}
