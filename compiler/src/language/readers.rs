//! `for tenant=… role=…`: the callers that see a prompt or a resource.

use crate::grammar::{Field, Kind, Rule};
use crate::setting::settings;
use crate::source::Spanned;

pub(crate) static FOR: Rule = Rule::leaf(
    "for",
    "for",
    "Who sees it: callers of this tenant and in this role, or in a role that it contains. One of several is enough; without any, everyone sees it.",
    &[
        Field::property("tenant", Kind::Name("text"), "The tenant; without it, every one."),
        Field::property("role", Kind::Name("text"), "The role; without it, every one."),
    ],
);

settings! {
    /// The settings of a `for`.
    struct ForSettings {}
    FOR {
        tenant: Option<Spanned<String>> = "tenant",
        role: Option<Spanned<String>> = "role",
    }
}
