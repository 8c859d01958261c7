//! The kinds of lists: for each the type of its entries, its method and its answer.

use std::sync::Arc;

#[cfg(feature = "ssh")]
use relay_bundle::Corrupt;
use rmcp::model::{
    CacheScope, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, MetaObject, Prompt, Resource, ResourceTemplate, Tool,
};
use serde::de::DeserializeOwned;

#[cfg(feature = "ssh")]
use super::hosts;
use super::lists::{Page, Pages, TTL_MS};
use super::surface::Surface;
use super::tools;
use crate::record::memory::Memory;
use crate::record::metrics::Method;
use crate::trust::placed::Placed;

/// An entry of a list. Its type decides the request and the answer of the list.
pub(super) trait Entry: DeserializeOwned + Clone + 'static {
    /// The answer of MCP.
    type Answer;
    /// The method that asks for a page.
    const METHOD: Method;

    /// Returns the pages of the list.
    fn pages(surface: &Surface) -> &Pages<Self>;

    /// Makes an answer of a page.
    fn answer(page: Page<Self>, meta: Option<MetaObject>, scope: CacheScope) -> Self::Answer;

    /// Removes the entries that are hidden now from the session of a legacy client.
    fn hide(_page: &mut Page<Self>, _placed: &Placed, _memory: Option<&Arc<Memory>>) {}

    /// Returns the entries that the server adds for a caller, after those of the bundle.
    #[cfg(feature = "ssh")]
    fn live(_placed: &Placed) -> Result<Vec<Self>, Corrupt> {
        Ok(Vec::new())
    }

    /// Returns the entries of the conformance suite, which follow those of the bundle.
    #[cfg(feature = "conformance-tools")]
    fn of_suite() -> &'static [Self] {
        &[]
    }
}

/// Implements [`Entry`]: a type, its answer, its method, its pages, and its own methods.
macro_rules! entries {
    ($($entry:ident: $answer:ident by $method:ident of $pages:ident { $($own:item)* })*) => {
        $(impl Entry for $entry {
            type Answer = $answer;
            const METHOD: Method = Method::$method;

            fn pages(surface: &Surface) -> &Pages<Self> {
                &surface.$pages
            }

            fn answer(
                Page { items, next_cursor }: Page<Self>,
                meta: Option<MetaObject>,
                scope: CacheScope,
            ) -> $answer {
                let answer = $answer::with_all_items(items);
                let answer = answer.with_ttl_ms(TTL_MS).with_cache_scope(scope);
                $answer { meta, next_cursor, ..answer }
            }

            $($own)*
        })*
    };
}

entries! {
    Prompt: ListPromptsResult by PromptsList of prompts {
        #[cfg(feature = "conformance-tools")]
        fn of_suite() -> &'static [Self] {
            super::conformance_tools::prompts()
        }
    }
    Resource: ListResourcesResult by ResourcesList of resources {
        #[cfg(feature = "ssh")]
        fn live(placed: &Placed) -> Result<Vec<Self>, Corrupt> {
            hosts::resources(placed)
        }
    }
    ResourceTemplate: ListResourceTemplatesResult by ResourcesTemplatesList of templates {
        #[cfg(feature = "ssh")]
        fn live(placed: &Placed) -> Result<Vec<Self>, Corrupt> {
            hosts::templates(placed)
        }
    }
    Tool: ListToolsResult by ToolsList of tools {
        fn hide(page: &mut Page<Self>, placed: &Placed, memory: Option<&Arc<Memory>>) {
            tools::hide(page, placed, memory);
        }

        #[cfg(feature = "conformance-tools")]
        fn of_suite() -> &'static [Self] {
            super::conformance_tools::tools()
        }
    }
}
