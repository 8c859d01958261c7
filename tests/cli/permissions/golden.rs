//! The policy and the report of an import, and the file and the report of an export, for each client.

use crate::cli::snapshot;

use super::{PROJECTS, Sandbox};

const CLAUDE_CODE: &str = r#"{
  "permissions": {
    "allow": ["Bash(npm run test *)", "Bash(git diff:*)", "Edit(src/**)", "Read(//srv/data/**)", "WebFetch(domain:docs.rs)", "mcp__github__get_issue"],
    "ask": ["Bash(git push *)", "mcp__github"],
    "deny": ["Bash(rm -rf *)", "Bash(git * --force)", "Read(.env)", "Agent(Explore)", "Write(docs/**)", "Read(.env)"],
    "defaultMode": "acceptEdits",
    "additionalDirectories": ["../other"]
  },
  "hooks": {}
}
"#;

const CODEX: &str = r#"# Rules
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "prompt",
    match = ["git push origin main"],
)
prefix_rule(pattern = ["systemctl", "restart", "nginx"])
prefix_rule(pattern = ["our-tool"], decision = "forbidden")
host_executable(name = "git", paths = ["/usr/bin/git"])
"#;

const CURSOR: &str = r#"{"permissions": {
  "allow": ["Shell(npm:run build)", "Write(src/**)", "Mcp(github:get_issue)", "Surprise(x)"],
  "deny": ["Shell(rm)", "Read(.env*)", "Shell(git:push*)"]
}, "approvalMode": "unrestricted"}
"#;

const GEMINI: &str = r#"[[rule]]
toolName = "run_shell_command"
decision = "ask_user"
priority = 1

[[rule]]
commandPrefix = ["git status", "git log"]
toolName = "run_shell_command"
decision = "allow"
priority = 500

[[rule]]
commandPrefix = "git"
decision = "deny"
priority = 100

[[rule]]
mcpName = "github"
toolName = "delete_repo"
decision = "deny"
priority = 900

[[rule]]
toolName = "write_file"
decision = "allow"
priority = 10
modes = ["autoEdit"]
"#;

const VSCODE: &str = r#"{
  // Commands
  "chat.tools.terminal.autoApprove": {
    "npm run build": true,
    "rm": false,
    "/^git (reset|clean)\\b/": false,
    "/^cargo test$/": { "approve": true, "matchCommandLine": true },
    "del": null,
  },
  "chat.tools.edits.autoApprove": { "src/**/*.{ts,js}": true, "**/.env": false },
  "chat.tools.urls.autoApprove": { "https://docs.rs/*": true, "https://example.com/a": true },
}
"#;

const RELAY_SHELL: &str = "RELAY_SHELL_POLICY_MODE=guarded\nRELAY_SHELL_POLICY_DENY='rm\\s+-rf'\nRELAY_SHELL_POLICY_ALLOW='^shell_exec ls'\nRELAY_SHELL_MAX_OUTPUT=1000\n";

#[test]
fn each_client_is_imported_so() {
    for (client, path, text) in [
        ("claude-code", ".claude/settings.json", CLAUDE_CODE),
        ("codex", ".codex/rules/team.rules", CODEX),
        ("cursor", ".cursor/cli.json", CURSOR),
        ("gemini", ".gemini/policies/team.toml", GEMINI),
        ("vscode", ".vscode/settings.json", VSCODE),
        ("relay-shell", ".env", RELAY_SHELL),
    ] {
        // Of a user, since a project's policies of Gemini CLI permit nothing.
        let of_user = format!("home/{path}");
        let at = if client == "gemini" { of_user.as_str() } else { path };
        let sandbox = Sandbox::of(&[(at, text)]);
        let home = if client == "gemini" { "--home home" } else { "" };
        let run = sandbox
            .relay(&format!("import --permissions {client} --name team {home} --dry-run ."))
            .ends(0);
        let name = format!("import_permissions_{}", client.replace('-', "_"));
        snapshot(&name, &format!("{}\n---\n{}", run.stdout, run.stderr));
    }
}

#[test]
fn each_client_is_exported_so() {
    let text = format!("project demo epoch=1\n{}\n", PROJECTS[0]);
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    for client in ["claude-code", "codex", "cursor", "gemini", "vscode"] {
        let run = sandbox.relay(&format!("export {client} project.kdl")).ends(0);
        let name = format!("export_permissions_{}", client.replace('-', "_"));
        snapshot(&name, &format!("{}\n---\n{}", run.stdout, run.stderr));
        let json =
            sandbox.relay(&format!("export {client} project.kdl --strict --json")).ends(0).json();
        assert!(json["report"].as_array().is_some_and(|rows| rows.len() > 10), "{json}");
    }
    sandbox.relay("export relay-shell project.kdl").ends(2);
    sandbox.relay("export claude-code project.kdl --role nobody").ends(2).says("unknown role");
    sandbox.write("out", "mine");
    sandbox.relay("export codex project.kdl -o out").ends(2).says("already exists");
    assert_eq!(sandbox.read("out"), "mine");
    sandbox.write("bare.kdl", &super::super::project(""));
    sandbox.relay("export codex bare.kdl").ends(2).says("has no policy");
}
