//! The texts of a prompt -> its templates, parsed and rewritten, with all included files.
//!
//! Faulty texts are reported here, before any is rendered. [`names`](super::names) checks the names
//! in templates.

use std::ops::Range;
use std::rc::Rc;

use hashbrown::HashMap;
use minijinja::{Error, machinery};

use super::error::{Line, TemplateError};
use super::input::{Include, TemplateArgument, TemplateArgumentKind, TemplateText};
use super::rewrite::{self, Rewritten};
use super::slot::find_reserved;
use super::source::{Source, TextPlace};
use super::{engine, limit, nesting};
use crate::diagnostic::Diagnostics;
use crate::source::FileId;

/// A template and its rewritten form.
pub(super) struct Template {
    pub(super) source: Rc<Source>,
    pub(super) rewritten: Rewritten,
}

/// Reads the texts and then all files that they include, once each.
pub(super) fn read(
    texts: &[TemplateText<'_>],
    include: &Include<'_>,
    out: &mut Diagnostics,
) -> Vec<Template> {
    let mut sources: Vec<Rc<Source>> = texts
        .iter()
        .map(|text| Rc::new(Source { text: text.text.into(), place: text.at.clone() }))
        .collect();
    let mut included: HashMap<FileId, usize> = HashMap::new();
    let mut templates = Vec::new();
    let mut too_many = false;
    while let Some(source) = sources.get(templates.len()).cloned() {
        let repeated = templates.len() >= texts.len();
        let mut link = |path: &str, at: Range<usize>, may_miss: bool, out: &mut Diagnostics| {
            let Some((file, text)) = include(source.file(), path) else {
                if !may_miss {
                    let path = path.into();
                    let error = |at, line| TemplateError::IncludeNotFound { path, line, at };
                    source.report(&at, out, error);
                }
                return None;
            };
            if let Some(known) = included.get(&file) {
                return Some(*known);
            }
            if sources.len() >= limit::SOURCES_MAX.max(texts.len()) {
                if !too_many {
                    source.report(&at, out, |at, line| TemplateError::TooManyFiles { line, at });
                }
                too_many = true;
                return None;
            }
            included.insert(file, sources.len());
            sources.push(Rc::new(Source { text, place: TextPlace::Verbatim(file) }));
            Some(sources.len() - 1)
        };
        let rewritten = parse(&source, repeated, &mut link, out).unwrap_or_default();
        templates.push(Template { source, rewritten });
    }
    templates
}

/// Parses and rewrites one template; `None` if it is invalid.
fn parse(
    source: &Source,
    repeated: bool,
    link: &mut rewrite::Link<'_>,
    out: &mut Diagnostics,
) -> Option<Rewritten> {
    let bytes = source.text.len();
    if bytes > limit::TEMPLATE_BYTES_MAX {
        source.report(&(0..0), out, |at, _| TemplateError::TooLarge { bytes, at });
        return None;
    }
    if let Some((start, character)) = find_reserved(&source.text) {
        let code = character.into();
        let at = start..start + character.len_utf8();
        source.report(&at, out, |at, line| TemplateError::ReservedCharacter { code, line, at });
        return None;
    }
    let syntax = engine::written_syntax()?;
    if let Err((at, error)) = nesting::check(&source.text, &syntax) {
        source.report(&at, out, error);
        return None;
    }
    match machinery::parse(&source.text, "", syntax) {
        Ok(parsed) => Some(rewrite::rewrite(source, &parsed, repeated, link, out)),
        Err(error) => {
            let at = error.range().unwrap_or_default();
            let detail = syntax_detail(&error);
            source.report(&at, out, |at, line| TemplateError::Syntax {
                detail,
                help: None,
                line,
                at,
            });
            None
        }
    }
}

/// Returns minijinja's detail of a syntax error in the words of templates.
fn syntax_detail(error: &Error) -> String {
    let words = [
        ("start of variable block", "`{{`"),
        ("end of variable block", "`}}`"),
        ("start of block", "`{%`"),
        ("end of block", "`%}`"),
        ("template-data", "text"),
        ("identifier", "a name"),
        ("block keyword", "a tag such as `if`"),
        ("end of input", "end of the template"),
        ("unknown statement", "unknown tag"),
    ];
    let detail = error.detail().unwrap_or("not a template");
    let detail = words.iter().fold(detail.to_owned(), |text, (from, to)| text.replace(from, to));
    let mut letters = detail.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// Checks the listed values of arguments for reserved characters.
pub(super) fn check_choices(arguments: &[TemplateArgument<'_>], out: &mut Diagnostics) {
    for argument in arguments {
        let TemplateArgumentKind::Choice(choices) = argument.kind else { continue };
        if let Some((_, character)) = choices.iter().find_map(|choice| find_reserved(choice)) {
            let (code, line, at) = (character.into(), Line::default(), argument.at);
            out.report(at, TemplateError::ReservedCharacter { code, line, at });
        }
    }
}
