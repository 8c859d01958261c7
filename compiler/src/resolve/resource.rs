//! Resources with a fixed URI, and resources whose URI has variables.

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_bundle::{Blob, Content, Rendering, SharedText};
use thiserror::Error;

use super::argument::{self, Resolved};
use super::{file, media, name, prompt, text};
use crate::ast;
use crate::diagnostic::Diagnostics;
use crate::model::{About, Access, BodySource, Readers, Resource, ResourceTemplate, Setting};
use crate::source::{SourceFile, Sources, Span, Spanned};
use relay_engine::derived::uri_template::{self, Piece};
use relay_engine::equal_text;
use relay_engine::nearest::nearest;

/// The most URI templates of a project: a URI is compared with each in turn.
pub(crate) const TEMPLATES_MAX: usize = 256;

/// Resolves all resources: those with a fixed URI and the templates, each sorted.
pub(super) fn resources(
    sources: &Sources<'_>,
    nodes: Vec<ast::Resource>,
    access: &Access,
    out: &mut Diagnostics,
) -> (Vec<Resource>, Vec<ResourceTemplate>) {
    let mut resources = Vec::new();
    let mut templates = Vec::new();
    let mut bare = Vec::new();
    for mut node in nodes {
        let readers = access.readers(std::mem::take(&mut node.readers), out);
        let off = !node.settings.enabled.value;
        let Some(uri) = node.uri.clone() else { continue };
        let Some(pieces) = pieces(&uri, out) else { continue };
        if off && prompt::has_no_body(&node.body) {
            // A disabled resource needs no text: an environment may give it one.
            bare.push(uri);
            continue;
        }
        let undecided = prompt::undecided(&node.arguments, &node.allowed);
        let before = resources.len() + templates.len();
        if pieces.iter().any(|piece| matches!(piece, Piece::Variable(_))) {
            let template = template(sources, node, &uri, &pieces, out);
            templates.extend(template.map(|mut template| {
                template.about.readers = readers;
                (template, !off)
            }));
        } else {
            let resource = resource(sources, node, uri, out);
            resources.extend(resource.map(|mut resource| {
                resource.about.readers = readers;
                (resource, !off)
            }));
        }
        if resources.len() + templates.len() == before {
            undecided.into_iter().for_each(|at| out.mark_used(at));
        }
    }
    let resources = name::unique(resources, "resource", |(resource, _)| &resource.uri, out);
    let templates =
        name::unique(templates, "resource", |(template, _)| &template.uri_template, out);
    let declared = resources.iter().map(|(resource, _)| &resource.uri);
    let declared: HashMap<&str, Span> = declared
        .chain(templates.iter().map(|(template, _)| &template.uri_template))
        .map(|uri| (uri.value.as_str(), uri.at))
        .collect();
    for Spanned { value: uri, at } in bare {
        report_bare(uri, at, &declared, out);
    }
    declared.into_values().for_each(|at| out.mark_used(at));
    let templates: Vec<_> = on(templates);
    if let Some(over) = templates.get(TEMPLATES_MAX) {
        let at = over.uri_template.at;
        out.report(at, TooManyTemplates { count: templates.len(), at });
    }
    (on(resources), templates)
}

/// Returns the enabled things.
fn on<T>(things: Vec<(T, bool)>) -> Vec<T> {
    things.into_iter().filter(|(_, on)| *on).map(|(thing, _)| thing).collect()
}

/// Reports a disabled resource that is empty.
fn report_bare(uri: String, at: Span, declared: &HashMap<&str, Span>, out: &mut Diagnostics) {
    if let Some(first_at) = declared.get(uri.as_str()) {
        out.report(at, OffElsewhere { uri, first_at: *first_at, at });
        return;
    }
    let help = match nearest(&uri, declared.keys().copied()) {
        Some(near) => format!("did you mean `{near}`? Write `enabled=#false` on its node"),
        None => "give it a text, here or in a `when`, or remove it".into(),
    };
    out.report_idle(at, NothingToSwitchOff { uri, help, at });
}

