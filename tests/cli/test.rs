//! `relay test`: the expects of a project, a line each, and the untouched declarations.

use crate::cli::schemas::assert_conforms;
use crate::cli::{Sandbox, snapshot};

/// A project whose last two expects fail: one in an environment alone.
const PROJECT: &str = r#"project demo version="1.0.0" epoch=1
tenants { tenant acme; tenant globex }
roles { role reader; role admin }
users { group sre role=admin; anyone role=reader }
gate on
tools { other "api-*" }
prompts {
    prompt vpn { summary "How to reach the VPN"; text "By cable." }
    prompt naming { summary "Names"; text "kebab-case" }
}
resources { resource "relay://demo/plan" { text "A plan."; for role=admin } }
skills {
    global { skill dates topic=dates "DD/MM/YYYY & <more>" }
    tenant acme { skill iso topic=dates "ISO 8601" }
    tenant globex { skill euro "EUR" }
}
expect context tenant=acme tool=api-create { text "ISO 8601"; not-skill dates }
expect selection role=reader { tags vpn; full vpn }
expect visible role=reader { resource "relay://demo/plan" }
expect context tool=api-list { text "DD/MM/YYYY & <more>" }
when production {
    skills { global { skill dates "YYYY" } }
}
"#;

fn sandbox() -> Sandbox {
    Sandbox::of(&[("demo/project.kdl", PROJECT)])
}

#[test]
fn each_expect_has_a_line_and_what_none_touches_follows() {
    let sandbox = sandbox();
    let run = sandbox.relay("test demo").ends(1);
    snapshot("test_human", &run.stdout);
    // The reports of `relay check`, with places and reasons.
    assert!(run.stderr.contains("expect::visible"), "{}", run.stderr);
    assert!(run.stderr.contains("admits only role `admin`"), "{}", run.stderr);
    sandbox.relay("check demo").ends(1).prints("expect::context").prints("expect::visible");
    sandbox.relay("build demo --unsigned -o x.relay").ends(1).says("expect::visible");
    assert!(!sandbox.path("x.relay").exists());
}

#[test]
fn what_holds_ends_with_0() {
    let sandbox = sandbox();
    sandbox.edit("demo/project.kdl", "{ resource \"relay://demo/plan\" }", "{ prompt naming }");
    sandbox.edit("demo/project.kdl", "skill dates \"YYYY\"", "skill dates priority=60");
    let run = sandbox.relay("test demo").ends(0).silent();
    assert!(run.stdout.contains("4 expects, all hold\n"), "{}", run.stdout);
    let run = sandbox.relay("test demo --env production").ends(0).silent();
    assert!(run.stdout.contains("4 expects, all hold\n"), "{}", run.stdout);
    sandbox.relay("test demo --env prod").ends(2).says("`prod` is not an environment");
    sandbox.relay("test nowhere").ends(2);
}

#[test]
fn json_has_each_environment() {
    let sandbox = sandbox();
    let tested = sandbox.relay("test demo --json").ends(1).json();
    assert_conforms("test", &tested);
    assert_eq!((&tested["passed"], &tested["failed"]), (&5.into(), &3.into()));
    let environments = tested["environments"].as_array().expect("a list");
    let names: Vec<_> = environments.iter().map(|each| each["environment"].as_str()).collect();
    assert_eq!(names, [None, Some("production")]);
    let last = &environments[1]["tests"][3];
    assert_eq!(last["question"], "context tool=api-list");
    assert_eq!((&last["file"], &last["line"]), (&"demo/project.kdl".into(), &20.into()));
    assert_eq!(last["failures"][0]["message"], "the text of this call lacks `DD/MM/YYYY & <more>`");
    assert_eq!(environments[0]["tests"][3]["passed"], true);
    let untouched = tested["untouched"].as_array().expect("a list");
    let untouched: Vec<_> =
        untouched.iter().map(|each| (each["kind"].as_str(), each["name"].as_str())).collect();
    assert_eq!(
        untouched,
        [
            (Some("tenant"), Some("globex")),
            (Some("role"), Some("admin")),
            (Some("skill"), Some("tenant globex/euro")),
            (Some("prompt"), Some("naming")),
        ]
    );
}

#[test]
fn a_project_with_other_errors_is_asked_nothing() {
    let sandbox = sandbox();
    sandbox.edit("demo/project.kdl", "prompt vpn {", "promt vpn {");
    let run = sandbox.relay("test demo --json").ends(1).says("node::unknown");
    let tested = run.json();
    assert_conforms("test", &tested);
    assert_eq!(tested["environments"][0]["asked"], false);
    assert!(!run.stderr.contains("expect::selection"), "{}", run.stderr);
    let page = sandbox.relay("test demo").ends(1).stdout;
    assert!(page == "not run: the project has errors\n", "{page}");
    let suites = sandbox.relay("test demo --format junit").ends(1).stdout;
    assert_eq!(elements(&suites).iter().filter(|name| *name == "error").count(), 2, "{suites}");
}

#[test]
fn errors_of_one_environment_leave_the_others_asked() {
    let sandbox = sandbox();
    sandbox.edit("demo/project.kdl", "skill dates \"YYYY\"", "skill daets \"YYYY\"");
    let page = sandbox.relay("test demo").ends(1).stdout;
    assert!(page.contains("environment: production: not run: the project has errors\n"), "{page}");
    assert!(page.contains("\n4 expects, 1 not met\n"), "{page}");
}

#[test]
fn complete_coverage_is_said() {
    let sandbox = Sandbox::example("platform");
    let page = sandbox.relay("test platform").ends(0).silent().stdout;
    let last = "43 expects, all hold\n\
                every tenant, role, skill, prompt, resource and rule is touched\n\n\
                mutation score 100 %: 22 of 22 mutants killed\n";
    assert!(page.ends_with(last), "{page}");
    assert_eq!(sandbox.relay("test platform --json").json()["untouched"], serde_json::json!([]));
}

