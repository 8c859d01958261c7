//! Contents -> derived data for answers of servers: pages of lists, texts of briefings, pieces of
//! URI templates.
//!
//! The compiler derives them with these functions and stores them in the bundle, so that a server
//! computes nothing. A signer could have altered them, so that a server answers with other data
//! than was reviewed. So [`mismatches`] derives them again.

pub mod agent_skills;
pub mod briefing_text;
pub mod pages;
pub mod tools;
pub mod uri_template;

mod check;
mod made_list;
mod mismatch;
mod one_line;
mod rows;

pub use check::mismatches;
pub use mismatch::Mismatch;
pub use one_line::line;
