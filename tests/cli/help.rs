//! The help pages.

use crate::binaries;
use crate::cli::{Sandbox, snapshot};

const VERBS: [&str; 19] = [
    "init",
    "import",
    "export",
    "check",
    "test",
    "rules",
    "fmt",
    "show",
    "build",
    "keygen",
    "sign",
    "verify",
    "trust",
    "inspect",
    "describe",
    "explain",
    "diff",
    "completions",
    "man",
];

#[test]
fn the_first_page() {
    let sandbox = Sandbox::new();
    let run = sandbox.relay("--help").ends(0).silent();
    assert!(!run.stdout.contains('\u{1b}'), "colour in a pipe");
    snapshot("help", &run.stdout);
    assert_eq!(sandbox.relay("help").ends(0).silent().stdout, run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
}

#[test]
fn every_verb_has_a_page_with_an_example() {
    let sandbox = Sandbox::new();
    let first = sandbox.relay("--help").ends(0).stdout;
    for verb in VERBS {
        assert!(first.contains(&format!("\n  {verb} ")), "{verb} is not on the first page");
        let page = sandbox.relay(&format!("{verb} --help")).ends(0).silent().stdout;
        assert!(page.contains("Examples:\n"), "{verb}");
        assert!(
            page.lines().any(|line| line.starts_with(&format!("  relay {verb} "))),
            "{verb}: {page}"
        );
        assert_eq!(sandbox.relay(&format!("help {verb}")).ends(0).silent().stdout, page);
        // The short page has every flag; examples are on the long one.
        let short = sandbox.relay(&format!("{verb} -h")).ends(0).silent().stdout;
        assert!(short.len() < page.len(), "{verb}");
    }
    sandbox.relay("help serve").ends(0).prints("Examples:").prints("relay serve ");
}

#[test]
fn every_example_of_the_help_is_a_command_line() {
    let sandbox = Sandbox::new();
    for verb in VERBS {
        let page = sandbox.relay(&format!("help {verb}")).ends(0).stdout;
        for line in page.lines().filter_map(|line| line.strip_prefix("  relay ")) {
            crate::cli::docs::assert_known(line.split("  ").next().unwrap_or_default());
        }
    }
}

#[test]
fn a_typing_error_gets_a_suggestion() {
    let sandbox = Sandbox::new();
    sandbox.relay("biuld").ends(2).says("build");
    sandbox.relay("build x --unsinged").ends(2).says("--unsigned");
    let nothing = sandbox.relay("").ends(2).says("Usage: relay <VERB>");
    assert_eq!(nothing.stdout, "");
}

#[test]
fn versions() {
    let sandbox = Sandbox::new();
    let version = sandbox.relay("--version").ends(0).silent().stdout;
    let number = env!("CARGO_PKG_VERSION");
    assert!(version.starts_with(&format!("relay {number} (commit ")), "{version}");
    assert!(version.ends_with(", bundle format 1.0)\n"), "{version}");
    // The commit is the one that the build was given in its environment.
    let commit = option_env!("RELAY_COMMIT").unwrap_or("unknown");
    assert!(version.contains(&format!("(commit {commit}, ")), "{version}");
    // A line with more words is read by the grammar.
    for arguments in ["-V", "version", "--version --help"] {
        assert_eq!(sandbox.relay(arguments).ends(0).silent().stdout, version, "{arguments}");
    }
    let served = sandbox.relay("serve --version").ends(0).silent().stdout;
    assert!(served.ends_with("MCP 2024-11-05 to 2026-07-28)\n"), "{served}");
}

#[test]
fn serve_is_relay_serve() {
    let sandbox = Sandbox::new();
    let serve = |arguments: &[&str]| {
        let mut command = sandbox.command(binaries::relay_serve());
        command.args(arguments);
        sandbox.run(command)
    };
    for arguments in
        [vec!["--version"], vec!["--help"], vec!["missing.relay"], vec!["--no-such-flag"]]
    {
        let own = serve(&arguments);
        let by_relay = sandbox.relay_of(&[vec!["serve"], arguments.clone()].concat());
        assert_eq!(by_relay.code, own.code, "{arguments:?}");
        assert_eq!(by_relay.stdout, own.stdout, "{arguments:?}");
        // Log lines begin with a time.
        assert_eq!(by_relay.stderr.lines().count(), own.stderr.lines().count(), "{arguments:?}");
    }
    assert!(serve(&["--version"]).stdout.starts_with("relay-serve "));
}
