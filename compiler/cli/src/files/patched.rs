//! A project's files with corrections that are still to be written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use relay_compiler::{Files, Listed, ReadError};

/// Files of which some have another text. Clones share the texts.
#[derive(Clone)]
pub(crate) struct Patched {
    files: Rc<dyn Files>,
    texts: Rc<RefCell<BTreeMap<String, Texts>>>,
}

/// The texts of a file.
#[derive(Clone)]
struct Texts {
    /// The text that was read.
    old: String,
    new: String,
}

impl Patched {
    /// Takes files as they are.
    pub(crate) fn of(files: impl Files + 'static) -> Self {
        Self { files: Rc::new(files), texts: Rc::default() }
    }

    /// Gives a file, which was read as `old`, another text.
    pub(crate) fn put(&self, path: &str, old: &str, new: String) {
        let mut texts = self.texts.borrow_mut();
        match texts.get_mut(path) {
            // `old` is an earlier correction then.
            Some(texts) => texts.new = new,
            None => _ = texts.insert(path.to_owned(), Texts { old: old.to_owned(), new }),
        }
    }

    /// Returns the files with another text, with the text that was read and the new one, sorted by path.
    pub(crate) fn changed(&self) -> Vec<(String, String, String)> {
        let texts = self.texts.borrow();
        let changed = texts.iter().filter(|(_, Texts { old, new })| old != new);
        changed.map(|(path, Texts { old, new })| (path.clone(), old.clone(), new.clone())).collect()
    }
}

impl Files for Patched {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        match self.texts.borrow().get(path) {
            Some(texts) => Ok(texts.new.clone().into_bytes()),
            None => self.files.read(path),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        self.files.list(folder)
    }
}
