//! The marks that clients alone expand in a command, and the search for them.
//!
//! A table has the form of each mark with the clients that know it, the page that says so and the
//! month in which that page was read. Marks that look like other things (money, names of packages,
//! decorators) count only where nothing else is likely.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// The most bytes of a mark in a report.
const MARK_BYTES_MAX: usize = 60;

/// The kinds of marks, by which a project says that marks are meant as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// Words that people type.
    Argument,
    /// A command, whose output a client puts in.
    Command,
    /// A file, whose text a client puts in.
    File,
    /// A tool that a client offers to the model.
    Tool,
    /// A value that a client knows.
    Variable,
}

impl MarkKind {
    /// All kinds, sorted by name.
    pub const ALL: [Self; 5] =
        [Self::Argument, Self::Command, Self::File, Self::Tool, Self::Variable];

    /// Returns its name in a project.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Command => "command",
            Self::File => "file",
            Self::Tool => "tool",
            Self::Variable => "variable",
        }
    }
}

/// A form of marks.
pub(crate) struct Form {
    /// A mark of this form.
    pub(crate) example: &'static str,
    pub(crate) kind: MarkKind,
    /// The clients that expand it.
    pub(crate) clients: &'static str,
    /// The page that says so.
    pub(crate) source: &'static str,
    /// The month in which that page was read.
    pub(crate) read: &'static str,
    /// The form; its first group is the mark.
    form: &'static str,
    /// Whether it means the same in code. Other forms are common in code of other languages.
    in_code: bool,
    /// Decides whether a match is a mark, by the text up to it and the text after it.
    is_mark: fn(mark: &[u8], after: &[u8]) -> bool,
}

const CLAUDE_CODE: &str = "https://code.claude.com/docs/en/skills";
const VS_CODE: &str = "https://code.visualstudio.com/docs/copilot/customization/prompt-files";
const GEMINI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/cli/custom-commands.md";
const SPEC_KIT: &str = "https://github.com/github/spec-kit/tree/main/templates/commands";

