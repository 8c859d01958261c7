//! Expansions: each word that begins with `$`, and backticks.

use super::byte::is_name_byte;
use super::parser::{Parsed, Parser};
use crate::span::Span;
use crate::syntax::{List, Nested, Parameter, Part};

/// The error after which `((` may still begin two parentheses instead of arithmetic.
const UNBALANCED: &str = "an unexpected bracket in an arithmetic expression";

impl Parser<'_> {
    /// Reads an expansion from its `$` on.
    pub(super) fn dollar(&mut self, in_double: bool) -> Parsed<Part> {
        self.burn()?;
        let start = self.at;
        match self.ahead(1) {
            b'(' if self.ahead(2) == b'(' => self.arithmetic_or_substitution(),
            b'(' => self.substitution(),
            b'[' if !self.is_posix => {
                self.at += 2;
                let parts = self.arithmetic(b"]")?;
                Ok(Part::Arithmetic(parts, self.span(start)))
            }
            b'{' => self.braced_parameter(in_double),
            b'\'' if !in_double && !self.is_posix => self.ansi_quoted(),
            b'"' if !in_double && !self.is_posix => {
                self.at += 1;
                self.double_quoted()
            }
            b'\\' if self.ahead(2) == b'\n' => self.fail("a `$` at the end of a continued line"),
            byte if is_name_byte(byte) && !byte.is_ascii_digit() => {
                self.at += 1;
                while is_name_byte(self.byte()) {
                    self.at += 1;
                }
                Ok(self.plain_parameter(start))
            }
            b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' => {
                self.at += 2;
                Ok(self.plain_parameter(start))
            }
            _ => {
                self.at += 1;
                Ok(Part::Quoted(self.span(start)))
            }
        }
    }

    fn plain_parameter(&self, start: usize) -> Part {
        Part::Parameter(Box::new(Parameter {
            name: self.span(start + 1),
            indirect: false,
            length: false,
            subscript: None,
            operation: None,
            span: self.span(start),
        }))
    }

    /// Reads `$(( … ))`, or `$( ( … ) )` if it turns out to be that.
    fn arithmetic_or_substitution(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.at += 3;
        if let Some(parts) = self.double_parenthesis()? {
            return Ok(Part::Arithmetic(parts, self.span(start)));
        }
        self.at = start;
        self.without_unbalanced(Self::substitution)
    }

    /// Reads an arithmetic expression and its `))`; `None` if a `)` in it closes one of the two
    /// opening parentheses.
    pub(super) fn double_parenthesis(&mut self) -> Parsed<Option<Vec<Part>>> {
        match self.arithmetic(b"))") {
            Ok(parts) => Ok(Some(parts)),
            Err(error) if error.reason == UNBALANCED => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads two parentheses that begin like arithmetic. Bash finds their end by counting
    /// parentheses, and puts a here-document in them elsewhere.
    pub(super) fn without_unbalanced<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let before = self.unbalanced;
        let read = read(self)?;
        if self.unbalanced > before {
            return self
                .fail("a here-document, a comment or a `case` in `((` that is no arithmetic");
        }
        Ok(read)
    }

    fn substitution(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.at += 2;
        let list = self.substituted_list()?;
        Ok(Part::Substitution(list, self.span(start)))
    }

    /// Reads a list and its `)`. Here-documents belong to the list in which they begin.
    pub(super) fn substituted_list(&mut self) -> Parsed<List> {
        if self.follows("\\\n") {
            return self.fail("a `(` at the end of a continued line");
        }
        let outer = std::mem::take(&mut self.pending);
        let in_here_document = std::mem::replace(&mut self.in_here_document, false);
        let in_substitution = std::mem::replace(&mut self.in_substitution, true);
        let list = self.list(&[])?;
        self.in_here_document = in_here_document;
        self.in_substitution = in_substitution;
        if !self.pending.is_empty() {
            return self.fail("a here-document whose body is not inside its substitution");
        }
        self.pending = outer;
        self.closing_parenthesis()?;
        Ok(list)
    }

    /// Reads an arithmetic expression and its end. Its text is `Quoted`: quotes in it do not affect
    /// expansions, but bash ignores parentheses between them.
    pub(super) fn arithmetic(&mut self, end: &[u8]) -> Parsed<Vec<Part>> {
        self.nested(|parser| {
            let mut parts = Vec::new();
            let mut text = parser.at;
            let mut open = 0usize;
            let mut quote = None;
            loop {
                parser.burn()?;
                if parser.at_end() {
                    return parser.fail("the end of an arithmetic expression is missing");
                }
                let byte = parser.byte();
                if open == 0 && parser.slice(parser.at, parser.end).starts_with(end) {
                    parser.flush(&mut parts, text, Part::Quoted);
                    parser.at += end.len();
                    return Ok(parts);
                }
                match byte {
                    b'(' | b')' | b'[' | b']' if quote.is_some() => {
                        return parser.fail("a quoted bracket in an arithmetic expression");
                    }
                    b'(' => open += 1,
                    b'[' if end == b"]" => open += 1,
                    b')' | b']' if byte == b')' || end == b"]" => {
                        let Some(left) = open.checked_sub(1) else {
                            return parser.fail(UNBALANCED);
                        };
                        open = left;
                    }
                    b'\'' | b'"' => {
                        quote = match quote {
                            Some(open) if open == byte => None,
                            None => Some(byte),
                            kept => kept,
                        };
                    }
                    b'$' if matches!(parser.ahead(1), b'\'' | b'"') => {
                        return parser.fail("a `$` before a quote in an arithmetic expression");
                    }
                    b'$' | b'`' => {
                        let is_plain =
                            byte == b'$' && !matches!(parser.ahead(1), b'(' | b'{' | b'[');
                        if quote == Some(b'\'') && !is_plain {
                            return parser.fail("a quoted expansion in an arithmetic expression");
                        }
                        parser.flush(&mut parts, text, Part::Quoted);
                        parts.push(match byte {
                            b'$' => parser.dollar(true)?,
                            _ => parser.backtick(true)?,
                        });
                        text = parser.at;
                        continue;
                    }
                    b'\\' if quote != Some(b'\'') => parser.at += 1,
                    _ => {}
                }
                parser.at = (parser.at + 1).min(parser.end);
            }
        })
    }

    /// Reads `` `…` ``. Its backslashes are removed before it is parsed.
    pub(super) fn backtick(&mut self, in_double: bool) -> Parsed<Part> {
        let start = self.at;
        self.at += 1;
        let mut text = Vec::new();
        let mut runs = vec![(0, Span::new(self.at, self.at).start)];
        loop {
            self.burn()?;
            match self.byte() {
                _ if self.at_end() => return self.fail("a backtick is not closed"),
                b'`' => break,
                b'\\' if matches!(self.ahead(1), b'`' | b'\\' | b'$') => {
                    self.at += 1;
                    runs.push((Span::new(0, text.len()).end, Span::new(0, self.at).end));
                    text.push(self.byte());
                }
                b'\\' if in_double && self.ahead(1) == b'"' => {
                    return self.fail("an escaped quote in backticks inside double quotes");
                }
                byte => text.push(byte),
            }
            self.at += 1;
        }
        self.at += 1;
        // A backslash is one byte, so the remaining text is still UTF-8.
        let Ok(text) = String::from_utf8(text) else {
            return self.fail("broken UTF-8");
        };
        let script = self.nested(|parser| {
            let mut budget = parser.budget;
            let script = Parser::script(&text, &mut budget, parser.is_posix);
            parser.budget.fuel = budget.fuel;
            script.map_err(|error| super::parser::ParseError {
                at: Span::new(start, start).start,
                reason: error.reason,
            })
        })?;
        Ok(Part::Backtick(Box::new(Nested { text, runs, script, span: self.span(start) })))
    }
}
