//! Compound commands: groups, branches, loops, `[[ ]]` and `(( ))`.

use super::parser::{Parsed, Parser, is_name};
use crate::span::Span;
use crate::syntax::{Kind, List, Word};

impl Parser<'_> {
    /// Reads a compound command without its redirections, if one follows.
    pub(super) fn compound(&mut self) -> Parsed<Option<Kind>> {
        let word = self.peek_keyword()?;
        self.compound_of(word)
    }

    /// The same, of the word that follows.
    pub(super) fn compound_of(&mut self, word: &[u8]) -> Parsed<Option<Kind>> {
        if self.byte() == b'(' {
            return self.parenthesis().map(Some);
        }
        let length = word.len();
        let kind = match word {
            b"{" => {
                self.at += length;
                let body = self.body(&[b"}"])?;
                self.keyword(b"}")?;
                Kind::Group(body)
            }
            b"if" => {
                self.at += length;
                Kind::If(self.branches()?)
            }
            b"while" | b"until" => {
                self.at += length;
                let condition = self.body(&[b"do"])?;
                self.keyword(b"do")?;
                let body = self.body(&[b"done"])?;
                self.keyword(b"done")?;
                Kind::While { condition, body }
            }
            b"for" | b"select" if word == b"for" || !self.is_posix => {
                self.at += length;
                self.for_loop(word == b"for")?
            }
            b"case" => {
                self.at += length;
                self.case()?
            }
            b"[[" if !self.is_posix => {
                self.at += length;
                self.condition()?
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    /// Reads `(( … ))` or `( … )`.
    fn parenthesis(&mut self) -> Parsed<Kind> {
        if self.ahead(1) == b'(' && !self.is_posix {
            let start = self.at;
            self.at += 2;
            if let Some(parts) = self.double_parenthesis()? {
                return Ok(Kind::Arithmetic(Word { parts: parts.into(), span: self.span(start) }));
            }
            self.at = start;
            return self.without_unbalanced(Self::subshell);
        }
        self.subshell()
    }

    fn subshell(&mut self) -> Parsed<Kind> {
        self.at += 1;
        let body = self.body(&[])?;
        self.closing_parenthesis()?;
        Ok(Kind::Subshell(body))
    }

    /// Reads the required `)` after a list.
    pub(super) fn closing_parenthesis(&mut self) -> Parsed<()> {
        if self.byte() != b')' {
            return self.fail("a `)` is missing");
        }
        self.at += 1;
        Ok(())
    }

    fn branches(&mut self) -> Parsed<Vec<List>> {
        let mut lists = vec![self.body(&[b"then"])?];
        self.keyword(b"then")?;
        loop {
            self.burn()?;
            lists.push(self.body(&[b"elif", b"else", b"fi"])?);
            match self.peek_keyword()? {
                b"elif" => {
                    self.at += 4;
                    lists.push(self.body(&[b"then"])?);
                    self.keyword(b"then")?;
                }
                b"else" => {
                    self.at += 4;
                    lists.push(self.body(&[b"fi"])?);
                    self.keyword(b"fi")?;
                    return Ok(lists);
                }
                _ => {
                    self.keyword(b"fi")?;
                    return Ok(lists);
                }
            }
        }
    }

    fn for_loop(&mut self, may_be_arithmetic: bool) -> Parsed<Kind> {
        self.skip_blanks();
        if may_be_arithmetic && !self.is_posix && self.follows("((") {
            let start = self.at;
            self.at += 2;
            let parts = self.arithmetic(b"))")?.into();
            let header = Word { parts, span: self.span(start) };
            let body = self.loop_body()?;
            return Ok(Kind::ForArithmetic { header, body });
        }
        let name = self.peek_word();
        if !is_name(name) {
            return self.fail("the variable of a loop is missing");
        }
        let variable = Span::new(self.at, self.at + name.len());
        self.at += name.len();
        self.skip_newlines()?;
        let words = if self.peek_keyword()? == b"in" {
            self.at += 2;
            let mut words = Vec::new();
            loop {
                self.burn()?;
                self.skip_blanks();
                match self.word()? {
                    Some(word) => words.push(word),
                    None => break Some(words),
                }
            }
        } else {
            None
        };
        let body = self.loop_body()?;
        Ok(Kind::For { variable, words, body })
    }

    /// Reads `; do … done` or `; { … }`.
    fn loop_body(&mut self) -> Parsed<List> {
        self.skip_blanks();
        if self.byte() == b';' {
            self.at += 1;
        }
        self.skip_newlines()?;
        let (open, close): (&[u8], &[u8]) =
            if self.peek_keyword()? == b"{" { (b"{", b"}") } else { (b"do", b"done") };
        self.keyword(open)?;
        let body = self.body(&[close])?;
        self.keyword(close)?;
        Ok(body)
    }

    fn case(&mut self) -> Parsed<Kind> {
        self.unbalanced += 1;
        self.skip_blanks();
        let word = Box::new(self.word_or("the word of `case` is missing")?);
        self.keyword(b"in")?;
        let (mut patterns, mut bodies) = (Vec::new(), Vec::new());
        loop {
            self.burn()?;
            self.skip_newlines()?;
            if self.peek_keyword()? == b"esac" {
                self.at += 4;
                return Ok(Kind::Case { word, patterns, bodies });
            }
            if self.byte() == b'(' {
                self.at += 1;
            }
            loop {
                self.burn()?;
                self.skip_blanks();
                patterns.push(self.word_or("a pattern of `case` is missing")?);
                self.skip_blanks();
                if self.byte() != b'|' {
                    break;
                }
                self.at += 1;
            }
            self.closing_parenthesis()?;
            bodies.push(self.list(&[b"esac"])?);
            if self.follows(";;&") {
                self.at += 3;
            } else if self.follows(";;") || self.follows(";&") {
                self.at += 2;
            }
        }
    }

    /// Reads the operands and operators of `[[ … ]]`. Parentheses and `<`, `>`, `&`, `|` only join
    /// them.
    fn condition(&mut self) -> Parsed<Kind> {
        let mut words = Vec::new();
        loop {
            self.burn()?;
            self.skip_newlines()?;
            if self.at_end() {
                return self.fail("the `]]` of a condition is missing");
            }
            if self.peek_keyword()? == b"]]" {
                self.at += 2;
                return if words.is_empty() {
                    self.fail("an empty condition")
                } else {
                    Ok(Kind::Condition(words))
                };
            }
            let is_process = matches!(self.byte(), b'<' | b'>') && self.ahead(1) == b'(';
            if !is_process && matches!(self.byte(), b'<' | b'>' | b'(' | b')' | b'&' | b'|') {
                self.at += 1;
                continue;
            }
            words.push(self.word_or("an unexpected token in a condition")?);
        }
    }
}