pub(crate) const FORMS: &[Form] = &[
    Form {
        example: "$ARGUMENTS[0]",
        kind: MarkKind::Argument,
        clients: "Claude Code",
        source: CLAUDE_CODE,
        read: "2026-08",
        form: r"(\$ARGUMENTS\[[0-9]+\])",
        in_code: true,
        is_mark: always,
    },
    Form {
        example: "$1",
        kind: MarkKind::Argument,
        clients: "Claude Code, Codex, OpenCode",
        source: CLAUDE_CODE,
        read: "2026-08",
        form: r"(?:^|[^\\$`A-Za-z0-9_])(\$[0-9])(?:[^0-9A-Za-z_]|$)",
        in_code: false,
        is_mark: is_positional,
    },
    Form {
        example: "${CLAUDE_PLUGIN_ROOT}",
        kind: MarkKind::Variable,
        clients: "Claude Code",
        source: CLAUDE_CODE,
        read: "2026-08",
        form: r"(\$\{CLAUDE_[A-Z_]+\})",
        in_code: true,
        is_mark: always,
    },
    Form {
        example: "!`git status`",
        kind: MarkKind::Command,
        clients: "Claude Code, OpenCode",
        source: CLAUDE_CODE,
        read: "2026-08",
        form: r"(?:^|[\s(])(!`[^`\n]+`)",
        in_code: false,
        is_mark: always,
    },
    Form {
        example: "```!",
        kind: MarkKind::Command,
        clients: "Claude Code",
        source: CLAUDE_CODE,
        read: "2026-08",
        form: r"(?m)^[ \t]*(```!)[ \t]*\r?$",
        in_code: true,
        is_mark: always,
    },
    Form {
        example: "@src/main.rs",
        kind: MarkKind::File,
        clients: "Claude Code, OpenCode",
        source: CLAUDE_CODE,
        read: "2026-08",
        form: r"(?:^|[\s(])(@(?:\.{1,2}/|~/|/)?[A-Za-z0-9_.][A-Za-z0-9_./~-]*[A-Za-z0-9_])",
        in_code: false,
        is_mark: is_file,
    },
    Form {
        example: "${input:name}",
        kind: MarkKind::Argument,
        clients: "VS Code",
        source: VS_CODE,
        read: "2026-11",
        form: r"(\$\{input:[^}\n]+\})",
        in_code: true,
        is_mark: always,
    },
    Form {
        example: "${workspaceFolder}",
        kind: MarkKind::Variable,
        clients: "VS Code",
        source: VS_CODE,
        read: "2026-11",
        form: r"(\$\{(?:selection|selectedText|file|fileBasename|fileDirname|fileBasenameNoExtension|workspaceFolder|workspaceFolderBasename)\})",
        in_code: true,
        is_mark: always,
    },
    Form {
        example: "#tool:search",
        kind: MarkKind::Tool,
        clients: "VS Code",
        source: VS_CODE,
        read: "2026-11",
        form: r"(?:^|[\s(`])(#tool:[A-Za-z][A-Za-z0-9_/.-]*[A-Za-z0-9_])",
        in_code: false,
        is_mark: always,
    },
    Form {
        example: "{{args}}",
        kind: MarkKind::Argument,
        clients: "Gemini CLI",
        source: GEMINI,
        read: "2026-11",
        form: r"(\{\{args\}\})",
        in_code: true,
        is_mark: always,
    },
    Form {
        example: "!{git status}",
        kind: MarkKind::Command,
        clients: "Gemini CLI",
        source: GEMINI,
        read: "2026-11",
        form: r"(?:^|[\s(])(!\{[^{}\n]+\})",
        in_code: false,
        is_mark: always,
    },
    Form {
        example: "@{docs/rules.md}",
        kind: MarkKind::File,
        clients: "Gemini CLI",
        source: GEMINI,
        read: "2026-11",
        form: r"(?:^|[\s(])(@\{[^{}\n]+\})",
        in_code: false,
        is_mark: always,
    },
    Form {
        example: "{SCRIPT}",
        kind: MarkKind::Variable,
        clients: "Spec Kit",
        source: SPEC_KIT,
        read: "2026-11",
        form: r"(\{(?:SCRIPT|AGENT_SCRIPT)\}|__AGENT__)",
        in_code: true,
        is_mark: always,
    },
    Form {
        example: "{ARGS}",
        kind: MarkKind::Argument,
        clients: "Spec Kit",
        source: SPEC_KIT,
        read: "2026-11",
        form: r"(\{ARGS\})",
        in_code: true,
        is_mark: always,
    },
    Form {
        example: "{{ name }}",
        kind: MarkKind::Variable,
        clients: "Handlebars, Jinja and other templates",
        source: "https://handlebarsjs.com/guide/expressions.html",
        read: "2026-11",
        form: r"(?:^|[^${`])(\{\{[ \t]*[A-Za-z_][A-Za-z0-9_-]*[ \t]*\}\})",
        in_code: false,
        is_mark: always,
    },
];

/// The endings of files that a command may embed. A word such as `@app.route` has another ending.
const ENDINGS: &[&str] = &[
    "c", "cfg", "conf", "cpp", "cs", "css", "csv", "cts", "dart", "env", "ex", "exs", "go",
    "gradle", "graphql", "h", "hcl", "hpp", "html", "ini", "ipynb", "java", "js", "json", "json5",
    "jsonc", "jsx", "kdl", "kt", "less", "lock", "log", "lua", "md", "mdc", "mdx", "mjs", "mts",
    "pdf", "php", "png", "proto", "ps1", "py", "pyi", "rb", "rs", "rst", "scss", "sh", "sql",
    "svelte", "svg", "swift", "tex", "tf", "toml", "ts", "tsv", "tsx", "txt", "vue", "xml", "yaml",
    "yml", "zig",
];

#[expect(clippy::expect_used, reason = "they are constants, and every test runs them")]
static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = FORMS.iter().map(|form| Regex::new(&format!("(?-u){}", form.form)));
    forms.map(|form| form.expect("a form")).collect()
});

/// A mark in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: MarkKind,
    pub(super) mark: String,
    pub(super) at: Range<usize>,
}

