//! The files that code writes, moves, removes, or gives another mode.
//!
//! Only words that are not known to be harmless change anything. A file is known where the code names
//! it literally as the argument of a known call. Any other such word may write any file, unless it is
//! known to be about something else.

use super::super::finding::{Finding, What};
use super::changers::{
    CODE_PARTS, CODE_WORDS, PYTHON_PATH_MODULES, Which, deeds, is_inert, mode, only_reads,
};
use super::code::{Argument, Code};
use super::openers::RUBY_CLASSES;
use super::reads;
use super::tokens::Kind;
use crate::effect::Touch;
use crate::facts::{Role, WordKind};

/// The owner of a function.
enum Base {
    /// A function, or a member of something that takes paths as arguments.
    Function,
    /// `Path("x")` of Python: the parenthesis after `Path`.
    Path(usize),
    /// Another value.
    Other,
}

/// The changes of code.
pub(super) struct Changes<'c> {
    code: &'c Code<'c>,
    found: Vec<Finding>,
    /// The first token that may write any file.
    any: Option<usize>,
}

impl<'c> Changes<'c> {
    /// Begins with the modules that code imports.
    pub(super) fn new(code: &'c Code<'c>) -> Self {
        let is_inert = |at: &usize| is_inert(code.language, code.shown(*at));
        let any = code.forms.modules().into_iter().find(|at| !is_inert(at));
        Self { code, found: Vec::new(), any }
    }

    /// Returns the changes.
    pub(super) fn finish(self) -> Vec<Finding> {
        let Self { code, mut found, any } = self;
        if let Some(token) = any.and_then(|at| code.tokens.get(at)) {
            found.push(Finding::new(token.start, token.end, What::TouchesAny(Touch::Write)));
        }
        found
    }

    /// Notes that a token may write any file.
    fn any(&mut self, at: usize) {
        self.any = self.any.or(Some(at));
    }

    fn any_if(&mut self, is_any: bool, at: usize) {
        if is_any {
            self.any(at);
        }
    }

    /// Reads a token that may act; returns whether all that it removes is literal.
    pub(super) fn read(&mut self, at: usize) -> bool {
        let before = self.found.len();
        let code = self.code;
        match code.kind(at) {
            Some(Kind::Word) => self.word(at),
            // The command is read as one.
            Some(Kind::Ticks) => {
                self.any_if(code.shown(at).contains(['$', '#', '{', '@']), at);
            }
            Some(Kind::Doubt | Kind::Sign(_)) => self.any(at),
            Some(Kind::Text) | None => {}
        }
        let is_removal = |finding: &Finding| finding.what == What::Touches(Touch::Remove);
        self.any != Some(at) && self.found.iter().skip(before).any(is_removal)
    }

    fn word(&mut self, at: usize) {
        let code = self.code;
        let word = code.shown(at);
        if word.is_empty() || code.forms.acts(at) {
            return self.any(at);
        }
        if code.is_variable(at) {
            return;
        }
        if code.language == Role::Code {
            return self.unread(at);
        }
        if self.is_special(at) {
            return;
        }
        if let Some(deeds) = deeds(code.language, word) {
            return self.call(at, deeds);
        }
        if let Some(index) = mode(code.language, word) {
            return self.opens(at, index);
        }
        let is_any = match code.facts.word(code.language, word) {
            Some(WordKind::Harmless) => false,
            Some(WordKind::Runs) => !code.forms.is_method(at) && !code.runs_literal(at),
            Some(WordKind::Writes | WordKind::Removes | WordKind::Deletes) => {
                !is_inert(code.language, word) && !only_reads(code.language, word)
            }
            None => !code.is_unbound(at),
        };
        self.any_if(is_any, at);
    }

