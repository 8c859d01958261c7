//! A `prompt` node: its texts read and rendered.

use hashbrown::hash_map::{Entry, HashMap};
use miette::Diagnostic;
use relay_bundle::{
    Blob, Content, Message, Part, PartContent, Place, Rendering, Role, Segment, SharedText,
    Suppressed, lower_case,
};
use relay_engine::derived::briefing_text;
use thiserror::Error;

use super::text::{self, Text};
use super::{argument, file, front_matter, media, name, summary};
use crate::ast;
use crate::diagnostic::Diagnostics;
use crate::model::{
    Access, Allowed, BodySource, MessageSource, PartSource, Prompt, Resource, Setting,
};
use crate::parse::MarkdownKind;
use crate::source::{Sources, Span, Spanned};

/// Returns whether a node lacks `text` and `file=`, even in a faulty form.
pub(super) fn has_no_body(body: &ast::Body) -> bool {
    body.text.is_none() && body.file.is_none() && !body.broken
}

/// Returns the suppressions with a reason, which alone count.
pub(super) fn allowed(written: Vec<ast::Allowed>, out: &mut Diagnostics) -> Vec<Allowed> {
    written
        .into_iter()
        .filter_map(|ast::Allowed { of, rule, because }| {
            let at = rule.at;
            match (because, of) {
                (Some(because), _) => return Some(Allowed { of, rule, because }),
                (None, Suppressed::Secret) => out.report(at, NoReason { at }),
                (None, Suppressed::Invisible) => out.report(at, NoReasonToHide { at }),
                (None, Suppressed::Mark) => out.report(at, NoReasonForMarks { at }),
            }
            None
        })
        .collect()
}

/// Returns the places of the arguments and suppressions of a faulty node: whether it uses them is
/// unknown.
pub(super) fn undecided(arguments: &[ast::Argument], allowed: &[ast::Allowed]) -> Vec<Span> {
    let arguments = arguments.iter().filter_map(|argument| argument.name.as_ref());
    let allowed = allowed.iter().map(|allowed| allowed.rule.at);
    arguments.map(|name| name.at).chain(allowed).collect()
}

/// The parts of a markdown file that a node cannot express.
pub(super) struct Markdown {
    pub(super) text: Text,
    pub(super) meta: serde_json::Map<String, serde_json::Value>,
    pub(super) kind: MarkdownKind,
}

/// The nodes to which a prompt may refer.
pub(super) struct Named<'n, 's> {
    pub(super) sources: &'n Sources<'s>,
    pub(super) access: &'n Access,
    pub(super) resources: HashMap<&'n str, &'n Resource>,
}

/// Resolves one prompt; `None` if it has faults, which are reported.
///
/// The prompt of a markdown file has the file's text unless a `when` gave it another.
pub(super) fn prompt(
    node: ast::Prompt,
    markdown: Option<Markdown>,
    named: &Named<'_, '_>,
    out: &mut Diagnostics,
) -> Option<Prompt> {
    let Named { sources, access, resources } = named;
    let ast::Prompt {
        name,
        new: _,
        mut settings,
        about: ast::PromptAbout { briefing, summary, chapters },
        arguments,
        body,
        messages,
        readers,
        allowed,
    } = node;
    let errors = out.error_count();
    let arguments = argument::arguments(arguments, out);
    let declared = out.error_count() == errors;
    let allowed = self::allowed(allowed, out);
    let readers = access.readers(readers, out);
    let name = name?;
    // A file may have any name; `check` reports awkward ones.
    let named = markdown.is_some() || name::check(&name, "prompt", out);
    let (file_text, meta, kind) = match markdown {
        Some(Markdown { text, meta, kind }) => (Some(text), meta, Some(kind)),
        None => (None, serde_json::Map::new(), None),
    };
    let file_text = file_text.filter(|_| has_no_body(&body) && messages.is_empty());
    if file_text.is_none() {
        one_body(&name, &body, &messages, out)?;
    }
    let mut draft = Draft { sources, resources, texts: Vec::new(), bodies: Vec::new() };
    let (messages, shown) = if messages.is_empty() {
        let text = match file_text {
            Some(text) => text::as_template(text, body.template.as_ref()),
            None => text::of_body(sources, body, out)?,
        };
        let text = front_matter::used(sources, text, settings.front_matter.as_ref(), out);
        let at = text::place(sources, &text.source);
        let part = (PartDraft::Text(draft.text(text)), at.clone());
        (vec![MessageDraft { role: Role::User, parts: vec![part], at }], Vec::new())
    } else {
        draft.messages(messages, body.template.map(|template| template.value), out)?
    };
    chapters.iter().for_each(|chapters| report_repeated(chapters, out));
    let Draft { texts, bodies, .. } = draft;
    let body_at = bodies.first().map(|body| body.at());
    // Texts that use a faulty argument would only repeat the report.
    let rendered = declared.then(|| text::render(sources, &texts, arguments, name.at, out))??;
    let variants = rendered.variants.iter().map(|texts| fill_messages(&messages, texts)).collect();
    let rendering = Rendering { arguments: rendered.arguments, variants };
    let (summary, chapters) = summary::complete(
        &name.value,
        &briefing_text::without_frame(&rendering),
        settings
            .description
            .as_ref()
            .map(|text| text.value.as_str())
            .filter(|text| !text.trim().is_empty()),
        summary,
        chapters,
    );
    // A file that lacks front matter is described by its text.
    settings.description = settings.description.or_else(|| {
        let heading = chapters.first().filter(|_| kind.is_some() && summary.is_none())?;
        Some(Spanned { value: heading.value.clone(), at: name.at })
    });
    let is_run_by_people = kind == Some(MarkdownKind::Command)
        || rendering.arguments.iter().any(|argument| argument.required);
    let mut facts = rendered.facts;
    if kind == Some(MarkdownKind::Command) {
        // A command takes arguments even if its text ignores them.
        facts.clear();
    }
    named.then_some(Prompt {
        name,
        settings,
        briefing: Setting::or(briefing, !is_run_by_people),
        summary,
        chapters,
        meta: (!meta.is_empty()).then_some(meta),
        arguments: facts,
        body: Setting { value: briefing_text::of(&rendering), at: body_at },
        rendering,
        bodies,
        included: rendered.included,
        messages: shown,
        booleans: rendered.booleans,
        readers,
        allowed,
        agent_skill: None,
        generated: false,
    })
}