/// Returns the first place of each distinct mark of a text.
pub(super) fn search(text: &[u8]) -> Vec<Found> {
    let prose = without_code(text);
    let mut found: Vec<Found> = Vec::new();
    for (Form { kind, in_code, is_mark, .. }, form) in FORMS.iter().zip(COMPILED.iter()) {
        let searched = if *in_code { text } else { &prose };
        let mut at = 0;
        while let Some(mark) = form.captures_at(searched, at).and_then(|found| found.get(1)) {
            let after = searched.get(mark.end()..).unwrap_or_default();
            if is_mark(mark.as_bytes(), after) {
                let shown = mark.as_bytes().get(..MARK_BYTES_MAX).unwrap_or(mark.as_bytes());
                let shown = String::from_utf8_lossy(shown).into_owned();
                if found.iter().all(|other| other.mark != shown) {
                    found.push(Found { kind: *kind, mark: shown, at: mark.range() });
                }
            }
            at = mark.end();
        }
    }
    let has = |mark: &str| found.iter().any(|found| found.mark == mark);
    if !has("$0") && !has("$1") {
        // Arguments are numbered from 0 or 1: `$5` alone is an amount.
        found.retain(|found| !is_numbered(&found.mark));
    }
    // `{{args}}` has two forms.
    found.sort_by_key(|found| (found.at.start, found.at.end));
    found.dedup_by(|a, b| a.at == b.at);
    found
}

/// A mark of another program in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Its kind.
    pub kind: MarkKind,
    /// The mark itself, of at most 60 bytes.
    pub text: String,
    /// The line of its first place, from 1.
    pub line: usize,
}

/// Returns the first place of each distinct mark of other programs in a text without front matter,
/// in the order of the text.
#[must_use]
pub fn marks(text: &str) -> Vec<Mark> {
    let line = |offset| text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
    let mark = |Found { kind, mark, at }| Mark { kind, text: mark, line: line(at.start) };
    search(text.as_bytes()).into_iter().map(mark).collect()
}

fn is_numbered(mark: &str) -> bool {
    mark.strip_prefix('$').is_some_and(|rest| rest.len() == 1)
}

fn always(_mark: &[u8], _after: &[u8]) -> bool {
    true
}

/// Returns whether `$1` is an argument: `$1.50`, `$1,000`, `$1 million` and `$1/month` are amounts.
fn is_positional(_mark: &[u8], after: &[u8]) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let continues = matches!(after.first(), Some(b'.' | b',')) && is_digit(after.get(1));
    let rest = String::from_utf8_lossy(after.get(..16).unwrap_or(after)).to_lowercase();
    let units = [
        "million", "billion", "trillion", "thousand", "per ", "usd", "each", "a day", "a month",
        "a year",
    ];
    let is_amount =
        rest.strip_prefix(' ').is_some_and(|rest| units.iter().any(|unit| rest.starts_with(unit)));
    let is_rate = rest.strip_prefix('/').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    !continues && !is_amount && !is_rate
}

