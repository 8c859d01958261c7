//! Files that an operator names: opened without waiting, read within a limit, and compared
//! without being read.

pub(crate) mod regular_file;
pub(crate) mod stamp;
pub(crate) mod text_file;
pub(crate) mod toml_text;