#[test]
fn without_an_expect_nothing_is_touched() {
    let text = "project small version=\"1.0.0\" epoch=1\nprompts { prompt a { text A } }\n\
                skills { global { skill s S } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", text)]);
    let page = sandbox.relay("test .").ends(0).silent().stdout;
    assert_eq!(page, "the project has no expect; docs/skills.md shows them\n");
    let tested = sandbox.relay("test . --json").ends(0).json();
    let names: Vec<_> = tested["untouched"].as_array().expect("a list").iter().collect();
    let names: Vec<_> = names.iter().filter_map(|each| each["name"].as_str()).collect();
    assert_eq!(names, ["global/s", "a"]);
}

#[test]
fn expects_of_one_line_are_counted_each() {
    let twice =
        "expect visible { prompt a }; expect visible { prompt b }; expect visible { prompt b }";
    let text = format!(
        "project small version=\"1.0.0\" epoch=1\n\
         prompts {{ prompt a {{ text A }}; prompt b enabled=#false {{ text B }} }}\n{twice}\n"
    );
    let page = Sandbox::of(&[("project.kdl", &text)]).relay("test .").ends(1).stdout;
    let visible = ["pass", "FAIL", "FAIL"].map(|word| format!("{word}  project.kdl:3  visible\n"));
    assert!(page.starts_with(&(visible.concat() + "3 expects, 2 not met\n")), "{page}");
}

#[test]
fn of_skills_with_one_name_those_that_match_are_touched() {
    let check = |claim: &str, expected: &[&str]| {
        let text = format!(
            "project small version=\"1.0.0\" epoch=1\ntenants {{ tenant acme; tenant globex }}\n\
             skills {{ tenant acme {{ skill s A }}; tenant globex {{ skill s G; skill g G }} }}\n\
             expect context tenant=acme {{ {claim} }}\n"
        );
        let sandbox = Sandbox::of(&[("project.kdl", &text)]);
        let tested = sandbox.relay("test . --json").json();
        let untouched = tested["untouched"].as_array().expect("a list").iter();
        let skills = untouched.filter(|each| each["kind"] == "skill");
        let skills: Vec<_> = skills.filter_map(|each| each["name"].as_str()).collect();
        assert_eq!(skills, expected, "{claim}");
    };
    check("skill s", &["tenant globex/g", "tenant globex/s"]);
    check("not-skill g", &["tenant globex/s"]);
    // Both fail, so the others of the name are what the author looks for.
    check("not-skill s", &["tenant globex/g"]);
    check("skill g", &["tenant globex/s"]);
}

/// Each claim that fails was compared with each skill, for each that nearly matches.
#[test]
fn many_claims_that_fail_are_reported_in_time() {
    const COUNT: usize = 2500;
    let mut text = String::from(
        "project big version=\"1.0.0\" epoch=1\ntenants { tenant acme; tenant globex }\n\
         skills merged=(bytes)1000000 {\ntenant globex {\n",
    );
    (0..COUNT).for_each(|number| text.push_str(&format!("skill s{number} \"Text {number}.\"\n")));
    text.push_str("}\n}\nexpect context tenant=acme {\n");
    (0..COUNT).for_each(|number| text.push_str(&format!("skill s{number}\n")));
    text.push_str("}\n");
    let run = Sandbox::of(&[("project.kdl", &text)]).relay("test . --json").ends(1);
    let tested = run.json();
    assert_eq!(
        tested["environments"][0]["tests"][0]["failures"].as_array().map(Vec::len),
        Some(COUNT)
    );
}

#[test]
fn junit_is_xml_with_a_suite_for_each_environment() {
    let sandbox = sandbox();
    let text = sandbox.relay("test demo --format junit").ends(1).stdout;
    let names = elements(&text);
    let count = |name: &str| names.iter().filter(|each| *each == name).count();
    assert_eq!((count("testsuites"), count("testsuite")), (1, 2));
    assert_eq!((count("testcase"), count("failure"), count("error")), (8, 3, 0));
    assert!(text.contains("tests=\"8\" failures=\"3\" errors=\"0\""), "{text}");
    assert!(text.contains("lacks `DD/MM/YYYY &amp; &lt;more&gt;`"), "{text}");
}

/// Reads XML as a strict reader would, and returns the names of its elements: tags are nested, attributes
/// are quoted and there once, and `&` begins one of the five entities or a number.
#[track_caller]
fn elements(text: &str) -> Vec<String> {
    let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let mut rest = text.strip_prefix(declaration).expect("a declaration");
    let (mut open, mut names): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some(start) = rest.find('<') {
        assert_plain(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{text}");
            continue;
        }
        let (tag, is_closed) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut seen = Vec::new();
        while !attributes.is_empty() {
            let (key, after) = attributes.split_once("=\"").expect("an attribute");
            let (value, after) = after.split_once('"').expect("the quote ends");
            assert_plain(value);
            assert!(!seen.contains(&key), "`{key}` twice: {tag}");
            seen.push(key);
            attributes = after.strip_prefix(' ').unwrap_or(after);
        }
        names.push(name.to_owned());
        assert!(!open.is_empty() || names.len() == 1, "more than one root");
        if !is_closed {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?}: {rest}");
    names
}

#[track_caller]
fn assert_plain(text: &str) {
    assert!(!text.contains(['<', '>']), "{text}");
    for reference in text.split('&').skip(1) {
        let (name, _) = reference.split_once(';').expect("a reference ends");
        let known = ["amp", "lt", "gt", "quot", "apos", "#9", "#10", "#13"];
        assert!(known.contains(&name), "&{name};");
    }
}
