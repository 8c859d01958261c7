//! One prompt and tags -> all places of matches, found by search of its texts: for `relay explain`.

use relay_bundle::{Corrupt, PromptView, lower_case};

use super::tag::Tags;

/// A tag found in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit<'t, 'b> {
    /// The tag, normalized.
    pub tag: &'t str,
    /// The place of the match.
    pub place: HitPlace<'b>,
}

/// The place of a match in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitPlace<'b> {
    /// The name.
    Name,
    /// The summary.
    Summary,
    /// This chapter.
    Chapter(&'b str),
}

/// Finds every place of a prompt that a tag matches, tag by tag: the name, the summary, the
/// chapters.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn hits<'t, 'b>(prompt: &PromptView<'b>, tags: &'t Tags) -> Result<Vec<Hit<'t, 'b>>, Corrupt> {
    let name = lower_case(prompt.name()?);
    let summary = prompt.summary()?.map(|text| (HitPlace::Summary, lower_case(text)));
    let chapters = prompt.chapters()?.into_iter();
    let chapters = chapters.map(|text| (HitPlace::Chapter(text), lower_case(text)));
    let texts: Vec<(HitPlace<'b>, String)> = summary.into_iter().chain(chapters).collect();
    let mut found = Vec::new();
    for tag in tags.iter() {
        if tag == name {
            found.push(Hit { tag, place: HitPlace::Name });
        }
        let places = texts.iter().filter(|(_, text)| text.contains(tag));
        found.extend(places.map(|(place, _)| Hit { tag, place: *place }));
    }
    Ok(found)
}