/// Checks that a prompt has one text: `text`, `file=` or `message`s.
fn one_body(
    name: &Spanned<String>,
    body: &ast::Body,
    messages: &[ast::Message],
    out: &mut Diagnostics,
) -> Option<()> {
    let places: Vec<Span> = [
        body.file.as_ref().map(|file| file.at),
        body.text.as_ref().map(|text| text.at),
        messages.first().map(|message| message.at),
    ]
    .into_iter()
    .flatten()
    .collect();
    match places.as_slice() {
        _ if body.broken => None,
        [_] => Some(()),
        [] => {
            out.report(name.at, NoBody { name: name.value.clone(), at: name.at });
            None
        }
        [first, second, ..] => {
            out.report(
                *second,
                TwoBodies { name: name.value.clone(), first_at: *first, at: *second },
            );
            None
        }
    }
}

/// Reports a repeated chapter: tags match it once.
fn report_repeated(chapters: &[Spanned<String>], out: &mut Diagnostics) {
    let mut seen: HashMap<String, Span> = HashMap::new();
    for Spanned { value, at } in chapters.iter().filter(|_| chapters.len() > 1) {
        match seen.entry(lower_case(value.trim())) {
            Entry::Occupied(first) => {
                let (chapter, first_at, at) = (value.clone(), *first.get(), *at);
                out.report(at, RepeatedChapter { chapter, first_at, at });
            }
            Entry::Vacant(entry) => _ = entry.insert(*at),
        }
    }
}

/// The parts of a prompt while its texts are collected; texts are numbered.
struct Draft<'p, 's, 'f> {
    sources: &'s Sources<'f>,
    resources: &'p HashMap<&'p str, &'p Resource>,
    texts: Vec<Text>,
    bodies: Vec<BodySource>,
}

/// A message whose texts are numbers into the rendered texts.
struct MessageDraft {
    role: Role,
    parts: Vec<(PartDraft, Place)>,
    at: Place,
}

/// A part whose texts are numbers into the rendered texts.
#[derive(Clone)]
enum PartDraft {
    Text(usize),
    Media { image: bool, mime: String, bytes: Blob },
    ResourceText { uri: usize, mime: Option<String>, text: usize },
    ResourceContent { uri: usize, mime: Option<String>, content: Content },
}