/// Returns whether `@…` is the path of a file: `@scope/package`, `@app.route("/")` and `@user` are
/// other things.
fn is_file(mark: &[u8], after: &[u8]) -> bool {
    let path = String::from_utf8_lossy(mark.get(1..).unwrap_or_default());
    if after.starts_with(b"(") || after.starts_with(b"@") {
        return false;
    }
    if ["./", "../", "~/", "/"].iter().any(|start| path.starts_with(start)) {
        return true;
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    ending.is_some_and(|ending| ENDINGS.binary_search(&ending.as_str()).is_ok())
}

/// Returns a text with its code made blank: marks in code are meant as text.
fn without_code(text: &[u8]) -> Vec<u8> {
    let mut open = false;
    let mut kept = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let fence = line.trim_ascii_start().starts_with(b"```");
        if open || fence {
            kept.extend(line.iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
        } else {
            without_spans(line, &mut kept);
        }
        open ^= fence;
    }
    kept
}

/// Adds a line with its spans of code made blank, except for those that another program runs.
fn without_spans(line: &[u8], kept: &mut Vec<u8>) {
    let ticks = |rest: &[u8]| rest.iter().take_while(|byte| **byte == b'`').count();
    let mut at = 0;
    while let Some(byte) = line.get(at).copied() {
        let rest = line.get(at..).unwrap_or_default();
        let opening = ticks(rest);
        let runs = at.checked_sub(1).and_then(|before| line.get(before)) == Some(&b'!');
        // A span ends with as many backticks as it begins with.
        let mut end = opening;
        while opening > 0 && end < rest.len() {
            match ticks(rest.get(end..).unwrap_or_default()) {
                0 => end += 1,
                closing if closing == opening => break,
                other => end += other,
            }
        }
        if opening == 0 || end == rest.len() || runs {
            kept.push(byte);
            at += 1;
        } else {
            kept.resize(kept.len() + end + opening, b' ');
            at += end + opening;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ENDINGS, FORMS, Form, search};

    fn marks(text: &str) -> Vec<String> {
        let found = search(text.as_bytes());
        for found in &found {
            assert_eq!(text.get(found.at.clone()), Some(found.mark.as_str()));
        }
        found.into_iter().map(|found| found.mark).collect()
    }

    #[test]
    fn marks_are_found() {
        for (text, expected) in [
            ("Plan: $ARGUMENTS[0] and `$ARGUMENTS[1]`", &["$ARGUMENTS[0]", "$ARGUMENTS[1]"][..]),
            ("Fix $1, then $2.", &["$1", "$2"]),
            ("Take $0 and $3", &["$0", "$3"]),
            ("Fix $1. It costs $5.", &["$1", "$5"]),
            ("Write a test for ${input:name}.", &["${input:name}"]),
            (
                "${input:name:a hint} in ${workspaceFolder}",
                &["${input:name:a hint}", "${workspaceFolder}"],
            ),
            ("Read ${CLAUDE_PLUGIN_ROOT}/rules.txt.", &["${CLAUDE_PLUGIN_ROOT}"]),
            ("Run `{SCRIPT}` with {ARGS}. __AGENT__", &["{SCRIPT}", "{ARGS}", "__AGENT__"]),
            ("Review {{args}} now", &["{{args}}"]),
            ("!{git diff --staged}", &["!{git diff --staged}"]),
            ("Use @{docs/rules.md}", &["@{docs/rules.md}"]),
            ("State: !`git status`", &["!`git status`"]),
            ("```!\ngit status\n```\n", &["```!"]),
            ("See @src/main.rs and @README.md.", &["@src/main.rs", "@README.md"]),
            ("See @./docs and @~/notes", &["@./docs", "@~/notes"]),
            ("Ask #tool:githubRepo about it", &["#tool:githubRepo"]),
            ("Hello {{ name }}.", &["{{ name }}"]),
        ] {
            assert_eq!(marks(text), expected, "{text}");
        }
    }

    #[test]
    fn other_things_are_no_marks() {
        for text in [
            "The budget is $5.00 a day.",
            "It costs $5.",
            "From $1,000 to $2,000, or $1.5 and $9.99.",
            "$1 million, $1 per call, $1/month, $1 USD, $1k",
            "Update @storybook/sveltekit and @types/node.",
            "Install @scope/pkg@1.2.3",
            "Add @router.post(\"/x\") and @app.route(\"/\").",
            "@pytest.mark.parametrize and @functools.lru_cache",
            "Write to me@example.com, or see @example.com and @acme.co.uk.",
            "CSS has @media, @import and @font-face.",
            "Ask @octocat or @org/team.",
            "Pay by `$1` in `@src/main.rs`",
            "```sh\necho $1 @src/main.rs {{ name }}\n```\n",
            "price \\$1, $$1, a$1",
            "${HOME} and ${{ github.sha }} and ${count}",
            "Use $ARGUMENTS and $ARGUMENTS_2.",
            "vec![1] and !important and #heading and #tool",
            "{name} and {Script} and __init__",
        ] {
            assert_eq!(marks(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_form_has_a_source_and_a_date() {
        for Form { example, clients, source, read, .. } in FORMS {
            assert_eq!(marks(&format!("{example}\n")), [*example]);
            let (year, month) = read.split_once('-').expect("a month");
            assert!(year.len() == 4 && (1..=12).contains(&month.parse().unwrap_or(0)), "{read}");
            assert!(source.starts_with("https://") && !clients.is_empty(), "{source}");
        }
        assert!(ENDINGS.is_sorted());
    }
}
