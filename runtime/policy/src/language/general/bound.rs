//! Names that code gives to one literal text.

use super::tokens::{Kind, Token};

/// Words after which a name gets another value.
const BINDING: &[&str] = &[
    "for", "as", "def", "function", "lambda", "import", "global", "nonlocal", "class", "del",
    "catch", "case", "in", "let", "var", "const", "except",
];

/// Words that bind names in ways that this module does not follow.
const HIDING: &[&str] = &["lambda", "match", "case"];

/// The most tokens of code whose names are followed.
const TOKENS_MAX: usize = 1000;

/// Tokens with their text.
pub(super) struct Bound<'b> {
    /// Whether only a constant holds its text: other names get values inside expressions, too.
    pub(super) needs_const: bool,
    pub(super) text: &'b [u8],
    pub(super) tokens: &'b [Token],
}

impl Bound<'_> {
    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn shown(&self, at: usize) -> &str {
        let span = self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end));
        str::from_utf8(span.unwrap_or(&[])).unwrap_or("")
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.kind(at) == Some(Kind::Sign(sign))
    }

    fn is_assigned(&self, at: usize) -> bool {
        self.is_sign(at + 1, b'=') && !matches!(self.kind(at + 2), Some(Kind::Sign(b'=' | b'>')))
    }

    /// Returns the text that a name surely holds: the code assigns it once, and binds it nowhere else.
    pub(super) fn literal_of(&self, name: usize) -> Option<usize> {
        let word = self.shown(name);
        if self.tokens.len() > TOKENS_MAX {
            return None;
        }
        if (0..self.tokens.len()).any(|at| HIDING.contains(&self.shown(at))) {
            return None;
        }
        let mut value = None;
        for at in 0..self.tokens.len() {
            if self.kind(at) != Some(Kind::Word) || self.shown(at) != word || self.is_member(at) {
                continue;
            }
            if self.is_assigned(at) && self.is_statement(at) && self.group_of(at).is_none() {
                let is_text = self.kind(at + 2) == Some(Kind::Text) && self.ends(at + 2);
                if value.is_some() || !is_text {
                    return None;
                }
                value = Some(at + 2);
            } else if self.may_bind(at) {
                return None;
            }
        }
        value
    }

    fn is_member(&self, at: usize) -> bool {
        at > 0 && self.is_sign(at - 1, b'.')
    }

    /// Returns whether a statement begins at a name.
    fn is_statement(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return !self.needs_const };
        if self.needs_const {
            return self.shown(before) == "const";
        }
        self.is_sign(before, b';') || self.is_new_line(before)
    }

    /// Returns whether a statement ends after a token.
    fn ends(&self, at: usize) -> bool {
        matches!(self.kind(at + 1), None | Some(Kind::Sign(b';')))
            || (self.is_new_line(at) && matches!(self.kind(at + 1), Some(Kind::Word)))
    }

    fn is_new_line(&self, at: usize) -> bool {
        let (Some(token), Some(next)) = (self.tokens.get(at), self.tokens.get(at + 1)) else {
            return false;
        };
        self.text.get(token.end..next.start).is_some_and(|between| between.contains(&b'\n'))
    }

    /// Returns whether a name may get a value here.
    fn may_bind(&self, at: usize) -> bool {
        let before = at.checked_sub(1);
        let is_after = before.is_some_and(|before| {
            BINDING.contains(&self.shown(before)) || self.is_sign(before, b'*')
        });
        if self.shown(at + 1) == "in" || self.is_looped(at) {
            return true;
        }
        let next = self.kind(at + 1);
        // `+=`, `:=`, `=>`, `p++`.
        let is_changed = matches!(
            next,
            Some(Kind::Sign(
                b'=' | b'+' | b'-' | b'*' | b'/' | b'%' | b'|' | b'&' | b'^' | b'?' | b':'
            ))
        ) && matches!(
            self.kind(at + 2),
            Some(Kind::Sign(b'=' | b'>' | b'+' | b'-' | b'*' | b'?' | b'|' | b'&'))
        ) && !(self.is_sign(at + 1, b'=') && self.is_sign(at + 2, b'='));
        let is_changed = is_changed || (self.is_assigned(at) && self.group_of(at).is_none());
        let Some((open, close)) = self.group_of(at) else {
            let is_listed = self.is_sign(at + 1, b',')
                || before.is_some_and(|before| self.is_sign(before, b','));
            return is_after || is_changed || is_listed;
        };
        let named = open.checked_sub(1);
        let is_parameter = named.is_some_and(|named| BINDING.contains(&self.shown(named)))
            || named
                .and_then(|named| named.checked_sub(1))
                .is_some_and(|word| matches!(self.shown(word), "def" | "function" | "class"));
        let is_pattern = (self.is_sign(close + 1, b'=') && !self.is_sign(close + 2, b'='))
            || matches!(self.shown(close + 1), "in" | "of");
        // A pattern in a pattern.
        let is_deeper = self.group_of(open).is_some_and(|(_, close)| {
            self.is_sign(close + 1, b'=') && !self.is_sign(close + 2, b'=')
        });
        is_after || is_changed || is_parameter || is_pattern || is_deeper
    }

    /// Returns whether a name is one of several that a loop binds.
    fn is_looped(&self, at: usize) -> bool {
        let before = (0..at).rev().find(|at| {
            let is_name = self.kind(*at) == Some(Kind::Word) && self.shown(*at) != "for";
            !is_name && !matches!(self.kind(*at), Some(Kind::Sign(b',' | b'(' | b'*' | b'[')))
        });
        before.is_some_and(|before| self.shown(before) == "for")
    }

    /// Returns the brackets around a token.
    fn group_of(&self, at: usize) -> Option<(usize, usize)> {
        let mut depth = 0usize;
        let open = (0..at).rev().find(|at| match self.kind(*at) {
            Some(Kind::Sign(b')' | b']' | b'}')) => {
                depth += 1;
                false
            }
            Some(Kind::Sign(b'(' | b'[' | b'{')) if depth == 0 => true,
            Some(Kind::Sign(b'(' | b'[' | b'{')) => {
                depth -= 1;
                false
            }
            _ => false,
        })?;
        let mut depth = 0usize;
        let close = (at..self.tokens.len()).find(|at| match self.kind(*at) {
            Some(Kind::Sign(b'(' | b'[' | b'{')) => {
                depth += 1;
                false
            }
            Some(Kind::Sign(b')' | b']' | b'}')) if depth == 0 => true,
            Some(Kind::Sign(b')' | b']' | b'}')) => {
                depth -= 1;
                false
            }
            _ => false,
        });
        Some((open, close.unwrap_or(self.tokens.len())))
    }
}
