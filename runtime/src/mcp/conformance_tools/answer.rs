//! The answers of these tools.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};

/// Returns an answer of one text.
pub(super) fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}
