//! A whole bundle -> the contents it was made from, and what its tag index says.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{
    Argument, ArgumentKind, ArgumentKindView, ArgumentView, Bundle, Content, ContentView, Contents,
    Corrupt, Gate, GateView, Kind, Message, MessagePiece, MessagePieceView, MessageView, Page,
    PageView, Part, PartView, Place, PlaceView, Prompt, RANK_BLOCK, RankBlock, Rendering,
    RenderingView, Resource, ResourceTemplate, Segment, SegmentView, TagIndexView, Tool, ToolView,
    UriPiece, UriPieceView,
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
        gate: bundle.gate()?.map(gate),
        tools: bundle.tools().map(|view| Ok(tool(view?))).collect::<Result<_, _>>()?,
        tool_pages: pages(bundle, Kind::ToolPages)?,
        prompt_pages: pages(bundle, Kind::PromptPages)?,
        resource_pages: pages(bundle, Kind::ResourcePages)?,
        template_pages: pages(bundle, Kind::TemplatePages)?,
        canonical: bundle.canonical()?.into(),
        provenance: bundle.provenance()?.into(),
    })
}

/// So many bytes are asked for.
pub(crate) const BUDGETS: [usize; 4] = [0, 1, 100, 8192];

/// What a tag index says. A rank is a prompt's place in the order of selection.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    /// The indexes of the prompts, by rank.
    pub(crate) order: Vec<usize>,
    /// Where the prompts of each priority end, for 10 down to 1.
    pub(crate) ends: [usize; 10],
    /// The ranks of the prompts that have each word.
    pub(crate) words: BTreeMap<String, BTreeSet<usize>>,
    /// How many bodies fit each of [`BUDGETS`] at most.
    pub(crate) fitting: [usize; 4],
    pub(crate) covered_bytes: usize,
}

/// Reads all of the tag index that `bundle` holds: none is as one without prompts.
pub(crate) fn tags(bundle: &Bundle) -> Result<Tags, Corrupt> {
    let Some(index) = bundle.tag_index()? else { return Ok(Tags::default()) };
    let prompts = bundle.prompt_count();
    let order = (0..prompts).map(|rank| index.prompt_at(rank)).collect::<Result<Vec<_>, _>>()?;
    for (rank, prompt) in order.iter().enumerate() {
        assert_eq!(bundle.prompt(*prompt)?.rank(), Ok(rank), "the order is read both ways");
    }
    let mut words = BTreeMap::new();
    for number in 0..index.word_count() {
        let ranks = ranks(&index, number, prompts)?;
        words.insert(word(&index, number), ranks);
    }
    assert_eq!(index.word(index.word_count()), None, "behind the last word");
    Ok(Tags {
        order,
        ends: std::array::from_fn(|place| index.end_of(10 - place as u8)),
        words,
        fitting: BUDGETS.map(|bytes| index.fitting_max(bytes)),
        covered_bytes: index.covered_bytes(),
    })
}

fn word(index: &TagIndexView<'_>, number: usize) -> String {
    let (start, end) = index.word(number).expect("an index that was opened has all its words");
    assert_eq!(index.text()[end], b'\n');
    String::from_utf8_lossy(&index.text()[start..end]).into_owned()
}

/// The ranks of a word, without those that no prompt has: a wrong build may write such.
fn ranks(
    index: &TagIndexView<'_>,
    number: usize,
    prompts: usize,
) -> Result<BTreeSet<usize>, Corrupt> {
    let mut ranks = BTreeSet::new();
    for (block, postings) in index.postings(number)?.enumerate() {
        let places: Vec<usize> = match postings {
            RankBlock::Bitmap(bytes) => (0..bytes.len() * 8)
                .filter(|place| bytes[place / 8] >> (place % 8) & 1 == 1)
                .collect(),
            RankBlock::List(list) => {
                list.iter().map(|place| u16::from_le_bytes(*place).into()).collect()
            }
        };
        ranks.extend(places.into_iter().map(|place| block * RANK_BLOCK + place));
    }
    ranks.retain(|rank| *rank < prompts);
    Ok(ranks)
}

fn prompt(view: &relay_bundle::PromptView<'_>) -> Result<Prompt, Corrupt> {
    let rendering = rendering(&view.rendering())?;
    let body = view.body()?;
    assert_eq!(view.body_bytes(), body.len());
    Ok(Prompt {
        name: view.name()?.into(),
        title: view.title()?.map(Into::into),
        description: view.description()?.map(Into::into),
        summary: view.summary()?.map(Into::into),
        chapters: strings(view.chapters()?),
        priority: view.priority(),
        meta: view.meta()?.map(Into::into),
        generated: view.generated(),
        body: (only_literal(&rendering) != Some(body)).then(|| body.to_owned()),
        rendering,
        at: place(view.place()?),
    })
}

/// The one literal of the one variant, which a prompt has as its body without naming it.
pub(crate) fn only_literal(rendering: &Rendering) -> Option<&str> {
    let [messages] = &rendering.variants[..] else { return None };
    let [Message { parts, .. }] = &messages[..] else { return None };
    let [Part::Text(segments)] = &parts[..] else { return None };
    match &segments[..] {
        [] => Some(""),
        [Segment::Literal(text)] => Some(text),
        _ => None,
    }
}

fn gate(view: GateView<'_>) -> Gate {
    let GateView {
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
        place: at,
    } = view;
    let number = |value| u32::try_from(value).expect("a number of 32 bits");
    Gate {
        unlock,
        hide_tools,
        tags_ask: number(tags_ask),
        tags_max: number(tags_max),
        budget_bytes: number(budget_bytes),
        repeat_bytes: number(repeat_bytes),
        remaining_bytes: number(remaining_bytes),
        entry_chars: number(entry_chars),
        encouragement: message_pieces(encouragement),
        reminder: message_pieces(reminder),
        preamble: message_pieces(preamble),
        at: place(at),
    }
}

fn message_pieces(views: Vec<MessagePieceView<'_>>) -> Vec<MessagePiece> {
    let piece = |view| match view {
        MessagePieceView::Literal(text) => MessagePiece::Literal(text.into()),
        MessagePieceView::Matched => MessagePiece::Matched,
        MessagePieceView::Remaining => MessagePiece::Remaining,
    };
    views.into_iter().map(piece).collect()
}

fn tool(view: ToolView<'_>) -> Tool {
    let ToolView { name, gated, tier, place: at } = view;
    Tool { name: name.into(), gated, tier, at: place(at) }
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
