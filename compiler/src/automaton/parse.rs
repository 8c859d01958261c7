//! Patterns as Python's `re` reads them.
//!
//! This follows Python and not the `regex` crate, whose syntax differs in silence: `[a&&b]`,
//! `[[:alpha:]]`, `a{`, `a*+`, a `]` that comes first in a class, and others.

use std::ops::Range;

use super::escape::{Class, Element, escape};
use super::fault::{RegexError, RegexFault};
use super::syntax::{ByteSet, Form, Look, Node};

/// The most groups inside each other.
const DEPTH_MAX: usize = 64;
/// The bytes of the longest pattern.
const PATTERN_BYTES_MAX: usize = 8 << 10;
/// The largest count; each repetition of a byte needs a state.
const COUNT_MAX: u32 = 4_096;

/// The flags in force at a part of a pattern.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    ignores_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
}

/// The kind of the part before a repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Look,
    Repeat,
    Other,
}

struct Parser<'p> {
    pattern: &'p str,
    at: usize,
    names: Vec<&'p str>,
    depth: usize,
}

type Parsed<T> = Result<T, RegexError>;

/// Parses a pattern.
pub(super) fn parse(pattern: &str) -> Parsed<Node> {
    let mut parser = Parser { pattern, at: 0, names: Vec::new(), depth: 0 };
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(error(0..pattern.len(), RegexFault::Length));
    }
    let flags = parser.global_flags()?;
    let node = parser.alternation(flags)?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(error(parser.at..parser.at + 1, RegexFault::Parenthesis)),
    }
}

fn error(at: Range<usize>, fault: RegexFault) -> RegexError {
    RegexError { at, fault }
}

