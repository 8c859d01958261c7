//! Files that an operator names: opened at once, read within a limit, and compared by their
//! metadata.

pub(crate) mod regular_file;
pub(crate) mod stamp;
pub(crate) mod text_file;
pub(crate) mod toml_text;
