//! One prompt and tags -> where each tag matches, without the index: what `explain` shows.

use relay_bundle::{Corrupt, PromptView, lower_case};

use super::Tags;

/// A tag found in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit<'t, 'b> {
    /// The tag, as it is searched.
    pub tag: &'t str,
    /// Where it was found.
    pub place: HitPlace<'b>,
}

/// Where in a prompt a tag was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitPlace<'b> {
    /// In the summary.
    Summary,
    /// In this chapter.
    Chapter(&'b str),
}

/// The score of a prompt, by which matches are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Score {
    /// Matching tags times priority; 0 if none matches.
    Points(usize),
    /// More than any number: priority 10.
    Always,
}

/// Finds every place of a prompt where a tag matches, by tag, the summary before the chapters.
///
/// # Errors
///
/// The bundle is not what was signed.
pub fn hits<'t, 'b>(prompt: &PromptView<'b>, tags: &'t Tags) -> Result<Vec<Hit<'t, 'b>>, Corrupt> {
    let summary = prompt.summary()?.map(|text| (HitPlace::Summary, lower_case(text)));
    let chapters = prompt.chapters()?.into_iter();
    let chapters = chapters.map(|text| (HitPlace::Chapter(text), lower_case(text)));
    let texts: Vec<(HitPlace<'b>, String)> = summary.into_iter().chain(chapters).collect();
    let found = tags.iter().flat_map(|tag| {
        let places = texts.iter().filter(move |(_, text)| text.contains(tag));
        places.map(move |(place, _)| Hit { tag, place: *place })
    });
    Ok(found.collect())
}

/// Returns the score of a prompt.
///
/// # Errors
///
/// As for [`hits`].
pub fn score(prompt: &PromptView<'_>, tags: &Tags) -> Result<Score, Corrupt> {
    if prompt.priority() >= 10 {
        return Ok(Score::Always);
    }
    // The hits of one tag stand together.
    let mut matching: Vec<&str> = hits(prompt, tags)?.into_iter().map(|hit| hit.tag).collect();
    matching.dedup();
    Ok(Score::Points(matching.len().saturating_mul(prompt.priority().into())))
}
