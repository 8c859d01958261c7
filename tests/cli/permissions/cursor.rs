//! Cursor: programs with arguments, allowed or denied; what no rule is about is asked.

use super::split::{hides, parts, star, words};
use super::{Says, commands, exported, imported, never_wider};

const ALLOW: &[&str] =
    &["git", "npm:run build", "cargo:test", "ls", "kubectl:get pods", "make:*", "docker:ps*"];
const DENY: &[&str] = &["rm", "curl", "git:push", "git:reset*", "npm:publish", "sudo"];

/// Returns whether a pattern matches the words of a command.
fn matches(pattern: &str, words: &[String], is_allow: bool) -> bool {
    let (base, arguments) = pattern
        .split_once(':')
        .map_or((pattern, None), |(base, arguments)| (base, Some(arguments)));
    let Some((first, rest)) = words.split_first() else { return false };
    let rest = rest.join(" ");
    first == base
        && arguments.is_none_or(|wanted| {
            // Whether words may follow is not said: an allow has none, a deny has.
            star(wanted, &rest) || !is_allow && star(&format!("{wanted} *"), &rest)
        })
}

fn says(command: &str) -> Says {
    let parts = parts(command);
    let split: Vec<Vec<String>> =
        parts.iter().map(|part| words(part).unwrap_or_default()).collect();
    let any = |patterns: &[&str], words: &[String], is_allow| {
        patterns.iter().any(|it| matches(it, words, is_allow))
    };
    if split.iter().any(|words| any(DENY, words, false)) {
        return Says::Deny;
    }
    let is_allowed =
        |(part, words): (&String, &Vec<String>)| !hides(part) && any(ALLOW, words, true);
    if !parts.is_empty() && parts.iter().zip(&split).all(is_allowed) {
        Says::Allow
    } else {
        Says::Ask
    }
}

fn settings() -> String {
    let list = |patterns: &[&str]| {
        let all: Vec<_> = patterns.iter().map(|it| format!("Shell({it})")).collect();
        serde_json::to_string(&all).expect("JSON")
    };
    format!("{{\"permissions\": {{\"allow\": {}, \"deny\": {}}}}}", list(ALLOW), list(DENY))
}

#[test]
fn an_imported_policy_is_never_wider_than_the_settings() {
    let project = imported("cursor", &[(".cursor/cli.json", &settings())]);
    let texts: Vec<String> =
        [ALLOW, DENY].concat().iter().map(|it| it.replace(':', " ").replace('*', "x")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    never_wider(&project, &commands(&texts), says);
}

#[test]
fn an_export_allows_nothing_and_denies_whole_programs_only_if_asked() {
    let project = "policy { deny a { program rm }; deny b { program git; sub push }; approve c { writes \"/etc/**\" } }";
    let list = |file: &str, key: &str| -> Vec<String> {
        let file: serde_json::Value = serde_json::from_str(file).expect("JSON");
        serde_json::from_value(file["permissions"][key].clone()).expect("a list")
    };
    let file = exported("cursor", project, "");
    assert_eq!(list(&file, "deny"), ["Shell(rm)"]);
    let file = exported("cursor", project, "--strict");
    assert_eq!(list(&file, "deny"), ["Shell(rm)", "Shell(git)", "Write(/etc/**)"]);
    for project in super::PROJECTS {
        assert_eq!(list(&exported("cursor", project, ""), "allow"), [""; 0]);
    }
}
