//! The files that code opens.
//!
//! A file is known where the code names it literally as the argument of a known call. Any other word
//! that may open a file, load a module or evaluate a text may read any file.

use super::super::finding::{Finding, What};
use super::changers::is_inert;
use super::code::{Argument, Code};
use super::openers::{
    CODE_PARTS, CODE_WORDS, NODE_ACTING, ONLY_CALLED, RUBY_CLASSES, RUBY_INPUT, RUBY_LIBRARIES,
    RUBY_OPENING, calls, quiet,
};
use super::shapes::is_by_name;
use super::tokens::{CALL_TOKENS_MAX, Kind};
use crate::facts::{Role, WordKind};

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
pub(super) fn reads(code: &Code<'_>) -> Vec<Finding> {
    let reader = Reader { code };
    let mut findings = Vec::new();
    let mut any = code.forms.modules().first().copied();
    for at in 0..code.tokens.len() {
        match reader.read(at) {
            Read::None => {}
            Read::File(start, end) => findings.push(Finding::new(start, end, What::Reads)),
            Read::Any => any = any.or(Some(at)),
        }
    }
    if let Some(token) = any.and_then(|at| code.tokens.get(at)) {
        findings.push(Finding::new(token.start, token.end, What::ReadsAny));
    }
    findings
}

/// Returns whether a token may open any file, load a module or evaluate a text.
pub(super) fn is_any(code: &Code<'_>, at: usize) -> bool {
    matches!(Reader { code }.read(at), Read::Any)
}

struct Reader<'r> {
    code: &'r Code<'r>,
}

