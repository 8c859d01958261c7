//! One scan of a text by all rules.

use std::borrow::Cow;

use super::found::Found;
use super::mark::{CUT, MARKER, SCAN_CHARS_MAX};
use super::text::Text;
use super::{key_block, scan, token, url};

/// Returns a text after one scan.
pub(super) fn scanned(text: &str) -> Cow<'_, str> {
    match cut(text) {
        None => of_short(text),
        Some(cut) => Cow::Owned(of_short(&cut).into_owned()),
    }
}

fn of_short(text: &str) -> Cow<'_, str> {
    all(&Text::new(text)).write(text)
}

/// Returns the secrets of a text.
pub(super) fn all(text: &Text<'_>) -> Found {
    let mut found = Found::default();
    key_block::scan(text, &mut found);
    token::scan(text, &mut found);
    url::scan(text, &mut found);
    scan::scan(text, &mut found);
    found
}

/// Returns a text that is too long up to the most characters, with the mark of a cut as the last;
/// `None` for others. A mark of a secret that the cut splits is left out.
pub(super) fn cut(text: &str) -> Option<String> {
    text.char_indices().nth(SCAN_CHARS_MAX)?;
    let (end, _) = text.char_indices().nth(SCAN_CHARS_MAX - 1)?;
    let kept = text.get(..end).map(without_marker_start)?;
    Some(format!("{kept}{CUT}"))
}

/// Returns a text without the first characters of a mark at its end.
pub(super) fn without_marker_start(text: &str) -> &str {
    let parts = (1..MARKER.len()).rev().filter_map(|length| MARKER.get(..length));
    parts.filter_map(|part| text.strip_suffix(part)).next().unwrap_or(text)
}
