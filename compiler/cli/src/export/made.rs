//! The files that an export makes of a prompt or a skill.

/// The files, and the differences from the prompt or skill that it is made of.
pub(crate) struct Made {
    /// The prompt or skill, for the report.
    pub(crate) of: String,
    /// The files, the first of which is the one that a program looks for, or the reason why the form has none for it.
    pub(crate) files: Result<Vec<MadeFile>, String>,
    /// The differences.
    pub(crate) changes: Vec<String>,
}

/// A file to write.
pub(crate) struct MadeFile {
    /// Its path from the folder that is written to.
    pub(crate) path: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

impl MadeFile {
    /// Returns a file with this text.
    pub(crate) fn of_text(path: String, text: String) -> Self {
        Self { path, bytes: text.into_bytes() }
    }
}
