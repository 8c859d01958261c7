//! The largest text of skills for calls of each tenant: a part of the report of a build.

use relay_compiler::SkillText;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::size::{Size, grouped};
use crate::answer::table::{self, number, text};

/// The most rows for people.
const ROWS_MAX: usize = 12;

/// The largest text of skills that a call of a tenant is given.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LargestContext {
    /// The tenant; `null` for callers without one.
    tenant: Option<String>,
    /// The tool whose call it is; `null` if it is unnamed or unknown.
    tool: Option<String>,
    /// The user whose call it is; `null` if it is anyone's, or of an unknown user.
    user: Option<String>,
    /// The size of the text, which each such call brings.
    #[serde(flatten)]
    size: Size,
    /// Whether the size is an upper bound that calls may fall short of.
    is_bound: bool,
}

impl LargestContext {
    /// Returns the compiler's measurements, in its order.
    pub(crate) fn all(measured: &[SkillText]) -> Vec<Self> {
        let one = |text: &SkillText| {
            let SkillText { tenant, tool, user, bytes, is_bound } = text.clone();
            Self { tenant, tool, user, size: Size::of(bytes), is_bound }
        };
        measured.iter().map(one).collect()
    }

    /// Returns the table for people, the largest first; it may be empty.
    pub(crate) fn table(all: &[Self], width: usize) -> String {
        if all.is_empty() {
            return String::new();
        }
        let named = |name: &Option<String>, none: &str| name.clone().unwrap_or_else(|| none.into());
        let rows = all.iter().take(ROWS_MAX).map(|row| {
            let Self { tenant, tool, user, size, is_bound } = row;
            let bound = if *is_bound { "at most " } else { "" };
            vec![
                named(tenant, "none"),
                named(tool, "any"),
                named(user, "any"),
                format!("{bound}{}", grouped(size.bytes)),
                grouped(size.tokens_estimated),
            ]
        });
        let columns = [
            text("largest skill text of tenant"),
            text("tool"),
            text("user"),
            number("bytes a call"),
            number("tokens (est.)"),
        ];
        let mut drawn = format!("\n{}", table::draw(&columns, rows.collect(), width));
        if let Some(more @ 1..) = all.len().checked_sub(ROWS_MAX) {
            drawn.push_str(&format!("  +{more} more, none larger\n"));
        }
        drawn
    }
}