impl Reader<'_> {
    fn read(&self, at: usize) -> Read {
        match self.code.kind(at) {
            Some(Kind::Doubt) => Read::Any,
            Some(Kind::Ticks) if self.code.language == Role::Javascript => Read::None,
            // The command is read as one.
            Some(Kind::Ticks) => any_if(self.code.shown(at).contains(['$', '#', '{', '@'])),
            Some(Kind::Sign(b'$')) if self.code.language == Role::Ruby => {
                any_if(self.code.is_sign(at + 1, b'<'))
            }
            Some(Kind::Sign(_)) => any_if(is_by_name(self.code.language, self.code.tokens, at)),
            Some(Kind::Word) => self.word(at),
            Some(Kind::Text) | None => Read::None,
        }
    }

    fn word(&self, at: usize) -> Read {
        let word = self.code.shown(at);
        if word.is_empty() || self.code.forms.acts(at) {
            return Read::Any;
        }
        if word.starts_with(|first: char| first.is_ascii_digit()) || self.code.is_variable(at) {
            return Read::None;
        }
        if self.code.language == Role::Code {
            return self.unread(at);
        }
        if let Some(read) = self.call(at) {
            return read;
        }
        match self.code.facts.word(self.code.language, word) {
            Some(WordKind::Harmless | WordKind::Removes | WordKind::Deletes) => Read::None,
            Some(WordKind::Runs) if self.code.forms.is_method(at) => Read::None,
            Some(WordKind::Runs) => any_if(!self.code.runs_literal(at)),
            Some(WordKind::Writes) => {
                let is_quiet =
                    quiet(self.code.language).contains(&word) || is_inert(self.code.language, word);
                any_if(!is_quiet && !self.code.forms.is_harmless(at))
            }
            None => any_if(!self.code.is_unbound(at)),
        }
    }

    /// Reads a word of a known call, or of a form of its language.
    fn call(&self, at: usize) -> Option<Read> {
        let word = self.code.shown(at);
        match (self.code.language, word) {
            (Role::Python, "read_text" | "read_bytes") => return Some(self.path_of_python(at)),
            (Role::Python, "open")
                if at >= 2 && self.code.is_member(at) && self.code.is_sign(at - 2, b')') =>
            {
                return Some(self.path_of_python(at));
            }
            // `"a".replace("b", "c")`, unless it may move a file.
            (Role::Python, "replace") => {
                return Some(any_if(
                    !self.code.is_member(at) || self.code.names_any(&["os", "pathlib"]),
                ));
            }
            (Role::Python, "dir_fd" | "opener") => return Some(Read::Any),
            (Role::Javascript, "require") => return Some(self.required(at)),
            // The members of a module as values.
            (Role::Javascript, "Object" | "fs") => return Some(any_if(!self.is_named_only(at))),
            (Role::Perl, "open" | "sysopen") => return Some(self.opened_by_perl(at)),
            (Role::Perl, "eval" | "do") if self.code.is_sign(at + 1, b'{') => {
                return Some(Read::None);
            }
            (Role::Ruby, "require") => return Some(self.required(at)),
            (Role::Ruby, word) if RUBY_CLASSES.contains(&word) => {
                return Some(self.class_of_ruby(at));
            }
            (Role::Ruby, word) if RUBY_INPUT.contains(&word) && !self.code.is_member(at) => {
                return Some(any_if(word == "ARGF" || self.code.names_any(&["ARGV"])));
            }
            _ => {}
        }
        if !calls(self.code.language).contains(&word) {
            return None;
        }
        let is_called = self.code.is_sign(at + 1, b'(')
            || (self.code.language == Role::Ruby && self.code.kind(at + 1) == Some(Kind::Text));
        let is_other = match (self.code.language, word) {
            (Role::Python, "parse") => {
                !is_called || !self.code.names_any(&["xml", "etree", "lxml"])
            }
            (Role::Python, "file") | (Role::Javascript, "file") => !is_called,
            // The class is read with its member.
            (Role::Ruby, _) if self.code.is_member(at) && self.is_class(at - 1) => {
                return Some(Read::None);
            }
            (_, word) => ONLY_CALLED.contains(&word) && !is_called,
        };
        if is_other {
            return None;
        }
        if !is_called {
            return Some(any_if(!self.code.is_only_bound(at)));
        }
        if self.code.language == Role::Python && self.only_writes(at + 1) {
            return Some(Read::None);
        }
        let index = usize::from(word == "hash_file");
        Some(self.opened(at + 1, index))
    }

    /// Returns whether a module or `Object` only has its members named.
    fn is_named_only(&self, at: usize) -> bool {
        if self.code.shown(at) == "Object" {
            let names_files =
                self.code.texts_name_fs || self.code.names_any(&["fs", "readFileSync"]);
            return !names_files && self.code.is_sign(at + 1, b'.');
        }
        let is_declared = at > 0 && matches!(self.code.shown(at - 1), "const" | "let" | "var");
        self.code.is_member(at) || self.code.is_sign(at + 1, b'.') || is_declared
    }

    /// Reads `require`: of data of the project, of a module with known members, or of other code.
    fn required(&self, at: usize) -> Read {
        let is_called = self.code.is_sign(at + 1, b'(');
        let named = at + 1 + usize::from(is_called);
        let Some((start, end)) = self.code.literal(named) else {
            return any_if(!self.code.forms.is_harmless(at));
        };
        let name = self.code.text.get(start..end).and_then(|name| str::from_utf8(name).ok());
        let name = name.unwrap_or("");
        if self.code.language == Role::Ruby {
            return any_if(!RUBY_LIBRARIES.contains(&name));
        }
        if name.ends_with(".json") && self.code.forms.is_harmless(at) {
            return Read::File(start, end);
        }
        let is_acting = NODE_ACTING.contains(&name.strip_prefix("node:").unwrap_or(name));
        // The module itself, as a value, gives all of its members.
        let is_used = is_called
            && (self.code.is_sign(named + 2, b'.') || (at > 0 && self.code.is_sign(at - 1, b'=')));
        any_if(!is_used || !(is_acting || self.code.forms.is_harmless(at)))
    }

    /// Reads `Path("x").read_text()`.
    fn path_of_python(&self, at: usize) -> Read {
        let is_path = |opens: usize| {
            opens > 0
                && self.code.is_sign(opens, b'(')
                && self.code.shown(opens - 1) == "Path"
                && self.code.is_member(at)
        };
        if at >= 5 && self.code.is_sign(at - 2, b')') && is_path(at - 4) {
            return self.opened(at - 4, 0);
        }
        // `r"x"`
        if at >= 6 && self.code.is_sign(at - 2, b')') && is_path(at - 5) {
            return self.opened(at - 5, 0);
        }
        Read::Any
    }

    /// Reads a class of Ruby whose members open files.
    fn class_of_ruby(&self, at: usize) -> Read {
        if !self.code.is_sign(at + 1, b'.') || self.code.is_sign(at + 2, b'(') {
            return Read::Any;
        }
        if !RUBY_OPENING.contains(&self.code.shown(at + 2)) {
            return Read::None;
        }
        let parses =
            self.code.shown(at) == "CSV" && matches!(self.code.shown(at + 2), "parse" | "new");
        if parses {
            return Read::None;
        }
        self.opened(at + 3, 0)
    }

    /// Returns whether a sign selects a member of a class of Ruby that is read as a whole.
    fn is_class(&self, sign: usize) -> bool {
        sign > 0 && RUBY_CLASSES.contains(&self.code.shown(sign - 1))
    }

    /// Reads `open(F, "<", "x")`, and the like.
    fn opened_by_perl(&self, at: usize) -> Read {
        let all = self.code.tokens.len();
        let near = at + 1..all.min(at + CALL_TOKENS_MAX);
        let is_near_end = near.end == all;
        let end = near.into_iter().find(|at| match self.code.kind(*at) {
            Some(Kind::Sign(b';' | b'|' | b'}')) => true,
            Some(Kind::Word) => matches!(self.code.shown(*at), "or" | "and" | "if" | "unless"),
            _ => false,
        });
        let Some(end) = end.or(is_near_end.then_some(all)) else { return Read::Any };
        let texts: Vec<usize> =
            (at + 1..end).filter(|at| self.code.kind(*at) == Some(Kind::Text)).collect();
        let is_last =
            |text: usize| text + 1 == end || (text + 2 == end && self.code.is_sign(text + 1, b')'));
        let is_listed = |text: usize| text > 0 && self.code.is_sign(text - 1, b',');
        let (mode, file) = match *texts.as_slice() {
            [file] => (None, file),
            [mode, file] => (self.code.literal(mode), file),
            _ => return Read::Any,
        };
        let Some((start, stop)) =
            self.code.literal(file).filter(|_| is_last(file) && is_listed(file))
        else {
            return Read::Any;
        };
        let shown = |(start, stop): (usize, usize)| self.code.text.get(start..stop).unwrap_or(&[]);
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
    fn unread(&self, at: usize) -> Read {
        let word = self.code.shown(at).to_ascii_lowercase();
        // A member is read instead of its module.
        let is_module = matches!(self.code.shown(at), "io" | "File" | "IO" | "Files")
            && matches!(self.code.kind(at + 1), Some(Kind::Sign(b'.' | b':')));
        // `cat(…)` and `type(…)` print, `get(…)` evaluates.
        let is_word = match self.code.shown(at) {
            "cat" | "type" => !self.code.is_sign(at + 1, b'('),
            "get" => self.code.is_sign(at + 1, b'('),
            word => CODE_WORDS.contains(&word),
        };
        let opens = is_word || CODE_PARTS.iter().any(|part| word.contains(part));
        if is_module || !opens {
            return Read::None;
        }
        let is_open = matches!(self.code.shown(at), "open" | "lines" | "readLines" | "readFile");
        if is_open { self.opened(at + 1, 0) } else { Read::Any }
    }

    /// Returns the file of an argument of a call, with or without parentheses.
    fn opened(&self, open: usize, index: usize) -> Read {
        match self.code.argument(open, index) {
            Argument::Literal(start, end) => Read::File(start, end),
            Argument::Number => Read::None,
            Argument::Hidden | Argument::Absent => Read::Any,
        }
    }

    /// Returns whether the mode of a call of `open` only writes.
    fn only_writes(&self, open: usize) -> bool {
        let mut depth = 0usize;
        let mut mode = 0;
        for at in open..self.code.tokens.len().min(open + CALL_TOKENS_MAX) {
            match self.code.kind(at) {
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
        let is_named = self.code.shown(mode) == "mode" && self.code.is_sign(mode + 1, b'=');
        let mode = mode + 2 * usize::from(is_named);
        let Some((start, end)) = self.code.literal(mode).filter(|_| mode > open) else {
            return false;
        };
        let is_end = matches!(self.code.kind(mode + 1), Some(Kind::Sign(b',' | b')')));
        let mode = self.code.text.get(start..end).unwrap_or(&[]);
        is_end
            && mode.iter().any(|byte| matches!(byte, b'w' | b'a' | b'x'))
            && mode.iter().all(|byte| matches!(byte, b'w' | b'a' | b'x' | b'b' | b't'))
    }
}

fn any_if(is_any: bool) -> Read {
    if is_any { Read::Any } else { Read::None }
}
