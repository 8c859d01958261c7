//! Equivalent spellings of a text or a URI of a project, which a client may send.

use std::borrow::Cow;

use iri_string::convert::MappedToUri;
use iri_string::format::ToDedicatedString as _;
use iri_string::types::{IriStr, UriString};
use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;

/// The most bytes of a text with equivalent spellings.
const TEXT_BYTES_MAX: usize = 8 << 10;

/// Returns the composed and the decomposed form of a text, unless they equal it: some file systems
/// and input methods decompose letters.
#[must_use]
pub fn texts(text: &str) -> Vec<String> {
    if text.is_ascii() || text.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let mut forms: Vec<String> = vec![text.nfc().collect(), text.nfd().collect()];
    forms.retain(|form| form != text);
    forms
}

/// Returns a text with its letters composed (NFC): two that look the same are then equal.
#[must_use]
pub fn composed(text: &str) -> String {
    if text.is_ascii() { text.into() } else { text.nfc().collect() }
}

/// Returns the normal forms of a URI that differ from it, without and with escapes of non-ASCII
/// letters: scheme and host in lower case, without dot segments and needless escapes (RFC 3986,
/// section 6.2.2; RFC 3987, section 3.1).
#[must_use]
pub fn uris(uri: &str) -> Vec<String> {
    if uri.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let Ok(iri) = IriStr::new(uri) else { return Vec::new() };
    let encoded: UriString = MappedToUri::from(iri).to_dedicated_string();
    if encoded.ensure_rfc3986_normalizable().is_err() {
        return Vec::new();
    }
    let normal = encoded.normalize().to_dedicated_string().to_string();
    let decoded: String = decode_letters(&normal).nfc().collect();
    let mut forms = vec![decoded, normal];
    forms.dedup();
    forms.retain(|form| form != uri);
    forms
}

/// Returns the first thing that `find` finds under a spelling of a URI: the given one, then its normal
/// forms.
///
/// # Errors
///
/// An error of `find`.
pub fn find<T, E>(
    uri: &str,
    mut find: impl FnMut(&str) -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    if let Some(found) = find(uri)? {
        return Ok(Some(found));
    }
    for other in uris(uri) {
        if let Some(found) = find(&other)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the required spelling of a URI in a project, unless the URI has it: one of the forms
/// that [`uris`] returns for each spelling.
#[must_use]
pub fn normal_uri(uri: &str) -> Option<String> {
    let mut forms = uris(uri).into_iter();
    let first = forms.next()?;
    // The URI itself is one of the two forms.
    let same = uris(&first);
    let is_normal = same.iter().any(|form| form == uri);
    (!is_normal).then_some(first)
}

/// Decodes the escapes of non-ASCII characters.
fn decode_letters(uri: &str) -> Cow<'_, str> {
    let is_letter = |escape: &str| escape.as_bytes().get(1).is_some_and(|digit| *digit >= b'8');
    let mut decoded = String::new();
    let mut rest = uri;
    while let Some((before, from)) = rest.find('%').and_then(|at| rest.split_at_checked(at)) {
        decoded.push_str(before);
        let mut run = 0;
        while from.get(run..).is_some_and(|rest| rest.starts_with('%') && is_letter(rest)) {
            run += 3;
        }
        let (escapes, after) = from.split_at_checked(run.max(1)).unwrap_or((from, ""));
        match percent_decode_str(escapes).decode_utf8() {
            Ok(letters) if run > 0 => decoded.push_str(&letters),
            _ => decoded.push_str(escapes),
        }
        rest = after;
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_equal_as_rfc_3986_says() {
        for (spelled, normal) in [
            ("HTTPS://Example.COM/Doc", "https://example.com/Doc"),
            ("https://example.com/a/./b/../c", "https://example.com/a/c"),
            ("https://example.com/%7euser", "https://example.com/~user"),
            ("https://example.com/%2f", "https://example.com/%2F"),
            ("relay://docs/caf%C3%A9", "relay://docs/café"),
            ("relay://docs/caf%c3%a9", "relay://docs/café"),
            ("relay://docs/cafe\u{301}", "relay://docs/café"),
        ] {
            assert!(uris(spelled).contains(&normal.to_owned()), "{spelled}: {:?}", uris(spelled));
            assert_eq!(normal_uri(normal), None, "{normal}");
        }
        assert_eq!(normal_uri("HTTPS://a/B"), Some("https://a/B".to_owned()));
        assert_eq!(normal_uri("relay://docs/caf%C3%A9"), None);
        for same in ["relay://t/a", "mailto:a@b", "no uri", "relay://a/%", "https://a/%FF"] {
            assert_eq!(uris(same), Vec::<String>::new(), "{same}");
        }
    }
}
