//! Resources with variables in their URI.

use relay_bundle::{Bundle, Corrupt, ResourceTemplate, TemplateView};

use crate::finding::{Area, Change, Finding, Findings, Kind, Subject};
use crate::join::{Joined, joined};
use crate::rename::{Alone, Declared};
use crate::{argument, rendering};

/// Compares the templates of two bundles.
pub(crate) fn compare_all(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let mut alone = Alone::default();
    joined(
        a.templates().iter(),
        b.templates().iter(),
        |template| template.uri_template(),
        |found| {
            match found {
                Joined::Gone(a) => alone.only_a(a, &unnamed(a.to_owned()?)),
                Joined::New(b) => alone.only_b(b, &unnamed(b.to_owned()?)),
                Joined::Both(a, b) => compare(&a.to_owned()?, &b.to_owned()?, out),
            }
            Ok(())
        },
    )?;
    let declared = |view: TemplateView<'_>| {
        let ResourceTemplate { uri_template: uri, at, .. } = view.to_owned()?;
        Ok(Declared { kind: Kind::Template, uri, at })
    };
    alone.resolve().report(declared, out)
}

/// Returns a template whose URI template, and the parts derived from it, are removed.
fn unnamed(mut template: ResourceTemplate) -> ResourceTemplate {
    template.uri_template.clear();
    template.pieces.clear();
    if template.name.at.is_none() {
        template.name.value.clear();
    }
    template
}

fn finding(template: &ResourceTemplate, area: Area, change: Change) -> Finding {
    Finding::new(area, Kind::Template, template.uri_template.clone(), change)
}

fn compare(a: &ResourceTemplate, b: &ResourceTemplate, out: &mut Findings) {
    // The pieces follow from the URI template.
    let ResourceTemplate { uri_template, pieces: _, name, title, description, mime, rendering, at } =
        b;
    let of = |part: &'static str| {
        move |change| finding(b, Area::Surface, change).part(part).at(Some(&a.at), Some(at))
    };
    out.setting(Some(&a.name), Some(name), String::clone, of("name"));
    out.setting(a.title.as_ref(), title.as_ref(), String::clone, of("title"));
    out.setting(a.description.as_ref(), description.as_ref(), String::clone, of("description"));
    out.setting(Some(&a.mime), Some(mime), String::clone, of("media type"));
    let subject = Subject { kind: Kind::Template, name: uri_template.clone() };
    argument::compare(&subject, &a.rendering.arguments, &rendering.arguments, out);
    rendering::compare(&subject, &a.rendering, rendering, out);
}
