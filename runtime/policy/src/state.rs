//! The knowledge about a shell, as far as a text shows it. Nothing here judges.

mod files;
mod folder;
mod frame;
mod parameters;
mod shell;
mod variable;
mod variables;

pub(crate) use files::{Built, Files};
pub(crate) use folder::Folder;
pub(crate) use frame::{Dialect, Frame};
pub(crate) use parameters::Parameters;
pub(crate) use shell::{Function, Functions, Parsed, Shell};
pub(crate) use variables::{Certain, Held, Variables};