impl<'p> Parser<'p> {
    fn rest(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take_if(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn take_while(&mut self, accepts: impl Fn(char) -> bool) -> &'p str {
        let rest = self.rest();
        let length = rest.find(|c| !accepts(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Reads the flags and comments at the start.
    fn global_flags(&mut self) -> Parsed<Flags> {
        let mut flags = Flags::default();
        loop {
            self.skip_trivia(flags);
            let start = self.at;
            if self.skip_comment()? {
                continue;
            }
            let is_flags = self.take_if("(?")
                && !self.take_while(|c| c.is_ascii_alphabetic()).is_empty()
                && self.take_if(")");
            let end = std::mem::replace(&mut self.at, start);
            if !is_flags {
                return Ok(flags);
            }
            self.at += "(?".len();
            self.set_flags(start, &mut flags, true)?;
            self.at = end;
        }
    }

    /// Reads letters of flags and sets them to `value`.
    fn set_flags(&mut self, start: usize, flags: &mut Flags, value: bool) -> Parsed<()> {
        let letters = self.take_while(|c| c.is_ascii_alphabetic());
        for letter in letters.chars() {
            match letter {
                'i' => flags.ignores_case = value,
                'm' => flags.multi_line = value,
                's' => flags.dot_all = value,
                'x' => flags.verbose = value,
                'a' if value => {}
                _ => return Err(error(start..self.at, RegexFault::Flags)),
            }
        }
        Ok(())
    }

    /// Skips the blanks and comments of `(?x)`.
    fn skip_trivia(&mut self, flags: Flags) {
        if !flags.verbose {
            return;
        }
        loop {
            self.take_while(|c| " \t\n\r\x0b\x0c".contains(c));
            if !self.take_if("#") {
                break;
            }
            self.take_while(|c| c != '\n');
        }
    }

    /// Skips a `(?#…)`.
    fn skip_comment(&mut self) -> Parsed<bool> {
        let start = self.at;
        if !self.take_if("(?#") {
            return Ok(false);
        }
        self.take_while(|c| c != ')');
        if self.take_if(")") { Ok(true) } else { Err(error(start..self.at, RegexFault::OpenGroup)) }
    }

    fn alternation(&mut self, flags: Flags) -> Parsed<Node> {
        let start = self.at;
        let mut branches = vec![self.sequence(flags)?];
        while self.take_if("|") {
            branches.push(self.sequence(flags)?);
        }
        if branches.len() == 1 {
            return Ok(branches.remove(0));
        }
        Ok(Node::new(start..self.at, Form::Alternate(branches)))
    }

    fn sequence(&mut self, flags: Flags) -> Parsed<Node> {
        let begin = self.at;
        let mut parts: Vec<Node> = Vec::new();
        let mut before = Before::Nothing;
        loop {
            self.skip_trivia(flags);
            if self.skip_comment()? {
                continue;
            }
            let start = self.at;
            let Some(next) = self.peek().filter(|next| !"|)".contains(*next)) else { break };
            if let Some((min, max)) = self.repetition(next)? {
                let fault = match before {
                    Before::Nothing | Before::Look => Some(RegexFault::NothingToRepeat),
                    Before::Repeat => Some(RegexFault::MultipleRepeat),
                    Before::Other => None,
                };
                let repeated = parts.pop().filter(|_| fault.is_none());
                let fault = fault.unwrap_or(RegexFault::NothingToRepeat);
                let node = repeated.ok_or_else(|| error(start..self.at, fault))?;
                // A lazy repetition matches the same texts.
                if !self.take_if("?") && self.take_if("+") {
                    return Err(error(start..self.at, RegexFault::Atomic));
                }
                let at = node.at.start..self.at;
                parts.push(Node::new(at, Form::Repeat { node: Box::new(node), min, max }));
                before = Before::Repeat;
                continue;
            }
            let node = self.item(flags)?;
            before = match node.form {
                Form::Look(_) if !self.is_group(start) => Before::Look,
                _ => Before::Other,
            };
            parts.push(node);
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        Ok(Node::new(begin..self.at, Form::Concat(parts)))
    }

    fn is_group(&self, start: usize) -> bool {
        self.pattern.get(start..).is_some_and(|rest| rest.starts_with('('))
    }

    /// Reads `*`, `+`, `?` or a count, without the `?` of a lazy one.
    fn repetition(&mut self, next: char) -> Parsed<Option<(u32, Option<u32>)>> {
        let start = self.at;
        let counts = match next {
            '*' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            '{' => return self.counts(start),
            _ => return Ok(None),
        };
        self.take();
        Ok(Some(counts))
    }

    /// Reads a count in braces; anything else in braces is text.
    fn counts(&mut self, start: usize) -> Parsed<Option<(u32, Option<u32>)>> {
        self.take();
        let is_digit = |c: char| c.is_ascii_digit();
        let low = self.take_while(is_digit);
        let has_comma = self.take_if(",");
        let high = if has_comma { self.take_while(is_digit) } else { low };
        if !self.take_if("}") || (low.is_empty() && !has_comma) {
            self.at = start;
            return Ok(None);
        }
        let at = start..self.at;
        let value = |digits: &str| match digits.parse() {
            Ok(value) if value <= COUNT_MAX => Ok(value),
            _ => Err(error(at.clone(), RegexFault::LargeCount)),
        };
        let min = if low.is_empty() { 0 } else { value(low)? };
        let max = if high.is_empty() { None } else { Some(value(high)?) };
        if max.is_some_and(|max| max < min) {
            return Err(error(at, RegexFault::Range));
        }
        Ok(Some((min, max)))
    }

    /// Reads one part, without a repetition after it.
    fn item(&mut self, flags: Flags) -> Parsed<Node> {
        let start = self.at;
        let next = self.take().unwrap_or_default();
        let form = match next {
            '(' => return self.group(start, flags),
            '[' => self.class(start, flags)?,
            '.' if flags.dot_all => Form::Set(ByteSet::ALL),
            '.' => Form::Set(ByteSet::NEWLINE.not()),
            '^' if flags.multi_line => Form::Look(Look::StartLine),
            '^' => Form::Look(Look::Start),
            '$' if flags.multi_line => Form::Look(Look::EndLine),
            '$' => Form::Look(Look::FinalEnd),
            '\\' => match self.escape(start, false)? {
                Element::Character(character) => self.literal(start, character, flags)?,
                Element::Set(set) => Form::Set(set),
                Element::Look(look) => Form::Look(look),
            },
            character => self.literal(start, character, flags)?,
        };
        Ok(Node::new(start..self.at, form))
    }

    fn literal(&self, start: usize, character: char, flags: Flags) -> Parsed<Form> {
        let mut class = Class::default();
        class.add(Element::Character(character));
        let at = start..self.at;
        class.form(at.clone(), false, flags.ignores_case).map_err(|fault| error(at, fault))
    }

    fn escape(&mut self, start: usize, in_class: bool) -> Parsed<Element> {
        match escape(self.rest(), in_class) {
            Ok((element, length)) => {
                self.at += length;
                Ok(element)
            }
            Err(fault) => {
                // `\xe9` and `\351` have three signs after the `\`.
                let length = if fault == RegexFault::ByteOrCharacter { 3 } else { 1 };
                (0..length).for_each(|_| _ = self.take());
                Err(error(start..self.at, fault))
            }
        }
    }

    fn class(&mut self, start: usize, flags: Flags) -> Parsed<Form> {
        let mut class = Class::default();
        let is_negated = self.take_if("^");
        let mut is_first = true;
        loop {
            let from = self.at;
            // A `]` that comes first means itself.
            if !is_first && self.take_if("]") {
                break;
            }
            is_first = false;
            let low = self.class_element(start)?;
            let dash = self.at;
            if !self.take_if("-") {
                class.add(low);
                continue;
            }
            if self.rest().starts_with(']') {
                self.at = dash;
                class.add(low);
                class.add(self.class_element(start)?);
                continue;
            }
            let high = self.class_element(start)?;
            match (low, high) {
                (Element::Character(low), Element::Character(high)) if low <= high => {
                    class.add_range(low, high);
                }
                _ => return Err(error(from..self.at, RegexFault::Range)),
            }
        }
        let at = start..self.at;
        class.form(at.clone(), is_negated, flags.ignores_case).map_err(|fault| error(at, fault))
    }

    fn class_element(&mut self, start: usize) -> Parsed<Element> {
        let from = self.at;
        match self.take() {
            None => Err(error(start..self.at, RegexFault::OpenClass)),
            Some('\\') => self.escape(from, true),
            Some(character) => Ok(Element::Character(character)),
        }
    }

    /// Reads a group after its parenthesis.
    fn group(&mut self, start: usize, mut flags: Flags) -> Parsed<Node> {
        let unsupported = if self.take_if("?") { self.kind(start, &mut flags)? } else { None };
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(error(start..self.at, RegexFault::Depth));
        }
        let inside = self.at;
        let node = self.alternation(flags)?;
        self.depth -= 1;
        let inside = self.pattern.get(inside..self.at).unwrap_or_default();
        if !self.take_if(")") {
            return Err(error(start..self.at, RegexFault::OpenGroup));
        }
        match unsupported {
            None => Ok(Node::new(start..self.at, node.form)),
            Some(fault) => Err(error(
                start..self.at,
                match fault {
                    RegexFault::NegativeLookahead if inside == r"\w" => RegexFault::NotBeforeWord,
                    RegexFault::NegativeLookbehind if inside == r"\w" => RegexFault::NotAfterWord,
                    fault => fault,
                },
            )),
        }
    }

    /// Reads the kind of a group after `(?`; returns the fault of one that is not supported, whose
    /// end is still to be found.
    fn kind(&mut self, start: usize, flags: &mut Flags) -> Parsed<Option<RegexFault>> {
        let kinds = [
            (":", None),
            ("=", Some(RegexFault::Lookahead)),
            ("!", Some(RegexFault::NegativeLookahead)),
            ("<=", Some(RegexFault::Lookbehind)),
            ("<!", Some(RegexFault::NegativeLookbehind)),
            (">", Some(RegexFault::Atomic)),
        ];
        if let Some((_, fault)) = kinds.into_iter().find(|(sign, _)| self.take_if(sign)) {
            return Ok(fault);
        }
        if self.take_if("P<") {
            return self.name(start).map(|()| None);
        }
        if self.take_if("P=") || self.take_if("(") {
            self.take_while(|c| c != ')');
            self.take();
            return Err(error(start..self.at, RegexFault::Backreference));
        }
        match self.peek() {
            Some('-' | 'a'..='z' | 'A'..='Z') if !self.rest().starts_with('P') => {}
            _ => {
                self.take();
                return Err(error(start..self.at, RegexFault::Group));
            }
        }
        let on = self.at;
        self.set_flags(start, flags, true)?;
        let on = self.pattern.get(on..self.at).unwrap_or_default();
        if self.peek() == Some(')') {
            self.take();
            return Err(error(start..self.at, RegexFault::LateFlags));
        }
        if self.take_if("-") {
            let off = self.at;
            self.set_flags(start, flags, false)?;
            let off = self.pattern.get(off..self.at).unwrap_or_default();
            if off.is_empty() || off.chars().any(|letter| on.contains(letter)) {
                return Err(error(start..self.at, RegexFault::Flags));
            }
        }
        if self.take_if(":") { Ok(None) } else { Err(error(start..self.at, RegexFault::Flags)) }
    }

    /// Reads the name of a group after `(?P<`.
    fn name(&mut self, start: usize) -> Parsed<()> {
        let from = self.at;
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_valid = name.starts_with(|c: char| !c.is_ascii_digit())
            && self.take_if(">")
            && !self.names.contains(&name);
        if !is_valid {
            return Err(error(start..self.at.max(from), RegexFault::GroupName));
        }
        self.names.push(name);
        Ok(())
    }
}