    /// Reads a word with a form of its own; returns whether it is one.
    fn is_special(&mut self, at: usize) -> bool {
        let code = self.code;
        match (code.language, code.shown(at)) {
            // The flags of `os.open`.
            (Role::Python | Role::Javascript, word) if word.starts_with("O_") => {}
            (Role::Python, "write_text" | "write_bytes") => match self.base(at) {
                Base::Path(open) => self.touches(at, Touch::Write, code.argument(open, 0)),
                _ => self.any(at),
            },
            // `copy` is harmless elsewhere.
            (Role::Python, "shutil") => match code.shown(at + 2) {
                _ if !code.is_sign(at + 1, b'.') => self.any(at),
                "copy" => self.word(at + 2),
                word => self.any_if(!is_known(word), at),
            },
            // `"a".replace("b", "c")`, unless it may move a file.
            (Role::Python, "replace") if matches!(self.base(at), Base::Other) => {
                self.any_if(code.names_any(&["os", "pathlib"]), at);
            }
            (Role::Python, "etree" | "ElementTree") => {
                self.any_if(code.names_any(&["write", "lxml"]), at);
            }
            (Role::Python, "basicConfig") => self.any_if(code.names_any(&["filename"]), at),
            (Role::Python, "sqlite3") => {
                let connects = code.is_sign(at + 1, b'.') && code.shown(at + 2) == "connect";
                self.any_if(!connects, at);
            }
            (Role::Python, "connect") => {
                if at >= 2 && code.shown(at - 2) == "sqlite3" {
                    self.touches(at, Touch::Write, code.argument(at + 1, 0));
                }
            }
            (Role::Javascript, "require" | "Object" | "fs") | (Role::Ruby, "require") => {
                self.any_if(reads::is_any(code, at), at);
            }
            // `Bun.write("x", …)`; others write to an open file.
            (Role::Javascript, "write") => {
                if at >= 2 && code.is_member(at) && code.shown(at - 2) == "Bun" {
                    self.touches(at, Touch::Write, code.argument(at + 1, 0));
                }
            }
            (Role::Javascript, "file") => self.any_if(code.names_any(&["delete", "unlink"]), at),
            (Role::Javascript, "remove") if code.is_sign(at + 2, b'{') => {}
            (Role::Perl, "open") => self.opened_by_perl(at),
            (Role::Perl, "sysopen") => self.touches(at, Touch::Write, code.argument(at + 1, 1)),
            (Role::Perl, "eval" | "do") if code.is_sign(at + 1, b'{') => {}
            (Role::Php, "error_log") => {
                if code.argument(at + 1, 1) != Argument::Absent {
                    self.touches(at, Touch::Write, code.argument(at + 1, 2));
                }
            }
            (Role::Ruby, "IO") => {
                let is_named = code.is_sign(at + 1, b'.') && !code.is_sign(at + 2, b'(');
                self.any_if(!is_named || reads::is_any(code, at), at);
            }
            // Of texts and lists, unless a class of files has another name.
            (Role::Ruby, "write" | "binwrite" | "delete" | "truncate" | "copy" | "install")
                if code.is_member(at) && !self.is_of_class(at) => {}
            _ => return false,
        }
        true
    }

    /// Reads a class of files of Ruby: `File.new("x", "w")` has only harmless words, and under
    /// another name its members are not known.
    pub(super) fn class(&mut self, at: usize, is_opaque: bool) {
        let code = self.code;
        let is_class = code.language == Role::Ruby
            && code.kind(at) == Some(Kind::Word)
            && (RUBY_CLASSES.contains(&code.shown(at)) || code.shown(at) == "Dir");
        if !is_class {
            return;
        }
        // `File.new`, `File::new`, `File&.new`
        let is_joint = |at: &usize| matches!(code.kind(*at), Some(Kind::Sign(b'.' | b':' | b'&')));
        let member = at + 1 + (at + 1..).take_while(is_joint).count();
        let is_named = member > at + 1 && code.kind(member) == Some(Kind::Word);
        if is_named && code.shown(at) == "File" && code.shown(member) == "new" {
            self.opens(member, 1);
        }
        let is_used = is_opaque || code.names_any(&["new"]);
        self.any_if(is_used && !is_named, at);
    }

    /// Returns whether a member is of a class or module of Ruby over files.
    fn is_of_class(&self, at: usize) -> bool {
        let of = at.checked_sub(2).map_or("", |of| self.code.shown(of));
        RUBY_CLASSES.contains(&of) || matches!(of, "Dir" | "FileUtils" | "Pathname" | ")")
    }

    /// Returns the owner of a function.
    fn base(&self, at: usize) -> Base {
        let code = self.code;
        if code.language != Role::Python || !code.is_member(at) || at < 2 {
            return Base::Function;
        }
        if PYTHON_PATH_MODULES.contains(&code.shown(at - 2)) {
            return Base::Function;
        }
        // `Path("x").touch()`, `Path(r"x").touch()`
        let opens = [4, 5].into_iter().filter_map(|back| at.checked_sub(back));
        let mut paths = opens.filter(|open| {
            code.is_sign(at - 2, b')')
                && code.is_sign(*open, b'(')
                && *open > 0
                && code.shown(*open - 1) == "Path"
        });
        paths.next().map_or(Base::Other, Base::Path)
    }

