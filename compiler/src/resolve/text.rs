//! The texts of one prompt or resource: collected, then rendered together for every combination
//! of its finite arguments.

use std::cell::RefCell;
use std::collections::BTreeMap;

use relay_bundle::{
    Argument, ArgumentKind, Message, Part, PartContent, Place, Role, Segment, SharedText,
};

use super::argument::Resolved;
use super::file;
use super::template::{self, TemplateArgument, TemplateArgumentKind, TemplateText, TextPlace};
use crate::ast::Body;
use crate::diagnostic::Diagnostics;
use crate::model::{self, BodySource};
use crate::parse;
use crate::source::{FileId, Sources, Span, Spanned};

/// The argument of plain texts, as MCP clients know it from markdown commands.
pub(super) const ARGUMENTS: &str = "arguments";
/// The most characters of its text, which is cut beyond.
pub(crate) const ARGUMENTS_CHARS_MAX: u32 = 10_000;

/// A text before it is rendered.
pub(super) struct Text {
    pub(super) source: BodySource,
    text: SharedText,
    /// Whether typed arguments are appended: other programs do so with a command whose text lacks a
    /// place for it.
    appends: bool,
}

impl Text {
    /// Returns the text, with the argument `arguments` appended if it is given.
    pub(super) fn appending(self) -> Self {
        Self { appends: true, ..self }
    }
}

impl Text {
    /// Returns the text after the front matter of its file, or unchanged if that is absent.
    pub(super) fn without_front_matter(mut self, sources: &Sources<'_>) -> Result<Self, Self> {
        let body_start = |text: &str| parse::front_matter_parts(text).map_or(0, |(_, body)| body);
        let start = body_start(&self.text);
        if self.source.inline_at.is_some() || start == 0 {
            return Err(self);
        }
        let text = self.text.part(start..self.text.len());
        // The lines of the file may end in another way than those of the text.
        let file = sources.file(self.source.file);
        let written: &str = file.text().map_or("", |text| text);
        let skipped = written.len() - written.trim_start_matches('\u{feff}').len();
        let start = skipped + body_start(written.get(skipped..).unwrap_or_default());
        self.source = BodySource { start, text: Some(text.clone()), ..self.source };
        self.text = text;
        Ok(self)
    }
}

/// Texts rendered for every combination of the finite arguments.
pub(super) struct Rendered {
    pub(super) arguments: Vec<Argument>,
    pub(super) facts: Vec<model::Argument>,
    /// The names of the arguments whose templates see a truth value.
    pub(super) booleans: Vec<String>,
    /// The files that templates include.
    pub(super) included: Vec<BodySource>,
    /// For each variant the segments of each text.
    pub(super) variants: Vec<Vec<Vec<Segment>>>,
}

/// Makes a text of an inline text.
pub(super) fn inline(text: Spanned<String>, template: Option<bool>) -> Text {
    let shared = SharedText::from(text.value);
    Text {
        source: BodySource {
            file: text.at.file,
            inline_at: Some(text.at),
            named_at: None,
            text: Some(shared.clone()),
            start: text.at.start as usize,
            template: template.unwrap_or(false),
            is_settled: template.is_some(),
        },
        text: shared,
        appends: false,
    }
}

/// Makes a text of a file; `*.j2` is a template unless the project sets `template`.
pub(super) fn from_file(
    sources: &Sources<'_>,
    path: &Spanned<String>,
    template: Option<bool>,
    out: &mut Diagnostics,
) -> Option<Text> {
    let (id, file) = file::read_text(sources, path, out)?;
    let is_settled = template.is_some();
    let template = template.unwrap_or_else(|| path.value.ends_with(".j2"));
    let text = file.text().map(file::normalized).unwrap_or_default();
    let source = BodySource { is_settled, ..whole_file(id, &text, template) };
    Some(Text { source, text, appends: false })
}

/// Makes a text a template or plain by the setting of a node.
pub(super) fn as_template(mut text: Text, template: Option<&Spanned<bool>>) -> Text {
    if let Some(template) = template {
        text.source.template = template.value;
        text.source.is_settled = true;
    }
    text
}

