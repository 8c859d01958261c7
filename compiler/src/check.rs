//! Model -> diagnostics: what is wrong or unwise, one rule a file.
//!
//! A rule looks and tells; it never changes the model.

mod awkward_name;
mod empty_project;
mod idle_when;
mod instructions;
mod literal_secret;
mod no_epoch;
mod unused_argument;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Sources;

/// Runs every rule.
pub(crate) fn run(sources: &Sources<'_>, model: &Model, out: &mut Diagnostics) {
    awkward_name::check(model, out);
    empty_project::check(model, out);
    idle_when::check(model, out);
    instructions::check(sources, model, out);
    literal_secret::check(model, out);
    no_epoch::check(model, out);
    unused_argument::check(model, out);
}
