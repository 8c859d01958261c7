//! The tools that a project offers. Their names determine their texts for clients.

use relay_bundle::{Gate, Page, Place, Tool};
use relay_engine::derived::{pages, tools};

use crate::model::Model;
use crate::source::Span;

/// Returns the tools that a project offers, and the pages of their list.
pub(super) fn tools(
    model: &Model,
    gate: Option<&Gate>,
    place: &dyn Fn(Span) -> Place,
) -> (Vec<Tool>, Vec<Page>) {
    let offered = model.offered_tools();
    let rows = offered.iter().map(|(spec, at)| Tool {
        name: spec.name.into(),
        gated: tools::is_gated(spec, gate),
        tier: spec.tier,
        at: place(*at),
    });
    let listed = offered.iter().map(|(spec, _)| tools::listed(spec, gate));
    (rows.collect(), pages::pages(listed))
}