impl Draft<'_, '_, '_> {
    fn text(&mut self, text: Text) -> usize {
        self.bodies.push(text.source.clone());
        self.texts.push(text);
        self.texts.len() - 1
    }

    fn messages(
        &mut self,
        nodes: Vec<ast::Message>,
        template: Option<bool>,
        out: &mut Diagnostics,
    ) -> Option<(Vec<MessageDraft>, Vec<MessageSource>)> {
        let mut whole = true;
        let mut messages = Vec::new();
        let mut shown = Vec::new();
        for node in nodes {
            if node.parts.is_empty() && !node.broken {
                out.report(node.at, EmptyMessage { at: node.at });
            }
            let written = node.parts.len();
            let (parts, sources): (Vec<_>, Vec<_>) =
                node.parts.into_iter().filter_map(|part| self.part(part, template, out)).unzip();
            whole &= parts.len() == written && written > 0;
            let role = node.settings.role.value;
            messages.push(MessageDraft { role, parts, at: self.sources.place(node.at) });
            shown.push(MessageSource { settings: node.settings, parts: sources });
        }
        whole.then_some((messages, shown))
    }

    fn part(
        &mut self,
        part: ast::Part,
        template: Option<bool>,
        out: &mut Diagnostics,
    ) -> Option<((PartDraft, Place), PartSource)> {
        match part {
            ast::Part::Text(written) => Some(self.spoken(text::inline(written, template))),
            ast::Part::File { path, template: own } => {
                let own = own.map(|own| own.value).or(template);
                text::from_file(self.sources, &path, own, out).map(|text| self.spoken(text))
            }
            ast::Part::Image { file, mime } => self.media(&file, mime, true, out),
            ast::Part::Audio { file, mime } => self.media(&file, mime, false, out),
            ast::Part::Resource { uri, mime, body } => {
                self.resource(uri, mime, body, template, out)
            }
        }
    }

    fn spoken(&mut self, text: Text) -> ((PartDraft, Place), PartSource) {
        let at = text::place(self.sources, &text.source);
        let source = PartSource::Text(text.source.clone());
        ((PartDraft::Text(self.text(text)), at), source)
    }

    fn media(
        &mut self,
        path: &Spanned<String>,
        mime: Option<Spanned<String>>,
        image: bool,
        out: &mut Diagnostics,
    ) -> Option<((PartDraft, Place), PartSource)> {
        let (id, file) = file::read(self.sources, path, out)?;
        let mime = match mime {
            Some(mime) => mime.value,
            None => media::of_path(&file.path)
                .filter(|mime| mime.starts_with(if image { "image/" } else { "audio/" }))
                .map(str::to_owned)
                .or_else(|| {
                    let at = path.at;
                    let kind = if image { "image" } else { "audio" };
                    out.report(at, UnknownMedia { path: file.path.clone(), kind, at });
                    None
                })?,
        };
        let body = BodySource {
            file: id,
            inline_at: None,
            named_at: Some(path.at),
            text: None,
            start: 0,
            template: false,
            is_settled: true,
        };
        self.bodies.push(body.clone());
        let source = match image {
            true => PartSource::Image { body, mime: mime.clone() },
            false => PartSource::Audio { body, mime: mime.clone() },
        };
        let bytes = Blob(file.bytes().into());
        Some(((PartDraft::Media { image, mime, bytes }, self.sources.place(path.at)), source))
    }

    fn resource(
        &mut self,
        uri: Spanned<String>,
        mime: Option<Spanned<String>>,
        mut body: ast::Body,
        template: Option<bool>,
        out: &mut Diagnostics,
    ) -> Option<((PartDraft, Place), PartSource)> {
        let mime = mime.map(|mime| mime.value);
        if let (Some(file), Some(text)) = (&body.file, &body.text) {
            let name = uri.value.clone();
            out.report(text.at, TwoBodies { name, first_at: file.at, at: text.at });
            return None;
        }
        if body.broken {
            return None;
        }
        if body.file.is_none() && body.text.is_none() {
            // If its own body is absent, it is one of the project's resources.
            let Some(found) = self.resources.get(uri.value.as_str()) else {
                let near =
                    relay_engine::nearest::nearest(&uri.value, self.resources.keys().copied());
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        "declare it in `resources`, or give this part a `text` or `file=`".into()
                    }
                };
                out.report(uri.at, UnknownResource { uri: uri.value, help, at: uri.at });
                return None;
            };
            let mime = mime.or_else(|| Some(found.about.mime.value.clone()));
            let content = found.content.clone();
            let at = self.sources.place(uri.at);
            let uri = text::inline(uri, Some(false));
            let source =
                PartSource::Resource { uri: uri.source.clone(), mime: mime.clone(), body: None };
            let uri = self.text(uri);
            return Some(((PartDraft::ResourceContent { uri, mime, content }, at), source));
        }
        if body.template.is_none() && body.text.is_some() {
            body.template = template.map(|value| Spanned { value, at: uri.at });
        }
        let uri = text::inline(uri, template);
        let text = text::of_body(self.sources, body, out)?;
        let source = PartSource::Resource {
            uri: uri.source.clone(),
            mime: mime.clone(),
            body: Some(text.source.clone()),
        };
        let at = text::place(self.sources, &text.source);
        let (uri, text) = (self.text(uri), self.text(text));
        Some(((PartDraft::ResourceText { uri, mime, text }, at), source))
    }
}

