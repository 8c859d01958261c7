//! One prompt and tags -> where each tag matches, without the index: for `relay explain`.

use relay_bundle::{Corrupt, PromptView, lower_case};

use super::tag::Tags;

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

/// The score of a prompt, from which its order follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// The product of matching tags and priority.
    Points {
        /// How many of the tags match.
        matching: usize,
        /// The priority, 1 to 9.
        priority: u8,
    },
    /// Priority 10: it is always sent, whatever the tags.
    Always,
}

impl Score {
    /// Returns the number by which matches are ordered, 0 if no tag matches; `None` for a prompt
    /// that is always sent.
    #[must_use]
    pub fn points(self) -> Option<usize> {
        match self {
            Self::Points { matching, priority } => Some(points(matching, priority)),
            Self::Always => None,
        }
    }
}

/// The formula: matching tags times priority.
pub(super) fn points(matching: usize, priority: u8) -> usize {
    matching.saturating_mul(priority.into())
}

/// Finds every place of a prompt where a tag matches, tag by tag, the summary before the chapters.
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
    // The hits of one tag follow each other.
    let mut matching: Vec<&str> = hits(prompt, tags)?.into_iter().map(|hit| hit.tag).collect();
    matching.dedup();
    Ok(Score::Points { matching: matching.len(), priority: prompt.priority() })
}
