//! `${…}`, and subscripts.

use super::byte::is_name_byte;
use super::parser::{Parsed, Parser, is_name};
use crate::span::Span;
use crate::syntax::{Operation, Parameter, Part, Word};

impl Parser<'_> {
    /// Reads `${…}`.
    pub(super) fn braced_parameter(&mut self, in_double: bool) -> Parsed<Part> {
        self.nested(|parser| {
            let start = parser.at;
            parser.at += 2;
            let length = parser.byte() == b'#' && parser.is_prefix();
            let indirect = parser.byte() == b'!' && parser.is_prefix();
            if length || indirect {
                parser.at += 1;
            }
            let name = parser.parameter_name()?;
            let named = parser.slice(name.start as usize, name.end as usize);
            let subscript = match parser.byte() {
                b'[' if is_name(named) => Some(parser.subscript()?),
                _ => None,
            };
            let operation = parser.operation(in_double, indirect)?;
            Ok(Part::Parameter(Box::new(Parameter {
                name,
                indirect,
                length,
                subscript,
                operation,
                span: parser.span(start),
            })))
        })
    }

    /// Returns whether the `#` or `!` at this point is a prefix of a name rather than a name.
    fn is_prefix(&self) -> bool {
        match self.ahead(1) {
            byte if is_name_byte(byte) => true,
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => self.ahead(2) == b'}',
            _ => false,
        }
    }

    fn parameter_name(&mut self) -> Parsed<Span> {
        let start = self.at;
        while is_name_byte(self.byte()) {
            self.at += 1;
        }
        if self.at == start {
            match self.byte() {
                b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => self.at += 1,
                _ => return self.fail("the name of a parameter is missing"),
            }
        }
        Ok(self.span(start))
    }

    /// Reads the operator, its word, and the `}`.
    fn operation(&mut self, in_double: bool, indirect: bool) -> Parsed<Option<Operation>> {
        if self.byte() == b'}' {
            self.at += 1;
            return Ok(None);
        }
        if self.byte() == b':' && matches!(self.ahead(1), b'-' | b'=' | b'?' | b'+') {
            self.at += 1;
        }
        let operator = self.byte();
        let is_known = match operator {
            b'-' | b'=' | b'?' | b'+' | b':' | b'#' | b'%' | b'/' | b'^' | b',' | b'~' | b'@' => {
                true
            }
            b'*' => indirect,
            _ => false,
        };
        if self.at_end() || !is_known {
            return self.fail("an unknown expansion of a parameter");
        }
        self.at += 1;
        let is_pattern = matches!(operator, b'#' | b'%' | b'/' | b'^' | b',' | b'~');
        // In quotes, bash runs process substitutions in messages and patterns, but not in defaults.
        let runs_processes = !in_double || is_pattern || operator == b'?';
        let parts = self.braced_text(in_double, is_pattern, runs_processes)?;
        Ok(Some(Operation { operator, parts }))
    }

    /// Reads text up to the first `}` outside of quotes and expansions.
    fn braced_text(
        &mut self,
        in_double: bool,
        is_pattern: bool,
        runs_processes: bool,
    ) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        let mut text = self.at;
        let mut closing = 0;
        let plain: fn(Span) -> Part = if in_double { Part::Quoted } else { Part::Bare };
        loop {
            self.burn()?;
            let byte = self.byte();
            if self.at_end() {
                return self.fail("a `}` is missing");
            }
            if byte == b'\'' && in_double && is_pattern {
                return self.fail("a `'` in a pattern inside double quotes");
            }
            // In double quotes a `'` is literal, but bash still looks for its pair.
            if byte == b'\'' && in_double && self.at != closing {
                closing = self.plain_quote()?;
            }
            let is_special = match byte {
                b'}' | b'"' | b'$' | b'`' | b'\\' => true,
                b'\'' | b'*' | b'?' | b'[' => !in_double,
                b'<' | b'>' => self.begins_process(),
                _ => false,
            };
            if !is_special {
                self.at += 1;
                continue;
            }
            self.flush(&mut parts, text, plain);
            match byte {
                b'}' => {
                    self.at += 1;
                    return Ok(parts);
                }
                b'"' if self.in_here_document => {
                    return self.fail("a `\"` in an expansion inside a here-document");
                }
                b'"' => parts.push(self.double_quoted()?),
                b'\'' => parts.push(self.single_quoted()?),
                b'$' => parts.push(self.dollar(in_double)?),
                b'`' => parts.push(self.backtick(in_double)?),
                b'\\' => parts.extend(self.escaped()?),
                b'<' | b'>' => {
                    // Bash looks for its end even where the process does not run.
                    let start = self.at;
                    let process = self.process()?;
                    parts.push(match runs_processes {
                        true => process,
                        false => Part::Quoted(self.span(start)),
                    });
                    let is_plain = |byte: &u8| !matches!(byte, b'}' | b'\'' | b'"' | b'`' | b'\\');
                    if in_double && !self.slice(start, self.at).iter().all(is_plain) {
                        return self.fail("a quote or `}` in a process inside double quotes");
                    }
                }
                _ => {
                    self.at += 1;
                    parts.push(Part::Glob(Span::new(self.at - 1, self.at)));
                }
            }
            text = self.at;
        }
    }

    /// Returns the position of the `'` that closes the one at this point, if it is the same for
    /// both readings of the text between them, quoted and plain.
    fn plain_quote(&mut self) -> Parsed<usize> {
        let rest = self.slice(self.at + 1, self.end);
        let length = rest.iter().position(|byte| *byte == b'\'').unwrap_or(rest.len());
        let mut inside = rest.get(..length).unwrap_or(rest).iter().copied().peekable();
        while let Some(byte) = inside.next() {
            self.burn()?;
            let begins = match byte {
                b'$' => inside.peek().is_some_and(|next| b"({[".contains(next)),
                b'<' | b'>' => inside.peek() == Some(&b'('),
                byte => b"}\"`\\".contains(&byte),
            };
            if begins {
                return self.fail("a quoted sign in an expansion inside double quotes");
            }
        }
        if length == rest.len() {
            return self.fail("a `'` is not closed");
        }
        Ok(self.at + 1 + length)
    }

    /// Reads `[…]` as a word of its own.
    pub(super) fn subscript_word(&mut self) -> Parsed<Word> {
        let start = self.at;
        let parts = self.subscript()?.into();
        Ok(Word { parts, span: self.span(start) })
    }

    /// Reads `[…]`, whose text is arithmetic or a key.
    fn subscript(&mut self) -> Parsed<Vec<Part>> {
        self.nested(|parser| {
            parser.at += 1;
            let mut parts = Vec::new();
            let mut text = parser.at;
            let mut open = 0usize;
            loop {
                parser.burn()?;
                if parser.at_end() {
                    return parser.fail("a `]` is missing");
                }
                let byte = parser.byte();
                match byte {
                    b'<' | b'>' if parser.begins_process() => {
                        return parser.fail("a process in a subscript");
                    }
                    b'[' => open += 1,
                    b']' => match open.checked_sub(1) {
                        Some(left) => open = left,
                        None => {
                            parser.flush(&mut parts, text, Part::Quoted);
                            parser.at += 1;
                            return Ok(parts);
                        }
                    },
                    b'$' | b'`' | b'\'' | b'"' | b'\\' => {
                        parser.flush(&mut parts, text, Part::Quoted);
                        match byte {
                            b'$' => parts.push(parser.dollar(false)?),
                            b'`' => parts.push(parser.backtick(false)?),
                            b'\'' => parts.push(parser.single_quoted()?),
                            b'"' => parts.push(parser.double_quoted()?),
                            _ => parts.extend(parser.escaped()?),
                        }
                        text = parser.at;
                        continue;
                    }
                    _ => {}
                }
                parser.at += 1;
            }
        })
    }
}
