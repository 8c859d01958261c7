//! Any contents, within bounds: what the property tests put into bundles.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use relay_bundle::{
    Argument, ArgumentKind, Content, Contents, Manifest, Message, Page, Part, Place, Prompt,
    Rendering, Resource, ResourceTemplate, Role, Segment, UriPiece,
};

use super::sample;

/// Contents with a few of everything; prompts and resources have unique names and are sorted.
pub(crate) fn contents() -> impl Strategy<Value = Contents> {
    let lists = (
        btree_map(name(), prompt(), 0..6).prop_map(|prompts| {
            prompts.into_iter().map(|(name, prompt)| Prompt { name, ..prompt }).collect()
        }),
        btree_map(name(), resource(), 0..5).prop_map(|resources| {
            resources.into_iter().map(|(uri, resource)| Resource { uri, ..resource }).collect()
        }),
        vec(template(), 0..3),
    );
    let pages = (vec(page(), 0..3), vec(page(), 0..3), vec(page(), 0..3));
    (manifest(), lists, pages, text(), text()).prop_map(
        |(manifest, (prompts, resources, templates), pages, canonical, provenance)| Contents {
            manifest,
            gate: None,
            tools: Vec::new(),
            tool_pages: Vec::new(),
            prompts,
            resources,
            templates,
            prompt_pages: pages.0,
            resource_pages: pages.1,
            template_pages: pages.2,
            canonical,
            provenance,
        },
    )
}

/// A name of few letters, so that names meet in the hash tables.
pub(crate) fn name() -> impl Strategy<Value = String> {
    "[abä/]{0,3}"
}

/// A short text; often empty, sometimes with characters of several bytes.
pub(crate) fn text() -> impl Strategy<Value = String> {
    "(|[ -~]{0,8}|[\\r\\n\\u{0}äß€😴]{1,4})"
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    option::of(text())
}

fn manifest() -> impl Strategy<Value = Manifest> {
    let options = (maybe(), maybe(), maybe(), maybe());
    (text(), options, text(), any::<u64>(), text(), vec(text(), 0..4)).prop_map(
        |(project, (version, title, owner, environment), compiler, epoch, instructions, index)| {
            Manifest {
                project,
                version,
                title,
                owner,
                environment,
                compiler,
                epoch,
                instructions,
                index,
            }
        },
    )
}

fn prompt() -> impl Strategy<Value = Prompt> {
    let texts = (maybe(), maybe(), maybe(), maybe());
    (texts, vec(text(), 0..3), any::<u8>(), rendering(), place()).prop_map(
        |((title, description, summary, meta), chapters, priority, rendering, at)| Prompt {
            title,
            description,
            summary,
            chapters,
            priority,
            meta,
            rendering,
            at,
            ..sample::prompt("", Vec::new())
        },
    )
}

fn resource() -> impl Strategy<Value = Resource> {
    let content = prop_oneof![
        // A resource's text is one literal: it has no slots.
        text().prop_map(|text| Content::Text(vec![Segment::Literal(text)])),
        blob().prop_map(Content::Blob),
    ];
    (text(), maybe(), maybe(), maybe(), content, place()).prop_map(
        |(name, title, description, mime, content, at)| Resource {
            uri: String::new(),
            name,
            title,
            description,
            mime,
            content,
            at,
        },
    )
}

fn template() -> impl Strategy<Value = ResourceTemplate> {
    let piece = prop_oneof![
        text().prop_map(UriPiece::Literal),
        any::<u16>().prop_map(|argument| UriPiece::Variable(argument.into())),
    ];
    let texts = (text(), text(), maybe(), maybe(), maybe());
    (texts, vec(piece, 0..4), rendering(), place()).prop_map(
        |((uri_template, name, title, description, mime), pieces, rendering, at)| {
            ResourceTemplate { uri_template, pieces, name, title, description, mime, rendering, at }
        },
    )
}

fn rendering() -> impl Strategy<Value = Rendering> {
    (vec(argument(), 0..3), vec(vec(message(), 0..3), 0..3))
        .prop_map(|(arguments, variants)| Rendering { arguments, variants })
}

fn argument() -> impl Strategy<Value = Argument> {
    let kind = prop_oneof![
        vec(text(), 0..4).prop_map(ArgumentKind::Choice),
        any::<u32>().prop_map(|chars_max| ArgumentKind::Text { chars_max }),
    ];
    (text(), maybe(), any::<bool>(), maybe(), kind, any::<u32>()).prop_map(
        |(name, description, required, default, kind, stride)| Argument {
            name,
            description,
            required,
            default,
            kind,
            stride,
        },
    )
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    (role, vec(part(), 0..3)).prop_map(|(role, parts)| Message { role, parts })
}

fn part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![segments().prop_map(Content::Text), blob().prop_map(Content::Blob)];
    prop_oneof![
        segments().prop_map(Part::Text),
        (text(), blob()).prop_map(|(mime, bytes)| Part::Image { mime, bytes }),
        (text(), blob()).prop_map(|(mime, bytes)| Part::Audio { mime, bytes }),
        (segments(), maybe(), content).prop_map(|(uri, mime, content)| Part::Resource {
            uri,
            mime,
            content
        }),
    ]
}

fn segments() -> impl Strategy<Value = Vec<Segment>> {
    let segment = prop_oneof![
        text().prop_map(Segment::Literal),
        any::<u16>().prop_map(|argument| Segment::Slot(argument.into())),
    ];
    vec(segment, 0..3)
}

fn blob() -> impl Strategy<Value = std::sync::Arc<[u8]>> {
    vec(any::<u8>(), 0..6).prop_map(Into::into)
}

fn page() -> impl Strategy<Value = Page> {
    (any::<u32>(), any::<u32>(), text()).prop_map(|(first, count, json)| Page {
        first,
        count,
        json,
    })
}

fn place() -> impl Strategy<Value = Place> {
    (text(), any::<u32>(), any::<u32>()).prop_map(|(file, line, column)| Place {
        file,
        line,
        column,
    })
}
