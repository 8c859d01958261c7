//! The known state of a shell, as far as a text shows it. Judging is left to `judge`.

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
