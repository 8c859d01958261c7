//! Files that an operator names: opened without waiting, read within a limit.

pub(crate) mod regular_file;
pub(crate) mod text_file;
pub(crate) mod toml_text;
