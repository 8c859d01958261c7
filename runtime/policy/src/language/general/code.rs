//! Code with its tokens, and the questions about calls that the readers of reads and of changes
//! share.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::bound::Bound;
use super::forms::Forms;
use super::openers::EVALUATING;
use super::shapes::{Locals, content};
use super::tokens::{CALL_TOKENS_MAX, CHAIN_MAX, Kind, Token};
use crate::facts::{Facts, Role};

/// The most names of code whose texts are looked up.
const NAMES_MAX: usize = 16;

/// Words that may follow the last argument of a call without parentheses.
const AFTER_CALL: &[&str] = &["or", "and", "if", "unless", "do"];

/// Streams of PHP beside its files.
const PHP_STREAMS: &[&[u8]] = &[
    b"php://stdin",
    b"php://input",
    b"php://output",
    b"php://stdout",
    b"php://stderr",
    b"php://memory",
    b"php://temp",
];

/// An argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    /// The call has fewer arguments.
    Absent,
    /// A literal text: its first byte, and the byte after its last one.
    Literal(usize, usize),
    /// A number: an open descriptor, such as 0.
    Number,
    /// The code makes it, or takes it from elsewhere.
    Hidden,
}

/// Code of a language.
pub(super) struct Code<'r> {
    pub(super) language: Role,
    pub(super) text: &'r [u8],
    pub(super) tokens: &'r [Token],
    pub(super) forms: &'r Forms<'r>,
    pub(super) facts: &'r Facts<'r>,
    /// The names that modules give to the code; `*` for all.
    imported: BTreeSet<&'r str>,
    /// All words, texts and signs of the code.
    words: BTreeSet<&'r str>,
    locals: Locals<'r>,
    /// Whether a text names a module of files.
    pub(super) texts_name_fs: bool,
    /// The names looked up so far.
    names: Cell<usize>,
}

/// Returns the names in statements that import them, with their modules.
fn imported<'r>(text: &'r [u8], tokens: &[Token]) -> BTreeSet<&'r str> {
    let mut names = BTreeSet::new();
    let mut is_import = false;
    let mut is_open = false;
    let mut before = 0;
    for token in tokens {
        let between = text.get(before..token.start).unwrap_or(&[]);
        before = token.end;
        let is_end = token.kind == Kind::Sign(b';') || (between.contains(&b'\n') && !is_open);
        is_import &= !is_end;
        let span = text.get(token.start..token.end).unwrap_or(&[]);
        let shown = str::from_utf8(span).unwrap_or("");
        match token.kind {
            Kind::Word if matches!(shown, "import" | "use") => is_import = true,
            Kind::Word | Kind::Sign(b'*') if is_import => _ = names.insert(shown),
            Kind::Sign(b'(') => is_open = is_import,
            Kind::Sign(b')') => is_open = false,
            _ => {}
        }
    }
    names
}

impl<'r> Code<'r> {
    pub(super) fn new(
        language: Role,
        text: &'r [u8],
        tokens: &'r [Token],
        forms: &'r Forms<'r>,
        facts: &'r Facts<'r>,
    ) -> Self {
        let shown = |token: &Token| {
            str::from_utf8(text.get(token.start..token.end).unwrap_or(&[])).unwrap_or("")
        };
        let names_fs = |token: &Token| token.kind == Kind::Text && shown(token).contains("fs");
        Self {
            language,
            text,
            tokens,
            forms,
            facts,
            imported: imported(text, tokens),
            words: tokens.iter().map(shown).collect(),
            locals: Locals::of(tokens, text),
            texts_name_fs: tokens.iter().any(names_fs),
            names: Cell::new(0),
        }
    }

    /// Returns the first token of an argument of a call, with or without parentheses; `None` if the
    /// call has fewer, and the end of all tokens if the argument is too far away.
    pub(super) fn place(&self, open: usize, index: usize) -> Option<usize> {
        let is_open = self.is_sign(open, b'(');
        let first = open + usize::from(is_open);
        let mut depth = 0usize;
        let mut left = index;
        let mut at = first;
        while left > 0 {
            if at - first > CALL_TOKENS_MAX {
                return Some(self.tokens.len());
            }
            match self.kind(at)? {
                Kind::Sign(b'(' | b'[' | b'{') => depth += 1,
                Kind::Sign(b')' | b']' | b'}') => depth = depth.checked_sub(1)?,
                Kind::Sign(b';') if depth == 0 => return None,
                Kind::Sign(b',') if depth == 0 => left -= 1,
                _ if depth == 0 && self.is_after_call(at) => return None,
                _ => {}
            }
            at += 1;
        }
        let is_end = matches!(self.kind(at), None | Some(Kind::Sign(b')' | b';' | b'}')));
        (!is_end).then_some(at)
    }