fn resource(
    sources: &Sources<'_>,
    node: ast::Resource,
    uri: Spanned<String>,
    out: &mut Diagnostics,
) -> Option<Resource> {
    for argument in &node.arguments {
        if let Some(name) = &argument.name {
            out.report(
                name.at,
                ForeignArgument {
                    name: name.value.clone(),
                    help: "the URI has no variables".into(),
                    at: name.at,
                },
            );
        }
    }
    one_body(&uri, &node.body, out)?;
    if let Some(template) = node.body.template.as_ref().filter(|template| template.value) {
        out.report(template.at, TemplateWithoutVariables { at: template.at });
    }
    let (body, content, path) = match (&node.body.text, &node.body.file) {
        (Some(written), _) => {
            let template = node.body.template.as_ref().map(|template| template.value);
            let body = text::inline(written.clone(), template).source;
            let content = Content::Text(body.text.clone().unwrap_or_default());
            (body, content, None)
        }
        (None, Some(written)) => {
            let (id, read) = file::read(sources, written, out)?;
            let (text, content) = content(&read, node.about.mime.as_ref());
            let named_at = text.is_none().then_some(written.at);
            let body = BodySource {
                file: id,
                inline_at: None,
                named_at,
                text,
                start: 0,
                template: false,
                is_settled: true,
            };
            (body, content, Some(read.path.clone()))
        }
        (None, None) => return None,
    };
    let fallback = match &content {
        Content::Text(_) => "text/plain",
        Content::Blob(_) => "application/octet-stream",
    };
    let about = about(node, path.as_deref(), fallback, body, out)?;
    Some(Resource { uri, about, content })
}

/// Returns a content, which is text if it is UTF-8, free of NUL, and its media type allows text.
pub(super) fn content(
    file: &SourceFile,
    mime: Option<&Spanned<String>>,
) -> (Option<SharedText>, Content) {
    const BINARY: [&str; 5] =
        ["image/", "audio/", "video/", "application/octet-stream", "application/zip"];
    let binary = mime.is_some_and(|mime| {
        BINARY.iter().any(|kind| mime.value.starts_with(kind)) && mime.value != "image/svg+xml"
    });
    match file.text() {
        Ok(text) if !binary && !text.as_bytes().contains(&0) => {
            let text = file::normalized(text);
            (Some(text.clone()), Content::Text(text))
        }
        _ => (None, Content::Blob(Blob(file.bytes().into()))),
    }
}

fn template(
    sources: &Sources<'_>,
    node: ast::Resource,
    uri: &Spanned<String>,
    pieces: &[Piece<'_>],
    out: &mut Diagnostics,
) -> Option<ResourceTemplate> {
    let arguments = template_arguments(&node.arguments, uri, pieces, out);
    one_body(uri, &node.body, out)?;
    let path = node.body.file.as_ref().map(|path| path.value.clone());
    let body = text::of_body(sources, node.body.clone(), out)?;
    let source = body.source.clone();
    let rendered = text::render(sources, &[body], arguments?, uri.at, out)?;
    let variants = text::said_alone(sources, &source, rendered.variants);
    let pieces = uri_template::numbered(pieces, &rendered.arguments);
    let mut about = about(node, path.as_deref(), "text/plain", source, out)?;
    about.included = rendered.included;
    Some(ResourceTemplate {
        uri_template: uri.clone(),
        about,
        pieces,
        arguments: rendered.facts,
        booleans: rendered.booleans,
        rendering: Rendering { arguments: rendered.arguments, variants },
    })
}

/// Resolves the arguments of a URI template: one for each variable, all required.
fn template_arguments(
    nodes: &[ast::Argument],
    uri: &Spanned<String>,
    pieces: &[Piece<'_>],
    out: &mut Diagnostics,
) -> Option<Vec<Resolved>> {
    let variables: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Variable(name) => Some(*name),
            Piece::Literal(_) => None,
        })
        .collect();
    let mut required = Vec::new();
    for node in nodes {
        let Some(name) = &node.name else { continue };
        if !variables.contains(&name.value.as_str()) {
            let help = match nearest(&name.value, variables.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the variables of the URI are: {}", variables.join(", ")),
            };
            out.report(name.at, ForeignArgument { name: name.value.clone(), help, at: name.at });
            continue;
        }
        let default_at = node.default.as_ref().map(|default| default.at);
        if let Some(at) = default_at.or(node.settings.required.at) {
            out.report(at, AlwaysRequired { at });
        }
        required.push(ast::Argument {
            name: Some(name.clone()),
            new: None,
            settings: ast::ArgumentSettings {
                required: Setting { value: true, at: Some(name.at) },
                ..node.settings.clone()
            },
            default: None,
        });
    }
    let errors = out.error_count();
    let arguments = argument::arguments(required, out);
    if out.error_count() > errors {
        return None;
    }
    for variable in &variables {
        if !arguments.iter().any(|argument| argument.argument.name == *variable) {
            let variable = (*variable).to_owned();
            out.report(uri.at, UndeclaredVariable { variable, at: uri.at });
            return None;
        }
    }
    Some(arguments)
}

