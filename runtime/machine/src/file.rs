//! Files that an operator names: opened at once, read within a limit, and compared by their
//! metadata.

pub mod regular_file;
pub mod stamp;
pub mod text_file;
pub mod toml_text;
