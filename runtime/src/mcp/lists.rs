//! The lists: prebuilt pages, in the order of the compiler.
//!
//! A list depends on the caller by its audience alone; earlier requests leave it as it is.

use std::sync::OnceLock;

use relay_bundle::{Corrupt, Digest, List};
use relay_engine::view::View;
use rmcp::ErrorData;
use serde::de::DeserializeOwned;

use super::rejection::{self, damaged};
use crate::trust::loaded::Loaded;
use crate::trust::placed::Placed;

/// Pages that are decoded once and kept, for callers that see everything; others are decoded for
/// each request.
const PAGES_KEPT_MAX: usize = 32;

/// How long a client may cache an answer. Clients that listen for changes are notified of a new
/// bundle at once.
pub(super) const TTL_MS: u64 = 60_000;

/// The pages of one list.
#[derive(Debug)]
pub(super) struct Pages<T> {
    list: List,
    kept: Box<[OnceLock<Vec<T>>]>,
}

/// One page, and the cursor of the next.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) next_cursor: Option<String>,
}

impl<T: DeserializeOwned + Clone> Pages<T> {
    pub(super) fn new(list: List) -> Self {
        Self { list, kept: std::iter::repeat_with(OnceLock::new).take(PAGES_KEPT_MAX).collect() }
    }

    /// Returns the page that `cursor` asks for, by default the first one.
    pub(super) fn page(&self, placed: &Placed, cursor: Option<&str>) -> Result<Page<T>, ErrorData> {
        let loaded = &placed.loaded;
        loaded.in_force().map_err(|rejected| rejection::error(rejected, loaded))?;
        let view = placed.view().map_err(|damage| damaged(loaded, &damage))?;
        let count = view.page_count(self.list);
        let prefix = prefix(loaded, &view);
        let number = match given(cursor) {
            None if count == 0 => return Ok(Page { items: Vec::new(), next_cursor: None }),
            None => 0,
            Some(cursor) => parse_cursor(cursor, &prefix)
                .filter(|number| *number < count)
                .ok_or_else(stale_cursor)?,
        };
        let next = number + 1;
        let next_cursor = (next < count).then(|| format!("{prefix}.{next}"));
        let items = match self.kept.get(number).filter(|_| view.sees_everything()) {
            None => self.decode(loaded, &view, number)?,
            Some(kept) => match kept.get() {
                Some(items) => items.clone(),
                None => {
                    let items = self.decode(loaded, &view, number)?;
                    kept.get_or_init(|| items).clone()
                }
            },
        };
        Ok(Page { items, next_cursor })
    }

    fn decode(&self, loaded: &Loaded, view: &View<'_>, number: usize) -> Result<Vec<T>, ErrorData> {
        let page = view.page(self.list, number).map_err(|damage| damaged(loaded, &damage))?;
        serde_json::from_str(&page.json).map_err(|error| {
            tracing::error!(
                list = self.list.section().name(),
                number,
                "a page does not match the schema of MCP: {error}"
            );
            ErrorData::internal_error("a list of the bundle cannot be read", None)
        })
    }
}

/// Returns the number of entries before the page that a cursor of a list made on request names, by
/// default 0.
pub(super) fn skipped(placed: &Placed, cursor: Option<&str>) -> Result<usize, ErrorData> {
    let Some(cursor) = given(cursor) else { return Ok(0) };
    let view = placed.view().map_err(|damage| damaged(&placed.loaded, &damage))?;
    parse_cursor(cursor, &prefix(&placed.loaded, &view)).ok_or_else(stale_cursor)
}

/// Returns the cursor of the page after so many entries of a list made on request.
pub(super) fn cursor_after(
    placed: &Placed,
    next: Option<usize>,
) -> Result<Option<String>, ErrorData> {
    let view = placed.view().map_err(|damage| damaged(&placed.loaded, &damage))?;
    Ok(next.map(|count| format!("{}.{count}", prefix(&placed.loaded, &view))))
}

/// Returns whether a caller sees the same list in two bundles.
pub(super) fn is_same(old: &Placed, new: &Placed, list: List) -> bool {
    let pages = |placed: &Placed| -> Result<Vec<String>, Corrupt> {
        let view = placed.view()?;
        let page = |number| Ok(view.page(list, number)?.json);
        (0..view.page_count(list)).map(page).collect()
    };
    old.loaded.has_same_list(&new.loaded, list)
        || matches!((pages(old), pages(new)), (Ok(old), Ok(new)) if old == new)
}

/// Returns the prefix of cursors, which names bundle and audience: in another one, the page with
/// that number begins at another entry.
fn prefix(loaded: &Loaded, view: &View<'_>) -> String {
    let Digest(mut bytes) = loaded.digest();
    if let Some(audience) = view.audience() {
        // The number of an audience would disclose how many there are.
        let named = [bytes.as_slice(), &audience.to_le_bytes()].concat();
        Digest(bytes) = Digest::of(&named);
    }
    Digest(bytes).hex().chars().take(16).collect()
}

/// Some clients send an empty text instead of no cursor.
fn given(cursor: Option<&str>) -> Option<&str> {
    cursor.filter(|text| !text.is_empty())
}

fn parse_cursor(cursor: &str, prefix: &str) -> Option<usize> {
    let (named, number) = cursor.split_once('.')?;
    if named == prefix { number.parse().ok() } else { None }
}

fn stale_cursor() -> ErrorData {
    ErrorData::invalid_params(
        "the cursor does not belong to the current list: list again from the start",
        None,
    )
}
