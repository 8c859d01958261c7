//! Resources with a fixed URI.

use relay_bundle::{Bundle, Content, Corrupt, Digest, Resource, ResourceView};

use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::join::{Joined, joined};
use crate::rename::{Alone, Declared};
use crate::text::hunks;

/// Compares the resources of two bundles.
pub(crate) fn compare_all(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let mut alone = Alone::default();
    joined(
        a.resources(),
        b.resources(),
        |resource| resource.uri(),
        |found| {
            match found {
                Joined::Gone(a) => alone.only_a(a, &unnamed(a.to_owned()?)),
                Joined::New(b) => alone.only_b(b, &unnamed(b.to_owned()?)),
                Joined::Both(a, b) => compare(&a.to_owned()?, &b.to_owned()?, out),
            }
            Ok(())
        },
    )?;
    let declared = |view: ResourceView<'_>| {
        let Resource { uri, at, .. } = view.to_owned()?;
        Ok(Declared { kind: Kind::Resource, uri, at })
    };
    alone.resolve().report(declared, out)
}

/// Returns a resource whose URI, and the name derived from it, are removed.
fn unnamed(mut resource: Resource) -> Resource {
    resource.uri.clear();
    if resource.name.at.is_none() {
        resource.name.value.clear();
    }
    resource
}

fn finding(resource: &Resource, area: Area, change: Change) -> Finding {
    Finding::new(area, Kind::Resource, resource.uri.clone(), change)
}

fn compare(a: &Resource, b: &Resource, out: &mut Findings) {
    let Resource { uri: _, name, title, description, mime, content, at } = b;
    let of = |area, part: &'static str| {
        move |change| finding(b, area, change).part(part).at(Some(&a.at), Some(at))
    };
    let surface = |part| of(Area::Surface, part);
    out.setting(Some(&a.name), Some(name), String::clone, surface("name"));
    out.setting(a.title.as_ref(), title.as_ref(), String::clone, surface("title"));
    out.setting(
        a.description.as_ref(),
        description.as_ref(),
        String::clone,
        surface("description"),
    );
    out.setting(Some(&a.mime), Some(mime), String::clone, surface("media type"));
    if a.content.value == content.value {
        return;
    }
    let (old, new) = (a.content.value.bytes(), content.value.bytes());
    let change = match (&a.content.value, &content.value) {
        (Content::Text(old), Content::Text(new)) => Change::Text { hunks: hunks(old, new) },
        (old, new) => Change::Value { before: Some(shown(old)), after: Some(shown(new)) },
    };
    let finding = of(Area::Contexts, "content")(change);
    let places = (a.content.at.as_ref().or(Some(&a.at)), content.at.as_ref().or(Some(at)));
    out.push(finding.bytes(old.len(), new.len()).content(old, new).at(places.0, places.1));
}

fn shown(content: &Content) -> String {
    let what = match content {
        Content::Text(_) => "text",
        Content::Blob(_) => "binary",
    };
    let bytes = content.bytes();
    let digest = Digest::of(bytes).hex();
    format!("{what}, {} bytes, sha256 {}", bytes.len(), digest.get(..12).unwrap_or_default())
}
