//! A line as its keyword and its words, split as OpenSSH does.

use super::error::LineError;
use super::limits::ARGUMENTS_MAX;

const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// A line with a keyword.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    /// The keyword, as written.
    pub(crate) keyword: &'a str,
    /// All after the keyword, for keywords whose value is the rest of the line.
    pub(crate) rest: &'a str,
    /// The words after the keyword, without quotes.
    pub(crate) arguments: Vec<String>,
}

/// Splits a line; an empty line or a comment is `None`.
///
/// # Errors
///
/// Its value is missing, or a quote is open at the end.
pub(crate) fn split(line: &str) -> Result<Option<Words<'_>>, LineError> {
    let line = line.trim_end_matches(|letter| SPACE.contains(&letter) || letter == '\x0c');
    let line = line.trim_start_matches(SPACE);
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let is_end = |letter: char| SPACE.contains(&letter) || letter == '=' || letter == '"';
    let (keyword, rest) = line.split_at(line.find(is_end).unwrap_or(line.len()));
    if keyword.is_empty() || rest.starts_with('"') {
        return Err(LineError::Keyword { keyword: line.to_owned() });
    }
    let rest = rest.trim_start_matches(SPACE);
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start_matches(SPACE);
    if rest.is_empty() {
        return Err(LineError::Missing { keyword: keyword.to_owned() });
    }
    let arguments = arguments(rest)?;
    if arguments.len() > ARGUMENTS_MAX {
        return Err(LineError::Many { keyword: keyword.to_owned() });
    }
    Ok(Some(Words { keyword, rest, arguments }))
}

/// Splits at spaces and tabs outside quotes, up to a `#` that begins a word.
fn arguments(text: &str) -> Result<Vec<String>, LineError> {
    let mut all = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(first) = letters.peek() {
        match first {
            ' ' | '\t' => _ = letters.next(),
            '#' => break,
            _ => all.push(argument(&mut letters)?),
        }
    }
    Ok(all)
}

fn argument(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, LineError> {
    let mut word = String::new();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let is_escape = |next: &char| {
                    matches!(next, '\'' | '"' | '\\') || (quote.is_none() && *next == ' ')
                };
                word.push(letters.next_if(is_escape).unwrap_or('\\'));
            }
            ' ' | '\t' if quote.is_none() => break,
            '"' | '\'' if quote.is_none() => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            _ => word.push(letter),
        }
    }
    if quote.is_some() { Err(LineError::Quote) } else { Ok(word) }
}
