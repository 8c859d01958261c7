//! Code of general languages: harmless if all of its words are known as harmless.

mod bound;
mod changers;
mod changes;
mod code;
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
use changes::Changes;
use code::Code;
use forms::Forms;
use shapes::{content, is_by_name};
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

/// A part of code that may do harm.
enum Seen {
    /// It is not understood, or acts.
    Opaque,
    /// It runs a program.
    Runs,
    /// It removes something.
    Removes,
    /// It deletes for good.
    Deletes,
    /// It runs the text between its quotes in a shell.
    Command,
}

/// Returns the effects of code.
pub(crate) fn findings(language: Role, text: &[u8], facts: &Facts<'_>) -> Vec<Finding> {
    let tokens = tokens(language, text, 0, text.len(), 0);
    let forms = Forms::new(language, text, &tokens);
    let code = Code::new(language, text, &tokens, &forms, facts);
    let mut findings = reads::reads(&code);
    let mut changes = Changes::new(&code);
    let mut opaque = forms.modules().first().copied();
    let mut runs = false;
    let is_many = tokens.iter().enumerate().any(|(at, token)| match token.kind {
        Kind::Word => MANY.contains(&code.shown(at)),
        Kind::Text => code.shown(at).contains('*'),
        _ => false,
    });
    if language == Role::Code && deletes_all(&code) {
        let what = What::Does(Act::DeletesForGood);
        findings.push(Finding::new(0, text.len(), what));
    }
    for (at, token) in tokens.iter().enumerate() {
        if forms.is_about_all(at) {
            let what = What::Does(Act::IsAboutAll);
            findings.push(Finding::new(token.start, token.end, what));
        }
        let acts = forms.acts(at);
        if acts {
            opaque = opaque.or(Some(at));
        }
        let Some(seen) = seen(&code, at) else {
            if acts || (language == Role::Code && may_change(&code, at)) {
                changes.read(at);
            }
            continue;
        };
        let is_literal = changes.read(at);
        match seen {
            Seen::Opaque => opaque = opaque.or(Some(at)),
            Seen::Runs => {
                runs = true;
                opaque = opaque.or(Some(at));
            }
            // The tier of a literal path says more.
            Seen::Removes if is_literal && !is_many => {}
            Seen::Removes => {
                let (start, end) = named(&code, token);
                findings.push(Finding::new(start, end, removes(is_many)));
            }
            Seen::Deletes => {
                let (start, end) = named(&code, token);
                findings.push(Finding::new(start, end, What::Does(Act::DeletesForGood)));
            }
            Seen::Command => {
                opaque = opaque.or(Some(at));
                let end = token.end.saturating_sub(1);
                findings.push(Finding::new(token.start + 1, end, What::Shell));
            }
        }
    }
    (0..tokens.len()).for_each(|at| changes.class(at, opaque.is_some()));
    findings.extend(changes.finish());
    if runs {
        findings.extend(programs(&code));
    }
    if language == Role::Code {
        let reason = "code of this language is not read";
        findings.push(Finding::new(0, text.len(), What::Opaque(reason)));
    } else if let Some(token) = opaque.and_then(|at| tokens.get(at)) {
        let reason = "this word is not known to be harmless";
        findings.push(Finding::new(token.start, token.end, What::Opaque(reason)));
    }
    findings
}

/// Returns how a token acts; `None` for one that is harmless.
fn seen(code: &Code<'_>, at: usize) -> Option<Seen> {
    let Code { language, tokens, forms, facts, .. } = *code;
    let token = tokens.get(at)?;
    let kind_of = |word: &str| facts.word(language, word);
    match token.kind {
        Kind::Word => {
            let word = code.shown(at);
            if word.is_empty() {
                return Some(Seen::Opaque);
            }
            match kind_of(word) {
                Some(WordKind::Harmless) => None,
                Some(WordKind::Deletes) => Some(Seen::Deletes),
                Some(WordKind::Runs) if forms.is_method(at) => Some(Seen::Opaque),
                Some(WordKind::Runs) => Some(Seen::Runs),
                Some(WordKind::Removes) => Some(Seen::Removes),
                Some(WordKind::Writes) => (!forms.is_harmless(at)).then_some(Seen::Opaque),
                None => {
                    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                    let is_named = is_number || forms.is_name(at) || code.is_local(at);
                    (!is_named).then_some(Seen::Opaque)
                }
            }
        }
        Kind::Ticks => (language != Role::Javascript).then_some(Seen::Command),
        // The name of a function may be a text: `array_map("unlink", …)`.
        Kind::Text => {
            let (start, end) = content(code.text, token);
            let name = code.text.get(start..end).and_then(|name| str::from_utf8(name).ok());
            match name.and_then(kind_of) {
                Some(WordKind::Removes) => Some(Seen::Removes),
                Some(WordKind::Deletes) => Some(Seen::Deletes),
                _ => None,
            }
        }
        Kind::Doubt => Some(Seen::Opaque),
        Kind::Sign(_) => is_by_name(language, tokens, at).then_some(Seen::Opaque),
    }
}

/// Returns whether a harmless token of an unread language may change a file: a word, or a `>`
/// before a path, by which PowerShell writes to it.
fn may_change(code: &Code<'_>, at: usize) -> bool {
    let is_path = matches!(
        code.kind(at + 1),
        Some(Kind::Text | Kind::Sign(b'/' | b'.' | b'~' | b'$' | b'\\'))
    );
    code.kind(at) == Some(Kind::Word) || (code.is_sign(at, b'>') && is_path)
}

/// Returns the place of a word, or of the name in a text.
fn named(code: &Code<'_>, token: &Token) -> (usize, usize) {
    match token.kind {
        Kind::Text => content(code.text, token),
        _ => (token.start, token.end),
    }
}

/// Returns the programs that code may run: any of its texts may be the command, and so may all of
/// them together.
fn programs(code: &Code<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let texts: Vec<_> = code.tokens.iter().filter(|token| token.kind == Kind::Text).collect();
    if texts.is_empty() && code.language != Role::Code {
        let reason = "it runs a command that is not literal";
        findings.push(Finding::new(0, code.text.len(), What::Unknown(reason)));
    }
    for token in &texts {
        let span = content(code.text, token);
        findings.push(Finding::new(span.0, span.1, What::Shell));
    }
    for (first, last) in lists(code.tokens) {
        findings.push(Finding::new(first, last, What::Words));
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

fn deletes_all(code: &Code<'_>) -> bool {
    let has = |words: &[&str]| {
        let is_word = |at: usize| code.kind(at) == Some(Kind::Word);
        (0..code.tokens.len()).any(|at| is_word(at) && words.contains(&code.shown(at)))
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
