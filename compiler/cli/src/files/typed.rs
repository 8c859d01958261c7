//! A project's folder with files from elsewhere: the text of an editor, or the files of an import
//! before they are written.

use std::collections::BTreeMap;
use std::ops::Deref;

use relay_compiler::{Files, Listed, ReadError};

/// Files with more of them; one that has the path of another replaces it.
pub(crate) struct WithFiles<F> {
    /// The files.
    pub(crate) files: F,
    /// The added files: path and bytes.
    pub(crate) added: BTreeMap<String, Vec<u8>>,
}

impl<F: Deref<Target: Files>> Files for WithFiles<F> {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.added.get(path).cloned().map_or_else(|| self.files.read(path), Ok)
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let added = self.added.keys().filter(|path| path.starts_with(&below));
        let added: Vec<_> =
            added.map(|path| Listed { path: path.clone(), link: false, fault: None }).collect();
        let mut listed = match self.files.list(folder) {
            Err(ReadError::NotFound) if !added.is_empty() => Vec::new(),
            listed => listed?,
        };
        listed.retain(|file| !self.added.contains_key(&file.path));
        listed.extend(added);
        listed.sort();
        Ok(listed)
    }
}
