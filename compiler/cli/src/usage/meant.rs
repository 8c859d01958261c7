//! Common misuses of the verbs, and their intent: words of other programs, files in another order,
//! a value without its option.

use std::path::Path;

use crate::shell::word as shell_word;

/// A command line: its verb, such as `trust add`, all words, and those after the verb but options.
pub(super) struct Line<'l> {
    pub(super) verb: &'l str,
    pub(super) words: &'l [String],
    pub(super) plain: Vec<&'l str>,
}

/// Verbs of other programs, and their equivalents here.
const VERBS: [(&str, &str); 19] = [
    ("add", "init"),
    ("apply", "build"),
    ("compile", "build"),
    ("create", "init"),
    ("debug", "explain"),
    ("format", "fmt"),
    ("get", "explain"),
    ("key", "keygen"),
    ("list", "describe"),
    ("log", "audit"),
    ("logs", "audit"),
    ("ls", "describe"),
    ("plan", "diff"),
    ("package", "build"),
    ("print", "show"),
    ("revoke", "trust revoke"),
    ("start", "serve"),
    ("status", "inspect"),
    ("why", "explain"),
];

/// Options of other programs, by their verb here; an empty verb means every one.
const OPTIONS: [(&str, &[&str], &str); 18] = [
    (
        "check",
        &["--fix", "--write"],
        "`relay fmt --fix` writes the corrections that are certain; the help of every other report says what to write",
    ),
    (
        "fmt",
        &["--write"],
        "`relay fmt` writes without an option; `relay fmt --check` only prints a diff",
    ),
    ("fmt", &["--diff"], "`relay fmt --check` prints a diff and changes nothing"),
    ("fmt", &["--stdin"], "`relay fmt` formats the files of a project"),
    (
        "verify",
        &["--key"],
        "`--trust FILE` names a trust file, which holds keys; `relay trust add trust.toml --key FILE.pub` writes one",
    ),
    (
        "sign",
        &["--output"],
        "`relay sign` adds the signature to the bundle; `--detached FILE` writes it to a file of its own",
    ),
    ("diff", &["--env-all"], "every environment is compared without an option"),
    (
        "trust add",
        &["--threshold"],
        "`relay trust threshold FILE N` sets how many keys must have signed",
    ),
    ("trust add", &["--public"], "write `--key FILE.pub`"),
    ("keygen", &["--name"], "`relay keygen -o NAME` writes NAME.key and NAME.pub"),
    (
        "explain",
        &["--arg", "--args", "--argument"],
        "write `--arguments '{\"NAME\":\"VALUE\"}'`, with every argument of the prompt in one object",
    ),
    (
        "dev",
        &["--port", "-p", "--host", "--addr", "--address", "--bind", "--listen"],
        "write `--http 127.0.0.1:PORT`",
    ),
    ("init", &["--force"], "`relay init` never replaces a file; choose a new or empty folder"),
    (
        "",
        &["--quiet"],
        "leave it out: answers are on standard output, and notes on standard error; `check` and `build` have --quiet",
    ),
    (
        "",
        &["-q"],
        "leave it out: answers are on standard output, and notes on standard error; `check` and `build` have -q",
    ),
    (
        "",
        &["--color", "--colour"],
        "colours are off in pipes and where NO_COLOR is set; CLICOLOR_FORCE=1 switches them on",
    ),
    ("", &["--no-color"], "set NO_COLOR=1 to switch colours off"),
    (
        "",
        &["--verbose"],
        "`relay build` has --verbose, and `relay inspect --json` prints everything",
    ),
];

/// Returns the help for an unknown verb.
pub(super) fn verb(line: &Line<'_>, word: &str) -> Option<String> {
    if line.verb == "trust" {
        let verb = match word {
            "delete" | "rm" => "remove",
            "rollback" => "allow",
            "show" | "ls" => "list",
            "edit" => {
                return Some("add, remove, revoke, allow and threshold edit the file".to_owned());
            }
            _ => return None,
        };
        return Some(format!("`relay trust {verb}` does that"));
    }
    if line.verb == "audit" && Path::new(word).exists() {
        return Some(format!("write `relay audit show {}`", shell_word(word)));
    }
    if !line.verb.is_empty() {
        return None;
    }
    if let Some((_, verb)) = VERBS.iter().find(|(other, _)| *other == word) {
        return Some(format!("`relay {verb}` does that"));
    }
    let does = if is_bundle(word) { "inspect" } else { "check" };
    let exists = Path::new(word).exists();
    exists.then(|| format!("write a verb before the file: `relay {does} {}`", shell_word(word)))
}

