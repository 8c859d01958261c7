//! The report of an import or an export of permissions: a row for each rule, with its place on both sides.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::At;
use crate::output::bold;
use crate::text::{printable, wrapped};

/// How far the other side means the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Match {
    /// It means the same calls.
    Exact,
    /// It allows less, or restricts more.
    Stricter,
    /// It restricts a part as a second line of defence; the hook decides the rest.
    Partial,
    /// It is beyond the other side: the hook decides it, or the client asks.
    NotExpressible,
    /// It does nothing at the source.
    Inert,
}

impl Match {
    const ALL: [Self; 5] =
        [Self::Exact, Self::Stricter, Self::Partial, Self::NotExpressible, Self::Inert];

    fn title(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Stricter => "stricter",
            Self::Partial => "partial",
            Self::NotExpressible => "not expressible",
            Self::Inert => "inert at the source",
        }
    }
}

/// A rule or a setting in the report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct RuleRow {
    /// How far the other side means the same.
    #[serde(rename = "match")]
    pub(crate) matched: Match,
    /// Its place at the source.
    pub(crate) at: At,
    /// The level of a client's file; `null` for a rule of relay.
    pub(crate) level: Option<&'static str>,
    /// The rule as it is written, or the name of a rule of relay.
    pub(crate) rule: String,
    /// The rules on the other side.
    pub(crate) becomes: Vec<String>,
    /// The place on the other side; `null` if it is absent there.
    pub(crate) written: Option<At>,
    /// The differences, or the reason for the absence.
    pub(crate) reasons: Vec<String>,
}

/// Draws a report: a group for each match.
pub(crate) fn draw(rows: &[RuleRow], width: usize) -> String {
    let mut page = String::new();
    for matched in Match::ALL {
        let rows: Vec<_> = rows.iter().filter(|row| row.matched == matched).collect();
        if rows.is_empty() {
            continue;
        }
        page.push_str(&format!("{} ({})\n", bold(matched.title()), rows.len()));
        for RuleRow { matched: _, at, level, rule, becomes, written, reasons } in rows {
            let level = level.map(|level| format!(" ({level})")).unwrap_or_default();
            page.push_str(&format!("  {}{level}: {}\n", printable(&at.shown()), printable(rule)));
            if let Some(written) = written {
                let becomes = becomes.join(", ");
                let line = format!("-> {}: {}", written.shown(), becomes);
                page.push_str(&wrapped(&line, "      ", width));
            }
            for reason in reasons {
                page.push_str(&wrapped(reason, "      ", width));
            }
        }
    }
    page
}
