//! Any contents, within bounds: what the property tests put into bundles.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use relay_bundle::{
    Argument, ArgumentKind, Content, Contents, Gate, Generated, Manifest, Message, MessagePiece,
    Page, Part, Place, Prompt, Rendering, Resource, ResourceTemplate, Role, Segment, Tool, Unlock,
    UriPiece,
};

use super::read_back;

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
    let pages = [(); 4].map(|()| vec(page(), 0..3));
    let gated = (option::of(gate()), vec(tool(), 0..4));
    (manifest(), lists, gated, pages, text(), text()).prop_map(
        |(
            manifest,
            (prompts, resources, templates),
            (gate, tools),
            pages,
            canonical,
            provenance,
        )| {
            let [tool_pages, prompt_pages, resource_pages, template_pages] = pages;
            Contents {
                manifest,
                gate,
                tools,
                tool_pages,
                prompts,
                resources,
                templates,
                prompt_pages,
                resource_pages,
                template_pages,
                canonical,
                provenance,
            }
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

/// Words of several scripts, whose letters change in number and in bytes when they are lower-cased,
/// between every kind of white space.
pub(crate) fn topic() -> impl Strategy<Value = String> {
    "([a-bA-B]{0,2}|[ßẞΣσςİıÄäЖжDžǆK漢😴']{1,2}|[ \\t\\r\\n\u{85}\u{a0}\u{2003}\u{2028}\u{3000}]){0,6}"
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

pub(crate) fn prompt() -> impl Strategy<Value = Prompt> {
    let texts = (maybe(), maybe(), option::of(topic()), maybe());
    let generated = (any::<bool>(), any::<bool>());
    let body = "[a-z]{0,12}";
    (texts, vec(topic(), 0..3), generated, 1..=10u8, body, rendering(), place()).prop_map(
        |(texts, chapters, generated, priority, body, rendering, at)| Prompt {
            name: String::new(),
            title: texts.0,
            description: texts.1,
            summary: texts.2,
            chapters,
            generated: Generated { summary: generated.0, chapters: generated.1 },
            priority,
            meta: texts.3,
            // A body that is the one literal is read back as none, and no other is.
            body: match read_back::only_literal(&rendering) {
                Some(literal) if body.len() < 6 || body == literal => None,
                _ => Some(body),
            },
            rendering,
            at,
        },
    )
}

fn gate() -> impl Strategy<Value = Gate> {
    let unlock = prop_oneof![Just(Unlock::Intercept), Just(Unlock::Refuse)];
    let numbers = any::<[u32; 6]>();
    let messages = [(); 3].map(|()| vec(message_piece(), 0..5));
    (unlock, any::<bool>(), numbers, messages, place()).prop_map(
        |(unlock, hide_tools, numbers, messages, at)| {
            let [tags_ask, tags_max, budget_bytes, repeat_bytes, remaining_bytes, entry_chars] =
                numbers;
            let [encouragement, reminder, preamble] = messages;
            Gate {
                unlock,
                hide_tools,
                tags_ask,
                tags_max,
                budget_bytes,
                repeat_bytes,
                remaining_bytes,
                entry_chars,
                encouragement,
                reminder,
                preamble,
                at,
            }
        },
    )
}

fn message_piece() -> impl Strategy<Value = MessagePiece> {
    prop_oneof![
        text().prop_map(MessagePiece::Literal),
        Just(MessagePiece::Matched),
        Just(MessagePiece::Remaining),
    ]
}

fn tool() -> impl Strategy<Value = Tool> {
    (text(), any::<bool>(), 0..=3u8, place()).prop_map(|(name, gated, tier, at)| Tool {
        name,
        gated,
        tier,
        at,
    })
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
