//! The name that someone may have meant.

use relay_bundle::Bundle;

use crate::failure::Failure;

/// Returns the name of the prompt that is most like `name`, if one is like it.
pub(super) fn nearest<'b>(bundle: &'b Bundle, name: &str) -> Result<Option<&'b str>, Failure> {
    let mut best: Option<(f64, &str)> = None;
    for prompt in bundle.prompts() {
        let known = prompt?.name()?;
        let likeness = likeness(name, known);
        if likeness > 0.6 && best.is_none_or(|(other, _)| likeness > other) {
            best = Some((likeness, known));
        }
    }
    Ok(best.map(|(_, known)| known))
}

/// Returns how alike two names are: 1 is the same.
fn likeness(a: &str, b: &str) -> f64 {
    f64::from(similar::TextDiff::from_chars(a, b).ratio())
}
