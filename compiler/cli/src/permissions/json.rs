//! JSON with the line of each value, for settings of clients: a key that is given twice is refused, since clients differ in
//! which one counts. VS Code also takes comments and a comma at the end of a list.

/// The deepest nesting that is read.
const DEPTH_MAX: usize = 32;
/// The most values of a file.
const VALUES_MAX: usize = 100_000;

/// A value with the line on which it begins, from 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Json {
    /// The line.
    pub(crate) line: usize,
    /// The value.
    pub(crate) value: JsonValue,
}

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonValue {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object: each key with its line, in the order of the file.
    Map(Vec<(String, usize, Json)>),
}

/// Whether comments and a comma at the end are part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JSON alone.
    Strict,
    /// With comments and commas at the end.
    WithComments,
}

/// An error of a file, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonError {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The error, in lower case.
    pub(crate) reason: String,
}

impl Json {
    /// Returns the value of a key; `None` if it is missing, or this is no object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _, _)| name == key).map(|(_, _, value)| value)
    }

    /// Returns the keys of an object with their lines and values.
    pub(crate) fn entries(&self) -> &[(String, usize, Self)] {
        match &self.value {
            JsonValue::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            JsonValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether it is `true`.
    pub(crate) fn is_true(&self) -> bool {
        self.value == JsonValue::Bool(true)
    }

    /// Returns the kind of the value in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            JsonValue::Null => "null",
            JsonValue::Bool(_) => "a boolean",
            JsonValue::Number(_) => "a number",
            JsonValue::Text(_) => "a text",
            JsonValue::List(_) => "a list",
            JsonValue::Map(_) => "an object",
        }
    }
}

/// Reads a file.
///
/// # Errors
///
/// It is malformed, a key is given twice, or it is too deep or too large.
pub(crate) fn read(text: &str, dialect: Dialect) -> Result<Json, JsonError> {
    let mut reader = Reader { rest: text, line: 1, dialect, depth: 0, values: 0 };
    reader.skip()?;
    let value = reader.value()?;
    reader.skip()?;
    match reader.rest.chars().next() {
        None => Ok(value),
        Some(_) => Err(reader.error("text follows the value")),
    }
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
    dialect: Dialect,
    depth: usize,
    values: usize,
}

