//! The files that code opens.
//!
//! A file is known where the code names it literally as the argument of a known call. Any other word
//! that may open a file, load a module or evaluate a text may read any file.

use super::super::finding::{Finding, What};
use super::bound::Bound;
use super::forms::Forms;
use super::openers::{
    CODE_PARTS, CODE_WORDS, EVALUATING, NODE_ACTING, ONLY_CALLED, RUBY_CLASSES, RUBY_INPUT,
    RUBY_LIBRARIES, RUBY_OPENING, calls, quiet,
};
use super::shapes::{content, is_by_name, is_local};
use super::tokens::{Kind, Token};
use crate::facts::{Facts, Role, WordKind};

/// The most names of code whose texts are looked up.
const NAMES_MAX: usize = 16;

/// A file that code may read.
enum Read {
    /// None.
    None,
    /// That of a literal text: its first byte, and the byte after its last one.
    File(usize, usize),
    /// Any file.
    Any,
}

/// Returns the files that code reads.
pub(super) fn reads(
    language: Role,
    text: &[u8],
    tokens: &[Token],
    forms: &Forms<'_>,
    facts: &Facts<'_>,
) -> Vec<Finding> {
    let imported = imported(text, tokens);
    let mut reader = Reader { language, text, tokens, forms, facts, imported, names: 0 };
    let mut findings = Vec::new();
    let mut any = forms.modules().first().copied();
    for at in 0..tokens.len() {
        match reader.read(at) {
            Read::None => {}
            Read::File(start, end) => findings.push(Finding::new(start, end, What::Reads)),
            Read::Any => any = any.or(Some(at)),
        }
    }
    if let Some(token) = any.and_then(|at| tokens.get(at)) {
        findings.push(Finding::new(token.start, token.end, What::ReadsAny));
    }
    findings
}

struct Reader<'r> {
    language: Role,
    text: &'r [u8],
    tokens: &'r [Token],
    forms: &'r Forms<'r>,
    facts: &'r Facts<'r>,
    /// The names that modules give to the code; `*` for all.
    imported: Vec<&'r str>,
    /// The names looked up so far.
    names: usize,
}

/// Returns the names in statements that import them, with their modules.
fn imported<'r>(text: &'r [u8], tokens: &[Token]) -> Vec<&'r str> {
    let mut names = Vec::new();
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
            Kind::Word | Kind::Sign(b'*') if is_import && !names.contains(&shown) => {
                names.push(shown);
            }
            Kind::Sign(b'(') => is_open = is_import,
            Kind::Sign(b')') => is_open = false,
            _ => {}
        }
    }
    names
}

impl<'r> Reader<'r> {
    fn read(&mut self, at: usize) -> Read {
        match self.kind(at) {
            Some(Kind::Doubt) => Read::Any,
            Some(Kind::Ticks) if self.language == Role::Javascript => Read::None,
            // The command is read as one.
            Some(Kind::Ticks) => any_if(self.shown(at).contains(['$', '#', '{', '@'])),
            Some(Kind::Sign(b'$')) if self.language == Role::Ruby => {
                any_if(self.is_sign(at + 1, b'<'))
            }
            Some(Kind::Sign(_)) => any_if(is_by_name(self.language, self.tokens, at)),
            Some(Kind::Word) => self.word(at),
            Some(Kind::Text) | None => Read::None,
        }
    }

    fn word(&mut self, at: usize) -> Read {
        let word = self.shown(at);
        if word.is_empty() || self.forms.acts(at) {
            return Read::Any;
        }
        if word.starts_with(|first: char| first.is_ascii_digit()) || self.is_variable(at) {
            return Read::None;
        }
        if self.language == Role::Code {
            return self.unread(at);
        }
        if let Some(read) = self.call(at) {
            return read;
        }
        match self.facts.word(self.language, word) {
            Some(WordKind::Harmless | WordKind::Removes | WordKind::Deletes) => Read::None,
            Some(WordKind::Runs) if self.forms.is_method(at) => Read::None,
            Some(WordKind::Runs) => any_if(!self.runs_literal(at)),
            Some(WordKind::Writes) => {
                let is_quiet = quiet(self.language).contains(&self.shown(at));
                any_if(!is_quiet && !self.forms.is_harmless(at))
            }
            None => any_if(!self.is_unbound(at)),
        }
    }

