//! Everyday forms of code that are harmless despite one of their words, and harmful forms of
//! harmless words.

use std::collections::BTreeSet;

use super::modules::{
    NODE_MODULES, PACKAGE_MEMBERS, PYTHON_MODULES, PYTHON_PACKAGES, PYTHON_RUNNERS,
};
use super::tokens::{CHAIN_MAX, Kind, Token};
use crate::facts::Role;

/// Words by which code of Node.js may reach a module that starts programs, or run a text as code.
const NODE_DOORS: &[&str] = &[
    "require",
    "import",
    "child_process",
    "process",
    "global",
    "globalThis",
    "module",
    "this",
    "Function",
    "eval",
    "constructor",
    "Reflect",
    "Bun",
    "Deno",
    "self",
    "window",
    "top",
];

/// Operators of MongoDB that write or run code.
const MONGO_ACTING: &[&str] = &["out", "merge", "function", "accumulator", "where"];

/// The most tokens of a call whose arguments are read.
const ARGUMENTS_MAX: usize = 64;

/// The tokens of code, with its text.
pub(super) struct Forms<'f> {
    language: Role,
    text: &'f [u8],
    tokens: &'f [Token],
    /// Whether all names are literal, so that texts and keys show every name.
    is_plain: bool,
    /// The names that code of Python gives to well-known packages.
    aliases: BTreeSet<&'f str>,
    /// The modules with a harmless `run` that code of Python imports under their own names.
    runners: Vec<&'static str>,
    /// Whether code of Node.js may reach a module that starts programs.
    has_doors: bool,
}

impl<'f> Forms<'f> {
    pub(super) fn new(language: Role, text: &'f [u8], tokens: &'f [Token]) -> Self {
        let mut forms = Self {
            language,
            text,
            tokens,
            is_plain: false,
            aliases: BTreeSet::new(),
            runners: Vec::new(),
            has_doors: true,
        };
        forms.is_plain = forms.is_plain();
        forms.aliases = forms.aliases();
        let runners = PYTHON_RUNNERS.iter().copied();
        forms.runners = runners.filter(|module| forms.is_imported(module)).collect();
        forms.has_doors = forms.has_doors();
        forms
    }

