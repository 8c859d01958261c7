//! The file that an export makes of a prompt or a skill.

/// A file, and the differences from the prompt or skill that it is made of.
pub(crate) struct Made {
    /// The prompt or skill, for the report.
    pub(crate) of: String,
    /// The file, or the reason why the form has none for it.
    pub(crate) file: Result<MadeFile, String>,
    /// The differences.
    pub(crate) changes: Vec<String>,
}

/// A file to write.
pub(crate) struct MadeFile {
    /// Its path from the folder that is written to.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}
