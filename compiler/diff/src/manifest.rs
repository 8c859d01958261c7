//! The project itself: its names, its owner and its epoch.

use relay_bundle::{Bundle, Manifest, Setting};

use crate::direction::Direction;
use crate::finding::{Area, Change, ENVIRONMENT, Finding, Findings, Kind};

/// Epochs rise from release to release, by the commits between them. A higher step blocks the
/// releases that follow it.
const EPOCH_STEP_MAX: u64 = 1_000_000;

/// Compares the identities of two bundles. The compiler is left out: where it decides something,
/// that differs.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) {
    let Manifest { project, version, title, owner, environment, compiler: _ } = b.manifest();
    let before = a.manifest();
    if before.project.value.is_empty() {
        // The other side is empty.
        return;
    }
    let mut text =
        |part: &'static str, area, a: Option<&Setting<String>>, b: Option<&Setting<String>>| {
            out.setting(a, b, String::clone, |change| {
                let finding = Finding::new(area, Kind::Project, "", change).part(part);
                if area == Area::Authority { finding.direction(Direction::Same) } else { finding }
            });
        };
    text("name", Area::Surface, Some(&before.project), Some(project));
    text("version", Area::Surface, before.version.as_ref(), version.as_ref());
    text("title", Area::Surface, before.title.as_ref(), title.as_ref());
    text("owner", Area::Authority, before.owner.as_ref(), owner.as_ref());
    let surface = |part: &str, before: Option<String>, after: Option<String>| {
        Finding::new(Area::Surface, Kind::Project, "", Change::Value { before, after }).part(part)
    };
    if before.environment != *environment {
        out.push(surface(ENVIRONMENT, before.environment.clone(), environment.clone()));
    }
    if b.epoch() < a.epoch() {
        let lower = surface("epoch", Some(a.epoch().to_string()), Some(b.epoch().to_string()));
        let meaning = "servers that remember the epoch refuse the bundle";
        out.push(lower.breaking(true).meaning(meaning));
    }
    if b.epoch().saturating_sub(a.epoch()) > EPOCH_STEP_MAX {
        let higher = surface("epoch", Some(a.epoch().to_string()), Some(b.epoch().to_string()));
        let meaning = "servers that have served it refuse every later bundle of a lower epoch";
        out.push(higher.breaking(true).meaning(meaning));
    }
}
