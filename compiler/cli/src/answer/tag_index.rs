//! The index that finds prompts by tags.

use relay_bundle::{Bundle, Corrupt, Kind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::size::{counted, grouped};

/// The sections that contain it.
const SECTIONS: [Kind; 5] =
    [Kind::TagIndex, Kind::TagOrder, Kind::TagWords, Kind::TagText, Kind::TagPostings];

/// The sizes of the index that finds prompts by tags.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TagIndex {
    /// The number of distinct words of summaries and chapters.
    words: usize,
    /// The size in bytes of the summaries and chapters that it covers.
    covered_bytes: usize,
    /// The size of its sections in bytes.
    index_bytes: u64,
    /// The version of Unicode used to lower-case its words.
    unicode: String,
}

impl TagIndex {
    /// Measures the index of a bundle, if it has prompts.
    pub(crate) fn of(bundle: &Bundle) -> Result<Option<Self>, Corrupt> {
        let Some(index) = bundle.tag_index()? else { return Ok(None) };
        let is_of_index = |kind: Option<Kind>| kind.is_some_and(|kind| SECTIONS.contains(&kind));
        let sections = bundle.sections().iter().filter(|section| is_of_index(section.kind));
        let (major, minor, update) = index.unicode();
        Ok(Some(Self {
            words: index.word_count(),
            covered_bytes: index.covered_bytes(),
            index_bytes: sections.map(|section| section.length).sum(),
            unicode: format!("{major}.{minor}.{update}"),
        }))
    }

    /// Returns it in one line.
    pub(crate) fn line(&self) -> String {
        let Self { words, covered_bytes, index_bytes, unicode } = self;
        let index_bytes = usize::try_from(*index_bytes).unwrap_or(usize::MAX);
        format!(
            "tag index: {}; {} bytes for {} bytes of summaries and chapters; Unicode {unicode}",
            counted(*words, "word"),
            grouped(index_bytes),
            grouped(*covered_bytes)
        )
    }
}