    /// Reads a call that changes the files of some of its arguments.
    fn call(&mut self, at: usize, deeds: &[(Touch, Which)]) {
        let code = self.code;
        if !self.is_called(at) {
            let is_any = !code.is_only_bound(at);
            return self.any_if(is_any, at);
        }
        match self.base(at) {
            Base::Function => {}
            Base::Path(open) => return self.call_of_path(at, open, deeds),
            // The item of a list, or a file under another name of its module.
            Base::Other => {
                let argument = code.argument(at + 1, 0);
                let removes = deeds.iter().all(|(touch, _)| *touch == Touch::Remove);
                let is_literal = removes && matches!(argument, Argument::Literal(..));
                return match is_literal {
                    true => self.touches(at, Touch::Remove, argument),
                    false => self.any(at),
                };
            }
        }
        for (touch, which) in deeds {
            match *which {
                Which::At(index) => self.touches(at, *touch, code.argument(at + 1, index)),
                Which::From(first) => self.touches_each(at, *touch, first),
            }
        }
    }

    fn touches_each(&mut self, at: usize, touch: Touch, first: usize) {
        let mut index = first;
        loop {
            let argument = self.code.argument(at + 1, index);
            if index > first && argument == Argument::Absent {
                return;
            }
            self.touches(at, touch, argument);
            if !matches!(argument, Argument::Literal(..)) {
                return;
            }
            index += 1;
        }
    }

    /// Reads a method of `Path("x")`.
    fn call_of_path(&mut self, at: usize, open: usize, deeds: &[(Touch, Which)]) {
        let path = self.code.argument(open, 0);
        let is_move = deeds.len() > 1;
        let touch = match self.code.shown(at) {
            "mkdir" | "touch" => Touch::Write,
            "chmod" | "lchmod" => Touch::Change,
            "unlink" | "rmdir" => Touch::Remove,
            _ if is_move => Touch::Take,
            _ => return self.any(at),
        };
        self.touches(at, touch, path);
        if is_move {
            self.touches(at, Touch::Write, self.code.argument(at + 1, 0));
        }
    }

    fn is_called(&self, at: usize) -> bool {
        let has_parentheses = self.code.is_sign(at + 1, b'(');
        let is_bare = match self.code.language {
            Role::Perl => !matches!(self.code.kind(at + 1), None | Some(Kind::Sign(b';' | b')'))),
            Role::Ruby => self.code.kind(at + 1) == Some(Kind::Text),
            _ => false,
        };
        has_parentheses || is_bare
    }

    /// Notes what happens to the file of an argument.
    fn touches(&mut self, at: usize, touch: Touch, argument: Argument) {
        match argument {
            Argument::Literal(start, end) => {
                // A stream of PHP is something other than a file.
                let is_stream = self.code.text.get(start..end).unwrap_or(&[]).starts_with(b"php:");
                if !(is_stream && self.code.language == Role::Php) {
                    self.found.push(Finding::new(start, end, What::Touches(touch)));
                }
            }
            Argument::Absent | Argument::Number | Argument::Hidden if touch == Touch::Change => {
                let Some(token) = self.code.tokens.get(at) else { return };
                self.found.push(Finding::new(token.start, token.end, What::TouchesAny(touch)));
            }
            Argument::Absent | Argument::Number | Argument::Hidden => self.any(at),
        }
    }

    /// Reads a call that opens a file in a mode.
    fn opens(&mut self, at: usize, mode: usize) {
        let code = self.code;
        let (file, open, index) = match self.base(at) {
            Base::Function => (code.argument(at + 1, 0), at + 1, mode),
            Base::Path(open) => (code.argument(open, 0), at + 1, 0),
            Base::Other if self.reads_only(at + 1, 0) => return,
            Base::Other => return self.any(at),
        };
        if !self.is_called(at) {
            // A parameter or a class of that name is something else.
            let is_any = !code.is_only_bound(at);
            return self.any_if(is_any, at);
        }
        // A name with a `|` is a command.
        let is_command = code.language == Role::Ruby
            && !(code.is_member(at) && at >= 2 && code.shown(at - 2) == "File")
            && file == Argument::Hidden;
        let is_os = code.language == Role::Python && at >= 2 && code.shown(at - 2) == "os";
        let reads = match is_os {
            true => self.has_reading_flags(open),
            false => self.reads_only(open, index),
        };
        if is_command || (!reads && code.names_any(&["dir_fd", "opener"])) {
            return self.any(at);
        }
        if !reads {
            self.touches(at, Touch::Write, file);
        }
    }

