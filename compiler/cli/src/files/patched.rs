//! A project's files with corrections that are still to be written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use relay_compiler::{Files, Listed, ReadError};

/// Files of which some have another text. Clones share the texts.
#[derive(Clone)]
pub(crate) struct Patched {
    files: Rc<dyn Files>,
    texts: Rc<RefCell<BTreeMap<String, String>>>,
}

impl Patched {
    /// Takes files as they are.
    pub(crate) fn of(files: impl Files + 'static) -> Self {
        Self { files: Rc::new(files), texts: Rc::default() }
    }

    /// Gives a file another text.
    pub(crate) fn put(&self, path: &str, text: String) {
        self.texts.borrow_mut().insert(path.to_owned(), text);
    }

    /// Returns the files with another text, with both texts, sorted by path. Only texts in UTF-8 are corrected.
    pub(crate) fn changed(&self) -> Vec<(String, String, String)> {
        let texts = self.texts.borrow();
        let changed = texts.iter().filter_map(|(path, new)| {
            let old = String::from_utf8(self.files.read(path).ok()?).ok()?;
            (old != *new).then(|| (path.clone(), old, new.clone()))
        });
        changed.collect()
    }
}

impl Files for Patched {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        match self.texts.borrow().get(path) {
            Some(text) => Ok(text.clone().into_bytes()),
            None => self.files.read(path),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        self.files.list(folder)
    }
}
