//! The rules of Codex: Starlark of which literal calls alone are read, and nothing is run.

use crate::text::printable;

/// The most calls of a file.
const CALLS_MAX: usize = 2000;
/// The deepest nesting of lists.
const DEPTH_MAX: usize = 4;

/// A call of a function, with the line on which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Called {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The name of the function.
    pub(crate) name: String,
    /// Its arguments by name, in the order of the file.
    pub(crate) arguments: Vec<(String, Literal)>,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Literal>),
}

/// Reads a file of calls with literal arguments.
///
/// # Errors
///
/// Anything else is in the file: its line, and the reason.
pub(crate) fn read(text: &str) -> Result<Vec<Called>, (usize, String)> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut calls = Vec::new();
    loop {
        reader.skip();
        if reader.rest.is_empty() {
            return Ok(calls);
        }
        if calls.len() == CALLS_MAX {
            return Err(reader.error(&format!("there are more than {CALLS_MAX} calls")));
        }
        calls.push(reader.call()?);
    }
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

impl Reader<'_> {
    fn error(&self, reason: &str) -> (usize, String) {
        (
            self.line,
            format!(
                "{reason}: only calls of `prefix_rule` and `host_executable` with literal texts are read, and nothing is run"
            ),
        )
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let next = letters.next()?;
        self.rest = letters.as_str();
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn skip(&mut self) {
        loop {
            match self.rest.chars().next() {
                Some(' ' | '\t' | '\r' | '\n' | ';') => _ = self.next(),
                Some('#') => {
                    while self.rest.chars().next().is_some_and(|letter| letter != '\n') {
                        self.next();
                    }
                }
                _ => return,
            }
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip();
        let is_next = self.rest.starts_with(wanted);
        if is_next {
            self.next();
        }
        is_next
    }

    fn name(&mut self) -> Result<String, (usize, String)> {
        self.skip();
        let mut name = String::new();
        while let Some(letter) = self.rest.chars().next() {
            if !letter.is_ascii_alphanumeric() && letter != '_' {
                break;
            }
            name.push(letter);
            self.next();
        }
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(self.error("expected a name"));
        }
        Ok(name)
    }

    fn call(&mut self) -> Result<Called, (usize, String)> {
        let line = self.line;
        let name = self.name()?;
        if !["prefix_rule", "host_executable"].contains(&name.as_str()) {
            return Err(self.error(&format!("`{}` is another statement", printable(&name))));
        }
        if !self.take('(') {
            return Err(self.error("expected `(`"));
        }
        let mut arguments: Vec<(String, Literal)> = Vec::new();
        while !self.take(')') {
            let argument = self.name()?;
            if !self.take('=') {
                return Err(self.error("expected `=` after the name of an argument"));
            }
            if arguments.iter().any(|(name, _)| *name == argument) {
                return Err(self.error(&format!("`{argument}` is given twice")));
            }
            let value = self.literal(0)?;
            arguments.push((argument, value));
            if !self.take(',') {
                if self.take(')') {
                    break;
                }
                return Err(self.error("expected `,` or `)`"));
            }
        }
        Ok(Called { line, name, arguments })
    }

    fn literal(&mut self, depth: usize) -> Result<Literal, (usize, String)> {
        if depth > DEPTH_MAX {
            return Err(self.error("a list is too deep"));
        }
        self.skip();
        match self.rest.chars().next() {
            Some(mark @ ('"' | '\'')) => self.text(mark),
            Some(mark @ ('[' | '(')) => {
                self.next();
                let end = if mark == '[' { ']' } else { ')' };
                let mut items = Vec::new();
                while !self.take(end) {
                    items.push(self.literal(depth + 1)?);
                    if !self.take(',') {
                        if self.take(end) {
                            break;
                        }
                        return Err(self.error("expected `,` or the end of the list"));
                    }
                }
                Ok(Literal::List(items))
            }
            _ => Err(self.error("expected a text or a list")),
        }
    }

    fn text(&mut self, mark: char) -> Result<Literal, (usize, String)> {
        let triple: String = [mark; 3].iter().collect();
        if self.rest.starts_with(&triple) {
            return Err(self.error("a text of several lines"));
        }
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some(letter) if letter == mark => break,
                Some('\\') => match self.next() {
                    Some(letter @ ('\\' | '"' | '\'')) => text.push(letter),
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    _ => return Err(self.error("an escape that is not read")),
                },
                None | Some('\n') => return Err(self.error("a text does not end on its line")),
                Some(letter) => text.push(letter),
            }
        }
        // Texts beside each other would be one; an operator would compute another one.
        self.skip();
        match self.rest.chars().next() {
            Some(',' | ')' | ']') => Ok(Literal::Text(text)),
            _ => Err(self.error("an expression")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_calls_are_read_with_their_lines() {
        let text = "# rules\nprefix_rule(\n  pattern = [\"git\", [\"push\", 'pull']],\n  decision = \"prompt\",\n)\n";
        let calls = read(text).expect("literal calls");
        let [call] = calls.as_slice() else { panic!("one call") };
        assert_eq!((call.line, call.name.as_str()), (2, "prefix_rule"));
        assert_eq!(call.arguments.len(), 2);
    }

    #[test]
    fn everything_else_is_refused_with_its_line() {
        for (text, line, reason) in [
            ("load(\"x\", \"y\")", 1, "`load` is another statement"),
            ("\nfor x in []:\n", 2, "`for` is another statement"),
            ("prefix_rule(pattern = [\"a\"] + B)", 1, "expected `,` or `)`"),
            ("prefix_rule(pattern = [\"a\" \"b\"])", 1, "an expression"),
            ("prefix_rule(pattern = [\"a\" % x])", 1, "an expression"),
            ("prefix_rule(pattern = X)", 1, "expected a text or a list"),
            ("prefix_rule([\"a\"])", 1, "expected a name"),
            ("prefix_rule(pattern = [\"\\x41\"])", 1, "an escape that is not read"),
            ("prefix_rule(pattern = [\"a\"], pattern = [\"b\"])", 1, "`pattern` is given twice"),
            ("x = 1", 1, "`x` is another statement"),
        ] {
            let (at, said) = read(text).expect_err(text);
            assert_eq!(at, line, "{text}");
            assert!(said.starts_with(reason), "{text}: {said}");
        }
    }
}
