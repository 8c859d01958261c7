//! The known name that a person most likely meant.

/// The most characters of a name that are compared: the distance takes time and memory by the
/// product of lengths.
const CHARS_MAX: usize = 64;

/// Returns the nearest of `known` to `name`, if one is near.
///
/// Near means at most a third of the characters wrong (an edit is an insertion, a removal, a
/// change, or a swap of neighbours). Of equally near names the first in the order of names is taken.
#[must_use]
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let compared =
        |text: &str| text.chars().take(CHARS_MAX).flat_map(char::to_lowercase).collect::<String>();
    let length = name.chars().count();
    let name = compared(name);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &compared(candidate)), candidate))
        .filter(|(distance, candidate)| *distance * 3 <= length.max(candidate.chars().count()))
        .min()
        .map(|(_, candidate)| candidate)
}
