//! The tools that start processes: more time, output, folders or variables loosens, less tightens.

use relay_bundle::Bundle;
use relay_compiler::Options;
use relay_diff::{Area, Direction};

use super::found;
use crate::support::{self, Memory};

fn compiled(text: &str) -> Bundle {
    let files = Memory::of(&[("project.kdl", text)]);
    let (compiled, report) = support::compiled(&files, "project.kdl", &Options::default());
    let bytes = compiled.bundle.unwrap_or_else(|| panic!("{report}\n{text}"));
    Bundle::open(Box::new(bytes)).expect("a bundle")
}

fn project(shell: &str, limits: &str) -> String {
    format!(
        "project ops epoch=1\ntools {{ shell {{ {shell} }}; sessions {limits} }}\npolicy\n\
         prompts {{ prompt a {{ summary \"A\"; text \"x\" }} }}\n"
    )
    .replace("{  }", "")
}

/// Returns each part that differs, with its direction.
fn parts((a, b): (&str, &str), of_shell: bool) -> Vec<(String, Direction)> {
    let text = |part: &str| if of_shell { project(part, "") } else { project("", part) };
    let found = found(&compiled(&text(a)), &compiled(&text(b)));
    let authority = found.into_iter().filter(|finding| finding.area == Area::Authority);
    authority.map(|it| (it.part, it.direction.expect("a direction"))).collect()
}

#[test]
fn each_change_has_its_direction() {
    use Direction::{Narrower, NotProved, Same};
    for (a, b, part, direction) in [
        ("", "folders \"/srv\"", "shell folders", Narrower),
        ("folders \"/srv\"", "", "shell folders", NotProved),
        ("folders \"/srv\"", "folders \"/srv/app\"", "shell folders", Narrower),
        ("folders \"/srv/app\"", "folders \"/srv\"", "shell folders", NotProved),
        ("folders \"/srv\"", "folders \"/srv-b\"", "shell folders", NotProved),
        ("folders \"/a\" \"/b\"", "folders \"/b\" \"/a\"", "shell folders", Same),
        ("environment A", "environment A B", "shell environment", NotProved),
        ("environment \"A*\"", "environment AB \"AC*\"", "shell environment", Narrower),
        ("environment AB", "environment \"A*\"", "shell environment", NotProved),
        ("environment A", "", "shell environment", NotProved),
    ] {
        assert_eq!(parts((a, b), true), [(part.to_owned(), direction)], "{a} -> {b}");
    }
    for (a, b, direction) in [
        ("", "idle=(duration)\"1h\"", NotProved),
        ("idle=(duration)\"1h\"", "idle=(duration)\"1m\"", Narrower),
    ] {
        assert_eq!(parts((a, b), false), [("sessions idle".to_owned(), direction)], "{a} -> {b}");
    }
}

#[test]
fn a_new_tool_that_runs_commands_says_so() {
    let none = compiled(
        "project ops epoch=1\npolicy\nprompts { prompt a { summary \"A\"; text \"x\" } }\n",
    );
    for (shell, wanted) in [("", "in any folder"), ("folders \"/srv\" \"/tmp\"", "in /srv, /tmp")] {
        let found = found(&none, &compiled(&project(shell, "")));
        for tool in ["shell_exec", "shell_script", "shell_spawn", "session_send"] {
            let text =
                format!("{:?}", found.iter().find(|it| it.subject.name == tool).expect(tool));
            assert!(text.contains("of any tier") && text.contains(wanted), "{tool}: {text}");
        }
    }
}

#[test]
fn limits_of_the_policy_are_compared() {
    let with = |limits: &str| {
        compiled(&project("", "").replace("policy\n", &format!("policy {{ {limits} }}\n")))
    };
    let base = with("limits sessions=64");
    for (limits, part, direction) in [
        ("limits timeout=(duration)\"30s\"", "limits timeout", Direction::Narrower),
        ("limits max-timeout=(duration)\"1h\"", "limits max-timeout", Direction::NotProved),
        ("limits output=(bytes)\"1KiB\"", "limits output", Direction::Narrower),
        ("limits max-output=(bytes)\"2MiB\"", "limits max-output", Direction::NotProved),
        ("limits input=(bytes)\"1KiB\"", "limits input", Direction::Narrower),
        ("limits sessions=65", "limits sessions", Direction::NotProved),
    ] {
        let found: Vec<_> = found(&base, &with(limits))
            .into_iter()
            .filter(|it| it.area == Area::Authority)
            .map(|it| (it.part, it.direction.expect("a direction")))
            .collect();
        assert_eq!(found, [(part.to_owned(), direction)], "{limits}");
    }
}
