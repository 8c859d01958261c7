//! Contents -> what servers answer from beside them: pages of lists, texts of briefings, pieces of URI
//! templates.
//!
//! The compiler makes them by these functions. A bundle has them as bytes, so that a server computes
//! nothing; and whoever signs a bundle could have altered them, so that a server says something else
//! than what was reviewed. So [`mismatches`] makes them again.

pub mod agent_skills;
pub mod briefing_text;
pub mod pages;
pub mod tools;
pub mod uri_template;

mod made_list;
mod mismatch;
mod one_line;

pub use mismatch::{Mismatch, mismatches};
pub use one_line::line;
