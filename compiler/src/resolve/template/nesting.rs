//! A linear look at a template before minijinja's parser sees it.
//!
//! The parser recurses, unlimited for `elif`, `not` and inline `if`, and so does every walk or drop
//! of its tree. This scan rejects text that nests too deep, and finds unclosed blocks, which the
//! parser can only report at the end of the text.

use std::ops::Range;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::error::{Line, TemplateError};
use super::limit;

use crate::source::Span;

/// The fault of an unparsed template: its place, and its report.
type NestingError = (Range<usize>, Box<dyn FnOnce(Span, Line) -> TemplateError>);

/// An open block: its keyword, its place, and the number of levels that it counts.
struct Open<'t> {
    keyword: &'t str,
    at: Range<usize>,
    levels: usize,
}

/// The part of the current tag that was read so far.
#[derive(Default)]
struct Tag<'t> {
    start: usize,
    is_block: bool,
    keyword: Option<&'t str>,
    tokens: usize,
    prefixes: usize,
    brackets: usize,
    assigns: bool,
}

/// Checks that the parser can take `text`. The parser reports faults of single tokens.
pub(super) fn check(text: &str, syntax: &SyntaxConfig) -> Result<(), NestingError> {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut tag = Tag::default();
    for token in tokenize(text, false, syntax.clone()) {
        let Ok((token, span)) = token else { return Ok(()) };
        let at = span.start_offset as usize..span.end_offset as usize;
        match token {
            Token::TemplateData(_) => continue,
            Token::VariableStart | Token::BlockStart => {
                let is_block = matches!(token, Token::BlockStart);
                tag = Tag { start: at.start, is_block, ..Tag::default() };
                continue;
            }
            Token::BlockEnd => {
                close_tag(&tag, at.end, &mut open)?;
                continue;
            }
            Token::Ident(name) if tag.is_block && tag.keyword.is_none() => tag.keyword = Some(name),
            Token::Ident("not") | Token::Minus => tag.prefixes += 1,
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => tag.brackets += 1,
            Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                tag.brackets = tag.brackets.saturating_sub(1);
            }
            Token::Assign if tag.brackets == 0 => tag.assigns = true,
            _ => {}
        }
        tag.tokens += 1;
        let bounds = [
            (tag.tokens, limit::TAG_TOKENS_MAX, "a tag has too many words and signs"),
            (tag.prefixes, limit::TAG_PREFIXES_MAX, "a tag has too many `not` and `-`"),
            (tag.brackets, limit::BRACKETS_MAX, "brackets nest too deep"),
        ];
        if let Some((_, limit, what)) = bounds.into_iter().find(|(count, limit, _)| count > limit) {
            return Err(too_deep(what, limit, at));
        }
    }
    match open.pop() {
        Some(Open { keyword, at, .. }) => Err(unclosed(keyword, at)),
        None => Ok(()),
    }
}

/// Opens, continues or closes a block with the tag that ends at `end`.
fn close_tag<'t>(tag: &Tag<'t>, end: usize, open: &mut Vec<Open<'t>>) -> Result<(), NestingError> {
    let at = tag.start..end;
    match tag.keyword {
        Some("elif") => {
            if let Some(innermost) = open.last_mut() {
                innermost.levels += 1;
            }
        }
        Some(
            keyword
            @ ("if" | "for" | "with" | "macro" | "call" | "filter" | "autoescape" | "block"),
        ) => open.push(Open { keyword, at: at.clone(), levels: 2 }),
        Some("set") if !tag.assigns => {
            open.push(Open { keyword: "set", at: at.clone(), levels: 2 })
        }
        // The parser reports a wrong end with its place.
        Some(keyword) if keyword.starts_with("end") => drop(open.pop()),
        _ => {}
    }
    let limit = limit::LEVELS_MAX;
    if open.iter().map(|block| block.levels).sum::<usize>() > limit {
        return Err(too_deep("blocks nest too deep", limit, at));
    }
    Ok(())
}

fn too_deep(what: &'static str, limit: usize, at: Range<usize>) -> NestingError {
    (at, Box::new(move |at, line| TemplateError::TooDeep { what, limit, line, at }))
}

fn unclosed(keyword: &str, at: Range<usize>) -> NestingError {
    let detail = format!("`{keyword}` is never closed");
    let help = Some(match keyword {
        "if" => "close it with `{% endif %}`",
        "for" => "close it with `{% endfor %}`",
        "set" => "close it with `{% endset %}`",
        "raw" => "close it with `{% endraw %}`",
        _ => "close it with its `end…` tag",
    });
    (at, Box::new(move |at, line| TemplateError::Syntax { detail, help, line, at }))
}