    /// Returns whether a word follows a call without parentheses.
    fn is_after_call(&self, at: usize) -> bool {
        matches!(self.language, Role::Perl | Role::Ruby) && AFTER_CALL.contains(&self.shown(at))
    }

    /// Returns whether several arguments may stand in one place: `f(*a, "x")`, `f(...a, "x")`.
    pub(super) fn is_spread(&self, open: usize, end: usize) -> bool {
        (open..end).any(|at| {
            self.is_sign(at, b'*') || (self.is_sign(at, b'.') && self.is_sign(at + 1, b'.'))
        })
    }

    /// Returns the token after the last argument of a call in parentheses; `None` if it is too far away.
    pub(super) fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        let near = open..self.tokens.len().min(open.saturating_add(CALL_TOKENS_MAX));
        near.into_iter().find(|at| match self.kind(*at) {
            Some(Kind::Sign(b'(' | b'[' | b'{')) => {
                depth += 1;
                false
            }
            Some(Kind::Sign(b')' | b']' | b'}')) => {
                depth = depth.saturating_sub(1);
                depth == 0
            }
            _ => false,
        })
    }

    /// Returns an argument of a call, with or without parentheses.
    pub(super) fn argument(&self, open: usize, index: usize) -> Argument {
        let Some(mut at) = self.place(open, index) else { return Argument::Absent };
        let is_open = self.is_sign(open, b'(');
        if at >= self.tokens.len() || self.is_spread(open, at) {
            return Argument::Hidden;
        }
        // `b"x"`, `r"x"`: the prefix is a word of its own.
        let is_prefix = self.language == Role::Python
            && matches!(self.shown(at), "b" | "r" | "u" | "rb" | "br" | "B" | "R" | "U")
            && self.kind(at + 1) == Some(Kind::Text);
        at += usize::from(is_prefix);
        if !self.is_last_of(at, is_open) {
            return Argument::Hidden;
        }
        let shown = self.shown(at);
        if shown.bytes().all(|byte| byte.is_ascii_digit()) && !shown.is_empty() {
            return Argument::Number;
        }
        let text = match self.kind(at) {
            Some(Kind::Word)
                if matches!(self.language, Role::Python | Role::Javascript)
                    && self.names.get() < NAMES_MAX =>
            {
                self.names.set(self.names.get() + 1);
                let needs_const = self.language == Role::Javascript;
                let bound = Bound { text: self.text, tokens: self.tokens, needs_const };
                bound.literal_of(at)
            }
            _ => Some(at),
        };
        match text.and_then(|at| self.literal(at)) {
            Some((start, end)) => Argument::Literal(start, end),
            None => Argument::Hidden,
        }
    }

    /// Returns whether a token is the last one of an argument.
    pub(super) fn is_last_of(&self, at: usize, is_open: bool) -> bool {
        match self.kind(at + 1) {
            Some(Kind::Sign(b',' | b')')) => true,
            None | Some(Kind::Sign(b';' | b'}')) => !is_open,
            Some(Kind::Word) => !is_open && self.is_after_call(at + 1),
            _ => false,
        }
    }

    /// Returns whether a word is a variable by its sign.
    pub(super) fn is_variable(&self, at: usize) -> bool {
        let starts = |at: usize| self.tokens.get(at).map(|token| token.start);
        let is_dollar = at > 0
            && self.is_sign(at - 1, b'$')
            && starts(at - 1).map(|start| start + 1) == starts(at);
        match self.language {
            Role::Php => is_dollar && self.shown(at) != "GLOBALS",
            // `$ARGV[0]` is an element of `@ARGV`.
            Role::Perl => is_dollar && !(self.shown(at) == "ARGV" && self.is_sign(at + 1, b'[')),
            _ => false,
        }
    }

    /// Returns whether an unknown word is only a name of the code itself.
    pub(super) fn is_unbound(&self, at: usize) -> bool {
        if self.forms.is_name(at) || self.is_local(at) {
            return true;
        }
        let word = self.shown(at);
        let is_plain = match self.language {
            Role::Python => !word.starts_with('_'),
            Role::Ruby => word.starts_with(|first: char| first.is_ascii_lowercase()),
            Role::Javascript => word.starts_with(|first: char| first.is_ascii_alphabetic()),
            _ => false,
        };
        // All functions of these languages that open a file are known by name: an unknown name is
        // one of the code, unless it is a member, or comes from a module.
        is_plain && !self.is_member(at) && !self.is_imported(at)
    }

    /// Returns whether a word may be a name that a module gives.
    fn is_imported(&self, at: usize) -> bool {
        self.imported.contains(self.shown(at)) || self.imported.contains("*")
    }

    /// Returns whether a word is a variable named by the code itself.
    pub(super) fn is_local(&self, at: usize) -> bool {
        self.locals.has(at)
    }

    /// Returns whether a word is only imported or taken apart under its own name, so that its calls
    /// show it.
    pub(super) fn is_only_bound(&self, at: usize) -> bool {
        let is_listed = |at: usize| matches!(self.kind(at), Some(Kind::Sign(b',' | b'}')));
        match self.language {
            Role::Python => {
                at > 0
                    && (self.shown(at - 1) == "import" || self.is_sign(at - 1, b','))
                    && self.shown(at + 1) != "as"
                    && self.is_import_line(at)
            }
            Role::Javascript => {
                let opens = at > 0 && matches!(self.kind(at - 1), Some(Kind::Sign(b'{' | b',')));
                let near = at..self.tokens.len().min(at + CALL_TOKENS_MAX);
                let close = near.into_iter().find(|at| self.is_sign(*at, b'}'));
                opens
                    && is_listed(at + 1)
                    && close.is_some_and(|close| {
                        self.is_sign(close + 1, b'=') && self.shown(close + 2) == "require"
                    })
            }
            _ => false,
        }
    }

    fn is_import_line(&self, at: usize) -> bool {
        let is_name = |at: &usize| {
            let is_last = match (self.tokens.get(*at), self.tokens.get(at + 1)) {
                (Some(token), Some(next)) => {
                    self.text.get(token.end..next.start).is_none_or(|text| text.contains(&b'\n'))
                }
                _ => true,
            };
            !is_last && (self.kind(*at) == Some(Kind::Word) || self.is_sign(*at, b','))
        };
        let mut names = (0..at).rev().take(CHAIN_MAX).take_while(is_name);
        names.any(|at| self.shown(at) == "import")
    }

    /// Returns the content of a text that is the same for its language.
    pub(super) fn literal(&self, at: usize) -> Option<(usize, usize)> {
        let token = self.tokens.get(at)?;
        let is_ticks = token.kind == Kind::Ticks && self.language == Role::Javascript;
        if token.kind != Kind::Text && !is_ticks {
            return None;
        }
        let quote = self.text.get(token.start).copied()?;
        if !matches!(quote, b'"' | b'\'' | b'`') {
            return None;
        }
        let (start, end) = content(self.text, token);
        let name = self.text.get(start..end)?;
        let is_computed = name.iter().any(|byte| matches!(byte, b'\\' | b'$' | b'{' | b'#'));
        // In Perl, `"@a"` is a list; a name with a `|` is a command; PHP has streams in streams.
        let is_other = match self.language {
            Role::Perl => name.contains(&b'@'),
            Role::Ruby => name.contains(&b'|'),
            Role::Php => name.windows(3).any(|part| part == b"://") && !PHP_STREAMS.contains(&name),
            _ => false,
        };
        (!is_computed && !is_other).then_some((start, end))
    }

    /// Returns whether a word that starts a program gets it as literal texts, which are read as a
    /// command.
    pub(super) fn runs_literal(&self, at: usize) -> bool {
        let word = self.shown(at);
        let is_code =
            EVALUATING.contains(&word) || (matches!(self.language, Role::Python) && word == "exec");
        let open = self.is_sign(at + 1, b'(');
        let first = at + 1 + usize::from(open);
        let ends = |at: usize| match self.kind(at) {
            Some(Kind::Sign(b')' | b',')) => true,
            None | Some(Kind::Sign(b';' | b'}')) => !open,
            _ => false,
        };
        // In another folder, names of files are others.
        if is_code || self.names_any(&["cwd", "preexec_fn", "executable", "chdir"]) {
            return false;
        }
        let mut next = first;
        let is_list = self.is_sign(first, b'[');
        next += usize::from(is_list);
        while self.literal(next).is_some() && self.is_sign(next + 1, b',') {
            next += 2;
        }
        if is_list {
            return self.literal(next).is_some() && self.is_sign(next + 1, b']') && ends(next + 2);
        }
        let is_option = next > first && (self.named_arguments(next) || self.is_sign(next, b'{'));
        is_option || (self.literal(next).is_some() && ends(next + 1))
    }

    /// Returns whether an argument has a name, which sets it apart from the command.
    fn named_arguments(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Word) && self.is_sign(at + 1, b'=')
    }

    pub(super) fn names_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(word))
    }

    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn shown(&self, at: usize) -> &'r str {
        let (text, tokens) = (self.text, self.tokens);
        let span = tokens.get(at).and_then(|token| text.get(token.start..token.end));
        str::from_utf8(span.unwrap_or(&[])).unwrap_or("")
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.kind(at) == Some(Kind::Sign(sign))
    }

    pub(super) fn is_member(&self, at: usize) -> bool {
        at > 0 && self.is_sign(at - 1, b'.')
    }
}