/// Makes a text of the body of a markdown file, which begins at `start`.
pub(super) fn from_markdown(
    file: FileId,
    body: SharedText,
    start: usize,
    is_settled: bool,
) -> Text {
    let source = BodySource { start, is_settled, ..whole_file(file, &body, false) };
    Text { source, text: body, appends: false }
}

fn whole_file(file: FileId, text: &SharedText, template: bool) -> BodySource {
    BodySource {
        file,
        inline_at: None,
        named_at: None,
        text: Some(text.clone()),
        start: 0,
        template,
        is_settled: false,
    }
}

/// Returns the place of a text's beginning.
pub(super) fn place(sources: &Sources<'_>, source: &BodySource) -> Place {
    sources.place(source.at())
}

/// Returns the variants of a single text of the user: one message of one part.
pub(super) fn said_alone(
    sources: &Sources<'_>,
    source: &BodySource,
    variants: Vec<Vec<Vec<Segment>>>,
) -> Vec<Vec<Message>> {
    let at = place(sources, source);
    let part = |text| Part { content: PartContent::Text(text), at: at.clone() };
    let message = |texts: Vec<Vec<Segment>>| Message {
        role: Role::User,
        parts: texts.into_iter().map(part).collect(),
        at: at.clone(),
    };
    variants.into_iter().map(|texts| vec![message(texts)]).collect()
}

/// Makes a text of a body, if the body has a text or a file.
pub(super) fn of_body(sources: &Sources<'_>, body: Body, out: &mut Diagnostics) -> Option<Text> {
    let Body { text, file, template, broken: _ } = body;
    let template = template.map(|template| template.value);
    match (text, file) {
        (Some(text), _) => Some(inline(text, template)),
        (None, Some(path)) => from_file(sources, &path, template, out),
        (None, None) => None,
    }
}

/// Renders texts together; `None` if a template has faults, which are reported.
///
/// Plain texts with `$ARGUMENTS` take the argument `arguments`; a node that leaves it out gets it
/// as an optional one, as markdown commands do.
pub(super) fn render(
    sources: &Sources<'_>,
    texts: &[Text],
    mut arguments: Vec<Resolved>,
    named_at: Span,
    out: &mut Diagnostics,
) -> Option<Rendered> {
    let is_plain = |text: &&Text| !text.source.template;
    let appends = texts.iter().filter(is_plain).any(|text| text.appends);
    let marked = appends || texts.iter().filter(is_plain).any(|text| parse::has_slot(&text.text));
    if marked && !arguments.iter().any(|argument| argument.argument.name == ARGUMENTS) {
        arguments.push(implicit(named_at));
    }
    let slot = arguments.iter().position(|argument| argument.argument.name == ARGUMENTS);
    if let (true, Some(argument)) = (marked, slot.and_then(|slot| arguments.get_mut(slot)))
        && let ArgumentKind::Text { chars_max: chars_max @ 0 } = &mut argument.argument.kind
    {
        // A declaration may set another limit, but `$ARGUMENTS` always has one.
        *chars_max = ARGUMENTS_CHARS_MAX;
    }
    let slot = u32::try_from(slot.unwrap_or(0)).unwrap_or(0);

    let templates: Vec<_> = texts.iter().filter(|text| text.source.template).collect();
    let mut used: Vec<bool> = vec![false; arguments.len()];
    let mut rendered = vec![Vec::new()];
    let included = RefCell::new(BTreeMap::new());
    if !templates.is_empty() {
        let texts: Vec<_> = templates.iter().map(|text| template_text(sources, text)).collect();
        let declared: Vec<_> = arguments.iter().map(template_argument).collect();
        let include = |from: FileId, path: &str| {
            let path = parse::resolve_path(&sources.file(from).path, path).ok()?;
            let id = sources.load(&path).ok()?;
            let text = file::normalized(sources.file(id).text().ok()?);
            included.borrow_mut().insert(id, whole_file(id, &text, true));
            Some((id, text))
        };
        let templates = template::Templates { texts: &texts, arguments: &declared, at: named_at };
        let result = template::render(&templates, sources.template_cost(), &include, out)?;
        for (argument, steering) in arguments.iter_mut().zip(&result.steering) {
            argument.argument.stride = steering.stride;
            argument.argument.only_printed = steering.only_printed;
        }
        used = result.used;
        rendered = result.variants;
    }
    if let (true, Some(used)) = (marked, used.get_mut(slot as usize)) {
        *used = true;
    }
    let variants: Vec<Vec<_>> = rendered
        .into_iter()
        .map(|rendered| {
            let mut rendered = rendered.into_iter();
            texts
                .iter()
                .map(|text| {
                    if text.source.template {
                        rendered.next().unwrap_or_default()
                    } else {
                        parse::slots(&text.text, slot)
                    }
                })
                .collect()
        })
        .collect();
    let variants = match arguments.get_mut(slot as usize) {
        Some(argument) if appends => {
            // A text that is appended to is the only one of its prompt, so nothing else varies.
            argument.argument.stride = 1;
            let given = variants.iter().cloned().map(|texts| appended(texts, slot));
            given.chain(variants.clone()).collect()
        }
        _ => variants,
    };
    let facts = arguments
        .iter()
        .zip(used)
        .map(|(argument, used)| model::Argument {
            name: Spanned { value: argument.argument.name.clone(), at: argument.at },
            used,
        })
        .collect();
    let booleans = arguments.iter().filter(|argument| argument.boolean);
    let booleans = booleans.map(|argument| argument.argument.name.clone()).collect();
    let placed = |Resolved { at, argument, .. }| Argument { at: sources.place(at), ..argument };
    let arguments = arguments.into_iter().map(placed).collect();
    let included = included.into_inner().into_values().collect();
    Some(Rendered { arguments, facts, booleans, included, variants })
}

