//! Code of general languages: harmless if all of its words are known as harmless.

mod bound;
mod expanded;
mod forms;
mod modules;
mod openers;
mod reads;
mod shapes;
mod tokens;

use super::finding::{Finding, What};
use crate::effect::Act;
use crate::facts::{Facts, Role, WordKind};
use forms::Forms;
use shapes::{content, is_by_name, is_local};
use tokens::{Kind, Token, tokens};

/// Words that repeat an action.
const MANY: &[&str] = &[
    "for",
    "foreach",
    "forEach",
    "map",
    "array_map",
    "array_walk",
    "each",
    "glob",
    "rglob",
    "iglob",
    "walk",
    "listdir",
    "readdir",
    "readdirSync",
    "scandir",
    "iterdir",
    "entries",
    "children",
    "grep",
];

/// Returns the effects of code.
pub(crate) fn findings(language: Role, text: &[u8], facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tokens = tokens(language, text, 0, text.len(), 0);
    let mut is_opaque = None;
    let mut runs = false;
    let shown = |token: &Token| {
        str::from_utf8(text.get(token.start..token.end).unwrap_or(&[])).unwrap_or("")
    };
    let is_many = tokens.iter().any(|token| match token.kind {
        Kind::Word => MANY.contains(&shown(token)),
        Kind::Text => shown(token).contains('*'),
        _ => false,
    });
    let forms = Forms::new(language, text, &tokens);
    findings.extend(reads::reads(language, text, &tokens, &forms, facts));
    is_opaque = is_opaque.or(forms.modules().first().and_then(|at| tokens.get(*at)));
    if language == Role::Code && deletes_all(&tokens, &shown) {
        let what = What::Does(Act::DeletesForGood);
        findings.push(Finding::new(0, text.len(), what));
    }
    for (at, token) in tokens.iter().enumerate() {
        let span = text.get(token.start..token.end).unwrap_or(&[]);
        if forms.acts(at) {
            is_opaque = is_opaque.or(Some(token));
        }
        match token.kind {
            Kind::Word => {
                if forms.is_about_all(at) {
                    let what = What::Does(Act::IsAboutAll);
                    findings.push(Finding::new(token.start, token.end, what));
                }
                let Ok(word) = str::from_utf8(span) else {
                    is_opaque = is_opaque.or(Some(token));
                    continue;
                };
                match facts.word(language, word) {
                    Some(WordKind::Harmless) => {}
                    Some(WordKind::Deletes) => findings.push(Finding::new(
                        token.start,
                        token.end,
                        What::Does(Act::DeletesForGood),
                    )),
                    Some(WordKind::Runs) if forms.is_method(at) => {
                        is_opaque = is_opaque.or(Some(token));
                    }
                    Some(WordKind::Runs) => {
                        runs = true;
                        is_opaque = is_opaque.or(Some(token));
                    }
                    Some(WordKind::Removes) => {
                        findings.push(Finding::new(token.start, token.end, removes(is_many)));
                    }
                    Some(WordKind::Writes) if forms.is_harmless(at) => {}
                    Some(WordKind::Writes) => is_opaque = is_opaque.or(Some(token)),
                    None => {
                        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                        if !is_number && !forms.is_name(at) && !is_local(&tokens, at, text) {
                            is_opaque = is_opaque.or(Some(token));
                        }
                    }
                }
            }
            Kind::Ticks => {
                if language == Role::Javascript {
                    continue;
                }
                is_opaque = is_opaque.or(Some(token));
                findings.push(Finding::new(
                    token.start + 1,
                    token.end.saturating_sub(1),
                    What::Shell,
                ));
            }
            // The name of a function may be a text: `array_map("unlink", …)`.
            Kind::Text => {
                let (start, end) = content(text, token);
                let name = str::from_utf8(text.get(start..end).unwrap_or(&[])).unwrap_or("");
                let what = match facts.word(language, name) {
                    Some(WordKind::Removes) => removes(is_many),
                    Some(WordKind::Deletes) => What::Does(Act::DeletesForGood),
                    _ => continue,
                };
                findings.push(Finding::new(start, end, what));
            }
            Kind::Doubt => is_opaque = is_opaque.or(Some(token)),
            Kind::Sign(_) if is_by_name(language, &tokens, at) => {
                is_opaque = is_opaque.or(Some(token));
            }
            Kind::Sign(_) => {}
        }
    }
    if runs {
        let texts: Vec<_> = tokens.iter().filter(|token| token.kind == Kind::Text).collect();
        if texts.is_empty() && language != Role::Code {
            let reason = "it runs a command that is not literal";
            findings.push(Finding::new(0, text.len(), What::Unknown(reason)));
        }
        // Any of its texts may be the command, and so may all of them together.
        for token in &texts {
            let span = content(text, token);
            findings.push(Finding::new(span.0, span.1, What::Shell));
        }
        for (first, last) in lists(&tokens) {
            findings.push(Finding::new(first, last, What::Words));
        }
    }
    if language == Role::Code {
        let reason = "code of this language is not read";
        findings.push(Finding::new(0, text.len(), What::Opaque(reason)));
        return findings;
    }
    if let Some(token) = is_opaque {
        let reason = "this word is not known to be harmless";
        findings.push(Finding::new(token.start, token.end, What::Opaque(reason)));
    }
    findings
}

