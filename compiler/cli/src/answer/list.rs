//! The bytes of the lists that clients get.

use relay_bundle::{Bundle, Corrupt, List};
use relay_engine::view::View;
use serde_json::value::RawValue;

/// The bytes of each entry of a list, in the order of the list.
pub(crate) struct Entries {
    list: List,
    bytes: Vec<usize>,
}

impl Entries {
    /// Measures the entries of a list.
    pub(crate) fn of(bundle: &Bundle, list: List) -> Result<Self, Corrupt> {
        let mut bytes = Vec::with_capacity(bundle.list(list).count());
        for index in 0..bundle.list(list).page_count() {
            let page = bundle.list(list).page(index)?;
            let wrong = |_| Corrupt::Record { section: list.section().name(), what: "JSON" };
            let entries: Vec<&RawValue> = serde_json::from_str(page.json).map_err(wrong)?;
            bytes.extend(entries.into_iter().map(|entry| entry.get().len()));
        }
        Ok(Self { list, bytes })
    }

    /// Returns the bytes of all pages of the list together, as a view has them.
    pub(crate) fn seen_by(&self, view: &View<'_>) -> Result<usize, Corrupt> {
        let pages = view.page_count(self.list);
        let rows: Vec<usize> = view.rows(self.list)?.collect();
        let entries = rows.iter().filter_map(|row| self.bytes.get(*row));
        // Each page is in brackets, and has a comma between two entries.
        let commas = rows.len().saturating_sub(pages);
        Ok(entries.sum::<usize>() + commas + 2 * pages)
    }
}