impl Reader<'_> {
    fn error(&self, reason: impl Into<String>) -> JsonError {
        JsonError { line: self.line, reason: reason.into() }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let next = letters.next()?;
        self.rest = letters.as_str();
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Skips blanks, and comments where the dialect has them.
    fn skip(&mut self) -> Result<(), JsonError> {
        loop {
            while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
                self.next();
            }
            if self.dialect == Dialect::Strict || self.peek() != Some('/') {
                return Ok(());
            }
            let begin = self.error("a comment does not end");
            if self.rest.starts_with("//") {
                while self.peek().is_some_and(|letter| letter != '\n') {
                    self.next();
                }
            } else if self.rest.starts_with("/*") {
                self.next();
                self.next();
                while !self.rest.starts_with("*/") {
                    if self.next().is_none() {
                        return Err(begin);
                    }
                }
                self.next();
                self.next();
            } else {
                return Err(self.error("expected a value"));
            }
        }
    }

    fn value(&mut self) -> Result<Json, JsonError> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(self.error(format!("it has more than {VALUES_MAX} values")));
        }
        let line = self.line;
        let value = match self.peek() {
            Some('{') => self.nested(Self::map)?,
            Some('[') => self.nested(Self::list)?,
            Some('"') => JsonValue::Text(self.string()?),
            Some(letter) if letter == '-' || letter.is_ascii_digit() => {
                JsonValue::Number(self.word())
            }
            Some(letter) if letter.is_ascii_alphabetic() => match self.word().as_str() {
                "true" => JsonValue::Bool(true),
                "false" => JsonValue::Bool(false),
                "null" => JsonValue::Null,
                _ => return Err(self.error("expected a value")),
            },
            _ => return Err(self.error("expected a value")),
        };
        if let JsonValue::Number(number) = &value
            && serde_json::from_str::<serde_json::Number>(number).is_err()
        {
            return Err(self.error("malformed number"));
        }
        Ok(Json { line, value })
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<JsonValue, JsonError>,
    ) -> Result<JsonValue, JsonError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error(format!("it is deeper than {DEPTH_MAX} levels")));
        }
        self.next();
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self) -> Result<JsonValue, JsonError> {
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.ends(']', items.is_empty())? {
                return Ok(JsonValue::List(items));
            }
            items.push(self.value()?);
            self.skip()?;
            if !self.take(',') {
                return if self.take(']') {
                    Ok(JsonValue::List(items))
                } else {
                    Err(self.error("expected `,` or `]`"))
                };
            }
        }
    }

    fn map(&mut self) -> Result<JsonValue, JsonError> {
        let mut entries: Vec<(String, usize, Json)> = Vec::new();
        let mut names = std::collections::BTreeSet::new();
        loop {
            self.skip()?;
            if self.ends('}', entries.is_empty())? {
                return Ok(JsonValue::Map(entries));
            }
            if self.peek() != Some('"') {
                return Err(self.error("expected a key in quotes"));
            }
            let line = self.line;
            let name = self.string()?;
            if !names.insert(name.clone()) {
                return Err(self.error(format!("the key `{}` is given twice", shown(&name))));
            }
            self.skip()?;
            if !self.take(':') {
                return Err(self.error("expected `:`"));
            }
            self.skip()?;
            entries.push((name, line, self.value()?));
            self.skip()?;
            if !self.take(',') {
                return if self.take('}') {
                    Ok(JsonValue::Map(entries))
                } else {
                    Err(self.error("expected `,` or `}`"))
                };
            }
        }
    }

    /// Takes the end of a list or an object; after a comma only where the dialect has that.
    fn ends(&mut self, end: char, is_empty: bool) -> Result<bool, JsonError> {
        if !self.take(end) {
            return Ok(false);
        }
        if !is_empty && self.dialect == Dialect::Strict {
            return Err(self.error(format!("a comma comes before `{end}`")));
        }
        Ok(true)
    }

    /// Takes the characters of a number or a word.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(letter) = self.peek() {
            if !letter.is_ascii_alphanumeric() && !"+-.".contains(letter) {
                break;
            }
            word.push(letter);
            self.next();
        }
        word
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let from = self.rest;
        let begin = self.error("a text does not end on its line");
        self.next();
        loop {
            match self.next() {
                Some('"') => break,
                Some('\\') => {
                    self.next();
                }
                None | Some('\n') => return Err(begin),
                Some(_) => {}
            }
        }
        let length = from.len() - self.rest.len();
        let written = from.get(..length).unwrap_or_default();
        serde_json::from_str(written).map_err(|_| self.error("malformed text"))
    }
}

/// Returns a name for a message, cut if it is long.
fn shown(name: &str) -> String {
    let cut: String = name.chars().take(60).collect();
    crate::text::printable(&cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str, dialect: Dialect) -> String {
        read(text, dialect)
            .map_or_else(|error| format!("{}: {}", error.line, error.reason), |_| "read".to_owned())
    }

    #[test]
    fn a_value_knows_its_line() {
        let json = read("{\n \"a\": [1,\n  \"b\"]}", Dialect::Strict).expect("JSON");
        let list = json.get("a").expect("the key");
        assert_eq!(list.line, 2);
        let JsonValue::List(items) = &list.value else { panic!("no list") };
        assert_eq!(items.iter().map(|item| item.line).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn doubtful_files_are_refused() {
        let deep = "[".repeat(40);
        for (text, expected) in [
            ("{\"a\":1,\n\"a\":2}", "2: the key `a` is given twice"),
            ("{\"a\":1,\"\\u0061\":2}", "1: the key `a` is given twice"),
            ("[1,]", "1: a comma comes before `]`"),
            ("// x\n1", "1: expected a value"),
            ("{\"a\":1} x", "1: text follows the value"),
            ("\"a", "1: a text does not end on its line"),
            ("01", "1: malformed number"),
            ("\u{feff}{}", "1: expected a value"),
            (deep.as_str(), "1: it is deeper than 32 levels"),
        ] {
            assert_eq!(reason(text, Dialect::Strict), expected, "{text}");
        }
        assert_eq!(reason("// x\n{/* y */\"a\":[1,],}", Dialect::WithComments), "read");
        assert_eq!(
            reason("{\"a\":1,\"a\":2}", Dialect::WithComments),
            "1: the key `a` is given twice"
        );
        assert_eq!(reason("/* x", Dialect::WithComments), "1: a comment does not end");
    }
}