/// The most modules of a text that are compared with the files that it writes.
const MODULES_MAX: usize = 16;

/// Returns the names imported by statements of Python: modules, and their members.
pub(crate) fn imports(text: &[u8]) -> Vec<&str> {
    let tokens = tokens(Role::Python, text, 0, text.len(), 0);
    let shown =
        |token: &Token| str::from_utf8(text.get(token.start..token.end).unwrap_or(&[])).ok();
    let mut names = Vec::new();
    let mut is_import = false;
    let mut before = 0;
    for token in &tokens {
        let between = text.get(before..token.start).unwrap_or(&[]);
        before = token.end;
        is_import &= token.kind != Kind::Sign(b';') && !between.contains(&b'\n');
        match shown(token).filter(|_| token.kind == Kind::Word) {
            Some("import" | "from") => is_import = true,
            Some(name) if is_import && !names.contains(&name) => names.push(name),
            _ => {}
        }
    }
    names.truncate(MODULES_MAX);
    names
}

/// Words of unread languages: those that remove, and those that mean whole folders.
const REMOVING: &[&str] =
    &["unlink", "rm", "delete", "remove", "Remove", "del", "rd", "rmdir", "ri", "erase"];
const RECURSIVE: &[&str] = &["recursive", "Recurse", "Recursive", "recurse", "force", "rf"];

fn deletes_all<'t>(tokens: &[Token], shown: &impl Fn(&Token) -> &'t str) -> bool {
    let has = |words: &[&str]| {
        tokens.iter().any(|token| token.kind == Kind::Word && words.contains(&shown(token)))
    };
    has(REMOVING) && has(RECURSIVE)
}

fn removes(is_many: bool) -> What {
    match is_many {
        true => What::Does(Act::RemovesFiles),
        false => What::Does(Act::RemovesFile),
    }
}

/// Returns the ranges of texts separated only by commas: the words of a program.
fn lists(tokens: &[Token]) -> Vec<(usize, usize)> {
    let mut lists = Vec::new();
    let mut open: Option<(usize, usize, usize)> = None;
    for token in tokens {
        match (token.kind, open) {
            (Kind::Text, None) => open = Some((token.start, token.end, 1)),
            (Kind::Text, Some((start, _, count))) => open = Some((start, token.end, count + 1)),
            (Kind::Sign(b','), Some(_)) => {}
            _ => lists.extend(open.take().filter(|(_, _, count)| *count > 1)),
        }
    }
    lists.extend(open.filter(|(_, _, count)| *count > 1));
    lists.into_iter().map(|(start, end, _)| (start, end)).collect()
}
