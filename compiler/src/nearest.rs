//! The known name that a person most likely meant.

/// Returns the nearest of `known` to `name`; `None` if nothing is near.
///
/// Near means at most a third of the characters wrong (an edit is an insertion, a removal, a
/// change, or a swap of neighbours). Of names equally near, the first one is taken.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let length = name.chars().count();
    known
        .into_iter()
        .map(|candidate| (distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance * 3 <= length.max(candidate.chars().count()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The optimal string alignment distance of two texts, in characters.
fn distance(a: &str, b: &str) -> usize {
    const CHARS_MAX: usize = 64;
    let a: Vec<char> = a.chars().take(CHARS_MAX).collect();
    let b: Vec<char> = b.chars().take(CHARS_MAX).collect();
    // Rows of the table: two before the current one are needed for swaps.
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, left) in a.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, right) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let mut best = (at(&last, column) + usize::from(left != right))
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            let swapped = column > 0
                && row > 0
                && b.get(column - 1) == Some(left)
                && a.get(row - 1) == Some(right);
            if swapped {
                best = best.min(at(&before_last, column - 1) + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(0)
}
