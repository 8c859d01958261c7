//! The nearest known name, for suggestions.

use relay_bundle::Bundle;

use crate::failure::Failure;

/// Returns the name of the prompt that is nearest to `name`, if one is near.
pub(super) fn nearest<'b>(bundle: &'b Bundle, name: &str) -> Result<Option<&'b str>, Failure> {
    let names: Vec<&str> =
        bundle.prompts().map(|prompt| Ok(prompt?.name()?)).collect::<Result<_, Failure>>()?;
    Ok(relay_compiler::nearest(name, names))
}