/// Returns texts with an argument after a blank line.
fn appended(texts: Vec<Vec<Segment>>, slot: u32) -> Vec<Vec<Segment>> {
    let append = |mut text: Vec<Segment>| {
        if let Some(Segment::Literal(last)) = text.last_mut() {
            *last = format!("{}\n\n", last.trim_end()).into();
        }
        text.push(Segment::Slot(slot));
        text
    };
    texts.into_iter().map(append).collect()
}

/// Returns the argument of a plain text with `$ARGUMENTS`.
fn implicit(at: Span) -> Resolved {
    Resolved {
        at,
        boolean: false,
        argument: Argument {
            name: ARGUMENTS.into(),
            description: None,
            required: false,
            default: None,
            kind: ArgumentKind::Text { chars_max: ARGUMENTS_CHARS_MAX },
            stride: 0,
            only_printed: false,
            at: Place::default(),
        },
    }
}

fn template_text<'t>(sources: &Sources<'_>, text: &'t Text) -> TemplateText<'t> {
    let file = text.source.file;
    let at = match text.source.inline_at {
        Some(at) => {
            let file = sources.file(at.file);
            let written = file.bytes().get(at.start as usize..at.end as usize);
            let written = written.and_then(|bytes| std::str::from_utf8(bytes).ok());
            TextPlace::of_value(at, written, &text.text)
        }
        None if sources.file(file).bytes().len() == text.text.len() => TextPlace::Verbatim(file),
        // Line ends were changed, so offsets differ from those of the file; lines are the same.
        None => TextPlace::Value(file.span(0, 0)),
    };
    TemplateText { text: &text.text, at }
}

fn template_argument(resolved: &Resolved) -> TemplateArgument<'_> {
    let kind = match &resolved.argument.kind {
        ArgumentKind::Choice(_) if resolved.boolean => TemplateArgumentKind::Boolean,
        ArgumentKind::Choice(choices) => TemplateArgumentKind::Choice(choices),
        ArgumentKind::Text { .. } => TemplateArgumentKind::Text,
    };
    TemplateArgument {
        name: &resolved.argument.name,
        kind,
        required: resolved.argument.required,
        default: resolved.argument.default.as_deref(),
        at: resolved.at,
    }
}
