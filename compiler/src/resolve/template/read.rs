//! The texts of a prompt -> its templates: parsed, rewritten, with all that they include.
//!
//! What no template can be is refused here, before anything is rendered. What the templates name
//! is the business of [`names`](super::names).

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use minijinja::{Error, machinery};

use super::rewrite::{self, Rewritten};
use super::source::{Source, Spot, TextPlace};
use super::{
    Include, TemplateArgument, TemplateArgumentKind, TemplateText, engine, fault, limit, nesting,
};
use crate::diagnostic::Diagnostics;
use crate::source::FileId;

/// A template and what was made of it.
pub(super) struct Template {
    pub(super) source: Rc<Source>,
    pub(super) rewritten: Rewritten,
}

/// Reads the texts, and all files they include, once each; the texts come first.
pub(super) fn read(
    texts: &[TemplateText<'_>],
    include: &Include<'_>,
    out: &mut Diagnostics,
) -> Vec<Template> {
    let mut sources: Vec<Rc<Source>> = texts
        .iter()
        .map(|text| Rc::new(Source { text: text.text.into(), place: text.at }))
        .collect();
    let mut included: BTreeMap<FileId, usize> = BTreeMap::new();
    let mut templates = Vec::new();
    let mut too_many = false;
    while let Some(source) = sources.get(templates.len()).cloned() {
        let repeated = templates.len() >= texts.len();
        let mut link = |path: &str, at: Range<usize>, may_miss: bool, out: &mut Diagnostics| {
            let Spot { at, line } = source.spot(&at);
            let Some((file, text)) = include(source.file(), path) else {
                if !may_miss {
                    out.report(at, fault::IncludeNotFound { path: path.into(), line, at });
                }
                return None;
            };
            if let Some(known) = included.get(&file) {
                return Some(*known);
            }
            if sources.len() >= limit::SOURCES_MAX.max(texts.len()) {
                if !too_many {
                    out.report(at, fault::TooManyFiles { line, at });
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

/// Parses and rewrites one template; `None` if it is not one.
fn parse(
    source: &Source,
    repeated: bool,
    link: &mut rewrite::Link<'_>,
    out: &mut Diagnostics,
) -> Option<Rewritten> {
    let bytes = source.text.len();
    if bytes > limit::TEMPLATE_BYTES_MAX {
        let Spot { at, .. } = source.spot(&(0..0));
        out.report(at, fault::TooLarge { bytes, at });
        return None;
    }
    if let Some((start, character)) = source.text.char_indices().find(|(_, c)| is_reserved(*c)) {
        let Spot { at, line } = source.spot(&(start..start + character.len_utf8()));
        out.report(at, fault::ReservedCharacter { code: character.into(), line, at });
        return None;
    }
    let syntax = engine::written_syntax()?;
    if let Err(refusal) = nesting::check(&source.text, &syntax) {
        report_refusal(refusal, source, out);
        return None;
    }
    match machinery::parse(&source.text, "", syntax) {
        Ok(parsed) => Some(rewrite::rewrite(source, &parsed, repeated, link, out)),
        Err(error) => {
            let Spot { at, line } = source.spot(&error.range().unwrap_or_default());
            let detail = syntax_detail(&error);
            out.report(at, fault::Syntax { detail, help: None, line, at });
            None
        }
    }
}

fn report_refusal(refusal: nesting::Refusal, source: &Source, out: &mut Diagnostics) {
    match refusal {
        nesting::Refusal::TooDeep { what, limit, at } => {
            let Spot { at, line } = source.spot(&at);
            out.report(at, fault::TooDeep { what, limit, line, at });
        }
        nesting::Refusal::Unclosed { keyword, at } => {
            let Spot { at, line } = source.spot(&at);
            let detail = format!("`{keyword}` is never closed");
            let help = Some("close it with its `end…` tag");
            out.report(at, fault::Syntax { detail, help, line, at });
        }
    }
}

/// Says what minijinja says of a syntax error in the words of templates.
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

/// Noncharacters that we build with; no text has them.
fn is_reserved(character: char) -> bool {
    ('\u{FDD0}'..='\u{FDEF}').contains(&character)
}

/// Checks that no listed value of an argument has a reserved character.
pub(super) fn check_choices(arguments: &[TemplateArgument<'_>], out: &mut Diagnostics) {
    for argument in arguments {
        let TemplateArgumentKind::Choice(choices) = argument.kind else { continue };
        let characters = choices.iter().flat_map(|choice| choice.chars());
        if let Some(character) = characters.into_iter().find(|c| is_reserved(*c)) {
            let Spot { at, line } = Spot::exact(argument.at);
            out.report(at, fault::ReservedCharacter { code: character.into(), line, at });
        }
    }
}
