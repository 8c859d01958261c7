//! A URI -> the resource or the URI template that answers it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use relay_bundle::{Corrupt, ResourceView, TemplateView, UriPiece};

use crate::equal_text;
use crate::view::View;

/// The resource or the URI template that answers a URI.
pub enum Found<'b> {
    /// A resource with exactly this URI.
    Resource(ResourceView<'b>),
    /// A URI template, with the value of each variable.
    Template(TemplateView<'b>, BTreeMap<String, String>),
}

/// Finds the resource with the URI `uri`, or else the first template in the order of the list that
/// matches it. Equivalent URIs (RFC 3986) find the same.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn find<'b>(view: &View<'b>, uri: &str) -> Result<Option<Found<'b>>, Corrupt> {
    if let Some(resource) = equal_text::find(uri, |spelling| view.find_resource(spelling))? {
        return Ok(Some(Found::Resource(resource)));
    }
    if view.templates()?.next().is_none() {
        return Ok(None);
    }
    let others = equal_text::uris(uri);
    for template in view.templates()? {
        let template = template?;
        let pieces = template.pieces()?;
        let mut spellings = [uri].into_iter().chain(others.iter().map(String::as_str));
        if let Some(values) = spellings.find_map(|spelling| match_uri(&pieces, spelling)) {
            let arguments = template.rendering().arguments()?;
            let named = values
                .into_iter()
                .filter_map(|(index, value)| {
                    Some((arguments.get(index as usize)?.name.to_owned(), value))
                })
                .collect();
            return Ok(Some(Found::Template(template, named)));
        }
    }
    Ok(None)
}

/// Matches `uri` against a URI template; returns the decoded value of each variable.
///
/// A variable takes one or more characters up to the next literal, except `/`, `?` and `#`: the
/// inverse of RFC 6570's simple expansion, which escapes those. The search is linear.
fn match_uri(pieces: &[UriPiece<&str>], uri: &str) -> Option<BTreeMap<u32, String>> {
    let mut values = BTreeMap::new();
    let mut rest = uri;
    let mut pieces = pieces.iter();
    while let Some(piece) = pieces.next() {
        match piece {
            UriPiece::Literal(literal) => rest = rest.strip_prefix(literal)?,
            UriPiece::Variable(argument) => {
                let (value, after) = rest.split_at_checked(value_end(rest, pieces.as_slice())?)?;
                if value.is_empty() || value.contains(['/', '?', '#']) {
                    return None;
                }
                values.insert(*argument, percent_decode(value)?);
                rest = after;
            }
        }
    }
    rest.is_empty().then_some(values)
}

/// Returns the end of the value at the start of `rest`: the first occurrence of the literal after
/// it, or the last occurrence, at the end of the URI, if that literal is the last piece.
fn value_end(rest: &str, following: &[UriPiece<&str>]) -> Option<usize> {
    match following {
        [UriPiece::Literal(last)] => Some(rest.strip_suffix(last)?.len()),
        [UriPiece::Literal(next), ..] => {
            // A value has at least one character, which may itself look like the literal.
            let first = rest.chars().next()?.len_utf8();
            Some(first + rest.get(first..)?.find(next)?)
        }
        [UriPiece::Variable(_), ..] | [] => Some(rest.len()),
    }
}

/// Decodes `text`; `None` if the bytes are invalid UTF-8, or if two hexadecimal digits after a `%`
/// are missing, which the library would accept.
fn percent_decode(text: &str) -> Option<String> {
    let is_escape = |after: &str| {
        after
            .as_bytes()
            .first_chunk()
            .is_some_and(|digits: &[u8; 2]| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}