/// Returns the help for an unknown option.
pub(super) fn option(line: &Line<'_>, option: &str) -> Option<String> {
    let found =
        |verb: &str| OPTIONS.iter().find(|(of, names, _)| *of == verb && names.contains(&option));
    found(line.verb).or_else(|| found("")).map(|(_, _, help)| (*help).to_owned())
}

/// Returns the help for a word that fits no argument.
pub(super) fn word(line: &Line<'_>, word: &str) -> Option<String> {
    let words = &line.plain;
    let first = words.iter().find(|other| **other != word).copied();
    match line.verb {
        "sign" => Some(signing(words)),
        "verify" => Some(verifying(words)),
        "keygen" => Some(format!("name the key with -o: `relay keygen -o {}`", shell_word(word))),
        "explain" => {
            let subject = shell_word(first.unwrap_or("PROJECT"));
            let word = shell_word(word);
            Some(format!(
                "name the question: `relay explain {subject} --prompt {word}`, or `--tags {word}` for a briefing"
            ))
        }
        "check" | "test" | "build" | "show" | "fmt" if first.is_some() => Some(format!(
            "one project at a time: `relay {verb} {a} && relay {verb} {b}`",
            verb = line.verb,
            a = shell_word(first.unwrap_or_default()),
            b = shell_word(word),
        )),
        "describe" | "inspect" => Some(format!(
            "`relay explain {} --prompt {}` prints one prompt",
            shell_word(first.unwrap_or("PROJECT")),
            shell_word(word)
        )),
        "diff" => Some(
            "give A and B, or B alone to compare the last commit with the work tree".to_owned(),
        ),
        "init" => Some("quote a name with spaces: `relay init \"my team\"`".to_owned()),
        _ => None,
    }
}

/// Returns the help for missing arguments.
pub(super) fn missing(line: &Line<'_>, missing: &[String]) -> Option<String> {
    let words = &line.plain;
    match line.verb {
        "sign" => Some(signing(words)),
        "verify" => Some(verifying(words)),
        "explain" if words.iter().any(|word| is_code(word)) => {
            let code = words.iter().find(|word| is_code(word)).copied().unwrap_or_default();
            Some(format!("`relay rules {code}` explains an error or a warning"))
        }
        "explain" if missing.iter().any(|name| name.contains("PROJECT")) => {
            // `--tags` takes every word after it.
            let subject = words.iter().rev().find(|word| Path::new(word).exists())?;
            let rest: Vec<String> = line
                .words
                .iter()
                .skip(1)
                .filter(|word| word != subject)
                .map(|word| shell_word(word))
                .collect();
            Some(format!(
                "`{subject}` was read as a tag; the project comes first: `relay explain {} {}`",
                shell_word(subject),
                rest.join(" ")
            ))
        }
        "audit show" => Some(
            "name the file of the server's --audit; without that option it is `relay audit show ~/.local/state/relay/audit.jsonl`"
                .to_owned(),
        ),
        "export" => Some(exporting(words)),
        "describe" | "inspect" => {
            let subject = if Path::new("project.kdl").exists() { "." } else { "PROJECT" };
            Some(format!("write `relay {} {subject}`", line.verb))
        }
        "explain" => {
            let named = words.first().copied().filter(|word| !Path::new(word).exists());
            if let Some(name) = named.filter(|_| Path::new("project.kdl").exists()) {
                let name = shell_word(name);
                return Some(format!(
                    "the project comes first: `relay explain . --prompt {name}` prints a prompt"
                ));
            }
            let subject = shell_word(words.first().copied().unwrap_or("PROJECT"));
            Some(format!(
                "ask for one thing: `relay explain {subject} --prompt NAME`, or --uri, --tags, --call, --command, --index, --tool"
            ))
        }
        "trust add" => {
            let key = words.iter().find(|word| is_key(word)).copied().unwrap_or("FILE.pub");
            let trust = words.iter().find(|word| !is_key(word)).copied().unwrap_or("trust.toml");
            Some(format!(
                "write `relay trust add {} --key {}`",
                shell_word(trust),
                shell_word(key)
            ))
        }
        "trust revoke" => {
            Some("write `relay trust revoke trust.toml NAME`, with the name of a key".to_owned())
        }
        "diff" => Some(
            "write `relay diff project.kdl`, which compares the last commit with the work tree"
                .to_owned(),
        ),
        "man" => Some("write `relay man --out ~/.local/share/man/man1`".to_owned()),
        "completions" => {
            Some("write `relay completions bash`, or zsh, fish, elvish, powershell".to_owned())
        }
        _ => None,
    }
}

