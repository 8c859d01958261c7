//! The lists: prebuilt pages, in the order of the compiler.
//!
//! A list never depends on earlier requests, and in this version not on the caller.

use std::sync::OnceLock;

use relay_bundle::{Bundle, Digest, Kind, List};
use rmcp::ErrorData;
use serde::de::DeserializeOwned;

use super::rejection::{self, damaged};
use crate::load::Loaded;

/// Pages that are decoded once and kept; later ones are decoded for each request.
const PAGES_KEPT_MAX: usize = 32;

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

    /// Returns the page that `cursor` asks for; the first one if there is no cursor.
    pub(super) fn page(&self, loaded: &Loaded, cursor: Option<&str>) -> Result<Page<T>, ErrorData> {
        loaded.in_force().map_err(|rejected| rejection::error(rejected, loaded))?;
        let bundle = &loaded.bundle;
        let count = bundle.page_count(self.list);
        let number = match cursor {
            None if count == 0 => return Ok(Page { items: Vec::new(), next_cursor: None }),
            None => 0,
            Some(cursor) => parse_cursor(cursor, bundle)
                .filter(|number| *number < count)
                .ok_or_else(stale_cursor)?,
        };
        let next = number + 1;
        let next_cursor = (next < count).then(|| cursor_to(next, bundle));
        let items = match self.kept.get(number) {
            None => self.decode(loaded, number)?,
            Some(kept) => match kept.get() {
                Some(items) => items.clone(),
                None => {
                    let items = self.decode(loaded, number)?;
                    kept.get_or_init(|| items).clone()
                }
            },
        };
        Ok(Page { items, next_cursor })
    }

    fn decode(&self, loaded: &Loaded, number: usize) -> Result<Vec<T>, ErrorData> {
        let page =
            loaded.bundle.page(self.list, number).map_err(|damage| damaged(loaded, &damage))?;
        serde_json::from_str(page.json).map_err(|error| {
            tracing::error!(
                list = self.list.section().name(),
                number,
                "a page does not match the schema of MCP: {error}"
            );
            ErrorData::internal_error("a list of the bundle cannot be read", None)
        })
    }
}

/// Returns whether two bundles have the same list.
pub(super) fn is_same(old: &Bundle, new: &Bundle, list: List) -> bool {
    // Pages of all lists share one section, so this proves equality but not difference.
    if [list.section(), Kind::PageBytes].iter().all(|kind| digest(old, *kind) == digest(new, *kind))
    {
        return true;
    }
    let count = old.page_count(list);
    let page = |bundle: &'_ Bundle, number| {
        bundle.page(list, number).map(|page| page.json.to_owned()).ok()
    };
    count == new.page_count(list) && (0..count).all(|number| page(old, number) == page(new, number))
}

fn digest(bundle: &Bundle, kind: Kind) -> Option<Digest> {
    let mut sections = bundle.sections().iter();
    sections.find(|section| section.kind == Some(kind)).map(|section| section.digest)
}

/// A cursor names its bundle: in another one, the page with that number begins at another entry.
fn cursor_to(number: usize, bundle: &Bundle) -> String {
    format!("{}.{number}", bundle_prefix(bundle))
}

fn parse_cursor(cursor: &str, bundle: &Bundle) -> Option<usize> {
    let (prefix, number) = cursor.split_once('.')?;
    if prefix != bundle_prefix(bundle) {
        return None;
    }
    number.parse().ok()
}

fn bundle_prefix(bundle: &Bundle) -> String {
    bundle.digest().hex().chars().take(16).collect()
}

fn stale_cursor() -> ErrorData {
    ErrorData::invalid_params(
        "the cursor does not belong to the current list: list again from the start",
        None,
    )
}
