//! The nearest known name, for suggestions.

use relay_bundle::List;
use relay_engine::view::View;

use crate::failure::Failure;

/// Returns the name of the prompt that is nearest to `name`, if one is near.
pub(super) fn nearest<'b>(view: &View<'b>, name: &str) -> Result<Option<&'b str>, Failure> {
    let rows = view.rows(List::Prompts)?;
    let names: Vec<&str> =
        rows.map(|row| Ok(view.prompt(row)?.name()?)).collect::<Result<_, Failure>>()?;
    Ok(relay_compiler::nearest(name, names))
}