    /// Returns whether the mode of a call certainly only reads.
    fn reads_only(&self, open: usize, index: usize) -> bool {
        let code = self.code;
        let is_shown = |close: usize| !code.is_spread(open, close);
        if code.is_sign(open, b'(') && !code.close(open).is_some_and(is_shown) {
            return false;
        }
        let mut index = index;
        while let Some(mut place) = code.place(open, index) {
            let is_named = code.language == Role::Python && code.is_sign(place + 1, b'=');
            if is_named && code.shown(place) != "mode" {
                index += 1;
                continue;
            }
            place += 2 * usize::from(is_named);
            let mode = code.literal(place).filter(|_| {
                code.is_last_of(place, code.is_sign(open, b'('))
                    || (code.language == Role::Ruby && code.is_sign(place + 1, b'{'))
            });
            return mode.is_some_and(|(start, end)| is_reading(code.text.get(start..end)));
        }
        true
    }

    /// Returns whether the flags of `os.open` only read.
    fn has_reading_flags(&self, open: usize) -> bool {
        let code = self.code;
        let first = code.place(open, 1).filter(|first| *first < code.tokens.len());
        let Some(first) = first else { return false };
        let end = code.place(open, 2).map_or(code.tokens.len(), |next| next - 1);
        let flags = (first..end).take_while(|at| !code.is_sign(*at, b')'));
        flags.into_iter().all(|at| match code.shown(at) {
            "0" | "os" | "." | "|" => true,
            word => matches!(word, "O_RDONLY" | "O_CLOEXEC" | "O_NOFOLLOW" | "O_DIRECTORY"),
        })
    }

    /// Reads `open(F, ">", "x")`, and the like.
    fn opened_by_perl(&mut self, at: usize) {
        let code = self.code;
        let shown = |(start, end): (usize, usize)| code.text.get(start..end).unwrap_or(&[]);
        let second = code.argument(at + 1, 1);
        match (second, code.argument(at + 1, 2)) {
            (Argument::Literal(start, end), Argument::Absent) => {
                let name = shown((start, end));
                let is_sign = |byte: &u8| matches!(byte, b'>' | b'+' | b'<' | b' ' | b'\t');
                let skipped = name.iter().take_while(|byte| is_sign(byte)).count();
                let (mode, file) = name.split_at_checked(skipped).unwrap_or((name, b""));
                if file.iter().any(|byte| matches!(byte, b'|' | b'&' | b'=')) {
                    self.any(at);
                } else if mode.iter().any(|byte| matches!(byte, b'>' | b'+')) {
                    self.touches(at, Touch::Write, Argument::Literal(start + skipped, end));
                }
            }
            (Argument::Literal(start, end), file) => {
                let mode = shown((start, end));
                if mode.iter().any(|byte| matches!(byte, b'|' | b'&' | b'=')) {
                    self.any(at);
                } else if mode.iter().any(|byte| matches!(byte, b'>' | b'+')) {
                    self.touches(at, Touch::Write, file);
                }
            }
            _ => self.any(at),
        }
    }

    /// Reads a word of a language without a list of harmless words.
    fn unread(&mut self, at: usize) {
        let code = self.code;
        let word = code.shown(at).to_ascii_lowercase();
        let is_printed = match word.as_str() {
            // `io.write(…)`
            "write" if at >= 2 && code.is_member(at) => code.shown(at - 2) == "io",
            // `Write-Host`
            "write" => {
                code.is_sign(at + 1, b'-')
                    && matches!(code.shown(at + 2), "Host" | "Output" | "Error" | "Warning")
            }
            _ => false,
        };
        if is_printed {
            return;
        }
        if word == "open" && code.is_sign(at + 1, b'(') {
            return match self.reads_only(at + 1, 1) {
                true => {}
                false => self.touches(at, Touch::Write, code.argument(at + 1, 0)),
            };
        }
        let is_any = reads::is_any(code, at)
            || CODE_WORDS.contains(&word.as_str())
            || CODE_PARTS.iter().any(|part| word.contains(part));
        self.any_if(is_any, at);
    }
}

/// Returns whether a member of `shutil` is read with its own word, or changes nothing.
fn is_known(word: &str) -> bool {
    deeds(Role::Python, word).is_some()
        || only_reads(Role::Python, word)
        || matches!(word, "which" | "disk_usage" | "get_terminal_size")
}

/// Returns whether a mode only reads: `r`, `rb`, `rt`, `rs`, with an encoding or a compression.
fn is_reading(mode: Option<&[u8]>) -> bool {
    let mode = mode.unwrap_or(b"w");
    let end = mode.iter().position(|byte| matches!(byte, b':' | b'|')).unwrap_or(mode.len());
    let letters = mode.get(..end).unwrap_or(mode);
    letters.contains(&b'r')
        && letters.iter().all(|byte| matches!(byte, b'r' | b'b' | b't' | b's' | b'U'))
}