    /// Reads a word of a known call, or of a form of its language.
    fn call(&mut self, at: usize) -> Option<Read> {
        let word = self.shown(at);
        match (self.language, word) {
            (Role::Python, "read_text" | "read_bytes") => return Some(self.path_of_python(at)),
            // `"a".replace("b", "c")`, unless it may move a file.
            (Role::Python, "replace") => {
                return Some(any_if(!self.is_member(at) || self.names_any(&["os", "pathlib"])));
            }
            (Role::Python, "dir_fd" | "opener") => return Some(Read::Any),
            (Role::Javascript, "require") => return Some(self.required(at)),
            // The members of a module as values.
            (Role::Javascript, "Object" | "fs") => return Some(any_if(!self.is_named_only(at))),
            (Role::Perl, "open" | "sysopen") => return Some(self.opened_by_perl(at)),
            (Role::Perl, "eval" | "do") if self.is_sign(at + 1, b'{') => return Some(Read::None),
            (Role::Ruby, "require") => return Some(self.required(at)),
            (Role::Ruby, word) if RUBY_CLASSES.contains(&word) => {
                return Some(self.class_of_ruby(at));
            }
            (Role::Ruby, word) if RUBY_INPUT.contains(&word) && !self.is_member(at) => {
                return Some(any_if(word == "ARGF" || self.names_any(&["ARGV"])));
            }
            _ => {}
        }
        if !calls(self.language).contains(&word) {
            return None;
        }
        let is_called = self.is_sign(at + 1, b'(')
            || (self.language == Role::Ruby && self.kind(at + 1) == Some(Kind::Text));
        let is_other = match (self.language, word) {
            (Role::Python, "parse") => !is_called || !self.names_any(&["xml", "etree", "lxml"]),
            (Role::Python, "file") | (Role::Javascript, "file") => !is_called,
            // The class is read with its member.
            (Role::Ruby, _) if self.is_member(at) && self.is_class(at - 1) => {
                return Some(Read::None);
            }
            (_, word) => ONLY_CALLED.contains(&word) && !is_called,
        };
        if is_other {
            return None;
        }
        if !is_called {
            return Some(any_if(!self.is_only_bound(at)));
        }
        if self.language == Role::Python && self.only_writes(at + 1) {
            return Some(Read::None);
        }
        let index = usize::from(word == "hash_file");
        Some(self.argument(at + 1, index))
    }

