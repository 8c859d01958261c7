//! Two sorted lists, item by item.

use std::cmp::Ordering;

use relay_bundle::Corrupt;

/// An item of one list, of the other, or of both.
pub(crate) enum Joined<T> {
    Gone(T),
    New(T),
    Both(T, T),
}

/// Joins two lists sorted by the same key, one item at a time.
pub(crate) fn joined<T, K: Ord>(
    a: impl IntoIterator<Item = Result<T, Corrupt>>,
    b: impl IntoIterator<Item = Result<T, Corrupt>>,
    key: impl Fn(&T) -> Result<K, Corrupt>,
    mut take: impl FnMut(Joined<T>) -> Result<(), Corrupt>,
) -> Result<(), Corrupt> {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let (mut left, mut right) = (a.next().transpose()?, b.next().transpose()?);
    loop {
        let order = match (&left, &right) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => key(left)?.cmp(&key(right)?),
        };
        let of_a = if order.is_le() { left.take() } else { None };
        let of_b = if order.is_ge() { right.take() } else { None };
        if order.is_le() {
            left = a.next().transpose()?;
        }
        if order.is_ge() {
            right = b.next().transpose()?;
        }
        match (of_a, of_b) {
            (Some(a), Some(b)) => take(Joined::Both(a, b))?,
            (Some(a), None) => take(Joined::Gone(a))?,
            (None, Some(b)) => take(Joined::New(b))?,
            (None, None) => {}
        }
    }
}