fn fill_messages(messages: &[MessageDraft], texts: &[Vec<Segment>]) -> Vec<Message> {
    let text = |index: usize| texts.get(index).cloned().unwrap_or_default();
    let media_type = |mime: Option<String>| mime.map(SharedText::from);
    let content = |part: &PartDraft| match part.clone() {
        PartDraft::Text(index) => PartContent::Text(text(index)),
        PartDraft::Media { image: true, mime, bytes } => {
            PartContent::Image { mime: mime.into(), bytes }
        }
        PartDraft::Media { image: false, mime, bytes } => {
            PartContent::Audio { mime: mime.into(), bytes }
        }
        PartDraft::ResourceText { uri, mime, text: body } => {
            PartContent::ResourceText { uri: text(uri), mime: media_type(mime), text: text(body) }
        }
        PartDraft::ResourceContent { uri, mime, content: Content::Text(body) } => {
            let body = vec![Segment::Literal(body)];
            PartContent::ResourceText { uri: text(uri), mime: media_type(mime), text: body }
        }
        PartDraft::ResourceContent { uri, mime, content: Content::Blob(bytes) } => {
            PartContent::ResourceBlob { uri: text(uri), mime: media_type(mime), bytes }
        }
    };
    let part = |(part, at): &(PartDraft, Place)| Part { content: content(part), at: at.clone() };
    let message = |MessageDraft { role, parts, at }: &MessageDraft| Message {
        role: *role,
        parts: parts.iter().map(part).collect(),
        at: at.clone(),
    };
    messages.iter().map(message).collect()
}

/// An agent reads the text of a prompt. This prompt would be listed and be empty.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` has no text")]
#[diagnostic(code(prompt::no_body), help("give it `file=\"…\"`, `text \"…\"` or `message`s"))]
struct NoBody {
    name: String,
    #[label(primary, "says nothing")]
    at: Span,
}

/// A prompt has one text, so the choice between the two would be unclear.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` has more than one text")]
#[diagnostic(code(prompt::two_bodies), help("keep one of `file=`, `text` and `message`s"))]
struct TwoBodies {
    name: String,
    #[label("one here")]
    first_at: Span,
    #[label(primary, "another here")]
    at: Span,
}

/// Tags are searched in chapters, and a repeated chapter adds no match.
#[derive(Debug, Error, Diagnostic)]
#[error("chapter `{chapter}` is written twice")]
#[diagnostic(code(prompt::repeated_chapter), severity(Warning), help("remove one"))]
struct RepeatedChapter {
    chapter: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// An empty message sends nothing to the agent.
#[derive(Debug, Error, Diagnostic)]
#[error("the message has no parts")]
#[diagnostic(
    code(message::empty),
    help("give it a `text`, `file`, `image`, `audio` or `resource`")
)]
struct EmptyMessage {
    #[label(primary, "says nothing")]
    at: Span,
}

/// A client needs the media type to display an image or play a sound, and this file's ending leaves
/// it open.
#[derive(Debug, Error, Diagnostic)]
#[error("the media type of `{path}` is not known to be {kind}")]
#[diagnostic(code(message::media_type), help("name it: `mime=\"{kind}/…\"`"))]
struct UnknownMedia {
    path: String,
    kind: &'static str,
    #[label(primary, "this file")]
    at: Span,
}

/// The agent would be pointed to a missing resource.
#[derive(Debug, Error, Diagnostic)]
#[error("the project has no resource `{uri}`")]
#[diagnostic(code(message::unknown_resource))]
struct UnknownResource {
    uri: String,
    #[help]
    help: String,
    #[label(primary, "not declared")]
    at: Span,
}

/// A suppression admits a text that looks like a secret. A reviewer decides by the reason.
#[derive(Debug, Error, Diagnostic)]
#[error("`allow-secret` gives no reason")]
#[diagnostic(code(secret::no_reason), help("add `because=\"…\"`; it shows in the review"))]
struct NoReason {
    #[label(primary, "why is this no secret?")]
    at: Span,
}

/// A suppression admits characters that are invisible to a reviewer, who decides by the reason.
#[derive(Debug, Error, Diagnostic)]
#[error("`allow-invisible` gives no reason")]
#[diagnostic(code(invisible::no_reason), help("add `because=\"…\"`; it shows in the review"))]
struct NoReasonToHide {
    #[label(primary, "why does the text need them?")]
    at: Span,
}

/// A suppression sends marks as text, which their own program would replace. A reviewer decides by
/// the reason.
#[derive(Debug, Error, Diagnostic)]
#[error("`allow-mark` gives no reason")]
#[diagnostic(code(commands::no_reason), help("add `because=\"…\"`; it shows in the review"))]
struct NoReasonForMarks {
    #[label(primary, "why do agents get them as text?")]
    at: Span,
}