    /// Returns whether a word is a variable by its sign.
    fn is_variable(&self, at: usize) -> bool {
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
    fn is_unbound(&self, at: usize) -> bool {
        if self.forms.is_name(at) || is_local(self.tokens, at, self.text) {
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
        self.imported.iter().any(|name| *name == self.shown(at) || *name == "*")
    }

    /// Returns whether a word is only imported or taken apart under its own name, so that its calls
    /// show it.
    fn is_only_bound(&self, at: usize) -> bool {
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
                let close = (at..self.tokens.len()).find(|at| self.is_sign(*at, b'}'));
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
        let mut names = (0..at).rev().take_while(is_name);
        names.any(|at| self.shown(at) == "import")
    }

    /// Returns whether a module or `Object` only has its members named.
    fn is_named_only(&self, at: usize) -> bool {
        if self.shown(at) == "Object" {
            let names_files = self.names_any(&["fs", "readFileSync"])
                || (0..self.tokens.len())
                    .any(|at| self.kind(at) == Some(Kind::Text) && self.shown(at).contains("fs"));
            return !names_files && self.is_sign(at + 1, b'.');
        }
        let is_declared = at > 0 && matches!(self.shown(at - 1), "const" | "let" | "var");
        self.is_member(at) || self.is_sign(at + 1, b'.') || is_declared
    }

    /// Reads `require`: of data of the project, of a module with known members, or of other code.
    fn required(&mut self, at: usize) -> Read {
        let is_called = self.is_sign(at + 1, b'(');
        let named = at + 1 + usize::from(is_called);
        let Some((start, end)) = self.literal(named) else {
            return any_if(!self.forms.is_harmless(at));
        };
        let name = self.text.get(start..end).and_then(|name| str::from_utf8(name).ok());
        let name = name.unwrap_or("");
        if self.language == Role::Ruby {
            return any_if(!RUBY_LIBRARIES.contains(&name));
        }
        if name.ends_with(".json") && self.forms.is_harmless(at) {
            return Read::File(start, end);
        }
        let is_acting = NODE_ACTING.contains(&name.strip_prefix("node:").unwrap_or(name));
        // The module itself, as a value, gives all of its members.
        let is_used =
            is_called && (self.is_sign(named + 2, b'.') || (at > 0 && self.is_sign(at - 1, b'=')));
        any_if(!is_used || !(is_acting || self.forms.is_harmless(at)))
    }

    /// Reads `Path("x").read_text()`.
    fn path_of_python(&mut self, at: usize) -> Read {
        let is_path = |opens: usize| {
            opens > 0
                && self.is_sign(opens, b'(')
                && self.shown(opens - 1) == "Path"
                && self.is_member(at)
        };
        if at >= 5 && self.is_sign(at - 2, b')') && is_path(at - 4) {
            return self.argument(at - 4, 0);
        }
        // `r"x"`
        if at >= 6 && self.is_sign(at - 2, b')') && is_path(at - 5) {
            return self.argument(at - 5, 0);
        }
        Read::Any
    }

    /// Reads a class of Ruby whose members open files.
    fn class_of_ruby(&mut self, at: usize) -> Read {
        if !self.is_sign(at + 1, b'.') || self.is_sign(at + 2, b'(') {
            return Read::Any;
        }
        if !RUBY_OPENING.contains(&self.shown(at + 2)) {
            return Read::None;
        }
        let parses = self.shown(at) == "CSV" && matches!(self.shown(at + 2), "parse" | "new");
        if parses {
            return Read::None;
        }
        self.argument(at + 3, 0)
    }

    /// Returns whether a sign selects a member of a class of Ruby that is read as a whole.
    fn is_class(&self, sign: usize) -> bool {
        sign > 0 && RUBY_CLASSES.contains(&self.shown(sign - 1))
    }

    /// Reads `open(F, "<", "x")`, and the like.
    fn opened_by_perl(&mut self, at: usize) -> Read {
        let end = (at + 1..self.tokens.len()).find(|at| match self.kind(*at) {
            Some(Kind::Sign(b';' | b'|' | b'}')) => true,
            Some(Kind::Word) => matches!(self.shown(*at), "or" | "and" | "if" | "unless"),
            _ => false,
        });
        let end = end.unwrap_or(self.tokens.len());
        let texts: Vec<usize> =
            (at + 1..end).filter(|at| self.kind(*at) == Some(Kind::Text)).collect();
        let is_last =
            |text: usize| text + 1 == end || (text + 2 == end && self.is_sign(text + 1, b')'));
        let is_listed = |text: usize| text > 0 && self.is_sign(text - 1, b',');
        let (mode, file) = match *texts.as_slice() {
            [file] => (None, file),
            [mode, file] => (self.literal(mode), file),
            _ => return Read::Any,
        };
        let Some((start, stop)) = self.literal(file).filter(|_| is_last(file) && is_listed(file))
        else {
            return Read::Any;
        };
        let shown = |(start, stop): (usize, usize)| self.text.get(start..stop).unwrap_or(&[]);
        match mode {
            Some(mode) if shown(mode).starts_with(b">") => Read::None,
            Some(mode) if shown(mode).starts_with(b"<") => Read::File(start, stop),
            Some(_) => Read::Any,
            None if texts.len() > 1 => Read::Any,
            None => {
                let name = shown((start, stop));
                if name.first() == Some(&b'>') {
                    return Read::None;
                }
                let is_sign = |byte: &u8| matches!(byte, b'<' | b' ' | b'\t');
                let skipped = name.iter().take_while(|byte| is_sign(byte)).count();
                let is_plain = !name.iter().any(|byte| matches!(byte, b'|' | b'+' | b'&' | b'='));
                if is_plain { Read::File(start + skipped, stop) } else { Read::Any }
            }
        }
    }

    /// Reads a word of a language without a list of harmless words.
    fn unread(&mut self, at: usize) -> Read {
        let word = self.shown(at).to_ascii_lowercase();
        // A member is read instead of its module.
        let is_module = matches!(self.shown(at), "io" | "File" | "IO" | "Files")
            && matches!(self.kind(at + 1), Some(Kind::Sign(b'.' | b':')));
        // `cat(…)` and `type(…)` print, `get(…)` evaluates.
        let is_word = match self.shown(at) {
            "cat" | "type" => !self.is_sign(at + 1, b'('),
            "get" => self.is_sign(at + 1, b'('),
            word => CODE_WORDS.contains(&word),
        };
        let opens = is_word || CODE_PARTS.iter().any(|part| word.contains(part));
        if is_module || !opens {
            return Read::None;
        }
        let is_open = matches!(self.shown(at), "open" | "lines" | "readLines" | "readFile");
        if is_open { self.argument(at + 1, 0) } else { Read::Any }
    }

    /// Returns the file of an argument of a call, with or without parentheses.
    fn argument(&mut self, open: usize, index: usize) -> Read {
        let is_open = self.is_sign(open, b'(');
        let mut at = open + usize::from(is_open);
        for _ in 0..index {
            // Only a literal text may come before it.
            if self.kind(at) != Some(Kind::Text) || !self.is_sign(at + 1, b',') {
                return Read::Any;
            }
            at += 2;
        }
        // `b"x"`, `r"x"`: the prefix is a word of its own.
        let is_prefix = self.language == Role::Python
            && matches!(self.shown(at), "b" | "r" | "u" | "rb" | "br" | "B" | "R" | "U")
            && self.kind(at + 1) == Some(Kind::Text);
        at += usize::from(is_prefix);
        let after = |at: usize| match self.kind(at + 1) {
            Some(Kind::Sign(b',' | b')')) => true,
            None | Some(Kind::Sign(b';' | b'}')) => !is_open,
            _ => false,
        };
        if !after(at) {
            return Read::Any;
        }
        // An open descriptor, such as 0.
        if self.shown(at).bytes().all(|byte| byte.is_ascii_digit()) && !self.shown(at).is_empty() {
            return Read::None;
        }
        let text = match self.kind(at) {
            Some(Kind::Word)
                if matches!(self.language, Role::Python | Role::Javascript)
                    && self.names < NAMES_MAX =>
            {
                self.names += 1;
                let needs_const = self.language == Role::Javascript;
                let bound = Bound { text: self.text, tokens: self.tokens, needs_const };
                bound.literal_of(at)
            }
            _ => Some(at),
        };
        match text.and_then(|at| self.literal(at)) {
            Some((start, end)) => Read::File(start, end),
            None => Read::Any,
        }
    }

    /// Returns the content of a text that is the same for its language.
    fn literal(&self, at: usize) -> Option<(usize, usize)> {
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
            Role::Php => {
                name.windows(3).any(|part| part == b"://")
                    && !matches!(name, b"php://stdin" | b"php://input" | b"php://output")
            }
            _ => false,
        };
        (!is_computed && !is_other).then_some((start, end))
    }

    /// Returns whether the mode of a call of `open` only writes.
    fn only_writes(&self, open: usize) -> bool {
        let mut depth = 0usize;
        let mut mode = 0;
        for at in open..self.tokens.len() {
            match self.kind(at) {
                Some(Kind::Sign(b'(' | b'[' | b'{')) => depth += 1,
                Some(Kind::Sign(b')' | b']' | b'}')) if depth < 2 => break,
                Some(Kind::Sign(b')' | b']' | b'}')) => depth -= 1,
                Some(Kind::Sign(b',')) if depth == 1 => {
                    mode = at + 1;
                    break;
                }
                _ => {}
            }
        }
        let is_named = self.shown(mode) == "mode" && self.is_sign(mode + 1, b'=');
        let mode = mode + 2 * usize::from(is_named);
        let Some((start, end)) = self.literal(mode).filter(|_| mode > open) else { return false };
        let is_end = matches!(self.kind(mode + 1), Some(Kind::Sign(b',' | b')')));
        let mode = self.text.get(start..end).unwrap_or(&[]);
        is_end
            && mode.iter().any(|byte| matches!(byte, b'w' | b'a' | b'x'))
            && mode.iter().all(|byte| matches!(byte, b'w' | b'a' | b'x' | b'b' | b't'))
    }

    /// Returns whether a word that starts a program gets it as literal texts, which are read as a
    /// command.
    fn runs_literal(&self, at: usize) -> bool {
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

    /// Returns whether an argument has a name, so that it is no part of the command.
    fn named_arguments(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Word) && self.is_sign(at + 1, b'=')
    }

    fn names_any(&self, words: &[&str]) -> bool {
        (0..self.tokens.len()).any(|at| words.contains(&self.shown(at)))
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn shown(&self, at: usize) -> &'r str {
        let (text, tokens) = (self.text, self.tokens);
        let span = tokens.get(at).and_then(|token| text.get(token.start..token.end));
        str::from_utf8(span.unwrap_or(&[])).unwrap_or("")
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.kind(at) == Some(Kind::Sign(sign))
    }

    fn is_member(&self, at: usize) -> bool {
        at > 0 && self.is_sign(at - 1, b'.')
    }
}

fn any_if(is_any: bool) -> Read {
    if is_any { Read::Any } else { Read::None }
}