    fn aliases(&self) -> BTreeSet<&'f str> {
        let all = 2..if self.language == Role::Python { self.tokens.len() } else { 0 };
        let is_alias = |at: &usize| {
            self.shown(at - 1) == "as"
                && PYTHON_PACKAGES.contains(&self.shown(at - 2))
                && self.is_import(at - 2)
        };
        all.filter(is_alias).map(|at| self.shown(at)).collect()
    }

    fn has_doors(&self) -> bool {
        (0..self.tokens.len()).any(|at| {
            NODE_DOORS.contains(&self.shown(at))
                || matches!(self.kind(at), Some(Kind::Doubt | Kind::Sign(b'[')))
                || self.content(at).is_some_and(|text| text.contains("process"))
        })
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn shown(&self, at: usize) -> &'f str {
        let (text, tokens) = (self.text, self.tokens);
        let span = tokens.get(at).and_then(|token| text.get(token.start..token.end));
        str::from_utf8(span.unwrap_or(&[])).unwrap_or("")
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.kind(at) == Some(Kind::Sign(sign))
    }

    /// Returns the content of a text between single-character quotes.
    fn content(&self, at: usize) -> Option<&str> {
        if self.kind(at) != Some(Kind::Text) {
            return None;
        }
        self.shown(at).get(1..)?.strip_suffix(['"', '\''])
    }

    fn is_member(&self, at: usize) -> bool {
        at > 0 && self.is_sign(at - 1, b'.')
    }

    /// Returns whether a word outside of the harmless list is harmless in this form.
    pub(super) fn is_harmless(&self, at: usize) -> bool {
        match (self.language, self.shown(at)) {
            (Role::Python, "open") => !self.is_member(at) && self.only_reads(at + 1),
            (Role::Python, _) if self.is_package(at) => true,
            // `require.resolve("x")` only finds a file.
            (Role::Javascript, "require") if self.is_sign(at + 1, b'.') => {
                !self.is_member(at) && self.shown(at + 2) == "resolve" && self.is_sign(at + 3, b'(')
            }
            (Role::Javascript, "require") => {
                let is_call = self.is_sign(at + 1, b'(') && self.is_sign(at + 3, b')');
                is_call && !self.is_member(at) && self.content(at + 2).is_some_and(is_plain_module)
            }
            (Role::Javascript, "write") => {
                self.is_member(at)
                    && at >= 4
                    && matches!(self.shown(at - 2), "stdout" | "stderr")
                    && self.is_member(at - 2)
                    && self.shown(at - 4) == "process"
            }
            _ => false,
        }
    }

    /// Returns whether a word is a well-known package that the code only imports, or whose version
    /// and devices it reads.
    fn is_package(&self, at: usize) -> bool {
        if self.is_member(at) || !self.names_package(at) {
            return false;
        }
        if self.is_import(at) {
            return !self.is_sign(at + 1, b'.');
        }
        // `import numpy as np`
        if at >= 2 && self.shown(at - 1) == "as" && self.is_import(at - 2) {
            return true;
        }
        let mut end = at + 1;
        while self.is_sign(end, b'.') {
            if !PACKAGE_MEMBERS.contains(&self.shown(end + 1)) || end - at > CHAIN_MAX {
                return false;
            }
            end += 2;
        }
        end > at + 1 && !self.is_sign(end, b'[') && !self.is_sign(end, b'=')
    }

    /// Returns whether a word is the name of such a package, or its alias in the code.
    fn names_package(&self, at: usize) -> bool {
        let word = self.shown(at);
        PYTHON_PACKAGES.contains(&word) || self.alias_of_package(word)
    }

    fn alias_of_package(&self, word: &str) -> bool {
        self.aliases.contains(word)
    }

    /// Returns whether a word is a member of such a package.
    fn is_package_member(&self, at: usize) -> bool {
        let mut start = at;
        while self.is_member(start) && start >= 2 && at - start <= CHAIN_MAX {
            start -= 2;
        }
        start < at && self.is_package(start)
    }

    /// Returns whether a word is a module of `import a, b`.
    fn is_import(&self, at: usize) -> bool {
        let mut first = at;
        while first >= 2
            && at - first <= CHAIN_MAX
            && self.is_sign(first - 1, b',')
            && self.kind(first - 2) == Some(Kind::Word)
        {
            first -= 2;
        }
        first > 0 && self.shown(first - 1) == "import" && !self.is_from(first - 1)
    }

    /// Returns whether a word that starts programs is a harmless method of that name here:
    /// `asyncio.run(…)`, `/a/.exec(…)`.
    pub(super) fn is_method(&self, at: usize) -> bool {
        match (self.language, self.shown(at)) {
            (Role::Python, "run") => {
                self.is_member(at)
                    && at >= 2
                    && !self.is_member(at - 2)
                    && self.runners.contains(&self.shown(at - 2))
            }
            (Role::Javascript, "exec") => self.is_member(at) && self.is_plain && !self.has_doors,
            _ => false,
        }
    }

    /// Returns whether code of Python imports a module by its name, and leaves that name to it.
    fn is_imported(&self, module: &str) -> bool {
        let all = 0..self.tokens.len();
        let is_named = |at: &usize| self.shown(*at) == module && !self.is_member(*at);
        let is_import = |at: usize| at > 0 && self.shown(at - 1) == "import";
        let mut named = all.filter(is_named).peekable();
        named.peek().is_some_and(|first| is_import(*first) && !self.is_from(*first - 1))
            && named.all(|at| {
                let is_bound =
                    at > 0 && matches!(self.shown(at - 1), "as" | "for" | "def" | "class");
                let is_assigned = self.is_sign(at + 1, b'=') && !self.is_sign(at + 2, b'=');
                !(is_bound || is_assigned || (is_import(at) && self.is_from(at - 1)))
            })
    }

    /// Returns whether the parentheses after `open` hold only a file, or also a mode that reads.
    fn only_reads(&self, open: usize) -> bool {
        if !self.is_sign(open, b'(') {
            return false;
        }
        let mut depth = 0usize;
        let mut at = open;
        // The position of the second argument.
        let mut second = None;
        while let Some(kind) = self.kind(at) {
            if at - open > ARGUMENTS_MAX {
                return false;
            }
            match kind {
                Kind::Sign(b'(' | b'[' | b'{') => depth += 1,
                Kind::Sign(b')' | b']' | b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                Kind::Sign(b',') if depth == 1 && second.is_none() => second = Some(at + 1),
                Kind::Sign(b'*') if depth == 1 => return false,
                Kind::Doubt => return false,
                _ => {}
            }
            at += 1;
        }
        let is_named = self.is_sign(open + 2, b'=');
        let Some(second) = second else { return depth == 0 && !is_named };
        // `"r"`, `encoding="utf8"`, `mode="rb"`, in any order.
        let rest: Vec<usize> = (second..at).collect();
        let mut is_first = true;
        depth == 0
            && !is_named
            && rest.split(|at| self.is_sign(*at, b',')).all(|argument| {
                let was_first = std::mem::take(&mut is_first);
                match *argument {
                    [] => true,
                    [mode] => was_first && self.reads(mode),
                    [name, sign, value] if self.is_sign(sign, b'=') => match self.shown(name) {
                        "encoding" | "errors" | "newline" => self.kind(value) == Some(Kind::Text),
                        "mode" => self.reads(value),
                        _ => false,
                    },
                    _ => false,
                }
            })
    }

    fn reads(&self, at: usize) -> bool {
        let is_mode = |mode: &str| mode.bytes().all(|byte| matches!(byte, b'r' | b'b' | b't'));
        self.content(at).is_some_and(is_mode)
    }

    /// Returns whether an unknown word is a harmless name: a variable of Perl, a key of an object,
    /// or a collection of MongoDB.
    pub(super) fn is_name(&self, at: usize) -> bool {
        if self.language == Role::Python {
            return self.is_package(at) || self.is_package_member(at);
        }
        if self.language == Role::Perl {
            let starts = |at: usize| self.tokens.get(at).map(|token| token.start);
            return at > 0
                && self.is_sign(at - 1, b'$')
                && starts(at - 1).map(|start| start + 1) == starts(at);
        }
        if self.language != Role::Javascript {
            return false;
        }
        let is_dollar = at > 0 && self.is_sign(at - 1, b'$');
        let start = if is_dollar { at - 1 } else { at };
        let opens = start > 0 && (self.is_sign(start - 1, b'{') || self.is_sign(start - 1, b','));
        if opens && self.is_sign(at + 1, b':') {
            return true;
        }
        if self.is_data(at) {
            return true;
        }
        let is_query = self.shown(at) == "aggregate" && self.is_plain;
        let is_collection = self.is_member(at)
            && at >= 2
            && self.shown(at - 2) == "db"
            && !self.is_member(at - 2)
            && self.is_sign(at + 1, b'.');
        is_collection || is_query
    }

    /// Returns whether a word is a member of a file of data: `require("./package.json").dependencies`.
    fn is_data(&self, at: usize) -> bool {
        let mut start = at;
        while self.is_member(start)
            && start >= 2
            && at - start <= CHAIN_MAX
            && self.kind(start - 2) == Some(Kind::Word)
        {
            start -= 2;
        }
        // Code may begin with a dot.
        let Some(opens) = start.checked_sub(5) else { return false };
        !NODE_DOORS.contains(&self.shown(at))
            && self.is_member(start)
            && self.is_sign(start - 2, b')')
            && self.shown(opens) == "require"
            && self.is_harmless(opens)
            && self.content(opens + 2).is_some_and(|name| name.ends_with(".json"))
            // Data is neither called nor assigned.
            && !self.is_sign(at + 1, b'(')
            && !self.is_sign(at + 1, b'=')
    }

    fn is_plain(&self) -> bool {
        !self.text.contains(&b'\\')
            && !self.tokens.iter().enumerate().any(|(at, token)| match token.kind {
                Kind::Sign(b'+') | Kind::Ticks => true,
                Kind::Sign(b'[') => self.is_sign(at + 2, b']') && self.is_sign(at + 3, b':'),
                Kind::Word => matches!(self.shown(at), "parse" | "join" | "concat" | "replace"),
                _ => false,
            })
    }

    /// Returns whether a word or text acts even as a key or a value.
    pub(super) fn acts(&self, at: usize) -> bool {
        match (self.language, self.kind(at)) {
            // An alias of a package gives access to all of its members.
            (Role::Python, Some(Kind::Word)) => {
                !self.is_member(at) && self.alias_of_package(self.shown(at)) && !self.is_package(at)
            }
            (Role::Javascript, Some(Kind::Word)) => {
                at > 0 && self.is_sign(at - 1, b'$') && MONGO_ACTING.contains(&self.shown(at))
            }
            (Role::Javascript, Some(Kind::Text)) => self
                .content(at)
                .and_then(|text| text.strip_prefix('$'))
                .is_some_and(|name| MONGO_ACTING.contains(&name)),
            _ => false,
        }
    }

    /// Returns whether a word affects all documents (`deleteMany({})`) or ends the server
    /// (`{shutdown: 1}`).
    pub(super) fn is_about_all(&self, at: usize) -> bool {
        if self.language != Role::Javascript {
            return false;
        }
        match self.shown(at) {
            // A hidden condition may be empty.
            word @ ("deleteMany" | "remove" | "updateMany") => {
                let is_shown = self.is_sign(at + 2, b'{') || word == "remove";
                let is_empty = self.is_sign(at + 2, b'{') && self.is_sign(at + 3, b'}');
                self.is_member(at) && self.is_sign(at + 1, b'(') && (is_empty || !is_shown)
            }
            "shutdown" | "dropDatabase" => self.is_sign(at + 1, b':'),
            _ => false,
        }
    }

    /// Returns the modules imported by code of Python, except those known as harmless.
    pub(super) fn modules(&self) -> Vec<usize> {
        let mut found = Vec::new();
        if self.language != Role::Python {
            return found;
        }
        let is_known = |at: usize| PYTHON_MODULES.contains(&self.shown(at)) || self.is_package(at);
        for at in 0..self.tokens.len() {
            if self.kind(at) != Some(Kind::Word) || self.is_member(at) {
                continue;
            }
            match self.shown(at) {
                "from" => {
                    // In `yield from x` and `raise x from y`, no `import` follows the name.
                    if self.is_sign(at + 1, b'.') {
                        found.push(at + 1);
                    }
                    let mut end = at + 1;
                    while self.is_sign(end, b'.') || self.is_member(end) || end == at + 1 {
                        end += 1;
                    }
                    if self.shown(end) == "import" && !is_known(at + 1) {
                        found.push(at + 1);
                    }
                }
                "import" => {
                    if self.is_from(at) {
                        continue;
                    }
                    let mut next = at + 1;
                    loop {
                        if !is_known(next) {
                            found.push(next.min(self.tokens.len() - 1));
                        }
                        // No module has this name, and the next statement is read by itself.
                        if self.shown(next) == "import" {
                            break;
                        }
                        // Skips the rest of the name and its alias.
                        while self
                            .kind(next)
                            .is_some_and(|kind| kind == Kind::Word || kind == Kind::Sign(b'.'))
                            && !matches!(self.shown(next + 1), "import" | "from")
                            && !self.is_new_line(next)
                        {
                            next += 1;
                        }
                        if !self.is_sign(next, b',') {
                            break;
                        }
                        next += 1;
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Returns whether `import` follows `from` and a module.
    fn is_from(&self, import: usize) -> bool {
        let mut at = import;
        while at > 0
            && import - at <= CHAIN_MAX
            && (self.is_member(at - 1) || self.is_sign(at - 1, b'.'))
        {
            at -= 1;
        }
        let is_relative = at > 0 && self.shown(at - 1) == "from";
        is_relative || (at > 1 && self.shown(at - 2) == "from")
    }

    /// Returns whether a line ends after a token.
    fn is_new_line(&self, at: usize) -> bool {
        let (Some(token), Some(next)) = (self.tokens.get(at), self.tokens.get(at + 1)) else {
            return false;
        };
        self.text.get(token.end..next.start).is_some_and(|between| between.contains(&b'\n'))
    }
}

/// Returns whether the lists know all members of a module, or the module is data of the project.
fn is_plain_module(name: &str) -> bool {
    let is_data = name.ends_with(".json")
        && name.contains('/')
        && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    is_data || NODE_MODULES.contains(&name.strip_prefix("node:").unwrap_or(name))
}
