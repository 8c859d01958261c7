//! Figures: how one is declared, what runs reported, and the files that keep them.

pub(crate) mod declared;
pub(crate) mod document;
pub(crate) mod machine;
pub(crate) mod number;
pub(crate) mod release;
pub(crate) mod report;

pub(crate) use declared::{Figure, Part, beside, of};
pub(crate) use report::Report;