/// Returns the help for an unknown word of a list: the name of a program in place of the form of its files.
pub(super) fn choice(line: &Line<'_>, name: &str, value: &str) -> Option<String> {
    if line.verb != "export" || name != "<FORM>" {
        return None;
    }
    let form = match value {
        "claude" | "claude-code" | "commands" | "codex" | "prompt" | "prompts" => "command",
        "cursor" | "rule" | "rules" => "mdc",
        "skill" | "skills" | "agent-skills" | "SKILL.md" => "agent-skill",
        _ if Path::new(value).exists() => return Some(exporting(&line.plain)),
        _ => return None,
    };
    Some(format!("write `relay export {form}`; the forms are {FORMS}"))
}

const FORMS: &str = "command (.claude/commands), mdc (.cursor/rules), agent-skill (SKILL.md) and stoa (YAML of skills); of a policy claude-code, codex, cursor, gemini and vscode";

/// Returns an example of `relay export` with the given words.
fn exporting(words: &[&str]) -> String {
    let form =
        ["agent-skill", "command", "mdc", "stoa"].into_iter().find(|form| words.contains(form));
    let subject = words.iter().find(|word| Path::new(word).exists()).copied().unwrap_or("PROJECT");
    let folder = match form {
        Some("agent-skill") => ".claude/skills",
        Some("mdc") => ".cursor/rules",
        Some("stoa") => "skills",
        _ => ".claude/commands",
    };
    format!(
        "write `relay export {} {} -o {folder}`; the forms are {FORMS}",
        form.unwrap_or("command"),
        shell_word(subject)
    )
}

/// Returns the kind of value of an option without a list of words.
pub(super) fn value(option: &str) -> &'static str {
    match option {
        "--epoch" | "--min-epoch" => "write a whole number from 0, as in `--epoch 118`",
        "--max-tier" => "write a tier from 0 (reads) to 3 (cannot be undone)",
        "--budget" => "write a number of bytes, as in `--budget 4096`",
        "--max-chars" => "write a number of characters from 2000",
        "<N>" => "write a whole number from 1",
        _ => "see the examples in --help",
    }
}

fn signing(words: &[&str]) -> String {
    let bundle = words.iter().find(|word| !is_key(word)).copied().unwrap_or("BUNDLE");
    let key = words.iter().find(|word| is_key(word)).copied().unwrap_or("FILE.key");
    let key = key.strip_suffix(".pub").map_or_else(|| key.to_owned(), |name| format!("{name}.key"));
    format!("write `relay sign {} --key {}`", shell_word(bundle), shell_word(&key))
}

fn verifying(words: &[&str]) -> String {
    let is_trust = |word: &&&str| has_ending(word, "toml") || is_key(word);
    let trust = words.iter().find(is_trust).copied().filter(|word| !is_key(word));
    let bundle = words.iter().find(|word| !is_trust(word)).copied().unwrap_or("BUNDLE");
    let written = format!(
        "write `relay verify {} --trust {}`",
        shell_word(bundle),
        shell_word(trust.unwrap_or("trust.toml"))
    );
    match trust {
        Some(_) => written,
        None => {
            format!("{written}; `relay trust add trust.toml --key FILE.pub` makes a trust file")
        }
    }
}

/// Returns whether a word has the form of a code of errors: `node::unknown`.
fn is_code(word: &str) -> bool {
    word.split_once("::").is_some_and(|(area, what)| !area.is_empty() && !what.is_empty())
}

fn is_key(word: &str) -> bool {
    has_ending(word, "key") || has_ending(word, "pub")
}

fn is_bundle(word: &str) -> bool {
    has_ending(word, "relay")
}

fn has_ending(word: &str, ending: &str) -> bool {
    Path::new(word).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
