//! `relay init --guard`: a project that only guards, from the first command to an installed client.

use super::Machine;

#[test]
fn a_guard_is_built_and_installed_by_the_commands_of_its_readme() {
    let machine = Machine::new();
    let sandbox = &machine.sandbox;
    let run = sandbox.relay("init rules --guard").ends(0);
    run.prints("rules/README.md\n").says("rules/README.md has the commands");
    let check = sandbox.relay("check rules --strict").ends(0);
    let lines: Vec<&str> = check.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", check.stdout);
    assert!(lines[0].starts_with("note: ") && lines[0].contains("`relay-hook` enforces `policy`"));
    assert_eq!(lines[1], "no errors, no warnings in 1 file");
    sandbox.relay("fmt rules --check").ends(0);
    sandbox.relay("test rules").ends(0);
    assert!(sandbox.path("rules/.github/workflows/relay.yml").exists());

    let readme = sandbox.read("rules/README.md");
    let mut commands = Vec::new();
    let mut is_code = false;
    for line in readme.lines() {
        match line {
            "```sh" => is_code = true,
            "```" => is_code = false,
            line if is_code => commands.push(line),
            _ => {}
        }
    }
    assert_eq!(commands.len(), 3, "{commands:?}");
    for line in commands {
        let folder =
            crate::binaries::relay().parent().expect("a folder").to_string_lossy().into_owned();
        let mut shell = sandbox.command("/bin/sh");
        // The options of tests, which keep the installation in the folder of the test.
        let line = match line.contains("hook install") {
            true => format!("{line} --root ../root --any-program"),
            false => line.to_owned(),
        };
        shell.arg("-c").arg(format!("cd rules && {line}"));
        shell.env("PATH", format!("{folder}:/usr/bin:/bin"));
        sandbox.run(shell).ends(0);
    }
    assert!(machine.read(".claude/settings.json").contains("relay-hook"));
    assert!(machine.read(".config/relay/hook.toml").contains("rules/rules.relay"));
}
