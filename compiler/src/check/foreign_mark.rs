//! A mark of another kind of text: `$ARGUMENTS` in a template, `{{ name }}` in a plain text.
//!
//! A template replaces `{{ name }}`, a command `$ARGUMENTS`. In the other kind of text the mark is
//! plain text, so agents read the mark itself.

use std::sync::LazyLock;

use miette::Diagnostic;
use regex::bytes::Regex;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Argument, BodySource, Model};
use crate::source::{Sources, Span};

#[derive(Debug, Error, Diagnostic)]
#[error("`$ARGUMENTS` means nothing in a template")]
#[diagnostic(
    code(template::arguments_mark),
    severity(Warning),
    help("declare `arg arguments` and write `{{{{ arguments }}}}`")
)]
struct ArgumentsMark {
    #[label(primary, "sent as it is")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{mark}` means nothing in a plain text")]
#[diagnostic(
    code(text::template_mark),
    severity(Warning),
    help(
        "to make it a template, name the file `*.j2` or write `template=#true`; `template=#false` says that it is meant"
    )
)]
struct TemplateMark {
    mark: String,
    #[label(primary, "sent as it is")]
    at: Span,
}

/// A name in double braces; after a `$` it is an expression of a workflow.
#[expect(clippy::expect_used, reason = "it is a constant, and every test runs it")]
static BRACES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u)(?:^|[^${])(\{\{-?[ \t]*[A-Za-z_][A-Za-z0-9_-]*[ \t]*-?\}\})")
        .expect("a form")
});

pub(super) fn check(sources: &Sources<'_>, model: &Model, out: &mut Diagnostics) {
    for prompt in &model.prompts {
        for body in prompt.bodies.iter().chain(&prompt.included) {
            check_body(sources, body, &prompt.arguments, out);
        }
    }
    let fixed = model.resources.iter().map(|resource| (&resource.about, &[][..]));
    let templates = model.templates.iter();
    let templates = templates.map(|template| (&template.about, template.arguments.as_slice()));
    for (about, arguments) in fixed.chain(templates) {
        for body in [&about.body].into_iter().chain(&about.included) {
            check_body(sources, body, arguments, out);
        }
    }
}

fn check_body(
    sources: &Sources<'_>,
    body: &BodySource,
    arguments: &[Argument],
    out: &mut Diagnostics,
) {
    let Some(text) = &body.text else { return };
    let source = sources.file(body.file);
    // In a file the place is exact; a text in a document may be written with escapes.
    let bytes = match body.inline_at {
        Some(_) => text.as_bytes(),
        None => source.bytes().get(body.start..).unwrap_or_default(),
    };
    let at = |start: usize, end: usize| match body.inline_at {
        Some(at) => at,
        None => body.file.span(body.start + start, body.start + end),
    };
    if body.template {
        let mark: &[u8] = b"$ARGUMENTS";
        if let Some(start) = bytes.windows(mark.len()).position(|window| window == mark) {
            let at = at(start, start + mark.len());
            out.report(at, ArgumentsMark { at });
        }
    } else if !body.is_settled
        && let Some(found) = BRACES.captures(bytes).and_then(|found| found.get(1))
    {
        let mark = String::from_utf8_lossy(found.as_bytes()).into_owned();
        let name = mark.trim_matches(|letter: char| "{}- \t".contains(letter));
        let is_named = |argument: &Argument| argument.name.value.replace('-', "_") == name;
        if arguments.iter().any(is_named) {
            // The report on the unused argument covers it.
            return;
        }
        let at = at(found.start(), found.end());
        out.report(at, TemplateMark { mark, at });
    }
}