/// Resolves the settings of a resource whose text is in the file `path` or inline; `fallback` is
/// the media type of a text whose name leaves it open.
fn about(
    node: ast::Resource,
    path: Option<&str>,
    fallback: &str,
    body: BodySource,
    out: &mut Diagnostics,
) -> Option<About> {
    let uri = node.uri?;
    let named = path.and_then(|path| path.rsplit('/').next());
    let from_uri = uri.value.rsplit(['/', ':']).find(|part| !part.is_empty());
    let name = named.or(from_uri).unwrap_or(&uri.value).to_owned();
    let mime = path.and_then(media::of_path).unwrap_or(fallback).to_owned();
    Some(About {
        name: Setting::or(node.about.name, name),
        settings: node.settings,
        mime: Setting::or(node.about.mime, mime),
        body,
        included: Vec::new(),
        readers: Readers::default(),
        allowed: prompt::allowed(node.allowed, out),
    })
}

fn one_body(uri: &Spanned<String>, body: &ast::Body, out: &mut Diagnostics) -> Option<()> {
    match (&body.text, &body.file) {
        _ if body.broken => None,
        (Some(_), None) | (None, Some(_)) => Some(()),
        (None, None) => {
            out.report(uri.at, NoContent { uri: uri.value.clone(), at: uri.at });
            None
        }
        (Some(text), Some(file)) => {
            out.report(text.at, TwoContents { first_at: file.at, at: text.at });
            None
        }
    }
}

/// `enabled=#false` on a node of its own looks as if the resource were off, and it would still be
/// served.
#[derive(Debug, Error, Diagnostic)]
#[error("`enabled=#false` does not reach the resource `{uri}`, which is declared elsewhere")]
#[diagnostic(
    code(resource::off_elsewhere),
    help(
        "write `enabled=#false` on that node; to switch the resource off in one environment, patch it in a `when`"
    )
)]
struct OffElsewhere {
    uri: String,
    #[label("declared here, and served")]
    first_at: Span,
    #[label(primary, "switches nothing off")]
    at: Span,
}

/// This URI is unknown, so the intended resource is still served.
#[derive(Debug, Error, Diagnostic)]
#[error("there is no resource `{uri}` to switch off")]
#[diagnostic(code(resource::nothing_off), severity(Warning))]
struct NothingToSwitchOff {
    uri: String,
    #[help]
    help: String,
    #[label(primary, "switches nothing off")]
    at: Span,
}

/// Takes a URI apart; `None` if it is invalid, which is reported.
///
/// Of RFC 6570, level 1 is known: `{name}`.
fn pieces<'u>(uri: &'u Spanned<String>, out: &mut Diagnostics) -> Option<Vec<Piece<'u>>> {
    let at = uri.at;
    let text = uri.value.as_str();
    let fault =
        |reason: &str| BadUri { uri: text.to_owned(), reason: reason.to_owned(), help: None, at };
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let known = scheme.is_some_and(|scheme| {
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if !known {
        let help = Some(format!("write `relay://{}`", text.trim_start_matches(['.', '/'])));
        out.report(at, BadUri { help, ..fault("it has no scheme, such as `relay://`") });
        return None;
    }
    if text.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        let help = Some("write `-`, or `%20` for a space".to_owned());
        out.report(at, BadUri { help, ..fault("it has white space or a control character") });
        return None;
    }
    if let Some(normal) = equal_text::normal_uri(text) {
        out.report(at, fault(&format!("clients may send its normal form: write `{normal}`")));
        return None;
    }
    let pieces = match uri_template::pieces(text) {
        Ok(pieces) => pieces,
        Err(reason) => {
            out.report(at, fault(reason));
            return None;
        }
    };
    if let Some(normal) = normal_template(&pieces) {
        out.report(at, fault(&format!("clients may send its normal form: write `{normal}`")));
        return None;
    }
    Some(pieces)
}

