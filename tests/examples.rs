//! Every project in `examples/` builds without errors or warnings, and always to the same bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use relay_bundle::{Bundle, Who};
use relay_compiler::Options;

use crate::support::{Memory, compiled, contents, root};

/// The folders of the example projects, sorted.
fn examples() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("examples")).expect("examples/");
    let folders = entries.map(|entry| entry.expect("an entry").path());
    let mut projects: Vec<_> =
        folders.filter(|folder| folder.join("project.kdl").exists()).collect();
    projects.sort();
    assert!(projects.len() >= 5, "{projects:?}");
    projects
}

#[test]
fn every_example_builds_without_diagnostics() {
    for folder in examples() {
        let files = Memory::folder(&folder);
        for environment in environments(&files) {
            let options = Options { environment, strict: true, ..Options::default() };
            let (compiled, report) = compiled(&files, "project.kdl", &options);
            assert!(report.is_empty(), "{}:\n{report}", folder.display());
            let bytes = compiled.bundle.expect("no diagnostics, so a bundle");
            let bundle = Bundle::open(Box::new(bytes)).expect("what was written can be opened");
            bundle.check_all().expect("what was written can be read");
        }
    }
}

#[test]
fn the_homelab_is_a_real_project() {
    let files = Memory::folder(&root().join("examples/homelab"));
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let contents = contents(&compiled).unwrap_or_else(|| panic!("{report}"));
    assert!(contents.prompts.len() >= 20);
    let templates = contents.prompts.iter().filter(|prompt| prompt.rendering.variants.len() > 1);
    assert!(templates.count() >= 2);
    assert!(contents.prompts.iter().all(|prompt| prompt.description.is_some()));
    assert!(!contents.templates.is_empty() && contents.resources.len() >= 3);
}

#[test]
fn the_spec_driven_workflow_is_thirteen_commands() {
    let files = Memory::folder(&root().join("examples/spec-kit"));
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let contents = contents(&compiled).unwrap_or_else(|| panic!("{report}"));
    let names: Vec<&str> = contents.prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    let commands = contents.prompts.iter().filter(|prompt| prompt.name.starts_with("spec."));
    assert_eq!(commands.clone().count(), 13, "{names:?}");
    for command in commands {
        let [argument] = command.rendering.arguments.as_slice() else { panic!("{}", command.name) };
        assert_eq!(argument.name, "arguments");
    }
    // A handoff to an unknown command would only be noticed when someone follows it.
    for meta in contents.prompts.iter().filter_map(|prompt| prompt.meta.as_deref()) {
        let meta: serde_json::Value = serde_json::from_str(meta).expect("JSON");
        for handoff in meta["handoffs"].as_array().into_iter().flatten() {
            let agent = handoff["agent"].as_str().expect("an agent");
            assert!(names.contains(&agent), "no command `{agent}`");
        }
    }
}

#[test]
fn the_platform_has_two_companies() {
    let folder = root().join("examples/platform");
    let (compiled, report) = compiled(&Memory::folder(&folder), "project.kdl", &Options::default());
    let contents = contents(&compiled).unwrap_or_else(|| panic!("{report}"));
    let groups = contents.users.iter().filter(|user| user.who == Who::Group).count();
    assert_eq!((contents.tenants.len(), contents.roles.len(), groups), (2, 3, 2));
    assert_eq!(contents.skills.len(), 30);
    let topics = contents.skills.iter().filter_map(|skill| skill.topic.as_ref());
    let topics: BTreeSet<&str> = topics.map(|topic| topic.value.as_str()).collect();
    assert_eq!(Vec::from_iter(topics), ["dates", "language"]);
    // They are part of the project, so its build has proved them.
    let expects = fs::read_to_string(folder.join("expects.kdl")).expect("expects.kdl");
    assert_eq!(expects.lines().filter(|line| line.starts_with("expect ")).count(), 43);
}

#[test]
fn the_guard_is_a_policy_alone() {
    let folder = root().join("examples/guard");
    let (compiled, report) = compiled(&Memory::folder(&folder), "project.kdl", &Options::default());
    let contents = contents(&compiled).unwrap_or_else(|| panic!("{report}"));
    assert!(contents.prompts.is_empty() && contents.resources.is_empty());
    let groups = contents.users.iter().filter(|user| user.who == Who::Group).count();
    assert_eq!((contents.roles.len(), groups), (2, 2));
    let text = fs::read_to_string(folder.join("project.kdl")).expect("project.kdl");
    let expects = text.lines().filter(|line| line.starts_with("expect decision ")).count();
    assert!(expects >= 15, "{expects}");
}

#[test]
fn the_operations_offer_commands_and_terminals() {
    let folder = root().join("examples/ops");
    let (compiled, report) = compiled(&Memory::folder(&folder), "project.kdl", &Options::default());
    let contents = contents(&compiled).unwrap_or_else(|| panic!("{report}"));
    let names: Vec<&str> = contents.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.contains(&"shell_exec") && names.contains(&"session_send"), "{names:?}");
    let settings = contents.tool_settings.expect("settings of processes");
    assert_eq!(settings.shell.folders.map(|folders| folders.len()), Some(3));
    assert_eq!(settings.limits.sessions_max.value, 8);
}

#[test]
fn the_fleet_has_hosts_in_groups() {
    let folder = root().join("examples/fleet");
    let (compiled, report) = compiled(&Memory::folder(&folder), "project.kdl", &Options::default());
    let contents = contents(&compiled).unwrap_or_else(|| panic!("{report}"));
    let hosts = contents.hosts.as_ref().expect("hosts");
    let groups: BTreeSet<&str> = hosts
        .hosts
        .iter()
        .flat_map(|host| &host.groups)
        .map(|group| group.value.as_str())
        .collect();
    assert_eq!((hosts.hosts.len(), Vec::from_iter(groups)), (12, vec!["core", "db", "web"]));
    assert_eq!(hosts.hosts.iter().filter(|host| host.jump.is_some()).count(), 10);
    let names: Vec<&str> = contents.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.contains(&"ssh_fanout") && !names.contains(&"shell_exec"), "{names:?}");
    // README.md says how many there are.
    let expects = fs::read_to_string(folder.join("expects.kdl")).expect("expects.kdl");
    assert_eq!(expects.lines().filter(|line| line.starts_with("expect ")).count(), 32);
}

/// The environments of a project's `when` blocks, and the base.
fn environments(files: &Memory) -> Vec<Option<String>> {
    let text = String::from_utf8_lossy(&files.0["project.kdl"]).into_owned();
    let whens = text.lines().filter_map(|line| line.strip_prefix("when "));
    let names = whens.filter_map(|rest| rest.split([' ', '{']).next().map(str::to_owned));
    std::iter::once(None).chain(names.map(Some)).collect()
}
