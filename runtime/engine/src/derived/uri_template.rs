//! A URI template -> its pieces. Only level 1 of RFC 6570 is supported: `{name}`.

use relay_bundle::{Argument, UriPiece};

/// A piece of a URI template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Literal text.
    Literal(&'t str),
    /// A variable, by its name.
    Variable(&'t str),
}

/// Splits a URI template.
///
/// # Errors
///
/// Some clients fail to expand it: the reason, for its author.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, &'static str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once('{') {
        let (variable, after) = after.split_once('}').ok_or("a `{` is not closed")?;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if variable.is_empty() || !variable.chars().all(plain) {
            return Err("a variable is letters, digits and `_` in braces");
        }
        if literal.is_empty() && matches!(pieces.last(), Some(Piece::Variable(_))) {
            return Err("two variables need a text between them");
        }
        if pieces.contains(&Piece::Variable(variable)) {
            return Err("a variable is used twice");
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        pieces.push(Piece::Variable(variable));
        rest = after;
    }
    if rest.contains('}') {
        return Err("a `}` closes nothing");
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest));
    }
    Ok(pieces)
}

/// Returns pieces as stored in a bundle: each variable as the number of its argument.
#[must_use]
pub fn numbered(pieces: &[Piece<'_>], arguments: &[Argument]) -> Vec<UriPiece> {
    let number = |name: &str| {
        let found = arguments.iter().position(|argument| argument.name == name);
        found.and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
    };
    let piece = |piece: &Piece<'_>| match piece {
        Piece::Literal(text) => UriPiece::Literal((*text).to_owned()),
        Piece::Variable(name) => UriPiece::Variable(number(name)),
    };
    pieces.iter().map(piece).collect()
}
