//! relay-shell: a mode, and a regex that is searched in the tool and its text.

use super::{Says, commands, imported, judged, never_wider};

#[test]
fn what_the_regex_denies_is_denied() {
    let regex = r"rm\s+-rf|mkfs|\bcurl\b|git push.*--force|drop table";
    let env = format!("RELAY_SHELL_POLICY_MODE=open\nRELAY_SHELL_POLICY_DENY='{regex}'\n");
    let project = imported("relay-shell", &[(".env", &env)]);
    let own = regex::bytes::Regex::new(&format!("(?-u){regex}")).expect("a regex");
    let says = |command: &str| {
        let text = format!("shell_exec {command}");
        if own.is_match(text.as_bytes()) { Says::Deny } else { Says::Allow }
    };
    let texts = ["rm -rf x", "mkfs /dev/sda", "curl x", "git push x --force", "drop table x"];
    never_wider(&project, &commands(&texts), says);
}

#[test]
fn its_mode_readonly_runs_no_command() {
    let project = imported("relay-shell", &[(".env", "RELAY_SHELL_POLICY_MODE=readonly\n")]);
    let judged = judged(&project);
    for command in commands(&["df -h"]) {
        assert_eq!(judged.command(("", ""), &command).outcome.word(), "deny", "{command:?}");
    }
}
