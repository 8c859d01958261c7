//! Resources whose URI has variables.

use relay_bundle::{Bundle, Corrupt, ResourceTemplate};

use crate::finding::{Area, Change, Finding, Findings, Kind, Subject};
use crate::join::{Joined, joined};
use crate::{argument, rendering};

/// Compares the templates of two bundles.
pub(crate) fn compare_all(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    joined(
        a.templates(),
        b.templates(),
        |template| template.uri_template(),
        |found| {
            match found {
                Joined::Gone(a) => {
                    let template = a.to_owned()?;
                    let removed = finding(&template, Area::Surface, Change::Removed).breaking(true);
                    out.push(removed.at(Some(&template.at), None));
                }
                Joined::New(b) => {
                    let template = b.to_owned()?;
                    let added = finding(&template, Area::Surface, Change::Added);
                    out.push(added.at(None, Some(&template.at)));
                }
                Joined::Both(a, b) => compare(&a.to_owned()?, &b.to_owned()?, out),
            }
            Ok(())
        },
    )
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
