//! A list whose pages are derived again, and compared one by one with those of a bundle.

use relay_bundle::{Bundle, Corrupt, List, ListView, Page};
use serde_json::Value;

use super::pages::Pages;

/// The length of each entry of a list; absent if the pages of the bundle differ.
pub(super) type EntryBytes = Option<Vec<usize>>;

/// A list during its derivation, with one page in memory at a time.
pub(super) struct MadeList<'b> {
    list: ListView<'b>,
    pages: Pages,
    compared: usize,
    entry_bytes: Vec<usize>,
    differs: bool,
}

impl<'b> MadeList<'b> {
    pub(super) fn of(bundle: &'b Bundle, list: List) -> Self {
        let (list, pages) = (bundle.list(list), Pages::default());
        Self { list, pages, compared: 0, entry_bytes: Vec::new(), differs: false }
    }

    /// Adds the next entry; once a page differs, derivation stops.
    pub(super) fn add(&mut self, entry: &Value) -> Result<(), Corrupt> {
        if self.differs {
            return Ok(());
        }
        self.entry_bytes.push(self.pages.add(entry));
        let full = self.pages.take_full();
        self.compare(full)
    }

    /// Returns the length of each entry; `None` if the bundle has other pages.
    pub(super) fn finish(mut self) -> Result<EntryBytes, Corrupt> {
        let rest = std::mem::take(&mut self.pages).finish();
        self.compare(rest)?;
        self.differs |= self.compared != self.list.page_count();
        Ok((!self.differs).then_some(self.entry_bytes))
    }

    fn compare(&mut self, pages: Vec<Page>) -> Result<(), Corrupt> {
        for Page { first, count, json } in pages {
            let made = Page { first, count, json: json.as_str() };
            self.differs |=
                self.compared >= self.list.page_count() || self.list.page(self.compared)? != made;
            self.compared += 1;
        }
        Ok(())
    }
}
