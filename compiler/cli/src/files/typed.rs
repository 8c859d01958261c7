//! A project's folder with a document from elsewhere: the text of an editor, from standard input.

use relay_compiler::{Files, Listed, ReadError};

/// Files with one more.
pub(crate) struct WithDocument<F> {
    /// The files.
    pub(crate) files: F,
    /// The name of the document, different from those of files.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) text: Vec<u8>,
}

impl<F: Files> Files for WithDocument<F> {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        if path == self.name { Ok(self.text.clone()) } else { self.files.read(path) }
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        self.files.list(folder)
    }
}
