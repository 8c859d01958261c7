//! URI templates to test with, and the naive way to expand and to match them.

use std::collections::BTreeMap;

use relay_bundle::{
    Bundle, Content, Contents, Rendering, Resource, ResourceTemplate, UriPiece, encode,
};
use relay_engine::resource::{self, Found};
use relay_engine::view::View;

use super::sample;

/// A template of these pieces: `{name}` is a variable, everything else a literal.
pub(crate) fn template(uri_template: &str) -> ResourceTemplate {
    let mut pieces = Vec::new();
    let mut arguments = Vec::new();
    for (index, piece) in uri_template.split(['{', '}']).enumerate() {
        if index % 2 == 1 {
            pieces.push(UriPiece::Variable(arguments.len() as u32));
            arguments.push(sample::text(piece, 0));
        } else if !piece.is_empty() {
            pieces.push(UriPiece::Literal(piece.into()));
        }
    }
    ResourceTemplate {
        uri_template: uri_template.into(),
        pieces,
        rendering: Rendering { arguments, variants: vec![sample::says("")] },
        ..sample::rich().templates.remove(0)
    }
}

pub(crate) fn bundle(resources: &[&str], templates: &[&str]) -> Bundle {
    let resource = |uri: &&str| Resource {
        uri: (*uri).into(),
        content: sample::made(Content::Text("".into())),
        ..sample::rich().resources.remove(0)
    };
    let contents = Contents {
        resources: resources.iter().map(resource).collect(),
        templates: templates.iter().map(|uri| template(uri)).collect(),
        ..Contents::default()
    };
    sample::open(&encode(&contents).unwrap()).unwrap()
}

/// The values that `uri` has under the first template that matches.
pub(crate) fn values(bundle: &Bundle, uri: &str) -> Option<BTreeMap<String, String>> {
    let view = View::of_audience(bundle, 0).expect("the bundle is good");
    match resource::find(&view, uri).expect("the bundle is good")? {
        Found::Template(_, values) => Some(values),
        Found::Resource(_) => panic!("{uri} is a resource"),
    }
}

/// RFC 6570, level 1: everything but the unreserved characters is escaped.
pub(crate) fn expand(template: &str, values: &BTreeMap<String, String>) -> String {
    let mut uri = String::new();
    for (index, piece) in template.split(['{', '}']).enumerate() {
        if index % 2 == 0 {
            uri.push_str(piece);
            continue;
        }
        for byte in values[piece].bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                uri.push(byte.into());
            } else {
                uri.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    uri
}

/// Whether `uri` can be cut so that it matches: every cut is tried.
pub(crate) fn can_match(pieces: &[UriPiece], uri: &str) -> bool {
    match pieces {
        [] => uri.is_empty(),
        [UriPiece::Literal(literal), rest @ ..] => {
            uri.strip_prefix(literal.as_str()).is_some_and(|uri| can_match(rest, uri))
        }
        [UriPiece::Variable(_), rest @ ..] => uri
            .char_indices()
            .take_while(|(_, character)| !"/?#".contains(*character))
            .any(|(at, character)| can_match(rest, &uri[at + character.len_utf8()..])),
    }
}
