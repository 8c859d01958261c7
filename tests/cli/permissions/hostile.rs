//! Files that are damaged, dangerous or not what they seem: nothing is written, and the place is named.

use super::Sandbox;

/// Asserts that an import of these files fails with words, and writes nothing.
#[track_caller]
fn refused(client: &str, files: &[(&str, &str)], words: &str) {
    let sandbox = Sandbox::of(files);
    let run = sandbox.relay(&format!("import --permissions {client} --name team -o policy.kdl ."));
    assert_ne!(run.code, 0, "{}", run.stdout);
    let run = run.says(words);
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    assert!(!sandbox.path("policy.kdl").exists(), "it was written");
}

#[test]
fn a_file_that_is_not_understood_is_refused_with_its_line() {
    let cc =
        |text: &str, words: &str| refused("claude-code", &[(".claude/settings.json", text)], words);
    cc(
        "{\"permissions\": {}, \"permissions\": {}}",
        "settings.json:1`: the key `permissions` is given twice",
    );
    cc(
        "{\"permissions\":\n {\"deny\": [\"Bash(rm *)\"], \"den\\u0079\": []}}",
        "settings.json:2`: the key `deny` is given twice",
    );
    cc("{\n// no comments here\n}", "settings.json:2`: expected a key in quotes");
    cc("{\"permissions\": {\"deny\": \"Bash(rm *)\"}}", "`deny` is a text, not a list");
    cc("{\"permissions\": {\"deny\": [7]}}", "a rule is not a text");
    cc("{\"permissions\": []}", "`permissions` is not an object");
    cc(&"[".repeat(100_000), "deeper than 32 levels");
    cc("\u{feff}{}", "expected a value");
    let codex =
        |text: &str, words: &str| refused("codex", &[(".codex/rules/a.rules", text)], words);
    codex("\nload(\"x.rules\", \"y\")\n", "a.rules:2`: `load` is another statement");
    codex("prefix_rule(pattern = [x for x in y])", "expected a text or a list");
    codex("prefix_rule(pattern = [\"a\"], decision = \"maybe\")", "`maybe` is not a decision");
    codex("prefix_rule(pattern = [\"a\"], surprise = \"x\")", "`surprise` is not an argument");
    let gemini =
        |text: &str, words: &str| refused("gemini", &[(".gemini/policies/a.toml", text)], words);
    gemini("[[rule]]\ndecision = \"deny\"\n", "a rule without a priority");
    gemini("[[rule]]\ndecision = \"deny\"\ndecision = \"allow\"\n", "a.toml:3");
    gemini(
        "[[rule]]\nsurprise = 1\ndecision = \"deny\"\npriority = 1\n",
        "`surprise` is not known",
    );
    refused(
        "vscode",
        &[(
            ".vscode/settings.json",
            "{\"chat.tools.terminal.autoApprove\": {\"a\": true, \"a\": false}}",
        )],
        "given twice",
    );
    refused(
        "cursor",
        &[(".cursor/cli.json", "{\"permissions\": {\"ask\": []}}")],
        "`permissions.ask` is not known",
    );
    refused("relay-shell", &[(".env", "RELAY_SHELL_POLICY_MODE=opne\n")], "the mode is not open");
    refused("relay-shell", &[(".env", "RELAY_SHELL_POLICY_DENY='a(?=b)'\n")], "the policy cannot");
}

#[test]
fn a_rule_that_restricts_and_cannot_be_said_stops_the_import() {
    let cc = |rule: &str, words: &str| {
        let text =
            format!("{{\"permissions\": {{\"deny\": [{}]}}}}", serde_json::Value::from(rule));
        refused("claude-code", &[(".claude/settings.json", &text)], words);
    };
    cc("Bash(run_in_background:true)", "denies, and the policy cannot");
    cc("Bash(rm *", "its `(` has no `)`");
    cc("Read(!x)", "takes back others");
    cc("PowerShell(rm *)", "PowerShell");
    cc("Read(a/\u{1b}[31m)", "the policy cannot");
    refused(
        "codex",
        &[(".codex/rules/a.rules", "prefix_rule(pattern = [\"a b\"], decision = \"forbidden\")")],
        "needs quotes",
    );
    refused(
        "gemini",
        &[(
            ".gemini/policies/a.toml",
            "[[rule]]\ncommandRegex = '^rm'\ndecision = \"deny\"\npriority = 1\n",
        )],
        "JSON of the arguments",
    );
}

#[test]
fn large_files_and_links_out_of_the_folder_are_refused() {
    let large = format!("{{\"x\": \"{}\"}}", "x".repeat(1024 * 1024));
    refused("claude-code", &[(".claude/settings.json", &large)], "over the limit of 1048576");
    #[cfg(unix)]
    {
        let sandbox = Sandbox::of(&[("outside/settings.json", "{}"), ("project/.claude/x", "")]);
        let (from, to) =
            (sandbox.path("outside/settings.json"), sandbox.path("project/.claude/settings.json"));
        std::os::unix::fs::symlink(from, to).expect("a link");
        let run =
            sandbox.relay("import --permissions claude-code --name team -o policy.kdl project");
        assert_ne!(run.code, 0);
        run.says("link out of the project's folder");
    }
}

#[test]
fn nothing_is_replaced_and_nothing_is_imported_of_nothing() {
    let sandbox = Sandbox::of(&[
        (".claude/settings.json", "{\"permissions\": {\"deny\": [\"Bash(rm *)\"]}}"),
        ("policy.kdl", "mine"),
    ]);
    sandbox
        .relay("import --permissions claude-code --name team -o policy.kdl .")
        .ends(2)
        .says("already exists");
    assert_eq!(sandbox.read("policy.kdl"), "mine");
    sandbox.relay("import --permissions codex .").ends(1).says("has no rules of Codex");
    sandbox.relay("import --home .").ends(2).says("--permissions");
    let first = sandbox.relay("import --permissions claude-code --name team --dry-run .").ends(0);
    let second = sandbox.relay("import --permissions claude-code --name team --dry-run .").ends(0);
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn a_project_with_rules_of_a_client_says_how_they_are_imported() {
    let sandbox = Sandbox::of(&[
        (".claude/settings.json", "{\"permissions\": {\"deny\": [\"Bash(rm *)\"]}}"),
        ("CLAUDE.md", "Run the tests.\n"),
    ]);
    sandbox.relay("import --name team .").ends(0).says("--permissions claude-code");
}
