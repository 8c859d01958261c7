//! Corrections of the commonest slips in KDL, which come from other languages: quotes, commas, keywords and comments.
//!
//! Only slips with one likely meaning have a correction. A `\d` may be `\\d` or a raw string, and
//! the end of a text that lacks its closing quote is the author's to say.

use crate::grammar::{Kind, Rule};
use crate::language;
use crate::parse::document::scalar;

/// A replacement in the text that begins at the faulty token.
pub(super) struct Correction {
    /// The first byte that is replaced.
    pub(super) from: usize,
    /// The byte after the last.
    pub(super) to: usize,
    /// The text in their place.
    pub(super) text: String,
}

/// The part of a node that a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A name: of a node, or of an annotation.
    Name,
    /// A value, or the name of a property.
    Value,
    /// The value of a property.
    Property,
}

/// The place of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot<'s> {
    pub(super) role: Role,
    /// The name of the node that it belongs to.
    pub(super) node: Option<&'s str>,
    /// The name of its property; without one it is an argument.
    pub(super) property: Option<&'s str>,
    /// The arguments before it.
    pub(super) taken: usize,
}

impl Slot<'_> {
    /// Returns the kind of value that belongs here, in a node in one of rule `around`.
    pub(super) fn kind(&self, around: Option<&'static Rule>) -> Option<Kind> {
        let name = self.node?;
        let rule = match around {
            Some(around) => language::child(around, name)?,
            None => language::Top::of(name)?.rule(),
        };
        let field = match self.property {
            Some(property) => rule.property(property),
            None => rule.argument(self.taken),
        };
        Some(field?.kind)
    }
}

/// Returns the insertion of a text before the token.
pub(super) fn insert(text: &str) -> Correction {
    Correction { from: 0, to: 0, text: text.into() }
}

/// Returns the replacement of the token.
pub(super) fn replace(written: &str, text: &str) -> Correction {
    Correction { from: 0, to: written.len(), text: text.into() }
}

/// Returns the correction of an invalid word; `rest` is the text from it on, `kind` the value that belongs there.
pub(super) fn of_value(
    written: &str,
    rest: &str,
    role: Role,
    kind: Option<Kind>,
) -> Option<Correction> {
    let after = rest.get(written.len()..).unwrap_or_default();
    if matches!(written, "true" | "false") {
        let is_value = role != Role::Name && !after.trim_start().starts_with('=');
        let text = match kind {
            None | Some(Kind::Boolean) => format!("#{written}"),
            Some(Kind::Text(_) | Kind::Line(_) | Kind::Name(_)) => format!("\"{written}\""),
            Some(_) => return None,
        };
        return is_value.then(|| replace(written, &text));
    }
    if role == Role::Name && scalar::is_unknown_keyword(written) {
        return of_hash_mark(rest);
    }
    if let Some(length) = lines_in_quotes(rest) {
        return of_lines(rest.get(..length)?);
    }
    if let Some(quoted) = of_quotes(rest) {
        return Some(quoted);
    }
    // `a="x", b=1` and `a=1, b=2`: the comma can only separate properties.
    let word = written.strip_suffix(',').filter(|_| role == Role::Property)?;
    let is_plain = !word.is_empty() && !word.contains([',', '"', '\'']) && is_boundary(after);
    let word = if matches!(word, "true" | "false") { format!("#{word}") } else { word.to_owned() };
    is_plain.then(|| replace(written, &word))
}

/// Returns the correction of a comma after a text in quotes.
pub(super) fn of_comma(written: &str, rest: &str) -> Option<Correction> {
    let after = rest.strip_prefix(',')?;
    let text = if is_boundary(after) { "" } else { " " };
    (!after.starts_with(',') && written.matches(',').count() == 1).then(|| Correction {
        from: 0,
        to: 1,
        text: text.into(),
    })
}

/// Returns the correction of a comment that begins with `#`.
pub(super) fn of_hash(rest: &str) -> Option<Correction> {
    let is_apart = rest.starts_with("# ") || rest.starts_with("#\t");
    is_apart.then(|| of_hash_mark(rest))?
}

/// The same; white space may be missing after the `#`.
fn of_hash_mark(rest: &str) -> Option<Correction> {
    let comment = rest.strip_prefix('#')?.lines().next()?;
    // A brace may belong to the document.
    (!comment.contains(['{', '}'])).then(|| replace("#", "//"))
}

/// Returns the length of a text of several lines between three quotes of another language, to the quotes that close
/// it.
pub(super) fn lines_in_quotes(rest: &str) -> Option<usize> {
    let quotes = ["'''", "```"].into_iter().find(|quotes| rest.starts_with(quotes))?;
    let inner = rest.get(quotes.len()..)?;
    let end = inner.find(quotes)?;
    inner.get(..end)?.contains('\n').then_some(end + 2 * quotes.len())
}

/// Returns the correction of such a text, if nothing in it has a meaning of its own in KDL, and its lines are indented
/// like the last one.
fn of_lines(written: &str) -> Option<Correction> {
    let inner = written.get(3..written.len().checked_sub(3)?)?;
    let (first, last) = (inner.lines().next()?, inner.rsplit('\n').next()?);
    let is_blank = |text: &str| text.trim().is_empty();
    let is_plain = !inner.contains(['\\', '\r']) && !inner.contains("\"\"\"");
    let is_indented = inner.lines().skip(1).all(|line| is_blank(line) || line.starts_with(last));
    (is_plain && is_blank(first) && is_blank(last) && is_indented)
        .then(|| replace(written, &format!("\"\"\"{inner}\"\"\"")))
}

/// Returns the correction of a text in quotes of another language, which ends on its line.
fn of_quotes(rest: &str) -> Option<Correction> {
    let open = rest.chars().next()?;
    let closing: &[char] = match open {
        '\'' | '`' => &[open],
        '“' | '”' => &['”', '“'],
        '„' => &['“', '”'],
        '‘' | '’' => &['’', '‘'],
        '«' => &['»'],
        '»' => &['«'],
        _ => return None,
    };
    let line = rest.lines().next()?;
    if ["'''", "```"].iter().any(|quotes| line.starts_with(quotes)) {
        return None;
    }
    let inner = line.get(open.len_utf8()..)?;
    let mut marks = inner.char_indices().filter(|(_, letter)| closing.contains(letter));
    // An apostrophe is between letters.
    let (end, close) = marks.find(|(at, mark)| {
        let after = inner.get(at + mark.len_utf8()..).unwrap_or_default();
        !after.starts_with(char::is_alphanumeric)
    })?;
    let text = inner.get(..end)?;
    let after = inner.get(end + close.len_utf8()..)?;
    // A mark within the text makes its end uncertain, unless it is an apostrophe.
    let mut letters = text.char_indices().filter(|(_, letter)| *letter == open || *letter == close);
    let is_apostrophe = |(at, _): (usize, char)| {
        text.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric))
    };
    // A comma after it has a correction of its own.
    let is_certain = letters.all(is_apostrophe) && is_boundary(after.trim_start_matches(','));
    let is_plain = !text.contains(['"', '\\']);
    (is_certain && is_plain).then(|| Correction {
        from: 0,
        to: open.len_utf8() + end + close.len_utf8(),
        text: format!("\"{text}\""),
    })
}

/// Returns whether a value may end before this text.
fn is_boundary(after: &str) -> bool {
    after.is_empty() || after.starts_with(|next: char| next.is_whitespace() || ";{}".contains(next))
}
