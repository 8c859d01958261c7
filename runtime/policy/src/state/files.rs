//! The files that a text writes and may run or read later.

use std::rc::Rc;

use crate::value::{Content, Stream, Text, TextBuilder};

/// The most downloaded or written files that are tracked.
const FILES_MAX: usize = 64;

/// The downloaded files, and the files written by the text.
#[derive(Debug, Default)]
pub(crate) struct Files {
    fetched: Vec<Vec<u8>>,
    made: Vec<Made>,
}

/// A file written by the text.
#[derive(Debug)]
struct Made {
    path: Vec<u8>,
    /// Its text, if known.
    text: Option<Rc<Text<'static>>>,
    /// Whether words of it may be options.
    makes_options: bool,
}

/// A file that a build tool runs by its name.
#[derive(Debug, Clone)]
pub(crate) enum Built {
    /// It was downloaded.
    Fetched,
    /// The text writes it with unknown content.
    Made,
    /// It holds this text.
    Text(Rc<Text<'static>>),
}

impl Files {
    /// Returns whether the text leaves all files as they are: it writes and fetches none.
    pub(crate) fn is_empty(&self) -> bool {
        self.made.is_empty() && self.fetched.is_empty()
    }

    /// Returns the files selected by their names, in any folder.
    pub(crate) fn named(&self, is_meant: impl Fn(&[u8]) -> bool) -> Vec<Built> {
        let is_named =
            |path: &[u8]| path.rsplit(|byte| *byte == b'/').next().is_some_and(&is_meant);
        let fetched = self.fetched.iter().filter(|path| is_named(path)).map(|_| Built::Fetched);
        let made = self.made.iter().filter(|made| is_named(&made.path));
        let made = made.map(|made| match &made.text {
            Some(text) => Built::Text(Rc::clone(text)),
            None => Built::Made,
        });
        fetched.chain(made).collect()
    }

    pub(crate) fn clear(&mut self) {
        self.fetched.clear();
        self.made.clear();
    }

    /// Notes a downloaded file.
    pub(crate) fn fetch(&mut self, path: Vec<u8>) {
        if self.fetched.len() < FILES_MAX {
            self.fetched.push(path);
        }
    }

    /// Returns whether a file may have been downloaded.
    pub(crate) fn is_fetched(&self, path: &[u8]) -> bool {
        self.fetched.len() >= FILES_MAX || self.fetched.iter().any(|fetched| fetched == path)
    }

    /// Notes a file written by the text.
    pub(crate) fn make(&mut self, path: Vec<u8>, written: &Stream, is_added: bool) {
        let makes_options = written.makes_options();
        let mut text = match &written.content {
            Content::Literal(text) => Some(Rc::clone(text)),
            _ => None,
        };
        if text.is_none() && !makes_options {
            return;
        }
        let before = self.made.iter().rev().find(|made| is_added && made.path == path);
        if let Some(before) = before {
            text = match (&before.text, text) {
                (Some(before), Some(added)) => {
                    let mut whole = TextBuilder::new(before.span);
                    whole.push_text(before);
                    whole.push_text(&added);
                    Some(Rc::new(whole.finish()))
                }
                _ => None,
            };
        }
        if self.made.len() < FILES_MAX {
            self.made.push(Made { path, text, makes_options });
        }
    }

    /// Returns whether a file may hold words made by the text that may be options.
    pub(crate) fn is_made(&self, path: &[u8]) -> bool {
        self.made.len() >= FILES_MAX
            || self.made.iter().any(|made| made.makes_options && made.path == path)
    }

    /// Returns the texts that a file may hold.
    pub(crate) fn made_texts(&self, path: &[u8]) -> Vec<Rc<Text<'static>>> {
        let texts = self.made.iter().filter(|made| made.path == path);
        texts.filter_map(|made| made.text.clone()).collect()
    }
}
