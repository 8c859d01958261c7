//! The static rules of clients, in both directions, against an oracle of each client's documented semantics.
//!
//! An oracle is written of the documentation, from rules that a test gives it as values: it shares no code with the import and
//! the export. Where the documentation is silent, it answers so that a test is harder: an oracle of an import does not allow,
//! one of an export does.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod golden;
mod hostile;
mod near;
mod relay_shell;
mod split;
mod vscode;

use super::Sandbox;
use crate::decide::Judged;
use crate::policy::corpus::all_commands;

/// The answer of an oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    Allow,
    Ask,
    Deny,
}

/// Commands to decide: a thousand of the corpora, and the near misses of some texts.
fn commands(texts: &[&str]) -> Vec<String> {
    let all = all_commands();
    let step = all.len() / 1000;
    let mut commands: Vec<String> = all.into_iter().step_by(step.max(1)).collect();
    assert!(commands.len() >= 1000, "{}", commands.len());
    commands.extend(texts.iter().flat_map(|text| near::misses(text)));
    commands
}

/// Imports the files of a folder, and returns the project.
fn imported(client: &str, files: &[(&str, &str)]) -> String {
    let sandbox = Sandbox::of(files);
    let line = format!("import --permissions {client} --name team -o policy.kdl .");
    sandbox.relay(&line).ends(0);
    sandbox.relay("check policy.kdl").ends(0);
    sandbox.relay("test policy.kdl").ends(0);
    sandbox.relay("fmt --check policy.kdl").ends(0);
    sandbox.read("policy.kdl")
}

/// The policy of an imported project.
fn judged(project: &str) -> Judged {
    let nodes: Vec<&str> = project
        .lines()
        .filter(|line| !line.starts_with("project ") && !line.starts_with("/-"))
        .collect();
    Judged::of(&nodes.join("\n"))
}

/// Asserts that a policy is never wider than an oracle, and that it allows something.
fn never_wider(project: &str, commands: &[String], oracle: impl Fn(&str) -> Says) {
    let judged = judged(project);
    let mut wider = Vec::new();
    let (mut allowed, mut denied) = (0, 0);
    for command in commands {
        let decision = judged.command(("", ""), command);
        let says = oracle(command);
        match decision.outcome.word() {
            "allow" => {
                allowed += 1;
                if says != Says::Allow {
                    wider.push(format!("{says:?} at the client, allow here: {command:?}"));
                }
            }
            "deny" => {}
            _ if says == Says::Deny => {
                wider.push(format!("deny at the client, asked here: {command:?}"))
            }
            _ => {}
        }
        denied += usize::from(says == Says::Deny);
    }
    assert!(wider.is_empty(), "{} of {}:\n{}", wider.len(), commands.len(), wider.join("\n"));
    assert!(allowed > 0, "nothing is allowed");
    assert!(denied > 0, "nothing is denied at the client");
}

/// Projects to export: rules of every kind, and a shipped policy.
const PROJECTS: [&str; 2] = [
    r#"roles { role dev tier=3; role observer tier=0 }
users { anyone role=dev }
tools { other "github/*" }
policy guarded {
    deny no-curl { program curl wget }
    deny no-push-main { program git; sub push; operands main }
    deny no-force { program git; sub push; flags "--force" }
    deny no-secrets { reads "**/.env" "~/.ssh/**" }
    deny no-etc { writes "/etc/**" }
    deny no-egress { connects "*.evil.example" }
    deny no-delete { tool "github/delete_*" }
    deny no-prod { tool "github/*"; arg env prod }
    deny trial observe=#true { program make }
    approve publish { program npm; sub publish }
    approve docs { writes "./docs/**" }
    deny except-one { program dd; except { flags "--help" } }
    allow restart { program systemctl; sub restart reload; operands nginx php-fpm; match "systemctl restart nginx" }
    allow remove { program rm; removes "./**"; match "rm notes.txt" "rm -v -- a.txt" }
    allow prune { program docker; sub "image prune"; match "docker image prune" }
}"#,
    "roles { role dev tier=3; role observer tier=0 }\nusers { anyone role=dev }\npolicy use=workstation",
];

/// Exports a project, and returns the file.
fn exported(client: &str, project: &str, options: &str) -> String {
    let text = format!("project demo epoch=1\n{project}\n");
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    sandbox.relay(&format!("export {client} project.kdl -o out {options}")).ends(0);
    sandbox.read("out")
}

/// The policy of a project.
fn judged_for(project: &str) -> Judged {
    Judged::of(project)
}