/// Returns the normal form of a URI template if it differs. A variable is replaced by letters,
/// which every normal form keeps.
fn normal_template(pieces: &[Piece<'_>]) -> Option<String> {
    let literals = pieces.iter().filter_map(|piece| match piece {
        Piece::Literal(literal) => Some(*literal),
        Piece::Variable(_) => None,
    });
    // The mark is longer than any run of its letter in the text, so that it is found again.
    let longest = literals.map(str::len).sum::<usize>() + 1;
    let (mark, mut variables) = ("v".repeat(longest), Vec::new());
    let mut uri = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => uri.push_str(literal),
            Piece::Variable(name) => {
                variables.push(name);
                uri.push_str(&mark);
            }
        }
    }
    if variables.is_empty() {
        return None;
    }
    let mut normal = equal_text::normal_uri(&uri)?;
    for variable in variables {
        normal = normal.replacen(&mark, &format!("{{{variable}}}"), 1);
    }
    Some(normal)
}

/// Clients read a resource by its URI, so each client must be able to send the URI unchanged.
#[derive(Debug, Error, Diagnostic)]
#[error("`{uri}` is not a URI that relay can serve: {reason}")]
#[diagnostic(code(resource::uri))]
struct BadUri {
    uri: String,
    reason: String,
    #[help]
    help: Option<String>,
    #[label(primary, "this URI")]
    at: Span,
}

/// A client that reads the resource would get nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("resource `{uri}` has no content")]
#[diagnostic(code(resource::no_content), help("give it `file=\"…\"` or `text \"…\"`"))]
struct NoContent {
    uri: String,
    #[label(primary, "holds nothing")]
    at: Span,
}

/// A resource has one content, so the choice between the two would be unclear.
#[derive(Debug, Error, Diagnostic)]
#[error("the resource has both a file and a text")]
#[diagnostic(code(resource::two_contents), help("keep one of them"))]
struct TwoContents {
    #[label("the file")]
    first_at: Span,
    #[label(primary, "the text")]
    at: Span,
}

/// The arguments of a resource are filled from its URI, so this one would stay empty.
#[derive(Debug, Error, Diagnostic)]
#[error("argument `{name}` is no variable of the URI")]
#[diagnostic(code(resource::foreign_argument))]
struct ForeignArgument {
    name: String,
    #[help]
    help: String,
    #[label(primary, "nothing fills it")]
    at: Span,
}

/// The node `arg` of a variable limits its values. If it is missing, any text from a caller
/// matches.
#[derive(Debug, Error, Diagnostic)]
#[error("the URI's variable `{variable}` is not declared")]
#[diagnostic(code(resource::undeclared_variable), help("add `arg {variable}` to the resource"))]
struct UndeclaredVariable {
    variable: String,
    #[label(primary, "in this URI")]
    at: Span,
}

/// The URI of a request gives each variable a value, so a default or `required` has no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("a variable of a URI always has a value")]
#[diagnostic(code(resource::always_required), help("remove `default` and `required`"))]
struct AlwaysRequired {
    #[label(primary, "says nothing")]
    at: Span,
}

/// The content is the same for each request, so a template has no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("a resource without variables is no template")]
#[diagnostic(
    code(resource::template_without_variables),
    help("remove `template=#true`, or give the URI a variable: `relay://rooms/{{room}}`")
)]
struct TemplateWithoutVariables {
    #[label(primary, "nothing to fill in")]
    at: Span,
}

/// A server compares the URI of a request with each template, so their number is limited.
#[derive(Debug, Error, Diagnostic)]
#[error("the project has {count} resources with variables, over the limit of {TEMPLATES_MAX}")]
#[diagnostic(code(resource::too_many_templates), help("join some of them by a variable"))]
struct TooManyTemplates {
    count: usize,
    #[label(primary, "one too many")]
    at: Span,
}
