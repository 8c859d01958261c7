//! A whole bundle -> the contents it was made from.

use relay_bundle::{
    Argument, ArgumentKind, ArgumentKindView, ArgumentView, Bundle, Content, ContentView, Contents,
    Corrupt, Kind, Message, MessageView, Page, PageView, Part, PartView, Place, PlaceView, Prompt,
    Rendering, RenderingView, Resource, ResourceTemplate, Segment, SegmentView, UriPiece,
    UriPieceView,
};

/// Reads every value that `bundle` holds.
pub(crate) fn contents(bundle: &Bundle) -> Result<Contents, Corrupt> {
    Ok(Contents {
        manifest: bundle.manifest()?.to_owned(),
        prompts: bundle.prompts().map(|prompt| self::prompt(&prompt?)).collect::<Result<_, _>>()?,
        resources: (0..bundle.resource_count())
            .map(|index| resource(&bundle.resource(index)?))
            .collect::<Result<_, _>>()?,
        templates: (0..bundle.template_count())
            .map(|index| template(&bundle.template(index)?))
            .collect::<Result<_, _>>()?,
        gate: None,
        tools: Vec::new(),
        tool_pages: pages(bundle, Kind::ToolPages)?,
        prompt_pages: pages(bundle, Kind::PromptPages)?,
        resource_pages: pages(bundle, Kind::ResourcePages)?,
        template_pages: pages(bundle, Kind::TemplatePages)?,
        canonical: bundle.canonical()?.into(),
        provenance: bundle.provenance()?.into(),
    })
}

fn prompt(view: &relay_bundle::PromptView<'_>) -> Result<Prompt, Corrupt> {
    Ok(Prompt {
        name: view.name()?.into(),
        title: view.title()?.map(Into::into),
        description: view.description()?.map(Into::into),
        summary: view.summary()?.map(Into::into),
        chapters: strings(view.chapters()?),
        priority: view.priority(),
        meta: view.meta()?.map(Into::into),
        generated: view.generated(),
        body: body(view)?,
        rendering: rendering(&view.rendering())?,
        at: place(view.place()?),
    })
}

/// A text of its own, unless it is the one literal of the one variant.
fn body(view: &relay_bundle::PromptView<'_>) -> Result<Option<String>, Corrupt> {
    let body = view.body()?;
    let variants = rendering(&view.rendering())?.variants;
    let plain = match variants.first().map(Vec::as_slice) {
        Some([Message { parts, .. }]) => match parts.as_slice() {
            [Part::Text(segments)] => match segments.as_slice() {
                [Segment::Literal(text)] => text.as_str(),
                _ => "",
            },
            _ => "",
        },
        _ => "",
    };
    Ok((body != plain).then(|| body.to_owned()))
}

fn resource(view: &relay_bundle::ResourceView<'_>) -> Result<Resource, Corrupt> {
    Ok(Resource {
        uri: view.uri()?.into(),
        name: view.name()?.into(),
        title: view.title()?.map(Into::into),
        description: view.description()?.map(Into::into),
        mime: view.mime()?.map(Into::into),
        content: match view.content()? {
            ContentView::Text(text) => Content::Text(vec![Segment::Literal(text.into())]),
            ContentView::Blob(bytes) => Content::Blob(bytes.into()),
        },
        at: place(view.place()?),
    })
}

fn template(view: &relay_bundle::TemplateView<'_>) -> Result<ResourceTemplate, Corrupt> {
    let piece = |piece| match piece {
        UriPieceView::Literal(text) => UriPiece::Literal(text.into()),
        UriPieceView::Variable(argument) => UriPiece::Variable(argument),
    };
    Ok(ResourceTemplate {
        uri_template: view.uri_template()?.into(),
        pieces: view.pieces()?.into_iter().map(piece).collect(),
        name: view.name()?.into(),
        title: view.title()?.map(Into::into),
        description: view.description()?.map(Into::into),
        mime: view.mime()?.map(Into::into),
        rendering: rendering(&view.rendering())?,
        at: place(view.place()?),
    })
}

fn rendering(view: &RenderingView<'_>) -> Result<Rendering, Corrupt> {
    let variant = |number| view.variant(number)?.messages();
    Ok(Rendering {
        arguments: view.arguments()?.into_iter().map(argument).collect(),
        variants: (0..view.variant_count())
            .map(|number| Ok(variant(number)?.into_iter().map(message).collect()))
            .collect::<Result<_, _>>()?,
    })
}

fn argument(view: ArgumentView<'_>) -> Argument {
    let ArgumentView { name, description, required, default, kind, stride } = view;
    Argument {
        name: name.into(),
        description: description.map(Into::into),
        required,
        default: default.map(Into::into),
        kind: match kind {
            ArgumentKindView::Choice(choices) => ArgumentKind::Choice(strings(choices)),
            ArgumentKindView::Text { chars_max } => ArgumentKind::Text { chars_max },
        },
        stride,
    }
}

fn message(view: MessageView<'_>) -> Message {
    let MessageView { role, parts } = view;
    Message { role, parts: parts.into_iter().map(part).collect() }
}

fn part(view: PartView<'_>) -> Part {
    match view {
        PartView::Text(text) => Part::Text(segments(text)),
        PartView::Image { mime, bytes } => Part::Image { mime: mime.into(), bytes: bytes.into() },
        PartView::Audio { mime, bytes } => Part::Audio { mime: mime.into(), bytes: bytes.into() },
        PartView::ResourceText { uri, mime, text } => Part::Resource {
            uri: segments(uri),
            mime: mime.map(Into::into),
            content: Content::Text(segments(text)),
        },
        PartView::ResourceBlob { uri, mime, bytes } => Part::Resource {
            uri: segments(uri),
            mime: mime.map(Into::into),
            content: Content::Blob(bytes.into()),
        },
    }
}

fn segments(views: Vec<SegmentView<'_>>) -> Vec<Segment> {
    let segment = |view| match view {
        SegmentView::Literal(text) => Segment::Literal(text.into()),
        SegmentView::Slot(argument) => Segment::Slot(argument),
    };
    views.into_iter().map(segment).collect()
}

fn pages(bundle: &Bundle, list: Kind) -> Result<Vec<Page>, Corrupt> {
    (0..bundle.page_count(list))
        .map(|index| {
            let PageView { first, count, json } = bundle.page(list, index)?;
            Ok(Page { first, count, json: json.into() })
        })
        .collect()
}

fn place(view: PlaceView<'_>) -> Place {
    let PlaceView { file, line, column } = view;
    Place { file: file.into(), line, column }
}

fn strings(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}
